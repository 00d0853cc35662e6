"""Speeds with a pivot that may vanish: of massless links, and of joints that users map.

In the elimination ``M = L^T D L`` the pivot of a speed is at least what the body that it moves has
of its own, whatever the posture. Where that is nothing, or little, the pivot may vanish.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any

import numpy as np

from robodyn.array_types import Array, FloatArray
from robodyn.equations.mechanism.bodies import BASE, Body, MechanismModel
from robodyn.joints.common.evaluate import evaluate
from robodyn.tolerances import OWN_INERTIA, SMALLEST_FULL_PRECISION

#: A pivot between two hinges is a trigonometric polynomial of second degree of the angle between:
#: so many values determine it, and so many show its least to this part of the largest.
VALUES, FINE, FOUND = 8, 4096, 1e-5


def light_speeds(
    model: MechanismModel, diagonal: FloatArray, near: FloatArray
) -> tuple[dict[int, float], FloatArray]:
    """Speeds of which the pivot may vanish, each with its element of the diagonal.

    diagonal (nv,): Of the mass matrix in a posture without symmetry.
    near (nv,): What is compared with what a speed moves of its own: the diagonal, or, of long
        chains, what is near to the joint. All else moves by joints of its own before it makes a
        pivot larger.
    Returns light
    Returns own (nv,): What speeds move of their own.
    """
    own = np.zeros(model.nv)
    least = [max(OWN_INERTIA * x, SMALLEST_FULL_PRECISION) for x in map(float, near)]
    alone = moving_last(model)
    for body in model:
        if body.index in alone and body.description.map is None:
            for k, pivot in own_pivots(model, body):
                own[k] += pivot
    alone_own = own.copy()
    for one, other in _pairs(model):
        k = one.speeds[0].index
        if one.index in alone and not own[k] > least[k]:
            own[k] += _of_pair(one, other)
    light = {k: float(x) for k, x in enumerate(diagonal) if not own[k] > least[k]}
    return light, alone_own


def rows_in_doubt(model: MechanismModel, diagonal: FloatArray) -> Array:
    """Which of several robots may have other light speeds than a model knows, shape (robots,).

    Those that are not among them have pivots that are large enough without a closer look.

    model: With arrays of shape (robots,) for numbers that differ; its light speeds are of one
        robot.
    diagonal (robots, nv): Of the mass matrices in a posture without symmetry.
    """
    own, alone = np.zeros(diagonal.shape), moving_last(model)
    for body in model:
        if body.index in alone and body.description.map is None:
            for speed, pivot in zip(body.speeds, _pivots_of_rows(model, body).T, strict=True):
                own[:, speed.index] += speed.factor**2 * pivot
    least = np.maximum(OWN_INERTIA * diagonal, SMALLEST_FULL_PRECISION)
    heavy = [k for k in range(model.nv) if k not in model.light]
    return np.asarray(~(own > least)[:, heavy].all(axis=1))


def _pivots_of_rows(model: MechanismModel, body: Body) -> FloatArray:
    """Pivots of the body alone in each robot, the last freedom eliminated first."""
    some = [0.3 + 0.1 * k for k in range(len(body.q))]
    S = evaluate(body.joint, some, [0.0] * len(body.speeds)).S
    momenta = [body.inertia.momentum(s) for s in S]
    felt = _armature_alone(model, body)
    G: Any = [S[j].dot(F) + felt * (j == k) for j in range(len(S)) for k, F in enumerate(momenta)]
    if len(S) == 1:
        M = np.atleast_1d(np.asarray(G[0], float))
        return np.where(M > 0.0, M, 0.0)[:, None]
    *elements, _ = np.broadcast_arrays(*G, np.zeros(1))
    M = np.array(elements).T.reshape(-1, len(S), len(S)).astype(float)
    before = np.diagonal(M, axis1=1, axis2=2).copy()
    pivots = np.zeros(before.shape)
    fine = np.ones(len(M), bool)
    for k in range(len(S) - 1, -1, -1):
        fine &= M[:, k, k] > OWN_INERTIA * before[:, k]
        pivot = np.where(fine, M[:, k, k], 1.0)
        pivots[:, k] = np.where(fine, pivot, 0.0)
        M = M - M[:, :, k, None] * M[:, None, k, :] / pivot[:, None, None]
    return pivots


def moving_last(model: MechanismModel) -> set[int]:
    """Bodies whose carriers rest when their own speeds are eliminated: joints may share speeds."""
    alone, last = set(), {BASE: -1}
    for body in model:
        own = [x.index for x in body.speeds]
        if own and last[body.parent] < min(own):
            alone.add(body.index)
        last[body.index] = max([last[body.parent], *own])
    return alone


def own_pivots(model: MechanismModel, body: Body) -> Iterator[tuple[int, float]]:
    """Speeds of a body with their own pivots; zero where these vanish."""
    for speed, pivot in zip(body.speeds, _pivots_of_rows(model, body)[0].tolist(), strict=True):
        yield speed.index, speed.factor**2 * pivot


def _armature_alone(model: MechanismModel, body: Body) -> Any:
    """Armature of a joint that is there whatever other joints do; none of shared rotors."""
    if any(body.index in (x.first, x.second) for x in model.coupling_inertias):
        return 0.0
    return sum(x.inertia for x in model.armature if x.body == body.index)


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
