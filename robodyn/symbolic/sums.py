"""Sums of a finished program, and how they get shorter."""

from __future__ import annotations

from collections.abc import Container, Iterator, Sequence

from robodyn.quick_dataclass import dataclass
from robodyn.symbolic import ops
from robodyn.symbolic.graph import ByPrecision, Program
from robodyn.tolerances import CANCELLATION_ROUNDING, LOST_SUMMAND

#: Longer sums are left as they are.
LONGEST = 100
#: Longest sum that is written out in the place of its name.
OPENED = 12

#: What the terms of a sum are multiples of, where they are constants.
ONE = -1

#: A multiple of a node, or of one, in a sum: the node, its factor, the factor of its place, and the
#: node of the multiple.
_Term = tuple[int, float, float, int]


#: A factor of several products, and the others with their known factors.
Products = tuple[int, list[tuple[float, int]]]


@dataclass(frozen=True)
class ShorterSum:
    """A sum that gets shorter.

    opened: Sums with a name that are written out in it.
    factors: Of nodes that several terms are multiples of.
    at: Which of the terms these are written in place of.
    products: Of terms that are products with a common factor: that factor, and the other ones with
        what is known of them, in the place of the first of them; nothing in the places of the
        others.
    """

    opened: frozenset[int]
    factors: dict[int, float]
    at: dict[int, int]
    products: dict[int, Products | None]


