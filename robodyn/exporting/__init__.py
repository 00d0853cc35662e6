"""Code as a unit: functions of a robot, in another language, as a folder that stands alone."""
