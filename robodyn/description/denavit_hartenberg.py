"""Tables of Denavit and Hartenberg: a serial arm described by four numbers a joint, and back.

In the standard convention, frame ``i`` stands behind joint ``i``, and

    X_{i-1,i} = Rz(theta_i) Tz(d_i) Tx(a_i) Rx(alpha_i)    (Paul 1981; Siciliano et al. 2009, 2.8);

in the modified one it stands on the axis of joint ``i``, and

    X_{i-1,i} = Rx(alpha_i) Tx(a_i) Rz(theta_i) Tz(d_i)    (Craig 2005, 3.4).
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

import numpy as np

from robodyn.arguments import checked_arguments
from robodyn.array_types import FloatArray
from robodyn.arrays import mismatch, number
from robodyn.description.joint import Joint
from robodyn.description.link import Inertia, Link
from robodyn.description.mechanism import Mechanism
from robodyn.description.pose import Pose, inverse_pose
from robodyn.errors import ShapeError, TopologyError, UnknownNameError
from robodyn.joints import continuous, fixed, prismatic, revolute
from robodyn.literals import DHConvention
from robodyn.tolerances import ALMOST_PARALLEL, MATRIX_ROUNDING

#: Kinds of joints of a table.
DH_KINDS = (revolute.KIND.name, prismatic.KIND.name)


class DHTable(NamedTuple):
    """A serial arm as a table of Denavit and Hartenberg.

    Attributes
    ----------
    rows : tuple of (theta, d, a, alpha, kind) [rad, m, m, rad]
        At zero position.
    X_W0 : ndarray, shape (4, 4) [1, m]
        Frame 0 of the table in the world.
    X_nT : ndarray, shape (4, 4) [1, m]
        The last link in the last frame of the table.
    """

    rows: tuple[tuple[float, float, float, float, str], ...]
    X_W0: FloatArray
    X_nT: FloatArray


def arm_of_table(
    rows: Iterable[Sequence[Any]],
    convention: DHConvention,
    inertias: Iterable[Inertia | None] | None,
    name: str,
) -> Mechanism:
    """The description of a serial arm; see `robodyn.from_dh`."""
    table = [_row(i, row) for i, row in enumerate(rows)]
    bodies = [None] * len(table) if inertias is None else list(inertias)
    if not table or len(bodies) != len(table):
        raise ShapeError(
            f"rows has {len(table)} rows and inertias {len(bodies)} bodies, expected one body a "
            "row, and one row at least",
            name="inertias",
        )
    links, joints = [Link("link0")], []
    for i, ((theta, d, a, alpha, kind), inertia) in enumerate(zip(table, bodies, strict=True), 1):
        across = Pose((a, 0.0, 0.0), (alpha, 0.0, 0.0))
        along = Pose((0.0, 0.0, d), (0.0, 0.0, theta))
        before, between, after = f"link{i - 1}", f"link{i}_axis", f"link{i}"
        moving = (f"joint{i}", kind)
        steps = [(*moving, along), (f"{after}_fixed", fixed.KIND.name, across)]
        if convention == "modified":
            steps.reverse()
        ends = ((before, between), (between, after))
        for (joint, of, pose), (parent, child) in zip(steps, ends, strict=True):
            joints.append(Joint(joint, of, parent, child, origin=pose, axis=(0.0, 0.0, 1.0)))
        links += [Link(between), Link(after, inertia)]
    return Mechanism(name, tuple(links), tuple(joints))


def _row(i: int, row: Sequence[Any]) -> tuple[Any, Any, Any, Any, str]:
    """Four numbers and the kind of a joint, ``"revolute"`` where none is given."""
    given = tuple(row)
    *values, kind = given if len(given) == 5 else (*given, DH_KINDS[0])
    if len(values) != 4 or kind not in DH_KINDS:
        raise mismatch(
            f"rows[{i}]",
            given,
            "(theta, d, a, alpha) or (theta, d, a, alpha, kind) with the kind "
            f"{' or '.join(map(repr, DH_KINDS))}",
            f"rows[{i}]",
        )
    for letter, value in zip(("theta", "d", "a", "alpha"), values, strict=True):
        if not math.isfinite(number(f"{letter} of rows[{i}]", value)):
            raise mismatch(f"{letter} of rows[{i}]", value, "a finite number")
    theta, d, a, alpha = values
    return theta, d, a, alpha, kind


@checked_arguments
def table_of_arm(mechanism: Mechanism, convention: DHConvention, tip: str | None) -> DHTable:
    """The table of the chain of joints from the root to a link; see `Robot.dh_table`."""
    axes, X_WT = _chain(mechanism, _tip(mechanism) if tip is None else tip)
    X_WJ = [X for _, X in axes]
    if convention == "standard":
        rows, X_W0, X_nT = _table(X_WJ, X_WT)
    else:  # each transform is the inverse of a standard one, seen from the tip
        X_TW = inverse_pose(X_WT)
        backward, X_Tn, X_0W = _table([X_TW @ X for X in X_WJ[::-1]], X_TW)
        rows, X_W0, X_nT = -backward[::-1], inverse_pose(X_0W), inverse_pose(X_Tn)
    rows[np.abs(rows) < MATRIX_ROUNDING] = 0.0
    kinds = [kind for kind, _ in axes]
    named = [(*row, kind) for row, kind in zip(rows.tolist(), kinds, strict=True)]
    return DHTable(tuple(named), X_W0, X_nT)


def _tip(mechanism: Mechanism) -> str:
    """The only link that carries no other."""
    parents = {joint.parent for joint in mechanism.joints}
    leaves = [link.name for link in mechanism.links if link.name not in parents]
    if len(leaves) == 1:
        return leaves[0]
    raise TopologyError(
        f"{mechanism.name!r} has the last links {', '.join(map(repr, leaves))}, and a table has "
        "one: give tip="
    )


def _chain(mechanism: Mechanism, tip: str) -> tuple[list[tuple[str, FloatArray]], FloatArray]:
    """Kind and ``X_WJ`` of the joints to a link, z along their axes, and ``X_WT`` of the link."""
    if tip not in (names := [link.name for link in mechanism.links]):
        raise UnknownNameError("link", tip, names, mechanism.name)
    if mechanism.loops:
        raise TopologyError(
            f"{mechanism.name!r} has the loop {mechanism.loops[0].name!r}: a table has serial arms "
            "alone"
        )
    carriers: dict[str, list[Joint]] = {}
    for joint in mechanism.joints:
        carriers.setdefault(joint.child, []).append(joint)
    chain: list[Joint] = []
    while found := carriers.get(chain[-1].parent if chain else tip):
        if len(found) > 1 or len(chain) > len(mechanism.joints):
            raise TopologyError(
                f"link {found[0].child!r} is in a loop: a table has serial arms alone"
            )
        chain += found
    axes, X_WB = [], np.eye(4)
    for joint in reversed(chain):
        kind = DH_KINDS[0] if joint.kind == continuous.KIND.name else joint.kind
        X_WB = X_WB @ joint.origin.matrix
        if kind != fixed.KIND.name:
            if kind not in DH_KINDS or joint.mimic is not None:
                raise TopologyError(
                    f"joint {joint.name!r} is of kind {joint.kind!r}"
                    + (" and follows another one" if joint.mimic is not None else "")
                    + f": a table has {' and '.join(DH_KINDS)} joints alone",
                    **mechanism.where(joint),
                )
            X_BJ = np.eye(4)
            X_BJ[:3, :3] = _turned(np.eye(3), np.array(joint.axis) / np.linalg.norm(joint.axis))
            axes.append((kind, X_WB @ X_BJ))
    if not axes:
        raise TopologyError(f"no joint moves link {tip!r}: there is no table")
    return axes, X_WB


def _turned(R: FloatArray, z: FloatArray) -> FloatArray:
    """Axes with another z, and an x as near to the old one as it can be."""
    x = next(x for x in R.T if np.linalg.norm(np.cross(z, x)) > 0.5)
    x = x - (x @ z) * z
    x /= np.linalg.norm(x)
    return np.stack([x, np.cross(z, x), z], axis=1)


def _table(
    X_WJ: Sequence[FloatArray], X_WT: FloatArray
) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Rows of the standard convention, shape (n, 4), ``X_W0`` and ``X_nT``.

    Each x axis lies on the common normal of its z axis and the one before.
    """
    X_WF = np.eye(4)  # frame 0 stands on the first axis, where this is nearest to the world's frame
    axis = X_WJ[0][:3, 2]
    X_WF[:3, :3] = _turned(np.eye(3), axis)
    X_WF[:3, 3] = X_WJ[0][:3, 3] - (X_WJ[0][:3, 3] @ axis) * axis
    X_W0, rows = X_WF, []
    for X in (*X_WJ[1:], X_WT):
        X_F = inverse_pose(X_WF)
        X_WF = _next_frame(X_WF, X, X is X_WT)
        X_F = X_F @ X_WF
        theta, alpha = math.atan2(X_F[1, 0], X_F[0, 0]), math.atan2(X_F[2, 1], X_F[2, 2])
        a = X_F[0, 3] * math.cos(theta) + X_F[1, 3] * math.sin(theta)
        rows.append((theta, X_F[2, 3], a, alpha))
    return np.array(rows), X_W0, inverse_pose(X_WF) @ X_WT


