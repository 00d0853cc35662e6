"""Equality constraints of a compiled model: closed loops, joints that follow others, locked joints.

MuJoCo holds them softly; here they are exact.
"""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np

from robodyn.description import Actuator, Joint, Limits, Link, Loop, Mimic, Pose
from robodyn.description.traced_explicit_loop import Linear, Polynomial, TracedExplicitLoop
from robodyn.force_elements.common.link_element import DescribedElement
from robodyn.force_elements.point_spring import PointSpring
from robodyn.joints import distance as distance_joint, fixed, joint_kind, prismatic, spherical
from robodyn.joints.common.described import described_pose
from robodyn.tolerances import SAME_POSITION
from robodyn.urdf.mjcf.bodies import pose_of
from robodyn.urdf.mjcf.model import CompiledModel, Passive, vector


class RelatedJoints:
    """Joints to which relations are added, one after the other."""

    def __init__(self, joints: Iterable[Joint]) -> None:
        self._joints = {joint.name: joint for joint in joints}
        #: Where joints are held.
        self.held: dict[str, float] = {}
        self._laws: dict[str, tuple[tuple[str, ...], Polynomial | Linear]] = {}

    @property
    def followers(self) -> tuple[TracedExplicitLoop, ...]:
        """Joints that follow others by polynomials, or several others."""
        return tuple(TracedExplicitLoop.of_curve(name, *of) for name, of in self._laws.items())

    @property
    def joints(self) -> tuple[Joint, ...]:
        """All joints, in the order in which they were given."""
        return tuple(self._joints.values())

    def relate(self, one: str, other: str, ratio: float, offset: float) -> str | None:
        """Demand ``q = ratio q' + offset`` of two joints; why it cannot be, or ``None``."""
        if one in self.held:
            return self.hold(other, (self.held[one] - offset) / ratio)
        if other in self.held:
            return self.hold(one, ratio * self.held[other] + offset)
        if self._follow(one, other, ratio, offset):
            return None
        if self._follow(other, one, 1.0 / ratio, -offset / ratio):
            return None
        return f"joints {one!r} and {other!r} follow others already, or each other in a circle"

    def follow(self, one: str, other: str, curve: Polynomial) -> str | None:
        """Demand ``q = curve(q')`` of two joints; why it cannot be, or ``None``."""
        if other in self.held:
            return self.hold(one, float(curve(self.held[other])))
        if one in self.held:
            return f"joint {other!r} leads joint {one!r}, which is held, by a polynomial"
        if self._follows(one) or self._leads_to(other, one):
            return f"joint {one!r} follows others already, or leads joint {other!r}"
        self._laws[one] = (other,), curve
        return None

    def sum(self, factors: Mapping[str, float], total: float) -> str | None:
        """Demand ``sum of c q = total`` of joints; why it cannot be, or ``None``."""
        total -= sum(c * self.held[name] for name, c in factors.items() if name in self.held)
        factors = {name: c for name, c in factors.items() if name not in self.held and c}
        names = [*factors]
        if len(names) < 2:
            for name, factor in factors.items():
                return self.hold(name, total / factor)
            return None if abs(total) <= SAME_POSITION else "the joints are held elsewhere"
        if len(names) == 2:
            (one, first), (other, second) = factors.items()
            return self.relate(one, other, -second / first, total / first)
        for name in names:
            others = [x for x in names if x != name]
            if not self._follows(name) and not any(self._leads_to(x, name) for x in others):
                c = factors[name]
                law = Linear(tuple(-factors[x] / c for x in others), total / c)
                self._laws[name] = tuple(others), law
                return None
        return f"joints {', '.join(map(repr, names))} follow others already, or one another"

    def hold(self, name: str, position: float) -> str | None:
        """Make a joint a fixed one, and all that are related to it; why it cannot be, or `None`."""
        if name in self.held:
            there = math.isclose(self.held[name], position, abs_tol=SAME_POSITION)
            return None if there else f"joint {name!r} is held at two positions"
        if name in self._laws:
            masters, law = self._laws[name]
            how = "as a sum" if isinstance(law, Linear) else "by a polynomial"
            return f"joint {name!r} follows {', '.join(map(repr, masters))} {how}, and is held"
        joint = self._joints[name]
        self.held[name] = position
        X = joint.origin.matrix @ described_pose(joint_kind(joint.kind), joint, (position,))
        self._joints[name] = Joint(
            name, fixed.KIND.name, joint.parent, joint.child, Pose.from_matrix(X)
        )
        reasons = []
        if joint.mimic is not None:
            at = (position - joint.mimic.offset) / joint.mimic.multiplier
            reasons.append(self.hold(joint.mimic.joint, at))
        for follower in self.joints:
            if follower.mimic is not None and follower.mimic.joint == name:
                at = follower.mimic.multiplier * position + follower.mimic.offset
                reasons.append(self.hold(follower.name, at))
        for follows, (masters, law) in [*self._laws.items()]:
            if name in masters:
                del self._laws[follows]
                if isinstance(law, Linear):
                    own = dict(zip(masters, law.coefficients, strict=True))
                    reasons.append(
                        self.sum({follows: 1.0} | {name: -c for name, c in own.items()}, law.offset)
                    )
                else:
                    reasons.append(self.hold(follows, float(law(position))))
        return next((reason for reason in reasons if reason), None)

    def _follow(self, name: str, master: str, ratio: float, offset: float) -> bool:
        """Let a joint follow another, if it follows none and the other does not follow it."""
        joint = self._joints[name]
        if self._follows(name) or self._leads_to(master, name):
            return False
        self._joints[name] = dataclasses.replace(joint, mimic=Mimic(master, ratio, offset))
        return True

    def _follows(self, name: str) -> bool:
        return self._joints[name].mimic is not None or name in self._laws

    def _leads_to(self, name: str, target: str) -> bool:
        """Whether a joint follows the target by way of others, or is the target."""
        if name == target or not self._follows(name):
            return name == target
        mimic = self._joints[name].mimic
        masters = (mimic.joint,) if mimic is not None else self._laws[name][0]
        return any(self._leads_to(master, target) for master in masters)


