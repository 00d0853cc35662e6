"""Estimators: the state of a robot from what its sensors show."""
