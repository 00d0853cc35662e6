"""The type of a joint kind, and what a joint of any kind is before and while it moves.

A joint moves a child frame B in a joint frame J. A kind is one `JointKind`, a constant ``KIND`` in
a file of its own: all that the rest of robodyn knows about the kind stands there.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import field
from typing import Any, Literal

from robodyn.joints.common.coordinates import FLAT, Coordinates
from robodyn.joints.common.cut import Cut
from robodyn.quick_dataclass import dataclass
from robodyn.symbolic.plane import Planar
from robodyn.symbolic.scalar import Number, cos, sin
from robodyn.symbolic.spatial import Placement, Twist
from robodyn.symbolic.vector import Rotation


@dataclass(frozen=True)
class Parameter:
    """A number that joints of a kind have, beside their axes.

    name: In files, ``<name value="..."/>``.
    unit: In words, for messages.
    positive: Why it must be positive; empty where it may have any sign.
    spellings: Elements of other formats, with the number in their text, and what it is divided by.
    """

    name: str
    unit: str
    positive: str = ""
    spellings: tuple[tuple[str, float], ...] = ()


@dataclass(frozen=True, eq=False)
class Part:
    """One turn about z, or slide along z, of a joint that is a chain of them.

    before: From the end of the part before it; of the first one, from the parent's frame.
    freedom: Which speed of the joint it is.
    turning: It turns; else it slides.
    sign: -1: the other way round.
    """

    before: Placement
    freedom: int
    turning: bool
    sign: float = 1.0


@dataclass(frozen=True, eq=False)
class TimeDependence:
    """Motion of a rheonomic joint that time alone makes, whatever its speeds are.

    V: Twist of B when all speeds are zero, in B.
    rate: Its rate, in B.
    """

    V: Twist
    rate: Twist


class JointState:
    """A joint at a state: where it is and how it can move.

    X: Pose of B: in J as a kind gives it, in the parent's frame as `evaluate` gives it.
    S: Motion subspace: twist of B for unit speeds, in B.
    dS: Rate of each column, in B.
    drift: Of a joint that depends on time.
    """

    __slots__ = ("S", "X", "dS", "drift")

    def __init__(
        self,
        X: Placement,
        S: list[Twist],
        dS: list[Twist] | None = None,
        drift: TimeDependence | None = None,
    ) -> None:
        self.X, self.S, self.drift = X, S, drift
        self.dS = [Twist()] * len(S) if dS is None else dS

    def reversed(self, v: Sequence[Number]) -> JointState:
        """The same joint seen from the other side."""
        V = sum((s * x for s, x in zip(self.S, v, strict=True)), Twist())
        V = V + self.drift.V if self.drift else V

        def seen(s: Twist, ds: Twist) -> tuple[Twist, Twist]:
            return -self.X.twist_out(s), -self.X.twist_out(V.cross(s) + ds)

        pairs = [seen(s, ds) for s, ds in zip(self.S, self.dS, strict=True)]
        drift = TimeDependence(*seen(self.drift.V, self.drift.rate)) if self.drift else None
        return JointState(self.X.inverse, [s for s, _ in pairs], [ds for _, ds in pairs], drift)


@dataclass(frozen=True, eq=False)
class JointGeometry:
    """What is known of a joint before it moves.

    X_PJ: Joint frame in the parent's frame.
    offset [rad]: Added to the angle of an axial joint; `turn` does it.
    constants: The parameters of the kind.
    R_J1, R_J2: Turn z to the first and second axis, of a kind whose frames are the author's.
    reversed: The joint's own direction is from B to J (not of axial kinds: their axis is flipped).
    map: Of a joint that its user made; one that depends on time gets it after its coordinates.
    """

    kind: JointKind
    X_PJ: Placement = Placement()
    offset: float = 0.0
    constants: Mapping[str, float] = field(default_factory=dict)
    R_J1: Rotation = Rotation()
    R_J2: Rotation = Rotation()
    reversed: bool = False
    map: Any = None

    @property
    def rheonomic(self) -> bool:
        """It depends on time."""
        return self.map is not None and bool(self.map.rheonomic)

    def turn(self, angle: Number) -> Planar:
        """Cosine and sine of an angle plus the offset; quarter turns of the offset cost nothing."""
        quarters = round(self.offset / (0.5 * math.pi))
        rest = self.offset - quarters * (0.5 * math.pi)
        whole = angle + (rest if abs(rest) > 1e-14 else 0.0)
        place = Planar(cos(whole), sin(whole))
        for _ in range(quarters % 4):
            place = place.left
        return place


Numbers = Sequence[Number]


@dataclass(frozen=True, eq=False)
class JointKind:
    """A kind of joint: all that is particular to it.

    name: As `Joint.kind` has it, and as files are written.
    nq, nv: Number of coordinates and of speeds (of a map its own number counts instead). A joint
        that is cut gives ``6 - nv`` constraints.
    state, optional: ``geometry, q, v -> JointState``: pose of B in J, motion subspace and its rate.
        None of a kind that only closes loops.
    turning: Of a kind whose degrees of freedom are turns about and slides along an axis, one after
        the other: which of them turn. It has ``state_at`` instead of ``state``.
    state_at, optional: The same as ``state``, from a `Planar` for each degree of freedom: cosine
        and sine of the angle, offset included, or displacement and zero.
    parts, optional: ``geometry -> parts, after``: such a joint as a chain of parts, and the frame B
        after the last. Left out: all parts share the axis z.
    frames {"axial", "aligned", "described"}: Which frames J and B are. ``"axial"``: z is the axis,
        about and along which everything moves; the frames may be turned about and shifted along it,
        and the angle of a joint that turns gets an offset (`JointGeometry.turn`). ``"aligned"``:
        those of the description, turned the shortest way so that z is the axis. ``"described"``:
        those of the description; axes are ``R_J1`` and ``R_J2`` times z.
    axes: Axes that the description gives: none, ``("axis",)`` or ``("axis", "axis2")``.
    units: Of each speed, ``"rad"`` or ``"m"``; the last holds for the rest.
    unmoved: Which of the directions x, y, z (0, 1, 2) and the origin (3) of J the joint leaves as
        they are. Mass that the joint does not move may be counted on either body.
    limited: A joint with one coordinate may have limits of it.
    in_files: Files may have it, as a joint of the tree or of a loop.
    words: What files call it beside its name.
    free_turn: It turns about its axis, whatever else it does.
    cut, optional: Its constraints where it is cut; without them it cannot close a loop.
    orientation, optional: ``q -> R_JB`` of a kind whose speeds are the twist of B: along the axes
        of J its friction acts, and an armature is felt as a mass is.
    """

    name: str
    nq: int
    nv: int
    state: Callable[[JointGeometry, Numbers, Numbers], JointState] | None = None
    turning: tuple[bool, ...] = ()
    state_at: Callable[[JointGeometry, Sequence[Planar], Numbers], JointState] | None = None
    parts: Callable[[JointGeometry], tuple[list[Part], Placement]] | None = None
    frames: Literal["axial", "aligned", "described"] = "described"
    axes: tuple[str, ...] = ()
    parameters: tuple[Parameter, ...] = ()
    units: tuple[str, ...] = ("rad",)
    unmoved: tuple[int, ...] = ()
    coordinates: Coordinates = FLAT
    limited: bool = True
    in_files: bool = True
    words: tuple[str, ...] = ()
    free_turn: bool = False
    cut: Cut | None = None
    orientation: Callable[[Numbers], Rotation] | None = None

    def __post_init__(self) -> None:
        """Refuse a kind that contradicts itself."""
        problems = {
            "state and state_at are both given": self.state is not None and self.state_at,
            "state_at goes with turning, one entry a speed": bool(self.state_at)
            != bool(self.turning)
            or len(self.turning) not in (0, self.nv),
            "coordinates that add are as many as speeds": self.in_tree
            and self.coordinates.flat
            and self.nq != self.nv,
            "one turn or slide, or several without parts, are along the axis of axial frames": (
                bool(self.turning) and not self.axial and (self.parts is None or self.nv == 1)
            ),
            "coordinates need a position where the joint is cut": bool(
                self.in_tree and self.nq and self.cut is not None and self.cut.position is None
            ),
            "frames that follow an axis need one": self.frames != "described" and not self.axes,
            "axes are axis, then axis2": self.axes != ("axis", "axis2")[: len(self.axes)],
        }
        for problem, found in problems.items():
            if found:
                raise ValueError(f"joint kind {self.name!r}: {problem}")

    def __str__(self) -> str:
        return self.name

    def __repr__(self) -> str:
        return f"<JointKind {self.name!r}>"

    @property
    def in_tree(self) -> bool:
        """It can move a body; else it only closes loops."""
        return self.state is not None or self.state_at is not None

    @property
    def closes_loops(self) -> bool:
        """It takes away some degree of freedom where it is cut."""
        return self.cut is not None and self.nv < 6

    @property
    def count(self) -> int:
        """Number of constraints where it is cut."""
        return 6 - self.nv

    @property
    def axial(self) -> bool:
        """Everything moves about and along one axis."""
        return self.frames == "axial"

    @property
    def turns(self) -> bool:
        """Something turns: the joint does not leave all directions as they are."""
        return not {0, 1, 2} <= set(self.unmoved)

    @property
    def is_pin(self) -> bool:
        """One turn about an axis."""
        return self.turning == (True,)

    @property
    def is_slider(self) -> bool:
        """One slide along an axis."""
        return self.turning == (False,)

    @property
    def is_free(self) -> bool:
        """The child may move in every way: the joint joins nothing."""
        return self.nv == 6

    def unit(self, speed: int) -> str:
        """Unit of one of the coordinates that speeds move: ``"rad"``, ``"m"`` or ``""``."""
        return self.units[min(speed, len(self.units) - 1)]
