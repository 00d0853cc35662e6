"""Stick figures that move, in GIFs and videos."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import Any

from robodyn.array_types import FloatArray
from robodyn.errors import MissingExtraError, ShapeError
from robodyn.files import as_path, replacing
from robodyn.pictures.figure import COLORS
from robodyn.pictures.stick_axes import StickAxes
from robodyn.pictures.stick_drawing import Stage, draw_legend, draw_posture, newtons
from robodyn.pictures.stick_figure import StickFigure

__all__ = ["animate", "check_video"]

#: Endings of files, and the writer of matplotlib for them.
WRITERS = {".gif": "pillow", ".webp": "pillow", ".mp4": "ffmpeg", ".mov": "ffmpeg"}
#: Pixels an inch.
RESOLUTION = 100.0


def check_video(path: str | os.PathLike[str]) -> None:
    """Refuse what is no name of a file for pictures that move, or cannot be written here.

    Raises
    ------
    MissingExtraError, ShapeError
    """
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
    """Draw one figure after the other.

    Parameters
    ----------
    path : path
        Ending in one of `WRITERS`.
    figures : sequence of n StickFigure
    t : ndarray, shape (n,) [s]
    trace : (ndarray, ndarray), shape (m,) [s], (m, k, 3) [m]
        Times, and places of k points whose ways are drawn.
    fps : float [1/s]
    title : str

    Raises
    ------
    MissingExtraError, ShapeError, MissingFileError, FileError
    """
    check_video(path)
    from matplotlib import animation

    stage = Stage(figures)
    make: Any = animation.writers[WRITERS[as_path("path", path).suffix.lower()]]
    writer = make(fps=fps)
    arrow = f"force on the child link, at most {newtons(stage.largest)}"
    with replacing(as_path("path", path)) as file, stage.canvas(None, film=True) as canvas:
        (axis,) = canvas.axes
        drawn = stage.axes(axis)
        draw_legend(canvas, drawn, _richest(figures), arrow)
        axis.set_title(" ", loc="left")
        canvas.figure.draw_without_rendering()
        canvas.figure.set_layout_engine("none")  # what stands where is settled
        with writer.saving(canvas.figure, file, RESOLUTION):
            for figure, now in zip(figures, t.tolist(), strict=True):
                for artist in [*axis.lines, *axis.collections, *axis.patches]:
                    artist.remove()  # of the figure before
                draw_posture(drawn, figure, stage.largest)
                if trace is not None:
                    _draw_ways(drawn, *trace, now)
                axis.set_title(f"{title}   t = {now:.2f} s".strip(), loc="left")
                writer.grab_frame()


def _draw_ways(drawn: StickAxes, t: FloatArray, places: FloatArray, now: float) -> None:
    for k in range(places.shape[1]):
        way, color = places[:, k], COLORS[k % len(COLORS)]
        drawn.line(way, color=color, linewidth=0.8, alpha=0.5, zorder=3.5)
        drawn.line(way[t <= now], color=color, linewidth=2.0, zorder=3.6)


def _richest(figures: Sequence[StickFigure]) -> StickFigure:
    """The figure whose legend explains all."""
    return max(figures, key=lambda figure: (len(figure.arrows), len(figure.dots)))
