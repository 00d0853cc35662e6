"""Two linkages of PyMbs: their descriptions, and their motion by hand.

In the x-z plane, z up, angles about +y from the +x axis; thin uniform rods.
"""

import numpy as np

from robodyn.description import Inertia, Joint, Link, Loop, Mechanism, Pose

Y = (0.0, 1.0, 0.0)


def along(angle):
    """Unit vector in the x-z plane; angles about +y from the +x axis."""
    return np.array([np.cos(angle), -np.sin(angle)])


def angle_of(vector):
    return np.arctan2(-vector[1], vector[0])


def rod(name, length, mass):
    """Thin uniform rod along x from the link's origin."""
    J = mass * length**2 / 12.0
    return Link(name, Inertia(mass, Pose((0.5 * length, 0.0, 0.0)), 0.0, 0.0, 0.0, J, 0.0, J))


def at(x):
    return Pose((float(x), 0.0, 0.0))


# Four-bar linkage of PyMbs: ground 1 m, crank 4 m, coupler 4 m, rocker 5 m, 1 kg each.


def four_bar():
    links = (
        Link("ground"),
        rod("crank", 4.0, 1.0),
        rod("coupler", 4.0, 1.0),
        rod("rocker", 5.0, 1.0),
    )
    joints = (
        Joint("A", "revolute", "ground", "crank", Pose(), Y),
        Joint("B", "revolute", "crank", "coupler", at(4.0), Y),
        Joint("D", "revolute", "ground", "rocker", at(1.0), Y),
    )
    pin = Loop("C", "revolute", "coupler", "rocker", at(4.0), at(5.0), Y)
    return Mechanism("four_bar", links, joints, (pin,))


def four_bar_angles(u):
    """Of crank, coupler and rocker, by the law of cosines; C on the side of -(-dz, dx)."""
    B, D = 4.0 * along(u), np.array([1.0, 0.0])
    reach = np.linalg.norm(D - B)
    d = (D - B) / reach
    ahead = (reach**2 + 16.0 - 25.0) / (2.0 * reach)
    C = B + ahead * d - np.sqrt(16.0 - ahead**2) * np.array([-d[1], d[0]])
    return np.array([u, angle_of(C - B), angle_of(C - D)])


def four_bar_centers(u):
    """Centres of mass (3, 2)."""
    crank, coupler, rocker = four_bar_angles(u)
    return np.array([
        2.0 * along(crank),
        4.0 * along(crank) + 2.0 * along(coupler),
        [1.0, 0.0] + 2.5 * along(rocker),
    ])  # fmt: skip


# Crank and slider of PyMbs: crank 0.5 m and 5 kg, rod 2 m and 5 kg, piston 10 kg.


def crank_slider():
    links = (
        Link("ground"),
        rod("crank", 0.5, 5.0),
        rod("rod", 2.0, 5.0),
        Link("piston", Inertia(10.0)),
    )
    joints = (
        Joint("A", "revolute", "ground", "crank", Pose(), Y),
        Joint("B", "revolute", "crank", "rod", at(0.5), Y),
        Joint("slide", "prismatic", "ground", "piston", Pose(), (1.0, 0.0, 0.0)),
    )
    pin = Loop("C", "revolute", "rod", "piston", at(2.0), Pose(), Y)
    return Mechanism("crank_slider", links, joints, (pin,))


def crank_slider_angles(u):
    """Of crank and rod, and the place of the piston ahead of the crank pin."""
    rod_angle = -np.arcsin(0.25 * np.sin(u))
    return np.array([u, rod_angle, 0.5 * np.cos(u) + 2.0 * np.cos(rod_angle)])


def crank_slider_centers(u):
    crank, rod_angle, piston = crank_slider_angles(u)
    pin = 0.5 * along(crank)
    return np.array([0.25 * along(crank), pin + along(rod_angle), [piston, 0.0]])
