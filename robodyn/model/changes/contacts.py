"""A description with contacts by choice: a frame in the link, and a constraint of that frame."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping

from robodyn.arrays import expect
from robodyn.description import Mechanism
from robodyn.description.contact import Contact
from robodyn.equations.loops.frame_constraint import FrameConstraint, TracedFrameConstraint
from robodyn.model.changes.edit import with_frames

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
        name = link + SUFFIX
        at = (0.0, 0.0, 0.0) if contact.at is None else contact.at
        mechanism = with_frames(mechanism, {name: (link, at)})
        given = FrameConstraint(name, contact.rows(), (contact.on, name))
        traced = given.traced({}, [x.name for x in mechanism.links])
        marked = dataclasses.replace(traced, contact=contact)
        mechanism = dataclasses.replace(mechanism, constraints=(*mechanism.constraints, marked))
    return mechanism
