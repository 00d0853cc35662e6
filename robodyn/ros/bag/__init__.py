"""Bags of ROS 2, without ROS installed (extra ``bag``)."""

from robodyn.ros.bag.trajectories import read_bag, write_bag

__all__ = ["read_bag", "write_bag"]
