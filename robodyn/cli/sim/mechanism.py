"""The simulated robot, and the model that its controller uses, from the options."""

from __future__ import annotations

import argparse
from dataclasses import dataclass
from typing import Any

import robodyn as rd
from robodyn.cli.options.robot import robot_options
from robodyn.cli.options.values import named, named_once, number
from robodyn.cli.sim.base_table import base_path
from robodyn.description import Pose
from robodyn.errors import RobodynError
from robodyn.literals import Base

__all__ = ["Mechanism", "mechanism"]


@dataclass(frozen=True, eq=False)
class Mechanism:
    """A robot, its model for control, and the motion of its base.

    Attributes
    ----------
    model : Robot
        The model of the controller.
    plant : Robot
        The simulated robot, which may carry a payload and stand on the ground.
    path : BasePath or None
    """

    model: rd.Robot
    plant: rd.Robot
    path: rd.BasePath | None


def mechanism(arguments: argparse.Namespace) -> Mechanism:
    """Load the robot, with everything that options add to it.

    Raises
    ------
    RobodynError
    """
    base, path = _base(arguments)
    options = robot_options(arguments)
    model = rd.load(arguments.robot, base=base, **options)
    if model.nv == 0:
        raise RobodynError(f"{model.name!r} has no moving joint")
    if "near" in options and not model.nc:
        raise RobodynError(
            f"--near is for closed linkages, and {model.name!r} has no loops: --start says where "
            "joints start"
        )
    carried = _payload(arguments, model)
    plant = model.with_(payload=carried) if carried else model
    if arguments.payload_known:
        if not carried:
            raise RobodynError("--payload-known is given, but no --payload")
        model = plant
    ground = _ground(arguments)
    return Mechanism(model, plant.with_(ground=ground) if ground else plant, path)


def _base(arguments: argparse.Namespace) -> tuple[Base, rd.BasePath | None]:
    if arguments.base_path is None:
        if arguments.base == "moving":
            raise RobodynError("--base moving needs --base-path, which says how it moves")
        return arguments.base or "fixed", None
    if arguments.base not in (None, "moving"):
        raise RobodynError(f"--base-path is of a moving base, and --base is {arguments.base!r}")
    return "moving", base_path(arguments.base_path, arguments.duration)


def _payload(arguments: argparse.Namespace, robot: rd.Robot) -> dict[str, rd.Inertia]:
    """Bodies that links carry, from ``--payload``."""
    expected = "MASS, LINK=MASS or LINK=MASS,X,Y,Z [kg, m], the mass >= 0"
    given = []
    for text in arguments.payload:
        if "=" in text:
            link, values = named("--payload", (1, 4), expected)(text)
        else:
            link, values = robot.link_names[-1], (number("--payload", least=0.0, unit="kg")(text),)
        if values[0] < 0.0:
            raise RobodynError(f"--payload is {text!r}, expected {expected}")
        given.append((link, values))
    return {
        link: rd.Inertia(mass, Pose(xyz=_vector(place)))
        for link, (mass, *place) in named_once("--payload", given).items()
        if mass
    }


def _vector(place: list[float]) -> tuple[float, float, float]:
    x, y, z = place or (0.0, 0.0, 0.0)
    return x, y, z


def _ground(arguments: argparse.Namespace) -> rd.Ground | None:
    names = ("height", "stiffness", "damping", "friction")
    given: dict[str, Any] = {name: getattr(arguments, f"ground_{name}") for name in names}
    given = {name: value for name, value in given.items() if value is not None}
    if not arguments.ground:
        if given:
            raise RobodynError(
                f"--ground-{next(iter(given))} is given, but no --ground LINK=X,Y,Z: which points "
                "it resists"
            )
        return None
    points = {f"point{k}": point for k, point in enumerate(arguments.ground, start=1)}
    return rd.Ground(points, **given)
