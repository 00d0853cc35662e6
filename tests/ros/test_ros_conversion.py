"""Contents as messages of ROS, read back from their bytes; where there is no ROS as well."""

import importlib
import re
import sys

import numpy as np
import pytest
from message_classes import PACKAGES, module_of, read_back
from scipy.spatial.transform import Rotation

import robodyn as rd
from robodyn.bags.messages import topic_name
from robodyn.ros import StateNames, TrajectoryContent
from robodyn.ros.rclpy.access import MESSAGES
from robodyn.ros.states.frames import multi_joint, sensor_frames, transforms
from robodyn.ros.states.messages import wrench_content

STAMP = (12, 345_678_901)


@pytest.fixture(autouse=True)
def messages(monkeypatch):
    """``package.msg`` of ROS, and of all packages what stands in for them."""
    real, made = {}, {package: module_of(package) for package in PACKAGES}
    for package in PACKAGES:
        try:
            real[package] = importlib.import_module(f"{package}.msg")
        except ImportError:
            if made[package] is not None:
                monkeypatch.setitem(sys.modules, f"{package}.msg", made[package])
    return real, made


@pytest.fixture
def need(messages, monkeypatch):
    """A package, or why there is none; the messages in its messages are of the same make."""
    real, made = messages

    def get(package):
        if package in real:
            return real[package]
        if made[package] is None:
            pytest.skip(f"neither {package} nor rosbags is installed")
        for other in real:
            monkeypatch.setitem(sys.modules, f"{other}.msg", made[other])
        return made[package]

    return get


def numbers(message, names="xyz"):
    return np.array([getattr(message, name) for name in names])


def check_stamp(message):
    assert (message.header.stamp.sec, message.header.stamp.nanosec) == STAMP


def test_a_joint_state(need):
    need("sensor_msgs")
    names = StateNames(rd.load("puma560"))
    q, v, tau = np.random.default_rng(0).normal(size=(3, 6))
    content = names.content(q, v, tau, STAMP[0] * 10**9 + STAMP[1])
    columns = content.position, content.velocity, content.effort
    message = read_back(MESSAGES.joint_state(content.stamp, content.name, *columns))
    check_stamp(message)
    assert tuple(message.name) == rd.load("puma560").joint_names
    np.testing.assert_array_equal(message.position, q)
    np.testing.assert_array_equal(message.velocity, v)
    np.testing.assert_array_equal(message.effort, tau)


def test_a_wrench(need):
    need("geometry_msgs")
    robot = rd.load("puma560")
    content = wrench_content(robot, "joint3", [1.0, 2.0, 3.0, 4.0, 5.0, 6.0], STAMP)
    x = np.append(content.force, content.torque)
    message = read_back(MESSAGES.wrench(content.stamp, content.frame_id, x))
    check_stamp(message)
    assert message.header.frame_id == robot.joints["joint3"].child
    np.testing.assert_array_equal(numbers(message.wrench.force), [1.0, 2.0, 3.0])
    np.testing.assert_array_equal(numbers(message.wrench.torque), [4.0, 5.0, 6.0])


def test_sensors(need):
    """Each as the message of ROS for it, in a frame that transforms have."""
    for package in ("geometry_msgs", "sensor_msgs", "std_msgs"):
        need(package)
    X = np.eye(4)
    X[:3, :3], X[:3, 3] = Rotation.from_rotvec([0.0, 0.0, 0.5]).as_matrix(), (0.1, 0.2, 0.3)
    sensors = [
        rd.Sensor("imu", at="link6", name="imu"),
        rd.Sensor("imu", at=("link6", X), name="turned"),
        rd.Sensor("wrench", joint="joint3", name="load"),
        rd.Sensor("position", at=("link6", X), name="point"),
        rd.Sensor("position", at="link6", axes="link3", name="along"),
        rd.Sensor("velocity", at="link6", relative_to="link2", name="speed"),
        rd.Sensor("distance", at="link6", relative_to="world", name="range"),
    ]
    robot = rd.load("puma560", sensors=sensors)
    q, v, a = np.random.default_rng(2).normal(size=(3, 6))
    shown = robot.measure(q, v, a)
    found = {}
    for sensor in robot.sensors:
        message = MESSAGES.sensor(robot, sensor, shown[sensor.name], STAMP)
        found[sensor.name] = read_back(message)
        if sensor.name != "range":
            check_stamp(found[sensor.name])
    frames = {name: x.header.frame_id for name, x in found.items() if name != "range"}
    root = robot.link_names[0]
    assert frames == {
        "imu": "link6", "turned": "turned_frame", "load": robot.joints["joint3"].child,
        "point": root, "along": "link3", "speed": "link2",
    }  # fmt: skip
    for name in ("imu", "turned"):
        parts = found[name].linear_acceleration, found[name].angular_velocity
        np.testing.assert_array_equal(np.concatenate([*map(numbers, parts)]), shown[name])
        assert found[name].orientation_covariance[0] == -1.0
    wrench = found["load"].wrench
    parts = numbers(wrench.force), numbers(wrench.torque)
    np.testing.assert_array_equal(np.concatenate(parts), shown["load"])
    np.testing.assert_array_equal(numbers(found["point"].point), shown["point"])
    np.testing.assert_array_equal(numbers(found["along"].vector), shown["along"])
    np.testing.assert_array_equal(numbers(found["speed"].vector), shown["speed"])
    np.testing.assert_array_equal(found["range"].data, shown["range"])
    (place,) = sensor_frames(robot)
    assert (place.parent, place.child) == ("link6", "turned_frame")
    np.testing.assert_allclose(place.translation, X[:3, 3])
    np.testing.assert_allclose(Rotation.from_quat(place.rotation).as_matrix(), X[:3, :3])


