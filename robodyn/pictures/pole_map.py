"""Drawings of poles in the complex plane, and of mode shapes."""

from __future__ import annotations

import math
import os
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from robodyn.array_types import Array, FloatArray
from robodyn.pictures.figure import COLORS, INK, opened_canvas
from robodyn.pictures.labels import Label, write_labels
from robodyn.tolerances import POLE_SHOWN

DAMPING = (0.1, 0.2, 0.4, 0.6, 0.8)
#: Margin around the poles, as a fraction of their range.
ROOM = 0.25
#: Axes are logarithmic if the largest pole is this many times larger than the smallest.
WIDE = 300.0
STABLE, UNSTABLE = COLORS[0], "#C1121F"
#: Least distance between labels of rays, as a fraction of the axes.
APART = 0.08
#: Number of ticks of a logarithmic scale on either side of zero.
DECADES = 4
#: Largest number of poles with names.
NAMED = 14


def draw_poles(
    path: str | os.PathLike[str] | None,
    poles: Array,
    *,
    names: Sequence[tuple[complex, str]] = (),
    sampled: bool = False,
    title: str = "",
    axes: Any = None,
) -> Any:
    """Draw the poles of one model as crosses, those of several as points coloured by model.

    path: Image file to write. ``None``: show a window, where there is a display.
    poles (m, n) [1/s]: Poles of each of m models.
    names: Poles of one model, and their labels.
    sampled: The models are sampled: the poles have no unit, and the unit circle is drawn.
    """
    with opened_canvas("drawing poles", path, axes, size=(7.5, 5.5), title=title) as canvas:
        (axis,) = canvas.axes
        lines = _sampled(axis, poles) if sampled else _draw_continuous_grid(axis, poles)
        if len(poles) == 1:
            rounding = POLE_SHOWN * float(np.abs(poles).max(initial=0.0))
            outside = (np.abs(poles) - 1.0 if sampled else poles.real) > rounding
            for mask, color in ((~outside, STABLE), (outside, UNSTABLE)):
                style: dict[str, Any] = {"markersize": 10.0, "markeredgewidth": 2.2, "zorder": 4}
                axis.plot(poles[mask].real, poles[mask].imag, "x", color=color, **style)
        else:
            place = np.repeat(np.arange(len(poles)), poles.shape[1])
            style = {"s": 9.0, "cmap": "viridis", "zorder": 4}
            points = axis.scatter(poles.real.ravel(), poles.imag.ravel(), c=place, **style)
            canvas.figure.colorbar(points, ax=axis, label="number of the state")
        if names and len(names) <= NAMED:
            canvas.figure.draw_without_rendering()
            texts = [_label(*pair) for pair in names]
            marks = [_line_across_marker(axis, label.point) for label in texts]
            write_labels(axis, texts, [*lines, *marks], axis.transData.transform)
    return canvas.figure


def _label(pole: complex, name: str) -> Label:
    return Label(name, np.array([pole.real, pole.imag]), {"fontsize": 9.0, "color": INK})


def _line_across_marker(axis: Any, point: FloatArray) -> FloatArray:
    """A line across the marker of a pole, which labels must not cover."""
    x, y = axis.transData.transform(point)
    return np.asarray(axis.transData.inverted().transform([[x - 7.0, y - 7.0], [x + 7.0, y + 7.0]]))


def _draw_continuous_grid(axis: Any, poles: Array) -> list[FloatArray]:
    """Draw the grid of continuous models; return the lines that labels should not cover."""
    size = np.abs(poles)
    size = size[size > POLE_SHOWN * size.max(initial=0.0)]
    low, high = min(float(poles.real.min()), 0.0), max(float(poles.real.max()), 0.0)
    top = float(np.abs(poles.imag).max())
    reach = max(high - low, top) or 1.0
    left, right = low - ROOM * reach, high + ROOM * reach
    up = max(top, 0.4 * reach) * (1.0 + ROOM)
    axis.axvspan(0.0, 1e6 * reach, color=UNSTABLE, alpha=0.06, linewidth=0.0)
    axis.axvline(0.0, color="0.4", linewidth=1.0)
    axis.axhline(0.0, color="0.4", linewidth=0.6)
    axis.set(xlabel="real part: growth [1/s]", ylabel="imaginary part: frequency [rad/s]")
    if size.size and size.max() > WIDE * size.min():
        least = float(size.min())
        left, right = min(3.0 * low, -3.0 * least), max(3.0 * high, 3.0 * least)
        up = max(3.0 * top, 3.0 * least)
        _logarithmic(axis, least, max(-left, right, up))
        axis.grid(visible=True)
    else:
        axis.grid(visible=False)
        _damping_lines(axis, left, up)
        _frequency_lines(axis, max(-left, right), up)
    axis.set(xlim=(left, right), ylim=(-up, up))
    return [np.array([[0.0, -up], [0.0, up]]), np.array([[left, 0.0], [right, 0.0]])]


