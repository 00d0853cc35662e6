"""Maps from the coordinates of independent joints to those of all joints of a linkage."""

from __future__ import annotations

from functools import cached_property
from typing import TypeAlias

import numpy as np
from numpy.typing import ArrayLike

from robodyn.array_types import Array
from robodyn.arrays import finite
from robodyn.closed_loops.constraints.cut_joints import UncoordinatedLimits
from robodyn.equations.mechanism.bodies import Body
from robodyn.evaluator import Evaluator
from robodyn.model.model import Model
from robodyn.model.states import refuse_open_linkages
from robodyn.parts.configuration_space import ConfigurationSpace, FollowingPositions
from robodyn.parts.joint_positions import TreeJointPositions


class TreeExpansion:
    """The expansion of a robot in tree coordinates, which is the identity."""

    dependent_joints: tuple[str, ...] = ()

    def __init__(self, space: ConfigurationSpace) -> None:
        self._space = space

    def dependent_positions(self, q: ArrayLike) -> dict[str, Array]:
        """No positions, since no joint depends on others."""
        return {}

    def positions(self, q: ArrayLike) -> Array:
        """A copy."""
        return self._space.positions("q", q).copy()

    closed_positions = positions

    def velocity(self, q: ArrayLike, v: ArrayLike) -> Array:
        """A copy."""
        return self._space.speeds("v", v).copy()

    def acceleration(self, q: ArrayLike, v: ArrayLike, a: ArrayLike) -> Array:
        """A copy."""
        return self._space.speeds("a", a).copy()

    def speed_map(self, q: ArrayLike) -> Array:
        """The identity."""
        x, nv = self._space.positions("q", q), self._space.nv
        return np.broadcast_to(np.eye(nv), (*x.shape[:-1], nv, nv)).copy()

    def forces(self, tau: ArrayLike) -> Array:
        """A copy."""
        return self._space.speeds("tau", tau).copy()


class MinimalExpansion:
    """The expansion of a linkage whose loops are solved in closed form.

    model: In minimal coordinates.
    tree_model: The same robot in tree coordinates.
    """

    def __init__(
        self, model: Model, tree_model: Model, evaluator: Evaluator, space: ConfigurationSpace
    ) -> None:
        self._model, self._tree_model = model, tree_model
        self._evaluator, self._space = evaluator, space
        bodies = model.bodies
        following = sorted(i for linkage in bodies.linkages for i in linkage.dependent)
        self._following = [bodies.bodies[i] for i in following]
        self.dependent_joints = tuple(body.description.name for body in self._following)

    def dependent_positions(self, q: ArrayLike) -> dict[str, Array]:
        """Positions of the joints that follow, by name, (...) or (..., 2) [rad, m]."""
        places = self._evaluator.call("dependent_places", (q,))
        found = {}
        for body, rows in self._rows:
            own = [
                _angle(places[..., n, :], body.joint.offset) if turning else places[..., n, 0]
                for n, turning in enumerate(body.joint.kind.turning, rows.start)
            ]
            found[body.description.name] = np.stack(own, -1) if len(own) > 1 else np.asarray(own[0])
        return found

    @cached_property
    def _rows(self) -> list[tuple[Body, slice]]:
        """Bodies with dependent joints, and indices of their freedoms among all dependent ones."""
        found, first = [], 0
        for body in self._following:
            count = len(body.joint.kind.turning)
            found.append((body, slice(first, first + count)))
            first += count
        return found

    def positions(self, q: ArrayLike) -> Array:
        """Coordinates of all joints, shape (..., nq of the tree form)."""
        x = self._space.positions("q", q)
        joints = self._tree_model.joints
        full = np.empty((*x.shape[:-1], self._tree_model.bodies.nq))
        for name in self._model.joint_names:
            full[..., joints[name].q] = x[..., self._model.joints[name].q]
        for name, value in self.dependent_positions(x).items():
            own = joints[name].q
            full[..., own] = value if own.stop - own.start > 1 else value[..., None]
        return full

    def closed_positions(self, q: ArrayLike) -> Array:
        """Coordinates of all joints; an error if loops do not close."""
        x = self._space.positions("q", q)
        finite(q=x)
        refuse_open_linkages(self._model, x, self._evaluator.call("dependent_places", (x,)))
        return self.positions(x)

    def velocity(self, q: ArrayLike, v: ArrayLike) -> Array:
        """``B v``, shape (..., nv of the tree form)."""
        own = self._space.speeds("v", v)
        return self._merged(own, self._evaluator.call("dependent_speeds", (q, v)), -1)

    def acceleration(self, q: ArrayLike, v: ArrayLike, a: ArrayLike) -> Array:
        """``B a + b'``, shape (..., nv of the tree form)."""
        own = self._space.speeds("a", a)
        others = self._evaluator.call("dependent_accelerations", (q, v, a))
        return self._merged(own, others, -1)

    def speed_map(self, q: ArrayLike) -> Array:
        """``B``, shape (..., nv of the tree form, nv)."""
        x, nv = self._space.positions("q", q), self._space.nv
        eye = np.broadcast_to(np.eye(nv), (*x.shape[:-1], nv, nv))
        return self._merged(eye, self._evaluator.call("dependent_speed_map", (x,)), -2)

    def forces(self, tau: ArrayLike) -> Array:
        """Forces with zeros for dependent joints, shape (..., nv of the tree form)."""
        own = self._space.speeds("tau", tau)
        count = self._rows[-1][1].stop
        return self._merged(own, np.zeros((*own.shape[:-1], count)), -1)

    def _merged(self, own: Array, others: Array, axis: int) -> Array:
        """Rows of independent and dependent speeds in the order of the tree form."""
        own, others = np.moveaxis(own, axis, 0), np.moveaxis(others, axis, 0)
        batch = np.broadcast_shapes(own.shape[1:], others.shape[1:])
        joints = self._tree_model.joints
        full = np.empty((self._tree_model.bodies.nv, *batch))
        for name in self._model.joint_names:
            full[joints[name].v] = own[self._model.joints[name].v]
        for body, rows in self._rows:
            full[joints[body.description.name].v] = others[rows]
        return np.ascontiguousarray(np.moveaxis(full, 0, axis))


