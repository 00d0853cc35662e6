"""Steps by machine code in modes with events: steps without an event are kept.

Machine code does a block of steps, and witness functions are evaluated at their ends. The steps
before the first one in which an event may happen are kept. That step is repeated with numbers, to
locate the event. Blocks grow while no event happens.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

import numpy as np

from robodyn.array_types import FloatArray
from robodyn.simulation.control.running_controller import RunningController
from robodyn.simulation.events.detector import EventDetector
from robodyn.simulation.events.witness import StepSamples
from robodyn.simulation.friction.stick_slip import StickSlip
from robodyn.simulation.step.compiled_motion import CompiledMotion

#: Numbers of steps: of the largest block, of the first of a mode, and of one after a step that may
#: have had an event.
LONGEST_BLOCK, FIRST_BLOCK, SHORTEST_BLOCK = 2048, 128, 4

#: Factor by which blocks grow while no event happens.
GROWTH = 16


class SpeculativeSteps:
    """The steps of a mode with events.

    motion: Of one robot.
    times (n,) [s]: All instants of the motion.
    held: Speeds of joints that stops hold.
    to_the_end: There is a sample at the end of the last step, too; not of a controller that is
        machine code, which would be sampled there.
    acting: Called with the forces of the controller before witness functions that may depend on
        them.
    friction, optional: Its forces are far off where what slides has come to rest.
    by_python: Python calls the controller, as it is not machine code.
    q, v, a, tau (steps + 1, ...): Samples of a block: the first one is the start of its first step.
    interrupt: Ctrl-C during a witness function: to be raised after the steps before it are
        recorded.
    """

    def __init__(
        self,
        motion: CompiledMotion,
        controller: RunningController | None,
        times: FloatArray,
        detector: EventDetector,
        held: Sequence[int],
        to_the_end: bool,
        acting: Callable[[FloatArray], None],
        friction: StickSlip | None,
    ) -> None:
        self._motion, self._controller, self._times = motion, controller, times
        self._detector, self._held, self._acting = detector, list(held), acting
        self._to_the_end, self._friction = to_the_end, friction
        self._shortest = SHORTEST_BLOCK if detector.asks_python else GROWTH * SHORTEST_BLOCK
        self.by_python = controller is not None and motion.controller is None
        self.interrupt: KeyboardInterrupt | None = None
        self._block, self._not_before = min(FIRST_BLOCK, LONGEST_BLOCK), 0
        rows = (1 if self.by_python else min(LONGEST_BLOCK, len(times))) + 1
        sizes = (motion.q.shape[1], *[motion.v.shape[1]] * 3)
        self.q, self.v, self.a, self.tau = arrays = [np.empty((rows, n)) for n in sizes]
        motion.samples(arrays)
        if motion.controller is not None:
            self._states = np.empty((rows, 1, motion.controller.layout.recorded_size))
            motion.samples_of_controller(self._states)

    @property
    def _has_state(self) -> bool:
        """Whether the machine code of the controller has a state."""
        compiled = self._motion.controller
        return compiled is not None and not compiled.is_function

    def advance(
        self, k: int, stop: int, q: FloatArray, v: FloatArray, tau: FloatArray | None
    ) -> int:
        """Do a block of steps, and return how many are kept.

        k, stop: Indices of the present instant, and of the last one to which the motion may go.
        tau (nv,), optional: Forces of a controller that Python calls.
        """
        if k < self._not_before:
            return 0
        if self._has_state and not self._continues(k):
            return 0
        friction = self._friction
        if friction is not None and friction.rates is not None:  # the mode has changed
            self._block = self._next_block(k, v, friction.rates, FIRST_BLOCK)
            friction.rates = None
        done = self._run(k, min(stop - k, 1 if self.by_python else self._block), q, v, tau)
        count = self._steps_without_event(k, done, tau) if done else 0
        before, self._block = self._block, self._shortest
        if count == done > 0:
            longest = min(GROWTH * before, LONGEST_BLOCK)
            self._block = self._next_block(k, self.v[count - 1], self.a[count - 1], longest)
        if count < done:  # that step may have an event
            self._not_before = k + count + 1
        if count and self._has_state:
            self._keep_state(k, count, done, q, v)
        if self._held and count:  # forces of stops are not recorded as torques
            self.tau[:count, self._held] = 0.0 if tau is None else tau[self._held]
        return count

    def _next_block(self, k: int, v: FloatArray, a: FloatArray, longest: int) -> int:
        """Length of a block from an instant on, which ends about where something comes to rest."""
        time = math.inf if self._friction is None else self._friction.time_to_rest(v, a)
        steps = time / float(self._times[k + 1] - self._times[k])
        return int(min(longest, max(steps, self._shortest)))

    def _run(self, k: int, count: int, q: FloatArray, v: FloatArray, tau: FloatArray | None) -> int:
        """Do up to ``count`` steps, and return how many were done."""
        m, state = self._motion, (q, v) if tau is None else (q, v, tau)
        if self._has_state and k:
            assert self._controller is not None and m.controller is not None
            m.controller_state[0] = m.controller.layout.row(self._controller.state)
            m.tau[0] = self._controller.applied
        try:
            sampled = m.sampled_inputs(k)
        except Exception:
            # an error of a path at instants that the motion may never reach: numbers will raise it
            self._not_before = k + LONGEST_BLOCK
            return 0
        if sampled is not None:
            m.load_tables(k, *sampled)
        m.begin_samples(k)
        count = m.advance_from(k, count, state, self._to_the_end)
        if not self._to_the_end:
            self.a[count, :1] = np.nan
        self.q[count], self.v[count] = m.q[0], m.v[0]
        return count

    def _steps_without_event(self, k: int, steps: int, tau: FloatArray | None) -> int:
        """Steps before the first one in which an event may happen."""

        def acting(j: int) -> None:
            self._acting(self.tau[j] if tau is None else tau)

        own, times = slice(steps + 1), self._times[k : k + steps + 1]
        q, v, a, forces = (x[own] for x in (self.q, self.v, self.a, self.tau))
        samples = StepSamples(times, q, v, a, forces, tau)
        asked = None if self._controller is None else acting
        count, self.interrupt = self._detector.steps_without_event(samples, asked)
        return count

    # -- the state of a controller ----------------------------------------------------------------

    def _continues(self, k: int) -> bool:
        """Whether the controller was last sampled at the instant before, as machine code needs."""
        controller = self._controller
        return controller is not None and controller.continues_at(self._times, k)

    def _keep_state(self, k: int, count: int, done: int, q: FloatArray, v: FloatArray) -> None:
        """Set the state of the controller to that after ``count`` of the steps done."""
        m = self._motion
        assert self._controller is not None and m.controller is not None
        if count < done:  # repeat the steps that are kept
            self._run(k, count, q, v, None)
        at, layout = self._times[k : k + count], m.controller.layout
        self._controller.log.extend_rows(at, self._states[:count], layout.recorded, ())
        row = m.controller_state[0].copy()
        self._controller.restore(float(at[-1]), layout.state(row), m.tau[0].copy())
