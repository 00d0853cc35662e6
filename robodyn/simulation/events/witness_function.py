"""Witness functions, whose zeros are events, and their states during a motion."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple

from robodyn.array_types import FloatArray
from robodyn.simulation.events.event import Action


class StepSamples(NamedTuple):
    """Samples at the start of some steps and at the end of each.

    q, v (n + 1, nq), (n + 1, nv) [rad, m], [rad/s, m/s]
    forces (n + 1, nv) [N m, N]: Forces of the controller, and those that drive or hold joints.
    tau (nv,), or None [N m, N]: Forces of the controller in all of these steps, if Python calls it.
    """

    t: FloatArray
    q: FloatArray
    v: FloatArray
    forces: FloatArray
    tau: FloatArray | None


@dataclass(frozen=True, eq=False)
class WitnessFunction:
    """A function of the state whose zero is an event.

    value: (t, q, v) -> float.
    direction {0, 1, -1}: As of `robodyn.Event`.
    actions: What is done where it happens.
    one_sided: The function is a gap, which is negative by rounding alone.
    already: It also happens where the function is negative from a jump on.
    of_state: The function may depend on what acts, which changes where time does not go on.
    values, optional: (t, q, v) -> the values at many samples at once, or ``None`` where the
        function has to be asked for each of them: arrays of shape (n,), (n, nq), (n, nv) -> (n,).
    sure_steps, optional: `StepSamples` -> how many of the steps certainly have no event of this
        function, in place of its values; functions that share one are asked by it together.
    when_endless, optional: The action taken instead where it happens again and again in ever
        shorter intervals. Default: that is an error.
    """

    name: str
    value: Callable[[float, FloatArray, FloatArray], float]
    direction: int = 0
    actions: tuple[Action, ...] = ()
    one_sided: bool = False
    already: bool = False
    of_state: bool = False
    values: Callable[[FloatArray, FloatArray, FloatArray], FloatArray | None] | None = None
    sure_steps: Callable[[StepSamples], int] | None = None
    when_endless: Action | None = None


@dataclass(slots=True, eq=False)
class WitnessState:
    """State of a witness function at the present instant of a motion.

    side {1, -1, 0}: Sign of the function. ``None`` after a jump of the state, until the next step
        shows it.
    came_from {1, -1, 0}: Sign before its latest event, or the present sign if there was none.
    value: Present value.
    change, change_at_event: Changes of the value in the latest step, and in the step of its latest
        event.
    must_separate: Its event has happened at this instant, with `Change.must_separate`.
    one_by_one: Its values for many samples at once are wrong, so it is called for each sample.
    """

    function: WitnessFunction
    side: int | None = None
    came_from: int = 0
    value: float = 0.0
    change: float = 0.0
    change_at_event: float = 0.0
    must_separate: bool = False
    one_by_one: bool = False

    def stepped(self, side: int, change: float) -> None:
        """Note the sign at the start of a step, and the change of the value in it."""
        self.came_from, self.change = side, abs(change)
