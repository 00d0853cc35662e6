"""Loops in closed form: joints that follow the others of a loop, and their rates.

A loop closes where ``h = 0``, a vector function of the places of its joints; how its dependent
joints stand then is a matter of its geometry, which its own kind of `Linkage` knows. Their rates
come from h alone, by one rule for all kinds [PyMbs 9, 10]::

    v_dep = B v     B = -h_dep^-1 h_known     a_dep = B a + b'     b' = -h_dep^-1 (dh/dt) v

with ``v`` the independent speeds and ``h_..`` the columns of the Jacobian of h. Where time moves a
joint of the loop, it is one more freedom that is known, and adds ``-h_dep^-1 h_t`` to ``v_dep``.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import field, replace
from typing import Any

from robodyn.description.traced_explicit_loop import TracedExplicitLoop
from robodyn.equations.closed_form.folding import Fold
from robodyn.joints.common.evaluate import evaluate, placed, places_of
from robodyn.joints.common.kind import JointGeometry, JointState
from robodyn.quick_dataclass import dataclass
from robodyn.symbolic.evaluate import inline
from robodyn.symbolic.plane import Planar
from robodyn.symbolic.scalar import Number, dot
from robodyn.symbolic.small_systems import Column, solver_of
from robodyn.tolerances import SAME_BRANCH

#: Body, and index of a freedom of the joint that moves it.
Freedom = tuple[int, int]

#: Stands for the index of a freedom: the motion with time, at the speed one.
TIME = -1

#: Cosine and sine of the angle (offset included), or displacement and zero, of each freedom.
Places = tuple[Planar, ...]


@dataclass(frozen=True, eq=False)
class Posture:
    """Posture of one joint of a loop.

    places: None of a joint whose freedoms are not turns and slides.
    q: Its coordinates, where they are known: of an angle that follows by geometry, only cosine and
        sine are.
    """

    places: Places
    joint: JointState
    q: tuple[Number, ...] = field(default=(), kw_only=True)


@dataclass(frozen=True, eq=False)
class JointMotion(Posture):
    """Posture and motion of one joint of a loop.

    Attributes
    ----------
    v, c : tuple of Number
        Speed of each freedom, and its acceleration when those of the independent speeds are zero.
    columns, rates : dict of v index to tuple of Number
        Speed of each freedom a unit of an independent one, and the rate of that.
    drift : tuple of Number
        Speed of each freedom when all independent ones are zero, which time alone makes; empty
        where it makes none.
    """

    v: tuple[Number, ...] = ()
    c: tuple[Number, ...] = ()
    columns: Mapping[int, tuple[Number, ...]] = field(default_factory=dict)
    rates: Mapping[int, tuple[Number, ...]] = field(default_factory=dict)
    drift: tuple[Number, ...] = ()


@dataclass(frozen=True, eq=False)
class Linkage(ABC):
    """A loop and its dependent joints.

    name: Of the joint that closes the loop.
    dependent: Bodies whose joints follow.
    branch: One of `branches`: which of the ways to assemble the loop.
    """

    name: str
    dependent: tuple[int, ...]
    branch: int = 1

    @property
    def branches(self) -> tuple[int, ...]:
        """Assembly branches of a loop of this kind."""
        return 1, -1

    @property
    def fold(self) -> Fold | None:
        """How the loop can lie flat and go through; ``None`` if it cannot, or it is not known."""
        return None

    @property
    @abstractmethod
    def bodies(self) -> tuple[int, ...]:
        """Bodies whose joints are in the loop."""

    @abstractmethod
    def close(self, known: Mapping[int, Posture]) -> dict[int, Places]:
        """Places of the dependent joints, given the postures of the others."""

    def posture(self, geometry: JointGeometry, found: Places, speeds: Sequence[Number]) -> Posture:
        """Posture of a dependent joint, from the result of `close` for it and its speeds."""
        q = (found[0].x,) if geometry.kind.is_slider else ()
        return Posture(found, placed(geometry, found, speeds), q=q)

    @abstractmethod
    def slopes(self, postures: Mapping[int, Posture]) -> dict[Freedom, Any]:
        """Columns of the Jacobian of ``h``."""

    @abstractmethod
    def slope_rates(
        self, postures: Mapping[int, Posture], speeds: Mapping[Freedom, Number]
    ) -> dict[Freedom, Any]:
        """Rates of those columns."""

    def bend(
        self,
        postures: Mapping[int, Posture],
        speeds: Mapping[Freedom, Number],
        accelerations: Mapping[Freedom, Number],
    ) -> Any:
        """Second derivative of ``h`` by time; freedoms without acceleration have none."""
        J, dJ = self.slopes(postures), self.slope_rates(postures, speeds)
        return _weighted(dJ, speeds) + _weighted(J, accelerations)

    @abstractmethod
    def solver(
        self, slopes: Mapping[Freedom, Any], own: Sequence[Freedom]
    ) -> Callable[[Any], tuple[Number, ...]]:
        """``-[columns]^-1`` of some freedoms as a function."""

    def counted_from(self, postures: Mapping[int, Posture]) -> Linkage:
        """The loop with its branches as they are at a posture, where they depend on one."""
        return self

    def fitting(self, postures: Mapping[int, Posture]) -> list[int]:
        """Branches that give the positions of dependent joints in a known, closed posture."""
        fitting = []
        for branch in self.branches:
            try:
                found = replace(self, branch=branch).close(postures)
            except (ValueError, ZeroDivisionError):  # it does not close, or is singular
                continue
            gaps = [
                a - b
                for i, places in found.items()
                for a, b in zip(places, postures[i].places, strict=True)
            ]
            if all(float(gap.squared) < SAME_BRANCH**2 for gap in gaps):  # type: ignore[arg-type]
                fitting.append(branch)
        return fitting


def motions(
    linkage: Linkage,
    known: Mapping[int, JointMotion],
    v: Sequence[Number],
    geometry: Mapping[int, JointGeometry],
) -> dict[int, JointMotion]:
    """Postures, speeds and rates of the dependent joints.

    Parameters
    ----------
    known : mapping of body to JointMotion
        Of the loop's other joints.
    geometry : mapping of body to JointGeometry
        Of the dependent joints.
    """
    found = linkage.close(known)
    at: dict[int, Posture] = dict(known)
    for i, places in found.items():
        at[i] = linkage.posture(geometry[i], places, [0.0] * len(places))
    own = [(i, n) for i in linkage.dependent for n in range(len(found[i]))]
    J = linkage.slopes(at)
    solve = linkage.solver(J, own)
    masters = sorted({k for motion in known.values() for k in motion.columns})
    columns = {k: _by_freedom({i: m.columns.get(k, ()) for i, m in known.items()}) for k in masters}
    B = {k: solve(_weighted(J, columns[k])) for k in masters}
    clocks: dict[Freedom, Number] = {(i, TIME): 1.0 for i in known if (i, TIME) in J}
    drifting = clocks | _by_freedom({i: m.drift for i, m in known.items()})
    drift = solve(_weighted(J, drifting)) if drifting else ()

    speeds = clocks | _by_freedom({i: motion.v for i, motion in known.items()})
    for n, freedom in enumerate(own):
        speeds[freedom] = sum((B[k][n] * v[k] for k in masters), drift[n] if drift else 0.0)
    for i, places in found.items():
        of_joint = [speeds[i, n] for n in range(len(places))]
        at[i] = linkage.posture(geometry[i], places, of_joint)
    bias = solve(linkage.bend(at, speeds, _by_freedom({i: m.c for i, m in known.items()})))
    dJ = linkage.slope_rates(at, speeds)
    dB = {}
    for k in masters:
        column = {**columns[k], **dict(zip(own, B[k], strict=True))}
        rates = _by_freedom({i: m.rates.get(k, ()) for i, m in known.items()})
        dB[k] = solve(_weighted(dJ, column) + _weighted(J, rates))

    def of(i: int, values: Sequence[Number]) -> tuple[Number, ...]:
        return tuple(x for (j, _), x in zip(own, values, strict=True) if j == i)

    return {
        i: JointMotion(
            at[i].places,
            at[i].joint,
            of(i, [speeds[freedom] for freedom in own]),
            of(i, bias),
            {k: of(i, B[k]) for k in masters},
            {k: of(i, dB[k]) for k in masters},
            of(i, drift) if drift else (),
            q=at[i].q,
        )
        for i in linkage.dependent
    }


def _by_freedom(numbers: Mapping[int, Sequence[Number]]) -> dict[Freedom, Number]:
    return {(i, n): x for i, own in numbers.items() for n, x in enumerate(own)}


def _weighted(columns: Mapping[Freedom, Any], weights: Mapping[Freedom, Number]) -> Any:
    """Sum of columns times numbers; zero in the columns' own kind if there are none."""
    zero = next(iter(columns.values())) * 0.0
    return sum((columns[freedom] * x for freedom, x in weights.items()), zero)


