"""Point masses on translational hinges, with springs [Wittenburg 1977, problem 5.20]: S35."""

import numpy as np
import pytest
from scipy.integrate import solve_ivp

import robodyn as rd
from robodyn.description import Inertia, Joint, Link, Mechanism

MASSES = np.array([1.3, 0.7, 0.4, 0.9, 0.5])
#: The masses that each hinge carries: the second hinge the second and third mass, and so on.
CARRIED = np.array(
    [[1, 1, 1, 1, 1], [0, 1, 1, 0, 0], [0, 0, 1, 0, 0], [0, 0, 0, 1, 0], [0, 0, 0, 0, 1]], float
)
BEFORE = ("ground", "mass1", "mass2", "mass1", "mass1")
#: Ends, stiffness and length of the springs; ``0`` is the ground.
SPRINGS = [(0, 1, 40.0, 0.5), (1, 2, 25.0, 0.3), (2, 3, 30.0, 0.6), (1, 4, 20.0, 0.4)]
SPRINGS += [(4, 5, 15.0, 0.2), (3, 5, 10.0, 0.7)]
GRAVITY = np.array([0.0, 0.0, -9.81])


@pytest.fixture(scope="module")
def robot():
    links, joints = [Link("ground")], []
    for k, (mass, parent) in enumerate(zip(MASSES, BEFORE, strict=True), 1):
        for x, axis in zip("xyz", np.eye(3), strict=True):
            child = f"mass{k}" if x == "z" else f"slider{k}{x}"
            links.append(Link(child, Inertia(mass) if x == "z" else None))
            joints.append(Joint(f"hinge{k}{x}", "prismatic", parent, child, axis=tuple(axis)))
            parent = child
    names = ["world", *(f"mass{k}" for k in range(1, 6))]
    springs = [
        rd.PointSpring(names[i], (0, 0, 0), names[j], (0, 0, 0), k, length)
        for i, j, k, length in SPRINGS
    ]
    mechanism = Mechanism("masses", tuple(links), tuple(joints))
    return rd.load(mechanism, springs=springs, gravity=tuple(GRAVITY))


def in_order(robot):
    """Where the coordinates of each hinge stand, (5, 3)."""
    return np.array([[robot.joints[f"hinge{k}{x}"].v.start for x in "xyz"] for k in range(1, 6)])


def positions(robot, q):
    """Of the masses, (5, 3): sums of the hinge vectors on the way to each."""
    return CARRIED.T @ q[in_order(robot)]


def forces(r):
    """Of springs and weight on each mass, by Hooke and Newton: (5, 3)."""
    F = MASSES[:, None] * GRAVITY
    at = np.vstack([np.zeros(3), r])
    for i, j, k, length in SPRINGS:
        way = at[j] - at[i]
        pull = k * (np.linalg.norm(way) - length) * way / np.linalg.norm(way)
        F[j - 1] -= pull
        if i:
            F[i - 1] += pull
    return F


START = np.array(
    [[0.2, 0.1, -0.4], [0.3, -0.2, -0.1], [0.1, 0.4, -0.3], [-0.4, 0.1, 0.2], [0.1, -0.5, -0.2]]
)


def test_s35_the_mass_matrix_is_a_constant_of_the_graph(robot):
    """``T m T^T`` in each direction."""
    order = in_order(robot)
    expected = CARRIED @ np.diag(MASSES) @ CARRIED.T
    assert expected[1, 0] == pytest.approx(MASSES[1] + MASSES[2])
    for seed in range(2):
        M = robot.mass_matrix(robot.random(seed))
        for a in range(3):
            for b in range(3):
                block = M[np.ix_(order[:, a], order[:, b])]
                np.testing.assert_allclose(block, expected * (a == b), atol=1e-14)


def test_s35_generalised_forces_are_sums_of_those_carried(robot):
    order = in_order(robot)
    q, v = np.zeros((2, 15))
    q[order] = START
    expected = CARRIED @ forces(positions(robot, q))
    found = -robot.bias_forces(q, v)
    np.testing.assert_allclose(found[order], expected, atol=1e-12)


def test_s35_each_mass_moves_by_newtons_law(robot):
    """For two seconds, against masses that know nothing of hinges."""
    order = in_order(robot)
    q = np.zeros(15)
    q[order] = START
    run = rd.simulate(robot, q0=q, duration=2.0, step=1e-3)

    def rates(t, x):
        r, u = x.reshape(2, 5, 3)
        return np.concatenate([u.ravel(), (forces(r) / MASSES[:, None]).ravel()])

    x0 = np.concatenate([positions(robot, q).ravel(), np.zeros(15)])
    free = solve_ivp(rates, (0.0, 2.0), x0, "DOP853", rtol=1e-12, atol=1e-12)
    found = positions(robot, run.q[-1])
    np.testing.assert_allclose(found.ravel(), free.y[:15, -1], atol=1e-7)
    np.testing.assert_allclose(run.energy, run.energy[0], atol=1e-8)
