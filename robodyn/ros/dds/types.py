"""ROS messages as DDS types. Needs cyclonedds; imported when a `DdsNode` is made.

A type of ROS, ``sensor_msgs/msg/JointState``, is ``sensor_msgs::msg::dds_::JointState_`` in DDS.
Annotations are evaluated by cyclonedds, so that none may be postponed here.
"""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from cyclonedds.idl import IdlStruct, types
from cyclonedds.idl.annotations import final

from robodyn.errors import RobodynError
from robodyn.ros.engine.sizes import check_command, check_trajectory


@dataclass
class Unread:
    """Stands for a message that is too large to be read while a robot moves."""

    problem: str


def _unless_large(check: Callable[[bytes], None]) -> Any:
    """A method that reads a message from its bytes; `Unread` for too many, or too many points."""

    def deserialize(cls: Any, data: bytes, *options: Any, **named: Any) -> Any:
        try:
            check(data)
        except RobodynError as error:
            return Unread(str(error))
        return super(cls, cls).deserialize(data, *options, **named)

    return classmethod(deserialize)


@dataclass
@final
class Time(IdlStruct, typename="builtin_interfaces::msg::dds_::Time_"):
    """``builtin_interfaces/Time``."""

    sec: types.int32 = 0
    nanosec: types.uint32 = 0


@dataclass
@final
class Duration(IdlStruct, typename="builtin_interfaces::msg::dds_::Duration_"):
    """``builtin_interfaces/Duration``."""

    sec: types.int32 = 0
    nanosec: types.uint32 = 0


@dataclass
@final
class Header(IdlStruct, typename="std_msgs::msg::dds_::Header_"):
    """``std_msgs/Header``."""

    stamp: Time = field(default_factory=Time)
    frame_id: str = ""


@dataclass
@final
class String(IdlStruct, typename="std_msgs::msg::dds_::String_"):
    """``std_msgs/String``."""

    data: str = ""


@dataclass
@final
class JointState(IdlStruct, typename="sensor_msgs::msg::dds_::JointState_"):
    """``sensor_msgs/JointState``."""

    header: Header = field(default_factory=Header)
    name: types.sequence[str] = field(default_factory=list)
    position: types.sequence[types.float64] = field(default_factory=list)
    velocity: types.sequence[types.float64] = field(default_factory=list)
    effort: types.sequence[types.float64] = field(default_factory=list)

    deserialize = _unless_large(check_command)


@dataclass
@final
class MultiArrayDimension(IdlStruct, typename="std_msgs::msg::dds_::MultiArrayDimension_"):
    """``std_msgs/MultiArrayDimension``."""

    label: str = ""
    size: types.uint32 = 0
    stride: types.uint32 = 0


@dataclass
@final
class MultiArrayLayout(IdlStruct, typename="std_msgs::msg::dds_::MultiArrayLayout_"):
    """``std_msgs/MultiArrayLayout``."""

    dim: types.sequence[MultiArrayDimension] = field(default_factory=list)
    data_offset: types.uint32 = 0


@dataclass
@final
class Float64MultiArray(IdlStruct, typename="std_msgs::msg::dds_::Float64MultiArray_"):
    """``std_msgs/Float64MultiArray``."""

    layout: MultiArrayLayout = field(default_factory=MultiArrayLayout)
    data: types.sequence[types.float64] = field(default_factory=list)

    deserialize = _unless_large(check_command)


@dataclass
@final
class JointTrajectoryPoint(IdlStruct, typename="trajectory_msgs::msg::dds_::JointTrajectoryPoint_"):
    """``trajectory_msgs/JointTrajectoryPoint``."""

    positions: types.sequence[types.float64] = field(default_factory=list)
    velocities: types.sequence[types.float64] = field(default_factory=list)
    accelerations: types.sequence[types.float64] = field(default_factory=list)
    effort: types.sequence[types.float64] = field(default_factory=list)
    time_from_start: Duration = field(default_factory=Duration)


@dataclass
@final
class JointTrajectory(IdlStruct, typename="trajectory_msgs::msg::dds_::JointTrajectory_"):
    """``trajectory_msgs/JointTrajectory``."""

    header: Header = field(default_factory=Header)
    joint_names: types.sequence[str] = field(default_factory=list)
    points: types.sequence[JointTrajectoryPoint] = field(default_factory=list)

    deserialize = _unless_large(check_trajectory)


@dataclass
@final
class Gid(IdlStruct, typename="rmw_dds_common::msg::dds_::Gid_"):
    """``rmw_dds_common/Gid``, of 16 bytes from ROS Iron on."""

    data: types.array[types.uint8, 16]


@dataclass
@final
class NodeEntitiesInfo(IdlStruct, typename="rmw_dds_common::msg::dds_::NodeEntitiesInfo_"):
    """``rmw_dds_common/NodeEntitiesInfo``: the endpoints of a node."""

    node_namespace: types.bounded_str[256]
    node_name: types.bounded_str[256]
    reader_gid_seq: types.sequence[Gid]
    writer_gid_seq: types.sequence[Gid]


@dataclass
@final
class ParticipantEntitiesInfo(
    IdlStruct, typename="rmw_dds_common::msg::dds_::ParticipantEntitiesInfo_"
):
    """``rmw_dds_common/ParticipantEntitiesInfo``: the nodes of a participant."""

    gid: Gid
    node_entities_info_seq: types.sequence[NodeEntitiesInfo]


#: What ``ros2 topic info -v`` calls the type hash.
HASHES: dict[type, str] = {
    JointState: "RIHS01_a13ee3a330e346c9d87b5aa18d24e11690752bd33a0350f11c5882bc9179260e",
    String: "RIHS01_df668c740482bbd48fb39d76a70dfd4bd59db1288021743503259e948f6b1a18",
    Float64MultiArray: "RIHS01_1025ddc6b9552d191f89ef1a8d2f60f3d373e28b283d8891ddcc974e8c55397f",
    JointTrajectory: "RIHS01_179b33eba59d676f6d967ac71fe35e7ca2f64b2f3928f4a018cec115e213796e",
}
