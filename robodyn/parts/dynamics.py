"""Inverse, forward and hybrid dynamics of a robot without constraints."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, Protocol

from numpy.typing import ArrayLike

from robodyn.array_types import Array
from robodyn.arrays import named
from robodyn.codegen import CallForm, Function
from robodyn.evaluator import Evaluator, Wrenches
from robodyn.model.model import Model
from robodyn.model.speed_selection import Roles, has_own_speeds
from robodyn.model.virtual_work import forces_of_motors, refuse_rest
from robodyn.motion.base_motion import BaseMotion
from robodyn.results import HybridDynamics

__all__ = ["Dynamics", "TreeDynamics"]


class Dynamics(Protocol):
    """The dynamics of a robot, with or without closed loops.

    Arguments and results are those of the methods of `robodyn.Robot`.
    """

    def function(self, name: str, **options: Any) -> Function:
        """The function of a quantity, with the constraint forces of closed loops."""

    def check(self, q: ArrayLike, v: ArrayLike) -> None:
        """Refuse states in which loops are open, come open, or nearly lose a constraint."""

    @property
    def checked(self) -> Mapping[str, Any] | None:
        """Options of a function over all rows that refuses what `check` refuses, by NaN.

        ``None`` where there are no such functions.
        """

    def checked_along(self, independent: tuple[int, ...]) -> Mapping[str, Any] | None:
        """As `checked`, for a function in which the other speeds follow from independent ones."""

    def checked_beside(self, controlled: tuple[int, ...]) -> Mapping[str, Any] | None:
        """As `checked`, for a function in which the accelerations of some speeds are given."""

    def inverse(
        self,
        q: ArrayLike,
        v: ArrayLike,
        a: ArrayLike,
        wrenches: Wrenches | None = None,
        base: BaseMotion | None = None,
        actuated: Iterable[str] | None = None,
        out: Array | None = None,
        form: CallForm | None = None,
    ) -> Array:
        """Generalised forces that produce given accelerations, shape (..., nv).

        Calls of a method that have this form may go to the function.
        """

    def forward(
        self,
        q: ArrayLike,
        v: ArrayLike,
        tau: ArrayLike,
        wrenches: Wrenches | None = None,
        base: BaseMotion | None = None,
        stabilization: tuple[float, float] | None = None,
        out: Array | None = None,
    ) -> Array:
        """Accelerations under given forces, shape (..., nv)."""

    def hybrid(
        self,
        q: ArrayLike,
        v: ArrayLike,
        roles: Roles,
        wrenches: Wrenches | None,
        base: BaseMotion | None,
        stabilization: tuple[float, float] | None,
    ) -> HybridDynamics:
        """Accelerations and forces with some joints driven."""

    def driven(
        self,
        arrays: tuple[ArrayLike, ArrayLike, ArrayLike, ArrayLike],
        controlled: tuple[int, ...],
        wrenches: Wrenches | None,
        base: BaseMotion | None,
        stabilization: tuple[float, float] | None = None,
        form: CallForm | None = None,
    ) -> tuple[Array, Array]:
        """Hybrid dynamics by indices of driven speeds, of q, v, their accelerations, other forces.

        It does not check the state. Calls of a method that have this form may go to the function.
        """

    def derivatives(
        self,
        name: str,
        arrays: tuple[ArrayLike, ...],
        wrenches: Wrenches | None = None,
        base: BaseMotion | None = None,
        controlled: tuple[int, ...] = (),
        form: CallForm | None = None,
    ) -> tuple[Array, ...]:
        """Results of inverse, forward or hybrid dynamics, each before its derivatives.

        There is one derivative by each of the arrays. Hybrid dynamics take those of `driven`, with
        ``controlled`` in ascending order; all their derivatives have a column for each speed.
        Calls of the method of robots that have this form may go to the function.
        """

    def by_motors(
        self,
        name: str,
        arrays: tuple[ArrayLike, ...],
        wrenches: Wrenches | None,
        base: BaseMotion | None,
        form: CallForm | None = None,
        **options: Any,
    ) -> tuple[Array, ...]:
        """Results of a quantity that depends on multipliers, for given accelerations and motors.

        Of loops, multipliers may come last. Calls of the method of robots that have this form may
        go to the function.
        """

    def hybrid_joint_wrenches(
        self,
        state: tuple[ArrayLike, ArrayLike],
        roles: Roles,
        joints: tuple[str, ...],
        wrenches: Wrenches | None,
        base: BaseMotion | None,
        form: CallForm | None = None,
    ) -> tuple[Array, ...]:
        """Joint wrenches with some joints driven, accelerations and, for loops, multipliers.

        Calls of the method of robots that have this form may go to the function.
        """


class TreeDynamics:
    """Dynamics of a robot without constraints: each is one compiled function.

    Parameters
    ----------
    model : Model
    evaluator : Evaluator
    """

    def __init__(self, model: Model, evaluator: Evaluator) -> None:
        self._model, self._evaluator = model, evaluator

    def function(self, name: str, **options: Any) -> Function:
        """The function of a quantity."""
        return self._evaluator.function(name, **options)

    def check(self, q: ArrayLike, v: ArrayLike) -> None:
        """Accept all states of a tree."""

    @property
    def checked(self) -> Mapping[str, Any] | None:
        """No options, as a tree has no constraint rows."""
        return {}

    def checked_along(self, independent: tuple[int, ...]) -> Mapping[str, Any] | None:
        """No options, as all speeds of a tree are independent."""
        return {} if len(independent) == self._model.bodies.nv else None

    def checked_beside(self, controlled: tuple[int, ...]) -> Mapping[str, Any] | None:
        """No options, as a tree has no constraint rows."""
        return {}

    def inverse(
        self,
        q: ArrayLike,
        v: ArrayLike,
        a: ArrayLike,
        wrenches: Wrenches | None = None,
        base: BaseMotion | None = None,
        actuated: Iterable[str] | None = None,
        out: Array | None = None,
        form: CallForm | None = None,
    ) -> Array:
        """Generalised forces that produce given accelerations, shape (..., nv)."""
        names = None if actuated is None else named("actuated", actuated)
        elsewhere = names is not None and not has_own_speeds(self._model, names)
        if names is not None and not elsewhere:
            self._model.check_actuated(names)
        tau: Array = self._evaluator.results(
            "inverse_dynamics", (q, v, a), base=base, out=out, wrenches=wrenches, form=form
        )
        if elsewhere:
            B = self._evaluator.call("actuation_matrix", (q,), actuated=names)
            refuse_rest(self._model, B, forces_of_motors(B, tau), tau, names)
        return tau

    def forward(
        self,
        q: ArrayLike,
        v: ArrayLike,
        tau: ArrayLike,
        wrenches: Wrenches | None = None,
        base: BaseMotion | None = None,
        stabilization: tuple[float, float] | None = None,
        out: Array | None = None,
    ) -> Array:
        """Accelerations under given forces, shape (..., nv)."""
        return self._evaluator.call(
            "forward_dynamics", (q, v, tau), base=base, out=out, wrenches=wrenches
        )

    def hybrid(
        self,
        q: ArrayLike,
        v: ArrayLike,
        roles: Roles,
        wrenches: Wrenches | None,
        base: BaseMotion | None,
        stabilization: tuple[float, float] | None,
    ) -> HybridDynamics:
        """Accelerations and forces with some joints driven."""
        found: HybridDynamics = self._evaluator.structured(
            "hybrid_dynamics", roles.beside(q, v), base=base, wrenches=wrenches, form=roles.form,
            controlled=roles.controlled,
        )  # fmt: skip
        return found

    def driven(
        self,
        arrays: tuple[ArrayLike, ArrayLike, ArrayLike, ArrayLike],
        controlled: tuple[int, ...],
        wrenches: Wrenches | None,
        base: BaseMotion | None,
        stabilization: tuple[float, float] | None = None,
        form: CallForm | None = None,
    ) -> tuple[Array, Array]:
        """Hybrid dynamics by indices of driven speeds."""
        a, tau = self._evaluator.results(
            "hybrid_dynamics", arrays, base=base, wrenches=wrenches, form=form,
            controlled=controlled,
        )  # fmt: skip
        return a, tau

    def derivatives(
        self,
        name: str,
        arrays: tuple[ArrayLike, ...],
        wrenches: Wrenches | None = None,
        base: BaseMotion | None = None,
        controlled: tuple[int, ...] = (),
        form: CallForm | None = None,
    ) -> tuple[Array, ...]:
        """Results of inverse, forward or hybrid dynamics, each before its derivatives."""
        hybrid = {"controlled": controlled, "all_columns": True}
        chosen: dict[str, Any] = hybrid if name == "hybrid_dynamics" else {}
        found: tuple[Array, ...] = self._evaluator.results(
            f"{name}_derivatives", arrays, base=base, wrenches=wrenches, form=form, **chosen
        )
        return found

    def by_motors(
        self,
        name: str,
        arrays: tuple[ArrayLike, ...],
        wrenches: Wrenches | None,
        base: BaseMotion | None,
        form: CallForm | None = None,
        **options: Any,
    ) -> tuple[Array, ...]:
        """Results of a quantity that depends on forces in joints."""
        found = self._evaluator.results(
            name, arrays, base=base, wrenches=wrenches, form=form, **options
        )
        return found if isinstance(found, tuple) else (found,)

    def hybrid_joint_wrenches(
        self,
        state: tuple[ArrayLike, ArrayLike],
        roles: Roles,
        joints: tuple[str, ...],
        wrenches: Wrenches | None,
        base: BaseMotion | None,
        form: CallForm | None = None,
    ) -> tuple[Array, ...]:
        """Joint wrenches with some joints driven, and accelerations."""
        found: tuple[Array, ...] = self._evaluator.results(
            "hybrid_joint_wrenches", roles.beside(*state), base=base, wrenches=wrenches, form=form,
            joints=joints, controlled=roles.controlled,
        )  # fmt: skip
        return found
