"""Plane chains of equal uniform rods, one after the other, of length, mass and all else one."""

import numpy as np

import robodyn as rd
from robodyn.description import Inertia, Joint, Link, Mechanism, Pose

#: About the middle of the rod, of length and mass 1.
CENTRAL = 1.0 / 12.0
ROD = Inertia(1.0, Pose((0.5, 0.0, 0.0)), CENTRAL, 0.0, 0.0, CENTRAL, 0.0, CENTRAL)
MIDDLE, START, END = (0.5, 0.0, 0.0), (0.0, 0.0, 0.0), (1.0, 0.0, 0.0)
Z = (0.0, 0.0, 1.0)


def chain(count, first):
    """Rods along x of their own frames; the first joint is ``"planar"`` or ``"revolute"``."""
    links = [Link("ground"), *(Link(f"rod{k + 1}", ROD) for k in range(count))]
    joints = [Joint("joint1", first, "ground", "rod1", axis=Z)]
    joints += [
        Joint(f"joint{k + 1}", "revolute", f"rod{k}", f"rod{k + 1}", Pose(END), Z)
        for k in range(1, count)
    ]
    mechanism = Mechanism("chain", tuple(links), tuple(joints))
    return rd.load(mechanism, gravity=(0.0, 0.0, 0.0))


def angles_to_q(robot, angles):
    """Coordinates for the angles of all rods to the x axis of the world."""
    turns = np.diff(angles, prepend=0.0)
    return np.r_[np.zeros(robot.nq - len(angles)), turns]


def rates(robot, v):
    """Angular velocity of each rod."""
    count = len(robot.joint_names)
    return np.cumsum(np.asarray(v)[..., robot.nv - count :], axis=-1)
