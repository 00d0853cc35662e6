"""Rigid stops as events: joints reach their stops, and leave those that would have to pull.

A stop pushes and never pulls. Where joints hit their stops, impulses ``p >= 0`` let no joint go on
into its stop; while joints lie at theirs, forces ``f >= 0`` do the same with accelerations. Several
stops at once are one problem of complementarity.
"""

from __future__ import annotations

import dataclasses
import functools
from collections.abc import Callable, Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from robodyn.array_types import Array, FloatArray
from robodyn.impacts.complementarity import complementary, rebounds
from robodyn.quick_dataclass import dataclass
from robodyn.robot import Robot
from robodyn.simulation.events.event import Change, State
from robodyn.simulation.events.impulses import responses
from robodyn.simulation.events.joint_stops import JointStop, RigidStops, joint_stops_of
from robodyn.simulation.events.witness import StepSamples, WitnessFunction
from robodyn.simulation.trajectory.states.event_record import EventRecord
from robodyn.tolerances import AT_LIMIT, STOP_FORCE, STOP_SEPARATION


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


#: (t, q, v) -> an array of shape (nv,), under all that acts at this instant.
OfState = Callable[[float, FloatArray, FloatArray], FloatArray]


class StopEvents:
    """The events of the rigid stops of a motion.

    step [s]: A rebound that is over within it does not happen.
    holding_forces: (t, q, v) -> forces of stops at the joints that they hold, shape (nv,) [N m, N].
    free_accelerations: (t, q, v) -> accelerations while no stop holds a joint, shape (nv,)
        [rad/s^2, m/s^2].
    """

    def __init__(
        self, stops: RigidStops, step: float, holding_forces: OfState, free_accelerations: OfState
    ) -> None:
        self._rigid, self._step = stops, step
        self._holding_forces, self._free_accelerations = holding_forces, free_accelerations
        self._stops: dict[Robot, tuple[JointStop, ...]] = {}
        self._witnesses: dict[tuple[JointStop, bool], WitnessFunction] = {}
        self._conditions = _StopConditions((), (), 0)
        self._held: tuple[JointStop, ...] = ()  # as it was decided last

    def of(self, robot: Robot) -> tuple[JointStop, ...]:
        """The stops of a robot."""
        if robot not in self._stops:
            self._stops[robot] = joint_stops_of(robot, self._rigid)
        return self._stops[robot]

    def witnesses(
        self, robot: Robot, driven: Sequence[int], held: Sequence[JointStop]
    ) -> list[WitnessFunction]:
        """Witness functions of a mode: of stops that joints may reach, and of those that hold them.

        driven: Speeds of joints that follow paths, or that stops hold.
        held: Stops that hold their joints.
        """
        free = [stop for stop in self.of(robot) if stop.speed not in driven]
        self._conditions = _StopConditions(free, held, robot.nq)
        reaching = [self._witness(stop, False) for stop in free]
        return reaching + [self._witness(stop, True) for stop in held]

    def _witness(self, stop: JointStop, held: bool) -> WitnessFunction:
        """The witness function of a stop: the same object each time."""
        if (stop, held) not in self._witnesses:
            self._witnesses[stop, held] = self._leaving(stop) if held else self._reaching(stop)
        return self._witnesses[stop, held]

    def _reaching(self, stop: JointStop) -> WitnessFunction:
        """A joint comes to its stop."""
        return WitnessFunction(
            stop.reached, lambda t, q, v: stop.gap(q), -1, (self.resolve,), one_sided=True,
            when_endless=functools.partial(self.resolve, resting=stop), sure_steps=self._sure_steps,
        )  # fmt: skip

    def _leaving(self, stop: JointStop) -> WitnessFunction:
        """The force of a stop on the joint that it holds begins to pull."""
        k, side = stop.speed, stop.side
        return WitnessFunction(
            stop.left, lambda t, q, v: float(side * self._holding_forces(t, q, v)[k]), -1,
            (self.resolve,), when_endless=self.resolve, sure_steps=self._sure_steps,
        )  # fmt: skip

    def _sure_steps(self, samples: StepSamples) -> int:
        """Steps that certainly have no event of any stop; see `WitnessFunction.sure_steps`."""
        return self._conditions.sure_steps(samples)

    def resolve(self, state: State, resting: JointStop | None = None) -> Change:
        """The action of stops: joints at their stops rebound, are held, or are released.

        resting, optional: A stop from which its joint does not rebound, as it would do so again and
            again.
        """
        t, q, held = state.t, state.q, state.held
        paths = [k for k in state.driven_speeds if k not in {stop.speed for stop in held}]
        contact = stop_contact(
            state, self.of(state.robot), paths, lambda v: self._free_accelerations(t, q, v),
            self._rigid.restitution, self._step, resting,
        )  # fmt: skip
        before, self._held = self._held, contact.held  # another event may have let them go since
        if not contact.hit and contact.held == held:
            return Change(held=held, records=_left(contact, before, t))
        loss = state.energy - dataclasses.replace(state, v=contact.v).energy
        records = (*_reached(contact, before, t, loss), *_left(contact, before, t))
        return Change(v=contact.v, held=contact.held, records=records)


