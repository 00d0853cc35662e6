"""Positions and speeds of all joints by name: with coordinates, cut, or following others."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Protocol

import numpy as np
from numpy.typing import ArrayLike

from robodyn.array_types import Array
from robodyn.equations.loops.closure_rows import Closure
from robodyn.equations.mechanism.bodies import Body
from robodyn.evaluator import Evaluator
from robodyn.model.model import Model
from robodyn.model.position_limits import nearest_turn
from robodyn.parts.configuration_space import ConfigurationSpace

__all__ = ["JointPositions", "TreeJointPositions", "position_of_cut"]


class JointPositions(Protocol):
    """Positions and speeds of all joints; see `Robot.joint_positions`."""

    def positions(self, q: ArrayLike) -> dict[str, Array]:
        """By joint name, shape (...) or (..., n)."""

    def velocities(self, q: ArrayLike, v: ArrayLike) -> dict[str, Array]:
        """By joint name, shape (...) or (..., n)."""


class TreeJointPositions:
    """Of a robot in tree coordinates.

    The position of a joint that was cut is read from the pose of one of its frames seen from the
    other; of a joint that mimics another, from the position of that one.

    Parameters
    ----------
    model : Model
    evaluator : Evaluator
    space : ConfigurationSpace
    """

    def __init__(self, model: Model, evaluator: Evaluator, space: ConfigurationSpace) -> None:
        self._model, self._evaluator, self._space = model, evaluator, space
        self._bodies: dict[str, Body] = {body.description.name: body for body in model.bodies}
        self._cut: dict[str, tuple[int, Closure, slice]] = dict(self._places())

    def _places(self) -> Iterator[tuple[str, tuple[int, Closure, slice]]]:
        """Closures with a position, by name: their index, and where their speeds stand."""
        first = 0
        for index, closure in enumerate(self._model.setup.closures):
            count = closure.kind.nv if closure.kind.in_tree else 0
            if closure.cut.position is not None:
                yield closure.name, (index, closure, slice(first, first + count))
            first += count

    def positions(self, q: ArrayLike) -> dict[str, Array]:
        """By joint name, shape (...) or (..., n) [rad, m]."""
        x = self._space.positions("q", q)
        poses = self._evaluator.call("cut_joint_poses", (x,)) if self._cut else None
        found = {}
        for name in self._model.joints:
            if name in self._cut:
                index, closure, _ = self._cut[name]
                assert poses is not None
                limits = self._model.joints[name].position_limits
                found[name] = _alone(position_of_cut(closure, poses[..., index, :, :], limits))
            elif name in self._bodies and self._bodies[name].q:
                found[name] = _beside([x[..., k] * f + c for k, f, c in self._bodies[name].q])
        return found

    def velocities(self, q: ArrayLike, v: ArrayLike) -> dict[str, Array]:
        """By joint name, shape (...) or (..., n) [rad/s, m/s]."""
        x = self._space.speeds("v", v)
        speeds = self._evaluator.call("cut_joint_speeds", (q, x)) if self._cut else None
        found = {}
        for name in self._model.joints:
            if name in self._cut:
                assert speeds is not None
                found[name] = _alone(speeds[..., self._cut[name][2]])
            elif name in self._bodies and self._bodies[name].speeds:
                told = self._bodies[name].speeds
                found[name] = _beside([x[..., s.index] * s.factor for s in told])
        return found


def position_of_cut(closure: Closure, X: Array, limits: tuple[float, float] | None) -> Array:
    """Position of a joint that is cut, shape (..., n) [rad, m].

    Parameters
    ----------
    closure : Closure
    X : ndarray, shape (..., 4, 4) [1, m]
        Its frame on the successor seen from the one on the predecessor.
    limits : (float, float) or None
        The turn of an angle is the one that they are in.
    """
    assert closure.cut.position is not None
    own = closure.cut.position(X, closure.geometry)
    return nearest_turn(own, limits) if closure.kind.is_pin else own


def _beside(own: list[Array]) -> Array:
    """Numbers of a joint beside each other; a single one without an axis."""
    return np.asarray(own[0]) if len(own) == 1 else np.stack(own, -1)


def _alone(x: Array) -> Array:
    """Without the last axis where a joint has one number."""
    return np.asarray(x[..., 0] if x.shape[-1] == 1 else x)
