"""Sums of matrices times signals, of which linear models are made."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

import numpy as np

from robodyn.array_types import Array, FloatArray


class Sum:
    """A sum of terms, a matrix times a signal each; signals have names.

    terms: The matrix of each signal.
    """

    def __init__(self, terms: Mapping[str, FloatArray]) -> None:
        self.terms = dict(terms)

    @staticmethod
    def of(name: str, size: int) -> Sum:
        """The signal itself."""
        return Sum({name: np.eye(size)})

    def __add__(self, other: Sum) -> Sum:
        found = dict(self.terms)
        for name, matrix in other.terms.items():
            found[name] = found[name] + matrix if name in found else matrix
        return Sum(found)

    def times(self, matrix: Array) -> Sum:
        """A matrix times the sum."""
        return Sum({name: matrix @ x for name, x in self.terms.items()})

    def rows(self, chosen: Sequence[int]) -> Sum:
        """Some of its numbers."""
        return Sum({name: x[list(chosen)] for name, x in self.terms.items()})

    def spread(self, places: Sequence[int], size: int) -> Sum:
        """Its numbers at some places among so many, and zeros elsewhere."""
        return self.times(np.eye(size)[:, list(places)])

    def on(self, sizes: Mapping[str, int], rows: int) -> FloatArray:
        """The matrix on all of these signals, one beside the other, shape (rows, sum of sizes)."""
        none = {name: np.zeros((rows, size)) for name, size in sizes.items()}
        return np.hstack([np.zeros((rows, 0)), *(self.terms.get(x, none[x]) for x in sizes)])


def stacked(sums: Iterable[tuple[Sum, int]], sizes: Mapping[str, int]) -> FloatArray:
    """Matrices of several sums on the same signals, one above the other, with their rows."""
    width = sum(sizes.values())
    return np.vstack([np.zeros((0, width)), *(x.on(sizes, rows) for x, rows in sums)])
