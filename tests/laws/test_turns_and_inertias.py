"""Turns of a body, its rates and its inertia, on formulas [Wittenburg 1977, chapters 2 and 3].

O1 to O9 are the names of the oracles in the list of closed solutions that the tests go through.
"""

import numpy as np
import pytest
from support.random_mechanisms import random_mechanism

import robodyn as rd
from robodyn.description import Inertia, Joint, Link, Mechanism, Pose

X, Y, Z = (tuple(x) for x in np.eye(3))


def gimbals(axes, offsets=((0, 0, 0),) * 3):
    """Three hinges one in the other, their frames turned by roll, pitch, yaw."""
    bodies = [
        Link("base"),
        *(Link(f"ring{k}", Inertia(1.0, Pose(), 1, 0, 0, 1, 0, 1)) for k in range(3)),
    ]
    names = [link.name for link in bodies]
    joints = tuple(
        Joint(f"turn{k}", "revolute", names[k], names[k + 1], Pose((0, 0, 0), offsets[k]), axes[k])
        for k in range(3)
    )
    return rd.load(Mechanism("gimbals", tuple(bodies), joints), gravity=(0, 0, 0), rigid=True)


def skew(x):
    return np.cross(np.eye(3), x)


def test_o1_products_of_vectors():
    """[W 1.28, 1.29], as turns of frames of a robot use them."""
    robot = rd.load(random_mechanism(np.random.default_rng(1), ["revolute", "spherical"]))
    q, v = robot.random(2), np.random.default_rng(3).normal(size=robot.nv)
    R = robot.frame_pose(q, "link2")[:3, :3]
    w = robot.frame_twist(q, v, "link2", axes="world")[3:]
    own = robot.frame_twist(q, v, "link2", axes="body")[3:]
    np.testing.assert_allclose(R @ -skew(own) @ R.T, -skew(w), atol=1e-13)
    np.testing.assert_allclose(skew(w) @ skew(own), np.outer(own, w) - w @ own * np.eye(3))


def test_o2_three_hinges_are_eulers_and_bryants_angles():
    """[W 2.2, 2.5, 2.28, 2.31]: directions and rates, and the quaternion of the same turn."""
    a = np.array([0.3, 0.8, -1.1])
    (s1, s2, s3), (c1, c2, c3) = np.sin(a), np.cos(a)
    bryant = [
        [c2 * c3, c1 * s3 + s1 * s2 * c3, s1 * s3 - c1 * s2 * c3],
        [-c2 * s3, c1 * c3 - s1 * s2 * s3, s1 * c3 + c1 * s2 * s3],
        [s2, -s1 * c2, c1 * c2],
    ]
    euler = [
        [c1 * c3 - s1 * c2 * s3, s1 * c3 + c1 * c2 * s3, s2 * s3],
        [-c1 * s3 - s1 * c2 * c3, -s1 * s3 + c1 * c2 * c3, s2 * c3],
        [s1 * s2, -c1 * s2, c2],
    ]
    rates = {
        "bryant": [[c2 * c3, s3, 0], [-c2 * s3, c3, 0], [s2, 0, 1]],
        "euler": [[s2 * s3, c3, 0], [s2 * c3, -s3, 0], [c2, 0, 1]],
    }
    for name, axes, A in (("bryant", (X, Y, Z), bryant), ("euler", (Z, X, Z), euler)):
        robot = gimbals(axes)
        np.testing.assert_allclose(robot.frame_pose(a, "ring2")[:3, :3].T, A, atol=1e-14)
        J = robot.frame_jacobian(a, "ring2", axes="body")[3:]
        np.testing.assert_allclose(J, rates[name], atol=1e-14)


def test_o3_roll_pitch_yaw():
    """[W problem 2.3]: about fixed axes; passive matrices of the answer."""
    answer = np.array([[0, 0, -1], [0, 1, 0], [1, 0, 0]])
    h = np.pi / 2
    for rpy in ((h, h, h), (0.0, h, 0.0)):
        np.testing.assert_allclose(Pose((0, 0, 0), rpy).matrix[:3, :3].T, answer, atol=1e-15)
    whole = Pose((0, 0, 0), (np.pi,) * 3).matrix
    np.testing.assert_allclose(whole, np.eye(4), atol=1e-15)


def test_o4_angular_velocity_of_three_points():
    """[W problem 2.5]."""
    robot = rd.load("arm7", base="floating")
    q, v = robot.random(1), np.random.default_rng(4).normal(size=robot.nv)
    pose, twist = robot.frame_pose(q, "tool"), robot.frame_twist(q, v, "tool", axes="world")
    r = np.random.default_rng(5).normal(size=(3, 3)) @ pose[:3, :3].T
    u = twist[:3] + np.cross(twist[3:], r)
    (r1, r2, r3), (v1, v2, v3) = r, u
    top = np.cross(v1, v2) + np.cross(v2, v3) + np.cross(v3, v1)
    below = v1 @ (r2 - r3) + v2 @ (r3 - r1) + v3 @ (r1 - r2)
    np.testing.assert_allclose(2.0 * top / below, twist[3:], rtol=1e-9)