#: From a robot's own coordinates to those of its tree form; see `Robot.expand`.
Expansion: TypeAlias = TreeExpansion | MinimalExpansion


class MinimalJointPositions:
    """Positions and speeds, by `TreeJointPositions` of the tree form at the same state.

    tree_form: Of the same robot in tree coordinates.
    """

    def __init__(self, expansion: MinimalExpansion, tree_form: TreeJointPositions) -> None:
        self._expansion, self._tree_form = expansion, tree_form

    def positions(self, q: ArrayLike) -> dict[str, Array]:
        """By joint name, shape (...) or (..., n) [rad, m]."""
        return self._tree_form.positions(self._expansion.closed_positions(q))

    def velocities(self, q: ArrayLike, v: ArrayLike) -> dict[str, Array]:
        """By joint name, shape (...) or (..., n) [rad/s, m/s]."""
        expansion = self._expansion
        return self._tree_form.velocities(expansion.closed_positions(q), expansion.velocity(q, v))


class ClosedPositions:
    """Draws independent coordinates at which loops solved in closed form can be closed.

    model: In minimal coordinates.
    limits: Limits of dependent joints, and of cut joints.
    """

    def __init__(
        self,
        model: Model,
        space: ConfigurationSpace,
        expansion: Expansion,
        limits: UncoordinatedLimits,
        following: FollowingPositions,
    ) -> None:
        self._model, self._space, self._following = model, space, following
        self._expansion, self._limits = expansion, limits

    def random(self, rng: np.random.Generator) -> Array:
        """Random coordinates at which all joints are within their limits, shape (nq,)."""
        where = "loops close within limits"
        return self._space.random_where(self._fit, self._space.start(), rng, where)

    def _fit(self, q: Array) -> bool:
        closed = np.isfinite(self._expansion.positions(q)).all()
        lower, upper = self._model.lower - 1e-9, self._model.upper + 1e-9
        within = closed and (lower <= q).all() and (q <= upper).all()
        return bool(within and not self._limits.beyond(q) and self._following.fit(q))


def _angle(turn: Array, offset: float) -> Array:
    """Angle, from its cosine and sine with its offset."""
    return np.asarray(np.angle(np.exp(1j * (np.arctan2(turn[..., 1], turn[..., 0]) - offset))))
