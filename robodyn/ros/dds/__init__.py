"""Topics of ROS 2 over DDS without ROS (extra ``dds``)."""

from robodyn.ros.dds.node import DdsNode, JointSample, Reader, Writer

__all__ = ["DdsNode", "JointSample", "Reader", "Writer"]
