"""DDS without ROS: to cyclonedds and to rclpy in other processes, and bad input."""

import json
import os
import random
import signal
import socket
import struct
import subprocess
import sys
import time
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest

import robodyn as rd
from robodyn.cli import main
from robodyn.ros.commands.settings import Settings
from robodyn.ros.dds.node import DdsNode
from robodyn.ros.dds.simulation import DdsSimulation
from robodyn.ros.engine.engine import Engine
from robodyn.ros.states import sizes
from robodyn.ros.states.sizes import MOST_POINTS
from robodyn.ros.states.throttled_logger import ThrottledLogger

pytest.importorskip("cyclonedds")


PEER = Path(__file__).with_name("dds_peer.py")
ROS = os.environ.get("ROBODYN_ROS_PYTHON")


@pytest.fixture(scope="module")
def domain():
    return random.randint(100, 200)


def simulation(domain, name="puma560", **settings):
    said: list[str] = []
    log = ThrottledLogger(said.append)
    settings.setdefault("command_timeout", 100.0)
    engine = Engine(rd.load(name), Settings(**settings), log=log)
    return DdsSimulation(engine, DdsNode("sim", domain=domain), log), said


def until(condition, seconds=60.0):
    end = time.monotonic() + seconds
    while not condition() and time.monotonic() < end:
        time.sleep(0.002)
    return bool(condition())


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["dds", "rclpy"])
def test_both_ways_to_another_process(kind, domain):
    if kind == "rclpy" and not ROS:
        pytest.skip("ROBODYN_ROS_PYTHON does not name a Python with rclpy")
    sim, said = simulation(domain)
    environment = os.environ | {"ROS_AUTOMATIC_DISCOVERY_RANGE": "LOCALHOST"}
    if kind == "dds":
        root = str(Path(rd.__file__).parents[1])
        environment["PYTHONPATH"] = os.pathsep.join([root, environment.get("PYTHONPATH", "")])
    peer = subprocess.Popen(
        [ROS if kind == "rclpy" else sys.executable, str(PEER), kind, str(domain)],
        stdout=subprocess.PIPE,
        text=True,
        env=environment,
    )
    try:
        while peer.poll() is None:
            sim.run(0.2)
        names, good, some, texts, nodes, count = json.loads(peer.stdout.read())
    finally:
        peer.kill()
        peer.wait()
    assert tuple(names) == sim.engine.robot.joint_names
    assert good == [5.0, 4.0, 3.0, 2.0, 1.0, 0.5]
    assert some == [5.0, 7.0, 3.0, 2.0, 1.0, 0.5]
    assert rd.load(texts[0]).joint_names == sim.engine.robot.joint_names
    assert count > 40
    if kind == "rclpy":
        assert "sim" in nodes
    said = [text for text in said if "ignored" in text]
    assert len(said) == 3
    assert "20 numbers, expected 6" in said[0]
    assert any("'elbow'" in text for text in said)


def test_a_flood(domain):
    """10 kHz of commands: the states go out all the same, and the newest command counts."""
    sim, said = simulation(domain, rate=100.0)
    peer = DdsNode("flooder", domain=domain)
    commands = peer.writer("Float64MultiArray", "/sim/commands", depth=1)
    assert until(lambda: commands.matched)
    for _ in range(30):
        for k in range(100):
            commands.numbers([k] * 6)
        sim.run(0.01)
    assert sum("faster than they are used" in text for text in said) == 1
    assert sim.published >= 30
    commands.numbers([1.0] * 6)
    assert until(lambda: sim.receive() or sim.engine.observe()[3][0] == 1.0)


