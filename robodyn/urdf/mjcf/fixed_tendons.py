"""Fixed tendons: sums of joint positions, with motors, springs and dampers along them.

A motor of joints that all follow one is a motor of that one. Any other tendon becomes a slide
without mass, whose position is the sum: what acts along the tendon acts in the slide.
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
from robodyn.joints import prismatic
from robodyn.urdf.mjcf.model import CompiledModel, Passive


class FixedTendons:
    """What fixed tendons become.

    ``links``, ``joints`` and ``followers`` are the slides, what they move, and how they follow;
    ``actuators`` has motors by the joints that they drive.

    motors: Motors of each tendon; their gear ratio is that to the tendon.
    joints: With those that follow others or are held.
    held: Where joints are held.
    """

    def __init__(
        self,
        compiled: CompiledModel,
        passive: Passive,
        motors: Mapping[int, list[Actuator]],
        joints: Iterable[Joint],
        held: Mapping[str, float],
    ) -> None:
        model, names = compiled.model, compiled.names
        self._held = held
        self._known = {joint.name: joint for joint in joints}
        self.links: list[Link] = []
        self.joints: list[Joint] = []
        self.followers: list[TracedExplicitLoop] = []
        self.actuators: list[tuple[str, Actuator]] = []
        for k, name in enumerate(names.tendons):
            sums = {names.joints[j]: c for j, c in compiled.coefficients(k).items()}
            low, high = model.tendon_lengthspring[k]
            stiffness = float(passive.tendon_stiffness[k]) if low == high else 0.0
            values: dict[str, Any] = {
                "stiffness": stiffness,
                "rest": float(low) if stiffness else 0.0,
                "damping": float(passive.tendon_damping[k]),
                "friction": float(passive.tendon_friction[k]),
                "armature": float(passive.tendon_armature[k]),
            }
            own = motors.get(k, [])
            masters, offset = self._led_by(sums)
            if not masters or not (own or any(values[x] for x in values if x != "rest")):
                continue
            if len(masters) == 1 and not any(values.values()):
                ((joint, ratio),) = masters.items()
                self._drive(joint, ratio, own)
                continue
            link, slide = names.link(name, f"{name}_tendon"), names.joint(name, f"{name}_tendon")
            parent = self._known[next(iter(sums))].child
            self.links.append(Link(link))
            self.joints.append(Joint(slide, prismatic.KIND.name, parent, link, **values))
            law = Linear(tuple(masters.values()), offset)
            self.followers.append(TracedExplicitLoop.of_curve(slide, tuple(masters), law))
            self._drive(slide, 1.0, own)

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
