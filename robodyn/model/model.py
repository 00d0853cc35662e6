"""From a description to a model: tree, frames, names, limits, and the choices made at loading."""

from __future__ import annotations

import math
from collections.abc import Container, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from robodyn.array_types import FloatArray
from robodyn.description import Joint, Loop, Mechanism
from robodyn.description.couplings import branches, with_couplings
from robodyn.description.graph_check import find_root
from robodyn.equations.loops.closing import closure, coupled
from robodyn.equations.loops.related import related
from robodyn.equations.mechanism.bodies import Drive, MechanismModel, build
from robodyn.equations.mechanism.light import light_speeds
from robodyn.equations.mechanism.state import evaluate_joints
from robodyn.equations.quantities.common.setup import Setup
from robodyn.equations.tree.composite_body import mass_matrix
from robodyn.equations.tree.momentum import total_mass
from robodyn.errors import (
    ActuationError,
    InertiaError,
    UnknownNameError,
)
from robodyn.force_elements.ground import Ground
from robodyn.joints import joint_kind
from robodyn.model.actuators import rotor_drives, with_free_rotors, with_motors
from robodyn.model.configuration import Block
from robodyn.model.joint_info import JointInfo, Joints
from robodyn.model.settings import Settings
from robodyn.model.splitting import with_split_links
from robodyn.tolerances import MASS_MATRIX_ZERO, SMALLEST_FULL_PRECISION
from robodyn.topology.spanning_tree import SpanningTree, spanning_tree

__all__ = [
    "JointInfo",
    "Model",
    "Settings",
    "build_model",
    "drives_of",
    "effective_mechanism",
    "mass_matrix_at",
    "model_of",
]


@dataclass(frozen=True, eq=False)
class Model:
    """Everything a `Robot` knows; its arrays are not handed out."""

    mechanism: Mechanism
    settings: Settings
    tree: SpanningTree
    bodies: MechanismModel
    setup: Setup
    blocks: tuple[Block, ...]
    joints: Joints
    joint_names: tuple[str, ...]
    actuated_joints: tuple[str, ...]
    lower: FloatArray
    upper: FloatArray
    velocity: FloatArray
    effort: FloatArray
    some_mass_matrix: FloatArray

    @property
    def total_mass(self) -> float:
        """Mass of everything that moves [kg]."""
        return total_mass(self.bodies, self.setup.base_inertia)

    @cached_property
    def quaternions(self) -> NDArray[np.intp]:
        """Where the quaternions of the joints stand in q, shape (n, 4)."""
        ends = [b.q.stop for b in self.blocks if b.kind.coordinates.quaternion]
        return np.array(ends, int).reshape(-1, 1) + np.arange(-4, 0)

    @cached_property
    def has_quaternions(self) -> bool:
        """Whether some coordinates are quaternions."""
        return len(self.quaternions) > 0

    def undetermined(
        self,
        controlled: Container[int],
        M: FloatArray | None = None,
        singular: float = 0.0,
        vanishing: float = 0.0,
    ) -> tuple[str, ...]:
        """Joints whose accelerations no forces determine, because they move no mass.

        Parameters
        ----------
        controlled : container of int
            Speeds that are not free.
        M : ndarray, shape (nv, nv), optional
            Mass matrix. Default: in a posture without symmetry.
        singular, vanishing : float
            Largest eigenvalue of the scaled mass matrix that counts as zero, if it is among the
            smallest, and largest part of its diagonal elsewhere that does. What rounding leaves of
            zero always does.
        """
        free = [k for k in range(self.bodies.nv) if k not in controlled]
        typical = np.sqrt(np.maximum(np.diag(self.some_mass_matrix), 0.0))[free]
        M = (self.some_mass_matrix if M is None else M)[np.ix_(free, free)]
        scale = np.sqrt(np.maximum(np.diag(M), 0.0))
        least = np.maximum(1e-15 * scale.max(initial=0.0), np.sqrt(vanishing) * typical)
        least = np.maximum(least, math.sqrt(SMALLEST_FULL_PRECISION))
        still = {free[k] for k in np.flatnonzero(~(scale > least))}
        moving = [i for i, k in enumerate(free) if k not in still]
        scaled = M[np.ix_(moving, moving)] / np.outer(scale[moving], scale[moving])
        sizes, modes = np.linalg.eigh(scaled)
        limit = max(MASS_MATRIX_ZERO, min(singular, 30.0 * sizes.min(initial=1.0)))
        for mode in modes.T[sizes < limit]:
            still |= {free[moving[i]] for i in np.flatnonzero(np.abs(mode) > 0.1)}
        return tuple(
            name
            for name in self.joint_names
            if still & set(range(self.joints[name].v.start, self.joints[name].v.stop))
        )

    def keeping(self, fixed: tuple[str, ...]) -> Setup:
        """The same equations with some fixed joints as joints; coordinates stay as they are."""
        if not fixed:
            return self.setup
        effective = effective_mechanism(self.mechanism, self.settings)
        tree = _tree(self.mechanism, effective, self.settings, fixed)
        return _setup(self.mechanism, effective, self.settings, tree)

    def check_actuated(self, actuated: tuple[str, ...]) -> None:
        """A tree can follow any acceleration only if every joint has a motor."""
        for name in actuated:
            _ = self.joints[name]
        missing = [name for name in self.joint_names if name not in actuated]
        if missing:
            raise ActuationError(
                f"{self.mechanism.name!r} is a tree: joints {', '.join(missing)} need a force for "
                "an arbitrary acceleration; leave actuated= out, or use hybrid dynamics",
                direction=tuple(missing),
            )


