"""Prescribed motions in time: of the base and of joints."""
