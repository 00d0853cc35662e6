"""Reports names that the schema does not have: misspelt, misplaced, or those of other tools.

A name that is read here in another spelling, or is read elsewhere, is an error: passed over, it
would leave another robot. A name that resembles nothing is a warning where tools are known to add
elements of their own, and an error where none do.
"""

from __future__ import annotations

import functools
import re

from robodyn.urdf.common.reader import Reader
from robodyn.urdf.common.schema import GENERAL, ONLY_OF_KIND, ROOT, Rule, owners
from robodyn.urdf.common.xml import Element, local_name

#: Tags that may close a loop. An unknown one is an error: ignoring it would change the mechanism.
LOOKS_LIKE_CLOSURE = re.compile(
    r"loop|constraint|coupling|equality|closure|closed|connect|weld|cut_?joint|successor|sucessor"
    r"|predecessor|gear_?box",
    re.IGNORECASE,
)

#: Remains of a tag that lacks a bracket or a quotation mark; a surplus bracket is none.
_MARKUP = re.compile(r"[=\"']")

#: Names longer than this are not compared with known ones.
_LONGEST = 60

#: Largest number of unknown attributes of an element that are compared, which is slow.
_MOST = 100

#: Least similarity of a misspelt name to the known one; 1 means equal.
_LIKENESS = 0.7

#: Without these, or what they should have been, links and joints are not joined as the author
#: meant.
_GRAPH = frozenset(
    "link joint drake:joint parent child name type cut loop coupling constraint loop_joint "
    "predecessor successor sucessor".split()
)

#: Misplaced or unknown names that exporters write without any meaning: a warning.
_HARMLESS = frozenset({("link", "origin"), ("parent", "type"), ("child", "type")})

#: What a link, a joint or an inertia has once at most, and would have otherwise without it.
_PROPERTIES = ("origin", "axis", "limit", "dynamics", "mimic", "inertial", "mass", "inertia")


def check_spelling(reader: Reader, root: Element, rule: Rule = ROOT) -> None:
    """Report the unknown names of a document to the reader.

    Elements of a name space of their own, without a prefix, get the plain name that they have for
    readers that do not know name spaces.
    """
    _check(reader, root, local_name(root).rpartition(":")[2], rule)


def _check(reader: Reader, element: Element, tag: str, rule: Rule) -> None:
    _check_attributes(reader, element, tag, rule)
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
            name = _name(reader, child, rule)
            inner = rule.children.get(name)
            if inner is None and name not in rule.other_children:
                _unknown_element(reader, child, name, tag, rule)
        if inner is None:
            _check_hidden(reader, element, child, rule)
            continue
        if name in ONLY_OF_KIND and not inner.children and not inner.text:  # in URDF
            # an element that joints of another kind have
            kinds = ONLY_OF_KIND[name]
            kind = element.get("type")
            if kind is not None and kind not in kinds:
                reader.left_out(
                    child,
                    f"<{name}> is not read in a {tag} of type {kind!r}, only of type {kinds[0]!r}",
                )
        _check(reader, child, name, inner)


def _check_attributes(reader: Reader, element: Element, tag: str, rule: Rule) -> None:
    known, others = rule.attributes, rule.other_attributes
    unknown = [str(name) for name in element.keys() if name not in known and name not in others]
    for name in unknown[:_MOST]:
        _unknown_attribute(reader, element, tag, rule, name, element.get(name, ""))
    if len(unknown) > _MOST:
        reader.left_out(
            element, f"<{tag}> has {len(unknown) - _MOST} more attributes that are not known"
        )


def _name(reader: Reader, child: Element, rule: Rule) -> str:
    """Tag of an element with a name space; one without a prefix becomes the plain name."""
    name = local_name(child)
    tag = str(child.tag)
    if tag.startswith("{") and name in rule.children and ":" not in name:
        reader.problem(
            child,
            f"<{name}> is in the name space {child.nsmap.get(None)!r}, and not of the robot; "
            "remove xmlns",
            leniently="read as if it were",
        )
        space = tag[: -len(name)]
        for part in child.iter():
            if isinstance(part.tag, str) and part.tag.startswith(space):
                part.tag = part.tag.removeprefix(space)
    return name


def _check_hidden(reader: Reader, element: Element, child: Element, rule: Rule) -> None:
    """What the element lacks, and what is in it holds, where nothing is read."""
    for tag in _PROPERTIES:
        if tag in rule.children and element.find(tag) is None:
            found = child.find(tag)
            if found is not None and (tag, child.tag) != ("origin", "sensor"):  # which have one
                reader.omit(
                    found,
                    f"<{tag}> in <{local_name(child)}> is not read: <{local_name(element)}> has "
                    "none of its own",
                )


def _check_text(reader: Reader, element: Element, rule: Rule, text: str) -> None:
    """Text between elements is left of a broken tag, or says nothing."""
    if rule.unknown in ("misplaced", "misspelt"):
        return
    shown = " ".join(text.split())
    shown = shown if len(shown) <= 40 else shown[:37] + "..."
    problem = f"<{local_name(element)}> holds the text {shown!r}, which is not read"
    if _MARKUP.search(text):
        reader.left_out(element, f"{problem}: a bracket or a quotation mark may be missing")
    elif rule.unknown == "error" and not rule.children:
        reader.left_out(element, f"{problem}: its values are attributes")
    else:
        reader.warn(element, problem)


