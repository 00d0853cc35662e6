"""Constraints given as functions, of coordinates or of the motion of one frame seen from another.

Their coordinates are the position of B in A and the rotation matrix by rows; their speeds the
velocity of the origin of B and the angular velocity, in the axes of A.

The point of a kind is the origin of frame B; line, plane and axis are z of frame A, and the plane
``z = 0`` of A; the axis in B is z of B.

Rows of K, their bias and the residual are derivatives made by the symbolic layer: with
``g(q, v, t)`` the rate of a holonomic ``f(q, t)``, or what a nonholonomic row is itself,
``K = dg/dv``, ``psi = g(q, 0, t)`` and the bias is ``dg/dq dq/dt + dg/dt``: the rate of g at
constant v [W 5.195, 5.197]. In programs, the time stands after the coordinates.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Mapping, Sequence
from functools import cached_property
from types import MappingProxyType
from typing import Any

import numpy as np

from robodyn.array_types import FloatArray
from robodyn.errors import ShapeError
from robodyn.joints import distance, helical
from robodyn.joints.common.cut import (
    Cut,
    RelativeMotion,
    aligned,
    along,
    parallel,
    position,
    product_row,
)
from robodyn.joints.common.gap import axis_gap, rotation_gap
from robodyn.joints.common.kind import JointKind
from robodyn.joints.joint_map import JointMap
from robodyn.quick_dataclass import dataclass
from robodyn.symbolic import ops
from robodyn.symbolic.constraint_row import Row
from robodyn.symbolic.derivative import jacobian
from robodyn.symbolic.evaluate import evaluate, inline
from robodyn.symbolic.graph import Graph, Port, Program
from robodyn.symbolic.scalar import Number, Scalar, dot, edge_of, inputs
from robodyn.symbolic.spatial import Placement, Twist
from robodyn.symbolic.vector import EX, EY, EZ, Mat3, Rotation, Vec3
from robodyn.tolerances import LINEAR_IN_SPEEDS

#: ``q, v -> dq/dt``: rates of the coordinates but for the time.
Rates = Callable[[Sequence[Number], Sequence[Number]], list[Number]]

#: Number of evaluations of a function in checks.
SAMPLES = 16


def program(name: str, graph: Graph, sizes: Sequence[int], results: Sequence[Number]) -> Program:
    """Some results as a program of coordinates and, of two sizes, of speeds."""
    ports = (Port("q", (sizes[0],), "rad, m"), *(Port("v", (m,), "rad/s, m/s") for m in sizes[1:]))
    edges = tuple(edge_of(graph, x) for x in results)
    return Program(name, ports, (Port(name, (len(edges),), ""),), graph, edges)


def expressions(name: str, results: Any) -> list[Number]:
    """What the function of a constraint returned, as a list of expressions."""
    try:
        listed = [results] if isinstance(results, Scalar | float | int) else list(results)
        numbers = [x if isinstance(x, Scalar) else float(x) for x in listed]
    except (TypeError, ValueError) as error:
        raise ShapeError(
            f"constraint {name!r} must return an expression or a list of them: {error}",
            name="function",
        ) from None
    if not numbers:
        raise ShapeError(f"constraint {name!r} returns nothing", name="function")
    return numbers


def depends_on(given: Program, port: str, index: int | None = None) -> list[bool]:
    """Which results of a program depend on an input, or on one number of it."""
    slopes = jacobian(given, port)
    size = next(x.size for x in given.inputs if x.name == port)
    nonzero = [not _is_zero(slopes, edge) for edge in slopes.results]
    rows = [nonzero[k : k + size] for k in range(0, len(nonzero), size)]
    return [any(row) if index is None else row[index] for row in rows]


def _is_zero(given: Program, edge: int) -> bool:
    return given.graph.op[edge >> 1] == ops.CONST and not given.graph.value[edge >> 1]


@dataclass(frozen=True, eq=False)
class ConstraintFunctions:
    """Rows of a constraint as programs.

    value: ``f(q)``; zero in rows of speeds. Where time enters, it is the last of q.
    rate: ``g(q, v)``.
    holonomic: Of each row: whether it is one of positions.
    rates: ``q, v -> dq/dt``, but for the time.
    rheonomic: It depends on time.
    clock: Rate of time; zero where it is stopped.
    """

    value: Program
    rate: Program
    holonomic: tuple[bool, ...]
    rates: Rates
    rheonomic: bool = False
    clock: float = 1.0

    @classmethod
    def of(
        cls, given: Program, holonomic: Sequence[bool], rates: Rates, rheonomic: bool
    ) -> ConstraintFunctions:
        """Of a function of coordinates and speeds; rows of positions depend on no speed."""
        n, m = (port.size for port in given.inputs)
        graph = Graph()
        at_rest: list[Number] = [*inputs(graph, 0, n), *[0.0] * m]
        edges = zip(given.results, holonomic, strict=True)
        of_positions = tuple(edge for edge, is_position in edges if is_position)
        found = iter(inline(dataclasses.replace(given, results=of_positions), at_rest))
        results = [next(found) if is_position else 0.0 for is_position in holonomic]
        value = program("value", graph, (n,), results)
        rate = _rate(value, given, holonomic, rates, 1.0)
        return cls(value, rate, tuple(holonomic), rates, rheonomic)

    def stopped(self) -> ConstraintFunctions:
        """A copy at a fixed time: functions still depend on the time, but have no rate by it."""
        rate = _rate(self.value, self.rate, self.holonomic, self.rates, 0.0)
        return dataclasses.replace(self, rate=rate, clock=0.0)

    @property
    def count(self) -> int:
        """Number of rows."""
        return len(self.holonomic)

    @cached_property
    def slopes(self) -> Program:
        """K as a function of q, by rows."""
        n, m = (port.size for port in self.rate.inputs)
        graph = Graph()
        q = inputs(graph, 0, n)
        at_rest: list[Number] = [*q, *[0.0] * m]
        return program("slopes", graph, (n,), inline(jacobian(self.rate, "v"), at_rest))

    @cached_property
    def offset(self) -> Program:
        """Psi as a function of q."""
        n, m = (port.size for port in self.rate.inputs)
        graph = Graph()
        q = inputs(graph, 0, n)
        return program("offset", graph, (n,), inline(self.rate, [*q, *[0.0] * m]))

    @property
    def steady(self) -> bool:
        """No motion is possible motion: psi is zero."""
        return all(_is_zero(self.offset, edge) for edge in self.offset.results)

    @cached_property
    def bias(self) -> Program:
        """dg/dt at zero accelerations, as a function of q and v."""
        n, m = (port.size for port in self.rate.inputs)
        graph = Graph()
        q, v = inputs(graph, 0, n), inputs(graph, n, m)
        found = _along(self.rate, [*q, *v], self.rates, q, v, self.clock)
        return program("bias", graph, (n, m), found)

    def check(self, name: str, q: FloatArray) -> None:
        """Raise `ShapeError` unless it is linear in the speeds, and depends on them at all.

        name: Of the constraint.
        q (SAMPLES, n): Some coordinates, the time included.
        """
        m = self.rate.inputs[1].size
        v = np.random.default_rng(1).normal(size=(len(q), m))
        with np.errstate(all="ignore"):
            g = evaluate(self.rate, q, v)[0]
            try:
                K = evaluate(self.slopes, q)[0].reshape(len(q), -1, m)
                psi = evaluate(self.offset, q)[0]
            except (ArithmeticError, ValueError):  # divides by a speed
                K, psi = np.full((len(q), self.count, m), np.nan), g
        good = np.isfinite(g).all(axis=1)
        if not good.any():
            raise ShapeError(
                f"constraint {name!r} is not a finite number anywhere", name="function"
            )
        g, K, psi = g[good], K[good], psi[good]
        terms = np.einsum("...ij,...j->...i", np.abs(K), np.abs(v[good])) + np.abs(psi)
        error = np.abs(np.einsum("...ij,...j->...i", K, v[good]) + psi - g)
        if not (error <= LINEAR_IN_SPEEDS * (terms + 1e-300)).all():
            raise ShapeError(f"constraint {name!r} is not linear in the speeds", name="function")
        still = np.flatnonzero(~np.abs(K).any(axis=(0, 2)))
        if len(still):
            raise ShapeError(
                f"row {still[0]} of constraint {name!r} constrains no motion", name="function"
            )


def _rate(
    value: Program, given: Program, holonomic: Sequence[bool], rates: Rates, clock: float
) -> Program:
    """``g(q, v)``: rates of the rows of positions, and what the others are."""
    n, m = (port.size for port in given.inputs)
    graph = Graph()
    q, v = inputs(graph, 0, n), inputs(graph, n, m)
    own = inline(given, [*q, *v]) if not all(holonomic) else []
    if any(holonomic):
        along = _along(value, q, rates, q, v, clock)
        own = [along[k] if is_position else own[k] for k, is_position in enumerate(holonomic)]
    return program("rate", graph, (n, m), own)


def _along(
    given: Program,
    at: list[Number],
    rates: Rates,
    q: list[Number],
    v: list[Number],
    clock: float,
) -> list[Number]:
    """Rate of a program's results along dq/dt; if there is one more in q, it is time."""
    speeds = rates(q, v)
    speeds = [*speeds, *[clock] * (len(q) - len(speeds))]
    slopes, n = inline(jacobian(given, "q"), at), len(speeds)
    return [dot(slopes[k : k + n], speeds) for k in range(0, len(slopes), n)]


