"""A constraint given as a function: its rows, their rates, and the bias, as programs.

Rows of K, their bias and the residual are derivatives made by the symbolic layer: with
``g(q, v, t)`` the rate of a holonomic ``f(q, t)``, or what a nonholonomic row is itself,
``K = dg/dv``, ``psi = g(q, 0, t)`` and the bias is ``dg/dq dq/dt + dg/dt``: the rate of g at
constant v [W 5.195, 5.197]. In programs, the time stands after the coordinates.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Sequence
from functools import cached_property
from typing import Any

import numpy as np

from robodyn.array_types import FloatArray
from robodyn.errors import ShapeError
from robodyn.quick_dataclass import dataclass
from robodyn.symbolic import ops
from robodyn.symbolic.derivative import jacobian
from robodyn.symbolic.evaluate import evaluate
from robodyn.symbolic.graph import Graph, Port, Program
from robodyn.symbolic.inline import inline
from robodyn.symbolic.scalar import Number, Scalar, dot, edge_of, inputs
from robodyn.tolerances import LINEAR_IN_SPEEDS

#: ``q, v -> dq/dt``: rates of the coordinates but for the time.
Rates = Callable[[Sequence[Number], Sequence[Number]], list[Number]]

#: Number of evaluations of a function in checks.
SAMPLES = 16


def program(name: str, graph: Graph, sizes: Sequence[int], results: Sequence[Number]) -> Program:
    """Some results as a program of coordinates and, of two sizes, of speeds."""
    ports = (Port("q", (sizes[0],), "rad, m"), *(Port("v", (m,), "rad/s, m/s") for m in sizes[1:]))
    edges = tuple(edge_of(graph, x) for x in results)
    return Program(name, ports, (Port(name, (len(edges),), ""),), graph, edges)


def expressions(name: str, results: Any) -> list[Number]:
    """What the function of a constraint returned, as a list of expressions."""
    try:
        listed = [results] if isinstance(results, Scalar | float | int) else list(results)
        numbers = [x if isinstance(x, Scalar) else float(x) for x in listed]
    except (TypeError, ValueError) as error:
        raise ShapeError(
            f"constraint {name!r} must return an expression or a list of them: {error}",
            name="function",
        ) from None
    if not numbers:
        raise ShapeError(f"constraint {name!r} returns nothing", name="function")
    return numbers


def depends_on(given: Program, port: str, index: int | None = None) -> list[bool]:
    """Which results of a program depend on an input, or on one number of it."""
    slopes = jacobian(given, port)
    size = next(x.size for x in given.inputs if x.name == port)
    nonzero = [not _is_zero(slopes, edge) for edge in slopes.results]
    rows = [nonzero[k : k + size] for k in range(0, len(nonzero), size)]
    return [any(row) if index is None else row[index] for row in rows]


def _is_zero(given: Program, edge: int) -> bool:
    return given.graph.op[edge >> 1] == ops.CONST and not given.graph.value[edge >> 1]


@dataclass(frozen=True, eq=False)
class ConstraintFunctions:
    """Rows of a constraint as programs.

    value: ``f(q)``; zero in rows of speeds. Where time enters, it is the last of q.
    rate: ``g(q, v)``.
    holonomic: Of each row: whether it is one of positions.
    rates: ``q, v -> dq/dt``, but for the time.
    rheonomic: It depends on time.
    clock: Rate of time; zero where it is stopped.
    """

    value: Program
    rate: Program
    holonomic: tuple[bool, ...]
    rates: Rates
    rheonomic: bool = False
    clock: float = 1.0

    @classmethod
    def of(
        cls, given: Program, holonomic: Sequence[bool], rates: Rates, rheonomic: bool
    ) -> ConstraintFunctions:
        """Of a function of coordinates and speeds; rows of positions depend on no speed."""
        n, m = (port.size for port in given.inputs)
        graph = Graph()
        at_rest: list[Number] = [*inputs(graph, 0, n), *[0.0] * m]
        edges = zip(given.results, holonomic, strict=True)
        of_positions = tuple(edge for edge, is_position in edges if is_position)
        found = iter(inline(dataclasses.replace(given, results=of_positions), at_rest))
        results = [next(found) if is_position else 0.0 for is_position in holonomic]
        value = program("value", graph, (n,), results)
        rate = _rate(value, given, holonomic, rates, 1.0)
        return cls(value, rate, tuple(holonomic), rates, rheonomic)

    def stopped(self) -> ConstraintFunctions:
        """A copy at a fixed time: functions still depend on the time, but have no rate by it."""
        rate = _rate(self.value, self.rate, self.holonomic, self.rates, 0.0)
        return dataclasses.replace(self, rate=rate, clock=0.0)

    @property
    def count(self) -> int:
        """Number of rows."""
        return len(self.holonomic)

    @cached_property
    def slopes(self) -> Program:
        """K as a function of q, by rows."""
        n, m = (port.size for port in self.rate.inputs)
        graph = Graph()
        q = inputs(graph, 0, n)
        at_rest: list[Number] = [*q, *[0.0] * m]
        return program("slopes", graph, (n,), inline(jacobian(self.rate, "v"), at_rest))

    @cached_property
    def offset(self) -> Program:
        """Psi as a function of q."""
        n, m = (port.size for port in self.rate.inputs)
        graph = Graph()
        q = inputs(graph, 0, n)
        return program("offset", graph, (n,), inline(self.rate, [*q, *[0.0] * m]))

    @property
    def steady(self) -> bool:
        """No motion is possible motion: psi is zero."""
        return all(_is_zero(self.offset, edge) for edge in self.offset.results)

    @cached_property
    def bias(self) -> Program:
        """dg/dt at zero accelerations, as a function of q and v."""
        n, m = (port.size for port in self.rate.inputs)
        graph = Graph()
        q, v = inputs(graph, 0, n), inputs(graph, n, m)
        found = _along(self.rate, [*q, *v], self.rates, q, v, self.clock)
        return program("bias", graph, (n, m), found)

    def check(self, name: str, q: FloatArray) -> None:
        """Raise `ShapeError` unless it is linear in the speeds, and depends on them at all.

        name: Of the constraint.
        q (SAMPLES, n): Some coordinates, the time included.
        """
        m = self.rate.inputs[1].size
        v = np.random.default_rng(1).normal(size=(len(q), m))
        with np.errstate(all="ignore"):
            g = evaluate(self.rate, q, v)[0]
            try:
                K = evaluate(self.slopes, q)[0].reshape(len(q), -1, m)
                psi = evaluate(self.offset, q)[0]
            except (ArithmeticError, ValueError):  # divides by a speed
                K, psi = np.full((len(q), self.count, m), np.nan), g
        good = np.isfinite(g).all(axis=1)
        if not good.any():
            raise ShapeError(
                f"constraint {name!r} is not a finite number anywhere", name="function"
            )
        g, K, psi = g[good], K[good], psi[good]
        terms = np.einsum("...ij,...j->...i", np.abs(K), np.abs(v[good])) + np.abs(psi)
        error = np.abs(np.einsum("...ij,...j->...i", K, v[good]) + psi - g)
        if not (error <= LINEAR_IN_SPEEDS * (terms + 1e-300)).all():
            raise ShapeError(f"constraint {name!r} is not linear in the speeds", name="function")
        still = np.flatnonzero(~np.abs(K).any(axis=(0, 2)))
        if len(still):
            raise ShapeError(
                f"row {still[0]} of constraint {name!r} constrains no motion", name="function"
            )


def _rate(
    value: Program, given: Program, holonomic: Sequence[bool], rates: Rates, clock: float
) -> Program:
    """``g(q, v)``: rates of the rows of positions, and what the others are."""
    n, m = (port.size for port in given.inputs)
    graph = Graph()
    q, v = inputs(graph, 0, n), inputs(graph, n, m)
    own = inline(given, [*q, *v]) if not all(holonomic) else []
    if any(holonomic):
        along = _along(value, q, rates, q, v, clock)
        own = [along[k] if is_position else own[k] for k, is_position in enumerate(holonomic)]
    return program("rate", graph, (n, m), own)


def _along(
    given: Program,
    at: list[Number],
    rates: Rates,
    q: list[Number],
    v: list[Number],
    clock: float,
) -> list[Number]:
    """Rate of a program's results along dq/dt; if there is one more in q, it is time."""
    speeds = rates(q, v)
    speeds = [*speeds, *[clock] * (len(q) - len(speeds))]
    slopes, n = inline(jacobian(given, "q"), at), len(speeds)
    return [dot(slopes[k : k + n], speeds) for k in range(0, len(slopes), n)]
