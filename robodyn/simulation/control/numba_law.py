"""Controllers that numba has compiled, called by machine code without Python."""

from __future__ import annotations

import sys
import weakref
from dataclasses import dataclass
from typing import Any

import numpy as np

from robodyn.array_types import FloatArray
from robodyn.robot import Robot

__all__ = ["NumbaLaw", "numba_law_of"]


@dataclass(frozen=True, eq=False)
class NumbaLaw:
    """A controller ``numba.njit`` has compiled, which stays a controller.

    Attributes
    ----------
    rows : object
        The compiled loop over states, ``rows(begin, end, pointers, strides)``.
    controller : callable
        What was compiled.
    """

    rows: Any
    controller: Any

    #: Inputs besides the state: the time.
    extras = 1
    #: Numbers that it remembers.
    memory = 0

    def __call__(self, t: float, q: FloatArray, v: FloatArray) -> Any:
        """Torques at time ``t`` [s], of one state or of each of many."""
        if q.ndim == 1:
            return self.controller(t, q, v)
        return np.array([self.controller(t, *state) for state in zip(q, v, strict=True)])

    def address(self, batch: bool) -> int:
        """Address of the loop."""
        return int(self.rows.address)

    def tables(self, times: FloatArray, first: int, stop: int) -> list[tuple[FloatArray, int]]:
        """The time at some of all instants, and how many numbers it has at one."""
        return [(np.ascontiguousarray(times[first:stop]), 1)]


_laws: weakref.WeakKeyDictionary[Any, dict[tuple[int, int], NumbaLaw | None]] = (
    weakref.WeakKeyDictionary()
)


def numba_law_of(robot: Robot, controller: Any) -> NumbaLaw | None:
    """A controller as a loop over states; none if numba has not compiled it, or cannot type it."""
    numba = sys.modules.get("numba")
    if numba is None or not isinstance(controller, numba.core.registry.CPUDispatcher):
        return None
    known = _laws.setdefault(controller, {})
    sizes = robot.nq, robot.nv
    if sizes not in known:
        known[sizes] = _compiled(numba, controller, *sizes)
    return known[sizes]


def _compiled(numba: Any, controller: Any, nq: int, nv: int) -> NumbaLaw | None:
    number = numba.types.float64
    array = numba.types.CPointer(number)
    signature = numba.types.void(
        numba.types.int64,
        numba.types.int64,
        numba.types.CPointer(array),
        numba.types.CPointer(numba.types.int64),
    )

    def rows(begin, end, pointers, strides):  # type: ignore[no-untyped-def]
        for i in range(begin, end):
            tau = numba.carray(pointers[3], (end * nv,))[i * nv : (i + 1) * nv]
            tau[:] = np.nan  # what stays where the controller raises: Python asks it again
        for i in range(begin, end):
            q = numba.carray(pointers[0], (end * nq,))[i * nq : (i + 1) * nq]
            v = numba.carray(pointers[1], (end * nv,))[i * nv : (i + 1) * nv]
            tau = numba.carray(pointers[3], (end * nv,))[i * nv : (i + 1) * nv]
            try:
                asked = controller(pointers[2][0], q.copy(), v.copy())
                if asked.shape == tau.shape:
                    tau[:] = asked
            except Exception:  # of any kind: its forces stay no numbers, and Python asks again
                pass

    try:
        return NumbaLaw(numba.cfunc(signature)(rows), controller)
    except numba.core.errors.NumbaError:  # called from Python it says what is wrong
        return None
