"""Safe parsing of XML to elements with line numbers, and elements as text.

Nothing is fetched, no entity is expanded, no document type is read, and a size limit comes first:
a URDF needs none of these, and each has been used to attack a reader.
"""

from __future__ import annotations

import codecs
import copy
import re
import stat
from pathlib import Path

from lxml import etree

from robodyn.errors import UrdfError, UrdfWarning

Element = etree._Element

#: Largest file that is read. The largest robots of the public collections have 2 MB.
MAX_BYTES = 16 * 2**20

_BYTE_ORDER_MARKS = (
    (codecs.BOM_UTF8, "utf-8"),
    (codecs.BOM_UTF16_LE, "utf-16-le"),
    (codecs.BOM_UTF16_BE, "utf-16-be"),
)
_DECLARATION = re.compile(r"\s*<\?xml\s[^>]*?\?>")
_BLANKS = re.compile(r"\s*")
_TAG = re.compile(r"<(?!!)([^\s<>/]+)")
_COMMENT = re.compile(r"<!--(.*?)-->", re.DOTALL)
_HYPHEN = re.compile(r"-(?=-|$)")
_HYPHENS = "-- in a comment, which XML does not allow: read as a comment all the same"
_ENCODING = re.compile(rb"\s*<\?xml\s[^>]*?encoding\s*=\s*[\"']([A-Za-z0-9._-]+)[\"']")


def read_bytes(path: Path) -> bytes:
    """Content of a file; not read if it is not a regular file, or larger than ``MAX_BYTES``."""
    file = str(path)
    try:
        status = path.stat()
        if stat.S_ISDIR(status.st_mode):
            raise UrdfError("is a folder; give the URDF file in it", file=file)
        if not stat.S_ISREG(status.st_mode):
            raise UrdfError(
                "is a pipe or a device, which may never end; read it yourself and give the text",
                file=file,
            )
        _check_size(status.st_size, file)
        with path.open("rb") as stream:
            data = stream.read(MAX_BYTES + 1)  # it may have grown
    except OSError as error:
        raise UrdfError(f"the file cannot be read: {error.strerror}", file=file) from error
    except ValueError as error:  # of the path; ours are ValueErrors too
        if isinstance(error, UrdfError):
            raise
        raise UrdfError(f"the file cannot be read: {error}", file=file) from error
    _check_size(len(data), file)
    if data.startswith(b"version https://git-lfs.github.com/spec/"):
        raise UrdfError("is a pointer to a file in Git LFS: fetch it by git lfs pull", file=file)
    return data


def _check_size(size: int, file: str | None) -> None:
    if size > MAX_BYTES:
        raise UrdfError(
            f"{size / 2**20:.1f} MB of XML; a URDF of more than {MAX_BYTES // 2**20} MB is not "
            "read (meshes belong in files of their own)",
            file=file,
        )


def decode(data: bytes, file: str | None = None) -> str:
    """Text of the bytes, by byte order mark, XML declaration or as UTF-8."""
    _check_size(len(data), file)
    encoding = "utf-8"
    for mark, name in _BYTE_ORDER_MARKS:
        if data.startswith(mark):
            data, encoding = data[len(mark) :], name
            break
    else:
        declared = _ENCODING.match(data[:200])
        if declared:
            encoding = declared.group(1).decode()
    try:
        return data.decode(encoding)
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        raise UrdfError(
            f"is not {encoding} text: {error.reason}; save it as UTF-8", file=file, line=line
        ) from error
    except (LookupError, UnicodeError) as error:  # no such encoding, or none of text
        raise UrdfError(
            f"unknown encoding {encoding!r}; save it as UTF-8", file=file, line=1
        ) from error


def decode_leniently(data: bytes, file: str | None = None) -> tuple[str, list[UrdfError]]:
    """Decode bytes, and return a message if they are not UTF-8.

    Other readers take bytes as they come; outside of comments few files have letters that differ.
    """
    try:
        return decode(data, file), []
    except UrdfError as error:
        cause = error.__cause__
        if not isinstance(cause, UnicodeDecodeError) or cause.encoding != "utf-8":
            raise
        error.leniently = "read as Latin-1"
        return data.decode("latin-1"), [error]


def parse_xml(text: str, file: str | None = None, told: list[UrdfWarning] | None = None) -> Element:
    """Root element of XML text.

    Raises `UrdfError` with the line of the first fault: text that is not well-formed or too large,
    entities, a document type.

    file, optional: For messages.
    told, optional: Gets a warning where comments have ``--`` in them, which XML does not allow, and
        which changes nothing.
    """
    text = _without_declarations(text, file)
    try:
        root = etree.fromstring(text.encode(), _parser(recover=False))
    except etree.XMLSyntaxError as error:
        plain, lines = _plain_comments(text)
        if lines:
            if told is not None:
                told.append(UrdfWarning(_HYPHENS, file=file, line=lines[0]))
            return parse_xml(plain, file)
        root = _forgive_prefixes(text, error, file)
    except ValueError as error:  # characters that XML does not allow
        raise UrdfError(f"is not XML: {error}", file=file) from error
    return _without_default_space(root)


def _plain_comments(text: str) -> tuple[str, list[int]]:
    """Text without ``--`` in comments, which are as long as before; lines of those that had it."""
    lines: list[int] = []

    def plain(comment: re.Match[str]) -> str:
        inner = _HYPHEN.sub("=", comment[1])
        if inner != comment[1]:
            lines.append(text.count("\n", 0, comment.start()) + 1)
        return f"<!--{inner}-->"

    return _COMMENT.sub(plain, text), lines


