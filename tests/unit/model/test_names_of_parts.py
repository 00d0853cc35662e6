"""Names of the speeds of joints that have several, whatever other joints are called."""

import dataclasses

import numpy as np
import pytest

import robodyn as rd
from robodyn.ros.states.messages import StateNames


def named(*names):
    """A universal joint, which has two speeds, and others after it."""
    kinds = ["universal", *["revolute"] * (len(names) - 1)]
    links = [rd.Link(f"link{k}", rd.Inertia(1.0, ixx=1.0, iyy=1.0, izz=1.0)) for k in range(9)]
    joints = [
        rd.Joint(name, kind, f"link{k}", f"link{k + 1}", rd.Pose((0.1, 0.2, 0.3)))
        for k, (name, kind) in enumerate(zip(names, kinds, strict=True))
    ]
    return rd.load(rd.Mechanism("r", tuple(links[: len(names) + 1]), tuple(joints)))


@pytest.mark.parametrize(
    ("names", "parts"),
    [
        (("hook", "a", "b"), ("hook[0]", "hook[1]")),
        (("hook", "hook[0]", "hook[2]"), ("hook[[0]]", "hook[[1]]")),
        (("hook", "hook[[1]]", "hook[1]"), ("hook[[[0]]]", "hook[[[1]]]")),
        (("hook", "hook[7]", "b"), ("hook[0]", "hook[1]")),
    ],
)
def test_parts_have_names_of_their_own(names, parts, tmp_path):
    robot = named(*names)
    assert StateNames(robot).names == (*parts, *names[1:])
    assert robot.forward_dynamics(robot.neutral(), np.zeros(4), np.zeros(4)).shape == (4,)
    q = np.array([0.1, -0.2, 0.4, 0.7])
    run = rd.simulate(robot, q0=q, v0=0.1 * q, duration=0.02, step=1e-3)
    for ending in ("csv", "npz"):
        run.save(tmp_path / f"run.{ending}")
        again = rd.Trajectory.load(tmp_path / f"run.{ending}", robot)
        np.testing.assert_allclose(again.q, run.q, atol=1e-9)
    np.testing.assert_array_equal(run[parts[1]].v, run.v[:, 1])
    np.testing.assert_array_equal(run[names[1]].v, run.v[:, 2])
    still = rd.JointPath.from_function(lambda t: ([0.3], [0.0], [0.0]))
    held = rd.simulate(robot, q0=[0.1, 0.3, 0.0, 0.0], controlled={parts[1]: still}, duration=0.01)
    assert np.ptp(held.v[:, 1]) == 0.0
    assert np.ptp(held.v[:, 2]) > 0.0


def test_parts_that_are_not_there_are_told():
    robot = named("hook", "hook[0]", "b")
    run = rd.simulate(robot, duration=0.002)
    for name in ("hook[[3]]", "hook[1]", "hook[[99999999999]]"):
        with pytest.raises(rd.UnknownNameError):
            run[name]


def test_motors_of_joints_that_are_not_there_are_refused():
    pendulum = rd.load("double_pendulum").mechanism
    described = dataclasses.replace(pendulum, actuators=(("wrist", rd.Actuator(torque_limit=1.0)),))
    with pytest.raises(rd.UnknownNameError, match="no joint 'wrist' in 'double_pendulum', which"):
        rd.load(described)
