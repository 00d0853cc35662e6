"""Constraints between two frames: their kinds, and functions of the motion of B seen from A.

Their coordinates are the position of B in A and the rotation matrix by rows; their speeds the
velocity of the origin of B and the angular velocity, in the axes of A.

The point of a kind is the origin of frame B; line, plane and axis are z of frame A, and the plane
``z = 0`` of A; the axis in B is z of B.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from types import MappingProxyType

import numpy as np

from robodyn.array_types import FloatArray
from robodyn.equations.loops.constraint_functions import (
    SAMPLES,
    ConstraintFunctions,
    depends_on,
    program,
)
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
from robodyn.symbolic.constraint_row import Row
from robodyn.symbolic.graph import Graph, Program
from robodyn.symbolic.inline import inline
from robodyn.symbolic.rotation import Rotation
from robodyn.symbolic.scalar import Number, inputs
from robodyn.symbolic.spatial import Placement, Twist
from robodyn.symbolic.vector import EX, EY, EZ, Mat3, Vec3

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
