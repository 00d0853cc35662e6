"""Linear state feedback, also for robots with quaternions."""

from __future__ import annotations

from collections.abc import Callable, Iterable

import numpy as np

from robodyn import Function, Robot
from robodyn.array_types import FloatArray
from robodyn.state_space import Mode, StateSpace
from robodyn.tolerances import DECAYING_POLE

from .symbols import at_speeds

#: ``(q, v, q_ref, v_ref) -> x``.
StateError = Callable[[FloatArray, FloatArray, FloatArray, FloatArray], FloatArray]

#: ``(q, u) -> J``.
StepSlope = Callable[[FloatArray, FloatArray], FloatArray]


def slope_of_steps(robot: Robot) -> StepSlope | None:
    """Derivative, in tangent space, of ``integrate(q, u)`` with respect to ``u``.

    The function ``(q, u) -> J``, shape (..., nv, nv): ``integrate(q, u + du)`` is a displacement of
    ``J du`` away from ``integrate(q, u)``. ``None`` if coordinates add, as it is the identity.
    """
    if robot.joints.coordinates_add:
        return None
    integrate = robot.function("integrate")
    by_step, rates = integrate.jacobian("dv"), Function(integrate.program.rates["q"])

    def slope(q: FloatArray, u: FloatArray) -> FloatArray:
        R = rates(integrate(q, u))
        turned = np.swapaxes(R, -1, -2)
        return np.asarray(np.linalg.solve(turned @ R, turned @ by_step(q, u)))

    return slope


def state_error(robot: Robot) -> StateError:
    """The function ``(q, v, q_ref, v_ref) -> x``, the errors of states, shape (..., 2 nv).

    These are the displacement from the reference position and the difference of velocities.
    """
    if robot.joints.coordinates_add:
        return lambda q, v, q_ref, v_ref: np.concatenate([q - q_ref, v - v_ref], axis=-1)
    return lambda q, v, q_ref, v_ref: np.concatenate(
        [robot.difference(q_ref, q), v - v_ref], axis=-1
    )


def linear_feedback(
    motors: tuple[int, ...], nv: int, tau: FloatArray, gains: FloatArray, error: FloatArray
) -> FloatArray:
    """``tau + gains error`` at the motors, zero elsewhere, shape (..., nv).

    Parameters
    ----------
    motors : tuple of int
        Indices in v of m motors.
    tau : ndarray, shape (m,)
    gains : ndarray, shape (m, n)
    error : ndarray, shape (..., n)
    """
    return at_speeds(motors, tau + error @ gains.T, nv)


def lasting(model: StateSpace, modes: Iterable[Mode]) -> list[Mode]:
    """Modes of a model that do not decay by themselves."""
    rates = model.natural_frequencies
    fastest = float(rates[np.isfinite(rates)].max(initial=1.0))
    return [mode for mode in modes if mode.pole.real > -DECAYING_POLE * fastest]
