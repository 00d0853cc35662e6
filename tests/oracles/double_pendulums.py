"""Double pendulums on a moving suspension, their equations written by hand."""

import numpy as np
from oracles.described import inertia_matrix
from support.random_mechanisms import random_inertia

from robodyn.description import Inertia, Joint, Link, Mechanism, Pose

#: Of the pendulums: distance of the hinges, distances of the centres of mass from their hinges.
LENGTH, REACH = 0.7, (0.3, 0.45)
MASSES, INERTIAS = (1.5, 0.8), (0.11, 0.07)


def pins():
    """Rods that hang along -z and swing about y."""
    links = [Link("suspension")]
    for name, m, J, s in zip(("upper", "lower"), MASSES, INERTIAS, REACH, strict=True):
        com = Pose((0.0, 0.0, -s))
        links.append(Link(name, Inertia(m, com, 0.5 * J, 0.0, 0.0, J, 0.0, 0.6 * J)))
    y = (0.0, 1.0, 0.0)
    joints = (
        Joint("first", "revolute", "suspension", "upper", Pose(), y),
        Joint("second", "revolute", "upper", "lower", Pose((0.0, 0.0, -LENGTH)), y),
    )
    return Mechanism("pins", tuple(links), joints)


def by_lagrange(q, v, a, p_dd, g):
    """Joint torques of the pins, from Lagrange's function in the absolute angles f1, f2.

    ``p_dd``: acceleration of the suspension in the world, (3,); ``g``: gravity, (3,).
    With the suspension at (x, z): p_1 = (x, z) - s1 e(f1), p_2 = (x, z) - l e(f1) - s2 e(f2),
    e(f) = (sin f, cos f). Then

        T = 1/2 (m1 s1^2 + J1 + m2 l^2) f1'^2 + 1/2 (m2 s2^2 + J2) f2'^2
            + m2 l s2 cos(f1 - f2) f1' f2' + terms with x', z'
        Q1 = A f1'' + C cos(f1 - f2) f2'' + C sin(f1 - f2) f2'^2
             - (m1 s1 + m2 l) (x'' cos f1 - (z'' + |g|) sin f1)

    and the like for f2. Torques at the joints: tau_2 = Q2, tau_1 = Q1 + Q2.
    """
    (m1, m2), (J1, J2), (s1, s2), l = MASSES, INERTIAS, REACH, LENGTH
    f, w, dw = np.cumsum(q), np.cumsum(v), np.cumsum(a)
    A, B, C = m1 * s1**2 + J1 + m2 * l**2, m2 * s2**2 + J2, m2 * l * s2
    x_dd, z_dd = p_dd[0], p_dd[2] - g[2]
    c, s = np.cos(f[0] - f[1]), np.sin(f[0] - f[1])
    pull = x_dd * np.cos(f) - z_dd * np.sin(f)
    Q1 = A * dw[0] + C * (c * dw[1] + s * w[1] ** 2) - (m1 * s1 + m2 * l) * pull[0]
    Q2 = B * dw[1] + C * (c * dw[0] - s * w[0] ** 2) - m2 * s2 * pull[1]
    return np.array([Q1 + Q2, Q2])


def balls(rng):
    """Two bodies of any shape on ball joints; the suspension does not turn."""
    links = (
        Link("suspension"),
        Link("upper", random_inertia(rng)),
        Link("lower", random_inertia(rng)),
    )
    to_second = Pose(tuple(float(x) for x in rng.normal(size=3)))
    joints = (
        Joint("first", "spherical", "suspension", "upper"),
        Joint("second", "spherical", "upper", "lower", to_second),
    )
    return Mechanism("balls", links, joints)


def by_moments(mechanism, R, v, a, p_dd, g):
    """Joint moments, from the moment of momentum beyond each hinge; all in world axes.

    ``R`` = R_W1, R_W2; ``v``, ``a`` relative angular velocities in body axes and their rates;
    ``p_dd``, ``g``: acceleration of the suspension and gravity.
    """
    inertias = [link.inertia for link in mechanism.links[1:]]
    l = R[0] @ np.array(mechanism.joints[1].origin.xyz)
    d = [X @ np.array(inertia.origin.xyz) for X, inertia in zip(R, inertias, strict=True)]
    w = [R[0] @ v[0], R[0] @ v[0] + R[1] @ v[1]]
    dw = [R[0] @ a[0], R[0] @ a[0] + R[1] @ a[1] + np.cross(w[1], R[1] @ v[1])]

    def beyond(k, r):
        """Acceleration of the end of r, fixed in body k, against its hinge."""
        return np.cross(dw[k], r) + np.cross(w[k], np.cross(w[k], r))

    hinge_2 = p_dd + beyond(0, l)
    forces = [
        inertias[0].mass * (p_dd + beyond(0, d[0]) - g),
        inertias[1].mass * (hinge_2 + beyond(1, d[1]) - g),
    ]
    spins = []
    for k in (0, 1):
        J = R[k] @ inertia_matrix(inertias[k]) @ R[k].T
        spins.append(J @ dw[k] + np.cross(w[k], J @ w[k]))
    Y_2 = spins[1] + np.cross(d[1], forces[1])
    Y_1 = Y_2 + spins[0] + np.cross(d[0], forces[0]) + np.cross(l, forces[1])
    return np.concatenate([R[0].T @ Y_1, R[1].T @ Y_2])
