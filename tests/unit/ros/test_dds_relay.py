"""A relay of joint states over DDS: to another participant, and bad input."""

import os
import random
import subprocess
import sys
import time

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

import robodyn as rd
from robodyn.cli import main
from robodyn.ros import RelayTopics
from robodyn.ros.dds.node import DdsNode
from robodyn.ros.states.throttled_logger import ThrottledLogger

pytest.importorskip("cyclonedds")


@pytest.fixture(scope="module")
def domain():
    return random.randint(100, 200)


class Relayed:
    """A relay, and another node that speaks to it."""

    def __init__(self, domain, robot, **topics):
        from robodyn.ros.dds.relay import DdsRelay

        self.said: list[str] = []
        log = ThrottledLogger(self.said.append)
        topics = RelayTopics(**topics)
        self.relay = DdsRelay(robot, DdsNode("relay", domain=domain), log, topics)
        self.peer = peer = DdsNode("driver", domain=domain)
        self.driver = peer.writer("JointState", topics.states)
        self.states = peer.reader("JointState", "/relay/joint_states", depth=1000)
        self.tf = peer.reader("TFMessage", "/tf", depth=1000)
        self.still = peer.reader("TFMessage", "/tf_static", depth=1, latched=True)
        assert self.until(lambda: self.driver.matched and self.states.matched)
        assert not topics.tf or self.until(lambda: self.tf.matched and self.still.matched)

    def until(self, condition, seconds=60.0):
        end = time.monotonic() + seconds
        while not condition() and time.monotonic() < end:
            self.relay.run(0.01)
        return bool(condition())

    def answers(self, count):
        taken = []
        assert self.until(lambda: taken.extend(self.states.states()) or len(taken) >= count), (
            self.said
        )
        return taken


@pytest.mark.slow
def test_all_joints_poses_and_loads_with_the_stamp_of_the_message(palletizer, domain):
    both = Relayed(domain, palletizer, frame_prefix="left/")
    loads = both.peer.reader("WrenchStamped", "/relay/joint_wrenches/wrist_tie_pin", depth=1000)
    assert both.until(lambda: loads.matched)
    motors = palletizer.actuated_joints
    times = range(1, 21)
    for k in times:
        x = 0.02 * np.sin(0.1 * k) * np.arange(1, 5)
        both.driver.state(motors, x, np.ones(4), 10.0 * np.ones(4), stamp=k * 10**9 + 7)
    answers = both.answers(len(times))
    assert [x.stamp for x in answers] == [k * 10**9 + 7 for k in times]
    last = answers[-1]
    assert {*last.names} == {name for name in palletizer.joints if palletizer.joints[name].kind.nv}
    at = dict(zip(last.names, last.position, strict=True))
    q = np.array([at[name] for name in palletizer.joint_names])
    v = np.array(last.velocity[: palletizer.nv])
    np.testing.assert_allclose(palletizer.loop_residual(q), 0.0, atol=1e-11)
    np.testing.assert_allclose(palletizer.loop_jacobian(q) @ v, 0.0, atol=1e-11)
    found = []
    assert both.until(lambda: found.extend(both.tf.take(1000)) or len(found) >= len(times))
    for x in found[-1].transforms:
        assert x.header.stamp.sec == times[-1] and x.header.stamp.nanosec == 7
        child, parent = (n.removeprefix("left/") for n in (x.child_frame_id, x.header.frame_id))
        X, turn = palletizer.frame_pose(q, child, relative_to=parent), x.transform.rotation
        R = Rotation.from_quat([turn.x, turn.y, turn.z, turn.w]).as_matrix()
        place = x.transform.translation
        np.testing.assert_allclose([place.x, place.y, place.z], X[:3, 3], atol=1e-12)
        np.testing.assert_allclose(R, X[:3, :3], atol=1e-12)
    tau = np.zeros(palletizer.nv)
    tau[[palletizer.joints[name].v.start for name in motors]] = 10.0
    expected = palletizer.joint_wrenches(q, v, tau=tau)["wrist_tie_pin"]
    some = []
    assert both.until(lambda: some.extend(loads.take(1000)) or len(some) >= len(times))
    force = some[-1].wrench.force
    np.testing.assert_allclose([force.x, force.y, force.z], expected[:3], rtol=1e-9, atol=1e-9)
    assert both.relay.outputs.summary == "20 of 20 joint states answered"
    assert not [
        text for text in both.said if not text.startswith("answers come ")
    ]  # a busy machine


def test_bad_messages_are_told_of_and_nothing_is_repeated(domain):
    both = Relayed(domain, rd.load("five_bar"), states="driven", tf=False)
    motors = ["left_drive", "right_drive"]
    good = lambda k: both.driver.state(motors, [0.01 * k, 0.0], stamp=k * 10**9)  # noqa: E731
    good(1)
    both.driver.state(motors, [0.0], stamp=2 * 10**9)
    both.driver.state(motors[:1], [0.0], stamp=2 * 10**9)
    both.driver.state(motors, [np.inf, 0.0], stamp=2 * 10**9)
    both.driver.state([*motors, "left_elbow"], [0.0, 0.0, 0.5], stamp=2 * 10**9)
    both.driver.state(["x"] * 10_000, np.zeros(10_000), stamp=2 * 10**9)
    good(3)
    answers = both.answers(2)
    assert [x.stamp for x in answers] == [10**9, 3 * 10**9]
    assert answers[1].position[0] == 0.03 and not len(answers[1].velocity)
    for told in ("1 numbers for 2 names", "'left_elbow, right_drive, right_elbow'", "bytes",
                 "left_elbow was measured 0.5 "):  # fmt: skip
        assert sum(told in text for text in both.said) == 1, both.said
    good(2)
    assert both.answers(1)[0].stamp == 2 * 10**9
    assert any("1 s before the one that came before" in text for text in both.said)


def test_a_relay_does_not_answer_itself(domain):
    with pytest.raises(rd.RobodynError, match="cannot answer on /joint_states"):
        Relayed(domain, rd.load("five_bar"), answers="/joint_states")


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (["--dds"], "relay --dds needs a URDF file"),
        (["four_bar", "--dds", "--lifecycle"], "relay with --dds has no --lifecycle"),
        (["four_bar", "--domain", "3"], "relay without --dds has no --domain"),
        (["four_bar", "--dds", "--wrenches", "knee"], "knee"),
        (["four_bar", "--dds", "--answers", "joint_states"], "cannot answer on /joint_states"),
    ],
)
def test_wrong_options(capsys, domain, monkeypatch, arguments, told):
    monkeypatch.setenv("ROS_DOMAIN_ID", str(domain))
    assert main(["relay", *arguments]) == 2
    assert told in capsys.readouterr().err


@pytest.mark.slow
def test_the_command_ends_with_a_count(domain):
    environment = os.environ | {"ROS_DOMAIN_ID": str(domain)}
    command = [sys.executable, "-m", "robodyn", "relay", "four_bar", "--dds", "--duration", "0.5"]
    done = subprocess.run(command, capture_output=True, text=True, env=environment, timeout=120)
    assert done.returncode == 0, done.stderr
    assert "/joint_states is answered on /relay/joint_states" in done.stdout
    assert done.stdout.splitlines()[-1] == "0 of 0 joint states answered"
