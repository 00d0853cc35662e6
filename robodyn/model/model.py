"""From a description to a model: tree, frames, names, limits, and the choices made at loading."""

from __future__ import annotations

import math
from collections.abc import Container
from dataclasses import replace
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from robodyn.array_types import FloatArray
from robodyn.description import Actuator, Mechanism
from robodyn.equations.mechanism.bodies import MechanismModel
from robodyn.equations.mechanism.light import light_speeds
from robodyn.equations.quantities.common.setup import Setup
from robodyn.equations.tree.momentum import total_mass
from robodyn.errors import ActuationError
from robodyn.model.configuration import Block
from robodyn.model.flat_postures import FlatPostures
from robodyn.model.gearing import Gearing
from robodyn.model.joint_inertias import (
    InertiaForms,
    JointInertias,
    mass_diagonals_at,
    mass_matrix_at,
    massless_error,
    massless_joint,
    some_posture,
)
from robodyn.model.joint_info import Joints, limits_of, names_of
from robodyn.model.model_setup import effective_mechanism, setup_of, tree_of
from robodyn.model.settings import Settings
from robodyn.model.windings import motors_of
from robodyn.quick_dataclass import dataclass
from robodyn.tolerances import MASS_MATRIX_ZERO, SMALLEST_FULL_PRECISION
from robodyn.topology.spanning_tree import SpanningTree


@dataclass(frozen=True, eq=False)
class Model:
    """Everything a `Robot` knows; its arrays must not be given to users."""

    mechanism: Mechanism
    #: The description for the equations, with free rotors as joints, and links cut in two.
    effective: Mechanism
    settings: Settings
    tree: SpanningTree
    bodies: MechanismModel
    setup: Setup
    blocks: tuple[Block, ...]
    joints: Joints
    joint_names: tuple[str, ...]
    #: Joints with motors that move, in the order of q; all, if no motor is described. Empty: none.
    actuated_joints: tuple[str, ...]
    lower: FloatArray
    upper: FloatArray
    velocity: FloatArray
    effort: FloatArray
    #: A generic posture, and the inertia of each speed there.
    some_posture: tuple[float, ...]
    joint_inertias: JointInertias

    @cached_property
    def motors(self) -> dict[str, Actuator]:
        """Motors by the joint that gets their commands; `passive=False` leaves drives out."""
        described = self.mechanism
        return motors_of(described) if self.settings.passive else dict(described.actuators)

    @cached_property
    def gearing(self) -> Gearing:
        """Gears and transmissions between motors and joints."""
        motors, transmissions = self.motors, self.mechanism.transmissions
        return Gearing(motors, transmissions, self.joints, self.actuated_joints, self.bodies.nv)

    @cached_property
    def following_joints(self) -> frozenset[str]:
        """Joints that move without speeds of their own, as they follow others."""
        moving = (body.description for body in self.bodies if body.description.nv)
        return frozenset(x.name for x in moving if x.name not in self.joint_names)

    @cached_property
    def flat_postures(self) -> FlatPostures:
        """Postures at which loops solved in closed form lie flat and can go through."""
        return FlatPostures(self.bodies)

    @cached_property
    def some_diagonal(self) -> FloatArray:
        """Diagonal of the mass matrix in that posture, shape (nv,)."""
        return mass_diagonals_at(self.bodies, self.some_posture)[0]

    @cached_property
    def some_mass_matrix(self) -> FloatArray:
        """Mass matrix in a generic posture, shape (nv, nv)."""
        found = self.joint_inertias.forms.mass_matrix(self.bodies)
        return mass_matrix_at(self.bodies, self.some_posture) if found is None else found

    @property
    def total_mass(self) -> float:
        """Mass of everything that moves [kg]."""
        return float(total_mass(self.bodies, self.setup.base_inertia))  # type: ignore[arg-type]

    @cached_property
    def quaternions(self) -> NDArray[np.intp]:
        """Indices in q of the quaternions of joints, shape (n, 4)."""
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

        controlled: Speeds that are not free.
        M (nv, nv), optional: Mass matrix. Default: in a generic posture.
        singular, vanishing: Largest eigenvalue of the scaled mass matrix that counts as zero, and
            largest element of the diagonal that does, as a fraction of that in a generic posture.
            Zero up to rounding always counts as zero.
        """
        if M is None and not self.bodies.light:
            return ()  # every speed moves a mass of its own
        free = [k for k in range(self.bodies.nv) if k not in controlled]
        typical = np.sqrt(np.maximum(self.some_diagonal, 0.0))[free]
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
        """The model with some fixed joints as joints of the tree; coordinates are the same."""
        if not fixed:
            return self.setup
        tree = tree_of(self.mechanism, self.effective, self.settings, fixed)
        return setup_of(self.mechanism, self.effective, self.settings, tree)

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

    actuated, optional: Joints at which forces act. Default: those with motors, or all if no motor
        is described.
    """
    effective = effective_mechanism(mechanism, settings)
    tree = tree_of(mechanism, effective, settings)
    setup = setup_of(mechanism, effective, settings, tree)
    q = some_posture(setup.model)
    model = model_of(mechanism, effective, settings, tree, setup, q)
    return model if actuated is None else replace(model, actuated_joints=actuated)


