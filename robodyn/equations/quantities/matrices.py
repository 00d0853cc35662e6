"""The mass matrix of the spanning tree, its inverse, and the Coriolis matrix."""

from __future__ import annotations

from robodyn.equations.quantities.common.quantity import TREE_FORCES, Output, Q, Quantity, V
from robodyn.equations.quantities.common.tracer import Results, Tracer
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


#: Quantities by name.
ROWS = {
    "mass_matrix": Quantity(
        (Q,),
        (Output("M", ("nv", "nv"), "kg m^2, kg m, kg"),),
        mass_matrix,
        TREE_FORCES,
        parametric=True,
    ),
    "mass_matrix_inverse": Quantity(
        (Q,),
        (Output("M_inverse", ("nv", "nv"), "1/(kg m^2), 1/(kg m), 1/kg"),),
        mass_matrix_inverse,
        TREE_FORCES,
        parametric=True,
        solves=True,
    ),
    "coriolis_matrix": Quantity(
        (Q, V),
        (Output("C", ("nv", "nv"), "kg m^2/s, kg m/s, kg/s"),),
        coriolis_matrix,
        TREE_FORCES,
        parametric=True,
    ),
}
