"""Springs in joints and between links: forces are slopes of the energy, work is accounted for."""

import numpy as np
import pytest
from support.random_mechanisms import random_mechanism
from support.slides import slides

import robodyn as rd

STEP = 1e-5
BETWEEN = (
    rd.PointSpring("link1", (0.1, 0.2, 0.3), "link4", (0.0, 0.5, 0.0), 30.0, 0.4, 2.0, "strut"),
    rd.PointSpring("world", (0.1, 0.2, 0.3), "link3", (0.0, 0.5, 0.0), 20.0),
    rd.WeightCompensation("link4", (0.1, 0.0, -0.2), mass=0.7),
)
IN_JOINTS = {"joint0": (5.0, 0.2), "joint3": (7.0, -0.4)}
KINDS = ["revolute", "prismatic", "spherical", "revolute"]


@pytest.fixture(scope="module", params=["fixed", "floating"])
def sprung(request):
    mechanism = random_mechanism(np.random.default_rng(1), KINDS)
    robot = rd.load(mechanism, base=request.param, springs=BETWEEN)
    robot = rd.load(robot.mechanism, base=request.param, springs=IN_JOINTS)
    rng = np.random.default_rng(2)
    q = robot.random(rng)
    return robot, q, *rng.normal(size=(2, robot.nv))


def slope(robot, function, q):
    h = STEP
    return np.array(
        [
            (function(robot.integrate(q, h * e)) - function(robot.integrate(q, -h * e))) / (2 * h)
            for e in np.eye(robot.nv)
        ]
    )


def test_forces_are_slopes_of_the_energy(sprung):
    robot, q, v, _ = sprung
    bare = robot.with_(passive=False)
    forces = robot.passive_forces(q, 0.0 * v)
    energy = slope(robot, lambda x: robot.potential_energy(x) - bare.potential_energy(x), q)
    np.testing.assert_allclose(forces, -energy, atol=1e-7 * np.abs(energy).max())


def test_gravity_forces_are_without_springs(sprung):
    robot, q, _, _ = sprung
    bare = robot.with_(passive=False)
    np.testing.assert_allclose(robot.gravity_forces(q), bare.gravity_forces(q), atol=1e-12)


def test_power_is_accounted_for(sprung):
    robot, q, v, tau = sprung
    a = robot.forward_dynamics(q, v, tau)
    np.testing.assert_allclose(robot.inverse_dynamics(q, v, a), tau, atol=1e-10)
    h = STEP

    def energy(sign):
        x, w = robot.integrate(q, sign * h * v), v + sign * h * a
        return robot.kinetic_energy(x, w) + robot.potential_energy(x)

    dampers = robot.passive_forces(q, v) - robot.passive_forces(q, 0.0 * v)
    assert dampers @ v < 0.0
    rate = (energy(1) - energy(-1)) / (2 * h)
    np.testing.assert_allclose(rate, (tau + dampers) @ v, rtol=1e-6, atol=1e-5)


def test_dampers_between_points_lose_what_their_length_changes_by():
    """Their power is ``- c (dl/dt)^2``: ``l`` and its rate from the poses of the links."""
    ends = (("link1", (0.1, 0.2, 0.3)), ("link4", (0.0, 0.5, 0.0)))
    damper = rd.PointSpring(*ends[0], *ends[1], 0.0, 0.0, 2.0, "damper")
    mechanism = random_mechanism(np.random.default_rng(1), KINDS)
    robot = rd.load(mechanism, springs=[damper])
    rng = np.random.default_rng(2)

    def length(q):
        first, second = (
            robot.frame_pose(q, link)[:3] @ np.append(point, 1.0) for link, point in ends
        )
        return np.linalg.norm(second - first)

    for _ in range(5):
        q, v = robot.random(rng), rng.normal(size=robot.nv)
        ahead, behind = (length(robot.integrate(q, s * STEP * v)) for s in (1, -1))
        rate = (ahead - behind) / (2 * STEP)
        power = robot.passive_forces(q, v) @ v
        assert abs(length(q) - 1.0) > 0.1, "the unit of length must not hide its power"
        np.testing.assert_allclose(power, -2.0 * rate**2, rtol=1e-6)


