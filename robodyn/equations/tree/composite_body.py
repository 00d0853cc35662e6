"""Mass matrix by composite rigid bodies, and its factorisation ``M = L^T D L``.

The factorisation keeps the zeros of the tree.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from robodyn.equations.mechanism.bodies import BASE
from robodyn.equations.mechanism.state import State
from robodyn.symbolic.scalar import Number, Scalar, by_precision, inverse_above, is_zero
from robodyn.symbolic.spatial import Twist, Wrench
from robodyn.tolerances import PIVOT_DIGITS, PIVOT_ZERO, SMALLEST_FULL_PRECISION

Matrix = list[list[Number]]

#: Columns of motion subspaces by body, each with its row of the matrix.
Columns = dict[int, list[tuple[int, Twist]]]


def mass_matrix(state: State) -> Matrix:
    """``M`` (nv, nv), symmetric [Featherstone, table 6.2].

    The momentum of everything beyond a joint, for a unit speed of that joint, is projected on the
    joints on its way to the base. Freedoms that follow others by closed loops have rows of their
    own first, which are then put on the independent ones: ``B^T M B``.
    """
    columns, ratios = _columns(state)
    M = _of_tree(state, columns, state.model.nv + len(ratios))
    return _reduced(M, ratios) if ratios else M


def mass_diagonal(state: State, reach: int | None = None) -> list[Number]:
    """Diagonal of the mass matrix, in time proportional to the number of bodies.

    reach, optional: Count bodies only up to so many joints beyond the one that moves them; of
        mechanisms whose bodies are coupled to their neighbours only (`MechanismModel.chained`).
    """
    model = state.model
    if not model.chained:
        return [row[k] for k, row in enumerate(mass_matrix(state))]
    diagonal: list[Number] = [0.0] * model.nv
    for armature in model.lumped_armature:
        for k, _, x in state[armature.body].ratios:
            diagonal[k] += x * x * armature.inertia
    # of each body the inertia of those so many joints beyond it; of all, if there is no reach
    inertia = {body.index: [body.lumped] for body in model}
    for body in reversed(model):
        joint, own = state[body.index], inertia[body.index]
        for k, s in joint.columns:
            for one in own:
                diagonal[k] += s.dot(one.momentum(s))
        if body.parent != BASE:
            beyond = inertia[body.parent]
            for depth, one in enumerate(own[:reach], start=0 if reach is None else 1):
                outwards = one.in_parent(joint.X)
                if depth < len(beyond):
                    beyond[depth] += outwards
                else:
                    beyond.append(outwards)
    return diagonal


def _columns(state: State) -> tuple[Columns, list[dict[int, Number]]]:
    """Columns of all joints; for each row beyond ``nv``, its speed a unit of the others."""
    columns: Columns = {}
    ratios: list[dict[int, Number]] = []
    for body in state.model:
        joint = state[body.index]
        if body.index not in state.dependent:
            columns[body.index] = list(joint.columns)
            continue
        columns[body.index] = [
            (state.model.nv + len(ratios) + n, s) for n, s in enumerate(joint.own)
        ]
        ratios += [{k: x for k, m, x in joint.ratios if m == n} for n in range(len(joint.own))]
    return columns, ratios


def _of_tree(state: State, columns: Columns, size: int) -> Matrix:
    """Over all columns."""
    model = state.model
    inertia = {body.index: body.lumped for body in model}
    M: Matrix = [[0.0] * size for _ in range(size)]
    for armature in model.lumped_armature:
        driven = _driven(state, columns, armature.body)
        for k, freedom, x in driven:
            for j, other, y in driven:
                M[k][j] += x * y * armature.inertia if freedom == other else 0.0
    for both in model.coupling_inertias:
        for k, _, x in _driven(state, columns, both.first):
            for j, _, y in _driven(state, columns, both.second):
                M[k][j] += x * y * both.inertia
                M[j][k] += x * y * both.inertia
    for body in reversed(model):
        momenta = [(k, inertia[body.index].momentum(s)) for k, s in columns[body.index]]
        for k, s in columns[body.index]:
            for j, F in momenta:
                M[k][j] += s.dot(F)
        if body.parent != BASE:
            X = state[body.index].X
            outwards = [(j, X.wrench_out(F)) for j, F in momenta]
            _project(state, columns, M, body.parent, outwards)
            inertia[body.parent] += inertia[body.index].in_parent(X)
    for rotor in model.lumped_rotors:
        spun = [(k, Wrench(n=rotor.g * x)) for k, _, x in _driven(state, columns, rotor.body)]
        _project(state, columns, M, rotor.carrier, spun)
    return M


def _driven(
    state: State, columns: Columns, body: int
) -> list[tuple[int, int, Number]] | tuple[tuple[int, int, Number], ...]:
    """Rows that move a joint, the freedom each moves, and its speed a unit of the row's."""
    if body in state.dependent:
        return [(k, freedom, 1.0) for freedom, (k, _) in enumerate(columns[body])]
    return state[body].ratios


