"""A simulated robot: ``ros2 launch robodyn_ros sim.launch.py robot:=robot.urdf``."""

from pathlib import Path

from ament_index_python.packages import get_package_share_directory
from launch import LaunchDescription
from launch.actions import DeclareLaunchArgument
from launch.substitutions import LaunchConfiguration
from launch_ros.actions import Node


def generate_launch_description():
    """Arguments ``robot`` (URDF file or name of a bundled robot), ``config`` and ``namespace``."""
    share = Path(get_package_share_directory("robodyn_ros"))
    return LaunchDescription(
        [
            DeclareLaunchArgument("robot", default_value="puma560"),
            DeclareLaunchArgument("config", default_value=str(share / "config" / "sim.yaml")),
            DeclareLaunchArgument("namespace", default_value=""),
            Node(
                package="robodyn_ros",
                executable="sim_node",
                name="robodyn",
                namespace=LaunchConfiguration("namespace"),
                arguments=[LaunchConfiguration("robot")],
                parameters=[LaunchConfiguration("config")],
                output="screen",
            ),
        ]
    )