def test_a_damper_of_two_metres_pulls_as_one_of_half_a_metre():
    """By hand: 3 N s/m against 4 m/s along a rail, wherever the damper hangs."""
    damper = rd.PointSpring("ground", (0.0, 0.0, 0.0), "mass", (0.0, 0.0, 0.0), 0.0, 0.0, 3.0)
    robot = slides(2.0, link="mass", springs=[damper])
    for way in (2.0, 0.5):
        np.testing.assert_allclose(robot.passive_forces([way], [4.0]), [-12.0], rtol=1e-12)


def test_a_mass_on_a_spring_has_the_period_of_the_book():
    robot = slides(2.0, stiffness=50.0, rest=0.1)
    run = rd.simulate(robot, q0=[0.3], duration=1.0, step=1e-3)
    np.testing.assert_allclose(run.q[:, 0], 0.1 + 0.2 * np.cos(5.0 * run.t), atol=1e-9)


def test_joint_wrenches_hold_the_springs(sprung):
    robot, q, v, tau = sprung
    a = robot.forward_dynamics(q, v, tau)
    loads = robot.joint_wrenches(q, v, a)
    joint = robot.joints["joint3"]
    axis = robot.frame_jacobian(q, joint.child, relative_to=joint.parent)[:, joint.v]
    spring = -7.0 * (q[joint.q] + 0.4)
    np.testing.assert_allclose(axis.T @ loads.passive["joint3"], spring, atol=1e-10)
    np.testing.assert_allclose(axis.T @ loads.motor["joint3"], tau[joint.v], atol=1e-9)


def test_a_spring_between_points_that_never_part_does_no_work(double):
    """On the axis of the joint between its links; its length has no direction."""
    pinned = rd.PointSpring("upper", (0.0, 0.0, 0.0), "world", (0.0, 0.0, 0.0), 5.0, 0.2, 1.0)
    q, v, tau = np.array([[0.3, -0.8], [1.0, 2.0], [0.4, 0.5]])
    assert not double.frame_pose(q, "upper")[:3, 3].any()
    a = rd.load("double_pendulum", springs=[pinned]).forward_dynamics(q, v, tau)
    np.testing.assert_allclose(a, double.forward_dynamics(q, v, tau), rtol=1e-12)


@pytest.mark.parametrize(
    "element",
    [
        '<spring link1="a" link2="nowhere" stiffness="1"/>',
        '<spring link1="a" link2="world" stiffness="-1"/>',
        '<spring link1="a" link2="world" point1="1 2"/>',
        '<rotor name="w" link="nowhere" inertia="1"/>',
        '<rotor name="w" link="a"/>',
        '<rotor name="w" link="a" inertia="1" axis="0 0 0"/>',
    ],
)
def test_bad_elements_are_refused(element):
    with pytest.raises(rd.UrdfError) as caught:
        rd.load(f'<robot name="r"><link name="a"/>\n{element}</robot>')
    assert caught.value.line == 2


def test_bad_arguments_are_refused():
    with pytest.raises(rd.UnknownNameError):
        rd.load("double_pendulum", springs={"elbw": (1.0, 0.0)})
    with pytest.raises(rd.UnknownNameError):
        rd.load("double_pendulum", springs=[rd.PointSpring("nowhere", (0, 0, 0), "x", (0, 0, 0))])
    with pytest.raises(rd.UnknownNameError):
        rd.load("double_pendulum", rotors=[rd.Rotor("wheel", "nowhere", (0, 0, 1.0), 1.0)])
    with pytest.raises(rd.InertiaError):
        rd.load("double_pendulum", rotors=[rd.Rotor("wheel", "upper", (0, 1.0, 0), 1e3)])
