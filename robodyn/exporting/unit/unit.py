"""What is exported: functions of one robot, whatever language they are written in."""

from __future__ import annotations

from dataclasses import dataclass

from robodyn.robot import Robot
from robodyn.symbolic.graph import Program

__all__ = ["Routine", "Unit"]


@dataclass(frozen=True, eq=False)
class Routine:
    """One function: from input arrays to output arrays by straight-line code.

    Attributes
    ----------
    name : str
        As the user has it. A target makes it a legal name of its language (`names.legal_names`).
    about : str
        What it computes, in one sentence.
    program : Program
        ``inputs`` and ``outputs`` have names, shapes and units.
    """

    name: str
    about: str
    program: Program


@dataclass(frozen=True, eq=False)
class Unit:
    """Functions of a robot that become a folder of code.

    Attributes
    ----------
    robot : Robot
        Its public attributes are the facts that code states: names of joints, sizes, limits.
    routines : tuple of Routine
        Each name once.
    dtype : str
        Of the arithmetic: ``"double"`` or ``"float"``.
    """

    robot: Robot
    routines: tuple[Routine, ...]
    dtype: str
