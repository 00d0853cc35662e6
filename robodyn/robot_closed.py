"""Dynamics of robots with closed loops.

Where the rank of the loops is the same everywhere, the whole solve is machine code over independent
rows. Where it is not, at singular postures, and for everything beside plain inverse and forward
dynamics, the mass matrix and the constraints are machine code and the solve reveals the rank.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from robodyn.arrays import finite, named, together
from robodyn.base_motion import BaseMotion
from robodyn.codegen import Function
from robodyn.constraints import (
    actuate,
    constrained_accelerations,
    constrained_hybrid,
    project_velocity,
)
from robodyn.constraints.hybrid import CONTROL_TOLERANCE
from robodyn.equations.catalogue import CLOSED
from robodyn.errors import ActuationError, ShapeError, SingularError, UnknownNameError
from robodyn.loop_analysis import motors_of
from robodyn.results import ConstrainedDynamics, HybridDynamics
from robodyn.robot_assembly import AssemblyMethods
from robodyn.robot_core import Wrenches
from robodyn.roles import Roles, speed_indices, speed_names

__all__ = ["ClosedMethods"]

Array = NDArray[Any]

#: Accelerations that break the loops by more than this part of their terms are refused.
BROKEN = 1e-6

#: The same for states in single precision.
BROKEN_SINGLE = 1e-3


class ClosedMethods(AssemblyMethods):
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

    def _speeds(self, name: str, value: ArrayLike) -> Array:
        """An array over all speeds, float32 if it is that."""
        array = self._array(name, value, self.nv)
        return array.astype(np.float32) if _is_single(value) else array

    def _solve(self, q: ArrayLike, force: Array, k: Array, method: str) -> tuple[Any, ...]:
        M, K = self._call("mass_matrix", (q,), None, None), self.loop_jacobian(q)
        try:
            found = constrained_accelerations(M, force, K, k, method)
        except SingularError as error:
            raise self._massless(M, K, error) from None
        return found.a, found.multipliers, found.rank, found.residual, found.method

    def _massless(self, M: Array, K: Array, error: SingularError) -> SingularError:
        """The same error with the names of the joints that move no mass."""
        row = (error.rows or (0,))[0]
        M, K = (x.reshape(-1, *x.shape[-2:])[min(row, x[..., 0, 0].size - 1)] for x in (M, K))
        sizes, Vh = np.linalg.svd(K)[1:]
        Z = Vh[int(np.sum(sizes > 1e-9 * sizes.max(initial=0.0))) :].T
        inertia, motions = np.linalg.eigh(Z.T @ M @ Z)
        idle = (Z @ motions)[:, inertia <= 1e-9 * np.abs(inertia).max(initial=0.0)]
        names = speed_names(
            self._model, [k for k in range(self.nv) if np.abs(idle[k]).max(initial=0.0) > 1e-6]
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
            if _all_numbers(a):  # rows that became dependent leave none
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
        """Rows and motors of the straight-line code behind forward and inverse dynamics.

        Raises
        ------
        SingularError
            If the rank of the loops changes from posture to posture.
        ActuationError
            If motors and motions are not as many.
        UnknownNameError
            For hybrid dynamics, which solves anew for each mask.
        """
        if name == "hybrid_dynamics":
            known = ("forward_dynamics", "inverse_dynamics", "mass_matrix", "loop_jacobian")
            raise UnknownNameError("function that honours loops", name, known, repr(self.name))
        if name not in CLOSED or "rows" in fixed:
            return fixed
        if not self._straight:
            raise SingularError(
                f"the loops of {self.name!r} have another rank in other postures: there is no "
                f"straight-line code for {name}; call the method"
            )
        if name == "forward_dynamics":
            return {**fixed, **self._rows}
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

    def _closed_inverse(
        self,
        q: ArrayLike,
        v: ArrayLike,
        a: ArrayLike,
        wrenches: Wrenches | None,
        base: BaseMotion | None,
        actuated: Iterable[str] | None,
    ) -> Array:
        if base is None and actuated is None and not wrenches and self._plain_inverse is not None:
            self._shorten("inverse_dynamics", self._plain_inverse, guarded=True)
            tau = self._plain_inverse(q, v, a)
            if _all_numbers(tau):
                return tau  # type: ignore[no-any-return]
        speeds = self._motor_speeds(actuated)
        options = self._motor_options(speeds)
        if options is not None:
            tau, gap = self._call("inverse_dynamics", (q, v, a), base, None, wrenches, **options)
            if _all_numbers(tau):
                self._check_gap(gap, a)
                return np.asarray(tau)
        return self._actuate(q, v, a, wrenches, base, speeds)[0]

    @cached_property
    def _plain_inverse(self) -> Function | None:
        """Straight-line code for the motors of the file; no numbers for impossible ``a``."""
        options = self._motor_options(self._motor_speeds(None))
        if options is None or self.base == "moving":
            return None
        return self.function("inverse_dynamics", **options, possible=BROKEN)

    def _actuate(
        self,
        q: ArrayLike,
        v: ArrayLike,
        a: ArrayLike,
        wrenches: Wrenches | None,
        base: BaseMotion | None,
        speeds: tuple[int, ...],
    ) -> tuple[Array, Array]:
        """Forces at the motors, and multipliers of least norm."""
        wanted = self._speeds("a", a)
        finite(q=q, v=v, a=wanted)
        together(q=q, v=v, a=wanted)
        K, k = self.loop_jacobian(q), self.loop_bias(q, v)
        self._check_gap(np.einsum("...ij,...j->...i", K, wanted) + k, a)
        g = self._call("inverse_dynamics", (q, v, a), base, None, wrenches, tree=True)
        scale = float(np.abs(g).max(initial=0.0))
        try:
            slack = {"tolerance": BROKEN_SINGLE} if _is_single(g) else {}
            found = actuate(g, K, list(speeds), scale=scale, **slack)
        except ActuationError as error:
            direction = np.asarray(error.direction)
            moving = ", ".join(
                f"{direction[k]:.3g} at {name}"
                for k in np.flatnonzero(np.abs(direction) > 1e-6)
                for name in speed_names(self._model, (int(k),))
            )
            raise ActuationError(
                f"motors at {', '.join(speed_names(self._model, speeds)) or 'no joint'} of "
                f"{self.name!r} cannot produce these accelerations: with them at rest the linkage "
                f"can still move ({moving}), and that takes a force",
                direction=error.direction,
            ) from None
        return found.tau.astype(g.dtype), found.multipliers.astype(g.dtype)

    def _loop_multipliers(
        self,
        q: ArrayLike,
        v: ArrayLike,
        a: ArrayLike,
        wrenches: Wrenches | None,
        base: BaseMotion | None,
    ) -> tuple[Array, ...]:
        """Multipliers of loops whose motors make given accelerations; none for a tree."""
        if not self.nc:
            return ()
        return (self._actuate(q, v, a, wrenches, base, self._motor_speeds(None))[1],)

    def _check_gap(self, gap: Array, a: ArrayLike) -> None:
        broken = BROKEN_SINGLE if _is_single(gap) else BROKEN
        if _largest(gap) <= broken:
            return
        finite(a=a)
        size = max(1.0, _largest(np.asarray(a)))
        if not _largest(gap) <= broken * size:
            raise ActuationError(
                f"these accelerations would open the loops of {self.name!r} (by "
                f"{np.abs(gap).max():.3g} m/s^2 or rad/s^2): no motors can produce them; "
                "consistent_acceleration makes them fit"
            )

    def consistent_acceleration(self, q: ArrayLike, v: ArrayLike, a: ArrayLike) -> Array:
        """The accelerations nearest to ``a``, in kinetic energy, that keep the loops closed.

        Parameters
        ----------
        q, v : array_like, shape (..., nq), (..., nv)
            Closed posture, consistent velocity.
        a : array_like, shape (..., nv)

        Returns
        -------
        a : ndarray, shape (..., nv)
        """
        wanted = self._array("a", a, self.nv)
        if not self.nc:
            return wanted.copy()
        finite(q=q, v=v, a=wanted)
        together(q=q, v=v, a=wanted)
        K, k = self.loop_jacobian(q), self.loop_bias(q, v)
        found = project_velocity(K, wanted, self._energy_norm(q), rhs=k)
        return found.astype(np.float32) if _is_single(k) and _is_single(a) else found

    def _motor_speeds(self, actuated: Iterable[str] | None) -> tuple[int, ...]:
        names = self.actuated_joints if actuated is None else named("actuated", actuated)
        speeds = tuple(k for name in names for k in speed_indices(self._model, name))
        if self.base == "floating" and actuated is None:
            speeds = tuple(sorted({*range(6), *speeds}))
        return tuple(sorted(set(speeds)))

    def _motor_options(self, speeds: tuple[int, ...]) -> Mapping[str, Any] | None:
        """Choices for straight-line inverse dynamics; ``None`` where it cannot be."""
        known: dict[Any, Any] = self.__dict__.setdefault("_motor_choices", {})
        if speeds not in known:
            known[speeds] = None
            rows = self.loops_analysis.rows
            if rows is not None:
                K = self._plain_function("loop_jacobian")(self.loops_analysis.postures[-1])
                motors = motors_of(K[list(rows)], speeds)
                if motors is not None:
                    known[speeds] = {
                        "rows": rows,
                        "dependent": motors.dependent,
                        "order": motors.order,
                    }
        return known[speeds]  # type: ignore[no-any-return]

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
                tolerance=BROKEN_SINGLE if _is_single(h) else CONTROL_TOLERANCE,
            )
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


def _is_single(x: ArrayLike) -> bool:
    return isinstance(x, np.ndarray) and x.dtype == np.float32


def _all_numbers(x: Array) -> bool:
    """No NaN; for one state without numpy's reductions, which take longer than the dynamics."""
    if x.ndim == 1:
        total = sum(x.tolist())
        return bool(total == total)
    return not np.isnan(x.min(initial=0.0))


def _largest(x: Array) -> float:
    """Largest magnitude."""
    if x.ndim == 1:
        return max(map(abs, x.tolist()), default=0.0)
    return float(np.abs(x).max(initial=0.0))
