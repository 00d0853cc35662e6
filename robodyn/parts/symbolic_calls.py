"""Methods of a robot called with symbols: their equations, written into those of the caller."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from robodyn.arrays import named
from robodyn.equations.catalogue import QUANTITIES
from robodyn.errors import ShapeError
from robodyn.evaluator import Evaluator
from robodyn.motion.base_motion import BaseMotion

#: Options of functions that are names.
_NAMES = frozenset({"frames"})


class SymbolicCalls:
    """Quantities of a robot for functions that are called with symbols in place of numbers."""

    def __init__(self, evaluator: Evaluator) -> None:
        self._evaluator = evaluator

    def call(self, method: str, arguments: Mapping[str, Any]) -> Any:
        """What a method of the robot gives for symbols: arrays of symbols.

        As a function does, it takes postures with open loops.

        arguments: Those given, by name.
        Raises ShapeError: If one of them cannot be given beside symbols.
        """
        given = {name: x for name, x in arguments.items() if x is not None}
        name = method
        if method == "driven_dynamics":
            given["controlled"], name = given.pop("speeds"), "hybrid_dynamics"
        row = QUANTITIES[name]
        arrays = {x: given.pop(x) for x in row.input_names}
        wrenches = given.pop("wrenches", {})
        base = given.pop("base", None)
        options = {
            key: named(key, given.pop(key)) if key in _NAMES else given.pop(key)
            for key in row.options
            if key in given
        }
        for key, value in given.items():
            raise ShapeError(
                f"{method} is called with symbols, and with {key}=: symbols go with arrays, "
                f"wrenches and base alone",
                name=key,
                given=value,
            )
        return of_symbols(self._evaluator, name, arrays, wrenches, base, **options)


def of_symbols(
    evaluator: Evaluator,
    name: str,
    arrays: Mapping[str, Any],
    wrenches: Mapping[str, Any],
    base: BaseMotion | None,
    **options: Any,
) -> Any:
    """What the function of a quantity gives for symbols: arrays by name, wrenches by link."""
    links = {"wrenches": tuple(wrenches)} if wrenches else {}
    f = evaluator.programs.function(name, **options, **links)
    given = {**arrays, **{f"wrench:{link}": x for link, x in wrenches.items()}}
    rest = [port.name for port in f.inputs if port.name not in given]
    given |= zip(rest, evaluator.environment(name, base), strict=True)
    return f(*(given[port.name] for port in f.inputs))
