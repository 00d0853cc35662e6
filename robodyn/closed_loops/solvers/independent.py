"""Choice of independent speeds."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from robodyn.arrays import checked
from robodyn.closed_loops.solvers.decomposition import pivots
from robodyn.closed_loops.solvers.rank import null_space
from robodyn.closed_loops.solvers.scaling import speed_set
from robodyn.errors import SingularError
from robodyn.tolerances import CONSTRAINT_RANK, PREFERRED_SPEED


@dataclass(frozen=True, eq=False)
class IndependentSpeeds:
    """Coordinates of the motions that constraints leave.

    independent, dependent: Indices of speeds, ascending.
    conditioning: Smallest singular value of the rows of an orthonormal null space that belong to
        the independent speeds: 1 is best, 0 where they stop determining the motion.
    """

    independent: tuple[int, ...]
    dependent: tuple[int, ...]
    conditioning: float


def independent_speeds(
    K: ArrayLike,
    preferred: ArrayLike = (),
    M: ArrayLike | None = None,
    *,
    strict: bool = False,
    tolerance: float = CONSTRAINT_RANK,
) -> IndependentSpeeds:
    """Choose independent speeds at a posture: preferred ones first [Wehage and Haug 1982].

    Pivoting of the null space takes the speeds whose rows span the largest volume.

    K (nc, nv)
    preferred: Indices of speeds, e.g. the actuated ones.
    M (nv, nv), optional: Mass matrix; compares speeds in m/s and rad/s by their kinetic energy.
    strict: Insist on all preferred speeds (as many as there are motions, if there are more).
    tolerance: For the rank of K.
    Raises SingularError: With ``strict``, if the preferred speeds depend on each other.
    """
    K = checked("K", K, None, None)
    nv = K.shape[-1]
    first = np.zeros(nv, bool)
    first[speed_set("preferred", preferred, nv)] = True
    Z = null_space(K, M, tolerance=tolerance)
    weight = np.ones(nv) if M is None else np.sqrt(np.abs(np.diagonal(checked("M", M, nv, nv))))
    basis, _ = np.linalg.qr(np.where(weight > 0.0, weight, 1.0)[:, None] * Z)
    dof = Z.shape[1]
    chosen = np.sort(pivots(basis.T[None], dof, first, PREFERRED_SPEED)[0])
    wanted, got = min(int(first.sum()), dof), int(first[chosen].sum())
    if strict and got < wanted:
        raise SingularError(
            f"only {got} of the preferred speeds {np.flatnonzero(first).tolist()} are independent "
            f"at this posture, {wanted} expected; independent there: {chosen.tolist()}"
        )
    values = np.linalg.svd(basis[chosen], compute_uv=False) if dof else np.ones(1)
    return IndependentSpeeds(
        tuple(int(j) for j in chosen),
        tuple(j for j in range(nv) if j not in chosen),
        float(values.min()),
    )
