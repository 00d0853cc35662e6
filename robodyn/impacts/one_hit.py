"""Hits of one point: along one direction, with friction or without, or one that sticks [W 6]."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from robodyn.array_types import Array
from robodyn.errors import SettingsError
from robodyn.impacts.contact import (
    Contact,
    ContactPoint,
    MovingPoint,
    Partner,
    RobotPoint,
    World,
    unit_direction,
)
from robodyn.impacts.friction import Friction, check_energy, coefficient, with_friction
from robodyn.impacts.impact_dynamics import ImpactDynamics, Places, each_axis
from robodyn.motion.base_motion import BaseMotion
from robodyn.results import Impact, JointWrenches

#: Name among the methods of a robot of a hit of something that is not the world.
OF_TWO = "impact of two"

#: Parameters of a hit that are arrays.
ARRAYS = (
    "q", "v", "point", "direction", "restitution", "other_point", "velocity", "mobility",
    "friction",
)  # fmt: skip


def hit(
    dynamics: ImpactDynamics,
    state: tuple[ArrayLike, ArrayLike],
    place: tuple[str, ArrayLike],
    direction: ArrayLike | None,
    restitution: float,
    against: Any,
    base: BaseMotion | None,
    controlled: Iterable[str],
    friction: float | None,
) -> Impact:
    """See `robodyn.Robot.impact`."""
    given = (*state, *place, direction, restitution)
    beside: dict[str, Any] = {"base": base, "controlled": controlled}
    if against is None:
        return _hit(dynamics, *given, friction=friction, **beside)
    places, partner = dynamics.partner_of(place, against)
    two = dynamics.direct(OF_TWO, _hit, ARRAYS)
    # calls without friction go to a function that has none
    rubs = None if isinstance(friction, float) and not friction else friction
    found: Impact
    if isinstance(partner, MovingPoint):
        found = two(*given, None, None, partner.velocity, partner.rows, rubs, **beside)
    else:
        found = two(*given, *places[1], None, None, rubs, **beside)
    if isinstance(against, RobotPoint):
        found.against_v = partner.after(found.impulse)
    return found


def _hit(
    dynamics: ImpactDynamics,
    q: ArrayLike,
    v: ArrayLike,
    link: str,
    point: ArrayLike,
    direction: ArrayLike | None,
    restitution: float,
    other: str | None = None,
    other_point: ArrayLike | None = None,
    velocity: Array | None = None,
    mobility: Array | None = None,
    friction: float | None = None,
    *,
    base: BaseMotion | None = None,
    controlled: Iterable[str] = (),
) -> Impact:
    """A hit of the world, of another point of the robot, or of something that moves.

    other, other_point: Of the robot, that it meets.
    velocity, mobility: Of the point of something else that it meets; (..., 9), row by row.
    """
    e = checked_restitution(restitution, direction is None)
    mu = coefficient(friction, direction is None)
    options = dynamics.options(link, other, controlled, velocity is not None)
    speeds = options.get("controlled", ())
    places: Places = ((link, point),)
    if other is not None and other_point is not None:
        places = (*places, (other, other_point))
    partner: Partner = World()
    if velocity is not None and mobility is not None:
        partner = MovingPoint.alone(velocity, mobility)

    def solve() -> tuple[Array, ...]:
        x, y = dynamics.before(q, v)
        c, p, _ = solved(dynamics, (x, y), places, partner, direction, e, mu, speeds, base)
        impulse = np.einsum("...k,k...i->...i", p, c.axes)
        after = y + np.einsum("...k,k...n->...n", p, c.jumps)
        met = partner.after(impulse)
        return after, impulse, c.energy_loss(p), *(() if met is None else (met,))

    def made(found: tuple[Array, ...], *given: Array) -> Impact:
        """A hit of what there is; the caller's arrays may change until joint impulses are asked."""
        after, impulse, loss, *against_v = found
        state, along = (np.array(given[0]), np.array(given[1])), impulse.copy()
        met = [(link, np.array(given[2]))]
        if other is not None:
            met.append((other, np.array(given[4 if direction is None else 5])))
        moved = BaseMotion(*map(np.array, given[-3:])) if dynamics.on_moving_base else None

        def joint_impulses() -> JointWrenches:
            x, y = dynamics.before(*state)
            points = tuple(dynamics.point(x, y, *place, moved) for place in met)
            wrenches = on_links([(points, tuple(met), along)])
            return dynamics.joint_impulses(x, speeds, np.zeros_like(y), wrenches, moved)

        beside = against_v[0] if against_v else None
        return Impact(after, impulse, np.asarray(loss), beside, joint_impulses)

    name = "impact_with_friction" if mu else "impact"
    name = "impact_that_sticks" if direction is None else name
    inputs = (q, v, point, direction, e, other_point, velocity, mobility, mu or None)
    arrays = [x for x in inputs if x is not None]
    method = "impact" if other is None and velocity is None else OF_TWO
    found: Impact = dynamics.answered(name, options, arrays, base, solve, made, method)
    return found


