"""The simulated robot, the model that its controller uses, and the motion of its base."""

from __future__ import annotations

import argparse
import csv
import functools
import math
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

import robodyn as rd
from robodyn.cli.options.robot import robot_options
from robodyn.cli.options.values import named, named_once, number
from robodyn.description import Pose
from robodyn.errors import RobodynError
from robodyn.literals import Base

#: Size of the cache of base motions: a simulation evaluates each time several times.
KEPT = 1 << 15

COLUMNS = ("t", "x", "y", "z", "qx", "qy", "qz", "qw")


def base_path(file: Path, duration: float) -> rd.BasePath:
    """A smooth path through the rows of a table: t [s], x, y, z [m], qx, qy, qz, qw.

    Raises `RobodynError` if the file does not hold such rows, or ends before the simulation does.
    """
    try:
        with file.open(newline="", encoding="utf-8") as lines:
            rows = _read_table(file, csv.reader(lines))
    except (OSError, UnicodeDecodeError) as error:
        reason = getattr(error, "strerror", None) or "it is no text"
        raise RobodynError(f"--base-path: cannot read {str(file)!r}: {reason}") from error
    if len(rows) < 2:
        raise RobodynError(f"--base-path: {file} has {len(rows)} rows, expected two at least")
    table = np.array(rows)
    t = table[:, 0]
    if not (np.diff(t) > 0.0).all():
        k = int(np.argmin(np.diff(t) > 0.0))
        raise RobodynError(f"--base-path: in {file} t = {t[k + 1]:g} s comes after {t[k]:g} s")
    if t[0] > 0.0 or t[-1] < duration:
        raise RobodynError(
            f"--base-path: {file} is about {t[0]:g} s to {t[-1]:g} s, the motion lasts from 0 to "
            f"{duration:g} s: give samples of all of it, or a shorter --duration"
        )
    path = rd.BasePath.from_samples(t, table[:, 1:4], table[:, 4:])
    return rd.BasePath(functools.lru_cache(KEPT)(path.function))


def _read_table(file: Path, lines: Iterable[list[str]]) -> list[list[float]]:
    rows = []
    for k, line in enumerate(lines, start=1):
        words = [word.strip() for word in line]
        if not any(words) or words[0].startswith("#") or (k == 1 and words == [*COLUMNS]):
            continue
        try:
            numbers = [float(word) for word in words]
        except ValueError:
            numbers = []
        if len(numbers) != len(COLUMNS) or not all(map(math.isfinite, numbers)):
            raise RobodynError(
                f"--base-path: {file}, line {k}: {','.join(line)!r}, expected eight numbers: "
                f"{', '.join(COLUMNS)}"
            )
        rows.append(numbers)
    return rows


@dataclass(frozen=True, eq=False)
class SimulatedRobot:
    """A robot, its model for control, and the motion of its base.

    model: The model of the controller.
    plant: The simulated robot, which may carry a payload and stand on the ground.
    """

    model: rd.Robot
    plant: rd.Robot
    path: rd.BasePath | None


def simulated_robot(arguments: argparse.Namespace) -> SimulatedRobot:
    """Load the robot, with everything that options add to it."""
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
    return SimulatedRobot(model, plant.with_(ground=ground) if ground else plant, path)


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
            link, values = named((1, 4), expected)("--payload", text)
        else:
            link, values = robot.link_names[-1], (number(least=0.0, unit="kg")("--payload", text),)
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
