"""Force elements: one file a kind, with its numbers, where it acts, its force and its energy.

Every file of this folder that has a class ``LINK_ELEMENT`` is a kind of element between points of
links, and every one with a constant ``JOINT_ELEMENT`` a kind of element along a joint. Equations,
copies of descriptions, files and energy audits use the two lists below, so that a new kind is one
new file.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from types import MappingProxyType
from typing import Any

from robodyn.force_elements.common.joint_element import JointElement
from robodyn.force_elements.common.link_element import DescribedElement, Vector
from robodyn.registry import constants

#: Elements that a description has between links, by the name of their element in a file.
LINK_ELEMENTS: Mapping[str, type[DescribedElement]] = MappingProxyType(
    {cls.tag: cls for cls in constants(__name__, "LINK_ELEMENT").values()}
)
#: Elements along joints, whose numbers are fields of `robodyn.description.Joint`.
JOINT_ELEMENTS: tuple[JointElement, ...] = tuple(constants(__name__, "JOINT_ELEMENT").values())


#: Types of fields by their names: annotations are these where a module evaluates them.
TYPES: Mapping[str, Any] = MappingProxyType({"str": str, "float": float, "Vector": Vector})


def fields_of(cls: Any, annotation: str) -> tuple[str, ...]:
    """Fields of an element between links: ``"str"`` are links, others ``"float"``, ``"Vector"``."""
    alike = (annotation, TYPES[annotation])
    fields = (x for x in dataclasses.fields(cls) if x.type in alike and x.name != "name")
    return tuple(x.name for x in fields)


def joint_numbers(joint: Any) -> tuple[str, ...]:
    """Fields of a joint, or of a loop, that are zero where no force element acts along it."""
    names = (name for element in JOINT_ELEMENTS for name in element.numbers)
    return tuple(name for name in names if hasattr(joint, name))


def element_numbers(joint: Any) -> tuple[str, ...]:
    """Fields of a joint, or of a loop, that force elements along it compute with."""
    names = (x for element in JOINT_ELEMENTS for x in (*element.numbers, *element.beside))
    return tuple(name for name in names if hasattr(joint, name))


def relaxed(joint: Any, *, same_coordinates: bool = False) -> dict[str, Any]:
    """Values of fields with which no force element acts along a joint, or a loop.

    same_coordinates: Keep elements for which the joint needs a coordinate.
    """
    elements = (x for x in JOINT_ELEMENTS if not (same_coordinates and x.keeps_coordinate))
    names = [name for element in elements for name in element.numbers]
    return {name: 0.0 for name in names if hasattr(joint, name)}


def acts(joint: Any, kind: str) -> bool:
    """Whether an element that is ``"elastic"``, or ``"passive"``, acts along a joint or a loop."""
    elements = (element for element in JOINT_ELEMENTS if getattr(element, kind))
    return any(getattr(joint, name, 0.0) for element in elements for name in element.numbers)


def keeps_coordinate(joint: Any) -> bool:
    """Whether an element along a joint, or a loop, needs its coordinate, so that it is not cut."""
    return bool(joint.armature) or acts(joint, "keeps_coordinate")
