"""Errors and warnings of robodyn.

Each message says what was given, what was expected, where, and what to do. The joint, argument or
state at fault is an attribute. Each error also derives from the builtin error that fits, such as
`ValueError`, so that existing ``except`` clauses catch it.
"""

from __future__ import annotations

import functools
import importlib
import re
from collections.abc import Iterable, Mapping, Sequence
from types import MappingProxyType
from typing import Any


class _Detailed(Exception):
    """What takes the values of its attributes by their names."""

    def __init__(self, *args: object, **details: Any) -> None:
        for name, value in details.items():
            if not hasattr(type(self), name):
                raise TypeError(f"{type(self).__name__} has no attribute {name!r}")
            setattr(self, name, value)
        super().__init__(*args)


class RobodynError(_Detailed):
    """Base class of all errors of robodyn.

    Examples
    --------
    >>> import robodyn as rd
    >>> try:
    ...     rd.load("no_such_robot")
    ... except rd.RobodynError as error:
    ...     print(type(error).__name__)
    UnknownNameError
    """

    #: Index of the motion that failed among simultaneous ones; empty for a single one.
    motion: tuple[int, ...] = ()


#: Longest part of a file that a message repeats, and what it repeats of a longer one.
_LONGEST, _SHOWN = 400, 60
_QUOTED = re.compile(
    rf"'(?:[^'\\]|\\.){{{_LONGEST},}}'|\"(?:[^\"\\]|\\.){{{_LONGEST},}}\"|\S{{{_LONGEST},}}",
    re.DOTALL,
)


def _in_lines(message: str) -> str:
    """A message in which no word, and nothing quoted, is longer than a line of a file."""
    if len(message) < _LONGEST:
        return message
    return _QUOTED.sub(lambda x: f"{x[0][:_SHOWN]}... ({len(x[0])} characters)", message)


def some_of(texts: Sequence[str], most: int = 8, separator: str = ", ") -> str:
    """The first of several texts, and how many more there are."""
    more = f" and {len(texts) - most} more" if len(texts) > most else ""
    return separator.join(texts[:most]) + more


class _Located(_Detailed):
    """A finding in a robot description, with the place where it was found.

    Attributes
    ----------
    problem : str
        The message without the place.
    file : str or None
        Path of the file, or ``None`` for text and objects.
    line : int or None
        Line in the file, counted from 1.
    element : str or None
        The element at fault, such as ``"joint 'elbow'"``.
    suggestion : str or None
        The word that was probably meant, if there is one.
    leniently : str or None
        What ``robodyn.load(..., strict=False)`` does instead of raising this error; ``None`` if it
        raises it all the same, or if this is a warning.
    """

    problem: str
    file: str | None = None
    line: int | None = None
    element: str | None = None
    suggestion: str | None = None
    leniently: str | None = None

    def __init__(self, problem: str, **details: Any) -> None:
        self.problem = problem = _in_lines(problem)
        element = details["element"] = _in_lines(details.get("element") or "") or None
        given = (details.get("file"), details.get("line"))
        place = ":".join(str(part) for part in given if part is not None)
        text = ": ".join(part for part in (place, element, problem) if part)
        super().__init__(text, **details)


class _LocatedError(_Located, RobodynError, ValueError):
    """An error in a robot description, with the place where it was found."""


class UrdfWarning(_Located, UserWarning):
    """Something in a file that can be read, but may not be what its author meant.

    Attributes
    ----------
    places : tuple of UrdfWarning
        The single places, for a warning that summarises several.
    """

    places: tuple[UrdfWarning, ...] = ()


class LoopWarning(UrdfWarning):
    """Rounding, or the sign of an axis, decides whether loops of a file close, or how they move."""


class UrdfNote(_Located):
    """Information about a robot description that is not a fault; never raised."""


class LimitWarning(UserWarning):
    """A simulated motion exceeds limits of its joints."""


class SweepWarning(UserWarning):
    """Some rows of a sweep failed."""


class EnergyWarning(UserWarning):
    """The energy of a simulated motion changes by more than the work done on it."""


class SampleWarning(UserWarning):
    """A digital controller is unstable at its period or delay, or its code has another delay."""


class SingularWarning(UserWarning):
    """A posture is singular: mobility differs there, or a controller damps the motion."""


class ConvergenceWarning(UserWarning):
    """A search did not converge, or a guess draws its result away from what data say."""


class UrdfError(_LocatedError):
    """The file is not valid, or does not describe a mechanism.

    Examples
    --------
    >>> import robodyn as rd
    >>> try:
    ...     rd.load('<robot name="r"><link name="a"><inertail/></link></robot>')
    ... except rd.UrdfError as error:
    ...     print(error.line, error.element, error.suggestion)
    1 link 'a' inertial
    """


