"""What stands in a bag, read and written by programs that are not robodyn."""

import numpy as np
import pytest
from scipy.spatial.transform import Rotation
from support.bags import moved, record

import robodyn as rd
from robodyn.ros.bag import read_bag, write_bag

pytest.importorskip("rosbags")

XYZ = ("x", "y", "z")


def components(message, names=XYZ):
    return np.array([getattr(message, name) for name in names])


def posed(robot):
    """The joint whose position is a pose."""
    return next(n for n in robot.joint_names if robot.joints[n].type in ("floating", "spherical"))


def tumbling(name, **options):
    """A motion in which the pose of one joint has four quaternion components that all differ."""
    robot, run = moved(name, 0.02, **options)
    at = robot.joints[posed(robot)].q
    turn = Rotation.from_rotvec([0.3, -0.8, 1.1]).as_quat()
    q = run.q.copy()
    q[:, at.stop - 4 : at.stop] = turn
    if at.stop - at.start == 7:
        q[:, at.start : at.start + 3] = [0.5, -0.25, 2.0]
    tau = np.arange(1.0, 1.0 + run.tau.size).reshape(run.tau.shape)
    parts = (run.t, q, run.v, run.a, tau, run.energy, run.loop_residual)
    return robot, rd.Trajectory(*parts, run.joint_names, robot), turn


@pytest.mark.parametrize(
    ("name", "options"), [("satellite", {"base": "floating"}), ("prosthesis", {})]
)
def test_an_independent_reader_finds_the_pose_of_a_joint(tmp_path, name, options):
    """The fields x, y, z and w hold what their names say; so do those of twist and wrench."""
    mcap = pytest.importorskip("mcap_ros2.reader")
    robot, run, turn = tumbling(name, **options)
    joint = posed(robot)
    write_bag(run, tmp_path / "run.mcap")
    states = [
        message.ros_msg
        for message in mcap.read_ros2_messages(tmp_path / "run.mcap")
        if message.channel.topic == "/joint_states/multi_dof"
    ]
    assert len(states) == len(run)
    v, free = robot.joints[joint].v, robot.joints[joint].type == "floating"
    for k, state in enumerate(states):
        place = list(state.joint_names).index(joint)
        pose, twist, wrench = state.transforms[place], state.twist[place], state.wrench[place]
        found = Rotation.from_quat(components(pose.rotation, (*XYZ, "w")))
        np.testing.assert_allclose(
            found.as_matrix(), Rotation.from_quat(turn).as_matrix(), atol=1e-15
        )
        position = [0.5, -0.25, 2.0] if free else np.zeros(3)
        np.testing.assert_array_equal(components(pose.translation), position)
        speeds = np.append(components(twist.linear), components(twist.angular))
        forces = np.append(components(wrench.force), components(wrench.torque))
        np.testing.assert_array_equal(speeds[-(v.stop - v.start) :], run.v[k, v])
        np.testing.assert_array_equal(forces[-(v.stop - v.start) :], run.tau[k, v])
        assert free or not (speeds[:3].any() or forces[:3].any())


def test_an_independent_reader_finds_what_sensors_show(tmp_path):
    mcap = pytest.importorskip("mcap_ros2.reader")
    sensors = [
        rd.Sensor("imu", at="link6", name="imu"),
        rd.Sensor("wrench", joint="joint3", name="load"),
        rd.Sensor("position", at="link6", name="point"),
        rd.Sensor("velocity", at="link6", relative_to="link2", name="my speed"),
        rd.Sensor("distance", at="link6", relative_to="world", name="range"),
    ]
    robot, run = moved("puma560", 0.01, sensors=sensors)
    run.save(tmp_path / "run.mcap")
    found = {}
    for message in mcap.read_ros2_messages(tmp_path / "run.mcap"):
        found.setdefault(message.channel.topic, []).append(message.ros_msg)
    shown = run.measurements
    imu, load = found["/sensors/imu"], found["/sensors/load"]
    assert len(imu) == len(load) == len(run)
    for k in (0, 3):
        force, rate = components(imu[k].linear_acceleration), components(imu[k].angular_velocity)
        np.testing.assert_array_equal([*force, *rate], shown["imu"][k])
        assert imu[k].orientation_covariance[0] == -1.0 and imu[k].header.frame_id == "link6"
        stamp = imu[k].header.stamp
        assert stamp.sec * 10**9 + stamp.nanosec == round(1e9 * run.t[k])
        wrench = load[k].wrench
        parts = components(wrench.force), components(wrench.torque)
        np.testing.assert_array_equal(np.concatenate(parts), shown["load"][k])
        point, speed = found["/sensors/point"][k].point, found["/sensors/my_speed"][k].vector
        np.testing.assert_array_equal(components(point), shown["point"][k])
        np.testing.assert_array_equal(components(speed), shown["my speed"][k])
        np.testing.assert_array_equal(found["/sensors/range"][k].data, shown["range"][k])
    again = read_bag(tmp_path / "run.mcap", robot)
    np.testing.assert_array_equal(again.q, run.q)


