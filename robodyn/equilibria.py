"""Postures in which a robot stays at rest, and motions that stay as they are.

Both are roots: of the accelerations over the coordinates, or of the accelerations and their rates
over coordinates and speeds. Steps are of least length, so that what does not matter is not changed.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import ArrayLike

from robodyn.array_types import Array
from robodyn.arrays import checked, named
from robodyn.configuration_space import ConfigurationSpace
from robodyn.errors import EquilibriumError, RobodynError, ShapeError
from robodyn.linear_models import LinearModels
from robodyn.local_dynamics import Local, LocalDynamics, Surroundings
from robodyn.model.model import Model
from robodyn.model.speed_selection import ByJoint, speed_names
from robodyn.postures import Postures
from robodyn.results import SteadyMotion

__all__ = ["Equilibria"]

#: Iterations, how often a step is shortened in each, and the least damping that does it.
ROUNDS, SHORTENED, LEAST = 80, 14, 1e-8

#: What may be left of an acceleration, over what a unit of a coordinate changes it by.
LEFT = 1e-10

#: Longest step of a coordinate [rad, m].
LONGEST = 0.5

#: Singular values below this part of the largest one are directions in which nothing changes.
FLAT = 1e-7

#: A step for difference quotients; they only lead to a root, and do not say where it is.
PROBE = 1e-5

#: How far beyond its limit [rad, m] a joint at rest may be, and how steady a motion has to stay.
BEYOND, STEADY = 1e-9, 1e-6


@dataclass(frozen=True, eq=False)
class _Trial:
    """A state on the way, what should be zero there, and how it changes with a step."""

    local: Local
    left: Array
    slope: Array

    @property
    def is_root(self) -> bool:
        """Whether no more is left than rounding."""
        scale = max(1.0, float(np.abs(self.slope).max(initial=0.0)))
        return bool(np.abs(self.left).max(initial=0.0) <= LEFT * scale)


Try = Callable[[Array, Array], _Trial]


class Equilibria:
    """Looks for states in which nothing changes.

    Parameters
    ----------
    model : Model
    space : ConfigurationSpace
    postures : Postures
    local : LocalDynamics
    linear_models : LinearModels
    """

    def __init__(
        self,
        model: Model,
        space: ConfigurationSpace,
        postures: Postures,
        local: LocalDynamics,
        linear_models: LinearModels,
    ) -> None:
        self._model, self._space, self._postures = model, space, postures
        self._local, self._linear_models = local, linear_models

    # -- at rest ------------------------------------------------------------------------------

    def at_rest(
        self, q: ArrayLike, held: Iterable[str], tau: ByJoint | None, around: Surroundings
    ) -> Array:
        """A posture at rest near another one, shape (nq,)."""
        around = replace(around, locked=named("held", held))
        q = self._one("q", q, self._space.nq, "equilibrium")
        if self._model.setup.row_names:
            q = self._postures.assemble(q, tuple(around.locked), None, True)

        def trial(x: Array, v: Array) -> _Trial:
            local = self._local.near(x, v, tau, around)
            places, speeds = len(local.tangent.places), list(local.tangent.speeds)
            return _Trial(local, local.a[speeds], local.A[places:, :places])

        start = trial(q, np.zeros(self._space.nv))
        found = self._newton(trial, start)
        fits = found.is_root and not self._beyond(found.local.q).any()
        if not fits and found.slope.shape[0] == found.slope.shape[1]:
            found = self._newton(trial, self._creeping(trial, start))
        if not found.is_root:
            raise self._error(found.local, found.local.a, "no posture at rest was found", "with")
        self._check_limits(found.local.q)
        return found.local.q

    def _creeping(self, trial: Try, start: _Trial) -> _Trial:
        """The way through honey, ``dz/ds = a``, to a posture that is stable.

        By implicit Euler steps, which grow as the rest comes nearer.
        """
        now, step = start, 0.1
        for _ in range(4 * ROUNDS):
            if now.is_root:
                break
            eye = np.eye(len(now.left)) * max(1.0, float(np.abs(now.slope).max()))
            move = np.linalg.lstsq(eye / step - now.slope, now.left, rcond=None)[0]
            try:
                ahead = trial(*self._moved(now.local, _shortened(move, len(move))))
            except RobodynError:  # no state of the robot, or near a singular one
                step *= 0.25
                continue
            step *= 2.0 if np.abs(ahead.left).max() < np.abs(now.left).max() else 0.7
            now = ahead
        return now

    def _beyond(self, q: Array) -> Array:
        """How far coordinates are beyond their limits, shape (nq,) [rad, m]."""
        beyond = np.maximum(q - self._model.upper, self._model.lower - q)
        return np.where(beyond > BEYOND, beyond, 0.0)

    def _check_limits(self, q: Array) -> None:
        """Refuse a posture that stops would keep the robot from."""
        beyond = self._beyond(q)
        if not beyond.any():
            return
        k = int(beyond.argmax())
        joint = next(
            name
            for name in self._model.joint_names
            if self._model.joints[name].q.start <= k < self._model.joints[name].q.stop
        )
        raise EquilibriumError(
            f"the posture at rest of {self._model.mechanism.name!r} that was found has {joint!r} "
            f"at {q[k]:.6g}, which is {beyond[k]:.3g} (rad or m) beyond its limit; start nearer to "
            "another one, or hold it",
            joint=joint,
            residual=np.zeros(self._space.nv),
            q=q,
        )

    # -- steady motion ------------------------------------------------------------------------

    def steady(
        self, q: ArrayLike, v: ArrayLike, tau: ByJoint | None, around: Surroundings
    ) -> SteadyMotion:
        """A motion with constant speeds near a state."""
        around = replace(around, locked=named("locked", around.locked))
        q = self._one("q", q, self._space.nq, "steady_motion")
        v = self._one("v", v, self._space.nv, "steady_motion")
        turning = self._turning if v[self._turning].any() else []
        largest = max(1.0, float(np.abs(v).max(initial=0.0)))

        def left(local: Local) -> Array:
            """Accelerations and their rates along the motion, over powers of how fast it turns.

            So that a motion does not get steadier by being slower.
            """
            rate = np.linalg.norm(local.v[turning]) if turning else largest
            return np.concatenate([local.a / rate**2, local.rate / rate**3])

        def near(x: Array, w: Array) -> Local:
            return self._local.near(x, w, tau, around, whole=False)

        def trial(x: Array, w: Array, still: tuple[int, ...] = ()) -> _Trial:
            local = near(x, w)
            places = len(local.tangent.places)
            moves = [k not in still for k in local.tangent.speeds]
            steps = PROBE * np.eye(places + len(moves))[[True] * places + moves]
            columns = []
            for e in steps:
                ahead, behind = (left(near(*self._moved(local, s))) for s in (e, -e))
                columns.append((ahead - behind) / (2.0 * PROBE))
            slope = np.zeros((2 * self._space.nv, places + len(moves)))
            slope[:, [True] * places + moves] = np.stack(columns, axis=-1)
            return _Trial(local, left(local), slope)

        still = self._still(v)
        found = self._newton(lambda x, w: trial(x, w, still), trial(q, v, still))
        if still and not found.is_root:
            found = self._newton(trial, trial(q, v))
        if not found.is_root:
            raise self._error(found.local, found.local.a, "no steady motion was found", "with")
        local = found.local
        self._check_steady(local, tau, around, largest)
        model = self._linear_models.near(local.q, local.v, tau, around)
        return SteadyMotion(local.q, local.v, local.tau, model)

    def _still(self, v: Array) -> tuple[int, ...]:
        """Speeds of joints that do not move in a state; those of a floating base may come to."""
        joints = [self._model.joints[name].v for name in self._model.joint_names]
        return tuple(
            k
            for at in joints
            if not v[at].any() and not (self._model.settings.base == "floating" and at.start == 0)
            for k in range(at.start, at.stop)
        )

    @property
    def _turning(self) -> list[int]:
        """Speeds of turning, not of sliding."""
        joints = [self._model.joints[name] for name in self._model.joint_names]
        return [
            k
            for joint in joints
            for i, k in enumerate(range(joint.v.start, joint.v.stop))
            if joint.kind.unit(i) == "rad"
        ]

    def _check_steady(
        self, local: Local, tau: ByJoint | None, around: Surroundings, rate: float
    ) -> None:
        """Refuse a motion that has no acceleration now, and has some later."""
        for time in (0.7 / rate, 2.9 / rate, 7.3 / rate):
            q = self._space.integrate(local.q, time * local.v)
            try:
                q, v = self._postures.closed_state(q, local.v, None)
                a = self._local.near(q, v, tau, around).a
            except RobodynError:
                a = np.full(self._space.nv, np.inf)
            if not np.abs(a).max(initial=0.0) <= STEADY * rate**2:
                what = f"the motion that was found does not stay so: {time:.3g} s later"
                raise self._error(local, a, what, "accelerates with")

    # -- Newton's method ----------------------------------------------------------------------

    def _newton(self, trial: Try, start: _Trial) -> _Trial:
        """Steps of least length towards zero, shorter and downhill where less would not be left.

        The root, to rounding, or where it gets stuck [Levenberg 1944, Marquardt 1963].
        """
        now, damping = start, 0.0
        for _ in range(ROUNDS):
            U, sizes, Vt = np.linalg.svd(now.slope, full_matrices=False)
            kept = sizes > FLAT * sizes.max(initial=0.0)
            for _ in range(1 if now.is_root else SHORTENED):
                mu = damping * sizes.max(initial=0.0) ** 2
                parts = (U.T @ now.left)[kept] * sizes[kept] / (sizes[kept] ** 2 + mu)
                step = _shortened(-Vt[kept].T @ parts, len(now.local.tangent.places))
                ahead = self._ahead(trial, now, step)
                if ahead is not None:
                    break
                damping = max(10.0 * damping, LEAST)
            if ahead is None:
                break
            now, damping = ahead, 0.1 * damping if damping > LEAST else 0.0
        return now

    def _ahead(self, trial: Try, now: _Trial, step: Array) -> _Trial | None:
        """The state after a step, if less is left there."""
        try:
            ahead = trial(*self._moved(now.local, step))
        except RobodynError:  # no state of the robot, or near a singular one
            return None
        return ahead if np.linalg.norm(ahead.left) < np.linalg.norm(now.left) else None

    def _moved(self, local: Local, step: Array) -> tuple[Array, Array]:
        """The state a step along the independent coordinates, and along speeds if it has them."""
        tangent = local.tangent
        z, u = np.split(step, [len(tangent.places)])
        q = self._space.integrate(local.q, tangent.by_place @ z)
        v = local.v + tangent.turning @ z
        if len(u):
            v = v + tangent.by_speed @ u
        if not self._model.setup.row_names:
            return q, v
        follow = np.ones(self._space.nv, bool)
        follow[[*tangent.speeds, *local.controlled]] = False
        return self._postures.closed_state(q, v, follow)

    # -- arguments and errors -----------------------------------------------------------------

    def _one(self, name: str, x: ArrayLike, size: int, method: str) -> Array:
        array = checked(name, x, size, of=self._model.mechanism.name)
        if array.ndim != 1:
            raise ShapeError(
                f"{name} has shape {array.shape}, expected ({size},): {method} takes one state at "
                "a time",
                name=name,
                given=array.shape,
                expected=(size,),
            )
        return array

    def _error(self, local: Local, a: Array, what: str, how: str) -> EquilibriumError:
        """Names the joint that accelerates most."""
        worst = int(np.abs(a).argmax())
        (joint,) = speed_names(self._model, [worst])
        how = "still accelerates with" if how == "with" else how
        return EquilibriumError(
            f"{what} near this state of {self._model.mechanism.name!r}: {joint!r} {how} "
            f"{abs(a[worst]):.3g} (rad/s^2 or m/s^2); start elsewhere, hold or drive joints, or "
            "give other forces",
            joint=joint,
            residual=a,
            q=local.q,
            v=local.v,
        )


def _shortened(step: Array, places: int) -> Array:
    """A step whose coordinates go no farther than they should at once."""
    return step * min(1.0, LONGEST / max(float(np.abs(step[:places]).max(initial=0.0)), 1e-300))
