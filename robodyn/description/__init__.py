"""Descriptions of mechanisms as they are written: links, joints, loops, motors.

Values are kept as they were written (origins as ``xyz`` and ``rpy``, inertias in their own frame),
so that a file written from a description reads back equal. Nothing here knows of trees or
algorithms. Lengths in m, masses in kg, angles in rad.
"""

from robodyn.description.actuation import Actuator, Rotor
from robodyn.description.drive import Elastic, Motor, Winding
from robodyn.description.exact_turns import ExactTurn, with_exact_turns
from robodyn.description.joint import JOINT_KINDS, Joint, Limits, Mimic
from robodyn.description.link import Inertia, Link
from robodyn.description.loop import Coupling, Loop
from robodyn.description.mechanism import Mechanism
from robodyn.description.pose import Pose, Vector, rotation_from_rpy, rpy_from_rotation
from robodyn.description.transmission import Transmission

__all__ = [
    "JOINT_KINDS",
    "Actuator",
    "Coupling",
    "Elastic",
    "ExactTurn",
    "Inertia",
    "Joint",
    "Limits",
    "Link",
    "Loop",
    "Mechanism",
    "Mimic",
    "Motor",
    "Pose",
    "Rotor",
    "Transmission",
    "Vector",
    "Winding",
    "rotation_from_rpy",
    "rpy_from_rotation",
    "with_exact_turns",
]
