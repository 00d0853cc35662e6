"""Constraints of closed linkages, and the joints that follow others by loops in closed form."""

from __future__ import annotations

import numpy as np

from robodyn.equations.closed_form.linkage import JointMotion
from robodyn.equations.forces.drives import motor_key
from robodyn.equations.loops import cut_friction
from robodyn.equations.mechanism.frames import placement
from robodyn.equations.quantities.common import closed_dynamics, tree_dynamics
from robodyn.equations.quantities.common.quantity import (
    STATE,
    TAU,
    A,
    Constrained,
    Output,
    Q,
    Quantity,
    V,
    flat,
)
from robodyn.equations.quantities.common.tracer import Results, Tracer
from robodyn.equations.quantities.frames import pose_rows
from robodyn.equations.tree import composite_body
from robodyn.symbolic.scalar import Number, sqrt


def residual(t: Tracer) -> Results:
    """Residuals of all constraint rows: zero where the loops are closed."""
    return {"residual": [*t.residuals]}


def velocity_offset(t: Tracer) -> Results:
    """Rates of the residuals where no joint moves, which constraints that depend on time have."""
    return {"offset": [row.offset for row in t.gaps]}


def bias(t: Tracer) -> Results:
    """Second derivatives of the residuals where no joint accelerates."""
    return {"bias": [row.bias for row in t.gaps]}


def loop_gaps(t: Tracer) -> Results:
    """Poses in the world of frames that are placed on links, and residuals of all rows."""
    placed = t.options.get("placed", ())
    poses = [pose_rows(t.pose(link) @ placement(np.reshape(X, (4, 4)))) for link, X in placed]
    return {"poses": poses, **residual(t)}


def loop_geometry(t: Tracer) -> Results:
    """The same, and the derivatives of the residuals."""
    return {**loop_gaps(t), **jacobian(t)}


def jacobian(t: Tracer) -> Results:
    """Derivatives of all constraint rows by all speeds."""
    nv = range(t.model.nv)
    return {"K": [[row.jacobian.get(k, 0.0) for k in nv] for row in t.gaps]}


def violation(t: Tracer) -> Results:
    """Norm of the constraint residuals of position and speed, relative to the size of the state."""
    above, below = t.violation
    return {"violation": sqrt(above / below)}


def constrained_terms(t: Tracer) -> Results:
    """Terms of ``M a = tau - h + K^T lam`` and ``K a = -k``, and by how much loops are open."""
    M = composite_body.mass_matrix(t.state)
    bias_forces = flat(tree_dynamics.inverse_dynamics(t)["tau"])
    force = [x - h for x, h in zip(t.numbers["tau"], bias_forces, strict=True)]
    opening = violation(t) if t.gaps else {"violation": 0.0}
    return {"M": M, "force": force, **jacobian(t), **bias(t), **opening}


def cut_joint_poses(t: Tracer) -> Results:
    """Homogeneous matrix of each closure: its frame on the successor seen from the other."""
    poses = [c.motion(t.state).X for c in t.setup.closures]
    return {"X": [pose_rows(X) for X in poses]}


def cut_joint_speeds(t: Tracer) -> Results:
    """Speeds of the joints that were cut, one after the other."""
    speeds = [cut_friction.cut_joint_speeds(t.state, c) for c in t.setup.closures]
    return {"speeds": speeds}


def resisting_speeds(t: Tracer) -> Results:
    """Speeds of what has dry friction, see `Setup.resisting`."""
    cut = {c.name: cut_friction.cut_joint_speeds(t.state, c) for c in t.setup.cut_joint_friction}
    own = {body.description.name: t.state[body.index].v for body in t.model}
    motors = {motor_key(x.joint): x for x in t.setup.motor_friction}
    speeds = []
    for name, k in t.given.resisting:
        turns = motors[name, k].turns if (name, k) in motors else ()
        parts = [t.state[body].v[0] * ratio for body, ratio in turns]
        speeds.append(sum(parts[1:], parts[0]) if parts else (own.get(name) or cut[name])[k])
    return {"speeds": speeds}


