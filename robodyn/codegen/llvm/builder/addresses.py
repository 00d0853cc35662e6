"""Where the numbers of an array are, as machine code is told."""

from __future__ import annotations

import ctypes
from typing import Any

__all__ = ["address_of"]


def address_of(array: Any) -> int:
    """Address of the first number, 0 of none; the usual case in a tenth of numpy's time."""
    if not array.size:
        return 0
    try:
        return ctypes.addressof(ctypes.c_char.from_buffer(array))
    except (TypeError, ValueError):  # of constants
        return int(array.ctypes.data)
