"""A listener holds a simulated robot, in two processes, by inverse dynamics."""

import subprocess
import sys

import numpy as np
import pytest
from client import by_name
from sensor_msgs.msg import JointState
from std_msgs.msg import Float64MultiArray

import robodyn as rd

HOLD = """
import sys
import robodyn as rd
from robodyn.ros import StateListener
robot = rd.load(sys.argv[1])
q0 = robot.neutral()
hold = lambda t, q, v: 100.0 * robot.difference(q, q0) - 20.0 * v
StateListener(robot, hold, efforts=sys.argv[2]).spin()
"""


@pytest.fixture
def listener(domain):
    started = []

    def start(robot, topic):
        started.append(
            subprocess.Popen(
                [sys.executable, "-c", HOLD, robot, topic], stderr=subprocess.PIPE, text=True
            )
        )
        return started[-1]

    yield start
    for process in started:
        process.kill()
        process.wait()


@pytest.mark.parametrize("name", ["puma560", "palletizer"])
def test_a_robot_is_held(launch, client, listener, name):
    launch("publish", name, "--controller", "gravity")
    states = client.states()
    client.some(states)
    listener(name, "/robodyn/commands")
    robot = rd.load(name)
    start = robot.neutral()
    client.run(4.0)
    state = by_name(client.some(states, 20))
    q = np.array([state[n] for n in robot.joint_names])
    assert np.abs(q - start).max() < 0.02
    assert np.abs(states[-1].effort).max() > 1.0


def test_missing_joints_are_reported_and_loops_are_assembled(client, listener):
    robot = rd.load("palletizer")
    process = listener("palletizer", "/efforts")
    efforts = client.listen(Float64MultiArray, "/efforts")
    publisher = client.publisher(JointState, "/joint_states")
    motors = robot.actuated_joints
    for _ in range(20):
        publisher.publish(JointState(name=["waist"], position=[0.0]))
        client.run(0.02)
    assert not efforts
    q = robot.neutral()
    at = {n: float(q[robot.joints[n].q.start]) for n in motors}
    publisher.publish(JointState(name=list(at), position=list(at.values())))  # motors only
    found = client.some(efforts)
    zero = np.zeros(robot.nv)
    expected = robot.inverse_dynamics(q, zero, zero)
    wanted = [expected[robot.joints[n].v.start] for n in ("waist", "shoulder")]
    np.testing.assert_allclose(found.data[:2], wanted, rtol=1e-6, atol=1e-6)
    process.kill()
    said = process.communicate()[1]
    assert said.count("joint state not used: no measurement of") == 1
    assert "shoulder" in said
