"""The numbers of a robot that its shape leaves open: inertias, gears, gravity, forces in joints.

Robots that differ in these alone share their equations. A number that is zero is no number of the
robot but part of its shape, as products with it are left out.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterator, Mapping
from copy import copy
from dataclasses import replace
from typing import Any, TypeAlias, TypeVar

from robodyn.description import Joint
from robodyn.equations.elimination.singularity import Probe
from robodyn.equations.forces.drives import MotorFriction
from robodyn.equations.loops.closure_rows import Closure
from robodyn.equations.mechanism.bodies import Body, MechanismModel
from robodyn.equations.mechanism.rotors import Armature, Motor, Rotor
from robodyn.equations.quantities.common.setup import Setup
from robodyn.force_elements import element_numbers
from robodyn.force_elements.ground import Ground
from robodyn.symbolic.spatial import RigidInertia
from robodyn.symbolic.vector import Sym3, Vec3

Described = TypeVar("Described", Joint, Ground)

#: Returns the replacement of a number: another one, or a symbol.
#: It is called in the same order for robots of the same shape.
Take: TypeAlias = Callable[[Any], Any]

#: Fields of a `Ground` that are one number each.
GROUND_NUMBERS = ("height", "stiffness", "damping", "friction", "friction_speed")

#: What robots of one geometry must have in common to share equations.
Shape: TypeAlias = tuple[object, ...]


def numbers_of(put: Callable[[Take], object]) -> tuple[tuple[bool, ...], list[float]]:
    """The mask of numbers that are not zero, and these numbers.

    put: Calls what it is given with each number.
    """
    found: list[float] = []
    there: list[bool] = []

    def take(x: float) -> float:
        there.append(bool(x))
        if x:
            found.append(float(x))
        return x

    _ = put(take)
    return tuple(there), found


def trial_numbers(root: Setup, setup: Setup, options: Mapping[str, Any]) -> tuple[float, ...]:
    """Numbers that an order of elimination is tried with, which is the same for all of a shape.

    They are those of the robot that the others are copies of, in the places of one of them.

    root: Of the robot that was loaded.
    setup: Of a copy.
    options: Of a function.
    """
    all_of_trial: list[float] = []

    def take(x: float) -> float:
        all_of_trial.append(float(x))
        return x

    same = shape_of(root) == shape_of(setup)
    _ = with_numbers(root if same else replace(setup, model=_weighed_as(root, setup.model)), take)
    there, _ = numbers_of(lambda take: with_numbers(setup, take))
    _, of_options = numbers_of(lambda take: options_with_numbers(options, take))
    of_robot = (x for x, is_there in zip(all_of_trial, there, strict=True) if is_there)
    return (*of_robot, *[1.0] * len(of_options))


def _weighed_as(root: Setup, model: MechanismModel) -> MechanismModel:
    """A model with the inertias of a root, and armatures where that has other rotors."""
    own = {body.index: body.inertia for body in root.model}
    inertias = {x.body: x.inertia for x in root.model.armature}

    def armature(x: Armature) -> Armature:
        spin: Any = own[x.body].S.xx + own[x.body].S.yy
        return replace(x, inertia=inertias.get(x.body, spin or 1.0))

    return replace(
        model,
        bodies=tuple(replace(x, inertia=own[x.index], lumped=own[x.index]) for x in model),
        armature=tuple(map(armature, model.armature)),
        lumped_armature=tuple(map(armature, model.lumped_armature)),
        rotors=_rather(root.model.rotors, model.rotors),
        coupling_inertias=_rather(root.model.coupling_inertias, model.coupling_inertias),
    )


def _rather(of_root: tuple[Any, ...], own: tuple[Any, ...]) -> tuple[Any, ...]:
    """Those of a root where there are as many."""
    return of_root if len(of_root) == len(own) else own


def shape_of(setup: Setup) -> Shape:
    """The shape of a robot: its rotors, friction and ground, and speeds that may move no mass."""
    model = setup.model
    rotors = (*model.rotors, None, *model.lumped_rotors)
    return (
        tuple((*[unit.body for unit in x.armature], *map(_place, x.rotors)) for x in model.motors),
        tuple(body.index for body in model if body.description.armature),
        tuple(x.body for x in model.armature),
        tuple(x.body for x in model.lumped_armature),
        tuple((x.first, x.second) for x in model.coupling_inertias),
        tuple(x and _place(x) for x in rotors),
        tuple(model.light),
        tuple(x.name for x in setup.cut_joint_friction),
        tuple(tuple(body for body, _ in x.turns) for x in setup.motor_friction),
        setup.gear_losses,
        setup.gear_springs,
        setup.windings,
        tuple((x.exponent, *((name, link) for name, link, _ in x.contacts)) for x in setup.ground),
    )


def _place(rotor: Rotor) -> tuple[object, ...]:
    return rotor.body, rotor.carrier, *rotor.axis


def with_numbers(setup: Setup, take: Take) -> Setup:
    """A robot with other numbers, or with symbols in their places.

    take: What stands in the place of a number.
    """
    x, y, z = map(take, setup.gravity)
    return replace(
        setup,
        model=_model(setup.model, take),
        gravity=(x, y, z),
        friction_speed=take(setup.friction_speed),
        closures=_closures(setup.closures, take),
        cut_joint_friction=_closures(setup.cut_joint_friction, take),
        ground=tuple(_ground(x, take) for x in setup.ground),
        motor_friction=tuple(_motor_friction(x, take) for x in setup.motor_friction),
    )


def options_with_numbers(options: Mapping[str, Any], take: Take) -> dict[str, Any]:
    """Options of a function with other numbers; arguments as for `with_numbers`."""
    return {name: _probe(x, take) if isinstance(x, Probe) else x for name, x in options.items()}


def _probe(probe: Probe, take: Take) -> Probe:
    right, weights = (tuple(map(take, x)) for x in (probe.right, probe.weights))
    return replace(probe, right=right, weights=weights)


def _model(model: MechanismModel, take: Take) -> MechanismModel:
    def with_inertias(given: tuple[Any, ...]) -> tuple[Any, ...]:
        return tuple(_with(x, inertia=take(x.inertia)) for x in given)

    def spinning(given: tuple[Rotor, ...]) -> tuple[Rotor, ...]:
        return tuple(_with(x, inertia=take(x.inertia), ratio=take(x.ratio)) for x in given)

    def motor(x: Motor) -> Motor:  # of which the rotors are those of 1 kg m^2
        rotors = tuple(_with(rotor, ratio=take(rotor.ratio)) for rotor in x.rotors)
        return replace(
            x,
            armature=with_inertias(x.armature),
            rotors=rotors,
            couplings=with_inertias(x.couplings),
        )

    return replace(
        model,
        bodies=tuple(_bodies(model, take)),
        base_inertia=_inertia(model.base_inertia, take),
        armature=with_inertias(model.armature),
        rotors=spinning(model.rotors),
        coupling_inertias=with_inertias(model.coupling_inertias),
        lumped_armature=with_inertias(model.lumped_armature),
        lumped_rotors=spinning(model.lumped_rotors),
        motors=tuple(map(motor, model.motors)),
        light={k: take(x) for k, x in model.light.items()},
    )


def _motor_friction(motor: MotorFriction, take: Take) -> MotorFriction:
    turns = tuple((body, take(ratio)) for body, ratio in motor.turns)
    scale, viscous, coulomb = map(take, (motor.scale, motor.viscous, motor.coulomb))
    return replace(motor, turns=turns, scale=scale, viscous=viscous, coulomb=coulomb)


def _bodies(model: MechanismModel, take: Take) -> Iterator[Body]:
    for body in model:
        inertia, lumped = _inertia(body.inertia, take), _inertia(body.lumped, take)
        joint = _joint(body.description, take)
        yield _with(body, description=joint, inertia=inertia, lumped=lumped)


def _with(item: Any, **values: Any) -> Any:
    """A part with other values; the same one where they are the same."""
    same = all(getattr(item, name) is x for name, x in values.items())
    return item if same else replace(item, **values)


def _joint(joint: Joint, take: Take) -> Joint:
    """A joint whose force elements have other numbers."""
    names = _element_numbers.get(type(joint))
    if names is None:
        names = _element_numbers[type(joint)] = element_numbers(joint)
    return _unchecked(joint, {name: take(getattr(joint, name)) for name in names})


#: Numbers of force elements by the type of what has them.
_element_numbers: dict[type, tuple[str, ...]] = {}


def _ground(plane: Ground, take: Take) -> Ground:
    """A plane with other numbers; its exponent shapes its equations."""
    values: dict[str, Any] = {name: take(getattr(plane, name)) for name in GROUND_NUMBERS}
    values["normal"] = tuple(map(take, plane.normal))
    contacts = ((name, link, tuple(map(take, point))) for name, link, point in plane.contacts)
    values["points"] = {name: (link, point) for name, link, point in contacts}
    return _unchecked(plane, values)


def _unchecked(item: Described, values: Mapping[str, Any]) -> Described:
    """A description with other values, without checks; itself if they are the same."""
    if all(getattr(item, name) is x for name, x in values.items()):
        return item
    other = copy(item)
    for name, x in values.items():
        object.__setattr__(other, name, x)
    return other


def _closures(closures: tuple[Closure, ...], take: Take) -> tuple[Closure, ...]:
    return tuple(_with(x, damping=take(x.damping), friction=take(x.friction)) for x in closures)


def _inertia(inertia: RigidInertia, take: Take) -> RigidInertia:
    before = (*inertia.h, *inertia.S, inertia.m)
    x, y, z, *S, m = after = tuple(map(take, before))
    if all(map(operator.is_, after, before)):
        return inertia
    return RigidInertia(m, Vec3(x, y, z), Sym3(*S))
