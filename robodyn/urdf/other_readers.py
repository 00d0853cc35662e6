"""Where other programs read the same valid file otherwise, each as measured with the version named.

A rule is a path of XPath to the elements; what it says is a sentence about the program.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator
from dataclasses import dataclass
from typing import Any

from robodyn.description import Mechanism
from robodyn.errors import UrdfNote
from robodyn.urdf.common.document_kind import MJCF, URDF, XACRO
from robodyn.urdf.common.reading import Document
from robodyn.urdf.common.xml import Element, line_of, parse_xml
from robodyn.urdf.extensions import left_out_by_others, refused_by_others

_LIMITED = "//joint[@type='revolute' or @type='prismatic']"
_UNSAFE = "not(@effort) or not(@velocity) or contains(concat(@effort, @velocity), 'inf')"

_ELSEWHERE = "what the included file says is not looked at: check that file, too"


@dataclass(frozen=True)
class Rule:
    """A difference: the program by its word, the kind of document, where it is, and what it is."""

    program: str
    kind: str
    path: str
    says: str


RULES = (
    Rule(
        "mujoco",
        URDF,
        f"{_LIMITED}/limit[boolean(@lower) != boolean(@upper)]",
        "MuJoCo 4.0.0 takes a joint with one limit as unlimited; give both",
    ),
    Rule(
        "mujoco",
        URDF,
        "//joint/mimic",
        "MuJoCo 4.0.0 gives the joint a coordinate of its own, and holds the relation softly",
    ),
    Rule(
        "pinocchio",
        URDF,
        f"{_LIMITED}[not(limit)] | {_LIMITED}/limit[{_UNSAFE}]",
        "urdfdom, and so Pinocchio 4.1, DART and robot_state_publisher, refuse the file: limits "
        "need finite effort and velocity; robodyn convert writes them",
    ),
    Rule(
        "pinocchio",
        URDF,
        "//origin[@quat_xyzw][not(/robot/@version > 1.05)]",
        'Pinocchio 4.1 reads quat_xyzw only where <robot> says version="1.1" or later',
    ),
    Rule(
        "pinocchio",
        URDF,
        "//joint/mimic",
        "Pinocchio 4.1 leaves the relation out; with mimic=True it refuses a mimic of a mimic, and "
        "aba raises an error",
    ),
    Rule(
        "drake",
        URDF,
        "//joint[@type='planar']/dynamics[@damping]",
        "Drake 1.51 refuses one number as the damping of a planar joint: it wants three",
    ),
    Rule(
        "drake",
        URDF,
        "//transmission//*[local-name()='mechanicalReduction'][number() != 1]",
        "Drake 1.51 keeps a gear ratio of 1; it reads <drake:gear_ratio> of the joint",
    ),
    Rule(
        "drake",
        URDF,
        "//joint/limit[number(@effort) = 0]",
        "Drake 1.51 makes no actuator for an effort limit of 0",
    ),
    Rule(
        "isaac",
        URDF,
        "//joint[@type='planar']",
        "Newton 1.8 gives a planar joint two speeds, without the turn",
    ),
    Rule(
        "drake",
        MJCF,
        "//body[count(joint[not(@type) or @type='hinge']) > 1]",
        "Drake 1.51 places all but the last hinge of a body in the frame of its parent",
    ),
    Rule(
        "drake",
        MJCF,
        "//joint[@armature][not(/mujoco/actuator/*[@joint])]",
        "Drake 1.51 leaves the armature of a joint out where no actuator is in the file",
    ),
    Rule(
        "isaac",
        MJCF,
        "//body[count(joint) > 1]",
        "Newton 1.8 places the second joint of a body elsewhere, and a hinge after a slide gets "
        "another mass matrix",
    ),
    Rule(
        "pinocchio",
        MJCF,
        "//*[@axisangle]",
        "Pinocchio 4.1 does not normalise the vector of axisangle: another stretches the body",
    ),
    Rule(
        "pinocchio",
        MJCF,
        "//compiler[@eulerseq != translate(@eulerseq, 'XYZ', 'xyz')]",
        "Pinocchio 4.1 reads eulerseq in capitals in the wrong order",
    ),
    Rule(
        "pinocchio",
        MJCF,
        "//default//joint[@pos]",
        "Pinocchio 4.1 ignores the place of a joint that a default class gives",
    ),
    Rule(
        "pinocchio",
        MJCF,
        "//body[not(inertial)]/geom[@contype='0']",
        'Pinocchio 4.1 leaves the mass of geoms with contype="0" out',
    ),
    Rule("pinocchio", MJCF, "//frame", "Pinocchio 4.1 drops what is in a <frame>"),
)

#: Programs by the words that ask for them.
PROGRAMS = tuple(dict.fromkeys(rule.program for rule in RULES))


def read_otherwise(
    document: Document, mechanism: Mechanism | None, programs: Collection[str]
) -> Iterator[UrdfNote]:
    """Places in a document that some programs read otherwise than robodyn does."""
    if document.kind in (URDF, MJCF):
        root = parse_xml(document.text)
        for program in programs:
            for rule in (*RULES, Rule(program, MJCF, "//include", _ELSEWHERE)):
                if rule.program == program and rule.kind == document.kind:
                    found: Any = root.xpath(rule.path)
                    for element in found:
                        yield _note(document, element, rule)
    named = ", ".join(programs)
    if named and document.kind not in (URDF, MJCF):
        what = "a xacro file that is not expanded" if document.kind == XACRO else "this format"
        yield UrdfNote(
            f"how {named} read {what} is not known here: check what robodyn convert writes of it",
            file=document.file,
        )
    asked = {*programs}
    if "drake:" in document.text:
        asked -= {"drake"}  # which reads its own words, among them loops
    if document.kind in (URDF, XACRO) and mechanism is not None and asked:
        for line in (*refused_by_others(mechanism), *left_out_by_others(mechanism)):
            yield UrdfNote(line, file=document.file)


def _note(document: Document, element: Element, rule: Rule) -> UrdfNote:
    named = next((x for x in (element, *element.iterancestors()) if x.get("name")), element)
    name = named.get("name")
    where = f"{named.tag} {name!r}" if name else f"<{element.tag}>"
    return UrdfNote(rule.says, file=document.file, line=line_of(element), element=where)
