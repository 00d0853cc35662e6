"""Files of motions: formats by the ending of the name, and the check of the robot."""

from __future__ import annotations

import contextlib
import json
import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from robodyn.arrays import expect, named
from robodyn.caller import warn
from robodyn.errors import MissingFileError, RobodynError, SettingsError, ShapeError
from robodyn.files import as_path, replacing
from robodyn.robot import Robot
from robodyn.simulation.loads.column_names import speed_names
from robodyn.simulation.trajectory.files import archive, recording, table
from robodyn.simulation.trajectory.files.moved_robot import differences, facts
from robodyn.simulation.trajectory.files.validity import check_contents, check_order
from robodyn.simulation.trajectory.states.samples import BASE, ROBOTS, not_in_columns
from robodyn.tolerances import SAME_ACCELERATIONS, SAME_ENERGY

#: What writes and reads files, by the ending of their names.
FORMATS: dict[str, Any] = {".npz": archive, ".csv": table}

#: The fields of a trajectory by name.
Fields = Mapping[str, Any]


def save(path: str | os.PathLike[str], fields: Fields, rows: Callable[[], Fields]) -> None:
    """Write a motion; see `Trajectory.save`. ``rows`` returns its fields for tables and bags."""
    target = as_path("path", path)
    check_order(target.name, fields["t"])
    fields = rows() if target.suffix in (".mcap", ".csv") else fields
    if target.suffix == ".mcap":
        from robodyn.bags import write_motion

        motion = tuple(fields[name] for name in ("q", "v", "a", "tau"))
        moved = fields["robot"], fields["joint_names"], fields["t"], motion
        shown = fields["measurements"]
        return write_motion(target, *moved, shown, about=about_motion(fields))
    if target.suffix not in FORMATS:
        raise ShapeError(
            f"cannot save to {target.name!r}: expected a name ending in .npz, .csv or .mcap",
            name="path",
            given=target.suffix,
            expected=(*FORMATS, ".mcap"),
        )
    with replacing(target) as unfinished:
        FORMATS[target.suffix].write(str(unfinished), fields)


def load(path: str | os.PathLike[str], robot: Robot | Iterable[Robot] | None) -> dict[str, Any]:
    """The fields of a trajectory from a file, those of its phases too; see `Trajectory.load`."""
    source = as_path("path", path)
    if robot is None or isinstance(robot, Robot):
        robots = () if robot is None else (robot,)
    else:
        robots = named("robot", robot, "Robots")
    for one in robots:
        expect("robot", one, Robot)
    if not source.exists():
        raise MissingFileError(f"no such file: {str(source)!r}")
    if source.suffix == ".mcap":
        if not robots:
            raise SettingsError(
                f"joints in {source.name!r} are matched by name: say whose they are, "
                "Trajectory.load(path, robot)"
            )
        return from_bag(source, robots[0])
    if source.is_dir():
        fields = recording.read(source)
    elif source.suffix in FORMATS:
        fields = FORMATS[source.suffix].read(source)
    else:
        raise ShapeError(
            f"cannot read a motion from {source.name!r}: expected .npz, .csv, .mcap, or a folder "
            "that a simulation wrote",
            name="path",
            given=source.suffix,
        )
    return _with_robots(source, fields, robots)


def _with_robots(source: Path, fields: dict[str, Any], robots: Sequence[Robot]) -> dict[str, Any]:
    """The fields with the robot that moved; phases with those of them that fit, if one does."""
    phases = fields.get("phases", ())
    if not phases and ROBOTS not in fields.get("not_saved", ()):
        check_contents(source.name, fields)
    own = _fitting(source, fields, robots)
    if robots and own is None:
        _check_robot(source, fields, robots[0])
    found = {**fields, "robot": own, "phases": tuple(_with_robots(source, x, ()) for x in phases)}
    for phase, x in zip(found["phases"], phases, strict=True):
        phase["robot"] = _fitting(source, x, robots)
    for name in ("robot_name", "robot_facts"):
        found.pop(name, None)
    return found


def _fitting(source: Path, fields: Fields, robots: Sequence[Robot]) -> Robot | None:
    """The first of some robots whose motion it is."""
    for robot in robots:
        with contextlib.suppress(ShapeError):
            _check_robot(source, fields, robot)
            return robot
    return None


