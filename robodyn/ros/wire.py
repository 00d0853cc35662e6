"""The former name of `robodyn.ros.dds`, for programs that use it."""

from robodyn.ros.dds import DdsNode, JointSample, Reader, Writer

__all__ = ["JointSample", "Reader", "WireNode", "Writer"]

#: The former name of `robodyn.ros.dds.DdsNode`.
WireNode = DdsNode
