"""One mode of a linear model, and its picture."""

from __future__ import annotations

import os
from dataclasses import dataclass
from typing import Any

import numpy as np

from robodyn.array_types import Array
from robodyn.errors import MissingExtraError
from robodyn.files import save_figure
from robodyn.state_space.poles import damping_ratio
from robodyn.tolerances import MODE_SHOWN, MODE_UNMOVED

__all__ = ["Mode", "scaled"]


@dataclass(frozen=True, eq=False)
class Mode:
    """One free motion of a linear model: ``x(t) = Re(shape exp(pole t))``.

    Attributes
    ----------
    pole : complex [1/s]
        Pole in continuous time, also of a sampled model.
    shape : ndarray of complex, shape (n,)
        Eigenvector, whose largest coordinate is 1: of a robot a step of position (``"q:joint"``),
        unless only speeds take part.
    states : tuple of str
        Names of these numbers.
    """

    pole: complex
    shape: Array
    states: tuple[str, ...]

    @property
    def natural_frequency(self) -> float:
        """``|pole|`` [rad/s]."""
        return abs(self.pole)

    @property
    def damping_ratio(self) -> float:
        """``-Re(pole) / |pole|``; 1 for a pole at zero."""
        return float(damping_ratio(np.array(self.pole)))

    @property
    def name(self) -> str:
        """Name of the state with the largest part in the mode."""
        return self.states[_largest(self.shape, self.states)]

    @property
    def _shown_ratio(self) -> float:
        """Without rounding of a mode that nothing damps."""
        return round(self.damping_ratio, 9) + 0.0

    def __repr__(self) -> str:
        return (
            f"<Mode {self.name!r}: {self.natural_frequency:.4g} rad/s, "
            f"damping ratio {self._shown_ratio:.3g}>"
        )

    def plot(self, path: str | os.PathLike[str] | None = None) -> None:
        """Draw the components of the mode shape as arrows in the complex plane.

        The length of an arrow is the amplitude, its angle the phase lead: components along one line
        move in phase, those at right angles a quarter of a period apart.

        Parameters
        ----------
        path : path, optional
            Of an image file. Default: show it in a window.

        Raises
        ------
        MissingExtraError
            Without matplotlib: ``pip install 'robodyn[plot]'``.
        ShapeError, MissingFileError, FileError
            For no name of an image file, and where it cannot be written.
        """
        figure = _figure(path is None)
        axis = figure.subplots()
        of_positions = self.name.startswith("q:")
        for name, part in zip(self.states, self.shape, strict=True):
            if name.startswith("q:") == of_positions and abs(part) > MODE_SHOWN:
                axis.plot([0.0, part.real], [0.0, part.imag], "o-", markevery=[1], label=name)
        axis.set_title(f"{self.natural_frequency:.4g} rad/s, damping ratio {self._shown_ratio:.3g}")
        axis.set_xlabel("real part")
        axis.set_ylabel("imaginary part")
        axis.set_aspect("equal", "datalim")
        axis.grid(alpha=0.3)
        axis.legend(fontsize="small")
        if path is None:
            from matplotlib import pyplot

            pyplot.show()
            pyplot.close(figure)
        else:
            save_figure(figure, path)


def _figure(shown: bool) -> Any:
    try:
        from matplotlib.backends.backend_agg import FigureCanvasAgg
        from matplotlib.figure import Figure
    except ImportError:
        raise MissingExtraError("matplotlib", "plot", "drawing a mode") from None
    options: dict[str, Any] = {"figsize": (6.0, 5.0), "layout": "constrained"}
    if shown:
        from matplotlib import pyplot

        return pyplot.figure(**options)
    figure = Figure(**options)
    FigureCanvasAgg(figure)
    return figure


def scaled(vector: Array, states: tuple[str, ...]) -> Array:
    """A vector turned and scaled so that its largest coordinate is 1."""
    return np.asarray(vector / vector[_largest(vector, states)], complex)


def _largest(vector: Array, states: tuple[str, ...]) -> int:
    size = np.abs(vector)
    places = np.array([name.startswith("q:") for name in states])
    counted = np.where(places, size, 0.0)
    return int((counted if counted.max() > MODE_UNMOVED * size.max() else size).argmax())
