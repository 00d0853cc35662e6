"""Rounded angles of a file taken as exact ones: in a loop, ``1.5708`` is a quarter turn.

A linkage moves only if axes are parallel that are meant to be. So in loops an angle that is a
quarter of a turn, or a multiple of it, to the digits it is written with, is taken for that, and so
are multiples of 15 degrees with four decimals or more. An axis such as ``0.866 0.5 0`` is taken for
the direction that it is to its digits. Elsewhere every digit counts.
"""

from __future__ import annotations

import dataclasses
import math
from dataclasses import dataclass
from typing import Any

from robodyn.description.joint import Joint, Loop, ends_of, poses_of
from robodyn.description.mechanism import Mechanism
from robodyn.description.pose import Pose, Vector
from robodyn.symbolic.symbol import named_again
from robodyn.tolerances import DECIMAL_ROUNDING

#: Fifteen degrees: the angles looked for are multiples of it.
STEP = math.pi / 12.0

#: Decimals that a multiple of a quarter turn, and one of 15 degrees, has at least.
QUARTER, OTHER = 2, 4

#: Decimals of a number that may have been rounded; those with more are written in full.
MAX_DECIMALS = 13


@dataclass(frozen=True)
class ExactTurn:
    """A number of a description that was taken for an exact one.

    mover: As written.
    written, meant: An angle [rad], or a unit vector.
    """

    mover: Joint | Loop
    written: float | Vector
    meant: float | Vector


def exact_angle(x: float) -> float:
    """The multiple of 15 degrees that an angle [rad] is to its digits; else the angle."""
    count = round(x / STEP) if abs(x) < 100.0 else 0
    exact = math.pi * count / 12.0
    if not count or not DECIMAL_ROUNDING < abs(x - exact) < 0.5 * 10.0**-QUARTER:
        return x
    least = OTHER if count % 6 else QUARTER
    # rounded itself, or a multiple or a part of a rounded half turn
    if _rounded(x, exact, least) or _rounded(x * 12.0 / count, math.pi, least):
        return named_again(x, exact)
    return x


def _rounded(x: float, exact: float, least: int) -> bool:
    """Whether x is another number with so many decimals at least, rounded or cut off."""
    counts = range(MAX_DECIMALS + 1)
    known = (n for n in counts if abs(x - round(x, n)) < DECIMAL_ROUNDING)
    decimals = next(known, MAX_DECIMALS + 1)
    if decimals > MAX_DECIMALS:
        return abs(x - exact) < 10.0**-MAX_DECIMALS
    cut = math.trunc(exact * 10.0**decimals) / 10.0**decimals
    near = min(abs(x - round(exact, decimals)), abs(x - cut))
    return decimals >= least and near < DECIMAL_ROUNDING


def exact_axis(axis: Vector) -> Vector:
    """The axis at 30 or 60 degrees to two of the frame that a unit vector is to its digits."""
    small = [k for k in range(3) if axis[k] == 0.0]
    if len(small) != 1:
        return axis
    i, j = (k for k in range(3) if k != small[0])
    angle = math.atan2(axis[j], axis[i])
    turn = round(angle / STEP) * STEP
    exact = math.cos(turn), math.sin(turn)
    if math.hypot(axis[i] - exact[0], axis[j] - exact[1]) < DECIMAL_ROUNDING:
        return axis
    for decimals in range(2, MAX_DECIMALS):
        shown = [round(x, decimals) for x in exact]
        cut = [math.trunc(x * 10.0**decimals) / 10.0**decimals for x in exact]
        for x, y in (shown, cut):
            size = math.hypot(x, y)
            if math.hypot(axis[i] - x / size, axis[j] - y / size) < DECIMAL_ROUNDING:
                meant = [0.0, 0.0, 0.0]
                meant[i], meant[j] = exact
                return meant[0], meant[1], meant[2]
    return axis


def exact_pose(X: Pose) -> Pose:
    """A pose whose angles are exact turns where they are to their digits."""
    roll, pitch, yaw = map(exact_angle, X.rpy)
    return Pose(X.xyz, (roll, pitch, yaw))


def with_exact_turns(mechanism: Mechanism) -> tuple[Mechanism, tuple[ExactTurn, ...]]:
    """A mechanism in whose loops rounded turns are exact, and what was changed for that."""
    changed: list[ExactTurn] = []
    new: dict[str, Any] = {}
    for mover in on_loops(mechanism):
        new[mover.name] = exact = _with_exact(mover)
        # angles and axes that are other ones now
        pairs: list[tuple[float | Vector, float | Vector]] = []
        for before, after in zip(poses_of(mover), poses_of(exact), strict=True):
            pairs += zip(before.rpy, after.rpy, strict=True)
        pairs += [(mover.axis, exact.axis), (mover.axis2, exact.axis2)]
        changed += [ExactTurn(mover, x, y) for x, y in pairs if x != y]
    if not changed:
        return mechanism, ()
    return dataclasses.replace(
        mechanism,
        joints=tuple(new.get(joint.name, joint) for joint in mechanism.joints),
        loops=tuple(new.get(loop.name, loop) for loop in mechanism.loops),
    ), tuple(changed)


def _with_exact(mover: Joint | Loop) -> Joint | Loop:
    poses = ("origin",) if isinstance(mover, Joint) else ("X_predecessor", "X_successor")
    own, axes = mover.exact, ("axis", "axis2")
    new: dict[str, Any] = {
        name: exact_pose(getattr(mover, name)) if own is None else getattr(own, name)
        for name in poses
    }
    new |= {
        name: exact_axis(getattr(mover, name)) if own is None else getattr(own, name)
        for name in axes
    }
    return dataclasses.replace(mover, **new)


# -- the graph ------------------------------------------------------------------------------------


def on_loops(mechanism: Mechanism) -> list[Joint | Loop]:
    """Joints and loops by which one can go round and come back to the link one came from."""
    above, depth, extra = _forest(mechanism)
    found: set[str] = set()
    for mover in extra:
        found.add(mover.name)
        ends = list(ends_of(mover))
        while ends[0] != ends[1]:  # climb from both links to where their ways meet
            k = 0 if depth[ends[0]] >= depth[ends[1]] else 1
            ends[k], step = above[ends[k]]
            found.add(step.name)
    return [mover for mover in mechanism.movers if mover.name in found]


def _forest(
    mechanism: Mechanism,
) -> tuple[dict[str, tuple[str, Joint | Loop]], dict[str, int], list[Joint | Loop]]:
    """Of each link the one before it and what joins them, how deep it is, and what is left over."""
    beside: dict[str, list[tuple[str, Joint | Loop]]] = {}
    for mover in mechanism.movers:
        one, other = ends_of(mover)
        beside.setdefault(one, []).append((other, mover))
        beside.setdefault(other, []).append((one, mover))
    above: dict[str, tuple[str, Joint | Loop]] = {}
    depth: dict[str, int] = {}
    used: set[str] = set()
    for first in beside:
        if first in depth:
            continue
        depth[first], links = 0, [first]
        for link in links:  # grows
            for other, mover in beside[link]:
                if other not in depth:
                    above[other], depth[other] = (link, mover), depth[link] + 1
                    used.add(mover.name)
                    links.append(other)
    return above, depth, [mover for mover in mechanism.movers if mover.name not in used]
