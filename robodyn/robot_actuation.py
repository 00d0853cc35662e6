"""Inverse dynamics of robots with closed loops: what motors have to do, and cannot."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from robodyn.arrays import finite, named, together
from robodyn.closed_loops.analysis import motors_of
from robodyn.closed_loops.solvers import actuate, project_velocity
from robodyn.codegen import Function
from robodyn.errors import ActuationError
from robodyn.model.speed_selection import speed_indices, speed_names
from robodyn.motion.base_motion import BaseMotion
from robodyn.robot_assembly import AssemblyMethods
from robodyn.robot_core import Wrenches

__all__ = ["BROKEN", "BROKEN_SINGLE", "ActuationMethods", "all_numbers", "is_single"]

Array = NDArray[Any]

#: Accelerations that break the loops by more than this part of their terms are refused.
BROKEN = 1e-6

#: The same for states in single precision.
BROKEN_SINGLE = 1e-3


class ActuationMethods(AssemblyMethods):
    """Motors of closed linkages; see `robodyn.Robot`."""

    def _speeds(self, name: str, value: ArrayLike) -> Array:
        """An array over all speeds, float32 if it is that."""
        array = self._array(name, value, self.nv)
        return array.astype(np.float32) if is_single(value) else array

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
            if all_numbers(tau):
                return tau  # type: ignore[no-any-return]
        speeds = self._motor_speeds(actuated)
        options = self._motor_options(speeds)
        if options is not None:
            tau, gap = self._call("inverse_dynamics", (q, v, a), base, None, wrenches, **options)
            if all_numbers(tau):
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
            slack = {"tolerance": BROKEN_SINGLE} if is_single(g) else {}
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
        broken = BROKEN_SINGLE if is_single(gap) else BROKEN
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
        return found.astype(np.float32) if is_single(k) and is_single(a) else found

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


def is_single(x: ArrayLike) -> bool:
    """An array in single precision."""
    return isinstance(x, np.ndarray) and x.dtype == np.float32


def all_numbers(x: Array) -> bool:
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
