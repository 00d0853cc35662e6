"""Topics of ROS 2 on the wire without ROS (extra ``dds``)."""

from robodyn.ros.dds.node import JointSample, Reader, WireNode, Writer

__all__ = ["JointSample", "Reader", "WireNode", "Writer"]
