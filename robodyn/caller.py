"""Warnings that point at the line of the user's code which called robodyn."""

from __future__ import annotations

import sys
import warnings
from collections.abc import Callable
from contextvars import ContextVar
from types import FrameType
from typing import Any

from robodyn.quick_dataclass import dataclass


def warn(message: Warning | str, *, registry: dict[Any, Any] | None = None) -> None:
    """Give a warning whose place is the user's line that called robodyn.

    The place is ``robodyn:0`` where there is no such line: on the command line, or in a thread that
    runs a function of robodyn itself.

    message: A text is given as a `UserWarning`.
    registry, optional: Warnings given so far, for filters that show each once. Default:
        ``__warningregistry__`` of the calling module, as Python has it.
    """
    message = UserWarning(message) if isinstance(message, str) else message
    place = _place() or _started_at.get() or _Place("robodyn", 0)
    own = place.registry if registry is None else registry
    warnings.warn_explicit(message, type(message), place.filename, place.line, place.module, own)


def for_threads(function: Callable[..., Any]) -> Callable[..., Any]:
    """A function for threads of the package: warnings there stand at the line that calls it here.

    It is to be run in a context of its own (`contextvars.copy_context`).
    """
    place = _place()

    def run(*args: Any) -> Any:
        _started_at.set(place)
        return function(*args)

    return run


def is_user_code(frame: FrameType) -> bool:
    """Whether a frame runs code that is neither of this package nor of Python's library."""
    top = _module(frame).partition(".")[0]
    return top != "robodyn" and top not in sys.stdlib_module_names


@dataclass(frozen=True)
class _Place:
    """A line of code, and the warnings that its module has given."""

    filename: str
    line: int
    module: str = "robodyn"
    registry: dict[Any, Any] | None = None


#: Where the user called what started this thread.
_started_at: ContextVar[_Place | None] = ContextVar("started at", default=None)


def _place() -> _Place | None:
    """The user's line that called robodyn, where there is one in this thread."""
    frame = _caller()
    if frame is None:
        return None
    known = frame.f_globals.setdefault("__warningregistry__", {})
    module = frame.f_globals.get("__name__", "<unknown>")
    return _Place(frame.f_code.co_filename, frame.f_lineno, module, known)


def _caller() -> FrameType | None:
    """The innermost frame of the user's code; None where a command of robodyn was called."""
    frame: FrameType | None = sys._getframe(1)
    inner = ""
    while frame is not None:
        module = _module(frame)
        top = module.partition(".")[0]
        if top == "robodyn":
            inner = module
        elif top not in sys.stdlib_module_names:
            return None if inner.startswith("robodyn.cli.") else frame
        frame = frame.f_back
    return None


def _module(frame: FrameType) -> str:
    return str(frame.f_globals.get("__name__"))
