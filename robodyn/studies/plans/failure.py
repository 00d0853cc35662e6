"""Why no motion was found: what is missed at least, and what stands against it."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from robodyn.array_types import FloatArray
from robodyn.errors import PlanError
from robodyn.simulation.loads.column_names import speed_names
from robodyn.studies.plans.sparse_program import Found, Rows
from robodyn.studies.plans.transcription import Transcription
from robodyn.tolerances import PLAN_AGAINST, PLAN_MISSED

ADVICE = "; give more time, wider limits, or another initial motion"


def failure(mesh: Transcription, rows: Mapping[str, Rows], end: Found) -> PlanError:
    """The error for a search that has ended without success.

    The goal and constraints of the user give way, each by the same number everywhere, and the sum
    of these is the cost of another search: prices say what keeps it from being zero.
    """
    soft = {name: x for name, x in rows.items() if name.startswith(("constraint", "periodic"))}
    goal = mesh.goal()
    soft |= {"goal": goal} if goal is not None else {}
    if soft:
        blocks = mesh.blocks.with_numbers(len(soft))
        hard = {name: x for name, x in rows.items() if name not in soft}
        for k, (name, x) in enumerate(soft.items()):
            give, endless = blocks.points[-1][k], np.full(x.lower.size, np.inf)
            hard[name] = Rows(x.value - give, -endless, x.upper)
            hard[f"{name} from below"] = Rows(x.value + give, x.lower, endless)
        low, high = mesh.bounds(with_goal=False)
        n = len(soft)
        bounds = np.append(low, np.zeros(n)), np.append(high, np.full(n, np.inf))
        cost = blocks.results[-1][0]
        for k in range(1, n):
            cost += blocks.results[-1][k]
        found = blocks.solve(cost, hard, bounds, np.append(end.z, np.ones(n)))
        if not found.status:
            return _told(mesh, dict(zip(soft, found.z[-n:].tolist(), strict=True)), found)
    missed = {
        name: float(np.maximum(x.lower - end.values[name], end.values[name] - x.upper).max())
        for name, x in rows.items()
    }
    worst = sorted(((x, name) for name, x in missed.items() if x > PLAN_MISSED), reverse=True)
    told = ", ".join(f"{name} by {x:.3g}" for x, name in worst)
    return PlanError(
        f"no motion was found ({end.status}): "
        + (f"missed are {told}" if worst else "all constraints hold, but the cost still falls")
        + ADVICE,
        residuals=missed,
    )


def _told(mesh: Transcription, gives: Mapping[str, float], found: Found) -> PlanError:
    missed = {name: x for name, x in gives.items() if x > PLAN_MISSED}
    if not missed:
        return PlanError(
            "no motion of least cost was found, though there are motions that keep all "
            "constraints: give another initial motion, more nodes, or another cost",
            residuals=gives,
        )
    prices = {name: float(np.abs(x).sum()) for name, x in found.multipliers.items()}
    against = {
        name: prices[name] + prices.get(f"{name} from below", 0.0)
        for name in prices
        if name == "friction" or name in gives
    }
    low, high = mesh.bounds(with_goal=False)
    against |= _limits(mesh, np.where(low < high, found.of_bounds[: low.size], 0.0))
    most = max(against.values())
    names = [x for x in sorted(against, key=against.__getitem__, reverse=True) if x not in missed]
    names = [name for name in names if against[name] > PLAN_AGAINST * most]
    told = ", ".join(f"{name} by {x:.3g}" for name, x in missed.items())
    return PlanError(
        f"no motion was found: missed is {told} at least"
        + (f", and what stands against it is {', '.join(names)}" if names else "")
        + ADVICE,
        residuals=gives,
        conflict=(*missed, *names),
    )


def _limits(mesh: Transcription, of_bounds: FloatArray) -> dict[str, float]:
    """Prices of limits, by what they are of."""
    robot, prices = mesh.asked.robots[0], mesh.by_time(of_bounds)
    speeds = speed_names(robot)
    places = [f"q[{k}]" for k in range(robot.nq)] if robot.nq != robot.nv else speeds
    motors = [*robot.actuated_joints]
    if len(motors) != prices["forces"].shape[1]:
        motors = [str(k) for k in range(prices["forces"].shape[1])]
    each = (("position", "q", places), ("velocity", "v", speeds), ("force", "forces", motors))
    return {
        f"the limit of {what} of {name!r}": x
        for what, key, names in each
        for name, x in zip(names, np.abs(prices[key]).sum(axis=0).tolist(), strict=True)
    }
