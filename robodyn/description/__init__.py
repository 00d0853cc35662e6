"""Descriptions of mechanisms as they are written: links, joints, loops, motors.

Values are kept as they were written (origins as ``xyz`` and ``rpy``, inertias in their own frame),
so that a file written from a description reads back equal. Nothing here knows of trees or
algorithms. Lengths in m, masses in kg, angles in rad.
"""

from robodyn.description.actuation import Actuator as Actuator, Rotor as Rotor
from robodyn.description.drive import Elastic as Elastic, Motor as Motor, Winding as Winding
from robodyn.description.exact_turns import (
    ExactTurn as ExactTurn,
    with_exact_turns as with_exact_turns,
)
from robodyn.description.joint import (
    JOINT_KINDS as JOINT_KINDS,
    Coupling as Coupling,
    Joint as Joint,
    Limits as Limits,
    Loop as Loop,
    Mimic as Mimic,
)
from robodyn.description.link import Inertia as Inertia, Link as Link
from robodyn.description.mechanism import Mechanism as Mechanism
from robodyn.description.pose import (
    Pose as Pose,
    Vector as Vector,
    rotation_from_rpy as rotation_from_rpy,
    rpy_from_rotation as rpy_from_rotation,
)
from robodyn.description.transmission import Transmission as Transmission
