"""Labels of points in a picture, placed so that they cover as little as possible."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from robodyn.array_types import FloatArray

#: Distances [pixels] and directions from a point in which its label may be placed.
DISTANCES = np.repeat([10.0, 15.0, 22.0, 32.0, 46.0], 16)
_TURN = 2.0 * np.pi * np.arange(len(DISTANCES)) / 16
DIRECTIONS = np.column_stack([np.cos(_TURN), np.sin(_TURN)])
#: Cost of a pixel of distance from the point. A covered point of a line costs 1.
FAR = 0.3
#: Cost of a covered pixel of another label, and of a pixel beyond the axes.
COVERED, BEYOND = 1.0, 1.0
#: Distance between the points by which a line is represented [pixels].
SPACING = 3.0


@dataclass(frozen=True, eq=False)
class Label:
    """A text beside a point [m] of the drawing, in two dimensions or in three."""

    text: str
    point: FloatArray
    style: dict[str, Any]


#: Function from points of the drawing, shape (n, 2) or (n, 3) [m], to pixels, shape (n, 2).
Projection = Callable[[FloatArray], FloatArray]


def write_labels(
    axis: Any, labels: Sequence[Label], lines: Sequence[FloatArray], project: Projection
) -> None:
    """Write labels beside their points so that they cover few lines and other labels.

    The limits of the axes must not change afterwards. Labels are placed one after the other, so
    that the first ones have the best places. ``lines``, shape (2, n) [m], are the ends of the lines
    of the drawing.
    """
    if not labels:
        return
    from matplotlib.patheffects import withStroke

    taken = np.concatenate([_sampled(project(line)) for line in lines])
    boxes: list[FloatArray] = []
    window = axis.get_window_extent()
    inside = np.array([[window.x0, window.y0], [window.x1, window.y1]])
    for label in labels:
        start = label.point
        text = axis.text(*start, label.text, ha="center", va="center", **label.style)
        text.set_path_effects([withStroke(linewidth=2.5, foreground="white", alpha=0.8)])
        text.set_in_layout(False)
        extent = text.get_window_extent()
        half = 0.5 * np.array([extent.width, extent.height])
        (origin,) = project(start[None])
        center = origin + _best(origin, half, taken, boxes, inside)
        boxes.append(np.stack([center - half, center + half]))
        if len(start) == 2:
            text.set_position(axis.transData.inverted().transform(center))
        else:
            x, y, z = start + _step(project, start, center - origin)
            text.set_position((x, y))
            text.set_z(z)


def _sampled(ends: FloatArray) -> FloatArray:
    count = int(np.hypot(*(ends[1] - ends[0])) / SPACING) + 2
    return np.linspace(ends[0], ends[1], count)


def _best(
    origin: FloatArray,
    half: FloatArray,
    taken: FloatArray,
    boxes: Sequence[FloatArray],
    inside: FloatArray,
) -> FloatArray:
    """Vector from a point to the middle of its label, shape (2,) [pixels]."""
    steps = (DISTANCES[:, None] + half) * DIRECTIONS
    low, high = origin + steps - half, origin + steps + half
    covered = (taken > low[:, None]) & (taken < high[:, None])
    beyond = np.maximum(inside[0] - low, 0.0) + np.maximum(high - inside[1], 0.0)
    cost = FAR * DISTANCES + covered.all(axis=2).sum(axis=1) + BEYOND * beyond.sum(axis=1)
    for box in boxes:
        shared = np.minimum(high, box[1]) - np.maximum(low, box[0])
        cost += COVERED * np.prod(np.maximum(shared, 0.0), axis=1)
    return np.asarray(steps[cost.argmin()])


def _step(project: Projection, start: FloatArray, pixels: FloatArray) -> FloatArray:
    """The shortest displacement in space that is seen as the given one in pixels."""
    slope = (project(start + np.eye(3)) - project(start[None])).T
    return np.asarray(np.linalg.pinv(slope) @ pixels)
