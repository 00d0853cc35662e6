"""Axes of joints on one body that are parallel but for rounding, made parallel.

In whatever frames a planar linkage is written, axes on each of its bodies, links that fixed joints
connect, are parallel. Made so exactly body by body, they are so all around its loops.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, replace

import numpy as np

from robodyn.array_types import Array
from robodyn.closed_loops.assembly.frame_displacements import cross_matrix, pose_near
from robodyn.description import Joint, Loop, Mechanism, Pose
from robodyn.description.exact_turns import on_loops
from robodyn.joints import joint_kind

__all__ = ["parallel_rows", "with_parallel_axes"]


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
    hinges, meant = _hinges(mechanism), dict[tuple[str, int], Array]()
    for group in _groups(mechanism, hinges, tolerance):
        mean = sum((one.sign * one.axis for one in group), np.zeros(3))
        mean = mean / np.linalg.norm(mean) if len(group) > 1 else mean
        meant |= {one.key: one.R.T @ (one.sign * mean) for one in group}
    new: dict[str, Joint | Loop] = {}
    squares = 0.0
    for mover in hinges:
        ends = [meant[mover.name, side] for side in (0, 1)]
        turns = [math.asin(min(1.0, float(np.linalg.norm(np.cross(axis, n)))))
                 for (_, axis), n in zip(_ends(mover), ends, strict=True)]  # fmt: skip
        if any(turns):
            new[mover.name] = _turned(mover, *ends)
            squares += sum(x * x for x in turns)
    return replace(
        mechanism,
        joints=tuple(new.get(x.name, x) for x in mechanism.joints),  # type: ignore[misc]  # same
        loops=tuple(new.get(x.name, x) for x in mechanism.loops),  # type: ignore[misc]  # same
    ), math.sqrt(squares)


def parallel_rows(
    mechanism: Mechanism, turns: Mapping[tuple[str, int], slice], size: int, tolerance: float
) -> tuple[Array, Array]:
    """Slopes (n, size) by displacements of frames of what axes miss being parallel, and that (n,).

    Parameters
    ----------
    mechanism : Mechanism
    turns : mapping of (str, int) to slice
        Where the rotation vectors of the frames F and G of each joint are among the displacements.
    size : int
        How many numbers these have.
    tolerance : float [rad]
        Of axes that are to be parallel.
    """
    hinges = _hinges(mechanism)
    slopes: list[Array] = []
    missed: list[Array] = []
    for first, *others in _groups(mechanism, hinges, tolerance):
        for one in others:
            row = np.zeros((3, size))
            for end, other in ((one, first.axis), (first, -one.axis)):
                if end.key in turns:
                    row[:, turns[end.key]] += cross_matrix(other) @ end.by_turn
            slopes.append(row)
            missed.append(np.cross(first.axis, one.axis))
    return np.reshape(slopes, (-1, size)), np.ravel(missed)


@dataclass(frozen=True, eq=False)
class _Axis:
    """The axis of a joint on one of its two bodies.

    Attributes
    ----------
    key : (str, int)
        The joint, and which of its frames: F or G.
    axis : ndarray, shape (3,)
        In the axes of the body.
    R : ndarray, shape (3, 3)
        Rotation of the link in the body.
    by_turn : ndarray, shape (3, 3)
        Slopes of the axis by a rotation vector of the frame.
    sign : float
        Whether it points as the first one of those that are parallel.
    """

    key: tuple[str, int]
    axis: Array
    R: Array
    by_turn: Array
    sign: float = 1.0


def _hinges(mechanism: Mechanism) -> list[Joint | Loop]:
    return [m for m in on_loops(mechanism) if joint_kind(m.kind).axial]


def _groups(
    mechanism: Mechanism, hinges: list[Joint | Loop], tolerance: float
) -> list[list[_Axis]]:
    """Axes on one body each that are parallel to the first of them."""
    bodies, axes = _bodies(mechanism), dict[str, list[_Axis]]()
    for mover in hinges:
        turned_by = cross_matrix(np.array(mover.axis))
        for side, (link, axis) in enumerate(_ends(mover)):
            body, R = bodies.get(link, (link, np.eye(3)))
            X = _frames(mover)[side]
            by_turn = turned_by if X is None else -X.matrix[:3, :3] @ turned_by
            axes.setdefault(body, []).append(_Axis((mover.name, side), R @ axis, R, R @ by_turn))
    found: list[list[_Axis]] = []
    for left in axes.values():
        while left:
            first = left[0].axis
            near = [x for x in left if np.linalg.norm(np.cross(first, x.axis)) <= tolerance]
            left = [x for x in left if x not in near]
            found.append([replace(x, sign=math.copysign(1.0, float(first @ x.axis))) for x in near])
    return found


def _frames(mover: Joint | Loop) -> tuple[Pose, Pose | None]:
    """Poses of F and G on the links; ``None`` where the axis of the joint is turned instead."""
    if isinstance(mover, Joint):
        return mover.origin, None
    return mover.X_predecessor, mover.X_successor


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


def _turned(mover: Joint | Loop, on_parent: Array, on_child: Array) -> Joint | Loop:
    """A joint with its axis in given directions on both of its links."""
    if isinstance(mover, Loop):
        axis = np.array(mover.axis)
        return replace(
            mover,
            X_predecessor=_with_axis(mover.X_predecessor, axis, on_parent),
            X_successor=_with_axis(mover.X_successor, axis, on_child),
        )
    x, y, z = on_child.tolist()
    return replace(mover, axis=(x, y, z), origin=_with_axis(mover.origin, on_child, on_parent))


def _with_axis(X: Pose, axis: Array, direction: Array) -> Pose:
    """A pose turned by as little as brings an axis in it into a direction."""
    matrix = X.matrix
    now = matrix[:3, :3] @ axis
    H = cross_matrix(np.cross(now, direction))
    matrix[:3, :3] += (H + H @ H / (1.0 + float(now @ direction))) @ matrix[:3, :3]
    return pose_near(X, matrix)
