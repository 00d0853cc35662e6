"""Messages about open loops: which, by how much, and the poses of their frames."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from robodyn.array_types import Array
from robodyn.description import Joint, Loop
from robodyn.errors import AssemblyError
from robodyn.joints import joint_kind
from robodyn.model.model import Model
from robodyn.results import LoopGap
from robodyn.tolerances import AT_LIMIT

#: Components of a gap smaller than this part of the largest are left out of messages.
SMALL_GAP = 1e-3

#: From a posture to the poses of both frames of each cut, (2 n, 4, 4), and all residuals, (nc,).
Measure = Callable[[Array], tuple[Array, Array]]

#: Of a cut: what a `LoopGap` says besides poses and residual, and where its rows stand.
Cuts = tuple[tuple[tuple[str, str, tuple[str, str]], Any, slice], ...]


def placed_frames(model: Model) -> tuple[tuple[str, tuple[float, ...]], ...]:
    """Both frames of each joint that was cut: a link, and the pose on it, (16,)."""
    return tuple(
        (link, tuple(float(x) for x in np.ravel(X)))
        for cut in _closed_by_rows(model)
        for link, X in zip(_links(cut), _poses(cut), strict=True)
    )


def _closed_by_rows(model: Model) -> list[Joint | Loop]:
    """Joints that were cut, but for those of loops that are solved in closed form."""
    closures = {closure.name for closure in model.setup.closures}
    return [cut for cut in model.tree.cuts if cut.name in closures]


def described_cuts(model: Model) -> Cuts:
    """The data of each cut that do not depend on the posture."""
    owners = [name.rpartition("[")[0] for name in model.setup.row_names]
    found = []
    for cut in _closed_by_rows(model):
        first, count = owners.index(cut.name), owners.count(cut.name)
        axis = cut.axis if len(joint_kind(cut.kind).axes) == 1 else None
        found.append(((cut.name, cut.kind, _links(cut)), axis, slice(first, first + count)))
    return tuple(found)


def loop_gaps(cuts: Cuts, measured: tuple[Array, Array]) -> tuple[LoopGap, ...]:
    """Where the two frames of each joint that was cut stand at a posture.

    cuts: From `described_cuts`.
    measured: Poses of both frames of each cut in the world, (2 n, 4, 4), and all rows of
        `Robot.loop_residual`, (nc,).
    """
    poses, residual = measured
    size = [abs(x) for x in residual.tolist()]
    return tuple(
        LoopGap(*about, poses[2 * k : 2 * k + 2], max(size[rows]), axis)
        for k, (about, axis, rows) in enumerate(cuts)
    )


def _links(cut: Joint | Loop) -> tuple[str, str]:
    return (cut.predecessor, cut.successor) if isinstance(cut, Loop) else (cut.parent, cut.child)


def _poses(cut: Joint | Loop) -> tuple[Array, Array]:
    if isinstance(cut, Loop):
        return cut.X_predecessor.matrix, cut.X_successor.matrix
    return cut.origin.matrix, np.eye(4)


def open_loops(
    model: Model,
    measure: Measure,
    guess: Array,
    error: AssemblyError,
) -> str:
    """Why the loops of a robot do not close near a guess.

    measure: What `loop_gaps` takes, of a posture.
    guess (nq,)
    error: Of the search.
    """
    if np.isnan(error.residual).any():
        return (
            f"constraints of {model.mechanism.name!r} are not numbers at the given posture, nor at "
            "others near it: loops that are solved in closed form do not close there, or a "
            "function has no value; give a posture nearer to a closed one"
        )
    name, gap = largest_gap(model, error.residual)
    text = f"the loops of {model.mechanism.name!r} do not close: {name!r} is off by {gap} at best"
    reached, cuts = np.asarray(error.q), described_cuts(model)
    for before in loop_gaps(cuts, measure(guess)):
        if before.name == name:
            text += f"; {_frames(before)}"
    at = _limits(model, reached)
    return text + (f"; at their limits there: {', '.join(at)}" if at else "")


def largest_gap(model: Model, residual: Array) -> tuple[str, str]:
    """The closure or constraint that is open by most, and by how much, with the unit.

    residual (..., nc) [m, rad]: Of one posture or several; the worst of these counts.
    """
    rows = model.setup.position_rows
    size = np.abs(residual).reshape(-1, len(rows))
    posture, worst = np.unravel_index(int(size.argmax()), size.shape)
    name = model.setup.row_names[rows[worst]].rpartition("[")[0]
    return name, gap_of(model, name, dict(zip(rows, size[posture].tolist(), strict=True)))


def gap_of(model: Model, name: str, sizes: Mapping[int, float], per: str = "") -> str:
    """By how much a closure or constraint is open, with the unit.

    Rows of a closure that are of one unit are components of a distance, or of a rotation.

    sizes: By constraint row.
    per: What stands after the unit, as ``"/s"`` of rates.
    """
    setup, gaps = model.setup, dict[str, float]()
    for k, size in sizes.items():
        if setup.row_names[k].rpartition("[")[0] == name:
            gaps[setup.row_words[k]] = math.hypot(gaps.get(setup.row_words[k], 0.0), size)
    least = SMALL_GAP * max(gaps.values())
    return " and ".join(f"{x:.3g} {unit}{per}" for unit, x in gaps.items() if x >= least)


def _frames(gap: LoopGap) -> str:
    """Places of the two frames of a closure, in words."""
    on = [f"on {link!r} at {_point(X)}" for link, X in zip(gap.links, gap.poses, strict=True)]
    return f"at the guess its frame {on[0]} m and the one {on[1]} m in the world are {gap}"


def _point(X: Array) -> str:
    return "(" + ", ".join(f"{x:.4g}" for x in X[:3, 3]) + ")"


def _limits(model: Model, q: Array) -> list[str]:
    at = (q <= model.lower + AT_LIMIT) | (q >= model.upper - AT_LIMIT)
    return [name for name in model.joint_names if at[model.joints[name].q].any()]
