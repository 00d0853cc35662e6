"""Matplotlib axes of a stick figure, in two or three dimensions."""

from __future__ import annotations

from typing import Any

import numpy as np

from robodyn.array_types import FloatArray

#: Margin around a mechanism, as a fraction of its size.
MARGIN = 0.16
#: Shortest edge of the box around a mechanism over the longest one; True: in three dimensions.
THIN = {True: 0.3, False: 0.6}
#: A link is drawn as a plate if its corners are in one plane, up to this fraction of its size.
PLATE = 1e-3


class StickAxes:
    """Matplotlib axes with equal scales, in which points of the world are drawn.

    axis: In two dimensions, or in three, which are drawn without perspective.
    points (n, 3) [m]: Points that the axes have to contain.
    size [m]: Size of the mechanism.
    plane (2, 3), or None: Directions in the world of the horizontal and the vertical axis of
        two-dimensional axes. Default: x and z.
    """

    def __init__(
        self, axis: Any, points: FloatArray, size: float, plane: FloatArray | None
    ) -> None:
        self.axis, self.size = axis, size
        self._solid = hasattr(axis, "set_zlim")
        self._plane = np.eye(3) if self._solid else np.eye(3)[[0, 2]] if plane is None else plane
        low, edges = box(self.of(points))
        self._middle = 0.5 * (points.min(axis=0) + points.max(axis=0))
        self._low = low
        names = [f"{_axis_name(direction)} [m]" for direction in self._plane]
        for name, label, start, edge in zip("xyz", names, low, edges, strict=False):
            axis.set(**{f"{name}lim": (start, start + edge), f"{name}label": label})
        if self._solid:
            _set_up_axes(axis, edges, _azimuth(points))
        else:
            axis.set_aspect("equal", "box")
            axis.grid(visible=True)

    def of(self, points: FloatArray) -> FloatArray:
        """Coordinates in these axes of points of the world, shape (..., 2) or (..., 3) [m]."""
        return np.asarray(points @ self._plane.T)

    def pixels(self, drawn: FloatArray) -> FloatArray:
        """Pixels of coordinates in these axes, shape (n, 2)."""
        if self._solid:
            from mpl_toolkits.mplot3d import proj3d

            x, y, _ = proj3d.proj_transform(*drawn.T, self.axis.get_proj())
            drawn = np.column_stack([x, y])
        return np.asarray(self.axis.transData.transform(drawn))

    def line(self, ends: FloatArray, **style: Any) -> None:
        """Draw a line through points, shape (n, 3)."""
        self.axis.plot(*self.of(ends).T, solid_capstyle="round", **style)

    def mark(self, point: FloatArray, marker: str, **style: Any) -> None:
        """Draw a marker at a point, shape (3,)."""
        style |= {"linestyle": "", "marker": marker_of(marker)}
        self.axis.plot(*self.of(point)[:, None], zorder=3 if marker == "ground" else 5, **style)

    def arrow(self, start: FloatArray, step: FloatArray, color: str) -> None:
        """Draw an arrow from a point."""
        style: dict[str, Any] = {"arrow_length_ratio": 0.2, "linewidth": 2.0}
        if not self._solid:
            style = {"angles": "xy", "scale_units": "xy", "scale": 1.0, "units": "inches"}
            style["width"] = 0.032
        self.axis.quiver(*self.of(start), *self.of(step), color=color, zorder=7, **style)

    def body(self, corners: FloatArray, color: str) -> None:
        """Draw a body by its corners, shape (n, 3): bars, or a plate between three or more."""
        outline = _outline(self.of(corners))
        line = _spokes(corners) if outline is None else np.concatenate([outline, outline[:1]])
        zorder = 2.0 + self._nearness(corners.mean(axis=0))
        if self._solid:
            shadow = np.column_stack([line[:, :2], np.full(len(line), self._low[2])])
            self.line(shadow, color="0.86", linewidth=3.0, zorder=0)
        if outline is None:
            self.line(line, color=color, linewidth=5.5, zorder=zorder)
            return
        style = {"facecolor": color + "50", "edgecolor": color, "linewidth": 4.5}
        style |= {"joinstyle": "round", "zorder": zorder}
        if self._solid:
            from mpl_toolkits.mplot3d.art3d import Poly3DCollection

            self.axis.add_collection3d(Poly3DCollection([outline], **style))
        else:
            self.axis.fill(*outline.T, **style)

    def _nearness(self, point: FloatArray) -> float:
        """Nearness to the eye, 0 to 1: what is nearer is drawn over what is farther away."""
        if not self._solid:
            return 0.0
        elevation, azimuth = np.radians([self.axis.elev, self.axis.azim])
        eye = np.array([np.cos(azimuth), np.sin(azimuth), np.tan(elevation)])
        return float(np.clip(0.5 + (point - self._middle) @ eye / (4.0 * self.size), 0.0, 1.0))


