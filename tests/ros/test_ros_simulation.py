"""A simulated robot in a process of its own, seen by another node."""

import signal
import subprocess
import sys

import numpy as np
from builtin_interfaces.msg import Duration
from client import LATCHED, by_name
from geometry_msgs.msg import WrenchStamped
from lifecycle_msgs.msg import Transition
from lifecycle_msgs.srv import ChangeState, GetState
from rosgraph_msgs.msg import Clock
from sensor_msgs.msg import Imu, JointState
from std_msgs.msg import Float64MultiArray, String
from trajectory_msgs.msg import JointTrajectory, JointTrajectoryPoint

import robodyn as rd


def trajectory(names, *points):
    made = JointTrajectory(joint_names=list(names))
    for t, positions in points:
        at = Duration(sec=int(t), nanosec=round(1e9 * (t % 1.0)))
        made.points.append(
            JointTrajectoryPoint(positions=[float(x) for x in positions], time_from_start=at)
        )
    return made


def test_state_and_latched_description(launch, client):
    process = launch("publish", "puma560", "--controller", "gravity")
    states = client.states()
    state = client.some(states, 20)
    assert list(state.name) == list(rd.load("puma560").joint_names)
    assert len(state.position) == len(state.velocity) == len(state.effort) == 6
    np.testing.assert_allclose(state.position, 0.0, atol=1e-9)
    late = client.listen(String, "/robot_description", LATCHED)
    client.until(lambda: late)
    assert rd.load(late[0].data).nv == 6
    assert process.stop() == 0, process.text
    assert "Traceback" not in process.text


def test_effort_commands_move_and_go_stale(launch, client):
    process = launch("publish", "puma560", "--ros-args", "-p", "command_timeout:=0.3")
    states = client.states()
    client.some(states)
    commands = client.publisher(Float64MultiArray, "/robodyn/commands")
    for _ in range(10):
        client.command(commands, [0, 0, 0, 0, 0, 3.0])
        client.run(0.05)
    assert client.some(states).effort[5] == 3.0
    client.run(0.6)
    assert client.some(states).effort[5] == 0.0
    process.stop()
    assert "no command for 0.3 s" in process.text


def test_position_commands_are_reached(launch, client):
    launch("publish", "puma560", "--ros-args", "-p", "interfaces:=[position]")
    states = client.states()
    client.some(states)
    commands = client.publisher(Float64MultiArray, "/robodyn/commands")
    goal = [0.1, -0.1, 0.2, 0.0, 0.1, 0.3]
    client.command(commands, goal)
    client.until(lambda: np.abs(np.subtract(states[-1].position, goal)).max() < 1e-4)


def test_a_closed_linkage_follows_a_trajectory_and_stays_closed(launch, client):
    launch("publish", "palletizer", "--controller", "gravity")
    robot, states = rd.load("palletizer"), client.states()
    start = by_name(client.some(states))
    paths = client.publisher(JointTrajectory, "/robodyn/joint_trajectory")
    motors = ("crank_drive", "waist", "shoulder", "flange_drive")
    goal = [start[n] + d for n, d in zip(motors, (0.1, 0.4, 0.15, -0.3), strict=True)]
    middle = [start[n] + d for n, d in zip(motors, (0.05, 0.1, 0.1, 0.2), strict=True)]
    paths.publish(trajectory(motors, (0.6, middle), (1.2, goal)))
    first = len(states)
    client.until(
        lambda: all(abs(by_name(states[-1])[n] - g) < 1e-8 for n, g in zip(motors, goal))  # noqa: B905
    )
    moved = states[first:]
    assert len(moved) > 50
    for state in moved:
        q = np.array([by_name(state)[name] for name in robot.joint_names])
        v = np.array([dict(zip(state.name, state.velocity))[n] for n in robot.joint_names])  # noqa: B905
        assert np.abs(robot.loop_residual(q)).max() < 1e-9
        assert np.abs(robot.loop_jacobian(q) @ v).max() < 1e-9
    assert np.abs(np.array([by_name(s)["elbow"] for s in moved]) - start["elbow"]).max() > 0.05


def test_wrenches_and_motor_torques(launch, client):
    launch("publish", "puma560", "--controller", "gravity")
    wrenches = client.listen(WrenchStamped, "/robodyn/joint_wrenches/joint1")
    torques = client.listen(Float64MultiArray, "/robodyn/motor_torques")
    wrench = client.some(wrenches)
    robot = rd.load("puma560")
    loads = robot.joint_wrenches(robot.neutral(), np.zeros(6), np.zeros(6))["joint1"]
    force = [wrench.wrench.force.x, wrench.wrench.force.y, wrench.wrench.force.z]
    np.testing.assert_allclose(force, loads[:3], atol=1e-6)
    assert wrench.header.frame_id == robot.joints["joint1"].child
    assert len(client.some(torques).data) == 6