def test_trajectories_and_loops(domain):
    """A palletiser's motors follow a path that comes by DDS; what is published closes its loops."""
    sim, said = simulation(domain, "palletizer", controller="gravity")
    robot, engine = sim.engine.robot, sim.engine
    peer = DdsNode("planner", domain=domain)
    paths = peer.writer("JointTrajectory", "/sim/joint_trajectory")
    states = peer.reader("JointState", "joint_states", depth=1000)
    assert until(lambda: paths.matched and states.matched)
    start = engine.q[[engine.names.coordinate(name) for name in engine.joints]]
    goal = (start + 0.05).tolist()
    types = peer.types
    point = types.JointTrajectoryPoint(goal, time_from_start=types.Duration(0, 400_000_000))
    paths.write(types.JointTrajectory(joint_names=[*engine.joints], points=[point]))
    taken = []
    assert until(lambda: sim.run(0.05) or taken.extend(states.states()) or engine.t > 0.6)
    assert not [text for text in said if "ignored" in text]
    assert len(taken) > 60
    assert taken[0].names[: robot.nq] == robot.joint_names
    assert {*taken[0].names[robot.nq :]} == {cut.name for cut in robot.loops}
    q = np.array([sample.position for sample in taken])[:, : robot.nq]
    assert np.abs(robot.loop_residual(q)).max() < 1e-9
    at = [robot.joint_names.index(name) for name in engine.joints]
    np.testing.assert_allclose(q[-1, at], goal, atol=1e-4)


def test_what_is_too_large_is_not_read(domain, monkeypatch):
    """To read 100 000 points takes seconds, in which nothing is published."""
    sim, said = simulation(domain)
    peer = DdsNode("flooder", domain=domain)
    paths = peer.writer("JointTrajectory", "/sim/joint_trajectory")
    commands = peer.writer("Float64MultiArray", "/sim/commands")
    assert until(lambda: paths.matched and commands.matched)
    types = peer.types
    count = MOST_POINTS + 1

    def never(*given):
        raise AssertionError("points are read")

    monkeypatch.setattr(types.JointTrajectoryPoint.__idl__, "deserialize", never)
    header = types.Header(types.Time(0, 0), "base of the robot")
    points = [types.JointTrajectoryPoint([0.1], time_from_start=types.Duration(1, 0))] * count
    paths.write(types.JointTrajectory(header, ["joint1", "the next"], points))
    assert until(lambda: sim.receive() or any(f"has {count} points" in x for x in said))
    assert any(f"at most {MOST_POINTS}" in text for text in said)
    monkeypatch.undo()
    commands.numbers(np.zeros(100_000))
    assert until(lambda: sim.receive() or any("bytes, at most" in text for text in said))
    commands.numbers([1.0] * 6)
    assert until(lambda: sim.receive() or sim.engine.observe()[3][0] == 1.0)


@pytest.mark.slow
def test_very_large_messages_are_refused_by_their_sizes(domain, monkeypatch):
    """64 MB, and names of half a million joints: they are not walked in Python."""
    sim, said = simulation(domain)
    peer = DdsNode("flooder", domain=domain)
    paths = peer.writer("JointTrajectory", "/sim/joint_trajectory")
    commands = peer.writer("Float64MultiArray", "/sim/commands")
    assert until(lambda: paths.matched and commands.matched)
    types = peer.types
    point = types.JointTrajectoryPoint([0.1], time_from_start=types.Duration(1, 0))
    walked = []
    reader = SimpleNamespace(unpack_from=counted(struct.unpack_from, walked), error=struct.error)
    monkeypatch.setattr(sizes, "struct", reader)
    for names, points, told in (
        (["a"] * 524_000, [point], "524000 names"),
        (["a" * 1000] * 64_000, [point], "bytes, at most"),
    ):
        paths.write(types.JointTrajectory(types.Header(), names, points))
        assert until(lambda told=told: sim.receive() or any(told in x for x in said), 60.0)
    assert len(walked) < 10
    commands.numbers(np.zeros(8_000_000))
    assert until(lambda: sim.receive() or any("64000" in x for x in said), 60.0)
    commands.numbers([1.0] * 6)
    assert until(lambda: sim.receive() or sim.engine.observe()[3][0] == 1.0, 60.0), said


def counted(function, calls):
    def call(*given):
        calls.append(given[-1])
        return function(*given)

    return call


