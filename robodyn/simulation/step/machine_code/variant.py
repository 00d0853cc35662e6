"""Choices that determine the program of a motion."""

from __future__ import annotations

from typing import NamedTuple

from robodyn.literals import Precision
from robodyn.simulation.step.machine_code.argument_table import argument_names
from robodyn.tolerances import LOOP_APART, LOOP_OPEN

__all__ = ["StepVariant"]


class StepVariant(NamedTuple):
    """Choices that determine the program.

    flat: All coordinates add.
    driven: Some joints follow paths.
    closed: There are loops, which are closed after every step.
    stabilised: Loops are stabilised by gains, and only checked after each step.
    dynamics, control, corrections: Inputs of the functions besides the state and forces;
        ``control`` is -1 without a controller that is machine code.
    cut: Efforts of the controller are cut to a limit.
    real {"double", "float"}: Numbers of states, forces, loads and samples. Times, and all that a
        controller computes with, are ``"double"`` anyway.
    """

    flat: bool
    driven: bool = False
    closed: bool = False
    stabilised: bool = False
    dynamics: int = 0
    control: int = -1
    corrections: int = 0
    cut: bool = False
    real: Precision = "double"

    @property
    def arguments(self) -> tuple[str, ...]:
        """Names of the arguments in the table."""
        return argument_names(self.dynamics, max(self.control, 0), self.corrections)

    @property
    def apart(self) -> float:
        """Gap of loops [m, rad] beyond which no motion continues."""
        return LOOP_OPEN if self.stabilised else LOOP_APART
