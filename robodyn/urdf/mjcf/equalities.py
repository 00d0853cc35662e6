"""Equality constraints of a compiled model: closed loops, joints that follow others, locked joints.

MuJoCo holds them softly; here they are exact.
"""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Iterable, Mapping, Sequence

import numpy as np

from robodyn.description import Joint, Loop, Mimic, Pose
from robodyn.description.curve import Linear, Polynomial
from robodyn.description.traced_explicit_loop import TracedExplicitLoop
from robodyn.joints import distance as distance_joint, fixed, joint_kind, spherical
from robodyn.joints.common.described import described_pose
from robodyn.tolerances import SAME_POSITION
from robodyn.urdf.mjcf.bodies import pose_of
from robodyn.urdf.mjcf.model import CompiledModel, vector


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
                    reasons.append(self.sum({follows: 1.0} | _negative(own), law.offset))
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


def _negative(factors: Mapping[str, float]) -> dict[str, float]:
    return {name: -c for name, c in factors.items()}


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
