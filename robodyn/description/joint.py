"""Joints, loops, which are joints between two links of a tree, couplings, and their limits."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from typing import Any, Protocol, TypeVar

from robodyn.arguments import check_fields
from robodyn.arrays import number
from robodyn.description.pose import Pose, Vector
from robodyn.errors import SettingsError, UnknownNameError
from robodyn.joints import KINDS, joint_kind, joint_map
from robodyn.symbolic.symbol import with_name


class JointOrLoop(Protocol):
    """A `Joint` or a `Loop`: what has a kind, and numbers that go with it."""

    @property
    def name(self) -> str:
        """Its name."""

    @property
    def kind(self) -> str:
        """The name of its kind."""

    @property
    def parameters(self) -> tuple[tuple[str, float], ...]:
        """Numbers by name that have no field of their own."""


Item = TypeVar("Item", bound=JointOrLoop)


#: Numbers that have a field of their own in `Joint` or `Loop`.
FIELDS = ("pitch", "distance")


def constants_of(item: JointOrLoop) -> dict[str, float]:
    """Numbers of a `Joint` or `Loop` by name, as its kind wants them.

    Raises UnknownNameError: If one is not given.
    """
    given = dict(item.parameters)
    for name in missing_constants(item):
        what = f"{type(item).__name__.lower()} {item.name!r}, which is {item.kind}"
        raise UnknownNameError("parameter", name, given, what)
    names = [parameter.name for parameter in joint_kind(item.kind).parameters]
    return {name: given[name] if name in given else getattr(item, name) for name in names}


def missing_constants(item: JointOrLoop) -> list[str]:
    """Numbers of its kind that a joint does not have."""
    given = dict(item.parameters)
    names = [parameter.name for parameter in joint_kind(item.kind).parameters]
    return [name for name in names if name not in given and not _is_field(item, name)]


def with_constants(item: Item, constants: Mapping[str, float]) -> Item:
    """The same `Joint` or `Loop` with numbers of its kind: as fields where it has such."""
    fields: dict[str, Any] = {name: x for name, x in constants.items() if _is_field(item, name)}
    rest = tuple((name, x) for name, x in constants.items() if name not in fields)
    changed: Item = dataclasses.replace(item, **fields, parameters=rest)  # type: ignore[type-var]
    return changed


def _is_field(item: JointOrLoop, name: str) -> bool:
    return name in FIELDS and hasattr(item, name)


#: Kinds of joints that files may have -> (nq, nv), by degrees of freedom, then by name.
JOINT_KINDS: dict[str, tuple[int, int]] = {
    name: (kind.nq, kind.nv) for name, kind in KINDS.items() if kind.in_tree and kind.in_files
}


@dataclass(frozen=True)
class Limits:
    """Limits of a joint with one degree of freedom.

    Attributes
    ----------
    lower, upper : float [rad, m]
        Of its position.
    velocity : float [rad/s, m/s]
    effort : float [N m, N]

    Raises
    ------
    ShapeError
        If one of them is no number.

    Examples
    --------
    >>> import robodyn as rd
    >>> limits = rd.Limits(lower=-1.0, upper=1.0, effort=20.0)
    >>> limits.upper, limits.velocity
    (1.0, inf)
    """

    lower: float = -math.inf
    upper: float = math.inf
    velocity: float = math.inf
    effort: float = math.inf

    def __post_init__(self) -> None:
        check_fields(self)
        for name in ("lower", "upper", "velocity", "effort"):
            given = getattr(self, name)
            object.__setattr__(self, name, with_name(given, number(name, given)))


@dataclass(frozen=True)
class Mimic:
    """``q = multiplier * q_joint + offset``."""

    joint: str
    multiplier: float = 1.0
    offset: float = 0.0

    def __post_init__(self) -> None:
        check_fields(self)


@dataclass(frozen=True)
class Joint:
    """A joint between two links.

    Attributes
    ----------
    name : str
    kind : str
        A key of ``JOINT_KINDS``, or ``"map"``.
    parent, child : str
        Link names. The child link frame coincides with the joint frame.
    origin : Pose
        Joint frame in the parent link frame, at zero position.
    axis : (3,)
        Unit vector in joint axes (the normal of the plane for ``planar``).
    axis2 : (3,)
        Second axis of a ``universal`` joint, fixed in the child.
    pitch : float [m/rad]
        Advance of a ``helical`` joint.
    limits : Limits or None
    damping, friction : float
        Viscous [N m s/rad or N s/m] and dry [N m or N].
    mimic : Mimic or None
    independent : bool or None
        URDF+ ``joint@independent``; ``None`` where not written.
    extras : tuple of str
        Elements that robodyn does not interpret, as XML text.
    line : int or None
        Where it stands in the file; not part of equality.
    stiffness, rest : float
        Of a spring in a joint with one degree of freedom [N m/rad or N/m], and where it is
        relaxed [rad, m].
    map : robodyn.JointMap or None
        Of a joint of kind ``"map"``, and of no other.
    parameters : tuple of (str, float)
        Numbers that its kind has beside axes and pitch, by name.
    stop_stiffness, stop_damping : float
        Of stops at the limits of a joint with one degree of freedom, see `robodyn.CompliantStops`;
        no file has them.
    armature : float [kg m^2 or kg]
        Inertia that each speed of the joint feels beside that of the bodies, as of a rotor behind
        a high gear: it is added to the diagonal of the mass matrix. Of joints whose coordinates
        are the integrals of their speeds, and spherical ones.
    merged : tuple of str
        Hinges that it takes the place of; not part of equality.
    exact : Joint or None
        Has the origin and axes where rounded turns are exact, see
        `robodyn.description.with_exact_turns`, if they are not written but follow from poses of
        others; not part of equality.

    Examples
    --------
    >>> import robodyn as rd
    >>> joint = rd.Joint("hinge", "revolute", parent="base", child="bob", axis=(0, 1, 0))
    >>> joint.kind, joint.child
    ('revolute', 'bob')
    """

    name: str
    kind: str
    parent: str
    child: str
    origin: Pose = Pose()
    axis: Vector = (1.0, 0.0, 0.0)
    axis2: Vector = (0.0, 1.0, 0.0)
    pitch: float = 0.0
    limits: Limits | None = None
    damping: float = 0.0
    friction: float = 0.0
    mimic: Mimic | None = None
    independent: bool | None = None
    extras: tuple[str, ...] = ()
    line: int | None = field(default=None, compare=False)
    stiffness: float = 0.0
    rest: float = 0.0
    map: Any = None
    parameters: tuple[tuple[str, float], ...] = ()
    merged: tuple[str, ...] = field(default=(), compare=False)
    stop_stiffness: float = 0.0
    stop_damping: float = 0.0
    armature: float = 0.0
    exact: Joint | None = field(default=None, compare=False, repr=False)

    def __post_init__(self) -> None:
        check_fields(self)
        if self.map is not None and self.kind != joint_map.KIND.name:
            raise SettingsError(
                f"joint {self.name!r} is of kind {self.kind!r} and has the map {self.map!r}: only "
                f"joints of kind {joint_map.KIND.name!r} have one"
            )

    @property
    def nq(self) -> int:
        """Number of coordinates."""
        return int(self.map.n) if self.map is not None else joint_kind(self.kind).nq

    @property
    def nv(self) -> int:
        """Number of speeds."""
        return int(self.map.n) if self.map is not None else joint_kind(self.kind).nv

    @property
    def constants(self) -> dict[str, float]:
        """The numbers of its kind, by name: the pitch of a helical joint, say."""
        return constants_of(self)


@dataclass(frozen=True)
class Loop:
    """A joint that closes a loop: a frame on one link is joined to a frame on another.

    Attributes
    ----------
    name, kind : str
        The kind is one of `robodyn.joints.KINDS` that takes away some freedom, ``"distance"``
        included.
    predecessor, successor : str
        Link names.
    X_predecessor, X_successor : Pose
        The loop frame on each side, in the link frame.
    axis, axis2 : (3,)
        In loop axes.
    pitch : float [m/rad]
        For kind ``"helical"``: the way along the axis for an angle about it.
    distance : float [m]
        For kind ``"distance"``.
    damping, friction, stiffness, rest, armature : float
        As of a joint. With a spring, an armature or a motor, a link next to it is cut in two, so
        that it has a coordinate.
    limits : Limits or None
        As of a joint.
    parameters : tuple of (str, float)
        Numbers that its kind has beside axes, pitch and distance, by name.
    rejoins : str
        Of a weld of the two halves of a link that was cut in two: the joint that needed it.
    exact : Loop or None
        Has the frames and axes where rounded turns are exact, see
        `robodyn.description.with_exact_turns`, if they are not written but follow from poses of
        others; not part of equality.
    line : int or None
        In the file it was read from; not part of equality.

    Examples
    --------
    >>> import robodyn as rd
    >>> pin = rd.Loop("pin", "revolute", "coupler", "rocker", axis=(0, 1, 0))
    >>> pin.predecessor, pin.successor
    ('coupler', 'rocker')
    """

    name: str
    kind: str
    predecessor: str
    successor: str
    X_predecessor: Pose = Pose()
    X_successor: Pose = Pose()
    axis: Vector = (1.0, 0.0, 0.0)
    axis2: Vector = (0.0, 1.0, 0.0)
    pitch: float = 0.0
    distance: float = 0.0
    line: int | None = field(default=None, compare=False)
    damping: float = 0.0
    friction: float = 0.0
    parameters: tuple[tuple[str, float], ...] = ()
    limits: Limits | None = None
    stiffness: float = 0.0
    rest: float = 0.0
    rejoins: str = ""
    armature: float = 0.0
    exact: Loop | None = field(default=None, compare=False, repr=False)

    def __post_init__(self) -> None:
        check_fields(self)

    @property
    def constants(self) -> dict[str, float]:
        """The numbers of its kind, by name: the pitch of a helical joint, say."""
        return constants_of(self)


@dataclass(frozen=True)
class Coupling:
    """URDF+ coupling: successor speed over predecessor speed is ``ratio``.

    Attributes
    ----------
    name : str
    predecessor, successor : str
        Link names.
    ratio : float
    offset : float [rad, m]
        Position of the successor where that of the predecessor is zero.
    line : int or None
        In the file it was read from; not part of equality.

    Examples
    --------
    >>> import robodyn as rd
    >>> gear = rd.Coupling("gear", "upper", "lower", ratio=-2.0)
    >>> gear.predecessor, gear.successor, gear.ratio
    ('upper', 'lower', -2.0)
    """

    name: str
    predecessor: str
    successor: str
    ratio: float = 1.0
    offset: float = 0.0
    line: int | None = field(default=None, compare=False)

    def __post_init__(self) -> None:
        check_fields(self)


def shared_fields(item: Joint | Loop) -> dict[str, Any]:
    """Fields that joints and loops both have, of one from which the other is made."""
    both = {x.name for x in fields(Joint)} & {x.name for x in fields(Loop)} - {"exact"}
    return {name: getattr(item, name) for name in both}


def ends_of(item: Joint | Loop | Coupling) -> tuple[str, str]:
    """The links that it joins: parent and child, or predecessor and successor."""
    if isinstance(item, Joint):
        return item.parent, item.child
    return item.predecessor, item.successor


def poses_of(item: Joint | Loop) -> tuple[Pose, Pose]:
    """Its frame on each of these links; that of a joint on its child is the link frame."""
    if isinstance(item, Joint):
        return item.origin, Pose()
    return item.X_predecessor, item.X_successor
