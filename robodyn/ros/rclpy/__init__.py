"""Nodes of ROS 2 by rclpy."""
