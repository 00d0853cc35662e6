"""Expansion of xacro files to XML, by the package xacro in a process of its own.

The process has bounds on its time and its memory.
"""

from __future__ import annotations

import atexit
import contextlib
import glob
import importlib.util
import itertools
import json
import os
import re
import signal
import subprocess
import sys
import textwrap
import threading
from collections.abc import Callable, Mapping
from importlib import resources
from pathlib import Path
from typing import Any

from lxml import etree

from robodyn.errors import MissingExtraError, PackageError, UrdfError, UrdfWarning
from robodyn.urdf.common.packages import Packages, folders_around, is_in_package
from robodyn.urdf.common.xml import Element, decode, line_of, local_name, parse_xml, read_bytes
from robodyn.urdf.xacro.arguments import Arguments

#: Largest number of characters that an error repeats of what xacro says.
SAID = 1000

#: Largest number of surrounding macro calls that an error lists.
CALLS = 3


def expand(
    text: str, file: str | None, given: Mapping[str, str], packages: Packages
) -> tuple[Element, list[UrdfWarning]]:
    """Expand a document.

    Returns the outer element, with the lines of the file where its elements are written in it, and
    what xacro warns of. Raises `MissingExtraError` if xacro is not installed, `PackageError` if a
    package is not found, and `UrdfError` if it cannot be expanded, or not in time, if arguments are
    missing or unknown, if the file holds macros alone or names files outside of packages.

    file: Where it stands: includes are relative to it.
    given: Values of its ``<xacro:arg>``.
    packages: For ``$(find package)`` and ``package://``.
    """
    if importlib.util.find_spec("xacro") is None:
        name = Path(file).name if file else "the text"
        raise MissingExtraError("xacro", "xacro", f"reading {name}, which is xacro,")
    return _Run(file, Arguments(given), packages).expand(text)


