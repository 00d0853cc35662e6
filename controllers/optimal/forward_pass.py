"""Motions from one start under a law with fractions of a change, computed together.

They are those of `robodyn.rollout`, bit for bit, but without what a search does not need: events,
and checks of energy, friction and limits. A motion that breaks down does not end the others.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from robodyn import Trajectory
from robodyn.array_types import FloatArray
from robodyn.errors import RobodynError
from robodyn.literals import IntegratorName
from robodyn.simulation.control.compile_controller import compile_controller
from robodyn.simulation.loads.loads import Loads
from robodyn.simulation.loads.tables import Table
from robodyn.simulation.step.compiled_motion import CompiledMotion
from robodyn.simulation.step.stepper import Stepper

from .plan_law import PlanLaw

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

    def motions(self, parts: FloatArray, run: Samples | Trajectory) -> list[Samples | None] | None:
        """A motion for each fraction of the change of the law, from the start of ``run``.

        Returns
        -------
        motions : list of Samples or None
            ``None`` for motions that break down.
        """
        return self._moved([run] * len(parts), parts, None)

    def whole_changes(
        self, runs: Sequence[Samples | Trajectory], tables: Sequence[Tables]
    ) -> list[Samples | None] | None:
        """A motion from the start of each given motion, each under a law of its own.

        Parameters
        ----------
        tables : sequence of tuple of ndarray
            Arguments of `PlanLaw.lead` for each motion; the whole change is made.

        Returns
        -------
        motions : as of `motions`
        """
        if self._compiled is None:
            return None
        times, signals = self._law.times, self._compiled.signals
        rows: list[list[FloatArray]] = []
        for own in tables:
            self._law.lead(*own)
            rows.append([x.rows(times, 0, len(times)) for x in signals])
        own_signals = [
            Table(np.stack(values, axis=1), len(runs) * x.size, x.size)
            for x, values in zip(signals, zip(*rows, strict=True), strict=True)
        ]
        return self._moved(runs, np.ones(len(runs)), own_signals)

    def _moved(
        self,
        runs: Sequence[Samples | Trajectory],
        parts: FloatArray,
        signals: Sequence[Table] | None,
    ) -> list[Samples | None] | None:
        """Motions from the starts of others, with fractions of a change or under their own laws."""
        if self._compiled is None:
            return None
        count, times, run = len(parts), self._law.times, runs[0]
        q, v = (np.stack([getattr(x, name)[0] for x in runs]) for name in "qv")
        compiled = replace(self._compiled, initial=parts[:, None])
        motion = self._stepper.compiled(times, q, v, compiled, tabled=len(times))
        assert motion is not None, "a robot with motors has joints"
        if signals is not None:
            motion.fill_tables(0)
            motion.replace_signals(1, signals)
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
