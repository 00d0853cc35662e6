"""A body that a link catches: what its momentum does to all speeds.

The body and the link, until then apart, go on with one velocity: the impulse between them is
`J^T G (V_P - V_L)` over the speeds of the robot that carries the body, with `G` the body's inertia,
`V_P` and `V_L` the twists of body and link, about the link's origin in its axes [W 6.11].
"""

from __future__ import annotations

import numpy as np

from robodyn.array_types import FloatArray
from robodyn.description import Inertia
from robodyn.simulation.events.event import State
from robodyn.simulation.events.impulses import responses

__all__ = ["caught"]


def caught(
    state: State,
    link: str,
    payload: Inertia,
    velocity: FloatArray,
    angular_velocity: FloatArray,
) -> tuple[FloatArray, float]:
    """Speeds after a link has caught a body, and the energy that the contact took [J].

    state: Before.
    payload: In the link frame.
    velocity, angular_velocity (3,) [m/s], [rad/s]: Of the body's centre of mass and of the body, in
        world axes.
    """
    robot, q, v, base = state.robot.at(state.t), state.q, state.v, state.base
    X = robot.frame_pose(q, link, base=base)
    V = robot.frame_twist(q, v, link, base=base)
    J = robot.frame_jacobian(q, link, base=base)
    R, com = X[:3, :3], np.array(payload.origin.xyz)
    spin = R.T @ angular_velocity
    gap = np.concatenate([R.T @ velocity - np.cross(spin, com), spin]) - V
    momentum = _inertia(payload) @ gap
    force = J.T @ momentum
    carrying = robot.with_(payload={link: payload})
    jump = responses(carrying, q, force[None], state.driven_speeds, base)[0]
    return v + jump, float(0.5 * (gap @ momentum - jump @ force))


def _inertia(body: Inertia) -> FloatArray:
    """Of a body about the origin of its link, in link axes, shape (6, 6)."""
    R, c = body.origin.matrix[:3, :3], np.array(body.origin.xyz)
    cross = np.array([[0.0, -c[2], c[1]], [c[2], 0.0, -c[0]], [-c[1], c[0], 0.0]])
    J = R @ body.matrix @ R.T - body.mass * cross @ cross
    return np.block([[body.mass * np.eye(3), -body.mass * cross], [body.mass * cross, J]])
