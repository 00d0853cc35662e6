"""Joints given by their user as a map from coordinates to poses [W 5.2.8].

The motion subspace and its rate are derivatives of the map, made by the symbolic layer: with
``X_JB(q)``, ``S_k`` is the twist of ``dX/dq_k`` and ``dS_k = sum of dS_k/dq_l v_l``.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from robodyn.errors import ShapeError
from robodyn.joints.common.kind import JointGeometry, JointKind, JointState
from robodyn.joints.common.user_function import called
from robodyn.symbolic.derivative import jacobian
from robodyn.symbolic.evaluate import evaluate
from robodyn.symbolic.graph import Graph, Port, Program
from robodyn.symbolic.inline import inline
from robodyn.symbolic.rotation import Rotation
from robodyn.symbolic.scalar import Number, Scalar, edge_of, inputs
from robodyn.symbolic.spatial import Placement, Twist
from robodyn.symbolic.vector import Mat3, Vec3

__all__ = ["KIND", "JointMap"]

#: Last row of a pose.
LAST = [0.0, 0.0, 0.0, 1.0]


class JointMap:
    """A joint as a function of its coordinates.

    A joint that also depends on time has time as its last coordinate, driven with speed 1 and
    acceleration 0: ``controlled={"name[1]": 0.0}``, or in a simulation
    ``controlled={"name[1]": lambda t: (t, 1.0, 0.0)}``. The generalised force of that coordinate is
    what keeps the motion to the clock.

    Parameters
    ----------
    n : int
        Number of coordinates; the speeds are their rates.
    function : callable
        ``q -> X_JB``: of a list of n scalars, the pose of the child in the joint frame, a 4x4
        nested list or array. Arithmetic, `robodyn.sin`, `robodyn.cos`, `robodyn.sqrt` (and numpy's)
        are understood; no branches.

    Raises
    ------
    ShapeError
        If the function does not return such a matrix, or its rotation is none.
    """

    def __init__(self, n: int, function: Callable[[list[Any]], Any]) -> None:
        if not (isinstance(n, int) and n >= 1):
            raise ShapeError(f"n is {n!r}, expected a number of coordinates", name="n", given=n)
        self.n = n
        graph = Graph()
        q = inputs(graph, 0, n)
        edges = tuple(edge_of(graph, x) for x in _pose(called("the map", function, list(q))))
        port = Port("q", (n,), "rad, m")
        self._pose = Program("pose", (port,), (Port("X", (12,), "1, m"),), graph, edges)
        self._check()
        self._columns = _columns(self._pose, n)
        self._slopes = jacobian(self._columns, "q")

    def _check(self) -> None:
        points = np.random.default_rng(0).uniform(-0.5, 0.5, (8, self.n))
        with np.errstate(all="ignore"):
            X = evaluate(self._pose, points)[0]
        R = X[:, :9].reshape(-1, 3, 3)
        turned = R @ np.swapaxes(R, 1, 2) - np.eye(3)
        if not (np.isfinite(X).all() and np.abs(turned).max() < 1e-9):
            raise ShapeError(
                "the upper left 3x3 part of the map is not a rotation for all coordinates",
                name="function",
            )
        if np.linalg.det(R).min() < 0.0:
            raise ShapeError("the map mirrors: its rotation has determinant -1", name="function")

    def pose(self, q: Sequence[Number]) -> tuple[Mat3, Vec3]:
        """Rotation and position of the child."""
        X = inline(self._pose, q)
        return Mat3(*X[:9]), Vec3(*X[9:])

    def columns(self, q: Sequence[Number]) -> list[Twist]:
        """Motion subspace, in the child."""
        return _twists(inline(self._columns, q))

    def rates(self, q: Sequence[Number], v: Sequence[Number]) -> list[Twist]:
        """Rate of each column."""
        slopes, n = inline(self._slopes, q), self.n
        total: list[Number] = []
        for first in range(0, len(slopes), n):
            rate: Number = 0.0
            for slope, speed in zip(slopes[first : first + n], v, strict=True):
                rate = rate + slope * speed
            total.append(rate)
        return _twists(total)


def _pose(X: Any) -> list[Number]:
    """Rotation by rows, then position."""
    try:
        rows = [list(row) for row in X]
        if len(rows) not in (3, 4) or any(len(row) != 4 for row in rows):
            raise ValueError(f"its rows have lengths {[len(row) for row in rows]}")
        if rows[3:] and any(
            isinstance(x, Scalar) or x != y for x, y in zip(rows[3], LAST, strict=True)
        ):
            raise ValueError(f"its last row is {rows[3]}, not 0 0 0 1")
        numbers = [x if isinstance(x, Scalar) else float(x) for row in rows[:3] for x in row]
    except (TypeError, ValueError) as error:
        raise ShapeError(
            f"the map must return a 4x4 matrix of numbers: {error}", name="function"
        ) from None
    return [numbers[4 * i + j] for i in range(3) for j in range(3)] + numbers[3::4]


def _columns(pose: Program, n: int) -> Program:
    """The motion subspace as a program of q."""
    graph = Graph()
    q = inputs(graph, 0, n)
    X, slopes = inline(pose, q), inline(jacobian(pose, "q"), q)
    R = Mat3(*X[:9])
    results: list[Number] = []
    for k in range(n):
        dX = slopes[k::n]
        W = R.T @ Mat3(*dX[:9])
        results += [*(R.T * Vec3(*dX[9:])), W.zy, W.xz, W.yx]
    edges = tuple(edge_of(graph, x) for x in results)
    return Program("columns", pose.inputs, (Port("S", (n, 6), "m, 1"),), graph, edges)


def _twists(numbers: list[Number]) -> list[Twist]:
    return [
        Twist(Vec3(*numbers[k : k + 3]), Vec3(*numbers[k + 3 : k + 6]))
        for k in range(0, len(numbers), 6)
    ]


def _state(joint: JointGeometry, q: Sequence[Number], v: Sequence[Number]) -> JointState:
    """``q`` as the user's map has it; ``v`` their rates."""
    R, p = joint.map.pose(q)
    return JointState(Placement(Rotation(R), p), joint.map.columns(q), joint.map.rates(q, v))


#: The number of coordinates is that of the map. Files cannot have it.
KIND = JointKind("map", nq=0, nv=0, state=_state, units=("",), in_files=False)
