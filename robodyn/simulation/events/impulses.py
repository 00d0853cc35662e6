"""Jumps of speeds by impulses at joints [W 6.18].

An impulse `p` along some speeds changes them by `A p`. `A` is the inverse of their apparent mass,
with loops closed and driven joints held.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from robodyn.array_types import FloatArray
from robodyn.description import Inertia
from robodyn.motion.base_motion import BaseMotion
from robodyn.robot import Robot
from robodyn.simulation.events.event import State
from robodyn.tolerances import COMPLEMENTARITY_ZERO


def responses(
    robot: Robot,
    q: FloatArray,
    impulses: FloatArray,
    driven: Sequence[int] = (),
    base: BaseMotion | None = None,
) -> FloatArray:
    """Jumps of all speeds under generalised impulses, shape (k, nv); driven speeds do not jump."""
    return np.asarray(robot.impact_dynamics.responses(q, impulses, tuple(driven), base))


def impose_speeds(
    robot: Robot,
    q: FloatArray,
    v: FloatArray,
    speeds: Sequence[int],
    wanted: FloatArray,
    base: BaseMotion | None = None,
) -> FloatArray:
    """All speeds after impulses along some speeds have brought these to wanted values."""
    at = list(speeds)
    gap = wanted - v[at]
    if not gap.any():
        return v
    jumps = responses(robot, q, np.eye(robot.nv)[at], (), base)
    v = v + np.linalg.lstsq(jumps[:, at].T, gap, rcond=COMPLEMENTARITY_ZERO)[0] @ jumps
    v[at] = wanted
    return v


def caught(
    state: State, link: str, payload: Inertia, velocity: FloatArray, angular_velocity: FloatArray
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