def cut_joint_pushes(t: Tracer) -> Results:
    """Units of force along the freedoms of the joints that were cut, one after the other."""
    found = [x for c in t.setup.closures for x in cut_friction.cut_joint_pushes(t.state, c)]
    return {
        "joint": [x.joint for x in found],
        "successor": [x.successor for x in found],
        "predecessor": [x.predecessor for x in found],
        "forces": [x.forces for x in found],
    }


def joint_positions(t: Tracer) -> Results:
    """Coordinates of the joints of the tree, body by body, and poses of cut ones."""
    q = t.numbers["q"]
    own: list[Number] = []
    for body in t.model:
        if body.index in t.model.following:
            own += t.state[body.index].q
        own += [q[k] * factor + c for k, factor, c in body.q]
    return {"positions": own, **cut_joint_poses(t)}


def joint_velocities(t: Tracer) -> Results:
    """Speeds of the joints of the tree, body by body, and of cut ones."""
    own: list[Number] = []
    for body in t.model:
        if body.index in t.model.following:
            own += t.state[body.index].v
        own += [t.v[speed.index] * speed.factor for speed in body.speeds]
    return {"own": own, **cut_joint_speeds(t)}


def _dependent_joints(t: Tracer) -> list[JointMotion]:
    """Joints that follow by a closed loop or a function, in order."""
    return [motion for _, motion in sorted(t.state.dependent.items())]


def dependent_places(t: Tracer) -> Results:
    """Cosine and sine, or displacement and zero, along each axis of a joint that follows."""
    return {"places": [(x.x, x.y) for motion in _dependent_joints(t) for x in motion.places]}


def dependent_speeds(t: Tracer) -> Results:
    """Speeds along each axis of the joints that follow."""
    return {"speeds": [motion.v for motion in _dependent_joints(t)]}


def dependent_speed_map(t: Tracer) -> Results:
    """Speeds that follow a unit of each independent one."""
    rows = [
        [motion.columns[k][n] if k in motion.columns else 0.0 for k in range(t.model.nv)]
        for motion in _dependent_joints(t)
        for n in range(len(motion.v))
    ]
    return {"B": rows}


def actuation_matrix(t: Tracer) -> Results:
    """Generalised forces of a unit of force at each freedom of some joints."""
    bodies = {body.description.name: body for body in t.model}
    moved = [t.state[bodies[name].index] for name in t.options["actuated"]]
    columns = [
        {k: x for k, n, x in joint.ratios if n == freedom}
        for joint in moved
        for freedom in range(len(joint.own))
    ]
    return {"B": [[column.get(k, 0.0) for column in columns] for k in range(t.model.nv)]}


def _actuated_freedoms(t: Tracer) -> int:
    names = t.options["actuated"]
    return sum(body.description.nv for body in t.model if body.description.name in names)


def dependent_accelerations(t: Tracer) -> Results:
    """Accelerations along each axis of the joints that follow."""
    values = [
        sum((column[n] * t.a[k] for k, column in motion.columns.items()), c)
        for motion in _dependent_joints(t)
        for n, c in enumerate(motion.c)
    ]
    return {"accelerations": values}


def _cut_freedoms(t: Tracer) -> int:
    return sum(c.kind.nv for c in t.setup.closures if c.kind.in_tree)


def _dependent_freedoms(t: Tracer) -> int:
    return sum(len(motion.v) for motion in _dependent_joints(t))


POSES = Output("poses", (lambda t: len(t.options.get("placed", ())), 4, 4), "1, m")
RESIDUAL = Output("residual", ("rows",), "m, rad")
SLOPES = Output("K", ("rows", "nv"), "m, 1")
BIAS = Output("bias", ("rows",), "m/s^2, rad/s^2")
VIOLATION = Output("violation", (), "1")
CUT_POSES = Output("X", (lambda t: len(t.setup.closures), 4, 4), "1, m")
CUT_SPEEDS = Output("speeds", (_cut_freedoms,), "rad/s, m/s")
RESISTING = Output("speeds", (lambda t: len(t.given.resisting),), "rad/s, m/s")

#: Steps of positions and speeds that close loops, and how far these are open.
CORRECTIONS = (
    Output("dq", ("nv",), "rad, m"),
    Output("dv", ("nv",), "rad/s, m/s"),
    Output("gap", (), "m, rad"),
)

