"""Hits of one point: along one direction, with friction or without, or one that sticks [W 6]."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from robodyn.array_types import Array
from robodyn.arrays import one_name
from robodyn.errors import SettingsError
from robodyn.impacts.contact import ContactPoint, unit_direction
from robodyn.impacts.friction import check_energy, coefficient, with_friction
from robodyn.impacts.hit_functions import HitForm
from robodyn.impacts.impact_dynamics import ImpactDynamics, Places, copied, each_axis
from robodyn.impacts.partners import MovingPoint, Partner, RobotPoint, World
from robodyn.motion.base_motion import BaseMotion
from robodyn.results import Impact, JointWrenches


def hit_between(
    dynamics: ImpactDynamics,
    state: tuple[ArrayLike, ArrayLike],
    places: Places,
    partner: Partner,
    direction: ArrayLike | None,
    restitution: float,
    friction: float | None,
    base: BaseMotion | None,
    controlled: Iterable[str],
) -> Impact:
    """A hit of the world, of something that moves, or of another point of the robot.

    places: One, or two of the robot that meet.
    partner: What the first link meets, if it is nothing of this robot.
    direction, restitution, friction, base, controlled: As of `robodyn.Robot.impact`.
    """
    form, robot = dynamics.form(places, partner, controlled), dynamics.robot
    speeds, link = form.speeds, places[0][0]
    e, mu = (
        checked_restitution(restitution, direction is None),
        coefficient(friction, direction is None),
    )
    found = _by_code(dynamics, state, places, partner, form, direction, (e, mu), base)
    if found is not None:
        return found
    base = copied(base)
    q, v = dynamics.before(*state)
    if direction is None:
        axes = np.broadcast_to(each_axis(v), (3, *v.shape[:-1], 3))
    else:
        axes = unit_direction(direction)[None]
    dynamics.checked_places(q, v, places, axes[0], partner)
    c = dynamics.contact(q, v, places, axes, speeds, partner, base)
    if direction is not None:
        c.check_approach(robot, link)
    p = c.impulses(e, robot, link)
    if mu:
        normal, axes = axes[0], np.broadcast_to(each_axis(v), (3, *v.shape[:-1], 3))
        c = dynamics.contact(q, v, places, axes, speeds, partner, base)
        p = with_friction(c.velocity, c.mobility, normal, e, mu).impulse
        check_energy(c.energy_loss(p), c.velocity, c.mobility_scale)
    impulse = np.einsum("...k,k...i->...i", p, axes)
    return Impact(
        v=v + np.einsum("...k,k...n->...n", p, c.jumps),
        impulse=impulse.copy(),
        energy_loss=c.energy_loss(p),
        against_v=partner.after(impulse),
        make_joint_impulses=lambda: dynamics.joint_impulses(
            q, speeds, np.zeros_like(v), on_links([(c.points, places, impulse)]), base
        ),
    )


def _by_code(
    dynamics: ImpactDynamics,
    state: tuple[ArrayLike, ArrayLike],
    places: Places,
    partner: Partner,
    form: HitForm,
    direction: ArrayLike | None,
    how: tuple[float, float],
    base: BaseMotion | None,
) -> Impact | None:
    """A hit by one function; none where it has no numbers. ``how``: restitution and friction."""
    (_, point), (e, mu) = places[0], how
    along = () if direction is None else (direction,)
    name = "impact_with_friction" if mu else "impact"
    name = "impact_that_sticks" if direction is None else name
    arrays = (*state, point, *along, e, *of_partner(places, partner), *((mu,) if mu else ()))
    make = _maker(dynamics, form, direction is not None)
    met = form.other or form.against  # which the method was not given as arrays
    method = "impact of two" if met else "impact"
    hit: Impact | None = dynamics.code.of(name, form.options, arrays, base, make, method)
    return hit


def of_partner(places: Places, partner: Partner) -> tuple[ArrayLike, ...]:
    """What functions of hits are given of what the link meets."""
    if len(places) == 2:
        return (places[1][1],)
    if isinstance(partner, MovingPoint):
        return partner.velocity, partner.rows
    return ()


def _maker(dynamics: ImpactDynamics, form: HitForm, directed: bool) -> Callable[..., Impact]:
    """Makes a hit of what a function gives and of its inputs.

    Joint impulses are computed when they are asked for: the caller's arrays may change until then.
    """
    other = 5 if directed else 4  # place of the other point among the inputs

    def made(found: tuple[Array, ...], *given: Array) -> Impact:
        after, impulse, loss, *against_v = found
        state, along = (np.array(given[0]), np.array(given[1])), impulse.copy()
        places = [(form.link, np.array(given[2]))]
        if form.other:
            places.append((form.other, np.array(given[other])))
        moved = BaseMotion(*map(np.array, given[-3:])) if dynamics.on_moving_base else None
        return Impact(
            v=after,
            impulse=impulse,
            energy_loss=np.asarray(loss),
            against_v=against_v[0] if against_v else None,
            make_joint_impulses=lambda: _in_joints(
                dynamics, state, tuple(places), form.speeds, along, moved
            ),
        )

    return made


def _in_joints(
    dynamics: ImpactDynamics,
    state: tuple[Array, Array],
    places: Places,
    speeds: tuple[int, ...],
    impulse: Array,
    base: BaseMotion | None,
) -> JointWrenches:
    """Impulses in joints under one impulse on a point of a link."""
    q, v = dynamics.before(*state)
    points = tuple(dynamics.point(q, v, link, np.asarray(x), base) for link, x in places)
    wrenches = on_links([(points, places, impulse)])
    return dynamics.joint_impulses(q, speeds, np.zeros_like(v), wrenches, base)


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
    places, partner = dynamics.partner_of(place, against)
    how = direction, restitution, friction, base, controlled
    found = hit_between(dynamics, state, places, partner, *how)
    if isinstance(against, RobotPoint):
        found.against_v = partner.after(found.impulse)
    return found


def apparent_mass(
    dynamics: ImpactDynamics,
    q: ArrayLike,
    place: tuple[str, ArrayLike],
    direction: ArrayLike,
    base: BaseMotion | None,
) -> Array:
    """See `robodyn.Robot.apparent_mass`."""
    link, point = place
    options, arrays = {"frame": one_name("link", link)}, (q, point, direction)
    mass: Array | None = dynamics.code.of("apparent_mass", options, arrays, base)
    if mass is not None:
        return mass
    x, v = dynamics.at_rest(q)
    axis = unit_direction(direction)
    dynamics.checked_places(x, v, (place,), axis, World())
    c = dynamics.contact(x, v, (place,), axis[None], (), World(), base)
    with np.errstate(divide="ignore"):
        return np.asarray(1.0 / np.where(c.movable()[..., 0], c.mobility[..., 0, 0], 0.0))


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
