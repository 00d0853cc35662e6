"""How accelerations change near a state, over independent coordinates and speeds.

A state near ``q, v`` has the coordinates ``z`` of its position, a step along the speeds, and ``u``
of its speeds. With the maps of a `Tangent`, ``dq = B z`` and ``dv = B' u + G z``::

    dz/dt = [ dv + bracket(v) dq ]                      of independent coordinates
    du/dt = [ da/dq dq + da/dv dv + da/dtau dtau ]      of independent speeds

``bracket(v)`` is zero where coordinates add. Of those that do not, as of a floating base, it is
what the turning axes add, in which the difference of two states is seen.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import cached_property, partial
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from robodyn.array_types import Array
from robodyn.arrays import checked, together
from robodyn.closed_loops.rank.tangents import Tangent, Tangents
from robodyn.evaluator import Wrenches
from robodyn.model.model import Model
from robodyn.model.speed_selection import ByJoint, Roles, assign_roles
from robodyn.motion.base_motion import BaseMotion
from robodyn.motion.functions import as_state_function
from robodyn.parts.configuration_space import ConfigurationSpace
from robodyn.parts.driven import DynamicsDerivatives
from robodyn.quick_dataclass import dataclass

#: External wrenches as a function of ``(t, q, v)``, or of ``t``.
WrenchesAt = Callable[[Any, Array, Array], Wrenches] | Callable[[Any], Wrenches]

#: Step of difference quotients of fourth order, for forces that are functions of the state.
STEP = 2e-3


@dataclass(frozen=True, eq=False)
class LoadCase:
    """What acts on a robot beside the forces of its motors.

    controlled, locked: Driven joints, as in `robodyn.Robot.hybrid_dynamics`.
    wrenches, optional: As in `robodyn.Robot.inverse_dynamics`, or such a mapping as a function of
        ``(t, q, v)`` or of ``t``.
    base: As in `robodyn.Robot.inverse_dynamics`.
    t [s]: The time that functions of it are called with.
    """

    controlled: ByJoint | None = None
    locked: Iterable[str] = ()
    wrenches: Wrenches | WrenchesAt | None = None
    base: BaseMotion | None = None
    t: Any = 0.0

    @property
    def is_empty(self) -> bool:
        """Whether there is nothing beside the forces of motors."""
        loads = self.controlled is None and self.wrenches is None and self.base is None
        return loads and isinstance(self.locked, tuple) and not self.locked

    def wrenches_at(self, q: Array, v: Array) -> Wrenches | None:
        """Those of a state."""
        given = self.wrenches
        return as_state_function(given)(self.t, q.copy(), v.copy()) if callable(given) else given


@dataclass(frozen=True, eq=False)
class Local:
    """Dynamics near a state.

    q, v, a, tau (..., nq), (..., nv): The state, its accelerations, and forces of all joints.
    controlled: Driven speeds.
    by_q, by_v, by_force (..., nv, nv): Derivatives of the accelerations.
    find_tangent: Finds ``tangent``, which nobody asks for of states that are only compared.
    """

    q: Array
    v: Array
    a: Array
    tau: Array
    controlled: tuple[int, ...]
    by_q: Array
    by_v: Array
    by_force: Array
    find_tangent: Callable[[], Tangent]
    space: ConfigurationSpace

    @cached_property
    def tangent(self) -> Tangent:
        """How states near this one follow independent coordinates and speeds."""
        return self.find_tangent()

    @property
    def a_by_place(self) -> Array:
        """Accelerations of ``u`` by ``z``."""
        tangent = self.tangent
        pushed = self.by_q @ tangent.by_place + self.by_v @ tangent.turning
        return np.asarray(pushed[..., list(tangent.speeds), :])

    @property
    def A(self) -> Array:
        """Rates of ``z, u`` by ``z, u``."""
        tangent = self.tangent
        places, speeds, dv = list(tangent.places), list(tangent.speeds), tangent.by_speed
        moved = tangent.turning + self.space.bracket(self.v) @ tangent.by_place
        return np.block(
            [
                [moved[..., places, :], dv[..., places, :]],
                [self.a_by_place, (self.by_v @ dv)[..., speeds, :]],
            ]
        )

    def B(self, forces: Array) -> Array:
        """Rates of ``z, u`` by forces, given over all speeds as columns, shape (..., nv, m)."""
        pushed = (self.by_force @ forces)[..., list(self.tangent.speeds), :]
        none = np.zeros((*pushed.shape[:-2], len(self.tangent.places), pushed.shape[-1]))
        return np.concatenate([none, pushed], axis=-2)


@dataclass(frozen=True, eq=False)
class LocalDynamics:
    """Finds the dynamics near states."""

    _model: Model
    _space: ConfigurationSpace
    _tangents: Tangents
    _derivatives: DynamicsDerivatives

    def add(self, speeds: tuple[int, ...]) -> bool:
        """Whether steps of the coordinates along some speeds are added to them."""
        all_different = np.arange(1.0, self._space.nv + 1.0)
        return not self._space.bracket(all_different)[list(speeds)].any()

    def moved(self, q: Array, step: Array) -> Array:
        """Positions a step along the speeds away."""
        return self._space.integrate(q, step)

    def near(
        self,
        q: ArrayLike,
        v: ArrayLike,
        tau: ByJoint | None,
        around: LoadCase,
        independent: tuple[str, ...] | None = None,
        *,
        whole: bool = True,
    ) -> Local:
        """Of one state, or of each of a batch; forces of joints for which none is given are zero.

        Without ``whole`` derivatives are with wrenches held that are functions of the state.
        """
        roles = assign_roles(self._model, around.controlled, tau, around.locked)
        q, v = checked("q", q, self._space.nq), checked("v", v, self._space.nv)
        batch = together(q=q, v=v, tau=roles.tau, controlled=roles.a)
        q, v = (np.broadcast_to(x, (*batch, x.shape[-1])) for x in (q, v))
        a, forces, slopes = self._slopes(q, v, tau, roles, around, around.wrenches_at(q, v))
        batch = a.shape[:-1]  # with that of the base, of wrenches and of the time
        q, v = (np.broadcast_to(x, (*batch, x.shape[-1])) for x in (q, v))
        by_q, by_v, by_force = slopes
        if callable(around.wrenches) and whole:
            along = partial(self._by_wrenches, q, v, tau, roles, around)
            steps, none = np.eye(self._space.nv), np.zeros(self._space.nv)
            by_q = by_q + np.stack([along(e, none) for e in steps], axis=-1)
            by_v = by_v + np.stack([along(none, e) for e in steps], axis=-1)
        tangent = partial(self._tangents.at, q, v, roles.controlled, independent)
        return Local(q, v, a, forces, roles.controlled, by_q, by_v, by_force, tangent, self._space)

    def rate(self, local: Local, tau: ByJoint | None, around: LoadCase) -> Array:
        """At which accelerations change along the motion, with forces held, shape (..., nv).

        ``local`` is what `near` gives of the same forces and loads, without ``whole``.
        """
        q, v, a = local.q, local.v, local.a
        rate = _times(local.by_q, v) + _times(local.by_v, a)
        if not callable(around.wrenches):
            return rate
        roles = assign_roles(self._model, around.controlled, tau, around.locked)
        return rate + self._by_wrenches(q, v, tau, roles, around, v, a)

    def _slopes(
        self,
        q: Array,
        v: Array,
        tau: ByJoint | None,
        roles: Roles,
        around: LoadCase,
        wrenches: Wrenches | None,
    ) -> tuple[Array, Array, list[Array]]:
        """Accelerations, forces of all joints, and derivatives by q, v and forces."""
        loads = wrenches, around.base
        if not roles.controlled:
            state = (q, v, roles.tau)
            found = self._derivatives.of("forward_dynamics", state, (None, ()), *loads)
            a, *slopes = found.values()
            return a, roles.tau, slopes
        driven = around.controlled, around.locked
        found = self._derivatives.of("hybrid_dynamics", (q, v, tau), driven, *loads)
        value, by_q, by_v, _, by_force = found.values()
        return value.a, value.tau, [by_q.a, by_v.a, by_force.a]

    def _by_wrenches(
        self,
        q: Array,
        v: Array,
        tau: ByJoint | None,
        roles: Roles,
        around: LoadCase,
        dq: Array,
        dv: Array,
    ) -> Array:
        """What wrenches that change with the state add to the accelerations, a unit of ``dq, dv``.

        By a difference quotient of fourth order, in which everything else is held.
        """
        largest = max(float(np.abs(x).max(initial=0.0)) for x in (dq, dv))
        h = STEP / max(1.0, largest)

        def pushed(s: float) -> Array:
            moved = self._space.integrate(q, np.broadcast_to(s * dq, v.shape))
            given = around.wrenches_at(moved, v + s * dv)
            return self._slopes(q, v, tau, roles, around, given)[0]

        near, far = (pushed(s) - pushed(-s) for s in (h, 2.0 * h))
        return np.asarray((8.0 * near - far) / (12.0 * h))


def _times(matrix: Array, vector: Array) -> Array:
    return np.asarray(np.einsum("...ij,...j->...i", matrix, vector))
