"""Events of a motion, their actions, and the changes that actions return."""

from __future__ import annotations

import functools
import inspect
import math
import types
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from robodyn.arguments import check_fields
from robodyn.array_types import FloatArray
from robodyn.arrays import mismatch, named, truth
from robodyn.description import Inertia
from robodyn.errors import SettingsError, ShapeError
from robodyn.motion.base_motion import BaseMotion
from robodyn.robot import Robot
from robodyn.simulation.control.controller import Controller
from robodyn.simulation.events.joint_stops import JointStop
from robodyn.simulation.trajectory.states.event_record import EventRecord

#: Flags of the code of a function that takes any number of arguments.
VARIABLE_ARGUMENTS = inspect.CO_VARARGS | inspect.CO_VARKEYWORDS


@dataclass(frozen=True, eq=False)
class State:
    """A motion at the instant of an event, just before it; what an action gets.

    Attributes
    ----------
    t : float [s]
    q : ndarray, shape (nq,) [rad, m]
    v : ndarray, shape (nv,) [rad/s, m/s]
    robot : Robot
        What moves until then.
    base : BaseMotion or None
        Of a robot with a moving base, at this instant.
    driven : tuple of str
        Joints, or axes ``"joint[k]"``, that are controlled, locked or held by a stop.
    driven_speeds : tuple of int
        Where their speeds stand in v.
    held : tuple of JointStop
        Rigid stops that hold their joints.
    earlier : tuple of str
        Names of the events that have happened at this very instant.

    Examples
    --------
    >>> import robodyn as rd
    >>> from robodyn.simulation.events import Change, State
    >>> def report(state: State) -> Change:
    ...     print(round(state.t, 3), state.q.shape)
    ...     return Change()
    >>> run = rd.simulate(rd.load("double_pendulum"), duration=0.1, events=[rd.Event(0.05, report)])
    0.05 (2,)
    """

    t: float
    q: FloatArray
    v: FloatArray
    robot: Robot
    base: BaseMotion | None = None
    driven: tuple[str, ...] = ()
    driven_speeds: tuple[int, ...] = ()
    held: tuple[JointStop, ...] = ()
    earlier: tuple[str, ...] = ()
    _acting: Callable[[Robot | None], FloatArray] | None = field(default=None, repr=False)

    def accelerations(self, robot: Robot | None = None) -> FloatArray:
        """Under all that acts at this instant, be it torques, wrenches, stops or driven joints.

        Parameters
        ----------
        robot : Robot, optional
            What would move. Default: what does; another one has the same joints.

        Returns
        -------
        a : ndarray, shape (nv,) [rad/s^2, m/s^2]

        Raises
        ------
        SettingsError
            Of a state that is not one within a motion.
        """
        if self._acting is None:
            raise SettingsError("accelerations are known of states within a motion only")
        return self._acting(robot)

    @property
    def energy(self) -> float:
        """Kinetic and potential [J]."""
        robot = self.robot.at(self.t)
        T = robot.kinetic_energy(self.q, self.v, base=self.base)
        return float(T + robot.potential_energy(self.q, base=self.base))


@dataclass(frozen=True, eq=False)
class Change:
    """What an event changes; what is left out stays.

    Attributes
    ----------
    q, v : array_like, shape (nq,), (nv,), optional [rad, m], [rad/s, m/s]
        The state afterwards, of the robot afterwards.
    robot : Robot, optional
        What moves from then on. The positions and speeds of its joints are those of the joints
        of the same names before; loops that it closes make its speeds jump as a plastic impact
        does. It carries what was carried.
    payload : mapping of link name to Inertia or None
        What links carry from then on, in link axes; ``None``: nothing.
    controlled : mapping of joint name to JointPath or callable
        Joints that follow paths from then on, as in `simulate`; their speeds jump to those of
        the paths, and all others with them.
    locked : names of joints, or of axes
        That stand still from then on; their speeds jump to zero.
    released : names of joints, or of axes
        Controlled or locked until then, free from then on.
    controller : callable or StatefulController, optional
        What asks for torques from then on, as of `robodyn.simulate`, of the robot afterwards.
    base : callable, optional
        How the base moves from then on, time [s] -> `BaseMotion`.
    stop : bool
        The motion ends.
    dissipated : float, optional [J]
        What is lost for good. Default: the energy before less that after.
    must_separate : bool
        A contact: afterwards the event's function has to leave zero on the side that it came
        from. If it does not, the bodies rest on each other, which no event can hold:
        `SimulationError`.
    held : tuple of JointStop, optional
        A change that rigid stops make: those that hold their joints from then on, at speeds that
        fit loops and driven joints. Default: another one, after which stops are asked anew.
    records : tuple of EventRecord, optional
        What `Trajectory.events` has of it. Default: the event, with the energy that it took.

    Examples
    --------
    >>> import robodyn as rd
    >>> from robodyn.simulation.events import Change
    >>> turn = rd.Event(0.05, lambda state: Change(v=-state.v), name="turn back")
    >>> run = rd.simulate(rd.load("double_pendulum"), v0=[1.0, 0.0], duration=0.1, events=[turn])
    >>> bool(abs(run.q[-1]).max() < 1e-6)     # back where it began
    True
    """

    q: ArrayLike | None = None
    v: ArrayLike | None = None
    robot: Robot | None = None
    payload: Mapping[str, Inertia | None] | None = None
    controlled: Mapping[str, Any] | None = None
    locked: Iterable[str] = ()
    released: Iterable[str] = ()
    controller: Controller | None = None
    base: Callable[[float], BaseMotion] | None = None
    stop: bool = False
    dissipated: float | None = None
    must_separate: bool = False
    held: tuple[JointStop, ...] | None = None
    records: tuple[EventRecord, ...] | None = None

    def __post_init__(self) -> None:
        check_fields(self)

    @property
    def changes(self) -> bool:
        """Whether it changes what moves, or how."""
        given = (self.q, self.v, self.robot, self.payload, self.controlled)
        return bool(
            any(x is not None for x in (*given, self.controller, self.base))
            or self.locked
            or self.released
        )


