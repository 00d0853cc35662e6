"""Figures of matplotlib: a context that makes one, and saves or shows it at the end."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np

from robodyn.errors import MissingExtraError, ShapeError
from robodyn.files import save_figure
from robodyn.quick_dataclass import dataclass

#: Colours that colour-blind people can distinguish [Okabe and Ito 2008], without yellow.
COLORS = ("#0072B2", "#E69F00", "#009E73", "#D55E00", "#CC79A7", "#56B4E9", "#5F5F5F")
#: Line styles of curves that have the same colour. Dashed lines are limits.
LINES = ("-", "-.", ":", (0, (8, 1.5)))
#: Colour of curves without a name.
OTHERS = "0.8"
#: Colour of text and axes.
INK = "#333333"
#: Style of new figures, which does not depend on the style that the user has set. The background is
#: white, so that figures can be read on dark pages too.
STYLE = {
    "axes.prop_cycle": f"cycler('color', {[*COLORS]})",
    "figure.facecolor": "white",
    "axes.facecolor": "white",
    "axes.edgecolor": "0.6",
    "axes.labelcolor": INK,
    "axes.titlecolor": INK,
    "axes.titlesize": 11.0,
    "axes.titleweight": "bold",
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.grid": True,
    "axes.axisbelow": True,
    "figure.titlesize": 12.0,
    "figure.titleweight": "bold",
    "figure.dpi": 100.0,
    "font.size": 10.0,
    "grid.color": "0.9",
    "legend.fontsize": 9.0,
    "legend.frameon": False,
    "legend.title_fontsize": 9.0,
    "lines.linewidth": 1.6,
    "text.color": INK,
    "xtick.color": "0.35",
    "ytick.color": "0.35",
}
#: Largest number of names in a column of a legend.
COLUMN = 8


@dataclass(frozen=True, eq=False)
class Canvas:
    """A figure and its axes, row by row.

    new: Whether the figure was made here.
    """

    figure: Any
    axes: list[Any]
    new: bool


@contextmanager
def opened_canvas(
    what: str,
    path: str | os.PathLike[str] | None,
    given: Any,
    *,
    rows: int = 1,
    columns: int = 1,
    size: tuple[float, float],
    title: str = "",
    projection: str | None = None,
    shared: bool = True,
    film: bool = False,
) -> Iterator[Canvas]:
    """Context of a figure and its axes: new ones, or those that the user gives.

    At the end of the block, a new figure is saved or shown.

    Raises `MissingExtraError` without matplotlib, `ShapeError` if the number of given axes is
    wrong.

    what: What is done, for errors: ``"drawing a motion"``.
    path: Image file to write at the end. ``None``: the figure is shown in a window, where there is
        one.
    given: Draw into these, and neither save (unless there is a path) nor show.
    rows, columns: Number of rows and columns of axes.
    size: Width and height of a new figure [inch].
    title: Title of the first axes.
    projection, optional: Projection of new axes, such as ``"3d"``.
    shared: New axes in a column share their horizontal axis.
    film: A new figure is neither saved nor shown at the end, as its frames are written before.
    """
    if given is not None:
        axes = _axes(given, rows * columns)
        if title:
            axes[0].set_title(title, loc="left")
        yield Canvas(axes[0].figure, axes, new=False)
        if path is not None:
            save_figure(axes[0].figure, path)
        return
    try:
        from matplotlib import style
        from matplotlib.backends.backend_agg import FigureCanvasAgg
        from matplotlib.figure import Figure
    except ImportError:
        raise MissingExtraError("matplotlib", "plot", what) from None
    pyplot: Any = None  # figures without a window leave no trace in the state that it keeps
    with style.context(["default", STYLE]):
        options: dict[str, Any] = {"figsize": size, "layout": "constrained"}
        if path is None and not film:
            from matplotlib import pyplot

            figure = pyplot.figure(**options)
        else:
            figure = Figure(**options)
            FigureCanvasAgg(figure)
        try:
            across: Any = "col" if shared and rows > 1 else False
            kind = {"projection": projection}
            axes = figure.subplots(rows, columns, sharex=across, squeeze=False, subplot_kw=kind)
            if title:
                axes[0, 0].set_title(title, loc="left")
            yield Canvas(figure, axes.ravel().tolist(), new=True)
            if path is not None:
                save_figure(figure, path)
            elif pyplot and getattr(figure.canvas, "required_interactive_framework", None):
                # notebooks show the figure that is returned, and scripts without a display none
                pyplot.show()
        finally:
            if pyplot:
                pyplot.close(figure)


def _axes(given: Any, count: int) -> list[Any]:
    axes = list(np.ravel(np.asarray(given, object)))
    if len(axes) != count or not all(hasattr(axis, "plot") for axis in axes):
        raise ShapeError(
            f"axes: {len(axes)} given, expected {count} of matplotlib, one for each panel",
            name="axes",
            given=given,
        )
    return axes


def legend_beside(axis: Any, handles: Any, labels: Any, title: str | None = None) -> None:
    """Draw a legend to the right of the axes, where it covers no curve."""
    axis.legend(
        handles,
        labels,
        loc="center left",
        bbox_to_anchor=(1.01, 0.5),
        ncols=-(-len(labels) // COLUMN),
        fontsize=9.0,
        frameon=False,
        title=title,
        title_fontsize=9.0,
        alignment="left",
    )