def _logarithmic(axis: Any, least: float, largest: float) -> None:
    """Set logarithmic scales that are linear between zero and the smallest pole."""
    first, last = int(np.floor(np.log10(least))), int(np.floor(np.log10(largest)))
    step = -(-(last - first + 1) // DECADES)
    decades = 10.0 ** np.arange(last, first - 1, -step)
    for name in "xy":
        getattr(axis, f"set_{name}scale")("symlog", linthresh=10.0**first)
        getattr(axis, f"{name}axis").set_ticks([*-decades, 0.0, *decades[::-1]])


def _damping_lines(axis: Any, left: float, up: float) -> None:
    style = {"color": "0.82", "linewidth": 0.9, "zorder": 1}
    said = np.full(2, np.inf)
    for ratio in DAMPING:
        across = np.sqrt(1.0 - ratio**2)
        reach = min(-left / ratio, up / across)
        x, y = -ratio * reach, across * reach
        axis.plot([x, 0.0, x], [y, 0.0, -y], linestyle=":", **style)
        place = np.array([0.94 * x, 0.94 * y])
        if np.abs((place - said) / [left, 2.0 * up]).max() > APART:
            axis.text(*place, f"ζ = {ratio:g}", fontsize=8.0, color="0.55", ha="center")
            said = place


def _frequency_lines(axis: Any, wide: float, up: float) -> None:
    from matplotlib.ticker import MaxNLocator

    angle = np.linspace(0.5 * np.pi, 1.5 * np.pi, 100)
    for radius in MaxNLocator(5).tick_values(0.0, float(np.hypot(wide, up)))[1:]:
        style = {"color": "0.88", "linewidth": 0.9, "zorder": 1}
        axis.plot(radius * np.cos(angle), radius * np.sin(angle), **style)


def _sampled(axis: Any, poles: Array) -> list[FloatArray]:
    """Draw the unit circle, within which motions decay; return its lines."""
    reach = 1.0 + ROOM
    reach = max(reach, (1.0 + ROOM) * float(np.abs(poles).max(initial=0.0)))
    angle = np.linspace(0.0, 2.0 * np.pi, 73)
    circle = np.column_stack([np.cos(angle), np.sin(angle)])
    axis.plot(*circle.T, color="0.4", linewidth=1.0)
    axis.axhline(0.0, color="0.4", linewidth=0.6)
    axis.axvline(0.0, color="0.4", linewidth=0.6)
    axis.set(xlim=(-reach, reach), ylim=(-reach, reach), aspect="equal")
    axis.set(xlabel="real part", ylabel="imaginary part")
    axis.grid(visible=False)
    return [circle[k : k + 2] for k in range(len(circle) - 1)]


#: Phases [deg] nearer than this to 0 or 180 degrees are not written beside the bars.
IN_PHASE = 2.0
WITH, AGAINST = COLORS[:2]


def draw_mode_shape(
    path: str | os.PathLike[str] | None,
    shape: Mapping[str, complex],
    *,
    title: str = "",
    axes: Any = None,
) -> Any:
    """Draw a bar for each coordinate.

    ``shape`` has the amplitude and phase of each coordinate, relative to the largest. Without a
    path a window shows it, where there is a display.
    """
    size = (7.0, 1.4 + 0.34 * max(2, len(shape)))
    with opened_canvas("drawing a mode", path, axes, size=size, title=title) as canvas:
        _draw(canvas.axes[0], shape)
    return canvas.figure


def _draw(axis: Any, shape: Mapping[str, complex]) -> None:
    for row, (name, part) in enumerate(shape.items()):
        angle = math.degrees(math.atan2(part.imag, part.real))
        ahead = abs(angle) <= 90.0
        length = abs(part) if ahead else -abs(part)
        axis.barh(name, length, height=0.6, color=WITH if ahead else AGAINST)
        if IN_PHASE < abs(angle) < 180.0 - IN_PHASE:
            place = {"x": length, "y": row, "va": "center", "ha": "left" if ahead else "right"}
            axis.text(s=f" {angle:+.0f}° ", fontsize=9.0, **place)
    axis.set_xlim(-1.2, 1.2)
    axis.axvline(0.0, color="0.3", linewidth=0.8)
    axis.set_xticks((-1.0, -0.5, 0.0, 0.5, 1.0), ("1", "0.5", "0", "0.5", "1"))
    axis.set_xlabel("← moves against the largest        amplitude        moves with it →")
    axis.invert_yaxis()
    axis.grid(visible=False, axis="y")
    axis.grid(visible=True, axis="x")


#: Distance from -1 up to which a Nyquist diagram is drawn.
REACH = 3.0


def draw_bode(
    path: str | os.PathLike[str] | None,
    w: FloatArray,
    curves: Sequence[tuple[str, Array]],
    *,
    last: float | None = None,
    title: str = "",
    axes: Any = None,
) -> Any:
    """Draw magnitudes in decibels, and phases in degrees, over frequency.

    w (k,) [rad/s]
    curves: Names, and complex numbers of shape (k,).
    last [rad/s]: Largest frequency of a sampled model, where a line is drawn.
    """
    form: dict[str, Any] = {"rows": 2, "size": (7.5, 5.5), "title": title}
    with opened_canvas("drawing a frequency response", path, axes, **form) as canvas:
        above, below = canvas.axes
        for name, values in curves:
            with np.errstate(divide="ignore"):
                above.semilogx(w, 20.0 * np.log10(np.abs(values)), label=name)
            phase = np.degrees(np.unwrap(np.angle(values)))
            below.semilogx(w, phase - 360.0 * np.ceil(phase[0] / 360.0), label=name)
        above.axhline(0.0, color="0.4", linewidth=0.8)
        below.axhline(-180.0, color="0.4", linewidth=0.8)
        if last is not None:
            for axis in canvas.axes:
                axis.axvline(last, color="0.4", linewidth=0.8, linestyle="--")
        above.set(ylabel="magnitude [dB]")
        below.set(ylabel="phase [deg]", xlabel="frequency [rad/s]")
        above.legend()
    return canvas.figure


def draw_nyquist(
    path: str | os.PathLike[str] | None,
    curves: Sequence[tuple[str, Array]],
    *,
    title: str = "",
    axes: Any = None,
) -> Any:
    """Draw loops in the complex plane near -1, for positive frequencies.

    curves: Names, and complex numbers of shape (k,) of loops ``L``.
    """
    form: dict[str, Any] = {"size": (6.0, 5.5), "title": title}
    with opened_canvas("drawing a Nyquist diagram", path, axes, **form) as canvas:
        (axis,) = canvas.axes
        for name, values in curves:
            seen = np.where(np.abs(values + 1.0) < 3.0 * REACH, values, np.nan)
            axis.plot(seen.real, seen.imag, label=name)
        angle = np.linspace(0.0, 2.0 * np.pi, 200)
        axis.plot(np.cos(angle), np.sin(angle), color="0.7", linewidth=0.8)
        axis.plot(-1.0 + 0.5 * np.cos(angle), 0.5 * np.sin(angle), ":", color="0.6", linewidth=0.9)
        axis.plot([-1.0], [0.0], "+", color=INK, markersize=10.0)
        axis.set(xlabel="real part", ylabel="imaginary part", aspect="equal")
        axis.set(xlim=(-1.0 - REACH, REACH - 1.0), ylim=(-REACH, REACH))
        axis.legend()
    return canvas.figure
