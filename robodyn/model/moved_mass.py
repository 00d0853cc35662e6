"""What each speed of a robot moves, followed through copies in which bodies have other inertias."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from robodyn.array_types import FloatArray
from robodyn.equations.mechanism.bodies import BASE, Body, MechanismModel
from robodyn.equations.mechanism.light import moving_last, own_pivots
from robodyn.equations.mechanism.state import evaluate_joints
from robodyn.symbolic.spatial import RigidInertia, Twist
from robodyn.tolerances import CLEARLY_OWN_INERTIA

__all__ = ["MovedMass", "PostureForms"]


@dataclass(frozen=True, eq=False)
class MovedMass:
    """What speeds move, right but for rounding.

    Attributes
    ----------
    diagonal : ndarray, shape (nv,)
        Of the mass matrix in a posture without symmetry.
    own : ndarray, shape (nv,)
        What they move of their own in any posture.
    forms : PostureForms
        Shared by all copies of one geometry.
    """

    diagonal: FloatArray
    own: FloatArray
    forms: PostureForms

    def followed(self, old: MechanismModel, new: MechanismModel) -> MovedMass | None:
        """The same of a copy that has no light speeds; None where it may have some.

        Parameters
        ----------
        old : MechanismModel
            That this is of.
        new : MechanismModel
            The same geometry; joints and motors are as before, too.
        """
        if old.light or old.coupled or old.linkages:
            return None
        diagonal, own = self.diagonal.copy(), self.own.copy()
        for before, body in zip(old, new, strict=True):
            if body.inertia is not before.inertia:
                speeds, form = self.forms.of(body)
                diagonal[speeds] += form @ (_ten(body.inertia) - _ten(before.inertia))
                if body.index in self.forms.alone and body.description.map is None:
                    for model, one, sign in ((old, before, -1.0), (new, body, 1.0)):
                        for k, pivot in own_pivots(model, one):
                            own[k] += sign * pivot
        clear = (own > CLEARLY_OWN_INERTIA * diagonal) & (diagonal > 0.0)
        return MovedMass(diagonal, own, self.forms) if clear.all() else None


class PostureForms:
    """How the diagonal of a mass matrix depends on the inertias of bodies.

    Parameters
    ----------
    model : MechanismModel
        In which bodies do not share speeds.
    q : sequence of float
        A posture without symmetry.
    """

    def __init__(self, model: MechanismModel, q: Sequence[float]) -> None:
        self._model, self._q = model, q
        self.alone = moving_last(model)
        self._forms: dict[int, tuple[list[int], FloatArray]] = {}

    def of(self, body: Body) -> tuple[list[int], FloatArray]:
        """Speeds that move a body, and their forms for the numbers of its inertia, (n, 10)."""
        if not self._forms:
            self._forms = self._evaluated()
        return self._forms[body.index]

    def _evaluated(self) -> dict[int, tuple[list[int], FloatArray]]:
        state = evaluate_joints(self._model, self._q, [0.0] * self._model.nv)
        columns: dict[int, list[tuple[int, Twist]]] = {BASE: []}
        found = {}
        for body in self._model:
            joint = state[body.index]
            carried = [(k, joint.X.twist_in(s)) for k, s in columns[body.parent]]
            columns[body.index] = own = [*carried, *joint.columns]
            forms = np.array([_form(s) for _, s in own], float).reshape(-1, 10)
            found[body.index] = [k for k, _ in own], forms
        return found


def _ten(inertia: RigidInertia) -> FloatArray:
    ten: Any = (inertia.m, *inertia.h, *inertia.S)
    return np.array(ten, float)


def _form(s: Twist) -> list[Any]:
    """What a unit of each number of an inertia adds to the mass that a speed moves."""
    v, w = s.v, s.w
    square = w.dot(w)
    return [
        v.dot(v), *(v.cross(w) * 2.0),
        square - w.x * w.x, -2.0 * w.x * w.y, -2.0 * w.x * w.z,
        square - w.y * w.y, -2.0 * w.y * w.z, square - w.z * w.z,
    ]  # fmt: skip
