"""Pose, motion and Jacobians of one frame."""

from __future__ import annotations

from collections.abc import Mapping

from robodyn.equations.quantities.tracer import Results, Tracer
from robodyn.equations.tree import frame_motion as fm
from robodyn.symbolic.scalar import Number
from robodyn.symbolic.spatial import Twist

__all__ = [
    "frame_acceleration",
    "frame_jacobian",
    "frame_jacobian_dot",
    "frame_pose",
    "frame_twist",
]


def frame_pose(t: Tracer) -> Results:
    """Homogeneous matrix of the frame."""
    X = t.frame().X
    rows = [[*row, p] for row, p in zip(X.R.matrix.rows(), X.p, strict=True)]
    return {"X": [*rows, [0.0, 0.0, 0.0, 1.0]]}


def frame_twist(t: Tracer) -> Results:
    """Linear and angular velocity of the frame."""
    return {"V": fm.in_axes(t.world_axes(), t.frame().V)}


def frame_acceleration(t: Tracer) -> Results:
    """Derivative of the twist, or with ``classical`` the acceleration of the frame's origin."""
    F = t.frame()
    A = fm.classical(F.V, F.A) if t.options.get("classical") else F.A
    return {"A": fm.in_axes(t.world_axes(), A)}


def frame_jacobian(t: Tracer) -> Results:
    """Twist of the frame for a unit of each speed."""
    R = t.world_axes()
    return {"J": _matrix(t, {k: fm.in_axes(R, s) for k, s in t.frame().columns.items()})}


def frame_jacobian_dot(t: Tracer) -> Results:
    """Rate of the Jacobian."""
    F, R = t.frame(), t.world_axes()
    rates = F.rates
    if t.options.get("axes", "body") == "world":
        # the axes do not turn with the frame: its own turning is added back
        body, X = t.link(t.options["frame"])
        w = fm.absolute(t.model, t.state, t.zeros, t.base, body, X).V.w
        rates = {
            k: fm.in_axes(R, ds + Twist(w.cross(F.columns[k].v), w.cross(F.columns[k].w)))
            for k, ds in rates.items()
        }
    return {"J_dot": _matrix(t, rates)}


def _matrix(t: Tracer, columns: Mapping[int, Twist]) -> list[list[Number]]:
    parts = [list(columns.get(k, Twist())) for k in range(t.model.nv)]
    return [[part[r] for part in parts] for r in range(6)]
