"""Checks of samples that machine code wrote, which may be wrong at singular postures."""

from __future__ import annotations

import numpy as np

from robodyn.array_types import FloatArray, IntArray
from robodyn.arrays import all_finite
from robodyn.closed_loops.constraints.open_loops import largest_gap
from robodyn.errors import AssemblyError, InconsistentStateError, RobodynError, SingularError
from robodyn.robot import Robot
from robodyn.tolerances import LOOP_APART, SINGULAR_MOTION

#: Number of samples that are checked together.
TOGETHER = 64


def first_wrong_sample(
    robot: Robot, t: FloatArray, q: FloatArray, v: FloatArray
) -> tuple[int, RobodynError] | None:
    """The first sample at a singular posture, where rounding decides forces, and why it is wrong.

    A motion that passes one at some distance may lose some digits for a sample. ``.motion`` of the
    error is the index of the wrong one.

    robot: With closed loops.
    """
    for first in range(0, len(t), TOGETHER):
        some = slice(first, first + TOGETHER)
        if _first_wrong(robot, t[some], q[some], v[some]) is not None:
            return _first_wrong(robot, t, q, v)  # with the index among all samples
    return None


def first_flat_sample(
    robot: Robot, q: FloatArray, tau: FloatArray
) -> tuple[int, RobodynError] | None:
    """The first sample at a flat posture, which has no forces of driven joints, and why.

    robot: In minimal coordinates, without constraints.
    q, tau (n, motions, nq), (n, motions, nv)
    """
    if all_finite(tau):
        return None
    for k, r in np.argwhere(~np.isfinite(tau).all(axis=-1)):
        try:
            robot.mass_matrix(q[k, r])
        except (SingularError, InconsistentStateError) as error:
            return int(k), error
    return None


def _first_wrong(
    robot: Robot, t: FloatArray, q: FloatArray, v: FloatArray
) -> tuple[int, RobodynError] | None:
    """The first wrong sample, and why it is wrong."""
    times = np.broadcast_to(t[:, None], q.shape[:2])
    try:
        try:
            robot.at(times).check_state(q, v)
        except InconsistentStateError:  # speeds of steps that are too long open the loops
            if not robot.depends_on_time:
                robot.check_state(q, np.zeros_like(v))
    except SingularError as error:
        for row in error.rows:
            k, r = divmod(row, q.shape[1])
            if _is_singular(robot.of_rows(r).at(float(t[k])), q[k, r]):
                error.motion = (r,)
                return k, error
    except InconsistentStateError as error:
        return _wrong_posture(robot, q, np.array(error.rows))
    return None


def _wrong_posture(robot: Robot, q: FloatArray, rows: IntArray) -> tuple[int, RobodynError] | None:
    """The same where some postures, by their rows, are open: by more than a state may be.

    A motion goes on with gaps that are somewhat larger.
    """
    is_open = np.zeros(q.shape[:2], bool)
    is_open.flat[rows] = True
    found: list[tuple[int, RobodynError]] = []
    for r in range(q.shape[1]):
        own = robot.of_rows(r)
        for k in np.flatnonzero(is_open[:, r]):
            residual = own.loop_residual(q[k, r])
            if not np.abs(residual).max() <= LOOP_APART:
                loop, size = largest_gap(robot.model, residual)
                told = f"the loops of {robot.name!r} come apart by {size} ({loop!r})"
                hint = f"{told}: take shorter steps"
                error = AssemblyError(hint, residual=residual, q=q[k, r].copy())
                error.motion = (r,)
                found.append((int(k), error))
        closed = np.flatnonzero(~is_open[:, r])
        try:
            own.check_state(q[closed, r], np.zeros((len(closed), own.nv)))
        except SingularError as singular:
            singular.motion = (r,)
            wrong = (k for k in closed[list(singular.rows)] if _is_singular(own, q[k, r]))
            found += [(int(k), singular) for k in wrong]
    return min(found, key=lambda item: item[0], default=None)


def _is_singular(robot: Robot, q: FloatArray) -> bool:
    return bool(robot.loop_rank(q).distance < SINGULAR_MOTION)
