"""Joints that are functions of others, as programs: cams, and loops whose solution is known.

Files have a notation for some of these functions: polynomials, tables and linear combinations.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import field
from functools import cached_property
from typing import Any

import numpy as np

from robodyn.arguments import check_fields
from robodyn.array_types import FloatArray
from robodyn.errors import ShapeError
from robodyn.quick_dataclass import dataclass
from robodyn.symbolic.derivative import jacobian
from robodyn.symbolic.evaluate import evaluate, inline
from robodyn.symbolic.graph import Graph, Port, Program
from robodyn.symbolic.scalar import Number, edge_of, inputs
from robodyn.symbolic.spline import FourierSeries, Spline


@dataclass(frozen=True)
class Polynomial:
    """``c_0 + c_1 x + c_2 x^2 + ...``."""

    coefficients: tuple[float, ...]

    def __post_init__(self) -> None:
        check_fields(self)
        if not self.coefficients:
            raise ShapeError("a polynomial without coefficients", name="coefficients")

    def __call__(self, x: Any) -> Any:
        """Its value: of a number or a symbol."""
        *rest, total = self.coefficients
        for c in reversed(rest):
            total = total * x + c
        return total


@dataclass(frozen=True)
class Table:
    """A smooth curve through points, see `robodyn.Spline`; with a period `robodyn.FourierSeries`.

    monotone: Of a spline.
    period: Zero of a spline.
    harmonics: Of a periodic one; zero: half the number of points.
    """

    x: tuple[float, ...]
    y: tuple[float, ...]
    monotone: bool = False
    period: float = 0.0
    harmonics: int = 0

    def __call__(self, x: Any) -> Any:
        """Its value: of a number or a symbol."""
        if self.period:
            sines = self.harmonics or None
            return FourierSeries(self.x, self.y, period=self.period, harmonics=sines)(x)
        return Spline(self.x, self.y, monotone=self.monotone)(x)


@dataclass(frozen=True)
class Linear:
    """``offset + sum of c_k x_k``, of several joints."""

    coefficients: tuple[float, ...]
    offset: float = 0.0

    def __post_init__(self) -> None:
        check_fields(self)

    def __call__(self, *x: Any) -> Any:
        """Its value: of numbers or symbols."""
        return sum((c * y for c, y in zip(self.coefficients, x, strict=True)), self.offset)


Curve = Polynomial | Table | Linear


#: Numbers from numbers, known or symbolic.
Function = Callable[[Sequence[Number]], Sequence[Number]]


@dataclass(frozen=True, eq=False)
class TracedExplicitLoop:
    """Joints ``v`` that follow joints ``u``: ``v = f(u)``, which solves ``h(u, v) = 0``.

    All of them have one coordinate. Rates come from h alone [PyMbs 9, 10].

    independent, dependent: The joints u and v.
    solution: ``u -> v``.
    gap: ``u, v -> h``, both in one input ``q``; as many numbers as there are joints v.
    curve: The law of one joint that follows others, where files have a notation for it.
    line: In the file it was read from.
    """

    name: str
    independent: tuple[str, ...]
    dependent: tuple[str, ...]
    solution: Program = field(repr=False)
    gap: Program = field(repr=False)
    curve: Curve | None = None
    line: int | None = None

    @classmethod
    def of(
        cls,
        name: str,
        independent: Sequence[str],
        dependent: Sequence[str],
        solution: Function,
        gap: Function | None = None,
        *,
        curve: Curve | None = None,
        line: int | None = None,
    ) -> TracedExplicitLoop:
        """Of functions over lists of numbers; without h, it is ``v - f(u)``."""
        p, m = len(independent), len(dependent)
        solved = program("solution", p, solution)

        def rest(q: Sequence[Number]) -> list[Number]:
            return [x - y for x, y in zip(q[p:], inline(solved, q[:p]), strict=True)]

        own = tuple(independent), tuple(dependent)
        return cls(name, *own, solved, program("gap", p + m, gap or rest), curve, line)

    @classmethod
    def of_curve(
        cls, joint: str, masters: Sequence[str], curve: Curve, line: int | None = None
    ) -> TracedExplicitLoop:
        """One joint that follows one other, or several, by a law that files have."""
        return cls.of(joint, masters, (joint,), lambda q: [curve(*q)], curve=curve, line=line)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, TracedExplicitLoop) or self.curve is None:
            return self is other
        return self._content == other._content

    def __hash__(self) -> int:
        return hash(self._content)

    @property
    def _content(self) -> tuple[object, ...]:
        """All that a file says of it."""
        return self.name, self.independent, self.dependent, self.curve

    @property
    def joints(self) -> tuple[str, ...]:
        """Those that follow, and those that they follow."""
        return (*self.independent, *self.dependent)

    @cached_property
    def slopes(self) -> Program:
        """``dh/d(u, v)``, by rows."""
        return jacobian(self.gap, "q")

    @cached_property
    def bends(self) -> Program:
        """Slopes of these."""
        return jacobian(self.slopes, "q")

    def positions(self, u: FloatArray) -> FloatArray:
        """Of the joints that follow, shape (n, m), at positions u, shape (n, p)."""
        with np.errstate(all="ignore"):
            return np.asarray(evaluate(self.solution, u)[0], float)

    def locking(self, positions: Mapping[str, float]) -> TracedExplicitLoop:
        """With some of the joints that are followed at rest."""
        left = [name for name in self.independent if name not in positions]
        if len(left) == len(self.independent):
            return self
        count = len(self.independent)

        def whole(q: Sequence[Number]) -> list[Number]:
            own = iter(q)
            u = [positions[x] if x in positions else next(own) for x in self.independent]
            return [*u, *own]

        return TracedExplicitLoop.of(
            self.name,
            left,
            self.dependent,
            lambda q: inline(self.solution, whole(q)[:count]),
            lambda q: inline(self.gap, whole(q)),
            line=self.line,
        )


def program(name: str, count: int, function: Function) -> Program:
    """A function of coordinates as a program."""
    graph = Graph()
    results = function(inputs(graph, 0, count))
    edges = tuple(edge_of(graph, x) for x in results)
    port = Port("q", (count,), "rad, m")
    return Program(name, (port,), (Port(name, (len(edges),), "rad, m"),), graph, edges)