class PackageError(UrdfError):
    """A ROS package that a file refers to was not found; ``.package`` is its name."""

    package: str = ""


class TopologyError(_LocatedError):
    """Links and joints do not form a mechanism: two roots, a cycle, an island, unknown links.

    Examples
    --------
    >>> import robodyn as rd
    >>> try:
    ...     rd.load('<robot name="r"><link name="a"/><link name="b"/></robot>')
    ... except rd.TopologyError as error:
    ...     print(error.line, error.element)
    1 link 'b'
    """


class InertiaError(_LocatedError):
    """Inertial parameters that no rigid body can have, or that leave a joint without inertia.

    Examples
    --------
    >>> import robodyn as rd
    >>> thin = rd.Inertia(1.0, ixx=1.0, iyy=1.0, izz=3.0)     # izz is above ixx + iyy
    >>> try:
    ...     rd.load("double_pendulum").with_(payload={"lower": thin})
    ... except rd.InertiaError as error:
    ...     print(error.element)
    link 'lower'
    """


class ShapeError(RobodynError, ValueError):
    """An argument has the wrong shape or type.

    Attributes
    ----------
    name : str
        The argument.
    given, expected : object
        What was given and what was expected.

    Examples
    --------
    >>> import robodyn as rd
    >>> try:
    ...     rd.load("puma560").gravity_forces([0.0, 0.0])
    ... except rd.ShapeError as error:
    ...     print(error.name, error.given, error.expected)
    q (2,) (6,)
    """

    name: str = ""
    given: Any = None
    expected: Any = None


class SettingsError(RobodynError, ValueError):
    """An option has a value that it cannot have, or contradicts another option.

    Examples
    --------
    >>> import robodyn as rd
    >>> try:
    ...     rd.load("puma560", friction_speed=-1.0)
    ... except rd.SettingsError as error:
    ...     print(type(error).__name__)
    SettingsError
    """


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

    Examples
    --------
    >>> import robodyn as rd
    >>> try:
    ...     rd.load("puma560").frame_pose([0.0] * 6, "flansch")
    ... except rd.UnknownNameError as error:
    ...     print(error.suggestions)
    ('flange',)
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
        import difflib  # for errors only

        if len(str(self.name)) > _LONGEST:
            return ()
        return tuple(difflib.get_close_matches(str(self.name), self._known, n=3, cutoff=0.5))

    @property
    def brief(self) -> str:
        """The message without the names that exist."""
        where = f" in {self._where}" if self._where else ""
        return _in_lines(f"no {self.kind} {self.name!r}{where}")

    def __str__(self) -> str:
        if self.suggestions:
            meant = " or ".join(repr(s) for s in self.suggestions)
            return f"{self.brief}; did you mean {meant}?"
        known = [x if len(x) < _LONGEST else f"{x[:_SHOWN]}..." for x in self._known[:20]]
        shown = ", ".join(known) + (", ..." if len(self._known) > 20 else "")
        return f"{self.brief}; there are: {shown or 'none'}"


class Hints:
    """Suggestions for the first few unknown names of a robot description.

    Searching thousands of names for a similar one is slow, and nobody reads the hundredth message.
    """

    def __init__(self, count: int = 20) -> None:
        self._left = count

    def message(self, unknown: UnknownNameError) -> tuple[str, str | None]:
        """Message about an unknown name, and the name that was probably meant."""
        if self._left == 0:
            return unknown.brief, None
        self._left -= 1
        return str(unknown), unknown.suggestions[0] if unknown.suggestions else None


class AssemblyError(RobodynError, ValueError):
    """The loops of a mechanism do not close (``.residual`` [m, rad], ``.q`` reached).

    Examples
    --------
    >>> import robodyn as rd
    >>> robot = rd.load("crank_slider")
    >>> try:
    ...     robot.assemble(robot.neutral() + 100.0, hold=robot.joint_names)
    ... except rd.AssemblyError as error:
    ...     print(error.q.shape)
    (3,)
    """

    residual: Any = None
    q: Any = None


class InconsistentStateError(RobodynError, ValueError):
    """Loops are open, or their speeds violate the constraints, where a closed state is needed.

    Attributes
    ----------
    residual : ndarray, shape (nc,) [m, rad]
        Residuals of all constraint rows, as `Robot.loop_residual` returns them, for the state that
        is farthest from being closed. ``None`` for a loop that is solved in closed form.
    rate : ndarray, shape (nc,) [m/s, rad/s]
        Rates of these residuals.
    q, v : ndarray, shape (nq,), (nv,)
        That state. If a motion cannot start there: the nearest consistent state.
    loops : tuple of str
        Loops, couplings and constraints that are violated, the worst first.
    rows : tuple of int
        All such states of a batch, as indices into its flattened leading axes; empty for one state.

    Examples
    --------
    >>> import robodyn as rd
    >>> robot = rd.load("four_bar")
    >>> try:
    ...     robot.inverse_dynamics(robot.neutral() + [0.3, 0, 0], [0, 0, 0], [0, 0, 0])
    ... except rd.InconsistentStateError as error:
    ...     print(error.loops)
    ('rocker_pin',)
    """

    residual: Any = None
    rate: Any = None
    q: Any = None
    v: Any = None
    loops: tuple[str, ...] = ()
    rows: tuple[int, ...] = ()


