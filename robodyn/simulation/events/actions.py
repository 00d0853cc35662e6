"""Ready-made actions of events: each function here makes one, for `Event.then`."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from robodyn.arguments import checked_arguments
from robodyn.array_types import FloatArray
from robodyn.arrays import by_name, named_alone, of_one_state
from robodyn.description import Inertia
from robodyn.errors import ImpactError
from robodyn.robot import Robot
from robodyn.simulation.control.controller import Controller, check_controller
from robodyn.simulation.events.event import Action, Change, State
from robodyn.simulation.events.impulses import caught

__all__ = ["become", "drive", "drop", "grasp", "impact", "jump", "latch", "release", "switch"]

Vector = ArrayLike | Callable[[float], ArrayLike]


@checked_arguments
def jump(
    *,
    q: ArrayLike | Callable[[State], ArrayLike] | None = None,
    v: ArrayLike | Callable[[State], ArrayLike] | None = None,
) -> Action:
    """The state jumps.

    Parameters
    ----------
    q, v : array_like, shape (nq,), (nv,), or callable, optional [rad, m], [rad/s, m/s]
        The state afterwards, or a function of the `State` before. Left out: it stays.

    Examples
    --------
    >>> import robodyn as rd
    >>> from robodyn.simulation.events import jump
    >>> push = rd.Event(0.05, jump(v=lambda state: state.v + [1.0, 0.0]))
    >>> run = rd.simulate(rd.load("double_pendulum"), duration=0.05, events=[push])
    >>> run.v[-1].round(9).tolist()
    [1.0, 0.0]
    """

    def jumped(state: State) -> Change:
        return Change(q=q(state) if callable(q) else q, v=v(state) if callable(v) else v)

    return jumped


@checked_arguments
def impact(
    link: str,
    point: ArrayLike,
    direction: ArrayLike | Callable[[State], ArrayLike] | None,
    *,
    restitution: float = 0.0,
    against: Any = None,
    friction: float = 0.0,
) -> Action:
    """A link hits something: `Robot.impact`, driven joints held.

    Give the event's function as the gap between the bodies, and ``direction=-1``. They have to
    separate afterwards, or rest on each other: see `Change.must_separate`.

    Parameters
    ----------
    link : str
    point : array_like, shape (3,) [m]
        Where it is hit, from the link's origin in link axes.
    direction : array_like, shape (3,), callable or None
        Along which the impulse acts on the link, from the other body into it, in world axes; or a
        function of the `State`. ``None``: the point sticks while the impulse acts.
    restitution : float
        Speed of parting over that of approach: 0 plastic, 1 elastic.
    against : None, (link, point), PointMass, RobotPoint or callable, optional
        What is hit, as in `Robot.impact`, or a function of the `State`. What it does afterwards
        is not followed.
    friction : float
        Coulomb's coefficient at the contact.

    Examples
    --------
    >>> import robodyn as rd
    >>> from robodyn.simulation.events import impact
    >>> bounce = impact("lower", (0, 0, -1), (-1, 0, 0), restitution=1.0)
    >>> wall = rd.Event(lambda t, q, v: q[0], bounce, name="wall")
    >>> robot = rd.load("double_pendulum").with_(locked={"elbow": 0.0})
    >>> run = rd.simulate(robot, q0=[0.5], duration=1.0, events=[wall])
    >>> run.events[0].name, bool(abs(run.events[0].energy_loss) < 1e-9)
    ('wall', True)
    """
    place = of_one_state("point", point, 3)

    def hit(state: State) -> Change:
        along = direction(state) if callable(direction) else direction
        along = None if along is None else of_one_state("direction", along, 3)
        other = against(state) if callable(against) else against
        options: dict[str, Any] = {
            "restitution": restitution,
            "friction": friction,
            "against": other,
            "base": state.base,
            "controlled": state.driven,
        }
        try:
            result = state.robot.at(state.t).impact(state.q, state.v, link, place, along, **options)
        except ImpactError:
            if not (state.earlier and _separate(state, link, place, along, options)):
                raise
            # another impact at this instant has separated the bodies already
            return Change(must_separate=True)
        contact = other is None or isinstance(other, tuple)
        return Change(
            v=result.v,
            dissipated=float(result.energy_loss),
            must_separate=contact and along is not None,
        )

    return hit


def _separate(
    state: State, link: str, point: FloatArray, along: FloatArray | None, options: Mapping[str, Any]
) -> bool:
    """Whether bodies move apart along a direction, so that it may have the wrong sign."""
    if along is None:
        return False
    try:
        without = {**options, "friction": 0.0}
        state.robot.at(state.t).impact(state.q, state.v, link, point, -along, **without)
    except ImpactError:
        return False
    return True


@checked_arguments
def latch(joints: Iterable[str]) -> Action:
    """Joints stop at once, as `Robot.latch` has them, and stand still from then on.

    Parameters
    ----------
    joints : names of joints
        ``"joint[k]"``: one axis of a joint that has several.

    Examples
    --------
    >>> import robodyn as rd
    >>> from robodyn.simulation.events import latch
    >>> catch = rd.Event(0.05, latch(["elbow"]))
    >>> run = rd.simulate(rd.load("double_pendulum"), q0=[0.5, 0.3], duration=0.1, events=[catch])
    >>> float(run.v[-1, 1])
    0.0
    """
    names = named_alone("joints", joints)
    return lambda state: Change(locked=names)


@checked_arguments
def release(joints: Iterable[str]) -> Action:
    """Joints that were controlled or locked are free from then on.

    Parameters
    ----------
    joints : names of joints

    Examples
    --------
    >>> import robodyn as rd
    >>> from robodyn.simulation.events import release
    >>> free = rd.Event(0.05, release(["elbow"]))
    >>> run = rd.simulate(
    ...     rd.load("double_pendulum"), q0=[0.5, 0.3], duration=0.1, locked=["elbow"], events=[free]
    ... )
    >>> float(run.v[40, 1]), bool(run.v[-1, 1] != 0)
    (0.0, True)
    """
    names = named_alone("joints", joints)
    return lambda state: Change(released=names)


@checked_arguments
def drive(controlled: Mapping[str, Any]) -> Action:
    """Joints follow paths from then on.

    Parameters
    ----------
    controlled : mapping of joint name to JointPath or callable
        As in `simulate`; the paths have to start where the joints are at that instant. Speeds
        that differ from those of the paths jump, and the others with them.

    Examples
    --------
    >>> import robodyn as rd
    >>> from robodyn.simulation.events import drive
    >>> turn = rd.JointPath.from_function(lambda t: (t, 1.0, 0.0))
    >>> start = rd.Event(0.0, drive({"elbow": turn}))
    >>> run = rd.simulate(rd.load("double_pendulum"), v0=[0.0, 1.0], duration=0.1, events=[start])
    >>> round(float(run.q[-1, 1]), 6)
    0.1
    """
    paths = by_name("controlled", controlled)
    return lambda state: Change(controlled=paths)


@checked_arguments
def switch(controller: Controller | None) -> Action:
    """Another controller takes over.

    Parameters
    ----------
    controller : callable, StatefulController or None
        As of `robodyn.simulate`. ``None``: there is no torque from then on.

    Raises
    ------
    ShapeError
        If it is no controller.

    Examples
    --------
    >>> import robodyn as rd
    >>> from robodyn.controllers import GravityCompensation
    >>> from robodyn.simulation.events import switch
    >>> robot = rd.load("double_pendulum")
    >>> on = rd.Event(0.05, switch(GravityCompensation(robot)))
    >>> run = rd.simulate(robot, q0=[0.5, 0.0], duration=0.1, events=[on])
    >>> bool(abs(run.tau[10]).max() == 0), bool(abs(run.tau[-1]).max() > 0)
    (True, True)
    """
    other = _no_torque if controller is None else controller
    check_controller(other)
    return lambda state: Change(controller=other)


def _no_torque(t: float, q: FloatArray, v: FloatArray) -> FloatArray:
    return np.zeros_like(v)


@checked_arguments
def become(robot: Robot) -> Action:
    """Another robot goes on: a loop is cut or closed, a link added, a spring broken.

    Joints keep their positions and speeds by name, those that are cut before or after too. A loop
    that is closed has to be where it closes; its speeds jump as in a plastic impact.

    Parameters
    ----------
    robot : Robot

    Examples
    --------
    >>> import robodyn as rd
    >>> from robodyn.simulation.events import become
    >>> robot = rd.load("double_pendulum")
    >>> heavy = robot.with_(payload={"lower": rd.Inertia(1.0)})
    >>> run = rd.simulate(robot, duration=0.1, events=[rd.Event(0.05, become(heavy))])
    >>> run.phases[-1].robot.total_mass - robot.total_mass
    1.0
    """
    return lambda state: Change(robot=robot)


@checked_arguments
def grasp(
    link: str,
    payload: Inertia,
    *,
    velocity: Vector = (0.0, 0.0, 0.0),
    angular_velocity: Vector = (0.0, 0.0, 0.0),
) -> Action:
    """A link takes along a body, which becomes part of it in a plastic impact.

    Parameters
    ----------
    link : str
    payload : Inertia
        Of the body, in the link frame, where it is caught; one without moments of inertia is a
        particle.
    velocity : array_like, shape (3,), or callable [m/s]
        Of its centre of mass just before, in world axes, or a function of time.
    angular_velocity : array_like, shape (3,), or callable [rad/s]
        In world axes.

    Examples
    --------
    >>> import robodyn as rd
    >>> from robodyn.simulation.events import grasp
    >>> robot = rd.load("double_pendulum")
    >>> take = rd.Event(0.02, grasp("lower", rd.Inertia(1.0)))
    >>> run = rd.simulate(robot, q0=[0.5, 0.0], duration=0.1, events=[take])
    >>> run.phases[-1].robot.total_mass - robot.total_mass
    1.0
    """

    def grasped(state: State) -> Change:
        moving = [
            of_one_state(name, given(state.t) if callable(given) else given, 3)
            for name, given in (("velocity", velocity), ("angular_velocity", angular_velocity))
        ]
        v, loss = caught(state, link, payload, *moving)
        return Change(payload={link: payload}, v=v, dissipated=loss)

    return grasped


@checked_arguments
def drop(link: str) -> Action:
    """A link lets go of what it has grasped, which flies on at its speed.

    Parameters
    ----------
    link : str

    Examples
    --------
    >>> import robodyn as rd
    >>> from robodyn.simulation.events import drop, grasp
    >>> robot = rd.load("double_pendulum")
    >>> take = rd.Event(0.02, grasp("lower", rd.Inertia(1.0)))
    >>> let_go = rd.Event(0.06, drop("lower"))
    >>> run = rd.simulate(robot, q0=[0.5, 0.0], duration=0.1, events=[take, let_go])
    >>> [round(phase.robot.total_mass - robot.total_mass, 9) for phase in run.phases]
    [0.0, 1.0, 0.0]
    """
    return lambda state: Change(payload={link: None}, dissipated=0.0)
