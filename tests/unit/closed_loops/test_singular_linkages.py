"""Dead points and singular postures of linkages: never silent, never NaN."""

import dataclasses
import functools

import numpy as np
import pytest
from scipy.optimize import least_squares
from support.overconstrained_linkages import ring
from support.rigid_robots import load

import robodyn as rd
from robodyn import urdf
from robodyn.description import Pose
from robodyn.errors import SingularWarning


def dead_point(robot):
    """Crank and rod in one line."""
    angle = np.arctan2(0.04, 0.03)
    q = robot.assemble([angle, 0.0, 0.0], hold=["crank_drive"])
    assert robot.mobility(q) == 1
    return q


def test_the_slider_cannot_drive_at_the_dead_point():
    robot = load("crank_slider")
    q, v = dead_point(robot), np.zeros(3)
    a = robot.consistent_acceleration(q, v, np.ones(3))
    with pytest.raises(rd.ActuationError) as caught:
        robot.inverse_dynamics(q, v, a, actuated=["cylinder"])
    direction = caught.value.direction
    assert abs(direction[0]) > 0.1 and abs(direction[2]) < 1e-9
    # the crank can, and nothing drives the slider where it rests
    tau = robot.inverse_dynamics(q, v, a)
    np.testing.assert_allclose(robot.forward_dynamics(q, v, tau), a, atol=1e-9)
    push = robot.forward_dynamics(q, v, [0.0, 0.0, 100.0])
    np.testing.assert_allclose(push, robot.forward_dynamics(q, v, np.zeros(3)), atol=1e-7)


def test_the_slider_as_leader_at_the_dead_point():
    robot = load("crank_slider")
    with pytest.raises(rd.ActuationError):
        robot.hybrid_dynamics(dead_point(robot), np.zeros(3), controlled={"cylinder": 1.0})


def parallelogram():
    """A four-bar of two equal pairs of bars: flat, it can change into its crossed branch."""
    mechanism = urdf.load_mechanism("four_bar")
    places = {
        "crank_pin": (0.2, 0.0, 0.0),
        "rocker_pivot": (0.5, 0.0, 0.0),
        "rocker_end_fixed": (0.2, 0.0, 0.0),
        "rocker_pin": (0.5, 0.0, 0.0),
    }
    joints = tuple(
        dataclasses.replace(j, origin=Pose(places.get(j.name, (0.0, 0.0, 0.0))))
        for j in mechanism.joints
    )
    return dataclasses.replace(mechanism, joints=joints)


def test_a_flat_parallelogram_has_one_freedom_more():
    robot = rd.load(parallelogram(), passive=False)
    flat, bent = np.zeros(3), np.array([0.4, -0.4, 0.4])
    np.testing.assert_allclose(robot.loop_residual(np.stack([flat, bent])), 0.0, atol=1e-12)
    assert (robot.mobility(flat), robot.mobility(bent)) == (2, 1)
    at = flat, np.zeros(3), np.zeros(3)
    for ask in (robot.forward_dynamics, robot.inverse_dynamics, robot.joint_wrenches):
        with pytest.raises(rd.SingularError, match="singular posture"):
            ask(*at)
    with pytest.raises(rd.SingularError, match="singular posture"):
        robot.hybrid_dynamics(*at[:2], controlled={"crank_drive": 1.0})
    # the constraints as they stand, whose rank the result tells
    found = robot.constrained_dynamics(*at)
    assert int(found.rank) == 1
    assert np.abs(robot.loop_jacobian(flat) @ found.a).max() < 1e-9


def tilted_parallelogram():
    """The same; it is flat where the crank stands at this angle, so that rounding has its way."""
    mechanism, (c, s) = parallelogram(), (np.cos(TILT), np.sin(TILT))
    joints = tuple(
        dataclasses.replace(j, origin=Pose((0.5 * c, 0.0, -0.5 * s)))
        if j.name == "rocker_pivot"
        else j
        for j in mechanism.joints
    )
    return dataclasses.replace(mechanism, joints=joints)


