"""Small displacements of joint frames: what they do to loops, and descriptions with them.

A joint F-G joins frame F on its parent link to frame G on its child link. A displacement of F by a
small motion (way and rotation vector, in the axes of F) moves everything on the child's side of the
joint. One of G moves everything beyond G. Both sides are needed: a link in the middle of a loop is
the child of two joints as often as the parent of two.
"""

from __future__ import annotations

import dataclasses
import itertools
from collections.abc import Iterable
from functools import cached_property

import numpy as np

from robodyn.array_types import Array
from robodyn.description import Joint, Loop, Mechanism, Pose
from robodyn.description.pose import Vector
from robodyn.equations.loops.closure_rows import Closure
from robodyn.joints import joint_kind
from robodyn.joints.common.cut import RelativeMotion
from robodyn.joints.common.described import align_z
from robodyn.model.model import Model
from robodyn.quick_dataclass import dataclass
from robodyn.symbolic.spatial import Placement
from robodyn.symbolic.symbol import named_again
from robodyn.symbolic.vector import EX, EY, EZ, Mat3, Rotation, Vec3

Mover = Joint | Loop


@dataclass(frozen=True)
class _Side:
    """One of the two frames of a joint that may be displaced.

    What lies beyond it in the tree moves with it if ``away``; else it moves the other way, as the
    frame is displaced on the link that carries it.
    """

    mover: str
    on_child: bool  # frame G, else F
    columns: slice  # of all displacements: six, or the three of rotations
    place: int  # of the frame among those that are placed
    away: bool


@dataclass(frozen=True)
class _Cut:
    """A joint that closes loops."""

    closure: Closure
    rows: slice
    signs: dict[int, float]  # by joint of the tree: whether what lies beyond moves the successor
    place: int  # of its frame F, turned so that its axis is z; G comes next


