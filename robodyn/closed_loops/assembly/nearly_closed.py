"""Small gaps of loops from rounded numbers in a file: frames are moved to close them.

In a planar linkage the pin that closes a loop is held in the plane by all other joints, and again
by itself. Where the file has it a micrometre out of the plane, no motion closes the loop. Of such a
gap, along rows that follow from others, the cut joint is relieved: its frame on the predecessor is
moved by what is left where the loops come nearest to closing.
"""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass

import numpy as np

from robodyn.array_types import Array
from robodyn.caller import warn
from robodyn.closed_loops.assembly.doubtful_mobility import doubt, is_doubtful
from robodyn.closed_loops.assembly.opposite_axes import with_axes_turned
from robodyn.closed_loops.constraints.constraint_rows import ConstraintRows
from robodyn.closed_loops.solvers import assemble, rank_analysis
from robodyn.codegen import MethodTable
from robodyn.description import Joint, Loop, Mechanism, Pose
from robodyn.equations.loops.closure_rows import Closure
from robodyn.equations.mechanism.frames import placement
from robodyn.errors import AssemblyError, LoopWarning
from robodyn.evaluator import Evaluator
from robodyn.joints import joint_kind
from robodyn.joints.common.cut import RelativeMotion
from robodyn.joints.common.described import align_z
from robodyn.model.model import Model, build_model
from robodyn.model.settings import Settings
from robodyn.parts.configuration_space import ConfigurationSpace
from robodyn.symbolic.vector import EX, EY, EZ, Vec3
from robodyn.tolerances import LOOP_CLOSED, ROUNDED_FILE_GAP, WRONG_FILE_GAP

__all__ = ["NearestClosure", "model_with_rounded_loops_closed", "nearly_closing", "remainder"]

#: Number of postures around one that are examined for the regular rank of its rows.
AROUND = 3

#: Number of guesses from which a closed posture is searched, with joints that are turned.
GUESSES = 20


@dataclass(frozen=True, eq=False)
class NearestClosure:
    """What is left of loops where they come nearest to closing, along redundant rows alone.

    Attributes
    ----------
    q : ndarray, shape (nq,)
    residual : ndarray, shape (nc,) [m, rad]
    size : float
        Without units: in rad, or in parts of the longest link.
    description : str
        The rows with their gaps.
    """

    q: Array
    residual: Array
    size: float
    description: str


def model_with_rounded_loops_closed(
    mechanism: Mechanism, settings: Settings, *, turned: bool = False
) -> Model:
    """The model in tree coordinates, its loops closed where rounded numbers left a small gap.

    Joints whose axes point opposite ways are taken half a turn round, unless they are ``turned``.

    Frames of loops are moved onto each other, with a warning, where the gap is at most
    `ROUNDED_FILE_GAP`, or the ``closure_tolerance`` if that is larger, in parts of the longest link
    or rad. Other mechanisms are left as they are; methods that need closed loops refuse them.
    """
    if settings.coordinates != "tree" or settings.branches:
        settings = dataclasses.replace(settings, coordinates="tree", branches=())
    model = build_model(mechanism, settings)
    if not model.tree.cuts:
        return model
    rows, space = _rows(model)
    q = _nearest(model, rows, space)
    left = None if q is None else remainder(model, rows, space, q)
    tolerance = max(ROUNDED_FILE_GAP, settings.closure_tolerance)
    if left is None or left.size > tolerance:
        if q is None or turned:
            return model
        start = space.start()
        return with_axes_turned(model, rows, start, q, lambda x: _if_closed(x, settings)) or model
    closed = build_model(_moved(model, rows, left), settings)
    if not np.abs(_rows(closed)[0].interpreted_residual(left.q)).max() < LOOP_CLOSED:
        return model
    message = LoopWarning(
        f"the loops close but for {left.description}, which no joint can mend: the frames of these "
        f"loops are moved onto each other (up to {tolerance:.3g} rad or parts of the longest link; "
        "closure_tolerance= changes that)",
        file=mechanism.file,
        element=f"robot {mechanism.name!r}",
    )
    warn(message)
    return closed