def _next_frame(X_WF: FloatArray, X_WG: FloatArray, last: bool) -> FloatArray:
    """The frame on the z axis of G whose x axis is on the common normal with the z axis of F.

    last: G is the tip, at which it stands where the common normal may be anywhere.
    """
    p, z, q, w = X_WF[:3, 3], X_WF[:3, 2], X_WG[:3, 3], X_WG[:3, 2]
    normal = np.cross(z, w)
    sine = np.linalg.norm(normal)
    if parallel := bool(sine < ALMOST_PARALLEL**2):
        start, foot = (p + ((q - p) @ z) * z, q) if last else (p, q - ((q - p) @ w) * w)
    else:  # both feet of the common normal: p + s z and q + t w
        s = np.cross(q - p, w) @ normal / sine**2
        t = np.cross(q - p, z) @ normal / sine**2
        start, foot = p + s * z, q + t * w
    across = foot - start
    length, scale = np.linalg.norm(across), 1.0 + np.linalg.norm(q - p)
    if not parallel:
        x = normal / sine
        apart = across @ x
        x *= math.copysign(1.0, apart if abs(apart) > MATRIX_ROUNDING * scale else x @ X_WF[:3, 0])
    elif length > MATRIX_ROUNDING * scale:
        x = across / length
    else:
        x = (X_WG if last else X_WF)[:3, 0]
    found = np.eye(4)
    found[:3] = np.stack([x, np.cross(w, x), w, foot], axis=1)
    return found
