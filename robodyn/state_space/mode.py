"""One mode of a linear model, and its picture."""

from __future__ import annotations

import os
from typing import Any

import numpy as np

from robodyn.array_types import Array
from robodyn.quick_dataclass import dataclass
from robodyn.state_space.poles import damping_ratio
from robodyn.tolerances import MODE_SHOWN, MODE_UNMOVED


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

    def plot(self, path: str | os.PathLike[str] | None = None, *, axes: Any = None) -> Any:
        """Draw how far, and in which direction, each coordinate swings: a bar for each.

        Bars to the right swing with the largest coordinate, bars to the left against it. Beside a
        bar of a coordinate that leads or lags stands the angle: a quarter of a period is 90 deg.

        Parameters
        ----------
        path : path, optional
            Image file to write. Default: show it in a window, where there is a display.
        axes : matplotlib axes, optional
            To draw into.

        Returns
        -------
        figure : matplotlib.figure.Figure

        Raises
        ------
        MissingExtraError
            Without matplotlib (extra ``plot``).
        ShapeError, MissingFileError, FileError
            For no name of an image file, and where it cannot be written.
        """
        of_positions = self.name.startswith("q:")
        swings = {
            name.removeprefix("q:"): complex(part)
            for name, part in zip(self.states, self.shape, strict=True)
            if name.startswith("q:") == of_positions and abs(part) > MODE_SHOWN
        }
        from robodyn.pictures.pole_map import draw_mode_shape

        return draw_mode_shape(path, swings, title=self._title, axes=axes)

    @property
    def _title(self) -> str:
        frequency = self.natural_frequency
        if not frequency:
            return "free motion: the pole is zero"
        if not self.pole.imag:
            way = "grows" if self.pole.real > 0.0 else "decays"
            return f"{way} as exp({self.pole.real:.3g} t), time constant {1.0 / frequency:.3g} s"
        hertz = f"{frequency:.4g} rad/s = {frequency / (2 * np.pi):.3g} Hz"
        return f"{hertz}, damping ratio {self._shown_ratio:.3g}"


def scaled(vector: Array, states: tuple[str, ...]) -> Array:
    """A vector turned and scaled so that its largest coordinate is 1."""
    return np.asarray(vector / vector[_largest(vector, states)], complex)


def _largest(vector: Array, states: tuple[str, ...]) -> int:
    size = np.abs(vector)
    places = np.array([name.startswith("q:") for name in states])
    counted = np.where(places, size, 0.0)
    return int((counted if counted.max() > MODE_UNMOVED * size.max() else size).argmax())
