"""Joints that close loops with frames whose axes point opposite ways.

The axis of a hinge can be written with either sign on each of its links. With opposite signs a
planar linkage closes in no posture, though nothing is wrong with it but a sign.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from typing import TypeVar

import numpy as np

from robodyn.array_types import Array
from robodyn.closed_loops.assembly.frame_displacements import ends
from robodyn.closed_loops.assembly.loop_geometry import LoopGeometry
from robodyn.description import Joint, Loop, Mechanism, Pose
from robodyn.description.written_digits import digits_of
from robodyn.joints import joint_kind
from robodyn.joints.common.described import align_z
from robodyn.tolerances import WRONG_FILE_GAP

#: Cosine of the angle between axes below which they point opposite ways.
OPPOSITE = -0.999

Found = TypeVar("Found")


def with_axes_turned(
    letter: LoopGeometry, q: Array, closed: Callable[[Mechanism], Found | None]
) -> tuple[Found, str] | None:
    """The linkage with joints taken half a turn round across their axes, and what is to be told.

    ``None`` if its loops do not close so.

    Loops that would close in another posture as they are written are left as they are, unless they
    are drawn closed but for these half turns.

    Positions of such a joint count about its axis on the predecessor; of a joint of the tree that
    is cut, about its axis on the child. Loops come nearest to closing at ``q``. ``closed`` makes
    the linkage of a description, if its loops close.
    """
    model = letter.model
    found_at = {cut.name: _half_turn(letter, q, cut) for cut in model.tree.cuts}
    turns = {name: T for name, T in found_at.values() if T is not None}
    if not turns:
        return None
    given, setup = model.mechanism, model.setup
    gaps = letter.position.residual(letter.space.start())
    opened = np.array(letter.of_positions)[np.abs(gaps) > WRONG_FILE_GAP]
    explained = [name for name, (_, T) in found_at.items() if T is not None]
    others = [
        k
        for k in opened
        if setup.row_words[k] != "rad" or setup.row_names[k].rpartition("[")[0] not in explained
    ]
    if others and closed(given) is not None:
        return None
    found = closed(
        dataclasses.replace(
            given,
            joints=tuple(_turned_joint(x, turns.get(x.name)) for x in given.joints),
            loops=tuple(_turned_loop(x, turns.get(x.name)) for x in given.loops),
            rounding=given.rounding or digits_of(given),
        )
    )
    if found is None:
        return None
    return found, _told([x for x in given.movers if x.name in turns])


def _half_turn(letter: LoopGeometry, q: Array, cut: Joint | Loop) -> tuple[str, Array | None]:
    """Name of a joint that closes a loop, and half a turn (4, 4) in its frame if it needs one."""
    weld = isinstance(cut, Loop) and bool(cut.rejoins)
    name = cut.rejoins if isinstance(cut, Loop) and cut.rejoins else cut.name
    mover = next(x for x in letter.model.mechanism.movers if x.name == name)
    kind = joint_kind(mover.kind)
    if len(kind.axes) != 1 or kind.cut is None or kind.cut.gap is None:
        return name, None
    X_WF, X_WG = (letter.pose(q, link) @ X for link, X in ends(cut))
    Z = align_z(np.array(mover.axis))
    R = X_WF[:3, :3].T @ X_WG[:3, :3]
    if weld:  # as the joint itself sees it, in its own axes
        link, X = ends(mover)[0]
        R_F = X_WF[:3, :3].T @ (letter.pose(q, link) @ X)[:3, :3]
        R = R_F.T @ R @ R_F
    R = Z.T @ R @ Z
    if R[2, 2] > OPPOSITE:
        return name, None
    half = 0.5 * float(np.arctan2(R[1, 0], R[0, 0]))
    if kind.turns:  # its angle counts from where the frames have x in common, or y
        half = 0.0 if abs(half) <= 0.25 * np.pi else 0.5 * np.pi
    across = Z @ [np.cos(half), np.sin(half), 0.0]
    T = np.eye(4)
    T[:3, :3] = 2.0 * np.outer(across, across) - np.eye(3)
    return name, T


def _turned_joint(joint: Joint, T: Array | None) -> Joint:
    if T is None:
        return joint
    exact, origin = joint.exact, Pose.from_matrix(joint.origin.matrix @ T)
    return dataclasses.replace(joint, origin=origin, exact=exact and _turned_joint(exact, T))


def _turned_loop(loop: Loop, T: Array | None) -> Loop:
    if T is None:
        return loop
    exact, X = loop.exact, Pose.from_matrix(loop.X_successor.matrix @ T)
    return dataclasses.replace(loop, X_successor=X, exact=exact and _turned_loop(exact, T))


def _told(movers: list[Joint | Loop]) -> str:
    places = "; ".join(
        f"of {x.name!r} count about its axis on {x.predecessor!r} (turn its frame on "
        f"{x.successor!r})"
        if isinstance(x, Loop)
        else f"of {x.name!r} count about its axis on {x.child!r} (turn its origin)"
        for x in movers
    )
    return (
        "axes of joints that close loops point opposite ways on the two links: each joint is taken "
        f"half a turn round, and positions {places}. With the frame that is named turned by half a "
        "turn across the axis the file says so itself"
    )
