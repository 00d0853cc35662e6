"""Sizing of motors: their torques, speeds and powers in a motion."""

from __future__ import annotations

import math
import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from typing import Any

import numpy as np

from robodyn.array_types import FloatArray
from robodyn.description import Motor
from robodyn.errors import SettingsError, UnknownNameError, optional
from robodyn.html_tables import html_table
from robodyn.pictures.torque_speed import MotorCurve, draw_torque_speed
from robodyn.robot import Robot
from robodyn.simulation.limits.bounds import (
    motor_bounds,
    motor_joint_bounds,
    speed_bounds,
    top_motor_speeds,
)
from robodyn.simulation.loads.column_names import force_unit, motor_names, motor_units
from robodyn.simulation.trajectory.states.electric_sizing import (
    ElectricSamples,
    ElectricSizing,
    electric_samples,
    heated,
)


@dataclass(frozen=True)
class MotorSizing:
    """Torques, speeds and powers of one motor in a motion, at its own shaft.

    For simultaneous motions, each number is the largest of all. The motor of a sliding joint turns,
    if it has a gear ratio [rad/m], such as that of a spindle. With a ratio of 1 it is a linear
    motor, whose torques are forces [N] and whose speeds are in m/s.

    Attributes
    ----------
    motor : str
        Name of its joint, ``"joint[k]"`` for a joint with several motors.
    torque_unit, speed_unit : str
    gear_ratio : float
        Speed of the motor over that of its joint.
    peak_torque, rms_torque : float [N m, N]
        Largest absolute value, and root mean square over time, on which heating depends.
    peak_speed, mean_speed : float [rad/s, m/s]
        Largest absolute value, and mean of the absolute value over time.
    peak_power, braking_power : float [W]
        Largest mechanical power that the motor delivers, and that it absorbs.
    torque_limit, speed_limit : float [N m, N], [rad/s, m/s]
        The smaller of the limits of the motor and of its joint, through the gear; infinite without
        limits. A motor that a transmission couples to several joints turns as fast as they all
        together let it.
    gear_loss : float [W]
        Mean over time of the power that the gear takes.
    electric : ElectricSizing or None
        Currents, voltages and heat of a motor that is described as an electric one.

    Examples
    --------
    >>> import robodyn as rd
    >>> from robodyn.controllers import GravityCompensation
    >>> robot = rd.load("puma560")
    >>> row = rd.simulate(robot, GravityCompensation(robot), duration=0.1).sizing()["joint2"]
    >>> held = abs(robot.gravity_forces(robot.neutral())[1] / row.gear_ratio)
    >>> bool(abs(row.peak_torque - held) < 1e-9)     # at the shaft of the motor
    True
    """

    motor: str
    torque_unit: str
    speed_unit: str
    gear_ratio: float
    peak_torque: float
    rms_torque: float
    peak_speed: float
    mean_speed: float
    peak_power: float
    braking_power: float
    torque_limit: float
    speed_limit: float
    gear_loss: float = 0.0
    electric: ElectricSizing | None = field(default=None, kw_only=True)

    @property
    def torque_utilisation(self) -> float:
        """Largest torque over its limit; 0 without limit."""
        return self.peak_torque / self.torque_limit

    @property
    def speed_utilisation(self) -> float:
        """Largest speed over its limit; 0 without limit."""
        return self.peak_speed / self.speed_limit

    @property
    def lacks(self) -> dict[str, float]:
        """What is needed beyond each limit that the motion leaves, as a part of the limit."""
        shares = {"torque": self.torque_utilisation, "speed": self.speed_utilisation}
        if self.electric is not None:
            shares |= self.electric.utilisation
        return {name: x - 1.0 for name, x in shares.items() if x > 1.0}