class Sums:
    """The sums of a program."""

    def __init__(self, program: Program) -> None:
        self.graph, self.live = program.graph, program.live()
        #: Known factor and the node that it multiplies, of multiples.
        self.scaled: dict[int, tuple[float, int]] = {}
        #: Sums whose terms may be moved. Not those of roots: guards rely on how these are rounded.
        self.free: set[int] = set()
        self._uses = [0] * len(self.graph.op)
        self._named: dict[int, list[_Term] | None] = {}
        for edge in program.results:
            self._uses[edge >> 1] += 1
        self._look()

    def _look(self) -> None:
        """Count uses, and find multiples and sums."""
        op, a, b, value = self.graph.op, self.graph.a, self.graph.b, self.graph.value
        uses, scaled = self._uses, self.scaled
        for node in self.live:
            kind = op[node]
            if kind <= ops.INPUT:
                continue
            i = a[node] >> 1
            uses[i] += 1
            if kind not in ops.OF_TWO:
                continue
            j = b[node] >> 1
            uses[j] += 1
            if kind == ops.MUL and i in value and not isinstance(value[i], ByPrecision):
                scaled[node] = (-value[i] if (a[node] ^ b[node]) & 1 else value[i]), j
            elif kind == ops.ADD:
                i, j = scaled.get(i, (0.0, i))[1], scaled.get(j, (0.0, j))[1]
                if op[i] != ops.SQRT and op[j] != ops.SQRT:
                    self.free.add(node)

    def roots(self) -> list[int]:
        """Sums of more than two terms that are not part of another one alone."""
        a, b, scaled, free, uses = self.graph.a, self.graph.b, self.scaled, self.free, self._uses
        within, found = set(), []
        for node in reversed(self.live):
            if node not in free:
                continue
            longer = False
            for i in (a[node] >> 1, b[node] >> 1):
                if i in scaled:
                    once, i = uses[i] == 1, scaled[i][1]
                else:
                    once = True
                if i in free:
                    longer = True
                    if once and uses[i] == 1:
                        within.add(i)
            if node not in within and (longer or self._share(a[node] >> 1, b[node] >> 1)):
                found.append(node)
        return found

    def _share(self, x: int, y: int) -> bool:
        """Whether two nodes are products with a common factor."""
        op, a, b, scaled = self.graph.op, self.graph.a, self.graph.b, self.scaled
        x, y = scaled.get(x, (0.0, x))[1], scaled.get(y, (0.0, y))[1]
        if not op[x] == op[y] == ops.MUL:
            return False
        return not {a[x] >> 1, b[x] >> 1}.isdisjoint((a[y] >> 1, b[y] >> 1))

    def opens(self, node: int, opened: frozenset[int]) -> bool:
        """Whether the terms of a sum in a sum are terms of the whole one."""
        return node in self.free and (self._uses[node] == 1 or node in opened)

    def operand(self, edge: int, opened: frozenset[int]) -> tuple[float, int, bool]:
        """Known factor of an operand of a sum, the node that it multiplies, and if that opens."""
        node, factor = edge >> 1, -1.0 if edge & 1 else 1.0
        value = self.graph.value.get(node)
        if value is not None and value == value and not isinstance(value, ByPrecision):
            return factor * value, ONE, False
        if node in self.scaled:
            known, below = self.scaled[node]
            opens = below in self.free and self._uses[node] == 1 and self.opens(below, opened)
            return factor * known, below, opens
        return factor, node, self.opens(node, opened)

    def terms(self, root: int, opened: frozenset[int] = frozenset()) -> list[_Term] | None:
        """Terms of a sum from left to right; none where there are too many."""
        a, b, operand = self.graph.a, self.graph.b, self.operand
        found: list[_Term] = []
        stack = [(b[root], 1.0), (a[root], 1.0)]
        while stack:
            edge, within = stack.pop()
            factor, node, opens = operand(edge, opened)
            if opens:
                factor *= within
                stack.append((b[node], factor))
                stack.append((a[node], factor))
            else:
                found.append((node, within * factor, within, edge >> 1))
                if len(found) > LONGEST:
                    return None
        return found

    def named(self, node: int) -> list[_Term] | None:
        """Terms of a sum that others need, too, if it may be written out in these."""
        if node not in self.free:
            return None
        if node not in self._named:
            terms = self.terms(node)
            self._named[node] = terms if terms is not None and len(terms) <= OPENED else None
        return self._named[node]

    def shorter(self, root: int, eager: bool) -> ShorterSum | None:
        """How a sum gets shorter, if it does.

        eager: Write out sums with a name also where that is no longer: perhaps nobody needs them
            then.
        """
        terms = self.terms(root)
        if terms is None:
            return None
        opened = frozenset(self._worth_opening(terms, eager))
        if opened:
            terms = self.terms(root, opened)
            if terms is None:
                return None
        places: dict[int, list[int]] = {}
        for k, (node, *_) in enumerate(terms):
            places.setdefault(node, []).append(k)
        factors, at = {}, {}
        for node, several in places.items():
            if len(several) > 1:
                total = _total([terms[k][1] for k in several])
                if total is not None:
                    factors[node] = total
                    at[node] = min(several, key=lambda k: abs(terms[k][2]) != 1.0)
        products = {} if opened else self._with_common_factors(terms, factors)
        if factors or opened or products:
            return ShorterSum(opened, factors, at, products)
        return None

    def _with_common_factors(
        self, terms: Sequence[_Term], collected: Container[int]
    ) -> dict[int, Products | None]:
        """Products among some terms that nothing else needs and that share a factor."""
        a, b = self.graph.a, self.graph.b
        places: dict[int, list[int]] = {}
        for k, (node, _, _, whole) in enumerate(terms):
            if node not in collected and self._only_here(node, whole):
                for x in {a[node] >> 1, b[node] >> 1}:
                    places.setdefault(x, []).append(k)
        found: dict[int, Products | None] = {}
        for x, several in sorted(places.items(), key=lambda item: -len(item[1])):
            rest = [k for k in several if k not in found]
            if len(rest) > 1:
                found.update(dict.fromkeys(rest))
                found[rest[0]] = x, [(terms[k][1], self._other(terms[k][0], x)) for k in rest]
        return found

    def _only_here(self, node: int, whole: int) -> bool:
        """Whether a node is a product that one sum alone needs, and so is the multiple of it."""
        if node == ONE or self.graph.op[node] != ops.MUL:
            return False
        return self._uses[node] == self._uses[whole] == 1

    def _other(self, product: int, factor: int) -> int:
        """Edge of the other factor of a product."""
        a, b = self.graph.a[product], self.graph.b[product]
        return b if a >> 1 == factor else a

    def _worth_opening(self, terms: Sequence[_Term], eager: bool) -> Iterator[int]:
        """Sums with a name that are better written out among some terms, one after the other."""
        free = self.free
        sums = [(node, f) for node, f, *_ in terms if node in free and f * f == 1.0]
        if not sums:
            return
        current = _gathered(terms)
        for node, factor in sums:
            inside = self.named(node)
            if inside is None or current.get(node) != factor:
                continue
            if all(x[0] not in current for x in inside):
                continue
            opened = dict(current)
            del opened[node]
            for x, f, *_ in inside:
                opened[x] = opened.get(x, 0.0) + factor * f
            opened = {x: f for x, f in opened.items() if f}
            more = _length(opened) - _length(current)
            if more < 0 or (eager and more == 0):
                current = opened
                yield node


def _gathered(terms: Sequence[_Term]) -> dict[int, float]:
    """Factors of all nodes in a sum."""
    found: dict[int, float] = {}
    for node, factor, *_ in terms:
        found[node] = found.get(node, 0.0) + factor
    return {node: factor for node, factor in found.items() if factor}


def _length(factors: dict[int, float]) -> int:
    """Operations of a sum."""
    scaled = sum(node != ONE and factor * factor != 1.0 for node, factor in factors.items())
    return len(factors) - 1 + scaled


def _total(factors: Sequence[float]) -> float | None:
    """The sum of factors; none where the least of them would be lost in it."""
    sizes = [abs(x) for x in factors]
    if min(sizes) < LOST_SUMMAND * max(sizes):
        return None
    total = sum(factors)
    return total if abs(total) > CANCELLATION_ROUNDING * max(sizes) else 0.0
