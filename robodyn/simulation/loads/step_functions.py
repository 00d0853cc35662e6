"""The functions of a robot that a step calls."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from robodyn.codegen import Function
from robodyn.errors import ActuationError, SingularError
from robodyn.robot import Robot


@dataclass(frozen=True, eq=False)
class StepFunctions:
    """The functions that a step calls.

    dynamics: Forward dynamics; hybrid dynamics where joints are driven.
    integrate, rate: Of coordinates; ``None`` if coordinates add.
    corrections: A step of Newton's method that closes loops; ``None`` without loops.
    """

    dynamics: Function
    integrate: Function | None
    rate: Function | None
    corrections: Function | None

    @property
    def before_loads(self) -> int:
        """Number of inputs of ``dynamics`` before those of loads."""
        return 4 if any(port.name == "tau_free" for port in self.dynamics.inputs) else 3


def functions_of(
    robot: Robot, driven: Sequence[int], links: Iterable[str], stabilised: bool
) -> StepFunctions | None:
    """As `functions_that_move`, or none where there is no straight-line code for them."""
    try:
        return functions_that_move(robot, driven, links, stabilised)
    except (ActuationError, SingularError):  # the rank of the loops changes
        return None


def functions_that_move(
    robot: Robot, driven: Sequence[int], links: Iterable[str] = (), stabilised: bool = False
) -> StepFunctions:
    """The functions of a robot that a step calls.

    driven: Speeds that follow paths or are zero, ascending.
    links: Links on which wrenches act.
    stabilised: Loops are held closed by gains, and not closed after every step.
    Raises ActuationError, SingularError: Where the rank of loops changes, so that there is no
        straight-line code.
    """
    options: dict[str, Any] = {"wrenches": tuple(links)} if links else {}
    if stabilised and robot.nc:
        options["stabilization"] = True
    if driven:
        dynamics = robot.function("hybrid_dynamics", controlled=driven, **options)
    else:
        dynamics = robot.function("forward_dynamics", **options)
    closing = robot.function("loop_corrections", controlled=driven) if robot.nc else None
    if robot.joints.coordinates_add:
        return StepFunctions(dynamics, None, None, closing)
    integrate, rate = robot.function("integrate"), robot.function("tangent_rate")
    return StepFunctions(dynamics, integrate, rate, closing)
