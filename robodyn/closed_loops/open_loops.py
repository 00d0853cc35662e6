"""What to say of loops that do not close: which, by how much, and where their frames stand."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from robodyn.array_types import Array
from robodyn.description import Joint, Loop
from robodyn.errors import AssemblyError
from robodyn.joints import joint_kind
from robodyn.model.model import Model

__all__ = ["open_loops"]


#: A coordinate this near to a limit [rad, m] is at it.
AT_LIMIT = 1e-9

#: Axes whose product is less than this point opposite ways.
OPPOSITE = -0.999


def open_loops(
    model: Model, pose: Callable[[Array, str], Array], guess: Array, error: AssemblyError
) -> str:
    """Why the loops of a robot do not close near a guess.

    Parameters
    ----------
    model : Model
    pose : callable
        ``q, link`` to the pose of the link in the world, (4, 4).
    guess : ndarray, shape (nq,)
    error : AssemblyError
        Of the search.
    """
    rows = [model.setup.row_names[k] for k in model.setup.position_rows]
    size = np.abs(error.residual)
    worst = rows[int(size.argmax())]
    text = (
        f"the loops of {model.mechanism.name!r} do not close: {worst} is off by "
        f"{size.max():.3g} (m or rad) at best"
    )
    name = worst.rpartition("[")[0]
    for cut in model.tree.cuts:
        if cut.name == name:
            text += f"; {_frames(cut, pose, guess)}{_opposite(cut, pose, np.asarray(error.q))}"
    at = _limits(model, np.asarray(error.q))
    return text + (f"; at their limits there: {', '.join(at)}" if at else "")


def _ends(
    cut: Joint | Loop, pose: Callable[[Array, str], Array], q: Array
) -> tuple[tuple[str, str], Array, Array]:
    """The two links of a closure, and its frame on each of them in the world."""
    if isinstance(cut, Loop):
        X_WF = pose(q, cut.predecessor) @ cut.X_predecessor.matrix
        X_WG = pose(q, cut.successor) @ cut.X_successor.matrix
        return (cut.predecessor, cut.successor), X_WF, X_WG
    X_WF, X_WG = pose(q, cut.parent) @ cut.origin.matrix, pose(q, cut.child)
    return (cut.parent, cut.child), X_WF, X_WG


def _opposite(cut: Joint | Loop, pose: Callable[[Array, str], Array], q: Array) -> str:
    """What to mend where the axes of the two frames lie antiparallel."""
    kind = joint_kind(cut.kind)
    if not kind.axes or kind.cut is None or kind.cut.gap is None:
        return ""
    _, X_WF, X_WG = _ends(cut, pose, q)
    axis = np.array(cut.axis)
    if (X_WF[:3, :3] @ axis) @ (X_WG[:3, :3] @ axis) > OPPOSITE:
        return ""
    frame = "X_predecessor" if isinstance(cut, Loop) else "its origin"
    return (
        f"; where they come nearest, the axes of the two frames point opposite ways: turn {frame} "
        "by half a turn across the axis if the joint is meant to close like that"
    )


def _frames(cut: Joint | Loop, pose: Callable[[Array, str], Array], q: Array) -> str:
    """Where the two frames of a closure stand."""
    links, X_WF, X_WG = _ends(cut, pose, q)
    apart = float(np.linalg.norm(X_WG[:3, 3] - X_WF[:3, 3]))
    R = X_WF[:3, :3].T @ X_WG[:3, :3]
    turned = float(np.degrees(np.arccos(np.clip(0.5 * (np.trace(R) - 1.0), -1.0, 1.0))))
    ends = [f"on {link!r} at {_point(X)}" for link, X in zip(links, (X_WF, X_WG), strict=True)]
    return (
        f"at the guess its frame {ends[0]} m and the one {ends[1]} m in the world are "
        f"{apart:.3g} m apart and turned by {turned:.3g} degrees"
    )


def _point(X: Array) -> str:
    return "(" + ", ".join(f"{x:.4g}" for x in X[:3, 3]) + ")"


def _limits(model: Model, q: Array) -> list[str]:
    at = (q <= model.lower + AT_LIMIT) | (q >= model.upper - AT_LIMIT)
    return [name for name in model.joint_names if at[model.joints[name].q].any()]