@dataclass(frozen=True, eq=False, repr=False)
class Sizing(Mapping[str, MotorSizing]):
    """Table of the motors in a motion, with a row for each motor by the name of its joint.

    `Trajectory.sizing` returns it, and ``print`` shows it.

    Attributes
    ----------
    robot_name : str
    rows : tuple of MotorSizing
    torques, speeds : ndarray, shape (n, ..., motors) [N m, N], [rad/s, m/s]
        Of the motors at their shafts, at all samples.
    currents, voltages : ndarray, shape (n, ..., motors) [A], [V]
        Of electric motors; NaN of others.
    temperatures : ndarray, shape (n, ..., motors) [degrees Celsius]
        Of windings, which are as warm as the surroundings at the start; NaN where none is known.

    Examples
    --------
    >>> import robodyn as rd
    >>> from robodyn.controllers import GravityCompensation
    >>> robot = rd.load("puma560")
    >>> table = rd.simulate(robot, GravityCompensation(robot), duration=0.1).sizing()
    >>> round(table["joint2"].gear_ratio, 2), table["joint2"].torque_unit
    (107.81, 'N m')
    """

    robot_name: str
    rows: tuple[MotorSizing, ...]
    torques: FloatArray
    speeds: FloatArray
    currents: FloatArray
    voltages: FloatArray
    temperatures: FloatArray

    @property
    def supply(self) -> FloatArray:
        """Electric power that all motors draw together, shape (n, ...) [W]; of some it is negative.

        NaN after the end of a motion; zero if no motor is an electric one.
        """
        known = [k for k, row in enumerate(self.rows) if row.electric]
        return np.asarray(np.sum((self.currents * self.voltages)[..., known], axis=-1))

    @property
    def supply_peak(self) -> float:
        """Largest electric power that all motors draw together [W]."""
        return float(largest(self.supply[..., None])[0])

    @property
    def lacks(self) -> dict[str, dict[str, float]]:
        """Motors that the motion takes beyond their limits, and by which part of each."""
        return {row.motor: row.lacks for row in self.rows if row.lacks}

    def __getitem__(self, motor: str) -> MotorSizing:
        """The row of a motor."""
        for row in self.rows:
            if row.motor == motor:
                return row
        raise UnknownNameError("motor", motor, [row.motor for row in self.rows])

    def __iter__(self) -> Iterator[str]:
        return iter(row.motor for row in self.rows)

    def __len__(self) -> int:
        return len(self.rows)

    def __repr__(self) -> str:
        return f"<Sizing of {len(self)} motors of {self.robot_name!r}>"

    def __str__(self) -> str:
        lines = self._lines()
        widths = [max(map(len, column)) for column in zip(*lines, strict=True)]
        return "\n".join(
            "  ".join([line[0].ljust(widths[0]), *map(str.rjust, line[1:], widths[1:])])
            for line in lines
        )

    def _repr_html_(self) -> str:
        """The printed table, within a notebook."""
        head, *rows = self._lines()
        return html_table(f"Motors of {self.robot_name}", head, rows)

    def _lines(self) -> list[list[str]]:
        """Rows of the printed table, with the names of columns first."""
        columns = _COLUMNS
        if any(row.gear_loss for row in self.rows):
            columns = (*columns, ("gear loss", lambda row: _watts(row.gear_loss)))
        if any(row.electric for row in self.rows):
            columns = (*columns, *_ELECTRIC)
        head = ["motor", *(name for name, _ in columns)]
        return [head, *([row.motor, *(f(row) for _, f in columns)] for row in self.rows)]

    def to_pandas(self) -> Any:
        """A pandas.DataFrame: one line a motor.

        Raises
        ------
        MissingExtraError
            If pandas is not installed (extra ``pandas``).
        """
        pandas = optional("pandas", "pandas", "a table as a DataFrame")
        names = [x.name for x in fields(MotorSizing) if x.name != "electric"]
        names += ["torque_utilisation", "speed_utilisation"]
        values = {name: [getattr(row, name) for row in self.rows] for name in names}
        if any(row.electric for row in self.rows):
            values |= {
                x.name: [getattr(row.electric, x.name, math.nan) for row in self.rows]
                for x in fields(ElectricSizing)
            }
        return pandas.DataFrame(values).set_index("motor")

    def plot(self, path: str | os.PathLike[str] | None = None, *, axes: Any = None) -> Any:
        """Draw torque over speed of each motor, with its limits.

        Absolute values are drawn, in one colour where the motor drives and in another where it
        brakes. A cross marks the root mean square of the torque at the mean speed, by which motors
        are chosen for continuous duty. Limits are dashed lines, if the motion comes near to them;
        the title of each panel has the utilisation of the limits.

        Parameters
        ----------
        path : path, optional
            Image file to write. Default: show a window, where there is a display.
        axes : sequence of matplotlib axes, optional
            To draw into, one for each motor.

        Returns
        -------
        figure : matplotlib.figure.Figure

        Raises
        ------
        MissingExtraError, ShapeError
        """
        curves = [
            MotorCurve(
                row.motor,
                self.torques[..., k],
                self.speeds[..., k],
                (row.rms_torque, row.mean_speed),
                (row.torque_limit, row.speed_limit),
                (row.torque_unit, row.speed_unit),
            )
            for k, row in enumerate(self.rows)
        ]
        return draw_torque_speed(path, curves, axes=axes, title=self.robot_name)


