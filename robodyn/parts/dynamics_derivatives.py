"""Inverse, forward and hybrid dynamics with all of their derivatives, by name."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from robodyn.array_types import Array
from robodyn.errors import ShapeError, UnknownNameError
from robodyn.evaluator import Wrenches
from robodyn.model.model import Model
from robodyn.model.speed_selection import ByJoint, assign_roles
from robodyn.motion.base_motion import BaseMotion
from robodyn.parts.dynamics import Dynamics
from robodyn.results import HybridDerivatives

__all__ = ["DynamicsDerivatives"]

#: What else than the state dynamics depend on.
GIVEN = {
    "inverse_dynamics": ("a",),
    "forward_dynamics": ("tau",),
    "hybrid_dynamics": ("a", "tau"),
}


class DynamicsDerivatives:
    """Values and derivatives of dynamics.

    Parameters
    ----------
    model : Model
    dynamics : Dynamics
    """

    def __init__(self, model: Model, dynamics: Dynamics) -> None:
        self._model, self._dynamics = model, dynamics

    def of(
        self,
        name: str,
        arrays: tuple[ArrayLike, ArrayLike, ByJoint | None],
        roles: tuple[ByJoint | None, Iterable[str]] = (None, ()),
        wrenches: Wrenches | None = None,
        base: BaseMotion | None = None,
    ) -> dict[str, Any]:
        """The value under ``name``, its derivatives under ``"q"``, ``"v"``, ``"a"``, ``"tau"``.

        Parameters
        ----------
        name : str
        arrays : tuple
            q, v, and accelerations or forces.
        roles : tuple
            ``controlled`` and ``locked`` of hybrid dynamics.
        wrenches, base
            As in `robodyn.Robot.inverse_dynamics`.
        """
        robot = self._model.mechanism.name
        if not isinstance(name, str) or name not in GIVEN:
            raise UnknownNameError("derivatives", name, GIVEN, f"robot {robot!r}")
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
        found = self._dynamics.derivatives(name, state, wrenches, base)
        return dict(zip((name, "q", "v", *GIVEN[name]), found, strict=True))

    def _hybrid(
        self,
        arrays: tuple[ArrayLike, ArrayLike, ByJoint | None],
        controlled: ByJoint | None,
        locked: Iterable[str],
        wrenches: Wrenches | None,
        base: BaseMotion | None,
    ) -> dict[str, Any]:
        """Those of hybrid dynamics, over all speeds."""
        q, v, tau = arrays
        roles = assign_roles(self._model, controlled, tau, locked)
        driven = roles.controlled
        given = roles.for_dtype(np.result_type(np.asarray(q), np.asarray(v)))
        state = (q, v, *given)
        found = self._dynamics.derivatives("hybrid_dynamics", state, wrenches, base, driven)
        free = [k for k in range(self._model.bodies.nv) if k not in driven]
        both = []
        for part in (found[:5], found[5:]):
            value, by_q, by_v, by_a, by_tau = part
            both.append((value, by_q, by_v, self._over(by_a, driven), self._over(by_tau, free)))
        keys = ("hybrid_dynamics", "q", "v", *GIVEN["hybrid_dynamics"])
        pairs = zip(*both, strict=True)
        return {key: HybridDerivatives(*pair) for key, pair in zip(keys, pairs, strict=True)}

    def _over(self, columns: Array, speeds: Sequence[int]) -> Array:
        """Columns of some speeds among zeros, shape (..., nv, nv)."""
        nv = self._model.bodies.nv
        whole = np.zeros((*columns.shape[:-1], nv), columns.dtype)
        whole[..., list(speeds)] = columns
        return whole