#: ``X_AB, v, w, t -> rows``: velocities of B seen from A, in the axes of A.
FrameFunction = Callable[[Placement, Vec3, Vec3, Number], list[Number]]

#: Numbers of a pose, and of a twist.
POSE, TWIST = 12, 6


@dataclass(frozen=True, eq=False)
class MovingFrames:
    """Frames that move in their links as functions of time; ``None`` for a fixed one."""

    A: JointMap | None = None
    B: JointMap | None = None

    def seen(self, X: Placement, v: Vec3, w: Vec3, t: Number) -> tuple[Placement, Vec3, Vec3]:
        """``X_AB``, v and w of the moving frames, from those of the places where they are."""
        if self.B is not None:
            X_PB, own = _at(self.B, t)
            v, X = v + w.cross(X.R * X_PB.p), X @ X_PB
            v, w = v + X.R * own.v, w + X.R * own.w
        if self.A is not None:
            X_PA, own = _at(self.A, t)
            R, p = X_PA.R, X_PA.R.inverse_times(X.p - X_PA.p)
            X = Placement(Rotation(R.T.matrix @ X.R.matrix), p)
            w = R.inverse_times(w) - own.w
            v = R.inverse_times(v) - own.v - own.w.cross(p)
        return X, v, w


def _at(moving: JointMap, t: Number) -> tuple[Placement, Twist]:
    """Pose of a frame in its link at a time, and its twist there, in its own axes."""
    R, p = moving.pose([t])
    return Placement(Rotation(R), p), moving.columns([t])[0]


