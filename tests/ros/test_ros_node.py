"""How a node begins, what it tells and refuses, and how it ends."""

from __future__ import annotations

import signal
import subprocess
import sys
import time

import numpy as np
import pytest
from client import by_name
from geometry_msgs.msg import WrenchStamped
from lifecycle_msgs.srv import GetState
from sensor_msgs.msg import JointState
from std_msgs.msg import Float64MultiArray
from test_ros_simulation import trajectory
from trajectory_msgs.msg import JointTrajectory, JointTrajectoryPoint

import robodyn as rd
from robodyn.cli import main
from robodyn.ros.rclpy.access import optional


@pytest.mark.parametrize("arguments", [[], ["--lifecycle"]])
@pytest.mark.parametrize("end", [signal.SIGTERM, signal.SIGINT])
def test_a_signal_ends_a_node_with_a_summary(launch, client, arguments, end):
    process = launch("publish", "double_pendulum", *arguments)
    seen = lambda: "robodyn" in client.node.get_node_names()  # noqa: E731
    client.until(seen)
    if arguments:
        client.call(GetState, "/robodyn/get_state")
    else:
        client.some(client.states(), 5)
    process.process.send_signal(end)
    process.process.wait(timeout=60)
    assert process.stop() == 0, process.text
    assert " states published, " in process.text
    assert "Traceback" not in process.text and "rosout" not in process.text
    client.until(lambda: not seen())


@pytest.mark.parametrize("end", [[signal.SIGTERM], 2 * [signal.SIGINT], 900 * [signal.SIGTERM]])
def test_signals_right_after_the_first_line_end_a_node_with_a_summary(launch, end):
    """Two, as a terminal and ``ros2 launch`` both send one; or until it has ended."""
    process = launch("publish", "palletizer")
    while " loop constraints; commands: " not in process.text:
        assert process.process.poll() is None, process.text
        time.sleep(1e-4)
    for number in end:
        process.process.send_signal(number)  # nothing to one that has ended
        time.sleep(1e-3)
    process.process.wait(timeout=60)
    assert process.stop() == 0, process.text
    assert " states published, " in process.text
    assert "Traceback" not in process.text


def test_a_signal_ends_a_node_that_is_starting(launch):
    process = launch("publish", "palletizer")
    time.sleep(0.7)
    process.process.send_signal(signal.SIGTERM)
    process.process.wait(timeout=60)
    assert process.stop() in (0, 130, -signal.SIGTERM), process.text
    assert "Traceback" not in process.text


def test_each_refusal_is_told(launch, client):
    process = launch("publish", "puma560", "--controller", "gravity")
    client.some(client.states())
    paths = client.publisher(JointTrajectory, "/robodyn/joint_trajectory")
    commands = client.publisher(Float64MultiArray, "/robodyn/commands")
    for names, points in (
        (["knee"], (2.0, [0.1])), (["joint1"], (2.0, [3.0])), (["joint1"], (0.05, [0.9])),
        (["elbow"], (2.0, [0.1])),
    ):  # fmt: skip
        paths.publish(trajectory(names, points))
        client.run(0.3)
    for values in ([1.0], [2.0, 3.0], [float("nan")] * 6):
        client.command(commands, values)
        client.run(0.3)
    process.stop()
    told = [line for line in process.text.splitlines() if " ignored: " in line]
    assert len(told) == 7, process.text


def test_messages_that_are_too_large_are_not_made_objects(launch, client):
    """64 MB of numbers, and names of half a million joints; states come out all the while."""
    process = launch("publish", "puma560", "--controller", "gravity")
    states = client.states()
    client.some(states)
    commands = client.publisher(Float64MultiArray, "/robodyn/commands")
    paths = client.publisher(JointTrajectory, "/robodyn/joint_trajectory")
    named = client.publisher(JointState, "/robodyn/joint_commands")
    point = JointTrajectoryPoint(positions=[0.1])
    messages = [
        (commands, Float64MultiArray(data=np.zeros(8_000_000)), "64000"),
        (paths, JointTrajectory(joint_names=["a"] * 524_000, points=[point]), "524000 names"),
        (paths, JointTrajectory(joint_names=["joint1"], points=[point] * 6000), "6000 points"),
        (named, JointState(name=["joint1"] * 10_000), "bytes, at most"),
    ]
    for publisher, message, told in messages:
        publisher.publish(message)
        client.until(lambda told=told: told in process.text, 60.0, told)
        client.some(states, 20)
    process.stop()


