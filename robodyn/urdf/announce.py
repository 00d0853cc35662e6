"""One Python warning for all that a file deserves."""

from __future__ import annotations

import warnings
from collections.abc import Sequence

from robodyn.errors import UrdfWarning

__all__ = ["announce"]


def announce(found: Sequence[UrdfWarning]) -> None:
    """Warn once, in one line; ``robodyn check`` shows the rest.

    The warning is given at the file and not at a line of Python, so that Python does not add a
    second line with the source of the call.
    """
    if not found:
        return
    first = found[0]
    told = first
    if len(found) > 1:
        more = f"{first.problem} (and {len(found) - 1} more; robodyn check lists them)"
        told = UrdfWarning(more, file=first.file, line=first.line, element=first.element)
    warnings.warn_explicit(told, UrdfWarning, filename="robodyn", lineno=0)
