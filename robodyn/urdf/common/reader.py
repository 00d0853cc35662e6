"""Values out of XML elements; what is wrong with them is collected, not raised."""

from __future__ import annotations

import math
import re

from lxml import etree

from robodyn.description import Pose, Vector, rpy_from_rotation
from robodyn.description.values import LARGEST
from robodyn.errors import Hints, RobodynError, UnknownNameError, UrdfError, UrdfWarning
from robodyn.motion.base_motion import rotation_from_quaternion
from robodyn.urdf.common.report import problem_of
from robodyn.urdf.common.xml import Element, line_of, local_name

_NUMBER = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?", re.ASCII)
_FLAGS = {"true": True, "1": True, "false": False, "0": False}

#: The start of a number that is not zero.
_NOT_ZERO = re.compile(r"[-+0.]*[1-9]")

_UNBOUNDED = re.compile(r"[+-]?(nan|inf)", re.IGNORECASE)
_INFINITE = re.compile(r"[+-]?inf(inity)?", re.IGNORECASE)


class Reader:
    """Reads values and remembers the problems met.

    It reads as far as it can, whatever is wrong: a problem says what was done about it
    (``leniently``), and who loads the file decides whether that is an error or a warning.

    strict: Whether what can be read leniently is an error.
    problems: Those with ``leniently`` are errors only of a strict reader.
    incomplete: A link, joint or loop could not be read at all, so that the graph is not the
        author's.
    unread: How many problems nothing could be done about.
    omitted: What is left out as a whole.
    """

    def __init__(self, file: str | None, *, strict: bool = True) -> None:
        self.file = file
        self.strict = strict
        self.problems: list[RobodynError] = []
        self.warnings: list[UrdfWarning] = []
        self.incomplete = False
        self.unread = 0
        self.omitted: list[Element] = []
        self._hints = Hints()

    def problem(
        self,
        element: Element,
        message: str | RobodynError,
        *,
        leniently: str | None = None,
        lost: bool = False,
        suggestion: str | None = None,
    ) -> None:
        """Record a problem with an element.

        message: What is wrong; the error of an unknown name has a suggestion.
        leniently, optional: What was done about it, such as ``"taken as zero"`` or ``"left out"``.
            With ``strict=False`` the problem is a place in the one warning then, and no error.
        lost: A link, joint or loop is missing now, so that the graph is not the author's.
        suggestion, optional: What was probably meant.
        """
        if isinstance(message, UnknownNameError):
            message, suggestion = self._hints.message(message)
        elif isinstance(message, RobodynError):
            message = problem_of(message)
        self.unread += leniently is None
        if lost and (self.strict or leniently is None):
            self.incomplete = True
        self.problems.append(
            UrdfError(
                message,
                file=self.file,
                line=line_of(element),
                element=describe(element),
                suggestion=suggestion,
                leniently=leniently,
            )
        )

    def left_out(
        self,
        element: Element,
        message: str | RobodynError,
        *,
        lost: bool = False,
        suggestion: str | None = None,
    ) -> None:
        """Record a problem that ``strict=False`` solves by leaving out what is wrong."""
        self.problem(element, message, leniently="left out", lost=lost, suggestion=suggestion)

    def omit(
        self, element: Element, message: str, *, lost: bool = False, suggestion: str | None = None
    ) -> None:
        """Record an element that ``strict=False`` leaves out, and does not keep as text either."""
        self.left_out(element, message, lost=lost, suggestion=suggestion)
        self.omitted.append(element)

    def warn(self, element: Element, message: str) -> None:
        """Record a warning about an element."""
        self.warnings.append(
            UrdfWarning(message, file=self.file, line=line_of(element), element=describe(element))
        )

    def take(self, other: Reader) -> None:
        """Take over the findings of the reader of another file."""
        self.problems += other.problems
        self.warnings += other.warnings
        self.incomplete = self.incomplete or other.incomplete

    def name(self, element: Element, attribute: str = "name") -> str | None:
        """Read a name; ``None`` and a problem if there is none."""
        value = element.get(attribute)
        if value is None or not value.strip():
            self.problem(element, f"<{local_name(element)}> has no {attribute}", lost=True)
            return None
        if "${" in value or "$(" in value:
            taken = "taken as a name"
            self.problem(element, f"{attribute}={value!r} {_XACRO}", leniently=taken)
        return value

    def only(self, element: Element, tag: str) -> Element | None:
        """Find the child of that tag; a second one that differs is a problem."""
        found = element.findall(tag)
        if len(found) > 1 and any(_content(other) != _content(found[0]) for other in found[1:]):
            self.problem(
                found[1],
                f"a second <{tag}> (the first is {in_line(line_of(found[0]))}); keep one",
                leniently="the first is read",
            )
        return found[0] if found else None

    def not_negative(self, element: Element, attribute: str) -> float:
        """Read a number that is zero by default and must not be negative."""
        value = self.number(element, attribute, 0.0)
        if value < 0.0:
            self.problem(
                element,
                f"<{local_name(element)}> {attribute}={value:g} is negative",
                leniently="taken as zero",
            )
        return max(value, 0.0)

    def flag(self, element: Element, attribute: str) -> bool | None:
        """Read a truth value; ``None`` where it is not given, a problem where it is none."""
        text = element.get(attribute)
        return None if text is None else self.to_flag(element, attribute, text)

    def number(
        self,
        element: Element,
        attribute: str,
        default: float | None = None,
        *,
        infinite: bool = False,
    ) -> float:
        """Read a number; it is required if there is no default."""
        text = element.get(attribute)
        if text is None:
            if default is None:
                missing = f"<{local_name(element)}> has no {attribute}"
                self.problem(element, missing, leniently="taken as zero")
            return 0.0 if default is None else default
        otherwise = 0.0 if default is None else default
        return self.to_number(element, attribute, text.strip(), infinite, otherwise)

    def vector(self, element: Element, attribute: str, default: Vector) -> Vector:
        """Read three numbers separated by blanks."""
        text = element.get(attribute)
        if text is None:
            return default
        words = text.split()
        if len(words) != 3 or any(word.endswith(",") for word in words):
            problem = f"<{local_name(element)}> {attribute}={text!r}"
            if "$" in text:
                self.problem(element, f"{problem} {_XACRO}")
                return default
            problem += " is not three numbers separated by blanks"
            words = text.replace(",", " ").split()
            if len(words) < 3 or not all(map(_NUMBER.fullmatch, words)):
                self.problem(element, problem)
                return default
            commas = "commas are taken as blanks"
            taken = commas if len(words) == 3 else "the first three are read"
            self.problem(element, problem, leniently=taken)
            words = words[:3]
        before = self.unread
        x, y, z = (self.to_number(element, attribute, word) for word in words)
        return (x, y, z) if self.unread == before else default

    def to_flag(self, element: Element, attribute: str, text: str) -> bool | None:
        """Convert a text to a truth value; ``None`` and a problem if it is none."""
        value = _FLAGS.get(text.strip().lower())
        if value is None:
            wrong = f'{attribute}="{text}" is neither "true" nor "false"'
            self.left_out(element, wrong)
        elif text.strip() not in _FLAGS:
            self.warn(element, f'{attribute}="{text}" is taken as "{text.strip().lower()}"')
        return value

    def to_number(
        self,
        element: Element,
        attribute: str,
        text: str,
        infinite: bool = False,
        otherwise: float | None = None,
    ) -> float:
        """Convert a text to a number; a problem if it is none, and ``otherwise`` or 0."""
        problem = f"<{local_name(element)}> {attribute}: {text!r}"
        if _NUMBER.fullmatch(text):
            value = float(text)
            if value == 0.0 and _NOT_ZERO.match(text):
                self.warn(element, f"{problem} is too small for a number and taken as zero")
            if abs(value) <= LARGEST:
                return value
        elif infinite and _INFINITE.fullmatch(text):
            return float(text)
        meant = _probable_number(text, otherwise)
        self.problem(
            element,
            f"{problem} {_why_no_number(text, infinite)}",
            leniently=None if meant is None else f"taken as {meant:g}",
        )
        return 0.0 if meant is None else meant

    def pose(self, element: Element | None) -> Pose:
        """Read the pose of an ``<origin>``."""
        if element is None:
            return Pose()
        zero = (0.0, 0.0, 0.0)
        xyz, quaternion = self.vector(element, "xyz", zero), element.get("quat_xyzw")
        if quaternion is not None and not _has_quaternions(element):
            self.warn(
                element,
                f"<{local_name(element)}> quat_xyzw is not read, as by other readers: URDF has it "
                'from version 1.1 on; write <robot version="1.1">, or rpy',
            )
            quaternion = None
        if quaternion is not None and element.get("rpy") is None:
            return Pose(xyz, self.quaternion(element, "quat_xyzw", quaternion.split()))
        if quaternion is not None:
            both = f"<{local_name(element)}> has rpy and quat_xyzw; keep one"
            self.problem(element, both, leniently="rpy is read")
        return Pose(xyz, self.vector(element, "rpy", zero))

    def quaternion(self, element: Element, attribute: str, words: list[str]) -> Vector:
        """Convert the words of a quaternion x, y, z, w to roll, pitch and yaw [rad]."""
        if len(words) != 4:
            given = f"<{local_name(element)}> {attribute}={' '.join(words)!r}"
            self.problem(element, f"{given} is not four numbers x y z w separated by blanks")
            return (0.0, 0.0, 0.0)
        before = self.unread
        xyzw = [self.to_number(element, attribute, word) for word in words]
        size = math.hypot(*xyzw)
        if self.unread == before and not 0.9 < size < 1.1:
            self.problem(element, f"the quaternion has the length {size:g}, expected 1")
        if self.unread > before:
            return (0.0, 0.0, 0.0)
        return rpy_from_rotation(rotation_from_quaternion(xyzw).tolist())

    def axis(self, element: Element | None, default: Vector) -> Vector:
        """Read the unit vector of an ``<axis>``."""
        if element is None:
            return default
        if element.get("xyz") is None:
            values = " ".join(f"{x:g}" for x in default)
            missing = f"<{local_name(element)}> has no xyz"
            self.problem(element, missing, leniently=f"taken as {values}")
            return default
        if any(self.vector(element, "rpy", (0.0, 0.0, 0.0))):
            self.warn(element, f"<{local_name(element)}> rpy is not read: turn xyz itself")
        return self.unit(element, self.vector(element, "xyz", default), default)

    def unit(self, element: Element, vector: Vector, default: Vector) -> Vector:
        """Scale a vector to unit length; one without length is a problem."""
        length = math.hypot(*vector)
        if length == 0.0:
            values = " ".join(f"{x:g}" for x in default)
            self.problem(
                element,
                f"<{local_name(element)}> xyz='0 0 0' has no direction; give an axis",
                leniently=f"taken as {values}",
            )
            return default
        if abs(length - 1.0) < 1e-15:  # is a unit vector to the last digit: reads back the same
            return vector
        x, y, z = (component / length for component in vector)
        return x, y, z


