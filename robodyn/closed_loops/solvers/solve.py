"""Accelerations and multipliers of a constrained mechanism, whatever its rank."""

from __future__ import annotations

import math
import threading
from functools import cache
from struct import Struct
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from robodyn.array_types import Array
from robodyn.arrays import checked, shaped
from robodyn.closed_loops.solvers.scaling import flat, scaled, speed_set
from robodyn.codegen.llvm.programs.addresses import address_of
from robodyn.codegen.llvm.programs.constrained_systems.program import WORDS, solver
from robodyn.codegen.llvm.programs.constrained_systems.system import (
    METHODS,
    NOT_FINITE,
    SINGULAR,
    workspace_size,
)
from robodyn.errors import AssemblyError, ShapeError, SingularError, UnknownNameError
from robodyn.literals import ConstraintMethod
from robodyn.tolerances import CONSTRAINT_RANK, LOOP_VELOCITY


class ConstrainedSolution(NamedTuple):
    """Solution of ``M a = force + K^T lam``, ``K a = -k``.

    a (..., nv): Accelerations [m/s^2, rad/s^2].
    multipliers (..., nc): lam [N, N m]; of least 2-norm where redundant constraints leave a choice.
    rank (...): Of K.
    residual (...): Largest ``|K a + k|`` relative to its terms; above rounding where redundant
        constraints have right sides that contradict each other.
    method: The one that was used.
    """

    a: Array
    multipliers: Array
    rank: Array
    residual: Array
    method: str


def constrained_accelerations(
    M: ArrayLike,
    force: ArrayLike,
    K: ArrayLike,
    k: ArrayLike,
    method: ConstraintMethod = "auto",
    *,
    free: Array | None = None,
    tolerance: float = CONSTRAINT_RANK,
) -> ConstrainedSolution:
    """Solve ``M a = force + K^T lam``, ``K a = -k`` [Mufti 1983, (10); Wittenburg 1977, (5.202)].

    The acceleration is unique if M is positive definite on the motions that K leaves, whatever the
    rank of K. Multipliers of redundant constraints are not; those of least 2-norm are returned.
    Redundant constraints with contradicting right sides are met in the least squares sense; see
    ``residual``.

    M (..., nv, nv): Mass matrix [kg, kg m, kg m^2].
    force (..., nv): Generalised force tau - h [N, N m]; of speeds that are not free, accelerations.
    K (..., nc, nv): Constraint Jacobian, rows in any units.
    k (..., nc): Kdot v and stabilisation terms.
    method {"auto", "kkt", "schur", "nullspace", "partition"}: All give one answer. "auto" takes
        "nullspace" if few motions may be left, else "schur".
    free: Indices of speeds that are not given, ascending; None for all. Rows and columns are scaled
        as if all were.
    tolerance: A scaled row whose part outside the span of the others is below this counts as
        following from them. The rank is that by singular values, except within a small factor of
        this.
    Raises SingularError: If M is singular on the motions that the constraints leave; ``.rows`` are
        the systems of the flattened batch.
    """
    K = shaped("K", K, None, None)
    nc, nv = K.shape[-2:]
    if method != "auto" and method not in METHODS:
        raise UnknownNameError("method", method, ("auto", *METHODS))
    arrays = (shaped("M", M, nv, nv), shaped("force", force, nv), K, shaped("k", k, nc))
    batch, steps, rows = _rows(arrays)
    return _solution(rows, steps, batch, free, method, tolerance)


def solve_terms(
    M: Array, force: Array, K: Array, k: Array, method: ConstraintMethod
) -> ConstrainedSolution:
    """`constrained_accelerations` of arrays as a function gives them, which nobody checks.

    They are contiguous, float64, and have the same leading axes.
    """
    nc, nv = K.shape[-2:]
    batch = K.shape[:-2]
    steps = (nv * nv, nv, nc * nv, nc) if batch else (0, 0, 0, 0)
    return _solution((M, force, K, k), steps, batch, None, method, CONSTRAINT_RANK)