def test_sensors_are_published(domain, client):
    """By a program that makes a node of a robot with sensors."""
    program = """if True:
        import robodyn as rd
        from robodyn.ros import Settings, SimNode
        sensors = [rd.Sensor("imu", at="link6", name="imu"),
                   rd.Sensor("distance", at="link6", relative_to="world", name="range")]
        SimNode(rd.load("puma560", sensors=sensors), settings=Settings(controller="gravity")).spin()
    """
    node = subprocess.Popen([sys.executable, "-c", program])
    try:
        shown = client.some(client.listen(Imu, "/robodyn/sensors/imu"))
        ranges = client.some(client.listen(Float64MultiArray, "/robodyn/sensors/range"))
    finally:
        node.send_signal(signal.SIGINT)
        node.wait(timeout=60)
    robot = rd.load("puma560")
    X = robot.frame_pose(robot.neutral(), "link6")
    force = [getattr(shown.linear_acceleration, x) for x in "xyz"]
    np.testing.assert_allclose(X[:3, :3] @ force, [0.0, 0.0, 9.81], atol=1e-5)
    assert shown.header.frame_id == "link6"
    np.testing.assert_allclose(ranges.data, [np.linalg.norm(X[:3, 3])], atol=1e-6)


def test_services(launch, client):
    launch("publish", "double_pendulum")
    states = client.states()
    client.some(states)
    assert client.trigger("/robodyn/step").success is False
    assert client.pause("/robodyn/pause").success
    client.run(0.2)
    held = client.some(states, 5).position
    assert list(client.some(states, 5).position) == list(held)
    assert client.trigger("/robodyn/step").success
    assert client.trigger("/robodyn/reset").success
    np.testing.assert_allclose(
        client.some(states, 5).position, rd.load("double_pendulum").neutral()
    )


def test_parameters_are_checked_and_change(launch, client):
    launch("publish", "puma560", "--ros-args", "-p", "rate:=50.0")
    states = client.states()
    client.some(states, 5)
    assert client.get("/robodyn", "rate").double_value == 50.0
    refused = client.set("/robodyn", rate=-1.0)
    assert not refused.successful
    assert "expected a number" in refused.reason
    assert not client.set("/robodyn", controller="magic").successful
    assert not client.set("/robodyn", stiffness=[1.0, 2.0]).successful
    assert not client.set("/robodyn", publish_clock=True).successful  # read only
    assert client.set("/robodyn", controller="pd").successful
    assert client.set("/robodyn", rate=100).successful  # as `ros2 param set` sends it
    assert client.set("/robodyn", stiffness=50.0).successful
    client.run(0.3)
    start = len(states)
    client.some(states, 50)
    stamps = [x.header.stamp.sec + 1e-9 * x.header.stamp.nanosec for x in states[start:]]
    # 0.01 s apart, where they were 0.02 s; a busy machine makes some of them late
    assert 0.005 < np.quantile(np.diff(stamps), 0.25) < 0.015


def test_the_clock_is_published_on_request(launch, client):
    launch("publish", "puma560", "--ros-args", "-p", "publish_clock:=true")
    clocks, states = client.listen(Clock, "/clock"), client.states()
    client.some(states, 20)
    clock, state = client.some(clocks), states[-1]
    assert abs(clock.clock.sec - state.header.stamp.sec) <= 1
    assert state.header.stamp.sec < 1000


def test_use_sim_time_follows_the_clock(launch, client):
    launch("publish", "double_pendulum", "--ros-args", "-p", "use_sim_time:=true")
    states = client.listen(JointState, "/joint_states")
    clock = client.publisher(Clock, "/clock")
    time = 100.0

    def tick(count, step=0.005):
        nonlocal time
        for _ in range(count):
            time += step
            msg = Clock()
            msg.clock.sec, msg.clock.nanosec = int(time), round(1e9 * (time % 1.0)) % 10**9
            clock.publish(msg)
            client.run(0.004)

    client.until(lambda: tick(10) or len(states) > 3)
    assert 100 <= states[-1].header.stamp.sec <= time
    time = 5.0  # the clock jumps back; the simulation goes on
    count = len(states)
    client.until(lambda: tick(10) or len(states) > count + 3)
    assert states[-1].header.stamp.sec <= time


def test_lifecycle(launch, client):
    process = launch("publish", "puma560", "--lifecycle")

    def change(transition):
        request = Transition(id=transition)
        return client.call(ChangeState, "/robodyn/change_state", transition=request).success

    states = client.states()
    assert client.call(GetState, "/robodyn/get_state").current_state.label == "unconfigured"
    assert change(Transition.TRANSITION_CONFIGURE)
    client.run(0.3)
    assert not states
    assert change(Transition.TRANSITION_ACTIVATE)
    client.some(states, 5)
    assert change(Transition.TRANSITION_DEACTIVATE)
    client.run(0.3)
    count = len(states)
    commands = client.publisher(Float64MultiArray, "/robodyn/commands")
    client.command(commands, [0, 0, 0, 0, 0, 3.0])
    client.run(0.3)
    assert len(states) == count
    assert change(Transition.TRANSITION_ACTIVATE)
    assert client.some(states, 5).effort[5] == 0.0  # it came while the node was not active
    assert change(Transition.TRANSITION_DEACTIVATE)
    assert change(Transition.TRANSITION_CLEANUP)
    assert change(Transition.TRANSITION_CONFIGURE)
    assert change(Transition.TRANSITION_ACTIVATE)
    client.some(states, 5)
    assert process.stop() == 0, process.text


def test_a_lifecycle_node_without_a_robot_refuses_to_configure(launch, client):
    launch("publish", "--lifecycle")
    request = Transition(id=Transition.TRANSITION_CONFIGURE)
    answer = client.call(ChangeState, "/robodyn/change_state", transition=request)
    assert not answer.success
    assert client.call(GetState, "/robodyn/get_state").current_state.label == "unconfigured"
