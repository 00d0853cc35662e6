"""Augmented bodies, barycentric vectors [W 5.2.2, 5.2.4], and the mass matrix that they make."""

import dataclasses

import numpy as np
import pytest
from support.random_mechanisms import random_inertia, random_mechanism
from support.rod_chains import CENTRAL, END, ROD, Z

import robodyn as rd
from robodyn.description import Joint, Link, Mechanism, Pose

BALLS = ("spherical", "revolute", "universal", "spherical", "continuous", "revolute")


def random_tree(seed, **options):
    rng = np.random.default_rng(seed)
    return rd.load(random_mechanism(rng, BALLS), **options)


def without_rotors(name, base):
    return rd.load(dataclasses.replace(rd.load(name).mechanism, actuators=()), base=base)


ROBOTS = {
    "random": lambda base: random_tree(1, base=base),
    "another": lambda base: random_tree(2, base=base, rigid=True),
    "the other way round": lambda base: random_tree(3, base=base, root="link6"),
    "fixed links": lambda base: without_rotors("puma560", base),
    "payload": lambda base: without_rotors("arm7", base).with_(
        payload={"tool": rd.Inertia(3.0, Pose((0.1, 0.0, 0.0)))}
    ),
    "linkage": lambda base: without_rotors("four_bar", base),
}


def in_world(robot, q):
    """Barycentric vectors and the inertias about mass centres and hinges, in world axes."""
    bodies = robot.augmented_bodies
    R = np.array([robot.frame_pose(q, link)[:3, :3] for link in bodies.bodies])

    def turned(K):
        return R @ K @ np.swapaxes(R, 1, 2)

    b = np.einsum("iab,ijb->ija", R, bodies.vectors)
    d = np.einsum("iab,ijb->ija", R, bodies.from_inboard_hinge)
    return b, d, turned(bodies.inertias), turned(bodies.about_inboard_hinge)


def blocks(bodies, b, d, inertias, hinge):
    """The matrix of the angular velocities of all bodies: K_ij of [W 5.32] or [W 5.60]."""
    n, E = len(bodies.bodies), np.eye(3)
    K = np.zeros((n, n, 3, 3))
    for i in range(n):
        for j in range(n):
            M = bodies.masses[i]
            if i == j:
                K[i, i] = hinge[i] if d is not None else inertias[i]
            elif d is None:
                K[i, j] = M * (np.outer(b[j, i + 1], b[i, j + 1]) - b[j, i + 1] @ b[i, j + 1] * E)
            elif d[i, j].any():  # j is beyond i
                K[i, j] = M * (b[j, 0] @ d[i, j] * E - np.outer(b[j, 0], d[i, j]))
                K[j, i] = K[i, j].T
    return K


@pytest.mark.parametrize("name", ROBOTS)
def test_they_make_the_mass_matrix_of_a_robot_on_its_base(name):
    """[W 5.34]: bodies on a base that stands still."""
    robot = ROBOTS[name]("fixed")
    q, bodies = robot.random(np.random.default_rng(4)), robot.augmented_bodies
    b, d, inertias, hinge = in_world(robot, q)
    K = blocks(bodies, b, d, inertias, hinge)
    J = np.array([robot.frame_jacobian(q, link, axes="world")[3:] for link in bodies.bodies])
    M = np.einsum("iav,ijab,jbw->vw", J, K, J)
    np.testing.assert_allclose(M, robot.mass_matrix(q), atol=1e-11 * np.abs(M).max())


@pytest.mark.parametrize("name", ROBOTS)
def test_they_make_the_mass_matrix_of_a_free_robot(name):
    """[W 5.42, 5.61]: the whole mass in the mass centre, and turns about it."""
    robot = ROBOTS[name]("floating")
    q, bodies = robot.random(np.random.default_rng(5)), robot.augmented_bodies
    b, _, inertias, hinge = in_world(robot, q)
    K = blocks(bodies, b, None, inertias, hinge)
    J = np.array([robot.frame_jacobian(q, link, axes="world")[3:] for link in bodies.bodies])
    linear = robot.centroidal_matrix(q)[:3]
    M = linear.T @ linear / bodies.masses[0] + np.einsum("iav,ijab,jbw->vw", J, K, J)
    np.testing.assert_allclose(M, robot.mass_matrix(q), atol=1e-11 * np.abs(M).max())
    assert bodies.masses == pytest.approx(robot.total_mass)


@pytest.mark.parametrize("name", ROBOTS)
def test_mass_centres_lie_around_those_of_augmented_bodies(name):
    """[W 5.20, 5.53]: masses balance, and barycentric vectors lead to the common mass centre."""
    robot = ROBOTS[name]("floating")
    q, bodies = robot.random(np.random.default_rng(6)), robot.augmented_bodies
    b, *_ = in_world(robot, q)
    center = robot.center_of_mass(q)
    for k, link in enumerate(bodies.bodies):
        at = robot.frame_pose(q, link)
        own = at[:3, 3] + at[:3, :3] @ own_center(robot, link)
        assert own - center == pytest.approx(b[:, k + 1].sum(axis=0), abs=1e-12)


