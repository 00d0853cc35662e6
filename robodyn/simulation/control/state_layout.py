"""States of controllers as rows of numbers, which machine code carries from sample to sample."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from robodyn.array_types import Array, FloatArray
from robodyn.codegen.calls.trace_graph import Untraceable
from robodyn.symbolic.scalar import Number, Scalar

__all__ = ["StateLayout", "has_numbers", "layout_of"]

#: Types that count as one number.
NUMBERS = (Scalar, int, float, np.number, np.bool_)


@dataclass(frozen=True)
class _Entry:
    """Place in a row, and shape, of an array or a number of a state."""

    first: int
    shape: tuple[int, ...]

    @property
    def place(self) -> slice:
        return slice(self.first, self.first + int(np.prod(self.shape)))


@dataclass(frozen=True, eq=False)
class StateLayout:
    """The places of all numbers of a state in a row, those of recorded entries first.

    size: How many numbers there are.
    recorded: Places of recorded entries, by their names in the trajectory.
    """

    size: int
    recorded: Mapping[str, slice]
    _structure: Any

    @property
    def recorded_size(self) -> int:
        """How many numbers are recorded."""
        return max((place.stop for place in self.recorded.values()), default=0)

    def state(self, row: Array) -> Any:
        """The state by its row of numbers or symbols, shape (size,)."""

        def made(node: Any) -> Any:
            if isinstance(node, _Entry):
                found = row[node.place].reshape(node.shape).copy()
                return found if node.shape else found[()]
            if isinstance(node, dict):
                return {key: made(x) for key, x in node.items()}
            return type(node)(map(made, node))

        return made(self._structure)

    def row(self, state: Any) -> FloatArray:
        """A state of numbers as a row, shape (size,); shorter arrays end with zeros."""
        row = np.zeros(self.size)

        def fill(node: Any, x: Any) -> None:
            if isinstance(node, _Entry):
                value = np.asarray(x, float)
                value = value[tuple(slice(n) for n in node.shape)]
                into = row[node.place].reshape(node.shape)
                into[tuple(slice(n) for n in value.shape)] = value
            elif isinstance(node, dict):
                for key in node:
                    fill(node[key], x[key])
            else:
                for part, own in zip(node, x, strict=True):
                    fill(part, own)

        fill(self._structure, state)
        return row

    def symbols(self, state: Any) -> list[Number]:
        """The row of a state of symbols.

        Raises Untraceable: If the state has another structure than the layout.
        """
        row = np.zeros(self.size, object)

        def fill(node: Any, x: Any) -> None:
            if isinstance(node, _Entry):
                own = _array(x)
                if own.shape != node.shape:
                    raise Untraceable
                row[node.place] = own.ravel()
                return
            same = isinstance(x, Mapping) if isinstance(node, dict) else type(x) is type(node)
            if not same or len(x) != len(node):
                raise Untraceable
            for key in node if isinstance(node, dict) else range(len(node)):
                if isinstance(node, dict) and key not in x:
                    raise Untraceable
                fill(node[key], x[key])

        fill(self._structure, state)
        return list(row)


def has_numbers(state: Any) -> bool:
    """Whether a state contains anything but empty mappings, lists and tuples."""
    if isinstance(state, Mapping):
        return any(map(has_numbers, state.values()))
    return any(map(has_numbers, state)) if type(state) in (list, tuple) else True


def layout_of(state: Any, recorded: Sequence[tuple[str, tuple[str, ...]]]) -> StateLayout:
    """The layout of a state of symbols.

    recorded: Name and path within the state of each recorded entry.
    Raises Untraceable: If the state contains something else than numbers, or a recorded entry is
        not an array.
    """
    shapes = dict(_shapes(state, ()))
    order = [path for _, path in recorded]
    if any(len(shapes.get(path, (1, 1))) > 1 for path in order):
        raise Untraceable
    order += [path for path in shapes if path not in order]
    first, places = 0, {}
    for path in order:
        places[path] = _Entry(first, shapes[path])
        first = places[path].place.stop
    names = {name: places[path].place for name, path in recorded}
    return StateLayout(first, names, _structure(state, (), places))


def _shapes(x: Any, path: tuple[Any, ...]) -> Iterator[tuple[tuple[Any, ...], tuple[int, ...]]]:
    """The shape of each array of a state, by its path."""
    if isinstance(x, Mapping):
        for key in x:
            yield from _shapes(x[key], (*path, key))
    elif type(x) in (list, tuple):
        for k, part in enumerate(x):
            yield from _shapes(part, (*path, k))
    else:
        yield path, _array(x).shape


def _structure(x: Any, path: tuple[Any, ...], places: Mapping[tuple[Any, ...], _Entry]) -> Any:
    """The state with the place of each array instead of it."""
    if isinstance(x, Mapping):
        return {key: _structure(x[key], (*path, key), places) for key in x}
    if type(x) in (list, tuple):
        return type(x)(_structure(part, (*path, k), places) for k, part in enumerate(x))
    return places[path]


def _array(x: Any) -> Array:
    """An array of symbols and numbers, or one of them, as an array of objects.

    Raises Untraceable: If it is anything else.
    """
    if not isinstance(x, (np.ndarray, *NUMBERS)):
        raise Untraceable
    found = np.array(x, object)
    if not all(isinstance(part, NUMBERS) for part in found.flat):
        raise Untraceable
    return found
