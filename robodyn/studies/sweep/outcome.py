"""What a study gave for a row, as named arrays."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from robodyn.array_types import Array
from robodyn.errors import ShapeError
from robodyn.simulation.trajectory.trajectory import Trajectory

__all__ = ["Outcome", "results_of"]

#: What results may be, by numpy's letters: truth values, numbers, complex ones too, text.
RESULTS = "biufcU"


@dataclass(frozen=True, eq=False)
class Outcome:
    """How a row ended.

    Attributes
    ----------
    results : mapping of name to ndarray
        Empty where the row failed.
    error : str
        Why it failed; empty where it did not.
    lost : bool
        It failed with the process that computed it, and not by itself: it is worth another try.
    """

    results: Mapping[str, Array]
    error: str = ""
    lost: bool = False


def results_of(returned: Any, taken: frozenset[str], count: int | None = None) -> dict[str, Array]:
    """What a study returned, as named arrays.

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
    except ValueError:  # lists of different lengths
        array = np.array(None)
    if array.dtype.kind not in RESULTS or np.ma.is_masked(value):
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
    """How a motion, or each of many at once, ended, and its largest torques and gap of loops."""
    return {
        "t": np.broadcast_to(run.t[-1], run.q.shape[1:-1]),
        "q": run.q[-1],
        "v": run.v[-1],
        "peak_tau": np.abs(run.tau).max(axis=0),
        "energy": run.energy[-1],
        "loop_residual": run.loop_residual.max(axis=0),
    }
