"""Parsing of option values: numbers and names, with errors in one line."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from pathlib import Path

from robodyn.errors import RobodynError

__all__ = ["file", "named", "named_once", "number", "numbers", "one_of", "whole"]


def number(
    option: str, *, least: float = -math.inf, above: float = -math.inf, unit: str = ""
) -> Callable[[str], float]:
    """A finite number, within bounds.

    Parameters
    ----------
    option : str
        For messages.
    least, above : float
        Inclusive, and exclusive, lower bound.
    unit : str
    """
    expected = "a number"
    expected += f" >= {least:g}" if least > -math.inf else ""
    expected += f" > {above:g}" if above > -math.inf else ""
    expected += f" [{unit}]" if unit else ""

    def read(text: str) -> float:
        try:
            value = float(text)
        except ValueError:
            value = math.nan
        if not (math.isfinite(value) and value >= least and value > above):
            raise RobodynError(f"{option} is {text!r}, expected {expected}")
        return value

    return read


def whole(option: str, least: int) -> Callable[[str], int]:
    """An integer with a lower bound."""

    def read(text: str) -> int:
        try:
            value = int(text)
        except ValueError:
            value = least - 1
        if value < least:
            raise RobodynError(f"{option} is {text!r}, expected a whole number >= {least}")
        return value

    return read


def one_of(option: str, known: Sequence[str]) -> Callable[[str], str]:
    """One of some words."""

    def read(text: str) -> str:
        if text not in known:
            raise RobodynError(f"{option} is {text!r}, expected one of {', '.join(known)}")
        return text

    return read


def numbers(
    option: str, counts: Sequence[int], expected: str
) -> Callable[[str], tuple[float, ...]]:
    """Finite numbers separated by commas; their number is one of ``counts``, or any if empty.

    Parameters
    ----------
    option : str
    counts : sequence of int
    expected : str
        For messages.
    """

    def read(text: str) -> tuple[float, ...]:
        try:
            values = tuple(float(part) for part in text.split(","))
        except ValueError:
            values = (math.nan,)
        if not (all(map(math.isfinite, values)) and (not counts or len(values) in counts)):
            raise RobodynError(f"{option} is {text!r}, expected {expected}")
        return values

    return read


def named(
    option: str, counts: Sequence[int], expected: str
) -> Callable[[str], tuple[str, tuple[float, ...]]]:
    """A name, ``=``, and numbers as those of `numbers`."""

    def read(text: str) -> tuple[str, tuple[float, ...]]:
        name, _, values = text.rpartition("=")
        wrong = f"{option} is {text!r}, expected {expected}"
        if not name:
            raise RobodynError(wrong)
        try:
            return name, numbers(option, counts, expected)(values)
        except RobodynError:
            raise RobodynError(wrong) from None

    return read


def named_once(
    option: str, given: Sequence[tuple[str, tuple[float, ...]]]
) -> dict[str, tuple[float, ...]]:
    """Values by name, of an option that may be given several times."""
    found: dict[str, tuple[float, ...]] = {}
    for name, values in given:
        if name in found:
            raise RobodynError(f"{option} gives {name!r} twice; keep one")
        found[name] = values
    return found


def file(option: str, endings: Sequence[str] = ()) -> Callable[[str], Path]:
    """Path of a file with one of some endings; without endings, any path."""

    def read(text: str) -> Path:
        path = Path(text)
        if not text or (endings and path.suffix not in endings):
            expected = f"a name ending in {' or '.join(endings)}" if endings else "a path"
            raise RobodynError(f"{option} is {text!r}, expected {expected}")
        return path

    return read
