"""Pose, motion and Jacobians of one frame, or of several at once."""

from __future__ import annotations

from collections.abc import Mapping

from robodyn.equations.quantities.common.quantity import STATE, A, Input, Output, Q, Quantity, V
from robodyn.equations.quantities.common.tracer import Results, Trace, Tracer
from robodyn.equations.tree import frame_motion as fm
from robodyn.symbolic.scalar import Number
from robodyn.symbolic.spatial import Placement, Twist


def frame_pose(t: Tracer) -> Results:
    """Homogeneous matrix of the frame."""
    return {"X": _pose(t, t.options["frame"])}


def frame_poses(t: Tracer) -> Results:
    """Homogeneous matrix of each frame."""
    return {"X": [_pose(t, frame) for frame in t.frame_names]}


def frame_twist(t: Tracer) -> Results:
    """Linear and angular velocity of the frame."""
    return {"V": _twist(t, t.options["frame"])}


def frame_twists(t: Tracer) -> Results:
    """Linear and angular velocity of each frame."""
    return {"V": [_twist(t, frame) for frame in t.frame_names]}


def frame_acceleration(t: Tracer) -> Results:
    """Derivative of the twist, or with ``classical`` the acceleration of the frame's origin."""
    frame = t.options["frame"]
    F = t.frame(frame)
    A = fm.classical(F.V, F.A) if t.options.get("classical") else F.A
    return {"A": fm.in_axes(t.world_axes(frame), A)}


def frame_jacobian(t: Tracer) -> Results:
    """Twist of the frame for a unit of each speed."""
    return {"J": jacobian_rows(t, t.options["frame"])}


def frame_jacobians(t: Tracer) -> Results:
    """Twist of each frame for a unit of each speed."""
    return {"J": [jacobian_rows(t, frame) for frame in t.frame_names]}


def frame_jacobian_dot(t: Tracer) -> Results:
    """Rate of the Jacobian."""
    frame = t.options["frame"]
    F, R = t.frame(frame), t.world_axes(frame)
    rates = F.rates
    if t.options.get("axes", "body") == "world":
        # the axes do not turn with the frame: its own turning is added back
        body, X = t.link(frame)
        w = fm.absolute(t.state, t.zeros, body, X).V.w
        rates = {
            k: fm.in_axes(R, ds + Twist(w.cross(F.columns[k].v), w.cross(F.columns[k].w)))
            for k, ds in rates.items()
        }
    return {"J_dot": _matrix(t, rates)}


def _pose(t: Tracer, frame: str) -> list[list[Number]]:
    return pose_rows(t.pose(frame))


def pose_rows(X: Placement) -> list[list[Number]]:
    """Homogeneous matrix, by rows."""
    rows = [[*row, p] for row, p in zip(X.R.matrix.rows(), X.p, strict=True)]
    return [*rows, [0.0, 0.0, 0.0, 1.0]]


def _twist(t: Tracer, frame: str) -> Twist:
    return fm.in_axes(t.world_axes(frame), t.frame(frame).V)


def jacobian_rows(t: Tracer, frame: str) -> list[list[Number]]:
    """Jacobian of a frame, by rows."""
    R = t.world_axes(frame)
    return _matrix(t, {k: fm.in_axes(R, s) for k, s in t.frame(frame).columns.items()})


def _matrix(t: Tracer, columns: Mapping[int, Twist]) -> list[list[Number]]:
    parts = [list(columns.get(k, Twist())) for k in range(t.model.nv)]
    return [[part[r] for part in parts] for r in range(6)]


def _row(given: tuple[Input, ...], found: Output, trace: Trace, *options: str) -> Quantity:
    return Quantity(given, (found,), trace, STATE, base=True, options=options)


#: Choices of one frame, and of several.
FRAME = ("frame", "relative_to")
FRAMES = ("frames", "relative_to")

ACCELERATION = Output("A", (6,), "m/s^2, rad/s^2")

#: Quantities by name.
ROWS = {
    "frame_pose": _row((Q,), Output("X", (4, 4), "1, m"), frame_pose, *FRAME),
    "frame_twist": _row((Q, V), Output("V", (6,), "m/s, rad/s"), frame_twist, *FRAME, "axes"),
    "frame_acceleration": _row(
        (Q, V, A), ACCELERATION, frame_acceleration, *FRAME, "axes", "classical"
    ),
    "frame_jacobian": _row((Q,), Output("J", (6, "nv"), "m, 1"), frame_jacobian, *FRAME, "axes"),
    "frame_jacobian_dot": _row(
        (Q, V), Output("J_dot", (6, "nv"), "m/s, 1/s"), frame_jacobian_dot, *FRAME, "axes"
    ),
    "frame_poses": _row((Q,), Output("X", ("frames", 4, 4), "1, m"), frame_poses, *FRAMES),
    "frame_twists": _row(
        (Q, V), Output("V", ("frames", 6), "m/s, rad/s"), frame_twists, *FRAMES, "axes"
    ),
    "frame_jacobians": _row(
        (Q,), Output("J", ("frames", 6, "nv"), "m, 1"), frame_jacobians, *FRAMES, "axes"
    ),
}