def traced(name: str, function: FrameFunction, moving: MovingFrames) -> ConstraintFunctions:
    """Rows of a function, and of frames that move in their links.

    Raises ShapeError: If it is not linear in the speeds, or a row constrains no motion.
    """
    graph = Graph()
    q, v = inputs(graph, 0, POSE + 1), inputs(graph, POSE + 1, TWIST)
    X = moving.seen(_placement(q), Vec3(*v[:3]), Vec3(*v[3:]), q[POSE])
    given = program("given", graph, (POSE + 1, TWIST), function(*X, q[POSE]))
    timed = any(depends_on(given, "q", POSE))
    given = given if timed else _at_any_time(given)
    holonomic = [not moves for moves in depends_on(given, "v")]
    functions = ConstraintFunctions.of(given, holonomic, _rates, timed)
    functions.check(name, _some_poses(POSE + int(timed)))
    return functions


def _placement(q: Sequence[Number]) -> Placement:
    return Placement(Rotation(Mat3(*q[3:POSE])), Vec3(*q[:3]))


def _at_any_time(given: Program) -> Program:
    """A function without its time argument, on which it does not depend."""
    graph = Graph()
    q, v = inputs(graph, 0, POSE), inputs(graph, POSE, TWIST)
    return program("given", graph, (POSE, TWIST), inline(given, [*q, 0.0, *v]))


