"""Costs of motions, expanded to the second order at samples."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Protocol

import numpy as np
from numpy.typing import ArrayLike

from robodyn import Robot, ShapeError
from robodyn.arguments import check_fields
from robodyn.array_types import FloatArray
from robodyn.arrays import checked

from ..support.gains import checked_call, state_of, weights
from ..support.linear_feedback import StepSlope, slope_of_steps
from ..support.plant import motor_speeds


@dataclass(frozen=True, eq=False)
class Expansion:
    """Costs of samples, expanded to second order in changes of ``z = (dq, dv, motor forces)``.

    At the end of a motion, ``z`` has no forces.

    Attributes
    ----------
    value : ndarray, shape (n,)
    slope : ndarray, shape (n, nz)
    curvature : ndarray, shape (n, nz, nz)
        Positive semidefinite.
    """

    value: FloatArray
    slope: FloatArray
    curvature: FloatArray


def expanded(what: str, given: Any, n: int, size: int) -> Expansion:
    """Check that a cost returned an `Expansion` of n samples in ``size`` variables.

    Raises
    ------
    ShapeError
    """
    shapes = (n,), (n, size), (n, size, size)
    names = ("value", "slope", "curvature")
    found = tuple(np.asarray(getattr(given, name, None)).shape for name in names)
    if found != shapes:
        shown = found if isinstance(given, Expansion) else type(given).__name__
        raise ShapeError(
            f"{what} returned {shown}, expected value, slope and curvature of shapes {shapes}",
            name=what,
            given=given,
            expected=shapes,
        )
    return Expansion(*(np.asarray(getattr(given, name)) for name in names))


def without_negative(curvature: FloatArray) -> FloatArray:
    """The nearest symmetric matrices, shape (n, nz, nz), without negative curvature."""
    values, vectors = np.linalg.eigh(curvature)
    kept = vectors * np.maximum(values, 0.0)[..., None, :]
    return np.asarray(kept @ np.swapaxes(vectors, -1, -2))


class Cost(Protocol):
    """The cost of a motion: an integral over time, and a cost of its end."""

    def running_cost(
        self, t: FloatArray, q: FloatArray, v: FloatArray, tau: FloatArray
    ) -> Expansion:
        """Costs per second at samples.

        Parameters
        ----------
        t : ndarray, shape (n,) [s]
        q, v : ndarray, shape (n, nq), (n, nv)
        tau : ndarray, shape (n, m) [N m, N]
            Of the speeds with motors, ascending.
        """

    def final_cost(self, q: FloatArray, v: FloatArray) -> Expansion:
        """Costs of states at the end, shape (n, nq), (n, nv)."""


def check_cost(robot: Robot, cost: Cost) -> None:
    """Check that an object is a cost, and one of this robot.

    Raises
    ------
    ShapeError
    """
    if not all(callable(getattr(cost, name, None)) for name in ("running_cost", "final_cost")):
        raise ShapeError(
            f"cost is {type(cost).__name__}, expected a robodyn.controllers.QuadraticCost, or "
            "another object with running_cost and final_cost",
            name="cost",
            given=cost,
        )
    of = getattr(cost, "robot", robot)
    if (of.nq, of.nv, motor_speeds(of)) != (robot.nq, robot.nv, motor_speeds(robot)):
        raise ShapeError(
            f"cost is one of {of.name!r}, whose coordinates or motors are not those of "
            f"{robot.name!r}",
            name="cost",
            given=of.name,
            expected=robot.name,
        )


@dataclass(frozen=True, eq=False)
class QuadraticCost:
    """A quadratic cost of the distance from a goal and of the forces of motors.

    The cost is ``1/2 integral (x^T state x + tau^T effort tau) dt + 1/2 x^T final x`` with
    ``x = (robot.difference(goal, q), v)``; the last term is for the end of the motion.

    Attributes
    ----------
    robot : Robot
    goal : array_like, shape (nq,) [rad, m]
        Goal at which the robot should come to rest.
    state : array_like, shape (), (2 nv,) or (2 nv, 2 nv) [1/s]
        Positions first, then velocities.
    effort : array_like, shape (), (m,) or (m, m) [1/s]
        Of the m speeds with motors, ascending. Positive.
    final : array_like, shape (), (2 nv,) or (2 nv, 2 nv)

    Raises
    ------
    ShapeError
        For other shapes, and for weights that are negative or not symmetric.

    Examples
    --------
    >>> import robodyn as rd
    >>> from robodyn.controllers import QuadraticCost
    >>> cost = QuadraticCost(rd.load("double_pendulum"), goal=[0.5, 0.0], final=1000.0)
    >>> cost.goal
    [0.5, 0.0]
    """

    robot: Robot
    goal: ArrayLike
    state: ArrayLike = 1.0
    effort: ArrayLike = 1.0
    final: ArrayLike = 100.0
    _goal: FloatArray = field(init=False, repr=False)
    _state: FloatArray = field(init=False, repr=False)
    _effort: FloatArray = field(init=False, repr=False)
    _final: FloatArray = field(init=False, repr=False)
    _slope: StepSlope | None = field(init=False, repr=False)

    def __post_init__(self) -> None:
        check_fields(self)
        motors, nv = motor_speeds(self.robot), self.robot.nv
        goal = np.array(checked("goal", self.goal, self.robot.nq, of=self.robot.name))
        if goal.ndim != 1:
            raise ShapeError(f"goal has shape {goal.shape}, expected ({self.robot.nq},)")
        of_state = "positions along the speeds, then velocities"
        vars(self).update(
            _goal=goal,
            _state=weights("state", self.state, 2 * nv, of_state),
            _effort=weights("effort", self.effort, len(motors), "forces of motors", True),
            _final=weights("final", self.final, 2 * nv, of_state),
            _slope=slope_of_steps(self.robot),
        )

    @checked_call
    def running_cost(
        self, t: FloatArray, q: FloatArray, v: FloatArray, tau: FloatArray
    ) -> Expansion:
        """Costs per second at samples; see `Cost`."""
        left = self._of_state(self._state, q, v)
        n, size = left.slope.shape
        slope = np.concatenate([left.slope, tau @ self._effort], axis=-1)
        curvature = np.zeros((n, slope.shape[-1], slope.shape[-1]))
        curvature[:, :size, :size] = left.curvature
        curvature[:, size:, size:] = self._effort
        return Expansion(
            left.value + 0.5 * np.sum(tau * slope[:, size:], axis=-1), slope, curvature
        )

    @checked_call
    def final_cost(self, q: FloatArray, v: FloatArray) -> Expansion:
        """Costs of states at the end; see `Cost`."""
        return self._of_state(self._final, q, v)

    def _of_state(self, W: FloatArray, q: FloatArray, v: FloatArray) -> Expansion:
        """``1/2 x^T W x`` of states.

        What is left is the step that leads from the goal to the position.
        """
        q, v = state_of(self.robot, q, v)
        nv, left = self.robot.nv, self.robot.difference(self._goal, q)
        x = np.concatenate([left, v], axis=-1)
        pulled = x @ W
        value = 0.5 * np.sum(x * pulled, axis=-1)
        if self._slope is None:
            return Expansion(value, pulled, np.broadcast_to(W, (*value.shape, *W.shape)))
        J = np.zeros((*value.shape, 2 * nv, 2 * nv))
        J[..., :nv, :nv] = np.linalg.inv(self._slope(self._goal, left))
        J[..., nv:, nv:] = np.eye(nv)
        turned = np.swapaxes(J, -1, -2)
        slope = np.einsum("...ij,...j->...i", turned, pulled)
        return Expansion(value, slope, turned @ W @ J)
