"""Pictures and animations of stick figures: links as bars and plates, forces as arrows."""

from __future__ import annotations

import itertools
import os
from collections.abc import Sequence
from contextlib import AbstractContextManager
from typing import Any

import numpy as np

from robodyn.array_types import FloatArray
from robodyn.errors import MissingExtraError, ShapeError
from robodyn.files import as_path, replacing
from robodyn.pictures.figure import COLORS, INK, Canvas, opened_canvas
from robodyn.pictures.labels import Label, write_labels
from robodyn.pictures.stick_axes import StickAxes, box, marker_of
from robodyn.pictures.stick_figure import Arrow, StickFigure, plane_of

FORCE, GAP = "#C1121F", "#AA3377"
#: Marker and label in the legend by the role of a joint.
MARKS: dict[str, dict[str, Any]] = {
    "ground": {
        "marker": "ground",
        "markersize": 26.0,
        "markerfacecolor": "0.8",
        "label": "fixed base",
    },
    "base": {"marker": "s", "markerfacecolor": "0.7", "markersize": 15.0, "label": "base"},
    "motor": {"markerfacecolor": "#0072B2", "markersize": 10.0, "label": "joint with a motor"},
    "passive": {"markerfacecolor": "white", "label": "passive joint"},
    "closing": {"marker": "D", "markerfacecolor": "#F0E442", "label": "joint that closes a loop"},
}
#: Colours of links: that of the root, and those that the other links have in turn.
ROOT = "#A5A5A5"
TINTS = ("#7396C2", "#CFA76E", "#86B084", "#B892B5", "#68B0AF")
AXES = ("#CC3311", "#228833", "#004488")
#: Largest number of joints with names in the picture.
NAMED = 14
#: Lengths of the longest arrow and of the axes of frames, as fractions of the mechanism's size.
LONGEST, FRAME = 0.3, 0.09
#: Axes of frames are in the legend if they are not foreshortened to less than this fraction.
END_ON = 0.1
#: Half the diagonal of a marker that labels must not cover, as a fraction of the mechanism's size.
MARK = 0.012
#: Forces below this fraction of the largest have no arrow. Of arrows whose ends are nearer to each
#: other than this fraction of the mechanism's size, one is drawn.
FAINT, SAME = 0.02, 0.02


def draw_figure(
    path: str | os.PathLike[str] | None, figure: StickFigure, *, axes: Any = None, title: str = ""
) -> Any:
    """Draw a figure in its plane, or in three dimensions with its shadow on the ground.

    Given axes may have two dimensions, or three (``projection="3d"``). Without a path a window
    shows it, where there is a display.
    """
    layout = Layout([figure])
    with layout.canvas(path, axes, title=title) as canvas:
        (axis,) = canvas.axes
        drawn = layout.axes(axis)
        draw_posture(drawn, figure, layout.largest)
        draw_legend(canvas, drawn, figure, "force on the child link")
        _labels(drawn, figure, layout.largest)
    return canvas.figure


class Layout:
    """Plane and limits of the axes, and scale of the arrows, for one or several figures.

    The longest arrow is that of the ``largest`` force [N].
    """

    def __init__(self, figures: Sequence[StickFigure]) -> None:
        self._plane = plane_of(figures)
        self._size = max(float(np.ptp(figure.points, axis=0).max()) for figure in figures)
        forces = [np.linalg.norm(arrow.force) for figure in figures for arrow in figure.arrows]
        self.largest = float(max(forces, default=0.0))
        tips = [
            start + step
            for figure in figures
            for start, step, _ in _arrows(figure.arrows, self._size, self.largest)
        ]
        points = [figure.points for figure in figures]
        self._points = np.concatenate([*points, np.array(tips).reshape(-1, 3)])

    def canvas(
        self, path: str | os.PathLike[str] | None, axes: Any = None, **options: Any
    ) -> AbstractContextManager[Canvas]:
        """Open a new figure, or the given axes; ``options`` are those of `opened_canvas`."""
        kind: str | None = "3d"
        size = (8.0, 6.8)
        if self._plane is not None:
            width, height = box(self._points @ self._plane.T)[1]
            scale = min(7.2 / width, 5.6 / height)
            kind, size = None, (max(5.5, scale * width + 0.8), scale * height + 1.4)
        return opened_canvas("drawing a robot", path, axes, size=size, projection=kind, **options)

    def axes(self, axis: Any) -> StickAxes:
        """Prepare empty matplotlib axes."""
        return StickAxes(axis, self._points, max(self._size, 1e-3), self._plane)


def draw_posture(drawn: StickAxes, figure: StickFigure, largest: float) -> None:
    """Draw all but labels. The arrow of a force of ``largest`` [N] has the largest length."""
    for k, corners in enumerate(figure.bodies):
        if len(corners) > 1:
            drawn.body(corners, TINTS[k % len(TINTS)] if k else ROOT)
    for gap in figure.gaps:
        drawn.line(gap.ends, color=GAP, linestyle=":", linewidth=2.0, zorder=4)
        drawn.mark(gap.ends[1], marker="D", markersize=8.0, color="white", markeredgecolor=INK)
    for X in figure.frames:
        for line, color in zip(_frame_lines(X, drawn.size), AXES, strict=True):
            drawn.line(line, color=color, linewidth=2.2, zorder=6)
    for dot in sorted(figure.dots, key=lambda dot: [*MARKS].index(dot.role)):
        style = {"marker": "o", "markersize": 8.0, **MARKS[dot.role], "label": None}
        if dot.role == "ground":
            style["markersize"] = 26.0
        drawn.mark(dot.point, markeredgecolor=INK, **style)
    for start, step, _ in _arrows(figure.arrows, drawn.size, largest):
        drawn.arrow(start, step, FORCE)


