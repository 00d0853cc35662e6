"""Names that stand in no rule of `robodyn.urdf.schema`: misspelt, out of place, or of other tools.

A name that is read here in another spelling, or is read elsewhere, is an error: passed over, it
would leave another robot. A name that resembles nothing is a warning where tools are known to add
elements of their own, and an error where none do.
"""

from __future__ import annotations

import difflib
import functools
import re

from robodyn.urdf.reader import Reader
from robodyn.urdf.schema import GENERAL, ONLY_OF_KIND, ROOT, Rule, owners
from robodyn.urdf.xml import Element, local_name

__all__ = ["LOOKS_LIKE_CLOSURE", "check_spelling"]

#: Tags that may close a loop; none of them is passed over.
LOOKS_LIKE_CLOSURE = re.compile(
    r"loop|constraint|coupling|equality|closure|closed|connect|weld|cut_?joint|successor|sucessor"
    r"|predecessor|gear_?box",
    re.IGNORECASE,
)

#: Left of a tag whose angle bracket or quotation mark is missing.
_MARKUP = re.compile(r"[<>=\"']")

#: A name longer than this is nobody's misspelling.
_LONGEST = 60

#: How like each other two names are of which one is the other misspelt; 1 is equal.
_LIKENESS = 0.7


def check_spelling(reader: Reader, root: Element, rule: Rule = ROOT) -> None:
    """Report the unknown names of a document to the reader."""
    _check(reader, root, local_name(root).rpartition(":")[2], rule)


def _check(reader: Reader, element: Element, tag: str, rule: Rule) -> None:
    for name in element.keys():  # an element's own iteration gives its children
        if name not in rule.attributes and name not in rule.other_attributes:
            _unknown_attribute(reader, element, tag, rule, str(name))
    text = element.text
    if text and not rule.text and not text.isspace():
        _check_text(reader, element, rule, text)
    if tag == "gazebo" and "reference" in element.attrib:
        return
    for child in element:
        name = child.tag
        text = child.tail
        if text and not text.isspace():
            _check_text(reader, element, rule, text)
        if not isinstance(name, str):  # comments and processing instructions
            continue
        inner = rule.children.get(name)
        if inner is None and name not in rule.other_children:
            name = local_name(child)
            inner = rule.children.get(name)
            if inner is None and name not in rule.other_children:
                _unknown_element(reader, child, name, tag, rule)
        if inner is None:
            continue
        if name in ONLY_OF_KIND and not inner.children and not inner.text:  # in URDF
            _check_kind(reader, element, child, name, tag)
        _check(reader, child, name, inner)


def _check_text(reader: Reader, element: Element, rule: Rule, text: str) -> None:
    """Text between elements is nothing but the rest of a broken tag."""
    if rule.unknown in ("misplaced", "misspelt"):
        return
    valued = rule.unknown == "error" and not rule.children
    if valued or _MARKUP.search(text):
        shown = " ".join(text.split())
        shown = shown if len(shown) <= 40 else shown[:37] + "..."
        reader.problem(
            element,
            f"<{local_name(element)}> holds the text {shown!r}, which is not read: a bracket or a "
            "quotation mark may be missing",
        )


def _check_kind(reader: Reader, element: Element, child: Element, name: str, tag: str) -> None:
    """An element that joints of another kind have."""
    kinds = ONLY_OF_KIND[name]
    kind = element.get("type")
    if kind is not None and kind not in kinds:
        reader.problem(
            child, f"<{name}> is not read in a {tag} of type {kind!r}, only of type {kinds[0]!r}"
        )


def _unknown_attribute(reader: Reader, element: Element, tag: str, rule: Rule, name: str) -> None:
    if "{" in name or ":" in name:  # with a name space, of another tool
        return
    told = f"<{tag}> {name}={element.get(name)!r}"
    meant = _meant(name, rule.attributes, rule.unknown)
    general = name in GENERAL or rule.unknown == "misspelt"
    places = () if general else owners(name, attribute=True)
    if meant is not None:
        reader.problem(
            element, f"{told} is not read; did you mean {meant!r}?", suggestion=meant, lost=True
        )
    elif places:
        reader.problem(
            element, f"{told} has no place here: {name!r} belongs in {_list(places)}", lost=True
        )
    elif rule.unknown == "error":
        known = ", ".join(sorted(rule.attributes)) or "none"
        reader.problem(element, f"{told} is not read: <{tag}> has the attributes {known}")
    elif rule.unknown == "warning":
        reader.warn(element, f"<{tag}> {name}: not known and not read")


def _unknown_element(reader: Reader, child: Element, name: str, tag: str, rule: Rule) -> None:
    prefix, _, local = name.rpartition(":")
    if prefix and prefix != "drake":  # of another tool
        if local in _read_tags(rule):
            reader.warn(child, f"<{name}> in <{tag}> is of another tool and is not read")
        return
    places = () if rule.unknown == "misspelt" else owners(name)
    if LOOKS_LIKE_CLOSURE.search(name) and name not in _read_tags(rule) and tag == "robot":
        return  # the reader of closures says so
    meant = _meant(name, _read_tags(rule), rule.unknown)
    if places and (meant is None or meant.lower() != name.lower()):
        if (tag, name) in _TOLERATED:
            reader.warn(child, f"<{name}> in <{tag}> is not read: it belongs in {_list(places)}")
        else:
            _out_of_place(reader, child, name, tag, places)
    elif meant is not None:
        reader.problem(
            child,
            f"<{name}> in <{tag}> is not read; did you mean <{meant}>?",
            suggestion=meant,
            lost=True,
        )
    elif rule.unknown == "error" or (LOOKS_LIKE_CLOSURE.search(name) and tag in ("joint", "link")):
        known = ", ".join(f"<{known}>" for known in rule.children) or "no elements"
        reader.problem(child, f"<{name}> in <{tag}> is not read: <{tag}> has {known}", lost=True)
    elif rule.unknown == "warning" and not prefix:
        reader.warn(child, f"<{name}> in <{tag}>: not known and not read")


#: Out of place, and yet written by exporters: a warning.
_TOLERATED = frozenset({("link", "origin")})


def _out_of_place(
    reader: Reader, child: Element, name: str, tag: str, places: tuple[str, ...]
) -> None:
    reader.problem(
        child, f"<{name}> has no place in <{tag}>: it belongs in {_list(places)}", lost=True
    )


def _list(places: tuple[str, ...]) -> str:
    return " or ".join(f"<{place}>" for place in places[:4])


def _read_tags(rule: Rule) -> frozenset[str]:
    return frozenset(tag for tag, inner in rule.children.items() if inner.unknown != "misplaced")


@functools.lru_cache(maxsize=1024)
def _meant(name: str, known: frozenset[str], unknown: str) -> str | None:
    """The known name that another one is a misspelling of, if any."""
    if len(name) > _LONGEST:
        return None
    lower = {word.lower(): word for word in sorted(known)}
    if name.lower() in lower:
        return lower[name.lower()]
    for word in lower:
        if sorted(word) == sorted(name.lower()):  # letters exchanged
            return lower[word]
    likeness = 0.5 if unknown == "error" else _LIKENESS  # there it is an error in any case
    close = difflib.get_close_matches(name.lower(), lower, n=1, cutoff=likeness)
    return lower[close[0]] if close else None
