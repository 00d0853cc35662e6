"""What a robot is commanded by ROS messages: numbers for its joints, or trajectories."""
