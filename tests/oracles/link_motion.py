"""Mass and motion of one free link, in world axes."""

from dataclasses import dataclass

import numpy as np
from oracles.described import inertia_matrix
from oracles.joint_motion import cross_matrix, origin


def spin(w, r):
    """Acceleration towards the axis of what turns with ``w`` at ``r``."""
    return np.cross(w, np.cross(w, r))


def transport(r):
    """Velocity of a point at ``r`` from that of C; transposed: wrench at C from that at ``r``."""
    T = np.eye(6)
    T[:3, 3:] = -cross_matrix(r)
    return T


@dataclass
class LinkMotion:
    """Mass and motion of a link B in the world; J about the centre of mass C, in world axes.

    The accelerations are set when they have been solved for.
    """

    mass: float
    J: np.ndarray
    X_WB: np.ndarray
    p_WC: np.ndarray
    v_WC: np.ndarray
    w_WB: np.ndarray
    dv_WC: np.ndarray | None = None
    dw_WB: np.ndarray | None = None

    @property
    def R_WB(self):
        return self.X_WB[:3, :3]

    @property
    def p_WB(self):
        return self.X_WB[:3, 3]

    @property
    def v_WB(self):
        return self.v_WC + np.cross(self.w_WB, self.p_WB - self.p_WC)

    @property
    def dv_WB(self):
        r = self.p_WB - self.p_WC
        return self.dv_WC + np.cross(self.dw_WB, r) + spin(self.w_WB, r)


def moving_link(inertia, motion):
    """A link that moves as ``motion`` in the world."""
    R_WB, w_WB = motion.X[:3, :3], motion.angular_velocity
    if inertia is None:
        mass, J, p_BC = 0.0, np.zeros((3, 3)), np.array([0.0, 0.0, 0.0, 1.0])
    else:
        X_BC = origin(inertia.origin)
        R_WC = R_WB @ X_BC[:3, :3]
        mass, J, p_BC = inertia.mass, R_WC @ inertia_matrix(inertia) @ R_WC.T, X_BC[:, 3]
    p_WC, v_WC = (motion.X @ p_BC)[:3], (motion.dX @ p_BC)[:3]
    return LinkMotion(mass, J, motion.X, p_WC, v_WC, w_WB)
