"""Checks of states, dynamics with joints that are driven or have motors, and its derivatives."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from robodyn.array_types import Array
from robodyn.arrays import named
from robodyn.errors import ShapeError
from robodyn.evaluator import Evaluator, Wrenches
from robodyn.literals import DynamicsName
from robodyn.model.model import Model
from robodyn.model.speed_selection import ByJoint, assign_roles, has_own_speeds
from robodyn.model.virtual_work import forces_of_motors, refuse_rest
from robodyn.motion.base_motion import BaseMotion


def check_state(evaluator: Evaluator, q: ArrayLike, v: ArrayLike) -> None:
    """Refuse states in which loops are open, come open, or nearly lose a constraint."""
    if evaluator.has_loops:
        evaluator.answer("check_state", (q, v), make=_nothing)


def _nothing(found: Array) -> None:
    """The result of a check that finds no fault."""


def forces_at(
    model: Model,
    evaluator: Evaluator,
    arrays: tuple[ArrayLike, ArrayLike, ArrayLike],
    actuated: Iterable[str],
    wrenches: Wrenches | None,
    base: BaseMotion | None,
    out: Array | None,
) -> Array:
    """Generalised forces of joints that are named, for given motions, shape (..., nv)."""
    names = named("actuated", actuated)
    loads: dict[str, Any] = {"base": base, "out": out, "wrenches": wrenches}
    if model.setup.closed:
        return evaluator.call("inverse_dynamics", arrays, **loads, actuated=names)
    own = has_own_speeds(model, names)
    if own:
        model.check_actuated(names)
    tau = evaluator.call("inverse_dynamics", arrays, **loads)
    if not own:
        B = evaluator.call("actuation_matrix", arrays[:1], actuated=names)
        refuse_rest(model, B, forces_of_motors(B, tau), tau, names)
    return tau


def driven(
    evaluator: Evaluator,
    arrays: tuple[ArrayLike, ArrayLike, ArrayLike, ArrayLike],
    controlled: tuple[int, ...],
    wrenches: Wrenches | None,
    base: BaseMotion | None,
    stabilization: tuple[float, float] | None = None,
) -> tuple[Array, Array]:
    """Accelerations and forces, of q, v, accelerations of some speeds and forces of the others.

    Whether loops are closed is not checked, as they are slightly open within simulation steps.
    """
    q, v, _, forces = arrays
    if not controlled:
        a = evaluator.call(
            "forward_dynamics", (q, v, forces), base=base, wrenches=wrenches,
            stabilization=stabilization, drifting=True,
        )  # fmt: skip
        return a, np.asarray(forces)
    found = evaluator.answer(
        "hybrid_dynamics", arrays, base=base, wrenches=wrenches, stabilization=stabilization,
        method="driven_dynamics", make=tuple, controlled=controlled, drifting=True,
    )  # fmt: skip
    return found[0], found[1]


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
