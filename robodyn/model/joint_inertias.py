"""Inertias that the joints of a robot move, and joints that move none; of its copies too."""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import cached_property
from typing import Any

import numpy as np

from robodyn.array_types import FloatArray
from robodyn.description import Joint, Mechanism
from robodyn.equations.mechanism.bodies import BASE, Body, MechanismModel
from robodyn.equations.mechanism.light import moving_last, own_pivots
from robodyn.equations.mechanism.state import evaluate_joints
from robodyn.equations.tree.articulated_body import preferred
from robodyn.equations.tree.composite_body import mass_diagonal, mass_matrix
from robodyn.errors import InertiaError, TopologyError
from robodyn.quick_dataclass import dataclass
from robodyn.symbolic.spatial import RigidInertia, Twist
from robodyn.tolerances import CLEARLY_OWN_INERTIA

#: Speeds up to which forms are kept, whose number grows as the third power of that.
MOST = 64


@dataclass(frozen=True, eq=False)
class JointInertias:
    """Inertia that each speed moves, right but for rounding.

    diagonal (nv,): Of the mass matrix in a posture without symmetry.
    own (nv,): Part of it that is there in any posture.
    forms: Shared by all copies of one geometry.
    """

    diagonal: FloatArray
    own: FloatArray
    forms: InertiaForms

    def for_copy(self, old: MechanismModel, new: MechanismModel) -> JointInertias | None:
        """The same of a copy that has no light speeds; None where it may have some.

        old: The model that these inertias are of.
        new: A model with the same geometry, joints and motors.
        """
        if old.light or not self.forms.known:
            return None
        diagonal, own = self.diagonal.copy(), self.own.copy()
        for before, body in zip(old, new, strict=True):
            if body.inertia is not before.inertia:
                speeds, form = self.forms.of(body)
                diagonal[speeds] += form @ (_ten(body.inertia) - _ten(before.inertia))
                if body.index in self.forms.alone and body.description.map is None:
                    for k, pivot in own_pivots(new, body):  # speeds are those of one body each
                        own[k] = pivot
        clear = (own > CLEARLY_OWN_INERTIA * diagonal) & (diagonal > 0.0)
        return JointInertias(diagonal, own, self.forms) if clear.all() else None


class InertiaForms:
    """How a mass matrix depends on the inertias of bodies, in a posture without symmetry.

    model: Of the first robot of a geometry.
    q: The posture.
    """

    def __init__(self, model: MechanismModel, q: Sequence[float]) -> None:
        self._model, self._q = model, q
        self.alone = moving_last(model)
        #: Whether there are forms: speeds are those of one body each, and they are not too many.
        self.known = not (model.coupled or model.linkages) and model.nv <= MOST

    def of(self, body: Body) -> tuple[list[int], FloatArray]:
        """Speeds that move a body, and their forms for the numbers of its inertia, (n, 10)."""
        return self._diagonals[body.index]

    def mass_matrix(self, model: MechanismModel) -> FloatArray | None:
        """Mass matrix of a copy, shape (nv, nv); None where not only inertias of bodies differ."""
        first = self._model
        motors = model.armature is first.armature and model.rotors is first.rotors
        if not self.known or not motors:
            return None
        M = self._first_matrix.copy()
        for before, body in zip(first, model, strict=True):
            if body.inertia is not before.inertia:
                speeds, forms = self._forms[body.index]
                M[np.ix_(speeds, speeds)] += forms @ (_ten(body.inertia) - _ten(before.inertia))
        return M

    @cached_property
    def _first_matrix(self) -> FloatArray:
        return mass_matrix_at(self._model, self._q)

    @cached_property
    def _diagonals(self) -> list[tuple[list[int], FloatArray]]:
        return [(k, np.array([x[i, i] for i in range(len(k))])) for k, x in self._forms]

    @cached_property
    def _forms(self) -> list[tuple[list[int], FloatArray]]:
        """Speeds that move each body, and forms of each two of them, shape (n, n, 10)."""
        state = evaluate_joints(self._model, self._q, [0.0] * self._model.nv)
        columns: dict[int, list[tuple[int, Twist]]] = {BASE: []}
        found = []
        for body in self._model:
            joint = state[body.index]
            carried = [(k, joint.X.twist_in(s)) for k, s in columns[body.parent]]
            columns[body.index] = own = [*carried, *joint.columns]
            forms = np.array([[_form(s, r) for _, r in own] for _, s in own], float)
            found.append(([k for k, _ in own], forms.reshape(len(own), len(own), 10)))
        return found


def _ten(inertia: RigidInertia) -> FloatArray:
    ten: Any = (inertia.m, *inertia.h, *inertia.S)
    return np.array(ten, float)


def _form(s: Twist, r: Twist) -> list[Any]:
    """What a unit of each number of an inertia adds to an element of the mass matrix."""
    a, b = s.w, r.w
    both = a.dot(b)
    return [
        s.v.dot(r.v), *(s.v.cross(b) + r.v.cross(a)),
        both - a.x * b.x, -a.x * b.y - a.y * b.x, -a.x * b.z - a.z * b.x,
        both - a.y * b.y, -a.y * b.z - a.z * b.y, both - a.z * b.z,
    ]  # fmt: skip


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
