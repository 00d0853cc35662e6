"""Curves over time, one panel below the other."""

from __future__ import annotations

import math
import os
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from robodyn.array_types import FloatArray
from robodyn.errors import ShapeError
from robodyn.pictures.figure import COLORS, LINES, OTHERS, legend_beside, opened_canvas

#: Largest number of curves of a panel with a name and a style of their own. Others are grey.
NAMED = len(COLORS) * len(LINES)
#: Largest number of simultaneous motions that are drawn one by one. Of more, the median and a band
#: of percentiles are drawn.
SINGLE = 8
#: A limit is drawn if a curve comes nearer to it than this fraction of the range of all curves.
NEAR = 0.25
#: Percentiles of the motions at the edges of the band [%].
BAND = (5.0, 95.0)


@dataclass(frozen=True, eq=False)
class Panel:
    """Curves over time. Curves with different units are drawn in different axes.

    label: Label of the vertical axis.
    values (n, ..., k): ``k`` quantities of each simultaneous motion.
    units: The unit of all quantities, or one unit for each.
    names: Names of the quantities for the legend; empty for none. Curves with the same name have
        the same colour in all panels of a figure.
    bounds (2, k), or None: Lower and upper limits, infinite where there is none.
    beneath: Names of reference curves, which are drawn broad and grey beneath the others.
    labels: Label of the axes of a unit, by unit. Default: ``label``.
    """

    label: str
    values: FloatArray
    units: str | tuple[str, ...] = ""
    names: tuple[str, ...] = ()
    bounds: FloatArray | None = None
    beneath: tuple[str, ...] = ()
    labels: Mapping[str, str] = field(default_factory=dict)

    def only(self, columns: Sequence[int]) -> Panel:
        """The panel of some of the quantities."""
        chosen = list(columns)
        return replace(
            self,
            values=self.values[..., chosen],
            units=self.units if isinstance(self.units, str) else _at(self.units, chosen),
            names=_at(self.names, chosen) if self.names else (),
            bounds=None if self.bounds is None else self.bounds[:, chosen],
        )

    def by_unit(self) -> list[Panel]:
        """A panel for each unit."""
        if isinstance(self.units, str):
            return [self]
        units = np.array(self.units, dtype=object)
        columns = {x: np.flatnonzero(units == x).tolist() for x in dict.fromkeys(self.units)}
        label = {x: self.labels.get(x, self.label) for x in columns}
        return [replace(self.only(columns[x]), units=x, label=label[x]) for x in columns]


def _at(values: Sequence[str], columns: Iterable[int]) -> tuple[str, ...]:
    return tuple(values[k] for k in columns)


def draw(
    path: str | os.PathLike[str] | None,
    t: FloatArray,
    panels: Sequence[Panel],
    *,
    axes: Any = None,
    title: str = "",
) -> Any:
    """Draw quantities over time, one panel below the other.

    Raises `ShapeError` if there is nothing to draw, or matplotlib cannot write files with the
    ending of ``path``.

    path: Image file to write. ``None``: show them in a window.
    t (n,) [s]
    axes, optional: Axes to draw into, one for each unit of each panel.
    """
    if not panels or not t.ndim or not len(t):
        what = "no panels are named" if t.ndim else "one state is no motion"
        what = "there are no samples" if panels and t.ndim else what
        raise ShapeError(f"there is nothing to draw: {what}", name="panels")
    rows = [part for panel in panels for part in panel.by_unit()]
    size = (9.0, 1.2 + 1.8 * len(rows))
    colors: dict[str, int] = {}
    for panel in panels:  # before panels are divided by unit, so that a name keeps its colour
        _numbers(panel, colors)
    form: dict[str, Any] = {"rows": len(rows), "size": size, "title": title}
    with opened_canvas("drawing a motion", path, axes, **form) as canvas:
        above: list[str] = []
        for axis, row in zip(canvas.axes, rows, strict=True):
            others = _draw(axis, t, row, _numbers(row, colors))
            above = _legend(axis, math.prod(row.values.shape[1:-1]), others, above)
        canvas.axes[-1].set_xlabel("time [s]")
        if canvas.new:
            canvas.figure.align_ylabels()
    return canvas.figure


