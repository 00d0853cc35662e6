"""What ``robodyn sim`` prints and writes: a summary, and files, checked before it starts."""

from __future__ import annotations

import argparse
import importlib.util
import math
import os
import warnings
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

import robodyn as rd
from robodyn.array_types import FloatArray
from robodyn.cli.sim.control import Control, MotorReference
from robodyn.errors import EnergyWarning, MissingExtraError, RobodynError, SettingsError
from robodyn.files import check_image
from robodyn.simulation.limits.bounds import effort_bounds, effort_shares
from robodyn.simulation.loads.column_names import motor_names
from robodyn.simulation.trajectory.trajectory import Trajectory

#: Largest number of events that are listed; further ones are only counted.
LISTED = 20


def summary(
    run: Trajectory, control: Control, arguments: argparse.Namespace, elapsed: float
) -> dict[str, Any]:
    """Steps, computing time, energy, errors, torques, events and limits, as plain values.

    For many motions, each number is the largest, or the smallest, of all.

    ``elapsed`` is the computing time [s].
    """
    robot = run.robot
    assert robot is not None
    until, motions = float(run.t[-1]), run.q.shape[1] if run.q.ndim > 2 else 1
    units = _units(robot)
    found: dict[str, Any] = {
        "motions": motions,
        "duration_s": until,
        "steps": math.ceil(until / arguments.step * (1.0 - 1e-12)),
        "integrator": arguments.integrator,
        "computing_time_s": elapsed,
        "real_time_factor": until * motions / elapsed,
        **_energy(run, arguments),
    }
    if robot.nc:
        found["loops_open_m_or_rad"] = _largest(run.loop_residual)
    if control.reference is not None:
        error, motors = tracking_error(run, control.reference), control.reference.motors
        found["tracking_error"] = _by_unit(error, units[motors])
    if control.controller is not None:
        found["torque"] = _by_unit(run.tau, np.where(units == "m", "N", "N m"))
        found |= _share_of_effort(robot, run)
    found["events"] = [
        {"time_s": event.time, "name": event.name, "motion": event.motion} for event in run.events
    ]
    if arguments.limits != "ignore":
        names = {"start": "start_s", "time": "time_s"}
        found["limits_left"] = [
            {names.get(name, name): value for name, value in vars(x).items()}
            for x in run.limit_violations
        ]
    return found


def _energy(run: Trajectory, arguments: argparse.Namespace) -> dict[str, Any]:
    """Change of energy, and the part that no work explains."""
    gained = np.atleast_1d(run.energy[-1] - run.energy[0])
    gained = gained[np.isfinite(gained)]
    range_ = [float(gained.min()), float(gained.max())] if len(gained) else None
    found: dict[str, Any] = {"energy_gained_J": range_, "energy_unexplained_J": None}
    if arguments.every > 1 and arguments.controller != "none":
        found["no_audit"] = "--every leaves out steps at which forces change"
        return found
    try:
        with warnings.catch_warnings():  # the summary says how much is unexplained
            warnings.simplefilter("ignore", EnergyWarning)
            found["energy_unexplained_J"] = _largest(run.audit.unexplained)
    except SettingsError as error:
        found["no_audit"] = str(error)
    return found


def _by_unit(x: FloatArray, units: NDArray[np.str_]) -> dict[str, float]:
    """The largest magnitude by unit; units belong to the last axis of ``x``."""
    each = dict.fromkeys(units.tolist())
    return {unit: _largest(x[..., units == unit]) for unit in each}


def _largest(x: FloatArray) -> float:
    """The largest magnitude, ignoring NaN after the end of a motion."""
    known = np.abs(x[np.isfinite(x)])
    return float(known.max(initial=0.0))


def _units(robot: rd.Robot) -> NDArray[np.str_]:
    """Units of displacements along the speeds, shape (nv,)."""
    units = np.empty(robot.nv, "<U3")
    for joint in robot.joints.values():
        units[joint.v] = [joint.kind.unit(k) for k in range(joint.v.stop - joint.v.start)]
    return units


