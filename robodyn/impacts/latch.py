"""Joints that stop at once, as if caught by latches [W problem 6.2]."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
from numpy.typing import ArrayLike

from robodyn.impacts.impact_dynamics import ImpactDynamics
from robodyn.motion.base_motion import BaseMotion
from robodyn.results import Impact

__all__ = ["latch"]


def latch(
    dynamics: ImpactDynamics,
    state: tuple[ArrayLike, ArrayLike],
    joints: Iterable[str],
    base: BaseMotion | None,
) -> Impact:
    """See `robodyn.Robot.latch`."""
    q, v = dynamics.before(*state)
    speeds = dynamics.speeds("joints", joints)
    jump, impulses = dynamics.stopped(q, v, speeds, base)
    at = list(speeds)
    return Impact(
        v=v + jump,
        impulse=np.zeros((*v.shape[:-1], 3)),
        energy_loss=0.5 * np.einsum("...k,...k->...", -impulses[..., at], v[..., at]),
        against_v=None,
        make_joint_impulses=lambda: dynamics.joint_impulses(q, speeds, -v, None, base),
    )
