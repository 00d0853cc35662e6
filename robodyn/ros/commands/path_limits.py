"""Whether a trajectory leaves limits: of its joints exactly, of others where it is rehearsed.

A polynomial of degree k over a piece lies within the range of its k + 1 Bernstein coefficients, of
which the first and the last are its values at the ends. Pieces whose coefficients are beyond a
limit are halved until an end is beyond it, or no coefficient is.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import ceil
from typing import Any

import numpy as np

import robodyn as rd
from robodyn.array_types import FloatArray
from robodyn.ros.states.messages import StateNames
from robodyn.simulation.limits.bounds import bounds_of
from robodyn.simulation.limits.joint_limits import LimitViolation, limit_violations
from robodyn.simulation.loads.driven_joints import Driven, determined
from robodyn.simulation.loads.loads import loads_on
from robodyn.simulation.motion.continued_motion import ContinuedMotion, DoneSteps, joined
from robodyn.simulation.step.stepper import Stepper
from robodyn.tolerances import FARTHEST, LIMIT_EXCESS, TRAJECTORY_SPEED_EXCESS

#: Largest number of halvings: the parts are as short as rounding of time then.
HALVINGS = 50
#: Instants of a piece among which the worst is named.
SHOWN = 1025
#: Largest number of steps of a rehearsal.
MOST_STEPS = 2000


@dataclass(frozen=True)
class AtLimit:
    """A limit of position that driven joints would leave.

    q (nq,): The last positions within the limit.
    t [s]: The first instant beyond it.
    """

    violation: LimitViolation
    q: FloatArray
    t: float

    def __str__(self) -> str:
        x = self.violation
        return f"{x.joint} would leave its limit of {x.bound:.4g} {x.unit}".rstrip()


def check_path(names: StateNames, joints: Sequence[str], polynomial: Any) -> None:
    """Refuse a path that leaves limits of position or speed anywhere.

    A joint that is beyond its limit at the start may come back.

    polynomial: Of positions, shape (n,).
    """
    rate = polynomial.derivative(1)
    if not (np.isfinite(polynomial.c).all() and np.isfinite(rate.c).all()):
        raise rd.PathError("its numbers are too large for a path between its points")
    lower, upper, top = np.array([names.limits(name) for name in joints]).T
    rounding = LIMIT_EXCESS * np.maximum(1.0, np.abs([lower, upper]))
    hint = "; velocities of zero at its points keep a path between them"
    edges = lower - rounding[0], upper + rounding[1]
    _check(names, joints, "positions", polynomial, *edges, hint)
    allowed = np.minimum(top, FARTHEST) * (1.0 + TRAJECTORY_SPEED_EXCESS)
    _check(names, joints, "speeds", rate, -allowed, allowed, "; give it more time")


def _limit_of(names: StateNames, joint: str) -> str:
    """Whose limit that of a joint is."""
    others = names.followers(joint)
    return "its limit" + (f", or that of {', '.join(others)}, which follow it" if others else "")


def _check(
    names: StateNames,
    joints: Sequence[str],
    what: str,
    f: Any,
    lower: FloatArray,
    upper: FloatArray,
    hint: str,
) -> None:
    """Refuse a polynomial that leaves limits, shape (n,), but for where it starts."""
    from scipy.interpolate import BPoly

    # shape (degree + 1, pieces, n)
    bernstein = BPoly.from_power_basis(f).c
    for side, bound in ((1.0, upper), (-1.0, lower)):
        edges = np.tile(side * bound, (f.c.shape[1], 1))
        edges[0] = np.maximum(edges[0], side * f.c[-1][0])
        found = _first_beyond(side * bernstein, edges)
        if found is None:
            continue
        piece, k = found
        times = np.linspace(f.x[piece], f.x[piece + 1], SHOWN)
        values = f(times)[:, k]
        worst = int((side * values).argmax())
        raise rd.PathError(
            f"the {what} of {joints[k]!r} would reach {values[worst]:.4g} at {times[worst]:.4g} s, "
            f"beyond {bound[k]:.4g}, {_limit_of(names, joints[k])}"
            + (hint if 0 < worst < SHOWN - 1 else ""),
            time=float(times[worst]),
            joint=joints[k],
        )


def _first_beyond(b: FloatArray, edges: FloatArray) -> tuple[int, int] | None:
    """Piece and column of a polynomial that exceeds its edge, shape (pieces, n), if one does."""
    rows, columns = np.nonzero(b.max(axis=0) > edges)
    b, edges = b[:, rows, columns], edges[rows, columns]
    for _ in range(HALVINGS):
        if not rows.size:
            return None
        beyond = np.maximum(b[0], b[-1]) > edges
        if beyond.any():
            k = int(np.flatnonzero(beyond)[rows[beyond].argmin()])
            return int(rows[k]), int(columns[k])
        b = np.concatenate(_halves(b), axis=1)
        keep = b.max(axis=0) > np.tile(edges, 2)
        b = b[:, keep]
        rows, columns, edges = (np.tile(x, 2)[keep] for x in (rows, columns, edges))
    return None


def _halves(b: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Coefficients of the first and of the second halves of pieces."""
    left, right = [b[0]], [b[-1]]
    while len(b) > 1:
        b = 0.5 * (b[:-1] + b[1:])
        left.append(b[0])
        right.append(b[-1])
    return np.stack(left), np.stack(right[::-1])


