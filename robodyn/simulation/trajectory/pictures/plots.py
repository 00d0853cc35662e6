"""Pictures of motions (extra ``plot``)."""

from __future__ import annotations

import math
import os
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from robodyn.array_types import FloatArray
from robodyn.errors import MissingExtraError, ShapeError
from robodyn.files import save_figure

__all__ = ["Panel", "draw"]

#: More names than this are told apart by nobody, and hide the curves.
NAMED = 14


@dataclass(frozen=True, eq=False)
class Panel:
    """Curves over time in one coordinate system.

    Attributes
    ----------
    label : str
        Of the vertical axis.
    values : ndarray, shape (n, ..., k)
        ``k`` quantities of each simultaneous motion.
    names : tuple of str
        Of the quantities, for the legend; empty where they have none.
    bounds : ndarray, shape (2, k), or None
        Lower and upper limits, infinite where there is none.
    """

    label: str
    values: FloatArray
    names: tuple[str, ...] = ()
    bounds: FloatArray | None = None


def draw(
    path: str | os.PathLike[str] | None,
    t: FloatArray,
    panels: Sequence[Panel],
    *,
    title: str = "",
    linewidth: float = 1.0,
) -> None:
    """Draw quantities over time, one panel below the other.

    Parameters
    ----------
    path : path or None
        Of an image file. ``None``: show them in a window.
    t : ndarray, shape (n,) [s]
    panels : sequence of Panel
    title : str
    linewidth : float

    Raises
    ------
    MissingExtraError
    ShapeError
        If there is nothing to draw, or the ending is that of no image.
    """
    if not panels or not t.ndim or not len(t):
        what = "no panels are named" if t.ndim else "one state is no motion"
        what = "there are no samples" if panels and t.ndim else what
        raise ShapeError(f"there is nothing to draw: {what}", name="panels")
    figure, axes = _figure(len(panels), shown=path is None)
    if title:
        figure.suptitle(title)
    for axis, panel in zip(axes, panels, strict=True):
        _draw(axis, t, panel, linewidth)
    axes[-1].set_xlabel("time [s]")
    if path is None:
        _show(figure)
    else:
        save_figure(figure, path)


def _draw(axis: Any, t: FloatArray, panel: Panel, linewidth: float) -> None:
    """One panel: a colour for each quantity, whichever motion it is of."""
    count = panel.values.shape[-1]
    values = panel.values.reshape(len(t), math.prod(panel.values.shape[1:-1]), count)
    for k in range(count):
        name = panel.names[k] if len(panel.names) == count <= NAMED else None
        lines = axis.plot(t, values[:, :, k], f"C{k % 10}", linewidth=linewidth)
        if name and lines:
            lines[0].set_label(name)
        if panel.bounds is not None:
            for bound in panel.bounds[:, k][np.isfinite(panel.bounds[:, k])].tolist():
                axis.axhline(bound, color=f"C{k % 10}", linestyle="--", linewidth=0.6)
    axis.set_ylabel(panel.label)
    axis.grid(alpha=0.3)
    if axis.get_legend_handles_labels()[0]:
        axis.legend(fontsize="small", ncols=2)


def _figure(rows: int, *, shown: bool) -> tuple[Any, Any]:
    try:
        from matplotlib.backends.backend_agg import FigureCanvasAgg
        from matplotlib.figure import Figure
    except ImportError:
        raise MissingExtraError("matplotlib", "plot", "drawing a trajectory") from None
    options: dict[str, Any] = {"figsize": (8.0, 2.5 + 1.6 * rows), "layout": "constrained"}
    if shown:
        from matplotlib import pyplot

        figure = pyplot.figure(**options)
    else:  # without a window, and without the state that pyplot keeps
        figure = Figure(**options)
        FigureCanvasAgg(figure)
    return figure, figure.subplots(rows, 1, sharex=True, squeeze=False)[:, 0]


def _show(figure: Any) -> None:
    from matplotlib import pyplot

    pyplot.show()
    pyplot.close(figure)
