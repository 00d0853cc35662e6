"""The motion of a robot in a mode of its linear model, for viewing."""

from __future__ import annotations

import math
from collections.abc import Iterable

import numpy as np
from numpy.typing import ArrayLike

from robodyn.arguments import checked_arguments
from robodyn.array_types import FloatArray
from robodyn.arrays import checked, named
from robodyn.closed_loops.constraints.open_loops import largest_gap
from robodyn.errors import ShapeError, UnknownNameError
from robodyn.robot import Robot
from robodyn.simulation.loads.arguments import step_times
from robodyn.simulation.loads.column_names import speed_names
from robodyn.simulation.trajectory.trajectory import Trajectory
from robodyn.state_space import Mode
from robodyn.tolerances import MODE_OPEN, STILL_POLE

#: Number of samples in a period, or in the time constant of a mode that does not oscillate.
SAMPLES = 40


@checked_arguments
def mode_motion(
    robot: Robot,
    q: ArrayLike,
    mode: Mode,
    *,
    amplitude: float = 0.2,
    cycles: float = 3.0,
    locked: Iterable[str] = (),
) -> Trajectory:
    """The motion of a robot in one mode about a posture at rest, with its loops closed.

    Coordinates are ``Re(shape exp(pole t))``. The given amplitude is that at the start of a motion
    that decays, and at the end of one that grows.

    Parameters
    ----------
    robot : Robot
    q : array_like, shape (nq,) [rad, m]
        The posture that the linear model was made at.
    mode : Mode
        One of `StateSpace.modes`.
    amplitude : float [rad, m]
        Of the joint that the mode is named after.
    cycles : float
        Number of periods, or of time constants if the mode does not oscillate.
    locked : names of joints
        Locked in the linear model, too.

    Returns
    -------
    motion : Trajectory
        It can be played (``Viewer(robot, motion)``), drawn or saved. ``tau`` are the forces that
        the motion needs; they differ from those at rest by the square of the amplitude.

    Raises
    ------
    UnknownNameError
        If the mode is not one of this robot.
    ShapeError
        If the mode has no motion, or the loops cannot close at this amplitude.

    Examples
    --------
    >>> import robodyn as rd
    >>> robot = rd.load("double_pendulum")
    >>> model = robot.linearize([0, 0], [0, 0], None)
    >>> motion = rd.mode_motion(robot, [0, 0], model.modes[0], amplitude=0.1)
    >>> len(motion), round(float(motion.t[-1]), 3)
    (121, 7.033)
    """
    q = checked("q", q, robot.nq, of=robot.name)
    places, speeds = (_columns(robot, mode, letter) for letter in "qv")
    pace = abs(mode.pole.imag) / (2.0 * math.pi) or abs(mode.pole.real)
    if not abs(mode.pole) > STILL_POLE:
        raise ShapeError(f"the mode {mode.name!r} stands still: there is no motion", name="mode")
    t = step_times(cycles / pace, 1.0 / (SAMPLES * pace))
    grown = np.exp(mode.pole * t - max(0.0, mode.pole.real) * t[-1]) * amplitude
    z = (np.outer(grown, mode.shape[list(places.values())])).real
    u = (np.outer(grown, mode.shape[list(speeds.values())])).real
    rate = (np.outer(grown * mode.pole, mode.shape[list(speeds.values())])).real
    positions, moving = _closed(robot, q, (z, list(places)), (u, list(speeds)))
    still = named("locked", locked)
    driven = {_name(robot, k): rate[:, i] for i, k in enumerate(speeds)}
    found = robot.hybrid_dynamics(positions, moving, controlled=driven, locked=still)
    names = speed_names(robot)
    return Trajectory(t, positions, moving, found.a, found.tau, joint_names=names, robot=robot)


def _columns(robot: Robot, mode: Mode, letter: str) -> dict[int, int]:
    """Indices in the mode shape of coordinates or speeds, by their indices in v."""
    names = speed_names(robot)
    found = {}
    for k, state in enumerate(mode.states):
        kind, _, name = state.partition(":")
        if kind == letter:
            if name not in names:
                raise UnknownNameError("speed", name, names, f"robot {robot.name!r}")
            found[names.index(name)] = k
    return found


def _name(robot: Robot, speed: int) -> str:
    return speed_names(robot)[speed]


def _closed(
    robot: Robot,
    q: FloatArray,
    places: tuple[FloatArray, list[int]],
    speeds: tuple[FloatArray, list[int]],
) -> tuple[FloatArray, FloatArray]:
    """States with given independent coordinates and speeds."""
    (z, own), (u, moving) = places, speeds
    step, v = np.zeros((2, len(z), robot.nv))
    step[:, own], v[:, moving] = z, u
    positions = robot.integrate(q, step)
    if not robot.nc:
        return positions, v
    follow = np.ones(robot.nv, bool)
    follow[own] = False
    for _ in range(3):  # a few steps of Newton's method each
        positions, closed = robot.closed_state(positions, v, follow)
    residual = robot.loop_residual(positions)
    if not np.abs(residual).max(initial=0.0) <= MODE_OPEN:
        loop, size = largest_gap(robot.model, residual)
        raise ShapeError(
            f"the loops of {robot.name!r} do not close that far away, by {size} ({loop!r}): "
            "give a smaller amplitude",
            name="amplitude",
        )
    return positions, closed
