"""The whole state of a robot from what was measured of it; nothing here needs ROS."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

import robodyn as rd
from robodyn.array_types import FloatArray
from robodyn.ros.engine.messages import Measured, StateNames

#: Held joints move by so much [rad, m] between two closures: far steps end on other branches.
STEP = 0.1
#: Most closures for one message.
MAX_CLOSURES = 100
#: Positions that are farther away [rad, m] were not measured.
FAR = 1e3
#: Measured joints that are farther [rad, m] from where the loops have them contradict these.
AGREE = 0.1


@dataclass(frozen=True, eq=False)
class State:
    """Position and velocity with loops closed.

    Attributes
    ----------
    q, v : ndarray, shape (nq,), (nv,)
    """

    q: FloatArray
    v: FloatArray


class Estimator:
    """Completes measured joints: mimic joints, and joints that loops determine.

    The last state is the guess for the next one, which keeps a linkage on its branch.
    """

    def __init__(self, names: StateNames) -> None:
        self.names = names
        self._last: FloatArray = names.robot.neutral()

    def complete(self, measured: Measured) -> State:
        """The state that agrees with what was measured.

        Where more was measured than the loops leave free, motors' joints have the last word and
        the others start the search. Speeds that were not measured and that no loop determines are
        zero.

        Raises UnknownNameError: If joints are missing that nothing determines; ``.name`` lists
            them.
        Raises AssemblyError: If the loops cannot be closed, or other measured joints contradict
            them.
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
        q = self._closed(q, held)
        self._check(q, measured)
        v = robot.consistent_velocity(q, speeds, hold=held)
        self._last = q
        return State(q, v)

    def _closed(self, q: FloatArray, held: list[str]) -> FloatArray:
        """Posture near ``q`` with loops closed, reached from the last one without leaps."""
        robot = self.names.robot
        at = [self.names.coordinate(name) for name in held]
        way = q[at] - self._last[at]
        if not np.abs(way).max(initial=0.0) < FAR:
            raise rd.AssemblyError(f"measured positions are more than {FAR:g} away", q=q)
        steps = int(min(np.ceil(np.abs(way).max(initial=0.0) / STEP), MAX_CLOSURES))
        near = self._last.copy()
        try:
            for k in range(1, steps):
                near[at] = self._last[at] + way * k / steps
                near = robot.assemble(near, hold=held, beyond_limits=True)
        except rd.AssemblyError:
            # the straight way there is barred
            return robot.assemble(q, hold=held, beyond_limits=True)
        known = q != self._last  # else nothing new was measured: what was reached is nearer
        return robot.assemble(np.where(known, q, near), hold=held, beyond_limits=True)

    def _check(self, q: FloatArray, measured: Measured) -> None:
        names = self.names
        given = [n for n in names.names if names.is_own(n) and n not in measured.missing]
        at = [names.coordinate(name) for name in given]
        gap = np.abs(measured.q[at] - q[at])
        turns = [_turns(names.robot, n) for n in given]
        gap = np.where(turns, np.abs(np.remainder(gap + np.pi, 2.0 * np.pi) - np.pi), gap)
        if gap.max(initial=0.0) > AGREE:
            raise rd.AssemblyError(
                f"{given[int(gap.argmax())]} was measured {gap.max():.3g} (rad or m) away from "
                "where the loops have it",
                q=q,
            )

    def _held(self, q: FloatArray, measured: Measured) -> list[str]:
        """Measured joints that determine all others, motors first."""
        from scipy.linalg import null_space

        robot, motors = self.names.robot, self.names.motors
        own = [n for n in (*motors, *self.names.names) if n not in measured.missing]
        given = [n for n in dict.fromkeys(own) if self.names.is_own(n)]
        free = null_space(robot.loop_jacobian(q), rcond=1e-9)
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


def _turns(robot: rd.Robot, name: str) -> bool:
    """A scalar coordinate is an angle, which may be given a turn more or less."""
    joint, _, axis = name.removesuffix("]").partition("[")
    return robot.joints[joint].kind.unit(int(axis or 0)) != "m"
