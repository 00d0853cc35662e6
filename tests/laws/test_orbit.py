"""A satellite of several gyrostats in a circular orbit [Wittenburg 1977, section 5.2.5]: S21.

Axes of the orbit: 3 is the vertical, 2 the normal of the orbit, about which they turn with ``W0``.
The axis of each body that is to be vertical is chosen; where the body stands about it, and what its
rotor must spin with so that the whole stays like that, follows [W 5.74-5.80].
"""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

import robodyn as rd
from robodyn.description import Inertia, Joint, Link, Mechanism, Pose

pytestmark = pytest.mark.filterwarnings("ignore:.*principal moments of inertia")

E1, E2, E3 = np.eye(3)
W0 = 0.8
AXIAL = 0.05
N = 3
MASSES = np.array([5.0, 2.0, 1.5])
MASS = MASSES.sum()
rng = np.random.default_rng(8)
#: Centres of mass, ball joints on the first body, and central inertias with the rotors at rest.
CENTRES, SOCKETS = rng.uniform(-0.4, 0.4, (2, N, 3))
INERTIAS = [x @ x.T + np.eye(3) for x in rng.uniform(-0.4, 0.4, (N, 3, 3))]
VERTICAL = [x / np.linalg.norm(x) for x in rng.normal(size=(N, 3))]


def barycentric_vectors():
    """``b[i][j]``, in body i: from its barycentre to where body j hangs, to its own mass centre."""
    b = np.zeros((N, N, 3))
    for i in range(N):
        hinges = {j: SOCKETS[j] if i == 0 else np.zeros(3) for j in range(N) if j != i}
        points = {i: CENTRES[i], **hinges}
        beyond = {j: MASSES[j] if i == 0 else 0.0 for j in hinges}
        if i:  # all the rest hangs on its one joint
            beyond[0] = MASS - MASSES[i]
        centre = MASSES[i] * CENTRES[i] + sum(beyond[j] * hinges[j] for j in hinges)
        for j in range(N):
            b[i, j] = points[j] - centre / MASS
    return b


B = barycentric_vectors()
#: Central inertias of the augmented bodies.
K = [
    INERTIAS[i] + sum(MASSES[k] * (x @ x * np.eye(3) - np.outer(x, x)) for k, x in enumerate(B[i]))
    for i in range(N)
]


def equilibrium(signs):
    """Attitudes (from body to orbit axes), and what the rotors add to the momenta, body axes."""
    R = []
    for i in range(N):
        others = [j for j in range(N) if j != i]
        c = K[i] @ VERTICAL[i] + MASS * sum(B[i, j] * (B[j, i] @ VERTICAL[j]) for j in others)
        level = c - c @ VERTICAL[i] * VERTICAL[i]
        normal = signs[i] * level / np.linalg.norm(level)
        R.append(np.stack([np.cross(normal, VERTICAL[i]), normal, VERTICAL[i]]))
    spins = []
    for i in range(N):

        def along(e, i=i):
            """``B_i . e`` in axes of the orbit."""
            coupled = sum((R[i] @ B[i, j]) * (R[j] @ B[j, i] @ e) for j in range(N) if j != i)
            return R[i] @ K[i] @ R[i].T @ e + MASS * coupled

        assert E1 @ along(E3) == pytest.approx(0.0, abs=1e-13)
        d = W0 * (np.cross(E2, along(E2)) - 3 * np.cross(E3, along(E3)))
        spins.append(R[i].T @ (3.0 * E2 + np.cross(E2, d)))
    return R, spins


def satellite(spins):
    """The bodies, each with a rotor about its spin; the first one floats."""
    links, joints, balls = [], [], []
    for i, h in enumerate(spins):
        axis = h / np.linalg.norm(h)
        disc = AXIAL * np.outer(axis, axis)
        body = Inertia.from_matrix(MASSES[i], CENTRES[i], INERTIAS[i] - disc)
        rotor = Inertia.from_matrix(0.0, np.zeros(3), disc)
        links += [Link(f"body{i}", body), Link(f"rotor{i}", rotor)]
        joints.append(
            Joint(f"spin{i}", "continuous", f"body{i}", f"rotor{i}", axis=tuple(axis.tolist()))
        )
        if i:
            socket = Pose(tuple(SOCKETS[i].tolist()))
            balls.append(Joint(f"ball{i}", "spherical", "body0", f"body{i}", socket))
    mechanism = Mechanism("satellite", tuple(links), (*joints, *balls))
    return rd.load(mechanism, base="floating", gravity=(0, 0, 0), allow_unphysical=True)


