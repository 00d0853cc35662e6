"""Hits of one point: along one direction, with friction or without, or one that sticks [W 6]."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from robodyn.array_types import Array
from robodyn.errors import SettingsError
from robodyn.impacts.contact import ContactPoint, unit_direction
from robodyn.impacts.friction import check_energy, coefficient, with_friction
from robodyn.impacts.impact_dynamics import ImpactDynamics, copied, each_axis
from robodyn.impacts.partners import World
from robodyn.motion.base_motion import BaseMotion
from robodyn.results import Impact, JointWrenches

__all__ = ["apparent_mass", "checked_restitution", "impact", "on_links"]


def impact(
    dynamics: ImpactDynamics,
    state: tuple[ArrayLike, ArrayLike],
    place: tuple[str, ArrayLike],
    direction: ArrayLike | None,
    restitution: float,
    against: Any,
    base: BaseMotion | None,
    controlled: Iterable[str],
    friction: float,
) -> Impact:
    """See `robodyn.Robot.impact`."""
    base = copied(base)
    q, v = dynamics.before(*state)
    places, partner = dynamics.partner_of(place, against)
    speeds, robot = dynamics.speeds("controlled", controlled), dynamics.robot
    if direction is None:
        axes = np.broadcast_to(each_axis(v), (3, *v.shape[:-1], 3))
    else:
        axes = unit_direction(direction)[None]
    e, mu = (
        checked_restitution(restitution, direction is None),
        coefficient(friction, direction is None),
    )
    dynamics.checked_places(q, v, places, axes[0], partner)
    if against is None and not speeds:
        found = _by_code(dynamics, state, place, direction, (e, mu), base)
        if found is not None:
            return found
    c = dynamics.contact(q, v, places, axes, speeds, partner, base)
    if direction is not None:
        c.check_approach(robot, place[0])
    p = c.impulses(e, robot, place[0])
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
    place: tuple[str, ArrayLike],
    direction: ArrayLike | None,
    how: tuple[float, float],
    base: BaseMotion | None,
) -> Impact | None:
    """A hit of the immovable world by one function; none where it has no numbers.

    Calls like this one go to that function from then on. ``how``: restitution and friction.
    """
    (link, point), (e, mu) = place, how
    arrays: tuple[ArrayLike, ...] = (*state, point, e)
    missing: tuple[str, ...] = ("direction", "friction")
    name = "impact_that_sticks"
    if direction is not None:
        arrays = (*state, point, direction, e, mu)
        name, missing = ("impact_with_friction", ()) if mu else ("impact", ("friction",))
        arrays = arrays if mu else arrays[:-1]
    make = _maker(dynamics, link)
    hit: Impact | None = dynamics.code.of(name, link, arrays, base, make, "impact", missing)
    return hit


def _maker(dynamics: ImpactDynamics, link: str) -> Callable[..., Impact]:
    """Makes a hit of what a function gives and of its inputs.

    Joint impulses are computed when they are asked for: the caller's arrays may change until then.
    """

    def made(
        found: tuple[Array, Array, Array], q: Array, v: Array, point: Array, *rest: Any
    ) -> Impact:
        after, impulse, loss = found
        state, place, along = (np.array(q), np.array(v)), (link, np.array(point)), impulse.copy()
        moved = BaseMotion(*map(np.array, rest[-3:])) if dynamics.on_moving_base else None
        return Impact(
            v=after,
            impulse=impulse,
            energy_loss=np.asarray(loss),
            against_v=None,
            make_joint_impulses=lambda: _in_joints(dynamics, state, place, along, moved),
        )

    return made


def _in_joints(
    dynamics: ImpactDynamics,
    state: tuple[Array, Array],
    place: tuple[str, Array],
    impulse: Array,
    base: BaseMotion | None,
) -> JointWrenches:
    """Impulses in joints under one impulse on a point of a link."""
    q, v = dynamics.before(*state)
    wrenches = on_links([((dynamics.point(q, v, *place, base),), (place,), impulse)])
    return dynamics.joint_impulses(q, (), np.zeros_like(v), wrenches, base)


def apparent_mass(
    dynamics: ImpactDynamics,
    q: ArrayLike,
    place: tuple[str, ArrayLike],
    direction: ArrayLike,
    base: BaseMotion | None,
) -> Array:
    """See `robodyn.Robot.apparent_mass`."""
    x, v = dynamics.at_rest(q)
    axis = unit_direction(direction)
    dynamics.checked_places(x, v, (place,), axis, World())
    link, point = place
    mass: Array | None = dynamics.code.of("apparent_mass", link, (q, point, direction), base)
    if mass is not None:
        return mass
    c = dynamics.contact(x, v, (place,), axis[None], (), World(), base)
    with np.errstate(divide="ignore"):
        return np.asarray(1.0 / np.where(c.movable()[..., 0], c.mobility[..., 0, 0], 0.0))


def on_links(
    met: Iterable[tuple[tuple[ContactPoint, ...], tuple[tuple[str, ArrayLike], ...], Array]],
) -> Mapping[str, Array]:
    """Impulses as wrenches on links, in their axes about their origins.

    Parameters
    ----------
    met : iterable of (points, places, impulse)
        Points of the robot, one or two, what links they are of, and the impulse on the first.
    """
    wrenches: dict[str, Array] = {}
    for points, places, impulse in met:
        for (link, _), point, p in zip(places, points, (impulse, -impulse), strict=False):
            wrench = point.wrench(p)
            wrenches[link] = wrenches[link] + wrench if link in wrenches else wrench
    return wrenches


def checked_restitution(given: float, sticks: bool = False) -> float:
    """The coefficient, checked.

    Raises
    ------
    SettingsError
    """
    known = isinstance(given, int | float | np.number) and not isinstance(given, bool)
    if not (known and 0.0 <= given <= 1.0):
        raise SettingsError(f"restitution is {given!r}, expected a number from 0 to 1")
    if sticks and given:
        raise SettingsError(
            f"restitution is {given!r}, but a point that sticks (direction=None) has none: give "
            "the direction along which it rebounds"
        )
    return float(given)