def _without_declarations(text: str, file: str | None) -> str:
    """Text without marks and declarations, its lines where they were."""
    _check_size(len(text), file)
    text = text.removeprefix("\ufeff")
    if not text.strip():
        raise UrdfError("is empty", file=file, line=1)
    declaration = _DECLARATION.match(text)
    if declaration:  # many files claim version 0.0; the text is decoded already
        text = "\n" * declaration.group().count("\n") + text[declaration.end() :]
    return _without_document_type(text, file)


def _without_document_type(text: str, file: str | None) -> str:
    """Text without a document type that defines nothing; one that does is an error."""
    start = _start(text)
    if not text.startswith("<!DOCTYPE", start):
        return text
    end = text.find(">", start)
    if end < 0 or "[" in text[start:end]:
        raise UrdfError(
            "document types and entities are not read; write their content out",
            file=file,
            line=text.count("\n", 0, start) + 1,
        )
    return text[:start] + "\n" * text.count("\n", start, end) + text[end + 1 :]


def recovered(text: str, error: UrdfError) -> Element | None:
    """Root element of text with syntax errors that other readers tolerate.

    Returns ``None`` where the faults leave in doubt what is meant.

    error: What `parse_xml` raised; what was done is added to it (``leniently``).
    """
    if not isinstance(error.__cause__, etree.XMLSyntaxError):
        return None
    parser = _parser(recover=True)
    root = etree.fromstring(_without_declarations(text, error.file).encode(), parser)
    done = {_tolerated(entry.type_name, entry.message) for entry in parser.error_log}
    if root is None or None in done:
        return None
    error.leniently = " and ".join(sorted(filter(None, done)))
    return _without_default_space(root)


def _tolerated(fault: str, message: str) -> str | None:
    """How a syntax error is tolerated; ``""`` if nothing is to be done, ``None`` if it is not."""
    if fault == "NS_ERR_UNDEFINED_NAMESPACE":
        return ""
    if fault == "ERR_DOCUMENT_END":
        return "what follows the robot is left out"
    if fault == "ERR_HYPHEN_IN_COMMENT":
        return "read as a comment"
    if fault in ("ERR_UNDECLARED_ENTITY", "ERR_ENTITYREF_SEMICOL_MISSING"):
        return "the reference is left out"
    return "the & is left out" if message.startswith("xmlParseEntityRef") else None


def _start(text: str, position: int = 0) -> int:
    """Position of the first element or document type, after comments and instructions."""
    while True:
        position = _BLANKS.match(text, position).end()  # type: ignore[union-attr]  # matches ""
        for opening, closing in (("<!--", "-->"), ("<?", "?>")):
            if text.startswith(opening, position):
                end = text.find(closing, position)
                if end < 0:
                    return len(text)
                position = end + len(closing)
                break
        else:
            return position


def root_tag(text: str) -> str | None:
    """Name of the outer element as it is written; ``None`` where the text does not begin with one.

    The text need not be XML beyond it.
    """
    text = text.removeprefix("\ufeff")
    found = _TAG.match(text, _after_document_type(text, _start(text)))
    return found.group(1) if found else None


def _after_document_type(text: str, position: int) -> int:
    """Position behind a document type that defines nothing, and comments."""
    if text.startswith("<!DOCTYPE", position):
        end = text.find(">", position)
        return len(text) if end < 0 else _start(text, end + 1)
    return position


def _without_default_space(root: Element) -> Element:
    """Take the name space off elements that have the one of an undecorated ``<robot>``."""
    space = f"{{{root.nsmap.get(None, '')}}}"
    if space != "{}" and not root.prefix:
        for element in root.iter():
            if isinstance(element.tag, str) and element.tag.startswith(space):
                element.tag = element.tag.removeprefix(space)
    return root


def _parser(recover: bool) -> etree.XMLParser:
    return etree.XMLParser(
        resolve_entities=False, no_network=True, load_dtd=False, huge_tree=False, recover=recover
    )


def _forgive_prefixes(text: str, error: etree.XMLSyntaxError, file: str | None) -> Element:
    """Parse text whose only error is an undeclared prefix, such as ``drake:``."""
    undeclared = etree.ErrorTypes.NS_ERR_UNDEFINED_NAMESPACE
    if getattr(error, "code", None) == undeclared:
        parser = _parser(recover=True)
        root = etree.fromstring(text.encode(), parser)
        others = [entry for entry in parser.error_log if entry.type != undeclared]
        if not others and root is not None:
            return root
        entry = others[0]
        raise UrdfError(f"is not XML: {entry.message}", file=file, line=entry.line) from error
    message = re.sub(r",? (line \d+, column \d+|use XML_PARSE).*", "", str(error.msg))
    raise UrdfError(f"is not XML: {message}", file=file, line=error.lineno) from error


def local_name(element: Element) -> str:
    """Tag of an element; a name space becomes its usual prefix, ``drake:`` or ``xacro:``."""
    tag = element.tag
    if not isinstance(tag, str):  # comments and processing instructions
        return ""
    if tag.startswith("{"):
        space, _, name = tag[1:].partition("}")
        if "drake" in space:
            return f"drake:{name}"
        if "xacro" in space:
            return f"xacro:{name}"
        return f"{element.prefix}:{name}" if element.prefix else name
    return tag


def line_of(element: Element) -> int | None:
    """Line of an element in the file, counted from 1."""
    line: object = element.sourceline
    return line if isinstance(line, int) else None


def fragment(element: Element) -> str:
    """XML text of one element, with the name spaces it uses and no others."""
    if element.nsmap:
        element = copy.deepcopy(element)
        etree.cleanup_namespaces(element)
    return etree.tostring(element, encoding="unicode", with_tail=False)
