"""A program as a part of other equations."""

from __future__ import annotations

from collections.abc import Sequence

from robodyn.symbolic.evaluate import results_of
from robodyn.symbolic.graph import Program
from robodyn.symbolic.scalar import OPERATIONS, Number, Scalar, constant_in


def inline(program: Program, numbers: Sequence[Number]) -> list[Number]:
    """Results of a program whose scalar inputs are given numbers, known or symbolic."""
    into = next((x.graph for x in numbers if isinstance(x, Scalar)), None)
    return results_of(program, numbers, lambda x: constant_in(into, x), OPERATIONS)
