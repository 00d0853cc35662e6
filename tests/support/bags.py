"""Motions to be written into bags, and bags as the nodes of others record them."""

import numpy as np

import robodyn as rd


def moved(name, duration=0.2, **options):
    robot = rd.load(name, **options)
    rng = np.random.default_rng(5)
    q0, v0 = robot.neutral(), rng.normal(size=robot.nv)
    if robot.nc:
        v0 = robot.consistent_velocity(q0, v0)
    torques = rng.normal(size=robot.nv)
    return robot, rd.simulate(
        robot, lambda t, q, v: torques, q0=q0, v0=0.2 * v0, duration=duration, step=2e-3
    )


def record(path, joint_states, *, kind="mcap", topic="/joint_states", text=False):
    """A bag as a robot's nodes might record it: (stamp, recorded, names, q, v, tau) each."""
    from rosbags.rosbag2 import StoragePlugin, Writer
    from rosbags.typesys import Stores, get_typestore

    store = get_typestore(Stores.ROS2_HUMBLE)
    types = store.types
    with Writer(path, version=9, storage_plugin=StoragePlugin[kind.upper()]) as writer:
        if text:
            c = writer.add_connection(topic, "std_msgs/msg/String", typestore=store)
            message = types["std_msgs/msg/String"]("hello")
            writer.write(c, 0, store.serialize_cdr(message, c.msgtype))
            return
        c = writer.add_connection(topic, "sensor_msgs/msg/JointState", typestore=store)
        for stamp, recorded, names, *columns in joint_states:
            time = types["builtin_interfaces/msg/Time"](*divmod(stamp, 10**9))
            head = types["std_msgs/msg/Header"](time, "")
            arrays = [np.array(column, float) for column in columns]
            message = types[c.msgtype](head, list(names), *arrays)
            writer.write(c, recorded, store.serialize_cdr(message, c.msgtype))
