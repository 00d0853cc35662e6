"""What an operation is given: arrays of another library, checked by their shapes and types."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from robodyn.codegen.calls.arguments import check_axes, check_count, common_batch
from robodyn.errors import ShapeError
from robodyn.symbolic.graph import Port

__all__ = ["checked_batch"]


def checked_batch(
    ports: Sequence[Port], arrays: Sequence[Any], is_real: Callable[[Any], bool]
) -> tuple[int, ...]:
    """Leading axes of the inputs of a function, broadcast together.

    Parameters
    ----------
    ports : sequence of Port
    arrays : sequence
        With ``shape``, ``ndim`` and ``dtype``.
    is_real : callable
        Whether the elements of such an array are real numbers.

    Raises
    ------
    ShapeError
    """
    check_count(ports, len(arrays))
    for port, array in zip(ports, arrays, strict=True):
        if not is_real(array):
            raise ShapeError(
                f"{port.name} is not an array of real numbers: its elements are {array.dtype}",
                name=port.name,
                given=str(array.dtype),
                expected="an array of real numbers",
            )
        check_axes(port, tuple(array.shape))
    return common_batch(ports, arrays)
