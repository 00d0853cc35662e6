"""How what was found in a file is told: one Python warning, or records for other programs."""

from __future__ import annotations

import re
import warnings
from collections.abc import Sequence

from robodyn.errors import RobodynError, UnknownNameError, UrdfNote, UrdfWarning

__all__ = ["announce", "record"]

_NAMES = re.compile(r"'[^']*'|[-+.\d]+(e[-+]?\d+)?")

#: How many different warnings are told; the others are counted.
TOLD = 5


def announce(found: Sequence[UrdfWarning]) -> None:
    """Warn once, in one line, of each kind of thing found; ``robodyn check`` tells them one by one.

    The warning is given at no line of Python, so that Python does not add a second line with the
    source of the call.
    """
    if not found:
        return
    kinds: dict[str, list[UrdfWarning]] = {}
    for warning in found:
        kinds.setdefault(_NAMES.sub("", warning.problem), []).append(warning)
    if len(found) == 1:
        message = found[0]
    else:
        told = [_summary(alike) for alike in kinds.values()]
        text = "; ".join(told[:TOLD])
        if len(told) > TOLD:
            text += f"; {len(told) - TOLD} more"
        message = UrdfWarning(
            f"{len(found)} warnings: {text}; robodyn check lists them", file=found[0].file
        )
    warnings.warn_explicit(message, UrdfWarning, filename="robodyn", lineno=0)


def record(
    found: RobodynError | UrdfWarning | UrdfNote, source: str
) -> dict[str, str | int | None]:
    """An error, a warning or a note as plain values, for editors and continuous integration.

    Parameters
    ----------
    found : RobodynError, UrdfWarning or UrdfNote
    source : str
        What was checked, where the finding knows no file.

    Returns
    -------
    record : dict
        ``file``, ``line``, ``element``, ``severity`` (``"error"``, ``"warning"`` or ``"note"``),
        ``message``, ``suggestion``; what is not known is ``None``.
    """
    kinds = ((UrdfWarning, "warning"), (UrdfNote, "note"))
    severity = next((word for kind, word in kinds if isinstance(found, kind)), "error")
    suggestion = getattr(found, "suggestion", None)
    if isinstance(found, UnknownNameError) and found.suggestions:
        suggestion = found.suggestions[0]
    return {
        "file": getattr(found, "file", None) or source,
        "line": getattr(found, "line", None),
        "element": getattr(found, "element", None),
        "severity": severity,
        "message": getattr(found, "problem", None) or str(found),
        "suggestion": suggestion,
    }


def _summary(alike: Sequence[UrdfWarning]) -> str:
    """The first of several warnings that differ in names and numbers, with its place."""
    first = alike[0]
    line = f"line {first.line}" if first.line else ""
    place = ", ".join(part for part in (first.element, line) if part)
    count = "" if len(alike) == 1 else f"{len(alike)} x "
    return f"{count}{first.problem}" + (f" ({place})" if place else "")
