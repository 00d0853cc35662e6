"""Choices that determine the program of a motion."""

from __future__ import annotations

from typing import NamedTuple

from robodyn.literals import Precision
from robodyn.tolerances import LOOP_APART, LOOP_OPEN

#: Sizes; steps (from, to, whether the last instant is recorded, samples before those there is room
#: for); robots, and most of them in a block; numbers of a block's room; instants of a step, and the
#: step at which tables begin; driven coordinates and speeds, and free speeds; numbers of the state
#: of a controller, and those that are recorded.
NUMBERS = (
    "nq", "nv", "first", "last", "final", "before", "robots", "block", "room", "instants", "table",
    "driven_nq", "driven_nv", "free_nv", "state_size", "recorded",
)  # fmt: skip

#: Functions of the robot, and memory of Python.
FUNCTIONS = ("dynamics", "integrate", "rate", "corrections", "control", "allocate", "free")

#: Instants, and how many samples are recorded before each; the state, which is carried on, and
#: forces; samples; for each robot the step that it
#: has come to, and whether it cannot go on; where driven positions, velocities, accelerations
#: stand, tables of them, the free speeds; largest efforts; the state of the controller after its
#: latest sample and before it, and the forces that acted until then; samples of that state.
ARRAYS = (
    "times", "rows", "q", "v", "tau", "samples_q", "samples_v", "samples_a", "samples_tau",
    "reached", "stuck", "driven_q", "driven_v", "path_q", "path_v", "path_a", "free_v", "effort",
    "controller_state", "controller_state_before", "applied", "samples_controller_state",
)  # fmt: skip


def argument_names(dynamics: int, control: int, corrections: int) -> tuple[str, ...]:
    """Names of all arguments, for the numbers of further inputs of each function.

    Each further input has an address, a stride from one row of its table to the next, and one from
    one robot to the next.
    """
    extra = [f"dynamics{k}" for k in range(dynamics)]
    extra += [f"control{k}" for k in range(control)]
    extra += [f"corrections{k}" for k in range(corrections)]
    of_extra = [name for x in extra for name in (x, f"{x}_step", f"{x}_row")]
    return (*NUMBERS, *FUNCTIONS, *ARRAYS, *of_extra)


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
