"""How near to a singular posture straight-line code works, seen by what it solves anyway.

The systems of constrained dynamics are solved once more, for a right side that is known: a probe.
Where rows become dependent, the solution grows without bound, as the inverse of the distance to the
singular posture, or its square. It costs half of a substitution, or one: the elimination is there
already.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from robodyn.equations.elimination.constrained import motor_forces
from robodyn.quick_dataclass import dataclass
from robodyn.symbolic.constraint_row import Row
from robodyn.symbolic.scalar import Number, Scalar, by_precision, dot, if_not_negative
from robodyn.tolerances import PROBE_SOLUTION


@dataclass(frozen=True)
class Probe:
    """A known right side, and the bound of its solution.

    right: Of each equation.
    weights: Of the square of each unknown, so that the weighted sum must not exceed 1. Of dynamics,
        that sum is the energy of the right side, and there are no weights.
    ease: The part of that sum that must not exceed 1 in double precision, which can do with less.
    """

    right: Sequence[Number]
    weights: Sequence[Number] = ()
    ease: float = 1.0


def motor_conditioning(
    rows: Sequence[Row], nv: int, probe: Probe, dependent: Sequence[int], *more: Any
) -> Number:
    """Squares of the multipliers that carry the forces of the probe at speeds without motor.

    Arguments as for `constrained.motor_forces`, ``more`` included.
    """
    needed: list[Number] = [0.0] * nv
    for k, force in zip(dependent, probe.right, strict=True):
        needed[k] = force
    lam = motor_forces(needed, rows, dependent, *more)[1]
    return dot([x * x for x in lam], probe.weights)


def if_regular(values: Sequence[Number], weak: Number, probe: Probe) -> list[Number]:
    """Values, one of them NaN if the solution of a probe is too large."""
    if isinstance(weak, Scalar):
        weak = weak * by_precision(weak.graph, PROBE_SOLUTION * probe.ease, PROBE_SOLUTION)
    return if_not_negative(values, PROBE_SOLUTION - weak)
