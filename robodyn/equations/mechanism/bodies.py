"""The mechanism of the equations: bodies from root to leaves, with frames and inertias."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import field, replace
from functools import cached_property
from typing import Any

import numpy as np

from robodyn.array_types import FloatArray
from robodyn.description import Joint
from robodyn.description.pose import inverse_pose
from robodyn.equations.closed_form.linkage import ExplicitLinkage, Linkage
from robodyn.equations.mechanism.frames import choose_frames, vector
from robodyn.equations.mechanism.lumping import (
    Regrouping,
    is_there,
    lump,
    moved,
    pseudo_inertia,
    rigid,
)
from robodyn.equations.mechanism.rotors import Armature, CouplingInertia, Motor, Rotor
from robodyn.joints.common.kind import JointGeometry
from robodyn.quick_dataclass import dataclass
from robodyn.symbolic.spatial import RigidInertia
from robodyn.symbolic.vector import EZ, ZERO3, Sym3
from robodyn.tolerances import FRAME_ROUNDING
from robodyn.topology.spanning_tree import SpanningTree, TreeJoint

#: Index of the base, parent of the first bodies.
BASE = -1


@dataclass(frozen=True)
class Speed:
    """A column of a body's motion subspace: the index in ``v`` that drives it, and its factor."""

    index: int
    factor: float = 1.0


@dataclass(frozen=True)
class Drive:
    """A motor's rotor as it is described.

    joint: The joint that the motor is described for.
    ratios: Joints that turn it, each with the speed of the rotor over the speed of the joint.
    inertia [kg m^2]: About the rotor's axis.
    carrier: Link that carries it; ``None``: only the inertia that the joint feels counts.
    axis: In the axes of that link.
    """

    joint: str
    ratios: tuple[tuple[str, float], ...]
    inertia: float
    carrier: str | None = None
    axis: tuple[float, float, float] = (0.0, 0.0, 1.0)


@dataclass(frozen=True, eq=False)
class Body:
    """A body and the joint that moves it.

    index, parent: ``parent < index``; `BASE` for the base.
    q: Own coordinates as ``factor * q[index] + offset`` (not 1, 0 for a mimic joint); none of a
        joint that follows others by a closed loop or a function.
    speeds: One a column of the motion subspace; none of such a joint.
    inertia: Of the links on this body.
    lumped: With what may be counted on the parent moved there: same motion, same joint torques.
    X_LB (4, 4): Frame of the equations in the body frame of the spanning tree.
    """

    index: int
    parent: int
    description: Joint
    joint: JointGeometry
    q: tuple[tuple[int, float, float], ...]
    speeds: tuple[Speed, ...]
    inertia: RigidInertia
    lumped: RigidInertia
    X_LB: FloatArray


@dataclass(frozen=True, eq=False)
class MechanismModel:
    """Bodies in walking order.

    base_inertia: Links fixed to the base, in the base frame.
    frames: Link name -> (body index, pose of the link frame in the body's frame, shape (4, 4)).
    coupled: Some joints mimic or follow others, so bodies share speeds.
    armature: Inertia of the motors' rotors as joints feel it, and what joints have of their own.
    rotors: Those that their carriers feel, too.
    coupling_inertias: Of rotors that several joints turn together.
    lumped_armature, lumped_rotors: `armature` and `rotors` with bodies that are lumped as rotors;
        they go with `Body.lumped`.
    linkages: Closed loops that make joints follow others, in the order of their solution.
    followers: Functions by which joints follow others, which come before those loops.
    motors: All that are described, also those whose rotors have no inertia.
    regrouping: How `Body.lumped` came about.
    light: Speeds that may move next to no mass in some posture, each with what it moves elsewhere
        [kg m^2, kg].
    """

    bodies: tuple[Body, ...]
    base_inertia: RigidInertia
    nq: int
    nv: int
    frames: dict[str, tuple[int, FloatArray]]
    coupled: bool
    armature: tuple[Armature, ...]
    rotors: tuple[Rotor, ...]
    lumped_armature: tuple[Armature, ...]
    lumped_rotors: tuple[Rotor, ...]
    linkages: tuple[Linkage, ...] = ()
    followers: tuple[ExplicitLinkage, ...] = ()
    motors: tuple[Motor, ...] = ()
    coupling_inertias: tuple[CouplingInertia, ...] = ()
    regrouping: Regrouping | None = None
    light: Mapping[int, float] = field(default_factory=dict)

    def __iter__(self) -> Iterator[Body]:
        return iter(self.bodies)

    def __reversed__(self) -> Iterator[Body]:
        return reversed(self.bodies)

    @cached_property
    def following(self) -> frozenset[int]:
        """Bodies whose joints follow others by a function: their coordinates are known."""
        return frozenset(i for one in self.followers for i in one.dependent)

    def known(self, body: Body) -> int:
        """Number of known coordinates of a joint, its own or others."""
        return 1 if body.index in self.following else len(body.q)

    @property
    def chained(self) -> bool:
        """Whether joints share speeds and rotors with adjacent bodies only."""
        return not (self.coupled or self.coupling_inertias) and all(
            rotor.carrier in (BASE, self.bodies[rotor.body].parent) for rotor in self.lumped_rotors
        )

    def path(self, body: int) -> list[int]:
        """Bodies from the base (not included) to a body."""
        path = []
        while body != BASE:
            path.append(body)
            body = self.bodies[body].parent
        return path[::-1]

    def chains(self, one: int, other: int) -> tuple[list[int], list[int]]:
        """Bodies to one and to another from where their paths part."""
        first, second = self.path(one), self.path(other)
        common = 0
        for a, b in zip(first, second, strict=False):
            if a != b:
                break
            common += 1
        return first[common:], second[common:]


