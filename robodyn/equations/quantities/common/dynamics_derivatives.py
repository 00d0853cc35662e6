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
from functools import cached_property

from robodyn.equations.elimination import singularity
from robodyn.equations.elimination.constrained import accelerations
from robodyn.equations.loops.constraint_violation import if_closed
from robodyn.equations.quantities.common import closed_dynamics
from robodyn.equations.quantities.common.state_derivatives import state_derivatives
from robodyn.equations.quantities.common.tracer import Results, Tracer
from robodyn.equations.tree import composite_body, factorization, newton_euler
from robodyn.equations.tree.composite_body import Matrix
from robodyn.symbolic.constraint_row import Row
from robodyn.symbolic.derivative import jacobian
from robodyn.symbolic.graph import Port, Program
from robodyn.symbolic.inline import inline
from robodyn.symbolic.scalar import Number, dot, edge_of
from robodyn.symbolic.vector import EX, EY, EZ, ZERO3, Vec3


def inverse_dynamics(t: Tracer) -> Results:
    """Forces of a tree, and their derivatives by q, v and a."""
    dq, dv = (dg for dg, _ in state_derivatives(t, t.a, []))
    tau = newton_euler.inverse_dynamics(t.model, t.state, t.a, t.base, t.wrenches)
    return {
        "tau": [x - p for x, p in zip(tau, t.passive(), strict=True)],
        "d tau / d q": dq,
        "d tau / d v": dv,
        "d tau / d a": composite_body.mass_matrix(t.model, t.state),
    }


def closed_inverse_dynamics(t: Tracer) -> Results:
    """Forces at the motors of a closed linkage, and their derivatives by q, v and a.

    They are those of the formula that gives the forces, also along motions that open loops.
    """
    inner = Tracer(t.given, t.chosen)
    for port in t.ports:
        inner.add(port)
    edges = tuple(edge_of(inner.graph, x) for x in closed_dynamics.motor_forces(inner)[0])
    program = Program(
        "forces", tuple(inner.ports), (Port("tau", (t.model.nv,)),), inner.graph, edges,
        t.setup.rates,
    )  # fmt: skip
    numbers = [x for port in t.ports for x in t.numbers[port.name]]
    found = {f"d tau / d {x}": inline(jacobian(program, x), numbers) for x in ("q", "v", "a")}
    return {"tau": closed_dynamics.if_motors_can(t, inline(program, numbers)), **found}


def forward_dynamics(t: Tracer) -> Results:
    """Accelerations, and their derivatives by q, v and tau."""
    system = _System(t, (), t.zeros, t.numbers["tau"])
    a = system.a
    if "probe" in t.options:
        rows, probe, light = system.rows, t.options["probe"], t.model.light
        weak = singularity.conditioning(system.M, rows, probe, light, t.options.get("groups", ()))
        a = singularity.if_regular(a, weak, probe)
    if "closure_tolerance" in t.options:
        a = if_closed(a, t.violation, t.options["closure_tolerance"])
    (dq, _), (dv, _) = (system.by_state(name) for name in "qv")
    return {
        "a": a,
        "multipliers": system.multipliers,
        "d a / d q": dq,
        "d a / d v": dv,
        "d a / d tau": system.by_forces[0],
    }


def hybrid_dynamics(t: Tracer) -> Results:
    """Accelerations and forces, and their derivatives by q, v and what is given."""
    controlled = t.options["controlled"]
    a, tau = t.zeros, t.zeros
    for k, x in zip(controlled, t.numbers["a_controlled"], strict=True):
        a[k] = x
    for k, x in zip(_others(t, controlled), t.numbers["tau_free"], strict=True):
        tau[k] = x
    system = _System(t, controlled, a, tau)
    guarded = closed_dynamics.if_hybrid_is_regular(t, system.a) if system.rows else system.a
    by = {name: system.by_state(name) for name in "qv"}
    by |= {"a_controlled": system.by_accelerations, "tau_free": system.by_forces}
    if t.options.get("all_columns"):
        places = {"a_controlled": controlled, "tau_free": _others(t, controlled)}
        for name, own in places.items():
            da, dtau = by[name]
            by[name] = _spread(da, own, t.zeros), _spread(dtau, own, t.zeros)
    found: dict[str, list[Number] | Matrix] = {"a": guarded, "tau": system.tau}
    for name, (da, dtau) in by.items():
        found[f"d a / d {name}"], found[f"d tau / d {name}"] = da, dtau
    return found


def _others(t: Tracer, speeds: Sequence[int]) -> list[int]:
    return [k for k in range(t.model.nv) if k not in speeds]


