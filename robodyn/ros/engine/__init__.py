"""A simulated robot that takes commands and tells its state; nothing here needs ROS."""
