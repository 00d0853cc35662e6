"""Joints that stop at once, as if caught by latches [W problem 6.2]."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
from numpy.typing import ArrayLike

from robodyn.array_types import Array
from robodyn.arrays import named_alone
from robodyn.impacts.impact_dynamics import ImpactDynamics
from robodyn.motion.base_motion import BaseMotion
from robodyn.results import Impact, JointWrenches

__all__ = ["latch"]


def latch(
    dynamics: ImpactDynamics,
    state: tuple[ArrayLike, ArrayLike],
    joints: Iterable[str],
    base: BaseMotion | None,
) -> Impact:
    """See `robodyn.Robot.latch`."""
    q, v = dynamics.before(*state)
    names = named_alone("joints", joints)
    speeds = dynamics.speeds("joints", names)
    coded: Impact | None = _by_code(dynamics, state, names, speeds, base)
    if coded is not None:
        return coded
    jump, impulses = dynamics.stopped(q, v, speeds, base)
    at = list(speeds)
    return Impact(
        v=v + jump,
        impulse=np.zeros((*v.shape[:-1], 3)),
        energy_loss=0.5 * np.einsum("...k,...k->...", -impulses[..., at], v[..., at]),
        against_v=None,
        make_joint_impulses=lambda: dynamics.joint_impulses(q, speeds, -v, None, base),
    )


def _by_code(
    dynamics: ImpactDynamics,
    state: tuple[ArrayLike, ArrayLike],
    joints: tuple[str, ...],
    speeds: tuple[int, ...],
    base: BaseMotion | None,
) -> Impact | None:
    """The same by one function, to which calls like this one go; none where it has no numbers."""

    def made(found: tuple[Array, Array], q: Array, v: Array, *rest: Array) -> Impact:
        after, loss = found
        # joint impulses are computed when they are asked for: the caller's arrays may change
        kept = np.array(q), np.array(v)
        moved = BaseMotion(*map(np.array, rest)) if rest else None

        def joint_impulses() -> JointWrenches:
            x, y = dynamics.before(*kept)
            return dynamics.joint_impulses(x, speeds, -y, None, moved)

        impulse = np.zeros((*after.shape[:-1], 3))
        return Impact(after, impulse, np.asarray(loss), None, joint_impulses)

    found: Impact | None = dynamics.code.latched(speeds, joints, state, base, made)
    return found
