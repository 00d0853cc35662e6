"""Impacts: jumps of speeds under impulses, and the impulses in all joints [W 6].

While an impulse acts nothing else has time to: positions stay, and forces that stay finite drop
out. What is left are the equations of motion at rest, without gravity, springs and friction, with
jumps of speeds in the place of accelerations and impulses in that of forces [W 6.2, 6.18, 6.37].
So loops, driven joints, rotors and minimal coordinates need nothing of their own here.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, Protocol

import numpy as np
from numpy.typing import ArrayLike

from robodyn.array_types import Array
from robodyn.arrays import checked, finite, named_alone, one_name, shaped, together
from robodyn.contact import (
    Contact,
    ContactPoint,
    MovingPoint,
    Partner,
    PointMass,
    RobotPoint,
    World,
    contact_point,
    moderate,
    unit_direction,
)
from robodyn.contact_friction import check_energy, coefficient, frictional_impulse
from robodyn.dynamics import Dynamics
from robodyn.errors import ImpactError, SettingsError, ShapeError
from robodyn.evaluator import Evaluator, Wrenches
from robodyn.model.model import Model
from robodyn.model.speed_selection import ByJoint, speed_indices, speed_names
from robodyn.motion.base_motion import BaseMotion
from robodyn.results import Impact, JointWrenches

__all__ = ["Impacts", "checked_restitution", "on_links"]

#: Squares of a point's speeds along a direction, over those along all, that may be rounding alone.
ROUNDED = 1e-12


class _JointForces(Protocol):
    """What carries the wrench of every joint: `robodyn.joint_loads.JointForces`, or like it."""

    def at(
        self,
        q: ArrayLike,
        v: ArrayLike,
        a: ArrayLike | None,
        joints: Iterable[str] | None,
        controlled: ByJoint | None,
        tau: ByJoint | None,
        locked: Iterable[str],
        wrenches: Wrenches | None,
        base: BaseMotion | None,
    ) -> JointWrenches:
        """Force and moment in every joint."""


class _Postures(Protocol):
    """What knows closed states: `robodyn.postures.Postures`, or like it."""

    def closed_state(self, q: ArrayLike, v: ArrayLike, free: Array | None) -> tuple[Array, Array]:
        """The closed state near one that has drifted a little."""


class Impacts:
    """Jumps of the speeds of one robot.

    Parameters
    ----------
    model : Model
    evaluator : Evaluator
        Of the robot as it moves.
    dynamics : Dynamics
        Of the same robot without gravity, springs and friction, at a time that stands still.
    joint_forces : JointForces
        Of that one.
    moving : Dynamics
        Of the robot as it moves: a clock that drives it gives it speeds before it is hit.
    postures : Postures
        Of that one, too.
    """

    def __init__(
        self,
        model: Model,
        evaluator: Evaluator,
        dynamics: Dynamics,
        joint_forces: _JointForces,
        moving: Dynamics,
        postures: _Postures,
    ) -> None:
        self._model, self._evaluator = model, evaluator
        self._moving, self._postures = moving, postures
        self._dynamics, self._joint_forces = dynamics, joint_forces

    def point(
        self, q: Array, v: Array, link: str, point: Array, base: BaseMotion | None
    ) -> ContactPoint:
        """A point of a link: where it is, how fast, and its Jacobian, in world axes."""
        options: dict[str, Any] = {"base": base, "frame": link}
        return contact_point(
            point,
            self._evaluator.call("frame_pose", (q,), **options),
            self._evaluator.call("frame_twist", (q, v), axes="world", **options),
            self._evaluator.call("frame_jacobian", (q,), axes="world", **options),
        )

    def responses(
        self, q: Array, forces: Array, controlled: tuple[int, ...], base: BaseMotion | None
    ) -> Array:
        """Jumps of speeds under generalised impulses, shape (k, ..., nv) [W 6.18].

        Parameters
        ----------
        q : ndarray, shape (..., nq)
        forces : ndarray, shape (k, ..., nv) [N s, N m s]
        controlled : tuple of int
            Speeds that do not jump.
        base : BaseMotion, optional
        """
        nv = self._model.bodies.nv
        free = [k for k in range(nv) if k not in controlled]
        if not free:
            return np.zeros(forces.shape)
        batch = forces.shape[:-1]
        q = np.broadcast_to(q, (*batch, q.shape[-1]))
        none = np.zeros((*batch, len(controlled)))
        arrays = (q, np.zeros((*batch, nv)), none, forces[..., free])
        return self._dynamics.driven(arrays, controlled, None, _at_rest(base))[0]

    def meeting(
        self,
        q: Array,
        v: Array,
        places: tuple[tuple[str, ArrayLike], ...],
        direction: Array,
        partner: Partner,
        base: BaseMotion | None,
    ) -> tuple[tuple[ContactPoint, ...], Array, Array]:
        """Points that meet, the Jacobian of their relative velocity, and this velocity.

        Shapes (..., 3, nv) and (..., 3), in world axes; arguments are those of `contact`.
        """
        given = [(one_name("link", link), checked("point", point, 3)) for link, point in places]
        for _, point in given:
            moderate("point", point)
        together(
            **{"q and v": q, "point": given[0][1], "direction": direction},
            against=given[1][1] if len(given) == 2 else partner.velocity,
        )
        points = tuple(self.point(q, v, *place, base) for place in given)
        J, u = points[0].J, points[0].velocity - partner.velocity
        if len(points) == 2:
            J, u = J - points[1].J, u - points[1].velocity
        return points, J, u

    def contact(
        self,
        q: Array,
        v: Array,
        places: tuple[tuple[str, ArrayLike], ...],
        axes: Array,
        controlled: tuple[int, ...],
        partner: Partner,
        base: BaseMotion | None,
    ) -> Contact:
        """Relative velocity, mobility and responses along some axes.

        Parameters
        ----------
        q, v : ndarray, shape (..., nq), (..., nv)
        places : tuple of (link, point)
            One, or two of this robot that meet.
        axes : ndarray, shape (k, ..., 3)
            Along which impulses act on the first link, in world axes.
        controlled : tuple of int
        partner : Partner
            What the first link meets, if it is nothing of this robot.
        base : BaseMotion, optional
        """
        points, J, u = self.meeting(q, v, places, axes[0], partner, base)
        forces = np.einsum("k...i,...ij->k...j", axes, J)
        jumps = self.responses(q, forces, controlled, base)
        own = np.einsum("i...n,j...n->...ij", forces, jumps)
        theirs = np.einsum("i...a,...ab,j...b->...ij", axes, partner.mobility, axes)
        M = self._evaluator.call("mass_matrix", (q,))
        scale = np.abs(J * v[..., None, :]).sum(axis=(-1, -2)) + np.linalg.norm(u, axis=-1)
        along = np.square(forces).sum(axis=-1).max(axis=0)
        least = np.maximum(along, ROUNDED * np.square(J).sum(axis=(-1, -2)))
        return Contact(
            points=points,
            axes=axes,
            velocity=np.einsum("k...i,...i->...k", axes, u),
            speed_scale=scale,
            mobility=own + theirs,
            mobility_scale=least / np.trace(M, axis1=-2, axis2=-1),
            jumps=jumps,
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
        friction: float = 0.0,
    ) -> Impact:
        """See `Robot.impact`."""
        q, v = self.before(*state)
        places, partner = self.met_by(place, against)
        speeds, robot = self.held(controlled), self._model.mechanism.name
        if direction is None:
            axes = np.broadcast_to(_each_axis(v), (3, *v.shape[:-1], 3))
        else:
            axes = unit_direction(direction)[None]
        e = checked_restitution(restitution, direction is None)
        c = self.contact(q, v, places, axes, speeds, partner, base)
        if direction is not None:
            c.check_approach(robot, place[0])
        p = c.impulses(e, robot, place[0])
        if coefficient(friction, direction is None):
            normal, axes = axes[0], np.broadcast_to(_each_axis(v), (3, *v.shape[:-1], 3))
            c = self.contact(q, v, places, axes, speeds, partner, base)
            p = frictional_impulse(c.velocity, c.mobility, normal, e, float(friction))
            check_energy(c.energy_loss(p), c.velocity, c.mobility_scale)
        impulse = np.einsum("...k,k...i->...i", p, axes)
        return Impact(
            v=v + np.einsum("...k,k...n->...n", p, c.jumps),
            impulse=impulse,
            energy_loss=c.energy_loss(p),
            against_v=partner.after(impulse),
            make_joint_impulses=lambda: self.joint_impulses(
                q, speeds, on_links([(c.points, places, impulse)]), base
            ),
        )

    def latch(
        self, state: tuple[ArrayLike, ArrayLike], joints: Iterable[str], base: BaseMotion | None
    ) -> Impact:
        """See `Robot.latch`."""
        q, v = self._state(*state, self._moving)
        speeds = list(self._speeds(named_alone("joints", joints)))
        none = np.zeros((*v.shape[:-1], v.shape[-1] - len(speeds)))
        arrays = (q, np.zeros(v.shape), -v[..., speeds], none)
        jump, tau = self._dynamics.driven(arrays, tuple(speeds), None, _at_rest(base))
        return Impact(
            v=v + jump,
            impulse=np.zeros((*v.shape[:-1], 3)),
            energy_loss=0.5 * np.einsum("...k,...k->...", -tau[..., speeds], v[..., speeds]),
            against_v=None,
            make_joint_impulses=lambda: self._in_joints(q, self._stopped(speeds, -v), None, base),
        )

    def apparent_mass(
        self,
        q: ArrayLike,
        place: tuple[str, ArrayLike],
        direction: ArrayLike,
        base: BaseMotion | None,
    ) -> Array:
        """See `Robot.apparent_mass`."""
        x, v = self._state(q, np.zeros(self._model.bodies.nv), self._dynamics)
        c = self.contact(x, v, (place,), unit_direction(direction)[None], (), World(), base)
        with np.errstate(divide="ignore"):
            return np.asarray(1.0 / np.where(c.movable()[..., 0], c.mobility[..., 0, 0], 0.0))

    def met(
        self,
        state: tuple[ArrayLike, ArrayLike],
        place: tuple[str, ArrayLike],
        base: BaseMotion | None,
    ) -> MovingPoint:
        """A point of this robot as another robot meets it."""
        q, v = self._state(*state, self._moving)
        axes = np.broadcast_to(_each_axis(v), (3, *v.shape[:-1], 3))
        c = self.contact(q, v, (place,), axes, (), World(), base)
        velocity = c.points[0].velocity
        return MovingPoint(
            velocity, c.mobility, lambda p: v + np.einsum("...k,k...n->...n", p, c.jumps)
        )

    def before(self, q: ArrayLike, v: ArrayLike) -> tuple[Array, Array]:
        """The state just before, checked, with the same leading axes."""
        return self._state(q, v, self._moving)

    def held(self, controlled: Iterable[str]) -> tuple[int, ...]:
        """Speeds that do not jump, of joints by name."""
        return self._speeds(named_alone("controlled", controlled))

    def _state(self, q: ArrayLike, v: ArrayLike, dynamics: Dynamics) -> tuple[Array, Array]:
        """Positions and speeds, checked, with the same leading axes."""
        name = self._model.mechanism.name
        x = shaped("q", q, self._model.bodies.nq, of=name)
        y = shaped("v", v, self._model.bodies.nv, of=name)
        finite(q=x, v=y)
        moderate("v", y)
        batch = together(q=x, v=y)
        dynamics.check(q, v)
        x, y = self._postures.closed_state(x, y, None)  # what little is open would stop nothing
        return np.broadcast_to(x, (*batch, x.shape[-1])), np.broadcast_to(y, (*batch, y.shape[-1]))

    def met_by(
        self, place: tuple[str, ArrayLike], against: Any
    ) -> tuple[tuple[tuple[str, ArrayLike], ...], Partner]:
        """The links of this robot that meet, and what else the first one meets."""
        match against:
            case None:
                return (place,), World()
            case PointMass():
                return (place,), MovingPoint.of(against)
            case RobotPoint():
                state, there = (against.q, against.v), (against.link, against.point)
                return (place,), against.robot._impacts(against.t).met(state, there, against.base)
            case (str() as link, _):
                self._refuse_one_body(place[0], link)
                return (place, against), World()
        raise ShapeError(
            f"against is {against!r}, expected None (the immovable world), (link, point) of the "
            "same robot, robodyn.PointMass(mass, velocity) or robodyn.RobotPoint(robot, q, v, "
            "link, point)",
            name="against",
            given=against,
        )

    def _refuse_one_body(self, link: str, other: str) -> None:
        """Two points of one rigid body keep their distance: they do not meet."""
        frames = self._model.bodies.frames
        if link in frames and other in frames and frames[link][0] == frames[other][0]:
            raise ImpactError(
                f"link {link!r} of {self._model.mechanism.name!r} cannot hit {other!r}: no joint "
                "moves one against the other, they are one rigid body"
            )

    def _speeds(self, names: tuple[str, ...]) -> tuple[int, ...]:
        found = [k for name in names for k in speed_indices(self._model, name)]
        return tuple(sorted(set(found)))

    def _stopped(self, speeds: Iterable[int], jump: Array) -> dict[str, Array]:
        """Jumps of some speeds, by joint or axis; ``jump`` has those of all speeds."""
        found = {}
        for name in speed_names(self._model, speeds):
            own = jump[..., list(speed_indices(self._model, name))]
            found[name] = own[..., 0] if own.shape[-1] == 1 else own
        return found

    def joint_impulses(
        self,
        q: Array,
        held: tuple[int, ...],
        wrenches: Wrenches | None,
        base: BaseMotion | None,
    ) -> JointWrenches:
        """Impulses and their moments in every joint, where some speeds do not jump [W 6.37]."""
        none = np.zeros((*q.shape[:-1], self._model.bodies.nv))
        return self._in_joints(q, self._stopped(held, none), wrenches, base)

    def _in_joints(
        self,
        q: Array,
        controlled: Mapping[str, Any],
        wrenches: Wrenches | None,
        base: BaseMotion | None,
    ) -> JointWrenches:
        """The same for jumps of speeds that are given: cut joints too, and under the base."""
        still = np.zeros((*q.shape[:-1], self._model.bodies.nv))
        return self._joint_forces.at(
            q, still, None, None, controlled, None, (), wrenches, _at_rest(base)
        )


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


def _each_axis(v: Array) -> Array:
    """The axes of the world, one after the other, beside a batch of states."""
    return np.eye(3).reshape(3, *[1] * (v.ndim - 1), 3)


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


def _at_rest(base: BaseMotion | None) -> BaseMotion | None:
    """The same pose of the base, which does not jump."""
    if not isinstance(base, BaseMotion):
        return base  # it is refused where it is used, if it is not left out
    return BaseMotion(base.pose, np.zeros_like(base.twist), np.zeros_like(base.acceleration))
