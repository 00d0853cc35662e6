"""The program that runs xacro, in a process of its own, so that it can be ended.

xacro evaluates a part of Python, from which ways lead to all of it. This process opens no file, as
soon as xacro is imported: it asks for the text of files and for the folders of packages, line by
line as JSON, and is answered or refused. It imports nothing of robodyn.

xacro works on a DOM, which knows no lines. Files and lines of elements are kept as user data, which
the DOM hands on when xacro copies the body of a macro.
"""

from __future__ import annotations

import contextlib
import io
import json
import os
import select
import sys
from collections.abc import Iterator
from types import TracebackType
from typing import Any, NamedTuple
from xml.dom import (
    expatbuilder,  # noqa: F401  # which minidom imports when it parses
    minidom,
)
from xml.parsers.expat import ExpatError

_KEY = "robodyn"

#: What xacro's Python may do to the world around it, by the beginnings of names of audit events.
_WORLD = ("open", "import", "os.", "subprocess.", "socket.", "ctypes.", "shutil.", "glob.", "pty.",
          "tempfile.", "mmap.", "fcntl.", "signal.", "urllib.")  # fmt: skip


class Place(NamedTuple):
    """Where an element stands."""

    file: str | None
    line: int | None
    tag: str


class Refused(Exception):
    """What was asked for is not given; the one who was asked keeps the reason."""


class NotXml(Exception):
    """A document, with its file and what is wrong with it."""


class _PlaceOfCopies:
    """Gives the copy of an element its place; the DOM calls it."""

    def handle(self, operation: Any, key: str, place: Any, source: Any, copy: Any) -> None:
        if copy is not None:
            copy.setUserData(key, place, self)


_HAND_ON: Any = _PlaceOfCopies()


class _Arguments(dict[str, str]):
    """Values by name, as xacro looks them up; remembers which it looked up."""

    def __init__(self, given: dict[str, str]) -> None:
        super().__init__(given)
        self.used: set[str] = set()

    def __getitem__(self, name: str) -> str:
        self.used.add(name)
        return super().__getitem__(name)


class Worker:
    """One run of xacro, which asks for files and packages.

    It writes questions to the file ``asked``, and reads answers from ``answers``.
    """

    def __init__(self, xacro: Any, asked: Any, answers: Any) -> None:
        self._xacro, self._asked, self._answers = xacro, asked, answers
        self._warned: dict[tuple[str, str | None], None] = {}

    def run(self, order: dict[str, Any]) -> dict[str, Any]:
        """The document of an order, expanded, or what went wrong."""
        arguments = _Arguments(order["arguments"])
        self._xacro.init_stacks(order["file"])
        self._hook()
        try:
            document = _document(order["document"], order["file"])
            self._xacro.process_doc(document, mappings=arguments, verbosity=0)
            outer = document.documentElement
            elements = (outer, *outer.getElementsByTagName("*"))
            said = {"text": outer.toxml(), "places": [_place_of(x) for x in elements]}
        except Exception as error:  # xacro raises what it meets: XML, name and type errors
            said = {"failed": self._failure(error)}
        more = {"values": dict(arguments), "used": sorted(arguments.used)}
        return said | more | {"warned": [*self._warned]}

    def _hook(self) -> None:
        """Give xacro our ways of finding, reading and warning."""
        xacro, substitution = self._xacro, self._xacro.substitution_args
        absolute = xacro.abs_filename_spec
        xacro.parse = self._parse
        xacro.warning = self._warn
        xacro.print_location = lambda: None
        xacro.abs_filename_spec = lambda name: self._path(name, absolute)
        xacro.open = self._open  # of load_yaml
        xacro.glob = self  # of patterns of files to include
        substitution._eval_find = self._find
        substitution._eval_dict["find"] = self._find

    def _ask(self, **question: Any) -> Any:
        print(json.dumps(question), file=self._asked, flush=True)
        answer = json.loads(self._answers.readline())
        if "refused" in answer:
            raise Refused(answer["refused"])
        if "missing" in answer:
            raise FileNotFoundError(*answer["missing"])
        return answer["given"]

    def _parse(self, given: Any, filename: str | None = None) -> Any:
        """Read an included file, as ``xacro.parse`` does."""
        try:
            found = self._ask(document=filename or "")
        except FileNotFoundError as error:
            self._xacro.filestack.pop()  # so that the including file is the one at fault
            raise self._xacro.XacroException(
                "the file it includes cannot be read:", exc=error
            ) from error
        return _document(found, found["file"])

    def _open(self, filename: str) -> Any:
        return io.StringIO(self._ask(text=str(filename)))

    def glob(self, pattern: str) -> list[str]:
        """Files of a pattern, as ``glob.glob``."""
        found: list[str] = self._ask(pattern=pattern)
        return found

    def _find(self, package: str) -> str:
        return str(self._ask(package=package, around=self._xacro.filestack[-1]))

    def _path(self, name: str, absolute: Any) -> str:
        """Xacro's way to an absolute path, which also knows ``package://``."""
        if name.startswith("package://"):
            package, _, rest = name.removeprefix("package://").partition("/")
            return os.path.join(self._find(package), rest)
        return str(absolute(name))

    def _warn(self, *message: Any, **_: Any) -> None:
        self._warned[" ".join(map(str, message)), self._xacro.filestack[-1]] = None

    def _failure(self, error: Exception) -> dict[str, Any]:
        """What an error says: its text, what was being expanded, and what it is caused by."""
        failure: dict[str, Any] = {"said": str(error) or type(error).__name__}
        failure["calls"] = _calls(error, self._xacro.__file__)
        cause: BaseException | None = error
        while cause is not None:
            if isinstance(cause, Refused):
                failure["refused"] = cause.args[0]
            elif type(cause).__name__ == "ArgException":
                failure["argument"] = str(cause)
            elif isinstance(cause, NotXml):
                failure["not_xml"] = cause.args
            cause = getattr(cause, "exc", None) or cause.__cause__
        return failure


