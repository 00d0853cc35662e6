"""Bags of ROS 2 on plain arrays: the motion of a robot in files, without ROS (extra ``bag``)."""

from robodyn.bags.reading import read_about, read_motion
from robodyn.bags.writing import write_motion

__all__ = ["read_about", "read_motion", "write_motion"]