class ActuationError(RobodynError, ValueError):
    """The given motors cannot produce the motion (``.direction``: one that no motor drives).

    Examples
    --------
    >>> import robodyn as rd
    >>> robot = rd.load("double_pendulum")
    >>> try:
    ...     robot.inverse_dynamics([0.1, 0.2], [0, 0], [0, 1], actuated=["shoulder"])
    ... except rd.ActuationError as error:
    ...     print("no motor in the elbow can exert this")
    no motor in the elbow can exert this
    """

    direction: Any = None


class UndeterminedWrenchError(RobodynError):
    """The wrench in a joint is not determined: it depends on where a constraint force acts.

    Attributes
    ----------
    joint : str
    constraints : tuple of str
        Names of the constraints and couplings whose forces may act through the joint.

    Examples
    --------
    >>> import robodyn as rd
    >>> issubclass(rd.UndeterminedWrenchError, rd.RobodynError)
    True
    """

    joint: str
    constraints: tuple[str, ...]

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
    """A mass matrix or a constraint system is singular.

    Attributes
    ----------
    joints : tuple of str
        The joints involved.
    rows : tuple of int
        The singular systems of a batch, as indices into its flattened leading axes.

    Examples
    --------
    >>> import robodyn as rd
    >>> text = '<robot name="r"><link name="a"/><link name="b"/>'     # link b has no mass
    >>> text += '<joint name="hinge" type="continuous"><parent link="a"/><child link="b"/>'
    >>> text += "</joint></robot>"
    >>> try:
    ...     rd.load(text, allow_unphysical=True).forward_dynamics([0.0], [0.0], [1.0])
    ... except rd.SingularError as error:
    ...     print(error.joints)
    ('hinge',)
    """

    joints: tuple[str, ...] = ()
    rows: tuple[int, ...] = ()


class EquilibriumError(RobodynError, ArithmeticError):
    """No equilibrium, or no steady motion, was found near a state.

    Attributes
    ----------
    joint : str
        The joint that accelerates most there, or is beyond its limit.
    residual : ndarray, shape (nv,) [rad/s^2, m/s^2]
        Remaining accelerations.
    q, v : ndarray, shape (nq,), (nv,), or None
        Where the search ended.

    Examples
    --------
    >>> import robodyn as rd
    >>> satellite = rd.load("satellite", base="floating")
    >>> try:
    ...     satellite.equilibrium(satellite.neutral())     # it falls: no posture is at rest
    ... except rd.EquilibriumError as error:
    ...     print(error.residual is not None)
    True
    """

    joint: str = ""
    residual: Any = None
    q: Any = None
    v: Any = None


class ImpactError(RobodynError, ValueError):
    """An impact is impossible: the bodies separate, or cannot move (``.rows`` of a batch).

    Examples
    --------
    >>> import robodyn as rd
    >>> robot = rd.load("double_pendulum")
    >>> try:     # the tip moves along -x, and the wall pushes it along -x: they part
    ...     robot.impact([0.0, 0.0], [1.0, 0.0], "lower", (0, 0, -1), (-1, 0, 0))
    ... except rd.ImpactError as error:
    ...     print(type(error).__name__)
    ImpactError
    """

    rows: tuple[int, ...] = ()


class PathError(RobodynError, ValueError):
    """A prescribed motion is inconsistent, or not defined at a time.

    Attributes
    ----------
    time : float or None [s]
        The time at which that is so.
    joint : str
        The joint; empty if the motion is not that of one joint.

    Examples
    --------
    >>> import robodyn as rd
    >>> path = rd.JointPath.from_function(lambda t: (t, 2.0, 0.0))     # the slope of t is 1
    >>> try:
    ...     rd.simulate(rd.load("double_pendulum"), controlled={"elbow": path})
    ... except rd.PathError as error:
    ...     print(error.time)
    0.0
    """

    time: float | None = None
    joint: str = ""


