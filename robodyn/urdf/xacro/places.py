"""File and line in which each element of an expanded xacro document was written.

xacro works on a DOM, which knows no lines. They are kept as user data of its elements, which the
DOM hands on when xacro copies the body of a macro.
"""

from __future__ import annotations

from collections.abc import Iterator
from types import TracebackType
from typing import Any, NamedTuple
from xml.dom import minidom

from lxml import etree

from robodyn.urdf.common.xml import Element, line_of, parse_xml

__all__ = ["Place", "calls", "document_of", "place_of", "with_lines"]

_KEY = "robodyn"


class Place(NamedTuple):
    """Where an element stands."""

    file: str | None
    line: int | None
    tag: str

    def __str__(self) -> str:
        return ":".join(str(part) for part in (self.file, self.line) if part is not None)


def document_of(root: Element, file: str | None) -> Any:
    """DOM of a parsed file, whose elements know where they stand.

    Raises
    ------
    ExpatError
        If it uses a prefix that it does not declare.
    """
    document = minidom.parseString(etree.tostring(root, encoding="unicode", with_tail=False))
    elements = document.getElementsByTagName("*")
    for element, read in zip(elements, root.iter("*"), strict=True):
        place = Place(file, line_of(read), element.tagName)
        element.setUserData(_KEY, place, _HAND_ON)
    return document


class _HandOn:
    """Gives the copy of an element its place; the DOM calls it."""

    def handle(self, operation: Any, key: str, place: Any, source: Any, copy: Any) -> None:
        if copy is not None:
            copy.setUserData(key, place, self)


_HAND_ON: Any = _HandOn()


def place_of(node: Any) -> Place | None:
    """Where a node, or the element that it stands in, was written."""
    while node is not None:
        place: Place | None = node.getUserData(_KEY) if hasattr(node, "getUserData") else None
        if place is not None:
            return place
        node = node.parentNode
    return None


def calls(error: BaseException, module: str) -> list[Place]:
    """Elements that were being expanded when an error was raised, the innermost first.

    Parameters
    ----------
    error : BaseException
    module : str
        File of xacro's code.
    """
    found: dict[Place, None] = {}
    for node in reversed([*_nodes(error.__traceback__, module)]):
        place = place_of(node)
        if place is not None and (not found or _is_call(place.tag)):
            found[place] = None
    return [*found]


def _is_call(tag: str) -> bool:
    """Whether an element stands for the content of a macro or a file."""
    return tag.startswith("xacro:") and tag not in ("xacro:if", "xacro:unless")


def _nodes(trace: TracebackType | None, module: str) -> Iterator[Any]:
    """Nodes that the functions of xacro were working on, the outermost first."""
    while trace is not None:
        frame = trace.tb_frame
        if frame.f_code.co_filename == module:
            node = frame.f_locals.get("node") or frame.f_locals.get("elt")
            if node is not None:
                yield node
        trace = trace.tb_next


def with_lines(document: Any, file: str | None) -> Element:
    """Outer element of an expanded document; elements written in this file have its lines."""
    outer = document.documentElement
    root = parse_xml(outer.toxml(), file)
    places = map(place_of, (outer, *outer.getElementsByTagName("*")))
    for element, place in zip(root.iter("*"), places, strict=True):
        here = place is not None and place.file == file
        line = place.line if here and place else None
        element.sourceline = line or 0  # type: ignore[assignment]  # lxml-stubs has it read-only
    return root
