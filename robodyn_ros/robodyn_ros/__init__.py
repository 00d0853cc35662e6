"""robodyn as a ROS 2 package."""
