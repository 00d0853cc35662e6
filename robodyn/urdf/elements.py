"""Elements of our own: force elements between links as ``<spring>``, and ``<rotor>``."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from robodyn.description import Joint, Link, Rotor
from robodyn.errors import UnknownNameError
from robodyn.force_elements import LINK_ELEMENTS, fields_of
from robodyn.force_elements.common.link_element import WORLD, DescribedElement
from robodyn.urdf.common.reader import Reader
from robodyn.urdf.common.xml import Element, local_name

_ORIGIN = (0.0, 0.0, 0.0)


def read_elements(
    reader: Reader,
    elements: Iterable[Element],
    links: Mapping[str, Link],
    joints: Mapping[str, Joint],
) -> tuple[tuple[DescribedElement, ...], tuple[Rotor, ...], list[Element]]:
    """Force elements and rotors of a robot, and the elements that are neither."""
    found: list[DescribedElement] = []
    rotors: dict[str, Rotor] = {}
    rest = []
    for element in elements:
        match local_name(element):
            case tag if tag in LINK_ELEMENTS:
                item = _read_link_element(reader, element, LINK_ELEMENTS[tag], links)
                names = {x.name for x in found if x.name and x.tag == tag}
                if item in found or (item is not None and item.name in names):
                    reader.problem(element, f"is written twice: give each {tag} a name of its own")
                elif item is not None:
                    found.append(item)
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
    return tuple(found), tuple(rotors.values()), rest


def _link(reader: Reader, element: Element, key: str, known: Iterable[str]) -> str | None:
    name = reader.name(element, key)
    if name is not None and name not in known:
        reader.problem(element, UnknownNameError("link", name, known))
        return None
    return name


def _read_link_element(
    reader: Reader, element: Element, cls: Any, links: Mapping[str, Link]
) -> DescribedElement | None:
    known = (*links, WORLD)
    values = {name: _link(reader, element, name, known) for name in fields_of(cls, "str")}
    if None in values.values():
        return None
    numbers = {name: reader.number(element, name, 0.0) for name in fields_of(cls, "float")}
    if min(numbers.values(), default=0.0) < 0.0:
        reader.problem(element, f"of {', '.join(numbers)} one is negative")
    vectors = {name: reader.vector(element, name, _ORIGIN) for name in fields_of(cls, "Vector")}
    item: DescribedElement = cls(**values, **vectors, **numbers, name=element.get("name", ""))
    return item


def _read_rotor(reader: Reader, element: Element, links: Mapping[str, Link]) -> Rotor | None:
    name, link = reader.name(element), _link(reader, element, "link", links)
    if name is None or link is None:
        return None
    inertia = reader.number(element, "inertia", 0.0)
    if not inertia > 0.0:
        reader.problem(element, f"the inertia is {inertia:g}: a rotor needs a positive one")
    axis = reader.unit(element, reader.vector(element, "axis", (0.0, 0.0, 1.0)), (0.0, 0.0, 1.0))
    resisting = [reader.number(element, key, 0.0) for key in ("damping", "friction")]
    if min(resisting) < 0.0:
        reader.problem(element, f"damping and friction are {resisting}: one is negative")
    return Rotor(name, link, axis, inertia, *resisting)
