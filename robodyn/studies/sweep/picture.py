"""Pictures of sweeps: results over one argument as curves, over two as curves or as colours."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np

from robodyn.array_types import Array
from robodyn.arrays import named
from robodyn.errors import ShapeError, UnknownNameError
from robodyn.pictures.figure import COLORS, LINES, legend_beside, opened_canvas

#: Values of a second argument that are drawn as curves. More are drawn as colours.
CURVES = 8


def draw_sweep(
    path: str | os.PathLike[str] | None,
    results: Mapping[str, Array],
    coords: Mapping[str, Array],
    dims: Sequence[str],
    chosen: str | Iterable[str] | None,
    axes: Any,
    failed: int,
) -> Any:
    """Draw numbers that a sweep found; see `SweepTable.plot`."""
    if not 1 <= len(dims) <= 2:
        raise ShapeError(
            f"a sweep over {len(dims)} arguments has no picture: choose values of all but one or "
            "two of them by sel or isel",
            name="dims",
        )
    shown = _chosen(results, len(dims), chosen)
    size = (7.5, 1.2 + 2.6 * len(shown))
    with opened_canvas("drawing a sweep", path, axes, rows=len(shown), size=size) as canvas:
        for axis, (name, values) in zip(canvas.axes, shown.items(), strict=True):
            _draw(axis, name, values, [coords[dim] for dim in dims if dim in coords], dims)
        canvas.axes[-1].set_xlabel(dims[0])
        if failed:
            left_out = f"{failed} rows failed and are left out"
            canvas.axes[0].set_title(left_out, loc="left", fontsize=9.0, fontweight="normal")
    return canvas.figure


def _chosen(
    results: Mapping[str, Array], dims: int, chosen: str | Iterable[str] | None
) -> dict[str, Array]:
    """Results that are numbers, or short arrays of numbers over one argument."""
    drawn = {
        name: np.asarray(x, float)
        for name, x in results.items()
        if np.asarray(x).dtype.kind in "biuf" and np.ndim(x) <= dims + (dims == 1)
    }
    names = list(drawn) if chosen is None else named("results", chosen, "names of results")
    for name in names:
        if name not in results:
            raise UnknownNameError("result", name, results, "this sweep")
        if name not in drawn:
            raise ShapeError(
                f"{name!r} is not one number a row, shape {np.shape(results[name])}: it has no "
                "picture",
                name=name,
            )
    if not names:
        raise ShapeError("there is nothing to draw: no result is one number a row", name="results")
    return {name: drawn[name] for name in names}


def _draw(
    axis: Any, name: str, values: Array, coords: Sequence[Array], dims: Sequence[str]
) -> None:
    x = _place(coords[0] if coords else np.arange(len(values)))
    if len(dims) == 2 and values.shape[1] > CURVES:
        y = _place(coords[1])
        image = axis.pcolormesh(x, y, values.T, shading="nearest")
        axis.figure.colorbar(image, ax=axis, label=name)
        axis.set_ylabel(dims[1])
        return
    columns = values[:, None] if values.ndim == 1 else values
    for k, column in enumerate(columns.T):
        line, color = divmod(k, len(COLORS))
        style = {"color": COLORS[color], "linestyle": LINES[line % len(LINES)]}
        axis.plot(x, column, marker="." if len(x) <= 40 else "", **style)
    axis.set_ylabel(name)
    axis.grid(visible=True)
    if values.ndim == 2:
        title = dims[1] if len(dims) == 2 else None
        labels = np.asarray(coords[1]).tolist() if title else range(columns.shape[1])
        names = [f"{name}[{k}]" if title is None else str(k) for k in labels]
        legend_beside(axis, axis.get_lines(), names, title)


def _place(labels: Array) -> Array:
    """Numbers where they are, names one after the other."""
    values = np.asarray(labels)
    if values.ndim == 1 and values.dtype.kind in "biuf":
        return values
    if values.ndim == 1:
        return np.array([str(x) for x in values.tolist()])
    return np.arange(len(values))
