"""All joints, poses and loads of a robot from messages of some joints; nothing here needs ROS."""
