"""Admittance control: a measured wrench shifts the reference of a position controller."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import ClassVar

import numpy as np
from numpy.typing import ArrayLike

from robodyn import Robot
from robodyn.arguments import check_fields
from robodyn.array_types import FloatArray
from robodyn.simulation import ControllerSample
from robodyn.simulation.control.controller import State

from ..support.frames import checked_wrench, in_world
from ..support.gains import checked_call, gain, state_of
from ..support.plant import base_path
from ..support.symbols import base_at
from ..wrappers.wrapping import first_forces
from .operational_space import OperationalSpace


@dataclass(frozen=True, eq=False)
class Admittance:
    """A reference that a wrench displaces: ``inertia x'' + damping x' + stiffness x = wrench``.

    ``x`` is the shift of the position controller's reference, in world axes, and ``wrench`` what a
    sensor measures. The position controller determines how stiffly the frame follows.

    The wrench is held from sample to sample, for which the equation is solved exactly. ``x`` is
    zero at the first sample; it is ``run.controller_state["shift"]``.

    Attributes
    ----------
    position : OperationalSpace
        The position controller of the frame; its m components give way.
    wrench : callable
        (t, q, v) -> force and moment, shape (6,) [N, N m], that the surroundings exert on the frame
        about its origin in its axes.
    inertia : float or array_like, shape (m,) [kg, kg m^2]
    damping : float or array_like, shape (m,) [N s/m, N m s/rad]
    stiffness : float or array_like, shape (m,) [N/m, N m/rad]
        Zero: the reference does not return by itself.

    Raises
    ------
    ShapeError
        For gains of another shape, negative or not finite, and no positive inertia; when called, if
        the wrench is none.

    Examples
    --------
    >>> import numpy as np
    >>> import robodyn as rd
    >>> from robodyn.controllers import Admittance, OperationalSpace, PointToPoint
    >>> arm, q = rd.load("puma560"), np.array([0.0, -0.5, 0.8, 0.0, 0.6, 0.0])
    >>> hold = OperationalSpace(arm, "flange", PointToPoint(q, q, 1.0))
    >>> push = np.array([0.0, 0.0, -5.0, 0.0, 0.0, 0.0])     # N, measured at the flange
    >>> soft = Admittance(hold, lambda t, q, v: push, inertia=1.0, damping=20.0, stiffness=100.0)
    >>> run = rd.simulate(arm, soft, q0=q, duration=1.0)
    >>> moved = arm.frame_pose(q, "flange")[:3, :3].T @ (
    ...     arm.frame_pose(run.q[-1], "flange")[:3, 3] - arm.frame_pose(q, "flange")[:3, 3])
    >>> bool(abs(moved - [0, 0, -0.05]).max() < 0.01)     # towards 5 N over 100 N/m
    True
    """

    recorded: ClassVar[tuple[str, ...]] = ("shift",)

    position: OperationalSpace
    wrench: Callable[[float, FloatArray, FloatArray], ArrayLike]
    inertia: ArrayLike
    damping: ArrayLike
    stiffness: ArrayLike
    _m: FloatArray = field(init=False, repr=False)
    _d: FloatArray = field(init=False, repr=False)
    _k: FloatArray = field(init=False, repr=False)
    _steps: dict[float, FloatArray] = field(init=False, repr=False, default_factory=dict)

    def __post_init__(self) -> None:
        check_fields(self)
        size = len(self.position.components)
        object.__setattr__(self, "_m", gain("inertia", self.inertia, size, positive=True))
        object.__setattr__(self, "_d", gain("damping", self.damping, size))
        object.__setattr__(self, "_k", gain("stiffness", self.stiffness, size))

    @property
    def symbolic(self) -> bool:
        """Whether it can be called with symbols: whether the wrench can."""
        return bool(getattr(self.wrench, "symbolic", False))

    @property
    def robot(self) -> Robot:
        """That of the position controller."""
        return self.position.robot

    __call__ = first_forces

    def initial_state(self, sample: ControllerSample) -> State:
        """No shift and no wrench."""
        zeros = np.zeros((*sample.v.shape[:-1], len(self._m)))
        return {"shift": zeros, "rate": zeros, "force": zeros}

    def update(self, sample: ControllerSample, state: State) -> tuple[FloatArray, State]:
        """Torques; the shift of the reference, its rate, and the wrench."""
        force = self.force(sample.t, sample.q, sample.v)
        grown = sample.function_of_dt(self._over)
        known = state["shift"], state["rate"], state["force"]
        x, dx = (sum(grown[:, j, k] * known[k] for k in range(3)) for j in range(2))
        ddx = (force - self._d * dx - self._k * x) / self._m
        tau = self.position.shifted(sample.t, sample.q, sample.v, (x, dx, ddx))
        return tau, {"shift": x, "rate": dx, "force": force}

    @checked_call
    def force(self, t: float, q: FloatArray, v: FloatArray) -> FloatArray:
        """Measured wrench in world axes, the components that give way, shape (..., m)."""
        q, v = state_of(self.position.robot, q, v)
        measured = checked_wrench(self.wrench(t, q, v), t)
        base = base_at(base_path(self.position.robot, self.position.base), t)
        X = self.position.robot.at(t).frame_pose(q, self.position.frame, base=base)
        return in_world(X[..., :3, :3], measured)[..., list(self.position.components)]

    def _over(self, intervals: FloatArray) -> FloatArray:
        """Transition matrices of ``(x, x', wrench)`` over times with a held wrench.

        Of times, shape (n,) [s], they are of shape (n, m, 3, 3).
        """
        found = self._steps.get(float(intervals[0])) if len(intervals) == 1 else None
        if found is None:
            from scipy.linalg import expm

            A = np.zeros((len(self._m), 3, 3))
            A[:, 0, 1] = 1.0
            A[:, 1] = np.stack([-self._k, -self._d, np.ones(len(self._m))], axis=-1)
            A[:, 1] /= self._m[:, None]
            found = np.asarray(expm(intervals[:, None, None, None] * A))
            if len(intervals) == 1:
                self._steps.clear()  # motions with other steps may follow
                self._steps[float(intervals[0])] = found
        return found
