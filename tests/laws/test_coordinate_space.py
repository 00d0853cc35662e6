"""The space of coordinates: steps in it, differences of postures, and rates of both.

What moves is looked at through the pose of the moved link, whose matrix knows nothing of
coordinates: ``exp`` and ``log`` of 4x4 matrices are scipy's.
"""

import numpy as np
import pytest
from scipy.linalg import expm, logm
from support.random_mechanisms import random_mechanism

import robodyn as rd
from robodyn.description import JOINT_KINDS
from robodyn.joints import joint_kind

#: Kinds whose coordinates do not add.
CURVED = ("planar", "spherical", "floating")
#: Kinds whose position is a quaternion.
QUATERNIONS = ("spherical", "floating")
STEP = 1e-5


def alone(kind, seed=0):
    """A robot of one joint with its axis along z, so that child axes are those of its speeds."""
    text = f"""<robot name="one"><link name="base"/><link name="body"><inertial>
    <origin xyz="0.3 -0.2 0.4"/><mass value="1"/>
    <inertia ixx="1" iyy="2" izz="2.5" ixy="0" ixz="0" iyz="0"/></inertial></link>
    <joint name="joint" type="{kind}"><parent link="base"/><child link="body"/>
    <axis xyz="0 0 1"/></joint></robot>"""
    robot = rd.load(text, gravity=(3.0, 5.0, -9.81))
    return robot, robot.random(np.random.default_rng(seed))


def hat(twist):
    """4x4 matrix of a body twist ``[linear; angular]``."""
    (vx, vy, vz), (x, y, z) = twist[:3], twist[3:]
    return np.array([[0, -z, y, vx], [z, 0, -x, vy], [-y, x, 0, vz], [0, 0, 0, 0.0]])


def full(kind, v):
    """Body twist, (6,), of the speeds of a joint."""
    at = {"planar": [0, 1, 5], "spherical": [3, 4, 5], "floating": range(6)}[kind]
    twist = np.zeros(6)
    twist[list(at)] = v
    return twist


def own(kind, matrix):
    """The speeds of a joint from the 4x4 matrix of its twist."""
    twist = np.array([*matrix[:3, 3], matrix[2, 1], matrix[0, 2], matrix[1, 0]])
    at = {"planar": [0, 1, 5], "spherical": [3, 4, 5], "floating": range(6)}[kind]
    return twist[list(at)]


@pytest.mark.parametrize("kind", CURVED)
def test_a_step_moves_the_body_along_a_screw(kind):
    robot, q = alone(kind)
    for v in np.random.default_rng(1).normal(size=(5, robot.nv)):
        moved = robot.frame_pose(robot.integrate(q, v), "body")
        expected = robot.frame_pose(q, "body") @ expm(hat(full(kind, v)))
        np.testing.assert_allclose(moved, expected, atol=1e-13)


@pytest.mark.parametrize("kind", CURVED)
def test_a_difference_is_the_screw_between_two_postures(kind):
    robot, q = alone(kind)
    for v in np.random.default_rng(2).normal(size=(5, robot.nv)):
        other = robot.integrate(q, v)
        X = np.linalg.solve(robot.frame_pose(q, "body"), robot.frame_pose(other, "body"))
        np.testing.assert_allclose(robot.difference(q, other), own(kind, logm(X).real), atol=1e-12)


@pytest.mark.parametrize("kind", QUATERNIONS)
@pytest.mark.parametrize("angle", [0.0, 0.3, 3.0, 3.4, 6.0])
def test_a_difference_takes_the_short_way_whatever_the_signs_of_the_quaternions(kind, angle):
    robot, q = alone(kind)
    axis = np.array([2.0, -1.0, 2.0]) / 3.0
    v = np.zeros(robot.nv)
    v[-3:] = angle * axis
    other = robot.integrate(q, v)
    short = angle if angle < np.pi else angle - 2 * np.pi
    for first, second in ((1, 1), (1, -1), (-1, 1), (-1, -1)):
        x, y = q.copy(), other.copy()
        x[-4:] *= first
        y[-4:] *= second
        found = robot.difference(x, y)
        np.testing.assert_allclose(found[-3:], short * axis, atol=1e-12)
        again = robot.frame_pose(robot.integrate(x, found), "body")
        np.testing.assert_allclose(again, robot.frame_pose(y, "body"), atol=1e-12)


