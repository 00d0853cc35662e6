"""The functions of a robot that machine code calls within a step."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from robodyn.codegen import Function
from robodyn.errors import ActuationError, SingularError
from robodyn.robot import Robot
from robodyn.simulation.loads.driven import Driven

__all__ = ["Functions", "functions_of"]


@dataclass(frozen=True, eq=False)
class Functions:
    """What a step is made of.

    Attributes
    ----------
    dynamics : Function
        Forward dynamics; hybrid dynamics where joints are driven.
    integrate, rate : Function or None
        Of coordinates; None where they add.
    corrections : Function or None
        Of closed linkages.
    """

    dynamics: Function
    integrate: Function | None
    rate: Function | None
    corrections: Function | None


def functions_of(
    robot: Robot, driven: Driven, links: Iterable[str], stabilised: bool
) -> Functions | None:
    """The functions of a robot; none where there is no straight-line code for them.

    Parameters
    ----------
    robot : Robot
    driven : Driven
    links : iterable of str
        Links on which wrenches act.
    stabilised : bool
        Loops are held closed by gains, and not closed after every step.
    """
    options: dict[str, Any] = {"wrenches": tuple(links)} if links else {}
    if stabilised and robot.nc:
        options["stabilization"] = True
    speeds = driven.speeds
    try:
        if driven:
            dynamics = robot.function("hybrid_dynamics", controlled=speeds, **options)
        else:
            dynamics = robot.function("forward_dynamics", **options)
        closing = robot.function("loop_corrections", controlled=speeds) if robot.nc else None
    except (ActuationError, SingularError):  # the rank of the loops changes
        return None
    if all(robot.joints[name].kind.coordinates.flat for name in robot.joint_names):
        return Functions(dynamics, None, None, closing)
    integrate, rate = robot.function("integrate"), robot.function("tangent_rate")
    return Functions(dynamics, integrate, rate, closing)
