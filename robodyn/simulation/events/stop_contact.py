"""Impacts of joints on their rigid stops, and which stops hold their joints afterwards.

A stop pushes and never pulls. Where joints hit their stops, impulses ``p >= 0`` let no joint go on
into its stop; while joints lie at theirs, forces ``f >= 0`` do the same with accelerations. Several
stops at once are one problem of complementarity.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

import numpy as np

from robodyn.array_types import Array, FloatArray
from robodyn.impacts.complementarity import complementary, rebounds
from robodyn.quick_dataclass import dataclass
from robodyn.simulation.events.event import State
from robodyn.simulation.events.impulses import responses
from robodyn.simulation.events.joint_stops import JointStop
from robodyn.tolerances import AT_LIMIT, STOP_SEPARATION


@dataclass(frozen=True, eq=False)
class StopContact:
    """Speeds after impacts on stops, and the stops that hold their joints from then on.

    hit [J]: Stops that gave an impulse, and the energy lost in it; work of the motors of driven
        joints is not counted.
    held: Stops that push from then on.
    """

    v: FloatArray
    hit: Mapping[JointStop, float]
    held: tuple[JointStop, ...]


def stop_contact(
    state: State,
    stops: Sequence[JointStop],
    driven: Sequence[int],
    accelerations: Callable[[FloatArray], FloatArray],
    restitution: float,
    step: float,
    resting: JointStop | None = None,
) -> StopContact:
    """Impacts of joints that are at their stops, and which stops hold them afterwards.

    driven: Speeds that follow paths; those of joints that stops hold are not among them.
    accelerations: v -> accelerations in this posture while no stop holds a joint.
    step [s]: A rebound that is over within it does not happen.
    resting, optional: A stop from which its joint does not rebound, as it would do so without end.
    """
    q, v = state.q, state.v
    at = [stop for stop in stops if stop.gap(q) <= AT_LIMIT and stop.speed not in driven]
    if not at:
        return StopContact(v, {}, ())
    sides, speeds = np.array([stop.side for stop in at]), [stop.speed for stop in at]
    pushes = sides[:, None] * np.eye(state.robot.nv)[speeds]
    jumps = responses(state.robot.at(state.t), q, pushes, driven, state.base)
    A = jumps[:, speeds] * sides
    parting = sides * v[speeds]
    still = STOP_SEPARATION * np.abs(v).max(initial=0.0)
    away = sides * accelerations(v)[speeds]
    stays = np.array([stop == resting for stop in at]) | (np.abs(parting) <= still)
    stays = _stays(A, away, parting, stays, restitution, step)
    e = np.where(stays, 0.0, restitution)
    p = rebounds(A, parting, e)
    hits = (p > 0.0) & (parting < 0.0)
    p += _settling(A, away, parting + A @ p, stays, still, step)
    after = v + p @ jumps
    rest = np.abs(after[speeds]) <= still
    lost = -0.5 * p * (parting + sides * after[speeds])
    hit = {at[k]: float(lost[k]) for k in np.flatnonzero(hits)}
    held: list[JointStop] = []
    if rest.any():
        after[[at[k].speed for k in np.flatnonzero(rest)]] = 0.0
        away = sides * accelerations(after)[speeds]
        f = complementary(A[np.ix_(rest, rest)], away[rest])
        held = [at[k] for k, push in zip(np.flatnonzero(rest), f, strict=True) if push > 0.0]
    return StopContact(after, hit, tuple(held))


def _stays(
    A: FloatArray,
    away: FloatArray,
    parting: FloatArray,
    stays: Array,
    restitution: float,
    step: float,
) -> Array:
    """Which joints are at rest at their stops after a hit, shape (n,), bool.

    They are those that are at rest, and those whose rebound would be over within a step. How long
    a rebound lasts follows from the acceleration under the forces of the stops of all joints at
    rest.

    A (n, n): Accelerations away from the stops a unit of force of each stop.
    away (n,) [rad/s^2, m/s^2]: Accelerations away from the stops while no stop pushes.
    parting (n,) [rad/s, m/s]: Speeds away from the stops before the hit.
    stays (n,), bool: Those that are in any case.
    """
    while True:
        a = away + A[:, stays] @ complementary(A[np.ix_(stays, stays)], away[stays])
        short = (parting < 0.0) & (a < 0.0) & (2.0 * restitution * -parting < -a * step)
        if not (short & ~stays).any():
            return stays
        stays = stays | short


def _settling(
    A: FloatArray, away: FloatArray, parting: FloatArray, stays: Array, still: float, step: float
) -> FloatArray:
    """Impulses that keep joints at their stops for good, shape (n,) [N m s, N s].

    The hit of one joint throws others that are at rest off their stops. Where they would be back
    within a step they stay, held by an impulse of either sign: else each landing would throw the
    next one off. Such impulses only take energy.

    A, away: As of `_stays`.
    parting (n,) [rad/s, m/s]: Speeds away from the stops after the hit.
    stays (n,), bool
    still [rad/s, m/s]
    """
    p, first = np.zeros(len(A)), parting
    while True:
        rest = stays & (np.abs(parting) <= still)
        a = away + A[:, rest] @ complementary(A[np.ix_(rest, rest)], away[rest])
        back = stays & (parting > still) & (2.0 * parting < -a * step)
        back |= parting < -still
        if not back.any():
            return p
        stays = rest | back
        p[stays] += np.linalg.lstsq(A[np.ix_(stays, stays)], -parting[stays], rcond=1e-12)[0]
        parting = A @ p + first
        parting[stays] = 0.0
