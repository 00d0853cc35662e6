"""Everything robodyn raises on purpose.

Each message says what was given, what was expected, where, and what to do; the culprit is an
attribute. Each class also derives from the builtin that a caller would have caught without us.
"""

from __future__ import annotations

import difflib
from collections.abc import Iterable
from typing import Any

__all__ = [
    "ActuationError",
    "AssemblyError",
    "BagError",
    "FileError",
    "InertiaError",
    "MissingExtraError",
    "MissingFileError",
    "PathError",
    "RobodynError",
    "SettingsError",
    "ShapeError",
    "SimulationError",
    "SingularError",
    "TopologyError",
    "UnknownNameError",
    "UrdfError",
    "UrdfWarning",
]


class RobodynError(Exception):
    """Base class of all errors that robodyn raises on purpose."""


class _Located:
    """Something found in a description, with the place it was found at.

    Attributes
    ----------
    problem : str
        The message without the place.
    file : str or None
        Path of the file, or ``None`` for text and objects.
    line : int or None
        Line in the file, counted from 1.
    element : str or None
        The element or name at fault, e.g. ``"joint 'elbow'"``.
    suggestion : str or None
        What was probably meant, where one word says it.
    """

    def __init__(
        self,
        problem: str,
        *,
        file: str | None = None,
        line: int | None = None,
        element: str | None = None,
        suggestion: str | None = None,
    ) -> None:
        self.problem = problem
        self.file = file
        self.line = line
        self.element = element
        self.suggestion = suggestion
        place = ":".join(str(part) for part in (file, line) if part is not None)
        super().__init__(": ".join(part for part in (place, element, problem) if part))


class _LocatedError(_Located, RobodynError, ValueError):
    """An error in a description, with the place it was found at."""


class UrdfWarning(_Located, UserWarning):
    """What can be read, though it may not be what its author meant."""


class UrdfError(_LocatedError):
    """The file is not a URDF that describes a mechanism."""


class TopologyError(_LocatedError):
    """Links and joints do not form a mechanism: two roots, a cycle, an island, unknown links."""


class InertiaError(_LocatedError):
    """Masses and inertias that no body can have, or that leave a joint without inertia."""


class ShapeError(RobodynError, ValueError):
    """An array has the wrong shape or type.

    Attributes
    ----------
    name : str
        The argument.
    given, expected : object
        What was given and what was expected.
    """

    def __init__(
        self, message: str, *, name: str = "", given: Any = None, expected: Any = None
    ) -> None:
        self.name = name
        self.given = given
        self.expected = expected
        super().__init__(message)


class SettingsError(RobodynError, ValueError):
    """A value given to `robodyn.load` or ``with_`` makes no sense."""


class UnknownNameError(RobodynError, KeyError):
    """A joint, link, frame or robot of that name does not exist.

    Attributes
    ----------
    kind : str
        ``"joint"``, ``"link"``, ...
    name : str
        The name that was given.
    suggestions : tuple of str
        Existing names that look like it.
    """

    def __init__(self, kind: str, name: str, known: Iterable[str], where: str = "") -> None:
        known = tuple(known)
        self.kind = kind
        self.name = name
        self.suggestions = tuple(difflib.get_close_matches(str(name), known, n=3, cutoff=0.5))
        message = f"no {kind} {name!r}" + (f" in {where}" if where else "")
        if self.suggestions:
            message += "; did you mean " + " or ".join(repr(s) for s in self.suggestions) + "?"
        else:
            shown = ", ".join(known[:20]) + (", ..." if len(known) > 20 else "")
            message += f"; there are: {shown or 'none'}"
        self.message = message
        super().__init__(message)

    def __str__(self) -> str:
        return self.message


class AssemblyError(RobodynError, ValueError):
    """The loops of a mechanism do not close (``.residual`` [m, rad], ``.q`` reached)."""

    def __init__(self, message: str, *, residual: Any = None, q: Any = None) -> None:
        self.residual = residual
        self.q = q
        super().__init__(message)


class ActuationError(RobodynError, ValueError):
    """The named motors cannot produce the asked motion (``.direction`` that is missing)."""

    def __init__(self, message: str, *, direction: Any = None) -> None:
        self.direction = direction
        super().__init__(message)


class SingularError(RobodynError, ArithmeticError):
    """A mass matrix or constraint system cannot be solved.

    Attributes
    ----------
    joints : tuple of str
        Involved.
    rows : tuple of int
        Systems of a batch, counted over its leading axes.
    """

    def __init__(
        self, message: str, *, joints: tuple[str, ...] = (), rows: tuple[int, ...] = ()
    ) -> None:
        self.joints = joints
        self.rows = rows
        super().__init__(message)


class PathError(RobodynError, ValueError):
    """A prescribed motion contradicts itself or is not defined, at ``.time`` [s]."""

    def __init__(self, message: str, *, time: float | None = None) -> None:
        self.time = time
        super().__init__(message)


class SimulationError(RobodynError, RuntimeError):
    """A simulation broke down; ``.trajectory`` holds what came before ``.time`` [s]."""

    def __init__(self, message: str, *, trajectory: Any = None, time: float | None = None) -> None:
        self.trajectory = trajectory
        self.time = time
        super().__init__(message)


class BagError(RobodynError, ValueError):
    """A bag cannot be read or written, or does not hold what was looked for."""


class FileError(RobodynError, OSError):
    """A file cannot be read or written."""


class MissingFileError(FileError, FileNotFoundError):
    """A file or folder is not there."""


class MissingExtraError(RobodynError, ImportError):
    """A dependency is not installed (``.extra`` names the extra that brings it, if one does)."""

    def __init__(self, package: str, extra: str, purpose: str) -> None:
        self.package = package
        self.extra = extra
        wanted = f"'robodyn[{extra}]'" if extra else package
        super().__init__(f"{purpose} needs {package}: pip install {wanted}")