def own_center(robot, link):
    """Mass centre of a body in the frame of its first link; its hinge, if it has no mass."""
    k = robot.graph.vertices.index(link) - 1
    mass, *first = robot.inertial_parameters.reshape(-1, 10)[k, :4]
    return np.array(first) / mass if mass else np.zeros(3)


@pytest.mark.parametrize("n", [1, 2, 3, 7])
def test_s17_a_free_chain_of_equal_rods(n):
    """[W problem 5.8]: K_i* in closed form."""
    links = tuple(Link(f"rod{k + 1}", ROD) for k in range(n))
    joints = tuple(
        Joint(f"joint{k}", "spherical", f"rod{k}", f"rod{k + 1}", Pose(END), Z) for k in range(1, n)
    )
    chain = rd.load(Mechanism("chain", links, joints), base="floating")
    i = np.arange(1, n + 1)
    expected = CENTRAL + (-4 * i**2 + 4 * n * i + 4 * i - 3 * n - 1) / (4 * n)
    bodies = chain.augmented_bodies
    np.testing.assert_allclose(bodies.inertias[:, 2, 2], expected, rtol=1e-13)
    # nothing is at the hinge of a free body, which is put where c_11 is zero [W 5.41]
    np.testing.assert_array_equal(bodies.from_inboard_hinge[0, 0], 0.0)


def test_s12_seven_bodies_on_balls_with_arcs_either_way():
    """Fig. 5.10: what an augmented body carries where, and which vectors are the same."""
    plus, minus = (0, 6, 6, 4, 2, 2, 3), (1, 7, 1, 1, 1, 5, 2)
    rng = np.random.default_rng(12)
    links = [Link("body0"), *(Link(f"body{k}", random_inertia(rng)) for k in range(1, 8))]
    joints = [
        Joint(f"arc{a}", "spherical", f"body{i}", f"body{k}", Pose(rng.normal(size=3)))
        for a, (i, k) in enumerate(zip(plus, minus, strict=True), 1)
    ]
    robot = rd.load(Mechanism("seven", tuple(links), tuple(joints)), root="body0")
    bodies = robot.augmented_bodies
    place = {name: k for k, name in enumerate(bodies.bodies)}
    mass = {k: links[k].inertia.mass for k in range(1, 8)}

    def vector(i, j):
        return bodies.vectors[place[f"body{i}"], place[f"body{j}"] + 1 if j else 0]

    for j in (3, 5):
        np.testing.assert_array_equal(vector(1, 2), vector(1, j))
    np.testing.assert_array_equal(vector(1, 6), vector(1, 7))
    for j in (4, 6, 7, 0):
        np.testing.assert_array_equal(vector(2, 1), vector(2, j))
    balance = (mass[1] + mass[4] + mass[6] + mass[7]) * vector(2, 1)
    balance += mass[3] * vector(2, 3) + mass[5] * vector(2, 5) + mass[2] * vector(2, 2)
    np.testing.assert_allclose(balance, 0.0, atol=1e-12)
    np.testing.assert_allclose(bodies.masses, sum(mass.values()), rtol=1e-14)


def test_bodies_on_hinges_of_the_base_are_systems_of_their_own():
    rng = np.random.default_rng(9)
    links = [Link("base"), *(Link(f"link{k}", random_inertia(rng)) for k in range(3))]
    joints = [
        Joint("a", "revolute", "base", "link0", Pose((0.3, 0, 0)), Z),
        Joint("b", "revolute", "link0", "link1", Pose((0.2, 0, 0)), Z),
        Joint("c", "spherical", "base", "link2", Pose((0, 0.4, 0))),
    ]
    robot = rd.load(Mechanism("two", tuple(links), tuple(joints)))
    bodies, m = robot.augmented_bodies, [x.inertia.mass for x in links[1:]]
    np.testing.assert_allclose(bodies.masses, [m[0] + m[1], m[0] + m[1], m[2]], rtol=1e-14)
    q = robot.random(1)
    K = blocks(bodies, *in_world(robot, q))
    J = np.array([robot.frame_jacobian(q, link, axes="world")[3:] for link in bodies.bodies])
    M = np.einsum("iav,ijab,jbw->vw", J, K, J)
    np.testing.assert_allclose(M, robot.mass_matrix(q), atol=1e-12)


@pytest.mark.parametrize(
    ("robot", "says"),
    [
        ("scara", "is prismatic, and augmented bodies are rigid only where"),
        ("massless", "has no mass"),
        ("rows", r"ask robot.of_rows\(k\)"),
    ],
)
def test_where_nothing_is_constant(robot, says):
    if robot == "rows":
        robot = rd.load("arm7").with_(parameters={"link7.m": np.array([0.5, 1.0])})
    elif robot == "massless":
        joint = Joint("turn", "revolute", "base", "arm", axis=Z)
        robot = rd.load(
            Mechanism("massless", (Link("base"), Link("arm")), (joint,)), allow_unphysical=True
        )
    else:
        robot = rd.load(robot)
    with pytest.raises(rd.SettingsError, match=says):
        _ = robot.augmented_bodies
