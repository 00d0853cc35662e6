"""Tendons of a compiled model: springs between two sites, and sums of joint positions.

A tendon between two sites is a spring; no other tendon in space has a counterpart. Along a fixed
one, a sum of joint positions, act motors, springs and dampers. A motor of joints that all follow
one is a motor of that one. Any other fixed tendon becomes a slide without mass, whose position is
the sum: what acts along the tendon acts in the slide.
"""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np

from robodyn.description import Actuator, Joint, Limits, Link
from robodyn.description.curve import Linear
from robodyn.description.traced_explicit_loop import TracedExplicitLoop
from robodyn.force_elements.common.link_element import DescribedElement
from robodyn.force_elements.point_spring import PointSpring
from robodyn.joints import prismatic
from robodyn.urdf.mjcf.equalities import RelatedJoints
from robodyn.urdf.mjcf.model import CompiledModel, Passive, vector


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
        self.refused: dict[str, str] = {}
        self.links: list[Link] = []
        self.joints: list[Joint] = []
        self.followers: list[TracedExplicitLoop] = []
        self.actuators: list[tuple[str, Actuator]] = []
        for k, name in enumerate(compiled.names.tendons):
            if compiled.model.tendon_limited[k]:
                self.limited.append(name)
            self._add_spring(k, name)
            self._add_slide(k, name, motors.get(k, []))

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
