"""Bar chart of a mode shape: amplitudes and phases of its coordinates."""

from __future__ import annotations

import math
import os
from collections.abc import Mapping
from typing import Any

from robodyn.pictures.figure import COLORS, Canvas

__all__ = ["draw_mode_shape"]

#: Phases [deg] nearer than this to 0 or 180 degrees are not written beside the bars.
IN_PHASE = 2.0
WITH, AGAINST = COLORS[:2]


def draw_mode_shape(
    path: str | os.PathLike[str] | None,
    shape: Mapping[str, complex],
    *,
    title: str = "",
    axes: Any = None,
) -> Any:
    """Draw a bar for each coordinate.

    Parameters
    ----------
    path : path or None
        Image file to write. ``None``: show a window, where there is a display.
    shape : mapping of name to complex
        Amplitude and phase of each coordinate, relative to the largest.
    title : str
    axes : matplotlib axes, optional

    Returns
    -------
    figure : matplotlib.figure.Figure

    Raises
    ------
    MissingExtraError, ShapeError
    """
    size = (7.0, 1.4 + 0.34 * max(2, len(shape)))
    with Canvas("drawing a mode", path, axes, size=size, title=title) as canvas:
        _draw(canvas.axes[0], shape)
    return canvas.figure


def _draw(axis: Any, shape: Mapping[str, complex]) -> None:
    for row, (name, part) in enumerate(shape.items()):
        angle = math.degrees(math.atan2(part.imag, part.real))
        ahead = abs(angle) <= 90.0
        length = abs(part) if ahead else -abs(part)
        axis.barh(name, length, height=0.6, color=WITH if ahead else AGAINST)
        if IN_PHASE < abs(angle) < 180.0 - IN_PHASE:
            place = {"x": length, "y": row, "va": "center", "ha": "left" if ahead else "right"}
            axis.text(s=f" {angle:+.0f}° ", fontsize=9.0, **place)
    axis.set_xlim(-1.2, 1.2)
    axis.axvline(0.0, color="0.3", linewidth=0.8)
    axis.set_xticks((-1.0, -0.5, 0.0, 0.5, 1.0), ("1", "0.5", "0", "0.5", "1"))
    axis.set_xlabel("← moves against the largest        amplitude        moves with it →")
    axis.invert_yaxis()
    axis.grid(visible=False, axis="y")
    axis.grid(visible=True, axis="x")
