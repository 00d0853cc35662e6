"""The whole state of a robot from what was measured of it; nothing here needs ROS."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

import robodyn as rd
from robodyn.ros.messages import Measured, StateNames

__all__ = ["Estimator", "State"]

Array = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class State:
    """Position and velocity with loops closed.

    Attributes
    ----------
    q, v : ndarray, shape (nq,), (nv,)
    """

    q: Array
    v: Array


class Estimator:
    """Completes measured joints: mimic joints, and joints that loops determine.

    The last state is the guess for the next one, which keeps a linkage on its branch.

    Parameters
    ----------
    names : StateNames
    """

    def __init__(self, names: StateNames) -> None:
        self.names = names
        self._last: Array = names.robot.neutral()

    def complete(self, measured: Measured) -> State:
        """The state that agrees with what was measured.

        Where more was measured than the loops leave free, motors' joints have the last word and
        the others start the search. Speeds that were not measured and that no loop determines are
        zero.

        Raises
        ------
        UnknownNameError
            If joints are missing that nothing determines; ``.name`` lists them.
        AssemblyError
        """
        robot, q = self.names.robot, self._last.copy()
        known = ~np.isnan(measured.q)
        q[known] = measured.q[known]
        speeds = np.where(np.isnan(measured.v), 0.0, measured.v)
        if not robot.nc:
            self._demand(measured.missing)
            self._last = q
            return State(q, speeds)
        held = self._held(q, measured)
        q = robot.assemble(q, hold=held)
        v = robot.consistent_velocity(q, speeds, hold=held)
        self._last = q
        return State(q, v)

    def _held(self, q: Array, measured: Measured) -> list[str]:
        """Measured joints that determine all others, motors first."""
        robot = self.names.robot
        motors = self.names.motors
        own = [n for n in (*motors, *self.names.names) if n not in measured.missing]
        given = [n for n in dict.fromkeys(own) if self.names.is_own(n)]
        free = _null_space(robot.loop_jacobian(q))
        chosen: list[str] = []
        basis = np.zeros((0, free.shape[1]))
        for name in given:
            more = np.vstack([basis, free[self.names.speed(name)]])
            if np.linalg.matrix_rank(more, tol=1e-6) == len(more):
                chosen, basis = [*chosen, name], more
        if len(chosen) < free.shape[1]:
            self._demand(tuple(n for n in measured.missing if n not in self.names.multi))
        return chosen

    def _demand(self, missing: tuple[str, ...]) -> None:
        if missing:
            raise rd.UnknownNameError(
                "measurement of", ", ".join(missing), self.names.names, repr(self.names.robot.name)
            )


def _null_space(K: Any) -> Array:
    _, sizes, rows = np.linalg.svd(np.asarray(K, float))
    rank = int(np.sum(sizes > 1e-9 * max(float(sizes.max(initial=0.0)), 1e-300)))
    return np.asarray(rows[rank:].T)
