"""Limits, damping, friction and springs, of joints of the tree and of those that close loops."""

from __future__ import annotations

import dataclasses
import math
from dataclasses import dataclass

from robodyn.description import Limits
from robodyn.joints.common.kind import JointKind
from robodyn.urdf.common.reader import Reader
from robodyn.urdf.common.xml import Element

__all__ = [
    "UNLIMITED",
    "Dynamics",
    "plain_limits",
    "position_limits",
    "read_dynamics",
    "read_limits",
]

#: From here on a limit means none, in SDF and in what is written.
UNLIMITED = 1e16


@dataclass(frozen=True)
class Dynamics:
    """What ``<dynamics>`` says, in the units of `Joint`."""

    damping: float = 0.0
    friction: float = 0.0
    stiffness: float = 0.0
    rest: float = 0.0
    armature: float = 0.0


def read_dynamics(reader: Reader, joint: Element, kind: JointKind) -> Dynamics:
    """Damping, dry friction, spring and armature of a joint, or of a loop that is one."""
    element = reader.only(joint, "dynamics")
    if element is None:
        return Dynamics()
    found = Dynamics(
        reader.not_negative(element, "damping"),
        reader.not_negative(element, "friction"),
        reader.not_negative(element, "spring_stiffness"),
        reader.number(element, "spring_reference", 0.0),
        reader.not_negative(element, "armature"),
    )
    if found.stiffness and (kind.nq, kind.nv) != (1, 1):
        reader.left_out(
            element, f"a {kind} joint has no spring: only joints with one degree of freedom"
        )
        found = dataclasses.replace(found, stiffness=0.0, rest=0.0)
    return found


def read_limits(reader: Reader, joint: Element, kind: JointKind) -> Limits | None:
    """Limits of a joint, or of a loop that is one."""
    element = reader.only(joint, "limit")
    if element is None:
        return None
    written = [
        None if element.get(key) is None else reader.number(element, key, infinite=True)
        for key in ("lower", "upper")
    ]
    lower, upper = position_limits(kind, *written)
    if None not in written and kind.limited and lower > upper:
        reader.warn(element, f"lower limit {lower:g} is above upper limit {upper:g}: no limits")
        lower, upper = -math.inf, math.inf
    if kind.nv > 1 and written != [None, None] and written[0] != written[1]:
        reader.warn(
            element,
            f"lower and upper do not limit a {kind} joint: it has {kind.nv} degrees of freedom",
        )
    bounds = []
    for key in ("velocity", "effort"):
        bounds.append(reader.number(element, key, math.inf, infinite=True))
        if bounds[-1] < 0.0:
            negative = f"<limit> {key}={bounds[-1]:g} is negative"
            reader.problem(element, negative, leniently="taken as no limit")
            bounds[-1] = math.inf
    return plain_limits(kind, Limits(lower, upper, *bounds))


def plain_limits(kind: JointKind, limits: Limits | None) -> Limits | None:
    """Limits with infinity where the numbers mean none; ``None`` if nothing is limited."""
    if limits is None:
        return None
    bounds = [limits.lower, limits.upper, limits.velocity, limits.effort]
    if not kind.limited:
        bounds[:2] = -math.inf, math.inf
    plain = Limits(*(x if abs(x) < UNLIMITED else math.copysign(math.inf, x) for x in bounds))
    return None if plain == Limits() else plain


def position_limits(
    kind: JointKind, lower: float | None, upper: float | None
) -> tuple[float, float]:
    """Give the position limits of a joint that a file leaves out.

    URDF: a limit that is not written is zero. Where neither is, the author meant none.
    """
    if not kind.limited or lower is None is upper:
        return -math.inf, math.inf
    return lower or 0.0, upper or 0.0
