"""The Riccati recursion: the optimal change of forces along a motion, backwards from its end.

Along a motion a change ``z = (x, u)`` of state and forces leads to ``x' = F z`` and costs
``l + l_z z + 1/2 z^T L z``. With the cost to go ``s x + 1/2 x^T S x`` after the step, what follows
costs::

    g = l_z + F^T s        H = L + F^T S F

and is least for ``u = k + K x`` with ``H_uu k = -g_u``, ``H_uu K = -H_ux``; before the step the
cost to go is that of this ``u``. Where forces have limits ``k`` is the best one within them, and
forces that stand at a limit do not move with the state [Tassa, Mansard and Todorov 2014].
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from robodyn.array_types import FloatArray
from robodyn.codegen.llvm.programs.riccati import recursion, workspace_size

from .quadratic_cost import Expansion


@dataclass(frozen=True, eq=False)
class Forces:
    """Changes of the forces of a motion.

    Attributes
    ----------
    change : ndarray, shape (n, m)
        Where the state stays.
    gains : ndarray, shape (n, m, 2 nv)
        By changes of the state.
    gain : (float, float)
        What the cost changes by, of the first and second order, for the whole change.
    cost_to_go : ndarray, shape (2 nv, 2 nv)
        Of a change of the state at the start.
    """

    change: FloatArray
    gains: FloatArray
    gain: tuple[float, float]
    cost_to_go: FloatArray


def best_forces(
    F: FloatArray,
    running: Expansion,
    final: Expansion,
    lower: FloatArray,
    upper: FloatArray,
    damping: float = 0.0,
) -> Forces | None:
    """The best change of forces; none where the cost is not convex in them.

    Parameters
    ----------
    F : ndarray, shape (n, 2 nv, 2 nv + m)
        Derivatives of steps by state and forces.
    running : Expansion
        Of n steps.
    final : Expansion
        Of the one state at the end.
    lower, upper : ndarray, shape (n, m)
        How far forces may change.
    damping : float
        Added to the curvature of the cost to go, which keeps states near where they were.
    """
    n, size, width = F.shape
    m = width - size
    s, S = final.slope[0].copy(), final.curvature[0].copy()
    change, gains, gain = np.zeros((n, m)), np.zeros((n, m, size)), np.zeros(2)
    convex, workspace = np.zeros(1, np.int64), np.empty(workspace_size(size, m))
    given = [
        np.ascontiguousarray(x, float) for x in (F, running.slope, running.curvature, lower, upper)
    ]
    arrays = [*given, s, S, change, gains, gain, convex, workspace]
    words = np.array([n, size, m, *(x.ctypes.data for x in arrays)], np.int64)
    recursion()(words.ctypes.data, damping)
    return Forces(change, gains, (float(gain[0]), float(gain[1])), S) if convex[0] else None