def from_bag(
    path: str | os.PathLike[str],
    robot: Robot,
    *,
    topic: str = "/joint_states",
    ignore_unknown: bool = False,
) -> dict[str, Any]:
    """The fields of a trajectory from a bag; see `robodyn.ros.bag.read_bag`."""
    from robodyn.bags import read_about, read_motion

    t, q, v, a, tau = read_motion(path, robot, topic=topic, ignore_unknown=ignore_unknown)
    found = {"t": t, "q": q, "v": v, "a": a, "tau": tau, "joint_names": speed_names(robot)}
    about = json.loads(read_about(path, topic=topic) or "{}")
    found["t"] = t + about.get("start", 0.0)
    if not ignore_unknown:
        _check_robot(Path(path), {**found, "robot_facts": about.get("robot", {})}, robot)
    return {**found, "robot": robot, "not_saved": tuple(about.get("not saved", ()))}


def about_motion(fields: Fields) -> str:
    """What a bag says of a motion besides the columns of its joints, as JSON."""
    start = float(np.append(fields["t"], 0.0)[0])
    about = {"start": start, "not saved": not_in_columns(fields), "robot": facts(fields["robot"])}
    return json.dumps(about)


def check_energy(path: str | os.PathLike[str], run: Any) -> None:
    """Check that the energy in a table is that of the robot that it was read for."""
    if Path(path).suffix != ".csv" or run.robot is None or {ROBOTS, BASE} & {*run.not_saved}:
        return
    kinetic, potential = run.kinetic_energy, run.potential_energy
    off = np.abs(kinetic + potential - run.energy)
    most = max(np.abs(kinetic).max(initial=0.0), np.abs(potential).max(initial=0.0))
    if off.max(initial=0.0) > SAME_ENERGY * most:
        k = int(off.argmax())
        raise ShapeError(
            f"{Path(path).name} holds the motion of another robot than {run.robot.name!r}, or of "
            "this one with another payload, ground, gravity or other parameters: its energy is "
            f"{run.energy[k]:.6g} J at t = {run.t[k]:.6g} s, and that of the robot given "
            f"{kinetic[k] + potential[k]:.6g} J",
            name="energy",
            given=float(kinetic[k] + potential[k]),
            expected=float(run.energy[k]),
        )
    _tell_accelerations(path, run)


def _tell_accelerations(path: str | os.PathLike[str], run: Any) -> None:
    """Warn where the forces in a table give the robot that it was read for other accelerations.

    These are those of the motion of a robot with other damping, friction, laws of force or motors.
    """
    if run.not_saved:  # what else acted
        return
    try:
        found = run.robot.at(run.t).forward_dynamics(run.q, run.v, run.tau)
    except RobodynError:  # a state that cannot be has its own error where it is used
        return
    off = np.abs(found - run.a).max(axis=-1, initial=0.0)
    most = max(np.abs(found).max(initial=0.0), np.abs(run.a).max(initial=0.0))
    if off.max(initial=0.0) > SAME_ACCELERATIONS * most:
        k = int(off.argmax())
        warn(
            f"{Path(path).name} may hold the motion of another robot than {run.robot.name!r}, with "
            "other damping, friction, motors or laws of force: under the forces in the file its "
            f"accelerations are other ones, by {off[k]:.3g} rad/s^2 or m/s^2 at t = "
            f"{run.t[k]:.6g} s. Wrenches and torques are computed for the robot given"
        )


def _check_robot(source: Path, fields: Fields, robot: Robot) -> None:
    """Check that a motion is one of this robot."""
    written_for = fields.get("robot_name", "")
    expected = {"q": robot.nq, **dict.fromkeys(("v", "a", "tau"), robot.nv)}
    of = f" of {written_for!r}" if written_for else ""
    for name, width in expected.items():
        shape = np.shape(fields[name])
        if shape[-1] != width:
            raise ShapeError(
                f"{source.name} holds a motion{of}: {name} has shape {shape}, {robot.name!r} needs "
                f"{width} columns",
                name=name,
                given=shape,
                expected=(..., width),
            )
    names, known = fields["joint_names"], speed_names(robot)
    if names and names != known:
        there, here = next(pair for pair in zip(names, known, strict=True) if pair[0] != pair[1])
        raise ShapeError(
            f"{source.name} holds a motion{of}, not of {robot.name!r}: a column of joint {there!r} "
            f"where {robot.name!r} has {here!r}",
            name="joint_names",
            given=names,
            expected=known,
        )
    there = fields.get("robot_facts")
    different = differences(there, json.loads(json.dumps(facts(robot)))) if there else ""
    if different:
        raise ShapeError(
            f"{source.name} holds a motion{of}, but not of the robot given, which would compute "
            f"other forces and energies: {different}. Give the robot that was simulated, with its "
            "payload, ground and parameters; or load the motion without a robot, and replace it "
            "with dataclasses.replace(trajectory, robot=robot)",
            name="robot",
        )
