"""Closing the loops of a linkage at the start of a motion and after its steps."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from robodyn.array_types import FloatArray
from robodyn.arrays import all_finite
from robodyn.codegen import Function
from robodyn.errors import AssemblyError, InconsistentStateError, SingularError
from robodyn.robot import Robot
from robodyn.simulation.integrators.method import Coordinates
from robodyn.simulation.loads.driven import Driven
from robodyn.simulation.loads.step_functions import Functions
from robodyn.simulation.step.machine_code.variant import NEWTON
from robodyn.tolerances import LOOP_APART, LOOP_DRIFT, LOOP_OPEN

__all__ = ["LoopKeeper", "close_loops"]

#: Rates of gaps [1/s], a unit of speed, that a gap at the start explains, as parts of it.
SLACK = 10.0


class LoopKeeper:
    """Holds the loops of a robot closed, by the code that machine-code steps call.

    Parameters
    ----------
    robot : Robot
    driven : Driven
        Joints that are not moved for it.
    functions : callable
        Gives the functions of a step, or None.
    coordinates : Coordinates
    """

    def __init__(
        self,
        robot: Robot,
        driven: Driven,
        functions: Callable[[], Functions | None],
        coordinates: Coordinates,
    ) -> None:
        self._robot, self._driven, self._coordinates = robot, driven, coordinates
        self._functions = functions

    def start(
        self, q: FloatArray, v: FloatArray, time: float | None
    ) -> tuple[FloatArray, FloatArray]:
        """The state at the start of a motion; small gaps are closed.

        Raises
        ------
        AssemblyError
            If loops are open; ``.q`` is a closed posture near by, where there is one.
        InconsistentStateError
            If speeds open loops; ``.v`` are the nearest ones that fit.
        """
        residual = self._robot.loop_residual(q, t=time)
        gap = np.abs(residual).max(initial=0.0)
        if gap > LOOP_OPEN:
            nearest = self._nearest(q, time)
            shown = "" if nearest is None else f"; a closed posture near it is {nearest.tolist()}"
            raise AssemblyError(
                f"the loops of {self._robot.name!r} are open by {gap:.3g} (m or rad) at the start: "
                "take q0 from robot.assemble, robot.neutral or robot.random, and with driven "
                f"joints, hold them{shown}",
                residual=residual,
                q=q if nearest is None else nearest,
            )
        closed = self.closed(q, v, time)
        if not self._driven:
            self._check_speeds(v, *closed, time, float(gap))
        return closed

    def _check_speeds(
        self, v: FloatArray, q: FloatArray, nearest: FloatArray, time: float | None, gap: float
    ) -> None:
        """Refuse speeds that open loops by more than closing them from a gap explains."""
        robot = self._robot
        v = np.where(v.any(axis=-1, keepdims=True), v, nearest)
        try:
            robot.check_state(q, v, t=time)
        except SingularError:  # which is no matter of speeds
            return
        except InconsistentStateError as error:
            allowed = robot.model.settings.closure_tolerance + SLACK * gap
            if np.abs(error.rate).max() <= allowed * np.sqrt(1.0 + np.vdot(error.v, error.v)):
                return
            row = error.rows[0] if error.rows else 0
            q, fits = q.reshape(-1, robot.nq)[row], nearest.reshape(-1, robot.nv)[row]
            of = f" of motion {row}" if error.rows else ""
            raise InconsistentStateError(
                f"at the start{of}, {error}; the nearest speeds that fit are {fits.tolist()}",
                residual=error.residual,
                rate=error.rate,
                q=q,
                v=fits,
                loops=error.loops,
                rows=error.rows,
            ) from error

    def _nearest(self, q: FloatArray, time: float | None) -> FloatArray | None:
        """A closed posture near one state; none of many, or if none is found."""
        if q.ndim > 1:
            return None
        try:
            return self._robot.assemble(q, beyond_limits=True, t=time)
        except AssemblyError:
            return None

    def closed(
        self, q: FloatArray, v: FloatArray, time: float | None
    ) -> tuple[FloatArray, FloatArray]:
        """The state with its loops closed by joints that are not driven.

        Raises
        ------
        AssemblyError
            If they do not close.
        """
        q, v = self._corrected(q, v, time)
        hint = "joints are driven where they cannot go" if self._driven else "take shorter steps"
        self.check(q, time, LOOP_APART, hint)
        return q, v

    def _corrected(
        self, q: FloatArray, v: FloatArray, time: float | None
    ) -> tuple[FloatArray, FloatArray]:
        """The same without a look at it: by code, or revealing the rank where there is none."""
        functions = self._functions()
        if functions is not None and functions.corrections is not None:
            given = () if time is None else (time,)
            closed = close_loops(functions.corrections, self._coordinates, q, v, *given)
            if all_finite(closed[0]) and all_finite(closed[1]):
                return closed
        return self._robot.closed_state(q, v, self._driven.is_free, t=time)

    def check(self, q: FloatArray, time: float | None, most: float, hint: str) -> None:
        """Refuse loops that are open by more than a motion can go on with."""
        residual = self._robot.loop_residual(q, t=time)
        gap = np.abs(residual).max(initial=0.0)
        if not gap <= most:
            raise AssemblyError(
                f"the loops of {self._robot.name!r} come apart by {gap:.3g} (m or rad): {hint}",
                residual=residual,
                q=q,
            )


def close_loops(
    corrections: Function, coordinates: Coordinates, q: FloatArray, v: FloatArray, *t: float
) -> tuple[FloatArray, FloatArray]:
    """The state with its loops closed, as near in kinetic energy as can be.

    States of a batch are corrected each for itself: what becomes of one depends on no other.

    Parameters
    ----------
    corrections : Function
        ``loop_corrections``.
    coordinates : Coordinates
    q, v : ndarray, shape (..., nq), (..., nv)
    t : float
        The time [s], of a robot that depends on it.

    Returns
    -------
    q, v : ndarray, shape (..., nq), (..., nv)
        Not numbers where loops cannot be closed.
    """
    for n in range(NEWTON + 1):
        dq, dv, gap = corrections(q, v, *t)
        drifted = gap > LOOP_DRIFT
        if n == NEWTON or not np.any(drifted):
            break
        q = np.where(drifted[..., None], coordinates.move(q, dq), q)
    return coordinates.move(q, dq), v + dv
