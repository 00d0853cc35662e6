"""Warnings that point at the line of the user's code which called robodyn."""

from __future__ import annotations

import sys
import warnings
from types import FrameType
from typing import Any

__all__ = ["is_user_code", "warn"]


def warn(message: Warning | str, *, registry: dict[Any, Any] | None = None) -> None:
    """Give a warning whose place is the user's line that called robodyn.

    The place is ``robodyn:0`` where there is no such line: on the command line, or in a thread of
    the package.

    Parameters
    ----------
    message : Warning or str
        A text is given as a `UserWarning`.
    registry : dict, optional
        Warnings given so far, for filters that show each once. Default: ``__warningregistry__`` of
        the calling module, as Python has it.
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
