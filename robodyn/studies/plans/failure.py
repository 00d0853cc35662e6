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

#: Begins of names of equations that give way first.
SOFT = ("constraint", "periodic", "orientation")

ADVICE = "; give more time, wider limits, or another initial motion"


def failure(mesh: Transcription, rows: Mapping[str, Rows], end: Found) -> PlanError:
    """The error for a search that has ended without success.

    The goal and constraints of the user give way, each by the same number everywhere, and the sum
    of these is the cost of another search: prices say what keeps it from being zero. If there is no
    motion then, limits of motor forces give way, too.
    """
    for with_forces in (True, False):
        soft = {name: x for name, x in rows.items() if name.startswith(SOFT)}
        goal = mesh.goal()
        soft |= {"goal": goal} if goal is not None else {}
        if not with_forces:
            names = _motors(mesh)
            soft |= {_limit("force", names[k]): x for k, x in enumerate(mesh.forces())}
        if not soft:
            continue
        found = _softened(mesh, rows, soft, end, with_forces)
        if not found.status:
            return _told(mesh, dict(zip(soft, found.z[-len(soft) :].tolist(), strict=True)), found)
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


def _softened(
    mesh: Transcription,
    rows: Mapping[str, Rows],
    soft: Mapping[str, Rows],
    end: Found,
    with_forces: bool,
) -> Found:
    """Where some equations give way as little as possible."""
    n, blocks = len(soft), mesh.blocks.with_numbers(len(soft))
    every = {name: x for name, x in rows.items() if name not in soft}
    for k, (name, x) in enumerate(soft.items()):
        give, endless = blocks.points[-1][k], np.full(x.lower.size, np.inf)
        every[name] = Rows(x.value - give, -endless, x.upper)
        every[f"{name} from below"] = Rows(x.value + give, x.lower, endless)
    low, high = mesh.bounds(with_goal=False, with_forces=with_forces)
    bounds = np.append(low, np.zeros(n)), np.append(high, np.full(n, np.inf))
    cost = sum(blocks.results[-1][k] for k in range(n))
    return blocks.solve(cost, every, bounds, np.append(end.z, np.ones(n)))


def _told(mesh: Transcription, gives: Mapping[str, float], found: Found) -> PlanError:
    missed = {name: x for name, x in gives.items() if x > PLAN_MISSED}
    if not missed:
        return PlanError(
            "no motion of least cost was found, though there are motions that keep all "
            "constraints: give another initial motion, more nodes, or another cost",
            residuals=gives,
        )
    # by how much less would be missed if a limit or a bound were twice as wide
    prices = {name: float(np.abs(x).sum()) for name, x in found.multipliers.items()}
    against = {
        name: prices[name] + prices.get(f"{name} from below", 0.0)
        for name in prices
        if name == "friction" or name in gives
    }
    low, high = mesh.bounds(with_goal=False)
    sizes = np.where(found.of_bounds[: low.size] > 0.0, high, low)
    sizes = np.where((low < high) & np.isfinite(sizes), sizes, 0.0)
    against |= _limits(mesh, sizes * found.of_bounds[: low.size])
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
    robot, prices = mesh.problem.robots[0], mesh.by_time(of_bounds)
    speeds = speed_names(robot)
    places = [f"q[{k}]" for k in range(robot.nq)] if robot.nq != robot.nv else speeds
    each = (
        ("position", "q", places),
        ("velocity", "v", speeds),
        ("force", "forces", _motors(mesh)),
    )
    return {
        _limit(what, name): x
        for what, key, names in each
        for name, x in zip(names, np.abs(prices[key]).sum(axis=0).tolist(), strict=True)
    }


def _limit(what: str, name: str) -> str:
    return f"the limit of {what} of {name!r}"


def _motors(mesh: Transcription) -> list[str]:
    """Names of motors: of their joints, if each has one."""
    names, count = [*mesh.problem.robots[0].actuated_joints], mesh.equations[0].motors
    return names if len(names) == count else [str(k) for k in range(count)]
