"""Inverse dynamics as a linear function of all parameters: bodies, rotors and friction."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace

from robodyn.description import Joint
from robodyn.equations.forces.between_links import generalised
from robodyn.equations.forces.drives import motor_friction_forces
from robodyn.equations.loops import cut_friction
from robodyn.equations.loops.closure_rows import Closure
from robodyn.equations.mechanism.bodies import Body
from robodyn.equations.mechanism.rotors import Armature
from robodyn.equations.quantities.common.quantity import TREE_FORCES, A, Output, Q, Quantity, V
from robodyn.equations.quantities.common.setup import Setup
from robodyn.equations.quantities.common.tracer import Results, Tracer
from robodyn.equations.tree.newton_euler import (
    armature_forces,
    body_motions,
    coupling_forces,
    rotor_reactions,
)
from robodyn.equations.tree.regressor import regressor
from robodyn.errors import SettingsError
from robodyn.force_elements.joint_friction import resistance
from robodyn.symbolic.scalar import Number
from robodyn.symbolic.spatial import Wrench, summed

#: What resists the motion of a joint, in the order of the parameters: (damping, friction) of each.
RESISTANCES = {"damping": (1.0, 0.0), "friction": (0.0, 1.0)}

#: The same of motors that several joints turn together.
MOTOR_FRICTION = {"viscous": (1.0, 0.0), "coulomb": (0.0, 1.0)}


def motor_parameters(setup: Setup) -> dict[str, float]:
    """Name and value of each parameter beside the bodies' ones, in the order of the columns.

    Rotors of motors, armatures of joints that have one, then damping and dry friction of joints,
    those that were cut last, and of motors that several joints turn.
    """
    model = setup.model
    of_rotors = {f"{motor.joint}.rotor_inertia": motor.inertia for motor in model.motors}
    of_rotors |= {
        f"{body.description.name}.armature": body.description.armature for body in _slow(setup)
    }
    resisting: list[Joint | Closure] = [body.description for body in _resisted(setup)]
    resisting += setup.cut_joint_friction if setup.passive else ()
    of_rotors |= {
        f"{joint.name}.{name}": getattr(joint, name) for name in RESISTANCES for joint in resisting
    }
    return of_rotors | {
        f"{motor.joint}.{name}": getattr(motor, name)
        for name in MOTOR_FRICTION
        for motor in setup.motor_friction
    }


def _slow(setup: Setup) -> Sequence[Body]:
    """Bodies whose joints have an armature."""
    return [body for body in setup.model if body.description.armature]


def _resisted(setup: Setup) -> Sequence[Body]:
    """Bodies whose joints have damping and friction, which may be zero."""
    if not setup.passive:
        return ()
    return [body for body in setup.model if body.description.nv and not body.joint.kind.is_free]


def body_regressor(t: Tracer) -> Results:
    """``Y`` (nv, parameters) of the bodies alone."""
    return {"Y": regressor(t.state, t.a)}


def dynamic_regressor(t: Tracer) -> Results:
    """``Y`` (nv, parameters), of which the regressor of the bodies is the first part."""
    if t.setup.gear_losses:
        raise SettingsError(
            f"the gear of {t.setup.gear_losses[0].joint!r} loses power: the torque of its motor is "
            "no linear function of parameters; take efficiency=1, or the robot with passive=False"
        )
    rows = regressor(t.state, t.a)
    columns = list(_motor_columns(t))
    return {"Y": [[*row, *(x.get(k, 0.0) for x in columns)] for k, row in enumerate(rows)]}


def _motor_columns(t: Tracer) -> Iterator[dict[int, Number]]:
    """Forces by speed for a unit of each parameter that is no body's."""
    model, state, s = t.model, t.state, t.setup.friction_speed
    motion = body_motions(state, t.a)
    for motor in model.motors:
        on_carrier: dict[int, Wrench] = {}
        along = rotor_reactions(motor.rotors, state, t.a, motion, on_carrier)
        parts = (
            dict(enumerate(generalised(state, on_carrier))),
            armature_forces(motor.armature, state, t.a),
            coupling_forces(motor.couplings, state, t.a),
            along,
        )
        yield _summed(pair for part in parts for pair in part.items())
    for body in _slow(t.setup):
        yield armature_forces((Armature(body.index, 1.0),), state, t.a)
    for unit in RESISTANCES.values():
        for body in _resisted(t.setup):
            joint = state[body.index]
            own = [-resistance(x, *unit, s) for x in joint.v]
            yield _summed((k, own[freedom] * ratio) for k, freedom, ratio in joint.ratios)
        for closure in t.setup.cut_joint_friction if t.setup.passive else ():
            alone = replace(closure, damping=unit[0], friction=unit[1])
            load = summed(cut_friction.friction_wrenches(state, [alone], s))
            yield {k: -x for k, x in enumerate(generalised(state, load))}
    for unit in MOTOR_FRICTION.values():
        for resisting in t.setup.motor_friction:
            one = replace(resisting, viscous=unit[0], coulomb=unit[1])
            yield _summed(
                (k, -(force * ratio))
                for i, force in motor_friction_forces((one,), state, s).items()
                for k, _, ratio in state[i].ratios
            )


def _summed(forces: Iterable[tuple[int, Number]]) -> dict[int, Number]:
    """Forces by speed, of which each may have several."""
    total: dict[int, Number] = {}
    for k, x in forces:
        total[k] = total.get(k, 0.0) + x
    return total


def _parameters(t: Tracer) -> int:
    return 10 * len(t.setup.model.bodies) + len(motor_parameters(t.setup))


#: Quantities by name.
ROWS = {
    "regressor": Quantity(
        (Q, V, A),
        (Output("Y", ("nv", "parameters"), "N m/kg, N m/(kg m), 1/s^2"),),
        body_regressor,
        TREE_FORCES,
        base=True,
    ),
    "dynamic_regressor": Quantity(
        (Q, V, A),
        (Output("Y", ("nv", _parameters), "N m/kg, N m/(kg m), 1/s^2, 1/s, 1"),),
        dynamic_regressor,
        TREE_FORCES,
        base=True,
    ),
}
