"""The topics of ros2_control's hardware over DDS, its side played by a peer."""

import random
import time

import numpy as np
import pytest
import xacro
from support.topic_hardware import TopicHardware

import robodyn as rd
from robodyn.cli import main
from robodyn.ros.commands.settings import Settings
from robodyn.ros.dds.node import DdsNode
from robodyn.ros.dds.simulation import DdsSimulation
from robodyn.ros.engine.engine import Engine
from robodyn.ros.states.throttled_logger import ThrottledLogger

pytest.importorskip("cyclonedds")


@pytest.fixture
def both(tmp_path):
    """A palletizer of its package, behind DDS, and the hardware of its URDF with its topics."""
    folder = tmp_path / "pal"
    assert main(["new", "ros2_control", str(folder)]) == 0
    file = folder / "urdf/palletizer.urdf.xacro"
    hardware, said = TopicHardware(xacro.process_file(str(file)).toxml()), []
    log = ThrottledLogger(said.append)
    engine = Engine(rd.load(file), Settings(rate=500.0, controller="gravity"), log=log)
    domain = random.randint(100, 200)
    sim = DdsSimulation(engine, DdsNode("robodyn", domain=domain), log)
    peer = DdsNode("manager", domain=domain)
    commands = peer.writer("JointState", hardware.commands_topic, depth=1)
    states = peer.reader("JointState", hardware.states_topic, depth=5)
    end = time.monotonic() + 30.0
    while not (commands.matched and states.matched) and time.monotonic() < end:
        time.sleep(0.01)
    return sim, hardware, commands, states, said


@pytest.mark.slow
def test_ros2_control_moves_a_palletizer(both):
    """First NaN, as no controller is active, then a trajectory of 0.4 s at 500 Hz."""
    sim, hardware, commands, states, said = both
    robot, engine = sim.engine.robot, sim.engine
    start, taken = engine.q[engine.commanded.coordinates].copy(), []
    for k in range(300):
        if k >= 20:
            s = min((k - 20) / 200, 1.0)
            goal = start + 0.1 * s**3 * (10 - 15 * s + 6 * s * s)
            for name, x in zip(hardware.names, goal, strict=True):
                hardware.commands[name, "position"] = x
        said_now = hardware.write()
        arrays = said_now.position, said_now.velocity, said_now.effort
        commands.state(said_now.name, *arrays, stamp=time.time_ns())
        time.sleep(0.001)
        sim.receive()
        engine.advance(2)
        sim.publish(time.time_ns())
        for message in states.take():
            taken.append(message)
            hardware.read(message)
        if k < 20:
            np.testing.assert_allclose(engine.q[engine.commanded.coordinates], start, atol=1e-6)
    at = {name: hardware.states[name, "position"] for name in hardware.names}
    np.testing.assert_allclose([at[n] for n in engine.joints], start + 0.1, atol=1e-3)
    q = np.array([message.position for message in taken])[:, : robot.nq]
    assert tuple(taken[0].name[: robot.nq]) == robot.joint_names
    assert np.abs(robot.loop_residual(q)).max() < 1e-9
    assert said == []
