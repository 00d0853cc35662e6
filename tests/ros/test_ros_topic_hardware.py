"""A node behind the topics of ros2_control's hardware, whose side is played; real rclpy."""

import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest
from rclpy.qos import QoSProfile, qos_profile_sensor_data
from sensor_msgs.msg import JointState
from std_msgs.msg import Float64MultiArray

import robodyn as rd
from robodyn.cli import main

sys.path.insert(0, str(Path(__file__).parents[1]))
from support.topic_hardware import TopicHardware

RATE = 500


class Manager:
    """A controller manager with one hardware: reads, lets a controller command, writes, at a rate.

    Subscription and publisher have the quality of service of joint_state_topic_hardware_interface.
    """

    def __init__(self, client, urdf):
        self.client, self.hardware, self.latest = client, TopicHardware(urdf), []
        self.seen, self.sent = [], 0
        node = client.node
        node.create_subscription(
            JointState, self.hardware.states_topic, self._received, qos_profile_sensor_data
        )
        self.out = node.create_publisher(
            JointState, self.hardware.commands_topic, QoSProfile(depth=1)
        )
        client.until(lambda: self.out.get_subscription_count() > 0, what="the node")

    def _received(self, message):
        self.latest = [message]
        self.seen.append(message)

    def run(self, seconds, controller=lambda t, hardware: None):
        start = due = time.monotonic()
        while due - start < seconds:
            self.client.executor.spin_once(timeout_sec=0.0)
            for message in self.latest:
                self.hardware.read(message)
            controller(due - start, self.hardware)
            said = self.hardware.write()
            if said is not None:
                stamp = self.client.node.get_clock().now().to_msg()
                message = JointState(
                    name=said.name, position=said.position, velocity=said.velocity,
                    effort=said.effort,
                )  # fmt: skip
                message.header.stamp = stamp
                self.out.publish(message)
                self.sent += 1
            due += 1.0 / RATE
            while time.monotonic() < due:
                self.client.executor.spin_once(timeout_sec=max(due - time.monotonic(), 0.0))

    def place(self):
        return np.array([self.hardware.states[name, "position"] for name in self.hardware.names])


def package(folder, interface, launch, *options):
    """A node of a palletizer from its package, and the URDF that its ros2_control reads."""
    assert main(["new", "ros2_control", str(folder)]) == 0
    text = (folder / "urdf/palletizer.ros2_control.xacro").read_text()
    joints = [line.split('name="')[1].split('"')[0] for line in text.splitlines()
              if "<xacro:motor " in line]  # fmt: skip
    macro = text[text.index('<joint name="${name}">') : text.index("</joint>") + 8]
    plugin = text[text.index("<hardware>") : text.index("</hardware>") + 11]
    plugin = plugin.replace("${commands}", "/robodyn/joint_commands")
    plugin = plugin.replace("${states}", "/joint_states")
    tags = "".join(
        macro.replace("${name}", n).replace("${interface}", interface).replace("${start}", "0.0")
        for n in joints
    )
    tag = f'<ros2_control name="c" type="system">{plugin}{tags}</ros2_control></robot>'
    urdf = (folder / "urdf/palletizer.urdf").read_text().replace("</robot>", tag)
    file = folder / "expanded.urdf"
    file.write_text(urdf)
    return launch("publish", str(file), "--rate", str(RATE), *options), urdf


def closed(robot, message):
    places = dict(zip(message.name, message.position, strict=True))
    q = np.array([places[name] for name in robot.joint_names])
    return np.abs(robot.loop_residual(q)).max()


@pytest.mark.slow
def test_a_palletizer_moves_as_a_trajectory_controller_says(tmp_path, launch, client):
    """Nothing is commanded until it is active; then its joints follow, and loops stay closed."""
    process, urdf = package(tmp_path / "pal", "position", launch, "--controller", "gravity")
    manager, robot = Manager(client, urdf), rd.load("palletizer")
    client.until(lambda: manager.seen, what="states")
    manager.run(0.3)
    assert manager.sent > 50  # NaN: no controller is active
    start = manager.place()
    np.testing.assert_allclose(start, 0.0, atol=1e-6)

    def trajectory(t, hardware):
        s = np.clip(t / 2.0, 0.0, 1.0)
        goal = start + 0.2 * s**3 * (10.0 - 15.0 * s + 6.0 * s**2)
        for name, x in zip(hardware.names, goal, strict=True):
            hardware.commands[name, "position"] = x

    manager.run(3.0, trajectory)
    np.testing.assert_allclose(manager.place(), start + 0.2, atol=1e-3)
    manager.run(1.0, lambda t, hardware: None)  # held: commands go on
    np.testing.assert_allclose(manager.place(), start + 0.2, atol=1e-3)
    assert max(closed(robot, message) for message in manager.seen[::10]) < 1e-9
    assert {*robot.joint_names} <= {*manager.seen[-1].name}
    assert process.stop() == 0
    assert "ignored" not in process.text and "not used" not in process.text, process.text


