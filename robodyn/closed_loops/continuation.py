"""Following one branch of a closed linkage from posture to posture.

With its independent joints at the same place, a linkage can be assembled in several ways. Two ways
meet only at singular postures; elsewhere small steps with loops closed stay on one branch. A step
that ends elsewhere than its tangent predicts has jumped to another branch and is not taken.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from robodyn.errors import AssemblyError

__all__ = ["Followed", "follow"]

Array = NDArray[np.float64]

#: Longest step of a motion [rad, m], shortest step worth trying, most steps of one motion.
LONGEST, SHORTEST, MOST = 0.1, 1e-4, 2000

#: Gap [m, rad] that a predicted step may leave after some Newton steps.
NEARLY = 1e-6

#: A step may differ from its prediction by this part of the prediction.
SURPRISE = 0.3


@dataclass(frozen=True, eq=False)
class Followed:
    """Where a motion came to.

    Attributes
    ----------
    q : ndarray, shape (nq,)
        Closed, on the branch of the start.
    end : str
        What keeps it from its goal: "" if it came there, ``"branch"`` where the branch ends, else
        the joint that is at its limit.
    """

    q: Array
    end: str


def follow(robot: Any, q: Array, goal: Array, held: Sequence[int], hold: Sequence[str]) -> Followed:
    """Move some joints of a closed linkage to where they are at a goal; the others follow.

    Parameters
    ----------
    robot : Robot
    q : ndarray, shape (nq,)
        Closed.
    goal : ndarray, shape (nq,)
        Of it, only the coordinates of the joints that are moved count.
    held : sequence of int
        Their speeds.
    hold : sequence of str
        The same as `Robot.assemble` takes them.
    """
    longest, now, end = LONGEST, np.array(q, float), "branch"
    for _ in range(MOST):
        left = robot.difference(now, goal)[list(held)]
        size = float(np.abs(left).max(initial=0.0))
        if size < 1e-12:
            return Followed(now, "")
        step = left * min(1.0, longest / size)
        new, end = _step(robot, now, list(held), hold, step)
        if new is not None:
            now, longest = new, min(2.0 * longest, LONGEST)
        elif longest > SHORTEST:
            longest = 0.5 * min(longest, size)
        else:
            break
    return Followed(now, end)


def _step(
    robot: Any, q: Array, held: list[int], hold: Sequence[str], step: Array
) -> tuple[Array | None, str]:
    """A closed posture one step on, or what is in the way."""
    K = robot.loop_jacobian(q)
    rest = [k for k in range(robot.nv) if k not in held]
    predicted = np.zeros(robot.nv)
    predicted[held] = step
    predicted[rest] = -np.linalg.pinv(K[:, rest], rcond=1e-9) @ (K[:, held] @ step)
    free = np.isin(np.arange(robot.nv), rest)
    near, _ = robot.closed_state(robot.integrate(q, predicted), np.zeros(robot.nv), free)
    if not np.abs(robot._gap(near)).max(initial=0.0) < NEARLY:
        return None, "branch"  # assembling from here would search far away
    limited = _beyond_limits(robot, q, near)
    if limited:
        return None, limited
    try:
        new = robot.assemble(near, hold=hold)
    except AssemblyError:
        return None, "branch"
    surprise = np.abs(robot.difference(q, new) - predicted).max()
    if not surprise <= SURPRISE * np.abs(predicted).max():
        return None, "branch"
    return new, ""


def _beyond_limits(robot: Any, q: Array, new: Array) -> str:
    """A joint that goes (farther) beyond a limit."""
    low, high = robot.lower_limits - 1e-9, robot.upper_limits + 1e-9
    out = ((new < low) & (new < q)) | ((new > high) & (new > q))
    return next((n for n in robot.joint_names if out[robot.joints[n].q].any()), "")
