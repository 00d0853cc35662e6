"""Functions of a unit in C: their names, parameters, declarations, definitions and calls."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property

from robodyn.codegen.text.assignments import C_WORDS, argument_names, legal_name, plain
from robodyn.exporting.templates import template
from robodyn.exporting.unit.unit import Procedure, Routine, Unit, legal_names
from robodyn.symbolic.graph import Port, Program

#: Macros of headers of C and of Windows, which are no names of anything.
MACROS = frozenset(
    "BUFSIZ EDOM EOF ERANGE FILENAME_MAX HUGE_VAL I M_E M_PI RAND_MAX alloca assert complex errno "
    "far fpclassify imaginary isinf isnan isnormal max min near offsetof setjmp signbit small "
    "stderr stdin stdout va_arg va_copy va_end va_start".split()
)


def _listed() -> frozenset[str]:
    """Names of the list beside this file, whose lines with ``#`` are headings."""
    text = template("reserved_names.txt")
    lines = (line for line in text.splitlines() if not line.startswith("#"))
    return frozenset(name for line in lines for name in line.split())


#: In lower case: some file systems do not tell capital letters from small ones.
RESERVED = C_WORDS | MACROS | _listed()


#: What every unit may have besides.
OWN = frozenset(
    "result begin step state controller controller_begin controller_step "
    "NQ NU NV STEP OK OPEN NOT_FINITE H".split()
)


@dataclass(frozen=True)
class Place:
    """Where a joint or a motor is: the first of its numbers, and what they are."""

    value: int
    about: str


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
        taken = {x.removeprefix(f"{self.macro}_") for x in self.places}
        return legal_names(asked, OWN | taken)

    @cached_property
    def places(self) -> Mapping[str, Place]:
        """Names in C of the places of joints in q and v, and of motors, each once."""
        joints = {x: y for x, y in self.unit.robot.joints.items() if y.v.stop > y.v.start}
        wound = {x.winding for x in self.unit.robot.model.setup.windings}
        units = {"q": ", its charge [C]", "v": ", its current [A], and its voltage [V] in tau"}
        found = dict[str, Place]()
        for letter in "qv":
            for name, joint in joints.items():
                at = getattr(joint, letter)
                if at.stop > at.start:
                    last = f"..{at.stop - 1}" if at.stop > at.start + 1 else ""
                    about = f"{letter}[{at.start}{last}]: {name}"
                    about += units[letter] if name in wound else ""
                    found[self._place(letter, name, found)] = Place(at.start, about)
        for k, name in enumerate(self.unit.robot.actuated_joints):
            found[self._place("motor", name, found)] = Place(k, f"motor of {name}")
        return found

    def _place(self, what: str, name: str, taken: Collection[str]) -> str:
        """A constant that is not taken; joints whose names become the same are numbered."""
        own = f"{self.macro}_{what}_{legal_name(f'x{name}')[1:]}".upper()
        k = 2
        while own in taken:
            own, k = f"{own.removesuffix(f'_{k - 1}')}_{k}", k + 1
        return own

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


def parameters(function: Routine | Procedure) -> list[Parameter]:
    """Parameters of a function; empty arrays are none."""
    own = function.program if isinstance(function, Routine) else function
    ports = (*own.inputs, *own.outputs)
    names = argument_names(own) if isinstance(own, Program) else [x.name for x in ports]
    found = (
        Parameter(name, port, k >= len(own.inputs))
        for k, (port, name) in enumerate(zip(ports, names, strict=True))
    )
    return [x for x in found if x.port.size]


def without_residual(procedure: Procedure) -> list[Parameter]:
    """Parameters of a function that closes loops; how far they are open is its result."""
    return [x for x in parameters(procedure) if x.name != "residual"]


def called(
    names: CNames, routine: Routine, given: Mapping[str, str], to: Mapping[str, str] | None = None
) -> str:
    """A call of a routine.

    given, to: Texts of what it takes, and of what it writes, if they differ from the names of its
        parameters.
    """
    texts = ((to or {}) if x.is_output else given for x in parameters(routine))
    arguments = (
        known.get(x.port.name, x.name) for known, x in zip(texts, parameters(routine), strict=True)
    )
    return f"{names.of(routine.name)}({', '.join(arguments)});"


@dataclass(frozen=True)
class CFunction:
    """A function in C.

    given: Declarations of its parameters.
    about, notes: The comment above its declaration; none of a function that no header declares.
    """

    returns: str
    name: str
    given: Iterable[str]
    lines: Iterable[str]
    about: str = ""
    notes: Iterable[str] = ()

    def declared(self) -> Iterator[str]:
        """Its declaration below a comment, after an empty line."""
        *head, end = self._head()
        yield from ("", *comment_block(self.about, self.notes), *head, f"{end};")

    def defined(self) -> Iterator[str]:
        """Its definition after an empty line."""
        yield from ("", *self._head(), "{")
        yield from (f"    {line}" for line in self.lines)
        yield "}"

    def _head(self) -> list[str]:
        head, inside = f"{self.returns} {self.name}(", ", ".join(self.given) or "void"
        line = f"{head}{inside})"
        if len(line) <= 96:
            return [line]
        parts = inside.split(", ")
        return [head, *(f"    {x}," for x in parts[:-1]), f"    {parts[-1]})"]


def comment_block(about: str, lines: Iterable[str]) -> Iterator[str]:
    """A comment above a declaration."""
    yield f"/* {comment(about)}"
    for line in lines:
        yield f" *   {line}"
    yield " */"
