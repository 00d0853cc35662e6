"""Impacts of one point, by direct calls of machine code if possible."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from numpy.typing import ArrayLike

from robodyn.array_types import Array
from robodyn.codegen import MethodTable
from robodyn.impacts.impact_dynamics import ImpactDynamics
from robodyn.impacts.one_hit import hit_between
from robodyn.impacts.partners import MovingPoint, RobotPoint, World
from robodyn.motion.base_motion import BaseMotion
from robodyn.results import Impact

__all__ = ["DirectHits"]


class DirectHits:
    """Impacts of one point of a robot.

    Parameters
    ----------
    dynamics : ImpactDynamics
    methods : MethodTable
        Of the robot.
    at_rest : tuple of ndarray
        Of a robot whose base has a motion: that of one at rest.
    """

    def __init__(
        self, dynamics: ImpactDynamics, methods: MethodTable, at_rest: tuple[Array, ...]
    ) -> None:
        self._dynamics = dynamics
        hit = "q", "v", "point", "direction", "restitution"
        self._of_body = methods.add(
            "hit_of_body",
            self._hit_of_body,
            (*hit, "velocity", "mobility", "friction"),
            at_rest,
            optional=("friction",),
        )
        self._of_link = methods.add(
            "hit_of_link",
            self._hit_of_link,
            (*hit, "other_point", "friction"),
            at_rest,
            optional=("friction",),
        )

    def impact(
        self,
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
        if against is None:
            how = direction, restitution, friction, base, controlled
            return hit_between(self._dynamics, state, (place,), World(), *how)
        places, partner = self._dynamics.partner_of(place, against)
        # calls that leave friction out go to a function without it
        rubs = {} if isinstance(friction, float) and not friction else {"friction": friction}
        given = (*state, *place, direction, restitution)
        beside: dict[str, Any] = {**rubs, "base": base, "controlled": controlled}
        if not isinstance(partner, MovingPoint):
            between: Impact = self._of_link(*given, *places[1], **beside)
            return between
        found: Impact = self._of_body(*given, partner.velocity, partner.rows, **beside)
        if isinstance(against, RobotPoint):
            found.against_v = partner.after(found.impulse)
        return found

    def _hit_of_body(
        self,
        q: ArrayLike,
        v: ArrayLike,
        link: str,
        point: ArrayLike,
        direction: ArrayLike | None,
        restitution: float,
        velocity: Array,
        mobility: Array,
        friction: float = 0.0,
        *,
        base: BaseMotion | None = None,
        controlled: Iterable[str] = (),
    ) -> Impact:
        """An impact with something that is no part of the robot, of given mobility (rows)."""
        places, how = ((link, point),), (direction, restitution, friction, base, controlled)
        partner = MovingPoint.alone(velocity, mobility)
        return hit_between(self._dynamics, (q, v), places, partner, *how)

    def _hit_of_link(
        self,
        q: ArrayLike,
        v: ArrayLike,
        link: str,
        point: ArrayLike,
        direction: ArrayLike | None,
        restitution: float,
        other: str,
        other_point: ArrayLike,
        friction: float = 0.0,
        *,
        base: BaseMotion | None = None,
        controlled: Iterable[str] = (),
    ) -> Impact:
        """An impact with another link of the robot."""
        places = ((link, point), (other, other_point))
        how = direction, restitution, friction, base, controlled
        return hit_between(self._dynamics, (q, v), places, World(), *how)
