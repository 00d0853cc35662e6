"""Elements of our own: ``<spring>`` between two links, ``<rotor>`` that spins on a link."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from robodyn.description import Link, PointSpring, Rotor
from robodyn.errors import UnknownNameError
from robodyn.urdf.reader import Reader
from robodyn.urdf.xml import Element, local_name

__all__ = ["read_elements"]

_ORIGIN = (0.0, 0.0, 0.0)


def read_elements(
    reader: Reader, elements: Iterable[Element], links: Mapping[str, Link]
) -> tuple[tuple[PointSpring, ...], tuple[Rotor, ...], list[Element]]:
    """Springs and rotors of a robot, and the elements that are neither."""
    springs, rotors, rest = [], [], []
    for element in elements:
        match local_name(element):
            case "spring":
                springs.append(_read_spring(reader, element, links))
            case "rotor":
                rotors.append(_read_rotor(reader, element, links))
            case _:
                rest.append(element)
    return (
        tuple(spring for spring in springs if spring is not None),
        tuple(rotor for rotor in rotors if rotor is not None),
        rest,
    )


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
