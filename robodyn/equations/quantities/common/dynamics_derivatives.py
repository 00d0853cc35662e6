"""Dynamics and all their derivatives in one pass.

What drives a mechanism and what opens its loops are functions of the state, the accelerations and
the multipliers::

    g = ID(q, v, a) - K^T lam        (generalised forces)
    c = K a + k                      (accelerations of the loops)

Hybrid dynamics solve ``g_f = tau_f`` and ``c = 0`` for the free accelerations ``a_f`` and ``lam``
and give ``tau_c = g_c`` of the controlled speeds; forward dynamics have no such speeds. By the
implicit function theorem their derivatives solve the same linear system [Carpentier and Mansard
2018]: with ``dg``, ``dc`` the changes of g and c where a and lam are held::

    [ M_ff  K_f^T ] [ da_f  ]   [ dtau_f - dg_f ]
    [ K_f   0     ] [ -dlam ] = [ -dc           ]        dtau_c = dg_c + M_cf da_f - K_c^T dlam

so that nothing is differentiated that factorises a matrix. Coordinates are moved along the speeds.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import cached_property
from itertools import product

from robodyn.equations.elimination import singularity
from robodyn.equations.loops.constraint_violation import if_closed
from robodyn.equations.mechanism.state import BaseState, evaluate_joints
from robodyn.equations.quantities.common import closed_dynamics, tree_dynamics
from robodyn.equations.quantities.common.quantity import flat
from robodyn.equations.quantities.common.tracer import Results, Tracer
from robodyn.equations.quantities.common.tree_dynamics import forces_with_losses
from robodyn.equations.tree import composite_body, inverse_derivatives, newton_euler
from robodyn.equations.tree.composite_body import Matrix
from robodyn.symbolic.constraint_row import Row
from robodyn.symbolic.graph import Port, Program
from robodyn.symbolic.scalar import Number, dot
from robodyn.symbolic.vector import EX, EY, EZ, ZERO3, Vec3

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


def inverse_dynamics(t: Tracer) -> Results:
    """Forces of a tree, and their derivatives by q, v and a."""
    if t.setup.gear_losses:
        program = t.program(lambda inner: [*flat(tree_dynamics.inverse_dynamics(inner)["tau"])])
        return {"tau": t.results(program), **_slopes(t, program, "tau", ("q", "v", "a"))}
    dq, dv = (dg for dg, _ in state_derivatives(t, t.a, []))
    tau = newton_euler.inverse_dynamics(t.state, t.a, t.wrenches)
    return {
        "tau": [x - p for x, p in zip(tau, t.passive(), strict=True)],
        "d tau / d q": dq,
        "d tau / d v": dv,
        "d tau / d a": composite_body.mass_matrix(t.state),
    }


def closed_inverse_dynamics(t: Tracer) -> Results:
    """Forces at the motors of a closed linkage, and their derivatives by q, v and a.

    They are those of the formula that gives the forces, also along motions that open loops.
    """
    program = t.program(
        lambda inner: forces_with_losses(inner, closed_dynamics.motor_forces(inner)[0])
    )
    found = _slopes(t, program, "tau", ("q", "v", "a"))
    return {"tau": closed_dynamics.if_motors_can(t, t.results(program)), **found}


def forward_dynamics(t: Tracer) -> Results:
    """Accelerations, and their derivatives by q, v and tau."""
    if t.setup.gear_losses:
        return _lossy_forward_dynamics(t)
    system = _System(t, (), t.zeros, t.numbers["tau"])
    a = system.a
    if "probe" in t.options:
        probe = t.options["probe"]
        a = singularity.if_regular(a, system.free.energy(probe.right), probe)
    if "closure_tolerance" in t.options:
        a = if_closed(a, t.violation, t.options["closure_tolerance"])
    return {
        "a": a,
        "multipliers": system.multipliers,
        "d a / d q": system.by_state("q")[0],
        "d a / d v": system.by_state("v")[0],
        "d a / d tau": system.by_forces()[0],
    }


def hybrid_dynamics(t: Tracer) -> Results:
    """Accelerations and forces, and their derivatives by q, v and what is given."""
    controlled = t.options["controlled"]
    if t.setup.gear_losses:
        return _lossy_hybrid_dynamics(t, controlled)
    a, tau = t.zeros, t.zeros
    for k, x in zip(controlled, t.numbers["a_controlled"], strict=True):
        a[k] = x
    for k, x in zip(t.free, t.numbers["tau_free"], strict=True):
        tau[k] = x
    system = _System(t, controlled, a, tau)
    guarded = closed_dynamics.if_hybrid_is_regular(t, system.a) if system.rows else system.a
    by = {name: system.by_state(name) for name in "qv"}
    by |= {"a_controlled": system.by_accelerations(), "tau_free": system.by_forces()}
    if t.options.get("all_columns"):
        places = {"a_controlled": controlled, "tau_free": t.free}
        for name, own in places.items():
            da, dtau = by[name]
            by[name] = _spread(da, own, t.zeros), _spread(dtau, own, t.zeros)
    found: dict[str, list[Number] | Matrix] = {"a": guarded, "tau": system.tau}
    for name, (da, dtau) in by.items():
        found[f"d a / d {name}"], found[f"d tau / d {name}"] = da, dtau
    return found


def _lossy_forward_dynamics(t: Tracer) -> Results:
    """The same where gears lose power: what they lose depends on what is solved for."""
    program = t.program(lambda inner: _joined(closed_dynamics.accelerations(inner)))
    values, nv = t.results(program), t.model.nv
    a = values[:nv]
    if "rows" in t.options:
        a = closed_dynamics.if_forward_is_regular(t, a)
    found = _slopes(t, program, "a", ("q", "v", "tau"), slice(nv))
    return {"a": a, "multipliers": values[nv:], **found}


def _lossy_hybrid_dynamics(t: Tracer, controlled: Sequence[int]) -> Results:
    """The same where gears lose power."""
    program = t.program(lambda inner: _joined(closed_dynamics.hybrid(inner)))
    values, nv = t.results(program), t.model.nv
    a, names = values[:nv], ("q", "v", "a_controlled", "tau_free")
    found = _slopes(t, program, "a", names, slice(nv))
    found |= _slopes(t, program, "tau", names, slice(nv, 2 * nv))
    if t.options.get("all_columns"):
        for name, own in (("a_controlled", controlled), ("tau_free", t.free)):
            for x in ("a", "tau"):
                by = f"d {x} / d {name}"
                found[by] = _spread(found[by], own, t.zeros)
    if "rows" in t.options:
        a = closed_dynamics.if_hybrid_is_regular(t, a)
    return {"a": a, "tau": values[nv : 2 * nv], **found}


def _joined(found: Sequence[Sequence[Number]]) -> list[Number]:
    return [x for part in found for x in part]


def _slopes(
    t: Tracer, program: Program, value: str, names: Sequence[str], rows: slice = slice(None)
) -> dict[str, Matrix]:
    """Derivatives of some results of a program by its inputs, by their names."""
    return {f"d {value} / d {x}": t.slopes(program, x)[rows] for x in names}


class _System:
    """The linear system of hybrid dynamics.

    controlled: Indices of controlled speeds.
    a, tau: Accelerations are read where controlled, forces elsewhere.
    """

    def __init__(
        self, t: Tracer, controlled: Sequence[int], a: Sequence[Number], tau: Sequence[Number]
    ) -> None:
        self._t, self._controlled = t, controlled
        self.rows: Sequence[Row] = t.rows if "rows" in t.options else ()
        self._M = composite_body.mass_matrix(t.state)
        #: Over the free speeds.
        self.free = closed_dynamics.system_of(t, self.rows, t.free)
        g = newton_euler.inverse_dynamics(t.state, a, t.wrenches)
        g = [x - p - y for x, p, y in zip(g, t.passive(), tau, strict=True)]
        moved, forces, self.multipliers = self._changes(g, [x.acceleration(a) for x in self.rows])
        #: Of all speeds.
        self.a = [x + y for x, y in zip(a, moved, strict=True)]
        self.tau = [x + y for x, y in zip(tau, forces, strict=True)]

    def _changes(
        self, dg: Sequence[Number], dc: Sequence[Number]
    ) -> tuple[list[Number], list[Number], list[Number]]:
        """Of free accelerations, controlled forces and multipliers, as `g` and `c` change."""
        da, lam = self.free.solve([-dg[k] for k in self._t.free], dc)
        dtau = self._t.zeros
        for k in self._controlled:
            felt = dot(self._M[k], da) - dot([row.jacobian.get(k, 0.0) for row in self.rows], lam)
            dtau[k] = dg[k] + felt
        return da, dtau, lam

    @cached_property
    def _slopes(self) -> dict[str, tuple[Matrix, Matrix]]:
        """``dg`` and ``dc`` by q and by v."""
        return dict(zip("qv", state_derivatives(self._t, self.a, self.multipliers), strict=True))

    def by_state(self, name: str) -> tuple[Matrix, Matrix]:
        """Derivatives of accelerations and forces by q or by v."""
        (dg, dc), known = self._slopes[name], self._of_free_base(name)
        columns = []
        for j in range(self._t.model.nv):
            if j in known:
                columns.append((known[j], self._t.zeros))
            else:
                columns.append(self._changes([row[j] for row in dg], [row[j] for row in dc])[:2])
        return _as_rows(columns, self._t.model.nv)

    def _of_free_base(self, name: str) -> dict[int, list[Number]]:
        """Derivatives of accelerations that are known by relativity, by index of the speed.

        What moves freely in space moves as before wherever it is, and however fast all of it
        moves. In the axes of its floating base gravity turns the other way, and so does the speed
        of the base, of which the acceleration is the rate in these axes.
        """
        t, base = self._t, {*range(6)}
        if not t.setup.floating:
            return {}
        held = any(base & row.jacobian.keys() for row in self.rows)
        first, name_of_base = t.state[0], t.model.bodies[0].description.name
        pulled = t.held_by_world or any(law.joint == name_of_base for law in t.laws)
        if held or pulled or base & {*self._controlled}:
            return {}
        axes = (EX, EY, EZ)
        found: dict[int, Vec3] = dict.fromkeys(range(3), ZERO3)
        if name == "q":
            g_B = first.X.R.inverse_times(t.base.X_WB.R.inverse_times(t.base.g_W))
            found |= {3 + k: g_B.cross(e) for k, e in enumerate(axes)}
        else:
            found = {k: e.cross(Vec3(*t.v[3:6])) for k, e in enumerate(axes)}
        return {k: [*change, *t.zeros[3:]] for k, change in found.items()}

    def by_accelerations(self) -> tuple[Matrix, Matrix]:
        """Derivatives by the accelerations of controlled speeds."""
        columns = []
        for c in self._controlled:
            own = [row.jacobian.get(c, 0.0) for row in self.rows]
            a, tau, _ = self._changes([row[c] for row in self._M], own)
            a[c] = 1.0
            columns.append((a, tau))
        return _as_rows(columns, self._t.model.nv)

    def by_forces(self) -> tuple[Matrix, Matrix]:
        """Derivatives by the forces of free speeds."""
        columns, free = [], self._t.free
        for j in free:
            unit = [-float(k == j) for k in range(self._t.model.nv)]
            a, tau, _ = self._changes(unit, [0.0] * len(self.rows))
            tau[j] = 1.0
            columns.append((a, tau))
        for n, (a, _) in enumerate(columns):  # it is symmetric: one half is enough
            for m in range(n + 1, len(columns)):
                a[free[m]] = columns[m][0][free[n]]
        return _as_rows(columns, self._t.model.nv)


def _spread(A: Matrix, places: Sequence[int], zeros: Sequence[Number]) -> Matrix:
    """Columns at some places, and columns of zeros at the others."""
    rows = []
    for row in A:
        wide = list(zeros)
        for k, x in zip(places, row, strict=True):
            wide[k] = x
        rows.append(wide)
    return rows


def _as_rows(columns: list[tuple[list[Number], list[Number]]], nv: int) -> tuple[Matrix, Matrix]:
    """Both parts of all columns as matrices by rows."""
    return (
        [[a[i] for a, _ in columns] for i in range(nv)],
        [[tau[i] for _, tau in columns] for i in range(nv)],
    )
