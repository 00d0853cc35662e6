"""From what a user asks for to routines."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from robodyn.arrays import named, shown
from robodyn.codegen import Function
from robodyn.errors import SettingsError, ShapeError
from robodyn.exporting.unit.unit import Routine
from robodyn.robot import Robot

__all__ = ["routines_of"]

#: What `functions` may be.
EXPECTED = "names of functions, Functions, or a mapping from names to these"


def routines_of(robot: Robot, functions: Any) -> tuple[Routine, ...]:
    """The routines that are asked for.

    Raises
    ------
    ShapeError
        If ``functions`` is something else.
    SettingsError
        If there are none, or two of the same name.
    UnknownNameError
        If the robot has no function of a name.
    """
    found: dict[str, Routine] = {}
    for name, function in _pairs(functions):
        routine = _routine(robot, name, function)
        if routine.name in found:
            raise SettingsError(
                f"functions has {routine.name!r} twice; give them names of their own: "
                'functions={"name": robot.function(...)}'
            )
        found[routine.name] = routine
    if not found:
        raise SettingsError(f"functions is empty, expected {EXPECTED}")
    return tuple(found.values())


def _pairs(functions: Any) -> Iterable[tuple[str | None, Any]]:
    """Names, where there are some, and what they are of."""
    if isinstance(functions, Mapping):
        return functions.items()
    given = (functions,) if isinstance(functions, Function) else functions
    return ((None, x) for x in named("functions", given, EXPECTED))


def _routine(robot: Robot, name: Any, function: Any) -> Routine:
    quantity = function if isinstance(function, str) else getattr(function, "name", "")
    if isinstance(function, str):
        function = robot.function(function)
    for given, kinds in ((name, (str, type(None))), (function, Function)):
        if not isinstance(given, kinds):
            raise ShapeError(
                f"functions holds {shown(given)}, expected {EXPECTED}",
                name="functions",
                given=given,
            )
    return Routine(name or quantity, about(quantity), function.program)


def about(quantity: str) -> str:
    """What a function computes, in one sentence: that of its method."""
    doc = getattr(Robot, quantity, None).__doc__ if hasattr(Robot, quantity) else None
    return doc.splitlines()[0] if doc else f"{quantity.replace('_', ' ').capitalize()}."