def build(
    tree: SpanningTree,
    *,
    snap: float,
    drives: Sequence[Drive] = (),
    linkages: tuple[Linkage, ...] = (),
    followers: tuple[ExplicitLinkage, ...] = (),
) -> MechanismModel:
    """Bodies, frames and inertias of a spanning tree.

    Parameters
    ----------
    snap : float [rad, m]
        Angles this near to quarter turns, and lengths this near to zero, are taken as such.
    drives : sequence of Drive
        Rotors of motors.
    linkages : tuple of Linkage
        Loops solved in closed form, of a tree that has their dependent joints marked.
    followers : tuple of ExplicitLinkage
        Functions by which joints follow others, marked in the tree as well.
    """
    choice = choose_frames(tree, snap)
    q_index, v_index, nq, nv = _coordinates(tree)
    nothing = RigidInertia(0.0, ZERO3, Sym3.zero())
    bodies = [
        Body(
            i,
            joint.parent,
            joint.joint,
            frame.joint,
            *_driven_by(joint, i, q_index, v_index),
            nothing,
            nothing,
            frame.X_LB,
        )
        for i, (joint, frame) in enumerate(zip(tree.joints, choice, strict=True))
    ]
    frames = {
        name: (i, X if i == BASE else inverse_pose(choice[i].X_LB) @ X)
        for name, (i, X) in tree.links.items()
    }
    coupled = not all(joint.independent for joint in tree.joints)
    geometry = MechanismModel(
        tuple(bodies), nothing, nq, nv, frames, coupled, (), (), (), (), linkages, followers
    )
    return weighed(geometry, tree, drives)


def weighed(
    model: MechanismModel,
    tree: SpanningTree,
    drives: Sequence[Drive] | None = (),
    before: SpanningTree | None = None,
) -> MechanismModel:
    """The same geometry with the inertias of a tree, and its joints as they are described.

    tree: That of the model, but for inertias and what joints resist with.
    drives: Rotors of motors; None: those of the model.
    before, optional: That the inertias of the model are of; what has the same in it stays as it is.
    """
    changed, known = _changed(model, tree, before), model.regrouping
    own = [
        moved(pseudo_inertia(inertia), inverse_pose(body.X_LB))
        if known is None or body.index in changed
        else known.own[body.index]
        for inertia, body in zip(tree.inertias, model, strict=True)
    ]
    motors = model.motors
    if drives is not None:
        driven = {body.description.name: body.index for body in model if body.description.nv}
        found = [_motor(x, driven, model.frames) for x in drives]
        moving = (motor for motor in found if motor.armature)
        # in the order of joints, whatever that of the description: sums are the same to the bit
        motors = tuple(sorted(moving, key=lambda motor: driven.get(motor.joint, BASE)))
    joints = [joint.joint for joint in tree.joints]
    if before is None or before.base_inertia is not tree.base_inertia:
        model = replace(model, base_inertia=rigid(pseudo_inertia(tree.base_inertia)))
    return regrouped(model, tree, own, changed, joints, motors)


def regrouped(
    model: MechanismModel,
    tree: SpanningTree,
    own: Sequence[FloatArray],
    changed: Collection[int],
    joints: Sequence[Joint],
    motors: tuple[Motor, ...],
) -> MechanismModel:
    """The same geometry with other inertias, regrouped; numbers may be rows of several robots.

    tree: That of the model; its inertias are not looked at.
    own (4, 4) or (robots, 4, 4): Pseudo-inertia of each body, in its frame.
    changed: Bodies that have another one than in the model.
    """
    carrying = {k for i in changed for k in model.path(i)}
    regrouping = lump(tree, model.bodies, own, model.regrouping, carrying)
    bodies = tuple(
        replace(
            body,
            description=joint,
            inertia=rigid(P) if body.index in changed else body.inertia,
            lumped=rigid(L),
        )
        if body.index in carrying
        else body
        if body.description is joint
        else replace(body, description=joint)
        for body, joint, P, L in zip(model, joints, own, regrouping.lumped, strict=True)
    )
    # the first time nothing is known of rotors yet
    same = (
        model.regrouping is not None
        and motors is model.motors
        and all(x is y.description for x, y in zip(joints, model, strict=True))
    )
    changed_model = replace(model, bodies=bodies, motors=motors, regrouping=regrouping, light={})
    if not same:
        armature = _armature_of(motors, [joint.armature for joint in joints])
        changed_model = replace(
            changed_model,
            armature=_felt(armature),
            rotors=tuple(_scaled(motors, "rotors", lambda rotor, inertia: inertia)),
            coupling_inertias=tuple(
                _scaled(motors, "couplings", lambda unit, inertia: unit.inertia * inertia)
            ),
        )
    elif not regrouping.spinning and not (model.regrouping and model.regrouping.spinning):
        return changed_model
    return with_spinning(changed_model, regrouping.spinning)


