"""What is exported: functions of a robot, their names and what they say of themselves."""
