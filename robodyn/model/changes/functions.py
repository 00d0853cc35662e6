"""A description with what its user gives as functions: constraints, couplings, forces, sensors.

Contacts by choice are constraints of a frame in a link.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Collection, Iterable, Mapping
from typing import Any, TypeAlias

from robodyn.arrays import expect
from robodyn.description import Coupling, Limits, Mechanism
from robodyn.description.contact import Contact
from robodyn.description.followers import in_order
from robodyn.description.functions.explicit_loop import ExplicitLoop, Follower
from robodyn.description.functions.force import Force
from robodyn.description.graph_check import unknown_links
from robodyn.description.sensor import DescribedSensor
from robodyn.equations.loops.constraint import Constraint
from robodyn.equations.loops.frame_constraint import FrameConstraint, TracedFrameConstraint
from robodyn.equations.loops.rolling import Rolling
from robodyn.equations.quantities.wrenches import GROUND
from robodyn.equations.sensors.sensor import Sensor
from robodyn.errors import SettingsError, ShapeError, UnknownNameError
from robodyn.force_elements.common.link_element import WORLD
from robodyn.force_elements.force_law import ForceLaw
from robodyn.force_elements.inverse_square import InverseSquareGravity
from robodyn.joints import continuous, floating as floating_joint, joint_kind
from robodyn.model.changes.edit import with_frames
from robodyn.model.windings import with_drives
from robodyn.topology.spanning_tree import FLOATING_BASE

#: What ``constraints=`` takes.
AnyConstraint: TypeAlias = Constraint | FrameConstraint | Rolling

#: What ``couplings=`` takes.
AnyCoupling: TypeAlias = Coupling | Follower | ExplicitLoop

#: What ``forces=`` takes: also those of a robot.
AnyForce: TypeAlias = Force | ForceLaw | InverseSquareGravity

#: What ``sensors=`` takes: also those of a robot.
AnySensor: TypeAlias = Sensor | DescribedSensor


def with_couplings_added(mechanism: Mechanism, couplings: Iterable[AnyCoupling]) -> Mechanism:
    """A description with more couplings between joints.

    Raises UnknownNameError: For joints that do not exist.
    Raises TopologyError: For joints that cannot follow, or be followed.
    Raises ShapeError: For a name that is taken, or something else than a coupling.
    """
    taken = {x.name for x in (*mechanism.loops, *mechanism.couplings, *mechanism.constraints)}
    taken |= {x.name for x in mechanism.followers}
    linear, traced = [], []
    for coupling in couplings:
        _refuse_other("couplings", coupling, AnyCoupling)
        _take_name("couplings", coupling, repr(coupling), taken, "a loop or another coupling")
        if isinstance(coupling, Coupling):
            linear.append(coupling)
        else:
            _check_joints(mechanism, coupling)
            # it is tried within limits, not farther than one radian or metre away
            limits = {mover.name: mover.limits or Limits() for mover in mechanism.movers}
            found = []
            for name in coupling.independent:
                lower, upper = limits[name].lower, limits[name].upper
                nearest = min(max(0.0, lower), upper)
                found.append((max(lower, nearest - 1.0), min(upper, nearest + 1.0)))
            traced.append(coupling.traced(found))
    mechanism = dataclasses.replace(
        mechanism,
        couplings=(*mechanism.couplings, *linear),
        followers=(*mechanism.followers, *traced),
    )
    if linear:
        for error in unknown_links(mechanism):
            raise error
    return in_order(mechanism)


def _check_joints(mechanism: Mechanism, given: Follower | ExplicitLoop) -> None:
    known = [mover.name for mover in mechanism.movers]
    for name in (*given.independent, *given.dependent):
        if name not in known:
            raise UnknownNameError("joint", name, known, repr(given))


def with_constraints(
    mechanism: Mechanism, constraints: Iterable[AnyConstraint], *, floating: bool
) -> Mechanism:
    """A description with more constraints.

    Raises UnknownNameError: For joints and links that do not exist.
    Raises ShapeError: For a name that is taken.
    """
    kinds = _joint_sizes(mechanism, floating=floating)
    links = [link.name for link in mechanism.links]
    taken = {*kinds, *(loop.name for loop in mechanism.loops)}
    taken |= {coupling.name for coupling in mechanism.couplings}
    taken |= {given.name for given in mechanism.constraints}
    traced, others = [], "a joint, a loop or another constraint"
    for constraint in constraints:
        _refuse_other("constraints", constraint, AnyConstraint)
        called = f"constraint {constraint.name!r}"
        _take_name("constraints", constraint, called, taken, others)
        traced.append(constraint.traced(kinds, links))
    return dataclasses.replace(mechanism, constraints=(*mechanism.constraints, *traced))


def with_forces(
    mechanism: Mechanism,
    forces: Iterable[Force | ForceLaw | InverseSquareGravity],
    *,
    floating: bool,
) -> Mechanism:
    """A description with these forces, and no others.

    forces: Those of a robot, `Robot.forces`, are taken as they are.
    floating: The base floats.
    """
    sizes: dict[str, Any] = _joint_sizes(mechanism, floating=floating)
    links = [link.name for link in mechanism.links]
    traced: list[ForceLaw | InverseSquareGravity] = []
    for force in forces:
        if not isinstance(force, ForceLaw | InverseSquareGravity):
            expect("one of forces", force, Force, "forces")
            force = force.traced(sizes, links)
        elif force.joint not in ("", *sizes):
            raise UnknownNameError("joint", force.joint, sizes, f"force {force.name!r}")
        elif unknown := [link for link in force.links if link not in links]:
            raise UnknownNameError("link", unknown[0], links, f"force {force.name!r}")
        traced.append(force)
    return dataclasses.replace(mechanism, forces=tuple(traced))


def with_sensors(
    mechanism: Mechanism, sensors: Iterable[AnySensor], *, floating: bool
) -> Mechanism:
    """A description with these sensors, and no others.

    sensors: Those of a robot, `Robot.sensors`, are taken as they are.
    floating: The base floats.
    Raises ShapeError: For two of one name, and functions that do not give what they should.
    """
    driven = with_drives(mechanism)  # encoders may be at motors, and currents are measured
    sizes: dict[str, Any] = _joint_sizes(driven, floating=floating)
    found: dict[str, DescribedSensor] = {}
    for given in sensors:
        if not isinstance(given, DescribedSensor):
            expect("one of sensors", given, Sensor, "sensors")
            given = given.described(sizes)
        _check_place(given, driven, sizes)
        if given.name in found:
            raise ShapeError(
                f"two sensors are called {given.name!r}: give one of them another name=",
                name="sensors",
            )
        found[given.name] = given
    return dataclasses.replace(mechanism, sensors=tuple(found.values()))


def _check_place(
    sensor: DescribedSensor, mechanism: Mechanism, coordinates: Collection[str]
) -> None:
    """Refuse a sensor on a link, or in a joint, that is not there."""
    where = f"sensor {sensor.name!r}"
    links = [link.name for link in mechanism.links]
    for link in sensor.links:
        if link not in links:
            raise UnknownNameError("link", link, [*links, WORLD], where)
    joints = [*dict.fromkeys((*coordinates, *(x.name for x in mechanism.movers)))]
    if sensor.kind == "wrench":
        joints += [GROUND, *(x.name for x in mechanism.constraints)]
    for joint in sensor.joints:
        if joint not in joints:
            raise UnknownNameError("joint", joint, joints, where)


def _refuse_other(what: str, given: Any, kinds: Any) -> None:
    """Refuse something else than one of several classes."""
    if not isinstance(given, kinds):
        *most, last = (f"robodyn.{kind.__name__}" for kind in kinds.__args__)
        raise ShapeError(
            f"one of {what} is {type(given).__name__}, expected a {', '.join(most)} or {last}",
            name=what,
            given=type(given).__name__,
        )


def _take_name(what: str, given: Any, called: str, taken: set[str], others: str) -> None:
    """Add a name to those that are taken; it must be none of them."""
    if given.name in taken:
        raise ShapeError(f"the name of {called} is taken by {others}", name=what)
    taken.add(given.name)


def _joint_sizes(mechanism: Mechanism, *, floating: bool) -> dict[str, tuple[str, int, int]]:
    """Kind, nq and nv of joints by name: loops that can be joints, rotors and the base, too."""
    sizes = {joint.name: (joint.kind, joint.nq, joint.nv) for joint in mechanism.joints}
    for loop in mechanism.loops:
        kind = joint_kind(loop.kind)
        sizes |= {loop.name: (kind.name, kind.nq, kind.nv)} if kind.in_tree and kind.nv else {}
    spin, free = continuous.KIND, floating_joint.KIND
    sizes |= {rotor.name: (spin.name, spin.nq, spin.nv) for rotor in mechanism.rotors}
    if floating:
        sizes |= {FLOATING_BASE: (free.name, free.nq, free.nv)}
    return sizes


#: What contacts are called after: the frame in a link, and its constraint.
SUFFIX = " contact"


def contacts_of(mechanism: Mechanism) -> dict[str, Contact]:
    """Contacts by link."""
    return {
        given.name.removesuffix(SUFFIX): given.contact
        for given in mechanism.constraints
        if isinstance(given, TracedFrameConstraint) and given.contact is not None
    }


def with_contacts(mechanism: Mechanism, contacts: Mapping[str, Contact]) -> Mechanism:
    """A description with these contacts, and no others."""
    gone = {link + SUFFIX for link in contacts_of(mechanism)}
    mechanism = dataclasses.replace(
        mechanism,
        links=tuple(link for link in mechanism.links if link.name not in gone),
        joints=tuple(joint for joint in mechanism.joints if joint.child not in gone),
        constraints=tuple(x for x in mechanism.constraints if x.name not in gone),
    )
    for link, contact in contacts.items():
        expect(f"contacts[{link!r}]", contact, Contact, "contacts")
        if link in (contact.on, contact.on[0]):
            raise SettingsError(
                f"contacts[{link!r}] is on {link!r} itself: name another link in on="
            )
        name = link + SUFFIX
        at = (0.0, 0.0, 0.0) if contact.at is None else contact.at
        mechanism = with_frames(mechanism, {name: (link, at)})
        given = FrameConstraint(name, contact.rows(), (contact.on, name))
        traced = given.traced({}, [x.name for x in mechanism.links])
        marked = dataclasses.replace(traced, contact=contact)
        mechanism = dataclasses.replace(mechanism, constraints=(*mechanism.constraints, marked))
    return mechanism