def _reached(
    contact: StopContact, before: Sequence[JointStop], t: float, energy_loss: float
) -> tuple[EventRecord, ...]:
    """Records of joints that came to their stops; the first one has the energy that was lost."""
    known, at = {stop.reached for stop in before}, dict.fromkeys((*contact.hit, *contact.held))
    found = [stop for stop in at if stop in contact.hit or stop.reached not in known]
    if energy_loss and not found:
        found = list(at)[:1]
    losses = [energy_loss, *[0.0] * len(found)]
    return tuple(
        EventRecord(t, stop.reached, loss, dissipated=contact.hit.get(stop, 0.0))
        for stop, loss in zip(found, losses, strict=False)
    )


def _left(contact: StopContact, before: Sequence[JointStop], t: float) -> tuple[EventRecord, ...]:
    """Joints that left the stops that held them before."""
    holding = {stop.left for stop in contact.held}
    return tuple(EventRecord(t, stop.left) for stop in before if stop.left not in holding)


class _StopConditions:
    """Conditions on samples under which no joint reaches or leaves a stop.

    free, holding: Those that joints may come to, and those that hold theirs.
    """

    def __init__(self, free: Sequence[JointStop], holding: Sequence[JointStop], nq: int) -> None:
        self._lower, self._upper = np.full(nq, -np.inf), np.full(nq, np.inf)
        room = 2.0 * AT_LIMIT if holding else 0.0  # a joint at its stop may have to be held too
        for stop in free:
            k = stop.coordinate
            if stop.side > 0:
                self._lower[k] = max(self._lower[k], stop.limit + room)
            else:
                self._upper[k] = min(self._upper[k], stop.limit - room)
        self._bounded = bool(free)
        self._speeds = [stop.speed for stop in holding]
        self._coordinates = [stop.coordinate for stop in holding]
        self._sides = np.array([stop.side for stop in holding], float)
        self._limits = np.array([stop.limit for stop in holding])

    def sure_steps(self, samples: StepSamples) -> int:
        """Number of the first steps in which joints certainly neither reach nor leave a stop."""
        _, q, v, _, forces, tau = samples
        count = len(q) - 1
        if self._bounded:
            count = _first_false((q[1:] > self._lower) & (q[1:] < self._upper), count)
        if not (count and self._speeds):
            return count
        asked = 0.0 if tau is None else tau[self._speeds]
        push = self._sides * (forces[:, self._speeds] - asked)
        gaps = self._sides * (q[:, self._coordinates] - self._limits)
        sure = push > STOP_FORCE * np.abs(forces).max(axis=1, keepdims=True)
        sure &= (gaps < 0.5 * AT_LIMIT) & (v[:, self._speeds] == 0.0)
        if not sure[0].all():
            return 0
        return _first_false(sure[1 : count + 1], count)


def _first_false(fine: NDArray[np.bool_], steps: int) -> int:
    """Number of rows before the first one that is not true everywhere."""
    whole = fine[:steps].all(axis=1)
    return steps if whole.all() else int(whole.argmin())
