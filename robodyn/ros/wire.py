"""The former name of `robodyn.ros.dds`."""

from robodyn.ros.dds import JointSample, Reader, WireNode, Writer

__all__ = ["JointSample", "Reader", "WireNode", "Writer"]
