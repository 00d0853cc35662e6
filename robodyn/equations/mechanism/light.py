"""Speeds with a pivot that may vanish: of massless links, and of joints that users map.

In the elimination ``M = L^T D L`` the pivot of a speed is at least what the body that it moves has
of its own, whatever the posture. Where that is nothing, or little, the pivot may vanish.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any

import numpy as np

from robodyn.array_types import FloatArray
from robodyn.equations.mechanism.bodies import Body, MechanismModel
from robodyn.joints.common.evaluate import evaluate
from robodyn.tolerances import OWN_INERTIA, SMALLEST_FULL_PRECISION

__all__ = ["light_speeds"]

#: A pivot between two hinges is a trigonometric polynomial of second degree of the angle between:
#: so many values determine it, and so many show its least to this part of the largest.
VALUES, FINE, FOUND = 8, 4096, 1e-5


def light_speeds(model: MechanismModel, M: FloatArray) -> dict[int, float]:
    """Speeds of which the pivot may vanish, each with its element of ``M``.

    Parameters
    ----------
    model : MechanismModel
    M : ndarray, shape (nv, nv)
        Mass matrix in a posture without symmetry.
    """
    own = [0.0] * model.nv
    alone = {body.index for body in model if _moves_last(model, body)}
    for body in model:
        if body.index in alone and body.description.map is None:
            for speed, pivot in zip(body.speeds, _own_pivots(model, body), strict=True):
                own[speed.index] += speed.factor**2 * pivot
    for one, other in _pairs(model):
        if one.index in alone:
            own[one.speeds[0].index] += _of_pair(one, other)
    typical = [float(M[k, k]) for k in range(model.nv)]
    least = [max(OWN_INERTIA * x, SMALLEST_FULL_PRECISION) for x in typical]
    return {k: x for k, x in enumerate(typical) if not own[k] > least[k]}


def _moves_last(model: MechanismModel, body: Body) -> bool:
    """What carries the body rests when its own speeds are eliminated: joints may share speeds."""
    before = [x.index for i in model.path(body.index)[:-1] for x in model.bodies[i].speeds]
    return bool(body.speeds) and max(before, default=-1) < min(x.index for x in body.speeds)


def _own_pivots(model: MechanismModel, body: Body) -> list[float]:
    """Pivots of the body alone, the last freedom eliminated first; zero where they vanish."""
    some = [0.3 + 0.1 * k for k in range(len(body.q))]
    S = evaluate(body.joint, some, [0.0] * len(body.speeds)).S
    momenta = [body.inertia.momentum(s) for s in S]
    G: Any = [[s.dot(F) for F in momenta] for s in S]
    for k in range(len(S)):
        G[k][k] += sum(x.inertia for x in model.armature if x.body == body.index)
    before, pivots = [float(G[k][k]) for k in range(len(S))], [0.0] * len(S)
    for k in range(len(S) - 1, -1, -1):
        pivot = float(G[k][k])
        if not pivot > OWN_INERTIA * before[k]:
            break  # those before it may be made of what is not there
        pivots[k] = pivot
        for i in range(k):
            for j in range(k):
                G[i][j] = G[i][j] - G[i][k] * G[k][j] / pivot
    return pivots


def _pairs(model: MechanismModel) -> Iterator[tuple[Body, Body]]:
    """Massless links between two hinges, with what hangs on them."""
    children: dict[int, list[Body]] = {}
    for body in model:
        children.setdefault(body.parent, []).append(body)
    hinges = {
        body.index for body in model
        if body.joint.kind.is_pin and [x.factor for x in body.speeds] == [1.0]
    }  # fmt: skip
    for body in model:
        beyond = children.get(body.index, [])
        if body.index in hinges and len(beyond) == 1 and beyond[0].index in hinges:
            yield body, beyond[0]


def _of_pair(one: Body, other: Body) -> float:
    """Least pivot of the inner of two hinges that move the outer one's body alone."""
    values = []
    for k in range(VALUES):
        outer = evaluate(other.joint, [2.0 * math.pi * k / VALUES], [0.0])
        s = outer.X.twist_in(evaluate(one.joint, [0.0], [0.0]).S[0])
        F, G = (other.inertia.momentum(x) for x in (s, outer.S[0]))
        known: Any = (s.dot(F), s.dot(G), outer.S[0].dot(G))
        before, across, after = map(float, known)
        if not after > 0.0:
            return 0.0
        values.append(before - across * across / after)
    pivots = np.fft.irfft(np.fft.rfft(values), FINE) * (FINE / VALUES)
    least, largest = float(pivots.min()), float(np.abs(pivots).max())
    return 0.5 * least if least > FOUND * largest else 0.0