def _numbers(panel: Panel, known: dict[str, int]) -> list[int]:
    """Number of the colour of each curve: that of its name in panels above, or a new one."""
    names = panel.names or tuple(map(str, range(panel.values.shape[-1])))
    used = {known[name] for name in names if name in known}
    free = (k for k in range(len(names) + len(used)) if k not in used)
    for name in names:
        if name not in known:
            known[name] = next(free)
    return [known[name] for name in names]


def _draw(axis: Any, t: FloatArray, panel: Panel, numbers: list[int]) -> int:
    """Draw a panel, each quantity in one colour; return the number of grey curves."""
    count = panel.values.shape[-1]
    values = panel.values.reshape(len(t), math.prod(panel.values.shape[1:-1]), count)
    names = panel.names if len(panel.names) == count else ("",) * count
    shown = set(_widest(values))
    for k in range(count):
        style: dict[str, Any] = {"color": OTHERS, "linewidth": 0.8}
        if k in shown:
            line, color = divmod(numbers[k], len(COLORS))
            style = {"color": COLORS[color], "linestyle": LINES[line % len(LINES)]}
        if names[k] in panel.beneath:
            style = {"color": OTHERS, "linewidth": 5.0, "zorder": 1.5}
        _curves(axis, t, values[:, :, k], style, names[k] if k in shown else "")
    if panel.bounds is not None:
        _limits(axis, values, panel.bounds, numbers)
    unit = f" [{panel.units}]" if panel.units else ""
    axis.set_ylabel(f"{panel.label}{unit}")
    axis.grid(visible=True)
    axis.margins(x=0.0)
    return count - len(shown) if panel.names else 0


def _curves(axis: Any, t: FloatArray, values: FloatArray, style: Any, name: str) -> None:
    """Draw one quantity of all motions."""
    if values.shape[1] <= SINGLE:
        lines = axis.plot(t, values, **style)
        if name and lines:
            lines[0].set_label(name)
        return
    there = np.where(np.isfinite(values), values, np.nan)
    known = np.isfinite(there).any(axis=1)
    low, middle, high = bands = np.full((3, len(t)), np.nan)
    bands[:, known] = np.nanpercentile(there[known], (BAND[0], 50.0, BAND[1]), axis=1)
    axis.fill_between(t, low, high, color=style["color"], alpha=0.2, linewidth=0.0)
    axis.plot(t, middle, label=name or None, **style)


def _widest(values: FloatArray) -> list[int]:
    """Indices of the curves with colours: those with the widest ranges."""
    if values.shape[-1] <= NAMED or not values.size:
        return list(range(values.shape[-1]))
    there = np.ma.masked_invalid(values)
    span = np.ma.filled(there.max(axis=(0, 1)) - there.min(axis=(0, 1)), -1.0)
    return [int(k) for k in np.argsort(-span, kind="stable")[: NAMED - 1]]


def _limits(axis: Any, values: FloatArray, bounds: FloatArray, numbers: list[int]) -> None:
    """Draw the limits that curves come near to. The axes are not extended to other limits."""
    there = np.ma.masked_invalid(values)
    if not there.count():
        return
    size = NEAR * max(float(np.ptp(there)), NEAR * float(np.abs(there).max()))
    lines: dict[float, set[str]] = {}
    for k, (lower, upper) in enumerate(bounds.T.tolist()):
        margin = min(size, NEAR * 0.5 * (upper - lower))
        color = COLORS[numbers[k] % len(COLORS)]
        if there[..., k].count() and there[..., k].min() - lower <= margin:
            lines.setdefault(lower, set()).add(color)
        if there[..., k].count() and upper - there[..., k].max() <= margin:
            lines.setdefault(upper, set()).add(color)
    for k, (bound, colors) in enumerate(sorted(lines.items())):
        color = colors.pop() if len(colors) == 1 else "0.4"
        axis.axhline(
            bound, color=color, linestyle="--", linewidth=1.0, label=None if k else "limit"
        )


def _legend(axis: Any, motions: int, others: int, above: list[str]) -> list[str]:
    """Draw the legend, unless that of the panel above is the same, and return its labels."""
    labels: list[str]
    handles, labels = axis.get_legend_handles_labels()
    if others:
        handles.append(axis.plot([], [], color=OTHERS, linewidth=0.8)[0])
        labels.append(f"{others} others")
    many = f"{motions} motions: median,\n{BAND[0]:g} to {BAND[1]:g} % shaded"
    if labels and labels != above:
        legend_beside(axis, handles, labels, many if motions > SINGLE else None)
    return labels
