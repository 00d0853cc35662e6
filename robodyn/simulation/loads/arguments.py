"""Checks of the arguments of simulations, before the motion starts."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from robodyn.array_types import FloatArray
from robodyn.arrays import by_name, finite, named, number, numbers, wrong_shape
from robodyn.caller import warn
from robodyn.errors import SettingsError, ShapeError
from robodyn.force_elements.ground import Ground
from robodyn.force_elements.joint_stop import CompliantStops
from robodyn.model.changes.functions import contacts_of
from robodyn.motion.base_motion import BasePath
from robodyn.motion.derivative_check import instants
from robodyn.motion.functions import OncePerInstant, as_state_function
from robodyn.robot import Robot
from robodyn.simulation.cache.robot_cache import RobotCache, contents
from robodyn.simulation.friction.dry_friction import DryFriction
from robodyn.simulation.friction.resistances import resistances_of
from robodyn.simulation.loads.driven_joints import CHECKED
from robodyn.simulation.loads.prescribed_loads import BaseAt
from robodyn.tolerances import QUATERNION_ROUNDING

_on_ground: RobotCache[Robot] = RobotCache("on ground")
_with_stops: RobotCache[Robot] = RobotCache("with stops")


def base_path(base: BaseAt | None, times: FloatArray) -> BasePath | None:
    """The path of the base, after a check that velocities are derivatives of positions."""
    if base is None:
        return None
    given = base if isinstance(base, BasePath) else BasePath(base)
    path = BasePath(OncePerInstant(given))
    at, interval = instants(times, CHECKED)
    path.check(at.tolist(), interval=interval)
    return path


def on_ground(robot: Robot, ground: Ground | Iterable[Ground]) -> Robot:
    """The robot with more planes as ground: the same object for the same planes."""
    planes = (ground,) if isinstance(ground, Ground) else named("ground", ground, "Grounds")
    if not planes:
        return robot
    return _on_ground.get(robot, planes, lambda: robot.with_(ground=(*robot.ground, *planes)))


def with_stops(robot: Robot, stops: CompliantStops) -> Robot:
    """The robot with compliant stops: the same object for the same stops.

    Raises SettingsError: If the robot with stops has other coordinates.
    """

    def made() -> Robot:
        stopped = robot.with_(stops=stops)
        places = [[(name, x.joints[name].q) for name in x.joint_names] for x in (robot, stopped)]
        if places[0] != places[1]:
            raise SettingsError(
                f"{robot.name!r} has other coordinates where some of its joints have stops: give "
                "the simulation robot.with_(stops=...), and states of that"
            )
        return stopped

    return _with_stops.get(robot, contents(stops), made)


def dry_friction(
    friction: str | DryFriction, robot: Robot, batch: tuple[int, ...]
) -> DryFriction | None:
    """The law of joints that stick and slide as modes; ``None`` where friction is smooth.

    Raises SettingsError: For many motions at once, for joints that cannot stick, and where only the
        ground or contacts have friction.
    Raises UnknownNameError: If the law names a joint without dry friction.
    """
    if not isinstance(friction, DryFriction):
        if friction == "smooth":
            return None
        friction = DryFriction()
    if batch:
        raise SettingsError(
            "joints stick at other instants in each of many motions: simulate each by itself, "
            "robot.with_(parameters=...), or take friction='smooth'"
        )
    found = resistances_of(robot)
    friction.of(found.joints, repr(robot.name))
    if others := _other_friction(robot):
        if not found.names:
            raise SettingsError(
                f"joints and motors stick and slide exactly, and those of {robot.name!r} have no "
                f"dry friction; {others}: take friction='smooth'"
            )
        warn(f"joints and motors of {robot.name!r} stick and slide exactly; {others}")
    return friction if found.names else None


def _other_friction(robot: Robot) -> str:
    """What is not exact of the friction of a robot, in words."""
    held = [link for link, x in contacts_of(robot.mechanism).items() if x.kind != "grip"]
    words = []
    if any(plane.friction for plane in robot.ground):
        words.append(
            "friction of the ground is smooth, so that points on it creep at up to its "
            "friction_speed instead of sticking"
        )
    if held:
        words.append(
            f"contacts ({', '.join(held)}) hold whatever force this takes, beyond their mu, too: "
            "contact_forces(...).broken says where"
        )
    return ", and ".join(words)


def wrenches_on(
    wrenches: Mapping[str, ArrayLike] | Callable[..., Any] | None, batch: tuple[int, ...]
) -> Any:
    """External wrenches of one or many motions; those that are not functions are checked.

    wrenches, optional
    batch: Leading axes of a state.
    """
    if callable(wrenches):
        return as_state_function(wrenches)
    found = {}
    for link, given in by_name("wrenches", wrenches).items():
        x = np.array(numbers(f"wrench:{link}", given), float)
        if x.shape not in ((6,), (*batch, 6)):
            expected = "(6,)" + f" or {(*batch, 6)}" * bool(batch)
            raise ShapeError(
                f"wrench:{link} has shape {x.shape}, expected {expected} [N, N m]",
                name="wrenches",
                given=x.shape,
                expected=(*batch, 6),
            )
        finite(**{f"wrench:{link}": x})
        found[link] = x
    return found


def start_state(
    robot: Robot, q0: ArrayLike | None, v0: ArrayLike | None, ndim: int
) -> tuple[FloatArray, FloatArray]:
    """Copies of the position and velocity at the start; neutral and at rest where none is given.

    Quaternions are normalised.

    ndim: 1: one state. 2: many.
    """
    q = robot.at(0.0).neutral() if q0 is None else numbers("q0", q0)
    v = np.zeros(robot.nv) if v0 is None else numbers("v0", v0)
    for name, x, size in (("q0", q, robot.nq), ("v0", v, robot.nv)):
        if x.ndim != ndim or x.shape[-1] != size:
            expected = f"({size},)" if ndim == 1 else f"(n, {size})"
            raise wrong_shape(name, x.shape, expected, expected)
        finite(**{name: x})
    if q.shape[:-1] != v.shape[:-1]:
        raise ShapeError(f"q0 {q.shape} and v0 {v.shape} differ in number", name="v0")
    if robot.nq != robot.nv:  # normalise quaternions
        unit = robot.integrate(np.asarray(q, float), np.zeros(robot.nv))
        q = np.where(np.abs(unit - q) > QUATERNION_ROUNDING, unit, q)
    return np.array(q, float, order="C"), np.array(v, float, order="C")


def is_single_precision(q0: ArrayLike | None, v0: ArrayLike | None) -> bool:
    """Whether the start is given in single precision, in which the motion is then computed."""
    given = [numbers(name, x) for name, x in (("q0", q0), ("v0", v0)) if x is not None]
    return len(given) == 2 and all(x.dtype == np.float32 for x in given)


def start_of_rows(robot: Robot, q: FloatArray, v: FloatArray) -> tuple[FloatArray, FloatArray]:
    """A state for each robot, where rows of parameters make several of one.

    Raises ShapeError: If the number of states differs from that of robots.
    """
    rows = robot.parameter_rows
    if not rows:
        return q, v
    count = len(next(iter(rows.values())))
    if q.ndim == 1:
        return np.tile(q, (count, 1)), np.tile(v, (count, 1))
    if len(q) != count:
        raise ShapeError(
            f"q0 has {len(q)} states, and parameters {count} rows: expected as many",
            name="parameters",
            given=count,
            expected=len(q),
        )
    return q, v


def step_times(duration: float, step: float) -> FloatArray:
    """Instants from 0 to ``duration``, ``step`` apart; the last two may be nearer."""
    duration, step = number("duration", duration, "s"), number("step", step, "s")
    if not (math.isfinite(duration) and math.isfinite(step) and step > 0.0 and duration >= 0.0):
        raise ShapeError(
            f"duration is {duration} s and step {step} s, expected step > 0, duration >= 0",
            name="step",
            given=step,
        )
    count = duration / step
    try:
        # a quotient that differs from an integer by rounding counts as that integer
        steps = math.ceil(count * (1.0 - 1e-12))
        times: FloatArray = step * np.arange(steps + 1.0)
        times[steps] = duration
        return times
    except (MemoryError, OverflowError, ValueError):
        raise ShapeError(
            f"{count:.3g} steps of {step} s do not fit into memory: take a longer step",
            name="step",
            given=step,
        ) from None