def in_line(line: int | None) -> str:
    """Where an earlier element stands, for a message."""
    return f"in line {line}" if line else "in an included file"


def _has_quaternions(element: Element) -> bool:
    """Whether the URDF that an element stands in has a version with ``quat_xyzw``."""
    version = element.getroottree().getroot().get("version", "1.0")
    found = re.fullmatch(r"\s*(\d+)\.(\d+)\s*", version, re.ASCII)
    return found is not None and tuple(map(int, found.groups())) >= (1, 1)


def _probable_number(text: str, otherwise: float | None) -> float | None:
    """The number that a text starts with, a comma taken as a point; ``otherwise`` for words."""
    found = _NUMBER.match(text.replace(",", "."))
    if "$" in text or _UNBOUNDED.match(text):
        return None
    if found is None:
        return otherwise
    value = float(found.group())
    return value if abs(value) <= LARGEST else None


def _content(element: Element) -> list[object]:
    """Tags, attributes in any order, and words, of an element and all that is in it."""
    found: list[object] = []
    for event, part in etree.iterwalk(element, events=("start", "end", "comment", "pi")):
        if event == "start":
            found += [part.tag, sorted(part.items()), (part.text or "").split()]
            continue
        if event == "end":
            found.append(None)
        if part is not element:
            found += (part.tail or "").split()
    return found


