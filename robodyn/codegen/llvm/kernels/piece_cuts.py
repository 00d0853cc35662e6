"""Cuts of large programs, chosen so that repeated parts give equal pieces.

A cut is made where a hash of the operations before it is least. Where these repeat themselves, so
do the cuts.
"""

from __future__ import annotations

from functools import cache

import numpy as np
from numpy.typing import NDArray

from robodyn.symbolic.graph import Program

#: Least size of a piece, as a part of the largest.
LEAST = 0.2

#: Number of operations in a hash.
AROUND = 24

#: Operations farther away than this count as those of another piece.
FAR = 64


@cache
def _small_hashes() -> NDArray[np.uint64]:
    """Hashes of small numbers; made when needed, since numpy.random takes a while to import."""
    return np.random.default_rng(1).integers(1, 2**63, 256, dtype=np.uint64)


def cuts_of(
    program: Program, nodes: list[int], operands: list[tuple[int, ...]], most: int
) -> list[int]:
    """The beginnings of pieces, and the end of the last one.

    nodes: Those that are operations, in order.
    operands: Their operands, which are edges.
    most: Operations of a piece, at most.
    """
    cuts, count, least = [0], len(nodes), int(LEAST * most)
    hashes = _hashes(program, nodes, operands)
    while count - cuts[-1] > most:
        window = hashes[cuts[-1] + least : min(cuts[-1] + most, count - least)]
        cuts.append(cuts[-1] + least + int(window.argmin()))
    return [*cuts, count] if count else cuts


def _hashes(
    program: Program, nodes: list[int], operands: list[tuple[int, ...]]
) -> NDArray[np.uint64]:
    """Of each operation a hash of it and those before it, by what they do and how far back."""
    graph, count = program.graph, len(nodes)
    at = np.full(len(graph.op), -1, np.int64)
    at[nodes] = np.arange(count)
    kinds = np.array(graph.op)[nodes] + 8 * np.array([len(x) for x in operands])
    small = _small_hashes()
    each = small[kinds]
    op = np.array(graph.op)
    for k in range(3):
        edges = np.array([x[k] if len(x) > k else -1 for x in operands])
        far = np.arange(count) - at[edges >> 1]
        # beyond a few operations, and of what is no operation, the distance says nothing
        near = np.where((at[edges >> 1] >= 0) & (far < FAR), far, FAR + op[edges >> 1])
        each = each + small[np.where(edges < 0, 255, FAR + near)]
    total = np.zeros(count, np.uint64)
    for k in range(AROUND):
        total = total * np.uint64(0x9E3779B97F4A7C15)
        total[k:] += each[: count - k] if k else each
    total ^= total >> np.uint64(29)
    return np.asarray(total * np.uint64(0xBF58476D1CE4E5B9))