@dataclass(frozen=True, eq=False)
class ExplicitLinkage(Linkage):
    """Joints with one coordinate that are functions of those of other joints.

    Places of the dependent joints are their coordinates, not cosine and sine.

    independent: Bodies whose joints they follow.
    """

    given: TracedExplicitLoop = field(kw_only=True)
    independent: tuple[int, ...] = field(kw_only=True)

    @property
    def branches(self) -> tuple[int, ...]:
        """A single branch, that of the function."""
        return (1,)

    @property
    def bodies(self) -> tuple[int, ...]:
        """Bodies whose joints it is about, in the order of its programs."""
        return (*self.independent, *self.dependent)

    def close(self, known: Mapping[int, Posture]) -> dict[int, Places]:
        """Coordinates of the dependent joints."""
        found = inline(self.given.solution, [known[i].q[0] for i in self.independent])
        return {i: (Planar(x),) for i, x in zip(self.dependent, found, strict=True)}

    def posture(self, geometry: JointGeometry, found: Places, speeds: Sequence[Number]) -> Posture:
        """Posture of a dependent joint, whose coordinate is known."""
        q = (found[0].x,)
        return Posture(places_of(geometry, q) or found, evaluate(geometry, q, speeds), q=q)

    def slopes(self, postures: Mapping[int, Posture]) -> dict[Freedom, Column]:
        """Columns of the Jacobian of ``h``."""
        return self._columns(inline(self.given.slopes, self._coordinates(postures)))

    def slope_rates(
        self, postures: Mapping[int, Posture], speeds: Mapping[Freedom, Number]
    ) -> dict[Freedom, Column]:
        """Rates of those columns."""
        bends = inline(self.given.bends, self._coordinates(postures))
        count, own = len(self.bodies), [speeds[i, 0] for i in self.bodies]
        return self._columns([dot(bends[k : k + count], own) for k in range(0, len(bends), count)])

    def solver(
        self, slopes: Mapping[Freedom, Column], own: Sequence[Freedom]
    ) -> Callable[[Column], tuple[Number, ...]]:
        """``-[columns]^-1`` as a function; NaN where other speeds would have to be infinite."""
        return solver_of([slopes[f] for f in own], [x for f, x in slopes.items() if f not in own])

    def _coordinates(self, postures: Mapping[int, Posture]) -> list[Number]:
        return [postures[i].q[0] for i in self.bodies]

    def _columns(self, rows: Sequence[Number]) -> dict[Freedom, Column]:
        """Columns of a matrix given by rows."""
        count = len(self.bodies)
        return {(i, 0): Column(tuple(rows[k::count])) for k, i in enumerate(self.bodies)}