def start(robot, R, spins):
    """Every body at its place, turning with the orbit, the mass centre at the origin."""
    q, v = robot.neutral(), np.zeros(robot.nv)
    q[3:7] = Rotation.from_matrix(R[0]).as_quat()
    v[3:6] = R[0].T @ (W0 * E2)
    for i in range(N):
        v[robot.joints[f"spin{i}"].v] = np.linalg.norm(spins[i]) / AXIAL
        if i:
            q[robot.joints[f"ball{i}"].q] = Rotation.from_matrix(R[0].T @ R[i]).as_quat()
    q[:3] = -robot.center_of_mass(q)
    v[:3] = R[0].T @ np.cross(W0 * E2, q[:3])
    return q, v


def gravity(robot, t, q):
    """What is left of gravity in axes that fall with the mass centre [W 5.68, 5.69]."""
    up = Rotation.from_rotvec(W0 * t * E2).apply(E3)
    wrenches = {}
    for i in range(N):
        X = robot.frame_pose(q, f"body{i}")
        r, e3 = X[:3, :3] @ CENTRES[i] + X[:3, 3], X[:3, :3].T @ up
        force = X[:3, :3].T @ (-(W0**2) * MASSES[i] * (r - 3 * up * (up @ r)))
        moment = 3 * W0**2 * np.cross(e3, INERTIAS[i] @ e3)
        wrenches[f"body{i}"] = np.r_[force, moment + np.cross(CENTRES[i], force)]
    return wrenches


@pytest.mark.parametrize("signs", list(itertools.product([1, -1], repeat=N)))
def test_s21_every_choice_of_verticals_has_eight_equilibria(signs):
    """Nothing accelerates in axes of the bodies."""
    R, spins = equilibrium(signs)
    robot = satellite(spins)
    q, v = start(robot, R, spins)
    driven = {f"spin{i}": 0.0 for i in range(N)}
    result = robot.hybrid_dynamics(q, v, controlled=driven, wrenches=gravity(robot, 0.0, q))
    np.testing.assert_allclose(result.a, 0.0, atol=1e-12)


@pytest.mark.slow
def test_s21_it_follows_the_orbit_without_drift():
    R, spins = equilibrium((1, -1, 1))
    robot = satellite(spins)
    q, v = start(robot, R, spins)

    def spinning(i):
        rate = np.linalg.norm(spins[i]) / AXIAL
        return lambda t: (rate * t, rate, 0.0)

    run = rd.simulate(
        robot,
        q0=q,
        v0=v,
        duration=3.0,
        step=5e-3,
        controlled={f"spin{i}": spinning(i) for i in range(N)},
        wrenches=lambda t, q, v: gravity(robot, t, q),
    )
    orbit = Rotation.from_rotvec(np.outer(W0 * run.t, E2)).inv()
    for i in range(N):
        pose = robot.frame_pose(run.q, f"body{i}")
        attitude = orbit * Rotation.from_matrix(pose[:, :3, :3])
        np.testing.assert_allclose(attitude.as_matrix() - R[i], 0.0, atol=1e-9)
        place = orbit.apply(pose[:, :3, 3])
        np.testing.assert_allclose(place - place[0], 0.0, atol=1e-9)


def test_s21_without_rotors_it_does_not_stay():
    """The spins are what holds it: the same posture with rotors at rest starts to turn."""
    R, spins = equilibrium((1, -1, 1))
    robot = satellite(spins)
    q, v = start(robot, R, spins)
    for i in range(N):
        v[robot.joints[f"spin{i}"].v] = 0.0
    driven = {f"spin{i}": 0.0 for i in range(N)}
    result = robot.hybrid_dynamics(q, v, controlled=driven, wrenches=gravity(robot, 0.0, q))
    assert np.abs(result.a).max() > 0.1
