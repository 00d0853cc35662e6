"""Joints that SDF has no word for, as several that it has, one after the other.

The links between them have hardly any mass, as readers of SDF refuse links without.
"""

from __future__ import annotations

import dataclasses
from typing import Any

import numpy as np

from robodyn.description import Joint, Link, Loop
from robodyn.description.loop import ends_of
from robodyn.joints import continuous, cylindrical, planar, prismatic
from robodyn.joints.common.described import align_z
from robodyn.urdf.common.drawn import DrawnRobot, turn

#: Kinds of joints, axes and what is added to the name, from the parent to the child.
PARTS = {
    cylindrical.KIND.name: (
        (prismatic.KIND.name, 2, "_slide"),
        (continuous.KIND.name, 2, "_turn"),
    ),
    planar.KIND.name: (
        (prismatic.KIND.name, 0, "_x"),
        (prismatic.KIND.name, 1, "_y"),
        (continuous.KIND.name, 2, "_turn"),
    ),
}


def split(robot: DrawnRobot) -> tuple[DrawnRobot, list[str]]:
    """The same robot with joints that SDF knows, and a line for each that is written as several.

    Those with motors stay as they are.
    """
    mechanism, lost = robot.mechanism, list[str]()
    taken = {x.name for x in (*mechanism.links, *mechanism.movers)}
    driven = {name for name, _ in mechanism.actuators}
    joints, loops, links = list[Joint](), list[Loop](), [*mechanism.links]
    poses, positions = dict(robot.poses), dict(robot.positions)
    for mover in mechanism.movers:
        if mover.kind not in PARTS or mover.name in driven:
            (loops if isinstance(mover, Loop) else joints).append(mover)  # type: ignore[arg-type]
            continue
        parts = _parts(mover, taken)
        last = parts[-1]
        (loops if isinstance(last, Loop) else joints).append(last)  # type: ignore[arg-type]
        joints += parts[:-1]  # type: ignore[arg-type]
        drawn = robot.position(mover)
        X = poses[ends_of(mover)[1]]
        if isinstance(mover, Loop):
            X = X @ mover.X_successor.matrix
        X = X @ turn(np.array(mover.axis, float), -float(drawn[-1]))
        for part, at in zip(parts, drawn, strict=True):
            positions[part.name] = at
            if part is not last:
                links.append(Link(between := ends_of(part)[1]))
                poses[between] = X
        lost.append(
            f"joint {mover.name!r} ({mover.kind}) is written as "
            f"{', '.join(part.name for part in parts)}"
            + (", without its limits" if mover.limits else "")
        )
    changed = dataclasses.replace(
        mechanism, links=tuple(links), joints=tuple(joints), loops=tuple(loops)
    )
    return dataclasses.replace(robot, mechanism=changed, poses=poses, positions=positions), lost


def _parts(mover: Joint | Loop, taken: set[str]) -> list[Joint | Loop]:
    """Joints in the place of one, the last of which is a loop where that is one."""
    axes = align_z(np.array(mover.axis, float)).T
    parent, _ = ends_of(mover)
    parts: list[Joint | Loop] = []
    for kind, axis, suffix in PARTS[mover.kind]:
        x = mover.axis if axis == 2 else tuple(map(float, axes[axis]))
        name = _unused(mover.name + suffix, taken)
        link = _unused(f"{name}_link", taken)
        values: dict[str, Any] = {"name": name, "kind": kind, "axis": x, "limits": None}
        if len(parts) < len(PARTS[mover.kind]) - 1:
            values |= {"damping": mover.damping, "friction": mover.friction}
            parts.append(Joint(parent=parent, child=link, armature=mover.armature, **values))
        elif isinstance(mover, Loop):
            parts.append(dataclasses.replace(mover, predecessor=parent, exact=None, **values))
        else:
            parts.append(dataclasses.replace(mover, parent=parent, exact=None, **values))
        parent = link
    return parts


def _unused(name: str, taken: set[str]) -> str:
    """A name that nothing else has: SDF has one list of names."""
    while name in taken:
        name += "_"
    taken.add(name)
    return name
