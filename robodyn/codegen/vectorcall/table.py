"""Tables of the call entry: words in memory that Python writes and machine code reads."""

from __future__ import annotations

import ctypes
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from robodyn.symbolic.graph import Port

#: Arrays a function may take and give, and axes an array may have, to be called fast.
MAX_PORTS, MAX_AXES = 64, 8

#: Words of the table that all functions share: objects, numbers, and functions of CPython's and of
#: numpy's API.
COMMON = (
    "ndarray", "float64", "float32", "none", "true", "false", "tuple", "list", "dict", "str",
    "float", "number", "int", "bool", "motion", "pose", "twist", "acceleration", "slow", "limit",
    "least_work", "vectorcall", "bind", "incref", "decref", "new_array", "new_scalar", "new_tuple",
    "set_item", "release", "acquire", "parallel_for", "pool", "convert", "forget", "compare",
    "next_item", "attribute", "integer", "raised", "caches",
)  # fmt: skip

#: Words of the table of one function, with kernels for float64 and float32; its ports follow.
#: ``partly_used``: of how many inputs results do not need all numbers, and where their indices are.
TABLE = (
    "inputs", "outputs", "work",
    "packed", "rows", "batch", "lanes",
    "packed32", "rows32", "batch32", "lanes32",
    "partly_used", "partly_used_at",
)  # fmt: skip

#: Spare arrays of a dtype that an output has.
SPARES = 2

#: Words of a port: number of axes, number of scalars, length of each axis; spare arrays of float64
#: and of float32.
PORT = 2 + MAX_AXES + 2 * SPARES

#: More rows than any batch has.
NEVER = 1 << 62


_DTYPES = (np.float64, np.float32)


def _shape(port: Port) -> list[int]:
    return [len(port.shape), port.size, *port.shape, *[0] * (MAX_AXES - len(port.shape))]


class Table:
    """The table of one function.

    It keeps spare arrays for results of one state, which saves most of the time of making them: one
    that nothing else refers to is given out (again), if all are in use a new array is made.

    Kernels are added as they are compiled; a call that needs one that is missing goes the slow
    way, which compiles it.

    work: Operations for one state.
    partly_used, optional: Inputs of which results do not need all numbers. Methods look at these
        themselves.
    """

    def __init__(
        self,
        inputs: Sequence[Port],
        outputs: Sequence[Port],
        work: int,
        partly_used: Sequence[int] = (),
    ) -> None:
        words = [0] * len(TABLE)
        words[:3] = len(inputs), len(outputs), work
        self._partly_used = (ctypes.c_int64 * len(partly_used))(*partly_used)
        words[TABLE.index("partly_used")] = len(partly_used)
        words[TABLE.index("partly_used_at")] = ctypes.addressof(self._partly_used)
        words[TABLE.index("lanes")] = words[TABLE.index("lanes32")] = NEVER
        self._spares: list[NDArray[Any]] = []
        for port in inputs:
            words += [*_shape(port), *[0] * 2 * SPARES]
        for port in outputs:
            spares = [np.empty(port.shape, dtype) for dtype in _DTYPES for _ in range(SPARES)]
            self._spares += spares
            words += [*_shape(port), *map(id, spares)]
        self._words = (ctypes.c_int64 * len(words))(*words)
        self._engines: list[object] = []

    def keep(self, engine: object) -> None:
        """Keep machine code that the table has addresses of, as long as the table lives."""
        self._engines.append(engine)

    def __setitem__(self, name: str, value: int) -> None:
        self._words[TABLE.index(name)] = value

    @property
    def spare(self) -> int:
        """Identity of the array that a call returns if nothing else refers to it."""
        return id(self._spares[0])

    @property
    def address(self) -> int:
        """Where the table stands as long as this object lives."""
        return ctypes.addressof(self._words)

    @staticmethod
    def fits(inputs: Sequence[Port], outputs: Sequence[Port]) -> bool:
        """Whether a function is within the limits of the entry."""
        ports = (*inputs, *outputs)
        return len(ports) <= MAX_PORTS and all(len(port.shape) <= MAX_AXES for port in ports)
