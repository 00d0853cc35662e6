"""Results of impacts, and contacts with the ground."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np

from robodyn.array_types import Array
from robodyn.results.wrenches import JointWrenches


class Impact:
    """Velocities, impulses and energy loss of an impact.

    Parameters
    ----------
    make_joint_impulses : callable
        Computes `joint_impulses` at their first use.

    Attributes
    ----------
    v : ndarray, shape (..., nv) [rad/s, m/s]
        Speeds after the impact.
    impulse : ndarray, shape (..., 3) [N s]
        Impulse on the link, in world axes; zero where joints latch. Of k simultaneous impacts, or
        of impulses given on k links: shape (..., k, 3), in their order.
    energy_loss : ndarray, shape (...) [J]
        Kinetic energy lost in the contact, or in the latches; what given impulses take, less than
        zero where they bring some. The work of what moves controlled joints, and constraints that
        move by themselves, is no part of it.
    against_v : ndarray or None
        Velocity of the other body after the impact: of a point mass, shape (..., 3) [m/s]; of
        another robot its speeds, shape (..., nv); ``None`` for a fixed surface. Of simultaneous
        impacts a tuple with one of these for each.

    Examples
    --------
    >>> import robodyn as rd
    >>> robot = rd.load("double_pendulum")
    >>> hit = robot.impact([0.0, 0.0], [1.0, 0.0], "lower", (0, 0, -1), (1, 0, 0))
    >>> tip = robot.frame_jacobian([0.0, 0.0], "lower") @ hit.v
    >>> float((tip[0] - tip[4]).round(9))     # the tip at (0, 0, -1) has stopped along x
    0.0
    """

    v: Array
    impulse: Array
    energy_loss: Array
    against_v: Array | tuple[Array | None, ...] | None

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
    """Speeds after an impact, and their derivatives with respect to the state before it.

    Attributes
    ----------
    v : ndarray, shape (..., nv) [rad/s, m/s]
        Speeds after the impact.
    by_q : ndarray, shape (..., nv, nv)
        Derivative of v with respect to the position before, along each speed.
    by_v : ndarray, shape (..., nv, nv)
        Derivative of v with respect to the speeds before.
    by_parameters : ndarray, shape (..., nv, 10 n), or None
        Derivative of v with respect to ``robot.inertial_parameters``, if asked for.
    """

    v: Array
    by_q: Array
    by_v: Array
    by_parameters: Array | None = None


class ImpactTensors(NamedTuple):
    """How a point gives way to an impulse and a couple, on its link or on another [W 6.25-6.29].

    ``dv = U p + V m`` is the jump of its velocity under the impulse ``p`` and the couple ``m``,
    ``dw = V' p + W m`` that of the angular velocity of its link, all in world axes. ``V'`` is the
    transpose of ``V``; where point and impulse are at two places, of the ``V`` of these in turn.

    Attributes
    ----------
    U : ndarray, shape (..., 3, 3) [1/kg]
    V : ndarray, shape (..., 3, 3) [1/(kg m)]
    W : ndarray, shape (..., 3, 3) [1/(kg m^2)]
    """

    U: Array
    V: Array
    W: Array


@dataclass(frozen=True)
class GroundContact:
    """Contact of a point of a link with the ground.

    Attributes
    ----------
    force : ndarray, shape (..., 3) [N]
        Force of the ground on the link, in world axes.
    depth : ndarray, shape (...) [m]
        Penetration of the point; zero above the ground.
    slip : ndarray, shape (..., 3) [m/s]
        Tangential velocity of the point, in world axes.
    """

    force: Array
    depth: Array
    slip: Array
