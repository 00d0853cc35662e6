"""Messages that make no sense, and partners that misbehave: the simulation goes on."""

import signal
import subprocess
import sys
import time

import numpy as np
import pytest
from client import Client
from sensor_msgs.msg import JointState
from std_msgs.msg import Float64MultiArray
from test_ros_simulation import trajectory
from trajectory_msgs.msg import JointTrajectory

from robodyn.cli import main


def assert_told_and_counted(text, refusal):
    """Told when it came first; how often it came again, in the end."""
    lines = [line for line in text.splitlines() if refusal in line]
    assert len(lines) == 2 and "more like it" not in lines[0], lines
    assert "more like it)" in lines[1]


def test_bad_commands_are_ignored_with_one_warning_each(launch, client):
    process = launch("publish", "puma560", "--controller", "gravity")
    states = client.states()
    client.some(states)
    commands = client.publisher(Float64MultiArray, "/robodyn/commands")
    for _ in range(20):
        client.command(commands, [1.0, 2.0])
        client.run(0.01)
    paths = client.publisher(JointTrajectory, "/robodyn/joint_trajectory")
    paths.publish(trajectory(["joint1", "knee"], (1.0, [0.1, 0.1])))
    client.run(0.2)
    assert abs(client.some(states, 5).position[0]) < 1e-9
    assert process.stop() == 0
    assert_told_and_counted(process.text, "a command has 2 numbers, expected 6")
    assert "no commanded joint 'knee'" in process.text


def test_numbers_that_are_none(launch, client):
    process = launch("publish", "puma560", "--controller", "gravity")
    states = client.states()
    client.some(states)
    commands = client.publisher(Float64MultiArray, "/robodyn/commands")
    paths = client.publisher(JointTrajectory, "/robodyn/joint_trajectory")
    for _ in range(10):
        client.command(commands, [float("nan")] * 6)
        paths.publish(trajectory(["joint1"], (1.0, [float("inf")])))
        client.run(0.02)
    assert abs(client.some(states, 5).position[0]) < 1e-9
    process.stop()
    assert_told_and_counted(process.text, "command ignored: a command holds numbers")
    assert_told_and_counted(process.text, "trajectory ignored")


def test_a_flood_of_commands(launch, client):
    launch("publish", "puma560", "--controller", "gravity")
    states = client.states()
    client.some(states, 10)
    flood = subprocess.Popen(
        [sys.executable, __file__], stdout=subprocess.DEVNULL, stderr=subprocess.STDOUT
    )
    try:
        client.run(1.0)
        client.some(states, 300)  # waits for some seconds at most
    finally:
        flood.kill()
        flood.wait()


def test_a_stall_is_made_up_for_while_services_answer(launch, client):
    process = launch("publish", "puma560", "--controller", "gravity")
    states = client.listen(JointState, "/joint_states", 1000)
    client.some(states, 50)
    process.process.send_signal(signal.SIGSTOP)
    client.run(0.5)
    first = len(states) - 1
    process.process.send_signal(signal.SIGCONT)
    assert client.trigger("/robodyn/reset").success
    client.some(states, 150)
    stamps = [s.header.stamp.sec * 10**9 + s.header.stamp.nanosec for s in states[first:]]
    gaps = np.diff(stamps) / 5e6  # in periods of 200 Hz
    assert gaps.max() < 1.5 and gaps.min() > 0.5


@pytest.mark.parametrize(
    "arguments, said",
    [
        (["--name", "a-b"], "Invalid node name"),
        (["--ros-args", "-p", "rate:=fast"], "rate is 'fast', expected a number"),
        (["--ros-args", "-p", "joints:=3"], "parameter 'joints'"),
        (["--ros-args", "nonsense"], "nonsense"),
        (["--duration", "1"], "without --dds has no --duration"),
    ],
)
def test_mistakes_at_the_start_are_told_in_a_line(domain, capfd, arguments, said):
    assert main(["publish", "double_pendulum", *arguments]) == 2
    error = capfd.readouterr().err
    assert "robodyn: " in error and said in error
    assert "Traceback" not in error


def test_a_subscriber_that_dies(launch, client):
    launch("publish", "puma560", "--controller", "gravity")
    states = client.states()
    client.some(states)
    code = (
        "import os, rclpy; from sensor_msgs.msg import JointState; rclpy.init();"
        "n = rclpy.create_node('dying');"
        "n.create_subscription(JointState, '/joint_states', lambda m: os._exit(9), 10);"
        "rclpy.spin(n)"
    )
    assert subprocess.run([sys.executable, "-c", code], timeout=60).returncode == 9
    client.some(states, 50)


def _flood():
    with Client() as client:
        commands = client.publisher(Float64MultiArray, "/robodyn/commands")
        msg = Float64MultiArray(data=[0.0] * 6)
        while True:
            commands.publish(msg)
            time.sleep(0.0001)


if __name__ == "__main__":
    _flood()
