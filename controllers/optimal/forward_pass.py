"""The law of a search for a plan, and motions under fractions of its change, computed together.

They are those of `robodyn.rollout`, bit for bit, but without what a search does not need: events,
and checks of energy, friction and limits. A motion that breaks down does not end the others.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import ClassVar, NamedTuple

import numpy as np

from robodyn import Robot, Trajectory
from robodyn.array_types import FloatArray
from robodyn.errors import RobodynError
from robodyn.literals import IntegratorName
from robodyn.simulation import ControllerSample
from robodyn.simulation.control.compile_controller import compile_controller
from robodyn.simulation.control.compiled_controller import CompiledController
from robodyn.simulation.control.controller import State
from robodyn.simulation.control.tracing import SymbolicTime
from robodyn.simulation.loads.loads import Loads, Table
from robodyn.simulation.step.compiled_motion import CompiledMotion
from robodyn.simulation.step.stepper import Stepper
from robodyn.symbolic.scalar import clip

from ..support.linear_feedback import linear_feedback, state_error


class _Tables(NamedTuple):
    """Tables for the forces, one row for each sample."""

    q: FloatArray
    v: FloatArray
    tau: FloatArray
    change: FloatArray
    gains: FloatArray


@dataclass(eq=False, repr=False)
class PlanLaw:
    """Tabulated forces, a fraction of a change of them, and feedback to a motion, within limits.

    The fraction is the state of this controller, which is constant, and may differ between motions.
    Machine code does not depend on the contents of the tables, which `follow` and `lead` set.

    Attributes
    ----------
    times : ndarray, shape (n + 1,) [s]
        Times of samples; forces are zero from the last one on.
    motors : tuple of int
        Indices in v of the m motors.
    most : ndarray, shape (m,) [N m, N]
        Largest forces.
    """

    symbolic: ClassVar[bool] = True

    robot: Robot
    times: FloatArray
    motors: tuple[int, ...]
    most: FloatArray

    def __post_init__(self) -> None:
        self._error = state_error(self.robot)
        self._part = 0.0
        self.follow(np.zeros((len(self.times) - 1, len(self.motors))))

    def follow(self, tau: FloatArray) -> PlanLaw:
        """Set forces, shape (n, m), without feedback, and return the law itself."""
        n, nv = len(tau), self.robot.nv
        q, v = np.tile(self.robot.neutral(), (n, 1)), np.zeros((n, nv))
        return self.lead(q, v, tau, np.zeros(tau.shape), np.zeros((*tau.shape, 2 * nv)))

    def lead(
        self,
        q: FloatArray,
        v: FloatArray,
        tau: FloatArray,
        change: FloatArray,
        gains: FloatArray,
        part: float = 0.0,
    ) -> PlanLaw:
        """Set forces near a motion with feedback, and return the law itself.

        Parameters
        ----------
        q, v : ndarray, shape (n, nq), (n, nv)
            The motion.
        tau, change : ndarray, shape (n, m)
        gains : ndarray, shape (n, m, 2 nv)
        part : float
            Fraction of the change, for motions without one of their own.
        """
        self._tables, self._part = _Tables(q, v, tau, change, gains), part
        return self

    def initial_state(self, sample: ControllerSample) -> State:
        """The fraction of the change."""
        return {"part": np.full((*sample.v.shape[:-1], 1), self._part)}

    def update(self, sample: ControllerSample, state: State) -> tuple[FloatArray, State]:
        """Torques, shape (..., nv) [N m, N]."""
        t, q, v = sample.t, sample.q, sample.v
        if isinstance(t, SymbolicTime):
            wanted = _Tables(*t.sampled("plan", self._at, (self,), self._at_times))
        else:
            wanted = self._at(t)
        error = self._error(q, v, wanted.q, wanted.v)
        tau = wanted.tau + state["part"] * wanted.change
        forces = linear_feedback(self.motors, self.robot.nv, tau, wanted.gains, error)
        finite = np.flatnonzero(np.isfinite(self.most))
        at = np.array(self.motors, int)[finite]
        forces[..., at] = clip(forces[..., at], -self.most[finite], self.most[finite])
        return forces, state

    def _at(self, t: float) -> _Tables:
        return _Tables(*(x[0] for x in self._at_times(np.array([t]))))

    def _at_times(self, t: FloatArray) -> _Tables:
        k = np.searchsorted(self.times, t, side="right") - 1
        last = len(self.times) - 2
        rows = _Tables(*(x[np.minimum(k, last)] for x in self._tables))
        for x in (rows.tau, rows.change, rows.gains):
            x[k > last] = 0.0
        return rows


#: Arguments of `PlanLaw.lead`: a motion, forces, a change of them, and gains.
Tables = tuple[FloatArray, FloatArray, FloatArray, FloatArray, FloatArray]


class Samples(NamedTuple):
    """A motion.

    Attributes
    ----------
    t : ndarray, shape (n + 1,) [s]
    q, v, tau : ndarray, shape (n + 1, nq), (n + 1, nv), (n + 1, nv)
    """

    t: FloatArray
    q: FloatArray
    v: FloatArray
    tau: FloatArray


class ForwardPass:
    """The steps of motions, as machine code.

    Parameters
    ----------
    integrator : str
        An explicit one.
    """

    def __init__(self, loads: Loads, integrator: IntegratorName, law: PlanLaw) -> None:
        self._law, self._stepper = law, Stepper(loads, integrator, until=float(law.times[-1]))
        compiled = compile_controller(loads.robot, law, law.times)
        self._compiled = compiled if self._stepper.by_machine_code else None

    def motions(
        self, runs: Sequence[Samples | Trajectory], tables: Sequence[Tables], parts: FloatArray
    ) -> list[Samples | None] | None:
        """A motion from the start of each given one, with a fraction of a change of its forces.

        Parameters
        ----------
        tables : sequence of tuple of ndarray
            Arguments of `PlanLaw.lead` for each motion.
        parts : ndarray
            The fraction of each.

        Returns
        -------
        motions : list of Samples or None, or None
            ``None`` for motions that break down, and in place of the list without machine code.
        """
        if self._compiled is None:
            return None
        self._law.lead(*tables[0])
        count, times, run = len(parts), self._law.times, runs[0]
        q, v = (np.stack([getattr(x, name)[0] for x in runs]) for name in "qv")
        compiled = replace(self._compiled, initial=parts[:, None])
        motion = self._stepper.compiled(times, q, v, compiled, tabled=len(times))
        assert motion is not None, "a robot with motors has joints"
        if any(own is not tables[0] for own in tables):
            motion.fill_tables(0)
            motion.replace_signals(1, self._signals(compiled, tables))
        sizes = run.q.shape[1], *[run.v.shape[1]] * 3
        samples = [np.empty((len(times), count, size)) for size in sizes]
        nothing = np.empty((len(times), count, 0))
        motion.samples(samples)
        motion.samples_of_controller(nothing)
        broken = np.zeros(count, bool)

        def fallback(k: int, r: int) -> None:
            if broken[r] or not self._stepped(motion, k, r):
                broken[r] = True  # it continues along the earlier motion
                motion.q[r], motion.v[r] = runs[r].q[k + 1], runs[r].v[k + 1]
                motion.controller_state[r] = 0.0

        motion.advance(0, len(times) - 1, True, fallback)
        q, v, _, tau = samples
        return [
            None if broken[r] else Samples(times, q[:, r], v[:, r], tau[:, r]) for r in range(count)
        ]

    def _signals(self, compiled: CompiledController, tables: Sequence[Tables]) -> list[Table]:
        """The values of the law's signals for each motion."""
        times, found = self._law.times, []
        for own in tables:
            self._law.lead(*own)
            found.append([x.rows(times, 0, len(times)) for x in compiled.signals])
        return [
            Table(np.stack(values, axis=1), len(tables) * x.size, x.size)
            for x, values in zip(compiled.signals, zip(*found, strict=True), strict=True)
        ]

    def _stepped(self, motion: CompiledMotion, k: int, r: int) -> bool:
        """Do a step that machine code cannot do with numbers, and return whether it worked."""
        if not self._stepper.robot.nc:  # without loops, machine code does all possible steps
            return False
        t, end = self._law.times[k : k + 2].tolist()
        state = motion.q[r].copy(), motion.v[r].copy(), motion.tau[r].copy()
        try:
            stepped = self._stepper.for_motion(r).step(t, *state, end - t)
        except RobodynError:
            return False
        motion.q[r], motion.v[r] = stepped
        return True
