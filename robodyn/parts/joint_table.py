"""The joints of a robot as a table, for notebooks."""

from __future__ import annotations

import math
from collections.abc import Collection, Iterable, Iterator

from robodyn.html_tables import html_table
from robodyn.model.joint_info import JointInfo

HEAD = ("joint", "type", "parent", "child", "position", "velocity", "effort", "role")


def joint_table(
    title: str, facts: Iterable[str], joints: Iterable[JointInfo], motors: Collection[str]
) -> str:
    """HTML of a robot's joints.

    facts: Facts about the whole robot.
    """
    return html_table(title, HEAD, (tuple(_cells(x, motors)) for x in joints), facts=facts)


def _cells(joint: JointInfo, motors: Collection[str]) -> Iterator[str]:
    yield from (joint.name, joint.type, joint.parent, joint.child)
    unit, bounds, limits = joint.kind.unit(0), joint.position_limits, joint.limits
    yield "" if bounds is None else f"{bounds[0]:.4g} to {bounds[1]:.4g} {unit}"
    units = f"{unit}/s", {"rad": "N m", "m": "N"}.get(unit, "")
    most = (math.inf, math.inf) if limits is None else (limits.velocity, limits.effort)
    for value, of in zip(most, units, strict=True):
        yield f"{value:.4g} {of}" if 0.0 < value < math.inf else ""
    yield _role(joint, motors)


def _role(joint: JointInfo, motors: Collection[str]) -> str:
    if joint.cut:
        return "closes a loop"
    motor = "motor" if joint.name in motors else ""
    if joint.follows:
        return f"{motor and 'motor, '}follows {', '.join(joint.follows)}"
    return motor or "passive"
