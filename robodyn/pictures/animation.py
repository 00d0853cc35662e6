"""Animations of stick figures: GIFs and videos."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import Any

from robodyn.array_types import FloatArray
from robodyn.errors import MissingExtraError, ShapeError
from robodyn.files import as_path, replacing
from robodyn.pictures.figure import COLORS
from robodyn.pictures.stick_axes import StickAxes
from robodyn.pictures.stick_drawing import Layout, draw_legend, draw_posture, newtons
from robodyn.pictures.stick_figure import StickFigure

#: matplotlib's writer for each ending of a file.
WRITERS = {".gif": "pillow", ".webp": "pillow", ".mp4": "ffmpeg", ".mov": "ffmpeg"}
#: Pixels an inch.
RESOLUTION = 100.0


def check_video(path: str | os.PathLike[str]) -> None:
    """Check that a path ends like an animation, and that matplotlib can write it here."""
    ending = as_path("path", path).suffix.lower()
    if ending not in WRITERS:
        raise ShapeError(
            f"cannot draw {str(path)!r}: expected a name ending in one of {', '.join(WRITERS)}",
            name="path",
            given=ending,
        )
    try:
        from matplotlib import animation
    except ImportError:
        raise MissingExtraError("matplotlib", "plot", "drawing a motion") from None
    if not animation.writers.is_available(WRITERS[ending]):
        raise ShapeError(
            f"cannot draw {str(path)!r}: the program ffmpeg is not there; install it, or write a "
            ".gif",
            name="path",
            given=ending,
        )


def animate(
    path: str | os.PathLike[str],
    figures: Sequence[StickFigure],
    t: FloatArray,
    *,
    trace: tuple[FloatArray, FloatArray] | None = None,
    fps: float = 25.0,
    title: str = "",
) -> None:
    """Write an animation whose frames are the given figures.

    path: Ending in one of `WRITERS`.
    t (n,) [s]
    trace (m,) [s], (m, k, 3) [m]: Times, and positions of k points at these times; the curves of
        the points are drawn.
    fps [1/s]
    """
    check_video(path)
    from matplotlib import animation

    layout = Layout(figures)
    make: Any = animation.writers[WRITERS[as_path("path", path).suffix.lower()]]
    writer = make(fps=fps)
    arrow = f"force on the child link, at most {newtons(layout.largest)}"
    with replacing(as_path("path", path)) as file, layout.canvas(None, film=True) as canvas:
        (axis,) = canvas.axes
        drawn = layout.axes(axis)
        # the legend of the figure with the most arrows and joints serves all figures
        busiest = max(figures, key=lambda figure: (len(figure.arrows), len(figure.dots)))
        draw_legend(canvas, drawn, busiest, arrow)
        axis.set_title(" ", loc="left")
        canvas.figure.draw_without_rendering()
        canvas.figure.set_layout_engine("none")  # the same layout in all frames
        with writer.saving(canvas.figure, file, RESOLUTION):
            for figure, now in zip(figures, t.tolist(), strict=True):
                for artist in [*axis.lines, *axis.collections, *axis.patches]:
                    artist.remove()  # those of the frame before
                draw_posture(drawn, figure, layout.largest)
                if trace is not None:
                    _draw_traces(drawn, *trace, now)
                axis.set_title(f"{title}   t = {now:.2f} s".strip(), loc="left")
                writer.grab_frame()


def _draw_traces(drawn: StickAxes, t: FloatArray, places: FloatArray, now: float) -> None:
    for k in range(places.shape[1]):
        way, color = places[:, k], COLORS[k % len(COLORS)]
        drawn.line(way, color=color, linewidth=0.8, alpha=0.5, zorder=3.5)
        drawn.line(way[t <= now], color=color, linewidth=2.0, zorder=3.6)
