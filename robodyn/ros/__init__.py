"""Robots among ROS: bags, and joint states on the wire, with and without ROS installed."""