def build_model(
    mechanism: Mechanism, settings: Settings, actuated: tuple[str, ...] | None = None
) -> Model:
    """Model of a description.

    Parameters
    ----------
    mechanism : Mechanism
    settings : Settings
    actuated : tuple of str, optional
        Joints at which forces act. Default: those with motors, or all.

    Raises
    ------
    TopologyError, InertiaError
    """
    effective = effective_mechanism(mechanism, settings)
    tree = _tree(mechanism, effective, settings)
    setup = _setup(mechanism, effective, settings, tree)
    M = some_mass_matrix(setup.model)
    model = model_of(mechanism, effective, settings, tree, setup, M)
    return model if actuated is None else replace(model, actuated_joints=actuated)


def model_of(
    mechanism: Mechanism,
    effective: Mechanism,
    settings: Settings,
    tree: SpanningTree,
    setup: Setup,
    M: FloatArray,
) -> Model:
    """Names, limits and roles around the equations of a robot.

    Parameters
    ----------
    mechanism, effective : Mechanism
        As described, and with what counts in the equations.
    settings : Settings
    tree : SpanningTree
    setup : Setup
    M : ndarray, shape (nv, nv)
        Mass matrix somewhere.
    """
    bodies = replace(setup.model, light=light_speeds(setup.model, M))
    setup = replace(setup, model=bodies)
    massless = _massless_joint(bodies, M)
    if massless is not None and not settings.allow_unphysical and not setup.closed:
        raise _massless_error(mechanism, massless)
    blocks, infos = _names(mechanism, effective, tree)
    moving = [info for info in infos.values() if info.v.stop > info.v.start]
    names = tuple(info.name for info in sorted(moving, key=lambda info: info.v.start))
    limits = _limits(tree, bodies.nq, bodies.nv)
    motors = tuple(joint for joint, _ in mechanism.actuators if joint in names)
    free = tuple(n for n in names if not infos[n].kind.is_free)
    joints = Joints(infos, mechanism.name)
    return Model(
        mechanism,
        settings,
        tree,
        bodies,
        setup,
        blocks,
        joints,
        names,
        motors or free,
        *limits,
        M,
    )


def effective_mechanism(mechanism: Mechanism, settings: Settings) -> Mechanism:
    """What the equations are of: with free rotors as joints, and links cut in two.

    What motors do to their joints is in it, where that counts; else joints have no armature.
    """
    mechanism = with_free_rotors(mechanism) if mechanism.rotors else mechanism
    mechanism = with_couplings(mechanism) if mechanism.couplings else mechanism
    mechanism = with_split_links(mechanism, movable_root=settings.base == "floating")
    if settings.passive:
        return with_motors(mechanism)
    joints = tuple(replace(x, armature=0.0) for x in mechanism.joints)
    return replace(mechanism, joints=joints)


def _tree(
    mechanism: Mechanism, effective: Mechanism, settings: Settings, keep_fixed: tuple[str, ...] = ()
) -> SpanningTree:
    """Spanning tree from the root of the description; halves of links are none of its roots."""
    split = any(loop.rejoins for loop in effective.loops)
    return spanning_tree(
        effective,
        floating=settings.base == "floating",
        root=find_root(mechanism) if split else None,
        keep_fixed=keep_fixed,
    )


def _setup(
    mechanism: Mechanism, effective: Mechanism, settings: Settings, tree: SpanningTree
) -> Setup:
    bodies = build(tree, snap=settings.parallel, drives=drives_of(effective, settings))
    closures = tuple(closure(bodies, cut, settings.parallel) for cut in tree.cuts)
    return Setup(
        model=bodies,
        gravity=settings.gravity,
        passive=settings.passive and not mechanism.relaxed,
        friction_speed=settings.friction_speed,
        moving=settings.base == "moving",
        floating=settings.base == "floating",
        link_elements=effective.link_elements,
        closures=closures,
        coupled=tuple(
            coupled(bodies, coupling, *branches(mechanism, coupling))
            for coupling in effective.couplings
        ),
        constraints=tuple(related(bodies, given) for given in effective.constraints),
        cut_joint_friction=tuple(c for c in closures if c.damping or c.friction),
        ground=_grounds(bodies, settings),
    )


