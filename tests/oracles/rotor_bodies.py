"""Rotors of motors as links of their own, on joints that follow the driven ones through a gear."""

import dataclasses

import numpy as np
from oracles.described import inertia_from, inertia_matrix
from oracles.joint_motion import origin

from robodyn.description import Joint, Link, Mimic


def with_rotor_links(mechanism, actuators):
    """The mechanism with a massless link a rotor; carriers lose what rotors have about their axes.

    Parameters
    ----------
    mechanism : Mechanism
    actuators : mapping of joint name to Actuator
        Each with ``axis`` and ``mounted_on``.
    """
    links = {link.name: link for link in mechanism.links}
    joints = list(mechanism.joints)
    for name, motor in actuators.items():
        u = np.array(motor.axis) / np.linalg.norm(motor.axis)
        J = motor.rotor_inertia * np.outer(u, u)
        rotor = f"rotor of {name}"
        carrier = links[motor.mounted_on]
        links[motor.mounted_on] = dataclasses.replace(carrier, inertia=_less(carrier.inertia, J))
        links[rotor] = Link(rotor, inertia_from(0.0, np.zeros(3), J))
        mimic = Mimic(name, motor.gear_ratio, 0.0)
        axis = tuple(float(x) for x in u)
        joints.append(
            Joint(f"gear of {name}", "continuous", motor.mounted_on, rotor, axis=axis, mimic=mimic)
        )
    return dataclasses.replace(mechanism, links=tuple(links.values()), joints=tuple(joints))


def _less(inertia, J):
    """Without the inertia ``J`` in link axes of something massless."""
    R = origin(inertia.origin)[:3, :3]
    return inertia_from(inertia.mass, inertia.origin.xyz, R @ inertia_matrix(inertia) @ R.T - J)
