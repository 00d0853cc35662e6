"""The camera of a page, and the projection of points into its image."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from robodyn.array_types import FloatArray

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
