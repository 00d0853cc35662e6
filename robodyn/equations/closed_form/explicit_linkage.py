"""Joints given as functions of others: cams, and loops whose solution is given."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import field

from robodyn.description.traced_explicit_loop import TracedExplicitLoop
from robodyn.equations.closed_form.linkage import Freedom, Linkage, Places, Posture
from robodyn.joints.common.evaluate import evaluate, places_of
from robodyn.joints.common.kind import JointGeometry
from robodyn.quick_dataclass import dataclass
from robodyn.symbolic.inline import inline
from robodyn.symbolic.plane import Planar
from robodyn.symbolic.scalar import Number, dot
from robodyn.symbolic.small_systems import Column, solver_of


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
