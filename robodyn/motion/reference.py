"""What a reference is: position, velocity and acceleration of joints as functions of time."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeAlias

from robodyn.array_types import FloatArray

__all__ = ["Reference"]

#: Time [s] -> position (..., nq), velocity (..., nv), acceleration (..., nv). One that has a method
#: ``at_times`` is asked for many times at once, shape (n,): it returns (n, nq), (n, nv), (n, nv).
Reference: TypeAlias = Callable[[float], tuple[FloatArray, FloatArray, FloatArray]]