def _if_closed(mechanism: Mechanism, settings: Settings) -> Model | None:
    """The model of a description, in which no joint is turned any more, if its loops close."""
    model = model_with_rounded_loops_closed(mechanism, settings, turned=True)
    return model if _nearest(model, *_rows(model), GUESSES) is None else None


def remainder(
    model: Model, rows: ConstraintRows, space: ConfigurationSpace, q: Array
) -> NearestClosure | None:
    """What is left of the loops at a posture, if no motion makes it less; `None` if one does.

    Also `None` at singular postures, where a motion may do it that the rows do not show.
    """
    gap = rows.interpreted_residual(q)
    units = np.array(model.setup.row_units)
    size = gap / units
    K = _slopes_around(model, rows, space, q)
    ranks = rank_analysis(K).rank
    if ranks[0] < ranks.max():
        return None
    step = np.linalg.lstsq(K[0], -size, rcond=1e-9)[0]
    if np.linalg.norm(size + K[0] @ step) < 0.5 * np.linalg.norm(size):
        return None
    order = np.argsort(-np.abs(size), kind="stable")
    worst = [int(k) for k in order if abs(size[k]) > 0.1 * np.abs(size).max()][:4]
    words = model.setup.row_words
    told = ", ".join(f"{abs(gap[k]):.3g} {words[k]} along {rows.names[k]}" for k in worst)
    return NearestClosure(q, gap, float(np.linalg.norm(size)), told)


def _slopes_around(
    model: Model, rows: ConstraintRows, space: ConfigurationSpace, q: Array
) -> Array:
    """Slopes of the rows without units at a posture and others, (n, nc, nv)."""
    rng = np.random.default_rng(0)
    around = [space.integrate(q, rng.normal(size=space.nv)) for _ in range(AROUND)]
    K = np.array([rows.interpreted_jacobian(x) for x in (q, *around)])
    units, speeds = np.array(model.setup.row_units), np.array(model.setup.speed_units)
    return np.asarray(K / units[:, None] * speeds)


def nearly_closing(model: Model, rows: ConstraintRows, space: ConfigurationSpace, q: Array) -> str:
    """Advice about loops that nearly close at a posture; empty if they do not."""
    K = _slopes_around(model, rows, space, q)
    if is_doubtful(K):
        return doubt(model, K)
    left = remainder(model, rows, space, q)
    if left is None or left.size > WRONG_FILE_GAP:
        return ""
    return (
        f"they come as near as {left.description}, which no joint can mend: mend the numbers, or "
        f"load with closure_tolerance={1.05 * left.size:.2g} to have the frames moved onto each "
        "other"
    )


def _rows(model: Model) -> tuple[ConstraintRows, ConfigurationSpace]:
    evaluator = Evaluator(model, MethodTable())
    evaluator = evaluator.at(0.0) if model.setup.rheonomic else evaluator
    space = ConfigurationSpace(model, evaluator)
    return ConstraintRows(model, evaluator, space), space


def _nearest(
    model: Model, rows: ConstraintRows, space: ConfigurationSpace, guesses: int = 0
) -> Array | None:
    """The posture near the start in which loops are most nearly closed, unless they close."""
    start = space.start()
    position = rows.interpreted_position_rows()
    if np.abs(position.residual(start)).max(initial=0.0) < LOOP_CLOSED:
        return None
    try:
        assemble(
            position.residual,
            position.jacobian,
            space.integrate,
            start,
            lower=np.minimum(model.lower, start),
            upper=np.maximum(model.upper, start),
            guesses=guesses,
            closed=LOOP_CLOSED,
        )
    except AssemblyError as error:
        return np.asarray(error.q)
    return None


# -- frames ---------------------------------------------------------------------------------------


