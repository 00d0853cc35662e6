"""The table of sizes and addresses that the machine code of a motion reads, as Python fills it."""

from __future__ import annotations

import ctypes
import functools
from collections.abc import Mapping
from typing import Any

import numpy as np

from robodyn.codegen.llvm.builder.addresses import address_of
from robodyn.simulation.loads.tables import Table

__all__ = ["ArgumentValues"]


class ArgumentValues:
    """Values of the arguments, whose arrays live as long as these.

    Parameters
    ----------
    place : mapping of str to int
        Where each argument stands.

    Attributes
    ----------
    values : ndarray of int
        The table itself.
    place : mapping of str to int
    address : int
        Of the table.
    """

    def __init__(self, place: Mapping[str, int]) -> None:
        self.values, self.place = np.zeros(len(place), np.int64), place
        self.address = address_of(self.values)
        self._arrays: dict[str, Any] = {}
        self.set(**_memory())

    def set(self, **values: int) -> None:
        """Change sizes and addresses."""
        for name, value in values.items():
            self.values[self.place[name]] = value

    def point(self, name: str, array: Any) -> None:
        """Set the address of an array, and keep the array."""
        self._arrays[name] = array
        self.values[self.place[name]] = address_of(array)

    def point_table(self, name: str, table: Table) -> None:
        """Set the address of an input's values, and how they follow one another."""
        self.point(name, table.values)
        self.set(**{f"{name}_step": table.step, f"{name}_row": table.row})


@functools.cache
def _memory() -> dict[str, int]:
    """Addresses of the functions of Python that give memory and take it back."""
    functions = {"allocate": "PyMem_RawMalloc", "free": "PyMem_RawFree"}
    pointers = {key: getattr(ctypes.pythonapi, name) for key, name in functions.items()}
    return {key: ctypes.cast(x, ctypes.c_void_p).value or 0 for key, x in pointers.items()}