Action = Callable[[State], Change]
EventFunction = Callable[..., float]


def stop(state: State) -> Change:
    """The motion ends here.

    Parameters
    ----------
    state : State

    Examples
    --------
    >>> import robodyn as rd
    >>> from robodyn.simulation.events import stop
    >>> end = rd.Event(0.05, stop)
    >>> float(rd.simulate(rd.load("double_pendulum"), duration=1.0, events=[end]).t[-1])
    0.05
    """
    return Change(stop=True)


@dataclass(frozen=True, eq=False)
class Event:
    """An instant, or a zero of a function of the state, and what changes then.

    Attributes
    ----------
    when : callable or float
        ``(t, q, v) -> float``: it happens where this reaches or crosses zero, found to 1e-12 of
        a step. A function of one parameter called ``state`` gets a `State`. Or an instant [s],
        which is hit exactly.
    then : callable, or sequence of them
        ``(state) -> Change``; several one after the other, each with the state that the one
        before has left. Ready-made ones are in `robodyn.events`. Default: the motion ends.
    direction : {0, 1, -1}
        1: only where the function rises through zero, -1: where it falls, 0: both.
    name : str
        For records and messages. Default: that of the function, if it has one.
    already : bool
        It happens also where the function is negative from the moment on when something else has
        changed the motion.

    Raises
    ------
    ShapeError
        If it is none of these.

    Examples
    --------
    >>> import robodyn as rd
    >>> down = rd.Event(lambda t, q, v: q[0], name="down")
    >>> run = rd.simulate(rd.load("double_pendulum"), q0=[0.5, 0.0], duration=5.0, events=[down])
    >>> run.events[0].name, bool(abs(run.q[-1, 0]) < 1e-9)
    ('down', True)
    """

    when: EventFunction | float
    then: Action | Sequence[Action] = stop
    direction: int = 0
    name: str = ""
    already: bool = False

    def __post_init__(self) -> None:
        wanted = "functions of a state"
        actions = (self.then,) if callable(self.then) else named("then", self.then, wanted)
        for action in actions:
            if not callable(action):
                raise ShapeError(
                    f"then holds {action!r}, expected functions of a state that return a "
                    "robodyn.events.Change",
                    name="then",
                    given=action,
                )
        object.__setattr__(self, "then", actions)
        if not callable(self.when):
            object.__setattr__(self, "when", _instant(self.when))
        whole = isinstance(self.direction, int | float | np.number)
        if not (whole and self.direction in (-1, 0, 1)):
            raise SettingsError(f"direction is {self.direction!r}, expected 1, -1 or 0")
        if not isinstance(self.name, str):
            raise ShapeError(f"name is {self.name!r}, expected text", name="name", given=self.name)
        object.__setattr__(self, "already", truth("already", self.already))
        if not self.name:
            default = getattr(self.when, "__name__", "event") if callable(self.when) else "instant"
            object.__setattr__(self, "name", "event" if default == "<lambda>" else default)

    @functools.cached_property
    def of_state(self) -> bool:
        """Whether ``when`` is a function of a `State`."""
        when = self.when
        if isinstance(when, types.FunctionType) and not hasattr(when, "__wrapped__"):
            code = when.__code__  # the usual case, which takes inspect far longer
            if not (code.co_kwonlyargcount or code.co_flags & VARIABLE_ARGUMENTS):
                return code.co_varnames[: code.co_argcount] == ("state",)
        try:
            return list(inspect.signature(self.when).parameters) == ["state"]  # type: ignore[arg-type]
        except (TypeError, ValueError):
            return False  # an instant, or a function that does not tell

    @property
    def actions(self) -> tuple[Action, ...]:
        """What is done, in order."""
        return self.then  # type: ignore[return-value]


def as_events(given: Iterable[Any]) -> tuple[Event, ...]:
    """Events from what a simulation is given; plain functions end the motion."""
    return tuple(event if isinstance(event, Event) else Event(event) for event in given)


def _instant(given: Any) -> float:
    is_number = isinstance(given, int | float | np.number) and not isinstance(given, bool)
    if not (is_number and math.isfinite(given) and given >= 0.0):
        raise mismatch("when", given, "a function (t, q, v) or an instant >= 0 [s]")
    return float(given)