def _grounds(bodies: MechanismModel, settings: Settings) -> tuple[Ground, ...]:
    """The planes that resist points of links; a link that does not exist is refused."""
    for plane in settings.ground:
        for name, link, _ in plane.contacts:
            if link not in bodies.frames:
                raise UnknownNameError("link", link, bodies.frames, f"contact {name!r}")
    return settings.ground


def drives_of(mechanism: Mechanism, settings: Settings) -> tuple[Drive, ...]:
    """Rotors that count; none where only rigid bodies do."""
    if not settings.passive:
        return ()
    return rotor_drives(mechanism, exact=settings.rotor_model == "exact")


def some_mass_matrix(bodies: MechanismModel) -> FloatArray:
    """Mass matrix in a position without symmetry, shape (nv, nv)."""
    q: list[Any] = [0.3 + 0.1 * (k % 7) for k in range(bodies.nq)]
    for body in bodies:
        if body.joint.kind.coordinates.quaternion:
            last = body.q[-1][0]
            q[last - 3 : last + 1] = [0.1, 0.3, -0.5, math.sqrt(0.65)]
    return mass_matrix_at(bodies, q)


def mass_matrix_at(bodies: MechanismModel, q: Sequence[Any]) -> FloatArray:
    """Mass matrix at a position, shape (nv, nv), without a compiler."""
    M: Any = mass_matrix(bodies, evaluate_joints(bodies, q, [0.0] * bodies.nv))
    return np.array(M, float).reshape(bodies.nv, bodies.nv)


def _massless_joint(bodies: MechanismModel, M: FloatArray) -> Joint | None:
    """A joint whose speed moves no mass at all."""
    largest = np.diag(M).max(initial=0.0)
    for body in bodies:
        if any(not M[s.index, s.index] > 1e-30 * largest for s in body.speeds):
            return body.description
    return None


def _massless_error(mechanism: Mechanism, joint: Joint) -> InertiaError:
    return InertiaError(
        f"joint {joint.name!r} moves nothing that has mass or inertia in its direction (link "
        f"{joint.child!r} and what hangs on it): give it an <inertial>, make the joint fixed, or "
        "load with allow_unphysical=True if no forward dynamics is wanted",
        **mechanism.where(joint),
    )


def _names(
    mechanism: Mechanism, effective: Mechanism, tree: SpanningTree
) -> tuple[tuple[Block, ...], dict[str, JointInfo]]:
    nq = nv = 0
    blocks, slices = [], {}
    for joint in tree.joints:
        if joint.independent:
            kind_nq, kind_nv = joint.joint.nq, joint.joint.nv
            q, v = slice(nq, nq + kind_nq), slice(nv, nv + kind_nv)
            nq, nv = q.stop, v.stop
            blocks.append(Block(joint_kind(joint.joint.kind), q, v))
            slices[joint.joint.name] = (q, v)
    empty = slice(0, 0)
    synthetic = [j.joint for j in tree.joints if j.joint not in effective.joints]
    # as drawn: the equations may have the joint on half of a link
    drawn = {mover.name: mover for mover in mechanism.movers}
    closures = {
        cut.rejoins if isinstance(cut, Loop) and cut.rejoins else cut.name: cut.name
        for cut in tree.cuts
    }
    infos = {
        described.name: _info(
            drawn.get(described.name, described),
            *slices.get(described.name, (empty, empty)),
            closures.get(described.name, ""),
        )
        for described in (*synthetic, *effective.movers)
    }
    return tuple(blocks), infos


def _info(joint: Joint | Loop, q: slice, v: slice, closure: str) -> JointInfo:
    if isinstance(joint, Joint):
        ends, merged = (joint.parent, joint.child), joint.merged
    else:
        ends, merged = (joint.predecessor, joint.successor), ()
    return JointInfo(joint.name, joint.kind, q, v, *ends, joint.limits, joint.axis, merged, closure)


def _limits(
    tree: SpanningTree, nq: int, nv: int
) -> tuple[FloatArray, FloatArray, FloatArray, FloatArray]:
    lower, upper = np.full(nq, -np.inf), np.full(nq, np.inf)
    velocity, effort = np.full(nv, np.inf), np.full(nv, np.inf)
    q = v = 0
    for joint in tree.joints:
        if not joint.independent:
            continue
        kind_nq, kind_nv = joint.joint.nq, joint.joint.nv
        limits = joint.joint.limits
        if limits is not None:
            velocity[v : v + kind_nv], effort[v : v + kind_nv] = limits.velocity, limits.effort
            if joint_kind(joint.joint.kind).limited and kind_nq == 1:
                lower[q], upper[q] = limits.lower, limits.upper
        q, v = q + kind_nq, v + kind_nv
    return lower, upper, velocity, effort
