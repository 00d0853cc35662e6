"""What is exported: functions of one robot, whatever language they are written in."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from robodyn.array_types import FloatArray
from robodyn.codegen.text.assignments import legal_name
from robodyn.errors import SettingsError
from robodyn.exporting.unit.procedure import Procedure, Routine
from robodyn.literals import IntegratorName, Precision
from robodyn.robot import Robot

__all__ = ["Step", "Unit", "legal_name", "legal_names"]


def legal_names(names: Iterable[str], reserved: Collection[str] = ()) -> dict[str, str]:
    """The legal name of each name.

    Raises `SettingsError` if two names become the same.
    """
    found: dict[str, str] = {}
    for name in names:
        legal = legal_name(name, reserved)
        for other, taken in found.items():
            if taken == legal and other != name:
                raise SettingsError(
                    f"{other!r} and {name!r} both become {legal!r} in the code: rename one of them"
                )
        found[name] = legal
    return found


@dataclass(frozen=True, eq=False)
class Step:
    """A step in time, with the controller that gives its forces.

    h [s]
    close: ``(t, q, v)`` -> ``q_closed``, ``v_closed`` and ``residual``: the state at which a motion
        begins. None of a tree.
    advance: ``(t, q, v, tau)`` -> ``q_next``, ``v_next``, and the ``residual`` of a linkage. Forces
        are held.
    first, update: The controller at the first sample and at all others, as `robodyn.control_law`
        has them; the same where it remembers nothing. None without a controller: forces are given.
    memory: Numbers that the controller keeps from sample to sample.
    """

    h: float
    integrator: IntegratorName
    close: Procedure | None
    advance: Procedure
    first: Routine | None
    update: Routine | None
    memory: int


@dataclass(frozen=True, eq=False)
class Control:
    """A controller that stands alone, and remembers something.

    h [s]: From sample to sample.
    first, update, memory: As of a `Step`.
    """

    h: float
    first: Routine
    update: Routine
    memory: int


@dataclass(frozen=True, eq=False)
class Unit:
    """Functions of a robot that become a folder of code.

    robot: Its public attributes are the facts that code states: names of joints, sizes, limits.
    routines: Each name once. Those that procedures call are among them.
    assemblies: Closing of loops by Newton's method: ``q`` -> ``q_closed``, and the ``residual`` [m,
        rad].
    dtype: Of the arithmetic: ``"double"`` or ``"float"``.
    asked: Names that the user has asked for; what procedures call has others besides.
    name: What files and packages are called after.
    control: The controller, where it is asked for by itself and remembers something.
    """

    robot: Robot
    routines: tuple[Routine, ...]
    assemblies: tuple[Procedure, ...]
    step: Step | None
    dtype: Precision
    asked: frozenset[str]
    name: str
    control: Control | None = None

    @cached_property
    def start(self) -> tuple[FloatArray, FloatArray]:
        """A closed posture at time zero, and speeds, zero but for what time moves."""
        rest = np.zeros(self.robot.nv)
        if not self.robot.depends_on_time:
            return self.robot.neutral(), rest
        robot = self.robot.at(0.0)
        q = robot.neutral()
        return q, robot.consistent_velocity(q, rest) if robot.nc else rest

    @property
    def names(self) -> tuple[str, ...]:
        """Names of all routines and procedures."""
        return (*(x.name for x in self.routines), *(x.name for x in self.procedures))

    @property
    def procedures(self) -> tuple[Procedure, ...]:
        """All procedures, each once."""
        stepping = (self.step.close, self.step.advance) if self.step is not None else ()
        found = (*stepping, *self.assemblies)
        return tuple(x for x in found if x is not None)
