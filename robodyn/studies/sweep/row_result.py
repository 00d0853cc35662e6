"""What a study gives for one row: named arrays, or an error."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from robodyn.array_types import Array
from robodyn.arrays import is_masked
from robodyn.errors import ShapeError
from robodyn.simulation.trajectory.trajectory import Trajectory

__all__ = ["RowResult", "results_of"]

#: Kinds of numpy arrays that results may have: bool, real and complex numbers, text.
RESULTS = "biufcU"


@dataclass(frozen=True, eq=False)
class RowResult:
    """Results of a row, or the reason why it failed.

    Attributes
    ----------
    results : mapping of name to ndarray
        Empty if the row failed.
    error : str
        Message of the error; empty if the row did not fail.
    lost : bool
        The process that computed the row died, so that it is worth another try.
    """

    results: Mapping[str, Array]
    error: str = ""
    lost: bool = False


def results_of(returned: Any, taken: frozenset[str], count: int | None = None) -> dict[str, Array]:
    """Convert what a study returned to named arrays.

    Parameters
    ----------
    returned : number, array, mapping of name to these, or Trajectory
        A number or array is called ``"value"``; of a trajectory, a summary is taken.
    taken : frozenset of str
        Names of values, which results must not have.
    count : int, optional
        Rows that the first axis of every array is over.

    Raises
    ------
    ShapeError
    """
    if isinstance(returned, Trajectory):
        returned = _summary(returned)
    named = returned if isinstance(returned, Mapping) else {"value": returned}
    results = {}
    for name, value in named.items():
        if not isinstance(name, str) or name in taken:
            raise ShapeError(
                f"the study returned a result of the name {name!r}, expected a text that is not "
                "the name of a value",
                name="study",
                given=name,
            )
        results[name] = _array(name, value, count)
    return results


def _array(name: str, value: Any, count: int | None) -> Array:
    try:
        array = np.array(value, order="C")
    except ValueError:  # ragged lists
        array = np.array(None)
    if array.dtype.kind not in RESULTS or is_masked(value):
        raise ShapeError(
            f"the study returned {type(value).__name__} for {name!r}, expected numbers or text: "
            "one, an array, a mapping of name to these, or a Trajectory",
            name="study",
            given=type(value).__name__,
        )
    if count is not None and array.shape[:1] != (count,):
        raise ShapeError(
            f"the study returned shape {array.shape} for {name!r}, expected ({count}, ...): one "
            "for each row of the batch",
            name="study",
            given=array.shape,
            expected=(count,),
        )
    return array


def _summary(run: Trajectory) -> dict[str, Any]:
    """Last state, largest torques, last energy and largest loop gap of each motion."""
    return {
        "t": np.broadcast_to(run.t[-1], run.q.shape[1:-1]),
        "q": run.q[-1],
        "v": run.v[-1],
        "peak_tau": np.abs(run.tau).max(axis=0),
        "energy": run.energy[-1],
        "loop_residual": run.loop_residual.max(axis=0),
    }
