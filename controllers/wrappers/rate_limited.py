"""Forces that do not change faster than motors can."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike

from robodyn import ShapeError
from robodyn.arguments import check_fields
from robodyn.array_types import FloatArray
from robodyn.simulation import ControllerSample, StatefulController

from ..support.gains import checked_call
from ..support.symbols import cut, is_symbolic
from .wrapping import (
    Controller,
    alone,
    asked_of,
    fitting,
    positive,
    remembering,
    wrapped,
)

__all__ = ["RateLimited"]


@dataclass(frozen=True, eq=False)
class RateLimited:
    """Another controller whose forces change by no more than ``rate`` times the time that passes.

    It remembers the forces that it asked for last: ``run.memory["torque"]``.

    Attributes
    ----------
    controller : callable
        ``tau = controller(t, q, v)``.
    rate : float or array_like, shape (nv,) [N m/s, N/s]
    start : float or array_like, shape (nv,), optional [N m, N]
        Forces at the first look. Default: what the controller asks for then.
    robot : Robot, optional
        Default: that of the controller. It is not used here; wrappers around this one ask for it.

    Raises
    ------
    ShapeError
        For rates that are not positive and finite, or of another number than speeds, and for
        ``start`` that is not finite.
    """

    remembers: ClassVar[tuple[str, ...]] = ("torque",)

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

    @property
    def symbolic(self) -> bool:
        """Whether it is arithmetic only: whether the controller in it is."""
        return bool(getattr(self.controller, "symbolic", False))

    @checked_call
    def __call__(self, t: float, q: FloatArray, v: FloatArray) -> FloatArray:
        """What it asks for at its first look, at time ``t`` [s], shape (..., nv) [N m, N]."""
        return alone(self, t, q, v)

    def fresh(self) -> StatefulController:
        """The same at the start of a motion, with a memory of that motion alone."""
        return remembering(self)

    def answer(
        self, look: ControllerSample, memory: Any
    ) -> tuple[FloatArray, dict[str, FloatArray]]:
        """Forces as they may be, after those that are remembered."""
        tau = asked_of(self.controller, look.t, look.q, look.v)
        nv = tau.shape[-1]
        rate = fitting("rate", self._rate, nv)
        if memory is not None:
            tau = _within(tau, memory["torque"], rate * look.h)
        elif self.start is not None:
            tau = fitting("start", np.array(self.start, float), nv) + np.zeros(tau.shape)
        return tau, {"torque": tau}


def _within(tau: FloatArray, last: FloatArray, change: FloatArray) -> FloatArray:
    """Forces, or what is nearest to them and differs from the last ones by no more than that."""
    if not is_symbolic(tau):
        return np.clip(tau, last - change, last + change)
    return np.asarray(last + cut(tau - last, change), object)
