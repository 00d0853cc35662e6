"""What a hit does."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from robodyn.array_types import Array
from robodyn.results.wrenches import JointWrenches

__all__ = ["Impact", "ImpactDerivatives"]


class Impact:
    """What an impulse did to a robot.

    Parameters
    ----------
    make_joint_impulses : callable
        Makes `joint_impulses` when they are asked for.

    Attributes
    ----------
    v : ndarray, shape (..., nv) [rad/s, m/s]
        Speeds afterwards.
    impulse : ndarray, shape (..., 3) [N s]
        On the link, in world axes; zero where joints latch. Of several hits at once (..., k, 3),
        in their order.
    energy_loss : ndarray, shape (...) [J]
        What the contact, or the latches, took from the motion.
    against_v : ndarray or None
        Of what was hit, afterwards: the velocity of a point mass, shape (..., 3) [m/s], or the
        speeds of another robot, shape (..., nv); None for what has none of its own. Of several
        hits at once a tuple, one of these each.
    """

    def __init__(
        self,
        v: Array,
        impulse: Array,
        energy_loss: Array,
        against_v: Array | tuple[Array | None, ...] | None,
        make_joint_impulses: Callable[[], JointWrenches],
    ) -> None:
        self.v, self.impulse, self.energy_loss = v, impulse, energy_loss
        self.against_v = against_v
        self._make_joint_impulses = make_joint_impulses

    @cached_property
    def joint_impulses(self) -> JointWrenches:
        """Impulse and moment in every joint, shape (..., 6) [N s, N m s]; frames as of wrenches.

        By joint name, cut joints too; ``"base"``: what the ground or the carrier of the base gives.
        """
        return self._make_joint_impulses()

    def __repr__(self) -> str:
        batch = self.v.shape[:-1]
        if batch:
            return f"<Impact of each of {batch} states>"
        size = float(np.linalg.norm(self.impulse))
        return f"<Impact: {size:.6g} N s, {float(self.energy_loss):.6g} J lost>"


@dataclass(frozen=True, eq=False)
class ImpactDerivatives:
    """Speeds after a hit, and how they change with the state before it.

    Attributes
    ----------
    v : ndarray, shape (..., nv) [rad/s, m/s]
        Afterwards.
    by_q : ndarray, shape (..., nv, nv)
        Its derivative with respect to positions before, moved along the speeds.
    by_v : ndarray, shape (..., nv, nv)
        Its derivative with respect to speeds before.
    by_parameters : ndarray, shape (..., nv, 10 n), or None
        Its derivative with respect to ``robot.inertial_parameters``, if asked for.
    """

    v: Array
    by_q: Array
    by_v: Array
    by_parameters: Array | None = None
