"""Functions of users, which get symbolic numbers."""

from __future__ import annotations

from typing import Any

from robodyn.errors import ShapeError

__all__ = ["called"]


def called(what: str, function: Any, *arguments: list[Any]) -> Any:
    """What a user's function makes of symbolic numbers.

    Raises
    ------
    ShapeError
        If it fails: the function is at fault, and the exception says where.
    """
    try:
        return function(*arguments)
    except Exception as error:
        raise ShapeError(
            f"the function of {what} failed with {type(error).__name__}: {error}. It gets "
            f"{' and '.join(str(len(x)) for x in arguments)} symbols: arithmetic and "
            "robodyn.sin, cos, sqrt are understood, math and comparisons are not",
            name="function",
            given=function,
        ) from error
