"""Poses of links, marks of joints, and the size of a robot in the viewer."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass
from typing import Any

import numpy as np

from robodyn.array_types import FloatArray
from robodyn.description.stick_figure import JointMark, joint_marks, sticks
from robodyn.joints import fixed
from robodyn.robot import Robot

#: Red, green, blue, 0 to 255.
Rgb = tuple[int, int, int]

STICK: Rgb = (90, 100, 115)
JOINT: Rgb = (50, 105, 200)
#: Colour of joints that close a loop.
CUT: Rgb = (225, 90, 30)
#: Colour of the line between the two frames of an open loop.
LINE: Rgb = (215, 30, 90)
FORCE: Rgb = (205, 45, 45)
MOMENT: Rgb = (125, 60, 180)
#: Colour of torques of motors, or of their forces at prismatic joints.
TORQUE: Rgb = (20, 140, 70)


def in_light(color: Rgb) -> Rgb:
    """A darker colour, which looks like the given one in the bright light of the scene."""
    red, green, blue = (round(255.0 * (x / 255.0) ** 1.8 * 0.75) for x in color)
    return red, green, blue


def marks_of(robot: Robot) -> tuple[JointMark, ...]:
    """Marks of all joints, including those that close loops."""
    closing = [name for name, joint in robot.joints.items() if joint.closure]
    return joint_marks(robot.mechanism, closing)


class LinkPlaces:
    """Poses of all links at a posture, each computed from that of its parent.

    The code of a pose relative to the parent is short, also in a chain of hundreds of links, and
    links that are fixed to their parent need no code.
    """

    def __init__(self, robot: Robot) -> None:
        self._robot = robot
        self._root = robot.link_names[0]
        self._steps: list[tuple[str, str, FloatArray | None]] = []
        neighbours: dict[str, list[tuple[str, FloatArray | None]]] = defaultdict(list)
        for joint in robot.mechanism.joints:
            if joint.name in robot.joints and robot.joints[joint.name].cut:
                continue
            X = joint.origin.matrix if joint.kind == fixed.KIND.name else None
            neighbours[joint.parent].append((joint.child, X))
            back = None if X is None else np.asarray(np.linalg.inv(X), float)
            neighbours[joint.child].append((joint.parent, back))
        reached, names = [self._root], set(robot.link_names)
        for link in reached:
            for other, X in neighbours[link]:
                if other in names and other not in reached:
                    reached.append(other)
                    self._steps.append((link, other, X))
        self._apart = tuple(name for name in robot.link_names if name not in reached)

    def at(self, q: FloatArray) -> dict[str, FloatArray]:
        """Pose of each link in the world, shape (4, 4) [1, m], by its name."""
        pose = self._robot.frame_pose
        places = {name: pose(q, name) for name in (self._root, *self._apart)}
        for link, other, X in self._steps:
            relative = pose(q, other, relative_to=link) if X is None else X
            places[other] = places[link] @ relative
        return places


def extent(robot: Robot, places: dict[str, FloatArray]) -> tuple[FloatArray, float]:
    """Centre, shape (3,) [m], and largest edge [m] of the box around joints and links."""
    points = [X[:3, 3] for X in places.values()]
    for name, lines in sticks(robot.mechanism).items():
        X = places[name]
        points += list(lines.reshape(-1, 3) @ X[:3, :3].T + X[:3, 3])
    low, high = np.min(points, axis=0), np.max(points, axis=0)
    return 0.5 * (low + high), max(float((high - low).max()), 1e-2)


def wxyz(X: FloatArray) -> FloatArray:
    """The orientation of a pose, shape (4, 4), as the quaternion (w, x, y, z) of viser."""
    from scipy.spatial.transform import Rotation

    x, y, z, w = Rotation.from_matrix(X[:3, :3]).as_quat()
    return np.array([w, x, y, z])


#: Vertical field of view [rad] and size of the window [px] while no page is open.
FIELD, WINDOW = np.radians(75.0), (1280, 800)


@dataclass(frozen=True, eq=False)
class Camera:
    """A camera.

    position (3,) [m]
    R (3, 3): Columns are its axes in the world: to the right, down, and forward.
    field [rad]: Vertical field of view.
    size [px]: Width and height of the image, scaled so that labels are as high as in the page's
        window.
    """

    position: FloatArray
    R: FloatArray
    field: float = FIELD
    size: tuple[float, float] = WINDOW

    def pixels(self, points: FloatArray) -> FloatArray:
        """Pixels of points, shape (n, 3) [m]: to the right and down, shape (n, 2).

        NaN for points behind the camera.
        """
        seen = (points - self.position) @ self.R
        depth = np.where(seen[:, 2:] > 0.0, seen[:, 2:], np.nan)
        per_pixel = 2.0 * np.tan(0.5 * self.field) / self.size[1]
        return np.asarray(0.5 * np.array(self.size) + seen[:, :2] / depth / per_pixel)


def looking_at(position: FloatArray, point: FloatArray) -> Camera:
    """A camera that looks at a point, upright."""
    forward = (point - position) / np.linalg.norm(point - position)
    right = np.cross(forward, [0.0, 0.0, 1.0])
    right /= np.linalg.norm(right)
    return Camera(position, np.column_stack([right, np.cross(forward, right), forward]))


def camera_of(client: Any, size: tuple[int, int] | None = None) -> Camera:
    """The camera of an open page, for an image of a size [px]. Default: the size of its window."""
    from scipy.spatial.transform import Rotation

    seen = client.camera
    w, x, y, z = seen.wxyz
    width, height = size or (seen.image_width, seen.image_height)
    return Camera(
        np.array(seen.position, float),
        Rotation.from_quat([x, y, z, w]).as_matrix(),
        float(seen.fov),
        (seen.image_height * width / max(height, 1), float(seen.image_height)),
    )
