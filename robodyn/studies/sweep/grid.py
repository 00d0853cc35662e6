"""The grid of a sweep: the sets of values that a study is called with, in order."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from robodyn.array_types import Array
from robodyn.arrays import shown
from robodyn.errors import ShapeError

#: Name of the dimension if values are given row by row.
ROW = "row"

#: Kinds of numpy arrays that labels may have: bool, numbers, text.
LABELS = "biufU"

#: Names with another meaning in a table, which arguments must not have.
TAKEN = ("error", ROW)


@dataclass(frozen=True, eq=False)
class ArgumentValues:
    """The values of one argument of a study.

    labels (n, ...): Its coordinate in the table.
    objects: Values that the study is called with, one for each label; ``None``: the labels.
    """

    name: str
    labels: Array
    objects: tuple[Any, ...] | None = None

    def __len__(self) -> int:
        return len(self.labels)

    def one(self, k: int) -> Any:
        """The argument of the study for the k-th value."""
        if self.objects is not None:
            return self.objects[k]
        label = self.labels[k]
        return label.copy() if isinstance(label, np.ndarray) else label.item()

    def several(self, k: Array) -> Any:
        """The values at these indices: an array, or a list of objects."""
        return self.labels[k] if self.objects is None else [self.objects[i] for i in k]


@dataclass(frozen=True, eq=False)
class Grid:
    """All rows of a sweep; the last dimension changes fastest.

    product: Whether every value is combined with all others; else the axes run side by side.
    """

    axes: tuple[ArgumentValues, ...]
    product: bool

    @property
    def dims(self) -> tuple[str, ...]:
        """Names of the dimensions."""
        return tuple(axis.name for axis in self.axes) if self.product else (ROW,)

    @property
    def shape(self) -> tuple[int, ...]:
        """Number of values along each dimension."""
        return tuple(len(axis) for axis in (self.axes if self.product else self.axes[:1]))

    def __len__(self) -> int:
        return math.prod(self.shape)

    @property
    def coords(self) -> dict[str, tuple[tuple[str, ...], Array]]:
        """Dimensions and labels of each argument."""
        return {x.name: ((x.name if self.product else ROW,), x.labels) for x in self.axes}

    def arguments(self, row: int) -> dict[str, Any]:
        """Arguments of the study for one row."""
        at = self._indices(np.array([row]))
        return {axis.name: axis.one(int(k[0])) for axis, k in zip(self.axes, at, strict=True)}

    def stacked(self, rows: range) -> dict[str, Any]:
        """Arguments of a batched study for several rows: arrays, or lists of objects."""
        at = self._indices(np.arange(rows.start, rows.stop))
        return {axis.name: axis.several(k) for axis, k in zip(self.axes, at, strict=True)}

    def _indices(self, rows: Array) -> tuple[Array, ...]:
        """Indices of the values of each argument in these rows."""
        if self.product:
            return np.unravel_index(rows, self.shape) if self.axes else ()
        return (rows,) * len(self.axes)


def grid_of(values: Any, product: bool) -> Grid:
    """Make the grid of the argument ``values`` of a sweep.

    product: Of a mapping: every combination, or the first values together, the second ones, ...
    """
    if isinstance(values, Mapping):
        axes = tuple(_axis(name, given) for name, given in values.items())
    else:
        axes, product = _side_by_side(values), False
    if not product:
        lengths = {axis.name: len(axis) for axis in axes}
        if len({*lengths.values()}) != 1:
            shown = ", ".join(f"{name} {n}" for name, n in lengths.items()) or "none at all"
            raise ShapeError(
                f"values that go side by side differ in number: {shown}; product=True combines "
                "each with all others",
                name="values",
                given=lengths,
            )
    return Grid(axes, product)


def _side_by_side(values: Any) -> tuple[ArgumentValues, ...]:
    """Arguments by name, of rows that are given one by one."""
    rows = list(values) if isinstance(values, Iterable) else None
    if not rows or not all(isinstance(row, Mapping) for row in rows):
        raise ShapeError(
            f"values is {shown(values)}, expected a mapping of name to values, or a list of "
            "mappings of name to value, one a row",
            name="values",
            given=values,
        )
    for k, row in enumerate(rows):
        if {*row} != {*rows[0]}:
            raise ShapeError(
                f"row {k} of values gives {', '.join(map(repr, row))}, row 0 gives "
                f"{', '.join(map(repr, rows[0]))}: expected the same names in all rows",
                name="values",
                given=row,
            )
    return tuple(_axis(name, [row[name] for row in rows]) for name in rows[0])


def _axis(name: Any, given: Any) -> ArgumentValues:
    if not isinstance(name, str) or name in TAKEN:
        raise ShapeError(
            f"values has the name {name!r}, expected names of arguments of the study, "
            f"other than {' and '.join(map(repr, TAKEN))}",
            name="values",
            given=name,
        )
    objects = None
    if isinstance(given, Mapping):
        given, objects = list(given), tuple(given.values())
    labels = _labels(name, given)
    if not len(labels):
        raise ShapeError(f"values[{name!r}] is empty", name="values", given=given)
    return ArgumentValues(name, labels, objects)


def _labels(name: str, given: Any) -> Array:
    """Labels as an array that holds the given values unchanged."""
    problem = ""
    if isinstance(given, str | bytes) or not isinstance(given, Iterable | np.ndarray):
        problem = "expected a list or an array of values"
    else:
        items = given if isinstance(given, np.ndarray) else list(given)
        try:
            labels = np.array(items)
        except ValueError:  # of different lengths
            labels = np.array(None)
        if labels.dtype.kind not in LABELS:
            problem = (
                "expected numbers, texts or arrays of one shape; give other things names: "
                "{'light': ..., 'heavy': ...}"
            )
        elif labels.dtype.kind == "f" and np.isnan(labels).any():
            problem = "it holds NaN, which no label equals"
        elif labels.ndim == 0 or not _same(labels, items):
            problem = "expected values of one type: numbers, or texts, or truth values"
    if problem:
        raise ShapeError(f"values[{name!r}] is {shown(given)}: {problem}", name="values")
    labels.flags.writeable = False
    return labels


def _same(labels: Array, items: Sequence[Any] | Array) -> bool:
    """Whether conversion to an array has changed no value."""
    return all(
        label.tolist() == np.asarray(item).tolist()  # as Python compares, without rounding
        and (labels.dtype.kind == "b") == (np.asarray(item).dtype == bool)
        for label, item in zip(labels, items, strict=True)
    )
