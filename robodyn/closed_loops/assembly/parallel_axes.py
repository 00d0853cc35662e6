"""Axes of joints on one body that are parallel but for rounding, made parallel.

In whatever frames a planar linkage is written, axes on each of its bodies, links that fixed joints
connect, are parallel. Made so exactly body by body, they are so all around its loops.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import replace

import numpy as np

from robodyn.array_types import Array
from robodyn.closed_loops.assembly.frame_displacements import Mover, cross_matrix, ends, pose_near
from robodyn.description import Joint, Loop, Mechanism, Pose
from robodyn.description.exact_turns import on_loops
from robodyn.description.written_digits import digits_of
from robodyn.joints import joint_kind
from robodyn.model.model import Model
from robodyn.quick_dataclass import dataclass


def with_parallel_axes(model: Model, tolerance: float) -> tuple[Mechanism, float]:
    """The mechanism of a model with axes in loops parallel where they nearly are on one body.

    With the root of the sum of squares of the angles by which frames are turned [rad].
    """
    meant: dict[tuple[str, int], Array] = {}
    squares: dict[str, float] = {}
    for group in _groups(model, tolerance):
        mean = sum((one.sign * one.axis for one in group), np.zeros(3))
        mean = mean / np.linalg.norm(mean) if len(group) > 1 else mean
        for one in group:
            meant[one.key] = one.R.T @ (one.sign * mean)
            angle = math.asin(min(1.0, float(np.linalg.norm(np.cross(one.axis, mean)))))
            squares[one.key[0]] = squares.get(one.key[0], 0.0) + angle**2

    def new(mover: Mover) -> Mover:
        if not squares.get(mover.name):
            return mover
        return _turned(mover, meant[mover.name, 0], meant[mover.name, 1])

    mechanism = model.mechanism
    return replace(
        mechanism,
        joints=tuple(map(new, mechanism.joints)),  # type: ignore[arg-type]  # same
        loops=tuple(map(new, mechanism.loops)),  # type: ignore[arg-type]  # same
        rounding=mechanism.rounding or digits_of(mechanism),
    ), math.sqrt(sum(squares.values()))


def parallel_rows(
    model: Model, turns: Mapping[tuple[str, int], slice], size: int, tolerance: float
) -> tuple[Array, Array]:
    """Slopes (n, size) by displacements of frames of what axes miss being parallel, and that (n,).

    ``turns`` says where the rotation vectors of the frames F and G of each joint are among the
    displacements; axes that are to be parallel are so within a tolerance [rad].
    """
    slopes: list[Array] = []
    missed: list[Array] = []
    for first, *others in _groups(model, tolerance):
        for one in others:
            row = np.zeros((3, size))
            for end, other in ((one, first.axis), (first, -one.axis)):
                if end.key in turns:
                    row[:, turns[end.key]] += cross_matrix(other) @ end.by_turn
            slopes.append(row)
            missed.append(np.cross(first.axis, one.axis))
    return np.reshape(slopes, (3 * len(slopes), size)), np.ravel(missed)


@dataclass(frozen=True, eq=False)
class _Axis:
    """The axis of a joint on one of its two bodies."""

    key: tuple[str, int]  # the joint, and which of its frames: F or G
    axis: Array  # (3,), in the axes of the body
    R: Array  # (3, 3), rotation of the link in the body
    by_turn: Array  # (3, 3), slopes of the axis by a rotation vector of the frame
    sign: float = 1.0  # whether it points as the first one of those that are parallel


def _groups(model: Model, tolerance: float) -> list[list[_Axis]]:
    """Axes on one body each that are parallel to the first of them."""
    links, axes = model.tree.links, dict[int, list[_Axis]]()
    for mover in on_loops(model.mechanism):
        if not joint_kind(mover.kind).axial:
            continue
        axis = np.array(mover.axis)
        for side, (link, X) in enumerate(ends(mover)):
            body, X_BL = links[link]
            R = X_BL[:3, :3]
            on_body = R @ X[:3, :3]
            # the frame G of a joint is that of its child, in which the axis is turned back
            back = 1.0 if side and isinstance(mover, Joint) else -1.0
            by_turn = back * on_body @ cross_matrix(axis)
            one = _Axis((mover.name, side), on_body @ axis, R, by_turn)
            axes.setdefault(body, []).append(one)
    found: list[list[_Axis]] = []
    for left in axes.values():
        while left:
            first = left[0].axis
            near = [x for x in left if np.linalg.norm(np.cross(first, x.axis)) <= tolerance]
            left = [x for x in left if x not in near]
            found.append([replace(x, sign=math.copysign(1.0, float(first @ x.axis))) for x in near])
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
