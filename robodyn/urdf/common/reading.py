"""Inputs and results of the readers of all kinds of documents."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from robodyn.description import Mechanism
from robodyn.errors import RobodynError, UnknownNameError, UrdfError, UrdfWarning
from robodyn.literals import Base, XacroChoice
from robodyn.quick_dataclass import dataclass
from robodyn.urdf.common.document_kind import EXTENDED_URDF, USD, document_kind, other_format
from robodyn.urdf.common.packages import Packages
from robodyn.urdf.common.reader import Reader
from robodyn.urdf.common.xml import Element, decode, decode_leniently, read_bytes, root_tag

if TYPE_CHECKING:
    from importlib.resources.abc import Traversable


#: Number of characters beyond which no system has a path.
LONGEST_PATH = 4096


@dataclass(frozen=True)
class Document:
    """Text that describes a robot.

    file: Path of the file; ``None`` for text.
    kind: One of those in `robodyn.urdf.common.document_kind`.
    root: Outer element, where it was made of another document: its lines are those of that one.
    problems: What is wrong with its letters.
    """

    text: str
    file: str | None
    kind: str
    root: Element | None = None
    problems: tuple[UrdfError, ...] = ()


@dataclass(frozen=True)
class Options:
    """Options of `robodyn.load` for reading."""

    packages: Packages = field(default_factory=Packages)
    xacro_args: Mapping[str, str] = field(default_factory=dict)
    xacro: XacroChoice = "auto"
    urdf: Any = None
    strict: bool = True
    base: Base = "fixed"
    root: str | None = None
    model: str | None = None


@dataclass
class Reading:
    """Result of reading a document.

    The mechanism is what could be read, if anything. ``complete`` says that all links, joints and
    loops are there, so that the graph can be judged, and once it has been, that they form a
    mechanism.
    """

    mechanism: Mechanism | None
    problems: list[RobodynError] = field(default_factory=list)
    warnings: list[UrdfWarning] = field(default_factory=list)
    complete: bool = True

    @classmethod
    def of(cls, mechanism: Mechanism | None, reader: Reader) -> Reading:
        """What was read, with the findings of its reader."""
        return cls(mechanism, reader.problems, reader.warnings, not reader.incomplete)


def bundled_robots() -> tuple[str, ...]:
    """Names of the robots that come with the library.

    Examples
    --------
    >>> from robodyn.urdf import bundled_robots
    >>> "puma560" in bundled_robots()
    True
    """
    names = [file.name for file in _bundled().iterdir()]
    return tuple(sorted(name.removesuffix(".urdf") for name in names if name.endswith(".urdf")))


def _bundled() -> Traversable:
    """The folder of these robots, which may be in a zip file."""
    from importlib.resources import files  # takes a while to import

    return files("robodyn.urdf") / "robots"


def open_document(source: Any) -> Document:
    """Open the document that a path, a text or the name of a bundled robot refers to.

    Raises
    ------
    UrdfError
        A file that cannot be read, or a source of another type.
    UnknownNameError
        Neither a file nor a bundled robot.

    Examples
    --------
    >>> from robodyn.urdf import open_document
    >>> open_document("four_bar").text[:5]
    '<?xml'
    """
    if isinstance(source, (bytes, bytearray)):
        return _document(*decode_leniently(bytes(source)), None)
    if isinstance(source, str) and source.lstrip("\ufeff \t\r\n").startswith("<"):
        return _document(source, [], None)
    if not isinstance(source, (str, os.PathLike)):
        raise UrdfError(
            f"a {type(source).__name__} is not a source of a robot: give a path, URDF text, the "
            "name of a bundled robot, or a model of urdfpy, urchin or yourdfpy"
        )
    if isinstance(source, str) and not source.strip():
        raise UrdfError("the text is empty: give a path, URDF text or the name of a bundled robot")
    if isinstance(source, str) and (len(source) > LONGEST_PATH or "\n" in source):
        raise UrdfError(
            f"a text of {len(source)} characters that begins with {source[:20]!r} is neither a "
            "path nor XML, which begins with <"
        )
    path = Path(source)
    if isinstance(source, str) and not path.suffix and len(path.parts) <= 1:
        if source in bundled_robots():
            content = (_bundled() / f"{source}.urdf").read_bytes()
            return _document(decode(content), [], f"{source}.urdf")
        if len(source) < 256 and not path.exists():
            raise UnknownNameError("bundled robot", source, bundled_robots())
    content = read_bytes(path)
    if content.startswith(b"PXR-USDC"):
        return Document("", str(path), USD)
    return _document(*decode_leniently(content, str(path)), str(path))


def _document(text: str, problems: list[UrdfError], file: str | None) -> Document:
    if other := other_format(text):
        raise UrdfError(other, file=file)
    kind = document_kind(text)
    if root_tag(text) is None and file is not None and Path(file).suffix in (".yaml", ".yml"):
        kind = EXTENDED_URDF  # whatever is wrong with it, its author meant no XML
    return Document(text, file, kind, problems=tuple(problems))
