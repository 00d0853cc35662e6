"""Newton's and Euler's laws for every link, from finite differences of where links are.

Knows nothing of twists, Jacobians or multipliers: the integral of ``r (d2r/dt2)^T dm`` over a link
is ``X J (d2X/dt2)^T`` with its pose X and its pseudo-inertia J; the last row is the force, the
antisymmetric part the moment about the origin of the world.
"""

import numpy as np

#: Of a second derivative at five points.
WEIGHTS = {-2: -1 / 12, -1: 4 / 3, 0: -5 / 2, 1: 4 / 3, 2: -1 / 12}
H = 1e-3


def pseudo_inertia(inertia):
    X = inertia.origin.matrix
    tensor = inertia.matrix
    J = np.zeros((4, 4))
    J[:3, :3] = 0.5 * np.trace(tensor) * np.eye(3) - tensor
    J[3, 3] = inertia.mass
    return X @ J @ X.T


def ends(mechanism):
    """Both links and the frame of the wrench of each joint, loop and constraint between frames."""
    found = {x.name: (x.parent, x.child, np.eye(4)) for x in mechanism.joints}
    for x in mechanism.loops:
        found[x.name] = (x.predecessor, x.successor, x.X_successor.matrix)
    for x in mechanism.constraints:
        if x.links:
            found[x.name] = (*x.links, x.poses[1])
    return found


def in_world(X_WF, wrench):
    force = X_WF[:3, :3] @ wrench[:3]
    return np.r_[force, X_WF[:3, :3] @ wrench[3:] + np.cross(X_WF[:3, 3], force)]


def slip_rate(robot, q, v, a, h=1e-5):
    """How fast the speeds of all rows come to differ from what they have to be [m/s^2, rad/s^2]."""

    def slip(t):
        now = robot.at(t)
        x, w = robot.integrate(q, t * v + 0.5 * t * t * a), v + t * a
        return now.loop_jacobian(x) @ w + now.loop_velocity_offset(x)

    return np.abs(slip(h) - slip(-h)).max() / (2 * h)


def imbalance(robot, wrenches, poses, gravity, outside=None):
    """What is left of the force and the moment on every link, as part of the largest of them.

    Parameters
    ----------
    robot : Robot
    wrenches : JointWrenches
    poses : callable
        From a time to the poses of all links by name; the wrenches are those at time zero.
    gravity : (3,)
    outside : dict of ndarray, shape (6,), optional
        What else acts on links, by name, about the origin of the world in its axes.
    """
    at = {k: poses(k * H) for k in WEIGHTS}
    now = at[0] | {"world": np.eye(4)}
    mechanism = robot.mechanism
    root = mechanism.root or robot.link_names[0]
    on = {link: np.zeros(6) for link in (*robot.link_names, "world")}
    for link, wrench in (outside or {}).items():
        on[link] += wrench
    on[root] += in_world(now[root], wrenches["base"])
    for name, (parent, child, X) in ends(mechanism).items():
        if name in wrenches:
            felt = in_world(now[child] @ X, wrenches[name])
            on[child] += felt
            on[parent] -= felt
    left, largest = [], max(np.abs(x).max() for x in on.values())
    for link in mechanism.links:
        if link.name == root and robot.base == "fixed":
            continue  # the ground carries it
        rate = sum(w * at[k][link.name] for k, w in WEIGHTS.items()) / H**2
        rate[:3, 3] -= gravity
        J = np.zeros((4, 4)) if link.inertia is None else pseudo_inertia(link.inertia)
        P = now[link.name] @ J @ rate.T
        moment = [P[1, 2] - P[2, 1], P[2, 0] - P[0, 2], P[0, 1] - P[1, 0]]
        left.append(np.abs(on[link.name] - [*P[3, :3], *moment]).max())
        largest = max(largest, np.abs(P).max())
    return max(left) / largest
