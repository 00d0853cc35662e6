"""Joints of a robot: names, coordinates, limits, and positions of joints beyond them."""

from __future__ import annotations

import math
import re
from collections.abc import Container, Iterable, Iterator, Mapping
from functools import cache, cached_property

import numpy as np
from numpy.typing import ArrayLike

from robodyn.array_types import Array, FloatArray
from robodyn.description import Joint, Limits, Loop, Mechanism
from robodyn.errors import UnknownNameError
from robodyn.joints import joint_kind
from robodyn.joints.common.kind import JointKind
from robodyn.model.configuration import Block
from robodyn.quick_dataclass import dataclass
from robodyn.tolerances import AT_LIMIT
from robodyn.topology.spanning_tree import SpanningTree


@dataclass(frozen=True)
class JointInfo:
    """A joint of a robot.

    q, v: Slices of its coordinates and speeds; empty for fixed joints, for joints that are cut, and
        for joints that mimic or follow others. `Robot.joint_positions` has the positions of all.
    parent, child: Link names.
    axis: In joint axes.
    merged: Hinges that it takes the place of.
    closure: For a joint that closes a loop, the name of the closure in `Robot.loops`: its own if it
        is cut, that of a weld if its child or parent is cut in two. Else empty.
    follows: Joints of which its position is a function: the one that it mimics, or those of a
        `robodyn.Follower` or `robodyn.ExplicitLoop`.
    """

    name: str
    type: str
    q: slice
    v: slice
    parent: str
    child: str
    limits: Limits | None
    axis: tuple[float, float, float]
    merged: tuple[str, ...] = ()
    closure: str = ""
    follows: tuple[str, ...] = ()

    @property
    def cut(self) -> bool:
        """Whether it is cut: it has no coordinates, as its position follows from other joints."""
        return self.closure == self.name

    @property
    def position_limits(self) -> tuple[float, float] | None:
        """Lower and upper limit of its position [rad, m]; ``None`` where there is no limit."""
        limits = self.limits
        if limits is None or not self.kind.limited or self.kind.nq != 1:
            return None
        bounds = limits.lower, limits.upper
        return bounds if any(map(math.isfinite, bounds)) else None

    @property
    def kind(self) -> JointKind:
        """Kind of the joint: the definition of its type."""
        return joint_kind(self.type)

    def __repr__(self) -> str:
        q, v = (f"{s.start}:{s.stop}" if s.stop > s.start else "" for s in (self.q, self.v))
        place = "cut" if self.cut else f"q[{q}], v[{v}]"
        return f"<JointInfo {self.name!r}: {self.type}, {self.parent} -> {self.child}, {place}>"


class Joints(Mapping[str, JointInfo]):
    """Joints by name, with suggestions for names that do not exist."""

    def __init__(self, joints: dict[str, JointInfo], robot: str) -> None:
        self._joints, self._robot = joints, robot

    def __getitem__(self, name: str) -> JointInfo:
        try:
            return self._joints[name]
        except (KeyError, TypeError):  # no name, or nothing that could be one
            known, where = tuple(self._joints), repr(self._robot)
            for ball, info in self._joints.items():
                if name in info.merged:
                    known, where = (ball,), f"{where}, where it is part of the ball {ball!r}"
            raise UnknownNameError("joint", name, known, where) from None

    @cached_property
    def coordinates_add(self) -> bool:
        """Whether coordinates are integrals of speeds, so that a displacement ``u`` is added."""
        moving = (joint for joint in self._joints.values() if joint.v.stop > joint.v.start)
        return all(joint.kind.coordinates.flat for joint in moving)

    def __repr__(self) -> str:
        return f"<Joints of {self._robot!r}: {', '.join(self._joints)}>"

    def __contains__(self, name: object) -> bool:
        return isinstance(name, str) and name in self._joints

    def __iter__(self) -> Iterator[str]:
        return iter(self._joints)

    def __len__(self) -> int:
        return len(self._joints)


def part_names(name: str, count: int, taken: Container[str]) -> list[str]:
    """Names of the coordinates or speeds of a joint: its own, or ``"joint[k]"`` of several.

    With brackets doubled where another joint has such a name, of those ``taken``.
    """
    if count == 1:
        return [name]
    opening, closing = "[", "]"
    while any(f"{name}{opening}{k}{closing}" in taken for k in range(count)):
        opening, closing = opening + "[", closing + "]"
    return [f"{name}{opening}{k}{closing}" for k in range(count)]


def part_of(name: str, joints: Mapping[str, JointInfo]) -> tuple[JointInfo, int] | None:
    """The joint and the number of a speed that is named ``"joint[k]"``; ``None`` of other names."""
    found = re.fullmatch(r"(.+?)(\[+)(\d+)\]+", name) if name not in joints else None
    if found is None or found[1] not in joints:
        return None
    joint = joints[found[1]]
    first = part_names(joint.name, max(joint.kind.nv, 2), joints)[0]
    meant = first.replace(f"{found[2]}0", f"{found[2]}{found[3]}")
    return (joint, int(found[3])) if name == meant else None


