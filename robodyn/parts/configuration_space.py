"""The space of coordinates: steps, differences, the zero position and random positions."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from functools import cached_property

import numpy as np
from numpy.typing import ArrayLike

from robodyn.array_types import Array
from robodyn.arrays import all_finite, finite, shaped, together
from robodyn.errors import AssemblyError, ShapeError
from robodyn.evaluator import Evaluator
from robodyn.model import configuration
from robodyn.model.joint_info import limit_excess
from robodyn.model.model import Model
from robodyn.model.states import overflow, refuse_zero_quaternions
from robodyn.parts.joint_positions import TreeJointPositions
from robodyn.quick_dataclass import dataclass
from robodyn.tolerances import AT_LIMIT, QUATERNION_ROUNDING


class ConfigurationSpace:
    """Positions of the joints of the tree, whether loops close or not.

    start (nq,), optional: Start of the search for a closed posture. Default: ``near`` of
        `robodyn.load`.
    """

    def __init__(self, model: Model, evaluator: Evaluator, start: Array | None = None) -> None:
        self._model, self._evaluator, self._start = model, evaluator, start
        self.nq: int = model.bodies.nq
        self.nv: int = model.bodies.nv
        self._euclidean = configuration.euclidean(model.blocks)

    def positions(self, name: str, q: ArrayLike) -> Array:
        """Positions given as an argument, checked, shape (..., nq)."""
        return shaped(name, q, self.nq, of=self._model.mechanism.name)

    def speeds(self, name: str, v: ArrayLike) -> Array:
        """An argument with one number for each speed, checked, shape (..., nv)."""
        return shaped(name, v, self.nv, of=self._model.mechanism.name)

    def zero(self) -> Array:
        """The zero position, shape (nq,)."""
        return configuration.neutral(self._model.blocks, self.nq)

    def start(self) -> Array:
        """Start of the search for a closed posture, shape (nq,): ``near`` of `robodyn.load`.

        Of a linkage, what that does not name is where the file draws it.
        """
        if self._start is not None:
            return self._start.copy()
        near, drawn = self._model.settings.near, self._model.mechanism.start
        if near is not None and not (near and isinstance(near[0], tuple)):
            q = self.positions("near", near)
        else:
            q, joints = self.zero(), self._model.joints
            for name, value in drawn if self._model.mechanism.loops else ():
                own = joints[name].q if name in joints else slice(0, 0)
                if own.stop - own.start == len(value):
                    q[own] = value
            for name, value in near or ():
                part = joints[name].q
                count = part.stop - part.start
                if count and len(value) != count:
                    raise ShapeError(
                        f"near[{name!r}] is {value!r}, expected {count} numbers", name="near"
                    )
                if count:  # a joint that was locked or follows another has no position of its own
                    q[part] = value
        finite(near=q)
        return self.begun(self.normalised("near", q))

    def begun(self, q: Array) -> Array:
        """`relaxed` without the motors that ``near`` of `robodyn.load` names, shape (nq,)."""
        near = self._model.settings.near or ()
        named = {x[0] for x in near if isinstance(x, tuple)}
        return self.relaxed(q, named) if named or not near else q

    def relaxed(self, q: Array, named: Collection[str] = ()) -> Array:
        """Postures with motors behind elastic gears where their joints are, shape (..., nq).

        Motors that are ``named`` stay.
        """
        springs, joints = self._model.setup.gear_springs, self._model.joints
        q = q.copy() if springs else q
        for spring in springs:
            if spring.motor not in named:
                own = joints[spring.joint].q
                follows = own.stop == own.start
                at = self._followers.positions(q)[spring.joint] if follows else q[..., own.start]
                q[..., joints[spring.motor].q.start] = at
        return q

    @cached_property
    def _followers(self) -> TreeJointPositions:
        return TreeJointPositions(self._model, self._evaluator)

    def random(self, rng: np.random.Generator, count: int | None = None) -> Array:
        """A position within the limits, shape (nq,), or as many as are asked for (count, nq)."""
        return configuration.random(self._draws, self._model.bodies.nq, rng, count)

    def random_where(
        self, fits: Callable[[Array], bool], start: Array, rng: np.random.Generator, where: str
    ) -> Array:
        """A random position that fits, drawn ever nearer to the start, shape (nq,).

        start (nq,)
        where: What fits, in words.

        Raises AssemblyError: If none is found.
        """
        for part in np.repeat([1.0, 0.5, 0.25, 0.1, 0.03], 5):
            toward = self.difference(start, self.random(rng))
            q = self.integrate(start, part * toward)
            if fits(q):
                return q
        raise AssemblyError(
            f"no other posture of {self._model.mechanism.name!r} found at which {where}",
            residual=np.zeros(0),
            q=start,
        )

    @cached_property
    def _draws(self) -> tuple[configuration.Draw, ...]:
        return configuration.draws(self._model.blocks, self._model.lower, self._model.upper)

    def integrate(self, q: ArrayLike, dv: ArrayLike, out: Array | None = None) -> Array:
        """The position that a twist ``dv`` leads to in unit time, shape (..., nq)."""
        return self._evaluator.call("integrate", (q, dv), out=out)

    @cached_property
    def move(self) -> Callable[..., Array]:
        """`integrate` of arrays, for searches, which call it many times."""
        return np.add if self._model.joints.coordinates_add else self._evaluator.caller("integrate")

    def coordinate_rates(self, q: ArrayLike, v: ArrayLike, out: Array | None = None) -> Array:
        """Rates of all coordinates at given speeds, shape (..., nq)."""
        return self._evaluator.call("coordinate_rates", (q, v), out=out)

    def tangent_rate(self, u: ArrayLike, v: ArrayLike, out: Array | None = None) -> Array:
        """The rate of ``u`` in ``integrate(q, u)`` at speed ``v``, shape (..., nv)."""
        return self._evaluator.call("tangent_rate", (u, v), out=out)

    def bracket(self, v: Array) -> Array:
        """Lie bracket of a small step with speeds, shape (..., nv, nv).

        Of two motions that pass near each other with the same speeds ``v``, the step ``z`` from one
        to the other changes at the rate ``bracket(v) @ z``. It is zero where coordinates add, and
        the bracket of z with v elsewhere: twice the part of `tangent_rate` that is linear in z.
        """
        if self._euclidean or not v.any():
            return np.zeros((*v.shape, self.nv))
        steps, speeds = np.eye(self.nv), v[..., None, :]
        columns = self.tangent_rate(steps, speeds) - self.tangent_rate(-steps, speeds)
        return np.ascontiguousarray(np.swapaxes(columns, -1, -2))

    def difference(self, q0: ArrayLike, q1: ArrayLike) -> Array:
        """The ``dv`` with ``integrate(q0, dv) = q1``, shape (..., nv)."""
        x, y = self.positions("q0", q0), self.positions("q1", q1)
        if x.shape[:-1] != y.shape[:-1]:
            together(q0=x, q1=y)
        if self._euclidean:
            with np.errstate(over="ignore"):
                found = y - x
        else:
            refuse_zero_quaternions(self._model, "q0", x)
            refuse_zero_quaternions(self._model, "q1", y)
            found = self._evaluator.call("difference", (x, y))
        if not all_finite(found):
            finite(q0=x, q1=y)
            given = {"q0": x, "q1": y}
            raise overflow(self._model, "difference", given, ~np.isfinite(found).all(axis=-1))
        return found

    def normalised(self, name: str, q: ArrayLike) -> Array:
        """A copy of positions with quaternions of unit length, shape (..., nq).

        Raises ShapeError: For a quaternion that is zero.
        """
        x = self.positions(name, q)
        if not self._model.has_quaternions:
            return x.copy()
        size = np.linalg.norm(x[..., self._model.quaternions], axis=-1)
        if (np.abs(size - 1.0) <= QUATERNION_ROUNDING).all():
            return x.copy()
        refuse_zero_quaternions(self._model, name, x)
        return configuration.normalised(self._model.blocks, x)


@dataclass(frozen=True, eq=False)
class FollowingPositions:
    """Checks positions for joints that are functions of others, and draws random ones.

    positions: From positions to those of all joints by name.
    """

    _model: Model
    _evaluator: Evaluator
    _space: ConfigurationSpace
    _positions: Callable[[Array], Mapping[str, Array]]

    def random(self, rng: np.random.Generator) -> Array:
        """A position of a tree that fits, shape (nq,)."""
        if not self._model.bodies.followers:
            return self._space.random(rng)
        where = "joints that follow others do so within their limits"
        return self._space.random_where(self.fit, self._space.zero(), rng, where)

    def fit(self, q: Array) -> bool:
        """Whether all functions are defined, and all joints that follow within their limits."""
        if not self._model.bodies.followers:
            return True
        if not np.isfinite(self._evaluator.call("dependent_places", (q,))).all():
            return False
        bodies = self._model.bodies
        names = {bodies.bodies[i].description.name for i in bodies.following}
        positions = self._positions(q)
        following = {name: x for name, x in positions.items() if name in names}
        beyond = limit_excess(following, self._model.joints).values()
        return all(abs(float(x)) <= AT_LIMIT for x in beyond)
