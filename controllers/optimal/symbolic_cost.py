"""Costs of motions given by formulas, which are traced once and differentiated."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from robodyn import Function, Robot, ShapeError
from robodyn.arguments import check_fields
from robodyn.array_types import Array, FloatArray
from robodyn.codegen.calls.trace_graph import TraceGraph
from robodyn.symbolic.graph import Port, Program
from robodyn.symbolic.scalar import Scalar, edge_of, inputs
from robodyn.symbolic.symbol_arrays import symbol_array

from ..support.gains import checked_call
from ..support.plant import motor_speeds
from .quadratic_cost import Expansion, without_negative


@dataclass(frozen=True, eq=False)
class SymbolicCost:
    """A cost given by formulas.

    The formulas are called once, with symbols in place of numbers, and may use arithmetic,
    functions of numpy such as ``np.sqrt`` and ``np.tanh``, and ``np.where`` and ``np.maximum``;
    ``if`` raises a `TypeError`. Negative curvature is replaced by zero.

    Attributes
    ----------
    robot : Robot
    running : callable
        ``(t, q, v, tau)`` -> cost per second. ``tau`` are the forces of the m speeds with motors,
        ascending; all of them must have a cost.
    final : callable
        ``(q, v)`` -> cost of the state at the end.

    Raises
    ------
    ShapeError
        If a formula is no function, or returns anything but one number; later where its
        derivatives are not finite, as those of ``np.linalg.norm(v)`` at rest.

    Examples
    --------
    >>> import numpy as np
    >>> import robodyn as rd
    >>> from robodyn.controllers import SymbolicCost, iterative_lqr
    >>> robot = rd.load("double_pendulum")
    >>> def running(t, q, v, tau):                   # the shoulder's motor costs ten times as much
    ...     return 0.05 * tau[0] ** 2 + 0.005 * tau[1] ** 2
    >>> def final(q, v):                             # upright, however often it has turned
    ...     return 500.0 * (2.0 + np.cos(q[0]) + np.cos(q[0] + q[1])) + 50.0 * (v @ v)
    >>> cost = SymbolicCost(robot, running, final)
    >>> plan = iterative_lqr(robot, cost, q0=[0.3, 0.0], duration=1.5)
    >>> bool(plan.converged and np.cos(plan.run.q[-1, 0]) < -0.99)
    True
    """

    robot: Robot
    running: Callable[..., Any]
    final: Callable[..., Any]
    _running: _Slopes = field(init=False, repr=False)
    _final: _Slopes = field(init=False, repr=False)

    def __post_init__(self) -> None:
        check_fields(self)
        nq, nv, m = self.robot.nq, self.robot.nv, len(motor_speeds(self.robot))
        state = [Port("q", (nq,)), Port("v", (nv,))]
        whole = [Port("t", ()), *state, Port("tau", (m,))]
        for name, ports in (("running", whole), ("final", state)):
            f = _traced(self.robot, name, getattr(self, name), ports)
            object.__setattr__(self, f"_{name}", _Slopes(f, [x.name for x in ports if x.shape]))

    @checked_call
    def running_cost(
        self, t: FloatArray, q: FloatArray, v: FloatArray, tau: FloatArray
    ) -> Expansion:
        """Costs per second at samples; see `Cost`."""
        return self._running(t, q, v, tau)

    @checked_call
    def final_cost(self, q: FloatArray, v: FloatArray) -> Expansion:
        """Costs of states at the end; see `Cost`."""
        return self._final(q, v)


class _Slopes:
    """A formula with its first and second derivatives by some of its inputs."""

    def __init__(self, f: Function, names: Sequence[str]) -> None:
        self._f = f
        self._first = [f.jacobian(name) for name in names]
        self._second = [
            [g.jacobian(name) for name in names[: k + 1]] for k, g in enumerate(self._first)
        ]

    def __call__(self, *arrays: FloatArray) -> Expansion:
        slope = np.concatenate([g(*arrays) for g in self._first], axis=-1)
        below = np.zeros((*slope.shape, slope.shape[-1]))
        row = 0
        for rows in self._second:
            blocks = [g(*arrays) for g in rows]
            part = np.concatenate(blocks, axis=-1)
            below[..., row : row + part.shape[-2], : part.shape[-1]] = part
            row += part.shape[-2]
        lower = np.tril(below, -1)
        self._check_finite(slope, below)
        bent = without_negative(np.tril(below) + np.swapaxes(lower, -1, -2))
        return Expansion(np.asarray(self._f(*arrays)), slope, bent)

    def _check_finite(self, slope: FloatArray, curvature: FloatArray) -> None:
        """Check that the derivatives of the formula are finite."""
        missing = ~(np.isfinite(slope) & np.isfinite(curvature).all(axis=-1)).all(axis=-1)
        if missing.any():
            name, first = self._f.program.name, int(missing.argmax())
            raise ShapeError(
                f"derivatives of the cost {name!r} are not finite at sample {first} of "
                f"{len(slope)}: a root or a norm has none at zero; take its square, or "
                "np.sqrt(x @ x + 1e-6)",
                name=name,
            )


def _traced(robot: Robot, name: str, formula: Callable[..., Any], ports: list[Port]) -> Function:
    """A formula as a function of its inputs."""
    graph, first = TraceGraph(), 0
    given: list[Array | Scalar] = []
    for port in ports:
        numbers = symbol_array(inputs(graph, first, port.size))
        given.append(numbers if port.shape else numbers[0])
        first += port.size
    cost = formula(*given)
    if isinstance(cost, np.ndarray) and cost.size == 1 and not cost.ndim:
        cost = cost[()]
    if not isinstance(cost, Scalar | int | float | np.number):
        array = isinstance(cost, np.ndarray)
        kind = f"an array of shape {cost.shape}" if array else type(cost).__name__
        raise ShapeError(
            f"{name} returned {kind} for symbols, expected one number made of them",
            name=name,
            given=cost,
        )
    rates = robot.function("integrate").program.rates
    edge = edge_of(graph, cost if isinstance(cost, Scalar) else float(cost))
    return Function(Program(name, tuple(ports), (Port("cost", ()),), graph, (edge,), rates))
