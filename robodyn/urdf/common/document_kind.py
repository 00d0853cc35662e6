"""What kind of document a text is: judged by what it says, not by the name of its file."""

from __future__ import annotations

import re

from robodyn.errors import UrdfError
from robodyn.urdf.common.xml import Element, local_name, parse_xml, root_tag

URDF = "URDF"
XACRO = "xacro"
MJCF = "MJCF"
SDF = "SDF"
EXTENDED_URDF = "Extended URDF"
USD = "USD"

#: Outer elements, where they are not <robot>.
OUTER = {"mujoco": MJCF, "mujocoinclude": MJCF, "sdf": SDF}

#: Elements that change the rest of a document. <xacro:property> and <xacro:arg> do so only through
#: the expressions that use them, and what is left of a macro that is defined nowhere does nothing.
ACTING = ("include", "macro", "if", "unless", "call", "element", "attribute", "insert_block")

_DECLARATION = re.compile(r"xmlns:\w+\s*=\s*[\"'][^\"']*xacro")
_EXPRESSION = re.compile(r"\$\{|\$\((arg|find|env|optenv|eval|dirname|cwd)\b")
_OLD_SDF = re.compile(r"<gazebo\s[^>]*version\s*=\s*[\"'](1\.[012])[\"']")
_AMBF = re.compile(r"^bodies\s*:", re.MULTILINE)
_YAML_KEY = re.compile(r"^(---|\{|[\"']?\w+[\"']?\s*:(\s|$))", re.MULTILINE)


def document_kind(text: str) -> str:
    """Kind of a document: `URDF`, `XACRO`, `MJCF`, `SDF`, `USD` or `EXTENDED_URDF`.

    What is none of these is a URDF: its reader says what is wrong with it.

    Examples
    --------
    >>> document_kind('<?xml version="1.0"?><sdf version="1.7"/>')
    'SDF'
    >>> document_kind("closed_loop: [[left, right]]")
    'Extended URDF'
    """
    if text.startswith(("#usda", "PXR-USDC")):
        return USD
    if root_tag(text) is None:
        return EXTENDED_URDF if _YAML_KEY.search(text.removeprefix("\ufeff")) else URDF
    return XACRO if _may_contain_xacro(text) and _contains_xacro(text) else outer_kind(text)


def other_format(text: str) -> str | None:
    """What a document is that no reader reads, and what to do; ``None`` of all others.

    Examples
    --------
    >>> other_format("<OpenSimDocument/>")[:24]
    'is a model of OpenSim, w'
    """
    tag = root_tag(text)
    if "<%" in text and not _is_xml(text):
        return "is a template of Ruby (ERB): load what erb FILE > model.sdf makes of it"
    if tag == "gazebo" and (version := _OLD_SDF.search(text)):
        return (
            f"is SDF {version[1]}, which is not read: 1.3 to 1.12 are; gz sdf -p FILE prints it in "
            "a newer version"
        )
    if tag == "OpenSimDocument":
        return "is a model of OpenSim, which is not read: URDF, xacro, SDF and MJCF are"
    if tag is None and _AMBF.search(text) and "BODY " in text:
        return "is an AMBF description, which is not read: export URDF from where it was made"
    return None


def outer_kind(text: str) -> str:
    """Kind of XML by its outer element; of xacro, what it is when it is expanded."""
    return OUTER.get(root_tag(text) or "", URDF)


def _may_contain_xacro(text: str) -> bool:
    """Whether the text is worth parsing: most files that came out of xacro have nothing left."""
    declared = _DECLARATION.search(text)
    return declared is not None and ("<xacro:" in text or _EXPRESSION.search(text) is not None)


def _is_xml(text: str) -> bool:
    try:
        parse_xml(text)
    except UrdfError:
        return False
    return True


def _contains_xacro(text: str) -> bool:
    """Whether the name space of xacro is declared, and something of xacro is there to expand."""
    try:
        root = parse_xml(text)
    except UrdfError:
        return False
    declared = any("xacro" in uri for uri in root.nsmap.values())
    return declared and any(_is_to_expand(element) for element in root.iter("*"))


def _is_to_expand(element: Element) -> bool:
    prefix, _, name = local_name(element).rpartition(":")
    if prefix == "xacro" and name in ACTING:
        return True
    texts = (element.text or "", element.tail or "", *map(str, element.attrib.values()))
    return any(_EXPRESSION.search(text) for text in texts if "$" in text)
