"""Constraints between joints do not say where their forces act: what they reach is refused."""

import numpy as np
import pytest

import robodyn as rd
from robodyn.description import Coupling, Inertia, Joint, Link, Mechanism, Mimic, Pose

M, R, J = 3.0, 0.1, 0.02


def body(mass, moment):
    return Inertia.from_matrix(mass, (0.0, 0.0, 0.0), np.eye(3) * moment)


def cart(*extra, **options):
    """A cart of 2 kg on a rail with a wheel that rolls, and an antenna of 1 kg on a hinge."""
    links = (Link("rail"), Link("cart", body(2.0, 1.0)), Link("wheel", body(M, J)))
    joints = (
        Joint("x", "prismatic", "rail", "cart", axis=(1.0, 0.0, 0.0)),
        Joint("axle", "continuous", "cart", "wheel", axis=(0.0, 1.0, 0.0)),
        Joint("antenna", "continuous", "cart", "rod", Pose((0.0, 0.0, 0.5)), axis=(1.0, 0.0, 0.0)),
    )
    rod = Link("rod", body(1.0, 0.1))
    roll = rd.Constraint("roll", lambda q, v: v[0] - R * v[1], ("x", "axle"), "nonholonomic")
    mechanism = Mechanism("cart", (*links, rod), (*joints, *extra))
    return rd.load(mechanism, constraints=[roll], gravity=(0, 0, 0), **options)


def pushed(robot):
    q = robot.neutral()
    return q, np.zeros(robot.nv), robot.forward_dynamics(q, np.zeros(robot.nv), [10.0, 0.0, 0.0])


def test_joints_that_the_force_of_a_constraint_may_reach_are_refused_by_name():
    robot = cart()
    wrenches = robot.joint_wrenches(*pushed(robot))
    assert list(wrenches) == ["antenna", "base"]
    for joint in ("x", "axle"):
        for mapping in (wrenches, wrenches.motor, wrenches.bearing, wrenches.in_frame("world")):
            with pytest.raises(
                rd.UndeterminedWrenchError, match=f"{joint!r} .*'roll' ties"
            ) as caught:
                mapping[joint]
            assert (caught.value.joint, caught.value.constraints) == (joint, ("roll",))
        with pytest.raises(rd.UndeterminedWrenchError):
            robot.joint_wrenches(*pushed(robot), joints=[joint])
        with pytest.raises(rd.UndeterminedWrenchError):
            robot.function("joint_wrenches", joints=(joint,))


def test_what_the_force_does_not_reach_is_right():
    """The antenna is carried along; all that is outside supplies the rate of momentum."""
    robot = cart()
    q, v, a = pushed(robot)
    wrenches = robot.joint_wrenches(q, v, a)
    np.testing.assert_allclose(wrenches["antenna"], [a[0], 0, 0, 0, 0, 0], atol=1e-12)
    np.testing.assert_allclose(wrenches["base"][0], (2.0 + M + 1.0) * a[0], rtol=1e-12)
    # the acceleration: the wheel counts with J / r^2 as well
    np.testing.assert_allclose(a[0], 10.0 / (6.0 + J / R**2), rtol=1e-12)


def test_joints_that_follow_one_of_a_constraint_carry_its_force_as_well():
    follower = Joint(
        "gear", "continuous", "rail", "disc", axis=(0.0, 1.0, 0.0), mimic=Mimic("axle", 2.0, 0.0)
    )
    robot = rd.load(
        Mechanism(
            "cart",
            (*cart().mechanism.links, Link("disc", body(1.0, 1.0))),
            (*cart().mechanism.joints, follower),
        ),
        constraints=[
            rd.Constraint("roll", lambda q, v: v[0] - R * v[1], ("x", "axle"), "nonholonomic")
        ],
    )
    wrenches = robot.joint_wrenches(*robot_state(robot))
    assert list(wrenches) == ["antenna", "base"]


def robot_state(robot):
    return robot.neutral(), np.zeros(robot.nv), np.zeros(robot.nv)


def test_a_constraint_on_one_joint_acts_in_that_joint_and_is_no_motor():
    crank = rd.Constraint("clock", lambda q, t: q[0] - 0.4 * t, ["crank_drive"])
    robot, free = rd.load("four_bar", constraints=[crank]), rd.load("four_bar")
    now = robot.at(0.1)
    q = now.neutral()
    v = now.consistent_velocity(q, np.zeros(robot.nv))
    tau = np.array([0.7, 0.0, 0.0])
    a = now.forward_dynamics(q, v, tau)
    loads = now.joint_wrenches(q, v, tau={"crank_drive": 0.7})
    np.testing.assert_allclose(
        loads["crank_drive"], free.joint_wrenches(q, v, a)["crank_drive"], atol=1e-9
    )
    axis = np.array(robot.mechanism.joints[0].axis)
    np.testing.assert_allclose(loads.motor["crank_drive"], [0, 0, 0, *(0.7 * axis)], atol=1e-9)
    total = sum(x["crank_drive"] for x in (loads.motor, loads.passive, loads.bearing))
    np.testing.assert_allclose(total, loads["crank_drive"], atol=1e-12)


@pytest.mark.parametrize("name", ["j0", "j1", "j2"])
def test_the_wheel_of_a_long_coupling_is_refused(name):
    links = (Link("ground"), *(Link(n, body(1.0, 0.1)) for n in ("a", "b", "c", "d")))
    joints = (
        Joint("j0", "continuous", "ground", "a"),
        Joint("j1", "continuous", "a", "b", Pose((0.3, 0.0, 0.0))),
        Joint("j2", "continuous", "ground", "c", Pose((0.0, 0.3, 0.0))),
        Joint("j3", "continuous", "b", "d", Pose((0.3, 0.0, 0.0))),
    )
    gears = Coupling("gears", predecessor="b", successor="c", ratio=2.0)
    robot = rd.load(Mechanism("gears", links, joints, couplings=(gears,)))
    wrenches = robot.joint_wrenches(*robot_state(robot))
    assert list(wrenches) == ["j3", "base"]
    with pytest.raises(rd.UndeterminedWrenchError, match="'gears'"):
        wrenches[name]


def test_wrenches_of_joints_that_a_rolling_constraint_alone_ties():
    """No row of it says where joints have to be: a posture is closed wherever it is."""
    joints = ("shoulder", "elbow")
    roll = rd.Constraint("roll", lambda q, v: v[0] - 0.08 * v[1], joints, "nonholonomic")
    robot = rd.load("double_pendulum", constraints=[roll])
    loads = robot.joint_wrenches([0.1, 0.2], [0.0, 0.0], [0.0, 0.0])
    assert list(loads) == ["base"]
    np.testing.assert_allclose(loads["base"][2], robot.total_mass * 9.81, rtol=1e-12)
