"""Trees as directed graphs: incidence and path matrices, regular labelling [W 5.2.1].

Vertices ``0 .. n`` are bodies, 0 the base; arcs ``1 .. n`` are joints. Arc ``a`` points from
vertex ``i_plus[a - 1]`` to vertex ``i_minus[a - 1]``; the two sequences of length n say all about
the graph. Arc directions are free. Numbers of vertices and arcs count from 1 as in the book; arrays
have the entry of vertex or arc k at index ``k - 1``, unless vertex 0 has a row of its own.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from robodyn.errors import TopologyError

__all__ = [
    "Labelling",
    "children",
    "inboard",
    "incidence_matrix",
    "path",
    "path_matrix",
    "regular_labelling",
    "subtrees",
    "towards",
]

Functions = Sequence[int]
Integers = NDArray[np.int64]


def incidence_matrix(i_plus: Functions, i_minus: Functions) -> Integers:
    """Incidence matrix, shape (n + 1, n) [W 5.1].

    ``S[i, a - 1]`` is +1 if arc a starts at vertex i, -1 if it ends there, else 0. Row 0 is the
    ``S_0`` of [W 5.2], the others the square ``S`` of [W 5.3].
    """
    n = len(i_plus)
    S = np.zeros((n + 1, n), np.int64)
    arcs = np.arange(n)
    _check_vertices(i_plus, i_minus)
    S[list(i_plus), arcs] += 1
    S[list(i_minus), arcs] -= 1
    return S


def inboard(i_plus: Functions, i_minus: Functions) -> tuple[Integers, Integers]:
    """Inboard arc and inboard vertex of vertices 1 to n: the first steps towards vertex 0.

    Raises
    ------
    TopologyError
        The functions are not those of a tree: a vertex that no path leads to vertex 0, or two.
    """
    n = len(i_plus)
    _check_vertices(i_plus, i_minus)
    at: list[list[int]] = [[] for _ in range(n + 1)]
    for arc in range(1, n + 1):
        at[i_plus[arc - 1]].append(arc)
        at[i_minus[arc - 1]].append(arc)
    arcs, vertices = np.zeros(n, np.int64), np.zeros(n, np.int64)
    reached = {0}
    front = [0]
    for vertex in front:  # grows while it is walked
        for arc in at[vertex]:
            other = i_plus[arc - 1] + i_minus[arc - 1] - vertex
            if other not in reached:
                reached.add(other)
                front.append(other)
                arcs[other - 1], vertices[other - 1] = arc, vertex
    lost = sorted(set(range(n + 1)) - reached)
    if lost:  # n arcs on n + 1 vertices: either all are reached, or some arcs close a loop
        raise TopologyError(
            f"i+ = {list(i_plus)}, i- = {list(i_minus)} are not the functions of a tree: no path "
            f"leads from vertices {lost} to vertex 0, so other arcs form a closed chain"
        )
    return arcs, vertices


def path_matrix(i_plus: Functions, i_minus: Functions) -> Integers:
    """Path matrix T, shape (n, n) [W 5.4].

    ``T[a - 1, i - 1]`` is +1 (-1) if arc a is on the path between vertices 0 and i and points
    towards (away from) vertex 0, else 0. It is the inverse of the square incidence matrix.
    """
    n = len(i_plus)
    arcs, vertices = inboard(i_plus, i_minus)
    T = np.zeros((n, n), np.int64)
    for i in range(1, n + 1):
        vertex = i
        while vertex:
            arc = int(arcs[vertex - 1])
            T[arc - 1, i - 1] = 1 if i_plus[arc - 1] == vertex else -1
            vertex = int(vertices[vertex - 1])
    return T


def path(i_plus: Functions, i_minus: Functions, start: int, end: int) -> list[int]:
    """Arcs on the path from one vertex to another, in the order met."""
    arcs, vertices = inboard(i_plus, i_minus)

    def to_base(vertex: int) -> list[int]:
        steps = []
        while vertex:
            steps.append(int(arcs[vertex - 1]))
            vertex = int(vertices[vertex - 1])
        return steps

    up, down = to_base(start), to_base(end)
    while up and down and up[-1] == down[-1]:  # what both share is not on the path
        up.pop()
        down.pop()
    return up + down[::-1]


@dataclass(frozen=True)
class Labelling:
    """New numbers of vertices and arcs.

    Attributes
    ----------
    vertices, arcs : tuple of int
        New number of vertex (arc) k at index ``k - 1``.
    i_plus, i_minus : tuple of int
        The functions in new numbers.
    """

    vertices: tuple[int, ...]
    arcs: tuple[int, ...]
    i_plus: tuple[int, ...]
    i_minus: tuple[int, ...]


def regular_labelling(i_plus: Functions, i_minus: Functions) -> Labelling:
    """Number vertices and arcs so that paths from vertex 0 have rising numbers [W p. 89].

    The inboard arc of vertex k becomes arc k, and inboard vertices get lower numbers. Vertices at
    the ends get the highest numbers, are taken away, and so on; S and T become upper triangular.
    """
    n = len(i_plus)
    arcs, vertices = inboard(i_plus, i_minus)
    outboard = np.bincount(vertices, minlength=n + 1)
    ends = [i for i in range(n, 0, -1) if outboard[i] == 0]
    new = [0] * (n + 1)
    number = n
    for end in ends:  # grows while it is walked
        new[end] = number
        number -= 1
        before = int(vertices[end - 1])
        outboard[before] -= 1
        if outboard[before] == 0 and before:
            ends.append(before)
    new_arcs = [0] * n
    plus, minus = [0] * n, [0] * n
    for i in range(1, n + 1):
        arc = int(arcs[i - 1])
        new_arcs[arc - 1] = new[i]
        plus[new[i] - 1] = new[i_plus[arc - 1]]
        minus[new[i] - 1] = new[i_minus[arc - 1]]
    return Labelling(tuple(new[1:]), tuple(new_arcs), tuple(plus), tuple(minus))


def subtrees(i_plus: Functions, i_minus: Functions) -> list[list[int]]:
    """Vertices of the subtree of each vertex 1 to n, itself included (table NT of [W p. 137])."""
    T = path_matrix(i_plus, i_minus)
    arcs, _ = inboard(i_plus, i_minus)
    return [[int(j) + 1 for j in np.flatnonzero(T[arc - 1])] for arc in arcs]


def children(i_plus: Functions, i_minus: Functions) -> list[list[int]]:
    """Vertices whose inboard vertex is vertex 1 to n (table NV of [W p. 137])."""
    _, vertices = inboard(i_plus, i_minus)
    return [[int(j) + 1 for j in np.flatnonzero(vertices == i)] for i in range(1, len(i_plus) + 1)]


def towards(i_plus: Functions, i_minus: Functions) -> Integers:
    """Next vertex on the way outwards, shape (n, n).

    Entry ``[i - 1, j - 1]`` is the child of vertex i on the path to j, i itself if ``j == i``, and
    0 if j is not outboard of i. The vectors from a body's inboard joint to its other joints and its
    centre of mass depend on i and this number only: 2 n - 1 are distinct (table NR of [W p. 138]).
    """
    n = len(i_plus)
    _, vertices = inboard(i_plus, i_minus)
    table = np.diag(np.arange(1, n + 1))
    for j in range(1, n + 1):
        child = j
        while (i := int(vertices[child - 1])) > 0:
            table[i - 1, j - 1] = child
            child = i
    return table


def _check_vertices(i_plus: Functions, i_minus: Functions) -> None:
    n = len(i_plus)
    if len(i_minus) != n:
        raise TopologyError(f"i+ has {n} entries and i- has {len(i_minus)}: one each for an arc")
    for arc, (start, end) in enumerate(zip(i_plus, i_minus, strict=True), 1):
        if not (0 <= start <= n and 0 <= end <= n):
            raise TopologyError(f"arc {arc} joins {start} and {end}; vertices are 0 to {n}")
        if start == end:
            raise TopologyError(f"arc {arc} joins vertex {start} to itself")
