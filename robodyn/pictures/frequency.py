"""Drawings of frequency responses: Bode and Nyquist diagrams."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import Any

import numpy as np

from robodyn.array_types import Array, FloatArray
from robodyn.pictures.figure import INK, opened_canvas

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