class _Run:
    """One run of xacro, whose questions for files and packages are answered here."""

    def __init__(self, file: str | None, arguments: Arguments, packages: Packages) -> None:
        self._file, self._arguments, self._packages = file, arguments, packages
        self._macros: list[str] = []
        self._refused: list[UrdfError] = []
        self._folders = [*packages.given, *folders_around(file)]
        self._told: list[UrdfWarning] = []

    def expand(self, text: str) -> tuple[Element, list[UrdfWarning]]:
        order = {
            "document": self._document(text, self._file),
            "file": self._file,
            "arguments": dict(self._arguments),
        }
        said = ask(order, self._answer, self._file)
        self._arguments.update(said["values"])
        self._arguments.used = {*said["used"]}
        if "failed" in said:
            raise self._with_place(said["failed"])
        if self._arguments.unknown:
            raise self._unknown_argument()
        root = self._with_lines(said["text"], said["places"])
        if local_name(root) == "robot" and self._macros and root.find("link") is None:
            raise UrdfError(
                f"holds macros alone ({', '.join(self._macros)}): load a file that includes it and "
                "calls them",
                file=self._file,
            )
        warned = [UrdfWarning(f"xacro: {text}", file=file) for text, file in said["warned"]]
        return root, self._told + warned

    def _with_lines(self, text: str, places: list[Any]) -> Element:
        """Outer element of what was expanded; elements written in this file have its lines."""
        root = parse_xml(text, self._file)
        for element, place in zip(root.iter("*"), places, strict=True):
            line = place[1] if place and place[0] == self._file else None
            element.sourceline = line or 0  # type: ignore[assignment]  # lxml-stubs: read-only
        return root

    # -- questions of xacro ------------------------------------------------------------------------

    def _answer(self, question: dict[str, Any]) -> dict[str, Any]:
        """What a question asks for, or the number of the error that is why it is not given."""
        try:
            return {"given": self._given(question)}
        except UrdfError as error:
            cause = error.__cause__
            if isinstance(cause, OSError) and not isinstance(error, PackageError):
                return {"missing": [cause.errno, cause.strerror, str(cause.filename)]}
            self._refused.append(error)
            return {"refused": len(self._refused) - 1}

    def _given(self, question: dict[str, Any]) -> Any:
        match question:
            case {"document": name}:
                return self._document(self._text(name), name) | {"file": name}
            case {"text": name}:
                return self._text(name)
            case {"pattern": pattern}:
                self._check(Path(*itertools.takewhile(_is_plain, Path(pattern).parts), "x"))
                return sorted(name for name in glob.glob(pattern) if self._may_read(Path(name)))
            case {"package": name, "around": including}:
                around = [file for file in (including, self._file) if file is not None]
                folder = self._packages.folder(name, around)
                self._folders.append(folder.resolve())
                return str(folder)
        raise UrdfError("xacro asks for what is not known")

    def _text(self, name: str) -> str:
        if Path(name).exists():
            self._check(Path(name))
        return decode(read_bytes(Path(name)), name)

    def _may_read(self, path: Path) -> bool:
        real = path.resolve()
        return is_in_package(real) or any(map(real.is_relative_to, self._folders))

    def _check(self, path: Path) -> None:
        if not self._may_read(path):
            raise UrdfError(
                f"{path} is outside of the packages and the folder of the file, where xacro may "
                f"read: if you trust it, package_dirs={str(path.resolve().parent)!r} (--package)"
            )

    def _document(self, text: str, file: str | None) -> dict[str, Any]:
        """A document as text, and the lines of its elements."""
        root = parse_xml(text, file, self._told)
        self._arguments.look_through(text)
        for element in root.iter("*"):
            kind, name = local_name(element), element.get("name", "")
            if kind == "xacro:arg":
                self._arguments.declare(name, element.get("default"))
            elif kind == "xacro:macro":
                self._macros.append(name)
        xml = etree.tostring(root, encoding="unicode", with_tail=False)
        return {"xml": xml, "lines": [line_of(element) for element in root.iter("*")]}

    # -- errors ------------------------------------------------------------------------------------

    def _with_place(self, failure: dict[str, Any]) -> UrdfError:
        """The error for a failure of xacro: its cause, its place, and what to do."""
        if "not_xml" in failure:
            file, message = failure["not_xml"]
            return UrdfError(
                f"is not XML: {message}; a prefix of its elements is not declared, as in <robot "
                'xmlns:xacro="http://www.ros.org/wiki/xacro">',
                file=file,
            )
        around = failure["calls"]
        place: dict[str, Any] = {"file": self._file}
        if around:
            file, line, tag = around[0]
            place = {"file": file, "line": line, "element": f"<{tag}>"}
        by = "".join(f", from <{tag}> in {_at(*at)}" for *at, tag in around[1 : 1 + CALLS])
        if "refused" in failure:
            error = self._refused[failure["refused"]]
            if isinstance(error, PackageError):
                return PackageError(error.problem + by, package=error.package, **place)
            return error if error.file else UrdfError(error.problem + by, **place)
        said = " ".join(failure["said"].split())
        problem = f"xacro cannot expand it: {textwrap.shorten(said, SAID, placeholder=' ...')}"
        if "argument" in failure:
            problem = self._missing(failure["argument"])
        return UrdfError(problem + by + self._advice(), **place)

    def _missing(self, name: str) -> str:
        names = list(dict.fromkeys((name, *self._arguments.missing)))
        given = ", ".join(f"{name!r}: ..." for name in names)
        problem = f"needs the argument{'s'[: len(names) > 1]} {', '.join(names)}: xacro_args="
        problem += f"{{{given}}}, or {names[0]}:=... on the command line"
        late = self._arguments.declared.get(name)
        if late is not None and late.default is not None:
            problem += f' (its default, "{late.default}", is declared below its first use)'
        return problem

    def _advice(self) -> str:
        arguments = self._arguments
        if not (arguments.declared or arguments.wanted or arguments.given):
            return ""
        unknown = ", ".join(map(repr, arguments.unknown))
        wrong = f"; xacro_args has {unknown}, which it does not know" if unknown else ""
        return f"{wrong}; its arguments: {arguments.listed()}"

    def _unknown_argument(self) -> UrdfError:
        name = self._arguments.unknown[0]
        meant = self._arguments.meant(name)
        hint = f" (did you mean {meant!r}?)" if meant else ""
        return UrdfError(
            f"has no argument {name!r}{hint}; its arguments: {self._arguments.listed()}",
            file=self._file,
            element=f"xacro_args[{name!r}]",
            suggestion=meant,
        )


def _at(file: str | None, line: int | None) -> str:
    return ":".join(str(part) for part in (file, line) if part is not None)