def test_a_pose_that_another_program_wrote(tmp_path):
    """A recorded pose, each field given by its name, is the pose of the base."""
    from rosbags.rosbag2 import StoragePlugin, Writer
    from rosbags.typesys import Stores, get_typestore

    robot = rd.load("satellite", base="floating")
    base = posed(robot)
    others = [n for n in robot.joint_names if n != base]
    store = get_typestore(Stores.ROS2_JAZZY)
    types = store.types
    vector = types["geometry_msgs/msg/Vector3"]
    x, y, z, w = Rotation.from_euler("zyx", [0.4, -0.9, 1.3]).as_quat()
    messages = {
        "sensor_msgs/msg/MultiDOFJointState": {
            "joint_names": [base],
            "transforms": [
                types["geometry_msgs/msg/Transform"](
                    translation=vector(x=1.0, y=2.0, z=3.0),
                    rotation=types["geometry_msgs/msg/Quaternion"](w=w, x=x, y=y, z=z),
                )
            ],
            "twist": [
                types["geometry_msgs/msg/Twist"](
                    linear=vector(x=0.1, y=0.2, z=0.3), angular=vector(x=0.4, y=0.5, z=0.6)
                )
            ],
            "wrench": [],
        },
        "sensor_msgs/msg/JointState": {
            "name": others,
            "position": np.zeros(len(others)),
            "velocity": np.zeros(len(others)),
            "effort": np.zeros(0),
        },
    }
    topics = dict(zip(messages, ("/joint_states/multi_dof", "/joint_states"), strict=True))
    with Writer(tmp_path / "bag", version=9, storage_plugin=StoragePlugin.MCAP) as writer:
        for kind, fields in messages.items():
            connection = writer.add_connection(topics[kind], kind, typestore=store)
            time = types["builtin_interfaces/msg/Time"](sec=7, nanosec=0)
            header = types["std_msgs/msg/Header"](stamp=time, frame_id="")
            message = types[kind](header=header, **fields)
            writer.write(connection, 7 * 10**9, store.serialize_cdr(message, kind))
    run = read_bag(tmp_path / "bag", robot)
    pose = robot.frame_pose(run.q[0], robot.joints[base].child)
    np.testing.assert_allclose(
        pose[:3, :3], Rotation.from_euler("zyx", [0.4, -0.9, 1.3]).as_matrix(), atol=1e-14
    )
    np.testing.assert_allclose(pose[:3, 3], [1.0, 2.0, 3.0], atol=1e-14)
    np.testing.assert_array_equal(run.v[0, robot.joints[base].v], [0.1, 0.2, 0.3, 0.4, 0.5, 0.6])


def test_rates_from_samples_at_uneven_times(double, tmp_path):
    """Differences are exact for parabolas, whatever the times of the samples."""
    rng = np.random.default_rng(3)
    stamps = np.cumsum(rng.integers(10**6, 9 * 10**7, 40))
    t = (stamps - stamps[0]) * 1e-9
    slope, bend = np.array([0.7, -0.4]), np.array([2.0, 3.0])
    q = np.outer(t, slope) + np.outer(t**2, bend) / 2
    names = double.joint_names
    states = [(int(at), int(at), names, row, [], []) for at, row in zip(stamps, q, strict=True)]
    record(tmp_path / "bag", states)
    run = read_bag(tmp_path / "bag", double)
    np.testing.assert_allclose(run.t, t, atol=1e-12)
    np.testing.assert_allclose(run.v[1:-1], (slope + np.outer(t, bend))[1:-1], atol=1e-10)
    np.testing.assert_allclose(run.a[2:-2], np.tile(bend, (36, 1)), atol=1e-7)
