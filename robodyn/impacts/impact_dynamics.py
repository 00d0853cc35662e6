"""Impacts: jumps of speeds under impulses, and the impulses in all joints [W 6].

While an impulse acts nothing else has time to: positions stay, and forces that stay finite drop
out. What is left are the equations of motion at rest, without gravity, springs and friction, with
jumps of speeds in the place of accelerations and impulses in that of forces [W 6.2, 6.18, 6.37].
So loops, driven joints, rotors and minimal coordinates need nothing of their own here.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from functools import cached_property
from types import MethodType
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import ArrayLike

from robodyn.array_types import Array
from robodyn.arrays import checked, finite, mismatch, named_alone, one_name, shaped, together
from robodyn.closed_loops.dynamics.postures import Postures
from robodyn.codegen import Memo, MethodTable
from robodyn.equations.catalogue import QUANTITIES
from robodyn.errors import ImpactError
from robodyn.evaluator import Evaluator, Wrenches
from robodyn.impacts.contact import (
    Contact,
    ContactPoint,
    MovingPoint,
    Partner,
    PointMass,
    RobotPoint,
    World,
    contact_point,
    refuse_overflow,
)
from robodyn.impacts.cut_joints import Pushes, pushes_in
from robodyn.minimal.joint_forces import MinimalJointForces
from robodyn.model.model import Model
from robodyn.model.speed_selection import assign_roles, speed_indices, speed_names
from robodyn.motion.base_motion import BaseMotion
from robodyn.parts.driven import check_state, driven
from robodyn.parts.joint_loads import JointForces
from robodyn.results import JointWrenches
from robodyn.tolerances import CONTACT_DIRECTION

#: Points of links, one or two.
Places: TypeAlias = tuple[tuple[str, ArrayLike], ...]


class ImpactDynamics:
    """Impacts of one robot.

    evaluator: Of the robot as it moves.
    still: Of the same robot without gravity, springs and friction, at a time that stands still.
    joint_forces: Of that one.
    postures: Of the robot as it moves: a clock that drives it gives it speeds before it is hit.
    methods: Methods of the robot that are called as machine code.
    base_at_rest: Motion of a base at rest, of a robot whose base has a motion.
    """

    def __init__(
        self,
        model: Model,
        evaluator: Evaluator,
        still: Evaluator,
        joint_forces: JointForces | MinimalJointForces,
        postures: Postures,
        methods: MethodTable,
        base_at_rest: tuple[Array, ...],
    ) -> None:
        self._model, self._evaluator = model, evaluator
        self._still, self._postures, self._joint_forces = still, postures, joint_forces
        self._methods, self._base_at_rest = methods, base_at_rest
        self._direct: Memo[Callable[..., Any]] = Memo()
        #: Whether functions of the catalogue compute impacts; there are none of moving constraints.
        self.by_code = not model.setup.rheonomic and model.bodies.nv > 0

    def answered(
        self,
        name: str,
        options: dict[str, Any],
        arrays: Sequence[ArrayLike],
        base: BaseMotion | None,
        solve: Callable[[], Any],
        make: Callable[..., Any] | None = None,
        method: str = "",
        wrenches: Wrenches | None = None,
    ) -> Any:
        """The result of a quantity of an impact, as a method returns it.

        solve: Computes its arrays where its function has no numbers, as near singular postures.
        make, optional: Makes the result of the arrays and of the inputs. Default: what the row of
            the quantity says.
        method: Name of the method that may call the function. Default: that of the quantity.
        """
        given = tuple(x if isinstance(x, float) else np.asarray(x, float) for x in arrays)
        if self.by_code and wrenches != {}:
            return self._evaluator.answer(
                name, given, method=method, base=base, make=make, of_inputs=make is not None,
                fallback=lambda asked: solve(), wrenches=wrenches, **options,
            )  # fmt: skip
        if make is not None:
            moved = self._evaluator.environment(name, base)[: len(self._base_at_rest)]
            return make(solve(), *given, *moved, *(wrenches or {}).values())
        result = QUANTITIES[name].result
        return solve() if result is None else result(self._model.setup, options)(solve())

    def direct(
        self, name: str, function: Callable[..., Any], arrays: Sequence[str]
    ) -> Callable[..., Any]:
        """A function of these dynamics that is called as machine code where possible.

        arrays: Names of its parameters that are arrays; those with a default may be left out.
        """

        def made() -> Callable[..., Any]:
            bound = MethodType(function, self)
            return self._methods.add(name, bound, arrays, self._base_at_rest, optional=arrays)

        return self._direct.get(name, made)

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

    def motion_of_link(
        self, q: Array, v: Array, link: str, base: BaseMotion | None
    ) -> tuple[Array, Array, Array]:
        """Pose, twist and Jacobian of a link, the last two in its axes."""
        options: dict[str, Any] = {"base": base, "frame": link}
        given = ("frame_pose", (q,)), ("frame_twist", (q, v)), ("frame_jacobian", (q,))
        X, V, J = (self._evaluator.call(*x, **options) for x in given)
        return X, V, J

    def responses(
        self, q: Array, forces: Array, controlled: tuple[int, ...], base: BaseMotion | None
    ) -> Array:
        """Jumps of speeds under generalised impulses, shape (k, ..., nv) [W 6.18].

        q (..., nq)
        forces (k, ..., nv) [N s, N m s]
        controlled: Speeds that do not jump.
        """
        nv = self._model.bodies.nv
        free = [k for k in range(nv) if k not in controlled]
        if not free:
            return np.zeros(forces.shape)
        batch = forces.shape[:-1]
        q = np.broadcast_to(q, (*batch, q.shape[-1]))
        none = np.zeros((*batch, len(controlled)))
        arrays = (q, np.zeros((*batch, nv)), none, forces[..., free])
        return driven(self._still, arrays, controlled, None, _at_rest(base))[0]

    def checked_places(
        self,
        q: Array,
        v: Array,
        places: Places,
        direction: Array,
        partner: Partner,
    ) -> list[tuple[str, Array]]:
        """Links and points that meet, checked beside what else is given of the hit."""
        given = [(one_name("link", link), checked("point", point, 3)) for link, point in places]
        for _, point in given:
            refuse_overflow("point", point)
        together(
            **{"q and v": q, "point": given[0][1], "direction": direction},
            against=given[1][1] if len(given) == 2 else partner.velocity,
        )
        return given

    def meeting(
        self,
        q: Array,
        v: Array,
        places: Places,
        direction: Array,
        partner: Partner,
        base: BaseMotion | None,
    ) -> tuple[tuple[ContactPoint, ...], Array, Array]:
        """Points that meet, the Jacobian of their relative velocity, and this velocity.

        Shapes (..., 3, nv) and (..., 3), in world axes; arguments are those of `contact`.
        """
        given = tuple(self.checked_places(q, v, places, direction, partner))
        points = self._points(q, v, given, base)
        return points, *_parting(points, partner)

    def trace_of_masses(self, q: Array) -> Array:
        """Trace of the mass matrix, shape (...)."""
        M = self._evaluator.call("mass_matrix", (q,))
        return np.asarray(np.trace(M, axis1=-2, axis2=-1))

    def _responses_of_points(
        self, q: Array, v: Array, places: tuple[tuple[str, Array], ...], base: BaseMotion | None
    ) -> tuple[tuple[ContactPoint, ...], Array] | None:
        """Points, and jumps of speeds where impulses along the world's axes part them.

        By one function for each; ``None`` where one has no numbers.
        """
        points, jumps = [], []
        for link, point in places:
            found = self.answered(
                "point_response", {"frame": link}, (q, v, point), base, lambda: None
            )
            if found is None:
                return None
            _, velocity, _, own, J, R = found
            points.append(ContactPoint(R, point, velocity, J))
            jumps.append(own)
        return tuple(points), jumps[0] if len(jumps) == 1 else jumps[0] - jumps[1]

    def _points(
        self, q: Array, v: Array, places: tuple[tuple[str, Array], ...], base: BaseMotion | None
    ) -> tuple[ContactPoint, ...]:
        return tuple(self.point(q, v, *place, base) for place in places)

    def contact(
        self,
        q: Array,
        v: Array,
        places: Places,
        axes: Array,
        controlled: tuple[int, ...],
        partner: Partner,
        base: BaseMotion | None,
    ) -> Contact:
        """Relative velocity, mobility and responses along some axes.

        q, v (..., nq), (..., nv)
        places: One, or two of this robot that meet.
        axes (k, ..., 3): Along which impulses act on the first link, in world axes.
        partner: What the first link meets, if it is nothing of this robot.
        """
        given = tuple(self.checked_places(q, v, places, axes[0], partner))
        met = None if controlled else self._responses_of_points(q, v, given, base)
        points, own = met or (self._points(q, v, given, base), None)
        J, u = _parting(points, partner)
        forces = np.einsum("k...i,...ij->k...j", axes, J)
        if own is None:
            jumps = self.responses(q, forces, controlled, base)
        else:
            jumps = np.einsum("k...i,...ij->k...j", axes, own)
        own = np.einsum("i...n,j...n->...ij", forces, jumps)
        theirs = np.einsum("i...a,...ab,j...b->...ij", axes, partner.mobility, axes)
        trace = self.trace_of_masses(q)
        scale = np.abs(J * v[..., None, :]).sum(axis=(-1, -2)) + np.linalg.norm(u, axis=-1)
        along = np.square(forces).sum(axis=-1).max(axis=0)
        least = np.maximum(along, CONTACT_DIRECTION * np.square(J).sum(axis=(-1, -2)))
        return Contact(
            points=points,
            axes=axes,
            velocity=np.einsum("k...i,...i->...k", axes, u),
            speed_scale=scale,
            mobility=own + theirs,
            # a robot without speeds of its own, moved by the clock, has no mobility either
            mobility_scale=np.divide(least, trace, out=np.zeros_like(least), where=trace > 0.0),
            jumps=jumps,
        )

    def with_slope(
        self, name: str, link: str, arrays: tuple[Array, ...], base: BaseMotion | None
    ) -> tuple[Array, Array]:
        """Something of a link in world axes, and its derivative by positions, one axis more."""
        options = {"frame": link, "axes": "world"}
        f = self._evaluator.function(name, **options)
        slope = self._evaluator.derivative(name, "q", **options)
        given = (*arrays, *self._evaluator.environment(name, base))
        return f(*given), slope(*given)

    def slopes_at_rest(
        self, q: Array, forces: Array, controlled: tuple[int, ...], base: BaseMotion | None
    ) -> tuple[Array, Array]:
        """Of jumps under generalised impulses, by q and by these, shapes (..., nv, nv).

        Speeds of ``controlled`` joints do not jump.
        """
        rest, still = np.zeros_like(forces), _at_rest(base)
        if not controlled:
            arrays = (q, rest, forces)
            found = self._still.results("forward_dynamics_derivatives", arrays, base=still)
            return found[1], found[3]
        free = [k for k in range(forces.shape[-1]) if k not in controlled]
        if not free:
            none = np.zeros((*forces.shape, forces.shape[-1]))
            return none, none
        given = (q, rest, rest[..., : len(controlled)], forces[..., free])
        found = self._still.results(
            "hybrid_dynamics_derivatives", given, base=still, controlled=controlled,
            all_columns=True,
        )  # fmt: skip
        return found[1], found[4]

    def slopes_of_inertia(self, q: Array, jump: Array, base: BaseMotion | None) -> Array:
        """Of the generalised impulses that a jump takes, by inertial parameters (..., nv, 10 n)."""
        still, rest = np.zeros_like(jump), _at_rest(base)
        forces = [
            self._evaluator.call("regressor", (q, still, a), base=rest) for a in (jump, still)
        ]
        return np.asarray(forces[0] - forces[1])

    def as_partner(
        self,
        q: ArrayLike,
        v: ArrayLike,
        link: str,
        point: ArrayLike,
        base: BaseMotion | None = None,
    ) -> MovingPoint:
        """A point of this robot as another robot meets it."""

        def solve() -> tuple[Array, ...]:
            x, y = self.before(q, v)
            axes = np.broadcast_to(each_axis(y), (3, *y.shape[:-1], 3))
            c = self.contact(x, y, ((link, point),), axes, (), World(), base)
            return y, c.points[0].velocity, c.mobility, np.moveaxis(c.jumps, 0, -2)

        options = {"frame": one_name("link", link)}
        u, velocity, mobility, jumps, *_ = self.answered(
            "point_response", options, (q, v, point), base, solve
        )
        return MovingPoint(
            velocity, mobility, lambda p: u + np.einsum("...k,...kn->...n", p, jumps)
        )

    @property
    def on_moving_base(self) -> bool:
        """Whether the base moves as prescribed."""
        return self._model.settings.base == "moving"

    @property
    def robot(self) -> str:
        """Name of the robot."""
        return self._model.mechanism.name

    def before(self, q: ArrayLike, v: ArrayLike) -> tuple[Array, Array]:
        """The state just before, checked, with the same leading axes."""
        return self._state(q, v, self._evaluator)

    def at_rest(self, q: ArrayLike) -> tuple[Array, Array]:
        """The state at rest, in which joints that depend on time do not move either."""
        return self._state(q, np.zeros(self._model.bodies.nv), self._still)

    def speeds(self, what: str, joints: Iterable[str]) -> tuple[int, ...]:
        """Speeds of joints, or axes, by name; ``what``: the argument that names them."""
        found = [k for name in named_alone(what, joints) for k in speed_indices(self._model, name)]
        return tuple(sorted(set(found)))

    def options(
        self, link: str, other: str | None, controlled: Iterable[str], against: bool = False
    ) -> dict[str, Any]:
        """Options of the functions of a hit of a link.

        other: Link of the same robot that it meets, if it does.
        against: It meets something that moves and is no part of the robot.
        """
        found: dict[str, Any] = {"frame": one_name("link", link)}
        if other is not None:
            found["other"] = one_name("against", other)
        if against:
            found["against"] = True
        speeds = () if controlled == () else self.speeds("controlled", controlled)
        return {**found, "controlled": speeds} if speeds else found

    @cached_property
    def cut_joints(self) -> frozenset[str]:
        """Joints that close loops and have freedoms, but no speeds of their own."""
        closures = self._model.setup.closures
        joints = (c for c in closures if c.functions is None)
        return frozenset(c.name for c in joints if c.kind.in_tree and c.kind.nv)

    def pushes(self, q: Array, v: Array, cut: Sequence[str]) -> Pushes:
        """Units of impulse along the freedoms of some of these joints."""
        return pushes_in(self._model, self._evaluator, q, v, cut)

    def stopped(
        self, q: Array, v: Array, speeds: tuple[int, ...], base: BaseMotion | None
    ) -> tuple[Array, Array]:
        """Jumps that make some speeds zero, and the impulses along all, shapes (..., nv)."""
        at = list(speeds)
        none = np.zeros((*v.shape[:-1], v.shape[-1] - len(at)))
        arrays = (q, np.zeros(v.shape), -v[..., at], none)
        return driven(self._still, arrays, speeds, None, _at_rest(base))

    def _state(self, q: ArrayLike, v: ArrayLike, evaluator: Evaluator) -> tuple[Array, Array]:
        """Positions and speeds, checked, with the same leading axes, in arrays of their own."""
        name = self._model.mechanism.name
        x = shaped("q", q, self._model.bodies.nq, of=name)
        y = shaped("v", v, self._model.bodies.nv, of=name)
        finite(q=x, v=y)
        refuse_overflow("v", y)
        batch = together(q=x, v=y)
        check_state(evaluator, q, v)
        x, y = self._postures.closed_state(x, y, None)  # loops that are slightly open are closed
        x, y = np.array(x), np.array(y)
        return np.broadcast_to(x, (*batch, x.shape[-1])), np.broadcast_to(y, (*batch, y.shape[-1]))

    def partner_of(self, place: tuple[str, ArrayLike], against: Any) -> tuple[Places, Partner]:
        """The links of this robot in the contact, and the other body if it is not the robot."""
        match against:
            case None:
                return (place,), World()
            case PointMass():
                return (place,), against.as_partner
            case RobotPoint():
                state, there = (against.q, against.v), (against.link, against.point)
                meet = against.robot.impact_dynamics.as_partner
                return (place,), meet(*state, *there, against.base)
            case (str() as link, _):
                self._refuse_one_body(place[0], link)
                return (place, against), World()
        raise mismatch(
            "against",
            against,
            "None (the immovable world), (link, point) of the same robot, "
            "robodyn.PointMass(mass, velocity) or robodyn.RobotPoint(robot, q, v, link, point)",
        )

    def _refuse_one_body(self, link: str, other: str) -> None:
        """Refuse two points of one rigid body, whose distance does not change."""
        frames = self._model.bodies.frames
        if link in frames and other in frames and frames[link][0] == frames[other][0]:
            raise ImpactError(
                f"link {link!r} of {self._model.mechanism.name!r} cannot hit {other!r}: no joint "
                "moves one against the other, they are one rigid body"
            )

    def _by_joint(self, speeds: Iterable[int], jump: Array) -> dict[str, Array]:
        """Jumps of some speeds, by joint or axis; ``jump`` has those of all speeds."""
        found = {}
        for name in speed_names(self._model, speeds):
            own = jump[..., list(speed_indices(self._model, name))]
            found[name] = own[..., 0] if own.shape[-1] == 1 else own
        return found

    def joint_impulses(
        self,
        q: Array,
        jumping: tuple[int, ...],
        jump: Array,
        wrenches: Wrenches | None,
        base: BaseMotion | None,
    ) -> JointWrenches:
        """Impulses and their moments in every joint, cut ones too, and under the base [W 6.37].

        q (..., nq)
        jumping: Speeds whose jumps are given.
        jump (..., nv): Of all speeds; only those of ``jumping`` are read.
        wrenches, optional: Impulses on links, as wrenches in their axes.
        """
        still, given = np.zeros_like(jump), self._by_joint(jumping, jump)
        roles = assign_roles(self._model, given, None, ())
        return self._joint_forces.at(
            q, still, None, None, roles, wrenches=wrenches, base=_at_rest(base)
        )


def each_axis(v: Array) -> Array:
    """The axes of the world, one after the other, beside a batch of states."""
    return np.eye(3).reshape(3, *[1] * (v.ndim - 1), 3)


def _parting(points: tuple[ContactPoint, ...], partner: Partner) -> tuple[Array, Array]:
    """The separation velocity of points, with its Jacobian."""
    J, u = points[0].J, points[0].velocity - partner.velocity
    if len(points) == 2:
        J, u = J - points[1].J, u - points[1].velocity
    return J, u


def copied(base: BaseMotion | None) -> BaseMotion | None:
    """A copy of the motion of the base, so that the caller may change the arrays."""
    if not isinstance(base, BaseMotion):
        return base  # it is refused where it is used, if it is not left out
    return BaseMotion(*map(np.array, (base.pose, base.twist, base.acceleration)))


def _at_rest(base: BaseMotion | None) -> BaseMotion | None:
    """The same pose of the base, which does not jump."""
    if not isinstance(base, BaseMotion):
        return base  # it is refused where it is used, if it is not left out
    return BaseMotion(base.pose, np.zeros_like(base.twist), np.zeros_like(base.acceleration))
