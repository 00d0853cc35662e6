"""A program as assignments in a language of text: what C and CUDA have in common."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from robodyn.arrays import by_name, mismatch, number
from robodyn.errors import SettingsError, UnknownNameError
from robodyn.symbolic import ops
from robodyn.symbolic.graph import ByPrecision, Port, Program

#: Operations that stand between their operands.
_VERBS = {ops.ADD: "+", ops.MUL: "*", ops.DIV: "/"}

#: Words of C and C++, and functions and macros that generated code calls.
C_WORDS = frozenset(
    "alignas alignof and and_eq asm auto bitand bitor bool break case catch char char8_t char16_t "
    "char32_t class compl concept const const_cast consteval constexpr constinit continue "
    "co_await co_return co_yield decltype default delete do double dynamic_cast else enum explicit "
    "export extern false float for friend goto if inline int long mutable namespace new noexcept "
    "not not_eq nullptr operator or or_eq private protected public register reinterpret_cast "
    "requires restrict return short signed sizeof static static_assert static_cast struct switch "
    "template this thread_local throw true try typedef typeid typename union unsigned using "
    "virtual void volatile wchar_t while xor xor_eq asm typeof linux unix "
    "sin cos sqrt exp log sinh cosh tanh atan2 fabs sinf cosf sqrtf expf logf sinhf coshf tanhf "
    "floor floorf "
    "atan2f fabsf isfinite main INFINITY NAN NULL".split()
)


@dataclass(frozen=True)
class Language:
    """How a language of text writes what programs consist of.

    number: Text of a constant.
    element: Text of an element, from the array's name, its port and the index.
    call: Text of a function, which stands first, of its arguments.
    select: Text of a choice: a comparison, and the texts where it holds and where it does not.
    functions: Functions that have other names than in numpy.
    dtype {"double", "float"}: Of the arithmetic.
    """

    number: Callable[[float], str]
    element: Callable[[str, Port, int], str]
    select: str
    call: str = "{}({})"
    functions: Mapping[str, str] = field(default_factory=dict)
    dtype: str = "double"


#: What is assigned to, and the expression.
Assignment = tuple[str, str]


def assignments(
    program: Program, names: Sequence[str], language: Language
) -> tuple[list[Assignment], list[Assignment]]:
    """All nodes in order of evaluation, each with a name of its own, and then all outputs.

    names: Of all arrays, from `argument_names`.
    """
    graph, nodes = program.graph, []
    places = [
        language.element(name, port, k)
        for name, port in zip(names, (*program.inputs, *program.outputs), strict=True)
        for k in range(port.size)
    ]

    def operand(edge: int) -> str:
        node, text = edge >> 1, f"t{edge >> 1}"
        if graph.op[node] == ops.CONST:
            x = graph.value[node]
            if language.dtype == "float" and isinstance(x, ByPrecision):
                x = x.single
            text = language.number(float(x))
        return f"(-{text})" if edge & 1 else text

    for node in program.live():
        op, a, b = graph.op[node], graph.a[node], graph.b[node]
        if op in (ops.CONST, ops.LESS, ops.LESS_EQUAL, ops.SIDES):  # parts of what uses them
            continue
        given = [operand(edge) for edge in graph.operands(node)]
        if op == ops.INPUT:
            text = places[a]
        elif op == ops.ADD and b & 1:
            text = f"{given[0]} - {operand(b ^ 1)}"
        elif op in _VERBS:
            text = f"{given[0]} {_VERBS[op]} {given[1]}"
        elif op == ops.SELECT:
            verb = "<" if graph.op[a >> 1] == ops.LESS else "<="
            text = language.select.format(f"{given[0]} {verb} {given[1]}", *given[2:])
        else:
            name = language.functions.get(ops.FUNCTIONS[op], ops.FUNCTIONS[op])
            text = language.call.format(name, ", ".join(given))
        nodes.append((f"t{node}", text))
    written = places[len(places) - len(program.results) :]
    return nodes, list(zip(written, map(operand, program.results), strict=True))


def legal_name(name: str, reserved: Collection[str] = ()) -> str:
    """A name of ASCII letters, digits and underscores that begins with a letter.

    reserved: Words that it may not be; an underscore is added to these.
    """
    legal = re.sub(r"\W", "_", name, flags=re.ASCII)
    if not legal[:1].isalpha():
        legal = f"f_{legal}"
    return f"{legal}_" if legal in reserved else legal


def argument_names(program: Program, taken: Collection[str] = ()) -> list[str]:
    """Name of each input and output array; none is ``taken``, a word of C or the name of a node."""
    names: list[str] = []
    for port in (*program.inputs, *program.outputs):
        name = legal_name(port.name, C_WORDS)
        while name in taken or name in names or re.fullmatch(r"t\d+", name):
            name += "_"
        names.append(name)
    return names


def port_comments(program: Program, names: list[str]) -> Iterator[str]:
    """A line of a comment for each array: its name, shape and unit."""
    for name, port in zip(names, (*program.inputs, *program.outputs), strict=True):
        yield f" * {name}: {'x'.join(map(str, port.shape)) or 'scalar'} [{port.unit}]"


def plain(text: str) -> str:
    """A text on one line, without what would end a string or a comment, or stand for something.

    Nor with characters that are not seen, of which some turn the direction of all that follows.
    """
    seen = "".join(x if x.isprintable() else f"U+{ord(x):04X}" for x in " ".join(text.split()))
    return seen.replace("\\", "/").replace('"', "'")


def indices(port: Port, k: int, first: int = 0) -> tuple[int, ...]:
    """Where the k-th number of an array stands along its axes, which begin at ``first``."""
    found: list[int] = []
    for size in reversed(port.shape):
        k, index = divmod(k, size)
        found.append(index + first)
    return tuple(reversed(found))


def literal(x: float, dtype: str) -> str:
    """A number as C has it."""
    kind = "" if dtype == "float" else f"({dtype})"  # these macros are floats
    if math.isnan(x):
        return f"{kind}NAN"
    if math.isinf(x):
        return f"({kind}INFINITY)" if x > 0 else f"(-{kind}INFINITY)"
    return f"{float(x)!r}{'f' if dtype == 'float' else ''}"


def statements(
    program: Program, dtype: str, names: list[str], element: Callable[[str, Port, int], str]
) -> Iterator[str]:
    """Statements of C for one state: a constant for each node, then the stores.

    names: Of all arrays, from `argument_names`.
    element: Text of an element, from the array's name, its port and the index.
    """
    language = Language(
        lambda x: literal(x, dtype),
        element,
        select="{} ? {} : {}",
        call="{}({})" if dtype == "double" else "{}f({})",
        functions={"abs": "fabs", "arctan2": "atan2"},
        dtype=dtype,
    )
    nodes, outputs = assignments(program, names, language)
    yield from (f"const {dtype} {left} = {right};" for left, right in nodes)
    yield from (f"{place} = {value};" for place, value in outputs)


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
