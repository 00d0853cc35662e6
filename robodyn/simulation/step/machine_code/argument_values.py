"""Values of the arguments of a motion's machine code, which Python writes into a table."""

from __future__ import annotations

import ctypes
import functools
from collections.abc import Mapping
from typing import Any

import numpy as np

from robodyn.codegen.llvm.programs.addresses import address_of
from robodyn.simulation.loads.tables import Table


class ArgumentValues:
    """Values of the arguments; keeps their arrays alive.

    place: Index of each argument.
    values: The table itself.
    address: Address of the table.
    """

    def __init__(self, place: Mapping[str, int]) -> None:
        self.values, self.place = np.zeros(len(place), np.int64), place
        self.address = address_of(self.values)
        self._arrays: dict[str, Any] = {}
        self.set(**_memory())

    def set(self, **values: int) -> None:
        """Set sizes and addresses."""
        for name, value in values.items():
            self.values[self.place[name]] = value

    def point(self, name: str, array: Any) -> None:
        """Set the address of an array, and keep the array alive."""
        self._arrays[name] = array
        self.values[self.place[name]] = address_of(array)

    def point_table(self, name: str, table: Table) -> None:
        """Set the address and the strides of an input's values."""
        self.point(name, table.values)
        self.set(**{f"{name}_step": table.step, f"{name}_row": table.row})


@functools.cache
def _memory() -> dict[str, int]:
    """Addresses of Python's functions that allocate and free memory."""
    functions = {"allocate": "PyMem_RawMalloc", "free": "PyMem_RawFree"}
    pointers = {key: getattr(ctypes.pythonapi, name) for key, name in functions.items()}
    return {key: ctypes.cast(x, ctypes.c_void_p).value or 0 for key, x in pointers.items()}
