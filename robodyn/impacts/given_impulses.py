"""Given impulses and couples, and the velocity jumps of points under them [W 6.18-6.29]."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from robodyn.array_types import Array
from robodyn.arrays import by_name, finite, mismatch, one_name, shaped, together
from robodyn.description.wrench import PointOfLink
from robodyn.evaluator import Wrenches
from robodyn.impacts.contact import World, refuse_overflow
from robodyn.impacts.impact_dynamics import ImpactDynamics, Places
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
    q, v = dynamics.before(*state)
    given = _checked(wrenches)
    batch = together(**{"q and v": q}, **given)
    speeds = dynamics.speeds("controlled", controlled)

    def solve() -> tuple[Array, Array, Array]:
        x, y = (np.broadcast_to(x, (*batch, x.shape[-1])) for x in (q, v))
        force, power, along = np.zeros(y.shape), np.zeros(batch), np.zeros((*batch, len(given), 3))
        for k, (place, w) in enumerate(given.items()):
            link = place.link if isinstance(place, PointOfLink) else place
            X, V, J = dynamics.motion_of_link(x, y, link, base)
            F = _about_origin(place, w, X[..., :3, :3])
            force = force + np.einsum("...i,...ij->...j", F, J)
            power = power + np.einsum("...i,...i->...", F, V)
            along[..., k, :] = np.einsum("...ij,...j->...i", X[..., :3, :3], F[..., :3])
        (jump,) = dynamics.responses(x, force[None], speeds, base)
        return y + jump, along, -(power + 0.5 * np.einsum("...i,...i->...", force, jump))

    def made(found: tuple[Array, ...], *inputs: Array) -> Impact:
        """Joint impulses are computed on demand, from copies, as the caller may change arrays."""
        after, along, loss = found
        kept = tuple(map(np.array, inputs))
        loads = dict(zip(given, kept[len(kept) - len(given) :], strict=True))
        moved = BaseMotion(*kept[2:5]) if len(kept) > 2 + len(given) else None

        def joint_impulses() -> JointWrenches:
            x, y = dynamics.before(*kept[:2])
            return dynamics.joint_impulses(x, speeds, np.zeros_like(y), loads, moved)

        return Impact(after, along, np.asarray(loss), None, joint_impulses)

    options = {"controlled": speeds} if speeds else {}
    impact: Impact = dynamics.answered(
        "impulses", options, state, base, solve, made, wrenches=given
    )
    return impact


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
    options = dynamics.options(place[0], None if other is None else places[1][0], controlled)

    def solve() -> tuple[Array, Array, Array]:
        moved, acted = (_columns(dynamics, x, v, p, base) for p in (checked[0], checked[-1]))
        held = options.get("controlled", ())
        jumps = dynamics.responses(x, np.moveaxis(acted, -2, 0), held, base)
        whole = np.einsum("...in,k...n->...ik", moved, jumps)
        return whole[..., :3, :3], whole[..., :3, 3:], whole[..., 3:, 3:]

    arrays = (q, *(p for _, p in places))
    found: ImpactTensors = dynamics.answered("impact_tensors", options, arrays, base, solve)
    return found


def _place(other: Any) -> tuple[str, ArrayLike]:
    """A link and a point of it."""
    match other:
        case (str() as link, point):
            return link, point
    raise mismatch("other", other, "(link, point): where the impulse acts")


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
