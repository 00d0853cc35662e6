"""Systems of a few linear equations, solved by minors: without branches, whatever the pivots."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from robodyn.quick_dataclass import dataclass
from robodyn.symbolic.scalar import Number, Scalar, by_precision, inverse_above
from robodyn.tolerances import DEAD_POINT


@dataclass(frozen=True, eq=False)
class Column:
    """A column of numbers, which adds and is scaled as vectors are."""

    numbers: tuple[Number, ...]

    def __add__(self, other: Column) -> Column:
        return Column(tuple(x + y for x, y in zip(self.numbers, other.numbers, strict=True)))

    def __mul__(self, factor: Number) -> Column:
        return Column(tuple(x * factor for x in self.numbers))


def solver_of(
    columns: Sequence[Column], others: Sequence[Column] | None = None
) -> Callable[[Column], tuple[Number, ...]]:
    """``-[columns]^-1`` as a function.

    With other columns its results are not numbers where the determinant is next to nothing beside
    the lengths of the whole rows.
    """
    count = len(columns)
    rows = [[column.numbers[k] for column in columns] for k in range(count)]
    determinant = _determinant(rows)
    inverse = 1.0 / determinant
    if others is not None and isinstance(determinant, Scalar):
        inverse = _guarded(determinant, rows, [x.numbers for x in others])
    minors = [
        [_signed(i + j, _determinant(_without(rows, i, j))) for i in range(count)]
        for j in range(count)
    ]

    def solve(h: Column) -> tuple[Number, ...]:
        found = []
        for minor in minors:
            total: Number = 0.0
            for x, y in zip(minor, h.numbers, strict=True):
                total = total - x * y
            found.append(total * inverse)
        return tuple(found)

    return solve


def _guarded(
    determinant: Scalar, rows: Sequence[Sequence[Number]], others: Sequence[Sequence[Number]]
) -> Number:
    least: Number = by_precision(determinant.graph, *(x**2 for x in DEAD_POINT))
    for k, row in enumerate(rows):
        total: Number = 0.0
        for x in (*row, *(column[k] for column in others)):
            total = total + x * x
        least = least * total
    return determinant * inverse_above(determinant * determinant, least)


def _determinant(rows: Sequence[Sequence[Number]]) -> Number:
    if not rows:
        return 1.0
    total: Number = 0.0
    for j, x in enumerate(rows[0]):
        total = total + _signed(j, x * _determinant(_without(rows, 0, j)))
    return total


def _without(rows: Sequence[Sequence[Number]], i: int, j: int) -> list[list[Number]]:
    """A matrix without a row and a column."""
    return [[*row[:j], *row[j + 1 :]] for k, row in enumerate(rows) if k != i]


def _signed(power: int, x: Number) -> Number:
    return -x if power % 2 else x
