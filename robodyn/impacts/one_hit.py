"""Hits of one point: along one direction, with friction or without, or one that sticks [W 6]."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from robodyn.array_types import Array
from robodyn.arrays import checked
from robodyn.errors import SettingsError
from robodyn.impacts.contact import ContactPoint, unit_direction
from robodyn.impacts.friction import check_energy, coefficient, with_friction
from robodyn.impacts.impact_dynamics import ImpactDynamics, each_axis
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
    q, v = dynamics.before(*state)
    places, partner = dynamics.partner_of(place, against)
    speeds, robot = dynamics.speeds("controlled", controlled), dynamics.robot
    if direction is None:
        axes = np.broadcast_to(each_axis(v), (3, *v.shape[:-1], 3))
    else:
        axes = unit_direction(direction)[None]
    e = checked_restitution(restitution, direction is None)
    c = dynamics.contact(q, v, places, axes, speeds, partner, base)
    if direction is not None:
        c.check_approach(robot, place[0])
    p = c.impulses(e, robot, place[0])
    if coefficient(friction, direction is None):
        normal, axes = axes[0], np.broadcast_to(each_axis(v), (3, *v.shape[:-1], 3))
        c = dynamics.contact(q, v, places, axes, speeds, partner, base)
        p = with_friction(c.velocity, c.mobility, normal, e, float(friction)).impulse
        check_energy(c.energy_loss(p), c.velocity, c.mobility_scale)
    if direction is not None and against is None and not (speeds or friction):
        found = _by_code(dynamics, state, place, direction, e, base)
        if found is not None:
            return found
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
    direction: ArrayLike,
    restitution: float,
    base: BaseMotion | None,
) -> Impact | None:
    """A hit of the immovable world without friction, by one function; none where it has no numbers.

    It takes a tenth of a hundredth of the time, and calls like this one go to it from then on.
    """
    link, point = place

    def made(
        found: tuple[Array, Array, Array], q: Array, v: Array, point: Array, *rest: Any
    ) -> Impact:
        after, impulse, loss = found
        # joint impulses are computed when they are asked for: the caller's arrays may change
        state, place, along = (np.array(q), np.array(v)), (link, np.array(point)), impulse.copy()
        moved = BaseMotion(*map(np.array, rest[2:])) if len(rest) > 2 else None
        return Impact(
            v=after,
            impulse=impulse,
            energy_loss=np.asarray(loss),
            against_v=None,
            make_joint_impulses=lambda: _in_joints(dynamics, state, place, along, moved),
        )

    arrays = (*state, point, direction, restitution)
    hit: Impact | None = dynamics.by_code("impact", link, arrays, base, made)
    return hit


def _in_joints(
    dynamics: ImpactDynamics,
    state: tuple[ArrayLike, ArrayLike],
    place: tuple[str, ArrayLike],
    impulse: Array,
    base: BaseMotion | None,
) -> JointWrenches:
    """Impulses in joints under one impulse on a point of a link."""
    q, v = dynamics.before(*state)
    link, point = place
    there = dynamics.point(q, v, link, checked("point", point, 3), base)
    wrenches = on_links([((there,), (place,), impulse)])
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
    mass: Array | None = dynamics.by_code("apparent_mass", link, (q, point, direction), base)
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