def with_spinning(model: MechanismModel, spinning: Mapping[int, Any]) -> MechanismModel:
    """A model with the bodies among its rotors that spin as rotors do."""
    armature: list[Any] = [0.0] * len(model.bodies)
    for x in model.armature:
        armature[x.body] = x.inertia
    rotors = list(model.rotors)
    for i, inertia in spinning.items():
        armature[i] = armature[i] + inertia
        body = model.bodies[i]
        rotors.append(Rotor(i, 1.0, inertia, body.parent, body.joint.X_PJ.R * EZ))
    return replace(model, lumped_armature=_felt(armature), lumped_rotors=tuple(rotors))


def _changed(
    model: MechanismModel, tree: SpanningTree, before: SpanningTree | None
) -> Collection[int]:
    """Bodies that have changed since a tree; all of them without one."""
    if before is None:
        return range(len(model.bodies))
    pairs = zip(before.inertias, tree.inertias, strict=True)
    return {i for i, (old, new) in enumerate(pairs) if new is not old}


def _driven_by(
    joint: TreeJoint, i: int, q_index: Sequence[int], v_index: Sequence[int]
) -> tuple[tuple[tuple[int, float, float], ...], tuple[Speed, ...]]:
    """Coordinates and speeds that move a joint: its own, those of its master, or none."""
    if joint.independent:
        q = tuple((q_index[i] + k, 1.0, 0.0) for k in range(joint.joint.nq))
        return q, tuple(Speed(v_index[i] + k) for k in range(joint.joint.nv))
    if joint.mimic is not None:
        master, factor, offset = joint.mimic
        return ((q_index[master], factor, offset),), (Speed(v_index[master], factor),)
    return (), ()


def _armature_of(motors: Sequence[Motor], armature: list[float]) -> list[float]:
    """Armature of each joint with that of the motors that it turns."""
    for motor in motors:
        for unit in motor.armature:
            armature[unit.body] = armature[unit.body] + unit.inertia * motor.inertia
    return armature


def _scaled(
    motors: Sequence[Motor], parts: str, inertia: Callable[[Any, Any], Any]
) -> Iterator[Any]:
    """Parts of motors whose rotors have an inertia, from those of a rotor of 1 kg m^2."""
    for motor in motors:
        if is_there(motor.inertia):
            for unit in getattr(motor, parts):
                yield replace(unit, inertia=inertia(unit, motor.inertia))


def _motor(
    drive: Drive, driven: Mapping[str, int], frames: Mapping[str, tuple[int, FloatArray]]
) -> Motor:
    turning = [(driven[name], ratio) for name, ratio in drive.ratios if name in driven]
    armature = tuple(Armature(i, ratio**2) for i, ratio in turning)
    rotors: tuple[Rotor, ...] = ()
    carrier = driven.get(drive.joint, turning[0][0] if turning else BASE)
    if drive.carrier is not None:
        carrier, X_BL = frames[drive.carrier]
        axis = vector(X_BL[:3, :3] @ np.array(drive.axis), FRAME_ROUNDING)
        rotors = tuple(Rotor(i, ratio, 1.0, carrier, axis) for i, ratio in turning)
    couplings = tuple(
        CouplingInertia(i, j, x * y, carrier)
        for (i, x), (j, y) in itertools.combinations(turning, 2)
    )
    return Motor(drive.joint, drive.inertia, armature, rotors, couplings)


def _felt(armature: Sequence[float]) -> tuple[Armature, ...]:
    return tuple(Armature(i, inertia) for i, inertia in enumerate(armature) if is_there(inertia))


def _coordinates(tree: SpanningTree) -> tuple[list[int], list[int], int, int]:
    q_index, v_index, nq, nv = [], [], 0, 0
    for joint in tree.joints:
        q_index.append(nq)
        v_index.append(nv)
        if joint.independent:
            kind_nq, kind_nv = joint.joint.nq, joint.joint.nv
            nq, nv = nq + kind_nq, nv + kind_nv
    return q_index, v_index, nq, nv