def names_of(
    mechanism: Mechanism, effective: Mechanism, tree: SpanningTree
) -> tuple[tuple[Block, ...], dict[str, JointInfo]]:
    """Coordinates of the joints that have some, and information on all joints and loops by name."""
    nq = nv = 0
    blocks, slices = [], {}
    for joint in tree.joints:
        if joint.independent:
            kind_nq, kind_nv = joint.joint.nq, joint.joint.nv
            q, v = slice(nq, nq + kind_nq), slice(nv, nv + kind_nv)
            nq, nv = q.stop, v.stop
            blocks.append(Block(joint_kind(joint.joint.kind), q, v))
            slices[joint.joint.name] = (q, v)
    empty = slice(0, 0)
    described = {joint.name: joint for joint in effective.joints}
    synthetic = [j.joint for j in tree.joints if described.get(j.joint.name) != j.joint]
    # as drawn: the equations may have the joint on half of a link
    drawn = {mover.name: mover for mover in mechanism.movers}
    closures = {
        cut.rejoins if isinstance(cut, Loop) and cut.rejoins else cut.name: cut.name
        for cut in tree.cuts
    }
    follows: dict[str, tuple[str, ...]] = {
        x.name: (x.mimic.joint,) for x in effective.joints if x.mimic is not None
    }
    follows |= {name: x.independent for x in effective.followers for name in x.dependent}
    infos = {
        mover.name: _info(
            drawn.get(mover.name, mover),
            *slices.get(mover.name, (empty, empty)),
            closures.get(mover.name, ""),
            follows.get(mover.name, ()),
        )
        for mover in (*synthetic, *effective.movers)
    }
    return tuple(blocks), infos


def _info(
    joint: Joint | Loop, q: slice, v: slice, closure: str, follows: tuple[str, ...]
) -> JointInfo:
    if isinstance(joint, Joint):
        ends, merged = (joint.parent, joint.child), joint.merged
    else:
        ends, merged = (joint.predecessor, joint.successor), ()
    return JointInfo(
        joint.name, joint.kind, q, v, *ends, joint.limits, joint.axis, merged, closure, follows
    )


def limits_of(
    joints: Iterable[JointInfo], nq: int, nv: int
) -> tuple[FloatArray, FloatArray, FloatArray, FloatArray]:
    """Lower and upper limits, shape (nq,), and those of velocities and efforts, shape (nv,)."""
    lower, upper = np.full(nq, -np.inf), np.full(nq, np.inf)
    velocity, effort = np.full(nv, np.inf), np.full(nv, np.inf)
    for joint in joints:
        limits = joint.limits
        if limits is not None:
            velocity[joint.v], effort[joint.v] = limits.velocity, limits.effort
            if joint.kind.limited and joint.kind.nq == 1:
                lower[joint.q], upper[joint.q] = limits.lower, limits.upper
    return lower, upper, velocity, effort


TURN = 2.0 * np.pi


def limit_excess(
    positions: Mapping[str, Array], joints: Mapping[str, JointInfo]
) -> dict[str, Array]:
    """Excess of the position of each joint with limits over them.

    positions (...) [rad, m]: As `Robot.joint_positions` gives them.
    joints: `Robot.joints`.
    Returns excess (...) [rad, m]: Positive above the upper limit, negative below the lower one,
        zero between them.
    """
    found = {}
    for name, position in positions.items():
        limits = joints[name].position_limits
        if limits is not None:
            found[name] = excess(np.asarray(position), *limits)
    return found


def excess(x: Array, lower: ArrayLike, upper: ArrayLike) -> Array:
    """How far positions are beyond limits: above positive, below negative, between them zero."""
    return np.asarray(np.maximum(x - upper, 0.0) + np.minimum(x - lower, 0.0))


def followed(position: Array, joint: JointInfo) -> Array:
    """Positions of a joint along a motion, without jumps by whole turns.

    The angle of a cut joint is computed from the posture, up to whole turns. The first angle is
    unchanged, and turns are added to the others so that they are continuous.

    position (n, ...) [rad, m]: At the instants of the motion, as `Robot.joint_positions` gives it.
    """
    return np.unwrap(position, axis=0) if joint.cut and joint.kind.is_pin else position


def nearest_turn(angle: Array, limits: tuple[float, float] | None) -> Array:
    """The same angle some whole turns away, shape (...) [rad].

    angle (...) [rad]
    limits: The angle comes within half a turn of the middle between them; within the turn next to
        the limit where there is one only, and stays at that limit where rounding has it beyond;
        within half a turn of zero where there is none.
    """
    middle = _middle(limits)
    if angle.ndim == 0 and math.isfinite(angle):  # numpy would take ten times as long
        return angle + TURN * round((middle - float(angle)) / TURN)
    return np.asarray(angle + TURN * np.round((middle - angle) / TURN))


@cache
def _middle(limits: tuple[float, float] | None) -> float:
    """Of the turn that angles are in [rad]."""
    lower, upper = limits or (-math.inf, math.inf)
    if math.isfinite(lower) and math.isfinite(upper):
        return 0.5 * (lower + upper)
    if math.isfinite(lower):
        return lower + 0.5 * TURN - AT_LIMIT
    if math.isfinite(upper):
        return upper - 0.5 * TURN + AT_LIMIT
    return 0.0
