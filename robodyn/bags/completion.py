"""Completes the samples of a bag: closes loops, differentiates, computes missing torques."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from robodyn.array_types import FloatArray
from robodyn.bags.samples import Samples
from robodyn.caller import warn
from robodyn.errors import AssemblyError, BagError
from robodyn.robot import Robot

__all__ = ["completed"]


def completed(
    samples: Samples, path: str
) -> tuple[FloatArray, FloatArray, FloatArray, FloatArray, FloatArray]:
    """The complete motion from the samples of a bag: t, q, v, a, tau."""
    robot = samples.robot
    t, (q, v, a, tau) = samples.rows_in_order()
    if samples.ignored:
        warn(
            f"{samples.ignored} messages of {path!r} are left out: their positions are not finite, "
            "not as many as their names, or older than what came before"
        )
    if not len(t):
        raise BagError(f"the bag {path!r} holds no joint states of {robot.name!r}")
    heard = np.isfinite(q[-1])
    missing = _joints_at(robot, ~heard)
    if missing and not (robot.nc and heard.any()):
        raise BagError(f"the bag {path!r} never holds the position of joints {list(missing)}")
    begin = int(np.isfinite(q[:, heard]).all(axis=1).argmax())
    t, q, v, a, tau = t[begin:] - t[begin], q[begin:], v[begin:], a[begin:], tau[begin:]
    if missing:
        q = _assembled(robot, q, missing, t, path)
        _check_determined(robot, q[[0, len(q) // 2, -1]], missing, path)
    v = _filled(v, _rates(robot, t, q))
    if missing:
        v = robot.consistent_velocity(q, v)
    a = _filled(a, _rate(t, np.diff(v, axis=0)))
    return t, q, v, a, tau


def _joints_at(robot: Robot, where: NDArray[np.bool_]) -> tuple[str, ...]:
    return tuple(name for name in robot.joint_names if where[robot.joints[name].q].any())


def _assembled(
    robot: Robot, q: FloatArray, missing: tuple[str, ...], t: FloatArray, path: str
) -> FloatArray:
    """Postures with closed loops, each near the one before; unknown joints follow."""
    hold = [name for name in robot.joint_names if name not in missing]
    free = np.isnan(q[-1])
    closed, guess = q.copy(), robot.neutral()
    for k in range(len(q)):
        guess = np.where(free, guess, q[k])
        try:
            guess = closed[k] = robot.assemble(guess, hold=hold, beyond_limits=True)
        except AssemblyError as error:
            raise BagError(
                f"the joints of {path!r} at {t[k]:.6g} s leave the loops of {robot.name!r} open; "
                f"{list(missing)} would have to follow from the others: {error}"
            ) from error
    return closed


def _check_determined(robot: Robot, q: FloatArray, missing: tuple[str, ...], path: str) -> None:
    """Warn of unknown joints that the known ones do not determine."""
    at = np.concatenate([np.arange(robot.nv)[robot.joints[name].v] for name in missing])
    K = robot.loop_jacobian(q)  # of several postures: one may be singular
    sizes = np.linalg.norm(K, 2, axis=(-2, -1))
    free = len(at) - np.linalg.matrix_rank(K[..., at], tol=1e-9 * sizes).max()
    if free:
        warn(
            f"{path!r} never holds the position of joints {list(missing)}, and the loops of "
            f"{robot.name!r} leave them {free} motions of their own: they are taken to stay near "
            "the neutral posture"
        )


def _filled(known: FloatArray, computed: FloatArray) -> FloatArray:
    """Known values; columns with gaps are replaced by computed ones."""
    return np.where(np.isfinite(known).all(axis=0), known, computed)


def _rates(robot: Robot, t: FloatArray, q: FloatArray) -> FloatArray:
    return _rate(t, robot.difference(q[:-1], q[1:]) if len(q) > 1 else np.zeros((0, robot.nv)))


def _rate(t: FloatArray, steps: FloatArray) -> FloatArray:
    """Rates by finite differences: of second order within, of first order at the ends."""
    if not len(steps):
        return np.zeros((len(t), steps.shape[1]))
    h = np.diff(t)[:, None]
    rate = steps / h
    within = (h[1:] * rate[:-1] + h[:-1] * rate[1:]) / (h[1:] + h[:-1])
    return np.concatenate([rate[:1], within, rate[-1:]])
