"""Expansion of xacro files to XML, by the package xacro."""

from __future__ import annotations

import os
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from xml.parsers.expat import ExpatError

from robodyn.errors import MissingExtraError, PackageError, UrdfError, UrdfWarning
from robodyn.urdf.common.packages import Packages
from robodyn.urdf.common.xml import Element, decode, local_name, parse_xml, read_bytes
from robodyn.urdf.xacro.arguments import Arguments
from robodyn.urdf.xacro.places import calls, document_of, with_lines

__all__ = ["expand"]

#: Lock for runs of xacro, which keeps the state of a run in its module.
_ONE_RUN = threading.RLock()

#: Largest number of surrounding macro calls that an error lists.
CALLS = 3


def expand(
    text: str, file: str | None, given: Mapping[str, str], packages: Packages
) -> tuple[Element, list[UrdfWarning]]:
    """Expand a document.

    Parameters
    ----------
    text : str
    file : str or None
        Where it stands: includes are relative to it.
    given : mapping of str to str
        Values of its ``<xacro:arg>``.
    packages : Packages
        For ``$(find package)`` and ``package://``.

    Returns
    -------
    root : Element
        Outer element. The lines of elements are those of the file, where they are written in it.
    warnings : list of UrdfWarning
        What xacro warns of.

    Raises
    ------
    MissingExtraError
        If xacro is not installed.
    PackageError
        If a package is not found.
    UrdfError
        If it cannot be expanded, needs arguments that were not given, was given some that it does
        not have, or holds macros alone.
    """
    try:
        import xacro.substitution_args
    except ImportError as error:
        name = Path(file).name if file else "the text"
        raise MissingExtraError("xacro", "xacro", f"reading {name}, which is xacro,") from error
    with _ONE_RUN:
        return _Run(xacro, file, Arguments(given), packages).expand(text)


class _Run:
    """One run of xacro, which asks it for files and packages."""

    def __init__(
        self, xacro: Any, file: str | None, arguments: Arguments, packages: Packages
    ) -> None:
        self._xacro, self._file = xacro, file
        self._arguments, self._packages = arguments, packages
        self._macros: list[str] = []
        self._warned: dict[tuple[str, str | None], None] = {}
        self._told: list[UrdfWarning] = []

    def expand(self, text: str) -> tuple[Element, list[UrdfWarning]]:
        with self._hooked():
            self._xacro.init_stacks(self._file)
            try:
                document = self._parsed(text, self._file)
                self._xacro.process_doc(document, mappings=self._arguments, verbosity=0)
            except Exception as error:  # xacro raises what it meets: XML, name and type errors
                raise self._with_place(error) from error
        if self._arguments.unknown:
            raise self._unknown_argument()
        root = with_lines(document, self._file)
        if local_name(root) == "robot" and self._macros and root.find("link") is None:
            raise UrdfError(
                f"holds macros alone ({', '.join(self._macros)}): load a file that includes it and "
                "calls them",
                file=self._file,
            )
        warned = [UrdfWarning(f"xacro: {message}", file=file) for message, file in self._warned]
        return root, self._told + warned

    # -- callbacks of xacro ------------------------------------------------------------------------

    @contextmanager
    def _hooked(self) -> Iterator[None]:
        """Give xacro our ways of finding, reading and warning while it runs."""
        substitution = self._xacro.substitution_args
        includes = len(self._xacro.all_includes)
        hooks = (
            (self._xacro.__dict__, "parse", self._parse),
            (self._xacro.__dict__, "warning", self._warn),
            (self._xacro.__dict__, "print_location", lambda: None),
            (self._xacro.__dict__, "abs_filename_spec", self._path(self._xacro.abs_filename_spec)),
            (substitution.__dict__, "_eval_find", self._find),
            (substitution._eval_dict, "find", self._find),
        )
        before = [(names, name, names[name]) for names, name, _ in hooks]
        try:
            for names, name, hook in hooks:
                names[name] = hook
            yield
        finally:
            for names, name, value in before:
                names[name] = value
            del self._xacro.all_includes[includes:]

    def _parse(self, given: Any, filename: str | None = None) -> Any:
        """Read an included file, as ``xacro.parse`` does."""
        path = Path(self._xacro.root_dir, filename or "")
        try:
            text = decode(read_bytes(path), str(path))
        except UrdfError as error:
            if not isinstance(error.__cause__, OSError):
                raise
            self._xacro.filestack.pop()  # so that the including file is the one at fault
            message = "the file it includes cannot be read:"
            raise self._xacro.XacroException(message, exc=error.__cause__) from error
        return self._parsed(text, str(path))

    def _parsed(self, text: str, file: str | None) -> Any:
        told: list[UrdfWarning] = []
        root = parse_xml(text, file, told)
        self._told += told
        self._arguments.look_through(text)
        for element in root.iter("*"):
            kind, name = local_name(element), element.get("name", "")
            if kind == "xacro:arg":
                self._arguments.declare(name, element.get("default"))
            elif kind == "xacro:macro":
                self._macros.append(name)
        try:
            return document_of(root, file)
        except ExpatError as error:
            raise UrdfError(
                f"is not XML: {error}; a prefix of its elements is not declared, as in <robot "
                'xmlns:xacro="http://www.ros.org/wiki/xacro">',
                file=file,
            ) from error

    def _find(self, package: str) -> str:
        files = (self._xacro.filestack[-1:], [self._file])
        around = [file for [file] in files if file is not None]
        return str(self._packages.folder(package, around))

    def _path(self, absolute: Any) -> Any:
        """Xacro's way to an absolute path, which also knows ``package://``."""

        def path(name: str) -> str:
            if name.startswith("package://"):
                package, _, rest = name.removeprefix("package://").partition("/")
                return os.path.join(self._find(package), rest)
            return str(absolute(name))

        return path

    def _warn(self, *message: Any, **_: Any) -> None:
        self._warned[" ".join(map(str, message)), self._xacro.filestack[-1]] = None

    # -- errors ------------------------------------------------------------------------------------

    def _with_place(self, error: Exception) -> UrdfError:
        """The error for a failure of xacro: its cause, its place, and what to do."""
        causes = [*_causes(error)]
        if isinstance(error, UrdfError):
            return error
        around = calls(error, self._xacro.__file__)
        place: dict[str, Any] = {"file": self._file}
        if around:
            at = around[0]
            place = {"file": at.file, "line": at.line, "element": f"<{at.tag}>"}
        by = "".join(f", from <{call.tag}> in {call}" for call in around[1 : 1 + CALLS])
        lost = next((cause for cause in causes if isinstance(cause, PackageError)), None)
        if lost is not None:
            return PackageError(lost.problem + by, package=lost.package, **place)
        unset = next((cause for cause in causes if type(cause).__name__ == "ArgException"), None)
        problem = self._missing(str(unset)) if unset else f"xacro cannot expand it: {_line(error)}"
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


def _causes(error: BaseException | None) -> Iterator[BaseException]:
    """An error and those that it wraps."""
    while error is not None:
        yield error
        error = getattr(error, "exc", None) or error.__cause__


def _line(error: Exception) -> str:
    """What xacro says, in one line."""
    return " ".join(str(error).split()) or type(error).__name__
