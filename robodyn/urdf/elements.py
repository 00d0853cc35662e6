"""Elements of our own: ``<spring>`` between two links, ``<rotor>`` that spins on a link."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from robodyn.description import Joint, Link, PointSpring, Rotor
from robodyn.errors import UnknownNameError
from robodyn.urdf.common.reader import Reader
from robodyn.urdf.common.xml import Element, local_name

__all__ = ["read_elements"]

_ORIGIN = (0.0, 0.0, 0.0)


def read_elements(
    reader: Reader,
    elements: Iterable[Element],
    links: Mapping[str, Link],
    joints: Mapping[str, Joint],
) -> tuple[tuple[PointSpring, ...], tuple[Rotor, ...], list[Element]]:
    """Springs and rotors of a robot, and the elements that are neither."""
    springs: list[PointSpring] = []
    rotors: dict[str, Rotor] = {}
    rest = []
    for element in elements:
        match local_name(element):
            case "spring":
                spring = _read_spring(reader, element, links)
                if spring in springs or (
                    spring is not None and spring.name in {s.name for s in springs if s.name}
                ):
                    reader.problem(element, "is written twice: give each spring a name of its own")
                elif spring is not None:
                    springs.append(spring)
            case "rotor":
                rotor = _read_rotor(reader, element, links)
                if rotor is not None and rotor.name in {*links, *joints, *rotors}:
                    reader.problem(
                        element, "the name is taken by a link, a joint or another rotor; rename one"
                    )
                elif rotor is not None:
                    rotors[rotor.name] = rotor
            case _:
                rest.append(element)
    return tuple(springs), tuple(rotors.values()), rest


def _link(reader: Reader, element: Element, key: str, known: Iterable[str]) -> str | None:
    name = reader.name(element, key)
    if name is not None and name not in known:
        reader.problem(element, UnknownNameError("link", name, known))
        return None
    return name


def _read_spring(reader: Reader, element: Element, links: Mapping[str, Link]) -> PointSpring | None:
    known = (*links, "world")
    link1, link2 = (_link(reader, element, key, known) for key in ("link1", "link2"))
    if link1 is None or link2 is None:
        return None
    keys = ("stiffness", "rest_length", "damping")
    stiffness, rest_length, damping = (reader.number(element, key, 0.0) for key in keys)
    if min(stiffness, rest_length, damping) < 0.0:
        reader.problem(element, f"of {', '.join(keys)} one is negative")
    return PointSpring(
        link1,
        reader.vector(element, "point1", _ORIGIN),
        link2,
        reader.vector(element, "point2", _ORIGIN),
        stiffness,
        rest_length,
        damping,
        element.get("name", ""),
    )


def _read_rotor(reader: Reader, element: Element, links: Mapping[str, Link]) -> Rotor | None:
    name, link = reader.name(element), _link(reader, element, "link", links)
    if name is None or link is None:
        return None
    inertia = reader.number(element, "inertia", 0.0)
    if not inertia > 0.0:
        reader.problem(element, f"the inertia is {inertia:g}: a rotor needs a positive one")
    axis = reader.unit(element, reader.vector(element, "axis", (0.0, 0.0, 1.0)), (0.0, 0.0, 1.0))
    return Rotor(name, link, axis, inertia)