def with_frames_of(model: Model, mechanism: Mechanism) -> Model:
    """A model with the frames of another description of its robot; inertias of joints stay."""
    effective = effective_mechanism(mechanism, model.settings)
    tree = tree_of(mechanism, effective, model.settings)
    setup = setup_of(mechanism, effective, model.settings, tree)
    return replace(
        model, mechanism=mechanism, effective=effective, tree=tree, bodies=setup.model, setup=setup
    )


def model_of(
    mechanism: Mechanism,
    effective: Mechanism,
    settings: Settings,
    tree: SpanningTree,
    setup: Setup,
    q: tuple[float, ...],
) -> Model:
    """Names, limits and roles around the equations of a robot.

    mechanism, effective: As described by the user, and for the equations.
    q: A posture without symmetry.
    """
    setup, joint_inertias = checked_masses(mechanism, settings, setup, q)
    bodies = setup.model
    blocks, infos = names_of(mechanism, effective, tree)
    moving = [info for info in infos.values() if info.v.stop > info.v.start]
    names = tuple(info.name for info in sorted(moving, key=lambda info: info.v.start))
    limits = limits_of(infos.values(), bodies.nq, bodies.nv)
    described = motors_of(mechanism) if settings.passive else dict(mechanism.actuators)
    # in the order of the tree, which is that of q, also where joints follow others
    moved = tuple(x.joint.name for x in tree.joints if x.joint.name in described and x.joint.nv)
    free = tuple(n for n in names if not infos[n].kind.is_free)
    joints = Joints(infos, mechanism.name)
    acting = moved if described else free
    return Model(
        mechanism, effective, settings, tree, bodies, setup, blocks, joints, names, acting,
        *limits, q, joint_inertias,
    )  # fmt: skip


def checked_masses(
    mechanism: Mechanism,
    settings: Settings,
    setup: Setup,
    q: tuple[float, ...],
    forms: InertiaForms | None = None,
) -> tuple[Setup, JointInertias]:
    """The equations with the speeds that may move no mass; joints that never move any are refused.

    q: A posture without symmetry.
    forms, optional: Of a robot with the same geometry.
    Returns setup
    Returns joint_inertias
    """
    diagonal, near = mass_diagonals_at(setup.model, q)
    light, own = light_speeds(setup.model, diagonal, near)
    bodies = replace(setup.model, light=light)
    massless = massless_joint(bodies, diagonal)
    if massless is not None and not settings.allow_unphysical and not setup.closed:
        raise massless_error(mechanism, massless)
    joint_inertias = JointInertias(diagonal, own, forms or InertiaForms(bodies, q))
    return replace(setup, model=bodies), joint_inertias
