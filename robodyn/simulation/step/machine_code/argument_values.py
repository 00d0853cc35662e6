"""The table of sizes and addresses that the machine code of a motion reads, as Python fills it."""

from __future__ import annotations

import ctypes
from collections.abc import Mapping
from typing import Any

import numpy as np

from robodyn.simulation.loads.tables import Table

__all__ = ["ArgumentValues"]


class ArgumentValues:
    """Values of the arguments, whose arrays live as long as these.

    Parameters
    ----------
    names : sequence of str
        From `argument_names`.

    Attributes
    ----------
    values : ndarray of int
        The table itself.
    place : mapping of str to int
        Where each argument stands.
    address : int
        Of the table.
    """

    def __init__(self, names: tuple[str, ...]) -> None:
        self.values = np.zeros(len(names), np.int64)
        self.place: Mapping[str, int] = {name: k for k, name in enumerate(names)}
        self.address = self.values.ctypes.data
        self._arrays: dict[str, Any] = {}
        self.set(allocate=_function("PyMem_RawMalloc"), free=_function("PyMem_RawFree"))

    def set(self, **values: int) -> None:
        """Change sizes and addresses."""
        for name, value in values.items():
            self.values[self.place[name]] = value

    def point(self, name: str, array: Any) -> None:
        """Set the address of an array, and keep the array."""
        self._arrays[name] = array
        self.set(**{name: array.ctypes.data})

    def point_table(self, name: str, table: Table) -> None:
        """Set the address of an input's values, and how they follow one another."""
        self.point(name, table.values)
        self.set(**{f"{name}_step": table.step, f"{name}_row": table.row})


def _function(name: str) -> int:
    """Address of a function of Python."""
    return ctypes.cast(getattr(ctypes.pythonapi, name), ctypes.c_void_p).value or 0
