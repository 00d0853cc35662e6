"""Joints given by their user as a map from coordinates, and time, to poses [W 5.2.8].

The motion subspace and its rate are derivatives of the map, made by the symbolic layer: with
``X_JB(q, t)``, ``S_k`` is the twist of ``dX/dq_k``, the drift that of ``dX/dt``, and
``dS_k = sum of dS_k/dq_l v_l + dS_k/dt``.
"""

from __future__ import annotations

import copy
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from robodyn.arguments import checked_arguments
from robodyn.arrays import mismatch
from robodyn.errors import ShapeError
from robodyn.joints.common.kind import JointGeometry, JointKind, JointState, TimeDependence
from robodyn.joints.common.user_function import called, takes_time
from robodyn.symbolic.derivative import jacobian
from robodyn.symbolic.evaluate import evaluate, inline
from robodyn.symbolic.graph import Graph, Port, Program
from robodyn.symbolic.scalar import Number, Scalar, dot, edge_of, inputs
from robodyn.symbolic.spatial import Placement, Twist
from robodyn.symbolic.vector import Mat3, Rotation, Vec3

#: Last row of a pose.
LAST = [0.0, 0.0, 0.0, 1.0]


class JointMap:
    """A joint as a function of its coordinates, or of its coordinates and time.

    Time is no coordinate: of a robot with joints that depend on it, methods take it as ``t=``, and
    simulations supply it. With ``n = 0`` the joint moves as time says, and in no other way.

    Parameters
    ----------
    n : int
        Number of coordinates; the speeds are their rates. 0 of functions of time alone.
    function : callable
        ``q -> X_JB``: of a list of n scalars, the pose of the child in the joint frame, a 4x4
        nested list or array; or ``q, t -> X_JB`` with the time [s], if it has a parameter called
        ``t``. Arithmetic, `robodyn.sin`, `robodyn.cos`, `robodyn.sqrt` (and numpy's) are
        understood; no branches.

    Raises
    ------
    ShapeError
        If the function does not return such a matrix, or its rotation is none.

    Examples
    --------
    >>> import robodyn as rd
    >>> def screw(q):
    ...     c, s = rd.cos(q[0]), rd.sin(q[0])
    ...     return [[c, -s, 0, 0], [s, c, 0, 0], [0, 0, 1, 0.01 * q[0]], [0, 0, 0, 1]]
    >>> robot = rd.load("double_pendulum", joint_maps={"elbow": rd.JointMap(1, screw)})
    >>> twist = robot.frame_twist([0.0, 0.5], [0.0, 2.0], "lower", relative_to="upper")
    >>> twist[[2, 5]].round(9).tolist()     # 0.01 m/rad times 2 rad/s, and 2 rad/s
    [0.02, 2.0]
    """

    #: Rate of time: zero of a map whose time is stopped.
    _clock: float = 1.0

    n: int
    rheonomic: bool

    @checked_arguments
    def __init__(self, n: int, function: Callable[..., Any]) -> None:
        self.n, self.rheonomic = n, takes_time(function)
        if not (isinstance(n, int) and n >= (0 if self.rheonomic else 1)):
            raise mismatch("n", n, "a number of coordinates")
        graph = Graph()
        x = inputs(graph, 0, self._arguments)
        time = {"t": x[n]} if self.rheonomic else {}
        self._trace(graph, called("the map", function, list(x[:n]), **time))

    def stopped(self) -> JointMap:
        """The map with its time stopped: a function of it still, but no motion comes of that."""
        stopped = copy.copy(self)
        stopped._clock = 0.0
        return stopped

    def locked(self, q: Sequence[float]) -> JointMap:
        """The map with its coordinates locked: a function of time alone, which it has to be of."""
        locked = object.__new__(JointMap)
        locked.n, locked.rheonomic = 0, True
        graph = Graph()
        R, p = self.pose([*map(float, q), inputs(graph, 0, 1)[0]])
        rows = [*R.rows()]
        locked._trace(graph, [[*row, y] for row, y in zip(rows, p, strict=True)])
        return locked

    @property
    def program(self) -> Program:
        """The map as equations."""
        return self._pose

    @property
    def _arguments(self) -> int:
        """Coordinates, and time last if the map depends on it."""
        return self.n + int(self.rheonomic)

    def _trace(self, graph: Graph, X: Any) -> None:
        edges = tuple(edge_of(graph, x) for x in _pose(X))
        port = Port("q", (self._arguments,), "rad, m")
        self._pose = Program("pose", (port,), (Port("X", (12,), "1, m"),), graph, edges)
        self._check()
        self._columns = _columns(self._pose, self._arguments)
        self._slopes = jacobian(self._columns, "q")

    def _check(self) -> None:
        points = np.random.default_rng(0).uniform(-0.5, 0.5, (8, self._arguments))
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
        """Rotation and position of the child, of the coordinates and the time last, if it counts.

        So it is in all that follows, where speeds are those of the coordinates.
        """
        X = inline(self._pose, q)
        return Mat3(*X[:9]), Vec3(*X[9:])

    def columns(self, q: Sequence[Number]) -> list[Twist]:
        """Motion subspace, in the child; last the twist that time alone makes, if it counts."""
        return _twists(inline(self._columns, q))

    @property
    def drifts(self) -> bool:
        """Time alone moves the joint."""
        return self.rheonomic and self._clock > 0.0

    def rates(self, q: Sequence[Number], v: Sequence[Number]) -> list[Twist]:
        """Rate of each column."""
        slopes, n = inline(self._slopes, q), self._arguments
        speeds: list[Number] = [*v, self._clock] if self.rheonomic else [*v]
        return _twists([dot(slopes[k : k + n], speeds) for k in range(0, len(slopes), n)])


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
    """``q`` as the user's map has it, with the time last if it counts; ``v`` their rates."""
    given: JointMap = joint.map
    R, p = given.pose(q)
    X, S, dS = Placement(Rotation(R), p), given.columns(q), given.rates(q, v)
    drift = TimeDependence(S[-1], dS[-1]) if given.drifts else None
    return JointState(X, S[: given.n], dS[: given.n], drift)


#: The number of coordinates is that of the map. Files cannot have it.
KIND = JointKind("map", nq=0, nv=0, state=_state, units=("",), in_files=False)
