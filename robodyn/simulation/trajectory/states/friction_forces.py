"""Dry friction at samples of a motion, of what sticks and of what slides."""

from __future__ import annotations

from typing import Any

import numpy as np

from robodyn.array_types import FloatArray
from robodyn.caller import warn
from robodyn.errors import SingularWarning
from robodyn.impacts.complementarity import evenly_shared
from robodyn.simulation.friction.resistances import resistances_of
from robodyn.simulation.trajectory.states.samples import Samples
from robodyn.tolerances import STICKING_RANK, STICKING_SPEED


def friction_forces(samples: Samples) -> FloatArray:
    """Friction of all that resists, see `Resistances`, shape (m, n) [N m, N].

    What slides has the friction of its law; that of what sticks follows from the accelerations.
    """
    x, law, found = samples, samples.friction, resistances_of(samples.robot)
    s = found.speeds(x.robot, x.q, x.v)
    smooth = -found.force * s / np.hypot(s, found.smooth)
    if law is None:
        return np.asarray(smooth)
    W = np.asarray(found.directions(x.robot, x.q))
    way = _ways(x, W, s, found.speed >= 0)
    still, falling = way == 0.0, law.falling(found.joints, repr(x.robot.name), s)
    forces = -found.force * (1.0 + falling) * way
    still &= ~np.isin(found.speed, x.driven)  # nobody knows what helps the drive of a joint at rest
    rows: Any = np.flatnonzero(still.any(axis=1))
    if not len(rows):
        return np.asarray(forces)
    x, W, still = x[rows], W[rows], still[rows]
    missing = x.a - _accelerations(x, np.einsum("mk,mkn->mn", (forces - smooth)[rows], W))
    static = found.force * (1.0 + law.of(found.joints, repr(x.robot.name))[0])
    unknown: dict[str, None] = {}
    for pattern in np.unique(still, axis=0):
        if pattern.any():
            at: Any = np.flatnonzero((still == pattern).all(axis=1))
            forces[np.ix_(rows[at], pattern)], sure = _holding(
                x[at], W[at][:, pattern], missing[at], static[pattern]
            )
            if not sure:
                unknown |= dict.fromkeys(np.array(found.names)[pattern].tolist())
    if unknown:
        warn(
            SingularWarning(
                f"joints of {x.robot.name!r} stick together in a loop ({', '.join(unknown)}), so "
                "that the friction of each is not determined: what is given is one way to share it"
            )
        )
    return np.asarray(forces)


def _ways(x: Samples, W: FloatArray, s: FloatArray, own: Any) -> FloatArray:
    """Directions in which it slides, or begins to, shape (m, n); zero of what sticks.

    own (n,), bool: Whose speed is one of those of the robot.
    """
    rounding = np.where(own, 0.0, STICKING_SPEED)
    speeds, rates = (
        np.where(np.abs(y) <= rounding * (np.abs(W) @ np.abs(z)[..., None])[..., 0], 0.0, y)
        for y, z in ((s, x.v), ((W @ x.a[..., None])[..., 0], x.a))
    )
    begins = own | ~x.v.any(axis=-1, keepdims=True)
    return np.asarray(np.sign(np.where(speeds == 0.0, np.where(begins, rates, 0.0), speeds)))


def _accelerations(x: Samples, more: FloatArray) -> FloatArray:
    """Accelerations under further forces at the joints, and smooth friction."""
    loads: dict[str, Any] = {"base": x.base, "wrenches": x.wrenches or None}
    robot = x.robot.at(x.time)
    driven, tau = [*x.driven], x.tau + more
    if not driven:
        return np.asarray(robot.forward_dynamics(x.q, x.v, tau, **loads))
    free = [k for k in range(robot.nv) if k not in driven]
    given = x.a[..., driven], tau[..., free], tuple(driven)
    return np.asarray(robot.driven_dynamics(x.q, x.v, *given, **loads)[0])


def _holding(
    x: Samples, W: FloatArray, missing: FloatArray, static: FloatArray
) -> tuple[FloatArray, bool]:
    """Forces along some directions that give what is missing of accelerations.

    W (m, k, nv): The directions.
    missing (m, nv)
    static (k,): The largest forces.
    Returns the forces, shape (m, k), and whether there is but one way.
    """
    dynamics = x.robot.at(x.time).impact_dynamics
    jumps = np.moveaxis(dynamics.responses(x.q, np.moveaxis(W, 1, 0), x.driven, x.base), 0, 1)
    A, b = jumps @ np.swapaxes(W, 1, 2), np.einsum("mkn,mn->mk", W, missing)
    size = np.abs(A).max(axis=(1, 2), initial=0.0)
    if (np.linalg.matrix_rank(A, tol=STICKING_RANK * size, hermitian=True) == W.shape[1]).all():
        return np.linalg.solve(A, b[..., None])[..., 0], True
    return np.array([evenly_shared(*one, static) for one in zip(A, -b, strict=True)]), False
