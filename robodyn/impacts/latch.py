"""Joints that stop at once, as if caught by latches [W problem 6.2].

Joints that were cut have no speeds of their own: their latches are impulses ``p`` along their
freedoms, of which the speeds are ``u = B v``: ``B X p = -u`` with the jumps ``X = M^-1 B^T`` that
keep loops closed.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np
from numpy.typing import ArrayLike

from robodyn.array_types import Array
from robodyn.arrays import named_alone
from robodyn.errors import ImpactError
from robodyn.impacts.impact_dynamics import ImpactDynamics, copied
from robodyn.motion.base_motion import BaseMotion
from robodyn.results import Impact, JointWrenches
from robodyn.tolerances import APPROACH_SPEED_ZERO, IMMOVABLE, MOBILITY_ZERO


def latch(
    dynamics: ImpactDynamics,
    state: tuple[ArrayLike, ArrayLike],
    joints: Iterable[str],
    base: BaseMotion | None,
) -> Impact:
    """See `robodyn.Robot.latch`."""
    q, v = dynamics.before(*state)
    names = named_alone("joints", joints)
    cut = [name for name in names if name in dynamics.cut_joints]
    speeds = dynamics.speeds("joints", [name for name in names if name not in cut])
    if cut:
        return _with_cut_joints(dynamics, q, v, speeds, cut, base)

    def solve() -> tuple[Array, Array]:
        jump, impulses = dynamics.stopped(q, v, speeds, base)
        at = list(speeds)
        return v + jump, 0.5 * np.einsum("...k,...k->...", -impulses[..., at], v[..., at])

    def made(found: tuple[Array, Array], q: Array, v: Array, *rest: Array) -> Impact:
        after, loss = found
        # joint impulses are computed on demand, from copies, as the caller may change arrays
        kept = np.array(q), np.array(v)
        moved = BaseMotion(*map(np.array, rest)) if rest else None

        def joint_impulses() -> JointWrenches:
            x, y = dynamics.before(*kept)
            return dynamics.joint_impulses(x, speeds, -y, None, moved)

        return Impact(
            after, np.zeros((*after.shape[:-1], 3)), np.asarray(loss), None, joint_impulses
        )

    found: Impact = dynamics.answered("latch", {"controlled": speeds}, state, base, solve, made)
    return found


def _with_cut_joints(
    dynamics: ImpactDynamics,
    q: Array,
    v: Array,
    speeds: tuple[int, ...],
    cut: Sequence[str],
    base: BaseMotion | None,
) -> Impact:
    """Latch joints of which some are cut."""
    base, pushes = copied(base), dynamics.pushes(q, v, cut)
    own = np.broadcast_to(
        np.eye(v.shape[-1])[list(speeds)], (*v.shape[:-1], len(speeds), v.shape[-1])
    )
    forces = np.moveaxis(np.concatenate([own, pushes.forces], axis=-2), -2, 0)
    u = np.concatenate([v[..., list(speeds)], pushes.speeds], axis=-1)
    jumps = dynamics.responses(q, forces, (), base)
    A = np.einsum("i...n,j...n->...ij", forces, jumps)
    least = np.moveaxis(np.square(forces).sum(axis=-1), 0, -1)
    p = _stopping(A, u, IMMOVABLE * least / dynamics.trace_of_masses(q)[..., None])
    after = v + np.einsum("...k,k...n->...n", p, jumps)
    left = u + np.einsum("...k,k...n,j...n->...j", p, jumps, forces)
    if np.any(np.abs(left) > APPROACH_SPEED_ZERO * np.abs(u).max(axis=-1, initial=0.0)[..., None]):
        raise ImpactError(
            f"the latches of {', '.join(cut)} of {dynamics.robot!r} meet what does not give way: "
            "no finite impulse stops these joints"
        )
    after[..., list(speeds)] = 0.0
    return Impact(
        v=after,
        impulse=np.zeros((*v.shape[:-1], 3)),
        energy_loss=-0.5 * np.einsum("...k,...k->...", p, u),
        against_v=None,
        make_joint_impulses=lambda: pushes.beside(
            p[..., len(speeds) :],
            dynamics.joint_impulses(q, speeds, -v, pushes.on_links(p[..., len(speeds) :]), base),
        ),
    )


def _stopping(A: Array, u: Array, least: Array) -> Array:
    """Impulses that stop speeds, in least squares; mobilities below ``least`` count as zero."""
    sizes = np.einsum("...ii->...i", A)
    moves = sizes > least
    scale = np.where(moves, 1.0 / np.sqrt(np.where(moves, sizes, 1.0)), 0.0)
    scaled = scale[..., None] * A * scale[..., None, :]
    inverse = np.linalg.pinv(scaled, rcond=MOBILITY_ZERO, hermitian=True)
    return np.asarray(-scale * np.einsum("...ij,...j->...i", inverse, scale * u))