@functools.cache
def tilted():
    return rd.load(tilted_parallelogram(), passive=False)


TILT = 0.7
FREE = np.array([False, True, True])


@pytest.mark.parametrize("how", ["exact", "assembled", "drifted"])
@pytest.mark.parametrize("moving", [False, True])
@pytest.mark.parametrize("offset", [0.0, *10.0 ** np.arange(-16.0, 0.0)])
def test_near_the_flat_posture(offset, moving, how):
    """Six digits of what the parallelogram does, as it is known to be one, or an error."""
    robot = tilted()
    q = np.array([TILT + offset, -offset, TILT + offset])
    rng, along = np.random.default_rng(0), np.array([1.0, -1.0, 1.0])
    away = q + FREE * rng.normal(size=3) * min(1e-7, 0.1 * offset)
    tau = np.array([1.0, 0.0, 0.0])
    try:
        if how == "assembled":
            q = robot.assemble(away, hold=["crank_drive"])
        elif how == "drifted":
            q, _ = robot.closed_state(away, np.zeros(3), FREE)
        v = robot.consistent_velocity(q, moving * np.array([1.0, -0.3, 0.5]))
        a = robot.forward_dynamics(q, v, tau)
    except (rd.SingularError, rd.AssemblyError):
        assert offset < 5e-3, "so far from the flat posture the motion is determined"
        return
    M, h = robot.mass_matrix(q), robot.bias_forces(q, v)
    expected = along * (along @ (tau - h)) / (along @ M @ along)
    np.testing.assert_allclose(a, expected, rtol=1e-6)
    back = robot.inverse_dynamics(q, v, a)
    np.testing.assert_allclose(back, tau, rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize("offset", [*10.0 ** np.arange(-10.0, -1.0), 0.3])
def test_the_distance_of_a_parallelogram_grows_with_the_angle_from_flat(offset):
    robot = tilted()
    q = [[TILT + x, -x, TILT + x] for x in (offset, -offset)]
    # slopes along the ground [1, 0, -1] 0.2 sin(offset), and across it [0.7, 0.5, -0.2], both over
    # the longest link, 0.5: what the first have outside the second
    expected = 0.4 * np.sqrt(2.0 - 0.9**2 / 0.78) * np.sin(offset)
    np.testing.assert_allclose(robot.loop_rank(q).distance, expected, rtol=2e-2)


def test_a_robot_that_is_flat_at_zero_starts_beside_it():
    """Its degrees of freedom are those of regular postures, and it is told that zero is none."""
    flat = np.zeros(3)
    with pytest.warns(SingularWarning, match="zero position .* mobility 2 there, 1 in regular"):
        robot = rd.load(parallelogram(), passive=False)
        assert robot.dof == 1
    q = robot.neutral()
    np.testing.assert_array_equal(rd.load(parallelogram(), passive=False).neutral(), q)
    assert robot.mobility(flat) == 2 and robot.mobility(q) == 1
    assert 0.0 < np.abs(q).max() < 0.5
    assert np.isfinite(robot.forward_dynamics(q, np.zeros(3), np.zeros(3))).all()
    for seed in range(8):
        other = robot.random(seed)
        assert np.abs(robot.loop_residual(other)).max() < 1e-9 and robot.mobility(other) == 1


def test_a_start_that_is_singular_stays_where_it_was_wished():
    robot = rd.load(parallelogram(), passive=False, near={"crank_drive": 0.0})
    with pytest.warns(SingularWarning, match="the start of .* mobility 2 there, 1 in regular"):
        assert robot.dof == 1
    np.testing.assert_array_equal(robot.neutral(), np.zeros(3))
    assert robot.mobility(robot.random(1)) == 1


def test_a_speed_that_a_dead_point_forbids_is_told_with_the_posture():
    """The piston is at rest where crank and rod are in line; elsewhere its speed is a choice."""
    robot = load("crank_slider")
    q = dead_point(robot)
    told = rf"'cylinder' contradict .* at q = {q[0]:.6g}, .* least singular value .* is \d"
    with pytest.raises(rd.AssemblyError, match=told):
        robot.consistent_velocity(q, [0.0, 0.0, 1.0], hold=["cylinder"])
    bent = robot.assemble([q[0] + 0.4, 0.0, 0.0], hold=["crank_drive"])
    v = robot.consistent_velocity(bent, [0.0, 0.0, 1.0], hold=["cylinder"])
    np.testing.assert_allclose(robot.loop_jacobian(bent) @ v, 0.0, atol=1e-9)
    with pytest.raises(rd.AssemblyError, match="1 speeds can be chosen there: hold fewer"):
        robot.consistent_velocity(bent, [1.0, 0.0, 1.0], hold=["cylinder", "crank_drive"])


@pytest.mark.slow
def test_speeds_where_more_rows_count_than_elsewhere():
    """Ways of assembly in which the rank of an overconstrained linkage is another one."""
    mechanism, motors = ring("line_symmetric", 0)
    robot = rd.load(mechanism, actuators={m: rd.Actuator() for m in motors}, passive=False)
    rng, q = np.random.default_rng(0), []
    while len(q) < 4:
        found = least_squares(robot.loop_residual, rng.uniform(-3.0, 3.0, robot.nq), xtol=1e-15)
        sizes = np.linalg.svd(robot.loop_jacobian(found.x), compute_uv=False)
        if np.abs(found.fun).max() < 1e-12 and sizes[-1] > 0.05:
            q.append(found.x)
    q = np.array(q)
    assert np.linalg.matrix_rank(robot.loop_jacobian(robot.random(0)), 1e-6) < robot.nv
    v = robot.consistent_velocity(q, rng.normal(size=q.shape))
    assert np.abs(np.einsum("nij,nj->ni", robot.loop_jacobian(q), v)).max() < 1e-9
    for x, y in zip(q, v, strict=True):
        w = rng.normal(size=robot.nv)
        assert np.abs(robot.loop_jacobian(x) @ robot.consistent_velocity(x, w)).max() < 1e-9
        K, bias = robot.loop_jacobian(x), robot.loop_bias(x, y)
        try:
            a = robot.consistent_acceleration(x, y, w)
        except (rd.AssemblyError, rd.SingularError):
            continue
        assert np.abs(K @ a + bias).max() < 1e-8
        closed, held = robot.closed_state(x, y)
        assert np.abs(robot.loop_jacobian(closed) @ held).max() < 1e-9


def test_a_posture_elsewhere_that_loops_hold_in_more_ways():
    """Constraints leave a line, and besides a point near by, at which they hold everything."""

    def hold(q):
        x, y = q
        return [y * (y - 0.2), y * (x - 0.1)]

    inertia = rd.Inertia(2.0, ixx=0.1, iyy=0.1, izz=0.1)
    joints = (
        rd.Joint("left", "prismatic", "ground", "carriage", axis=(1.0, 0.0, 0.0)),
        rd.Joint("right", "prismatic", "carriage", "slide", axis=(0.0, 1.0, 0.0)),
    )
    links = (rd.Link("ground"), rd.Link("carriage", inertia), rd.Link("slide", inertia))
    mechanism = rd.Mechanism("table", links, joints, ())
    constraint = rd.Constraint("hold", hold, ("left", "right"))
    robot = rd.load(mechanism, constraints=[constraint], gravity=(3.0, -5.0, 0.0))
    assert robot.dof == 1
    np.testing.assert_allclose(robot.neutral(), 0.0)
    for q in (np.zeros(2), np.array([0.3, 0.0])):
        a = robot.forward_dynamics(q, np.zeros(2), [8.0, 0.0])
        np.testing.assert_allclose(a, [5.0, 0.0], atol=1e-12)  # 3 + 8 N / 4 kg
    held = np.array([0.1, 0.2])
    assert robot.mobility(held) == 0
    np.testing.assert_allclose(
        robot.forward_dynamics(held, np.zeros(2), [8.0, 0.0]), 0.0, atol=1e-12
    )
