"""A force given as a function: along a joint, on a frame, or between two frames."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property

from robodyn.array_types import FloatArray
from robodyn.force_elements.common.link_element import WORLD
from robodyn.quick_dataclass import dataclass
from robodyn.symbolic import ops
from robodyn.symbolic.evaluate import inline
from robodyn.symbolic.graph import Program
from robodyn.symbolic.scalar import Number


@dataclass(frozen=True, eq=False)
class ForceLaw:
    """A force as a program of a position ``x``, its speeds ``w`` and the time.

    Along a joint these are its coordinates and speeds; on a frame F the first three rows of
    ``X_WF`` and the twist of F; between A and B the translation and the rotation vector of B in A,
    and their rate.

    joint: The joint along which it acts; empty where it acts on frames.
    places (4, 4)): The frame that it acts on, or the frames A and B that it acts between, in their
        links.
    law: ``x, w, t`` to the forces along the freedoms of the joint, or the wrench: on F in its axes,
        or on B in the axes of A.
    energy: ``x`` to the energy [J]; the force at rest is its negative gradient.
    """

    name: str
    joint: str
    places: tuple[tuple[str, FloatArray], ...]
    law: Program
    energy: Program | None

    def __repr__(self) -> str:
        if self.joint:
            return f"<Force {self.name!r} along joint {self.joint!r}>"
        where = "on" if len(self.places) == 1 else "between"
        return f"<Force {self.name!r} {where} {' and '.join(repr(x) for x, _ in self.places)}>"

    def force(self, x: Sequence[Number], w: Sequence[Number], t: Number) -> list[Number]:
        """The force, for symbolic or real arguments."""
        return inline(self.law, [*x, *w, t])

    def potential(self, x: Sequence[Number]) -> Number:
        """Potential energy [J]; zero if the force has none."""
        return 0.0 if self.energy is None else inline(self.energy, x)[0]

    @property
    def links(self) -> tuple[str, ...]:
        """The links that it acts on, without the world."""
        return tuple(link for link, _ in self.places if link != WORLD)

    @property
    def grounded(self) -> bool:
        """Whether it acts between a link and the world."""
        return bool(self.places) and len(self.links) < 2

    @property
    def rheonomic(self) -> bool:
        """Whether it depends on time."""
        return max(self._read, default=-1) == self._sizes[0] + self._sizes[1]

    @property
    def dissipates(self) -> bool:
        """Whether it does work that is not the change of a potential energy."""
        first, count = self._sizes
        return self.energy is None or any(first <= k < first + count for k in self._read)

    @cached_property
    def _read(self) -> frozenset[int]:
        """Inputs that the force depends on."""
        graph = self.law.graph
        return frozenset(graph.a[node] for node in self.law.live() if graph.op[node] == ops.INPUT)

    @property
    def _sizes(self) -> tuple[int, int]:
        """Sizes of the position and of the speeds."""
        x, w, _ = self.law.inputs
        return x.size, w.size
