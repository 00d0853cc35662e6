"""What shapes the program of a motion, and the numbers that end one."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

from robodyn.simulation.step.machine_code.argument_table import words_of
from robodyn.tolerances import LOOP_APART, LOOP_OPEN

__all__ = ["DIVERGED", "NEWTON", "Plan"]

#: Newton steps that correct drift, at most.
NEWTON = 8

#: Sum of squares of a state that is no motion any more [m^2, rad^2, ...]: its fourth power, as in
#: constraints over speeds and their determinants, is still a number.
DIVERGED = 1e60


@dataclass(frozen=True)
class Plan:
    """What shapes the program.

    Attributes
    ----------
    flat : bool
        All coordinates add.
    driven : bool
        Some joints follow paths.
    closed : bool
        There are loops, which are closed after every step.
    stabilised : bool
        They are held closed by gains, and only looked at.
    dynamics, control, corrections : int
        Inputs of the functions besides the state and forces; ``control`` is -1 without a
        controller that is machine code.
    cut : bool
        Efforts of the controller are cut to a limit.
    """

    flat: bool
    driven: bool = False
    closed: bool = False
    stabilised: bool = False
    dynamics: int = 0
    control: int = -1
    corrections: int = 0
    cut: bool = False

    @cached_property
    def words(self) -> tuple[str, ...]:
        """Names of the words of the table."""
        return words_of(self.dynamics, max(self.control, 0), self.corrections)

    @property
    def apart(self) -> float:
        """Gaps of loops [m, rad] with which no motion goes on."""
        return LOOP_OPEN if self.stabilised else LOOP_APART
