"""Wrenches in joints, and what motors, damping and friction have to do with them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace

from robodyn.array_types import Array
from robodyn.equations.forces.between_links import point_motions
from robodyn.equations.loops import cut_friction
from robodyn.equations.loops.closure_rows import Closure
from robodyn.equations.mechanism.bodies import BASE
from robodyn.equations.quantities.common import closed_dynamics
from robodyn.equations.quantities.common.quantity import (
    MULTIPLIERS,
    STATE,
    A,
    Constrained,
    Options,
    Output,
    Q,
    Quantity,
    V,
    flat,
)
from robodyn.equations.quantities.common.setup import Setup
from robodyn.equations.quantities.common.tracer import Results, Trace, Tracer
from robodyn.equations.quantities.dynamics import (
    ACCELERATIONS,
    CHECKED,
    LEAST_MULTIPLIERS,
    MOTORS,
    ROWS as DYNAMICS,
)
from robodyn.equations.tree import reactions
from robodyn.results import GroundContact
from robodyn.symbolic.scalar import Number
from robodyn.symbolic.spatial import Placement, Wrench, summed


def ground_contacts(t: Tracer) -> Results:
    """Force, depth and slip of each point that may touch the ground."""
    points = point_motions(t.state, t.ground)
    planes = zip(t.setup.ground, points, strict=True)
    touches = [plane.touch(x) for plane, at in planes for x in at]
    return {
        "force": [touch.force for touch in touches],
        "depth": [touch.depth for touch in touches],
        "slip": [touch.slip for touch in touches],
    }


def by_name(setup: Setup, options: Options) -> Callable[..., dict[str, GroundContact]]:
    """The contacts by their names."""
    names = [name for plane in setup.ground for name, _, _ in plane.contacts]

    def made(found: tuple[Array, ...]) -> dict[str, GroundContact]:
        force, depth, slip = (x + 0.0 for x in found)  # no zero has a sign
        return {
            name: GroundContact(force[..., k, :], depth[..., k], slip[..., k, :])
            for k, name in enumerate(names)
        }

    return made


def _contacts(t: Tracer) -> int:
    return sum(len(plane.contacts) for plane in t.setup.ground)


#: Stands for a joint: what the ground, or the moving base, supplies.
GROUND = "base"


def joint_wrenches(t: Tracer) -> Results:
    """Of the joints asked for, and last what the ground or the moving base supplies."""
    F = _body_wrenches(t)
    rows = [_joint_wrench_of(t, name, F) for name in t.options["joints"]]
    return {"wrenches": [*rows, F[_root(t)]]}


def _root(t: Tracer) -> int:
    """The body that the ground holds: on a floating base it exerts what the forces there are."""
    return 0 if t.setup.floating else BASE


def wrench_in_joint(t: Tracer, name: str) -> Wrench:
    """Wrench in a joint of the tree or a cut one, or, of the ground, on the base."""
    if "body wrenches" not in t.kept:
        t.kept["body wrenches"] = _body_wrenches(t)
    F: Mapping[int, Wrench] = t.kept["body wrenches"]
    return F[_root(t)] if name == GROUND else _joint_wrench_of(t, name, F)


def joint_frame(t: Tracer, name: str) -> tuple[int, Placement]:
    """Body, and the frame on it in which the wrench in a joint is given."""
    if name == GROUND:
        return _root(t), Placement()
    for body in t.model:
        if body.description.name == name:
            return t.link(body.description.child)
    c = _cut_joint(t, name)
    return c.successor, c.X_SG @ c.X_UG.inverse


def _cut_joint(t: Tracer, name: str) -> Closure:
    return next(c for c in t.setup.closures if c.name == name)


def joint_wrenches_by_motors(t: Tracer) -> Results:
    """The same of a closed linkage that its motors move, and multipliers of least norm."""
    _, lam = closed_dynamics.motor_forces(t)
    t.numbers["multipliers"] = least = closed_dynamics.least_multipliers(t, lam)
    numbers = list(flat(joint_wrenches(t)["wrenches"]))
    return {"wrenches": closed_dynamics.if_motors_can(t, numbers), "multipliers": least}


def _of_moved_joints(dynamics: Trace) -> Trace:
    """The same where hybrid dynamics say how joints move, with accelerations and multipliers."""

    def traced(t: Tracer) -> Results:
        found = dynamics(t)
        t.numbers["a"] = list(flat(found["a"]))
        if "multipliers" in found:
            t.numbers["multipliers"] = list(flat(found["multipliers"]))
        return {**found, **joint_wrenches(t)}

    return traced


def joint_wrench_parts(t: Tracer) -> Results:
    """What motors give, and what damping and friction take, of each joint's wrench."""
    state, tied = t.state, _forces_of_constraints(t)
    F = _body_wrenches(t)
    motors, passives = [], []
    bodies = {body.description.name: body for body in t.model}
    for name in t.options["joints"]:
        body = bodies.get(name)
        if body is None:  # a cut joint has no motor
            motors.append(Wrench())
            passives.append(_friction_in_cut(t, _cut_joint(t, name)))
            continue
        S = reactions.joint_axes(state, body)
        wrench = reactions.joint_wrench(state, body, F[body.index])
        own = t.passive_of(body)
        forces = [s.dot(wrench) - p for s, p in zip(S, own, strict=True)]
        for k, speed in enumerate(body.speeds):
            forces[k] = forces[k] - tied.get((body.index, speed.index), 0.0) / speed.factor
        motors.append(reactions.along_axes(S, forces))
        passives.append(reactions.along_axes(S, own))
    return {"motor": motors, "passive": passives}