def solved(
    dynamics: ImpactDynamics,
    state: tuple[Array, Array],
    places: Places,
    partner: Partner,
    direction: ArrayLike | None,
    restitution: float,
    friction: float,
    speeds: tuple[int, ...],
    base: BaseMotion | None,
) -> tuple[Contact, Array, Friction | None]:
    """A contact and the impulses along its axes: one without friction, else those of the world.

    speeds: Those that are controlled.
    """
    (q, v), link = state, places[0][0]
    world = np.broadcast_to(each_axis(v), (3, *v.shape[:-1], 3))
    axes = world if direction is None else unit_direction(direction)[None]
    c = dynamics.contact(q, v, places, axes, speeds, partner, base)
    if direction is not None:
        c.check_approach(dynamics.robot, link)
    p = c.impulses(restitution, dynamics.robot, link)
    if not friction:
        return c, p, None
    c = dynamics.contact(q, v, places, world, speeds, partner, base)
    slid = with_friction(c.velocity, c.mobility, axes[0], restitution, friction)
    check_energy(c.energy_loss(slid.impulse), c.velocity, c.mobility_scale)
    return c, slid.impulse, slid


def apparent_mass(
    dynamics: ImpactDynamics,
    q: ArrayLike,
    place: tuple[str, ArrayLike],
    direction: ArrayLike,
    base: BaseMotion | None,
) -> Array:
    """See `robodyn.Robot.apparent_mass`."""

    def solve() -> Array:
        x, v = dynamics.at_rest(q)
        c = dynamics.contact(x, v, (place,), unit_direction(direction)[None], (), World(), base)
        with np.errstate(divide="ignore"):
            return np.asarray(1.0 / np.where(c.movable()[..., 0], c.mobility[..., 0, 0], 0.0))

    options, arrays = dynamics.options(place[0], None, ()), (q, place[1], direction)
    found: Array = dynamics.answered("apparent_mass", options, arrays, base, solve)
    return found


def on_links(
    met: Iterable[tuple[tuple[ContactPoint, ...], Places, Array]],
) -> Mapping[str, Array]:
    """Impulses as wrenches on links, in their axes about their origins.

    met: Points of the robot, one or two, what links they are of, and the impulse on the first.
    """
    wrenches: dict[str, Array] = {}
    for points, places, impulse in met:
        for (link, _), point, p in zip(places, points, (impulse, -impulse), strict=False):
            wrench = point.wrench(p)
            wrenches[link] = wrenches[link] + wrench if link in wrenches else wrench
    return wrenches


def checked_restitution(given: float, sticks: bool = False) -> float:
    """The coefficient, checked."""
    known = isinstance(given, int | float | np.number) and not isinstance(given, bool)
    if not (known and 0.0 <= given <= 1.0):
        raise SettingsError(f"restitution is {given!r}, expected a number from 0 to 1")
    if sticks and given:
        raise SettingsError(
            f"restitution is {given!r}, but a point that sticks (direction=None) has none: give "
            "the direction along which it rebounds"
        )
    return float(given)
