"""What drives and loads a robot in a motion, and the accelerations that follow."""

from __future__ import annotations

import copy
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from robodyn.array_types import FloatArray
from robodyn.arrays import by_name, numbers
from robodyn.errors import ShapeError
from robodyn.motion.base_motion import BaseMotion
from robodyn.robot import Robot
from robodyn.simulation.loads.driven import Driven
from robodyn.simulation.loads.path_tables import Paths
from robodyn.simulation.loads.step_functions import Functions, functions_of

__all__ = ["BaseAt", "Loads", "WrenchesAt"]

BaseAt = Callable[[float], BaseMotion]
WrenchesAt = Callable[[float, FloatArray, FloatArray], Mapping[str, ArrayLike]]


class Loads:
    """Driven joints, the motion of the base, external wrenches, and gains that hold loops closed.

    Parameters
    ----------
    robot : Robot
    driven : Driven
    base : callable or None
        Time [s] -> `BaseMotion`, for a robot with a moving base.
    wrenches : mapping or callable, or None
        External wrenches by link, shape (..., 6) [N, N m]; a callable gets ``(t, q, v)``.
    gains : (float, float) or None
    """

    def __init__(
        self,
        robot: Robot,
        driven: Driven,
        base: BaseAt | None,
        wrenches: Mapping[str, ArrayLike] | WrenchesAt | None,
        gains: tuple[float, float] | None,
    ) -> None:
        self.robot, self.driven, self.base, self.gains = robot, driven, base, gains
        self._wrenches: Any = wrenches
        if not callable(wrenches):
            given = by_name("wrenches", wrenches)
            self._wrenches = {
                link: numbers(f"wrench:{link}", x).copy() for link, x in given.items()
            }
        #: Accelerations follow from the state and forces, and nothing else.
        self.nothing = base is None and not self._wrenches and not robot.depends_on_time

    @property
    def of_the_state(self) -> bool:
        """Wrenches are functions of the state, which Python has to be asked for."""
        return callable(self._wrenches)

    @property
    def paths(self) -> Paths:
        """The same where all is known beforehand."""
        return Paths(self.driven, self.base, self._wrenches, self.gains)

    def functions(self) -> Functions | None:
        """The functions that a step calls; none where there is no straight-line code."""
        links = () if self.of_the_state else self._wrenches
        return functions_of(self.robot, self.driven, links, self.gains is not None)

    def of_row(self, row: int, rows: int) -> Loads:
        """The same on one of many motions."""
        if self.of_the_state or all(x.ndim == 1 for x in self._wrenches.values()):
            return self
        other = copy.copy(self)
        one = {k: np.broadcast_to(x, (rows, 6))[row] for k, x in self._wrenches.items()}
        other._wrenches = one
        return other

    def time(self, t: float) -> float | None:
        """The time, for methods of a robot that depends on it."""
        return t if self.robot.depends_on_time else None

    def accelerations(
        self, t: float, q: FloatArray, v: FloatArray, tau: FloatArray, wanted: FloatArray | None
    ) -> tuple[FloatArray, FloatArray]:
        """Accelerations and forces, with the accelerations of driven joints that are wanted.

        Parameters
        ----------
        t : float [s]
        q, v, tau : ndarray, shape (..., nq), (..., nv), (..., nv)
        wanted : ndarray, shape (n,), or None
            Of driven speeds, in their order; None without any.
        """
        robot, driven = self.robot, self.driven
        if wanted is None and robot.nc:  # within a step loops are open a little
            wanted = np.zeros(0)
        options: dict[str, Any] = {}
        if not self.nothing:
            base = self.base(t) if self.base else None
            options = {"base": base, "wrenches": self.wrenches_at(t, q, v), "t": self.time(t)}
        if wanted is None:
            return robot.forward_dynamics(q, v, tau, **options), tau
        if self.gains is not None:
            options["stabilization"] = self.gains
        free = tau[..., driven.free]
        return robot.driven_dynamics(q, v, wanted, free, driven.speeds, **options)

    def wrenches_at(self, t: float, q: FloatArray, v: FloatArray) -> Mapping[str, ArrayLike]:
        """External wrenches by link in a state."""
        if not self.of_the_state:
            return self._wrenches  # type: ignore[no-any-return]
        given = self._wrenches(t, q.copy(), v.copy())
        if not isinstance(given, Mapping):
            raise ShapeError(
                f"wrenches returned {type(given).__name__} at t = {t:.6g} s, expected a mapping of "
                "link name to six numbers [N, N m]",
                name="wrenches",
                given=given,
            )
        return given
