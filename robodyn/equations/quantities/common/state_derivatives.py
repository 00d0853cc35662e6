"""How driving forces and gaps of loops change with the state, while accelerations are held."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from itertools import product

from robodyn.equations.mechanism.state import BaseState, evaluate_joints
from robodyn.equations.quantities.common.tracer import Tracer
from robodyn.equations.tree import inverse_derivatives, newton_euler
from robodyn.equations.tree.composite_body import Matrix
from robodyn.symbolic.graph import Port, Program
from robodyn.symbolic.scalar import Number, dot

#: Inputs that drive a mechanism, which accelerations and multipliers stand in for.
DRIVES = ("a", "tau", "a_controlled", "tau_free")


def state_derivatives(
    t: Tracer, a: Sequence[Number], multipliers: Sequence[Number]
) -> list[tuple[Matrix, Matrix]]:
    """Derivatives of g and c by q and by v, where accelerations and multipliers are held.

    They are the forces ``g = ID(q, v, a) - K^T lam`` and the accelerations ``c = K a + k`` of gaps.
    Along the tree where wrenches turn with their links and columns with their bodies; what else
    there is, is differentiated as it stands.
    """
    along = inverse_derivatives.covered(t.state) and not t.held_by_world

    def forces(inner: Tracer) -> list[Number]:
        """Of the joints; those of the bodies are differentiated along the tree if they can be."""
        if along:
            return [-p for p in inner.passive()]
        tau = newton_euler.inverse_dynamics(inner.state, inner.a, inner.wrenches)
        return [x - p for x, p in zip(tau, inner.passive(), strict=True)]

    program = _held(t, len(multipliers), forces)
    found = [_by(name, program, t, a, multipliers) for name in ("q", "v")]
    if along:
        by = inverse_derivatives.inverse_dynamics_derivatives(t.state, a, t.wrenches)
        for (dg, _), dtau in zip(found, by, strict=True):
            _add(dg, dtau)
    return found


def inertia_derivatives(
    t: Tracer, a: Sequence[Number], multipliers: Sequence[Number]
) -> tuple[Matrix, Matrix]:
    """Derivatives by q of ``M a - K^T lam`` and ``K a``, where accelerations are held."""
    still = evaluate_joints(t.model, t.numbers["q"], t.zeros, t.state.t)
    along = inverse_derivatives.covered(still)

    def forces(inner: Tracer) -> list[Number]:
        if along:
            return inner.zeros
        at_rest = replace(inner.state, base=BaseState.at_rest())
        return newton_euler.inverse_dynamics(at_rest, inner.a, {})

    program = _held(t, len(multipliers), forces, moving=False)
    dg, dc = _by("q", program, t, a, multipliers)
    if along:
        _add(dg, inverse_derivatives.inverse_dynamics_derivatives(still, a, {})[0])
    return dg, dc


def _by(
    name: str, program: Program, t: Tracer, a: Sequence[Number], multipliers: Sequence[Number]
) -> tuple[Matrix, Matrix]:
    """Derivatives of g and c by an input."""
    rows, nv = t.slopes(program, name, a=a, lam=multipliers), t.model.nv
    return rows[:nv], rows[nv:]


def _add(A: Matrix, B: Matrix) -> None:
    """A matrix to another one, in place."""
    for i, j in product(range(len(A)), repeat=2):
        A[i][j] = B[i][j] + A[i][j]


def _held(
    t: Tracer, count: int, forces: Callable[[Tracer], list[Number]], moving: bool = True
) -> Program:
    """From the state, accelerations and multipliers as inputs to g and c.

    ``forces`` makes g without what loops exert. A mechanism that is not ``moving`` has no speeds.
    """
    nv = t.model.nv
    others = [port for port in t.ports if port.name not in ("q", "v", *DRIVES)]
    shapes = {"q": t.model.nq, **({"v": nv} if moving else {}), "a": nv, "lam": count}

    def held(inner: Tracer) -> list[Number]:
        g, c = forces(inner), []
        rows = inner.rows if count else ()
        for row, lam in zip(rows, inner.numbers["lam"], strict=True):
            for k, slope in row.jacobian.items():
                g[k] = g[k] - slope * lam
            gap = dot(list(row.jacobian.values()), [inner.a[k] for k in row.jacobian])
            c.append(row.bias + gap if moving else gap)
        return [*g, *c]

    return t.program(held, [*(Port(name, (n,)) for name, n in shapes.items()), *others])
