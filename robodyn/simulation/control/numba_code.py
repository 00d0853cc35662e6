"""Controllers that numba has compiled, called by machine code without Python."""

from __future__ import annotations

import sys
import weakref
from dataclasses import dataclass
from typing import Any

import numpy as np

from robodyn.robot import Robot


@dataclass(frozen=True, eq=False)
class NumbaCode:
    """The loop of a controller over states, compiled by numba.

    rows: ``rows(begin, end, pointers, strides)``.
    """

    rows: Any

    def rows_address(self, batch: bool) -> int:
        """Address of the loop, for one state and for many."""
        return int(self.rows.address)


_known: weakref.WeakKeyDictionary[Any, dict[tuple[int, int], NumbaCode | None]] = (
    weakref.WeakKeyDictionary()
)


def numba_code(robot: Robot, controller: Any) -> NumbaCode | None:
    """A controller as a loop over states; ``None`` if numba has not compiled it or cannot."""
    numba = sys.modules.get("numba")
    if numba is None or not isinstance(controller, numba.core.registry.CPUDispatcher):
        return None
    known = _known.setdefault(controller, {})
    sizes = robot.nq, robot.nv
    if sizes not in known:
        known[sizes] = _compiled(numba, controller, *sizes)
    return known[sizes]


def _compiled(numba: Any, controller: Any, nq: int, nv: int) -> NumbaCode | None:
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
            tau = numba.carray(pointers[5], (end * nv,))[i * nv : (i + 1) * nv]
            tau[:] = np.nan  # stays if the controller raises; then Python calls it again
        for i in range(begin, end):
            q = numba.carray(pointers[0], (end * nq,))[i * nq : (i + 1) * nq]
            v = numba.carray(pointers[1], (end * nv,))[i * nv : (i + 1) * nv]
            tau = numba.carray(pointers[5], (end * nv,))[i * nv : (i + 1) * nv]
            try:
                asked = controller(pointers[2][0], q.copy(), v.copy())
                if asked.shape == tau.shape:
                    tau[:] = asked
            except Exception:  # forces stay NaN, and Python calls the controller again
                pass

    try:
        return NumbaCode(numba.cfunc(signature)(rows))
    except numba.core.errors.NumbaError:  # the call from Python will report what is wrong
        return None