def _rates(q: Sequence[Number], v: Sequence[Number]) -> list[Number]:
    """Rates of position and rotation matrix."""
    w, R = Vec3(*v[3:]), Mat3(*q[3:POSE])
    return [*v[:3], *(Mat3.skew(w) @ R)]


def _some_poses(n: int) -> FloatArray:
    """Numbers of poses, and times where n says so, shape (SAMPLES, n)."""
    rng = np.random.default_rng(0)
    R = np.linalg.qr(rng.normal(size=(SAMPLES, 3, 3)))[0]
    R = R * np.linalg.det(R)[:, None, None]
    numbers = [rng.uniform(-1.0, 1.0, (SAMPLES, 3)), R.reshape(SAMPLES, 9)]
    times = rng.uniform(0.0, 1.0, (SAMPLES, n - POSE))
    return np.concatenate([*numbers, times], axis=1)


def function_cut(given: ConstraintFunctions) -> Cut:
    """The rows of a function, as those of a joint that was cut."""
    return Cut(rows=lambda m, _: _rows(given, m))


def _rows(given: ConstraintFunctions, m: RelativeMotion) -> list[Row]:
    """Values, slopes, bias and offset of each row."""
    q: list[Number] = [*m.X.p, *m.X.R.matrix]
    q = [*q, m.t] if given.rheonomic else q
    values, offsets = inline(given.value, q), inline(given.offset, q)
    slopes, bias = inline(given.slopes, q), inline(given.bias, [*q, *m.v, *m.w])
    rows = []
    for k in range(given.count):
        force = Vec3(*slopes[TWIST * k : TWIST * k + 3])
        moment = Vec3(*slopes[TWIST * k + 3 : TWIST * k + 6])
        columns = {j: force.dot(v) + moment.dot(w) for j, (v, w) in m.columns.items()}
        rate = bias[k] + force.dot(m.dv) + moment.dot(m.dw)
        rows.append(Row(values[k], columns, rate, offsets[k]))
    return rows


def _kind(name: str, freedoms: int, cut: Cut) -> tuple[str, JointKind]:
    return name, JointKind(name, nq=0, nv=freedoms, in_files=False, cut=cut)


def _screw() -> Cut:
    cut = helical.KIND.cut
    assert cut is not None
    return Cut(rows=cut.rows, gap=cut.gap)


#: Name -> kind.
FRAME_KINDS: Mapping[str, JointKind] = MappingProxyType(
    dict(
        (
            _kind("point_on_line", 4, Cut(rows=lambda m, _: [along(m, EX), along(m, EY)])),
            _kind("point_on_plane", 5, Cut(rows=lambda m, _: [along(m, EZ)])),
            ("distance", distance.KIND),
            _kind("parallel", 4, Cut(rows=lambda m, _: parallel(m), gap=lambda m, _: axis_gap(m))),
            _kind("perpendicular", 5, Cut(rows=lambda m, _: [product_row(m, EZ, EZ)])),
            _kind("translation", 3, Cut(rows=lambda m, _: position(m), vector=True)),
            _kind(
                "rotation", 3, Cut(rows=lambda m, _: aligned(m), gap=lambda m, _: rotation_gap(m))
            ),
            _kind("screw", 1, _screw()),
        )
    )
)

#: The kind of constraints given as a function.
FUNCTION = JointKind("function", nq=0, nv=0, in_files=False)
