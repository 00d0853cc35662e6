"""Impulses along the freedoms of joints that were cut."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from robodyn.array_types import Array
from robodyn.equations.loops.closure_rows import Closure
from robodyn.evaluator import Evaluator
from robodyn.model.model import Model
from robodyn.results import JointWrenches


@dataclass(frozen=True, eq=False)
class Pushes:
    """Units of impulse along freedoms of joints that were cut.

    closures: Of each freedom.
    speeds (..., n) [rad/s, m/s]: Along each.
    forces (..., n, nv): Generalised impulses.
    joint, successor, predecessor (..., n, 6): On the successor, in the frame of the joint; on both
        bodies, about their origins.
    """

    model: Model
    closures: tuple[Closure, ...]
    speeds: Array
    forces: Array
    joint: Array
    successor: Array
    predecessor: Array

    def on_links(self, p: Array) -> dict[str, Array]:
        """Impulses of given sizes as wrenches on links, in their axes."""
        found: dict[str, Array] = {}
        for k, closure in enumerate(self.closures):
            for body, unit in (
                (closure.successor, self.successor),
                (closure.predecessor, self.predecessor),
            ):
                link, X = self._link_of(body)
                wrench = seen_from(X, p[..., k, None] * unit[..., k, :])
                found[link] = found[link] + wrench if link in found else wrench
        return found

    def beside(self, p: Array, wrenches: JointWrenches) -> JointWrenches:
        """Joint wrenches, with those of the impulses added in the cut joints."""
        values = wrenches.values_array.copy()
        names = tuple(wrenches)
        for k, closure in enumerate(self.closures):
            values[..., names.index(closure.name), :] += p[..., k, None] * self.joint[..., k, :]
        return wrenches.having(values)

    def _link_of(self, body: int) -> tuple[str, Array]:
        """A link that a body carries, and its frame on it."""
        return next((x, X) for x, (own, X) in self.model.bodies.frames.items() if own == body)


def pushes_in(model: Model, evaluator: Evaluator, q: Array, v: Array, cut: Sequence[str]) -> Pushes:
    """Units of impulse along the freedoms of some joints that were cut, in a state."""
    joint, successor, predecessor, forces = evaluator.results("cut_joint_pushes", (q,))
    speeds = evaluator.call("cut_joint_speeds", (q, v))
    chosen = [(k, c) for k, c in enumerate(_freedoms(model)) if c.name in cut]
    at = [k for k, _ in chosen]
    rest = (x[..., at, :] for x in (forces, joint, successor, predecessor))
    return Pushes(model, tuple(c for _, c in chosen), speeds[..., at], *rest)


def _freedoms(model: Model) -> Iterator[Closure]:
    """The closure of each freedom of the joints that were cut."""
    for closure in model.setup.closures:
        yield from [closure] * (closure.kind.nv if closure.kind.in_tree else 0)


def seen_from(X: Array, wrench: Array) -> Array:
    """A wrench on a body as one about the origin of a link, in its axes."""
    R, r = X[:3, :3], X[:3, 3]
    moment = wrench[..., 3:] - np.cross(r, wrench[..., :3])
    return np.concatenate([wrench[..., :3] @ R, moment @ R], axis=-1)
