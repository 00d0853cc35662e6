"""A recorded motion as a reference."""

from __future__ import annotations

import os
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import ArrayLike

from robodyn import JointPath, PathError, Robot, SettingsError, ShapeError, Trajectory
from robodyn.arguments import check_fields, checked_arguments
from robodyn.array_types import FloatArray
from robodyn.arrays import checked
from robodyn.literals import PathEnds
from robodyn.simulation.limits.bounds import speed_bounds
from robodyn.simulation.loads.column_names import speed_names

from ..support.gains import checked_call

#: A motion jumps if a mean speed between samples is this many times the largest recorded speed.
FASTER = 1.5


@dataclass(frozen=True, eq=False)
class Recorded:
    """Smooth motion of all joints of a robot through samples of their positions.

    Coordinates are interpolated by splines, quaternions by splines of rotations. Accelerations are
    continuous; velocities and accelerations are derivatives of the positions, not recorded values.

    Attributes
    ----------
    robot : Robot
    times : array_like, shape (m,) [s]
        At least four, strictly increasing; two are enough if it is at rest at its ends.
    positions : array_like, shape (m, nq) [rad, m]
    velocities : array_like, shape (m, nv), optional [rad/s, m/s]
        Recorded speeds, which are used only to distinguish jumps from fast motions.
    ends : {"free", "rest"}
        As in `JointPath.from_samples`: beyond its samples, a ``"free"`` motion raises a
        `PathError`, and one at ``"rest"`` stands still. ``"rest"`` needs coordinates that add.

    Raises
    ------
    ShapeError
        For samples of another robot, and too few.
    PathError
        Where a joint jumps: its mean speed from one sample to the next is beyond its limit, or more
        than half as much again as the greatest that was recorded.
    SettingsError
        For ends at rest where coordinates do not add.

    Examples
    --------
    >>> import numpy as np
    >>> import robodyn as rd
    >>> from robodyn.controllers import Recorded
    >>> arm = rd.load("double_pendulum")
    >>> run = rd.simulate(arm, q0=[0.3, 0.2], duration=0.5, step=1e-2)
    >>> again = Recorded(arm, run.t, run.q, run.v)
    >>> q, v, a = again(0.255)
    >>> bool(np.allclose(v, run.resample([0.255]).v[0], atol=1e-4))
    True
    """

    robot: Robot
    times: FloatArray
    positions: FloatArray
    velocities: ArrayLike | None = None
    ends: PathEnds = "free"
    _parts: tuple[tuple[list[int], list[int], JointPath], ...] = field(init=False, repr=False)

    def __post_init__(self) -> None:
        check_fields(self)
        q = np.array(checked("positions", self.positions, None, self.robot.nq), float)
        times = np.array(checked("times", self.times, None), float)
        if q.ndim != 2 or times.shape != q.shape[:1]:
            raise ShapeError(
                f"times {times.shape} and positions {q.shape}: expected (m,) and "
                f"(m, {self.robot.nq})",
                name="positions",
                given=q.shape,
            )
        parts = tuple(_parts(self.robot, times, q, self.ends))
        object.__setattr__(self, "times", times)
        object.__setattr__(self, "positions", q)
        object.__setattr__(self, "_parts", parts)
        self._refuse_jumps()

    @classmethod
    @checked_arguments
    def load(
        cls, path: str | os.PathLike[str], robot: Robot, *, ends: PathEnds = "free"
    ) -> Recorded:
        """Load a motion from a bag of ROS 2, or from a file of `Trajectory.save`.

        Parameters
        ----------
        path : path
            ``.mcap``, ``.csv``, ``.npz`` or a folder, see `Trajectory.load`.
        robot : Robot
        ends : {"free", "rest"}

        Raises
        ------
        MissingFileError, FileError, BagError, ShapeError
            As `Trajectory.load`.
        """
        run = Trajectory.load(path, robot)
        return cls(robot, run.t, run.q, run.v, ends)

    @checked_call
    def __call__(self, t: float) -> tuple[FloatArray, FloatArray, FloatArray]:
        """Position (nq,), velocity (nv,) and acceleration (nv,) at time ``t`` [s]."""
        q = np.zeros(self.robot.nq)
        v, a = np.zeros(self.robot.nv), np.zeros(self.robot.nv)
        for coordinates, speeds, path in self._parts:
            q[coordinates], v[speeds], a[speeds] = path(t)
        return q, v, a

    def _refuse_jumps(self) -> None:
        steps = np.diff(self.times)[:, None]
        speeds = np.abs(self.robot.difference(self.positions[:-1], self.positions[1:])) / steps
        most = speed_bounds(self.robot) * (1.0 + 1e-6)
        if self.velocities is not None:
            known = checked("velocities", self.velocities, len(self.times), self.robot.nv)
            fastest = np.abs(known).max(axis=0)
            most = np.minimum(most, np.where(fastest > 0.0, FASTER * fastest, np.inf))
        wrong = np.argwhere(speeds > most)
        if len(wrong):
            row, k = wrong[0]
            joint = speed_names(self.robot)[k]
            raise PathError(
                f"joint {joint!r} jumps between t = {self.times[row]:.6g} s and "
                f"{self.times[row + 1]:.6g} s: it would move at {speeds[row, k]:.4g} rad/s or m/s, "
                f"and may at {most[k]:.4g}",
                time=float(self.times[row]),
                joint=joint,
            )


def _parts(
    robot: Robot, times: FloatArray, q: FloatArray, ends: PathEnds
) -> list[tuple[list[int], list[int], JointPath]]:
    """Paths of joints, with the indices of their coordinates and speeds in q and v."""
    found, coordinates, speeds = [], [], []
    for name in robot.joint_names:
        joint = robot.joints[name]
        own = list(range(joint.q.start, joint.q.stop)), list(range(joint.v.start, joint.v.stop))
        if joint.kind.coordinates.flat:
            coordinates += own[0]
            speeds += own[1]
            continue
        if ends != "free":
            raise SettingsError(
                f"ends is {ends!r}, and the coordinates of joint {name!r} do not add: the motion "
                "is over its samples alone, ends='free'"
            )
        x = q[:, joint.q]
        if not joint.kind.coordinates.quaternion:
            path = JointPath.from_planar(times, x)
        elif len(own[0]) == 4:
            path = JointPath.from_orientations(times, x)
        else:
            path = JointPath.from_poses(times, x[:, :3], x[:, 3:])
        found.append((*own, path))
    if coordinates:
        path = JointPath.from_samples(times, q[:, coordinates], ends=ends)
        found.append((coordinates, speeds, path))
    return found