def rehearse(
    names: StateNames,
    driven: Driven,
    t: float,
    q: FloatArray,
    v: FloatArray,
    duration: float,
    h: float,
) -> None:
    """Move driven joints along their paths, if all others follow from them, and look at limits.

    names: Of the robot. Of joints that follow by a factor the limits have been looked at.
    t [s]: When the paths begin.
    q, v (nq,), (nv,)
    duration, h [s]: Of the motion, and of a step, which is longer where there would be too many.
    Raises PathError: If a joint would leave a limit of position, or loops cannot be closed on the
        way.
    """
    robot, bounds = names.robot, bounds_of(names.robot)
    limited = (*bounds.positions, *bounds.velocities)
    others = [x for x, _ in limited if x.name not in names.names]
    if not driven or not (others or (robot.nc and bounds.ranges["position"])):
        return
    rank = int(robot.loop_rank(q).rank) if robot.nc else 0
    if len(driven.speeds) != robot.nv - rank:
        return
    steps = max(1, min(ceil(duration / h), MOST_STEPS))
    h = max(h, duration / steps)
    none = np.zeros(robot.nv)
    motion = ContinuedMotion(
        Stepper(loads_on(robot, driven), "semi_implicit"), None, none, t, h, q, v
    )
    while steps > 0:
        try:
            steps -= motion.advance(steps, none)
        except (rd.RobodynError, np.linalg.LinAlgError, ArithmeticError) as error:
            if duration / h > MOST_STEPS - 1:  # perhaps as steps are long
                return
            raise rd.PathError(
                f"{robot.name!r} cannot follow it: {error}", time=motion.t - t
            ) from error
        done = joined(motion.take_steps())
        left = limit_violations(robot, done.t[1:], done.q[1:], done.v[1:], 0.0 * done.tau)
        found = first_at_limit(robot, left, done, driven.speeds) if left else None
        if found is not None:
            raise rd.PathError(
                f"{found} {found.t - t:.4g} s after the start",
                time=found.t - t,
                joint=found.violation.joint,
            )


def first_at_limit(
    robot: rd.Robot,
    left: tuple[LimitViolation, ...],
    steps: DoneSteps,
    driven: tuple[int, ...],
) -> AtLimit | None:
    """The first limit of position to which driven joints, and not forces, bring a joint.

    A joint that is beyond its limit at the start may come back.

    left: Those of the steps.
    driven: Speeds of driven joints.
    """
    found = []
    for x in left:
        if x.limit != "position":
            continue
        joint = robot.joints[x.joint]
        side = 1.0 if x.worst > x.bound else -1.0
        place = robot.joint_positions(steps.q)[x.joint]
        beyond = side * ((np.unwrap(place) if joint.cut and joint.kind.is_pin else place) - x.bound)
        most = max(float(beyond[0]), 0.0) + LIMIT_EXCESS * max(1.0, abs(x.bound))
        rows = np.flatnonzero(beyond > most)
        if rows.size and determined(robot, steps.q[0], driven, x.joint):
            first = int(rows[0])
            found.append(AtLimit(x, steps.q[first - 1], float(steps.t[first])))
    return min(found, key=lambda at: at.t, default=None)
