"""Addresses of the numbers of arrays, for machine code."""

from __future__ import annotations

import ctypes
from typing import Any

_address, _char = ctypes.addressof, ctypes.c_char.from_buffer


def address_of(array: Any) -> int:
    """Address of the first number, 0 for an empty array; ten times faster than by numpy."""
    try:
        return _address(_char(array))
    except (TypeError, ValueError):  # of constants, and of empty arrays
        return int(array.ctypes.data) if array.size else 0