IN_SPACE = "tendons in space whose length is held have no counterpart"


class Equalities:
    """What equality constraints become.

    Constraints that are switched off at the start are ``inactive``, those without a counterpart are
    ``refused``, with the reason.
    """

    def __init__(self, compiled: CompiledModel, joints: Sequence[Joint]) -> None:
        model, names = compiled.model, compiled.names
        self._compiled, self._model, self._names = compiled, model, names
        self.related = RelatedJoints(joints)
        self.loops: list[Loop] = []
        self.inactive: list[str] = []
        self.refused: dict[str, str] = {}
        kinds = compiled.mujoco.mjtEq
        off = compiled.switched_off("EQUALITY")
        for k, name in enumerate(names.equalities):
            if off or not model.eq_active0[k]:
                self.inactive.append(name)
            elif int(model.eq_type[k]) in (kinds.mjEQ_CONNECT, kinds.mjEQ_WELD):
                self._add_loop(k, name)
            elif int(model.eq_type[k]) == kinds.mjEQ_JOINT:
                self._relate_joints(k, name)
            elif int(model.eq_type[k]) == kinds.mjEQ_TENDON:
                self._refuse(name, self._related_tendons(k))
            else:
                word = kinds(int(model.eq_type[k])).name.removeprefix("mjEQ_").lower()
                self.refused[name] = f"equality constraints of kind {word!r} have no counterpart"

    def _add_loop(self, k: int, name: str) -> None:
        model, data = self._model, np.array(self._model.eq_data[k])
        weld = int(model.eq_type[k]) == self._compiled.mujoco.mjtEq.mjEQ_WELD
        ends = [int(model.eq_obj1id[k]), int(model.eq_obj2id[k])]
        if int(model.eq_objtype[k]) == self._compiled.mujoco.mjtObj.mjOBJ_SITE:
            poses = [pose_of(model.site_pos[site], model.site_quat[site]) for site in ends]
            ends = [int(model.site_bodyid[site]) for site in ends]
        elif weld:
            poses = [pose_of(data[3:6], data[6:10]), pose_of(data[:3])]
        else:
            poses = [pose_of(data[:3]), pose_of(data[3:6])]
        if model.body_weldid[ends[0]] == model.body_weldid[ends[1]]:
            return  # they never move relative to each other
        turns = weld and data[10] != 0.0  # a torquescale of zero lets it turn
        self.loops.append(
            Loop(
                name,
                fixed.KIND.name if turns else spherical.KIND.name,
                self._names.bodies[ends[0]],
                self._names.bodies[ends[1]],
                Pose.from_matrix(poses[0]),
                Pose.from_matrix(poses[1]),
            )
        )

    def _relate_joints(self, k: int, name: str) -> None:
        """``q - q_ref = polynomial(q' - q'_ref)`` of one joint or two."""
        model = self._model
        one, other = int(model.eq_obj1id[k]), int(model.eq_obj2id[k])
        a0, a1, *higher = (float(x) for x in model.eq_data[k, :5])
        ref = float(model.qpos0[model.jnt_qposadr[one]])
        if other < 0 or not (a1 or any(higher)):
            self._refuse(name, self.related.hold(self._names.joints[one], ref + a0))
            return
        start = float(model.qpos0[model.jnt_qposadr[other]])
        if any(higher):
            way = np.polynomial.Polynomial([-start, 1.0])
            found = np.polynomial.Polynomial([ref + a0, a1, *higher])(way)
            curve = Polynomial(tuple(map(float, found.trim().coef)))
            joints = self._names.joints
            self._refuse(name, self.related.follow(joints[one], joints[other], curve))
        else:
            offset, joints = ref + a0 - a1 * start, self._names.joints
            self._refuse(name, self.related.relate(joints[one], joints[other], a1, offset))

    def _related_tendons(self, k: int) -> str | None:
        """``L - L_0 = polynomial(L' - L'_0)`` of one fixed tendon or two; why it cannot be."""
        model = self._model
        one, other = int(model.eq_obj1id[k]), int(model.eq_obj2id[k])
        a0, a1, *higher = (float(x) for x in model.eq_data[k, :5])
        sums = self._compiled.coefficients(one)
        total = float(model.tendon_length0[one]) + a0
        sites = self._compiled.two_sites(one)
        if sites and (other < 0 or not (a1 or any(higher))):
            self._hold_distance(k, sites, total)
            return None
        if other >= 0 and (a1 or any(higher)):
            second = self._compiled.coefficients(other)
            if any(higher):
                return "tendons that follow others by a polynomial have no counterpart"
            if not second:
                return IN_SPACE
            for j, c in second.items():
                sums[j] = sums.get(j, 0.0) - a1 * c
            total -= a1 * float(model.tendon_length0[other])
        if not sums:
            return IN_SPACE
        return self.related.sum({self._names.joints[j]: c for j, c in sums.items()}, total)

    def _hold_distance(self, k: int, sites: tuple[int, int], distance: float) -> None:
        """A tendon between two sites whose length is held is a rod."""
        model, name = self._model, self._names.equalities[k]
        one, other = (self._names.bodies[model.site_bodyid[site]] for site in sites)
        X_1, X_2 = (Pose(vector(model.site_pos[site])) for site in sites)
        kind = distance_joint.KIND.name
        self.loops.append(Loop(name, kind, one, other, X_1, X_2, distance=distance))

    def _refuse(self, name: str, reason: str | None) -> None:
        if reason is not None:
            self.refused[name] = reason


