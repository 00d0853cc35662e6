"""How driving forces and gaps of loops change with the state, while accelerations are held."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import product

from robodyn.equations.quantities.common.tracer import Tracer
from robodyn.equations.tree import inverse_derivatives, newton_euler
from robodyn.equations.tree.composite_body import Matrix
from robodyn.symbolic.derivative import jacobian
from robodyn.symbolic.graph import Port, Program
from robodyn.symbolic.inline import inline
from robodyn.symbolic.scalar import Number, dot, edge_of

__all__ = ["state_derivatives"]

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
    along = inverse_derivatives.covered(t.model, t.state) and not t.passive_wrenches
    program = _held(t, len(multipliers), passive_alone=along)
    given: dict[str, Sequence[Number]] = {**t.numbers, "a": a, "lam": multipliers}
    numbers = [x for port in program.inputs for x in given[port.name]]
    nv, found = t.model.nv, []
    for name in ("q", "v"):
        flat = inline(jacobian(program, name), numbers)
        rows = [flat[nv * k : nv * (k + 1)] for k in range(nv + len(multipliers))]
        found.append((rows[:nv], rows[nv:]))
    if along:
        by = inverse_derivatives.inverse_dynamics_derivatives(
            t.model, t.state, a, t.base, t.wrenches
        )
        for (dg, _), dtau in zip(found, by, strict=True):
            for i, j in product(range(nv), repeat=2):
                dg[i][j] = dtau[i][j] + dg[i][j]
    return found


def _held(t: Tracer, count: int, passive_alone: bool) -> Program:
    """From the state, accelerations and multipliers as inputs to g and c.

    With ``passive_alone`` inverse dynamics of the bodies are left out of g.
    """
    inner = Tracer(t.given, t.chosen)
    nv = t.model.nv
    others = [port for port in t.ports if port.name not in ("q", "v", *DRIVES)]
    shapes = {"q": t.model.nq, "v": nv, "a": nv, "lam": count}
    for port in (*(Port(name, (n,)) for name, n in shapes.items()), *others):
        inner.add(port)
    g = [-p for p in inner.passive()]
    if not passive_alone:
        tau = newton_euler.inverse_dynamics(
            inner.model, inner.state, inner.a, inner.base, inner.wrenches
        )
        g = [x + p for x, p in zip(tau, g, strict=True)]
    c = []
    rows = inner.rows if count else ()
    for row, lam in zip(rows, inner.numbers["lam"], strict=True):
        for k, slope in row.jacobian.items():
            g[k] = g[k] - slope * lam
        c.append(row.bias + dot(list(row.jacobian.values()), [inner.a[k] for k in row.jacobian]))
    edges = tuple(edge_of(inner.graph, x) for x in (*g, *c))
    outputs = (Port("g, c", (len(edges),)),)
    return Program("held", tuple(inner.ports), outputs, inner.graph, edges, t.setup.rates)