def tracking_error(run: Trajectory, reference: MotorReference) -> FloatArray:
    """Tracking errors of the motors, shape (n, ..., motors) [rad, m]."""
    assert run.robot is not None
    wanted = np.array([reference(t)[0] for t in run.t.tolist()])
    wanted = np.broadcast_to(wanted, run.q.shape)
    return np.asarray(run.robot.difference(run.q, wanted)[..., reference.motors])


def _share_of_effort(robot: rd.Robot, run: Trajectory) -> dict[str, Any]:
    """Largest torque relative to its effort limit, if the file has limits."""
    bounds = effort_bounds(robot)
    known = np.isfinite(bounds)
    if not known.any():
        return {}
    shares = effort_shares(robot, run.q, run.tau)
    part = np.nanmax(shares.reshape(-1, len(known)), axis=0)[known]
    worst = np.array(motor_names(robot))[known][part.argmax()]
    return {"largest_share_of_limit": {"joint": str(worst), "share": float(part.max())}}


def lines(
    found: Mapping[str, Any], run: Trajectory, arguments: argparse.Namespace
) -> Iterator[str]:
    """The summary as text: a line about the motion, and one about each finding."""
    yield _in_one_line(found, run)
    if "tracking_error" in found:
        yield f"  largest tracking error  {_with_units(found['tracking_error'], '.3e')}"
    if "torque" in found:
        text = f"  largest torque          {_with_units(found['torque'], '.4g')}"
        if share := found.get("largest_share_of_limit"):
            text += f"; up to {100 * share['share']:.0f} % of the limit, at {share['joint']}"
        yield text
    for event in found["events"][:LISTED]:
        motion = f", motion {event['motion'][0]}" if event["motion"] else ""
        yield f"  at {event['time_s']:<20.6g} {event['name']}{motion}"
    if len(found["events"]) > LISTED:
        yield f"  and {len(found['events']) - LISTED} more events"
    if arguments.limits != "ignore":
        for violation in run.limit_violations:
            yield f"  limit left              {violation}"


def _in_one_line(found: Mapping[str, Any], run: Trajectory) -> str:
    """Duration, steps, energy, loop closure and computing time."""
    assert run.robot is not None
    many = f" {found['motions']} times" if found["motions"] > 1 else ""
    gain = f"energy gained {_from_to(found['energy_gained_J'])} J"
    if "no_audit" in found:
        gain += f" (no audit of it: {found['no_audit']})"
    else:
        gain += f", {found['energy_unexplained_J']:.1e} J unexplained at most"
    parts = [
        f"{run.robot.name}: {found['duration_s']:g} s{many} in {found['steps']} steps of "
        f"{found['integrator']}",
        gain,
    ]
    if "loops_open_m_or_rad" in found:
        parts.append(f"loops open by {found['loops_open_m_or_rad']:.1e} at most")
    taken, speed = found["computing_time_s"], found["real_time_factor"]
    parts.append(f"simulated in {taken:.2f} s ({speed:.3g} x real time)")
    return "; ".join(parts)


def _from_to(x: Sequence[float] | None) -> str:
    if x is None:
        return "?"
    low, high = x
    return f"{low:.4g}" if low == high else f"{low:.4g} to {high:.4g}"


def _with_units(x: Mapping[str, float], digits: str) -> str:
    return ", ".join(f"{value:{digits}} {unit}" for unit, value in x.items())


@dataclass(frozen=True, eq=False)
class Outputs:
    """Output files of a motion.

    paths: By the option that asks for them: csv, npz, bag, plot.
    no_picture: Reason why no picture is drawn, if one was wanted.
    """

    paths: Mapping[str, Path]
    no_picture: str = ""

    def write(self, run: Trajectory, control: Control) -> Iterator[Path]:
        """Write all files, and yield the path of each."""
        for option, path in self.paths.items():
            if option == "bag":
                from robodyn.ros.bag import write_bag

                write_bag(run, path)
            elif option == "plot":
                _draw(path, run, control)
            else:
                run.save(path)
            yield path


