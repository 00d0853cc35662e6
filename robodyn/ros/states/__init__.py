"""What ROS messages say of the state of a robot, and the whole state from what they say."""
