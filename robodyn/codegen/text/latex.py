r"""A program as equations for people: LaTeX, in the manner of Sayers' papers.

What is used more than once, or is long, is an intermediate variable :math:`z_k`; everything else
stands where it is used. A sine or cosine of an input is short enough to be written out everywhere.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Mapping
from itertools import product

from robodyn.codegen.text.assignments import named_constants
from robodyn.symbolic import ops
from robodyn.symbolic.graph import Port, Program

GREEK = frozenset(
    "alpha beta gamma delta epsilon zeta eta theta kappa lambda mu nu xi pi rho sigma tau phi chi "
    "psi omega".split()
)


def number(value: float) -> str:
    r"""A constant, positive or zero: ``9.81``, ``1.2\times 10^{-5}``; or NaN."""
    if not math.isfinite(value):
        return r"\infty" if value > 0.0 else r"\mathrm{NaN}"
    mantissa, _, exponent = f"{value:.12g}".partition("e")
    if not exponent:
        return mantissa
    power = f"10^{{{int(exponent)}}}"
    return power if mantissa == "1" else rf"{mantissa}\times {power}"


def symbols(program: Program) -> tuple[list[str], list[str]]:
    r"""Symbol of each scalar input and output, as in ``q_{1}``, ``\tau_{2}``, ``M_{1,2}``."""
    shapes = {port.name: port.shape for port in program.inputs}
    inputs = [text for port in program.inputs for text in _elements(port.name, port.shape)]
    outputs = [text for port in program.outputs for text in _port(port, shapes)]
    return inputs, outputs


def _port(port: Port, shapes: dict[str, tuple[int, ...]]) -> list[str]:
    """Elements of an output, which may be a derivative ``d y / d x`` of what may be one too."""
    above, slash, below = port.name.rpartition(" / d ")
    if not slash or not above.startswith("d ") or below not in shapes:
        return _elements(port.name, port.shape)
    size = math.prod(shapes[below])
    axes = port.shape[: len(port.shape) - len(shapes[below])]
    rows = _port(Port(above[2:], axes), shapes)
    columns = _elements(below, shapes[below])
    assert port.size == len(rows) * size
    return [rf"\frac{{\partial {y}}}{{\partial {x}}}" for y, x in product(rows, columns)]


def _elements(name: str, shape: tuple[int, ...]) -> list[str]:
    """Symbols of an array, indices counted from 1."""
    head, _, rest = re.sub(r"[:.]", "_", name).partition("_")
    if head in GREEK:
        head = f"\\{head}"
    elif len(head) != 1:
        head = _upright(head)
    subscript = [_upright(rest)] if rest else []
    if not rest and not shape and (numbered := re.fullmatch(r"([A-Za-z])(\d+)", name)):
        head, subscript = numbered[1], [numbered[2]]
    texts = []
    for index in product(*(range(1, n + 1) for n in shape)):
        inside = ",".join([*subscript, *map(str, index)])
        texts.append(f"{head}_{{{inside}}}" if inside else head)
    return texts


def _upright(words: str) -> str:
    r"""A name of several letters; what is no letter or digit is kept from being read as LaTeX."""
    text = re.sub(r"[{}\\^~$&]", "", words)
    text = re.sub(r"[_%#]", r"\\\g<0>", text).replace("-", "{-}").replace(" ", r"\ ")
    return rf"\mathrm{{{text}}}"


#: Symbols and numbers that an equation may have on its right side.
LENGTH = 10

#: Places among factors: number, symbol, root or size, sum; functions come last.
_RANKS = {ops.CONST: 0, ops.INPUT: 1, ops.SQRT: 2, ops.ABS: 2, ops.ADD: 3, ops.MUL: 3, ops.DIV: 3}

#: Functions with an argument.
_FUNCTIONS = {
    ops.SIN: r"\sin", ops.COS: r"\cos", ops.EXP: r"\exp", ops.LOG: r"\ln",
    ops.TANH: r"\tanh", ops.SINH: r"\sinh", ops.COSH: r"\cosh",
}  # fmt: skip

#: Sign and text of a term.
Signed = tuple[bool, str]


def latex(program: Program, constants: Mapping[str, float] | None = None) -> str:
    r"""Equations of a program, in an order in which they can be evaluated.

    constants: Numbers for inputs, which stand before the equations.
    Returns text: An ``align*`` environment (package amsmath). Constants have 12 significant digits.
    """
    writer = _Writer(program)
    lines = writer.values(named_constants(program, constants)) + writer.equations()
    return "\n".join([r"\begin{align*}", " \\\\\n".join(lines), r"\end{align*}"])


class _Writer:
    def __init__(self, program: Program) -> None:
        self.program, self.graph, self.nodes = program, program.graph, program.live()
        self.inputs, self.outputs = symbols(program)
        self.names = self._names()

    def values(self, numbers: Mapping[str, float]) -> list[str]:
        """One line for each input that is a known number."""
        symbols, lines = iter(self.inputs), []
        for port in self.program.inputs:
            own = [next(symbols) for _ in range(port.size)]
            if port.name in numbers:
                x = numbers[port.name]
                lines.append(f"{own[0]} &= {'-' if x < 0.0 else ''}{number(abs(x))}")
        return lines

    def equations(self) -> list[str]:
        """One line an intermediate variable or output."""
        lines = [
            f"{self.names[node]} &= {_joined(self._terms(2 * node, whole=True))}"
            for node in self.nodes
            if node in self.names
        ]
        written = set(self.names.values())
        known: dict[int, str] = {}
        for name, edge in zip(self.outputs, self.program.results, strict=True):
            if name not in written:
                same = None if self._short(edge >> 1) else known.get(edge)
                lines.append(f"{name} &= {same or _joined(self._terms(edge))}")
            known.setdefault(edge, name)
        return lines

    # -- what gets a name -----------------------------------------------------------------------

    def _names(self) -> dict[int, str]:
        """Symbol of each node that has an equation of its own; an output's, if it is one."""
        named = self._repeated()
        self._shorten(named)
        heads = {symbol.split("_")[0] for symbol in (*self.inputs, *self.outputs)}
        letter = next(x for x in ("z", "y", "w", "Z", "Y", "W") if x not in heads)
        names: dict[int, str] = {}
        for name, edge in zip(self.outputs, self.program.results, strict=True):
            node = edge >> 1
            if node in named and not edge & 1 and node not in names and name not in self.inputs:
                names[node] = name
        count = 0
        for node in self.nodes:
            if node in named and node not in names:
                count += 1
                names[node] = f"{letter}_{{{count}}}"
        return names

    def _operands(self, node: int) -> tuple[int, ...]:
        """What a node is computed from, but for comparisons and sides, which are no numbers."""
        if self.graph.op[node] in (ops.LESS, ops.LESS_EQUAL, ops.SIDES):
            return ()
        return tuple(edge >> 1 for edge in self.graph.operands(node))

    def _short(self, node: int) -> bool:
        """Whether a node is written out wherever it is used."""
        op = self.graph.op
        if op[node] in (ops.SIN, ops.COS):
            return op[self.graph.a[node] >> 1] == ops.INPUT
        return op[node] in (ops.CONST, ops.INPUT)

    def _repeated(self) -> set[int]:
        uses = Counter(edge >> 1 for edge in set(self.program.results))
        for node in self.nodes:
            uses.update(set(self._operands(node)))  # the square of a sum names it once
        return {node for node, n in uses.items() if n > 1 and not self._short(node)}

    def _shorten(self, named: set[int]) -> None:
        """Name the larger operand of what would be too long."""
        size: dict[int, int] = {}
        for node in self.nodes:
            parts = {} if self._short(node) else {x: size[x] for x in set(self._operands(node))}
            while sum(parts.values()) > LENGTH:
                longest = max(parts, key=parts.__getitem__)
                named.add(longest)
                parts[longest] = 1
            # a root, function or square counts too, so that towers of them are cut as well
            size[node] = 1 if node in named or not parts else sum(parts.values()) + (len(parts) < 2)

    # -- expressions ----------------------------------------------------------------------------

    def _terms(self, edge: int, whole: bool = False) -> list[Signed]:
        """Terms of a sum, in order; ``whole`` writes a node out that has a name."""
        node, negative = edge >> 1, bool(edge & 1)
        if self.graph.op[node] == ops.ADD and (whole or node not in self.names):
            terms = self._terms(self.graph.a[node]) + self._terms(self.graph.b[node])
            return [(sign ^ negative, text) for sign, text in terms]
        sign, text = self._product(node, whole)
        return [(sign ^ negative, text)]

    def _product(self, node: int, whole: bool) -> Signed:
        """What is not a sum, as one fraction if anything is divided."""
        negative, above, below = self._factors(2 * node, whole)
        if not below:
            return negative, self._beside(above, whole and above == [node])
        return negative, rf"\frac{{{self._beside(above)}}}{{{self._beside(below)}}}"

    def _factors(self, edge: int, whole: bool = False) -> tuple[bool, list[int], list[int]]:
        """Sign, factors above and factors below a fraction line."""
        graph, node, negative = self.graph, edge >> 1, bool(edge & 1)
        if graph.op[node] not in (ops.MUL, ops.DIV) or (node in self.names and not whole):
            return negative, [node], []
        left, above, below = self._factors(graph.a[node])
        right, *more = self._factors(graph.b[node])
        if graph.op[node] == ops.DIV:
            more.reverse()
        return negative ^ left ^ right, above + more[0], below + more[1]

    def _beside(self, factors: list[int], whole: bool = False) -> str:
        """Factors side by side, numbers first and functions last."""
        factors = [x for x in factors if self.graph.value.get(x) != 1.0] or factors[:1]
        if len(factors) == 1 and not whole and self._rank(factors[0]) == 3:
            return _joined(self._terms(2 * factors[0]))
        text, before = "", -1
        powers = Counter(sorted(factors, key=lambda x: self._rank(x, whole)))
        for factor, power in powers.items():
            rank = self._rank(factor, whole)
            text += r" \cdot " if before == rank == 0 else " "
            text += self._factor(factor, f"^{{{power}}}" if power > 1 else "", whole)
            before = rank
        return text.lstrip() or "1"

    def _rank(self, node: int, whole: bool = False) -> int:
        """Place among factors: number, symbol, root, sum, function."""
        if node in self.names and not whole:
            return 1
        return _RANKS.get(self.graph.op[node], 4)

    def _factor(self, node: int, power: str, whole: bool = False) -> str:
        graph, op = self.graph, self.graph.op[node]
        if node in self.names and not whole:
            return _raised(self.names[node], power)
        if op == ops.CONST:
            return _raised(number(graph.value[node]), power)
        if op == ops.INPUT:
            return _raised(self.inputs[graph.a[node]], power)
        if op == ops.ADD:
            return _parenthesised(_joined(self._terms(2 * node))) + power
        if op == ops.SQRT:
            root = rf"\sqrt{{{_joined(self._terms(graph.a[node]))}}}"
            return _parenthesised(root) + power if power else root
        given = [_joined(self._terms(edge)) for edge in graph.operands(node)]
        if op == ops.ABS:
            return rf"\left|{given[0]}\right|{power}"
        if op == ops.SELECT:
            x, y, first, second = given
            verb = "<" if graph.op[graph.a[node] >> 1] == ops.LESS else r"\le"
            cases = rf"{first} & {x} {verb} {y} \\ {second} & \text{{otherwise}}"
            text = rf"\begin{{cases}} {cases} \end{{cases}}"
            return (_parenthesised(text) if power else text) + power
        if op == ops.ARCTAN2:
            return rf"\operatorname{{atan2}}{power} \left({given[0]},\, {given[1]}\right)"
        if op == ops.FLOOR:
            return rf"\left\lfloor {given[0]} \right\rfloor{power}"
        return f"{_FUNCTIONS[op]}{power} {self._argument(graph.a[node])}"

    def _argument(self, edge: int) -> str:
        """Of a sine: bare if it is one symbol."""
        node = edge >> 1
        text = _joined(self._terms(edge))
        bare = not edge & 1 and (node in self.names or self.graph.op[node] == ops.INPUT)
        return text if bare and not text.startswith(r"\frac") else _parenthesised(text)


def _parenthesised(text: str) -> str:
    return rf"\left({text}\right)"


def _raised(text: str, power: str) -> str:
    """A power of a number or symbol."""
    plain = not power or not ("^" in text or text.startswith(r"\frac"))
    return (text if plain else _parenthesised(text)) + power


def _joined(terms: list[Signed]) -> str:
    """A sum, beginning with a positive term if it has one."""
    first = next((k for k, (negative, _) in enumerate(terms) if not negative), 0)
    ordered = [terms[first], *terms[:first], *terms[first + 1 :]]
    negative, text = ordered[0]
    text = f"-{text}" if negative else text
    for negative, term in ordered[1:]:
        text += f" {'-' if negative else '+'} {term}"
    return text
