"""Spatial loops with a closed form, recognised by their geometry.

A loop that closes in a ball has one if two axes that meet, those of a universal joint or of two
joints that turn, and one more axis can follow: then only lengths and directions count. A loop that
closes by a rod between two points has one if one axis can follow.
"""

from __future__ import annotations

import dataclasses
import itertools
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from robodyn.equations.closed_form.linkage import Freedom, Linkage, Posture
from robodyn.equations.closed_form.spatial_chain import SpatialChain, SpatialLink
from robodyn.equations.closed_form.spatial_linkage import BallLinkage, RodLinkage
from robodyn.equations.loops.closure_rows import Closure
from robodyn.equations.mechanism.bodies import MechanismModel
from robodyn.joints import distance, spherical
from robodyn.minimal.planar_loops import fold_of_rod
from robodyn.tolerances import LOOP_GEOMETRY

#: Entry of `JointKind.unmoved` for a point through which all axes of a joint go.
ORIGIN = 3


class NotSpatial(Exception):
    """Why a loop has no closed form of this family."""


@dataclass(frozen=True, eq=False)
class SpatialLoop:
    """A spatial loop whose dependent joints are not chosen yet.

    ways: All choices of dependent joints.
    """

    name: str
    ways: tuple[Linkage, ...]

    @property
    def bodies(self) -> tuple[int, ...]:
        """Bodies whose joints are in the loop."""
        return self.ways[0].bodies

    @property
    def candidates(self) -> tuple[tuple[int, ...], ...]:
        """Sets of joints that can be dependent together."""
        return tuple(way.dependent for way in self.ways)

    def linkage(self, dependent: tuple[int, ...]) -> Linkage:
        """The loop with chosen dependent joints."""
        return next(way for way in self.ways if way.dependent == dependent)

    def regular(self, postures: Mapping[int, Posture]) -> SpatialLoop:
        """The loop with those choices that lead to a closed posture, away from dead points."""
        ways = tuple(way for way in self.ways if way.fitting(postures))
        if not ways:
            raise NotSpatial("those of its joints that could follow are at a dead point")
        return dataclasses.replace(self, ways=ways)


def spatial_loop(model: MechanismModel, closure: Closure) -> SpatialLoop:
    """A loop as chains to the point where it closes.

    Raises NotSpatial: Saying why.
    """
    if closure.kind not in (spherical.KIND, distance.KIND):
        raise NotSpatial(f"a {closure.kind} joint closes it")
    chains = [
        SpatialChain(tuple(SpatialLink(i, model.bodies[i].joint) for i in bodies), tail)
        for bodies, tail in zip(
            model.chains(closure.predecessor, closure.successor),
            (closure.X_PF.p, closure.X_SG.p),
            strict=True,
        )
    ]
    one, other = chains
    single = [
        link.body for chain in chains for link in chain.links if len(link.joint.kind.turning) == 1
    ]
    ways: list[Linkage]
    if closure.kind is distance.KIND:
        length = closure.geometry.constants[distance.KIND.name]
        ways = [
            RodLinkage(
                closure.name,
                (i,),
                predecessor=one,
                successor=other,
                length=length,
                planar=fold_of_rod(model, closure, i, length),
            )
            for i in single
        ]
        if not ways:
            raise NotSpatial("it has no joint with one axis that could follow")
        return SpatialLoop(closure.name, tuple(ways))
    ways = [
        BallLinkage(
            closure.name,
            tuple(sorted({*_bodies(hinges), i})),
            predecessor=one,
            successor=other,
            hinges=hinges,
            centre=centre,
        )
        for hinges, centre in (*_meeting(one.links), *_meeting(other.links))
        for i in single
        if i not in _bodies(hinges)
    ]
    if not ways:
        raise NotSpatial(
            "it has no universal joint, nor two joints whose axes meet, beside one more joint that "
            "turns or slides, which could follow"
        )
    return SpatialLoop(closure.name, tuple(ways))


Hinges = tuple[Freedom, Freedom]


def _bodies(hinges: Hinges) -> set[int]:
    return {body for body, _ in hinges}


def _meeting(links: Sequence[SpatialLink]) -> list[tuple[Hinges, tuple[float, float]]]:
    """Pairs of axes that intersect, and the place of the intersection on each."""
    pairs = []
    for link in links:
        kind = link.joint.kind
        if kind.turning == (True, True) and ORIGIN in kind.unmoved:
            freedoms = ((link.body, 0), (link.body, 1))
            hinges = freedoms[::-1] if link.joint.reversed else freedoms
            pairs.append((hinges, (0.0, 0.0)))
    for one, other in itertools.pairwise(links):
        if all(link.joint.kind.is_pin for link in (one, other)):
            centre = _crossing(other)
            if centre is not None:
                pairs.append((((one.body, 0), (other.body, 0)), centre))
    return pairs


def _crossing(link: SpatialLink) -> tuple[float, float] | None:
    """Intersection of z of a joint's parent with its own axis, along each; None without one."""
    z = np.array([0.0, 0.0, 1.0])
    X = link.joint.X_PJ
    p, axis = np.array(list(X.p), float), np.array(list(X.R.matrix.T.rows()[2]), float)
    normal = np.cross(z, axis)
    sine = float(np.linalg.norm(normal))
    if sine < LOOP_GEOMETRY or abs(float(normal @ p)) > LOOP_GEOMETRY * sine * float(
        np.linalg.norm(p)
    ):
        return None
    # p + other axis = one z
    one, other = np.linalg.lstsq(np.stack([z, -axis], axis=1), p, rcond=None)[0]
    return float(one), float(other)
