"""Positions and speeds of all joints by name: with coordinates, cut, or following others."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from functools import cached_property, partial
from typing import Any

from numpy.typing import ArrayLike

from robodyn.array_types import Array
from robodyn.equations.loops.closure_rows import Closure
from robodyn.equations.mechanism.bodies import Body
from robodyn.evaluator import Evaluator
from robodyn.model.joint_info import nearest_turn
from robodyn.model.model import Model


class TreeJointPositions:
    """Positions and speeds of all joints of a robot in tree coordinates.

    The position of a joint that was cut is read from the pose of one of its frames seen from the
    other; of a joint that follows others by a factor or a function, from the positions of these.
    """

    def __init__(self, model: Model, evaluator: Evaluator) -> None:
        self._model, self._evaluator = model, evaluator

    @cached_property
    def _positions(self) -> tuple[tuple[str, Place, Any], ...]:
        """Indices of positions, found on demand, since many copies of a robot never need them."""
        model = self._model
        return tuple(_placed(model, model.bodies.known, _coordinates(model)))

    @cached_property
    def _speeds(self) -> tuple[tuple[str, Place, Any], ...]:
        """Indices of speeds."""
        model = self._model
        following = model.bodies.following

        def count(body: Body) -> int:
            return len(body.speeds) or int(body.index in following)

        return tuple(_placed(model, count, _cut_speeds(model)))

    def positions(self, q: ArrayLike) -> dict[str, Array]:
        """By joint name, shape (...) or (..., n) [rad, m]."""
        found: dict[str, Array] = self._evaluator.answer(
            "joint_positions", (q,), make=self._by_name
        )
        return found

    def velocities(self, q: ArrayLike, v: ArrayLike) -> dict[str, Array]:
        """By joint name, shape (...) or (..., n) [rad/s, m/s]."""
        speeds: dict[str, Array] = self._evaluator.answer(
            "joint_velocities", (q, v), make=self._speeds_by_name
        )
        return speeds

    def _by_name(self, found: tuple[Array, Array]) -> dict[str, Array]:
        own, X = found
        return {
            name: _part(own, at) if cut is None else cut(X[..., at, :, :])
            for name, at, cut in self._positions
        }

    def _speeds_by_name(self, found: tuple[Array, Array]) -> dict[str, Array]:
        own, of_cuts = found
        return {name: _part(own if cut is None else of_cuts, at) for name, at, cut in self._speeds}


#: Index of a joint's number in the numbers of all, or its slice if it has several.
Place = int | slice


def _placed(
    model: Model, count: Callable[[Body], int], cuts: Mapping[str, tuple[Place, Any]]
) -> Iterator[tuple[str, Place, Any]]:
    """Joints by name, with the indices of their numbers and, for cut joints, further data."""
    own: dict[str, Place] = {}
    first = 0
    for body in model.bodies:
        own[body.description.name] = _place(first, count(body))
        first += count(body)
    for name in model.joints:
        if name in cuts:
            yield name, *cuts[name]
        elif name in own and own[name] != slice(0, 0):
            yield name, own[name], None


def _place(first: int, count: int) -> Place:
    if not count:
        return slice(0, 0)
    return first if count == 1 else slice(first, first + count)


def _coordinates(model: Model) -> dict[str, tuple[Place, Any]]:
    """Closures with a position: their index, and the function from a pose to the position."""
    return {
        closure.name: (
            index,
            partial(position_of_cut, closure, limits=model.joints[closure.name].position_limits),
        )
        for index, closure in enumerate(model.setup.closures)
        if closure.cut.position is not None
    }


def _cut_speeds(model: Model) -> dict[str, tuple[Place, Any]]:
    """The same closures: indices of their speeds in those of all closures."""
    found: dict[str, tuple[Place, Any]] = {}
    first = 0
    for closure in model.setup.closures:
        count = closure.kind.nv if closure.kind.in_tree else 0
        if closure.cut.position is not None:
            found[closure.name] = _place(first, count), closure
        first += count
    return found


def _part(x: Array, at: Place) -> Array:
    """Some of the numbers of each state; a single number without an axis."""
    part: Array = x[at] if x.ndim == 1 else x[..., at]
    return part


def position_of_cut(closure: Closure, X: Array, limits: tuple[float, float] | None) -> Array:
    """Position of a joint that is cut, shape (..., n), or (...) where it has one number [rad, m].

    X (..., 4, 4) [1, m]: Its frame on the successor seen from the one on the predecessor.
    limits: The turn of an angle is the one that they are in.
    """
    assert closure.cut.position is not None
    own = closure.cut.position(X, closure.geometry)
    alone = own[..., 0] if own.shape[-1] == 1 else own
    return nearest_turn(alone, limits) if closure.kind.is_pin else alone
