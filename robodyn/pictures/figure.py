"""Figures of matplotlib: made where they are needed, then saved, shown or handed back."""

from __future__ import annotations

import os
from contextlib import ExitStack
from types import TracebackType
from typing import Any, Self

import numpy as np

from robodyn.errors import MissingExtraError, ShapeError
from robodyn.files import save_figure

__all__ = ["COLORS", "INK", "LINES", "OTHERS", "STYLE", "Canvas", "legend_beside"]

#: Colours that people tell apart whatever colours they see [Okabe and Ito 2008], without yellow.
COLORS = ("#0072B2", "#E69F00", "#009E73", "#D55E00", "#CC79A7", "#56B4E9", "#5F5F5F")
#: Of curves that have the same colour. Dashed lines are limits.
LINES = ("-", "-.", ":", (0, (8, 1.5)))
#: Of curves without a name.
OTHERS = "0.8"
#: Of text and axes.
INK = "#333333"
#: What new figures look like, whatever the style of the user is. Their background is white, so that
#: they can be read on dark pages too.
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
#: Names of a legend one below the other.
COLUMN = 8


class Canvas:
    """A figure and its axes: new ones, or those that the user gives. A context manager.

    At the end of the block the figure is saved or shown.

    Parameters
    ----------
    what : str
        What is drawn, for errors: ``"drawing a motion"``.
    path : path or None
        Of an image file to write when it is finished. ``None``: it is shown in a window, where
        there is one.
    given : matplotlib axes, sequence of them, or None
        Draw into these, and neither save (unless there is a path) nor show.
    rows, columns : int
        How many axes, one below the other and side by side.
    size : (2,)
        Width and height of a new figure [inch].
    projection : str, optional
        Of new axes: ``"3d"``.
    shared : bool
        All new axes in a column have one horizontal axis.
    film : bool
        A new figure is neither saved nor shown at the end: its pictures are taken before.

    Attributes
    ----------
    figure : matplotlib.figure.Figure
    axes : list of matplotlib axes
        Row by row.
    new : bool
        Whether they were made here.

    Raises
    ------
    MissingExtraError
        Without matplotlib.
    ShapeError
        If there are not as many axes as rows.
    """

    figure: Any
    axes: list[Any]

    def __init__(
        self,
        what: str,
        path: str | os.PathLike[str] | None,
        given: Any,
        *,
        rows: int = 1,
        columns: int = 1,
        size: tuple[float, float],
        projection: str | None = None,
        shared: bool = True,
        film: bool = False,
    ) -> None:
        self._what, self._path, self._given = what, path, given
        self._rows, self._columns, self._size = rows, columns, size
        self._projection, self._shared = projection, shared and rows > 1
        self._style, self._film = ExitStack(), film
        self.new = given is None

    def __enter__(self) -> Self:
        if not self.new:
            self.axes = _axes(self._given, self._rows * self._columns)
            self.figure = self.axes[0].figure
            return self
        self.figure = self._new_figure()
        self.axes = self.figure.subplots(
            self._rows,
            self._columns,
            sharex="col" if self._shared else False,
            squeeze=False,
            subplot_kw={"projection": self._projection},
        ).ravel().tolist()  # fmt: skip
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        with self._style:
            shown = self.new and self._path is None and not self._film
            try:
                if kind is None:
                    self._finish(shown)
            finally:
                if shown:
                    from matplotlib import pyplot

                    pyplot.close(self.figure)

    def _finish(self, shown: bool) -> None:
        if self._path is not None:
            save_figure(self.figure, self._path)
        elif shown and getattr(self.figure.canvas, "required_interactive_framework", None):
            # a notebook, or a script without a display, gets the figure that is returned
            from matplotlib import pyplot

            pyplot.show()

    def _new_figure(self) -> Any:
        try:
            from matplotlib import style
            from matplotlib.backends.backend_agg import FigureCanvasAgg
            from matplotlib.figure import Figure
        except ImportError:
            raise MissingExtraError("matplotlib", "plot", self._what) from None
        self._style.enter_context(style.context(["default", STYLE]))
        options: dict[str, Any] = {"figsize": self._size, "layout": "constrained"}
        if self._path is None and not self._film:
            from matplotlib import pyplot

            return pyplot.figure(**options)
        figure = Figure(**options)  # without a window, and without the state that pyplot keeps
        FigureCanvasAgg(figure)
        return figure


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
    """A legend to the right of the axes, which covers no curve."""
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
