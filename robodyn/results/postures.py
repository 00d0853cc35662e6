"""Results of inverse kinematics, and gaps of loops."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np

from robodyn.array_types import Array
from robodyn.tolerances import AT_LIMIT


@dataclass(frozen=True, eq=False)
class IKResult:
    """Result of inverse kinematics: the postures found, and how far they are from the targets.

    Attributes
    ----------
    q : ndarray, shape (..., nq) [rad, m]
    residual : ndarray, shape (...) [m, rad]
        Root of the sum of squares of all distances and angles to the targets.
    converged : ndarray of bool, shape (...)
        Whether the targets are reached: the residual is at most 1e-9.

    Examples
    --------
    >>> import robodyn as rd
    >>> robot = rd.load("puma560")
    >>> goal = robot.frame_pose([0.1, 0.2, 0.3, 0.4, 0.5, 0.6], "flange")
    >>> found = robot.inverse_kinematics({"flange": goal}, q0=[0.0, 0.3, 0.2, 0.3, 0.4, 0.5])
    >>> bool(found.converged), bool(found.residual < 1e-8)
    (True, True)
    """

    q: Array
    residual: Array
    converged: Array
    _joints: Mapping[str, Any] = field(repr=False)

    @cached_property
    def at_limits(self) -> dict[str, Array]:
        """For each joint that is at a position limit: in which states, shape (...)."""
        found = {}
        for name, joint in self._joints.items():
            limits = joint.position_limits
            if limits is not None and joint.q.stop == joint.q.start + 1:
                x = self.q[..., joint.q.start]
                at = (x <= limits[0] + AT_LIMIT) | (x >= limits[1] - AT_LIMIT)
                if np.any(at):
                    found[name] = at
        return found

    def __repr__(self) -> str:
        reached = np.mean(self.converged) if self.converged.size else 1.0
        worst = np.max(self.residual, initial=0.0)
        limits = ", ".join(self.at_limits)
        return (
            f"<IKResult: q {self.q.shape}, {reached:.0%} converged, residual up to {worst:.3g}"
            + (f", at limits: {limits}>" if limits else ">")
        )


@dataclass(frozen=True, eq=False)
class LoopGap:
    """The two frames of a loop closure at a posture. The loop is closed where they agree.

    Attributes
    ----------
    name, kind : str
        Name and kind of the cut joint, or of the loop.
    links : (str, str)
        The predecessor, and the successor.
    poses : ndarray, shape (2, 4, 4) [1, m]
        Pose of the frame on each link, in the world.
    residual : float [m, rad]
        How far the loop is from being closed: the largest of its rows in `Robot.loop_residual`.
    axis : (3,) or None
        Axis in either frame, for kinds with one axis.
    """

    name: str
    kind: str
    links: tuple[str, str]
    poses: Array
    residual: float
    axis: tuple[float, float, float] | None = None

    @property
    def distance(self) -> float:
        """Distance between the origins of the frames [m]."""
        return float(np.linalg.norm(self.poses[1, :3, 3] - self.poses[0, :3, 3]))

    @property
    def angle(self) -> float:
        """Angle of the rotation between the frames, 0 to pi [rad]."""
        R = self.poses[0, :3, :3].T @ self.poses[1, :3, :3]
        sine = np.array([R[2, 1] - R[1, 2], R[0, 2] - R[2, 0], R[1, 0] - R[0, 1]])
        return float(np.arctan2(np.linalg.norm(sine), np.trace(R) - 1.0))

    @property
    def tilt(self) -> float | None:
        """Angle between the axes of the two frames, 0 to pi [rad]; ``None`` without one axis."""
        if self.axis is None:
            return None
        a, b = self.poses[:, :3, :3] @ np.array(self.axis)
        return float(np.arctan2(np.linalg.norm(np.cross(a, b)), a @ b))

    def __repr__(self) -> str:
        return f"<LoopGap of {self.name!r}: {self}>"

    def __str__(self) -> str:
        turned = _shown(np.degrees(self.angle))
        text = f"{_shown(self.distance)} m apart and turned by {turned} degrees"
        if self.tilt is not None:
            text += f" (their axes by {_shown(np.degrees(self.tilt))} degrees)"
        return text


def _shown(x: float) -> str:
    """A number in three digits; what is rounding of zero as zero."""
    return f"{round(float(x), 12):.3g}"
