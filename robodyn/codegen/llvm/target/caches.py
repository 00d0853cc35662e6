"""The size of the CPU's caches."""

from __future__ import annotations

import os
import re

#: Folder in which Linux describes the caches of a processor.
_LINUX = "/sys/devices/system/cpu/cpu0/cache"

#: Assumed size if it is not known [bytes].
_USUAL = 32 << 20

_UNITS = {"": 1, "K": 1 << 10, "M": 1 << 20, "G": 1 << 30}


def size_of_caches() -> int:
    """Size of the last-level cache [bytes]."""
    try:
        folders = [x for x in os.listdir(_LINUX) if x.startswith("index")]
        return max(map(_size, folders), default=0) or _USUAL
    except OSError:
        return _USUAL


def _size(folder: str) -> int:
    with open(f"{_LINUX}/{folder}/size", encoding="ascii") as file:
        match = re.fullmatch(r"(\d+)([KMG]?)", file.read().strip())
    return int(match[1]) * _UNITS[match[2]] if match else 0
