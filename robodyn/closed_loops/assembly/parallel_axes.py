"""Axes of joints on one body that are parallel but for rounding, made parallel.

In whatever frames a planar linkage is written, axes on each of its bodies, links that fixed joints
connect, are parallel. Made so exactly body by body, they are so all around its loops.
"""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Iterable

import numpy as np

from robodyn.array_types import Array
from robodyn.closed_loops.assembly.frame_displacements import pose_near
from robodyn.description import Joint, Loop, Mechanism, Pose
from robodyn.description.exact_turns import on_loops
from robodyn.joints import joint_kind

__all__ = ["with_parallel_axes"]


def with_parallel_axes(mechanism: Mechanism, tolerance: float) -> tuple[Mechanism, float]:
    """A mechanism in whose loops axes on one body are parallel where they nearly are.

    Parameters
    ----------
    mechanism : Mechanism
    tolerance : float [rad]

    Returns
    -------
    mechanism : Mechanism
    turned : float [rad]
        Root of the sum of squares of the angles by which frames are turned.
    """
    hinges = [m for m in on_loops(mechanism) if joint_kind(m.kind).axial]
    bodies, axes = _bodies(mechanism), dict[str, list[tuple[tuple[str, int], Array]]]()
    turns_of = {}
    for mover in hinges:
        for side, (link, axis) in enumerate(_ends(mover)):
            body, R = bodies.get(link, (link, np.eye(3)))
            turns_of[mover.name, side] = R
            axes.setdefault(body, []).append(((mover.name, side), R @ axis))
    common = (x for on_body in axes.values() for x in _common(on_body, tolerance))
    meant = {key: turns_of[key].T @ n for key, n in common}
    new: dict[str, Joint | Loop] = {}
    squares = 0.0
    for mover in hinges:
        ends = [meant[mover.name, side] for side in (0, 1)]
        turns = [math.asin(min(1.0, float(np.linalg.norm(np.cross(axis, n)))))
                 for (_, axis), n in zip(_ends(mover), ends, strict=True)]  # fmt: skip
        if any(turns):
            new[mover.name] = _turned(mover, *ends)
            squares += sum(x * x for x in turns)
    return dataclasses.replace(
        mechanism,
        joints=tuple(new.get(x.name, x) for x in mechanism.joints),  # type: ignore[misc]  # same
        loops=tuple(new.get(x.name, x) for x in mechanism.loops),  # type: ignore[misc]  # same
    ), math.sqrt(squares)


def _ends(mover: Joint | Loop) -> tuple[tuple[str, Array], tuple[str, Array]]:
    """The links of a joint, and its axis on each of them."""
    axis = np.array(mover.axis)
    if isinstance(mover, Joint):
        return (mover.parent, mover.origin.matrix[:3, :3] @ axis), (mover.child, axis)
    ends = mover.X_predecessor.matrix[:3, :3] @ axis, mover.X_successor.matrix[:3, :3] @ axis
    return (mover.predecessor, ends[0]), (mover.successor, ends[1])


def _bodies(mechanism: Mechanism) -> dict[str, tuple[str, Array]]:
    """Of links that fixed joints connect: one of them, and their rotations (3, 3) in it."""
    found: dict[str, tuple[str, Array]] = {}
    fixed = [x for x in mechanism.joints if joint_kind(x.kind).nv == 0 and x.map is None]
    for first in (end for x in fixed for end in (x.parent, x.child)):
        if first in found:
            continue
        found[first], links = (first, np.eye(3)), [first]
        for link in links:  # grows
            for x in fixed:
                R = x.origin.matrix[:3, :3]
                for one, other, R_step in ((x.parent, x.child, R), (x.child, x.parent, R.T)):
                    if link == one and other not in found:
                        found[other] = first, found[link][1] @ R_step
                        links.append(other)
    return found


def _common(
    axes: Iterable[tuple[tuple[str, int], Array]], tolerance: float
) -> list[tuple[tuple[str, int], Array]]:
    """Of axes on a body, the mean of those that each is parallel to."""
    found: list[tuple[tuple[str, int], Array]] = []
    left = list(axes)
    while left:
        first = left[0][1]
        near = [x for x in left if np.linalg.norm(np.cross(first, x[1])) <= tolerance]
        left = [x for x in left if all(x is not y for y in near)]
        signs = [math.copysign(1.0, float(first @ axis)) for _, axis in near]
        mean = sum((s * axis for s, (_, axis) in zip(signs, near, strict=True)), np.zeros(3))
        mean = mean / np.linalg.norm(mean) if len(near) > 1 else first
        found += [(key, s * mean) for s, (key, _) in zip(signs, near, strict=True)]
    return found


def _turned(mover: Joint | Loop, on_parent: Array, on_child: Array) -> Joint | Loop:
    """A joint with its axis in given directions on both of its links."""
    if isinstance(mover, Loop):
        axis = np.array(mover.axis)
        return dataclasses.replace(
            mover,
            X_predecessor=_with_axis(mover.X_predecessor, axis, on_parent),
            X_successor=_with_axis(mover.X_successor, axis, on_child),
        )
    x, y, z = on_child.tolist()
    return dataclasses.replace(
        mover, axis=(x, y, z), origin=_with_axis(mover.origin, on_child, on_parent)
    )


def _with_axis(X: Pose, axis: Array, direction: Array) -> Pose:
    """A pose turned by as little as brings an axis in it into a direction."""
    matrix = X.matrix
    now = matrix[:3, :3] @ axis
    v = np.cross(now, direction)
    H = np.array([[0.0, -v[2], v[1]], [v[2], 0.0, -v[0]], [-v[1], v[0], 0.0]])
    matrix[:3, :3] += (H + H @ H / (1.0 + float(now @ direction))) @ matrix[:3, :3]
    return pose_near(X, matrix)