class Tendons:
    """What tendons become.

    ``springs`` are those between sites; ``links``, ``joints`` and ``followers`` are slides, what
    they move, and how they follow; ``actuators`` has motors by the joints that they drive. Tendons
    whose length is ``limited`` lose these limits; those whose forces have no counterpart are
    ``refused``, with the reason.

    motors: Motors of each fixed tendon; their gear ratio is that to the tendon.
    related: Joints with those that follow others or are held.
    """

    def __init__(
        self,
        compiled: CompiledModel,
        passive: Passive,
        motors: Mapping[int, list[Actuator]],
        related: RelatedJoints,
    ) -> None:
        self._compiled, self._passive, self._held = compiled, passive, related.held
        self._known = {joint.name: joint for joint in related.joints}
        self.springs: list[DescribedElement] = []
        self.limited: list[str] = []
        self.one_sided: list[str] = []
        self.refused: dict[str, str] = {}
        self.links: list[Link] = []
        self.joints: list[Joint] = []
        self.followers: list[TracedExplicitLoop] = []
        self.actuators: list[tuple[str, Actuator]] = []
        for k, name in enumerate(compiled.names.tendons):
            if compiled.model.tendon_limited[k]:
                self.limited.append(name)
            self._add_spring(k, name)
            self._add_slide(k, name, self._limited(k, motors.get(k, [])))

    def _add_spring(self, k: int, name: str) -> None:
        """Add what is elastic between two sites, or say why it is not."""
        compiled, model, bodies = self._compiled, self._compiled.model, self._compiled.names.bodies
        stiffness = float(self._passive.tendon_stiffness[k])
        damping = float(self._passive.tendon_damping[k])
        fixed, sites = bool(compiled.coefficients(k)), compiled.two_sites(k)
        own = () if fixed else ("frictionloss", "armature")
        more = (*own, "stiffnesspoly", "dampingpoly")
        found = [what for what in more if compiled.has(f"tendon_{what}", k)]
        found += ["springyield"] if compiled.own("tendon_springyield", k) else []
        low, high = (float(x) for x in model.tendon_lengthspring[k])
        if found:
            self.refused[name] = f"a tendon with {', '.join(found)} has no counterpart"
        elif not (stiffness or damping):
            return
        elif sites is None and not fixed:
            self.refused[name] = (
                "a tendon in space with stiffness or damping has a counterpart only where it "
                "runs straight from one site to another"
            )
        elif stiffness and low != high:
            self.refused[name] = "a spring that is slack over a range has no counterpart"
        elif sites is not None:
            rest = low if stiffness else 0.0
            (one, p), (two, r) = (
                (bodies[model.site_bodyid[i]], vector(model.site_pos[i])) for i in sites
            )
            self.springs.append(PointSpring(one, p, two, r, stiffness, rest, damping, name))

    def _add_slide(self, k: int, name: str, motors: list[Actuator]) -> None:
        """Add what acts along a fixed tendon, if anything does."""
        names, passive = self._compiled.names, self._passive
        sums = {names.joints[j]: c for j, c in self._compiled.coefficients(k).items()}
        low, high = self._compiled.model.tendon_lengthspring[k]
        stiffness = float(passive.tendon_stiffness[k]) if low == high else 0.0
        values: dict[str, Any] = {
            "stiffness": stiffness,
            "rest": float(low) if stiffness else 0.0,
            "damping": float(passive.tendon_damping[k]),
            "friction": float(passive.tendon_friction[k]),
            "armature": float(passive.tendon_armature[k]),
        }
        masters, offset = self._led_by(sums)
        if not masters or not (motors or any(values[x] for x in values if x != "rest")):
            return
        if len(masters) == 1 and not any(values.values()):
            ((joint, ratio),) = masters.items()
            self._drive(joint, ratio, motors)
            return
        link, slide = names.link(name, f"{name}_tendon"), names.joint(name, f"{name}_tendon")
        parent = self._known[next(iter(sums))].child
        self.links.append(Link(link))
        self.joints.append(Joint(slide, prismatic.KIND.name, parent, link, **values))
        law = Linear(tuple(masters.values()), offset)
        self.followers.append(TracedExplicitLoop.of_curve(slide, tuple(masters), law))
        self._drive(slide, 1.0, motors)

    def _limited(self, k: int, motors: list[Actuator]) -> list[Actuator]:
        """Motors of a tendon, whose forces together are within its `actuatorfrcrange`."""
        if not self._compiled.own("tendon_actfrclimited", k):
            return motors
        low, high = self._compiled.model.tendon_actfrcrange[k]
        most = float(max(abs(low), abs(high)))
        if motors and not math.isclose(-low, high):
            self.one_sided.append(self._compiled.names.tendons[k])
        forces = [min(abs(x.gear_ratio) * x.torque_limit, most) for x in motors]
        share = 1.0 / max(1.0, sum(forces) / most)
        return [
            dataclasses.replace(x, torque_limit=share * force / abs(x.gear_ratio))
            for x, force in zip(motors, forces, strict=True)
        ]

    def _drive(self, joint: str, ratio: float, motors: Iterable[Actuator]) -> None:
        for motor in motors:
            if gear := motor.gear_ratio * ratio:
                self.actuators.append((joint, dataclasses.replace(motor, gear_ratio=gear)))

    def _led_by(self, sums: Mapping[str, float]) -> tuple[dict[str, float], float]:
        """Joints that lead those of a sum, with their coefficients, and what is constant."""
        total, offset = dict[str, float](), 0.0
        for name, factor in sums.items():
            joint = self._known[name]
            while joint.mimic is not None:
                offset += factor * joint.mimic.offset
                factor *= joint.mimic.multiplier
                joint = self._known[joint.mimic.joint]
            if joint.nv:
                total[joint.name] = total.get(joint.name, 0.0) + factor
            else:
                offset += factor * self._held.get(joint.name, 0.0)
        return {name: c for name, c in total.items() if not np.isclose(c, 0.0, atol=1e-14)}, offset

    def with_efforts(self, joints: Iterable[Joint], driven: Iterable[str]) -> list[Joint]:
        """Joints, with the efforts of these motors added to those of motors that they have."""
        efforts: dict[str, float] = {}
        for name, motor in self.actuators:
            effort = abs(motor.gear_ratio) * motor.torque_limit
            efforts[name] = efforts.get(name, 0.0) + effort
        already, found = {*driven}, []
        for joint in joints:
            limits = joint.limits or Limits()
            if joint.name in efforts:
                more = efforts[joint.name] + (limits.effort if joint.name in already else 0.0)
                least = math.inf if joint.name in already else limits.effort
                limits = dataclasses.replace(limits, effort=min(more, least))
                joint = dataclasses.replace(joint, limits=None if limits == Limits() else limits)
            found.append(joint)
        return found
