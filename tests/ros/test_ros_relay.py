"""A relay of joint states behind the real rclpy."""

import signal
import time

import numpy as np
import pytest
from client import by_name
from geometry_msgs.msg import WrenchStamped
from lifecycle_msgs.msg import Transition
from lifecycle_msgs.srv import ChangeState
from sensor_msgs.msg import JointState, MultiDOFJointState
from std_msgs.msg import Header

import robodyn as rd
from robodyn.cli import main
from robodyn.ros.rclpy.access import optional


def message(positions, seconds, velocity=(), effort=()):
    found = JointState(name=[*positions], position=[float(x) for x in positions.values()])
    found.header = Header()
    found.header.stamp.sec, found.header.stamp.nanosec = seconds, 7
    found.velocity = [float(x) for x in velocity]
    found.effort = [float(x) for x in effort]
    return found


@pytest.fixture
def relayed(launch, client):
    """Start a relay; what it answers, and a driver's publisher."""

    def start(robot, *arguments):
        process = launch("relay", robot, *arguments)
        answers = client.states("/relay/joint_states")
        return process, answers, client.publisher(JointState, "/joint_states")

    return start


def test_one_message_in_and_one_out_with_its_stamp(relayed, client):
    process, answers, driver = relayed("palletizer")
    loads = client.listen(WrenchStamped, "/relay/joint_wrenches/wrist_tie_pin")
    client.until(lambda: client.node.count_publishers("/relay/joint_wrenches/wrist_tie_pin"))
    client.run(0.5)
    robot = rd.load("palletizer")
    motors = robot.actuated_joints
    for k in range(1, 31):
        x = 0.02 * np.sin(0.1 * k) * np.arange(1, 5)
        driver.publish(message(dict(zip(motors, x, strict=True)), k, np.ones(4), np.ones(4)))
    client.until(lambda: len(answers) == 30 and len(loads) == 30)
    assert [(m.header.stamp.sec, m.header.stamp.nanosec) for m in answers] == [
        (k, 7) for k in range(1, 31)
    ]
    found = by_name(answers[-1])
    q = np.array([found[name] for name in robot.joint_names])
    v = np.array(answers[-1].velocity[: robot.nv])
    np.testing.assert_allclose(robot.loop_residual(q), 0.0, atol=1e-11)
    np.testing.assert_allclose(robot.loop_jacobian(q) @ v, 0.0, atol=1e-11)
    tau = np.zeros(robot.nv)
    tau[[robot.joints[name].v.start for name in motors]] = 1.0
    expected = robot.joint_wrenches(q, v, tau=tau)["wrist_tie_pin"]
    force = loads[-1].wrench.force
    np.testing.assert_allclose([force.x, force.y, force.z], expected[:3], rtol=1e-9, atol=1e-9)
    assert process.stop() == 0, process.text
    assert "30 of 30 joint states answered" in process.text
    assert optional("tf2_msgs") or "/tf is not published" in process.text


def test_bad_messages_are_told_of(relayed, client):
    process, answers, driver = relayed("five_bar")
    good = {"left_drive": 0.01, "right_drive": 0.0}
    wrong = JointState(name=["left_drive", "right_drive"], position=[0.0])
    for bad in (
        message({"left_drive": 0.0}, 2),
        wrong,
        message({**good, "left_elbow": 0.5}, 2),
        message({**good, "tool": np.inf}, 2),
        JointState(name=["x"] * 30_000),
    ):
        driver.publish(bad)
        client.run(0.1)
    assert not answers
    driver.publish(message({**good, "knee": 1.0}, 3))
    assert client.some(answers).header.stamp.sec == 3
    driver.publish(message(good, 2))
    assert client.some(answers).header.stamp.sec == 2
    assert process.stop() == 0
    for told in ("left_elbow was measured 0.5", "1 numbers for 2 names", "not finite", "bytes",
                 "no measurement of 'left_elbow, right_drive, right_elbow'", "knee",
                 "before the one that came before", "2 of 6 joint states answered"):  # fmt: skip
        assert process.text.count(told) == 1, (told, process.text)


def test_a_managed_relay(launch, client):
    process = launch("relay", "four_bar", "--lifecycle")
    answers = client.states("/relay/joint_states")

    def change(number):
        asked = Transition(id=number)
        return client.call(ChangeState, "/relay/change_state", transition=asked).success

    assert change(Transition.TRANSITION_CONFIGURE)
    assert not client.node.count_subscribers("/joint_states")
    assert change(Transition.TRANSITION_ACTIVATE)
    driver = client.publisher(JointState, "/joint_states")
    driver.publish(message({"crank_drive": 0.1}, 1))
    assert by_name(client.some(answers))["crank_drive"] == 0.1
    assert change(Transition.TRANSITION_DEACTIVATE)
    client.until(lambda: not driver.get_subscription_count())
    driver.publish(message({"crank_drive": 0.2}, 2))
    client.run(0.3)
    assert change(Transition.TRANSITION_ACTIVATE)
    client.until(lambda: driver.get_subscription_count())
    driver.publish(message({"crank_drive": 0.3}, 3))
    assert by_name(client.some(answers))["crank_drive"] == 0.3
    assert len(answers) == 2
    assert change(Transition.TRANSITION_DEACTIVATE)
    assert change(Transition.TRANSITION_CLEANUP)
    client.until(lambda: not client.node.count_publishers("/relay/joint_states"))
    assert process.stop() == 0, process.text
    assert "Traceback" not in process.text


def test_joints_of_many_freedoms(relayed, client):
    _, answers, driver = relayed("delta")
    wide = client.listen(MultiDOFJointState, "/relay/multi_dof_joint_states")
    client.until(lambda: client.node.count_publishers("/relay/multi_dof_joint_states"))
    client.run(0.5)
    driver.publish(message({f"drive{k}": 0.1 for k in (1, 2, 3)}, 1))
    client.some(answers)
    client.until(lambda: wide)
    assert wide[0].joint_names == ["left_ball1"] and not wide[0].twist


@pytest.mark.parametrize("end", [signal.SIGTERM, signal.SIGINT])
def test_a_signal_ends_a_relay(launch, client, end):
    process = launch("relay", "double_pendulum")
    client.until(lambda: "relay" in client.node.get_node_names())
    while "is answered on" not in process.text:
        assert process.process.poll() is None, process.text
        time.sleep(1e-3)
    process.process.send_signal(end)
    process.process.wait(timeout=60)
    assert process.stop() == 0, process.text
    assert "0 of 0 joint states answered" in process.text and "Traceback" not in process.text


def test_a_relay_does_not_listen_to_itself(domain, capsys):
    remapped = ["--ros-args", "-r", "~/joint_states:=joint_states"]
    for arguments in (["--answers", "joint_states"], remapped):
        assert main(["relay", "four_bar", *arguments]) == 2
        assert "cannot answer on /joint_states" in capsys.readouterr().err