def _project(
    state: State, columns: Columns, M: Matrix, body: int, momenta: list[tuple[int, Wrench]]
) -> None:
    """Momenta of a body, by the speed that makes them, on the joints that move the body."""
    while body != BASE:
        for k, s in columns[body]:
            for j, F in momenta:
                projected = s.dot(F)
                M[k][j] += projected
                M[j][k] += projected
        X, body = state[body].X, state.model.bodies[body].parent
        momenta = [(j, X.wrench_out(F)) for j, F in momenta]


def _reduced(M: Matrix, ratios: list[dict[int, Number]]) -> Matrix:
    """``M + B^T M + M B + B^T M B`` over the independent speeds."""
    nv = len(M) - len(ratios)
    beyond = range(len(ratios))
    felt: Matrix = [
        [sum((M[nv + f][nv + g] * ratios[g].get(j, 0.0) for g in beyond), M[nv + f][j])
         for j in range(nv)]
        for f in beyond
    ]  # fmt: skip
    total: Matrix = [row[:nv] for row in M[:nv]]
    for k in range(nv):
        for j in range(k, nv):
            for f in beyond:
                x, y = ratios[f].get(k, 0.0), ratios[f].get(j, 0.0)
                total[k][j] += x * felt[f][j] + M[nv + f][k] * y
            total[j][k] = total[k][j]
    return total


class Factors:
    """``L`` (unit, lower) and the inverse of ``D`` (diagonal)."""

    __slots__ = ("L", "inverse_D")

    def __init__(self, L: Matrix, inverse_D: list[Number]) -> None:
        self.L, self.inverse_D = L, inverse_D


def factorize(M: Matrix, light: Mapping[int, float] | None = None) -> Factors:
    """``M = L^T D L`` from the last row up: no zero of M is filled [Featherstone, table 6.3].

    light, optional: Rows whose pivots may vanish, each with an element of another M on this
        diagonal. Where one does, the factors are not numbers.
    """
    n, inverse_of = len(M), pivot_inverse(M, light)
    L = [row[: k + 1] for k, row in enumerate(M)]
    inverse_D: list[Number] = [0.0] * n
    for k in range(n - 1, -1, -1):
        inverse_D[k] = inverse_of(k, L[k][k])
        for i in range(k - 1, -1, -1):
            scaled = L[k][i] * inverse_D[k]
            if is_zero(scaled):
                continue
            for j in range(i + 1):
                L[i][j] -= scaled * L[k][j]
            L[k][i] = scaled
        L[k][k] = 1.0
    return Factors(L, inverse_D)


def pivot_inverse(
    M: Matrix, light: Mapping[int, float] | None = None
) -> Callable[[int, Number], Number]:
    """Inverse of what elimination leaves of a diagonal element, as a function of its row and it.

    Arguments as for `factorize`.
    """
    light = light or {}
    before = {k: M[k][k] for k in light}

    def inverse(k: int, pivot: Number) -> Number:
        return _guarded(pivot, before[k], light[k]) if k in light else 1.0 / pivot

    return inverse


def _guarded(pivot: Number, before: Number, typical: float) -> Number:
    """Inverse of a pivot; not a number where next to nothing was left of it."""
    if not isinstance(pivot, Scalar):
        return 1.0 / pivot
    left, vanishing = (by_precision(pivot.graph, *pair) for pair in (PIVOT_DIGITS, PIVOT_ZERO))
    return inverse_above(pivot, before * left + (vanishing * typical + SMALLEST_FULL_PRECISION))


def solve(factors: Factors, b: Sequence[Number]) -> list[Number]:
    """``x`` with ``M x = b``."""
    L, n = factors.L, len(b)
    x = list(b)
    for k in range(n - 1, -1, -1):  # L^-T b
        for i in range(k):
            x[i] -= L[k][i] * x[k]
    x = [value * d for value, d in zip(x, factors.inverse_D, strict=True)]
    for k in range(n):  # L^-1 of it
        for i in range(k):
            x[k] -= L[k][i] * x[i]
    return x


def inverse(factors: Factors) -> Matrix:
    """``M^-1 = W D^-1 W^T`` with ``W = L^-1``."""
    L, n = factors.L, len(factors.inverse_D)
    W: Matrix = [[0.0] * n for _ in range(n)]
    for j in range(n):
        W[j][j] = 1.0
        for i in range(j + 1, n):
            for k in range(j, i):
                W[i][j] -= L[i][k] * W[k][j]
    result: Matrix = [[0.0] * n for _ in range(n)]
    for i in range(n):
        scaled = [W[i][k] * factors.inverse_D[k] for k in range(i + 1)]
        for j in range(i + 1):
            total: Number = 0.0
            for k in range(j + 1):
                total += scaled[k] * W[j][k]
            result[i][j] = result[j][i] = total
    return result
