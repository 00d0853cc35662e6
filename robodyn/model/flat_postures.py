"""Flat postures of loops that are solved in closed form, as independent coordinates lead there.

A loop with a `Fold` lies flat where the angle between two of its vectors is a multiple of pi, or of
2 pi. That angle is a sum of angles of joints. A joint that follows turns as others do in a smooth
fold, where one side of the triangle stays parallel to a known vector; else its angle is computed.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING

import numpy as np

from robodyn.array_types import Array, FloatArray
from robodyn.equations.closed_form.folding import Fold
from robodyn.equations.closed_form.linkage import Posture
from robodyn.equations.mechanism.bodies import MechanismModel
from robodyn.joints.common.kind import JointState
from robodyn.symbolic.plane import Planar
from robodyn.symbolic.spatial import Placement

if TYPE_CHECKING:
    from robodyn.equations.closed_form.planar_linkage import PlanarLinkage

#: Weights of coordinates, then of joints that follow, and a constant [rad].
Angle = tuple[FloatArray, float]


class FlatPostures:
    """Postures of a robot at which planar loops lie flat and a motion can go through.

    bodies: In minimal coordinates.
    loops: Those that have such postures.
    """

    def __init__(self, bodies: MechanismModel) -> None:
        planar = [x for x in bodies.linkages if x.fold is not None]
        self._names, angles = _angles(bodies) if planar else ((), {})
        found = [(x, _phase(x.fold, angles)) for x in planar if x.fold is not None]
        self.loops = tuple(x for x, phase in found if phase is not None)
        phases = [phase for _, phase in found if phase is not None]
        n = bodies.nq
        weights = np.array([w for w, _ in phases] or np.zeros((0, n)))
        self._own, self._others = weights[:, :n].T, weights[:, n:].T
        self._constants = np.array([c for _, c in phases])
        self._linear = not self._others.any()

    def phases(self, q: Array, following: Callable[[Array], Mapping[str, Array]]) -> Array:
        """Numbers, one for each loop, which pass an integer where it lies flat, shape (n, ..., k).

        q (n, ..., nq) [rad, m]: Coordinates along a motion, in steps of less than an eighth of a
            turn.
        following: Positions of the joints that follow, by name, at such coordinates.
        """
        phases = q @ self._own + self._constants
        if self._linear:
            return np.asarray(phases)
        at = following(q)
        others = np.stack([at[name] for name in self._names], axis=-1)
        # angles that are found are within half a turn of zero
        return np.unwrap(phases + others @ self._others, axis=0, period=1.0)


def _phase(fold: Fold, angles: Mapping[int, Angle]) -> Angle | None:
    """The number that passes an integer where a fold is flat; ``None`` if no angle is known."""
    turns = [(fold.other.turns, 1.0), (fold.one.turns, -1.0)]
    signs = [(i, sense * side) for own, side in turns for i, sense in own]
    if not all(i in angles for i, _ in signs):
        return None
    along, against = fold.flat
    start = fold.angle - (0.0 if along else math.pi)
    period = math.pi if along and against else 2.0 * math.pi
    weights = sum((angles[i][0] * sign for i, sign in signs), np.zeros(()))
    return weights / period, (start + sum(angles[i][1] * sign for i, sign in signs)) / period


def _angles(bodies: MechanismModel) -> tuple[tuple[str, ...], dict[int, Angle]]:
    """Joints that follow, each with one number, and the angle of each joint that turns."""
    from robodyn.equations.closed_form.planar_linkage import PlanarLinkage

    following = {i for linkage in bodies.linkages for i in linkage.dependent}
    pins = [body for body in bodies if body.joint.kind.is_pin]
    follow = [body for body in pins if body.index in following]
    units = np.eye(bodies.nq + len(follow))
    angles = {
        body.index: (factor * units[k], offset + body.joint.offset)
        for body in pins
        for k, factor, offset in body.q
    }
    for n, body in enumerate(follow, bodies.nq):
        angles[body.index] = units[n], body.joint.offset
    for linkage in bodies.linkages:
        if isinstance(linkage, PlanarLinkage):
            angles |= _turned_along(linkage, angles)
    return tuple(body.description.name for body in follow), angles


def _turned_along(linkage: PlanarLinkage, angles: Mapping[int, Angle]) -> dict[int, Angle]:
    """Angles of the dependent joints of a loop in which they are sums of those of the others."""
    if not linkage.parallel:
        return {}
    known = [i for i in linkage.bodies if i not in linkage.dependent]
    start = _followed(linkage, known, None)
    found = {}
    for i, constant in start.items():
        weights: FloatArray = np.zeros(())
        for j in known:
            rate = math.remainder(_followed(linkage, known, j)[i] - constant, 2.0 * math.pi)
            rate = round(rate / (0.5 * math.pi))
            weights, constant = weights + rate * angles[j][0], constant + rate * angles[j][1]
        found[i] = weights, constant
    return found


def _followed(linkage: PlanarLinkage, known: list[int], turned: int | None) -> dict[int, float]:
    """Angles of the dependent joints with the others at zero, but for one after a quarter turn."""
    state = JointState(Placement(), [])
    places = {i: Planar(0.0, 1.0) if i == turned else Planar(1.0, 0.0) for i in known}
    found = linkage.close({i: Posture((place,), state) for i, place in places.items()})
    return {i: math.atan2(*map(float, (p.y, p.x))) for i, (p,) in found.items()}  # type: ignore[arg-type]
