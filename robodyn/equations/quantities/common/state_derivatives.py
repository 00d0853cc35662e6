"""How driving forces and gaps of loops change with the state, while accelerations are held."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import product

from robodyn.equations.mechanism.state import BaseState, evaluate_joints
from robodyn.equations.quantities.common.tracer import Tracer
from robodyn.equations.tree import inverse_derivatives, newton_euler
from robodyn.equations.tree.composite_body import Matrix
from robodyn.symbolic.derivative import jacobian
from robodyn.symbolic.graph import Port, Program
from robodyn.symbolic.inline import inline
from robodyn.symbolic.scalar import Number, dot, edge_of
from robodyn.symbolic.vector import ZERO3

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
    along = inverse_derivatives.covered(t.model, t.state) and not t.held_by_world

    def forces(inner: Tracer) -> list[Number]:
        """Of the joints; those of the bodies are differentiated along the tree if they can be."""
        if along:
            return [-p for p in inner.passive()]
        tau = newton_euler.inverse_dynamics(
            inner.model, inner.state, inner.a, inner.base, inner.wrenches
        )
        return [x - p for x, p in zip(tau, inner.passive(), strict=True)]

    found = _by(("q", "v"), _held(t, len(multipliers), forces), t, a, multipliers)
    if along:
        by = inverse_derivatives.inverse_dynamics_derivatives(
            t.model, t.state, a, t.base, t.wrenches
        )
        for (dg, _), dtau in zip(found, by, strict=True):
            _add(dg, dtau)
    return found


def inertia_derivatives(
    t: Tracer, a: Sequence[Number], multipliers: Sequence[Number]
) -> tuple[Matrix, Matrix]:
    """Derivatives by q of ``M a - K^T lam`` and ``K a``, where accelerations are held."""
    rest = BaseState.at_rest(ZERO3)
    still = evaluate_joints(t.model, t.numbers["q"], t.zeros, t.state.t)
    along = inverse_derivatives.covered(t.model, still)

    def forces(inner: Tracer) -> list[Number]:
        if along:
            return inner.zeros
        return newton_euler.inverse_dynamics(inner.model, inner.state, inner.a, rest, {})

    program = _held(t, len(multipliers), forces, moving=False)
    ((dg, dc),) = _by(("q",), program, t, a, multipliers)
    if along:
        _add(dg, inverse_derivatives.inverse_dynamics_derivatives(t.model, still, a, rest, {})[0])
    return dg, dc


def _by(
    names: Sequence[str],
    program: Program,
    t: Tracer,
    a: Sequence[Number],
    multipliers: Sequence[Number],
) -> list[tuple[Matrix, Matrix]]:
    """Derivatives of g and c by some inputs."""
    given: dict[str, Sequence[Number]] = {**t.numbers, "a": a, "lam": multipliers}
    numbers = [x for port in program.inputs for x in given[port.name]]
    nv, found = t.model.nv, []
    for name in names:
        flat = inline(jacobian(program, name), numbers)
        rows = [flat[nv * k : nv * (k + 1)] for k in range(nv + len(multipliers))]
        found.append((rows[:nv], rows[nv:]))
    return found


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
    inner = Tracer(t.given, t.chosen)
    nv = t.model.nv
    others = [port for port in t.ports if port.name not in ("q", "v", *DRIVES)]
    shapes = {"q": t.model.nq, **({"v": nv} if moving else {}), "a": nv, "lam": count}
    for port in (*(Port(name, (n,)) for name, n in shapes.items()), *others):
        inner.add(port)
    g, c = forces(inner), []
    rows = inner.rows if count else ()
    for row, lam in zip(rows, inner.numbers["lam"], strict=True):
        for k, slope in row.jacobian.items():
            g[k] = g[k] - slope * lam
        gap = dot(list(row.jacobian.values()), [inner.a[k] for k in row.jacobian])
        c.append(row.bias + gap if moving else gap)
    edges = tuple(edge_of(inner.graph, x) for x in (*g, *c))
    outputs = (Port("g, c", (len(edges),)),)
    return Program("held", tuple(inner.ports), outputs, inner.graph, edges, t.setup.rates)
