"""Everything robodyn raises on purpose.

Each message says what was given, what was expected, where, and what to do; the culprit is an
attribute. Each class also derives from the builtin that a caller would have caught without us.
"""

from __future__ import annotations

import difflib
import functools
from collections.abc import Iterable
from typing import Any

__all__ = [
    "ActuationError",
    "AssemblyError",
    "BagError",
    "ConvergenceWarning",
    "EnergyWarning",
    "EquilibriumError",
    "FileError",
    "Hints",
    "ImpactError",
    "InconsistentStateError",
    "InertiaError",
    "LimitWarning",
    "LoopWarning",
    "MissingExtraError",
    "MissingFileError",
    "PackageError",
    "PathError",
    "RobodynError",
    "SettingsError",
    "ShapeError",
    "SimulationError",
    "SimulationInterrupted",
    "SingularError",
    "SingularWarning",
    "SweepError",
    "SweepWarning",
    "TopologyError",
    "UndeterminedWrenchError",
    "UnknownNameError",
    "UrdfError",
    "UrdfNote",
    "UrdfWarning",
]


class RobodynError(Exception):
    """Base class of all errors that robodyn raises on purpose."""


class _Located(Exception):
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
    leniently : str or None
        What `robodyn.load` does about it with ``strict=False``, in place of an error; ``None``
        if it is an error in any case, or a warning already.
    """

    def __init__(
        self,
        problem: str,
        *,
        file: str | None = None,
        line: int | None = None,
        element: str | None = None,
        suggestion: str | None = None,
        leniently: str | None = None,
    ) -> None:
        self.problem = problem
        self.file = file
        self.line = line
        self.element = element
        self.suggestion = suggestion
        self.leniently = leniently
        place = ":".join(str(part) for part in (file, line) if part is not None)
        super().__init__(": ".join(part for part in (place, element, problem) if part))


class _LocatedError(_Located, RobodynError, ValueError):
    """An error in a description, with the place it was found at."""


class UrdfWarning(_Located, UserWarning):
    """What can be read, though it may not be what its author meant.

    Attributes
    ----------
    places : tuple of UrdfWarning
        Each single place that the warning is about, where it tells of several.
    """

    def __init__(self, problem: str, *, places: tuple[UrdfWarning, ...] = (), **place: Any) -> None:
        super().__init__(problem, **place)
        self.places = places


class LoopWarning(UrdfWarning):
    """Loops of which it hangs on the last digits of a file whether they close, or how they move."""


class UrdfNote(_Located):
    """What is worth knowing of a description, and no fault; never raised."""


class LimitWarning(UserWarning):
    """A simulated motion leaves limits of its joints."""


class SweepWarning(UserWarning):
    """Rows of a sweep failed."""


class EnergyWarning(UserWarning):
    """A simulated motion gains or loses energy that nothing gives or takes."""


class SingularWarning(UserWarning):
    """A posture is singular: motions there are others than elsewhere, or damped by a controller."""


class ConvergenceWarning(UserWarning):
    """A search ended before it had found what it looked for; its result is the best until then."""


class UrdfError(_LocatedError):
    """The file is not a URDF that describes a mechanism."""


class PackageError(UrdfError):
    """A ROS package that a file refers to is not found; ``.package`` is its name."""

    def __init__(self, problem: str, *, package: str = "", **place: Any) -> None:
        self.package = package
        super().__init__(problem, **place)


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
        self.kind = kind
        self.name = name
        self._known = tuple(known)
        self._where = where
        super().__init__(kind, name, self._known, where)

    @functools.cached_property
    def suggestions(self) -> tuple[str, ...]:
        """Existing names that look like it; looked for when first asked for."""
        return tuple(difflib.get_close_matches(str(self.name), self._known, n=3, cutoff=0.5))

    @property
    def brief(self) -> str:
        """The message without what exists."""
        return f"no {self.kind} {self.name!r}" + (f" in {self._where}" if self._where else "")

    def __str__(self) -> str:
        if self.suggestions:
            meant = " or ".join(repr(s) for s in self.suggestions)
            return f"{self.brief}; did you mean {meant}?"
        shown = ", ".join(self._known[:20]) + (", ..." if len(self._known) > 20 else "")
        return f"{self.brief}; there are: {shown or 'none'}"


class Hints:
    """Suggestions for the first few unknown names of a description.

    To look for one among thousands of names takes long, and nobody reads the hundredth.
    """

    def __init__(self, count: int = 20) -> None:
        self._left = count

    def told(self, unknown: UnknownNameError) -> tuple[str, str | None]:
        """Message about an unknown name, and the name that was probably meant."""
        if self._left == 0:
            return unknown.brief, None
        self._left -= 1
        return str(unknown), unknown.suggestions[0] if unknown.suggestions else None


class AssemblyError(RobodynError, ValueError):
    """The loops of a mechanism do not close (``.residual`` [m, rad], ``.q`` reached)."""

    def __init__(self, message: str, *, residual: Any = None, q: Any = None) -> None:
        self.residual = residual
        self.q = q
        super().__init__(message)


class InconsistentStateError(RobodynError, ValueError):
    """A posture whose loops are open, or speeds that open them, where a closed state is needed.

    Attributes
    ----------
    residual : ndarray, shape (nc,) [m, rad]
        Gaps of all constraint rows, as `Robot.loop_residual` has them: of the state that is
        farthest from being closed; None of a loop that is solved in closed form.
    rate : ndarray, shape (nc,) [m/s, rad/s]
        How fast these gaps grow.
    q, v : ndarray, shape (nq,), (nv,)
        That state; of a motion that cannot start there, the nearest one that is consistent.
    loops : tuple of str
        Loops, couplings and constraints that are open, or that these speeds open; the worst first.
    rows : tuple of int
        All such states of a batch, counted over its leading axes; empty for one state.
    """

    def __init__(
        self,
        message: str,
        *,
        residual: Any = None,
        rate: Any = None,
        q: Any = None,
        v: Any = None,
        loops: tuple[str, ...] = (),
        rows: tuple[int, ...] = (),
    ) -> None:
        self.residual = residual
        self.rate = rate
        self.q = q
        self.v = v
        self.loops = loops
        self.rows = rows
        super().__init__(message)


class ActuationError(RobodynError, ValueError):
    """The named motors cannot produce the asked motion (``.direction`` that is missing)."""

    def __init__(self, message: str, *, direction: Any = None) -> None:
        self.direction = direction
        super().__init__(message)


class UndeterminedWrenchError(RobodynError):
    """The wrench in a joint depends on where the force of a constraint acts.

    Attributes
    ----------
    joint : str
    constraints : tuple of str
        Names of the constraints and couplings whose forces may reach the joint.
    """

    def __init__(self, joint: str, constraints: tuple[str, ...]) -> None:
        self.joint, self.constraints = joint, constraints
        super().__init__(joint, constraints)

    def __str__(self) -> str:
        several = len(self.constraints) > 1
        names = ", ".join(map(repr, self.constraints))
        return (
            f"the wrench in joint {self.joint!r} is not determined: {names} "
            f"{'tie' if several else 'ties'} several joints and {'do' if several else 'does'} not "
            "say on which bodies the force acts; write it as a loop, which does, or ask for other "
            "joints"
        )


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


class EquilibriumError(RobodynError, ArithmeticError):
    """No posture at rest, or no steady motion, was found near a state.

    Attributes
    ----------
    joint : str
        That accelerates most there, or is beyond its limit.
    residual : ndarray, shape (nv,) [rad/s^2, m/s^2]
        Accelerations that are left.
    q, v : ndarray, shape (nq,), (nv,), or None
        Where the search ended.
    """

    def __init__(
        self, message: str, *, joint: str = "", residual: Any = None, q: Any = None, v: Any = None
    ) -> None:
        self.joint = joint
        self.residual = residual
        self.q = q
        self.v = v
        super().__init__(message)


class ImpactError(RobodynError, ValueError):
    """Bodies that part already, or that nothing lets give way (``.rows`` of a batch)."""

    def __init__(self, message: str, *, rows: tuple[int, ...] = ()) -> None:
        self.rows = rows
        super().__init__(message)


class PathError(RobodynError, ValueError):
    """A prescribed motion contradicts itself or is not defined.

    Attributes
    ----------
    time : float or None [s]
        Where.
    joint : str
        Whose it is; empty where it is no joint's alone.
    """

    def __init__(self, message: str, *, time: float | None = None, joint: str = "") -> None:
        self.time = time
        self.joint = joint
        super().__init__(message)


class IdentificationError(RobodynError, ValueError):
    """Data do not say what some parameters are, or no motion within the limits would.

    Attributes
    ----------
    parameters : tuple of str
        Names of those parameters.
    """

    def __init__(self, message: str, *, parameters: tuple[str, ...] = ()) -> None:
        self.parameters = parameters
        super().__init__(message)


class SimulationError(RobodynError, RuntimeError):
    """A simulation broke down; ``.trajectory`` holds what came before ``.time`` [s]."""

    def __init__(self, message: str, *, trajectory: Any = None, time: float | None = None) -> None:
        self.trajectory = trajectory
        self.time = time
        super().__init__(message)


class SimulationInterrupted(KeyboardInterrupt):
    """Ctrl-C, or another `KeyboardInterrupt`, ended a simulation.

    ``except KeyboardInterrupt`` catches it too.

    Attributes
    ----------
    trajectory : Trajectory or None
        What was simulated until then; ``None`` if nothing was.
    """

    def __init__(self, message: str = "", *, trajectory: Any = None) -> None:
        self.trajectory = trajectory
        super().__init__(message)


class SweepError(RobodynError, RuntimeError):
    """A sweep cannot be begun, or gone on with.

    Attributes
    ----------
    table : SweepTable or None
        What there is, where a row failed.
    row : int or None
        That row.
    differences : tuple of str
        Where a file holds another sweep, what differs.
    """

    def __init__(
        self,
        message: str,
        *,
        table: Any = None,
        row: int | None = None,
        differences: tuple[str, ...] = (),
    ) -> None:
        self.table = table
        self.row = row
        self.differences = differences
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
