"""What a joint says of its two links: their relative motion, and its equations."""

import numpy as np
from oracles.edges import WORLD
from oracles.joint_coordinates import joint_coordinates
from oracles.joint_motion import Motion, joint_motion, origin, vee
from oracles.link_motion import spin, transport


def step(edge, q, v):
    """Motion across a joint with its own numbers, whose accelerations are zero."""
    return joint_motion(edge.joint, q, v, np.zeros(len(v)))


def place(edge, links):
    """Pose in the world of the joint's frame on the child."""
    return links[edge.child].X_WB @ edge.X_child


def subspace(edge, q):
    """Relative velocity for unit speeds, in axes of the parent, (6, number of speeds)."""
    units = np.eye(edge.v.stop - edge.v.start)
    columns = [_velocity(step(edge, q, edge.factor * unit)) for unit in units]
    return np.array(columns).reshape(-1, 6).T


def closing_state(edge, motions):
    """Own coordinates and speeds of a joint that closes a loop, from the motions of its links."""
    if edge.joint.kind == "distance":
        return np.zeros(0), np.zeros(0)
    relative = _relative(edge, motions)
    q = joint_coordinates(edge.joint, relative.X)
    return q, np.linalg.pinv(subspace(edge, q)) @ _velocity(relative)


def loop_error(edge, motions):
    """How far a loop is from closed: its gap and the rate of its gap, six each, or one.

    Both in axes of the parent; the derivative of the gap is its rate where the gap is zero.
    """
    relative = _relative(edge, motions)
    if edge.joint.kind == "distance":
        X_PJ = origin(edge.joint.origin)
        d = relative.X[:3, 3] - X_PJ[:3, 3]
        length = np.linalg.norm(d)
        return np.array([length - edge.distance]), np.array([d @ relative.dX[:3, 3] / length])
    q, v = closing_state(edge, motions)
    X = step(edge, q, v).X
    turn = vee(relative.X[:3, :3] @ X[:3, :3].T)
    gap = np.concatenate([relative.X[:3, 3] - X[:3, 3], turn])
    return gap, _velocity(relative) - subspace(edge, q) @ v


def acceleration_rows(edge, motion, q, links, columns):
    """``G``, ``S`` and ``bias`` of ``G acc = S a + bias``: (6, 6 n), (6, columns), (6,).

    Of the acceleration of the joint's frame on the child against that on the parent, in world
    axes; ``motion`` is that across the joint, of a distance that does not matter.
    """
    child = links[edge.child]
    r = place(edge, links)[:3, 3] - child.p_WC
    G, S = np.zeros((6, 6 * len(links))), np.zeros((6, columns))
    G[:, 6 * edge.child : 6 * edge.child + 6] = transport(r)
    inward = -np.concatenate([spin(child.w_WB, r), np.zeros(3)])
    if edge.joint.kind == "distance":
        parent = links[edge.parent]
        d, S[:, edge.v] = _link_of_fixed_length(edge, links)
        r_P = child.p_WC + r - d - parent.p_WC
        d_dot = child.v_WC + np.cross(child.w_WB, r) - parent.v_WC - np.cross(parent.w_WB, r_P)
        G[:, 6 * edge.parent : 6 * edge.parent + 6] = -transport(r_P)
        # d . d = const, twice differentiated: d . d'' = -d' . d'
        inward[:3] += spin(parent.w_WB, r_P) - d * (d_dot @ d_dot) / (d @ d)
        return G, S, inward
    R_WP, w, d = np.eye(3), np.zeros(3), np.zeros(3)
    if edge.parent != WORLD:
        parent = links[edge.parent]
        R_WP, w, d = parent.R_WB, parent.w_WB, child.p_WC + r - parent.p_WC
        G[:, 6 * edge.parent : 6 * edge.parent + 6] = -transport(d)
    linear = R_WP @ motion.ddX[:3, 3] + 2.0 * np.cross(w, R_WP @ motion.dX[:3, 3]) + spin(w, d)
    angular = R_WP @ motion.angular_acceleration + np.cross(w, R_WP @ motion.angular_velocity)
    S[:, edge.v] = np.kron(np.eye(2), R_WP) @ subspace(edge, q)
    return G, S, inward + np.concatenate([linear, angular])


def _link_of_fixed_length(edge, links):
    """From point to point in the world; the five ways in which the second may still move."""
    p_P = (links[edge.parent].X_WB @ origin(edge.joint.origin))[:3, 3]
    d = place(edge, links)[:3, 3] - p_P
    across = np.linalg.svd(d[None, :])[2][1:].T
    S = np.zeros((6, 5))
    S[:3, :2], S[3:, 2:] = across, np.eye(3)
    return d, S


def _relative(edge, motions):
    """Motion of the joint's frame on the child in the parent link."""
    still = Motion(edge.X_child, np.zeros((4, 4)), np.zeros((4, 4)))
    return motions[edge.parent].inverse() @ motions[edge.child] @ still


def _velocity(motion):
    return np.concatenate([motion.dX[:3, 3], motion.angular_velocity])