def _number(value: float) -> str:
    return f"{value + 0.0:.3g}" if math.isfinite(value) else "-"


def _watts(value: float) -> str:
    return f"{_number(value)} W" if value < 999.5 else f"{_number(value / 1e3)} kW"


def _degrees(value: float) -> str:
    return f"{value:.0f} °C" if math.isfinite(value) else "-"


def _share(value: float) -> str:
    return f"{100.0 * value:.0f} %" if value else "-"


#: Columns of the printed table.
_COLUMNS: tuple[tuple[str, Callable[[MotorSizing], str]], ...] = (
    ("ratio", lambda row: _number(row.gear_ratio)),
    ("peak torque", lambda row: f"{_number(row.peak_torque)} {row.torque_unit}"),
    ("of limit", lambda row: _share(row.torque_utilisation)),
    ("RMS torque", lambda row: f"{_number(row.rms_torque)} {row.torque_unit}"),
    ("peak speed", lambda row: f"{_number(row.peak_speed)} {row.speed_unit}"),
    ("of limit", lambda row: _share(row.speed_utilisation)),
    ("peak power", lambda row: _watts(row.peak_power)),
    ("braking power", lambda row: _watts(row.braking_power)),
)


def check_same_motors(robots: Iterable[Robot]) -> None:
    """Raise SettingsError if the robots of the phases of a motion have different motors."""
    first, *others = (
        (r.actuated_joints, motor_names(r), r.gear_ratios.tolist(), motor_joint_bounds(r).tolist())
        for r in robots
    )
    if any(other != first for other in others):
        raise SettingsError(
            "events have changed the motors, their gears or limits, and one table is of the same "
            "motors: run.phases[k].sizing() is that of a phase"
        )


def _electric(row: MotorSizing, show: Callable[[ElectricSizing], str]) -> str:
    return show(row.electric) if row.electric else "-"


#: Columns of electric motors.
_ELECTRIC: tuple[tuple[str, Callable[[MotorSizing], str]], ...] = (
    ("peak current", lambda row: _electric(row, lambda x: f"{_number(x.peak_current)} A")),
    ("RMS current", lambda row: _electric(row, lambda x: f"{_number(x.rms_current)} A")),
    ("voltage", lambda row: _electric(row, lambda x: f"{_number(x.peak_voltage)} V")),
    ("copper loss", lambda row: _electric(row, lambda x: _watts(x.copper_loss))),
    ("winding", lambda row: _electric(row, lambda x: _degrees(x.winding_temperature))),
)


def sizing_of(
    robot: Robot,
    t: FloatArray,
    torques: FloatArray,
    speeds: FloatArray,
    lost: FloatArray,
    tau: FloatArray,
    ambient: float,
) -> Sizing:
    """The motor table.

    torques, speeds (n, ..., motors) [N m, N], [rad/s, m/s]: Of motors at their shafts, as
        `Robot.motor_torques` has them; NaN after the end of a motion.
    lost (n, ..., motors) [N m, N]: The part of the torques that gears take.
    tau (n, ..., nv): Forces of the robot, of which some may be voltages.
    ambient [degrees Celsius]
    """
    model, places = robot.model, robot.model.gearing.places
    columns = [k for name in robot.actuated_joints for k in range(*places[name].indices(10**9))]
    ratios = robot.gear_ratios
    limits, tops = motor_joint_bounds(robot) / np.abs(ratios), top_motor_speeds(robot).copy()
    for x in model.gearing.coupled:
        limits[x.speeds] = motor_bounds(x)
    names, units, voltages = motor_names(robot), [*motor_units(robot)], dict[int, FloatArray]()
    for w in model.setup.windings:  # of motors, whose commands are voltages
        k, at, turned = places[w.winding].start, model.joints[w.winding].v.start, w.motor
        voltages[k], ratios[k], limits[k] = tau[..., at], w.ratio, np.inf
        units[k] = "m" if _slides(robot, turned) and abs(w.ratio) == 1.0 else "rad"
        tops[k] = speed_bounds(robot)[model.joints[turned].v.start] * abs(w.ratio)
    torques, speeds, lost = (x[..., columns] for x in (torques, speeds, lost))
    found = [
        None
        if x is None
        else electric_samples(
            x, t, torques[..., n], speeds[..., n], ambient, voltages.get(columns[n])
        )
        for n, x in enumerate(_motors(robot, columns))
    ]
    power = torques * speeds
    numbers = zip(
        ratios[columns],
        largest(np.abs(torques)), np.sqrt(largest(mean(t, torques**2))),
        largest(np.abs(speeds)), largest(mean(t, np.abs(speeds))),
        largest(power), largest(-power),
        limits[columns], tops[columns], largest(mean(t, lost * speeds)),
        strict=True,
    )  # fmt: skip
    rows = [
        MotorSizing(names[k], force_unit(units[k]), f"{units[k]}/s", *map(float, row))
        for k, row in zip(columns, numbers, strict=True)
    ]
    for k, motor in enumerate(found):
        if motor is not None:
            rows[k] = replace(rows[k], electric=electric_sizing(motor, ambient))
    none = np.full(speeds.shape[:-1], np.nan)
    shown = (
        np.stack([none if x is None else getattr(x, name) for x in found], axis=-1)
        if found
        else speeds
        for name in ("currents", "voltages", "temperatures")
    )
    return Sizing(robot.name, tuple(rows), torques, speeds, *shown)


