"""Options, with values of numbers and names; what is wrong with them is said in one line."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from functools import partial
from pathlib import Path
from typing import Any, TypeVar

from robodyn.errors import RobodynError

T = TypeVar("T")

#: Converts the text of an option, named first, to its value.
Reader = Callable[[str, str], T]

#: How a shell completes a value (shtab).
FILE, FOLDER = "file", "directory"


def add(
    group: Any,
    option: str,
    help: str,
    read: Reader[Any] | None = None,
    *,
    complete: Any = None,
    many: bool = False,
    **more: Any,
) -> None:
    """Add an option or an argument to a parser or a group of it.

    ``read`` converts its value; without it the ``type`` of argparse may do so. A shell completes it
    by ``complete``: `FILE`, `FOLDER`, or what shtab takes. ``many`` of them may be given. What else
    there is goes to argparse.
    """
    if read is None and "choices" in more:
        known = more["choices"]
        read = _reader(lambda text: _checked(text, text in known), f"one of {', '.join(known)}")
    more |= {} if read is None else {"type": partial(read, option)}
    more |= {"action": "append", "default": []} if many else {}
    action = group.add_argument(option, help=help, **more)
    if complete is not None:
        action.complete = complete


def _reader(convert: Callable[[str], T], expected: str) -> Reader[T]:
    """A reader that says what was expected where ``convert`` raises a `ValueError`."""

    def read(option: str, text: str) -> T:
        try:
            return convert(text)
        except ValueError:
            raise RobodynError(f"{option} is {text!r}, expected {expected}") from None

    return read


def _checked(value: T, sound: bool) -> T:
    if not sound:
        raise ValueError
    return value


def number(*, least: float = -math.inf, above: float = -math.inf, unit: str = "") -> Reader[float]:
    """A finite number that is not less than ``least``, and greater than ``above``."""
    expected = "a number"
    expected += f" >= {least:g}" if least > -math.inf else ""
    expected += f" > {above:g}" if above > -math.inf else ""
    expected += f" [{unit}]" if unit else ""

    def convert(text: str) -> float:
        value = float(text)
        return _checked(value, math.isfinite(value) and value >= least and value > above)

    return _reader(convert, expected)


def whole(least: int) -> Reader[int]:
    """An integer with a lower bound."""
    expected = f"a whole number >= {least}"
    return _reader(lambda text: _checked(int(text), int(text) >= least), expected)


def _floats(text: str, counts: Sequence[int]) -> tuple[float, ...]:
    values = tuple(float(part) for part in text.split(","))
    return _checked(
        values, all(map(math.isfinite, values)) and (not counts or len(values) in counts)
    )


def numbers(counts: Sequence[int], expected: str) -> Reader[tuple[float, ...]]:
    """Finite numbers separated by commas; their number is one of ``counts``, or any if empty."""
    return _reader(lambda text: _floats(text, counts), expected)


def named(counts: Sequence[int], expected: str) -> Reader[tuple[str, tuple[float, ...]]]:
    """A name, ``=``, and numbers as those of `numbers`."""

    def convert(text: str) -> tuple[str, tuple[float, ...]]:
        name, _, values = text.rpartition("=")
        return _checked(name, bool(name)), _floats(values, counts)

    return _reader(convert, expected)


def named_once(option: str, given: Iterable[tuple[str, T]]) -> dict[str, T]:
    """Values by name, of an option that may be given several times."""
    found: dict[str, T] = {}
    for name, values in given:
        if name in found:
            raise RobodynError(f"{option} gives {name!r} twice; keep one")
        found[name] = values
    return found


def file(endings: Sequence[str] = ()) -> Reader[Path]:
    """Path of a file with one of some endings; without endings, any path."""
    expected = f"a name ending in {' or '.join(endings)}" if endings else "a path"
    return _reader(
        lambda text: _checked(
            Path(text), bool(text) and (not endings or Path(text).suffix in endings)
        ),
        expected,
    )