class FrameDisplacements:
    """Displacements of all frames of joints in loops, as one vector.

    Lengths are parts of the longest link.

    size: How many numbers they have.
    links: Those whose poses `slopes` takes.
    """

    def __init__(self, model: Model) -> None:
        self._model = model
        self.links: list[str] = []
        self._placed: list[tuple[int, Array]] = []  # frames: the link, and the pose on it (4, 4)
        self._cuts = self._of_cuts()
        self._sides: dict[int, list[_Side]] = {}
        self._own: dict[str, list[_Side]] = {}
        self.size = 0
        self._add_sides()

    def _of_cuts(self) -> list[_Cut]:
        tree, names = self._model.tree, self._model.setup.row_names
        above: list[set[int]] = []
        for k, joint in enumerate(tree.joints):
            above.append({k} | (above[joint.parent] if joint.parent >= 0 else set()))
        above.append(set())  # of the base, which is body -1
        owners = [name.rpartition("[")[0] for name in names]
        closures = {closure.name: closure for closure in self._model.setup.closures}
        found = []
        for cut in tree.cuts:
            if cut.name not in closures:
                continue
            closure = closures[cut.name]
            first = owners.index(cut.name)
            over, under = above[closure.successor], above[closure.predecessor]
            signs = dict.fromkeys(over - under, 1.0) | dict.fromkeys(under - over, -1.0)
            signs = {k: -x if tree.joints[k].reversed else x for k, x in signs.items()}
            R_UG = np.eye(4)
            if joint_kind(cut.kind).axes:
                R_UG[:3, :3] = align_z(np.array(cut.axis))
            place = len(self._placed)
            for link, X in ends(cut):
                self._place(link, X @ R_UG)
            rows = slice(first, first + owners.count(cut.name))
            found.append(_Cut(closure, rows, signs, place))
        return found

    def _place(self, link: str, X: Array) -> int:
        if link not in self.links:
            self.links.append(link)
        self._placed.append((self.links.index(link), X))
        return len(self._placed) - 1

    def _add_sides(self) -> None:
        """Sides of the joints on the way round each loop, and of those that close it."""
        known = {mover.name: mover for mover in self._model.mechanism.movers}
        tree, frames = self._model.tree, self._model.bodies.frames
        for k in sorted({k for cut in self._cuts for k in cut.signs}):
            joint = tree.joints[k].joint
            if joint.name in known and {joint.parent, joint.child} <= {*frames}:
                self._sides[k] = self._of(known[joint.name], joint)
        for cut in tree.cuts:
            if cut.name in known and any(cut.name == one.closure.name for one in self._cuts):
                self._own[cut.name] = self._of(known[cut.name], cut)

    def _of(self, mover: Mover, placed: Mover) -> list[_Side]:
        (parent, X_F), (child, X_G) = ends(placed)
        sides = [self._side(mover, False, 6, parent, X_F)]
        if isinstance(mover, Loop):
            sides.append(self._side(mover, True, 6, child, X_G))
        elif (kind := joint_kind(mover.kind)).axial or len(kind.axes) == 2:
            # its axes stand in both frames: turning them turns G
            sides.append(self._side(mover, True, 3, child, X_G))
        return sides

    def _side(self, mover: Mover, on_child: bool, count: int, link: str, X: Array) -> _Side:
        columns = slice(self.size, self.size + count)
        self.size += count
        away = not (on_child and isinstance(mover, Loop))
        return _Side(mover.name, on_child, columns, self._place(link, X), away)

    # -- slopes -----------------------------------------------------------------------------------

    def slopes(self, poses: Array) -> Array:
        """Derivatives of all rows (m, nc, size) by displacements, from the poses of `links`.

        poses (m, n, 4, 4)
        """
        frames = [poses[:, link] @ X for link, X in self._placed]  # none without loops
        D = np.zeros((len(poses), len(self._model.setup.row_names), self.size))
        for cut in self._cuts:
            X_WF, X_WG = frames[cut.place], frames[cut.place + 1]
            J = _slopes_of_cut(cut.closure, np.linalg.solve(X_WF, X_WG))
            ways = [
                (side, sign if side.away else -sign)
                for k, sign in cut.signs.items()
                for side in self._sides.get(k, ())
            ]
            # at the joint that closes the loop, F and G are moved themselves
            ways += [
                (side, 1.0 if side.on_child and not side.away else -1.0)
                for side in self._own.get(cut.closure.name, ())
            ]
            for side, sign in ways:
                by = J @ _seen_at(X_WF, X_WG, frames[side.place], self._length)
                D[:, cut.rows, side.columns] += sign * by[..., -_count(side) :]
        return D

    @property
    def _length(self) -> float:
        return self._model.setup.longest_link or 1.0

    # -- descriptions -----------------------------------------------------------------------------

    def moved(self, displacement: Array) -> Mechanism:
        """The description with frames displaced."""
        movers: dict[str, Mover] = {m.name: m for m in self._model.mechanism.movers}
        for side in self._all:
            step = np.zeros(6)
            step[-_count(side) :] = displacement[side.columns]
            step[:3] *= self._length
            if step.any():
                movers[side.mover] = _displaced(movers[side.mover], side, _motion(step))
        before = self._model.mechanism
        return dataclasses.replace(
            before,
            joints=tuple(m for m in movers.values() if isinstance(m, Joint)),
            loops=tuple(m for m in movers.values() if isinstance(m, Loop)),
            written=before.written or before,
        )

    def largest(self, displacement: Array) -> tuple[float, float]:
        """The largest turn [rad] and way [m] of a frame."""
        turns = [np.linalg.norm(displacement[x.columns][-3:]) for x in self._all]
        ways = [np.linalg.norm(displacement[x.columns][:-3]) for x in self._all]
        return float(max(turns, default=0.0)), float(max(ways, default=0.0)) * self._length

    @cached_property
    def turns(self) -> dict[tuple[str, int], slice]:
        """Where the rotation vectors of the frames F and G of each joint are among them."""
        return {
            (x.mover, int(x.on_child)): slice(x.columns.stop - 3, x.columns.stop) for x in self._all
        }

    def of_mover(self, name: str) -> Array:
        """Mask of the displacements of frame F of one joint, shape (size,)."""
        mask = np.zeros(self.size, bool)
        for side in self._all:
            if side.mover == name and not side.on_child:
                mask[side.columns] = True
        return mask

    def on_loop(self, name: str) -> list[Joint]:
        """Joints of the tree on the loop that a joint of this name closes."""
        cuts = [cut for cut in self._cuts if cut.closure.name == name]
        return [self._model.tree.joints[k].joint for cut in cuts for k in cut.signs]

    @property
    def _all(self) -> list[_Side]:
        return [x for sides in (*self._sides.values(), *self._own.values()) for x in sides]


def _count(side: _Side) -> int:
    return int(side.columns.stop) - int(side.columns.start)


