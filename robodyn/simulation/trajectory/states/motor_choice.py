"""Which motors and gears of a catalogue, a table or a CSV file, carry a motion."""

from __future__ import annotations

import csv
import math
import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TypeAlias

import numpy as np

from robodyn.array_types import FloatArray
from robodyn.description import Actuator, Motor, Winding
from robodyn.errors import ActuationError, FileError, MissingFileError, ShapeError, UnknownNameError
from robodyn.html_tables import html_table
from robodyn.model.virtual_work import joint_forces, joint_speeds
from robodyn.robot import Robot
from robodyn.simulation.trajectory.states.electric_sizing import ElectricSizing, electric_samples
from robodyn.simulation.trajectory.states.motor_sizing import electric_sizing, largest, mean
from robodyn.simulation.trajectory.states.samples import Samples

#: A CSV file, or rows as mappings from the names of columns.
Catalogue: TypeAlias = "str | os.PathLike[str] | Iterable[Mapping[str, object]]"

#: Columns of numbers, and what stands where a cell is empty; ``None``: nothing.
NUMBERS: Mapping[str, float | None] = {
    "gear_ratio": 1.0, "rotor_inertia": 0.0, "viscous": 0.0, "coulomb": 0.0, "efficiency": 1.0,
    "backward_efficiency": None, "torque_limit": math.inf, "rated_torque": math.inf,
    "speed_limit": math.inf, "gear_torque": math.inf, "torque_constant": None, "resistance": None,
    "inductance": 0.0, "voltage": None, "current": None, "winding_resistance": None,
    "housing_resistance": None, "winding_time_constant": None, "housing_time_constant": None,
    "temperature_limit": None,
}  # fmt: skip

#: Columns of a `Winding`, in the order of its fields.
_HEAT = (
    "winding_resistance", "housing_resistance", "winding_time_constant", "housing_time_constant",
    "temperature_limit",
)  # fmt: skip


@dataclass(frozen=True)
class CatalogueRow:
    """A motor with its gear.

    name: Of both, if they are of two tables.
    actuator: With the electric motor, if the row has one.
    rated_torque, speed_limit [N m], [rad/s]: At the shaft, in continuous duty, and at most.
    gear_torque [N m, N]: Largest one at the output of the gear.
    """

    name: str
    actuator: Actuator
    rated_torque: float
    speed_limit: float
    gear_torque: float


def catalogue_rows(motors: Catalogue, gears: Catalogue | None = None) -> list[CatalogueRow]:
    """All rows; with a table of gears, each motor with each of them.

    Raises MissingFileError, FileError: If a file cannot be read.
    Raises UnknownNameError: For a column that is none.
    Raises ShapeError: For a cell that is no number, and tables without rows.
    Raises ActuationError: For a motor or gear that cannot be; it names the row.
    """
    one = _read(motors)
    if gears is None:
        return [_row(where, cells) for where, cells in one]
    found = []
    for place, cells in one:
        for where, others in _read(gears):
            both = ({*cells} & {*others}) - {"name"}
            if both:
                raise ShapeError(
                    f"both tables have a column {min(both)!r}: give it in that of motors or in "
                    "that of gears",
                    name=min(both),
                )
            name = f"{cells.get('name', place)} + {others.get('name', where)}"
            found.append(_row(f"{place}, {where}", {**cells, **others, "name": name}))
    return found


def _read(given: Catalogue) -> list[tuple[str, dict[str, object]]]:
    """Cells that are not empty, with the place of their row."""
    if isinstance(given, str | os.PathLike):
        path = Path(given)
        try:
            with path.open(newline="", encoding="utf-8-sig") as file:
                read = csv.DictReader(file, skipinitialspace=True)
                rows = [(f"{path.name}:{read.line_num}", row) for row in read]
        except FileNotFoundError:
            raise MissingFileError(f"there is no catalogue {str(path)!r}") from None
        except (OSError, UnicodeDecodeError, csv.Error) as error:
            raise FileError(f"the catalogue {str(path)!r} cannot be read: {error}") from None
    else:
        rows = [(f"row {k}", dict(row)) for k, row in enumerate(given)]
    if not rows:
        raise ShapeError("the catalogue has no rows, expected one at least", name="catalogue")
    found = []
    for where, row in rows:
        cells = {name: x for name, x in row.items() if x is not None and str(x).strip()}
        for name in cells:
            if name != "name" and name not in NUMBERS:
                known = ("name", *NUMBERS)
                raise UnknownNameError("column", str(name), known, f"the catalogue, {where}")
        found.append((where, cells))
    return found


