"""What controllers have in common: checks, the controlled robot, the space of its motors."""
