"""Reporting of findings in a file: as an error, as one warning, or as records."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any, NoReturn

from robodyn.caller import warn
from robodyn.errors import InertiaError, RobodynError, UnknownNameError, UrdfNote, UrdfWarning

_NAMES = re.compile(r"'[^']*'|[-+.\d]+(e[-+]?\d+)?")

#: Largest number of different warnings that are shown; the others are counted.
LISTED = 5

#: Largest number of further errors that are shown with the first one.
OTHERS = 8


def tolerable(error: RobodynError) -> bool:
    """Whether ``strict=False`` turns an error into a warning."""
    return getattr(error, "leniently", None) is not None


def problem_of(error: RobodynError) -> str:
    """The text of an error without its place in a file."""
    return getattr(error, "problem", None) or str(error)


def as_warning(error: RobodynError) -> UrdfWarning:
    """The warning that replaces an error with ``strict=False``."""
    done = getattr(error, "leniently", None)
    place: dict[str, Any] = {
        key: getattr(error, key, None) for key in ("file", "line", "element", "suggestion")
    }
    return UrdfWarning(problem_of(error), **place, leniently=done)


def raise_or_warn(
    found: Sequence[RobodynError], warned: Sequence[UrdfWarning], *, strict: bool = True
) -> None:
    """Raise the first error; otherwise give one warning about all findings.

    If not ``strict``, errors that are `tolerable` become part of the warning.
    """
    errors = [error for error in found if strict or not tolerable(error)]
    if errors:
        _fail([*errors, *(error for error in found if error not in errors)])
    _warn_leniently([as_warning(error) for error in found], warned)


def _fail(errors: Sequence[RobodynError]) -> NoReturn:
    """Raise the first error; its notes are the next ones, their number, and what to do."""
    first, *others = errors
    if others:
        which = f", first {OTHERS}" if len(others) > OTHERS else ""
        first.add_note(f"and {len(others)} more (robodyn check lists them all){which}:")
    for error in others[:OTHERS]:
        first.add_note(f"  {error}")
    if all(isinstance(error, InertiaError) for error in errors):
        first.add_note("allow_unphysical=True takes it as it is, strict=False too")
    elif all(map(tolerable, errors)):
        first.add_note("with strict=False none of this is an error: it is read, and warned of")
    raise first


def _warn_leniently(tolerated: Sequence[UrdfWarning], found: Sequence[UrdfWarning]) -> None:
    """Warn once of all that was read leniently, place by place, and of the other warnings.

    ``tolerated`` are warnings of what is an error otherwise, each with what was done about it.
    """
    if not tolerated:
        give_warnings(found)
        return
    kinds: dict[tuple[str, str | None], list[UrdfWarning]] = {}
    for place in tolerated:
        kinds.setdefault((_NAMES.sub("", place.problem), place.leniently), []).append(place)
    count = len(tolerated)
    lines = [f"read leniently, with {count} place{'s'[: count > 1]} taken otherwise than written:"]
    file = tolerated[0].file
    lines += [f"  {_all_places(alike, file)}" for alike in kinds.values()]
    if found:
        lines.append(f"and {_in_one_line(found)}")
    message = UrdfWarning("\n".join(lines), file=file, places=(*tolerated, *found))
    warn(message)


def _all_places(alike: Sequence[UrdfWarning], file: str | None) -> str:
    """The first of several places that are alike, and the lines of the others."""
    first, *others = (
        _place(place) if place.file == file else f"{place.file}: {_place(place)}" for place in alike
    )
    text = f"{first}: {alike[0].problem} -> {alike[0].leniently}"
    return text + (f"; so too {'; '.join(others)}" if others else "")


def give_warnings(found: Sequence[UrdfWarning]) -> None:
    """Give one warning with a line for each kind of finding; ``robodyn check`` lists them all.

    Examples
    --------
    >>> from robodyn.urdf import findings, give_warnings
    >>> errors, warnings = findings("puma560")
    >>> give_warnings(warnings)     # there are none
    """
    if not found:
        return
    if len(found) == 1:
        message = found[0]
    else:
        message = UrdfWarning(_in_one_line(found), file=found[0].file, places=tuple(found))
    warn(message)


def record(
    found: RobodynError | UrdfWarning | UrdfNote, source: str
) -> dict[str, str | int | None]:
    """Convert an error, a warning or a note to plain values, for editors and CI.

    Parameters
    ----------
    found : RobodynError, UrdfWarning or UrdfNote
    source : str
        The file that was checked, if the finding does not name one.

    Returns
    -------
    record : dict
        ``file``, ``line``, ``element``, ``severity`` (``"error"``, ``"warning"`` or ``"note"``),
        ``message``, ``suggestion``; what is not known is ``None``.

    Examples
    --------
    >>> from robodyn.urdf import problems, record
    >>> error = problems('<robot name="r"><link name="a"/><lnik name="b"/></robot>')[0]
    >>> record(error, "r.urdf")["suggestion"]
    'link'
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


def _in_one_line(found: Sequence[UrdfWarning]) -> str:
    """Several warnings in one line."""
    kinds: dict[str, list[UrdfWarning]] = {}
    for warning in found:
        kinds.setdefault(_NAMES.sub("", warning.problem), []).append(warning)
    shown = [_summary(alike) for alike in kinds.values()]
    text = "; ".join(shown[:LISTED])
    if len(shown) > LISTED:
        text += f"; {len(shown) - LISTED} more"
    count = len(found)
    return f"{count} warning{'s'[: count > 1]}: {text}; robodyn check lists them"


def _summary(alike: Sequence[UrdfWarning]) -> str:
    """The first of several warnings that differ in names and numbers, with its place."""
    first = alike[0]
    place = _place(first)
    count = "" if len(alike) == 1 else f"{len(alike)} x "
    return f"{count}{first.problem}" + (f" ({place})" if place else "")


def _place(found: UrdfWarning) -> str:
    line = f"line {found.line}" if found.line else ""
    return ", ".join(part for part in (found.element, line) if part)