def _row(where: str, cells: Mapping[str, object]) -> CatalogueRow:
    numbers = dict(NUMBERS)
    for name, text in cells.items():
        if name != "name":
            try:
                numbers[name] = float(str(text))
            except ValueError:
                raise ShapeError(
                    f"{name} is {text!r} in {where} of the catalogue, expected a number", name=name
                ) from None
    x = {name: math.nan if y is None else y for name, y in numbers.items()}
    try:
        actuator = Actuator(
            gear_ratio=x["gear_ratio"],
            rotor_inertia=x["rotor_inertia"],
            viscous=x["viscous"],
            coulomb=x["coulomb"],
            torque_limit=x["torque_limit"],
            efficiency=x["efficiency"],
            backward_efficiency=numbers["backward_efficiency"],
            motor=_motor(x, numbers),
        )
        _check(actuator)
    except ActuationError as error:
        raise ActuationError(f"{where} of the catalogue: {error}", direction=where) from None
    name = str(cells.get("name", where))
    return CatalogueRow(name, actuator, x["rated_torque"], x["speed_limit"], x["gear_torque"])


def _motor(x: Mapping[str, float], given: Mapping[str, float | None]) -> Motor | None:
    """The electric motor of a row; without a torque constant it is none."""
    electric = [name for name in ("resistance", "voltage", "current", *_HEAT) if given[name]]
    if given["torque_constant"] is None:
        if electric:
            raise ActuationError(f"it has {electric[0]} and no torque_constant")
        return None
    heat = [given[name] for name in _HEAT]
    if any(heat) and None in heat:
        missing = next(name for name in _HEAT if given[name] is None)
        raise ActuationError(f"it has no {missing}, which heat needs beside the others")
    if given["resistance"] is None:
        raise ActuationError("it has a torque_constant and no resistance")
    thermal = None
    if any(heat):
        r1, r2, t1, t2, top = (x[name] for name in _HEAT)
        thermal = Winding((r1, r2), (t1, t2), top)
    return Motor(
        x["torque_constant"], x["resistance"], inductance=x["inductance"],
        voltage=given["voltage"], current=given["current"], thermal=thermal,
    )  # fmt: skip


def _check(x: Actuator) -> None:
    if not x.gear_ratio or not math.isfinite(x.gear_ratio):
        raise ActuationError(f"gear_ratio={x.gear_ratio}, expected a number that is not zero")
    if not 0.0 < x.efficiency <= 1.0 or not 0.0 <= x.driven_efficiency <= 1.0:
        raise ActuationError("efficiencies are shares of power, from 0 to 1, and not 0 forwards")
    if min(x.rotor_inertia, x.viscous, x.coulomb) < 0.0:
        raise ActuationError("rotor_inertia, viscous and coulomb are not negative")