@pytest.mark.slow
@pytest.mark.parametrize("end", [signal.SIGTERM, signal.SIGINT])
def test_a_signal_ends_the_command_with_a_summary(domain, end):
    command = [sys.executable, "-m", "robodyn", "publish", "four_bar", "--dds"]
    node = subprocess.Popen(
        [*command, "--domain", str(domain)],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    peer = DdsNode("sender", domain=domain)
    paths = peer.writer("JointTrajectory", "/robodyn/joint_trajectory", depth=10)
    states = peer.reader("JointState", "/joint_states")
    try:
        assert "Ctrl-C ends" in node.stdout.readline()
        assert until(lambda: paths.matched and states.matched)
        T = peer.types
        for size in (1e300, 1e6, 30.0):  # none of them ends it
            far = [T.JointTrajectoryPoint([x], time_from_start=T.Duration(1, k))
                   for k, x in enumerate((size, -size))]  # fmt: skip
            paths.write(T.JointTrajectory(T.Header(), ["crank_drive"], far))
        came: list = []
        assert until(lambda: came.extend(states.states()) or len(came) > 3)
        assert any("ignored" in line for line in iter(node.stderr.readline, ""))
        node.send_signal(end)
        out, error = node.communicate(timeout=60)
    finally:
        node.kill()
    assert node.returncode == 0, error
    assert " states published, " in out
    assert "Traceback" not in error, error


@pytest.mark.slow
@pytest.mark.parametrize("ends", [[signal.SIGTERM], [signal.SIGTERM, signal.SIGINT]])
def test_many_signals_are_one_request(domain, ends):
    """Until the process has ended, whatever Python has given up by then."""
    command = [sys.executable, "-m", "robodyn", "publish", "double_pendulum", "--dds"]
    node = subprocess.Popen(
        [*command, "--domain", str(domain)],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    try:
        assert "Ctrl-C ends" in node.stdout.readline()
        while node.poll() is None:
            for end in ends:
                node.send_signal(end)
                time.sleep(1e-3)
        out, error = node.communicate(timeout=60)
    finally:
        node.kill()
    assert node.returncode == 0, error
    assert " states published, " in out
    assert "Traceback" not in error, error


def test_ctrl_c_while_the_command_starts(domain, monkeypatch, capsys):
    def interrupted(*given):
        raise KeyboardInterrupt

    monkeypatch.setattr("robodyn.cli.publish.DdsSimulation", interrupted)
    assert main(["publish", "pan_tilt", "--dds", "--domain", str(domain)]) == 130
    assert "Traceback" not in capsys.readouterr().err


def test_bytes_that_are_no_message(domain, monkeypatch):
    sim, said = simulation(domain)

    def broken(most):
        raise ValueError("not enough bytes")

    monkeypatch.setattr(sim._readers["~/commands"]._entity, "take", broken, raising=False)
    sim.receive()
    sim.receive()
    assert [text for text in said if "not of its topic" in text] == said
    assert len(said) == 1


def test_nothing_listens_outside(domain):
    if not sys.platform.startswith("linux"):
        pytest.skip("only Linux lets a socket be tied to an interface")
    from robodyn.ros.dds.node import open_sockets

    before = open_sockets()
    node = DdsNode("hidden", domain=domain + 20)
    node.reader("String", "x")
    new = [number for inode, number in open_sockets().items() if inode not in before]
    assert new
    for number in new:
        with socket.socket(fileno=os.dup(number)) as twin:
            tied = twin.getsockopt(socket.SOL_SOCKET, socket.SO_BINDTODEVICE, 16)
            assert tied.rstrip(b"\0") == b"lo"
    with pytest.raises(rd.RobodynError, match="use another domain"):
        DdsNode("seen", domain=domain + 20, network=True)


#: Less than a second, many, and the last nanosecond of one.
STAMPS = [5, 12_345_678_901, 1_700_000_000_999_999_999]


@pytest.mark.parametrize("stamp", STAMPS)
def test_seconds_and_nanoseconds_of_a_stamp_arrive(domain, stamp):
    sim, _ = simulation(domain)
    peer = DdsNode("watch", domain=domain)
    states = peer.reader("JointState", "/joint_states")
    assert until(lambda: states.matched)
    came: list = []
    assert until(lambda: sim.publish(stamp) or came.extend(states.take()) or came)
    header = came[0].header.stamp
    assert (header.sec, header.nanosec) == (stamp // 10**9, stamp % 10**9)
    came.clear()
    assert until(lambda: sim.publish(stamp) or came.extend(states.states()) or came)
    assert came[0].stamp == stamp


@pytest.mark.parametrize("stamp", STAMPS)
def test_the_bytes_on_the_wire_are_a_message_of_ros(domain, stamp, monkeypatch):
    """Read by rosbags, which has the definitions of ROS and knows nothing of DDS."""
    typesys = pytest.importorskip("rosbags.typesys")
    store = typesys.get_typestore(typesys.Stores.ROS2_JAZZY)
    writer = DdsNode("talker", domain=domain).writer("JointState", "/states")
    sent = []
    monkeypatch.setattr(writer, "write", sent.append)
    writer.state(["a", "knee"], [0.5, -1.0], [2.0, 3.0], [4.0, 5.0], stamp)
    message = store.deserialize_cdr(bytes(sent[0].serialize()), "sensor_msgs/msg/JointState")
    header = message.header.stamp
    assert (header.sec, header.nanosec) == (stamp // 10**9, stamp % 10**9)
    assert message.name == ["a", "knee"]
    assert message.position.tolist() == [0.5, -1.0]
    assert message.velocity.tolist() == [2.0, 3.0]
    assert message.effort.tolist() == [4.0, 5.0]


def test_states_are_stamped_with_the_time_at_which_they_hold(domain):
    """Not whole seconds: one after the other, a period apart, and about now."""
    sim, _ = simulation(domain, rate=100.0)
    peer = DdsNode("watch", domain=domain)
    states = peer.reader("JointState", "/joint_states", depth=100)
    assert until(lambda: states.matched)
    before, found = time.time_ns(), []
    sim.run(0.3)
    assert until(lambda: found.extend(states.states()) or len(found) >= 20)
    stamps = np.array([sample.stamp for sample in found])
    assert before <= stamps[0] and stamps[-1] <= time.time_ns()
    assert np.all(np.diff(stamps) > 0)
    np.testing.assert_allclose(np.median(np.diff(stamps)), 10**7, rtol=0.05)


def test_hashes_are_those_of_ros():
    typesys = pytest.importorskip("rosbags.typesys")
    from robodyn.ros.dds import types as dds_types

    store = typesys.get_typestore(typesys.Stores.ROS2_JAZZY)
    for kind, number in dds_types.HASHES.items():
        package, _, _, name = kind.__idl_typename__.replace(".", "::").split("::")
        assert number == store.hash_rihs01(f"{package}/msg/{name.rstrip('_')}")


def test_names_and_domains(domain, monkeypatch):
    node = DdsNode("n", namespace="arm", domain=domain)
    assert node.resolved("joint_states") == "/arm/joint_states"
    assert node.resolved("~/commands") == "/arm/n/commands"
    assert node.resolved("/tf") == "/tf"
    node.close()
    with pytest.raises(rd.RobodynError, match="closed"):
        node.writer("String", "x")
    for name in ("", "1a", "a b", "a/b", "ä"):
        with pytest.raises(rd.RobodynError, match="named"):
            DdsNode(name, domain=domain)
    for number in ("x", "-1", "233"):
        monkeypatch.setenv("ROS_DOMAIN_ID", number)
        with pytest.raises(rd.RobodynError, match="ROS_DOMAIN_ID"):
            DdsNode("n")


def test_without_the_extra(monkeypatch, capsys):
    monkeypatch.setitem(sys.modules, "cyclonedds.core", None)
    assert main(["publish", "puma560", "--dds", "--duration", "0"]) == 2
    assert "[dds]" in capsys.readouterr().err


def test_the_command(domain, capsys):
    arguments = ["--duration", "0.3", "--domain", str(domain), "--controller", "gravity"]
    assert main(["publish", "palletizer", "--dds", *arguments]) == 0
    assert "waist, shoulder" in capsys.readouterr().out
    assert main(["publish", "palletizer", "--dds", "--rate", "-1"]) == 2
    assert "rate" in capsys.readouterr().err
