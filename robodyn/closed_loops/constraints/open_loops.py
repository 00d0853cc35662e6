"""What to say of loops that do not close: which, by how much, and where their frames stand."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from robodyn.array_types import Array
from robodyn.description import Joint, Loop
from robodyn.errors import AssemblyError
from robodyn.joints import joint_kind
from robodyn.model.model import Model
from robodyn.results import LoopGap
from robodyn.tolerances import AT_LIMIT

__all__ = ["loop_gaps", "open_loops", "worst_row"]


#: Axes that are turned by more than this [rad] point opposite ways.
OPPOSITE = 3.1

Poses = Callable[[Array, str], Array]


def loop_gaps(
    model: Model, pose: Poses, residual: Callable[[Array], Array], q: Array
) -> tuple[LoopGap, ...]:
    """Where the two frames of each joint that was cut stand at a posture.

    Parameters
    ----------
    model : Model
    pose : callable
        ``q, link`` to the pose of the link in the world, (4, 4).
    residual : callable
        ``q`` to all rows of `Robot.loop_residual`.
    q : ndarray, shape (nq,)
    """
    rows = np.abs(residual(q))
    owners = [name.rpartition("[")[0] for name in model.setup.row_names]
    return tuple(
        _gap(cut, pose, q, max((rows[k] for k, name in enumerate(owners) if name == cut.name)))
        for cut in model.tree.cuts
    )


def _gap(cut: Joint | Loop, pose: Poses, q: Array, residual: float) -> LoopGap:
    if isinstance(cut, Loop):
        links = cut.predecessor, cut.successor
        X_WF = pose(q, cut.predecessor) @ cut.X_predecessor.matrix
        X_WG = pose(q, cut.successor) @ cut.X_successor.matrix
    else:
        links = cut.parent, cut.child
        X_WF, X_WG = pose(q, cut.parent) @ cut.origin.matrix, pose(q, cut.child)
    axis = cut.axis if len(joint_kind(cut.kind).axes) == 1 else None
    return LoopGap(cut.name, cut.kind, links, np.stack([X_WF, X_WG]), float(residual), axis)


def open_loops(
    model: Model,
    pose: Poses,
    residual: Callable[[Array], Array],
    guess: Array,
    error: AssemblyError,
) -> str:
    """Why the loops of a robot do not close near a guess.

    Parameters
    ----------
    model : Model
    pose : callable
        ``q, link`` to the pose of the link in the world, (4, 4).
    residual : callable
        ``q`` to all rows of `Robot.loop_residual`.
    guess : ndarray, shape (nq,)
    error : AssemblyError
        Of the search.
    """
    worst, size = worst_row(model, error)
    text = (
        f"the loops of {model.mechanism.name!r} do not close: {worst} is off by {size:.3g} (m or "
        "rad) at best"
    )
    name = worst.rpartition("[")[0]
    reached = np.asarray(error.q)
    for before, after in zip(
        loop_gaps(model, pose, residual, guess),
        loop_gaps(model, pose, residual, reached),
        strict=True,
    ):
        if before.name == name:
            text += f"; {_frames(before)}{_opposite(after, model)}"
    at = _limits(model, reached)
    return text + (f"; at their limits there: {', '.join(at)}" if at else "")


def worst_row(model: Model, error: AssemblyError) -> tuple[str, float]:
    """The row that a search missed by most, and by how much [m, rad]."""
    rows = [model.setup.row_names[k] for k in model.setup.position_rows]
    size = np.abs(error.residual)
    return rows[int(size.argmax())], float(size.max())


def _opposite(gap: LoopGap, model: Model) -> str:
    """What to mend where the axes of the two frames lie antiparallel."""
    cut = joint_kind(gap.kind).cut
    if gap.tilt is None or gap.tilt < OPPOSITE or cut is None or cut.gap is None:
        return ""
    lines = {loop.name: loop.line for loop in model.mechanism.loops}
    frame = "its origin"
    if (line := lines.get(gap.name)) is not None:
        frame = f"the origin of its frame on {gap.links[0]!r} (line {line})"
    elif gap.name in lines:
        frame = f"X_predecessor, its frame on {gap.links[0]!r},"
    return (
        f"; where they come nearest, the axes of the two frames point opposite ways: turn {frame} "
        "by half a turn across the axis if the joint is meant to close like that"
    )


def _frames(gap: LoopGap) -> str:
    """Where the two frames of a closure stand."""
    on = [f"on {link!r} at {_point(X)}" for link, X in zip(gap.links, gap.poses, strict=True)]
    return f"at the guess its frame {on[0]} m and the one {on[1]} m in the world are {gap}"


def _point(X: Array) -> str:
    return "(" + ", ".join(f"{x:.4g}" for x in X[:3, 3]) + ")"


def _limits(model: Model, q: Array) -> list[str]:
    at = (q <= model.lower + AT_LIMIT) | (q >= model.upper - AT_LIMIT)
    return [name for name in model.joint_names if at[model.joints[name].q].any()]
