"""Lines and arcs of a frame, with its orientation, as motions of joints."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from robodyn import JointPath, PathError, Robot, SettingsError, ShapeError
from robodyn.arguments import check_fields, checked_arguments
from robodyn.array_types import FloatArray
from robodyn.arrays import checked, of_one_state
from robodyn.motion.base_motion import check_rigid

from ..support.gains import checked_call
from .profile import duration_of

#: Number of poses along the path at which joint positions are computed.
POSES = 101


@dataclass(frozen=True, eq=False)
class TaskPath:
    """Joint positions in which a frame passes through given poses, at rest at both ends.

    The joint positions of poses are found beforehand by inverse kinematics, each from the one
    before; between them is a spline. `line` and `arc` make the poses.

    Attributes
    ----------
    robot : Robot
        With joints whose coordinates add, and a fixed base.
    frame : str
    times : array_like, shape (m,) [s]
        Strictly increasing.
    poses : array_like, shape (m, 4, 4) [1, m]
        In the world.
    q0 : array_like, shape (nq,), optional [rad, m]
        Near the first position. Default: `Robot.neutral`.

    Raises
    ------
    PathError
        If a pose cannot be reached, or joints would have to jump.
    ShapeError
        For a pose that is not a rigid transformation.

    Examples
    --------
    >>> import numpy as np
    >>> import robodyn as rd
    >>> from robodyn.controllers import TaskPath
    >>> arm = rd.load("puma560")
    >>> q = np.array([0.0, -0.5, 0.8, 0.0, 0.6, 0.0])
    >>> start = arm.frame_pose(q, "flange")
    >>> end = start.copy()
    >>> end[2, 3] -= 0.1
    >>> path = TaskPath(arm, "flange", np.array([0.0, 1.0]), np.array([start, end]), q0=q)
    >>> lowered = arm.frame_pose(path(1.0)[0], "flange")[2, 3] - start[2, 3]
    >>> round(float(lowered), 6)
    -0.1
    """

    robot: Robot
    frame: str
    times: FloatArray
    poses: FloatArray
    q0: ArrayLike | None = None

    def __post_init__(self) -> None:
        check_fields(self)
        if not self.robot.joints.coordinates_add:
            raise SettingsError(
                f"{self.robot.name!r} has joints whose coordinates do not add: no path of joints"
            )
        if self.robot.base != "fixed":
            raise SettingsError(
                f"{self.robot.name!r} has a {self.robot.base} base: positions of its joints alone "
                "are no path of a frame in the world"
            )
        if self.q0 is not None:
            of_one_state("q0", self.q0, self.robot.nq)
        poses, times = checked("poses", self.poses, 4, 4), checked("times", self.times, None)
        if poses.ndim != 3 or times.shape != poses.shape[:1]:
            raise ShapeError(
                f"times {times.shape} and poses {poses.shape}: expected (m,) and (m, 4, 4)",
                name="poses",
                given=poses.shape,
            )
        check_rigid(poses, "poses")
        object.__setattr__(self, "times", times)
        object.__setattr__(self, "poses", poses)
        path = JointPath.from_samples(times, self._positions(), ends="rest")
        object.__setattr__(self, "_path", path)

    @checked_call
    def __call__(self, t: float) -> tuple[FloatArray, FloatArray, FloatArray]:
        """Position, velocity, acceleration, each of shape (nq,), at time ``t`` [s]."""
        path: JointPath = self.__dict__["_path"]
        return path(t)

    def _positions(self) -> FloatArray:
        """Joint positions for all poses, each near the one before."""
        q: ArrayLike | None = self.q0
        found = []
        for t, X in zip(self.times, self.poses, strict=True):
            result = self.robot.inverse_kinematics({self.frame: X}, q)
            if not result.converged:
                raise PathError(
                    f"frame {self.frame!r} does not reach its pose at t = {t:.6g} s: "
                    f"{float(result.residual):.3g} m or rad are left"
                    + "".join(f", joint {name!r} is at a limit" for name in result.at_limits),
                    time=float(t),
                )
            q = result.q
            found.append(q)
        rows = np.array(found)
        jumps = np.abs(np.diff(rows, axis=0))
        if jumps.size and jumps.max() > JUMP:
            row, joint = (int(x) for x in np.unravel_index(jumps.argmax(), jumps.shape))
            name = next(n for n, j in self.robot.joints.items() if j.q.start <= joint < j.q.stop)
            raise PathError(
                f"between t = {self.times[row]:.6g} s and {self.times[row + 1]:.6g} s joint "
                f"{name!r} would jump by {jumps[row, joint]:.3g} rad or m: the path passes a "
                "singular posture or a limit; begin elsewhere (q0=), or give more poses",
                time=float(self.times[row]),
                joint=name,
            )
        return rows

    @classmethod
    @checked_arguments
    def line(
        cls,
        robot: Robot,
        frame: str,
        start: ArrayLike,
        end: ArrayLike,
        duration: float,
        q0: ArrayLike | None = None,
    ) -> TaskPath:
        """Along a straight line, turning about one axis, at rest at both ends.

        Parameters
        ----------
        robot : Robot
        frame : str
        start, end : array_like, shape (4, 4) [1, m]
        duration : float [s]
        q0 : array_like, shape (nq,), optional [rad, m]
        """
        X, Y = _pose("start", start), _pose("end", end)
        times, s = _timing(duration)
        places = X[:3, 3] + s[:, None] * (Y[:3, 3] - X[:3, 3])
        return cls(robot, frame, times, _turning(X, Y, s, places), q0)

    @classmethod
    @checked_arguments
    def arc(
        cls,
        robot: Robot,
        frame: str,
        start: ArrayLike,
        through: ArrayLike,
        end: ArrayLike,
        duration: float,
        q0: ArrayLike | None = None,
    ) -> TaskPath:
        """Along the arc of a circle through a point, turning about one axis, at rest at both ends.

        Parameters
        ----------
        robot : Robot
        frame : str
        start, end : array_like, shape (4, 4) [1, m]
        through : array_like, shape (3,) [m]
        duration : float [s]
        q0 : array_like, shape (nq,), optional [rad, m]

        Raises
        ------
        ShapeError
            If the three points lie on a line.
        """
        X, Y = _pose("start", start), _pose("end", end)
        times, s = _timing(duration)
        places = _circle(X[:3, 3], of_one_state("through", through, 3), Y[:3, 3], s)
        return cls(robot, frame, times, _turning(X, Y, s, places), q0)


#: A joint that moves more than this between two poses jumps [rad, m].
JUMP = 0.5


def _timing(duration: float) -> tuple[FloatArray, FloatArray]:
    """Times and fractions of the path, at rest at both ends."""
    u = np.linspace(0.0, 1.0, POSES)
    return u * duration_of(duration), u**3 * (10.0 - 15.0 * u + 6.0 * u * u)


def _pose(name: str, given: ArrayLike) -> FloatArray:
    """One pose, shape (4, 4)."""
    X = checked(name, given, 4, 4)
    if X.ndim != 2:
        raise ShapeError(f"{name} has shape {X.shape}, expected (4, 4)", name=name, given=X.shape)
    check_rigid(X, name)
    return X


def _turning(X: FloatArray, Y: FloatArray, s: FloatArray, places: FloatArray) -> FloatArray:
    """Poses at positions, rotated from one orientation to another about one axis."""
    from scipy.spatial.transform import Rotation

    turn = Rotation.from_matrix(X[:3, :3].T @ Y[:3, :3]).as_rotvec()
    poses = np.tile(np.eye(4), (len(s), 1, 1))
    poses[:, :3, :3] = X[:3, :3] @ Rotation.from_rotvec(s[:, None] * turn).as_matrix()
    poses[:, :3, 3] = places
    return poses


def _circle(a: FloatArray, b: FloatArray, c: FloatArray, s: FloatArray) -> FloatArray:
    """Points of the arc from a through b to c."""
    ab, ac = b - a, c - a
    normal = np.cross(ab, ac)
    size = float(normal @ normal)
    if not size > 1e-12 * float(ab @ ab) * float(ac @ ac):
        raise ShapeError(
            "start, through and end lie on a line: no arc; take TaskPath.line", name="through"
        )
    to_center = ((ac @ ac) * np.cross(normal, ab) + (ab @ ab) * np.cross(ac, normal)) / (2 * size)
    center = a + to_center
    x = -to_center
    y = np.cross(normal / np.sqrt(size), x)
    end = c - center
    angle = np.arctan2(end @ y, end @ x) % (2.0 * np.pi)
    at = s[:, None] * angle
    return np.asarray(center + np.cos(at) * x + np.sin(at) * y)