def _solution(
    arrays: tuple[Array, ...],
    steps: tuple[int, ...],
    batch: tuple[int, ...],
    free: Array | None,
    method: ConstraintMethod,
    tolerance: float,
) -> ConstrainedSolution:
    """The solution of all rows of a batch, by arrays that are right; see `_rows`."""
    nc, nv = arrays[2].shape[-2:]
    n = nv if free is None else len(free)
    few = 2 * min(nc, n) > n
    chosen = ("nullspace" if few else "schur") if method == "auto" else method
    speeds = _all_speeds(nv) if free is None else _Speeds.of(free)
    place = _PLACES[chosen]
    a, lam, rank, residual, status = _solve(arrays, steps, batch, nv, nc, speeds, place, tolerance)
    worst = int(status.max(initial=0) if batch else status)
    if worst == NOT_FINITE:
        for name, array in zip(("M", "force", "K", "k"), arrays, strict=True):
            checked(name, array)
    if worst == SINGULAR:
        raise _singular(np.flatnonzero(status == SINGULAR).tolist() if batch else [])
    return ConstrainedSolution(a, lam, rank, residual, chosen)


def _singular(rows: list[int]) -> SingularError:
    where = f" in rows {rows} of the batch" if rows else ""
    return SingularError(
        "the mass matrix is not positive definite on the motions that the constraints "
        f"leave{where}: a link without inertia can move freely there",
        rows=tuple(rows),
    )


def _rows(
    arrays: tuple[Array, ...],
) -> tuple[tuple[int, ...], tuple[int, ...], tuple[Array, ...]]:
    """Leading axes, broadcast together; from row to row of each array; the arrays, contiguous."""
    leading = [array.shape[:-own] for array, own in zip(arrays, _AXES, strict=True)]
    try:
        batch = np.broadcast_shapes(*leading) if any(leading) else ()
    except ValueError:
        raise ShapeError(
            f"the leading axes {leading} do not broadcast together", name="arguments", given=leading
        ) from None
    steps, result = [], []
    for array, own, ahead in zip(arrays, _AXES, leading, strict=True):
        tail = array.shape[-own:]
        if ahead and ahead != batch:
            array = np.broadcast_to(array, (*batch, *tail))
        flags = array.flags
        if not (flags.c_contiguous and flags.aligned):
            array = np.array(array, order="C")
        steps.append(math.prod(tail) if ahead else 0)
        result.append(array)
    return batch, tuple(steps), tuple(result)


#: Own axes of M, force, K and k.
_AXES = (2, 1, 2, 1)


class _Speeds(NamedTuple):
    """Indices of speeds, how many they are, and where they stand in memory."""

    indices: Array
    number: int
    address: int

    @staticmethod
    def of(indices: Array) -> _Speeds:
        indices = np.ascontiguousarray(indices, np.int64)
        return _Speeds(indices, len(indices), indices.ctypes.data)


@cache
def _all_speeds(nv: int) -> _Speeds:
    return _Speeds.of(np.arange(nv))


_PLACES = {name: place for place, name in enumerate(METHODS)}
_WORDS = Struct(f"{len(WORDS)}q")


def _solve(
    arrays: tuple[Array, ...],
    steps: tuple[int, ...],
    batch: tuple[int, ...],
    nv: int,
    nc: int,
    free: _Speeds,
    method: int,
    tolerance: float,
) -> tuple[Array, ...]:
    """Call the machine code: accelerations, multipliers, rank, residual and what became of rows."""
    count = math.prod(batch)
    ends = [count * x for x in (nv, nv + nc, nv + nc + 1, nv + nc + 2, nv + nc + 3)]
    results = np.empty(ends[-1])
    start = address_of(results)
    words = _WORDS.pack(
        *(count, nv, nc, free.number, method, *steps),
        *map(address_of, arrays),
        *(free.address, start, *[start + 8 * end for end in ends[:-1]]),
        _workspaces.address(nv, nc),
    )
    solver()(words, tolerance)
    whole = results.view(np.int64)
    return (
        results[: ends[0]].reshape(*batch, nv),
        results[ends[0] : ends[1]].reshape(*batch, nc),
        whole[ends[2] : ends[3]].reshape(batch),
        results[ends[1] : ends[2]].reshape(batch),
        whole[ends[3] :].reshape(batch),
    )


