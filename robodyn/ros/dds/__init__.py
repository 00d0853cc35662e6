"""ROS 2 topics over DDS, without a ROS installation (extra ``dds``)."""

from robodyn.ros.dds.node import DdsNode, JointSample, Reader, Writer

__all__ = ["DdsNode", "JointSample", "Reader", "Writer"]
