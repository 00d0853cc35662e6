"""Phases of a part of a motion."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

__all__ = ["pieces"]


def pieces(phases: Sequence[Any], index: Any) -> tuple[Any, ...]:
    """What an index, of samples of the whole, takes of its phases; of a single sample, nothing."""
    if not phases:
        return ()
    kept = np.arange(sum(map(len, phases)))[index]
    if kept.ndim == 0:
        return ()
    found, first = [], 0
    for phase in phases:
        own = kept[(kept >= first) & (kept < first + len(phase))] - first
        if len(own):
            found.append(phase[own])
        first += len(phase)
    return tuple(found)
