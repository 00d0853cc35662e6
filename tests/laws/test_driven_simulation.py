"""Simulations in which joints follow paths: power, torques, locks, and the same without paths."""

from dataclasses import replace

import numpy as np
import pytest
from support.motions import circling, swing
from support.random_mechanisms import random_mechanism

import robodyn as rd

KINDS = ["revolute", "universal", "prismatic", "helical"]
STEP = 2e-3


def both_axes(t):
    first, second = swing(t), swing(t, -0.3, 5.0)
    return tuple(np.array(pair) for pair in zip(first, second, strict=True))


@pytest.fixture(scope="module")
def robot():
    rng = np.random.default_rng(11)
    mechanism = random_mechanism(rng, KINDS, damping=0.3, friction=0.1)
    motors = {"joint0": rd.Actuator(10.0, 0.01), "joint3": rd.Actuator(-5.0, 0.01, viscous=1e-3)}
    return rd.load(mechanism, base="moving", actuators=motors, friction_speed=0.5)


def motions(base, t):
    """The base at many times."""
    parts = [base(x) for x in t]
    return rd.BaseMotion(
        *(np.array([getattr(p, n) for p in parts]) for n in ("pose", "twist", "acceleration"))
    )


PATHS = {
    "one joint": {"joint2": swing},
    "both axes": {"joint1": rd.JointPath(both_axes)},
    "one axis": {"joint1[1]": swing, "joint3": rd.JointPath(lambda t: swing(t, 1.0))},
    "all": {"joint0": swing, "joint1": both_axes, "joint2": swing, "joint3": swing},
}


def push(t, q, v):
    return 0.2 * np.cos(3.0 * t) * np.ones(len(v))


def run(robot, paths, controller=push, **options):
    return rd.simulate(
        robot,
        controller,
        base=circling,
        controlled=paths,
        duration=0.3,
        step=STEP,
        **options,
    )


@pytest.mark.slow
def test_a_robot_with_the_recorded_torques_moves_the_same(robot):
    moved = run(robot, PATHS["one joint"], None)

    def torque(t, q, v):  # held within a step: that of its middle
        return [np.interp(t + STEP / 2, moved.t, column) for column in moved.tau.T]

    full = rd.simulate(
        robot, torque, q0=moved.q[0], v0=moved.v[0], base=circling, duration=0.3, step=STEP
    )
    np.testing.assert_allclose(full.q, moved.q, atol=2e-5)
    assert np.abs(np.ptp(moved.q, axis=0)).min() > 0.01


def test_the_rest_of_a_driven_robot_moves_as_on_a_moving_base(robot):
    """R-CV3: with the first joint driven, all it carries is a robot on a moving base."""
    rng = np.random.default_rng(12)
    mechanism = random_mechanism(rng, ["revolute", "revolute", "prismatic"])
    mechanism = _chained(mechanism)
    whole, rest = rd.load(mechanism), rd.load(_beyond(mechanism), base="moving")

    def base(t):
        x, dx, ddx = swing(t)
        q, v, a = np.array([[x, 0, 0], [dx, 0, 0], [ddx, 0, 0]])
        return rd.BaseMotion(
            whole.frame_pose(q, "link1"),
            whole.frame_twist(q, v, "link1"),
            whole.frame_acceleration(q, v, a, "link1"),
        )

    moved = rd.simulate(whole, controlled={"joint0": swing}, duration=0.3, step=STEP)
    alone = rd.simulate(rest, base=base, duration=0.3, step=STEP)
    np.testing.assert_allclose(moved.q[:, 1:], alone.q, atol=1e-10)
    held = rest.joint_wrenches(alone.q, alone.v, alone.a, joints=(), base=motions(base, alone.t))
    torque = held["base"][:, 3:] @ np.array(mechanism.joints[0].axis)
    np.testing.assert_allclose(moved.tau[:, 0], torque, atol=1e-8)


def _chained(mechanism):
    joints = [replace(j, parent=f"link{i}") for i, j in enumerate(mechanism.joints)]
    return replace(mechanism, joints=tuple(joints))


def _beyond(mechanism):
    return replace(mechanism, links=mechanism.links[1:], joints=mechanism.joints[1:])


# -- locked joints -------------------------------------------------------------------------------


def test_locked_is_welded():
    mechanism = random_mechanism(np.random.default_rng(13), ["revolute", "prismatic", "revolute"])
    robot = rd.load(mechanism)
    welded = robot.with_(locked={"joint1": 0.4})
    start = np.array([0.1, 0.4, -0.2])
    locked = rd.simulate(robot, q0=start, locked="joint1", duration=0.3, step=STEP)
    other = rd.simulate(welded, q0=start[[0, 2]], duration=0.3, step=STEP)
    np.testing.assert_allclose(locked.q[:, [0, 2]], other.q, atol=1e-10)