#: What to do about xacro that is not expanded.
EXPAND = (
    "expand the file (xacro robot.urdf.xacro > robot.urdf), or load the .xacro file itself "
    "(extra xacro); xacro=True expands one of another name"
)
_XACRO = f"is xacro, not a value: {EXPAND}"


def _why_no_number(text: str, infinite: bool) -> str:
    if "$" in text:
        return _XACRO
    if not text:
        return "is empty, not a number"
    if "," in text:
        return (
            f"is not a number: write a point for the comma, {text.strip(',').replace(',', '.')!r}"
        )
    if re.fullmatch(r"[+-]?[\dOo.]+", text) and re.search("[Oo]", text):
        return "is not a number: it has the letter O for the digit 0"
    if _NUMBER.fullmatch(text) and math.isfinite(float(text)):
        advice = "; write inf, or leave it out, where there is no limit" if infinite else ""
        return f"is larger than any number of a robot ({LARGEST:g}){advice}"
    if text.lower().lstrip("+-").startswith(("nan", "inf")) or _NUMBER.fullmatch(text):
        return "is not a finite number"
    return "is not a number"


#: Elements that messages are about, wherever they stand.
_NAMED = ("joint", "link", "frame", "include", "model")


def describe(element: Element) -> str:
    """Name of the link, joint, ... that an element belongs to, such as ``joint 'elbow'``."""
    step: Element | None = element
    while step is not None:
        parent = step.getparent()
        named = parent is None or parent.getparent() is None or local_name(step) in _NAMED
        if named and (step is element or parent is not None):
            name = step.get("name")
            return f"{local_name(step)} {name!r}" if name else f"<{local_name(step)}>"
        step = parent
    return f"<{local_name(element)}>"
