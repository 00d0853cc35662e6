"""Motions and gains of least cost."""
