"""Which joints and links of a description its other parts refer to."""

from __future__ import annotations

from collections.abc import Iterator

from robodyn.description import Coupling, Loop, Mechanism
from robodyn.force_elements.common.link_element import WORLD


def joints_referred_to(mechanism: Mechanism) -> Iterator[str]:
    """Joints that a motor, a mimic joint, a constraint, a force or a function names, sensors apart.

    Those of functions are the joints that follow, too.
    """
    yield from (name for name, _ in mechanism.actuators)
    yield from (x.mimic.joint for x in mechanism.joints if x.mimic is not None)
    for given in (*mechanism.constraints, *mechanism.followers):
        yield from given.joints
    yield from (force.joint for force in mechanism.forces)


def links_referred_to(mechanism: Mechanism) -> Iterator[str]:
    """Links that something else than a joint, a motor or a sensor is on, once for each.

    Places in the world are on none.
    """
    closing: tuple[Loop | Coupling, ...] = (*mechanism.loops, *mechanism.couplings)
    for ends in closing:
        yield from (ends.predecessor, ends.successor)
    yield from (rotor.link for rotor in mechanism.rotors)
    places = [link for element in mechanism.link_elements for link, _ in element.places]
    places += [link for x in (*mechanism.forces, *mechanism.constraints) for link in x.links]
    yield from (link for link in places if link != WORLD)
