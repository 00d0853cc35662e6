"""Rigid bodies, and the inertia of each."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from robodyn.arguments import check_fields, checked_arguments
from robodyn.arrays import mismatch, number, shaped, vector, wrong_shape
from robodyn.description.pose import Pose
from robodyn.symbolic.symbol import with_name, with_names


@dataclass(frozen=True)
class Inertia:
    """Mass, centre of mass and inertia of a rigid body.

    Attributes
    ----------
    mass : float [kg]
    origin : Pose
        Frame at the centre of mass, in the link frame; the inertia is given in its axes.
    ixx, ixy, ixz, iyy, iyz, izz : float [kg m^2]
        About the centre of mass (``ixy`` is the matrix element, as in URDF).

    Examples
    --------
    >>> import robodyn as rd
    >>> rod = rd.Inertia(3.0, rd.Pose((0, 0, 0.5)), ixx=0.25, iyy=0.25)
    >>> rod.mass, rod.origin.xyz
    (3.0, (0.0, 0.0, 0.5))
    """

    mass: float
    origin: Pose = Pose()
    ixx: float = 0.0
    ixy: float = 0.0
    ixz: float = 0.0
    iyy: float = 0.0
    iyz: float = 0.0
    izz: float = 0.0

    def __post_init__(self) -> None:
        check_fields(self)
        for name in ("mass", "ixx", "ixy", "ixz", "iyy", "iyz", "izz"):
            unit = "kg" if name == "mass" else "kg m^2"
            given = getattr(self, name)
            value = number(name, given, unit, "arrays go to Inertia.from_matrix")
            object.__setattr__(self, name, with_name(given, value))
        if not isinstance(self.origin, Pose):
            raise mismatch(
                "origin",
                self.origin,
                "a Pose: the centre of mass as Pose(xyz=(x, y, z)), or Inertia.from_matrix",
            )

    @property
    def matrix(self) -> NDArray[np.float64]:
        """Inertia about the centre of mass in the axes of ``origin``, shape (3, 3) [kg m^2]."""
        return np.array(
            [
                [self.ixx, self.ixy, self.ixz],
                [self.ixy, self.iyy, self.iyz],
                [self.ixz, self.iyz, self.izz],
            ]
        )

    @classmethod
    @checked_arguments
    def from_matrix(cls, mass: float, com: ArrayLike, inertia: ArrayLike) -> Inertia:
        """Inertia of a body from arrays in link axes.

        Parameters
        ----------
        mass : float [kg]
        com : array_like, shape (3,) [m]
            Centre of mass in the link frame.
        inertia : array_like, shape (3, 3) [kg m^2]
            About the centre of mass, in link axes.
        """
        J = shaped("inertia", inertia, 3, 3)
        if J.ndim != 2:
            raise wrong_shape("inertia", J.shape, "(3, 3)", (3, 3))
        given: Any = inertia if isinstance(inertia, list | tuple) else J  # these keep names
        return cls(
            mass,
            Pose(with_names(com, vector("com", com))),
            *(with_name(given[i][j], float(J[i, j])) for i in range(3) for j in range(i, 3)),
        )


@dataclass(frozen=True)
class Link:
    """A rigid body of the mechanism.

    Attributes
    ----------
    name : str
    inertia : Inertia or None
        ``None``: the file gives none; the link is massless.
    extras : tuple of str
        Elements that robodyn does not interpret (visual, collision, ...), as XML text.
    line : int or None
        Where it stands in the file; not part of equality.

    Examples
    --------
    >>> import robodyn as rd
    >>> rd.Link("bob", rd.Inertia(2.0)).inertia.mass
    2.0
    """

    name: str
    inertia: Inertia | None = None
    extras: tuple[str, ...] = ()
    line: int | None = field(default=None, compare=False)

    def __post_init__(self) -> None:
        check_fields(self)
