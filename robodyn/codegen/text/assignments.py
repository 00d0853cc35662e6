"""A program as assignments in a language of text: what C and CUDA have in common."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Collection, Iterator, Mapping

from robodyn.symbolic.graph import (
    ADD,
    CONST,
    DIV,
    FUNCTIONS,
    INPUT,
    LESS,
    LESS_EQUAL,
    MUL,
    SELECT,
    SIDES,
    ByPrecision,
    Port,
    Program,
)

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
    "atan2f fabsf isfinite main INFINITY NAN NULL".split()
)

Text = Callable[[float], str]


def _operand(program: Program, edge: int, number: Text) -> str:
    graph, node = program.graph, edge >> 1
    sign = "-" if edge & 1 else ""
    if graph.op[node] == CONST:
        return f"({sign}{number(graph.value[node])})" if sign else number(graph.value[node])
    return f"(-t{node})" if sign else f"t{node}"


def assignments(
    program: Program,
    *,
    symbol: Callable[[int], str],
    number: Text,
    call: Callable[[str, str], str],
    select: Callable[[str, str, str], str],
    functions: Mapping[str, str],
) -> Iterator[tuple[str, str]]:
    """Name and expression of each node, in order of evaluation.

    symbol: Text of a scalar input.
    number: Text of a constant.
    call: Text of a function of its arguments.
    select: Text of a choice: from a comparison, and the texts where it holds and where it does not.
    functions: Functions that have other names than in numpy.
    """
    graph = program.graph
    for node in program.live():
        op, a, b = graph.op[node], graph.a[node], graph.b[node]
        name = f"t{node}"
        if op == CONST:
            continue
        if op == INPUT:
            yield name, symbol(a)
        elif op == ADD:
            verb = "-" if b & 1 else "+"
            left, right = _operand(program, a, number), _operand(program, b & -2, number)
            yield name, f"{left} {verb} {right}"
        elif op in (MUL, DIV):
            verb = "*" if op == MUL else "/"
            yield name, f"{_operand(program, a, number)} {verb} {_operand(program, b, number)}"
        elif op not in (LESS, LESS_EQUAL, SIDES):  # which are a part of what selects
            given = [_operand(program, edge, number) for edge in graph.operands(node)]
            if op == SELECT:
                verb = "<" if graph.op[a >> 1] == LESS else "<="
                yield name, select(f"{given[0]} {verb} {given[1]}", *given[2:])
            else:
                yield name, call(functions.get(FUNCTIONS[op], FUNCTIONS[op]), ", ".join(given))


def results(program: Program, number: Text) -> list[str]:
    """Text of each output scalar."""
    return [_operand(program, edge, number) for edge in program.results]


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


def places(
    program: Program, names: list[str], element: Callable[[str, Port, int], str]
) -> tuple[list[str], list[str]]:
    """Text of each number of the inputs, and of each number of the outputs.

    names: Of all arrays, from `argument_names`.
    element: Text of an element, from the array's name, its port and the index.
    """
    texts = [
        element(name, port, k)
        for name, port in zip(names, (*program.inputs, *program.outputs), strict=True)
        for k in range(port.size)
    ]
    first = len(texts) - len(program.results)
    return texts[:first], texts[first:]


def literal(x: float, dtype: str) -> str:
    """A number as C has it."""
    if dtype == "float" and isinstance(x, ByPrecision):
        x = x.single
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
    suffix = "" if dtype == "double" else "f"
    given, written = places(program, names, element)

    def number(x: float) -> str:
        return literal(x, dtype)

    for left, right in assignments(
        program,
        symbol=given.__getitem__,
        number=number,
        call=lambda function, x: f"{function}{suffix}({x})",
        select=lambda condition, a, b: f"{condition} ? {a} : {b}",
        functions={"abs": "fabs", "arctan2": "atan2"},
    ):
        yield f"const {dtype} {left} = {right};"
    for place, value in zip(written, results(program, number), strict=True):
        yield f"{place} = {value};"
