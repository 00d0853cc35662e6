"""Inverse, forward and hybrid dynamics with all of their derivatives, by name."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from numpy.typing import ArrayLike

from robodyn.errors import ShapeError
from robodyn.evaluator import Evaluator, Wrenches
from robodyn.literals import DynamicsName
from robodyn.model.model import Model
from robodyn.model.speed_selection import ByJoint, assign_roles
from robodyn.motion.base_motion import BaseMotion


class DynamicsDerivatives:
    """Values and derivatives of dynamics."""

    def __init__(self, model: Model, evaluator: Evaluator) -> None:
        self._model, self._evaluator = model, evaluator

    def of(
        self,
        name: DynamicsName,
        arrays: tuple[ArrayLike, ArrayLike, ByJoint | None],
        roles: tuple[ByJoint | None, Iterable[str]] = (None, ()),
        wrenches: Wrenches | None = None,
        base: BaseMotion | None = None,
    ) -> dict[str, Any]:
        """The value under ``name``, its derivatives under ``"q"``, ``"v"``, ``"a"``, ``"tau"``.

        arrays: q, v, and accelerations or forces.
        roles: ``controlled`` and ``locked`` of hybrid dynamics.
        wrenches, base: As in `robodyn.Robot.inverse_dynamics`.
        """
        q, v, given = arrays
        controlled, locked = roles
        loads: dict[str, Any] = {"wrenches": wrenches, "base": base, "method": "derivatives"}
        found: dict[str, Any]
        if name == "hybrid_dynamics":
            driven = assign_roles(self._model, controlled, given, locked)
            found = self._evaluator.answer(
                "hybrid_dynamics_derivatives", driven.beside(q, v), **loads,
                controlled=driven.controlled, all_columns=True,
            )  # fmt: skip
            return found
        if controlled is not None or locked != ():
            raise ShapeError(
                f"controlled= and locked= are for hybrid_dynamics, and the derivatives of {name} "
                "were asked for",
                name="controlled" if controlled is not None else "locked",
            )
        state: Any = (q, v, given)
        found = self._evaluator.answer(f"{name}_derivatives", state, **loads)
        return found
