"""Loops, which are joints between two links of a tree, and couplings of joints."""

from __future__ import annotations

from dataclasses import dataclass, field, fields
from typing import Any

from robodyn.arguments import check_fields
from robodyn.description.joint import Joint, Limits, constants_of
from robodyn.description.pose import Pose, Vector


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
