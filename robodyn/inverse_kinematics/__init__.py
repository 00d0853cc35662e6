"""Inverse kinematics: postures in which frames have given poses or positions."""

from robodyn.inverse_kinematics.solver import InverseKinematics, Targets

__all__ = ["InverseKinematics", "Targets"]
