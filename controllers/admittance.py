"""A robot that is led along positions, and lets what pushes it move them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import ArrayLike

from robodyn import ShapeError
from robodyn.array_types import FloatArray
from robodyn.controllers.gains import function, gain
from robodyn.controllers.operational_space import OperationalSpace
from robodyn.controllers.plant import base_path
from robodyn.controllers.symbols import asked, base_at
from robodyn.controllers.wrench import in_world, positive, six

__all__ = ["Admittance"]


@dataclass(frozen=True, eq=False)
class Admittance:
    """The reference of a frame gives way: ``inertia x'' + damping x' + stiffness x = wrench``.

    ``x`` is how far it is beside that of the position controller, in world axes, and ``wrench``
    what a sensor measures. How stiffly the frame follows it is the position controller's matter.

    It has a memory, that of ``x``, which each motion begins at rest with none: `robodyn.simulate`
    asks for a fresh one. The wrench is held from one call to the next, and for that the equation is
    solved exactly.

    Attributes
    ----------
    position : OperationalSpace
        What leads the frame; its components, m of them, give way.
    wrench : callable
        (t, q, v) -> force and moment, shape (6,) [N, N m], that the surroundings exert on the frame
        about its origin in its axes.
    inertia : float or array_like, shape (m,) [kg, kg m^2]
    damping : float or array_like, shape (m,) [N s/m, N m s/rad]
    stiffness : float or array_like, shape (m,) [N/m, N m/rad]
        Zero: it does not come back.

    Raises
    ------
    ShapeError
        For gains of another shape, negative or not finite, and no positive inertia; when called, if
        the wrench is none.
    """

    position: OperationalSpace
    wrench: Callable[[float, FloatArray, FloatArray], ArrayLike]
    inertia: ArrayLike
    damping: ArrayLike
    stiffness: ArrayLike
    _m: FloatArray = field(init=False, repr=False)
    _d: FloatArray = field(init=False, repr=False)
    _k: FloatArray = field(init=False, repr=False)

    def __post_init__(self) -> None:
        if not isinstance(self.position, OperationalSpace):
            raise ShapeError(
                f"position is {type(self.position).__name__}, expected a "
                "robodyn.controllers.OperationalSpace, which leads the frame",
                name="position",
                given=self.position,
            )
        function("wrench", self.wrench, "(t, q, v) that returns force and moment, shape (6,)")
        size = len(self.position.components)
        object.__setattr__(self, "_m", positive("inertia", self.inertia, size))
        object.__setattr__(self, "_d", gain("damping", self.damping, size))
        object.__setattr__(self, "_k", gain("stiffness", self.stiffness, size))

    def __call__(self, t: float, q: FloatArray, v: FloatArray) -> FloatArray:
        """Torques, shape (..., nv) [N m, N], at the start of a motion: nothing has given way."""
        return self.fresh()(t, q, v)

    def fresh(self) -> Callable[[float, FloatArray, FloatArray], FloatArray]:
        """The same at the start of a motion, with a memory of that motion alone."""
        return _Yielding(self)

    def force(self, t: float, q: FloatArray, v: FloatArray) -> FloatArray:
        """What the sensor measures, in world axes, of the components that give way, (..., m)."""
        measured = six(self.wrench(t, q, v), t)
        base = base_at(base_path(self.position.robot, self.position.base), t)
        pose = {"frame": self.position.frame}
        X = asked(self.position.robot, "frame_pose", {"q": q}, base, t, **pose)
        return in_world(X[..., :3, :3], measured)[..., list(self.position.components)]

    def rate(self) -> FloatArray:
        """Matrices of the equations of ``(x, x', wrench)``, with the wrench held, (m, 3, 3)."""
        A = np.zeros((len(self._m), 3, 3))
        A[:, 0, 1] = 1.0
        A[:, 1] = np.stack([-self._k, -self._d, np.ones(len(self._m))], axis=-1) / self._m[:, None]
        return A


class _Yielding:
    """An admittance within a motion, called with ascending times."""

    def __init__(self, settings: Admittance) -> None:
        self._settings = settings
        self._rate = settings.rate()
        self._x: FloatArray | None = None
        self._t = 0.0
        self._steps: dict[float, FloatArray] = {}

    def __call__(self, t: float, q: FloatArray, v: FloatArray) -> FloatArray:
        force = self._settings.force(t, q, v)
        if self._x is None:
            self._x = np.zeros((*v.shape[:-1], len(self._rate), 3))
        elif t > self._t:
            self._x = np.einsum("ijk,...ik->...ij", self._over(t - self._t), self._x)
        self._t = t
        self._x[..., 2] = force
        x, dx = self._x[..., 0], self._x[..., 1]
        ddx = np.einsum("ij,...ij->...i", self._rate[:, 1], self._x)
        return self._settings.position.shifted(t, q, v, (x, dx, ddx))

    def _over(self, interval: float) -> FloatArray:
        """What an interval [s] makes of ``(x, x', wrench)``, shape (m, 3, 3)."""
        from scipy.linalg import expm

        if interval not in self._steps:
            self._steps = {interval: expm(interval * self._rate)}
        return self._steps[interval]
