"""A mechanism in one posture: links as lines, joints as dots, forces as arrows."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from robodyn.array_types import FloatArray
from robodyn.pictures.figure import Canvas

__all__ = ["Arrow", "Dot", "StickFigure", "draw_figure"]

#: How joints are drawn, by what they are; and what the legend says.
MARKS: dict[str, dict[str, Any]] = {
    "motor": {"marker": "o", "markerfacecolor": "C3", "label": "joint with a motor"},
    "passive": {"marker": "o", "markerfacecolor": "white", "label": "passive joint"},
    "closing": {"marker": "D", "markerfacecolor": "gold", "label": "joint that closes a loop"},
    "base": {"marker": "s", "markerfacecolor": "0.6", "markersize": 15.0, "label": "base"},
}
#: More joints than this have no names in the picture.
NAMED = 12
#: Length of the longest arrow, in parts of the size of the mechanism.
LONGEST = 0.35
#: Edges of the box around a mechanism are at least this part of the longest.
THIN = 0.4
#: Forces below this part of the largest have no arrow.
FAINT = 0.02


@dataclass(frozen=True, eq=False)
class Dot:
    """A joint: its name, its role (a key of ``MARKS``) and its place [m] in the world."""

    name: str
    role: str
    point: FloatArray


@dataclass(frozen=True, eq=False)
class Arrow:
    """A force [N] that acts at a point [m], both in world axes."""

    point: FloatArray
    force: FloatArray


@dataclass(frozen=True, eq=False)
class StickFigure:
    """What is drawn of a mechanism.

    Attributes
    ----------
    links : tuple of ndarray, shape (n, 2, 3) [m]
        Lines of each link, in the world.
    dots : tuple of Dot
    arrows : tuple of Arrow
    plane : ndarray, shape (2, 3), or None
        Axes to the right and upwards of the plane that a planar mechanism moves in.
    """

    links: tuple[FloatArray, ...]
    dots: tuple[Dot, ...]
    arrows: tuple[Arrow, ...] = ()
    plane: FloatArray | None = None

    @property
    def points(self) -> FloatArray:
        """All ends of lines and places of joints, shape (n, 3) [m]."""
        ends = [lines.reshape(-1, 3) for lines in self.links]
        return np.concatenate([*ends, np.array([dot.point for dot in self.dots]).reshape(-1, 3)])


def draw_figure(
    path: str | os.PathLike[str] | None, figure: StickFigure, *, axes: Any = None, title: str = ""
) -> Any:
    """Draw it in its plane, or in space with its shadow on the ground.

    Parameters
    ----------
    path : path or None
        Of an image file.
    figure : StickFigure
    axes : matplotlib axes, optional
        Of two dimensions, or of three (``projection="3d"``).
    title : str

    Returns
    -------
    figure : matplotlib.figure.Figure

    Raises
    ------
    MissingExtraError, ShapeError
    """
    flat = figure.plane is not None if axes is None else not hasattr(axes, "set_zlim")
    kind = None if flat else "3d"
    canvas = Canvas("drawing a robot", path, axes, size=(8.0, 6.0), projection=kind)
    (axis,) = canvas.axes
    right_up = figure.plane if figure.plane is not None else np.eye(3)[[0, 2]]
    projected = right_up if flat else np.eye(3)
    points = figure.points @ projected.T
    size = max(float(np.ptp(points, axis=0).max()), 1e-3)
    if not flat:
        _shadow(axis, figure, points)
    for k, lines in enumerate(figure.links):
        for line in lines @ projected.T:
            style = {"color": f"C{k % 10}", "linewidth": 4.0, "alpha": 0.75}
            axis.plot(*line.T, solid_capstyle="round", **style)
    _joints(axis, figure.dots, projected)
    _forces(axis, figure.arrows, projected, size)
    _scale(axis, points, figure, projected)
    axis.legend(
        loc="upper center", bbox_to_anchor=(0.5, -0.1), ncols=3, fontsize="small", frameon=False
    )
    if title:
        axis.set_title(title)
    return canvas.finished()


def _shadow(axis: Any, figure: StickFigure, points: FloatArray) -> None:
    ground = float(points[:, 2].min())
    for lines in figure.links:
        for line in lines:
            x, y, _ = line.T
            axis.plot(x, y, [ground, ground], color="0.85", linewidth=2.0, zorder=0)


def _joints(axis: Any, dots: Sequence[Dot], projected: FloatArray) -> None:
    said: set[str] = set()
    for dot in dots:
        style = {"markersize": 8.0, **MARKS[dot.role]}
        if dot.role in said:
            style.pop("label")
        said.add(dot.role)
        place = projected @ dot.point
        depth = 4 if dot.role == "base" else 5
        axis.plot(*place[:, None], linestyle="", markeredgecolor="0.2", zorder=depth, **style)
        if len(dots) <= NAMED and dot.name:
            axis.text(*place, f"  {dot.name}", fontsize="small", va="bottom", zorder=6)


def _forces(axis: Any, arrows: Sequence[Arrow], projected: FloatArray, size: float) -> None:
    """Arrows as long as the forces, with their newtons."""
    largest = max((float(np.linalg.norm(arrow.force)) for arrow in arrows), default=0.0)
    label: str | None = "force on the child link"
    for arrow in arrows:
        amount = float(np.linalg.norm(arrow.force))
        if not amount > FAINT * largest:
            continue
        step = projected @ arrow.force * (LONGEST * size / largest)
        start = projected @ arrow.point
        if len(start) == 2:
            style = {"angles": "xy", "scale_units": "xy", "scale": 1.0, "width": 0.006}
        else:
            style = {"arrow_length_ratio": 0.15, "linewidth": 2.0}
        axis.quiver(*start, *step, color="firebrick", zorder=7, label=label, **style)
        style = {"color": "firebrick", "fontsize": "small", "zorder": 8}
        axis.text(*(start + step), f" {_short(amount)} N", **style)
        label = None


def _short(amount: float) -> str:
    """Three digits, and no power of ten where none is needed."""
    return f"{amount:.0f}" if 1e3 <= amount < 1e5 else f"{amount:.3g}"


def _scale(axis: Any, points: FloatArray, figure: StickFigure, projected: FloatArray) -> None:
    """Equal scales, axes in metres."""
    tips = [projected @ arrow.point for arrow in figure.arrows]
    shown = np.concatenate([points, np.array(tips).reshape(-1, points.shape[1])])
    if points.shape[1] == 2:
        axis.set_aspect("equal", "datalim")
        axis.margins(0.25)
        names = [_axis_name(row) for row in projected]
        axis.set_xlabel(f"{names[0]} [m]")
        axis.set_ylabel(f"{names[1]} [m]")
        axis.grid(alpha=0.3)
        return
    low, high = shown.min(axis=0), shown.max(axis=0)
    edges = np.maximum(high - low, THIN * max(float((high - low).max()), 1e-3))
    setters = (axis.set_xlim, axis.set_ylim, axis.set_zlim)
    limits = zip(0.5 * (low + high), 0.6 * edges, strict=True)
    axis.set(xlabel="x [m]", ylabel="y [m]", zlabel="z [m]")
    for setter, (middle, half) in zip(setters, limits, strict=True):
        setter(middle - half, middle + half)
    axis.set_box_aspect(edges, zoom=1.2)
    axis.view_init(elev=18.0, azim=-60.0)


def _axis_name(direction: FloatArray) -> str:
    """``x``, ``y`` or ``z``, with a sign; else a direction in the plane."""
    k = int(np.abs(direction).argmax())
    if abs(direction[k]) < 1.0 - 1e-6:
        return "in the plane"
    return ("-" if direction[k] < 0 else "") + "xyz"[k]
