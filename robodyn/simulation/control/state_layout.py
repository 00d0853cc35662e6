"""States of controllers as rows of numbers, which machine code carries from sample to sample."""

from __future__ import annotations

import functools
import math
import operator
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from robodyn.array_types import Array, FloatArray
from robodyn.codegen.calls.trace_graph import Untraceable
from robodyn.quick_dataclass import dataclass
from robodyn.symbolic.scalar import Number, Scalar

#: Types that count as one number.
NUMBERS = (Scalar, int, float, np.number, np.bool_)


#: Keys that lead to an array or a number of a state.
Path = tuple[Any, ...]


@dataclass(frozen=True, eq=False)
class StateLayout:
    """The places of all numbers of a state in a row, those of recorded entries first.

    size: How many numbers there are.
    recorded: Places of recorded entries, by their names in the trajectory.
    _places: Place and shape of each array and number of the state.
    """

    size: int
    recorded: Mapping[str, slice]
    _places: Mapping[Path, tuple[slice, tuple[int, ...]]]
    _example: Any

    @property
    def recorded_size(self) -> int:
        """How many numbers are recorded."""
        return max((place.stop for place in self.recorded.values()), default=0)

    @property
    def names(self) -> list[str]:
        """A name for each number of a row: the keys that lead to it, and its index."""
        found = [""] * self.size
        for path, (place, shape) in self._places.items():
            name = ".".join(map(str, path))
            for k, index in enumerate(np.ndindex(shape), place.start):
                found[k] = f"{name}[{','.join(map(str, index))}]" if shape else name
        return found

    def state(self, row: Array) -> Any:
        """The state by its row of numbers or symbols, shape (size,)."""

        def made(node: Any, path: Path) -> Any:
            if path in self._places:
                place, shape = self._places[path]
                found = row[place].reshape(shape).copy()
                return found if shape else found[()]
            if isinstance(node, Mapping):
                return {key: made(x, (*path, key)) for key, x in node.items()}
            return type(node)(made(x, (*path, k)) for k, x in enumerate(node))

        return made(self._example, ())

    def row(self, state: Any) -> FloatArray:
        """A state of numbers as a row, shape (size,); shorter arrays end with zeros."""
        row = np.zeros(self.size)
        for path, (place, shape) in self._places.items():
            value = np.asarray(functools.reduce(operator.getitem, path, state), float)
            value = value[tuple(slice(n) for n in shape)]
            into = row[place].reshape(shape)
            into[tuple(slice(n) for n in value.shape)] = value
        return row

    def symbols(self, state: Any) -> list[Number]:
        """The row of a state of symbols.

        Raises Untraceable: If the state has another structure than the layout.
        """
        row, found = np.zeros(self.size, object), dict(_arrays(state, ()))
        if {path: x.shape for path, x in found.items()} != {
            path: shape for path, (_, shape) in self._places.items()
        }:
            raise Untraceable
        for path, x in found.items():
            row[self._places[path][0]] = x.ravel()
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
    shapes = {path: x.shape for path, x in _arrays(state, ())}
    order = [path for _, path in recorded]
    if any(len(shapes.get(path, (1, 1))) > 1 for path in order):
        raise Untraceable
    first, places = 0, dict[Path, tuple[slice, tuple[int, ...]]]()
    for path in dict.fromkeys((*order, *shapes)):
        shape = shapes[path]
        places[path] = slice(first, first + math.prod(shape)), shape
        first += math.prod(shape)
    names = {name: places[path][0] for name, path in recorded}
    return StateLayout(first, names, places, state)


def _arrays(x: Any, path: Path) -> Iterator[tuple[Path, Array]]:
    """Each array of a state, by its path."""
    if isinstance(x, Mapping):
        for key in x:
            yield from _arrays(x[key], (*path, key))
    elif type(x) in (list, tuple):
        for k, part in enumerate(x):
            yield from _arrays(part, (*path, k))
    else:
        yield path, _array(x)


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
