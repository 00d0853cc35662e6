"""Several hits at the same instant, each without friction.

Assumptions, besides those of one impact: no body is hit after another, all impulses act together;
each pushes and none pulls; and points part at least at ``restitution`` times the speed at which
they met, no faster where their impulse pushes. So the impulses ``p`` solve a problem of
complementarity, ``0 <= p`` at right angles to ``A p + u + restitution u >= 0``, with the speeds
``u`` at which points part before and their mobilities ``A`` [W 6.9-6.14 for each; Moreau 1988].
What is caught between others rebounds again and again, at the same instant. Hits that in truth
follow one another, as of balls in a row, end otherwise.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from robodyn.arguments import check_fields
from robodyn.array_types import Array
from robodyn.arrays import mismatch
from robodyn.errors import ImpactError, ShapeError
from robodyn.impacts.complementarity import rebounds
from robodyn.impacts.contact import ContactPoint, Partner, unit_direction
from robodyn.impacts.impact_dynamics import ImpactDynamics, copied
from robodyn.impacts.one_hit import checked_restitution, on_links
from robodyn.motion.base_motion import BaseMotion
from robodyn.results import Impact
from robodyn.tolerances import APPROACH_SPEED_ZERO


@dataclass(frozen=True, eq=False)
class Hit:
    """One of several hits at the same instant.

    Attributes
    ----------
    link : str
    point : array_like, shape (3,) [m]
        Where it is hit, from the link's origin in link axes.
    direction : array_like, shape (..., 3)
        Along which the impulse acts on the link, from the other body into it, in world axes.
    against : None, (link, point), PointMass or RobotPoint, optional
        The immovable world, another point of the same robot, a particle, or a point of another
        robot: each particle, or robot, in one hit only.

    Examples
    --------
    >>> import robodyn as rd
    >>> hit = rd.Hit("lower", (0, 0, -1), (1, 0, 0))
    >>> hit.link, hit.point
    ('lower', (0, 0, -1))
    """

    link: str
    point: ArrayLike
    direction: ArrayLike
    against: Any = None

    def __post_init__(self) -> None:
        check_fields(self)


@dataclass(frozen=True, eq=False)
class _ResolvedHit:
    """A hit as the equations see it."""

    places: tuple[tuple[str, ArrayLike], ...]
    points: tuple[ContactPoint, ...]
    partner: Partner
    axis: Array  # (..., 3), world axes
    force: Array  # (..., nv): generalised impulse a unit of impulse
    speed: Array  # (...): of parting, before [m/s]


def simultaneous_impacts(
    dynamics: ImpactDynamics,
    state: tuple[ArrayLike, ArrayLike],
    hits: Sequence[Hit],
    restitution: float,
    base: BaseMotion | None,
    controlled: Iterable[str],
) -> Impact:
    """See `robodyn.Robot.simultaneous_impacts`."""
    e, base = checked_restitution(restitution), copied(base)
    _check(hits)
    q, v = dynamics.before(*state)
    speeds = dynamics.speeds("controlled", controlled)
    all_met = [_resolved(dynamics, q, v, hit, base) for hit in hits]
    forces = np.stack([met.force for met in all_met])
    jumps = dynamics.responses(q, forces, speeds, base)
    A = np.einsum("i...n,j...n->...ij", forces, jumps)
    for k, met in enumerate(all_met):
        A[..., k, k] += np.einsum("...a,...ab,...b->...", met.axis, met.partner.mobility, met.axis)
    u = np.stack([met.speed for met in all_met], axis=-1)
    p = _pushes(dynamics.robot, hits, A, u, e, np.abs(forces * v).sum(axis=-1).max(axis=0))
    impulse = np.stack([p[..., k, None] * met.axis for k, met in enumerate(all_met)], axis=-2)
    after = u + np.einsum("...ij,...j->...i", A, p)
    return Impact(
        v=v + np.einsum("...k,k...n->...n", p, jumps),
        impulse=impulse.copy(),
        energy_loss=-0.5 * np.einsum("...k,...k->...", p, u + after),
        against_v=tuple(met.partner.after(impulse[..., k, :]) for k, met in enumerate(all_met)),
        make_joint_impulses=lambda: dynamics.joint_impulses(
            q,
            speeds,
            np.zeros_like(v),
            on_links((x.points, x.places, impulse[..., k, :]) for k, x in enumerate(all_met)),
            base,
        ),
    )


def _check(hits: Sequence[Hit]) -> None:
    """Refuse what is no hits, and bodies that take part in several."""
    known = isinstance(hits, Sequence) and len(hits) and all(isinstance(x, Hit) for x in hits)
    if not known:
        raise mismatch("hits", hits, "a list of robodyn.Hit(link, point, direction)")
    others: list[Any] = [getattr(hit.against, "robot", hit.against) for hit in hits]
    for k, other in enumerate(others):
        if other is not None and not isinstance(other, tuple):
            if any(other is earlier for earlier in others[:k]):
                raise ShapeError(
                    f"hits[{k}] meets a body that an earlier one meets too: {other!r}. A particle "
                    "or another robot can take part in one hit; hits of links of one robot are "
                    "told by against=(link, point)",
                    name=f"hits[{k}]",
                    given=other,
                )


def _resolved(
    dynamics: ImpactDynamics, q: Array, v: Array, hit: Hit, base: BaseMotion | None
) -> _ResolvedHit:
    places, partner = dynamics.partner_of((hit.link, hit.point), hit.against)
    axis = unit_direction(hit.direction)
    points, J, u = dynamics.meeting(q, v, places, axis, partner, base)
    axis = np.broadcast_to(axis, u.shape)
    force = np.einsum("...i,...ij->...j", axis, J)
    return _ResolvedHit(places, points, partner, axis, force, np.einsum("...i,...i->...", axis, u))


def _pushes(
    robot: str, hits: Sequence[Hit], A: Array, u: Array, restitution: float, own: Array
) -> Array:
    """Impulses, shape (..., k) [N s].

    Raises ImpactError: If no points approach, or no finite impulses keep them from it.
    """
    scale = np.abs(u).max(axis=-1) + own
    parting = np.asarray(u.min(axis=-1) >= -APPROACH_SPEED_ZERO * scale) & np.asarray(scale > 0.0)
    links = ", ".join(repr(hit.link) for hit in hits)
    if parting.any():
        rows = tuple(int(k) for k in np.flatnonzero(parting))
        raise ImpactError(
            f"no two points of the hits of {links} of {robot!r} approach"
            f"{_where(u, rows)}: directions point from the other body into the link",
            rows=rows if u.ndim > 1 else (),
        )
    n = len(hits)
    each = zip(A.reshape(-1, n, n), u.reshape(-1, n), strict=True)
    p = np.array([rebounds(*row, restitution) for row in each]).reshape(u.shape)
    left = np.einsum("...ij,...j->...i", A, p) + u
    stuck = np.asarray(left.min(axis=-1) < -APPROACH_SPEED_ZERO * scale)
    if stuck.any():
        rows = tuple(int(k) for k in np.flatnonzero(stuck))
        at = int(left.reshape(-1, n)[rows[0]].argmin())
        raise ImpactError(
            f"link {hits[at].link!r} of {robot!r} is hit in a direction in which its joints, "
            f"driven ones held, cannot give way, or rebounds without end{_where(u, rows)}: no "
            "finite impulses stop it",
            rows=rows if u.ndim > 1 else (),
        )
    return p


def _where(u: Array, rows: tuple[int, ...]) -> str:
    return f" (state {rows[0]} of the batch)" if u.ndim > 1 else ""
