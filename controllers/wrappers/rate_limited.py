"""A limit of the rate at which forces change."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike

from robodyn import ShapeError
from robodyn.arguments import check_fields
from robodyn.array_types import FloatArray
from robodyn.simulation import Controller, ControllerSample
from robodyn.simulation.control.controller import INNER, State
from robodyn.symbolic.scalar import clip

from .wrapping import (
    first_forces,
    fitting,
    initial_state_of,
    inner_symbolic,
    positive,
    update_of,
    wrapped,
)


@dataclass(frozen=True, eq=False)
class RateLimited:
    """Another controller whose forces change by no more than ``rate`` per second.

    Its state is the latest forces, ``run.controller_state["torque"]``.

    Attributes
    ----------
    controller : callable
        ``tau = controller(t, q, v)``.
    rate : float or array_like, shape (nv,) [N m/s, N/s]
    start : float or array_like, shape (nv,), optional [N m, N]
        Forces at the first sample. Default: those of the controller.
    robot : Robot, optional
        Default: that of the controller. Only wrappers around this one use it.

    Raises
    ------
    ShapeError
        For rates that are not positive and finite, or of another number than speeds, and for
        ``start`` that is not finite.

    Examples
    --------
    >>> import robodyn as rd
    >>> from robodyn.controllers import GravityCompensation, RateLimited
    >>> robot = rd.load("double_pendulum")
    >>> slow = RateLimited(GravityCompensation(robot), rate=10.0, start=[0.0, 0.0], robot=robot)
    >>> run = rd.simulate(robot, slow, q0=[1.0, 0.0], duration=0.1)
    >>> bool(abs(run.tau[1:] - run.tau[:-1]).max() <= 0.01 + 1e-9)     # 10 N m/s for 1 ms
    True
    """

    recorded: ClassVar[tuple[str, ...]] = ("torque",)

    controller: Controller
    rate: ArrayLike
    start: ArrayLike | None = None
    robot: Any = None
    _rate: FloatArray = field(init=False, repr=False)

    def __post_init__(self) -> None:
        check_fields(self)
        object.__setattr__(self, "robot", wrapped(self.controller, self.robot))
        object.__setattr__(self, "_rate", positive("rate", self.rate))
        if self.start is not None:
            try:
                wrong = not np.all(np.isfinite(np.array(self.start, float)))
            except (TypeError, ValueError):
                wrong = True
            if wrong:
                raise ShapeError(
                    f"start is {self.start!r}, expected forces that are finite",
                    name="start",
                    given=self.start,
                )

    symbolic = inner_symbolic
    __call__ = first_forces

    def initial_state(self, sample: ControllerSample) -> State:
        """The initial forces."""
        inner = initial_state_of(self.controller, sample)
        if self.start is None:
            tau, _ = update_of(self.controller, sample, inner)
        else:
            start = fitting("start", np.array(self.start, float), sample.v.shape[-1])
            tau = start + np.zeros(sample.v.shape)
        return {"torque": tau, INNER: inner}

    def update(self, sample: ControllerSample, state: State) -> tuple[FloatArray, State]:
        """Forces as near to those of the controller as the rate allows."""
        tau, inner = update_of(self.controller, sample, state[INNER])
        rate = fitting("rate", self._rate, tau.shape[-1])
        last, change = state["torque"], rate * sample.h
        tau = clip(tau, last - change, last + change)
        return tau, {"torque": tau, INNER: inner}
