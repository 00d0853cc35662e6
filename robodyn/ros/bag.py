"""Trajectories to and from bags of ROS 2 (extra ``bag``), without ROS installed."""

from __future__ import annotations

import os

from robodyn.arguments import checked_arguments
from robodyn.bags import write_motion
from robodyn.literals import BagStorage
from robodyn.robot import Robot
from robodyn.simulation.trajectory.files.formats import about_motion, from_bag
from robodyn.simulation.trajectory.trajectory import Trajectory


@checked_arguments
def write_bag(
    trajectory: Trajectory,
    path: str | os.PathLike[str],
    *,
    topic: str = "/joint_states",
    description: str | None = None,
    storage: BagStorage = "mcap",
    start: float = 0.0,
) -> None:
    """Write a trajectory as a bag. If writing fails, no bag is left.

    trajectory: Of one motion.
    path: ``.mcap`` or ``.db3``: a single file, replaced if it is there. Any other name: a folder,
        as ``ros2 bag record`` makes it, which must not be there yet.
    topic: Of the joint states.
    description, optional: Text latched on ``/robot_description``. Default: the URDF of
        ``trajectory.robot``, its loops as ``<loop>``; ``""``: none.
    storage {"mcap", "sqlite3"}: Of a folder.
    start [s]: Time of ``t = 0`` on the clock of the bag, since the epoch.
    Raises MissingExtraError: Without the extra ``bag``.
    """
    write_motion(
        path,
        trajectory.robot,
        trajectory.joint_names,
        trajectory.t,
        (trajectory.q, trajectory.v, trajectory.a, trajectory.tau),
        {} if trajectory.robot is None else trajectory.measurements,
        topic=topic,
        description=description,
        storage=storage,
        start=start,
        about=about_motion(vars(trajectory)),
    )


@checked_arguments
def read_bag(
    path: str | os.PathLike[str],
    robot: Robot,
    *,
    topic: str = "/joint_states",
    ignore_unknown: bool = False,
) -> Trajectory:
    """The motion of a robot from a bag of ROS 2, one of `write_bag` or a recorded one.

    Joints are matched by name. Where several nodes publish parts of the robot, a joint keeps its
    value until it is heard of again; samples begin when all joints have been heard of. Joints of
    closed linkages that the bag does not have follow from the others. ``t`` counts from the first
    sample, by the stamps of the messages, or by the time of recording where there are none.

    path: A folder, or a single ``.mcap`` or ``.db3`` file.
    topic: Of the joint states.
    ignore_unknown: Pass over joints that the robot does not have (a gripper, wheels).
    Returns trajectory: Velocities and accelerations that the bag does not have are differences of
        positions; torques that it does not have are NaN. Energy is that of a base at rest.
    Raises MissingExtraError: Without the extra ``bag``.
    Raises BagError: If the file is no bag, is damaged, or does not have the topic or all joints.
    Raises UnknownNameError: If the bag has joints that the robot does not have.
    """
    return Trajectory(**from_bag(path, robot, topic=topic, ignore_unknown=ignore_unknown))
