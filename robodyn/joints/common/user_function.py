"""Functions of users, which get symbolic numbers."""

from __future__ import annotations

import inspect
from typing import Any

import numpy as np

from robodyn.errors import ShapeError
from robodyn.symbolic.scalar import UNDERSTOOD


def takes_time(function: Any) -> bool:
    """Whether a function of its user depends on time: it has a parameter called ``t``."""
    try:
        return "t" in inspect.signature(function).parameters
    except (TypeError, ValueError):
        return False  # a function without a signature, as some of C have none


def called(what: str, function: Any, *arguments: Any, **time: Any) -> Any:
    """What a user's function makes of symbolic numbers; ``t=``: of one that depends on time.

    Raises ShapeError: If it fails: the function is at fault, and the exception says where.
    """
    try:
        return function(*arguments, **time)
    except Exception as error:
        sizes = " and ".join(str(np.size(x)) for x in arguments)
        raise ShapeError(
            f"the function of {what} failed with {type(error).__name__}: {error}. It gets "
            f"{sizes} symbols{' and t' if time else ''}: "
            f"{UNDERSTOOD}; a function of time has a parameter called t",
            name="function",
            given=function,
        ) from error
