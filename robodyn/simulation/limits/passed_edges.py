"""Which columns of samples leave their ranges, and where first."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from robodyn.array_types import FloatArray
from robodyn.codegen.llvm.programs.sample_passes import extremes_beyond


class PassedEdges(NamedTuple):
    """Where columns leave their ranges: at the k lower edges, and then at the k upper edges.

    rows: The first row beyond each edge; -1 where there is none.
    peaks: The smallest and then the largest numbers of the columns.
    """

    rows: list[int]
    peaks: list[float]


def passed_edges(x: FloatArray, edges: FloatArray) -> PassedEdges | None:
    """Where columns leave their ranges; ``None`` if they do not. NaNs are ignored.

    x (n, k): In C order.
    edges (2, k): Below and above; infinite where there is none.
    """
    peaks = extremes_beyond(x, edges)
    if peaks is None:
        return None
    rows = [-1] * edges.size
    for k in np.flatnonzero([peaks[0] < edges[0], peaks[1] > edges[1]]).tolist():
        upper, column = divmod(k, x.shape[1])
        values, edge = x[:, column], edges[upper, column]
        rows[k] = int((values > edge if upper else values < edge).argmax())
    return PassedEdges(rows, peaks.ravel().tolist())
