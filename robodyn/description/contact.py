"""Contacts by choice: links that touch a surface, or are gripped, as said."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from robodyn.arguments import check_fields
from robodyn.array_types import FloatArray
from robodyn.arrays import mismatch, number, numbers, wrong_shape
from robodyn.description.pose import frame_argument
from robodyn.errors import SettingsError
from robodyn.literals import ContactKind

#: Components of the wrench that each kind carries, in contact axes: forces, then moments.
CARRIED = {
    "point": (0, 1, 2),
    "line": (0, 1, 2, 4, 5),
    "surface": (0, 1, 2, 3, 4, 5),
    "grip": (0, 1, 2, 3, 4, 5),
}


@dataclass(frozen=True, eq=False)
class Contact:
    """A link that touches the plane ``z = 0`` of another frame, or is gripped.

    The z axis of the contact frame points out of the surface. Where it touches, it sticks: the
    point of contact does not slide and does not lift. A contact that is made is a plastic impact, a
    contact that ends is none: `robodyn.events.become`.

    Attributes
    ----------
    kind : {"point", "line", "surface", "grip"}
        A point, which may turn any way; a line, along x, which may roll about it; a rectangle that
        lies on the plane; a grip, which holds the link as it is, off any plane.
    at : array_like, shape (4, 4) [1, m] or (3,) [m], optional
        Contact frame in the link, in the middle of what touches. Default: the link frame.
    half_sizes : float or (float, float), optional [m]
        Half of the length along x of a line, or half of both sides of a surface: the zero-moment
        point stays within. Default: a line or surface without an end.
    mu : float
        Friction.
    on : str or (str, X)
        What it touches: ``"world"``, or a link, or the pose of a frame in one.

    Raises
    ------
    ShapeError, SettingsError

    Examples
    --------
    >>> import robodyn as rd
    >>> robot = rd.load("satellite", base="floating", gravity=(0, 0, -9.81))
    >>> standing = robot.with_(contacts={"bus": rd.Contact("surface", at=(0, 0, -0.5), mu=0.6)})
    >>> robot.dof - standing.dof
    6
    """

    kind: ContactKind = "point"
    at: ArrayLike | None = None
    half_sizes: ArrayLike | None = None
    mu: float = 0.7
    on: Any = "world"

    def __post_init__(self) -> None:
        check_fields(self)
        if not 0.0 <= number("mu", self.mu) < math.inf:
            raise SettingsError(f"mu is {self.mu!r}, expected a number, zero or above")
        frame_argument("on, what a contact touches,", self.on, "on")
        if self.at is not None:
            frame_argument("at, the contact frame", ("link", self.at), "at")
        if not (np.asarray(self.sizes)[: {"line": 1, "surface": 2}.get(self.kind, 0)] > 0.0).all():
            raise mismatch("half_sizes", self.half_sizes, "positive lengths")

    @property
    def sizes(self) -> tuple[float, float]:
        """Half of both sides, inf where there is no end and zero where there is no side."""
        if self.kind not in ("line", "surface"):
            if self.half_sizes is not None:
                raise SettingsError(f"a {self.kind} has no half_sizes")
            return (0.0, 0.0) if self.kind == "point" else (math.inf, math.inf)
        if self.half_sizes is None:
            return math.inf, math.inf if self.kind == "surface" else 0.0
        sides = 1 if self.kind == "line" else 2
        x = np.asarray(numbers("half_sizes", self.half_sizes), float)
        if x.shape not in ((), (sides,)):
            raise wrong_shape("half_sizes", x.shape, f"one length, or {sides}")
        x = np.broadcast_to(x, (sides,))
        return float(x[0]), float(x[1]) if sides == 2 else 0.0

    def rows(self) -> Callable[[FloatArray, FloatArray], list[Any]]:
        """What is zero, of the pose ``X_AB`` of the contact frame on the plane and its twist."""
        grip, lines = self.kind == "grip", {"point": 0, "line": 1, "surface": 2}

        def zero(X: Any, V: Any) -> list[Any]:
            if grip:
                return [*V]
            v, w = X[:3, :3] @ V[:3], X[:3, :3] @ V[3:]
            tilts = [X[2, k] for k in range(lines[self.kind])]
            return [X[2, 3], *tilts, v[0], v[1], *([w[2]] if tilts else [])]

        return zero
