"""URDF text to a description."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Mapping
from typing import Any, TypeVar

from robodyn.description import Inertia, Joint, Link, Mechanism, Mimic, Rotor
from robodyn.description.joint import with_constants
from robodyn.errors import RobodynError, UnknownNameError, UrdfError
from robodyn.force_elements import LINK_ELEMENTS, fields_of
from robodyn.force_elements.common.link_element import WORLD, DescribedElement
from robodyn.urdf.actuation import read_actuators
from robodyn.urdf.closures import Closures
from robodyn.urdf.common.joint_values import (
    TREE_WORDS,
    constant_tags,
    read_axes,
    read_constants,
    read_dynamics,
    read_limits,
)
from robodyn.urdf.common.reader import EXPAND, Reader, in_line
from robodyn.urdf.common.report import give_warnings
from robodyn.urdf.common.spelling import check_spelling
from robodyn.urdf.common.xml import Element, fragment, line_of, local_name, parse_xml, recovered
from robodyn.urdf.followers import read_followers
from robodyn.urdf.simulator_words import SimulatorWords

#: Elements that only define something.
_DEFINITIONS = frozenset({"xacro:property", "xacro:macro", "xacro:arg"})

#: Elements whose content belongs to other tools.
_OTHERS = frozenset({"visual", "collision", "gazebo", "material"})


def check_leftovers(reader: Reader, root: Element) -> None:
    """Report elements of xacro to the reader."""
    pending = list(root)[::-1]
    while pending:
        element = pending.pop()
        name = local_name(element)
        if not name.startswith("xacro:"):
            pending += [] if name in _OTHERS else list(element)[::-1]
        elif name in _DEFINITIONS:
            reader.warn(element, f"<{name}> is left of xacro; it defines something and is not read")
        else:
            problem = f"<{name}> is unexpanded xacro: {EXPAND}"
            reader.omit(element, problem, lost=True)


_Item = TypeVar("_Item", Link, Joint)

#: The link that simulators have without a description of it.
_WORLD = "world"

_MOMENTS = ("ixx", "ixy", "ixz", "iyy", "iyz", "izz")


def parse(text: str, file: str | None = None) -> tuple[Mechanism | None, list[RobodynError], bool]:
    """Read URDF text; what only deserves a warning is warned of.

    Parameters
    ----------
    text : str
    file : str, optional
        Where the text comes from, for messages.

    Returns
    -------
    mechanism : Mechanism or None
        What could be read.
    problems : list of RobodynError
        Everything found wrong, in the order of reading.
    complete : bool
        All links, joints and loops are there, so that the graph can be judged.

    Examples
    --------
    >>> from robodyn.urdf import parse
    >>> mechanism, errors, complete = parse('<robot name="r"><link name="a"/></robot>')
    >>> mechanism.name, errors
    ('r', [])
    """
    mechanism, reader = read(text, file)
    give_warnings(reader.warnings)
    return mechanism, reader.problems, not reader.incomplete


def read(
    source: str | Element, file: str | None = None, *, strict: bool = True
) -> tuple[Mechanism | None, Reader]:
    """Read URDF text, or its outer element; the reader holds problems and warnings."""
    reader = Reader(file, strict=strict)
    root = _outer_element(reader, source) if isinstance(source, str) else source
    if root is None:
        reader.incomplete = True
        return None, reader
    if not _is_robot(reader, root):
        return None, reader
    if not isinstance(source, str) or "xacro" in source:
        check_leftovers(reader, root)
    check_spelling(reader, root)
    _remove(reader.omitted)
    links: dict[str, Link] = {}
    joints: dict[str, Joint] = {}
    others: list[Element] = []
    for element in root:
        match local_name(element):
            case "":
                continue
            case "link":
                _add(reader, element, links, _read_link(reader, element))
            case "joint" | "drake:joint" if not reader.flag(element, "cut"):
                _add(reader, element, joints, _read_joint(reader, element))
            case _:
                others.append(element)
    _add_world(reader, root, links, joints)
    closures = Closures(reader, links, tuple(joints.values()))
    rest = [element for element in others if not closures.read(element)]
    movers = joints | {loop.name: loop for loop in closures.loops}
    followers = read_followers(reader, [x for x in rest if local_name(x) == "follower"], movers)
    rest = [element for element in rest if local_name(element) != "follower"]
    actuators, transmissions, rest = read_actuators(reader, rest, links, movers)
    link_elements, rotors, unread = read_elements(reader, rest, links, joints)
    words = SimulatorWords(reader, root)
    mechanism = Mechanism(
        root.get("name") or "robot",
        tuple(links.values()),
        words.with_springs(joints.values()),
        words.with_springs(closures.loops),
        tuple(closures.couplings),
        actuators,
        tuple(fragment(element) for element in unread),
        file,
        (*link_elements, *words.carried_weights(links, link_elements)),
        rotors,
        followers=followers,
        transmissions=transmissions,
    )
    return mechanism, reader


def _remove(elements: Iterable[Element]) -> None:
    """Take elements out of the document, so that they are not kept as text."""
    for element in elements:
        above = element.getparent()
        if above is not None:
            above.remove(element)


def _outer_element(reader: Reader, text: str) -> Element | None:
    try:
        return parse_xml(text, reader.file, reader.warnings)
    except UrdfError as error:
        reader.problems.append(error)
        return recovered(text, error)


def _is_robot(reader: Reader, root: Element) -> bool:
    tag = local_name(root).rpartition(":")[2]
    if tag != "robot":
        other = {"sdf": "SDF", "mujoco": "MJCF", "COLLADA": "Collada"}.get(tag)
        kind = f"{other}, not URDF" if other else "not URDF"
        reader.problem(
            root, f"the outer element is <{tag}>, not <robot>: this is {kind}", lost=True
        )
        return False
    return True


def _add(reader: Reader, element: Element, known: dict[str, _Item], item: _Item | None) -> None:
    if item is None:
        return
    first = known.setdefault(item.name, item)
    if first is not item:
        # Without a joint to another child, that child hangs on nothing.
        spare = not isinstance(item, Joint) or item.child == getattr(first, "child", None)
        reader.problem(
            element,
            f"the name is taken by the {local_name(element)} {in_line(first.line)}; rename one",
            leniently="the first is read" if spare else None,
            lost=True,
        )


def _add_world(
    reader: Reader, root: Element, links: dict[str, Link], joints: dict[str, Joint]
) -> None:
    """Add the link that simulators have, where joints begin at it and the file lacks it."""
    if _WORLD in links or all(joint.parent != _WORLD for joint in joints.values()):
        return
    element = next(parent for parent in root.iter("parent") if parent.get("link") == _WORLD)
    reader.warn(element, f"the parent {_WORLD!r} is no link of the file: it is taken as the ground")
    links[_WORLD] = Link(_WORLD, line=line_of(element))


def _read_link(reader: Reader, element: Element) -> Link | None:
    name = reader.name(element)
    if name is None:
        return None
    inertial = reader.only(element, "inertial")
    return Link(
        name,
        None if inertial is None else _read_inertia(reader, inertial),
        tuple(fragment(e) for e in element if local_name(e) not in ("", "inertial")),
        line_of(element),
    )


def _read_inertia(reader: Reader, element: Element) -> Inertia | None:
    unread = reader.unread
    mass, inertia = reader.only(element, "mass"), reader.only(element, "inertia")
    for tag, child in (("mass", mass), ("inertia", inertia)):
        if child is None:
            reader.problem(
                element,
                f"<inertial> has no <{tag}>; leave out <inertial> if it has no mass",
                leniently="taken as zero",
            )
    value = 0.0 if mass is None else reader.number(mass, "value")
    origin = reader.pose(reader.only(element, "origin"))
    moments = [0.0 if inertia is None else reader.number(inertia, key) for key in _MOMENTS]
    return None if reader.unread > unread else Inertia(value, origin, *moments)


def _read_joint(reader: Reader, element: Element) -> Joint | None:
    name = reader.name(element)
    word = reader.name(element, "type")
    if word is not None and word not in TREE_WORDS:
        hint = UnknownNameError("joint type", word, TREE_WORDS)
        reader.problem(element, hint, lost=True)
    kind = TREE_WORDS.get(word or "")
    ends = []
    for tag in ("parent", "child"):
        end = reader.only(element, tag)
        if end is None:
            reader.problem(element, f'has no <{tag} link="..."/>', lost=True)
        ends.append(None if end is None else reader.name(end, "link"))
    parent, child = ends
    if name is None or kind is None or parent is None or child is None:
        return None
    known = {"parent", "child", "origin", "axis", "limit", "dynamics", "mimic"}
    if not kind.nv:
        known.remove("mimic")  # meaningless, but found in files: kept as text
    known |= {*kind.axes, *constant_tags(kind)}
    dynamics = read_dynamics(reader, element, kind)
    joint = Joint(
        name,
        kind.name,
        parent,
        child,
        reader.pose(reader.only(element, "origin")),
        *read_axes(reader, element, kind),
        limits=read_limits(reader, element, kind),
        mimic=_read_mimic(reader, reader.only(element, "mimic")) if kind.nv else None,
        independent=reader.flag(element, "independent"),
        extras=tuple(fragment(e) for e in element if local_name(e) not in {"", *known}),
        line=line_of(element),
        **dataclasses.asdict(dynamics),
    )
    return with_constants(joint, read_constants(reader, element, kind, "joint"))


def _read_mimic(reader: Reader, element: Element | None) -> Mimic | None:
    if element is None:
        return None
    if not element.get("joint", "").strip():
        reader.left_out(element, "<mimic> has no joint")
        return None
    joint = reader.name(element, "joint") or ""
    defaults = {"multiplier": 1.0, "offset": 0.0}
    return Mimic(joint, *(reader.number(element, key, x) for key, x in defaults.items()))


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
