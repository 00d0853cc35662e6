"""The mass matrix of the spanning tree, its inverse, and the Coriolis matrix."""

from __future__ import annotations

from robodyn.equations.quantities.common.quantity import TREE_FORCES, Input, Output, Q, Quantity, V
from robodyn.equations.quantities.common.tracer import Results, Trace, Tracer
from robodyn.equations.tree import composite_body, coriolis, factorization


def mass_matrix(t: Tracer) -> Results:
    """Mass matrix by composite rigid bodies."""
    return {"M": composite_body.mass_matrix(t.state)}


def mass_matrix_inverse(t: Tracer) -> Results:
    """Inverse from the factorised mass matrix."""
    M = composite_body.mass_matrix(t.state)
    return {"M_inverse": factorization.inverse(factorization.factorize(M, t.model.light))}


def coriolis_matrix(t: Tracer) -> Results:
    """Coriolis matrix in Christoffel form, without the motion of the base."""
    return {"C": coriolis.coriolis_matrix(t.state)}


def _row(trace: Trace, name: str, unit: str, *given: Input, solves: bool = False) -> Quantity:
    found = Output(name, ("nv", "nv"), unit)
    return Quantity(given, (found,), trace, TREE_FORCES, parametric=True, solves=solves)


#: Quantities by name.
ROWS = {
    "mass_matrix": _row(mass_matrix, "M", "kg m^2, kg m, kg", Q),
    "mass_matrix_inverse": _row(
        mass_matrix_inverse, "M_inverse", "1/(kg m^2), 1/(kg m), 1/kg", Q, solves=True
    ),
    "coriolis_matrix": _row(coriolis_matrix, "C", "kg m^2/s, kg m/s, kg/s", Q, V),
}