@dataclass(frozen=True)
class Candidate:
    """A motor and gear of a catalogue at a joint, in a motion.

    Attributes
    ----------
    joint, name : str
    peak_torque, rms_torque, peak_speed : float [N m, N], [rad/s, m/s]
        At the shaft of this motor, with its own rotor, friction and gear.
    margins : dict of str to float
        Of each limit that the row gives, the part of it that is left, 1 for all of it. It is
        negative where the limit is too low: -0.2 means 20 % more is needed. Keys are ``"torque"``,
        ``"rated torque"``, ``"speed"``, ``"gear torque"``, ``"current"``, ``"voltage"`` and
        ``"temperature"``, of which the last is of the rise over the surroundings.
    electric : ElectricSizing or None

    Examples
    --------
    >>> import robodyn as rd
    >>> robot = rd.load("double_pendulum", actuators={"shoulder": rd.Actuator()})
    >>> run = rd.simulate(robot, lambda t, q, v: [30.0, 0.0], duration=0.1)
    >>> rows = [{"name": "geared", "gear_ratio": 50.0, "torque_limit": 0.5}]
    >>> print(run.motor_choice(rows)[0])     # 0.6 N m are needed
    shoulder: geared lacks torque 20 %
    """

    joint: str
    name: str
    peak_torque: float
    rms_torque: float
    peak_speed: float
    margins: dict[str, float]
    electric: ElectricSizing | None

    @property
    def fits(self) -> bool:
        """Whether no limit is left."""
        return min(self.margins.values(), default=0.0) >= 0.0

    @property
    def lacks(self) -> dict[str, float]:
        """What is needed beyond each limit that is too low, as a part of the limit."""
        return {name: -x for name, x in self.margins.items() if x < 0.0}

    def __str__(self) -> str:
        if self.fits:
            return f"{self.joint}: {self.name} fits"
        missing = ", ".join(f"{name} {100.0 * x:.0f} %" for name, x in self.lacks.items())
        return f"{self.joint}: {self.name} lacks {missing}"


@dataclass(frozen=True, eq=False, repr=False)
class MotorChoice:
    """The motors and gears of a catalogue at the joints of a robot, joint by joint.

    `Trajectory.motor_choice` returns it, and ``print`` shows it.

    Attributes
    ----------
    rows : tuple of Candidate
        In the order of the catalogue, for one joint after the other.

    Examples
    --------
    >>> import robodyn as rd
    >>> robot = rd.load("double_pendulum", actuators={"shoulder": rd.Actuator()})
    >>> run = rd.simulate(robot, lambda t, q, v: [30.0, 0.0], duration=0.1)
    >>> rows = [{"name": "geared", "gear_ratio": 50.0, "torque_limit": 0.7}]
    >>> run.motor_choice(rows).fitting
    {'shoulder': ('geared',)}
    """

    rows: tuple[Candidate, ...]

    def __getitem__(self, k: int) -> Candidate:
        return self.rows[k]

    def __len__(self) -> int:
        return len(self.rows)

    def __iter__(self) -> Iterator[Candidate]:
        return iter(self.rows)

    @property
    def fitting(self) -> dict[str, tuple[str, ...]]:
        """Names of the rows that fit, by joint."""
        joints = dict.fromkeys(x.joint for x in self.rows)
        return {y: tuple(x.name for x in self.rows if x.joint == y and x.fits) for y in joints}

    def __repr__(self) -> str:
        return f"<MotorChoice of {len(self)} candidates, {sum(x.fits for x in self.rows)} fit>"

    def __str__(self) -> str:
        lines = self._lines()
        widths = [max(map(len, column)) for column in zip(*lines, strict=True)]
        return "\n".join(
            "  ".join(x.ljust(n) for x, n in zip(line, widths, strict=True)).rstrip()
            for line in lines
        )

    def _repr_html_(self) -> str:
        """The printed table, within a notebook."""
        head, *rows = self._lines()
        return html_table("Motors of the catalogue", head, rows)

    def _lines(self) -> list[list[str]]:
        head = ["joint", "motor and gear", "fits", "least margin", "lacks"]
        return [head, *map(_line, self.rows)]


def _line(x: Candidate) -> list[str]:
    least = min(x.margins.items(), key=lambda pair: pair[1], default=("", math.nan))
    shown = f"{100.0 * least[1]:.0f} % of {least[0]}" if least[0] else "-"
    missing = ", ".join(f"{name} {100.0 * y:.0f} %" for name, y in x.lacks.items())
    return [x.joint, x.name, "yes" if x.fits else "no", shown, missing or "-"]


