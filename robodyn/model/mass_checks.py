"""Mass matrices at a posture, and joints that move no mass."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from robodyn.array_types import FloatArray
from robodyn.description import Joint, Mechanism
from robodyn.equations.mechanism.bodies import MechanismModel
from robodyn.equations.mechanism.state import evaluate_joints
from robodyn.equations.tree.articulated_body import preferred
from robodyn.equations.tree.composite_body import mass_diagonal, mass_matrix
from robodyn.errors import InertiaError, TopologyError

#: Number of joints beyond a joint that count as near to it.
NEAR = 8


def some_posture(bodies: MechanismModel) -> tuple[float, ...]:
    """A generic position, at which functions that joints follow are defined.

    Raises TopologyError: If they are not even at rest.
    """
    q = [0.3 + 0.1 * (k % 7) for k in range(bodies.nq)]
    for body in bodies:
        if body.joint.kind.coordinates.quaternion:
            last = body.q[-1][0]
            q[last - 3 : last + 1] = [0.1, 0.3, -0.5, math.sqrt(0.65)]
    if not bodies.followers:
        return tuple(q)
    leading = {i for one in bodies.followers for i in one.independent}
    leading = {k for i in leading for k, *_ in bodies.bodies[i].q}
    for scale in (1.0, -1.0, 0.3, -0.3, 0.1, -0.1, 0.01, -0.01, 0.0):
        tried = tuple(x * scale if k in leading else x for k, x in enumerate(q))
        try:
            if np.isfinite(mass_diagonals_at(bodies, tried)[0]).all():
                return tried
        except (ArithmeticError, ValueError):
            pass
    names = ", ".join(repr(one.name) for one in bodies.followers)
    raise TopologyError(
        f"joints do not follow where all others are at rest: the functions of {names} are no "
        "numbers there, or have no derivatives"
    )


def mass_matrix_at(bodies: MechanismModel, q: Sequence[Any]) -> FloatArray:
    """Mass matrix at a position, shape (nv, nv), without a compiler."""
    M: Any = mass_matrix(evaluate_joints(bodies, q, [0.0] * bodies.nv))
    return np.array(M, float).reshape(bodies.nv, bodies.nv)


def mass_diagonals_at(bodies: MechanismModel, q: Sequence[Any]) -> tuple[FloatArray, FloatArray]:
    """Diagonal of the mass matrix at a position, shape (nv,), and its part from nearby bodies.

    Both are the same unless chains are long.
    """
    state = evaluate_joints(bodies, q, [0.0] * bodies.nv)
    diagonal = np.array(mass_diagonal(state), float)
    if not preferred(bodies, frozenset()):
        return diagonal, diagonal
    return diagonal, np.array(mass_diagonal(state, NEAR), float)


def mass_diagonals_of_rows(bodies: MechanismModel, q: Sequence[Any], count: int) -> FloatArray:
    """Diagonals of the mass matrices of robots that differ in numbers, shape (robots, nv)."""
    diagonal: list[Any] = mass_diagonal(evaluate_joints(bodies, q, [0.0] * bodies.nv))
    found = np.zeros((count, bodies.nv))
    for k, x in enumerate(diagonal):
        found[:, k] = x
    return found


def massless_joint(bodies: MechanismModel, diagonal: FloatArray) -> Joint | None:
    """A joint whose speed moves no mass at all, by the diagonal of a mass matrix."""
    largest = diagonal.max(initial=0.0)
    for body in bodies:
        if any(not diagonal[s.index] > 1e-30 * largest for s in body.speeds):
            return body.description
    return None


def massless_error(mechanism: Mechanism, joint: Joint) -> InertiaError:
    """Error for a joint that moves no mass."""
    return InertiaError(
        f"joint {joint.name!r} moves nothing that has mass or inertia in its direction (link "
        f"{joint.child!r} and what hangs on it): give it an <inertial>, make the joint fixed, or "
        "load with allow_unphysical=True if no forward dynamics is wanted",
        **mechanism.where(joint),
    )