#: Terms of the equations of motion of the spanning tree, and of the constraints.
TERMS = (
    Output("M", ("nv", "nv"), "kg, kg m, kg m^2"),
    Output("force", ("nv",), "N, N m"),
    SLOPES,
    BIAS,
    VIOLATION,
)

#: Units of force on both sides of a cut joint, and as generalised forces.
PUSHES = (
    *(Output(x, (_cut_freedoms, 6), "1, m, 1/m") for x in ("joint", "successor", "predecessor")),
    Output("forces", (_cut_freedoms, "nv"), "1, m, 1/m"),
)

POSITIONS = Output("positions", (lambda t: sum(map(t.model.known, t.model)),), "rad, m")
OWN_SPEEDS = Output(
    "own",
    (lambda t: sum(len(body.speeds) for body in t.model) + len(t.model.following),),
    "rad/s, m/s",
)
PLACES = Output("places", (_dependent_freedoms, 2), "1, m")
SPEEDS = Output("speeds", (_dependent_freedoms,), "rad/s, m/s")
SPEED_MAP = Output("B", (_dependent_freedoms, "nv"), "1, m, 1/m")
ACCELERATIONS = Output("accelerations", (_dependent_freedoms,), "rad/s^2, m/s^2")
ACTUATION = Output("B", ("nv", _actuated_freedoms), "1, m, 1/m")
OFFSET = Output("offset", ("rows",), "m/s, rad/s")
CONDITIONING = Output("conditioning", (), "1")
OF_ROWS = ("rows", "groups", "postures", "probe")
CLOSED = Constrained(closed_dynamics.loop_corrections, ("groups",))

#: Quantities by name.
ROWS = {
    "loop_residual": Quantity((Q,), (RESIDUAL,), residual, STATE),
    "loop_gaps": Quantity((Q,), (POSES, RESIDUAL), loop_gaps, STATE, options=("placed",)),
    "loop_geometry": Quantity(
        (Q,), (POSES, RESIDUAL, SLOPES), loop_geometry, STATE, options=("placed",)
    ),
    "loop_jacobian": Quantity((Q,), (SLOPES,), jacobian, STATE),
    "loop_velocity_offset": Quantity((Q,), (OFFSET,), velocity_offset, STATE),
    "loop_bias": Quantity((Q, V), (BIAS,), bias, STATE),
    "loop_corrections": Quantity(
        (Q, V),
        CORRECTIONS,
        CLOSED.trace,
        CLOSED,
        options=("controlled",),
        parametric=True,
        solves=True,
    ),
    "loop_conditioning": Quantity(
        (Q,), (CONDITIONING,), closed_dynamics.loop_conditioning, STATE, options=OF_ROWS
    ),
    "loop_violation": Quantity((Q, V), (VIOLATION,), violation, STATE),
    "constrained_terms": Quantity(
        (Q, V, TAU), TERMS, constrained_terms, STATE, base=True, options=("wrenches",)
    ),
    "cut_joint_poses": Quantity((Q,), (CUT_POSES,), cut_joint_poses, STATE),
    "cut_joint_speeds": Quantity((Q, V), (CUT_SPEEDS,), cut_joint_speeds, STATE),
    "resisting_speeds": Quantity((Q, V), (RESISTING,), resisting_speeds, STATE),
    "cut_joint_pushes": Quantity((Q,), PUSHES, cut_joint_pushes, STATE),
    "joint_positions": Quantity((Q,), (POSITIONS, CUT_POSES), joint_positions, STATE),
    "joint_velocities": Quantity((Q, V), (OWN_SPEEDS, CUT_SPEEDS), joint_velocities, STATE),
    "dependent_places": Quantity((Q,), (PLACES,), dependent_places, STATE),
    "dependent_speeds": Quantity((Q, V), (SPEEDS,), dependent_speeds, STATE),
    "dependent_speed_map": Quantity((Q,), (SPEED_MAP,), dependent_speed_map, STATE),
    "actuation_matrix": Quantity(
        (Q,), (ACTUATION,), actuation_matrix, STATE, options=("actuated",)
    ),
    "dependent_accelerations": Quantity(
        (Q, V, A), (ACCELERATIONS,), dependent_accelerations, STATE
    ),
}
