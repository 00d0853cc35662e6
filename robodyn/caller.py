"""Warnings at the line of the user's call, wherever in the package they are given."""

from __future__ import annotations

import sys
import warnings
from types import FrameType
from typing import Any

__all__ = ["is_user_code", "warn"]


def warn(message: Warning | str, *, registry: dict[Any, Any] | None = None) -> None:
    """Warn at the line that called the package.

    Without such a line, on the command line or in a thread of the package, the place is
    ``robodyn:0``.

    Parameters
    ----------
    message : Warning or str
        Text is a `UserWarning`.
    registry : dict, optional
        Which warnings were given, for filters that show them once. Default: the one of the module
        that called, as everywhere in Python.
    """
    frame = _caller()
    message = UserWarning(message) if isinstance(message, str) else message
    category = type(message)
    if frame is None:
        warnings.warn_explicit(message, category, "robodyn", 0, registry=registry)
        return
    if registry is None:
        registry = frame.f_globals.setdefault("__warningregistry__", {})
    module = frame.f_globals.get("__name__", "<unknown>")
    filename = frame.f_code.co_filename
    warnings.warn_explicit(message, category, filename, frame.f_lineno, module, registry)


def is_user_code(frame: FrameType) -> bool:
    """Whether a frame runs code that is neither of this package nor of Python's library."""
    top = _module(frame).partition(".")[0]
    return top != "robodyn" and top not in sys.stdlib_module_names


def _caller() -> FrameType | None:
    """The innermost frame of the user's code; None where a command of robodyn was called."""
    frame: FrameType | None = sys._getframe(1)
    inner = ""
    while frame is not None:
        if is_user_code(frame):
            return None if inner.startswith("robodyn.cli.") else frame
        if _module(frame).partition(".")[0] == "robodyn":
            inner = _module(frame)
        frame = frame.f_back
    return None


def _module(frame: FrameType) -> str:
    return str(frame.f_globals.get("__name__"))
