"""Whether values hold symbols."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from robodyn.symbolic.scalar import Scalar


def holds_symbols(value: Any) -> bool:
    """Whether a value is a symbol, or an array, a sequence or a mapping with symbols in it."""
    if isinstance(value, Scalar):
        return True
    if isinstance(value, np.ndarray):
        return value.dtype == object and any(isinstance(x, Scalar) for x in value.flat)
    if isinstance(value, Mapping):
        return any(map(holds_symbols, value.values()))
    return isinstance(value, list | tuple) and any(map(holds_symbols, value))
