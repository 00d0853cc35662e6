"""Pictures of motions (extra ``plot``)."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import Any

from robodyn.array_types import FloatArray
from robodyn.errors import MissingExtraError, ShapeError
from robodyn.files import as_path, writing

__all__ = ["draw"]


def draw(
    path: str | os.PathLike[str],
    t: FloatArray,
    rows: Sequence[tuple[FloatArray, str]],
    *,
    title: str = "",
    names: Sequence[str] = (),
    linewidth: float = 1.0,
) -> None:
    """Draw quantities over time, one below the other, into an image file.

    Parameters
    ----------
    path : path
    t : ndarray, shape (n,) [s]
    rows : sequence of (ndarray, str)
        Values, shape (n, ...), and the label of their axis.
    title : str
    names : sequence of str
        Legend of the first row, if there are as many as lines in the last one.
    linewidth : float

    Raises
    ------
    MissingExtraError
    """
    figure, axes = _figure(len(rows))
    if title:
        figure.suptitle(title)
    for axis, (values, label) in zip(axes, rows, strict=True):
        lines = axis.plot(t, values.reshape(len(t), -1), linewidth=linewidth)
        axis.set_ylabel(label)
        axis.grid(alpha=0.3)
    axes[-1].set_xlabel("time [s]")
    if names and len(lines) == len(names):
        axes[0].legend(lines, names, fontsize="small", ncols=2)
    _save(figure, path)


def _figure(rows: int) -> Any:
    try:
        from matplotlib.backends.backend_agg import FigureCanvasAgg
        from matplotlib.figure import Figure
    except ImportError:
        raise MissingExtraError("matplotlib", "plot", "drawing a trajectory") from None
    figure = Figure(figsize=(8.0, 5.0 + rows), layout="constrained")
    FigureCanvasAgg(figure)
    return figure, figure.subplots(rows, 1, sharex=True)


def _save(figure: Any, path: str | os.PathLike[str]) -> None:
    target = as_path("path", path)
    known = figure.canvas.get_supported_filetypes()
    ending = target.suffix.removeprefix(".").lower()
    if ending and ending not in known:
        raise ShapeError(
            f"cannot draw {target.name!r}: expected a name ending in one of {', '.join(known)}",
            name="path",
            given=target.suffix,
        )
    with writing(target):
        figure.savefig(target, dpi=120)
