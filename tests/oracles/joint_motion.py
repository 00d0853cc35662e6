"""How a joint moves, by 4x4 matrices and their first and second time derivatives.

Nothing of robodyn is used here: the definitions of the joint kinds are written down again. A joint
is a product of factors; each factor is a pose ``X`` whose body twist ``V = S v`` has a constant S,
so ``dX/dt = X hat(V)``, and everything else is the product rule.
"""

from dataclasses import dataclass

import numpy as np

Z = np.array([0.0, 0.0, 1.0])
NONE = np.zeros(3)


def cross_matrix(w):
    x, y, z = w
    return np.array([[0.0, -z, y], [z, 0.0, -x], [-y, x, 0.0]])


def vee(W):
    """The vector of the skew part of a 3x3 matrix."""
    return 0.5 * np.array([W[2, 1] - W[1, 2], W[0, 2] - W[2, 0], W[1, 0] - W[0, 1]])


def hat(V):
    """4x4 matrix of a twist ``[linear; angular]``."""
    H = np.zeros((4, 4))
    H[:3, :3], H[:3, 3] = cross_matrix(V[3:]), V[:3]
    return H


@dataclass(frozen=True)
class Motion:
    """A pose of B in A and its first and second time derivatives, (4, 4) each."""

    X: np.ndarray
    dX: np.ndarray
    ddX: np.ndarray

    @classmethod
    def along(cls, X, V, A):
        """From a body twist ``V`` and its componentwise derivative ``A``."""
        return cls(X, X @ hat(V), X @ (hat(V) @ hat(V) + hat(A)))

    def __matmul__(self, other):
        return Motion(
            self.X @ other.X,
            self.dX @ other.X + self.X @ other.dX,
            self.ddX @ other.X + 2.0 * self.dX @ other.dX + self.X @ other.ddX,
        )

    def inverse(self):
        """Motion of A in B, from the product rule on X^-1 X = 1."""
        X = np.linalg.inv(self.X)
        dX = -X @ self.dX @ X
        return Motion(X, dX, -(X @ self.ddX + 2.0 * dX @ self.dX) @ X)

    @property
    def angular_velocity(self):
        """Of B relative to A, in axes of A."""
        return vee(self.dX[:3, :3] @ self.X[:3, :3].T)

    @property
    def angular_acceleration(self):
        """Derivative of ``angular_velocity`` in A: dR R' + R dR' is symmetric and drops out."""
        return vee(self.ddX[:3, :3] @ self.X[:3, :3].T)


def turn(axis, angle):
    """Rotation about an axis through the origin (Rodrigues)."""
    N, X = cross_matrix(axis), np.eye(4)
    X[:3, :3] += np.sin(angle) * N + (1.0 - np.cos(angle)) * N @ N
    return X


def shift(p):
    X = np.eye(4)
    X[:3, 3] = p
    return X


def turn_by_quaternion(quat_xyzw):
    x, y, z, w = quat_xyzw / np.linalg.norm(quat_xyzw)
    N, X = cross_matrix((x, y, z)), np.eye(4)
    X[:3, :3] += 2.0 * w * N + 2.0 * N @ N
    return X


def shortest_turn_of_z(axis):
    """Rotation (3, 3) of z to a unit vector; half a turn about x where it is -z."""
    normal = np.cross(Z, axis)
    sine = np.linalg.norm(normal)
    if sine < 1e-14:
        return np.eye(3) if axis[2] > 0.0 else np.diag([1.0, -1.0, -1.0])
    return turn(normal / sine, np.arctan2(sine, axis[2]))[:3, :3]


def column(linear, angular):
    return np.concatenate([linear, angular])[:, None]


def _revolute(joint, n, q):
    return [(turn(n, q[0]), column(NONE, n))]


def _prismatic(joint, n, q):
    return [(shift(q[0] * n), column(n, NONE))]


def _helical(joint, n, q):
    advance = joint.pitch * n
    return [(shift(q[0] * advance) @ turn(n, q[0]), column(advance, n))]


def _cylindrical(joint, n, q):
    return [(shift(q[0] * n), column(n, NONE)), (turn(n, q[1]), column(NONE, n))]


def _universal(joint, n, q):
    second = np.array(joint.axis2)
    return [(turn(n, q[0]), column(NONE, n)), (turn(second, q[1]), column(NONE, second))]


def _planar(joint, n, q):
    R = shortest_turn_of_z(n)
    S = np.hstack([column(R[:, 0], NONE), column(R[:, 1], NONE), column(NONE, n)])
    return [(shift(R[:, :2] @ q[:2]) @ turn(n, q[2]), S)]


def _spherical(joint, n, q):
    return [(turn_by_quaternion(q), np.eye(6)[:, 3:])]


def _floating(joint, n, q):
    return [(shift(q[:3]) @ turn_by_quaternion(q[3:]), np.eye(6))]


def _fixed(joint, n, q):
    return []


#: Kind -> (factors, number of coordinates, number of speeds).
KINDS = {
    "fixed": (_fixed, 0, 0),
    "revolute": (_revolute, 1, 1),
    "continuous": (_revolute, 1, 1),
    "prismatic": (_prismatic, 1, 1),
    "helical": (_helical, 1, 1),
    "cylindrical": (_cylindrical, 2, 2),
    "universal": (_universal, 2, 2),
    "planar": (_planar, 3, 3),
    "spherical": (_spherical, 4, 3),
    "floating": (_floating, 7, 6),
}


def coordinate_count(kind):
    return KINDS[kind][1]


def speed_count(kind):
    return KINDS[kind][2]


def origin(pose):
    """URDF origin: roll, pitch, yaw about the fixed x, y, z."""
    roll, pitch, yaw = pose.rpy
    x, y, z = np.eye(3)
    return shift(pose.xyz) @ turn(z, yaw) @ turn(y, pitch) @ turn(x, roll)


def joint_motion(joint, q, v, a):
    """Motion of the child link relative to the parent link.

    ``joint`` is a `robodyn.description.Joint`; ``q``, ``v``, ``a`` are its own numbers.
    """
    result = Motion(origin(joint.origin), np.zeros((4, 4)), np.zeros((4, 4)))
    done = 0
    for X, S in KINDS[joint.kind][0](joint, np.array(joint.axis), q):
        own = slice(done, done + S.shape[1])
        result = result @ Motion.along(X, S @ v[own], S @ a[own])
        done = own.stop
    return result
