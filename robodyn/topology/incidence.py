"""Directed graphs: incidence, path and loop matrices, regular labelling [W 5.2.1, 5.3.1].

Vertices ``0 .. n`` are bodies, 0 the base; arcs are joints, ``1 .. n`` those of a spanning tree,
arcs from ``n + 1`` on close loops. Arc ``a`` points from vertex ``i_plus[a - 1]`` to vertex
``i_minus[a - 1]``; the two sequences say all about the graph. Arc directions are free. Numbers of
vertices and arcs count from 1 as in the book; arrays have the entry of vertex or arc k at index
``k - 1``, unless vertex 0 has a row of its own.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from robodyn.errors import TopologyError

Functions = Sequence[int]
Integers = NDArray[np.int64]


def incidence_matrix(i_plus: Functions, i_minus: Functions) -> Integers:
    """Incidence matrix of n bodies and m arcs, shape (n + 1, m) [W 5.1].

    ``S[i, a - 1]`` is +1 if arc a starts at vertex i, -1 if it ends there, else 0. Row 0 is the
    ``S_0`` of [W 5.2], the others ``S`` of [W 5.3], square for a tree. Columns from n on are those
    of the arcs that close loops, ``S_0*`` and ``S*`` [W 5.3.1].
    """
    n = _bodies(i_plus, i_minus)
    S = np.zeros((n + 1, len(i_plus)), np.int64)
    arcs = np.arange(len(i_plus))
    S[list(i_plus), arcs] += 1
    S[list(i_minus), arcs] -= 1
    return S


def inboard(i_plus: Functions, i_minus: Functions) -> tuple[Integers, Integers]:
    """Inboard arc and inboard vertex of vertices 1 to n: the first steps towards vertex 0.

    Raises TopologyError: The first n arcs are not those of a tree: a vertex that no path leads to
        vertex 0, or two.
    """
    n = _bodies(i_plus, i_minus)
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
            f"arcs 1 to {n} of i+ = {list(i_plus)}, i- = {list(i_minus)} are no tree: no path "
            f"leads from vertices {lost} to vertex 0, so other arcs form a closed chain"
        )
    return arcs, vertices


def path_matrix(i_plus: Functions, i_minus: Functions) -> Integers:
    """Path matrix T, shape (n, n) [W 5.4].

    ``T[a - 1, i - 1]`` is +1 (-1) if arc a is on the path between vertices 0 and i and points
    towards (away from) vertex 0, else 0. It is the inverse of the square incidence matrix. Arcs
    that close loops are left out [W 5.3.1].
    """
    n = _bodies(i_plus, i_minus)
    arcs, vertices = inboard(i_plus, i_minus)
    T = np.zeros((n, n), np.int64)
    for i in range(1, n + 1):
        vertex = i
        while vertex:
            arc = int(arcs[vertex - 1])
            T[arc - 1, i - 1] = 1 if i_plus[arc - 1] == vertex else -1
            vertex = int(vertices[vertex - 1])
    return T


def loop_matrix(i_plus: Functions, i_minus: Functions) -> Integers:
    """Fundamental loops, shape (m - n, m): for each arc that closes a loop, the arcs around it.

    Entry ``[k, a - 1]`` is +1 (-1) if arc a is on the loop that arc ``n + k + 1`` closes, and
    points the same way (the other way) around it, else 0. Its rows span all loops:
    ``incidence_matrix @ loop_matrix.T`` is zero.
    """
    n = _bodies(i_plus, i_minus)
    S, T = incidence_matrix(i_plus, i_minus)[1:], path_matrix(i_plus, i_minus)
    return np.hstack([-(T @ S[:, n:]).T, np.eye(len(i_plus) - n, dtype=np.int64)])


@dataclass(frozen=True)
class Labelling:
    """New numbers of vertices and arcs.

    vertices, arcs: New number of vertex (arc) k at index ``k - 1``.
    i_plus, i_minus: The functions in new numbers; arcs that close loops keep theirs.
    """

    vertices: tuple[int, ...]
    arcs: tuple[int, ...]
    i_plus: tuple[int, ...]
    i_minus: tuple[int, ...]


def regular_labelling(i_plus: Functions, i_minus: Functions) -> Labelling:
    """Number vertices and arcs so that paths from vertex 0 have rising numbers [W p. 89].

    The inboard arc of vertex k becomes arc k, and inboard vertices get lower numbers. Vertices at
    the ends get the highest numbers, are taken away, and so on; S and T become upper triangular.
    Each subsystem, which vertex 0 parts from the others, has a sequence of numbers without gaps
    [W p. 171].
    """
    n, m = _bodies(i_plus, i_minus), len(i_plus)
    arcs, vertices = inboard(i_plus, i_minus)
    new = [0] * (n + 1)
    number = n
    for subsystem in _subsystems(vertices):
        outboard = np.bincount(vertices[[i - 1 for i in subsystem]], minlength=n + 1)
        ends = [i for i in reversed(subsystem) if outboard[i] == 0]
        for end in ends:  # grows while it is walked
            new[end] = number
            number -= 1
            before = int(vertices[end - 1])
            outboard[before] -= 1
            if outboard[before] == 0 and before:
                ends.append(before)
    new_arcs = list(range(1, m + 1))
    for i in range(1, n + 1):
        new_arcs[int(arcs[i - 1]) - 1] = new[i]
    plus, minus = [0] * m, [0] * m
    for old, arc in enumerate(new_arcs):
        plus[arc - 1], minus[arc - 1] = new[i_plus[old]], new[i_minus[old]]
    return Labelling(tuple(new[1:]), tuple(new_arcs), tuple(plus), tuple(minus))


def _subsystems(vertices: Integers) -> list[list[int]]:
    """Vertices of each part that vertex 0 parts from the others, in the order of their hinges."""
    found: dict[int, list[int]] = {}
    for i in range(1, len(vertices) + 1):
        first = i
        while (before := int(vertices[first - 1])) != 0:
            first = before
        found.setdefault(first, []).append(i)
    return [found[first] for first in sorted(found)]


def children(i_plus: Functions, i_minus: Functions) -> list[list[int]]:
    """Vertices whose inboard vertex is vertex 1 to n (table NV of [W p. 137])."""
    _, vertices = inboard(i_plus, i_minus)
    count = len(vertices)
    return [[int(j) + 1 for j in np.flatnonzero(vertices == i)] for i in range(1, count + 1)]


def _bodies(i_plus: Functions, i_minus: Functions) -> int:
    """Number of bodies; refuses what is no graph."""
    m = len(i_plus)
    if len(i_minus) != m:
        raise TopologyError(f"i+ has {m} entries and i- has {len(i_minus)}: one each for an arc")
    for arc, (start, end) in enumerate(zip(i_plus, i_minus, strict=True), 1):
        if min(start, end) < 0:
            raise TopologyError(f"arc {arc} joins {start} and {end}; vertices are 0 and above")
        if start == end:
            raise TopologyError(f"arc {arc} joins vertex {start} to itself")
    n = max((*i_plus, *i_minus), default=0)
    if n > m:
        raise TopologyError(f"{m} arcs cannot connect {n} bodies with each other and the base")
    return n
