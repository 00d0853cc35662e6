"""MJCF: models of MuJoCo, read by MuJoCo itself and turned into a description."""

from robodyn.urdf.mjcf.read import read_mjcf

__all__ = ["read_mjcf"]
