"""A description with springs in joints, or between links, beside those that it has."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Mapping
from typing import Any

from robodyn.arrays import expect, mismatch
from robodyn.description import Joint, Loop, Mechanism
from robodyn.description.values import refuse_bad_values
from robodyn.errors import UnknownNameError
from robodyn.force_elements import LINK_ELEMENTS
from robodyn.force_elements.common.link_element import DescribedElement
from robodyn.force_elements.point_spring import PointSpring
from robodyn.joints import joint_kind
from robodyn.symbolic.symbol import with_name

#: Stiffness [N m/rad, N/m] and rest position [rad, m].
JointSpring = tuple[float, float]


def with_springs(
    mechanism: Mechanism, springs: Mapping[str, JointSpring] | Iterable[DescribedElement]
) -> Mechanism:
    """A description with springs beside those that it has.

    springs: A joint has one spring: another one takes its place.
    """
    if not isinstance(springs, Mapping):
        links = ["world", *(link.name for link in mechanism.links)]
        for spring in springs:
            if type(spring) not in LINK_ELEMENTS.values():
                expect("one of springs", spring, PointSpring, "springs")
            for name, _ in spring.places:
                if name not in links:
                    raise UnknownNameError("link", name, links, f"{spring.tag} {spring.name!r}")
        elements = (*mechanism.link_elements, *springs)
        return refuse_bad_values(dataclasses.replace(mechanism, link_elements=elements))
    movers: dict[str, Any] = {mover.name: mover for mover in mechanism.movers}
    for name, pair in springs.items():
        try:
            stiffness, rest = (with_name(x, float(x)) for x in pair)
        except (TypeError, ValueError):
            raise mismatch(
                f"springs[{name!r}]", pair, "stiffness and rest position", "springs"
            ) from None
        if name not in movers:
            raise UnknownNameError("joint", name, movers, repr(mechanism.name))
        single = [n for n, mover in movers.items() if _is_single(mover)]
        if name not in single:
            raise UnknownNameError(
                "joint with one degree of freedom", name, single, repr(mechanism.name)
            )
        movers[name] = dataclasses.replace(movers[name], stiffness=stiffness, rest=rest)
    joints = tuple(movers[joint.name] for joint in mechanism.joints)
    loops = tuple(movers[loop.name] for loop in mechanism.loops)
    return refuse_bad_values(dataclasses.replace(mechanism, joints=joints, loops=loops))


def _is_single(mover: Joint | Loop) -> bool:
    """Whether joints of this kind have one coordinate and one speed."""
    if isinstance(mover, Joint):
        return (mover.nq, mover.nv) == (1, 1)
    kind = joint_kind(mover.kind)
    return (kind.nq, kind.nv) == (1, 1)
