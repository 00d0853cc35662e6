"""The program of a quantity, by the algorithm with the fewest operations."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import cached_property
from typing import Any, Protocol

from robodyn.codegen.llvm.cache.traced_programs import cached_program
from robodyn.equations.quantities import QUANTITIES
from robodyn.equations.quantities.common.quantity import (
    Alternative,
    Constrained,
    OnLoops,
    Quantity,
    traced,
)
from robodyn.equations.quantities.common.setup import Setup
from robodyn.quick_dataclass import dataclass
from robodyn.symbolic.graph import Port, Program
from robodyn.symbolic.simplification import simplified

__all__ = [
    "CONSTRAINED",
    "COST",
    "QUANTITIES",
    "Alternative",
    "OnLoops",
    "Quantity",
    "Setup",
    "derivatives_of",
    "programs",
    "row",
    "trace",
    "trace_without_simplifying",
]

#: Names of the quantities that have equations of their own for closed linkages.
CONSTRAINED = frozenset(name for name, x in QUANTITIES.items() if isinstance(x.closed, Constrained))


#: Number of speeds from which tracing takes longer than reading the program from disk.
LARGE = 10


class Ports(Protocol):
    """Protocol of objects with a name and outputs, such as programs."""

    @property
    def name(self) -> str:
        """Its name."""

    @property
    def outputs(self) -> tuple[Port, ...]:
        """Its outputs."""


#: Cost of an operation in multiplications, to choose between algorithms.
COST = {
    "mul": 1.0,
    "add": 1.0,
    "div": 12.0,
    "sqrt": 15.0,
    "sincos": 12.0,
    "select": 2.0,
    "function": 40.0,
}


def row(name: str, options: Mapping[str, Any]) -> Quantity:
    """The row of a quantity in the catalogue; with the option ``rows``, for closed linkages."""
    quantity = QUANTITIES[name]
    has_rows = name in CONSTRAINED or quantity.solved is not None
    return quantity.over_rows() if has_rows and "rows" in options else quantity


def trace(name: str, setup: Setup, options: Mapping[str, Any] | None = None) -> Program:
    """Program of a quantity.

    name: A key of `QUANTITIES`.
    options: Choices that shape the program: ``wrenches``, ``frame``, ``relative_to``, ``axes``,
        ``classical``; ``numbers``: those of the robot are the last input, and are tried with these.
    """
    chosen = options or {}
    if "numbers" in chosen:
        return _shortest(name, setup, chosen)
    if setup.model.nv < LARGE:
        program = _shortest(name, setup, chosen)
    else:
        origin = name, setup, sorted(chosen.items())
        program = cached_program(origin, lambda: _shortest(name, setup, chosen))
    return replace(program, derived=derivatives_of(name, setup, chosen, program))


def trace_without_simplifying(
    name: str, setup: Setup, options: Mapping[str, Any] | None = None
) -> Program:
    """The same with as many operations as the equations have; parameters as for `trace`."""
    return _cheapest(name, setup, options or {})


def _shortest(name: str, setup: Setup, options: Mapping[str, Any]) -> Program:
    return simplified(_cheapest(name, setup, options), _cost)


def derivatives_of(
    name: str, setup: Setup, options: Mapping[str, Any], program: Program | Ports
) -> Callable[[str], Program | None] | None:
    """From the name of an input to the program of the derivatives by it, where there is one.

    name, setup, options: As for `trace`.
    program: Of the quantity; or what has its name and its outputs.
    """
    whole = f"{name}_derivatives"
    return _Derived(whole, setup, options, program).by if whole in QUANTITIES else None


@dataclass(eq=False)
class _Derived:
    """Derivatives of a quantity, from the program that has its value and all of them."""

    name: str
    setup: Setup
    options: Mapping[str, Any]
    program: Program | Ports

    @cached_property
    def _whole(self) -> Program:
        known = row(self.name, self.options).options
        beside = ("parameters", "numbers", "symbols")
        options = {x: y for x, y in self.options.items() if x in known or x in beside}
        return trace(self.name, self.setup, options)

    def by(self, name: str) -> Program | None:
        """The program of the derivatives with respect to an input; None if there is none."""
        wanted = [f"d {port.name} / d {name}" for port in self.program.outputs]
        if name == "parameters" or name not in row(self.name, self.options).input_names:
            return None
        found, first = {}, 0
        for port in self._whole.outputs:
            found[port.name] = port, self._whole.results[first : first + port.size]
            first += port.size
        if not all(x in found for x in wanted):
            return None
        return replace(
            self._whole,
            name=f"{self.program.name}_d_{name}",
            outputs=tuple(found[x][0] for x in wanted),
            results=tuple(edge for x in wanted for edge in found[x][1]),
        )


def _cheapest(name: str, setup: Setup, options: Mapping[str, Any]) -> Program:
    """Program of a quantity by the algorithm with the fewest operations."""
    quantity = row(name, options)
    controlled = frozenset(options.get("controlled", ()))
    for other in _alternatives(quantity, setup, options):
        if other.preferred(setup.model, controlled):
            return traced(name, quantity, other.trace, setup, options)
    found = programs(name, setup, options)
    return min(found, key=_cost) if len(found) > 1 else found[0]


def programs(name: str, setup: Setup, options: Mapping[str, Any] | None = None) -> list[Program]:
    """Programs of a quantity by each of its algorithms; parameters as in `trace`."""
    options = options or {}
    quantity = row(name, options)
    algorithms = [quantity.trace, *(x.trace for x in _alternatives(quantity, setup, options))]
    return [traced(name, quantity, x, setup, options) for x in algorithms]


def _alternatives(
    quantity: Quantity, setup: Setup, options: Mapping[str, Any]
) -> tuple[Alternative, ...]:
    """The other algorithms that this mechanism can be computed by."""
    # only the finished mass matrix shows how many operations its elements take
    if options.get("friction_modes"):  # joints are held in the rows of the mass matrix
        return ()
    simple = setup.model.chained and not setup.model.light
    return tuple(x for x in quantity.alternatives if simple or not x.chained)


def _cost(program: Program) -> float:
    return sum(COST[kind] * count for kind, count in program.operations().items())
