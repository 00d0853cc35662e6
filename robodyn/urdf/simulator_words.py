"""What words of simulators in a URDF say of forces: read where that is settled, and told else.

Gazebo takes springs of joints, and links on which gravity does not act, from ``<gazebo
reference>``; both are read. What the same words mean elsewhere, and those that older tools had for
damping, is not settled: a warning names the line, as a simulator may move the robot another way.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Mapping
from typing import TypeVar

from robodyn.description import Joint, Link, Loop
from robodyn.force_elements.common.link_element import DescribedElement
from robodyn.force_elements.weight_compensation import WeightCompensation
from robodyn.joints import joint_kind
from robodyn.urdf.common.reader import Reader
from robodyn.urdf.common.xml import Element, local_name

_Item = TypeVar("_Item", Joint, Loop)

#: Attributes of <dynamics> that older tools had, and those of URDF.
_OLD = {"K": "spring_stiffness", "D": "damping", "mu_viscous": "damping", "mu_coulomb": "friction"}

_SPRING = ("springStiffness", "springReference")
_WEIGHT = {"gravity": ("false", "0", "no"), "turnGravityOff": ("true", "1", "yes")}

#: Words in <gazebo reference> or in a link that move it another way, if they are not zero or false.
_MOVING = (
    "velocity_decay", "dampingFactor", "kinematic", "axis", "axis2", "inertial", "damping",
    "friction", "spring_stiffness",
)  # fmt: skip

#: Parts of the files of plugins of Gazebo that move robots, and attributes of MuJoCo's <option>.
_PLUGINS = ("buoyancy", "hydrodynamics", "lift", "drag", "wind", "thruster")
_OPTIONS = ("gravity", "density", "viscosity", "wind")

_TAGS = ("dynamics", "joint_properties", "static", "plugin", "option", *_SPRING, *_WEIGHT, *_MOVING)


class SimulatorWords:
    """The words of simulators in a document."""

    def __init__(self, reader: Reader, root: Element) -> None:
        self._reader = reader
        #: Of joints, by name: the elements of their springs by tag.
        self._springs: dict[str, dict[str, Element]] = {}
        #: Links without weight, by name: the element that says so.
        self._weightless: dict[str, Element] = {}
        for element in root.iter(*_TAGS):
            above = element.getparent()
            if above is not None and above.getparent() is root:
                self._take(element, above)

    def _take(self, element: Element, above: Element) -> None:
        tag, where = local_name(element), local_name(above)
        name = above.get("reference")
        if where == "joint" and tag in ("dynamics", "joint_properties"):
            self._take_damping(element, tag)
        elif where == "gazebo" and name is not None and tag in _SPRING:
            self._springs.setdefault(name, {})[tag] = element
        elif where == "gazebo" and name is not None and self._is_weightless(element, tag):
            self._weightless[name] = element
        elif tag == "plugin":
            self._take_plugin(element, above)
        elif tag == "option":
            for word in _OPTIONS:
                if where == "mujoco" and element.get(word):
                    said = f"<option> {word}={element.get(word)!r} of MuJoCo is not read"
                    self._reader.warn(element, said)
        elif where == "gazebo" and name is None and tag == "static" and _is_on(element):
            self._reader.warn(
                element, "<static> is not read: what stands still in a simulator moves here"
            )
        elif where == "link" and self._is_weightless(element, tag):
            self._reader.warn(element, f"<{tag}> in <link> is not read: gravity acts on the link")
        elif (where == "link" and tag in _MOVING[:3]) or (name is not None and tag in _MOVING):
            if _is_on(element):
                self._reader.warn(
                    element, f"<{tag}> in <{where}> is not read, though it may move the robot"
                )

    def _take_damping(self, element: Element, tag: str) -> None:
        if tag == "dynamics":
            meant = {old: new for old, new in _OLD.items() if not _is_zero(element.get(old, "0"))}
        else:
            names = ("damping", "friction")
            meant = {old: old for old in names if not _is_zero(element.get(old, "0"))}
        for old, new in meant.items():
            self._reader.warn(
                element,
                f"<{tag}> {old}={element.get(old)!r} is not read: if it is meant, write <dynamics "
                f'{new}="..."/>',
            )

    def _take_plugin(self, element: Element, above: Element) -> None:
        file = (element.get("filename") or "").lower()
        joint, leader = (_text_of(element, tag) for tag in ("joint", "mimicJoint"))
        if "mimic" in file and joint and leader:
            joints = root.iter("joint") if (root := above.getparent()) is not None else ()
            followers = [x for x in joints if x.find("mimic") is not None]
            if joint not in [x.get("name") for x in followers]:
                values = {"multiplier": "1", "offset": "0"}
                law = [f'{x}="{_text_of(element, x) or usual}"' for x, usual in values.items()]
                self._reader.warn(
                    element,
                    f"a plugin of Gazebo that lets joint {joint!r} follow {leader!r} is not read: "
                    f'write <mimic joint="{leader}" {" ".join(law)}/> in the joint',
                )
        elif any(word in file for word in _PLUGINS):
            self._reader.warn(
                element, f"the plugin {file!r} is not read, though it may move the robot"
            )

    def _is_weightless(self, element: Element, tag: str) -> bool:
        return _value(element).lower() in _WEIGHT.get(tag, ())

    # -- what is read ------------------------------------------------------------------------------

    def with_springs(self, items: Iterable[_Item]) -> tuple[_Item, ...]:
        """Joints or loops, with the springs that Gazebo gives them."""
        return tuple(self._with_spring(x) if x.name in self._springs else x for x in items)

    def _with_spring(self, item: _Item) -> _Item:
        found = self._springs.pop(item.name)
        numbers = {
            tag: self._reader.to_number(element, tag, _value(element))
            for tag, element in found.items()
        }
        stiffness, rest = (numbers.get(tag, 0.0) for tag in _SPRING)
        element = next(iter(found.values()))
        kind = joint_kind(item.kind)
        if not stiffness or (item.stiffness, item.rest) == (stiffness, rest):
            return item
        if stiffness < 0.0:
            self._reader.left_out(element, f"<springStiffness> {stiffness:g} is negative")
        elif (kind.nq, kind.nv) != (1, 1):
            self._reader.left_out(element, f"a {kind} joint has no spring here")
        elif item.stiffness:
            self._reader.warn(
                element, "<springStiffness> is not read: <dynamics> gives the joint another spring"
            )
        else:
            return dataclasses.replace(item, stiffness=stiffness, rest=rest)
        return item

    def carried_weights(
        self, links: Mapping[str, Link], given: Iterable[DescribedElement]
    ) -> tuple[DescribedElement, ...]:
        """Elements that carry the weight of links on which gravity does not act.

        Words about joints and links that are not there are told.
        """
        carried = []
        for name, element in self._weightless.items():
            link = links.get(name)
            if link is None:
                self._reader.warn(element, f"{name!r} is no link of the robot")
            elif link.inertia is not None and link.inertia.mass > 0.0:
                mass, center = link.inertia.mass, link.inertia.origin.xyz
                item = WeightCompensation(name, center, mass, f"weight of {name}")
                carried += [] if item in given else [item]
                self._reader.warn(
                    element,
                    f"gravity does not act on the link {name!r}, as in Gazebo; other readers of "
                    "URDF do not know this",
                )
        for name, found in self._springs.items():
            self._reader.warn(next(iter(found.values())), f"{name!r} is no joint of the robot")
        return tuple(carried)


def _value(element: Element) -> str:
    """What an element says, as Gazebo reads it."""
    return (element.get("value") or element.text or "").strip()


def _text_of(element: Element, tag: str) -> str:
    return (element.findtext(tag) or "").strip()


def _is_zero(text: str) -> bool:
    try:
        return float(text) == 0.0
    except ValueError:
        return False


def _is_on(element: Element) -> bool:
    """Whether an element, or one in it, says something else than zero or no."""
    said = [_value(part) for part in element.iter("*")]
    return any(text and text.lower() not in ("false", "no") and not _is_zero(text) for text in said)
