"""A point of a link over a plane: its height, velocity and acceleration."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from robodyn.array_types import FloatArray
from robodyn.errors import UnknownNameError
from robodyn.force_elements.ground import Ground
from robodyn.robot import Robot
from robodyn.tolerances import IMMOBILE_POINT

__all__ = ["ContactPoint", "contact_points"]


@dataclass(frozen=True, eq=False)
class ContactPoint:
    """A point of a link that may stand on a plane.

    position (3,) [m]: In link axes.
    axes (3, 3): Rows: the normal of the plane, and two directions along it, in world axes.
    height [m]: Of the plane along the normal.
    """

    name: str
    link: str
    position: FloatArray
    axes: FloatArray
    height: float

    @property
    def normal(self) -> FloatArray:
        """Out of the ground."""
        return np.asarray(self.axes[0])

    @property
    def plane(self) -> FloatArray:
        """Frame in the world whose plane z = 0 is the ground, with the axes 1 and 2 as x and y."""
        X = np.eye(4)
        X[:3, :3], X[:3, 3] = self.axes[[1, 2, 0]].T, self.height * self.normal
        return X

    def gap(self, robot: Robot, q: FloatArray) -> float:
        """Height above the plane [m]."""
        X = robot.frame_pose(q, self.link)
        return float(self.normal @ (X[:3, :3] @ self.position + X[:3, 3])) - self.height

    def gaps(self, robot: Robot, q: FloatArray) -> FloatArray:
        """Heights above the plane at many positions, shape (n, nq): shape (n,) [m]."""
        X = robot.frame_pose(q, self.link)
        heights = np.tensordot(X[:, :3], self.normal, (1, 0)) @ np.append(self.position, 1.0)
        return np.asarray(heights - self.height)

    def jacobian(self, robot: Robot, q: FloatArray) -> FloatArray:
        """Jacobian of the point's velocity along the axes, shape (3, nv)."""
        J, R = robot.frame_jacobian(q, self.link, axes="world"), robot.frame_pose(q, self.link)
        arm = R[:3, :3] @ self.position
        return np.asarray(self.axes @ (J[:3] + np.cross(J[3:], arm[:, None], axis=0)))

    def normal_acceleration(
        self, robot: Robot, q: FloatArray, v: FloatArray, a: FloatArray
    ) -> float:
        """Acceleration along the normal [m/s^2]."""
        A = robot.frame_acceleration(q, v, a, self.link, axes="world", classical=True)
        w = robot.frame_twist(q, v, self.link, axes="world")[3:]
        arm = robot.frame_pose(q, self.link)[:3, :3] @ self.position
        turned = np.cross(A[3:], arm) + np.cross(w, np.cross(w, arm))
        return float(self.normal @ (A[:3] + turned))

    def sliding_axes(self, robot: Robot) -> tuple[int, ...]:
        """Axes along the plane, 1 and 2, in which the point can move at all."""
        rng = np.random.default_rng(0)
        some = [np.abs(self.jacobian(robot, robot.random(rng))) for _ in range(2)]
        fastest = np.max(some, axis=(0, 2))
        return tuple(k for k in (1, 2) if fastest[k] > IMMOBILE_POINT)


def contact_points(robot: Robot, ground: Ground) -> list[ContactPoint]:
    """The points of a robot that may touch a ground."""
    n = np.array(ground.normal)
    level = np.eye(3)[np.abs(n).argmin()]
    level = level - (level @ n) * n
    level /= np.linalg.norm(level)
    axes = np.array([n, np.cross(level, n), level])
    found = []
    for name, link, point in ground.contacts:
        if link not in robot.link_names:
            raise UnknownNameError("link", link, robot.link_names, f"contact {name!r}")
        found.append(ContactPoint(name, link, np.array(point), axes, ground.height))
    return found
