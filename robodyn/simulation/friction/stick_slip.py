"""What sticks and what slides in a motion, and the forces of its dry friction.

In a mode some joints slide, each one way, and the others stick. The friction of those that slide is
a smooth function of the state, ``-way f(|s|)`` at the speed ``s``. That of those that stick keeps
their speeds zero: a multiplier of a constraint. So forces are smooth within a mode; modes change at
instants that events find.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from robodyn.array_types import FloatArray
from robodyn.impacts.complementarity import bounded, evenly_shared
from robodyn.motion.base_motion import BaseMotion
from robodyn.robot import Robot
from robodyn.simulation.friction.dry_friction import DryFriction
from robodyn.simulation.friction.resistances import resistances_of
from robodyn.tolerances import (
    BREAKAWAY,
    COMPLEMENTARITY_ZERO,
    DEAD_CENTRE,
    STATIC_FRICTION,
    STICKING_RANK,
    STOP_SEPARATION,
)

#: tau (nv,) -> accelerations, and forces with those that drive joints, in a state, under
#: the friction of what slides in the present mode.
Plain = Callable[[FloatArray], tuple[FloatArray, FloatArray]]

#: v (nv,) -> accelerations (nv,), and forces of what sticks (n,), in the present mode.
Coded = Callable[[FloatArray], tuple[FloatArray, FloatArray]]

#: Step [s] over the time of a motion, for rates of directions.
NEAR = 1e-4


class StickSlip:
    """The present mode of the dry friction of a robot; events change it.

    driven: Speeds that follow paths, or that stops hold.
    names: Of what resists, n of them; see `Resistances`.
    way (n,): The direction in which each slides, 1 or -1; 0 for those that stick, and for those
        whose joint stands still as it is driven.
    sticks (n,), bool
    any_sticks: Whether some do.
    stands: Nothing can move.
    inputs: What slides, and which speeds move, as inputs of functions with ``friction_modes``.
    holds_by_code: These functions hold what sticks: friction acts along single speeds of a tree.
    """

    def __init__(self, robot: Robot, law: DryFriction, driven: Sequence[int]) -> None:
        self.robot, self.law = robot, law
        self._all = found = resistances_of(robot)
        self.names, self.force = found.names, found.force
        n = len(self.names)
        self._excess, self._fall = law.of(found.joints, repr(robot.name))
        self.static = self.force * (1.0 + self._excess)
        self.driven = tuple(driven)
        self._follows = np.isin(found.speed, self.driven)
        self.way, self.sticks, self.stands = np.zeros(n), np.zeros(n, bool), False
        self._shared = False  # more stick than it takes
        #: Accelerations when the mode was decided, until they have been used.
        self.rates: FloatArray | None = None
        self._of_speeds = bool((found.speed >= 0).all())
        self.holds_by_code = found.of_speeds and not robot.nc
        self.sliding, self.moves = np.zeros((3, n)), np.ones(robot.nv)
        self.sliding[1:] = np.where(self._fall > 0.0, self._excess, 0.0), self._fall
        self.inputs = (self.sliding,) if robot.nc else (self.sliding, self.moves)
        self._forces: Callable[..., FloatArray] | None = None
        if self.holds_by_code:
            self._forces = robot.function("inverse_dynamics")
        self._set(self.way, self.sticks)
        self._fixed = found.directions(robot, robot.neutral()) if self._of_speeds else None

    def _set(self, way: FloatArray, sticks: Any) -> None:
        """Set the mode."""
        self.way, self.sticks = way, sticks
        self._standing = (way == 0.0) & ~sticks
        self.any_sticks, self._any_stands = bool(sticks.any()), bool(self._standing.any())
        left = np.where(sticks, 1.0 + BREAKAWAY, 0.0), np.where(sticks, -1.0 / self.static, way)
        self._of_margins = left
        self.sliding[0] = -way * self.force
        if self.holds_by_code:
            self.moves[self._all.speed] = ~sticks

    @property
    def by_code(self) -> bool:
        """Whether functions of the robot compute the dynamics of the present mode."""
        return self.holds_by_code or not self.any_sticks

    @property
    def moving(self) -> Any:
        """Which speeds of the robot do not stick, shape (nv,), bool."""
        found, own = np.ones(self.robot.nv, bool), self._all.speed[self.sticks]
        found[own[own >= 0]] = False
        return found

    # -- forces ------------------------------------------------------------------------------------

    def directions(self, q: FloatArray) -> FloatArray:
        """Slopes of the speeds of what resists by those of the robot, shape (n, nv)."""
        return self._all.directions(self.robot, q) if self._fixed is None else self._fixed

    def sizes(self, s: FloatArray) -> FloatArray:
        """Friction of what slides at speeds of shape (..., n) [N m, N]."""
        falling = np.where(self._fall > 0.0, self._excess, 0.0) * np.exp(-self._fall * s * s)
        return np.asarray(self.force * (1.0 + falling))

    def _of_smooth_law(self, s: FloatArray) -> FloatArray:
        return np.asarray(-self.force * s / np.hypot(s, self._all.smooth))

    def instead(self, q: FloatArray, v: FloatArray) -> FloatArray:
        """Forces of what slides, less those of the smooth law, shape (nv,) [N m, N]."""
        W = self.directions(q)
        s = W @ v
        return np.asarray((-self.way * self.sizes(s) - self._of_smooth_law(s)) @ W)

    def dynamics(
        self,
        plain: Plain,
        q: FloatArray,
        v: FloatArray,
        tau: FloatArray,
        base: BaseMotion | None,
        driven: Sequence[int],
    ) -> tuple[FloatArray, FloatArray, FloatArray]:
        """Accelerations, forces with those that drive joints, and forces of what sticks.

        driven: Speeds that follow paths.
        Returns a, tau (nv,), (nv,)
        Returns holding (n,) [N m, N]: Zero of what does not stick.
        """
        more, holding = np.zeros(len(v)), np.zeros(len(self.names))
        a, forces = plain(tau)
        if self.any_sticks:
            W = self.directions(q)[self.sticks]
            A = self._mobility(q, W, base, driven) @ W.T
            b = W @ a + self._turning(q, v)[self.sticks]
            several = self._shared
            held = evenly_shared(A, b, self.static[self.sticks]) if several else _solved(A, -b)
            holding[self.sticks] = held
            more = holding[self.sticks] @ W
            a, forces = plain(tau + more)
            own = self._all.speed[self.sticks]
            a[own[own >= 0]] = 0.0
        if self.stands:
            a[:] = 0.0
        own_forces = tau.copy()
        at = list(driven)
        own_forces[at] = forces[at] - more[at]
        return a, own_forces, holding

    def holding(
        self, q: FloatArray, v: FloatArray, a: FloatArray, tau: FloatArray, loads: Mapping[str, Any]
    ) -> FloatArray:
        """Forces of what sticks, where `holds_by_code`, from motions, shape (..., n) [N m, N].

        loads: Wrenches and the motion of the base, as arguments of `Robot.inverse_dynamics`.
        """
        if not self.any_sticks:
            return np.zeros((*q.shape[:-1], len(self.names)))
        needed = self.robot.inverse_dynamics if loads or self._forces is None else self._forces
        found = needed(q, v, a, **loads) - tau
        return np.where(self.sticks, found[..., self._all.speed], 0.0)

    def _mobility(
        self,
        q: FloatArray,
        W: FloatArray,
        base: BaseMotion | None,
        driven: Sequence[int] | None = None,
    ) -> FloatArray:
        """Rates of all speeds a unit of force along each of some directions (k, nv), (k, nv)."""
        held = self.driven if driven is None else tuple(driven)
        if not len(W):
            return W
        return np.asarray(self.robot.impact_dynamics.responses(q, W, held, base))

    def _turning(self, q: FloatArray, v: FloatArray) -> FloatArray:
        """Rates of the speeds of what resists at accelerations of zero, shape (n,)."""
        if self._fixed is not None or not v.any():
            return np.zeros(len(self.names))
        h = NEAR / max(1.0, float(np.abs(v).max()))
        there = [self.directions(self.robot.integrate(q, x * h * v)) @ v for x in (-2, -1, 1, 2)]
        return np.asarray((8.0 * (there[2] - there[1]) - there[3] + there[0]) / (12.0 * h))

    def time_to_rest(self, v: FloatArray, a: FloatArray) -> float:
        """Time [s] until the first joint that slides comes to rest, if its acceleration stays."""
        speeds = self._all.speed
        s, rate = (self.way * np.where(speeds >= 0, x[speeds], 0.0) for x in (v, a))
        slows = rate < 0.0
        return float(np.min(s[slows] / -rate[slows], initial=np.inf))

    # -- modes -------------------------------------------------------------------------------------

    def margins(self, q: FloatArray, v: FloatArray, holding: FloatArray | float) -> FloatArray:
        """Numbers that turn negative where the mode ends, shape (..., n).

        The speed of what slides, in its direction; for what sticks, the part of static friction
        that is left; of a driven joint that stands still, whether it does.
        """
        s = v[..., self._all.speed] if self._of_speeds else self._all.speeds(self.robot, q, v)
        first, slope = self._of_margins
        if self.any_sticks:
            s = np.where(self.sticks, np.abs(holding), s)
        margins = first + slope * s
        if self._any_stands:
            margins = np.where(self._standing, np.where(s == 0.0, 1.0, -1.0), margins)
        return np.asarray(margins)

    def settle(
        self,
        plain: Plain,
        q: FloatArray,
        v: FloatArray,
        tau: FloatArray,
        base: BaseMotion | None,
        over: Any,
        soon: FloatArray,
        instant: float,
        coded: Coded | None = None,
    ) -> FloatArray:
        """Decide what sticks from now on, and return the speeds, of what sticks exactly zero.

        over (n,), bool: Margins that have been used up.
        soon (nv,): Speeds a little later, of which those that are driven count.
        instant [s]: What comes to rest within this time is at rest.
        coded, optional: Accelerations, and forces of what sticks, in the present mode.
        """
        if coded is not None:
            found = self._settled_as_expected(v, over, soon, coded)
            if found is not None:
                return found
        W, turning = self.directions(q), self._turning(q, v)
        jumps = self._mobility(q, W, base)
        s, a = W @ v, plain(tau)[0]
        slow = max(
            STOP_SEPARATION * np.abs(v).max(initial=0.0), instant * np.abs(a).max(initial=0.0)
        )
        still = np.abs(s) <= slow
        moved = np.einsum("ij,ij->i", W, jumps)
        #: Speeds that vanish though the joints on which they depend move, as in dead centres.
        dead = (not self.holds_by_code) & (moved <= DEAD_CENTRE * moved.max(initial=0.0))
        rest = (still | self.sticks | over) & ~self._follows & ~dead
        way = np.where(rest, 0.0, np.sign(s))
        way[self._follows] = np.sign(np.where(still, W @ soon, s))[self._follows]
        v = self._stopped(v, W, jumps, rest)
        breaks, (slips, returned) = self.sticks & over, np.zeros((2, len(way)), bool)
        for _ in range(3 * len(way) + 3):
            self._set(way, np.zeros(len(way), bool))
            at = np.flatnonzero(rest & ~slips)
            a = plain(tau)[0]
            p = bounded(jumps[at] @ W[at].T, (W @ a + turning)[at], self.static[at])
            rates, least = W @ (a + p @ jumps[at]) + turning, STATIC_FRICTION * np.abs(a).max()
            used_up = np.abs(p) >= (1.0 - STATIC_FRICTION) * self.static[at]
            gives = used_up & ((np.abs(rates[at]) > least) | breaks[at])
            back = slips & ~returned & (way * rates < -least)
            if gives.any():
                way[at[gives]], slips[at[gives]] = -np.sign(p[gives]), True
            elif back.any():
                way[back], slips[back], returned[back] = 0.0, False, True
            else:
                break
        turns = dead & (still | over) & ~self._follows
        way[turns] = np.sign(rates[turns])
        self._set(way, rest & ~slips)
        held = jumps[self.sticks]
        self._shared = not self.holds_by_code and len(held) > 0 and _rank(held) < len(held)
        self.stands = self._nothing_moves(q, v, held, base)
        return v

    def _settled_as_expected(
        self, v: FloatArray, over: Any, soon: FloatArray, coded: Coded
    ) -> FloatArray | None:
        """The speeds if all that comes to rest sticks, and only what breaks away slides.

        ``None`` if that is not so: forces are beyond static friction, or act with the motion.
        """
        s, before = v[self._all.speed], (self.way, self.sticks)
        breaks = self.sticks & over
        rest = ((s == 0.0) | self.sticks | over) & ~self._follows
        way = np.where(rest, 0.0, np.sign(s))
        if self._follows.any():
            ahead = np.sign(np.where(s == 0.0, soon[self._all.speed], s))
            way = np.where(self._follows, ahead, way)
        if breaks.any():
            way = np.where(breaks, -np.sign(coded(v)[1]), way)
            rest &= ~breaks
        v = v.copy()
        v[self._all.speed[rest]] = 0.0
        self._set(way, rest)
        a, holding = coded(v)
        if (np.abs(holding) <= self.static).all():
            starts = (way != 0.0) & (s == 0.0) & ~self._follows
            least = STATIC_FRICTION * np.abs(a).max()
            if ((way * a[self._all.speed])[starts] >= -least).all():
                self.rates = a
                return v
        self._set(*before)
        return None

    def _stopped(self, v: FloatArray, W: FloatArray, jumps: FloatArray, rest: Any) -> FloatArray:
        """Speeds after impulses, of the size of rounding, that bring what is at rest to zero."""
        v, own = v.copy(), self._all.speed[rest]
        if v.any() and not self.holds_by_code:
            v += _solved(jumps[rest] @ W[rest].T, -(W[rest] @ v)) @ jumps[rest]
        v[own[own >= 0]] = 0.0
        return v

    def _nothing_moves(
        self, q: FloatArray, v: FloatArray, jumps: FloatArray, base: BaseMotion | None
    ) -> bool:
        """Whether what sticks leaves no motion; jumps of speeds under forces of it (k, nv)."""
        if self.holds_by_code or self.driven or not len(jumps) or self.robot.depends_on_time:
            return False
        if _rank(jumps) < _rank(self._mobility(q, np.eye(self.robot.nv), base)):
            return False
        v[:] = 0.0
        return True


def _solved(A: FloatArray, b: FloatArray) -> FloatArray:
    """The least forces that give some rates, where several do."""
    return np.asarray(np.linalg.lstsq(A, b, rcond=COMPLEMENTARITY_ZERO)[0])


def _rank(A: FloatArray) -> int:
    """Rank of jumps of speeds."""
    return int(np.linalg.matrix_rank(A, tol=STICKING_RANK * np.abs(A).max()))
