"""How functions of a unit are declared in C, and what the comment above them says."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

from robodyn.codegen.text.assignments import argument_names, legal_name, plain
from robodyn.exporting.c_code.reserved import RESERVED
from robodyn.exporting.unit.procedure import Procedure, Routine
from robodyn.exporting.unit.unit import Unit, legal_names
from robodyn.symbolic.graph import Port

#: What every unit may have besides.
OWN = frozenset("result begin step state NQ NV STEP OK OPEN NOT_FINITE H".split())


def comment(text: str) -> str:
    """A text that may stand in a comment of C."""
    return plain(text).replace("*/", "* /").replace("/*", "/ *").replace("??", "? ?")


@dataclass(frozen=True, eq=False)
class CNames:
    """Names in the code of a unit, all of which begin with that of the unit."""

    unit: Unit

    @cached_property
    def prefix(self) -> str:
        """The name of the unit; with "_robot" after it where something else is called so."""
        name = legal_name(self.unit.name)
        return f"{name}_robot" if {name, name.lower()} & RESERVED else name

    @cached_property
    def macro(self) -> str:
        """What macros and constants begin with."""
        return self.prefix.upper()

    @cached_property
    def _legal(self) -> Mapping[str, str]:
        """Legal names of functions, by what the user calls them."""
        unit = self.unit
        asked = [x.name for x in unit.routines] + [x.name for x in unit.assemblies]
        return legal_names(asked, OWN)

    def of(self, name: str) -> str:
        """The name in C of a function."""
        return f"{self.prefix}_{self._legal[name]}"

    def own(self, name: str) -> str:
        """The name in C of what every unit has."""
        return f"{self.prefix}_{name}"


@dataclass(frozen=True)
class Parameter:
    """An array of a function in C; a number that is read is given by value.

    Its name is the one in C.
    """

    name: str
    port: Port
    is_output: bool

    @property
    def is_number(self) -> bool:
        """Whether it is given by value."""
        return not (self.port.shape or self.is_output)

    def declared(self, dtype: str) -> str:
        """Its declaration."""
        if self.is_number:
            return f"{dtype} {self.name}"
        const = "" if self.is_output else "const "
        return f"{const}{dtype} {self.name}[{self.port.size}]"

    def element(self, k: int) -> str:
        """Its k-th number."""
        return self.name if self.is_number else f"{self.name}[{k}]"

    @property
    def description(self) -> str:
        """A line about it."""
        shape = " x ".join(map(str, self.port.shape)) or "a number"
        unit = f" [{comment(self.port.unit)}]" if self.port.unit else ""
        away = "" if self.name == self.port.name else f", {comment(self.port.name)!r}"
        return f"{self.name}: {'out, ' if self.is_output else ''}{shape}{unit}{away}"


def parameters(inputs: Sequence[Port], names: Sequence[str], outputs: int) -> list[Parameter]:
    """Parameters of ports of which some at the end are outputs; empty arrays are none."""
    first = len(inputs) - outputs
    found = (
        Parameter(name, port, k >= first)
        for k, (port, name) in enumerate(zip(inputs, names, strict=True))
    )
    return [x for x in found if x.port.size]


def of_routine(routine: Routine) -> list[Parameter]:
    """Parameters of a routine."""
    program = routine.program
    ports = (*program.inputs, *program.outputs)
    return parameters(ports, argument_names(program), len(program.outputs))


def of_procedure(procedure: Procedure) -> list[Parameter]:
    """Parameters of a procedure, whose names are legal."""
    ports = (*procedure.inputs, *procedure.outputs)
    return parameters(ports, [x.name for x in ports], len(procedure.outputs))


def signature(returns: str, name: str, given: Iterable[str]) -> list[str]:
    """The lines of a declaration without its end."""
    head, inside = f"{returns} {name}(", ", ".join(given) or "void"
    line = f"{head}{inside})"
    if len(line) <= 96:
        return [line]
    parts = inside.split(", ")
    return [head, *(f"    {x}," for x in parts[:-1]), f"    {parts[-1]})"]


def assembly_head(procedure: Procedure, names: CNames) -> list[str]:
    """The declaration of a function that closes loops; how far they are open is its result."""
    given = [x for x in of_procedure(procedure) if x.name != "residual"]
    name, declared = names.of(procedure.name), (x.declared(names.unit.dtype) for x in given)
    return signature(names.own("result"), name, declared)


def defined(head: list[str], lines: Iterable[str]) -> Iterator[str]:
    """A definition after an empty line."""
    yield from ("", *head, "{")
    yield from (f"    {line}" for line in lines)
    yield "}"


def comment_block(about: str, lines: Iterable[str]) -> Iterator[str]:
    """A comment above a declaration."""
    yield f"/* {comment(about)}"
    for line in lines:
        yield f" *   {line}"
    yield " */"
