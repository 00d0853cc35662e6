"""Planar loops, recognised by their geometry, and their chains in the plane.

A loop is planar if all joints of its chains turn about one normal or slide across it, and the joint
that closes it leaves the plane to them. The plane is fixed in the body where the chains part; no
axes of the world matter, nor the posture at which one looks.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np

from robodyn.array_types import FloatArray
from robodyn.equations.closed_form.folding import Fold
from robodyn.equations.closed_form.planar_linkage import (
    Carried,
    Chain,
    Link,
    PlanarLinkage,
    fold_with_rod,
)
from robodyn.equations.loops.closure_rows import Closure
from robodyn.equations.mechanism.bodies import Body, MechanismModel
from robodyn.equations.mechanism.frames import vector
from robodyn.joints import spherical
from robodyn.joints.common.described import matrix_of
from robodyn.joints.common.evaluate import evaluate
from robodyn.joints.common.kind import JointGeometry
from robodyn.symbolic.plane import Planar
from robodyn.tolerances import LENGTH_ROUNDING, LOOP_GEOMETRY

#: Positions of a joint given by a function at which its motion is checked to be in the plane.
PLACES = 8


class NotPlanar(Exception):
    """Why a loop is not planar."""


@dataclass(frozen=True, eq=False)
class PlanarLoop:
    """A planar loop whose dependent joints are not chosen yet."""

    name: str
    predecessor: Chain
    successor: Chain

    @property
    def bodies(self) -> tuple[int, ...]:
        """Bodies whose joints are in the loop."""
        chains = (self.predecessor, self.successor)
        return tuple(link.body for chain in chains for link in chain.links)

    @property
    def candidates(self) -> tuple[tuple[int, ...], ...]:
        """Sets of joints that can be dependent together: any two that turn or slide."""
        links = (*self.predecessor.links, *self.successor.links)
        return tuple(combinations(sorted(x.body for x in links if x.carried is None), 2))

    def linkage(self, dependent: tuple[int, ...]) -> PlanarLinkage:
        """The loop with chosen dependent joints."""
        return PlanarLinkage(
            self.name, dependent, predecessor=self.predecessor, successor=self.successor
        )


def _other_cut(model: MechanismModel, closure: Closure) -> str:
    """Advice for a loop that closes in a slide and has hinges: to close it in one of them."""
    passed = (i for chain in model.chains(closure.predecessor, closure.successor) for i in chain)
    joints = [model.bodies[i] for i in passed]
    pins = [body.description.name for body in joints if not body.joint.kind.is_slider]
    if not closure.kind.is_slider or not pins:
        return ""
    return (
        f" (cut it at a pin: make {closure.name!r} a <joint>, and {pins[-1]!r} the <loop> that "
        "closes it)"
    )


def planar_loop(model: MechanismModel, closure: Closure) -> PlanarLoop:
    """A loop as two chains in its plane.

    Raises NotPlanar: Saying why.
    """
    if not (_is_hinge(closure) or closure.kind is spherical.KIND):
        raise NotPlanar(f"a {closure.kind} joint closes it{_other_cut(model, closure)}")
    (one, other), plane, ends, size = _in_plane(model, closure)
    _check_pin(closure, plane, ends, size)
    return PlanarLoop(closure.name, one, other)


def fold_of_rod(
    model: MechanismModel, closure: Closure, dependent: int, length: float
) -> Fold | None:
    """How a loop that a rod closes can lie flat; ``None`` if it cannot, or is not planar."""
    try:
        (one, other), plane, ends, _ = _in_plane(model, closure)
    except NotPlanar:
        return None
    height = float(plane[2] @ (ends[1][:3, 3] - ends[0][:3, 3]))
    links = {link.body: link for link in (*one.links, *other.links)}
    if abs(height) >= length or not links[dependent].turning:
        return None
    return fold_with_rod(one, other, dependent, math.sqrt(length**2 - height**2))


def _in_plane(
    model: MechanismModel, closure: Closure
) -> tuple[tuple[Chain, Chain], FloatArray, list[FloatArray], float]:
    """Both chains of a loop, the axes of its plane, the ends of its chains and its size [m]."""
    paths = [
        [model.bodies[i] for i in chain]
        for chain in model.chains(closure.predecessor, closure.successor)
    ]
    for body in (*paths[0], *paths[1]):
        kind = body.joint.kind
        if len(kind.turning) != 1 and body.joint.map is None:
            raise NotPlanar(f"joint {body.description.name!r} is {kind}")
    walks = [_walk(path) for path in paths]
    plane = _plane(paths, walks)
    ends = [
        (walk[-1] if walk else np.eye(4)) @ matrix_of(X)
        for walk, X in zip(walks, (closure.X_PF, closure.X_SG), strict=True)
    ]
    size = float(max(np.linalg.norm(X[:3, 3]) for X in (*walks[0], *walks[1], *ends)) or 1.0)
    one, other = (
        _chain(path, walk, end, plane, size)
        for path, walk, end in zip(paths, walks, ends, strict=True)
    )
    return (one, other), plane, ends, size


def _is_hinge(closure: Closure) -> bool:
    """Whether a closure has one axis, which must be the normal of the plane."""
    return closure.kind.axial and closure.kind.free_turn


def _at_zero(joint: JointGeometry) -> FloatArray:
    """Child in parent where the angle of the equations, or the displacement, is zero."""
    if joint.map is not None:
        return matrix_of(evaluate(joint, [0.0] * joint.map.n, [0.0] * joint.map.n).X)
    return matrix_of(evaluate(joint, [-joint.offset], [0.0]).X)


def _walk(path: Sequence[Body]) -> list[FloatArray]:
    """Frames of the bodies of a chain in the body where it begins, all joints at zero."""
    X, frames = np.eye(4), []
    for body in path:
        X = X @ _at_zero(body.joint)
        frames.append(X)
    return frames


def _plane(paths: Sequence[Sequence[Body]], walks: Sequence[Sequence[FloatArray]]) -> FloatArray:
    """Axes along x, y and the normal of the plane, as rows, shape (3, 3)."""
    joints = [(b, X) for path, walk in zip(paths, walks, strict=True)
              for b, X in zip(path, walk, strict=True) if b.joint.map is None]  # fmt: skip
    turning = [X[:3, 2] for body, X in joints if not body.joint.kind.is_slider]
    sliding = [X[:3, 2] for body, X in joints if body.joint.kind.is_slider]
    if turning:
        normal = turning[0]
    elif len(sliding) > 1:
        normal = np.cross(sliding[0], sliding[-1])
        normal = normal / (np.linalg.norm(normal) or 1.0)
    else:
        raise NotPlanar("too few joints move it")
    for body, X in joints:
        along = abs(float(X[:3, 2] @ normal))
        off = along if body.joint.kind.is_slider else _sine(X[:3, 2], normal)
        if off > LOOP_GEOMETRY:
            raise NotPlanar(f"the axis of joint {body.description.name!r} is not in its plane")
    first, X = joints[0]  # of those that turn or slide
    x = X[:3, 2] if first.joint.kind.is_slider else X[:3, 0]
    return np.array([x, np.cross(normal, x), normal])


def _sine(a: FloatArray, b: FloatArray) -> float:
    return float(np.linalg.norm(np.cross(a, b)))


def _check_pin(
    closure: Closure, plane: FloatArray, ends: Sequence[FloatArray], size: float
) -> None:
    """Check that the joint which closes the loop constrains no motion out of the plane."""
    normal = plane[2]
    if _is_hinge(closure):
        for X in ends:
            if _sine(X[:3, 2], normal) > LOOP_GEOMETRY:
                raise NotPlanar("the axis of the joint that closes it is not normal to its plane")
    if False not in closure.kind.turning:  # it does not slide along the normal
        gap = abs(float(normal @ (ends[1][:3, 3] - ends[0][:3, 3])))
        if gap > LOOP_GEOMETRY * size:
            raise NotPlanar(f"its ends lie in planes {gap:.3g} m apart")


def _carried(body: Body, parent: FloatArray, own: FloatArray, size: float) -> Carried:
    """A joint given by a function, checked to stay in the plane at some positions.

    parent, own (3, 3): Planar axes and the normal, as rows, in the axes of the parent and of the
        body.
    size [m]
    """
    joint, n = body.joint, body.joint.map.n
    points = np.random.default_rng(0).uniform(-1.0, 1.0, (PLACES, n + 1))
    points[0] = 0.0
    found = [matrix_of(evaluate(joint, x[:n], [0.0] * n, x[n]).X) for x in points]
    heights = [float(parent[2] @ X[:3, 3]) for X in found]
    tilt = max(_sine(X[:3, :3] @ own[2], parent[2]) for X in found)
    if tilt > LOOP_GEOMETRY or np.ptp(heights) > LOOP_GEOMETRY * size:
        raise NotPlanar(f"joint {body.description.name!r} leaves its plane")
    one, other = ([vector(axis, LENGTH_ROUNDING) for axis in axes] for axes in (parent, own))
    return Carried((one[0], one[1], one[2]), (other[0], other[1], other[2]))


def _chain(
    path: Sequence[Body],
    walk: Sequence[FloatArray],
    end: FloatArray,
    plane: FloatArray,
    size: float,
) -> Chain:
    def vector(p: FloatArray, scale: float) -> Planar:
        x, y = (float(c) for c in plane[:2] @ p)
        return Planar(*(0.0 if abs(c) <= LENGTH_ROUNDING * scale else c for c in (x, y)))

    links, last, axes = [], np.zeros(3), plane
    for body, X in zip(path, walk, strict=True):
        if body.joint.map is not None:
            links.append(Link(body.index, carried=_carried(body, axes, plane @ X[:3, :3], size)))
            last, axes = X[:3, 3], plane @ X[:3, :3]
            continue
        turning = not body.joint.kind.is_slider
        if turning:
            direction = Planar(1.0, 1.0 if float(X[:3, 2] @ plane[2]) > 0.0 else -1.0)
        else:
            direction = vector(X[:3, 2], 1.0)
        links.append(Link(body.index, vector(X[:3, 3] - last, size), turning, direction))
        last, axes = X[:3, 3], plane @ X[:3, :3]
    return Chain(tuple(links), vector(end[:3, 3] - last, size))
