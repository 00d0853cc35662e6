"""Rows of ball joints along the axes of the limbs that they end.

The three rows of a ball are components of one vector, and any axes do. Along a rod, none of its
own speeds moves its end; across it, each does in one direction. So rows along the axes of a rod
have few elements, and may be eliminated together with the speeds of the rod.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import field

from robodyn.equations.loops.closure_rows import Closure
from robodyn.equations.loops.limb_motion import motion_along
from robodyn.equations.mechanism.bodies import BASE, MechanismModel
from robodyn.equations.mechanism.state import State
from robodyn.joints.common.cut import RelativeMotion
from robodyn.quick_dataclass import dataclass
from robodyn.symbolic.constraint_row import Row
from robodyn.symbolic.rotation import Rotation
from robodyn.symbolic.scalar import Number, Scalar
from robodyn.symbolic.spatial import Placement
from robodyn.symbolic.vector import Vec3


@dataclass
class TurnedRows:
    """Constraint rows, some of them along other axes.

    turns: The first of three rows that are, and what turns their components back.
    motions: Of closures, by number, along these axes.
    """

    rows: list[Row]
    turns: list[tuple[int, Rotation]] = field(default_factory=list)
    motions: dict[int, RelativeMotion] = field(default_factory=dict)

    def back(self, values: Sequence[Number]) -> list[Number]:
        """Numbers of these rows, such as multipliers, as those of the rows that were given."""
        found = list(values)
        for first, R in self.turns:
            found[first : first + 3] = R * Vec3(*found[first : first + 3])
        return found

    def turned(self, values: Sequence[Number]) -> list[Number]:
        """Numbers of the rows that were given as those of these."""
        found = list(values)
        for first, R in self.turns:
            found[first : first + 3] = R.inverse_times(Vec3(*found[first : first + 3]))
        return found


def turned_rows(
    state: State,
    closures: Sequence[Closure],
    rows: Sequence[Row],
    chosen: Sequence[int],
    finished: Callable[[Row], Row],
) -> TurnedRows:
    """Rows, those of balls along the axes of limbs where all three of them are chosen.

    rows: Those that are chosen.
    chosen: Which of all rows the first of them are; those of closures come before others.
    finished: What is done to each row before.
    """
    found = TurnedRows(list(rows))
    ends = _ends(state.model, closures)
    first = 0
    for number, closure in enumerate(closures):
        places = range(first, first + closure.count)
        first = places.stop
        if not closure.cut.vector or any(k not in chosen for k in places):
            continue
        at = [chosen.index(k) for k in places]
        if at == [*range(at[0], at[0] + 3)]:
            m, R = _of_limb(state, closure, ends)
            found.rows[at[0] : at[0] + 3] = map(finished, closure.rows(state, m))
            found.turns.append((at[0], R))
            found.motions[number] = m
    return found


def _ends(model: MechanismModel, closures: Sequence[Closure]) -> dict[int, int]:
    """Number of ends of closures on each body and beyond it."""
    ends = {BASE: 2 * len(closures), **{body.index: 0 for body in model}}
    for closure in closures:
        for body in (closure.predecessor, closure.successor):
            for k in model.path(body):
                ends[k] += 1
    return ends


def _of_limb(
    state: State, closure: Closure, ends: dict[int, int]
) -> tuple[RelativeMotion, Rotation]:
    """Motion along the axes of the limb, and what turns it to those of the predecessor."""
    frame, reference = (closure.successor, closure.X_SG), (closure.predecessor, closure.X_PF)
    limb = frame if ends[frame[0]] < ends[reference[0]] else reference
    seen = _seen_from_tip(limb[1].p)
    m = motion_along(state, frame, reference, limb[0], seen)
    if limb is frame:
        return m, m.X.R.T
    return m, reference[1].R.T @ seen.R.T


def _seen_from_tip(p: Vec3) -> Placement:
    """A body as seen from a point of it, along axes one of which leads to the origin."""
    x, y, z = (c for c in p if not isinstance(c, Scalar))
    if sum(c != 0.0 for c in (x, y, z)) < 2:
        return Placement(p=-p)
    across = math.hypot(x, y)
    R = Rotation.about(2, math.atan2(y, x)) @ Rotation.about(1, math.atan2(across, z))
    return Placement(R.T, Vec3(0.0, 0.0, -math.hypot(across, z)))
