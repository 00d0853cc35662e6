"""A model with other parameters and the same geometry, so that machine code can be shared.

These parameters are masses, motors, gravity, forces in joints and the ground.
"""

from __future__ import annotations

import dataclasses
from typing import Any

from robodyn.description import Mechanism
from robodyn.equations.loops.closure_rows import Closure
from robodyn.equations.mechanism.bodies import Drive, MechanismModel, weighed
from robodyn.equations.quantities.common.setup import Setup
from robodyn.force_elements import keeps_coordinate
from robodyn.model.model import Model, checked_masses
from robodyn.model.model_setup import (
    drives_of,
    effective_mechanism,
    gear_losses_of,
    grounds_of,
    motor_friction_of,
)
from robodyn.model.settings import Settings
from robodyn.topology.spanning_tree import SpanningTree, described_anew

#: Settings that are numbers, or that no equation has, and planes that resist points of links.
NUMBERS = frozenset(
    {"gravity", "friction_speed", "allow_unphysical", "closure_tolerance", "ground"}
)

#: Fields of a description that define how its links are joined.
_JOINING = (
    "joints", "loops", "couplings", "actuators", "rotors", "constraints", "link_elements", "forces",
    "followers",
)  # fmt: skip


def with_other_numbers(
    model: Model, mechanism: Mechanism, settings: Settings, tree_form: Setup | None = None
) -> Model | None:
    """The same geometry with the numbers of another description.

    mechanism: Description of the model, with other inertias, motors and friction of joints.
    settings: Settings of the model, apart from `NUMBERS`.
    tree_form, optional: For a model in minimal coordinates: the setup of the same robot in tree
        coordinates.
    Returns model: None where masses change how links are cut in two, and joints that were cut get a
        spring, so that the geometry is another one, and where other joints have motors.
    Raises InertiaError: If a joint moves no mass.
    """
    if mechanism is model.mechanism and not (
        model.settings.allow_unphysical and not settings.allow_unphysical
    ):
        return _with_other_settings(model, settings)
    effective = _effective(model, mechanism, settings)
    if effective is None:
        return None
    tree = described_anew(model.tree, model.effective, effective)
    drives = _other_drives(model, effective, settings)
    bodies = weighed(model.bodies, tree, drives, model.tree)
    closures = _closures(model, tree)
    resisted = tree_form.closures if tree_form else closures
    motors = motor_friction_of(effective, bodies) if model.setup.motor_friction else ()
    setup = dataclasses.replace(
        model.setup,
        model=bodies,
        **_numbers(bodies, settings),
        closures=closures,
        cut_joint_friction=tuple(x for x in resisted if x.damping or x.friction),
        motor_friction=motors,
        gear_losses=gear_losses_of(effective, settings) if model.setup.passive else (),
        gear_springs=effective.gear_springs if model.setup.passive else (),
        windings=effective.windings if model.setup.passive else (),
    )
    joint_inertias = None
    if drives is None:
        joint_inertias = model.joint_inertias.for_copy(model.bodies, bodies)
    if joint_inertias is None:  # some speeds may move next to no mass
        forms = model.joint_inertias.forms
        setup, joint_inertias = checked_masses(
            mechanism, settings, setup, model.some_posture, forms
        )
    return dataclasses.replace(
        model,
        mechanism=mechanism,
        effective=effective,
        settings=settings,
        tree=tree,
        bodies=setup.model,
        setup=setup,
        joint_inertias=joint_inertias,
    )


def _with_other_settings(model: Model, settings: Settings) -> Model:
    """The model with other settings."""
    setup = dataclasses.replace(model.setup, **_numbers(model.bodies, settings))
    copy = dataclasses.replace(model, settings=settings, setup=setup)
    if setup.closed:  # of the same bodies
        vars(copy)["some_mass_matrix"] = model.some_mass_matrix
    return copy


def _numbers(bodies: MechanismModel, settings: Settings) -> dict[str, Any]:
    """Parameters of equations that settings contain."""
    return {
        "gravity": settings.gravity,
        "friction_speed": settings.friction_speed,
        "ground": grounds_of(bodies, settings),
    }


def _closures(model: Model, tree: SpanningTree) -> tuple[Closure, ...]:
    """Cut joints with the friction of a description."""
    cuts = {cut.name: cut for cut in tree.cuts}
    return tuple(
        dataclasses.replace(x, damping=cuts[x.name].damping, friction=cuts[x.name].friction)
        if x.name in cuts
        else x
        for x in model.setup.closures
    )


def _effective(model: Model, mechanism: Mechanism, settings: Settings) -> Mechanism | None:
    """What the equations of a description are of; none where its links are joined otherwise."""
    before, known = model.mechanism, model.effective
    same = all(getattr(mechanism, x) is getattr(before, x) for x in _JOINING)
    if same and known.links is before.links:  # none was cut in two
        return dataclasses.replace(known, links=mechanism.links)
    if [name for name, _ in mechanism.actuators] != [name for name, _ in before.actuators]:
        return None
    effective = effective_mechanism(mechanism, settings)
    cuts = {x.name for x in model.tree.cuts}
    if any(x.name in cuts and keeps_coordinate(x) for x in effective.movers):
        return None
    if _graph(effective) != _graph(known):
        return None
    if not same:
        return effective
    pairs = zip(known.links, effective.links, strict=True)
    return dataclasses.replace(known, links=tuple(y if y != x else x for x, y in pairs))


def _other_drives(
    model: Model, effective: Mechanism, settings: Settings
) -> tuple[Drive, ...] | None:
    """Rotors of a description; None where speeds move the same inertia of rotors as before."""
    before = model.effective
    if effective.joints is before.joints:
        return None
    drives, pairs = (
        drives_of(effective, settings),
        zip(effective.joints, before.joints, strict=True),
    )
    same = drives == drives_of(before, model.settings)
    return None if same and all(x.armature == y.armature for x, y in pairs) else drives


def _graph(mechanism: Mechanism) -> tuple[object, ...]:
    """The links, and how they are joined."""
    joints = tuple((x.name, x.parent, x.child, x.origin) for x in mechanism.joints)
    loops = tuple((x.name, x.predecessor, x.successor) for x in mechanism.loops)
    return tuple(x.name for x in mechanism.links), joints, loops
