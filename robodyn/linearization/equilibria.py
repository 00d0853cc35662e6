"""Postures in which a robot stays at rest, and motions that stay as they are.

Both are roots: of the accelerations over the coordinates, or of the accelerations and their rates
over coordinates and speeds.

Steps are of least length, so that what does not matter is not changed, and loops stay closed.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import replace

import numpy as np
from numpy.typing import ArrayLike

from robodyn.array_types import Array
from robodyn.arrays import all_finite, checked, named, wrong_shape
from robodyn.closed_loops.dynamics.postures import Postures
from robodyn.errors import EquilibriumError, RobodynError, ShapeError
from robodyn.linearization.linear_models import LinearModels
from robodyn.linearization.local_dynamics import LoadCase, Local, LocalDynamics
from robodyn.model.model import Model
from robodyn.model.speed_selection import ByJoint, speed_names
from robodyn.parts.configuration_space import ConfigurationSpace
from robodyn.quick_dataclass import dataclass
from robodyn.results import SteadyMotion
from robodyn.tolerances import (
    EQUILIBRIUM_ACCELERATION,
    EQUILIBRIUM_LIMIT_EXCESS,
    NEXT_TO_SINGULAR,
    STATIONARY_DIRECTION,
    STEADY_ACCELERATION,
)

#: Iterations, how often a step is shortened in each, and the least damping that does it.
ROUNDS, SHORTENED, LEAST = 80, 14, 1e-8

#: Longest step of a coordinate [rad, m].
LONGEST = 0.5

#: Creeping comes nearer to a rest where less than this part of the least so far is left.
NEARER = 0.9

#: First step of creeping, and the shortest where it only gets faster, as from an unstable posture.
BEGUN = 0.1


@dataclass(frozen=True, eq=False)
class Trial:
    """A state on the way to a root.

    ``left``, shape (m,), is what should be zero, and ``slope``, shape (m, n), how that changes with
    a step of the independent coordinates, or of these and the speeds.
    """

    local: Local
    left: Array
    slope: Array

    @property
    def is_root(self) -> bool:
        """Whether no more is left than rounding."""
        scale = max(1.0, float(np.abs(self.slope).max(initial=0.0)))
        return bool(np.abs(self.left).max(initial=0.0) <= EQUILIBRIUM_ACCELERATION * scale)


#: Looks at a state ``q, v``.
Try = Callable[[Array, Array], Trial]


class StateRoots:
    """Looks for roots.

    If the robot is ``closed``, its loops are kept closed.
    """

    def __init__(self, space: ConfigurationSpace, postures: Postures, closed: bool) -> None:
        self._space, self._postures, self._closed = space, postures, closed

    def newton(self, trial: Try, start: Trial) -> Trial:
        """Steps of least length towards zero, shorter and downhill where less would not be left.

        The root, to rounding, or where it gets stuck [Levenberg 1944, Marquardt 1963].
        """
        now, damping = start, 0.0
        if not (all_finite(start.left) and all_finite(start.slope)):
            return start
        for _ in range(ROUNDS):
            U, sizes, Vt = np.linalg.svd(now.slope, full_matrices=False)
            kept = sizes > STATIONARY_DIRECTION * sizes.max(initial=0.0)
            for _ in range(1 if now.is_root else SHORTENED):
                mu = damping * sizes.max(initial=0.0) ** 2
                parts = (U.T @ now.left)[kept] * sizes[kept] / (sizes[kept] ** 2 + mu)
                step = _shortened(-Vt[kept].T @ parts, len(now.local.tangent.places))
                ahead = self._after(trial, now, step)
                if ahead and not np.linalg.norm(ahead.left) < np.linalg.norm(now.left):
                    ahead = None
                if ahead is not None:
                    break
                damping = max(10.0 * damping, LEAST)
            if ahead is None:
                break
            now, damping = ahead, 0.1 * damping if damping > LEAST else 0.0
        return now

    def _after(self, trial: Try, now: Trial, step: Array) -> Trial | None:
        """The state after a step; None where that is no state of the robot, or a singular one."""
        try:
            ahead = trial(*self.moved(now.local, step))
        except RobodynError:
            return None
        return ahead if all_finite(ahead.left) and all_finite(ahead.slope) else None

    def moved(self, local: Local, step: Array) -> tuple[Array, Array]:
        """The state a step along the independent coordinates, and along speeds if it has them."""
        tangent = local.tangent
        z, u = np.split(step, [len(tangent.places)])
        q = self._space.integrate(local.q, tangent.by_place @ z)
        v = local.v + tangent.turning @ z
        if len(u):
            v = v + tangent.by_speed @ u
        if not self._closed:
            return q, v
        follow = np.ones(self._space.nv, bool)
        follow[[*tangent.speeds, *local.controlled]] = False
        return self._postures.closed_state(q, v, follow)

    def creeping(self, trial: Try, start: Trial) -> Trial:
        """Follow ``dz/ds = a``, as a robot without inertia in a viscous fluid, to a stable posture.

        By implicit Euler steps, which grow as the rest comes nearer; where it comes no nearer, as
        where joints turn round and round, they end.
        """
        now, step = start, BEGUN
        least, since = np.inf, 0
        for _ in range(4 * ROUNDS):
            if now.is_root or since == ROUNDS:
                break
            eye = np.eye(len(now.left)) * max(1.0, float(np.abs(now.slope).max()))
            move = np.linalg.lstsq(eye / step - now.slope, now.left, rcond=None)[0]
            ahead = self._after(trial, now, _shortened(move, len(move)))
            if ahead is None:
                if np.abs(move).max() < NEXT_TO_SINGULAR:
                    break
                step *= 0.25
                continue
            before, after = np.abs(now.left).max(), np.abs(ahead.left).max()
            step = 2.0 * step if after < before else max(0.25 * step, min(step, BEGUN))
            least, since = (after, 0) if after < NEARER * least else (least, since + 1)
            now = ahead
        return now


def _shortened(step: Array, places: int) -> Array:
    """A step whose coordinates go no farther than they should at once."""
    return step * min(1.0, LONGEST / max(float(np.abs(step[:places]).max(initial=0.0)), 1e-300))


#: A step for difference quotients; they only lead to a root, and do not say where it is.
PROBE = 1e-5


class Equilibria:
    """Looks for postures at rest and for steady motions."""

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
        self._name = model.mechanism.name
        self._roots = StateRoots(space, postures, bool(model.setup.row_names))

    # -- at rest ------------------------------------------------------------------------------

    def at_rest(
        self, q: ArrayLike, hold: Iterable[str], tau: ByJoint | None, around: LoadCase
    ) -> Array:
        """A posture at rest near another one, shape (nq,)."""
        around = replace(around, locked=named("hold", hold))
        q = self._one("q", q, self._space.nq, "equilibrium")
        if self._model.setup.row_names:
            q = self._postures.assemble(q, tuple(around.locked), None, True)

        def trial(x: Array, v: Array) -> Trial:
            local = self._one_near(x, v, tau, around)
            return Trial(local, local.a[list(local.tangent.speeds)], local.a_by_place)

        start = trial(q, np.zeros(self._space.nv))
        found = self._roots.newton(trial, start)
        fits = found.is_root and not self._beyond(found.local.q).any()
        if not fits and found.slope.shape[0] == found.slope.shape[1]:
            found = self._roots.newton(trial, self._roots.creeping(trial, start))
        if not found.is_root:
            what = f"no posture at rest of {self._name!r} was found near this one; at last"
            raise self._error(found.local, found.local.a, what)
        self._check_limits(found.local.q)
        return found.local.q

    def _beyond(self, q: Array) -> Array:
        """How far coordinates are beyond their limits, shape (nq,) [rad, m]."""
        beyond = np.maximum(q - self._model.upper, self._model.lower - q)
        return np.where(beyond > EQUILIBRIUM_LIMIT_EXCESS, beyond, 0.0)

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
            f"the posture at rest of {self._name!r} that was found has {joint!r} at "
            f"{q[k]:.6g}, which is {beyond[k]:.3g} (rad or m) beyond its limit; start nearer to "
            "another one, or hold it",
            joint=joint,
            residual=np.zeros(self._space.nv),
            q=q,
        )

    # -- steady motion ------------------------------------------------------------------------

    def steady(
        self, q: ArrayLike, v: ArrayLike, tau: ByJoint | None, around: LoadCase
    ) -> SteadyMotion:
        """A motion with constant speeds near a state."""
        around = replace(around, locked=named("locked", around.locked))
        q = self._one("q", q, self._space.nq, "steady_motion")
        v = self._one("v", v, self._space.nv, "steady_motion")
        turning = self._angular_speeds if v[self._angular_speeds].any() else []
        largest = max(1.0, float(np.abs(v).max(initial=0.0)))

        def left(local: Local) -> Array:
            """Accelerations and their rates along the motion, over powers of how fast it turns.

            So that a motion does not get steadier by being slower.
            """
            rate = np.linalg.norm(local.v[turning]) if turning else largest
            changing = self._local.rate(local, tau, around)
            with np.errstate(over="ignore", invalid="ignore"):  # what is not finite is no root
                return np.concatenate([local.a / rate**2, changing / rate**3])

        def near(x: Array, w: Array) -> Local:
            return self._one_near(x, w, tau, around, whole=False)

        def trial(x: Array, w: Array, still: tuple[int, ...] = ()) -> Trial:
            local = near(x, w)
            places = len(local.tangent.places)
            moves = [k not in still for k in local.tangent.speeds]
            steps = PROBE * np.eye(places + len(moves))[[True] * places + moves]
            slope = np.zeros((2 * self._space.nv, places + len(moves)))
            for k, e in zip(np.flatnonzero([True] * places + moves), steps, strict=True):
                ahead, behind = (left(near(*self._roots.moved(local, s))) for s in (e, -e))
                with np.errstate(over="ignore", invalid="ignore"):
                    slope[:, k] = (ahead - behind) / (2.0 * PROBE)
            return Trial(local, left(local), slope)

        still = self._immobile_speeds(v)
        found = self._roots.newton(lambda x, w: trial(x, w, still), trial(q, v, still))
        if still and not found.is_root:
            found = self._roots.newton(trial, trial(q, v))
        if not found.is_root:
            what = f"no steady motion of {self._name!r} was found near this state; at last"
            raise self._error(found.local, found.local.a, what)
        local = found.local
        self._check_steady(local, tau, around, largest)
        model = self._linear_models.near(local.q, local.v, tau, around)
        return SteadyMotion(local.q, local.v, local.tau, model)

    def _immobile_speeds(self, v: Array) -> tuple[int, ...]:
        """Speeds of joints that do not move in a state; those of a floating base may come to."""
        joints = [self._model.joints[name].v for name in self._model.joint_names]
        return tuple(
            k
            for at in joints
            if not v[at].any() and not (self._model.settings.base == "floating" and at.start == 0)
            for k in range(at.start, at.stop)
        )

    @property
    def _angular_speeds(self) -> list[int]:
        """Speeds of turning, not of sliding."""
        joints = [self._model.joints[name] for name in self._model.joint_names]
        return [
            k
            for joint in joints
            for i, k in enumerate(range(joint.v.start, joint.v.stop))
            if joint.kind.unit(i) == "rad"
        ]

    def _check_steady(
        self, local: Local, tau: ByJoint | None, around: LoadCase, rate: float
    ) -> None:
        """Refuse a motion that has no acceleration now, and has some later."""
        for time in (0.7 / rate, 2.9 / rate, 7.3 / rate):
            q = self._space.integrate(local.q, time * local.v)
            try:
                q, v = self._postures.closed_state(q, local.v, None)
                a = self._one_near(q, v, tau, around).a
            except RobodynError:
                a = np.full(self._space.nv, np.inf)
            if not np.abs(a).max(initial=0.0) <= STEADY_ACCELERATION * rate**2:
                what = (
                    f"the motion of {self._name!r} that was found is not steady: {time:.3g} s later"
                )
                raise self._error(local, a, what)

    # -- arguments and errors -----------------------------------------------------------------

    def _one(self, name: str, x: ArrayLike, size: int, method: str) -> Array:
        array = checked(name, x, size, of=self._name)
        if array.ndim != 1:
            told = f"({size},): {method} takes one state at a time"
            raise wrong_shape(name, array.shape, told, (size,))
        return array

    def _one_near(
        self,
        q: Array,
        v: Array,
        tau: ByJoint | None,
        around: LoadCase,
        *,
        whole: bool = True,
    ) -> Local:
        """The dynamics near one state, under what acts on one."""
        local = self._local.near(q, v, tau, around, whole=whole)
        if local.a.ndim != 1:
            raise ShapeError(
                f"what acts on {self._name!r} has leading axes {local.a.shape[:-1]}, expected "
                "none: forces, accelerations and wrenches are those of one state at a time",
                name="arguments",
                given=local.a.shape[:-1],
                expected=(),
            )
        return local

    def _error(self, local: Local, a: Array, what: str) -> EquilibriumError:
        """Names the joint that accelerates most."""
        worst = int(np.abs(a).argmax())
        (joint,) = speed_names(self._model, [worst])
        return EquilibriumError(
            f"{what} {joint!r} accelerates with {abs(a[worst]):.3g} (rad/s^2 or m/s^2); start "
            "elsewhere, hold or drive joints, or give other forces",
            joint=joint,
            residual=a,
            q=local.q,
            v=local.v,
        )