def _document(written: dict[str, Any], file: str | None) -> Any:
    """DOM of a document, whose elements know where they stand."""
    try:
        document = minidom.parseString(written["xml"])
    except ExpatError as error:
        raise NotXml(file, str(error)) from error
    elements = document.getElementsByTagName("*")
    for element, line in zip(elements, written["lines"], strict=True):
        element.setUserData(_KEY, Place(file, line, element.tagName), _HAND_ON)
    return document


def _place_of(node: Any) -> Place | None:
    """Where a node, or the element that it stands in, was written."""
    while node is not None:
        place: Place | None = node.getUserData(_KEY) if hasattr(node, "getUserData") else None
        if place is not None:
            return place
        node = node.parentNode
    return None


def _calls(error: BaseException, module: str) -> list[Place]:
    """Elements that were being expanded when an error was raised, the innermost first."""
    found: dict[Place, None] = {}
    for node in reversed([*_nodes(error.__traceback__, module)]):
        place = _place_of(node)
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


def _refuse_the_world(event: str, arguments: tuple[Any, ...]) -> None:
    """Audit hook: nothing outside of this process is opened, started or changed."""
    if event.startswith(_WORLD):
        what = " ".join(str(x) for x in arguments[:1] if x is not None)
        raise PermissionError(f"a file of xacro may not {event} {what}".rstrip())


def main() -> None:
    """Answer orders, each in a process of its own where the system can, until none comes."""
    answers = sys.stdin  # of which no more is read than was asked for, so that forks can go on
    order = json.loads(answers.readline())
    sys.path[:] = order["path"]
    import xacro.substitution_args  # with PyYAML

    asked, sys.stdout = sys.stdout, sys.stderr  # what xacro prints is no answer
    forks = hasattr(os, "fork")
    while order:
        if forks and (child := os.fork()):
            if os.waitpid(child, 0)[1]:
                print(json.dumps({"ended": True}), file=asked, flush=True)
            order = _next_order(answers, order["patience"])
            continue
        _limit_memory(order["memory"])
        sys.addaudithook(_refuse_the_world)
        said = Worker(xacro, asked, answers).run(order)
        print(json.dumps({"said": said}), file=asked, flush=True)
        break


def _next_order(answers: Any, patience: float) -> dict[str, Any]:
    """The next order; empty if none comes in time [s], or ever."""
    if not select.select([answers], [], [], patience)[0]:
        return {}
    order: dict[str, Any] = json.loads(answers.readline() or "{}")
    return order


def _limit_memory(memory: int) -> None:
    """Bound the memory of this process [bytes], where the system can."""
    with contextlib.suppress(ImportError, OSError, ValueError):
        import resource

        resource.setrlimit(resource.RLIMIT_AS, (memory, memory))


if __name__ == "__main__":
    main()