def ends(mover: Mover) -> tuple[tuple[str, Array], tuple[str, Array]]:
    """Link and pose on it of the frames F and G of a joint."""
    if isinstance(mover, Joint):
        return (mover.parent, mover.origin.matrix), (mover.child, np.eye(4))
    F, G = mover.X_predecessor.matrix, mover.X_successor.matrix
    return (mover.predecessor, F), (mover.successor, G)


def _displaced(mover: Mover, side: _Side, E: Array) -> Mover:
    """A joint with one of its frames moved by E (4, 4), in the axes of that frame."""
    if isinstance(mover, Loop):
        if side.on_child:
            return dataclasses.replace(mover, X_successor=_after(mover.X_successor, E))
        return dataclasses.replace(mover, X_predecessor=_after(mover.X_predecessor, E))
    if not side.on_child:
        return dataclasses.replace(mover, origin=_after(mover.origin, E))
    # G of a joint is the frame of its child: its axes, which F and G share, are turned back
    back = E[:3, :3].T
    return dataclasses.replace(
        mover,
        origin=_after(mover.origin, E),
        axis=_turned(back, mover.axis),
        axis2=_turned(back, mover.axis2),
    )


def _turned(R: Array, axis: Vector) -> Vector:
    return _named(axis, (R @ np.array(axis)).tolist())


def _after(X: Pose, E: Array) -> Pose:
    return pose_near(X, X.matrix @ E)


def pose_near(X: Pose, matrix: Array) -> Pose:
    """The pose of a matrix (4, 4), whose numbers have the names of those of a pose near by."""
    moved = Pose.from_matrix(matrix)
    return Pose(_named(X.xyz, moved.xyz), _named(X.rpy, moved.rpy))


def _named(before: Vector, after: Iterable[float]) -> Vector:
    """Numbers with the names that those in their places have."""
    x, y, z = (named_again(a, b) for a, b in zip(before, after, strict=True))
    return x, y, z


def _slopes_of_cut(closure: Closure, X_FG: Array) -> Array:
    """Derivatives of the rows of a closure by motions of G in F, (m, rows, 6)."""
    zero = Vec3(0.0, 0.0, 0.0)
    units = (EX, EY, EZ)
    columns = {k: (e, zero) for k, e in enumerate(units)}
    columns |= {k + 3: (zero, e) for k, e in enumerate(units)}
    R = Rotation(Mat3(*np.moveaxis(X_FG[:, :3, :3].reshape(-1, 9), 0, 1)))
    pose = Placement(R, Vec3(*np.moveaxis(X_FG[:, :3, 3], 0, 1)))
    motion = RelativeMotion(pose, zero, zero, zero, zero, columns)
    slopes = [row.jacobian for row in closure.cut.rows(motion, closure.geometry)]
    J = np.zeros((len(X_FG), len(slopes), 6))
    for i, k in itertools.product(range(len(slopes)), columns):
        J[:, i, k] = slopes[i].get(k, 0.0)  # type: ignore[assignment]  # known
    return J


def _seen_at(X_WF: Array, X_WG: Array, X_WJ: Array, length: float) -> Array:
    """From a motion of frame J, in its axes, to that of G in the axes of F, (m, 6, 6)."""
    R_FJ = np.swapaxes(X_WF[:, :3, :3], 1, 2) @ X_WJ[:, :3, :3]
    arm = np.einsum("mij,mi->mj", X_WJ[:, :3, :3], X_WG[:, :3, 3] - X_WJ[:, :3, 3])
    A = np.zeros((len(X_WF), 6, 6))
    A[:, :3, :3] = length * R_FJ
    A[:, 3:, 3:] = R_FJ
    A[:, :3, 3:] = -R_FJ @ cross_matrix(arm)
    return A


def cross_matrix(p: Array) -> Array:
    """The matrices (..., 3, 3) of cross products with vectors (..., 3)."""
    H = np.zeros((*p.shape[:-1], 3, 3))
    H[..., 0, 1], H[..., 0, 2], H[..., 1, 2] = -p[..., 2], p[..., 1], -p[..., 0]
    return H - np.swapaxes(H, -1, -2)


def _motion(step: Array) -> Array:
    """A motion by a way and a rotation vector (6,), as a matrix."""
    angle = float(np.linalg.norm(step[3:]))
    H = cross_matrix(step[3:])
    X = np.eye(4)
    half = np.sinc(0.5 * angle / np.pi)
    X[:3, :3] += np.sinc(angle / np.pi) * H + 0.5 * half**2 * H @ H
    X[:3, 3] = step[:3]
    return X
