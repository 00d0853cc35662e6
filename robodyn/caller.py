"""Warnings at the line of the user's call, wherever in the package they are given."""

from __future__ import annotations

import os
import sys
import warnings
from types import FrameType
from typing import Any

__all__ = ["warn"]

_PACKAGE = os.path.dirname(os.path.abspath(__file__))
_COMMANDS = os.path.join(_PACKAGE, "cli", "")

#: The package, and its controllers where that folder is a link.
_OURS = (
    os.path.join(_PACKAGE, ""),
    os.path.join(os.path.realpath(os.path.join(_PACKAGE, "controllers")), ""),
)


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


def _caller() -> FrameType | None:
    """The innermost frame that is neither of this package nor of Python's library."""
    frame: FrameType | None = sys._getframe(1)
    inner = ""
    while frame is not None:
        file = frame.f_code.co_filename
        if file.startswith(_OURS):
            inner = file
        elif str(frame.f_globals.get("__name__")).partition(".")[0] not in sys.stdlib_module_names:
            return None if inner.startswith(_COMMANDS) else frame
        frame = frame.f_back
    return None
