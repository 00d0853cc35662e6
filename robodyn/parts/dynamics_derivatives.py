"""Inverse, forward and hybrid dynamics with all of their derivatives, by name."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from typing import Any

from numpy.typing import ArrayLike

from robodyn.array_types import Array
from robodyn.codegen import CallForm
from robodyn.errors import ShapeError
from robodyn.evaluator import Evaluator, Wrenches
from robodyn.literals import DynamicsName
from robodyn.model.model import Model
from robodyn.model.speed_selection import ByJoint, assign_roles
from robodyn.motion.base_motion import BaseMotion
from robodyn.parts.dynamics import Dynamics

__all__ = ["DynamicsDerivatives"]


class DynamicsDerivatives:
    """Values and derivatives of dynamics.

    Parameters
    ----------
    model : Model
    evaluator : Evaluator
    dynamics : Dynamics
    """

    def __init__(self, model: Model, evaluator: Evaluator, dynamics: Dynamics) -> None:
        self._model, self._evaluator, self._dynamics = model, evaluator, dynamics

    def of(
        self,
        name: DynamicsName,
        arrays: tuple[ArrayLike, ArrayLike, ByJoint | None],
        roles: tuple[ByJoint | None, Iterable[str]] = (None, ()),
        wrenches: Wrenches | None = None,
        base: BaseMotion | None = None,
    ) -> dict[str, Any]:
        """The value under ``name``, its derivatives under ``"q"``, ``"v"``, ``"a"``, ``"tau"``.

        Parameters
        ----------
        name : {"inverse_dynamics", "forward_dynamics", "hybrid_dynamics"}
        arrays : tuple
            q, v, and accelerations or forces.
        roles : tuple
            ``controlled`` and ``locked`` of hybrid dynamics.
        wrenches, base
            As in `robodyn.Robot.inverse_dynamics`.
        """
        q, v, given = arrays
        controlled, locked = roles
        if name == "hybrid_dynamics":
            return self._hybrid((q, v, given), controlled, locked, wrenches, base)
        if controlled is not None or locked != ():
            raise ShapeError(
                f"controlled= and locked= are for hybrid_dynamics, and the derivatives of {name} "
                "were asked for",
                name="controlled" if controlled is not None else "locked",
            )
        state: Any = (q, v, given)
        form = CallForm({"name": name}, (None,), (-1,), method="derivatives")
        found = self._dynamics.derivatives(name, state, wrenches, base, form=form)
        return self._made(name, found)

    def _hybrid(
        self,
        arrays: tuple[ArrayLike, ArrayLike, ByJoint | None],
        controlled: ByJoint | None,
        locked: Iterable[str],
        wrenches: Wrenches | None,
        base: BaseMotion | None,
    ) -> dict[str, Any]:
        """Derivatives of hybrid dynamics, with a column for each speed."""
        q, v, tau = arrays
        roles = assign_roles(self._model, controlled, tau, locked)
        name, driven, form = "hybrid_dynamics", roles.controlled, roles.form
        if form is not None and tau is None:
            form = replace(
                form, options={"name": name, "locked": locked}, names=form.names[:-1],
                places=form.places[:-1], method="derivatives", missing=("x",),
            )  # fmt: skip
        else:
            form = None
        found = self._dynamics.derivatives(name, roles.beside(q, v), wrenches, base, driven, form)
        return self._made(name, found, controlled=driven)

    def _made(self, name: str, found: tuple[Array, ...], **options: Any) -> dict[str, Any]:
        made: dict[str, Any] = self._evaluator.made(f"{name}_derivatives", found, **options)
        return made