def bare_joints(robot: Robot, joints: Sequence[str] | None) -> tuple[str, ...]:
    """The joints whose motors are to be chosen.

    Raises UnknownNameError: For a joint that no motor drives.
    Raises ActuationError: Where a motor cannot be looked at by itself.
    """
    chosen = robot.actuated_joints if joints is None else tuple(joints)
    coupled = {name: x.name for x in robot.transmissions for name in x.joints}
    setup = robot.model.setup
    behind = {x.motor for x in setup.gear_springs} | {x.winding for x in setup.windings}
    for name in chosen:
        if name not in robot.actuated_joints:
            raise UnknownNameError("joint with a motor", name, robot.actuated_joints)
        if name in coupled:
            raise ActuationError(
                f"transmission {coupled[name]!r} couples the motor of {name!r} to others: its "
                "torque depends on theirs; try actuators by rd.load and look at run.sizing()",
                direction=name,
            )
        if name in behind:
            raise ActuationError(
                f"the motor of {name!r} is behind an elastic gear, or commanded by voltage, and "
                "has a motion of its own: choose motors by a robot without",
                direction=name,
            )
    return chosen


@dataclass(frozen=True, eq=False)
class Loads:
    """What a joint takes and how it moves without its motor, each array of shape (n, ...)."""

    torque: FloatArray
    speed: FloatArray
    acceleration: FloatArray


def loads_of(samples: Samples, joints: Sequence[str]) -> FloatArray:
    """Torque, speed and acceleration of joints without their motors, (n, ..., joints, 3)."""
    x = samples
    nothing = {name: Actuator() for name in joints}
    robot = x.robot.with_(actuators=nothing).at(x.time)
    tau = robot.inverse_dynamics(x.q, x.v, x.a, base=x.base, wrenches=x.wrenches or None)

    def matrix() -> FloatArray:
        return robot.actuation_matrix(x.q)

    model = robot.model
    force, speed = joint_forces(model, matrix, tau), joint_speeds(model, matrix, x.v)
    rate = x.a
    if model.gearing.elsewhere:  # of joints that follow: d(B^T v)/dt, by a small step of time
        h = 1e-6
        q, v = robot.integrate(x.q, h * x.v), x.v + h * x.a
        rate = (joint_speeds(model, lambda: robot.actuation_matrix(q), v) - speed) / h
    columns = [model.gearing.places[name].start for name in joints]
    return np.stack([y[..., columns] for y in (force, speed, rate)], axis=-1)


def candidates_of(
    t: FloatArray,
    loads: FloatArray,
    joints: Sequence[str],
    rows: Sequence[CatalogueRow],
    ambient: float,
) -> MotorChoice:
    """All rows at all joints."""
    found = []
    for k, joint in enumerate(joints):
        one = Loads(*np.moveaxis(loads[..., k, :], -1, 0))
        found += [replace(_candidate(t, one, row, ambient), joint=joint) for row in rows]
    return MotorChoice(tuple(found))


def _candidate(t: FloatArray, load: Loads, row: CatalogueRow, ambient: float) -> Candidate:
    """One row: its torque accelerates its rotor, overcomes its friction and drives its gear."""
    x, ratio = row.actuator, row.actuator.gear_ratio
    speed, carried = load.speed * ratio, load.torque / ratio
    shares = np.where(carried * speed < 0.0, x.driven_efficiency, 1.0 / x.efficiency)
    through = carried * np.where(carried * speed == 0.0, 1.0, shares)
    torque = through + x.rotor_inertia * load.acceleration * ratio
    torque = torque + x.viscous * speed + x.coulomb * np.sign(speed)
    peak, fast = _most(torque), _most(speed)
    rms = float(np.sqrt(np.max(mean(t, torque**2))))
    margins = {
        "torque": (peak, x.torque_limit or math.inf),
        "rated torque": (rms, row.rated_torque),
        "speed": (fast, row.speed_limit),
        "gear torque": (_most(load.torque), row.gear_torque),
    }
    electric = None
    if x.motor is not None:
        electric = electric_sizing(electric_samples(x.motor, t, torque, speed, ambient), ambient)
        given = electric.current_limit, electric.voltage_limit, electric.temperature_limit
        used = zip(electric.utilisation.items(), given, strict=True)
        margins |= {name: (y, 1.0 if math.isfinite(top) else top) for (name, y), top in used}
    left = {name: 1.0 - y / top for name, (y, top) in margins.items() if math.isfinite(top)}
    return Candidate("", row.name, peak, rms, fast, left, electric)


def _most(values: FloatArray) -> float:
    return float(largest(np.abs(values)[..., None])[0])
