"""A simulated robot that takes commands and gives its state; nothing here needs ROS."""
