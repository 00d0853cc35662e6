"""ROS messages as DDS types. Needs cyclonedds; imported when a `DdsNode` is made."""

import dataclasses
from collections.abc import Callable
from types import new_class
from typing import Annotated, Any, get_args, get_origin

from cyclonedds.idl import IdlStruct
from cyclonedds.idl.annotations import final
from cyclonedds.idl.types import array, bounded_str, float64, int32, sequence, uint8, uint32

from robodyn.errors import RobodynError
from robodyn.ros.states.sizes import check_command, check_trajectory


@dataclasses.dataclass
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


def _struct(kind: str, check: Callable[[bytes], None] | None = None, **fields: Any) -> Any:
    """The type of a message of ROS; by default fields are zero or empty.

    In DDS, ``sensor_msgs/JointState`` is ``sensor_msgs::msg::dds_::JointState_``.
    """
    package, name = kind.split("/")
    content: dict[str, Any] = {"__annotations__": fields, "__module__": __name__, "__doc__": kind}
    for field, of in fields.items():
        plain = get_args(of)[0] if get_origin(of) is Annotated else of
        content[field] = dataclasses.field(default_factory=list if get_origin(plain) else plain)
    if check is not None:
        content["deserialize"] = _unless_large(check)
    words = {"typename": f"{package}::msg::dds_::{name}_"}
    return final(
        dataclasses.dataclass(new_class(name, (IdlStruct,), words, lambda own: own.update(content)))
    )


_numbers = sequence[float64]
Time = _struct("builtin_interfaces/Time", sec=int32, nanosec=uint32)
Duration = _struct("builtin_interfaces/Duration", sec=int32, nanosec=uint32)
Header = _struct("std_msgs/Header", stamp=Time, frame_id=str)
String = _struct("std_msgs/String", data=str)
MultiArrayDimension = _struct("std_msgs/MultiArrayDimension", label=str, size=uint32, stride=uint32)
MultiArrayLayout = _struct(
    "std_msgs/MultiArrayLayout", dim=sequence[MultiArrayDimension], data_offset=uint32
)
Float64MultiArray = _struct(
    "std_msgs/Float64MultiArray", check_command, layout=MultiArrayLayout, data=_numbers
)
JointState = _struct(
    "sensor_msgs/JointState", check_command,
    header=Header, name=sequence[str], position=_numbers, velocity=_numbers, effort=_numbers,
)  # fmt: skip
JointTrajectoryPoint = _struct(
    "trajectory_msgs/JointTrajectoryPoint", positions=_numbers, velocities=_numbers,
    accelerations=_numbers, effort=_numbers, time_from_start=Duration,
)  # fmt: skip
JointTrajectory = _struct(
    "trajectory_msgs/JointTrajectory", check_trajectory,
    header=Header, joint_names=sequence[str], points=sequence[JointTrajectoryPoint],
)  # fmt: skip
Vector3 = _struct("geometry_msgs/Vector3", x=float64, y=float64, z=float64)
Quaternion = _struct("geometry_msgs/Quaternion", x=float64, y=float64, z=float64, w=float64)
Transform = _struct("geometry_msgs/Transform", translation=Vector3, rotation=Quaternion)
TransformStamped = _struct(
    "geometry_msgs/TransformStamped", header=Header, child_frame_id=str, transform=Transform
)
TFMessage = _struct("tf2_msgs/TFMessage", transforms=sequence[TransformStamped])
Twist = _struct("geometry_msgs/Twist", linear=Vector3, angular=Vector3)
Wrench = _struct("geometry_msgs/Wrench", force=Vector3, torque=Vector3)
WrenchStamped = _struct("geometry_msgs/WrenchStamped", header=Header, wrench=Wrench)
MultiDOFJointState = _struct(
    "sensor_msgs/MultiDOFJointState", header=Header, joint_names=sequence[str],
    transforms=sequence[Transform], twist=sequence[Twist], wrench=sequence[Wrench],
)  # fmt: skip
#: Of 16 bytes from ROS Iron on.
Gid = _struct("rmw_dds_common/Gid", data=array[uint8, 16])
#: The endpoints of a node.
NodeEntitiesInfo = _struct(
    "rmw_dds_common/NodeEntitiesInfo", node_namespace=bounded_str[256], node_name=bounded_str[256],
    reader_gid_seq=sequence[Gid], writer_gid_seq=sequence[Gid],
)  # fmt: skip
#: The nodes of a participant.
ParticipantEntitiesInfo = _struct(
    "rmw_dds_common/ParticipantEntitiesInfo",
    gid=Gid, node_entities_info_seq=sequence[NodeEntitiesInfo],
)  # fmt: skip

#: What ``ros2 topic info -v`` calls the type hash.
HASHES: dict[type, str] = {
    JointState: "RIHS01_a13ee3a330e346c9d87b5aa18d24e11690752bd33a0350f11c5882bc9179260e",
    String: "RIHS01_df668c740482bbd48fb39d76a70dfd4bd59db1288021743503259e948f6b1a18",
    Float64MultiArray: "RIHS01_1025ddc6b9552d191f89ef1a8d2f60f3d373e28b283d8891ddcc974e8c55397f",
    JointTrajectory: "RIHS01_179b33eba59d676f6d967ac71fe35e7ca2f64b2f3928f4a018cec115e213796e",
}
