"""Figures of matplotlib: a context manager that makes one, and saves or shows it at the end."""

from __future__ import annotations

import os
from contextlib import ExitStack
from types import TracebackType
from typing import Any, Self

import numpy as np

from robodyn.errors import MissingExtraError, ShapeError
from robodyn.files import save_figure

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


class Canvas:
    """Context manager of a figure and its axes: new ones, or those that the user gives.

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
    axes: Row by row.
    new: Whether the figure was made here.
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
        title: str = "",
        projection: str | None = None,
        shared: bool = True,
        film: bool = False,
    ) -> None:
        self._what, self._path, self._given = what, path, given
        self._rows, self._columns, self._size = rows, columns, size
        self._projection, self._shared = projection, shared and rows > 1
        self._style, self._film, self._title = ExitStack(), film, title
        self.new = given is None

    def __enter__(self) -> Self:
        if self.new:
            self.figure = self._new_figure()
            self.axes = self.figure.subplots(
                self._rows,
                self._columns,
                sharex="col" if self._shared else False,
                squeeze=False,
                subplot_kw={"projection": self._projection},
            ).ravel().tolist()  # fmt: skip
        else:
            self.axes = _axes(self._given, self._rows * self._columns)
            self.figure = self.axes[0].figure
        if self._title:
            self.axes[0].set_title(self._title, loc="left")
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
            # notebooks show the figure that is returned, and scripts without a display none
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
