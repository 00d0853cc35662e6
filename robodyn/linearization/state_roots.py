"""Roots over the states of a robot: where a few numbers vanish, and how to get there.

Steps are of least length, so that what does not matter is not changed, and loops stay closed.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from robodyn.array_types import Array
from robodyn.arrays import all_finite
from robodyn.closed_loops.dynamics.postures import Postures
from robodyn.errors import RobodynError
from robodyn.linearization.local_dynamics import Local
from robodyn.parts.configuration_space import ConfigurationSpace
from robodyn.quick_dataclass import dataclass
from robodyn.tolerances import EQUILIBRIUM_ACCELERATION, NEXT_TO_SINGULAR, STATIONARY_DIRECTION

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