def _forces_of_constraints(t: Tracer) -> dict[tuple[int, int], Number]:
    """What constraints on one joint exert in it, by body and index of the speed."""
    forces: dict[tuple[int, int], Number] = {}
    for c in t.setup.constraints:
        if len(c.bodies) != 1 or c.bodies[0] is None:
            continue  # the wrenches in several joints are not determined
        for row, x in zip(c.rows(t.state), t.multipliers_of(c.name), strict=True):
            for k, slope in row.jacobian.items():
                forces[c.bodies[0], k] = forces.get((c.bodies[0], k), 0.0) + slope * x
    return forces


def _body_wrenches(t: Tracer) -> dict[int, Wrench]:
    """What each body gets through its joint, with what closed loops exert on it."""
    of_loops = t.loop_wrenches.items() if "multipliers" in t.numbers else ()
    return reactions.body_wrenches(t.state, t.a, summed([*t.wrenches.items(), *of_loops]))


def _joint_wrench_of(t: Tracer, name: str, F: Mapping[int, Wrench]) -> Wrench:
    """Wrench in a joint of the tree, or in a cut one."""
    for body in t.model:
        if body.description.name == name:
            return reactions.joint_wrench(t.state, body, F[body.index])
    cut = _cut_joint(t, name)
    return cut.wrenches(t.state, t.multipliers_of(name))[2] + _friction_in_cut(t, cut)


def _friction_in_cut(t: Tracer, c: Closure) -> Wrench:
    """Friction of a cut joint on its successor, in the frame that its user gave there."""
    if not t.setup.passive:
        return Wrench()
    speed = t.setup.friction_speed
    return c.X_UG.wrench_out(cut_friction.friction_in_joint(t.state, c, speed))


def _joints(t: Tracer) -> int:
    return len(t.options["joints"])


#: Accelerations of all joints of which some are controlled.
HYBRID = DYNAMICS["hybrid_dynamics"]

WRENCHES = Output("wrenches", (lambda t: _joints(t) + 1, 6), "N, N m")

#: Quantities by name.
ROWS = {
    "ground_contacts": Quantity(
        (Q, V),
        (
            Output("force", (_contacts, 3), "N"),
            Output("depth", (_contacts,), "m"),
            Output("slip", (_contacts, 3), "m/s"),
        ),
        ground_contacts,
        STATE,
        base=True,
        result=by_name,
    ),
    "joint_wrenches": Quantity(
        (Q, V, A),
        (WRENCHES,),
        joint_wrenches,
        MULTIPLIERS,
        solved=Constrained(
            joint_wrenches_by_motors, (*MOTORS, "possible", *CHECKED), (LEAST_MULTIPLIERS,)
        ),
        base=True,
        options=("wrenches", "joints"),
        parametric=True,
    ),
    "hybrid_joint_wrenches": Quantity(
        HYBRID.inputs,
        (WRENCHES, ACCELERATIONS),
        _of_moved_joints(HYBRID.trace),
        Constrained(
            _of_moved_joints(closed_dynamics.hybrid_with_multipliers),
            ("groups", *CHECKED),
            (LEAST_MULTIPLIERS,),
        ),
        base=True,
        options=("wrenches", "joints", "controlled"),
        solves=True,
        alternatives=tuple(
            replace(x, trace=_of_moved_joints(x.trace)) for x in HYBRID.alternatives
        ),
    ),
    "joint_wrench_parts": Quantity(
        (Q, V, A),
        (Output("motor", (_joints, 6), "N, N m"), Output("passive", (_joints, 6), "N, N m")),
        joint_wrench_parts,
        MULTIPLIERS,
        base=True,
        options=("wrenches", "joints"),
    ),
}
