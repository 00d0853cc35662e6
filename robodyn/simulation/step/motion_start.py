"""The state of a linkage at the start of a motion."""

from __future__ import annotations

import numpy as np

from robodyn.array_types import FloatArray
from robodyn.closed_loops.constraints.open_loops import largest_gap
from robodyn.errors import AssemblyError, InconsistentStateError, SingularError
from robodyn.robot import Robot
from robodyn.simulation.loads.actuated_speeds import joints_of
from robodyn.simulation.step.operations.numeric import NumericOperations
from robodyn.tolerances import LOOP_OPEN

#: Largest rate of gaps per unit of speed, over the gap at the start, that the gap explains [1/s].
SLACK = 10.0


def closed_start(
    operations: NumericOperations, t: float, q: FloatArray, v: FloatArray
) -> tuple[FloatArray, FloatArray]:
    """The state at the start of a motion; small gaps of loops are closed.

    q, v (..., nq), (..., nv): Driven joints have to be on their paths.
    Raises AssemblyError: If loops are open; ``.q`` is a closed posture nearby, if there is one.
    Raises InconsistentStateError: If speeds open loops of a robot without driven joints; ``.v`` are
        the nearest ones that fit.
    """
    robot = operations.loads.robot.at(t)
    residual = robot.loop_residual(q)
    gap = np.abs(residual).max(initial=0.0)
    if gap > LOOP_OPEN:
        driven = [*joints_of(robot, operations.loads.driven.speeds)]
        nearest = _nearest(robot, q, driven)
        shown = "" if nearest is None else f"; a closed posture near it is {nearest.tolist()}"
        loop, size = largest_gap(robot.model, residual)
        raise AssemblyError(
            f"the loops of {robot.name!r} are open by {size} ({loop!r}) at the start"
            f"{_of_paths(robot, q, driven)}{shown}",
            residual=residual,
            q=q if nearest is None else nearest,
        )
    closed = operations.closed(t, q, v)
    if not operations.loads.driven:
        _check_speeds(robot, v, *closed, float(gap))
    return closed


def _check_speeds(
    robot: Robot, v: FloatArray, q: FloatArray, nearest: FloatArray, gap: float
) -> None:
    """Refuse speeds that open loops by more than closing them from a gap explains."""
    v = np.where(v.any(axis=-1, keepdims=True), v, nearest)
    try:
        robot.check_state(q, v)
    except SingularError:  # reported elsewhere
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


def _of_paths(robot: Robot, q: FloatArray, driven: list[str]) -> str:
    """Where to take a start from, whose driven joints are where their paths begin."""
    if not driven:
        return ": take q0 from robot.assemble, robot.neutral or robot.random"
    shown = [f"{name} at {_short(q[..., robot.joints[name].q])}" for name in driven]
    return (
        f", with each driven joint on its path: {', '.join(shown)}. Take q0 from "
        f"robot.assemble(q, hold={driven}), with these positions in q"
    )


def _short(x: FloatArray) -> str:
    """One number, or several, or those of the first motion of a batch."""
    return ", ".join(f"{value:.6g}" for value in x.reshape(-1, x.shape[-1])[0])


def _nearest(robot: Robot, q: FloatArray, hold: list[str]) -> FloatArray | None:
    """A closed posture near a single state; ``None`` for many states, or if none is found."""
    if q.ndim > 1:
        return None
    try:
        return robot.assemble(q, hold=hold, beyond_limits=True)
    except AssemblyError:
        return None