class PlanError(RobodynError, ArithmeticError):
    """No motion was found that keeps all constraints.

    Attributes
    ----------
    residuals : mapping of str to float
        By how much each is missed.
    conflict : tuple of str
        What fights: the constraints that are missed, and then those and the limits that stand
        against them. Empty if that is not known.

    Examples
    --------
    >>> import robodyn as rd
    >>> robot = rd.load("puma560")
    >>> goal = {"joint1": 1.0}
    >>> try:
    ...     rd.plan_motion(robot, start=robot.neutral(), goal=goal, duration=0.01, nodes=5)
    ... except rd.PlanError as error:
    ...     print(max(error.residuals.values()) > 0.1)
    True
    """

    residuals: Mapping[str, float] = MappingProxyType({})
    conflict: tuple[str, ...] = ()


class IdentificationError(RobodynError, ValueError):
    """Measurements do not determine some parameters, or no motion within the limits would.

    Attributes
    ----------
    parameters : tuple of str
        Names of those parameters.

    Examples
    --------
    >>> import robodyn as rd
    >>> import numpy as np
    >>> robot = rd.load("double_pendulum")
    >>> still = np.zeros((20, 2))
    >>> try:
    ...     rd.identify(robot, rd.Measurements(np.arange(20) / 100, still, still, still, still))
    ... except rd.IdentificationError as error:
    ...     print(len(error.parameters) > 0)
    True
    """

    parameters: tuple[str, ...] = ()


class SimulationError(RobodynError, RuntimeError):
    """A simulation failed at ``.time`` [s]; ``.trajectory`` holds the motion until then.

    Of a rollout, ``.motion`` is the index of the motion that failed first, ``(37,)``, ``.motions``
    are those of all that failed, and the trajectory has all of the others.

    Examples
    --------
    >>> import robodyn as rd
    >>> pendulum = rd.load("double_pendulum")
    >>> try:
    ...     rd.simulate(pendulum, lambda t, q, v: 1e300 * v**2, v0=[1.0, 0.0], duration=1.0)
    ... except rd.SimulationError as error:
    ...     print(error.time < 1.0, error.trajectory.q.shape[1])
    True 2
    """

    trajectory: Any = None
    time: float | None = None
    motions: tuple[tuple[int, ...], ...] = ()

    def __init__(self, message: str, **details: Any) -> None:
        super().__init__(message, **details)
        self.motions = self.motions or ((self.motion,) if self.motion else ())


class SimulationInterrupted(KeyboardInterrupt):
    """Ctrl-C, or another `KeyboardInterrupt`, ended a simulation.

    ``except KeyboardInterrupt`` catches it too.

    Attributes
    ----------
    trajectory : Trajectory or None
        The motion until then; ``None`` if there is none.
    """

    def __init__(self, message: str = "", *, trajectory: Any = None) -> None:
        self.trajectory = trajectory
        super().__init__(message)


class SweepError(RobodynError, RuntimeError):
    """A sweep cannot be started or resumed, or one of its rows failed.

    Attributes
    ----------
    table : SweepTable or None
        The results so far, if a row failed or the workers did.
    row : int or None
        The row that failed.
    differences : tuple of str
        What differs, if the file holds another sweep.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> import robodyn as rd
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "sweep.db"
    >>> table = rd.sweep(lambda x: x**2, {"x": [-1.0, 2.0]}, path=path)
    >>> try:
    ...     rd.sweep(lambda x: x**2, {"x": [-1.0, 3.0]}, path=path)     # not what the file holds
    ... except rd.SweepError as error:
    ...     print(len(error.differences))
    1
    """

    table: Any = None
    row: int | None = None
    differences: tuple[str, ...] = ()


class BagError(RobodynError, ValueError):
    """A bag cannot be read or written, or lacks the requested data.

    Examples
    --------
    >>> import tempfile
    >>> import robodyn as rd
    >>> from robodyn.bags import read_motion
    >>> try:
    ...     read_motion(tempfile.mkdtemp(), rd.load("puma560"))
    ... except rd.BagError as error:
    ...     print("metadata.yaml" in str(error))
    True
    """


class FileError(RobodynError, OSError):
    """A file cannot be read or written."""


class MissingFileError(FileError, FileNotFoundError):
    """A file or folder does not exist."""


class MissingExtraError(RobodynError, ImportError):
    """A dependency is not installed (``.extra`` names the extra that brings it, if one does).

    Examples
    --------
    >>> import robodyn as rd
    >>> error = rd.MissingExtraError("control", "control", "python-control models")
    >>> error.extra
    'control'
    """

    def __init__(self, package: str, extra: str, purpose: str) -> None:
        self.package = package
        self.extra = extra
        from robodyn.installation import install_command  # reads metadata, which takes a while

        super().__init__(f"{purpose} needs {package}: {install_command(package, extra)}")


def optional(package: str, extra: str, purpose: str) -> Any:
    """A package that an extra brings, imported where it is used.

    purpose: What needs it, for the message.
    Raises MissingExtraError: If it is not installed.
    """
    try:
        return importlib.import_module(package)
    except ImportError as error:
        raise MissingExtraError(package, extra, purpose) from error