@pytest.mark.parametrize("kind", QUATERNIONS)
def test_a_difference_is_exact_to_rounding_at_any_angle(kind):
    robot, start = alone(kind)
    rng = np.random.default_rng(3)
    for angle in (0.0, 1e-9, *np.linspace(0.1, 3.1, 11), np.pi - 1e-9):
        v = rng.normal(size=robot.nv)
        v[-3:] *= angle / np.linalg.norm(v[-3:])
        other = robot.integrate(start, v)
        np.testing.assert_allclose(robot.difference(start, other), v, rtol=0, atol=4e-15)


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("kind", QUATERNIONS)
def test_half_a_turn_is_one_of_the_two_ways_round(kind, dtype):
    robot, difference = alone(kind)[0], alone(kind)[0].function("difference")
    start, other = robot.neutral().astype(dtype), robot.neutral().astype(dtype)
    other[-4:] = 0.6, 0.0, -0.8, 0.0
    rounding = 4.0 * np.finfo(dtype).eps
    for sign in (1.0, -1.0):
        turn = difference(start, dtype(sign) * other)[-3:]
        assert turn.dtype == dtype and np.isfinite(turn).all()
        way = np.sign(turn[0]) * np.pi * np.array([0.6, 0.0, -0.8])
        np.testing.assert_allclose(turn, way, rtol=0, atol=rounding)


@pytest.mark.parametrize("kind", [kind for kind in JOINT_KINDS if kind != "fixed"])
def test_coordinates_change_as_steps_move_them(kind):
    robot = rd.load(random_mechanism(np.random.default_rng(3), [kind]))
    rng = np.random.default_rng(4)
    q, v = robot.random(rng), rng.normal(size=robot.nv)
    ahead, behind = robot.integrate(q, STEP * v), robot.integrate(q, -STEP * v)
    rate = (ahead - behind) / (2 * STEP)
    np.testing.assert_allclose(joint_kind(kind).coordinates.rates(q, v), rate, atol=1e-9)
    np.testing.assert_allclose(robot.coordinate_rates(q, v), rate, atol=1e-9)


@pytest.mark.parametrize(
    ("name", "options"), [("satellite", {"base": "floating"}), ("four_bar", {}), ("scara", {})]
)
def test_kinematical_equations_of_whole_robots(name, options):
    robot, rng = rd.load(name, **options), np.random.default_rng(6)
    q, v = robot.random(rng), rng.normal(size=robot.nv)
    ahead, behind = robot.integrate(q, STEP * v), robot.integrate(q, -STEP * v)
    found = robot.coordinate_rates(q, v)
    np.testing.assert_allclose(found, (ahead - behind) / (2 * STEP), atol=1e-8)
    if robot.nq == robot.nv:
        assert sum(robot.function("coordinate_rates").operations.values()) == 0


@pytest.mark.parametrize("kind", CURVED)
def test_the_rate_of_a_step_is_that_of_the_motion_it_leads_to(kind):
    """``u`` and ``v`` of one motion: ``exp(hat(u))`` moves with the body twist ``v``."""
    robot, _ = alone(kind)
    rng = np.random.default_rng(5)
    for u, rate in rng.normal(size=(5, 2, robot.nv)):
        u *= 0.1 / np.linalg.norm(u)
        X = expm(hat(full(kind, u)))
        ahead, behind = (expm(hat(full(kind, u + s * STEP * rate))) for s in (1, -1))
        v = own(kind, np.linalg.solve(X, (ahead - behind) / (2 * STEP)))
        # terms of fourth order in u are left out: 1e-4 / 720
        np.testing.assert_allclose(robot.tangent_rate(u, v), rate, atol=1e-6)
