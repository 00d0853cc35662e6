"""Inertial parameters of single bodies: which are possible, and in which frame they are given."""
