"""How small deviations from a motion change, over independent coordinates and speeds.

With positions that move with independent coordinates ``z``, ``dq = B z``, and speeds that follow
independent ones ``u``, ``dv = B u + G z``, as `closed_loops.rank.tangents` has them::

    dz/dt = u        du/dt = [ da/dq B z + da/dv (B u + G z) + da/dtau dtau ]

of coordinates that add. ``K B = 0``, and ``K G + d(K v + psi)/dq B = 0``.
"""

from __future__ import annotations

from collections.abc import Sequence

from robodyn.equations.quantities.common import closed_dynamics, dynamics_derivatives
from robodyn.equations.quantities.common.quantity import TAU, Output, Q, V, flat
from robodyn.equations.quantities.common.tracer import Results, Tracer
from robodyn.equations.quantities.dynamics import guarded_row
from robodyn.equations.tree.composite_body import Matrix
from robodyn.symbolic.scalar import dot


def linear_model(t: Tracer) -> Results:
    """``A`` and ``B`` of the model, and the accelerations of the independent speeds."""
    own: Sequence[int] = t.options["independent"]
    found = dynamics_derivatives.forward_dynamics(t)
    nv = t.model.nv
    numbers = [list(flat(found[f"d a / d {x}"])) for x in ("q", "v", "tau")]
    by_q, by_v, by_tau = ([x[nv * k : nv * (k + 1)] for k in range(nv)] for x in numbers)
    B, G = _tangent(t, own)
    rate = [[0.0] * len(own) + [float(j == k) for j in own] for k in own]
    pushed = [
        [dot(by_q[k], b) + dot(by_v[k], g) for b, g in zip(B, G, strict=True)]
        + [dot(by_v[k], b) for b in B]
        for k in own
    ]
    A = list(flat([rate, pushed]))
    if "rows" in t.options:
        A = closed_dynamics.if_forward_is_regular(t, A)
        if "tangent_probe" in t.options:
            probe = t.options["tangent_probe"]
            A = closed_dynamics.if_rows_are_regular(t, A, _others(t, own), probe)
    forces = t.options["forces"]
    none = [[0.0] * len(forces)] * len(own)
    a = list(flat(found["a"]))
    return {
        "A": A,
        "B": [none, [[by_tau[k][j] for j in forces] for k in own]],
        "acceleration": [a[k] for k in own],
    }


def tangent(t: Tracer) -> Results:
    """``B`` and ``G``: how positions and speeds follow independent ones."""
    own: Sequence[int] = t.options["independent"]
    numbers = [x for columns in _tangent(t, own) for x in flat([*zip(*columns, strict=True)])]
    if "tangent_probe" in t.options:
        numbers = closed_dynamics.if_rows_are_regular(
            t, numbers, _others(t, own), t.options["tangent_probe"]
        )
    half = len(numbers) // 2
    return {"by_place": numbers[:half], "turning": numbers[half:]}


def _others(t: Tracer, own: Sequence[int]) -> list[int]:
    return [k for k in range(t.model.nv) if k not in own]


def _tangent(t: Tracer, own: Sequence[int]) -> tuple[Matrix, Matrix]:
    """Columns of ``B`` and of ``G``, one for each independent speed."""
    nv, others = t.model.nv, _others(t, own)
    units: Matrix = [[float(k == j) for k in range(nv)] for j in own]
    if "rows" not in t.options:
        return units, [[0.0] * nv for _ in own]
    system = closed_dynamics.system_of(t, t.rows, others)
    B = []
    for j, unit in zip(own, units, strict=True):
        x = system.still([row.jacobian.get(j, 0.0) for row in t.rows])
        B.append([a + b for a, b in zip(x, unit, strict=True)])
    slopes = _slopes_of_rates(t)
    return B, [system.still([dot(row, b) for row in slopes]) for b in B]


def _slopes_of_rates(t: Tracer) -> Matrix:
    """``d (K v + psi) / d q`` with v held, row by row."""
    rates = t.program(lambda inner: [row.rate(inner.v) for row in inner.rows])
    return t.slopes(rates, "q")


def _states(t: Tracer) -> int:
    return 2 * len(t.options["independent"])


#: The model ``dx/dt = A x + B dtau``, and accelerations of the independent speeds.
MODEL = (
    Output("A", (_states, _states), "1/s, 1/s^2"),
    Output("B", (_states, lambda t: len(t.options["forces"])), "1/kg, 1/(kg m^2)"),
    Output("acceleration", (lambda t: len(t.options["independent"]),), "rad/s^2, m/s^2"),
)

#: ``dq = by_place z``, ``dv = by_place u + turning z``.
TANGENT = (
    Output("by_place", ("nv", lambda t: len(t.options["independent"])), ""),
    Output("turning", ("nv", lambda t: len(t.options["independent"])), "1/s"),
)

#: Quantities by name.
ROWS = {
    "linear_model": guarded_row((Q, V, TAU), MODEL, linear_model, ("independent", "forces")),
    "tangent": guarded_row((Q, V), TANGENT, tangent, ("independent",)),
}
