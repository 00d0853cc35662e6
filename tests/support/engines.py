"""The engine behind the ROS nodes, and what it says."""

import robodyn as rd
from robodyn.ros import Engine, Settings
from robodyn.ros.states.throttled_logger import ThrottledLogger


def engine(robot, joints=None, **settings):
    """An engine for a robot, or for one of a name; and a list to which its messages are added."""
    said = []
    log = ThrottledLogger(said.append, clock=lambda: 0)
    robot = robot if isinstance(robot, rd.Robot) else rd.load(robot)
    return Engine(robot, Settings().replaced(settings), joints=joints, log=log), said
