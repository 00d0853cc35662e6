"""Transmissions that couple the motors of several joints: differentials, belts, bars."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import ArrayLike

from robodyn.arguments import check_fields
from robodyn.arrays import named, numbers, wrong_shape
from robodyn.errors import ShapeError
from robodyn.tolerances import SINGULAR_TRANSMISSION


@dataclass(frozen=True)
class Transmission:
    """Joints that their motors move together, each motor by a shaft.

    The speeds of the shafts are ``matrix`` times the speeds of the joints. Shaft k belongs to the
    `Actuator` of the k-th joint, which turns ``gear_ratio`` times as fast as its shaft; a joint
    that has none gets one that is a shaft alone. Torques follow by virtual work: those of the
    joints are the transposed matrix times those of the shafts.

    Attributes
    ----------
    name : str
    joints : tuple of n str
        With one degree of freedom each.
    matrix : tuple of n tuples of n float [rad/rad, rad/m]
        Speed of each shaft a unit of the speed of each joint; not singular.
    line : int or None
        In the file it was read from; not part of equality.

    Raises
    ------
    ShapeError
        If the matrix is singular, or has not a row and a column for each joint.

    Examples
    --------
    >>> import robodyn as rd
    >>> rd.Transmission.differential("wrist", ("pitch", "roll")).matrix
    ((1.0, 1.0), (1.0, -1.0))
    """

    name: str
    joints: tuple[str, ...]
    matrix: tuple[tuple[float, ...], ...]
    line: int | None = field(default=None, compare=False)

    def __post_init__(self) -> None:
        check_fields(self)
        joints = named("joints", self.joints, "Names of joints")
        object.__setattr__(self, "joints", joints)
        object.__setattr__(self, "matrix", _matrix(self.name, joints, self.matrix))

    @classmethod
    def differential(
        cls, name: str, joints: Sequence[str], reductions: ArrayLike = (1.0, 1.0)
    ) -> Transmission:
        """A differential: its shafts turn with the sum and the difference of two joints.

        Parameters
        ----------
        name : str
        joints : sequence of 2 str
        reductions : array_like, shape (2,)
            Between the differential and each joint.

        Notes
        -----
        As ``DifferentialTransmission`` of ros_control: shafts ``n1 v1 + n2 v2``, ``n1 v1 - n2 v2``.
        """
        a, b = _pair(reductions)
        return cls(name, tuple(joints), ((a, b), (a, -b)))

    @classmethod
    def four_bar(
        cls, name: str, joints: Sequence[str], reductions: ArrayLike = (1.0, 1.0)
    ) -> Transmission:
        """A parallelogram of bars: the second shaft turns with the sum of both joints.

        Parameters
        ----------
        name : str
        joints : sequence of 2 str
        reductions : array_like, shape (2,)
            Between each shaft and its joint.

        Notes
        -----
        As ``FourBarLinkageTransmission`` of ros_control: shafts ``n1 v1``, ``v1 + n2 v2``.
        """
        a, b = _pair(reductions)
        return cls(name, tuple(joints), ((a, 0.0), (1.0, b)))

    @classmethod
    def belts(
        cls, name: str, joints: Sequence[str], radii: Sequence[ArrayLike] | None = None
    ) -> Transmission:
        """Motors on the base of a chain, whose belts run along its links to joints farther out.

        The first shaft drives the first joint. The k-th shaft turns a pulley on the axis of the
        first joint, which turns one on the axis of the second, and so on to the k-th joint; the
        axes are parallel.

        Parameters
        ----------
        name : str
        joints : sequence of n str
            From the base outwards.
        radii : sequence of n - 1 pairs, optional [m]
            Along each link but the last: of the pulley that drives and of the one that is driven.
            Default: equal ones, with which a link keeps its direction while its motor rests.
        """
        joints, ratios = tuple(joints), [1.0]
        pairs = (
            [(1.0, 1.0)] * (len(joints) - 1)
            if radii is None
            else [*map(_pair, named("radii", radii))]
        )
        for driving, driven in pairs:
            if not driving > 0.0 or not driven > 0.0:
                raise ShapeError(
                    f"radii of {name!r} are {driving:g} and {driven:g}, expected positive numbers",
                    name="radii",
                )
            ratios.append(ratios[-1] * driven / driving)
        n = len(ratios)
        rows = (tuple(x if k <= row else 0.0 for k, x in enumerate(ratios)) for row in range(n))
        return cls(name, joints, tuple(rows))


def _pair(values: ArrayLike) -> tuple[float, float]:
    found = numbers("two numbers", values)
    if found.shape != (2,):
        raise ShapeError(
            f"{values!r} are not two numbers, one a joint or pulley", given=values, expected=(2,)
        )
    return float(found[0]), float(found[1])


def _matrix(name: str, joints: Sequence[str], given: ArrayLike) -> tuple[tuple[float, ...], ...]:
    """A matrix that has an inverse, as tuples."""
    matrix, n = np.asarray(numbers("matrix", given), float), len(joints)
    what = f"the matrix of transmission {name!r}"
    if matrix.shape != (n, n):
        raise wrong_shape(
            what,
            matrix.shape,
            f"({n}, {n}): a row for each shaft and a column for each of the joints "
            f"{', '.join(joints)}",
            (n, n),
            name="matrix",
        )
    if len({*joints}) < n or not n:
        raise ShapeError(
            f"transmission {name!r} drives {', '.join(joints) or 'nothing'}, expected each joint "
            "once",
            name="joints",
            given=joints,
        )
    sizes = np.linalg.norm(matrix, axis=1, keepdims=True)
    sound = np.isfinite(matrix).all() and bool((sizes > 0.0).all())
    if not sound or not np.linalg.svd(matrix / sizes)[1].min() > SINGULAR_TRANSMISSION:
        raise ShapeError(
            f"{what} is {matrix.tolist()}, expected finite numbers and no singular matrix: some "
            "motion of the joints would turn no shaft",
            name="matrix",
            given=matrix.tolist(),
        )
    return tuple(tuple(map(float, row)) for row in matrix)
