"""Figures of matplotlib: made where they are needed, then saved, shown or handed back."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import Any

import numpy as np

from robodyn.errors import MissingExtraError, ShapeError
from robodyn.files import save_figure

__all__ = ["Canvas"]


class Canvas:
    """A figure and its axes: new ones, or those that the user gives.

    Parameters
    ----------
    what : str
        What is drawn, for errors: ``"drawing a motion"``.
    path : path or None
        Of an image file to write when it is finished. ``None``: it is shown in a window, where
        there is one.
    given : matplotlib axes, sequence of them, or None
        Draw into these, and neither save (unless there is a path) nor show.
    rows : int
        How many axes, one below the other.
    size : (2,)
        Width and height of a new figure [inch].
    projection : str, optional
        Of new axes: ``"3d"``.

    Raises
    ------
    MissingExtraError
        Without matplotlib.
    ShapeError
        If there are not as many axes as rows.
    """

    def __init__(
        self,
        what: str,
        path: str | os.PathLike[str] | None,
        given: Any,
        *,
        rows: int = 1,
        size: tuple[float, float],
        projection: str | None = None,
    ) -> None:
        self._path, self._shown = path, path is None and given is None
        if given is None:
            self.figure = _new_figure(what, size, shown=self._shown)
            keywords = {"projection": projection}
            shared = rows > 1
            self.axes = self.figure.subplots(
                rows, 1, sharex=shared, squeeze=False, subplot_kw=keywords
            )[:, 0].tolist()
        else:
            self.axes = _axes(given, rows)
            self.figure = self.axes[0].figure

    def finished(self) -> Any:
        """Save or show the figure.

        Returns
        -------
        figure : matplotlib.figure.Figure
        """
        if self._path is not None:
            save_figure(self.figure, self._path)
        elif self._shown:
            from matplotlib import pyplot

            # a notebook, or a script without a display, gets the figure that is returned
            if getattr(self.figure.canvas, "required_interactive_framework", None):
                pyplot.show()
            pyplot.close(self.figure)
        return self.figure


def _axes(given: Any, rows: int) -> list[Any]:
    axes = list(np.ravel(np.asarray(given, object)))
    if len(axes) != rows or not all(hasattr(axis, "plot") for axis in axes):
        raise ShapeError(
            f"axes: {len(axes)} given, expected {rows} of matplotlib, one for each panel",
            name="axes",
            given=given,
        )
    return axes


def _new_figure(what: str, size: Sequence[float], *, shown: bool) -> Any:
    try:
        from matplotlib.backends.backend_agg import FigureCanvasAgg
        from matplotlib.figure import Figure
    except ImportError:
        raise MissingExtraError("matplotlib", "plot", what) from None
    options: dict[str, Any] = {"figsize": tuple(size), "layout": "constrained"}
    if shown:
        from matplotlib import pyplot

        return pyplot.figure(**options)
    figure = Figure(**options)  # without a window, and without the state that pyplot keeps
    FigureCanvasAgg(figure)
    return figure