def _is_plain(part: str) -> bool:
    """Whether a part of a path is no pattern."""
    return re.search(r"[*[?]", part) is None


#: What the expansion of one file may take, in seconds and bytes.
TIME = 30.0
MEMORY = 2**30

#: How long a process waits for the next file before it ends [s].
PATIENCE = 20.0

Message = dict[str, Any]


def ask(order: Message, answer: Callable[[Message], Message], file: str | None) -> Message:
    """What comes of an order to `robodyn.urdf.xacro.worker`.

    Raises `UrdfError` if the process cannot be started, ends before it is done, or is ended.

    answer: Called with each question of the process, returns what it is told.
    file: The file that is expanded, for messages.
    """
    try:
        process = _take()
        said = process.said(order, answer)
        if said is None and process.used and not process.late:  # it had just ended, unused
            process = _Process()
            said = process.said(order, answer)
    except OSError as error:
        raise UrdfError(
            f"xacro needs a process of its own, which cannot be started: {error}; expand the file "
            "by the command xacro",
            file=file,
        ) from error
    if said is not None:
        return said
    why = f"xacro ended before it was done: it may have needed more than {MEMORY >> 20} MB"
    if process.late:
        why = f"xacro was ended after {TIME:g} s: its macros or expressions hardly come to an end"
    raise UrdfError(why, file=file)


class _Process:
    """A process that expands files one after the other."""

    def __init__(self) -> None:
        self.owner = os.getpid()
        self.used = self.late = False
        program = resources.files("robodyn.urdf.xacro").joinpath("worker.py").read_text("utf-8")
        self._process = subprocess.Popen(
            [sys.executable, "-I", "-S", "-c", program],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            encoding="ascii",
            start_new_session=True,
            creationflags=getattr(subprocess, "CREATE_NO_WINDOW", 0),
        )

    @property
    def lives(self) -> bool:
        return self._process.poll() is None

    def said(self, order: Message, answer: Callable[[Message], Message]) -> Message | None:
        """What comes of an order; ``None`` if the process ends before."""
        timer = threading.Timer(TIME, self._end_late)
        timer.daemon = True
        timer.start()
        found: Message | None = None
        order = order | {"path": sys.path, "memory": MEMORY, "patience": PATIENCE}
        try:
            while True:
                self._send(order)
                received = self._received()
                if received is None or "ended" in received:
                    return None
                if "said" in received:
                    found = received["said"]
                    return found
                order = answer(received)
        finally:
            timer.cancel()
            self.used = True
            if found is None or not hasattr(os, "fork"):
                self.end()
            else:
                _put(self)

    def _send(self, message: Message) -> None:
        assert self._process.stdin is not None
        with contextlib.suppress(OSError):  # it is no more, and answers nothing
            self._process.stdin.write(json.dumps(message) + "\n")
            self._process.stdin.flush()

    def _received(self) -> Message | None:
        assert self._process.stdout is not None
        try:
            received: Message = json.loads(self._process.stdout.readline())
        except ValueError:
            return None
        return received

    def _end_late(self) -> None:
        self.late = True
        self._kill()

    def _kill(self) -> None:
        with contextlib.suppress(OSError):
            if hasattr(os, "killpg") and self.lives:
                os.killpg(self._process.pid, signal.SIGKILL)  # with the process of one file
            else:
                self._process.kill()

    def end(self) -> None:
        """End the process, if it has not ended."""
        self._kill()
        with contextlib.suppress(OSError, ValueError):
            self._process.communicate()


_LOCK = threading.Lock()

#: A process that waits for the next file, if there is one.
_WAITING: list[_Process] = []


def _take() -> _Process:
    """The process that waits, if it is still there; else another one."""
    with _LOCK:
        waiting = _WAITING.pop() if _WAITING else None
    if waiting is not None and waiting.owner == os.getpid():  # and no copy of its owner by fork
        if waiting.lives:
            return waiting
        waiting.end()
    return _Process()


def _put(process: _Process) -> None:
    """Let a process wait, or end it if another one waits."""
    with _LOCK:
        if not any(other.owner == os.getpid() for other in _WAITING):
            _WAITING[:] = [process]
            return
    process.end()


@atexit.register
def _end_waiting() -> None:
    for process in _WAITING:
        if process.owner == os.getpid():
            process.end()