def test_o5_gimbals_whose_axes_are_not_orthogonal():
    """[W problem 2.7]: rates from the angular velocity, in closed form."""
    alpha, beta, q = 0.2, -0.3, np.array([0.4, 0.7, -0.5])
    robot = gimbals((X, Y, Z), ((0, 0, 0), (0, 0, alpha), (-beta, 0, 0)))
    w = np.array([0.3, -1.2, 0.8])
    _, (s2, c2), (s3, c3) = ((np.sin(x), np.cos(x)) for x in q)
    (sa, ca), (sb, cb) = ((np.sin(x), np.cos(x)) for x in (alpha, beta))
    n = sa * cb + s2 * ca * sb
    inverse = np.array(
        [
            [c3 * cb, -s3 * cb, 0],
            [c2 * s3 * ca + c3 * n, c2 * c3 * ca - s3 * n, 0],
            [-ca * (s2 * c3 + c2 * s3 * sb), ca * (s2 * s3 - c2 * c3 * sb), c2 * ca * cb],
        ]
    )
    J = robot.frame_jacobian(q, "ring2", axes="body")[3:]
    np.testing.assert_allclose(np.linalg.solve(J, w), inverse @ w / (c2 * ca * cb), atol=1e-13)


def parameters(inertia):
    """Mass, first moment and inertia about the link's origin, as a robot has them."""
    joint = Joint("turn", "spherical", "base", "body")
    links = Link("base"), Link("body", inertia)
    return rd.load(Mechanism("body", links, (joint,))).inertial_parameters


def test_o6_mohrs_circle():
    """[W problem 3.3]: elements of the matrix in axes that are turned about z."""
    one, turn = (0.6, 0.05, -0.03, 0.7, 0.04, 0.5), 0.7
    xx, xy, xz, yy, yz, _ = one
    # axes of the link are turned by -turn against those of the inertia
    _, _, _, _, *found = parameters(Inertia(1.0, Pose((0, 0, 0), (0, 0, -turn)), *one))
    c, s = np.cos(2 * turn), np.sin(2 * turn)
    assert found[0] == pytest.approx((xx + yy) / 2 + (xx - yy) / 2 * c + xy * s)
    assert found[1] == pytest.approx(-(xx - yy) / 2 * s + xy * c)
    assert found[3] == pytest.approx(xz * np.cos(turn) + yz * np.sin(turn))


def test_o7_a_tetrahedron():
    """[W problem 3.4]: its principal moments, by the rule of its corners."""
    corners = np.array([(0, 0, 0), (0.5, 0, 0), (0, 1, 0), (0, 1, -0.5)])
    mass, center = 0.5**2 / 6, corners.mean(axis=0)
    np.testing.assert_allclose(center, (0.125, 0.5, -0.125))
    arms = corners - center
    S = mass / 20 * (arms.T @ arms)  # the arms add up to zero
    J = np.trace(S) * np.eye(3) - S
    book = (
        mass
        * 6
        / 40
        * np.array(
            [
                [1 / 3 + 1 / 16, 1 / 12, -1 / 48],
                [1 / 12, 1 / 8, 1 / 12],
                [-1 / 48, 1 / 12, 1 / 3 + 1 / 16],
            ]
        )
    )
    np.testing.assert_allclose(J, book, atol=1e-16)
    moments = np.linalg.eigvalsh(Inertia.from_matrix(mass, center, J).matrix) / mass
    np.testing.assert_allclose(moments, [0.0117305898, 0.0625, 0.0632694102], atol=1e-10)


def test_o8_what_bodies_can_be():
    """[W 3.13, 3.14]: every cloud of points is one; moments 1, 1 and 2.1 are none."""
    for seed in range(20):
        points = np.random.default_rng(seed).normal(size=(4, 3))
        points -= points.mean(axis=0)
        S = points.T @ points
        parameters(Inertia.from_matrix(4.0, np.zeros(3), np.trace(S) * np.eye(3) - S))
    R = np.linalg.qr(np.random.default_rng(8).normal(size=(3, 3)))[0]
    with pytest.raises(rd.InertiaError):
        parameters(Inertia.from_matrix(1.0, np.zeros(3), R @ np.diag([1.0, 1.0, 2.1]) @ R.T))


def test_o9_a_disc_that_is_as_thin_as_can_be():
    """[W answer 3.2]: J11 is twice J23 for a disc at 45 degrees; a little less is no body."""
    r = 0.3
    n = np.array([0.0, 1.0, -1.0]) / np.sqrt(2)
    J = r**2 / 4 * (np.eye(3) + np.outer(n, n))
    assert J[0, 0] == pytest.approx(2.0 * abs(J[1, 2]), rel=1e-14)
    assert J[1, 1] == pytest.approx(3 * r**2 / 8)
    found = parameters(Inertia.from_matrix(1.0, np.zeros(3), J))
    assert found[4] == pytest.approx(2.0 * abs(found[8]), rel=1e-12)
    J[0, 0] *= 1.0 - 1e-3
    with pytest.raises(rd.InertiaError):
        parameters(Inertia.from_matrix(1.0, np.zeros(3), J))