def _outline(points: FloatArray) -> FloatArray | None:
    """Corners of a plate in order, shape (m, k); ``None`` if the points are not in a plane."""
    if len(points) < 3:
        return None
    _, sizes, axes = np.linalg.svd(points - points.mean(axis=0), full_matrices=False)
    if sizes[1] <= PLATE * sizes[0] or sizes[2:].max(initial=0.0) > PLATE * sizes[0]:
        return None
    from scipy.spatial import ConvexHull

    return np.asarray(points[ConvexHull(points @ axes[:2].T).vertices])


def _spokes(corners: FloatArray) -> FloatArray:
    """One line from the first corner to every other and back, shape (n, 3)."""
    return np.concatenate([np.stack([corners[0], corner]) for corner in corners[1:]])


def box(drawn: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Lower corner and edges of a box around coordinates and a margin, shape (2,) or (3,)."""
    low, high = drawn.min(axis=0), drawn.max(axis=0)
    size = max(float((high - low).max()), 1e-3)
    least = THIN[drawn.shape[1] == 3] * (1.0 + 2.0 * MARGIN) * size
    edges = np.maximum(high - low + 2.0 * MARGIN * size, least)
    return 0.5 * (low + high - edges), edges


def _set_up_axes(axis: Any, edges: FloatArray, azimuth: float) -> None:
    """Set three-dimensional axes to equal scales, few ticks and pale walls."""
    from matplotlib.ticker import MaxNLocator

    for name, edge in zip("xyz", edges, strict=True):
        own = getattr(axis, f"{name}axis")
        own.set_pane_color((0.97, 0.97, 0.97, 1.0))
        own.set_major_locator(MaxNLocator(max(2, round(6 * edge / edges.max()))))
    axis.tick_params(labelsize=8.0, pad=1.0)
    axis.set_box_aspect(edges, zoom=0.95)
    axis.set_proj_type("ortho")
    axis.computed_zorder = False
    axis.view_init(elev=18.0, azim=azimuth)


def _azimuth(points: FloatArray) -> float:
    """Azimuth of the eye [deg], from which the longest direction is seen from its side."""
    flat = points[:, :2] - points[:, :2].mean(axis=0)
    _, sizes, axes = np.linalg.svd(flat, full_matrices=False)
    if sizes[0] < 1.5 * sizes[1] or not sizes[0]:
        return -60.0
    along = axes[0] if axes[0][int(np.abs(axes[0]).argmax())] > 0.0 else -axes[0]
    return float(np.degrees(np.arctan2(along[1], along[0]))) - 65.0


def marker_of(name: str, *, above: float = 0.0) -> Any:
    """A marker of matplotlib; ``"ground"`` is the sign of a fixed base, a triangle on hatches.

    Its tip is ``above`` the point, in parts of its size.
    """
    if name != "ground":
        return name
    from matplotlib.path import Path

    legs = [(0.0, 0.0), (-0.5, -0.7), (0.5, -0.7), (0.0, 0.0)]
    hatches = [[(x, -0.7), (x - 0.25, -1.0)] for x in (-0.5, -0.2, 0.1, 0.4, 0.7)]
    lines = [[(-0.8, -0.7), (0.8, -0.7)], *hatches]
    codes = [Path.MOVETO, Path.LINETO, Path.LINETO, Path.CLOSEPOLY]
    codes += [Path.MOVETO, Path.LINETO] * len(lines)
    points = np.array(legs + [end for line in lines for end in line])
    return Path(points + np.array([0.0, above]), codes)


def _axis_name(direction: FloatArray) -> str:
    """``x``, ``y`` or ``z``, with a sign; else a direction in the plane."""
    k = int(np.abs(direction).argmax())
    if abs(direction[k]) < 1.0 - 1e-6:
        return "in the plane"
    return ("-" if direction[k] < 0 else "") + "xyz"[k]
