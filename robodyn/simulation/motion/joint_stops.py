"""Joint limits as rigid stops: impacts of joints on their stops, and joints that stops hold.

A stop pushes and never pulls. Where joints hit their stops, impulses ``p >= 0`` let no joint go on
into its stop; while joints lie at theirs, forces ``f >= 0`` do the same with accelerations. Several
stops at once are one problem of complementarity.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from robodyn.arguments import check_fields
from robodyn.array_types import Array, FloatArray
from robodyn.arrays import named_alone
from robodyn.errors import SettingsError, ShapeError
from robodyn.impacts.complementarity import complementary, rebounds
from robodyn.robot import Robot
from robodyn.simulation.events.impulses import responses
from robodyn.simulation.motion.mode import Mode
from robodyn.simulation.step.stepper import Stepper
from robodyn.simulation.trajectory.states.event_record import EventRecord
from robodyn.tolerances import AT_LIMIT, STOP_SEPARATION

__all__ = [
    "Contact",
    "JointStop",
    "RigidStops",
    "check_start",
    "event_records",
    "joint_stops_of",
    "resolve_stops",
]


@dataclass(frozen=True)
class RigidStops:
    """Joint limits that nothing passes.

    A joint that reaches its limit rebounds, and stays at it once a rebound would last less than a
    step; it is held there while the stop pushes, and leaves when the stop would have to pull.

    Attributes
    ----------
    restitution : float
        Speed away from the stop over that towards it: 0 plastic, 1 elastic.
    joints : names of joints, optional
        Default: all with coordinates of their own and limits.

    Raises
    ------
    SettingsError
    """

    restitution: float = 0.0
    joints: Iterable[str] | None = None

    def __post_init__(self) -> None:
        check_fields(self)
        known = isinstance(self.restitution, int | float | np.number)
        if not (known and 0.0 <= self.restitution <= 1.0):
            raise SettingsError(f"restitution is {self.restitution!r}, expected 0 to 1")
        if self.joints is not None:
            object.__setattr__(self, "joints", named_alone("joints", self.joints))


@dataclass(frozen=True)
class JointStop:
    """A stop at the lower or the upper limit of a joint.

    Attributes
    ----------
    joint : str
    which : {"lower", "upper"}
    side : {1, -1}
        Away from the stop.
    coordinate, speed : int
        Where the joint stands in q and in v.
    limit : float [rad, m]
    """

    joint: str
    which: str
    side: int
    coordinate: int
    speed: int
    limit: float

    @property
    def reached(self) -> str:
        """What happens where the joint comes to the stop."""
        return f"{self.joint} at its {self.which} stop"

    @property
    def left(self) -> str:
        """What happens where it leaves the stop."""
        return f"{self.joint} leaves its {self.which} stop"

    def gap(self, q: FloatArray) -> float:
        """How far the joint is from the stop; negative beyond it [rad, m]."""
        return self.side * (float(q[self.coordinate]) - self.limit)


def joint_stops_of(robot: Robot, stops: RigidStops | None) -> tuple[JointStop, ...]:
    """All stops of a robot, in the order of the joints.

    Raises
    ------
    UnknownNameError
    SettingsError
        For a joint that has no limits, or no coordinate of its own.
    """
    if stops is None:
        return ()
    found = []
    for name in robot.joint_names if stops.joints is None else stops.joints:
        joint = robot.joints[name]
        limits = joint.position_limits
        if joint.q.stop - joint.q.start != 1 or limits is None:
            if stops.joints is None:
                continue
            raise SettingsError(
                f"joint {name!r} of {robot.name!r} is to have stops, but has no limits of a "
                "coordinate of its own; cut the loop elsewhere if it was cut"
            )
        for which, side, limit in zip(("lower", "upper"), (1, -1), limits, strict=True):
            if np.isfinite(limit):
                at = (joint.q.start, joint.v.start)
                found.append(JointStop(name, which, side, *at, float(limit)))
    return tuple(found)


def check_start(robot: Robot, stops: Sequence[JointStop], q: FloatArray) -> None:
    """Refuse a start beyond a stop.

    Raises
    ------
    ShapeError
    """
    for stop in stops:
        if stop.gap(q) < -AT_LIMIT:
            raise ShapeError(
                f"joint {stop.joint!r} of {robot.name!r} starts at {q[stop.coordinate]:.6g}, "
                f"beyond its {stop.which} stop at {stop.limit:.6g}: start within the limits, or "
                "name the joints that have stops, RigidStops(joints=...)",
                name="q0",
                given=float(q[stop.coordinate]),
                expected=stop.limit,
            )


@dataclass(frozen=True, eq=False)
class Contact:
    """The state after impacts on stops, and the stops that hold their joints from then on.

    Attributes
    ----------
    v : ndarray, shape (nv,) [rad/s, m/s]
        Afterwards.
    hit : mapping of JointStop to float [J]
        Stops that gave an impulse, and the energy lost in it; work of the motors of driven joints
        is not counted.
    held : tuple of JointStop
        Stops that push from then on.
    """

    v: FloatArray
    hit: Mapping[JointStop, float]
    held: tuple[JointStop, ...]


def resolve_stops(
    mode: Mode,
    free: Stepper,
    stops: Sequence[JointStop],
    restitution: float,
    t: float,
    q: FloatArray,
    v: FloatArray,
    tau: FloatArray,
    step: float,
    resting: str = "",
) -> Contact:
    """Impacts of joints that have reached their stops, and which stops hold them afterwards.

    Parameters
    ----------
    mode : Mode
    free : Stepper
        Of the motion with no joint held.
    stops : sequence of JointStop
    restitution : float
    t : float [s]
    q, v, tau : ndarray, shape (nq,), (nv,), (nv,)
    step : float [s]
        A rebound that is over within it does not happen.
    resting : str
        What is reached without a rebound (`JointStop.reached`), as rebounds would be without stop.
    """
    driven = mode.paths.speeds
    at = [stop for stop in stops if stop.gap(q) <= AT_LIMIT and stop.speed not in driven]
    if not at:
        return Contact(v, {}, ())
    sides, speeds = np.array([stop.side for stop in at]), [stop.speed for stop in at]
    base = None if mode.base is None else mode.base(t)
    pushes = sides[:, None] * np.eye(mode.robot.nv)[speeds]
    jumps = responses(mode.robot.at(t), q, pushes, driven, base)
    A = jumps[:, speeds] * sides
    parting = sides * v[speeds]
    still = STOP_SEPARATION * np.abs(v).max(initial=0.0)
    away = sides * free.accelerations(t, q, v, tau)[0][speeds]
    stays = np.array([stop.reached == resting for stop in at]) | (np.abs(parting) <= still)
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
        away = sides * free.accelerations(t, q, after, tau)[0][speeds]
        f = complementary(A[np.ix_(rest, rest)], away[rest])
        held = [at[k] for k, push in zip(np.flatnonzero(rest), f, strict=True) if push > 0.0]
    return Contact(after, hit, tuple(held))


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

    Parameters
    ----------
    A : ndarray, shape (n, n)
        Accelerations away from the stops a unit of force of each stop.
    away : ndarray, shape (n,) [rad/s^2, m/s^2]
        Accelerations away from the stops while no stop pushes.
    parting : ndarray, shape (n,) [rad/s, m/s]
        Speeds away from the stops before the hit.
    stays : ndarray, shape (n,), bool
        Which are known to be.
    restitution : float
    step : float [s]
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

    Parameters
    ----------
    A, away
        As of `_stays`.
    parting : ndarray, shape (n,) [rad/s, m/s]
        Speeds away from the stops after the hit.
    stays : ndarray, shape (n,), bool
    still : float [rad/s, m/s]
    step : float [s]
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


def event_records(
    contact: Contact, before: Sequence[JointStop], t: float, energy_loss: float
) -> Iterator[EventRecord]:
    """Records of joints that came to their stops, and of those that left them.

    The first record has the energy that all of them lost.

    Parameters
    ----------
    contact : Contact
    before : sequence of JointStop
        That held their joints until then.
    t : float [s]
    energy_loss : float [J]
    """
    for stop in dict.fromkeys((*contact.hit, *contact.held)):
        if stop in contact.hit or stop not in before:
            own = contact.hit.get(stop, 0.0)
            yield EventRecord(t, stop.reached, energy_loss, dissipated=own)
            energy_loss = 0.0
    for stop in before:
        if stop not in contact.held:
            yield EventRecord(t, stop.left)