def _slides(robot: Robot, joint: str) -> bool:
    return robot.joints[joint].kind.unit(0) == "m"


def _motors(robot: Robot, columns: Sequence[int]) -> list[Motor | None]:
    """The electric motor of each column, if it is one."""
    described, places = robot.actuators, robot.model.gearing.places
    windings = {x.winding for x in robot.model.setup.windings}
    found: dict[int, Motor | None] = {}
    for name, x in described.items():
        motor, volts = x.motor, x.torque_limit
        if name in windings and motor is not None and math.isfinite(volts):
            motor = replace(motor, voltage=volts)
        found |= dict.fromkeys(range(*places[name].indices(10**9)), motor)
    return [found.get(k) for k in columns]


def electric_sizing(x: ElectricSamples, ambient: float) -> ElectricSizing:
    """What one motor takes in a motion."""
    motor, t, i = x.motor, x.t, x.currents
    loss, power, time = motor.resistance * i * i, x.powers, t[-1] - t[0]
    warm, top = math.nan, math.inf
    if motor.thermal is not None:
        again = heated(motor.thermal, t, loss)[1]
        warm, top = ambient + float(largest(again[..., None])[0]), motor.thermal.limit
    drawn, fed = (mean(t, np.maximum(sign * power, 0.0)) * time for sign in (1.0, -1.0))
    numbers = (
        largest(np.abs(i)[..., None])[0], np.sqrt(np.max(mean(t, i * i))),
        largest(np.abs(x.voltages)[..., None])[0], np.max(mean(t, loss)),
        largest(power[..., None])[0], np.max(drawn), np.max(fed), warm,
    )  # fmt: skip
    amperes, volts = (math.inf if y is None else y for y in (motor.current, motor.voltage))
    return ElectricSizing(*map(float, (*numbers, amperes, volts, top, ambient)))


def largest(values: FloatArray) -> FloatArray:
    """The largest of each column; there are no values after the end of a motion (NaN)."""
    of_all = tuple(range(values.ndim - 1))
    return np.asarray(np.max(values, axis=of_all, initial=0.0, where=~np.isnan(values)))


def mean(t: FloatArray, values: FloatArray) -> FloatArray:
    """Mean over time, shape (...), of values at all samples, shape (n, ...).

    It is that until the end of a motion, after which there are none (NaN).
    """
    h = np.diff(t).reshape(-1, *[1] * (values.ndim - 1))
    steps = 0.5 * (values[1:] + values[:-1])
    there = ~np.isnan(steps)
    time = np.sum(h * there, axis=0)
    total = np.sum(h * np.where(there, steps, 0.0), axis=0)
    known = ~np.isnan(values)
    count = np.maximum(known.sum(axis=0), 1)
    instant = np.where(known, values, 0.0).sum(axis=0) / count  # of a motion without duration
    return np.asarray(np.where(time > 0.0, total / np.where(time > 0.0, time, 1.0), instant))
