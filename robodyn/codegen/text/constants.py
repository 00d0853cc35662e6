"""Inputs that texts have as constants with names."""

from __future__ import annotations

import math
from collections.abc import Mapping

from robodyn.arrays import by_name, mismatch, number
from robodyn.errors import SettingsError, UnknownNameError
from robodyn.symbolic.graph import Program


def named_constants(program: Program, given: Mapping[str, float] | None) -> dict[str, float]:
    """Numbers for inputs of one number each, by name.

    Raises UnknownNameError: If there is no such input.
    Raises SettingsError: If it is an array.
    Raises ShapeError: For what is no finite number.
    """
    ports = {port.name: port for port in program.inputs}
    found = {}
    for name, value in by_name("constants", given).items():
        if name not in ports:
            raise UnknownNameError("input", name, ports, f"function {program.name!r}")
        if ports[name].shape:
            raise SettingsError(
                f"constants gives {name!r}, an array of shape {ports[name].shape}: numbers alone "
                "can be constants, as those of robot.symbols"
            )
        found[name] = number(f"constants[{name!r}]", value)
        if not math.isfinite(found[name]):
            raise mismatch(f"constants[{name!r}]", value, "a finite number", "constants")
    return found
