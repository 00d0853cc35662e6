"""Constraints given by their user as functions of coordinates, speeds, time [W 5.183, 5.184].

Traced once. Rows of K, their bias and the residual are derivatives made by the symbolic layer: with
``g(q, v, t)`` the rate of a holonomic ``f(q, t)``, or what a nonholonomic one is itself,
``K = dg/dv``, ``psi = g(q, 0, t)`` and the bias is ``dg/dq dq/dt + dg/dt``: the rate of g at
constant v [W 5.195, 5.197]. In programs, the time stands after the coordinates.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from robodyn.arguments import checked_arguments
from robodyn.errors import ShapeError, UnknownNameError
from robodyn.joints import joint_kind
from robodyn.joints.common.user_function import called, takes_time
from robodyn.symbolic.derivative import jacobian
from robodyn.symbolic.evaluate import evaluate
from robodyn.symbolic.graph import CONST, Graph, Port, Program
from robodyn.symbolic.inline import inline
from robodyn.symbolic.scalar import Number, Scalar, edge_of, inputs
from robodyn.tolerances import LINEAR_IN_SPEEDS

__all__ = ["Constraint", "TracedConstraint"]

KINDS = ("holonomic", "nonholonomic")


class Constraint:
    """Constraints between the joints of a robot, beside those of its loops.

    A function with a parameter called ``t`` gets the time [s]: it ties joints to the clock. Methods
    of such a robot take the time as ``t=``, and simulations supply it.

    Parameters
    ----------
    name : str
        Its rows are called ``"name[0]"``, ``"name[1]"``, ...
    function : callable
        Holonomic: ``q -> f``, zero where the constraint is met. Nonholonomic: ``q, v -> g``, linear
        in v and zero along possible motions. Or ``q, t -> f`` and ``q, v, t -> g``. ``q`` and ``v``
        are lists of the coordinates and speeds of the joints, in their order; the result is one
        expression or a list of them.
        Arithmetic, `robodyn.sin`, `robodyn.cos`, `robodyn.sqrt` (and numpy's) are understood; no
        branches.
    joints : names of joints
        ``"floating_base"`` is that of a floating base.
    kind : {"holonomic", "nonholonomic"}

    Raises
    ------
    UnknownNameError
        For another kind.
    ShapeError
        Where no joint, or one joint twice, is named.
    """

    @checked_arguments
    def __init__(
        self,
        name: str,
        function: Callable[..., Any],
        joints: Iterable[str],
        kind: str = "holonomic",
    ) -> None:
        if kind not in KINDS:
            raise UnknownNameError("kind", kind, KINDS, f"constraint {name!r}")
        if not (isinstance(name, str) and name):
            raise ShapeError(f"the name of a constraint is {name!r}, expected text", name="name")
        self.name, self.function, self.kind = name, function, kind
        self.joints = (joints,) if isinstance(joints, str) else tuple(joints)
        if not self.joints or len(set(self.joints)) < len(self.joints):
            raise ShapeError(
                f"constraint {name!r} names {self.joints}, expected some joints, each once",
                name="joints",
                given=self.joints,
            )

    def traced(self, kinds: Mapping[str, tuple[str, int, int]]) -> TracedConstraint:
        """As programs, for joints of given kind, nq and nv by name."""
        known = [name for name, (_, nq, _) in kinds.items() if nq]
        for joint in self.joints:
            if joint not in known:
                raise UnknownNameError(
                    "joint with coordinates", joint, known, f"constraint {self.name!r}"
                )
        sizes = tuple(kinds[joint] for joint in self.joints)
        n, m = sum(nq for _, nq, _ in sizes), sum(nv for _, _, nv in sizes)
        timed = takes_time(self.function)
        n += int(timed)
        graph = Graph()
        q, v = inputs(graph, 0, n), inputs(graph, n, m)
        own, time = (list(q[:-1]), {"t": q[-1]}) if timed else (list(q), {})
        value = None
        if self.kind == "holonomic":
            results = self._numbers(called(repr(self), self.function, own, **time))
            value = _program("value", graph, (n,), results)
            graph = Graph()
            q, v = inputs(graph, 0, n), inputs(graph, n, m)
            results = _along(value, q, sizes, q, v)
        else:
            results = self._numbers(called(repr(self), self.function, own, list(v), **time))
        rate = _program("rate", graph, (n, m), results)
        traced = TracedConstraint(self.name, self.joints, sizes, value, rate, rheonomic=timed)
        traced.check()
        return traced

    def __repr__(self) -> str:
        return f"constraint {self.name!r}"

    def _numbers(self, results: Any) -> list[Number]:
        try:
            listed = [results] if isinstance(results, Scalar | float | int) else list(results)
            numbers = [x if isinstance(x, Scalar) else float(x) for x in listed]
        except (TypeError, ValueError) as error:
            raise ShapeError(
                f"constraint {self.name!r} must return an expression or a list of them: {error}",
                name="function",
            ) from None
        if not numbers:
            raise ShapeError(f"constraint {self.name!r} returns nothing", name="function")
        return numbers


Sizes = Sequence[tuple[str, int, int]]


@dataclass(frozen=True, eq=False)
class TracedConstraint:
    """A constraint as programs.

    Attributes
    ----------
    name : str
    joints : tuple of str
    sizes : tuple of (kind, nq, nv)
        Of the joints.
    value : Program or None
        ``f(q)`` of a holonomic one; where time enters, it is the last of q.
    rate : Program
        ``g(q, v)``.
    locked : tuple of (joint, position)
        Joints that were welded there since; one number a coordinate.
    rheonomic : bool
        It depends on time.
    clock : float
        Rate of time; zero where it is stopped.
    """

    name: str
    joints: tuple[str, ...]
    sizes: tuple[tuple[str, int, int], ...]
    value: Program | None
    rate: Program
    locked: tuple[tuple[str, tuple[float, ...]], ...] = ()
    rheonomic: bool = False
    clock: float = 1.0

    def stopped(self) -> TracedConstraint:
        """With its time stopped: a function of it still, but no rate comes of that."""
        if self.value is None:
            return dataclasses.replace(self, clock=0.0)
        n, m = (port.size for port in self.rate.inputs)
        graph = Graph()
        q, v = inputs(graph, 0, n), inputs(graph, n, m)
        rate = _program("rate", graph, (n, m), _along(self.value, q, self.sizes, q, v, 0.0))
        return dataclasses.replace(self, rate=rate, clock=0.0)

    @property
    def count(self) -> int:
        """Number of rows."""
        return len(self.rate.results)

    def locking(self, joint: str, position: tuple[float, ...]) -> TracedConstraint:
        """With a joint welded at a position [rad, m]."""
        return dataclasses.replace(self, locked=(*self.locked, (joint, position)))

    @cached_property
    def slopes(self) -> Program:
        """K as a function of q, by rows."""
        n, m = (port.size for port in self.rate.inputs)
        graph = Graph()
        q = inputs(graph, 0, n)
        at_rest: list[Number] = [*q, *[0.0] * m]
        return _program("slopes", graph, (n,), inline(jacobian(self.rate, "v"), at_rest))

    @cached_property
    def offset(self) -> Program:
        """Psi as a function of q."""
        n, m = (port.size for port in self.rate.inputs)
        graph = Graph()
        q = inputs(graph, 0, n)
        return _program("offset", graph, (n,), inline(self.rate, [*q, *[0.0] * m]))

    @property
    def steady(self) -> bool:
        """No motion is possible motion: psi is zero."""
        graph = self.offset.graph
        return all(
            graph.op[edge >> 1] == CONST and not graph.value[edge >> 1]
            for edge in self.offset.results
        )

    @cached_property
    def bias(self) -> Program:
        """What is left of dg/dt without accelerations, as a function of q and v."""
        n, m = (port.size for port in self.rate.inputs)
        graph = Graph()
        q, v = inputs(graph, 0, n), inputs(graph, n, m)
        rates = _along(self.rate, [*q, *v], self.sizes, q, v, self.clock)
        return _program("bias", graph, (n, m), rates)

    def check(self) -> None:
        """Raise `ShapeError` unless it is linear in the speeds, and depends on them at all."""
        n, m = (port.size for port in self.rate.inputs)
        rng = np.random.default_rng(0)
        q, v = rng.uniform(-1.0, 1.0, (16, n)), rng.normal(size=(16, m))
        with np.errstate(all="ignore"):
            g = evaluate(self.rate, q, v)[0]
            try:
                K = evaluate(self.slopes, q)[0].reshape(16, -1, m)
                psi = evaluate(self.offset, q)[0]
            except (ArithmeticError, ValueError):  # divides by a speed
                K, psi = np.full((16, self.count, m), np.nan), g
        good = np.isfinite(g).all(axis=1)
        if not good.any():
            raise ShapeError(
                f"constraint {self.name!r} is not a finite number anywhere", name="function"
            )
        g, K, psi = g[good], K[good], psi[good]
        terms = np.einsum("...ij,...j->...i", np.abs(K), np.abs(v[good])) + np.abs(psi)
        error = np.abs(np.einsum("...ij,...j->...i", K, v[good]) + psi - g)
        if not (error <= LINEAR_IN_SPEEDS * (terms + 1e-300)).all():
            raise ShapeError(
                f"constraint {self.name!r} is not linear in the speeds", name="function"
            )
        still = np.flatnonzero(~np.abs(K).any(axis=(0, 2)))
        if len(still):
            raise ShapeError(
                f"row {still[0]} of constraint {self.name!r} constrains no motion", name="function"
            )


def _program(name: str, graph: Graph, sizes: Sequence[int], results: Sequence[Number]) -> Program:
    ports = (Port("q", (sizes[0],), "rad, m"), *(Port("v", (m,), "rad/s, m/s") for m in sizes[1:]))
    edges = tuple(edge_of(graph, x) for x in results)
    return Program(name, ports, (Port(name, (len(edges),), ""),), graph, edges)


def _along(
    program: Program,
    at: list[Number],
    sizes: Sizes,
    q: list[Number],
    v: list[Number],
    clock: float = 1.0,
) -> list[Number]:
    """Rate of a program's results along dq/dt; if there is one more in q, it is time."""
    rates: list[Number] = []
    first_q = first_v = 0
    for kind, nq, nv in sizes:
        own_q, own_v = q[first_q : first_q + nq], v[first_v : first_v + nv]
        rates += joint_kind(kind).coordinates.rates(own_q, own_v)
        first_q, first_v = first_q + nq, first_v + nv
    rates += [clock] * (len(q) - len(rates))
    slopes, n = inline(jacobian(program, "q"), at), len(rates)
    results: list[Number] = []
    for first in range(0, len(slopes), n):
        total: Number = 0.0
        for slope, x in zip(slopes[first : first + n], rates, strict=True):
            total = total + slope * x
        results.append(total)
    return results
