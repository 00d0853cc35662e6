"""From a description and settings to the spanning tree and the setup of the equations."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import replace
from typing import Any

from robodyn.description import Mechanism
from robodyn.description.coupled_motors import motor_ratios
from robodyn.description.couplings import branches, with_couplings
from robodyn.description.followers import mimics_as_followers
from robodyn.description.graph_check import find_root
from robodyn.equations.closed_form.linkage import ExplicitLinkage
from robodyn.equations.forces.drives import MotorFriction
from robodyn.equations.forces.gear_losses import GearLoss
from robodyn.equations.loops.closure_rows import closure, coupled, frame_closure
from robodyn.equations.loops.constraint import Related
from robodyn.equations.loops.frame_constraint import TracedFrameConstraint
from robodyn.equations.mechanism.bodies import Drive, MechanismModel, build
from robodyn.equations.quantities.common.setup import Setup
from robodyn.errors import SettingsError, TopologyError, UnknownNameError
from robodyn.force_elements.common.link_element import WORLD
from robodyn.force_elements.force_law import ForceLaw
from robodyn.force_elements.ground import Ground
from robodyn.force_elements.inverse_square import InverseSquareGravity
from robodyn.model.actuators import rotor_drives, torques_of_coupled, with_free_rotors, with_motors
from robodyn.model.settings import Settings
from robodyn.model.splitting import with_split_links
from robodyn.model.windings import with_drives
from robodyn.topology.spanning_tree import SpanningTree, spanning_tree


def effective_mechanism(mechanism: Mechanism, settings: Settings) -> Mechanism:
    """The description for the equations: with free rotors as joints, and links cut in two.

    It includes the friction of motors if passive forces count; else joints have no armature.
    """
    mechanism = with_drives(mechanism) if settings.passive else mechanism
    mechanism = with_free_rotors(mechanism) if mechanism.rotors else mechanism
    mechanism = with_couplings(mechanism) if mechanism.couplings else mechanism
    if mechanism.followers:
        mechanism = mimics_as_followers(mechanism)
    mechanism = with_split_links(mechanism, movable_root=settings.base == "floating")
    if settings.passive:
        return with_motors(mechanism)
    joints = tuple(replace(x, armature=0.0) for x in mechanism.joints)
    return replace(mechanism, joints=joints)


def tree_of(
    mechanism: Mechanism, effective: Mechanism, settings: Settings, keep_fixed: tuple[str, ...] = ()
) -> SpanningTree:
    """Spanning tree from the root of the description; halves of links cannot be roots."""
    split = any(loop.rejoins for loop in effective.loops)
    return spanning_tree(
        effective,
        floating=settings.base == "floating",
        root=find_root(mechanism) if split else None,
        keep_fixed=keep_fixed,
    )


def setup_of(
    mechanism: Mechanism, effective: Mechanism, settings: Settings, tree: SpanningTree
) -> Setup:
    """Setup of the equations, from the description and the result of `effective_mechanism`."""
    passive = settings.passive and not mechanism.relaxed
    forces = effective.forces if passive else ()
    snap = settings.snap(tree.cuts)
    bodies = build(
        tree,
        snap=snap,
        drives=drives_of(effective, settings),
        followers=_followers(tree, effective),
    )
    cuts = tuple(closure(bodies, cut, snap) for cut in tree.cuts)
    others = constraints_of(bodies, mechanism, effective, snap)
    _check_world(effective, bodies, settings)
    closures = (*cuts, *others.pop("closures"))
    spinning = {rotor.name for rotor in mechanism.rotors}
    return Setup(
        model=bodies,
        gravity=settings.gravity,
        passive=passive,
        friction_speed=settings.friction_speed,
        moving=settings.base == "moving",
        floating=settings.base == "floating",
        link_elements=effective.link_elements,
        closures=closures,
        **others,
        cut_joint_friction=tuple(c for c in closures if c.damping or c.friction),
        ground=grounds_of(bodies, settings),
        laws=_laws_on(bodies, forces),
        planets=tuple(x for x in forces if isinstance(x, InverseSquareGravity)),
        motor_friction=motor_friction_of(effective, bodies) if passive else (),
        gear_losses=gear_losses_of(effective, settings) if passive else (),
        gear_springs=effective.gear_springs if passive else (),
        windings=effective.windings if passive else (),
        free_rotors=tuple(body.index for body in bodies if body.description.name in spinning),
    )


def constraints_of(
    bodies: MechanismModel, mechanism: Mechanism, effective: Mechanism, snap: float
) -> dict[str, Any]:
    """Constraints that are not those of cut joints, as fields of a `Setup`."""
    between = [x for x in effective.constraints if isinstance(x, TracedFrameConstraint)]
    others = [x for x in effective.constraints if x not in between]
    return {
        "closures": tuple(frame_closure(bodies, x, snap) for x in between),
        "coupled": tuple(coupled(bodies, x, *branches(mechanism, x)) for x in effective.couplings),
        "constraints": tuple(Related.of(bodies, x) for x in others),
    }


def _followers(tree: SpanningTree, effective: Mechanism) -> tuple[ExplicitLinkage, ...]:
    """Joints that are functions of others, with the bodies that they move."""
    bodies = {joint.joint.name: i for i, joint in enumerate(tree.joints)}
    return tuple(
        ExplicitLinkage(
            given.name,
            tuple(bodies[name] for name in given.dependent),
            given=given,
            independent=tuple(bodies[name] for name in given.independent),
        )
        for given in effective.followers
    )


def _check_world(effective: Mechanism, bodies: MechanismModel, settings: Settings) -> None:
    """Check that nothing connects a moving base with the world."""
    for given in effective.constraints:
        if not isinstance(given, TracedFrameConstraint):
            continue
        if settings.base == "moving" and WORLD in given.links and WORLD not in bodies.frames:
            raise SettingsError(
                f"constraint {given.name!r} holds a link in the world, and base='moving' is moved "
                "along a path whatever holds it: take a frame of the base, or base='floating' that "
                "is driven, controlled={'floating_base': path}"
            )


def _laws_on(bodies: MechanismModel, forces: Iterable[object]) -> tuple[ForceLaw, ...]:
    """Force laws on bodies, after a check that their joints move."""
    laws = tuple(x for x in forces if isinstance(x, ForceLaw))
    moving = {body.description.name for body in bodies}
    for law in laws:
        if law.joint and law.joint not in moving:
            raise TopologyError(
                f"joint {law.joint!r} has no coordinate of its own: it is fixed or gone",
                element=f"force {law.name!r}",
            )
    return laws


def grounds_of(bodies: MechanismModel, settings: Settings) -> tuple[Ground, ...]:
    """The planes of the ground, after a check that their links exist."""
    for plane in settings.ground:
        for name, link, _ in plane.contacts:
            if link not in bodies.frames:
                raise UnknownNameError("link", link, bodies.frames, f"contact {name!r}")
    return settings.ground


def motor_friction_of(mechanism: Mechanism, bodies: MechanismModel) -> tuple[MotorFriction, ...]:
    """Friction of the motors of transmissions, whose joints may be locked."""
    ratios, motors = motor_ratios(mechanism), dict(mechanism.actuators)
    moving = {body.description.name: body.index for body in bodies if body.description.nv}
    frictions = []
    for name in (name for x in mechanism.transmissions for name in x.joints):
        turns = tuple((moving[joint], x) for joint, x in ratios[name] if joint in moving)
        if turns:
            motor, scale = motors[name], math.hypot(*(x for _, x in ratios[name]))
            frictions.append(MotorFriction(name, turns, scale, motor.viscous, motor.coulomb))
    return tuple(sorted(frictions, key=lambda x: moving.get(x.joint, -1)))


def gear_losses_of(mechanism: Mechanism, settings: Settings) -> tuple[GearLoss, ...]:
    """Gears that lose power, of joints that move.

    Raises ActuationError: If such a gear belongs to a transmission with joints that do not move.
    """
    joints, motors = {x.name: x for x in mechanism.joints}, dict(mechanism.actuators)
    lossy = {name for name, x in motors.items() if not x.lossless and name in joints}
    if not lossy:
        return ()
    coupled, found = {name: x for x in mechanism.transmissions for name in x.joints}, []
    drives = {x.joint: x for x in drives_of(mechanism, settings)}
    ratios, windings = motor_ratios(mechanism), {x.motor: x for x in mechanism.windings}
    for name in (x for x in joints if x in lossy and joints[x].nv):
        motor, row = motors[name], ratios[name]
        torque = [(name, 1.0 / motor.gear_ratio)]
        if name in coupled:
            torque = torques_of_coupled(coupled[name], name, ratios, joints)
        drive = drives.get(name, Drive(name, row, 0.0))
        scale, backward = math.hypot(*(x for _, x in row)), 1.0 - motor.driven_efficiency
        found.append(
            GearLoss(
                name, row, tuple(torque), drive.inertia, drive.carrier, drive.axis,
                motor.viscous, motor.coulomb, scale, 1.0 / motor.efficiency - 1.0, backward,
                windings.get(name),
            )
        )  # fmt: skip
    return tuple(found)


def drives_of(mechanism: Mechanism, settings: Settings) -> tuple[Drive, ...]:
    """Rotors in the equations; none for ``passive=False``."""
    if not settings.passive:
        return ()
    return rotor_drives(mechanism, exact=settings.rotor_model == "exact")
