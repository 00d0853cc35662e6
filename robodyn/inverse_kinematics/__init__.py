"""Postures in which frames are where they are wanted."""

from robodyn.inverse_kinematics.solver import InverseKinematics, Targets

__all__ = ["InverseKinematics", "Targets"]
