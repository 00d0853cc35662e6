"""Dynamics of robots with closed loops.

Where the rank of the loops is the same everywhere, the whole solve is machine code over independent
rows. Where it is not, at singular postures, and for everything beside plain inverse and forward
dynamics, the mass matrix and the constraints are machine code and the solve reveals the rank.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from robodyn.arrays import finite, together
from robodyn.closed_loops.analysis import independent_rows
from robodyn.closed_loops.solvers import constrained_accelerations, constrained_hybrid
from robodyn.closed_loops.solvers.hybrid import CONTROL_TOLERANCE
from robodyn.codegen import Function
from robodyn.equations.catalogue import CLOSED
from robodyn.errors import ActuationError, ShapeError, SingularError, TopologyError
from robodyn.model.speed_selection import Roles, speed_names
from robodyn.motion.base_motion import BaseMotion
from robodyn.results import ConstrainedDynamics, HybridDynamics
from robodyn.robot_actuation import (
    BROKEN,
    BROKEN_SINGLE,
    ActuationMethods,
    all_numbers,
    is_single,
)
from robodyn.robot_core import Wrenches

__all__ = ["ClosedMethods"]

Array = NDArray[Any]


class ClosedMethods(ActuationMethods):
    """Dynamics with closed loops; see `robodyn.Robot`."""

    def constrained_dynamics(
        self,
        q: ArrayLike,
        v: ArrayLike,
        tau: ArrayLike,
        *,
        wrenches: Wrenches | None = None,
        base: BaseMotion | None = None,
        stabilization: tuple[float, float] | None = None,
        method: str = "auto",
    ) -> ConstrainedDynamics:
        """Forward dynamics of a closed linkage, with multipliers and rank.

        Parameters
        ----------
        q, v, tau, wrenches, base, stabilization
            As in `forward_dynamics`.
        method : {"auto", "kkt", "schur", "nullspace", "partition"}
            All give one answer; the result says which was used.

        Returns
        -------
        result : ConstrainedDynamics
            ``a``, ``multipliers`` (of least norm where redundant constraints leave a choice),
            ``rank``, ``residual``, ``method``.

        Raises
        ------
        SingularError
            If the loops leave a motion that moves no mass.
        UnknownNameError

        Notes
        -----
        ``M a + h = tau + K^T lam``, ``K a = -dK/dt v - 2 alpha K v - beta^2 residual``
        [Mufti 10-40; W 5.198-5.204].
        """
        force = self._speeds("tau", tau)
        finite(q=q, v=v, tau=force)
        together(q=q, v=v, tau=force)
        force = force - self._bias_with_passive(q, v, wrenches, base)
        k = self._rates(q, v, stabilization)
        a, lam, *rest = self._solve(q, force, k, method)
        return ConstrainedDynamics(a.astype(force.dtype), lam.astype(force.dtype), *rest)

    def _solve(self, q: ArrayLike, force: Array, k: Array, method: str) -> tuple[Any, ...]:
        M, K = self._call("mass_matrix", (q,), None, None), self.loop_jacobian(q)
        try:
            found = constrained_accelerations(M, force, K, k, method)
        except SingularError as error:
            raise self._massless(M, K, error, range(self.nv)) from None
        return found.a, found.multipliers, found.rank, found.residual, found.method

    def _massless(
        self, M: Array, K: Array, error: SingularError, free: Sequence[int]
    ) -> SingularError:
        """The same error with the names of the joints that move no mass, of the free ones."""
        row = (error.rows or (0,))[0]
        M, K = (x.reshape(-1, *x.shape[-2:])[min(row, x[..., 0, 0].size - 1)] for x in (M, K))
        M, K = M[np.ix_(free, free)], K[:, list(free)]
        sizes, Vh = np.linalg.svd(K)[1:]
        Z = Vh[int(np.sum(sizes > 1e-9 * sizes.max(initial=0.0))) :].T
        inertia, motions = np.linalg.eigh(Z.T @ M @ Z)
        idle = (Z @ motions)[:, inertia <= 1e-9 * np.abs(inertia).max(initial=0.0)]
        names = speed_names(
            self._model, [k for i, k in enumerate(free) if np.abs(idle[i]).max(initial=0.0) > 1e-6]
        )
        return SingularError(
            f"joints {', '.join(names)} of {self.name!r} can move together without moving mass: "
            "their accelerations are not determined; give their links inertia",
            joints=names,
            rows=error.rows,
        )

    def _bias_with_passive(
        self, q: ArrayLike, v: ArrayLike, wrenches: Wrenches | None, base: BaseMotion | None
    ) -> Array:
        return self._call("bias_forces", (q, v), base, None, wrenches)  # type: ignore[no-any-return]

    def _rates(
        self, q: ArrayLike, v: ArrayLike, stabilization: tuple[float, float] | None
    ) -> Array:
        k = self.loop_bias(q, v)
        if stabilization is None:
            return k
        try:
            alpha, beta = (float(x) for x in stabilization)
        except (TypeError, ValueError):
            raise ShapeError(
                f"stabilization is {stabilization!r}, expected two numbers alpha, beta [1/s]",
                name="stabilization",
            ) from None
        rate = self._gap_rate(q, v, self.loop_jacobian(q))
        return np.asarray(k + 2.0 * alpha * rate + beta**2 * self.loop_residual(q))

    def _closed_forward(
        self,
        q: ArrayLike,
        v: ArrayLike,
        tau: ArrayLike,
        wrenches: Wrenches | None,
        base: BaseMotion | None,
        stabilization: tuple[float, float] | None,
    ) -> Array:
        if stabilization is None and self._straight:
            if base is None and not wrenches and self._plain_forward is not None:
                self._shorten("forward_dynamics", self._plain_forward, guarded=True)
                a: Array = self._plain_forward(q, v, tau)
            else:
                a = self._call("forward_dynamics", (q, v, tau), base, None, wrenches, **self._rows)
            if all_numbers(a):  # rows that became dependent leave none
                return a
        return self.constrained_dynamics(
            q, v, tau, wrenches=wrenches, base=base, stabilization=stabilization
        ).a

    @cached_property
    def _straight(self) -> bool:
        """Forward dynamics can be straight-line code."""
        return self.loops_analysis.rows is not None and self._all_move_mass

    @cached_property
    def _plain_forward(self) -> Function | None:
        """That code, where it takes no more than q, v and tau."""
        return None if self.base == "moving" else self.function("forward_dynamics", **self._rows)

    def _with_loops(self, name: str, fixed: dict[str, Any]) -> dict[str, Any]:
        """Rows and motors of the straight-line code behind forward, hybrid and inverse dynamics.

        Raises
        ------
        SingularError
            If the rank of the loops changes from posture to posture.
        ActuationError
            If motors and motions are not as many, or the loops tie controlled joints together.
        """
        if name not in CLOSED or "rows" in fixed:
            return fixed
        if not self._straight:
            raise SingularError(
                f"the loops of {self.name!r} have another rank in other postures: there is no "
                f"straight-line code for {name}; call the method"
            )
        if name == "forward_dynamics":
            return {**fixed, **self._rows}
        if name == "hybrid_dynamics":
            controlled = self._controlled(fixed.get("controlled", ()))
            if not self._leave_rows(controlled):
                raise ActuationError(
                    f"the loops of {self.name!r} tie the controlled joints to each other: there is "
                    "no straight-line code for hybrid_dynamics; call the method"
                )
            return {**fixed, "controlled": controlled, **self._rows}
        options = self._motor_options(self._motor_speeds(None))
        if options is None:
            raise ActuationError(
                f"{self.name!r} has not as many motors as motions: there is no straight-line code "
                "for inverse_dynamics; call the method"
            )
        return {**fixed, **options, "possible": BROKEN}

    @property
    def _rows(self) -> dict[str, Any]:
        return {"rows": self.loops_analysis.rows}

    def _leave_rows(self, controlled: tuple[int, ...]) -> bool:
        """There are rows that suffice, and they are independent in the other speeds, too."""
        known: dict[tuple[int, ...], bool] = self.__dict__.setdefault("_masks", {})
        if controlled not in known:
            try:
                known[controlled] = self._straight and self._independent_without(controlled)
            except (ShapeError, TopologyError):  # there is no posture to look at
                known[controlled] = False
        return known[controlled]

    def _independent_without(self, controlled: tuple[int, ...]) -> bool:
        found = self.loops_analysis
        free = [k for k in range(self.nv) if k not in controlled]
        K = self._plain_function("loop_jacobian")(found.postures)[:, list(found.rows or ())]
        return K.shape[1] <= len(free) and independent_rows(K[..., free])

    def _closed_driven(
        self,
        arrays: tuple[ArrayLike, ...],
        controlled: tuple[int, ...],
        wrenches: Wrenches | None,
        base: BaseMotion | None,
    ) -> tuple[Array, Array]:
        """Accelerations and forces, by straight-line code where there is some."""
        if self._leave_rows(controlled):
            fixed = {"controlled": controlled, **self._rows}
            a, tau = self._call("hybrid_dynamics", arrays, base, None, wrenches, **fixed)
            if all_numbers(a) and all_numbers(tau):
                return a, tau
        q, v, given, forces = arrays
        order = np.argsort(controlled)
        roles = Roles(tuple(sorted(controlled)), np.asarray(given)[..., order], np.asarray(forces))
        found = self._closed_hybrid(q, v, roles, wrenches, base, None)
        return found.a, found.tau

    def _closed_hybrid(
        self,
        q: ArrayLike,
        v: ArrayLike,
        roles: Roles,
        wrenches: Wrenches | None,
        base: BaseMotion | None,
        stabilization: tuple[float, float] | None,
    ) -> HybridDynamics:
        finite(q=q, v=v)
        h = self._bias_with_passive(q, v, wrenches, base)
        k = self._rates(q, v, stabilization)
        M, K = self._call("mass_matrix", (q,), None, None), self.loop_jacobian(q)
        try:
            found = constrained_hybrid(
                M,
                h,
                K,
                k,
                list(roles.controlled),
                roles.a,
                roles.tau,
                tolerance=BROKEN_SINGLE if is_single(h) else CONTROL_TOLERANCE,
            )
        except SingularError as error:
            free = [k for k in range(self.nv) if k not in roles.controlled]
            raise self._massless(M, K, error, free) from None
        except ActuationError as error:
            names = [
                name
                for name in self.joint_names
                if np.abs(np.asarray(error.direction)[self.joints[name].v]).max(initial=0.0) > 1e-9
            ]
            raise ActuationError(
                f"the accelerations of {', '.join(names)} of {self.name!r} contradict each other: "
                f"its loops tie them together ({error})",
                direction=error.direction,
            ) from None
        kind = h.dtype if roles.single else np.dtype(float)
        return HybridDynamics(
            found.a.astype(kind), found.tau.astype(kind), found.multipliers.astype(kind)
        )
