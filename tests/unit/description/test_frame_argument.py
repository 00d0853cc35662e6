"""Frames are given in one way wherever a user names one."""

import numpy as np
import pytest

import robodyn as rd

OFFSET = (0.1, 0.2, -0.3)
POSE = np.eye(4)
POSE[:3, 3] = OFFSET


def accelerations(option, made):
    robot = rd.load("double_pendulum", **{option: [made]})
    q = robot.assemble([0.4, 0.5])
    v = robot.consistent_velocity(q, [0.3, -0.2])
    return robot.forward_dynamics(q, v, [0.1, 0.2])


def force(frame):
    return rd.Force(lambda X, twist, t: list(-twist), on=frame)


def spring(frame):
    return rd.Force(None, between=("world", frame), potential=lambda x: 3.0 * x[:3] @ x[:3])


def rod(frame):
    return rd.FrameConstraint("rod", "distance", (frame, "tip"), distance=1.2)


def ball(frame):
    return rd.Rolling("ball", "lower", (0.0, 0.0, -1.0), 0.2, on=frame)


@pytest.mark.parametrize(
    ("option", "make", "link"),
    [
        ("forces", force, "lower"),
        ("forces", spring, "lower"),
        ("constraints", rod, "world"),
    ],
)
def test_a_link_and_an_offset_stand_for_poses(option, make, link):
    for short, pose in ((link, np.eye(4)), ((link, OFFSET), POSE)):
        found, wanted = (accelerations(option, make(x)) for x in (short, (link, pose)))
        np.testing.assert_array_equal(found, wanted)


def test_places_of_planes_sensors_and_tools():
    flat = np.eye(4)
    flat[2, 3] = -1.5
    found, wanted = (
        accelerations("constraints", ball(("world", X))) for X in ((0.0, 0.0, -1.5), flat)
    )
    np.testing.assert_array_equal(found, wanted)
    arm = rd.load("double_pendulum", sensors=[rd.Sensor("position", at=("tip", OFFSET))])
    tool = arm.with_(frames={"tool": ("tip", OFFSET)})
    q = [0.3, -0.4]
    place = (arm.frame_pose(q, "tip") @ POSE)[:3, 3]
    np.testing.assert_allclose(arm.measure(q)["position_tip"], place, atol=1e-15)
    np.testing.assert_allclose(tool.frame_pose(q, "tool")[:3, 3], place, atol=1e-15)


@pytest.mark.parametrize(
    "given", [("tip", (0.0, 1.0)), ("tip", (0.0, np.nan, 1.0)), ("tip", 3.0), ("tip",), 3.0]
)
def test_what_is_no_frame_is_refused_everywhere(given):
    for make in (force, spring, rod, ball, lambda x: rd.Sensor("position", at=x)):
        with pytest.raises((rd.ShapeError, TypeError)):
            make(given)
    with pytest.raises(rd.ShapeError, match="tool"):
        rd.load("double_pendulum").with_(frames={"tool": given})