class _Workspaces(threading.local):
    """Memory to work in, of each thread, by the size of the problem."""

    def __init__(self) -> None:
        self._arrays: dict[tuple[int, int], tuple[Array, int]] = {}

    def address(self, nv: int, nc: int) -> int:
        """Where it is."""
        if (nv, nc) not in self._arrays:
            array = np.zeros(workspace_size(nv, nc))
            self._arrays[nv, nc] = array, array.ctypes.data
        return self._arrays[nv, nc][1]


_workspaces = _Workspaces()


def project_velocity(
    K: ArrayLike,
    v: ArrayLike,
    M: ArrayLike | None = None,
    *,
    free: ArrayLike | None = None,
    rhs: ArrayLike | None = None,
    tolerance: float = LOOP_VELOCITY,
) -> Array:
    """Nearest velocity with ``K v = -psi`` [Wittenburg 1977, (5.195)].

    Nearest in the norm of the kinetic energy of the difference if M is given (what an impact of
    the loops closing would do), else in the 2-norm.

    K (..., nc, nv)
    v (..., nv): Wanted velocity [m/s, rad/s].
    M (..., nv, nv), optional: Mass matrix.
    free, optional: Indices of speeds that may change, or a mask (nv,); default all. The others keep
        v.
    rhs (..., nc), optional: psi: explicit time derivatives of the constraints; default zero.
    tolerance: Relative to the terms of ``K v + psi``.
    Returns (..., nv)
    Raises AssemblyError: If the held speeds contradict the constraints; ``.residual`` (nc,) is what
        is left, in the first such row of the batch.
    """
    K = checked("K", K, None, None)
    nc, nv = K.shape[-2:]
    mass = np.eye(nv) if M is None else checked("M", M, nv, nv)
    psi = np.zeros(nc) if rhs is None else checked("rhs", rhs, nc)
    batch, (K, v, mass, psi) = flat((K, 2), (checked("v", v, nv), 1), (mass, 2), (psi, 1))
    f = np.arange(nv) if free is None else speed_set("free", free, nv)

    error = (K @ v[..., None])[..., 0] + psi
    result = v + constrained_accelerations(mass, np.zeros(v.shape), K, error, free=f).a
    whole = scaled(K, None if M is None else mass)
    _check(K * whole.rows[:, :, None], v, result, whole.rows * psi, whole.rows, tolerance)
    return result.reshape(*batch, nv)


def _check(K: Array, wanted: Array, v: Array, psi: Array, rows: Array, tolerance: float) -> None:
    left = (K @ v[..., None])[..., 0] + psi
    terms = (np.abs(K) @ np.maximum(np.abs(v), np.abs(wanted))[..., None])[..., 0] + np.abs(psi)
    bad = np.abs(left) > tolerance * terms.max(axis=-1, keepdims=True, initial=0.0)
    if bad.any():
        row = int(np.flatnonzero(bad.any(axis=-1))[0])
        where = f" (row {row} of the batch)" if len(v) > 1 else ""
        residual = left[row] / rows[row]
        raise AssemblyError(
            f"the speeds that are held contradict the constraints{where}: constraints "
            f"{np.flatnonzero(bad[row]).tolist()} are missed by up to "
            f"{np.abs(residual).max():.3g}; hold fewer speeds, or values that fit together",
            residual=residual,
        )