class _System:
    """The linear system of hybrid dynamics, factorised once.

    controlled: Indices of controlled speeds.
    a, tau: Accelerations are read where controlled, forces elsewhere.
    """

    def __init__(
        self, t: Tracer, controlled: Sequence[int], a: Sequence[Number], tau: Sequence[Number]
    ) -> None:
        self._t, self._controlled, self._free = t, controlled, _others(t, controlled)
        self.rows: Sequence[Row] = t.rows if "rows" in t.options else ()
        self.M = composite_body.mass_matrix(t.model, t.state)
        force = newton_euler.inverse_dynamics(t.model, t.state, a, t.base, t.wrenches)
        force = [x - p for x, p in zip(force, t.passive(), strict=True)]
        gap = [dot(list(K.values()), [a[k] for k in K]) for K in (x.jacobian for x in self.rows)]
        gap = [x + row.bias for x, row in zip(gap, self.rows, strict=True)]
        moved, self.multipliers = self._solve([tau[k] - force[k] for k in self._free], gap)
        #: Of all speeds.
        self.a, self.tau = list(a), list(tau)
        for k, x in zip(self._free, moved, strict=True):
            self.a[k] = x
        for c, x in zip(controlled, self._controlled_forces(moved, self.multipliers), strict=True):
            self.tau[c] = force[c] + x

    @cached_property
    def _slopes(self) -> dict[str, tuple[Matrix, Matrix]]:
        """``dg`` and ``dc`` by q and by v."""
        return dict(zip("qv", state_derivatives(self._t, self.a, self.multipliers), strict=True))

    def by_state(self, name: str) -> tuple[Matrix, Matrix]:
        """Derivatives of accelerations and forces by q or by v."""
        (dg, dc), free = self._slopes[name], self._of_free_base(name)
        columns = []
        for j in range(self._t.model.nv):
            if j in free:
                columns.append((free[j], self._t.zeros))
                continue
            x, lam = self._solve([-dg[k][j] for k in self._free], [row[j] for row in dc])
            forces = self._controlled_forces(x, lam)
            tau = [dg[c][j] + y for c, y in zip(self._controlled, forces, strict=True)]
            columns.append(self._placed(x, [0.0] * len(self._controlled), tau))
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

    @property
    def by_accelerations(self) -> tuple[Matrix, Matrix]:
        """Derivatives by the accelerations of controlled speeds."""
        columns = []
        for j, c in enumerate(self._controlled):
            gap = [row.jacobian.get(c, 0.0) for row in self.rows]
            x, lam = self._solve([-self.M[k][c] for k in self._free], gap)
            forces = self._controlled_forces(x, lam)
            tau = [self.M[i][c] + y for i, y in zip(self._controlled, forces, strict=True)]
            unit = [float(i == j) for i in range(len(self._controlled))]
            columns.append(self._placed(x, unit, tau))
        return _as_rows(columns, self._t.model.nv)

    @property
    def by_forces(self) -> tuple[Matrix, Matrix]:
        """Derivatives by the forces of free speeds."""
        columns = []
        for j in self._free:
            unit: list[Number] = [float(k == j) for k in self._free]
            x, lam = self._solve(unit, [0.0] * len(self.rows))
            a, tau = self._placed(x, [0.0] * len(self._controlled), self._controlled_forces(x, lam))
            tau[j] = 1.0
            columns.append((a, tau))
        for n, (a, _) in enumerate(columns):  # it is symmetric: one half is enough
            for m in range(n + 1, len(columns)):
                a[self._free[m]] = columns[m][0][self._free[n]]
        return _as_rows(columns, self._t.model.nv)

    @cached_property
    def _solve(self) -> Callable[[list[Number], list[Number]], tuple[list[Number], list[Number]]]:
        """Accelerations of free speeds and multipliers, from forces and gaps."""
        free, t = self._free, self._t
        M_ff = [[self.M[i][j] for j in free] for i in free]
        light = {i: t.model.light[k] for i, k in enumerate(free) if k in t.model.light}
        if not self.rows:
            factors = factorization.factorize(M_ff, light)
            return lambda force, gap: (factorization.solve(factors, force), [])
        own = [
            {i: row.jacobian[k] for i, k in enumerate(free) if k in row.jacobian}
            for row in self.rows
        ]
        groups = t.options.get("groups", ())

        def solve(force: list[Number], gap: list[Number]) -> tuple[list[Number], list[Number]]:
            rows = [Row(0.0, slopes, bias) for slopes, bias in zip(own, gap, strict=True)]
            return accelerations(M_ff, force, rows, light, groups)

        return solve

    def _controlled_forces(self, x: list[Number], lam: list[Number]) -> list[Number]:
        """``M_cf x - K_c^T lam`` of the controlled speeds."""
        forces = []
        for c in self._controlled:
            own = dot([self.M[c][k] for k in self._free], x)
            forces.append(own - dot([row.jacobian.get(c, 0.0) for row in self.rows], lam))
        return forces

    def _placed(
        self, free: list[Number], controlled: Sequence[Number], forces: list[Number]
    ) -> tuple[list[Number], list[Number]]:
        """Accelerations of all speeds, and the forces of controlled ones among zeros."""
        a, tau = self._t.zeros, self._t.zeros
        for k, x in zip(self._free, free, strict=True):
            a[k] = x
        for c, x, force in zip(self._controlled, controlled, forces, strict=True):
            a[c], tau[c] = x, force
        return a, tau


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
