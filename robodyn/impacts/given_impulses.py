"""Given impulses and couples, and the velocity jumps of points under them [W 6.18-6.29]."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from robodyn.array_types import Array
from robodyn.arrays import by_name, finite, one_name, shaped, together
from robodyn.description.wrench import PointOfLink
from robodyn.errors import ShapeError
from robodyn.evaluator import Wrenches
from robodyn.impacts.impact_dynamics import ImpactDynamics, Places, copied
from robodyn.impacts.partners import World, refuse_overflow
from robodyn.motion.base_motion import BaseMotion
from robodyn.results import Impact, ImpactTensors, JointWrenches


def impulses(
    dynamics: ImpactDynamics,
    state: tuple[ArrayLike, ArrayLike],
    wrenches: Wrenches,
    base: BaseMotion | None,
    controlled: Iterable[str],
) -> Impact:
    """See `robodyn.Robot.impulses`."""
    base = copied(base)
    q, v = dynamics.before(*state)
    given = _checked(wrenches)
    batch = together(**{"q and v": q}, **given)
    form = dynamics.driven_form("", controlled)
    make = _maker(dynamics, tuple(given), form.speeds)
    if given:
        options = {"controlled": form.speeds} if form.speeds else {}
        found: Impact | None = dynamics.code.of(
            "impulses", options, state, base, make, wrenches=given
        )
        if found is not None:
            return found
    q, v = (np.broadcast_to(x, (*batch, x.shape[-1])) for x in (q, v))
    force, power, along = np.zeros(v.shape), np.zeros(batch), np.zeros((*batch, len(given), 3))
    for k, (place, w) in enumerate(given.items()):
        link = place.link if isinstance(place, PointOfLink) else place
        X, V, J = dynamics.motion_of_link(q, v, link, base)
        F = _about_origin(place, w, X[..., :3, :3])
        force = force + np.einsum("...i,...ij->...j", F, J)
        power = power + np.einsum("...i,...i->...", F, V)
        along[..., k, :] = np.einsum("...ij,...j->...i", X[..., :3, :3], F[..., :3])
    (jump,) = dynamics.responses(q, force[None], form.speeds, base)
    loss = -(power + 0.5 * np.einsum("...i,...i->...", force, jump))
    motion = (base.pose, base.twist, base.acceleration) if isinstance(base, BaseMotion) else ()
    return make((v + jump, along, loss), q, v, *motion, *given.values())


def _about_origin(place: str, w: Array, R: Array) -> Array:
    """An impulse with its couple about the origin of the link, in link axes, shape (..., 6)."""
    if not isinstance(place, PointOfLink):
        return w
    f, n = w[..., :3], w[..., 3:]
    if place.axes == "world":
        f, n = (np.einsum("...ji,...j->...i", R, x) for x in (f, n))
    return np.concatenate([f, n + np.cross(np.array(place.at), f)], axis=-1)


def _checked(wrenches: Wrenches) -> dict[str, Array]:
    """Impulses and couples by link, each (..., 6)."""
    found = {}
    for link, given in by_name("wrenches", wrenches).items():
        name = f"wrenches[{link!r}]"
        found[one_name("link", link)] = x = shaped(name, given, 6)
        finite(**{name: x})
        refuse_overflow(name, x)
    return found


def _maker(
    dynamics: ImpactDynamics, links: tuple[str, ...], speeds: tuple[int, ...]
) -> Callable[..., Impact]:
    """Makes the result of what a function gives and of its inputs.

    Joint impulses are computed on demand, from copies, as the caller may change the arrays.
    """

    def made(found: tuple[Array, ...], *given: Array) -> Impact:
        after, along, loss = found
        kept = tuple(map(np.array, given))
        wrenches = dict(zip(links, kept[len(kept) - len(links) :], strict=True))
        moved = BaseMotion(*kept[2:5]) if len(kept) > 2 + len(links) else None

        def joint_impulses() -> JointWrenches:
            q, v = dynamics.before(*kept[:2])
            return dynamics.joint_impulses(q, speeds, np.zeros_like(v), wrenches, moved)

        return Impact(after, along, np.asarray(loss), None, joint_impulses)

    return made


def impact_tensors(
    dynamics: ImpactDynamics,
    q: ArrayLike,
    place: tuple[str, ArrayLike],
    other: tuple[str, ArrayLike] | None,
    base: BaseMotion | None,
    controlled: Iterable[str],
) -> ImpactTensors:
    """See `robodyn.Robot.impact_tensors`."""
    x, v = dynamics.at_rest(q)
    places: Places = (place,) if other is None else (place, _place(other))
    checked = dynamics.checked_places(x, v, places, np.ones(3), World())
    form = dynamics.driven_form(place[0], controlled, "" if other is None else places[1][0])
    arrays = (q, *(p for _, p in places))
    found: ImpactTensors | None = dynamics.code.of("impact_tensors", form.options, arrays, base)
    if found is not None:
        return found
    moved, acted = (_columns(dynamics, x, v, p, base) for p in (checked[0], checked[-1]))
    jumps = dynamics.responses(x, np.moveaxis(acted, -2, 0), form.speeds, base)
    whole = np.einsum("...in,k...n->...ik", moved, jumps)
    return ImpactTensors(whole[..., :3, :3], whole[..., :3, 3:], whole[..., 3:, 3:])


def _place(other: Any) -> tuple[str, ArrayLike]:
    """A link and a point of it."""
    match other:
        case (str() as link, point):
            return link, point
    raise ShapeError(
        f"other is {other!r}, expected (link, point): where the impulse acts",
        name="other",
        given=other,
    )


def _columns(
    dynamics: ImpactDynamics,
    q: Array,
    v: Array,
    place: tuple[str, Array],
    base: BaseMotion | None,
) -> Array:
    """Jacobian of a point's velocity and of the angular velocity, shape (..., 6, nv), world."""
    link, point = place
    X, _, J = dynamics.motion_of_link(q, v, link, base)
    turned = np.einsum("...ij,...jn->...in", X[..., :3, :3], J[..., 3:, :])
    return np.concatenate([dynamics.point(q, v, link, point, base).J, turned], axis=-2)