@pytest.mark.parametrize(
    ("name", "base"), [("satellite", "floating"), ("stewart", "fixed"), ("caster_table", "fixed")]
)
def test_joints_of_many_freedoms(need, name, base):
    """The pose of the message takes points of the child into the frame of the joint."""
    need("sensor_msgs")
    robot = rd.load(name, base=base)
    rng = np.random.default_rng(1)
    q, v = robot.random(rng), rng.normal(size=robot.nv)
    wide = StateNames(robot).multi
    assert wide
    places, twists = zip(*(multi_joint(robot, joint, q, v) for joint in wide), strict=True)
    poses = [np.append(x.translation, x.rotation) for x in places]
    message = read_back(MESSAGES.multi_dof_joint_state(STAMP, wide, poses, twists))
    check_stamp(message)
    assert tuple(message.joint_names) == wide
    assert len(message.transforms) == len(message.twist) == len(wide)
    for joint, pose, twist in zip(wide, message.transforms, message.twist, strict=True):
        at, kind = robot.joints[joint].q, robot.joints[joint].type
        turn = Rotation.from_quat(numbers(pose.rotation, "xyzw"))
        if kind == "planar":
            x, y, angle = q[at]
            place, expected = [x, y, 0.0], Rotation.from_rotvec([0.0, 0.0, angle])
        else:
            place, expected = q[at][:-4], Rotation.from_quat(q[at][-4:])
        if kind != "spherical":
            np.testing.assert_allclose(numbers(pose.translation), place, atol=1e-12)
        np.testing.assert_allclose(turn.as_matrix(), expected.as_matrix(), atol=1e-12)
        speeds = v[robot.joints[joint].v]
        both = np.append(numbers(twist.linear), numbers(twist.angular))
        rows = {"planar": [0, 1, 5], "spherical": [3, 4, 5]}.get(kind, range(6))
        np.testing.assert_allclose(both[list(rows)], speeds, atol=1e-12)
        assert abs(both).sum() == pytest.approx(abs(speeds).sum())


def test_transforms_of_links(need):
    need("geometry_msgs")
    robot = rd.load("puma560")
    q = robot.random(2)
    places = transforms(robot, q)
    assert len(places) == robot.nv
    for x in places:
        pose = np.append(x.translation, x.rotation)
        stamped = read_back(MESSAGES.transform(STAMP, x.parent, x.child, pose))
        check_stamp(stamped)
        X = robot.frame_pose(q, stamped.child_frame_id, relative_to=stamped.header.frame_id)
        turn = Rotation.from_quat(numbers(stamped.transform.rotation, "xyzw"))
        np.testing.assert_allclose(turn.as_matrix(), X[:3, :3], atol=1e-12)
        np.testing.assert_allclose(numbers(stamped.transform.translation), X[:3, 3], atol=1e-15)


def test_a_trajectory(need):
    kinds, times = need("trajectory_msgs"), need("builtin_interfaces")
    message = kinds.JointTrajectory(joint_names=["knee", "hip"])
    for k, (sec, nanosec) in enumerate([(0, 250_000_000), (1, 0), (2, 999_999_999)]):
        point = kinds.JointTrajectoryPoint(
            positions=[1.0 + k, 2.0 + k], velocities=[3.0 + k, 4.0 + k], accelerations=[5.0, 6.0]
        )
        point.time_from_start = times.Duration(sec=sec, nanosec=nanosec)
        message.points.append(point)
    content = TrajectoryContent.of_message(read_back(message))
    assert content.joint_names == ("knee", "hip")
    times = [point.time for point in content.points]
    np.testing.assert_allclose(times, [0.25, 1.0, 2.999999999], rtol=1e-15)
    for k, point in enumerate(content.points):
        assert tuple(point.positions) == (1.0 + k, 2.0 + k)
        assert tuple(point.velocities) == (3.0 + k, 4.0 + k)
        assert tuple(point.accelerations) == (5.0, 6.0)
    assert TrajectoryContent.of_message(kinds.JointTrajectory()).points == ()


@pytest.mark.parametrize(
    ("joint", "topic"),
    [
        ("elbow", "elbow"),
        ("left/arm-2 joint", "left_arm_2_joint"),
        ("_a__b_", "a_b"),
        ("3rd", "joint_3rd"),
        ("Gelenk ä", "Gelenk"),
        ("ä", "joint"),
    ],
)
def test_any_name_of_a_joint_makes_a_name_that_ros_takes(joint, topic):
    """Letters, digits and single underscores, no digit first [ROS 2 topic and service names]."""
    assert topic_name(joint) == topic
    assert re.fullmatch(r"[A-Za-z](_?[A-Za-z0-9])*", topic)