def _unknown_attribute(
    reader: Reader, element: Element, tag: str, rule: Rule, name: str, value: str
) -> None:
    problem = f"<{tag}> {name}={value!r}"
    local = name.rpartition("}")[2].rpartition(":")[2]
    if local != name:  # with a name space, of another tool
        if local in rule.attributes and local not in element.attrib:
            reader.left_out(
                element,
                f"<{tag}> {local}={value!r} has a name space of its own and is not read; did you "
                f"mean {local!r} without a prefix?",
                suggestion=local,
            )
        return
    if (tag, name) in _HARMLESS:
        reader.warn(element, f"{problem} is not read")
        return
    if _repeats_transposed(element, name, value):
        reader.warn(element, f"{problem} says again what {_TRANSPOSED[name]!r} says")
        return
    meant = _closest(name, rule.attributes, rule.unknown)
    general = name in GENERAL or rule.unknown == "misspelt"
    places = () if general else owners(name, attribute=True)
    if rule.unknown == "warning" and _is_compound(element, name, meant):
        reader.warn(element, f"<{tag}> {name}: not known and not read")
    elif meant is not None:
        reader.left_out(
            element,
            f"{problem} is not read; did you mean {meant!r}?",
            suggestion=meant,
            lost=meant in _GRAPH,
        )
    elif places:
        reader.left_out(
            element,
            f"{problem} has no place here: {name!r} belongs in {_list(places)}",
            lost=name in _GRAPH,
        )
    elif rule.unknown == "error":
        known = ", ".join(sorted(rule.attributes)) or "none"
        reader.left_out(element, f"{problem} is not read: <{tag}> has the attributes {known}")
    elif rule.unknown == "warning":
        reader.warn(element, f"<{tag}> {name}: not known and not read")


#: Moments that are those of the other triangle.
_TRANSPOSED = {"iyx": "ixy", "izx": "ixz", "izy": "iyz"}


def _repeats_transposed(element: Element, name: str, value: str) -> bool:
    """Whether an attribute is a moment of inertia that is written a second time, transposed."""
    if name not in _TRANSPOSED or _TRANSPOSED[name] not in element.attrib:
        return False
    try:
        return float(element.attrib[_TRANSPOSED[name]]) == float(value)
    except ValueError:
        return False


def _is_compound(element: Element, name: str, meant: str | None) -> bool:
    """Whether a name is another word (``effort_max``), beside the known one that is part of it."""
    return meant in name.split("_") and meant != name and meant in element.attrib


def _unknown_element(reader: Reader, child: Element, name: str, tag: str, rule: Rule) -> None:
    prefix, _, local = name.rpartition(":")
    if prefix == "xacro":  # reported before
        return
    if prefix and prefix != "drake":  # of another tool
        problem = f"<{name}> in <{tag}> is of another tool and is not read"
        above = child.getparent()
        if local in _read_tags(rule) and (above is None or above.find(local) is None):
            reader.omit(
                child, f"{problem}; did you mean <{local}>?", suggestion=local, lost=local in _GRAPH
            )
        elif local in _read_tags(rule):
            reader.warn(child, problem)
        return
    places = () if rule.unknown == "misspelt" else owners(name)
    if LOOKS_LIKE_CLOSURE.search(name) and name not in _read_tags(rule) and tag == "robot":
        return  # the reader of closures says so
    meant = _closest(name, _read_tags(rule), rule.unknown)
    if meant is not None and not prefix and meant.rpartition(":")[2] not in (meant, name):
        meant = None  # Drake's have a prefix, and what has none is another word
    if (tag, name) in _HARMLESS:
        reader.warn(child, f"<{name}> in <{tag}> is not read: it belongs in {_list(places)}")
    elif places and (meant is None or meant.lower() != name.lower()):
        reader.omit(
            child,
            f"<{name}> has no place in <{tag}>: it belongs in {_list(places)}",
            lost=name in _GRAPH,
        )
    elif meant is not None:
        reader.omit(
            child,
            f"<{name}> in <{tag}> is not read; did you mean <{meant}>?",
            suggestion=meant,
            lost=meant in _GRAPH,
        )
    elif rule.unknown == "error" or (LOOKS_LIKE_CLOSURE.search(name) and tag in ("joint", "link")):
        known = ", ".join(f"<{known}>" for known in rule.children) or "no elements"
        reader.omit(child, f"<{name}> in <{tag}> is not read: <{tag}> has {known}")
    elif rule.unknown == "warning" and not prefix:
        reader.warn(child, f"<{name}> in <{tag}>: not known and not read")


def _list(places: tuple[str, ...]) -> str:
    return " or ".join(f"<{place}>" for place in places[:4])


def _read_tags(rule: Rule) -> frozenset[str]:
    return frozenset(tag for tag, inner in rule.children.items() if inner.unknown != "misplaced")


@functools.lru_cache(maxsize=1024)
def _closest(name: str, known: frozenset[str], unknown: str) -> str | None:
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
    import difflib  # for unknown names only

    close = difflib.get_close_matches(name.lower(), lower, n=1, cutoff=likeness)
    return lower[close[0]] if close else None
