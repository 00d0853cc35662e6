"""Wrenches from outside at points of links, in axes of the world or of the link."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any, cast

import numpy as np
from numpy.typing import ArrayLike

from robodyn.arguments import checked_arguments
from robodyn.array_types import FloatArray
from robodyn.arrays import mismatch, numbers, vector, wrong_shape
from robodyn.description.pose import Vector
from robodyn.errors import ShapeError
from robodyn.literals import Axes

#: Text of a point, as `PointOfLink` writes it.
_TEXT = re.compile(r"(.+) at \(([^,()]+), ([^,()]+), ([^,()]+)\) in (body|world) axes", re.DOTALL)


class PointOfLink(str):
    """Where a wrench acts that is not given at the origin of a link in its axes.

    It stands in the place of the name of a link, as text that says it.

    at [m]: In link axes.
    axes {"body", "world"}: Of the wrench.
    """

    __slots__ = ("at", "axes", "link")

    link: str
    at: Vector
    axes: Axes

    def __new__(cls, link: str, at: Vector, axes: Axes) -> PointOfLink:
        """The point, which is text."""
        x, y, z = at
        point = super().__new__(cls, f"{link} at ({x!r}, {y!r}, {z!r}) in {axes} axes")
        point.link, point.at, point.axes = link, at, axes
        return point

    def __reduce__(self) -> Any:
        return PointOfLink, (self.link, self.at, self.axes)

    @classmethod
    def read(cls, text: str) -> str:
        """A point that was written as text; the name of a link as it is."""
        found = _TEXT.fullmatch(text)
        if found is None:
            return text
        link, x, y, z, axes = found.groups()
        return cls(link, (float(x), float(y), float(z)), cast(Axes, axes))


class Wrench(Mapping[str, FloatArray]):
    """A force and a moment from outside, at a point of a link.

    It is what ``wrenches=`` takes, alone or with others: ``wrenches=rd.Wrench(...)``,
    ``wrenches=one | other | third``, ``wrenches={"tool": w} | one``. At a point that several have
    in the same axes, ``|`` adds them up.

    Parameters
    ----------
    link : str
    force : array_like, shape (..., 3) [N]
    moment : array_like, shape (..., 3), or 0 [N m]
        About that point.
    at : array_like, shape (3,) [m]
        The point, in link axes.
    axes : {"world", "body"}
        Of force and moment: those of the world, whatever way the link turns, or of the link.

    Raises
    ------
    ShapeError, UnknownNameError

    Examples
    --------
    >>> import robodyn as rd
    >>> arm = rd.load("double_pendulum", gravity=(0, 0, 0))
    >>> weight = rd.Wrench("lower", (0.0, 0.0, -9.81), at=(0.0, 0.0, -1.0))
    >>> arm.inverse_dynamics([1.0, 0.5], [0.0, 0.0], [0.0, 0.0], wrenches=weight).shape
    (2,)
    """

    @checked_arguments
    def __init__(
        self,
        link: str,
        force: ArrayLike,
        moment: ArrayLike = 0.0,
        *,
        at: ArrayLike = (0.0, 0.0, 0.0),
        axes: Axes = "world",
    ) -> None:
        if isinstance(moment, int | float | np.number):
            if moment != 0.0:
                expected = "a vector of three numbers, or 0"
                raise mismatch("moment", moment, f"{expected}")
            moment = (0.0, 0.0, 0.0)
        parts = _threes("force", force), _threes("moment", moment)
        try:
            f, n = np.broadcast_arrays(*parts)
        except ValueError:
            shapes = " and ".join(str(x.shape) for x in parts)
            raise ShapeError(
                f"force and moment have shapes {shapes}, expected as many of each", name="moment"
            ) from None
        point = vector("at", at)
        plain = axes == "body" and not any(point)
        place = link if plain else PointOfLink(link, point, axes)
        self._at: dict[str, FloatArray] = {place: np.concatenate([f, n], axis=-1)}

    def __getitem__(self, place: str) -> FloatArray:
        return self._at[place]

    def __iter__(self) -> Iterator[str]:
        return iter(self._at)

    def __len__(self) -> int:
        return len(self._at)

    def __or__(self, other: Mapping[str, ArrayLike]) -> Wrench:
        """Both; of two at the same point in the same axes the sum."""
        if not isinstance(other, Mapping):
            return NotImplemented
        both = object.__new__(Wrench)
        both._at = dict(self._at)
        for place, wrench in other.items():
            given = np.asarray(wrench)
            both._at[place] = self._at[place] + given if place in self else given
        return both

    __ror__ = __or__

    def __repr__(self) -> str:
        return f"<Wrench on {', '.join(f'{x}: {w.tolist()}' for x, w in self._at.items())}>"


def _threes(what: str, given: ArrayLike) -> FloatArray:
    """Vectors, shape (..., 3)."""
    x = np.array(numbers(what, given), float)
    if x.shape[-1:] != (3,):
        raise wrong_shape(what, x.shape, "(..., 3)", (3,))
    return x
