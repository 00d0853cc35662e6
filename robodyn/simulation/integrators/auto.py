"""Chooses between the explicit and the implicit method as the motion goes on.

It begins with the explicit pair of `adaptive`. Steps that stability keeps short, and not accuracy,
show in what rates change by between the two stages at the end of a step [Hairer, Wanner 1996,
IV.2]: after enough of them it goes on with the method of `implicit`, and goes back when steps of
that are short enough for the other. The motion lists each choice among its events, and the log
``robodyn.simulation`` has it in a line.
"""

from __future__ import annotations

from robodyn.array_types import FloatArray
from robodyn.simulation.integrators.adaptive import AdaptiveSteps, StiffMotion
from robodyn.simulation.integrators.implicit import ImplicitSteps
from robodyn.simulation.integrators.method import Motion, Solver, Start

#: So many samples with steps this short for the explicit pair are made before it is taken again.
EASY, SAMPLES = 1.0, 10


class SwitchedSteps:
    """Adaptive steps of one motion, explicit until it is stiff and implicit while it is.

    tolerance [rad, m]
    """

    def __init__(self, tolerance: float) -> None:
        self._tolerance = tolerance
        self._explicit: AdaptiveSteps | None = None
        self._implicit = ImplicitSteps(tolerance)
        self._easy = 0

    def advance(self, motion: Motion, start: Start, h: float) -> tuple[FloatArray, FloatArray]:
        """The state after ``h`` [s]."""
        end = start.t + h
        if self._explicit is None and self._easy in (0, SAMPLES):
            self._take(motion, start.t, "adaptive")
            self._explicit = AdaptiveSteps(self._tolerance, stops=True)
        if self._explicit is not None:
            try:
                return self._explicit.advance(motion, start, h)
            except StiffMotion as found:
                start = motion.start(*found.state)
                self._take(motion, start.t, "implicit")
                self._explicit, self._implicit, self._easy = None, ImplicitSteps(self._tolerance), 1
        state = self._implicit.advance(motion, start, end - start.t)
        self._easy = self._easy + 1 if self._implicit.stiffness < EASY else 1
        return state

    def _take(self, motion: Motion, t: float, name: str) -> None:
        why = "its steps are short enough" if self._easy else "explicit steps do for its start"
        if name == "implicit":
            why = "it is stiff"
        if self._explicit is not None or self._easy:  # not the one that it begins with
            motion.note(t, f"integrator {name!r}: {why}")
        moved = motion.loads.robot.name
        import logging  # takes a while to import, and this integrator alone logs

        logger = logging.getLogger("robodyn.simulation")
        logger.info("the motion of %r goes on with %r at %.6g s: %s", moved, name, t, why)


#: Of the lower one of both orders.
METHOD = Solver(3, lambda tolerance: SwitchedSteps(tolerance).advance)