@pytest.mark.slow
def test_efforts_of_the_package_carry_the_weight(tmp_path, launch, client):
    """Its script sends them to effort_controller, as which the manager passes them on."""
    folder = tmp_path / "pal"
    process, urdf = package(folder, "effort", launch, "--controller", "gravity")
    manager, received = Manager(client, urdf), []
    topic = "/effort_controller/commands"
    client.node.create_subscription(Float64MultiArray, topic, received.append, 1)
    client.until(lambda: manager.seen, what="states")
    script = [sys.executable, str(folder / "scripts/gravity_compensation.py")]
    efforts = subprocess.Popen([*script, str(folder / "urdf/palletizer.urdf")])
    try:
        client.until(lambda: received, what="efforts")

        def passed_on(t, hardware):
            for name, x in zip(hardware.names, received[-1].data, strict=True):
                hardware.commands[name, "effort"] = x

        manager.run(0.5, passed_on)
        before = manager.place()
        manager.run(1.5, passed_on)
        np.testing.assert_allclose(manager.place(), before, atol=0.01)
        # without them it falls: these are the efforts that act
        shown = dict(zip(manager.seen[-1].name, manager.seen[-1].effort, strict=True))
        sent = np.array(received[-1].data)
        assert np.abs(sent).max() > 10.0
        np.testing.assert_allclose([shown[n] for n in manager.hardware.names], sent, atol=2.0)
        more = client.publisher(Float64MultiArray, "/gravity_compensation/efforts")
        for _ in range(20):
            client.command(more, [100.0, 0.0, 0.0, 0.0])
            manager.run(0.02, passed_on)
        assert received[-1].data[0] > 50.0
    finally:
        efforts.send_signal(signal.SIGINT)
        efforts.wait(timeout=60)
    assert process.stop() == 0


def test_commands_for_other_joints_from_two_senders_both_count(launch, client):
    """Both wait for the next of few periods."""
    launch("publish", "puma560", "--controller", "gravity", "--rate", "5")
    states = client.states()
    senders = [client.publisher(JointState, "/robodyn/joint_commands") for _ in range(2)]
    client.some(states)
    both = {"joint5": 0.5, "joint6": 0.25}
    for sender, (name, x) in zip(senders, both.items(), strict=True):
        sender.publish(JointState(name=[name], effort=[x]))
    client.until(
        lambda: dict(zip(states[-1].name, states[-1].effort, strict=True)).items() >= both.items(),
        20.0,
        "both efforts",
    )


def test_what_is_wrong_with_joint_commands_is_told_with_names(launch, client):
    process = launch("publish", "puma560", "--controller", "gravity")
    states = client.states()
    client.some(states)
    commands = client.publisher(JointState, "/robodyn/joint_commands")
    late = JointState(name=["joint3"], effort=[1.0])
    late.header.stamp.sec = 5
    messages = {
        "joint1 named twice": JointState(name=["joint1", "joint1"], position=[0.0, 0.1]),
        "1 numbers in velocity for 2 names": JointState(name=["joint1", "joint2"], velocity=[1.0]),
        "commands for knee are not used": JointState(name=["knee", "joint4"], effort=[1.0, 2.0]),
        "positions beyond the limits of joint2": JointState(name=["joint2"], position=[50.0]),
        "infinite effort of joint3": JointState(name=["joint3"], effort=[float("inf")]),
        "a command is stamped": late,
    }
    for told, message in messages.items():
        commands.publish(message)
        client.until(lambda told=told: told in process.text, 30.0, told)
    assert "Traceback" not in process.text
    client.some(states, 20)
    assert process.stop() == 0