def _moved(model: Model, rows: ConstraintRows, left: NearestClosure) -> Mechanism:
    """The description with frames of loops moved by what is left."""
    movers: dict[str, Joint | Loop] = {m.name: m for m in model.mechanism.movers}
    owners = [name.rpartition("[")[0] for name in rows.names]
    for cut, closure in zip(model.tree.cuts, model.setup.closures, strict=False):
        open_by = [x for x, name in zip(left.residual, owners, strict=True) if name == cut.name]
        if np.abs(open_by).max() < LOOP_CLOSED:
            continue
        ends = (
            ((cut.predecessor, cut.X_predecessor.matrix), (cut.successor, cut.X_successor.matrix))
            if isinstance(cut, Loop)
            else ((cut.parent, cut.origin.matrix), (cut.child, np.eye(4)))
        )
        X_WF, X_WG = (rows.interpreted_pose(left.q, link) @ X for link, X in ends)
        R_UG = np.eye(4)
        if joint_kind(cut.kind).axes:
            R_UG[:3, :3] = align_z(np.array(cut.axis))
        E = R_UG @ _meeting(closure, R_UG.T @ np.linalg.solve(X_WF, X_WG) @ R_UG) @ R_UG.T
        name = cut.rejoins if isinstance(cut, Loop) and cut.rejoins else cut.name
        mover = movers[name]
        X = mover.origin.matrix if isinstance(mover, Joint) else mover.X_predecessor.matrix
        if name == cut.name:
            X = X @ E
        else:  # the weld of a link cut in two: the joint that needed it takes it over
            X = _of_halved(rows, left.q, mover, cut, X, E)
        pose = Pose.from_matrix(X)
        movers[name] = (
            dataclasses.replace(mover, origin=pose)
            if isinstance(mover, Joint)
            else dataclasses.replace(mover, X_predecessor=pose)
        )
    return dataclasses.replace(
        model.mechanism,
        joints=tuple(m for m in movers.values() if isinstance(m, Joint)),
        loops=tuple(m for m in movers.values() if isinstance(m, Loop)),
    )


def _of_halved(
    rows: ConstraintRows, q: Array, mover: Joint | Loop, weld: Joint | Loop, X: Array, E: Array
) -> Array:
    """Origin (4, 4) of a joint next to a link cut in two, so that E does not open the weld."""
    assert isinstance(weld, Loop)
    parent, child = (
        (mover.parent, mover.child)
        if isinstance(mover, Joint)
        else (mover.predecessor, mover.successor)
    )
    if weld.successor == child:  # the half hangs on the parent by the joint
        X_PH = np.linalg.solve(
            rows.interpreted_pose(q, parent), rows.interpreted_pose(q, weld.predecessor)
        )
        turned = np.linalg.solve(X, X_PH)
        return np.asarray(X_PH @ E @ np.linalg.inv(turned))
    return E @ X


def _meeting(closure: Closure, X_FG: Array) -> Array:
    """The least motion of F, (4, 4) in F, after which G stands in it as the joint allows."""
    measure = closure.cut.gap or closure.cut.rows
    zero = Vec3(0.0, 0.0, 0.0)
    units = (EX, EY, EZ)
    columns = {k: (e, zero) for k, e in enumerate(units)}
    columns |= {k + 3: (zero, e) for k, e in enumerate(units)}
    E = np.eye(4)
    for _ in range(3):
        X = np.linalg.solve(E, X_FG)
        m = RelativeMotion(placement(np.asarray(X, float)), zero, zero, zero, zero, columns)
        gap = np.array([float(row.residual) for row in measure(m, closure.geometry)])  # type: ignore[arg-type]  # known
        slopes = [row.jacobian for row in closure.cut.rows(m, closure.geometry)]
        J = np.array([[float(s.get(k, 0.0)) for k in range(6)] for s in slopes])  # type: ignore[arg-type]  # known
        # F moves, and so G the other way round in it
        across = np.eye(6)
        across[:3, 3:] = -_hat(X[:3, 3])
        step = np.linalg.lstsq(J @ across, gap, rcond=None)[0]
        E = E @ _displacement(step)
    return E


def _hat(p: Array) -> Array:
    x, y, z = p
    return np.array([[0.0, -z, y], [z, 0.0, -x], [-y, x, 0.0]])


def _displacement(step: Array) -> Array:
    """A motion by a way and a rotation vector (6,), as a matrix."""
    angle = float(np.linalg.norm(step[3:]))
    H = _hat(step[3:])
    X = np.eye(4)
    half = np.sinc(0.5 * angle / np.pi)
    X[:3, :3] += np.sinc(angle / np.pi) * H + 0.5 * half**2 * H @ H
    X[:3, 3] = step[:3]
    return X
