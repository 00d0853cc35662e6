"""Arguments of a xacro file: what is given, what the files declare, what is missing."""

from __future__ import annotations

import math
import os
import re
from collections.abc import Mapping
from typing import Any

import numpy as np

from robodyn.errors import ShapeError
from robodyn.quick_dataclass import dataclass

#: What an argument may be given as.
Value = str | bool | int | float | os.PathLike[str]


#: Number of characters of a default that messages show.
SHOWN = 40


@dataclass(frozen=True)
class Declared:
    """An ``<xacro:arg>``."""

    name: str
    default: str | None

    def __str__(self) -> str:
        if self.default is None:
            return self.name
        return f'{self.name} (default "{_shortened(self.default)}")'


class Arguments(dict[str, str]):
    """Values by name, and what files do with them.

    given: Names of those that were given; xacro adds those that have defaults.
    used: Names that xacro looked up.
    declared: All ``<xacro:arg>`` of the files read so far.
    wanted: Names in ``$(arg name)`` of the files read so far.
    """

    def __init__(self, given: Mapping[str, str]) -> None:
        super().__init__(given)
        self.given = tuple(given)
        self.used: set[str] = set()
        self.declared: dict[str, Declared] = {}
        self.wanted: dict[str, None] = {}

    def declare(self, name: str, default: str | None) -> None:
        """Remember an ``<xacro:arg>``; the first of its name counts, as for xacro."""
        self.declared.setdefault(name, Declared(name, default))

    def look_through(self, text: str) -> None:
        """Remember the names that a text uses."""
        self.wanted |= dict.fromkeys(re.findall(r"\$\(arg\s+([^)\s]+)\s*\)", text))

    @property
    def unknown(self) -> list[str]:
        """Names that were given, and that no file declares or uses."""
        known = {*self.declared, *self.used, *self.wanted}
        return [name for name in self.given if name not in known]

    @property
    def missing(self) -> list[str]:
        """Names that files use and that have neither a value nor a default."""
        return [name for name in self.wanted if name not in self and name not in self.declared]

    def listed(self) -> str:
        """All that can be given, for a message."""
        undeclared = [Declared(name, None) for name in self.wanted if name not in self.declared]
        described = []
        for argument in (*self.declared.values(), *undeclared):
            value = self.get(argument.name)
            given = f", given {value!r}" if argument.name in self.given else ""
            described.append(f"{argument}{given}")
        return "; ".join(described) or "none"

    def meant(self, name: str) -> str | None:
        """The argument that a name was probably meant to be."""
        import difflib  # for errors only

        alike = difflib.get_close_matches(name, [*self.declared, *self.wanted], n=1)
        return alike[0] if alike else None


def _shortened(text: str) -> str:
    return text if len(text) <= SHOWN else f"{text[: SHOWN - 3]}..."


def given_arguments(given: Mapping[str, Value] | None) -> dict[str, str]:
    """Values as xacro takes them: texts.

    Raises `ShapeError` if they are no mapping of names to texts, paths, numbers and truth values.
    """
    if given is None:
        return {}
    if not isinstance(given, Mapping):
        raise ShapeError(
            f"xacro_args is {given!r}, expected {{argument: value}}", name="xacro_args", given=given
        )
    for name in given:
        if not isinstance(name, str) or not name.strip():
            raise ShapeError(
                f"xacro_args has the name {name!r}, expected a text", name="xacro_args", given=name
            )
    return {name: _as_text(name, value) for name, value in given.items()}


def _as_text(name: str, value: Any) -> str:
    """Text of a value as xacro reads it: truth values are ``true`` and ``false``."""
    value = value.item() if isinstance(value, np.generic) else value
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, str):
        return value
    if isinstance(value, os.PathLike):
        return os.fsdecode(value)
    if isinstance(value, int | float) and math.isfinite(value):
        return repr(value)
    raise ShapeError(
        f"xacro_args[{name!r}] is {value!r}, expected a text, a path, a finite number, True or "
        "False",
        name="xacro_args",
        given=value,
    )