def _frame_lines(X: FloatArray, size: float) -> list[FloatArray]:
    """Ends of the three axes of a frame."""
    return [np.stack([X[:3, 3], X[:3, 3] + FRAME * size * axis]) for axis in X[:3, :3].T]


def _arrows(
    arrows: Sequence[Arrow], size: float, largest: float
) -> list[tuple[FloatArray, FloatArray, float]]:
    """Start, displacement to the tip and force [N] of the arrows to draw, the largest first."""
    found: list[tuple[FloatArray, FloatArray, float]] = []
    for arrow in sorted(arrows, key=lambda arrow: -float(np.linalg.norm(arrow.force))):
        amount = float(np.linalg.norm(arrow.force))
        if not amount > FAINT * largest:
            continue
        start, step = arrow.point, arrow.force * (LONGEST * size / largest)
        others = (np.linalg.norm(np.stack([start - a, step - b])) for a, b, _ in found)
        if all(distance > SAME * size for distance in others):
            found.append((start, step, amount))
    return found


def _labels(drawn: StickAxes, figure: StickFigure, largest: float) -> None:
    """Write the sizes of forces and gaps, and the names of joints."""
    small = {"fontsize": 9.0, "zorder": 9}
    found = _arrows(figure.arrows, drawn.size, largest)
    texts = [
        Label(newtons(amount), drawn.of(start + step), {"color": FORCE, **small})
        for start, step, amount in found
    ]
    texts += [
        Label(gap.text, drawn.of(gap.ends.mean(axis=0)), {"color": GAP, **small})
        for gap in figure.gaps
    ]
    named = [dot for dot in figure.dots if dot.name]
    if len(named) <= NAMED:
        texts += [Label(x.name, drawn.of(x.point), {"color": INK, **small}) for x in named]
    ends = [np.stack(pair) for x in figure.bodies for pair in itertools.pairwise([*x, x[0]])]
    ends += [np.stack([start, start + step]) for start, step, _ in found]
    ends += [gap.ends for gap in figure.gaps]
    ends += [line for X in figure.frames for line in _frame_lines(X, drawn.size)]
    half = MARK * drawn.size * np.ones(3)
    ends += [np.stack([dot.point - half, dot.point + half]) for dot in figure.dots]
    drawn.axis.figure.draw_without_rendering()  # computes the layout, and with it all pixels
    write_labels(drawn.axis, texts, [drawn.of(x) for x in ends], drawn.pixels)


def newtons(amount: float) -> str:
    """A force with three digits and its unit."""
    for unit, size in (("MN", 1e6), ("kN", 1e3)):
        if amount >= 9.995 * size:
            return f"{amount / size:.3g} {unit}"
    return f"{amount:.0f} N" if amount >= 99.95 else f"{amount:.3g} N"


def draw_legend(canvas: Canvas, drawn: StickAxes, figure: StickFigure, arrow: str) -> None:
    """Draw a legend of the markers and lines; ``arrow`` is the label of the arrows."""
    from matplotlib.lines import Line2D

    handles = []
    for role in dict.fromkeys(dot.role for dot in figure.dots):
        style = {"marker": "o", "markersize": 8.0, **MARKS[role], "linestyle": ""}
        if role == "ground":
            style |= {"marker": marker_of("ground", above=0.5), "markersize": 14.0}
        handles.append(Line2D([], [], markeredgecolor=INK, **style))
    if figure.arrows:
        style = {"marker": r"$\rightarrow$", "markersize": 16.0, "linestyle": "", "color": FORCE}
        handles.append(Line2D([], [], label=arrow, **style))
    if figure.gaps:
        handles.append(Line2D([], [], color=GAP, linestyle=":", linewidth=2.0, label="open loop"))
    for k, (name, color) in enumerate(zip("xyz", AXES, strict=True)):
        if any(np.abs(drawn.of(X[:3, k])).max() > END_ON for X in figure.frames):
            handles.append(Line2D([], [], color=color, linewidth=2.2, label=f"{name} axis"))
    (axis,) = canvas.axes
    count, width = len(handles), canvas.figure.get_figwidth()
    columns = count if width > 1.9 * count else min(3, count)
    style = {"fontsize": 9.0, "frameon": False, "handles": handles}
    if canvas.new:
        room = canvas.figure.bbox.width
        legend = canvas.figure.legend(loc="outside lower center", ncols=columns, **style)
        while columns > 1 and legend.get_window_extent().width > room:
            legend.remove()
            columns -= 1
            legend = canvas.figure.legend(loc="outside lower center", ncols=columns, **style)
    else:  # a legend wider than the axes would make them narrower
        columns = max(1, min(3, int(width * axis.get_position().width / 1.7)))
        axis.legend(loc="upper center", bbox_to_anchor=(0.5, -0.12), ncols=columns, **style)


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