def outputs_of(arguments: argparse.Namespace, robot_name: str) -> Outputs:
    """Output files from the options; by default a table and a picture.

    They are checked: a folder, a permission or an extra that is missing is an error before the
    simulation, not after it.
    """
    if arguments.no_plot and arguments.plot is not None:
        raise RobodynError("--plot and --no-plot contradict each other: leave one of them out")
    options = {name: getattr(arguments, name) for name in ("csv", "npz", "plot")}
    many, optional = arguments.batch is not None, not any(options.values())
    if optional:
        options["npz" if many else "csv"] = True
        options["plot"] = None if arguments.no_plot else True
    for name in ("csv", "bag"):
        if many and getattr(arguments, name) is not None:
            raise RobodynError(f"--{name} holds one motion, and --batch makes several: use --npz")
    why = ""
    if options["plot"] and importlib.util.find_spec("matplotlib") is None:
        missing = MissingExtraError("matplotlib", "plot", "drawing a trajectory")
        if not optional:
            raise missing
        options["plot"], why = None, str(missing)
    stem, paths = Path(robot_name).name, {}
    for name, ending in (("csv", ".csv"), ("npz", ".npz"), ("plot", ".png")):
        if options[name] is not None:
            own = isinstance(options[name], Path)
            paths[name] = options[name] if own else arguments.out / f"{stem}{ending}"
    if any(path.parent == arguments.out for path in paths.values()):
        _make(arguments.out)
    for name, path in paths.items():
        _check_parent(f"--{name}", path)
        if path.is_dir():
            raise RobodynError(f"--{name}: {str(path)!r} is a folder, expected the name of a file")
    if "plot" in paths:
        check_image(paths["plot"])
    if arguments.bag is not None:
        _check_bag(arguments.bag)
        paths["bag"] = arguments.bag
    if arguments.to is not None:
        _check_folder(arguments.to)
    order = ("csv", "npz", "bag", "plot")
    return Outputs({name: paths[name] for name in order if name in paths}, why)


def _make(folder: Path) -> None:
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        reason = error.strerror or error
        raise RobodynError(f"--out: cannot make the folder {str(folder)!r}: {reason}") from error


def _check_parent(option: str, path: Path) -> None:
    wrong = f"{option}: cannot write {str(path)!r}:"
    if not path.parent.is_dir():
        raise RobodynError(f"{wrong} no such folder: {str(path.parent)!r}; make it first")
    if not os.access(path.parent, os.W_OK | os.X_OK):
        raise RobodynError(f"{wrong} no permission to write into {str(path.parent)!r}")


def _check_bag(path: Path) -> None:
    from robodyn.bags.files import STORAGE, rosbags

    rosbags("writing a bag")
    _check_parent("--bag", path)
    if path.exists() and (path.is_dir() or path.suffix not in STORAGE):
        raise RobodynError(f"--bag: {str(path)!r} is there already; remove it first")


def _check_folder(path: Path) -> None:
    if path.name in ("", ".."):
        raise RobodynError(f"--to: {str(path)!r} is there already; give the name of a new folder")
    _check_parent("--to", path)
    for there in (path, path.with_name(f"{path.name}.partial")):
        if there.exists():
            raise RobodynError(f"--to: {str(there)!r} is there already; remove it first")


def _draw(path: Path, run: Trajectory, control: Control) -> None:
    """Plot positions, tracking errors if there is a reference, and torques."""
    from robodyn.cli.sim.outputs import tracking_error
    from robodyn.pictures.curves import Panel, draw
    from robodyn.simulation.trajectory.panels import panel

    rows = [panel(run, "positions"), panel(run, "torques")]
    if control.reference is not None:
        names = tuple(run.joint_names[k] for k in control.reference.motors)
        off = tracking_error(run, control.reference)
        rows.insert(1, Panel("tracking error", off, "rad, m", names))
    else:
        rows.append(panel(run, "energy"))
    assert run.robot is not None
    draw(path, run.t, rows, title=f"{run.robot.name}: {control.name}")
