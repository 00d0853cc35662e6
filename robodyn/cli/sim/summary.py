"""Summary of a simulation as text."""

from __future__ import annotations

import argparse
import math
import warnings
from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

import robodyn as rd
from robodyn.array_types import FloatArray
from robodyn.cli.sim.control import Control
from robodyn.cli.sim.reference import MotorReference
from robodyn.errors import EnergyWarning, SettingsError
from robodyn.simulation.limits.bounds import effort_bounds, effort_shares
from robodyn.simulation.trajectory.trajectory import Trajectory

__all__ = ["details", "in_one_line", "tracking_error"]

#: Largest number of events that are listed; further ones are only counted.
LISTED = 20


def in_one_line(run: Trajectory, arguments: argparse.Namespace, elapsed: float) -> str:
    """Duration, steps, energy, loop closure and computing time in one line."""
    assert run.robot is not None
    until = float(run.t[-1])
    steps = math.ceil(until / arguments.step * (1.0 - 1e-12))
    many = f" {run.q.shape[1]} times" if run.q.ndim > 2 else ""
    parts = [f"{run.robot.name}: {until:g} s{many} in {steps} steps of {arguments.integrator}"]
    parts.append(_energy(run, arguments))
    if run.robot.nc:
        parts.append(f"loops open by {_largest(run.loop_residual):.1e} at most")
    speed = until * (run.q.shape[1] if many else 1) / elapsed
    parts.append(f"simulated in {elapsed:.2f} s ({speed:.3g} x real time)")
    return "; ".join(parts)


def _energy(run: Trajectory, arguments: argparse.Namespace) -> str:
    """Change of energy, and the part that no work accounts for."""
    first, last = run.energy[0], run.energy[-1]
    gained = np.atleast_1d(last - first)
    gain = f"energy gained {_from_to(gained[np.isfinite(gained)])} J"
    if arguments.every > 1 and arguments.controller != "none":
        return f"{gain} (no audit of it, as --every leaves out steps at which forces change)"
    try:
        with warnings.catch_warnings():  # the line says how much is unexplained
            warnings.simplefilter("ignore", EnergyWarning)
            unexplained = run.audit.unexplained
    except SettingsError as error:
        return f"{gain} (no audit of it: {error})"
    return f"{gain}, {_largest(unexplained):.1e} J unexplained at most"


def _from_to(x: FloatArray) -> str:
    if not len(x):
        return "?"
    low, high = float(x.min()), float(x.max())
    return f"{low:.4g}" if low == high else f"{low:.4g} to {high:.4g}"


def _largest(x: FloatArray) -> float:
    """The largest magnitude, ignoring NaN after the end of a motion."""
    known = np.abs(x[np.isfinite(x)])
    return float(known.max(initial=0.0))


def details(run: Trajectory, control: Control, arguments: argparse.Namespace) -> Iterator[str]:
    """Lines about errors, torques, events and limits."""
    robot = run.robot
    assert robot is not None
    units = _units(robot)
    if control.reference is not None:
        error, motors = tracking_error(run, control.reference), control.reference.motors
        yield f"  largest tracking error  {_by_unit(error, units[motors], '.3e')}"
    if control.controller is not None:
        forces = np.where(units == "m", "N", "N m")
        yield f"  largest torque          {_by_unit(run.tau, forces, '.4g')}{_share(robot, run)}"
    for event in run.events[:LISTED]:
        motion = f", motion {event.motion[0]}" if event.motion else ""
        yield f"  at {event.time:<20.6g} {event.name}{motion}"
    if len(run.events) > LISTED:
        yield f"  and {len(run.events) - LISTED} more events"
    if arguments.limits != "ignore":
        for violation in run.limit_violations:
            yield f"  limit left              {violation}"


def _units(robot: rd.Robot) -> NDArray[np.str_]:
    """Units of the speeds times s, shape (nv,)."""
    units = np.empty(robot.nv, "<U3")
    for joint in robot.joints.values():
        units[joint.v] = [joint.kind.unit(k) for k in range(joint.v.stop - joint.v.start)]
    return units


def _by_unit(x: FloatArray, units: NDArray[np.str_], digits: str) -> str:
    """The largest magnitude in each unit, as text; units belong to the last axis of ``x``."""
    each = dict.fromkeys(units.tolist())
    return ", ".join(f"{_largest(x[..., units == unit]):{digits}} {unit}" for unit in each)


def tracking_error(run: Trajectory, reference: MotorReference) -> FloatArray:
    """Tracking errors of the motors, shape (n, ..., motors) [rad, m]."""
    assert run.robot is not None
    wanted = np.array([reference(t)[0] for t in run.t.tolist()])
    wanted = np.broadcast_to(wanted, run.q.shape)
    return np.asarray(run.robot.difference(run.q, wanted)[..., reference.motors])


def _share(robot: rd.Robot, run: Trajectory) -> str:
    """Largest torques relative to the effort limits, where the file has these."""
    bounds = effort_bounds(robot)
    known = np.isfinite(bounds)
    if not known.any():
        return ""
    part = np.nanmax(effort_shares(robot, run.tau).reshape(-1, robot.nv), axis=0)[known]
    worst = np.array(run.joint_names)[known][part.argmax()]
    return f"; up to {100 * part.max():.0f} % of the limit, at {worst}"