def test_commands_by_name(launch, client):
    launch("publish", "puma560", "--ros-args", "-p", "interfaces:=[position]")
    states = client.states()
    client.some(states)
    commands = client.publisher(JointState, "/robodyn/joint_commands")
    commands.publish(JointState(name=["joint3", "joint1"], position=[0.1, 0.2]))
    client.until(lambda: abs(by_name(states[-1])["joint1"] - 0.2) < 1e-4)
    commands.publish(JointState(name=["joint1", "joint2"], position=[float("nan"), -0.1]))
    client.until(lambda: abs(by_name(states[-1])["joint2"] + 0.1) < 1e-4)
    np.testing.assert_allclose(states[-1].position[:3], [0.2, -0.1, 0.1], atol=1e-3)


def test_pins_that_close_loops_have_wrenches_in_prefixed_frames(launch, client):
    launch("publish", "four_bar", "--ros-args", "-p", "frame_prefix:=left/")
    wrench = client.some(client.listen(WrenchStamped, "/robodyn/joint_wrenches/rocker_pin"))
    robot = rd.load("four_bar")
    assert wrench.header.frame_id == "left/" + robot.joints["rocker_pin"].child
    wanted = {n for n, x in robot.joints.items() if x.kind.nv}
    topics = {name for name, _ in client.node.get_topic_names_and_types()}
    assert {f"/robodyn/joint_wrenches/{name}" for name in wanted} <= topics


@pytest.mark.skipif(optional("tf2_msgs"), reason="tf2_msgs is installed")
def test_tf_without_its_messages_is_an_error_that_names_them(domain, capfd):
    assert main(["publish", "puma560", "--ros-args", "-p", "publish_tf:=true"]) == 2
    error = capfd.readouterr().err
    assert "tf2_msgs" in error and "tf2-msgs" in error and "publish_tf:=false" in error


@pytest.mark.slow
def test_a_node_lives_through_hostile_commands(launch, client):
    """Efforts that reach singular postures, bad trajectories, full queues: alive, and all told."""
    process = launch("publish", "five_bar", "--controller", "gravity")
    states = client.states()
    client.some(states, 5)
    hostile = subprocess.Popen([sys.executable, __file__, "30"])
    stamps: list[int] = []
    try:
        while hostile.poll() is None:
            client.some(states, 50, seconds=30.0)
            for state in states[:-1]:
                stamps.append(state.header.stamp.sec * 10**9 + state.header.stamp.nanosec)
                assert np.isfinite(state.position).all() and np.isfinite(state.velocity).all()
                assert np.abs(state.position).max() < 1e4
            del states[:-1]
    finally:
        hostile.kill()
        hostile.wait()
    assert hostile.returncode == 0
    assert np.all(np.diff(stamps) > 0)
    assert process.process.poll() is None
    assert process.stop() == 0, process.text[-2000:]
    for told in (
        "numbers, expected",
        "not finite",
        "no commanded joint",
        "points",
        "leaves a limit",
    ):
        assert told in process.text, told
    assert "Traceback" not in process.text


def _hostile(seconds):
    from client import Client

    with Client() as client:
        rng, end = np.random.default_rng(0), time.monotonic() + seconds
        commands = client.publisher(Float64MultiArray, "/robodyn/commands")
        paths = client.publisher(JointTrajectory, "/robodyn/joint_trajectory")
        named = client.publisher(JointState, "/robodyn/joint_commands")
        bad = ([1.0], [float("nan")] * 2, [1e308, -1e308], [float("inf"), 0.0])
        efforts = rng.uniform(-50.0, 50.0, 2)
        while time.monotonic() < end:
            choice = rng.integers(200)
            if choice == 0:
                efforts = rng.uniform(-50.0, 50.0, 2)
            elif choice == 1:
                client.command(commands, bad[rng.integers(len(bad))])
            elif choice == 2:
                far = 10.0 ** rng.uniform(-1, 300, 2)
                paths.publish(trajectory(["left_drive"], (1.0, far[:1]), (1.1, far[1:])))
            elif choice == 3:
                paths.publish(trajectory(["knee"], (1.0, [0.1])))
                paths.publish(trajectory(["left_drive"], *[(1.0 + k, [0.1]) for k in range(6000)]))
            elif choice == 4:
                named.publish(JointState(name=["left_drive"], effort=[float("nan")]))
            else:
                for _ in range(5):
                    client.command(commands, efforts)
            time.sleep(0.001)


if __name__ == "__main__":
    _hostile(float(sys.argv[1]))
