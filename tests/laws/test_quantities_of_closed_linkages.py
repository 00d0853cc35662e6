"""Each quantity of a closed linkage is what its row of the catalogue says.

The loops of a linkage are opened, which leaves its spanning tree: a robot without constraints, with
the same coordinates. What the tree and its constraint Jacobian say, put together by numpy, is what
quantities of the closed linkage have to be. A quantity without an entry here fails, unless its row
says that it is a function of the state alone, or refuses closed linkages.
"""

from __future__ import annotations

import functools
from dataclasses import replace

import numpy as np
import pytest
from support.closed_cases import Case, close
from support.interpreted import interpreted
from support.random_mechanisms import awkward_linkage

import robodyn as rd
from robodyn import description
from robodyn.equations.catalogue import CONSTRAINED, QUANTITIES, trace
from robodyn.equations.quantities.common.quantity import (
    MULTIPLIERS,
    REFUSED,
    STATE,
    TREE_FORCES,
    A,
    OnLoops,
    Output,
    Q,
    Quantity,
    V,
)
from robodyn.equations.tree import newton_euler
from robodyn.impacts.friction import with_friction
from robodyn.symbolic.evaluate import evaluate

#: A planar linkage with redundant rows, one on a base that moves, one with three loops, and a chain
#: with what is easily forgotten, whose driven joints stand within its loop.
LINKAGES = [
    ("four_bar", "fixed"), ("five_bar", "moving"), ("delta", "fixed"), ("awkward", "moving")
]  # fmt: skip


#: What can be measured of all of them, whatever holds their loops closed.
SENSORS = tuple(
    map(rd.Sensor, ("kinetic_energy", "potential_energy", "momentum", "center_of_mass"))
)


class Linkage(Case):
    """A linkage in a closed state, and the tree that is left when its loops are opened."""

    def __init__(self, name, base):
        #: A speed whose motion is given where some are.
        self.driven = 1 if name == "awkward" else 0
        q = None
        if name == "awkward":
            name, q = awkward_linkage(np.random.default_rng(7))
        super().__init__(name, base, q=q, sensors=SENSORS)
        mechanism = self.robot.mechanism
        cut = {x.name for x in self.robot.loops}
        opened = replace(
            mechanism,
            joints=tuple(x for x in mechanism.joints if x.name not in cut),
            loops=tuple(x for x in mechanism.loops if x.name not in cut),
        )
        self.tree = interpreted(opened, **self.settings)
        assert not self.tree.nc
        assert self.robot.nc
        assert self.tree.joint_names == self.robot.joint_names
        self.a = self.some_acceleration()
        self.given = {"q": self.q, "v": self.v, "a": self.a, "tau": self.tau}
        if base == "moving":
            moved = self.here_base
            self.given["base_pose"], self.given["base_twist"] = moved.pose, moved.twist
            self.given["base_acceleration"] = moved.acceleration

    @property
    def settings(self):
        return {"base": self.robot.base, "gravity": tuple(self.robot.gravity), "passive": False}

    @property
    def base_arrays(self):
        """The motion of a base that moves, as inputs of functions."""
        return () if self.there_base is None else self.there_base

    @property
    def at_rest(self):
        """The same for methods, at rest."""
        return {} if self.there_base is None else {"base": rd.BaseMotion.at_rest()}

    @functools.cached_property
    def K(self):
        return self.robot.loop_jacobian(self.q)

    @functools.cached_property
    def B(self):
        """Motions that keep the loops closed, as columns."""
        sizes, Vh = np.linalg.svd(self.K)[1:]
        return Vh[int(np.sum(sizes > 1e-9 * sizes[0])) :].T

    @functools.cached_property
    def M(self):
        return self.tree.mass_matrix(self.q)

    def h(self, q=None, v=None):
        """Bias forces of the tree."""
        q, v = (self.q if q is None else q), (self.v if v is None else v)
        return self.tree.bias_forces(q, v, base=self.here_base)

    @property
    def moved_joints(self):
        """Joints of the tree that move, those that follow others among them."""
        tree = {joint.name for joint in self.tree.mechanism.joints if joint.kind != "fixed"}
        return tuple(name for name in self.robot.joints if name in tree)

    def options(self, name):
        """Some choices that the quantity needs."""
        known = QUANTITIES[name].options
        frames = self.robot.link_names
        some = {
            "frame": frames[-1],
            "relative_to": frames[1],
            "axes": "world",
            "frames": (frames[-1], frames[1]),
            "joints": self.moved_joints,
            "controlled": (self.driven,),
            "independent": self.independent,
            "forces": (self.driven,),
            "tasks": self.tasks,
        }
        return {x: y for x, y in some.items() if x in known}

    @functools.cached_property
    def tasks(self):
        """Of each kind, one in a link's axes; of a posture, some components."""
        robot, (last, link) = self.robot, (self.robot.link_names[x] for x in (-1, 1))
        X = robot.frame_pose(robot.random(3), last, relative_to=link)
        return (
            rd.Task(X, frame=(last, link)),
            rd.Task(X[:3, 3], frame=last),
            rd.Task(X[:3, :3], frame=last, components=(2, 0)),
            rd.Task(np.ones(3), quantity="center_of_mass"),
            rd.Task(np.ones(6), quantity="momentum", components=(1, 4)),
            rd.Task(robot.random(4), quantity="posture", components=(robot.nv - 1, 0)),
        )

    @property
    def independent(self):
        """Speeds that determine all others."""
        return self.robot.loops_analysis.independent

    def value(self, name, robot, **given):
        """The quantity of a robot, by its function."""
        f = robot.function(name, **self.options(name))
        arrays = {**self.given, **self.others(f), **given}
        return f(*(arrays[port.name] for port in f.program.inputs))

    def others(self, f):
        """Numbers for inputs beside those of the state."""
        known = dict(self.given)
        rng = np.random.default_rng(5)
        found = {p.name: rng.normal(size=p.shape) for p in f.program.inputs if p.name not in known}
        found |= {x: self.robot.random(3) for x in ("q0", "q1") if x in found}
        if "targets" in found:
            found["targets"] = np.concatenate([np.ravel(task.target) for task in self.tasks])
        if "goals" in found:
            found["goals"] = self.robot.frame_poses(self.q, base=self.here_base).ravel()
            found["damping"] = np.array([1e-3, 1.0])
        return found


linkage = functools.cache(Linkage)


def forward(case, q=None, v=None, tau=None, controlled=(), a_given=()):
    """Accelerations and forces by ``M a + h = tau + K^T lam``, ``K a = -k``, of rank whatever."""
    q, v = (case.q if q is None else q), (case.v if v is None else v)
    tau = case.tau if tau is None else tau
    nv, n = case.robot.nv, len(controlled)
    M, K, k = case.tree.mass_matrix(q), case.robot.loop_jacobian(q), case.robot.loop_bias(q, v)
    E = np.eye(nv)[:, list(controlled)]
    rows = np.vstack((K, E.T))
    A = np.block([[M, -rows.T], [rows, np.zeros((len(rows), len(rows)))]])
    right = np.concatenate((tau - case.h(q, v), -k, np.zeros(n) + a_given))
    x = np.linalg.lstsq(A, right, rcond=1e-12)[0]
    return x[:nv], tau + E @ x[len(x) - n :]


def motor_forces(case, q=None, v=None, a=None):
    """Forces of motors, as many as motions, that do the work of ``M a + h`` along the motions."""
    q, v = (case.q if q is None else q), (case.v if v is None else v)
    a = case.a if a is None else a
    robot, tau = case.robot, np.zeros(case.robot.nv)
    motors = [k for x in robot.actuated_joints for k in range(*robot.joints[x].v.indices(robot.nv))]
    sizes, Vh = np.linalg.svd(robot.loop_jacobian(q))[1:]
    B = Vh[int(np.sum(sizes > 1e-9 * sizes[0])) :].T
    needed = B.T @ (case.tree.mass_matrix(q) @ a + case.h(q, v))
    tau[motors] = np.linalg.solve(B[motors].T, needed)
    return tau


def moved(case, s):
    """A closed state a little along a motion, whose speeds change as well."""
    rng = np.random.default_rng(1)
    step, push = case.B @ rng.normal(size=case.B.shape[1]), rng.normal(size=case.robot.nv)
    q = case.robot.integrate(case.q, s * step)
    return case.robot.closed_state(q, case.v + s * push)


def slopes_agree(case, found, value, forces):
    """Derivatives along a curve of closed states, and by what is given, beside differences."""
    s = 1e-5
    (q0, v0), (q1, v1) = moved(case, -s), moved(case, s)
    dq, dv = case.robot.difference(q0, q1) / (2 * s), (v1 - v0) / (2 * s)
    by_q, by_v, by_x = (found[name] for name in ("q", "v", "tau"))
    close(by_q @ dq + by_v @ dv, (value(q1, v1, forces) - value(q0, v0, forces)) / (2 * s), 1e-5)
    change = np.random.default_rng(2).normal(size=len(forces))
    there = value(case.q, case.v, forces + change) - value(case.q, case.v, forces)
    close(by_x @ change, there, 1e-8)


# -- laws of single quantities ---------------------------------------------------------------------


def is_forward_dynamics(case, f):
    close(f(case.q, case.v, case.tau, *case.base_arrays), forward(case)[0], 1e-8)


def is_hybrid_dynamics(case, f):
    """Of one driven joint."""
    k, free = case.driven, np.delete(case.tau, case.driven)
    a, tau = f(case.q, case.v, [0.7], free, *case.base_arrays)
    there = forward(case, tau=np.insert(free, k, 0.0), controlled=(k,), a_given=(0.7,))
    close(a, there[0], 1e-8)
    close(tau, there[1], 1e-8)


def are_wrenches_of_a_driven_joint(case, f):
    """Those of its accelerations and multipliers, which balance its forces."""
    q, v, base = case.q, case.v, case.base_arrays
    given = [0.7], np.delete(case.tau, case.driven)
    wrenches, a, lam = f(q, v, *given, *base)
    there, tau = case.robot.function("hybrid_dynamics", controlled=(case.driven,))(
        q, v, *given, *base
    )
    close(a, there, 1e-8)
    close(case.M @ a + case.h(), tau + case.K.T @ lam, 1e-8)
    alone = case.robot.function("joint_wrenches", joints=case.moved_joints)
    close(wrenches, alone(q, v, a, *base, lam), 1e-8)


def is_inverse_dynamics(case, f):
    close(f(case.q, case.v, case.a, *case.base_arrays), motor_forces(case), 1e-8)


def are_inverse_derivatives(case, f):
    value, *slopes = f(case.q, case.v, case.a, *case.base_arrays)
    close(value, motor_forces(case), 1e-8)
    found = dict(zip("qva", slopes, strict=True))
    s = 1e-5
    (q0, v0), (q1, v1) = moved(case, -s), moved(case, s)
    a0, a1 = (case.robot.consistent_acceleration(*x, case.a) for x in ((q0, v0), (q1, v1)))
    dq, dv = case.robot.difference(q0, q1) / (2 * s), (v1 - v0) / (2 * s)
    here = found["q"] @ dq + found["v"] @ dv + found["a"] @ (a1 - a0) / (2 * s)
    close(here, (motor_forces(case, q1, v1, a1) - motor_forces(case, q0, v0, a0)) / (2 * s), 1e-5)


def are_forward_derivatives(case, f):
    a, *slopes = f(case.q, case.v, case.tau, *case.base_arrays)
    close(a, forward(case)[0], 1e-8)
    found = dict(zip(("q", "v", "tau"), slopes, strict=True))
    slopes_agree(case, found, lambda q, v, tau: forward(case, q, v, tau)[0], case.tau)


def are_hybrid_derivatives(case, f):
    """Of one driven joint."""
    d, given, free = case.driven, np.array([0.7]), np.delete(case.tau, case.driven)
    found = f(case.q, case.v, given, free, *case.base_arrays)
    tau = np.insert(free, d, 0.0)
    for k in (0, 1):

        def value(q, v, tau, a_given=0.7, k=k):
            free = np.insert(np.delete(tau, d), d, 0.0)
            return forward(case, q, v, free, (d,), a_given)[k]

        here, *by = found[5 * k : 5 * k + 5]
        close(here, value(case.q, case.v, tau), 1e-8)
        slopes = {"q": by[0], "v": by[1], "tau": np.insert(by[3], d, 0.0, axis=1)}
        slopes_agree(case, slopes, value, tau)
        close(by[2][:, 0], value(case.q, case.v, tau, 1.7) - here, 1e-8)


def is_mass_matrix(case, f):
    """The sum of the kinetic energies of the bodies, along motions that keep the loops closed."""
    for column in case.B.T:
        energy = case.tree.kinetic_energy(case.q, column, **case.at_rest)
        close(0.5 * column @ f(case.q) @ column, energy)


def is_inverse_of_mass_matrix(case, f):
    close(f(case.q), np.linalg.inv(case.M), 1e-8)


def is_coriolis_matrix(case, f):
    """Bias forces without gravity, on a base at rest."""
    h = case.tree.bias_forces(case.q, case.v, **case.at_rest)
    g = case.tree.gravity_forces(case.q, **case.at_rest)
    close(f(case.q, case.v) @ case.v, h - g, 1e-8)


def are_bias_forces(case, f):
    """What is left of the forces along motions, by the accelerations of maximal coordinates."""
    solved = case.oracle.solve(case.q, case.v, tau=case.tau, base_motion=case.there_base)
    h = f(case.q, case.v, *case.base_arrays)
    close(case.B.T @ (case.M @ solved.a + h), case.B.T @ case.tau, 1e-7)


def is_gear_friction(case, f):
    """What gears take is missing among the forces: without it rigid gears move as they do."""
    given = case.q, case.v, case.tau, *case.base_arrays
    close(f(*given), np.zeros(case.robot.nv))
    mechanism = case.robot.mechanism
    first, *others = case.robot.actuated_joints
    motor = rd.Actuator(20.0, 1e-4, efficiency=0.6, backward_efficiency=0.3)
    motors = ((first, motor), *((name, rd.Actuator()) for name in others))
    settings = {**case.settings, "passive": True}
    lossy, rigid = (
        interpreted(replace(mechanism, actuators=((first, x), *motors[1:])), **settings)
        for x in (motor, replace(motor, efficiency=1.0, backward_efficiency=1.0))
    )
    lost = lossy.function("gear_friction")(*given)
    assert lost @ case.v > 0.0
    without = (*given[:2], case.tau - lost, *case.base_arrays)
    found = lossy.function("forward_dynamics")(*given)
    close(found, rigid.function("forward_dynamics")(*without), 1e-8)


def are_gravity_forces(case, f):
    """The slope of the potential energy along motions that keep the loops closed."""
    rest = (np.eye(4), np.zeros(6), np.zeros(6)) if case.base_arrays else ()
    for column in case.B.T:
        up, down = (
            case.tree.potential_energy(case.tree.integrate(case.q, s * column), **case.at_rest)
            for s in (1e-5, -1e-5)
        )
        close(column @ f(case.q, *rest), (up - down) / 2e-5, 1e-7)


def are_passive_forces(case, f):
    """Dampers in all joints, the cut ones too, take the power that the speeds of joints say."""
    close(f(case.q, case.v, *case.base_arrays), np.zeros(case.robot.nv))
    mechanism = case.robot.mechanism
    damped = tuple(
        replace(x, damping=0.1 * (k + 1), friction=0.0) for k, x in enumerate(mechanism.joints)
    )
    motors = {name: replace(motor, coulomb=0.0) for name, motor in mechanism.actuators}
    mechanism = replace(mechanism, joints=damped, actuators=tuple(motors.items()))
    robot = interpreted(mechanism, **{**case.settings, "passive": True})
    g = robot.function("passive_forces")
    speeds = case.robot.joint_velocities(case.q, case.v)
    power = sum(x.damping * np.sum(speeds.get(x.name, np.zeros(1)) ** 2) for x in damped)
    power += sum(m.viscous * (m.gear_ratio * speeds[name]) ** 2 for name, m in motors.items())
    close(g(case.q, case.v, *case.base_arrays) @ case.v, -power, 1e-8)


def are_elastic_forces(case, f):
    """The slope of the energy of a spring to the world; a damper beside it has none."""
    close(f(case.q, *case.base_arrays), np.zeros(case.robot.nv))
    ends = ("world", (0.1, 0.2, 0.3), case.robot.link_names[-1], (0.2, 0.1, 0.0))
    spring = rd.PointSpring(*ends, stiffness=30.0, rest_length=0.2, damping=5.0)
    mechanism = replace(case.robot.mechanism, link_elements=(spring,))
    robot = interpreted(mechanism, **{**case.settings, "passive": True})
    energy = robot.function("elastic_energy")
    found = robot.function("elastic_forces")(case.q, *case.base_arrays)
    for column in case.B.T:
        up, down = (
            energy(case.tree.integrate(case.q, s * column), *case.base_arrays)
            for s in (1e-5, -1e-5)
        )
        close(column @ found, (down - up) / 2e-5, 1e-7)


def are_regressors(case, f):
    parameters = case.robot.inertial_parameters
    Y = f(case.q, case.v, case.a, *case.base_arrays)
    there = case.B.T @ (case.M @ case.a + case.h())
    close(case.B.T @ Y[:, : len(parameters)] @ parameters, there, 1e-8)


def are_measurements(case, f):
    """Where no wrench is read, those of the tree; of a pin, what its multipliers are."""
    is_that_of_the_tree(case, "measure")
    robot, pin = case.robot, case.robot.loops[0].name
    robot = interpreted(robot.mechanism, **case.settings, sensors=[rd.Sensor("wrench", joint=pin)])
    try:
        f = robot.function("measure")
    except rd.RobodynError:
        return  # motors do not tell what it carries
    found = f(case.q, case.v, case.a, *case.base_arrays)
    wrench = robot.joint_wrenches(case.q, case.v, case.a, base=case.here_base)[pin]
    close(found, wrench, 1e-8)


def are_joint_wrenches(case, f):
    """Along its freedom a joint gives ``M a + h - K^T lam``: what motors have to give.

    With the joints that follow it, and unless it turns a rotor, whose forces act in between.
    """
    lam = np.random.default_rng(6).normal(size=case.robot.nc)
    found = f(case.q, case.v, case.a, *case.base_arrays, lam)
    found = found[0] if isinstance(found, tuple) else found
    tau = case.M @ case.a + case.h() - case.K.T @ lam
    joints = {x.name: x for x in case.robot.mechanism.joints}
    rotors = {name for name, motor in case.robot.actuators.items() if motor.rotor_inertia}
    wrenches = dict(zip(case.moved_joints, found, strict=False))  # that of the base comes last

    def along(joint):
        wrench = wrenches[joint.name]
        return np.dot(joint.axis, wrench[:3] if joint.kind == "prismatic" else wrench[3:])

    for name, joint in joints.items():
        if joint.mimic or joint.kind not in ("revolute", "continuous", "prismatic"):
            continue
        followers = [x for x in joints.values() if x.mimic and x.mimic.joint == name]
        if name in case.moved_joints and not rotors & {name, *(x.name for x in followers)}:
            (k,) = range(case.robot.nv)[case.robot.joints[name].v]
            there = along(joint) + sum(x.mimic.multiplier * along(x) for x in followers)
            close(there, tau[k], 1e-8)


def is_loop_residual(case, f):
    close(f(case.q), np.zeros(case.robot.nc), 1e-9)
    opened = case.tree.integrate(case.q, 1e-3 * np.arange(1.0, case.robot.nv + 1))
    assert np.linalg.norm(f(opened)) > 1e-4


def are_loop_gaps(case, f):
    """Frames placed on links, and rows."""
    link, X = case.robot.link_names[-1], np.eye(4)
    X[:3, 3] = 0.1, 0.2, 0.3
    f = case.robot.function("loop_gaps", placed=((link, tuple(X.ravel())),))
    poses, rows = f(case.q)
    close(poses[0], case.tree.frame_pose(case.q, link) @ X, 1e-12)
    close(rows, case.robot.loop_residual(case.q), 1e-12)


def is_loop_geometry(case, f):
    """The same, and their derivatives."""
    link, X = case.robot.link_names[-1], np.eye(4)
    X[:3, 3] = 0.1, 0.2, 0.3
    f = case.robot.function("loop_geometry", placed=((link, tuple(X.ravel())),))
    poses, rows, K = f(case.q)
    close(poses[0], case.tree.frame_pose(case.q, link) @ X, 1e-12)
    close(rows, case.robot.loop_residual(case.q), 1e-12)
    close(K, case.robot.loop_jacobian(case.q), 1e-12)


def is_loop_jacobian(case, f):
    for k, unit in enumerate(np.eye(case.robot.nv)):
        up, down = (
            case.robot.loop_residual(case.tree.integrate(case.q, s * unit)) for s in (1e-6, -1e-6)
        )
        close(f(case.q)[:, k], (up - down) / 2e-6, 1e-8)


def is_velocity_offset(case, f):
    close(f(case.q), np.zeros(case.robot.nc))


def is_loop_bias(case, f):
    up, down = (
        case.robot.loop_jacobian(case.tree.integrate(case.q, s * case.v)) @ case.v
        for s in (1e-5, -1e-5)
    )
    close(f(case.q, case.v), (up - down) / 2e-5, 1e-6)


def opened(case):
    """A state beside a closed one."""
    rng = np.random.default_rng(4)
    q = case.tree.integrate(case.q, 1e-5 * rng.normal(size=case.robot.nv))
    return q, case.v + 1e-5 * rng.normal(size=case.robot.nv)


def are_loop_corrections(case, f):
    """The smallest ones in kinetic energy; the closed state that is left is one to second order."""
    q, v = opened(case)
    dq, dv, gap = case.robot.function("loop_corrections")(q, v)
    K, W = case.robot.loop_jacobian(q), np.linalg.inv(case.tree.mass_matrix(q))
    least = W @ K.T @ np.linalg.pinv(K @ W @ K.T, rcond=1e-9)
    residual = case.robot.loop_residual(q)
    close(1e5 * dq, -1e5 * least @ residual, 1e-3)
    close(1e5 * dv, -1e5 * least @ K @ v, 1e-3)
    assert 0.0 < gap < 10 * np.linalg.norm(residual)


def is_loop_conditioning(case, f):
    """Sum of the multipliers of a motion that opens each of some independent rows at unit rate."""
    rows = independent(case.K)
    K = case.K[list(rows)]
    options = {"rows": rows}
    programs = case.robot._parts.evaluator.programs
    known = getattr(programs, "forward", None) or {}
    if "postures" in known:  # which say where rows are eliminated
        options["postures"] = known["postures"]
    program = trace("loop_conditioning", case.robot.model.setup, options)
    (found,) = evaluate(program, case.q)
    close(found, np.linalg.solve(K @ np.linalg.inv(case.M) @ K.T, np.ones(len(rows))).sum(), 1e-6)


def independent(K):
    """The first rows that are independent."""
    rows = []
    for k in range(len(K)):
        if np.linalg.matrix_rank(K[[*rows, k]], 1e-8) > len(rows):
            rows.append(k)
    return tuple(rows)


def is_loop_violation(case, f):
    close(f(case.q, case.v), 0.0, 1e-9)
    assert 1e-8 < f(*opened(case)) < 1e-2


def are_constrained_terms(case, f):
    M, force, K, bias, violation = f(case.q, case.v, case.tau, *case.base_arrays)
    close(M, case.M)
    close(force, case.tau - case.h(case.q, case.v), 1e-8)
    close(K, case.K)
    close(bias, case.robot.loop_bias(case.q, case.v))
    close(violation, 0.0)


def are_cut_joint_poses(case, f):
    """The frames on both sides, by the poses of links of the tree."""
    for X, cut in zip(f(case.q), case.robot.loops, strict=True):
        if isinstance(cut, description.Joint):
            parent, child = (
                case.tree.frame_pose(case.q, x, base=case.here_base)
                for x in (cut.parent, cut.child)
            )
            there = np.linalg.inv(parent @ cut.origin.matrix) @ child
            close(np.linalg.norm(X[:3, 3]), np.linalg.norm(there[:3, 3]), 1e-9)
            close(np.trace(X), np.trace(there), 1e-9)  # the frames may be turned alike


def are_cut_joint_speeds(case, f):
    """Rates of the positions of cut joints."""
    found, first = f(case.q, case.v), 0
    (q0, _), (q1, _) = moved_with_speed(case, -1e-5), moved_with_speed(case, 1e-5)
    before, after = (case.robot.joint_positions(q) for q in (q0, q1))
    for cut in case.robot.loops:
        n = cut.nv if hasattr(cut, "nv") else 0
        if n == 1:
            rate = (after[cut.name] - before[cut.name]) / 2e-5
            close(found[first], rate, 1e-6)
        first += n


def are_cut_joint_pushes(case, f):
    """Generalised forces are what speeds along the freedoms are of all speeds."""
    joint, successor, predecessor, forces = f(case.q)
    g = case.robot.function("cut_joint_speeds")
    none = g(case.q, np.zeros(case.robot.nv))
    slopes = [g(case.q, v) - none for v in np.eye(case.robot.nv)]
    close(forces, np.reshape(slopes, forces.T.shape).T, 1e-9)
    for x in (joint, successor, predecessor):
        assert x.shape == (len(forces), 6)
        close(np.linalg.norm(x[:, :3], axis=1), np.linalg.norm(joint[:, :3], axis=1), 1e-9)


def are_joint_positions(case, f):
    """Coordinates by name, and poses of cut joints."""
    are_cut_joint_poses(case, lambda q: f(q)[1])
    found = case.robot.joint_positions(case.q)
    for name in case.robot.joint_names:
        close(np.ravel(found[name]), case.q[case.robot.joints[name].q], 1e-12)


def are_joint_velocities(case, f):
    """Speeds by name, and of cut joints."""
    are_cut_joint_speeds(case, lambda q, v: f(q, v)[1])
    found = case.robot.joint_velocities(case.q, case.v)
    for name in case.robot.joint_names:
        close(np.ravel(found[name]), case.v[case.robot.joints[name].v], 1e-12)


def moved_with_speed(case, s):
    """The state a little later or earlier."""
    return case.robot.closed_state(case.robot.integrate(case.q, s * case.v), case.v)


def follow_nothing(case, f):
    """Joints that follow by loops in closed form: there are none in tree coordinates."""
    given = [case.given[p.name] for p in f.program.inputs]
    assert np.size(f(*given)) == 0


def hit_of(case):
    """Link that moves most, a point of it, a direction against its motion; its velocity and J."""
    robot, q, v = case.robot, case.q, case.v
    given = {"axes": "world", "base": case.here_base}
    moves = {
        x: np.linalg.norm(robot.frame_jacobian(q, x, **given)[:3] @ case.B)
        for x in robot.link_names
    }
    link = max(moves, key=moves.get)
    point, n = np.array([0.1, -0.2, 0.3]), np.array([0.6, 0.0, 0.8])
    X = robot.frame_pose(q, link, base=case.here_base)
    V, J = robot.frame_twist(q, v, link, **given), robot.frame_jacobian(q, link, **given)
    arm = X[:3, :3] @ point
    u, J = V[:3] + np.cross(V[3:], arm), J[:3] + np.cross(J[3:].T, arm).T
    return link, point, n if n @ u < 0.0 else -n, u, J


def is_impact(case, f):
    """The point parts along the direction, and only an impulse along it and the loops act."""
    q, v = case.q, case.v
    link, point, n, u, J = hit_of(case)
    f = case.robot.function("impact", frame=link)
    after, impulse, loss = f(q, v, point, 2.0 * n, 0.4, *case.base_arrays)
    parting = u + J @ (after - v)
    close(n @ parting, -0.4 * n @ u, 1e-8)
    close(impulse, (n @ impulse) * n, 1e-8)
    close(case.K @ (after - v), 0.0, 1e-8)
    close(case.B.T @ (case.M @ (after - v) - J.T @ impulse), 0.0, 1e-8)
    close(loss, -0.5 * impulse @ (u + parting), 1e-8)
    assert np.isnan(f(q, v, point, -n, 0.4, *case.base_arrays)[0]).any()


def mobility_of(case, J):
    """Jumps of all speeds a unit of impulse on a point, and those of its velocity."""
    jumps = case.B @ np.linalg.solve(case.B.T @ case.M @ case.B, case.B.T @ J.T)
    return jumps, J @ jumps


def is_point_response(case, f):
    link, point, _, u, J = hit_of(case)
    jumps, W = mobility_of(case, J)
    f = case.robot.function("point_response", frame=link)
    after, velocity, mobility, moves, jacobian, R = f(case.q, case.v, point, *case.base_arrays)
    expected = case.v, u, W, jumps.T, J
    for x, y in zip((after, velocity, mobility, moves, jacobian), expected, strict=True):
        close(x, y, 1e-8)
    close(R, case.robot.frame_pose(case.q, link, base=case.here_base)[:3, :3], 1e-9)


def is_impact_that_sticks(case, f):
    """The least impulse that stops the point, if one does."""
    link, point, _, u, J = hit_of(case)
    jumps, W = mobility_of(case, J)
    p = -np.linalg.pinv(W, rcond=1e-10, hermitian=True) @ u
    f = case.robot.function("impact_that_sticks", frame=link)
    after, impulse, loss = f(case.q, case.v, point, 0.0, *case.base_arrays)
    if np.linalg.norm(u + W @ p) > 1e-8 * np.linalg.norm(u):
        assert np.isnan(after).any()
        return
    close(impulse, p, 1e-7)
    close(after, case.v + jumps @ p, 1e-7)
    close(loss, 0.5 * p @ W @ p, 1e-7)
    assert np.isnan(f(case.q, case.v, point, 0.1, *case.base_arrays)[0]).any()


def is_impact_with_friction(case, f):
    """As `robodyn.impacts.friction` decides, with little friction and with much."""
    link, point, n, u, J = hit_of(case)
    jumps, W = mobility_of(case, J)
    f = case.robot.function("impact_with_friction", frame=link)
    for friction in (1e-3, 0.4, 5.0):
        found = f(case.q, case.v, point, 2.0 * n, 0.2, friction, *case.base_arrays)
        try:
            p = with_friction(u, W, n, 0.2, friction).impulse
        except rd.ImpactError:
            assert np.isnan(found[0]).any()
            continue
        close(found[1], p, 1e-7)
        close(found[0], case.v + jumps @ p, 1e-7)
        close(found[2], -0.5 * p @ (2.0 * u + W @ p), 1e-7)
    assert np.isnan(f(case.q, case.v, point, n, 0.2, 0.0, *case.base_arrays)[0]).any()


def are_impact_derivatives(case, f):
    """Of the speeds afterwards, along a curve of closed states."""
    link, point, n, _, _ = hit_of(case)
    given = (point, 2.0 * n, 0.4, *case.base_arrays)
    f, hit = (case.robot.function(x, frame=link) for x in ("impact_derivatives", "impact"))
    after, by_q, by_v = f(case.q, case.v, *given)
    close(after, hit(case.q, case.v, *given)[0], 1e-10)
    s = 1e-5
    (q0, v0), (q1, v1) = moved(case, -s), moved(case, s)
    change = (hit(q1, v1, *given)[0] - hit(q0, v0, *given)[0]) / (2 * s)
    moves = by_q @ case.robot.difference(q0, q1) + by_v @ (v1 - v0)
    close(moves / (2 * s), change, 1e-5)
    assert np.isnan(f(case.q, case.v, point, -n, *given[2:])[0]).any()


def is_nearest(case, found, wanted, right):
    """What constraints ask for, by a change that only impulses of the loops make."""
    close(case.K @ found, right, 1e-8)
    close(case.B.T @ case.M @ (found - wanted), 0.0, 1e-8)


def is_consistent_velocity(case, f):
    f = case.robot.function("consistent_velocity")
    wanted = np.arange(1.0, case.robot.nv + 1)
    is_nearest(case, f(case.q, wanted), wanted, 0.0)


def is_consistent_acceleration(case, f):
    f = case.robot.function("consistent_acceleration")
    wanted = np.arange(1.0, case.robot.nv + 1)
    bias = case.robot.loop_bias(case.q, case.v)
    is_nearest(case, f(case.q, case.v, wanted), wanted, -bias)


def is_closed_state(case, f):
    """Speeds of a closed posture; there are no numbers at an open one."""
    f = case.robot.function("closed_state")
    wanted = np.arange(1.0, case.robot.nv + 1)
    q, v = f(case.q, wanted)
    close(q, case.q, 0.0)
    is_nearest(case, v, wanted, 0.0)
    assert np.isnan(f(opened(case)[0], wanted)[1]).any()


def is_apparent_mass(case, f):
    """Energy of an impulse, over half of its square, is the inverse mass."""
    link, point, n, _, J = hit_of(case)
    moves = case.B.T @ J.T @ n
    speed = moves @ np.linalg.solve(case.B.T @ case.M @ case.B, moves)
    f = case.robot.function("apparent_mass", frame=link)
    close(f(case.q, point, 2.0 * n, *case.base_arrays), 1.0 / speed, 1e-8)


def is_mobility(case, f):
    found = f(case.q)
    if np.isfinite(found):  # rows that follow from others leave it to the rank
        close(found, case.robot.nv - np.linalg.matrix_rank(case.K, 1e-8), 0.0)


def is_state_check(case, f):
    close(f(case.q, case.v), 0.0, 0.0)


def is_latch(case, f):
    """The latched speed is zero, and what the loops leave beside it keeps its momentum."""
    k = case.independent[0]
    after, loss = case.robot.function("latch", controlled=(k,))(case.q, case.v, *case.base_arrays)
    close(after[k], 0.0, 0.0)
    rows = np.vstack([case.K, np.eye(case.robot.nv)[k]])
    close(rows @ after, 0.0, 1e-8)
    _, sizes, Vh = np.linalg.svd(rows)
    left = Vh[np.sum(sizes > 1e-9 * sizes[0]) :]
    close(left @ case.M @ (after - case.v), 0.0, 1e-8)
    close(loss, 0.5 * (case.v @ case.M @ case.v - after @ case.M @ after), 1e-8)


def are_impulses(case, f):
    """Momentum along the motions that the loops leave changes by the impulses."""
    links = tuple(case.wrenches)
    f = case.robot.function("impulses", wrenches=links)
    after, along, loss = f(case.q, case.v, *case.base_arrays, *case.wrenches.values())
    force = power = 0.0
    for k, (link, F) in enumerate(case.wrenches.items()):
        force = force + case.robot.frame_jacobian(case.q, link, base=case.here_base).T @ F
        R = case.robot.frame_pose(case.q, link, base=case.here_base)[:3, :3]
        close(along[k], R @ F[:3], 1e-9)
        for v in (case.v, after):
            power = power + 0.5 * F @ case.robot.frame_twist(case.q, v, link, base=case.here_base)
    close(case.K @ (after - case.v), 0.0, 1e-8)
    close(case.B.T @ (case.M @ (after - case.v) - force), 0.0, 1e-8)
    close(loss, -power, 1e-8)


def are_impact_tensors(case, f):
    link, point, _, _, J = hit_of(case)
    f = case.robot.function("impact_tensors", frame=link)
    U, V, W = f(case.q, point, *case.base_arrays)
    turning = case.robot.frame_jacobian(case.q, link, axes="world", base=case.here_base)[3:]
    jumps, expected = mobility_of(case, J)
    close(U, expected, 1e-8)
    close(V.T, turning @ jumps, 1e-8)
    close(W, mobility_of(case, turning)[1], 1e-8)


def is_linear_model(case, f):
    """Accelerations of independent speeds, along a curve of closed states and by a force."""
    own, s = list(case.independent), 1e-5
    A, B, a = f(case.q, case.v, case.tau, *case.base_arrays)
    close(a, forward(case)[0][own], 1e-8)
    (q0, v0), (q1, v1) = moved(case, -s), moved(case, s)
    change = np.concatenate((case.robot.difference(q0, q1)[own], (v1 - v0)[own])) / (2 * s)
    there = (forward(case, q1, v1)[0] - forward(case, q0, v0)[0])[own] / (2 * s)
    close((A @ change)[len(own) :], there, 1e-5)
    pushed = forward(case, tau=case.tau + np.eye(case.robot.nv)[case.driven])[0]
    close(B[len(own) :, 0], pushed[own] - a, 1e-8)


def is_tangent(case, f):
    """Velocities along a curve of closed states, and what turns them."""
    own, s = list(case.independent), 1e-5
    B, G = f(case.q, case.v, *case.base_arrays)
    (q0, v0), (q1, v1) = moved(case, -s), moved(case, s)
    dq, dv = case.robot.difference(q0, q1) / (2 * s), (v1 - v0) / (2 * s)
    close(B @ dq[own], dq, 1e-8)
    close(B @ dv[own] + G @ dq[own], dv, 1e-8)


def closes_loops(case, f):
    """A step from an open posture toward the pose that a frame has in the closed one."""
    q, _ = opened(case)
    goal = case.robot.frame_pose(case.q, case.robot.link_names[-1], base=case.here_base)
    g = case.robot.function("inverse_kinematics_step", frames=(case.robot.link_names[-1],))
    new, _ = g(q, goal.ravel(), [1e-9, 1e-9], *case.base_arrays)
    before, after = (np.linalg.norm(case.robot.loop_residual(x)) for x in (q, new))
    assert after < 1e-2 * before


LAWS = {
    "forward_dynamics": is_forward_dynamics,
    "hybrid_dynamics": is_hybrid_dynamics,
    "inverse_dynamics": is_inverse_dynamics,
    "inverse_dynamics_derivatives": are_inverse_derivatives,
    "forward_dynamics_derivatives": are_forward_derivatives,
    "hybrid_dynamics_derivatives": are_hybrid_derivatives,
    "impact": is_impact,
    "impact_that_sticks": is_impact_that_sticks,
    "impact_with_friction": is_impact_with_friction,
    "point_response": is_point_response,
    "apparent_mass": is_apparent_mass,
    "impact_derivatives": are_impact_derivatives,
    "linear_model": is_linear_model,
    "tangent": is_tangent,
    "latch": is_latch,
    "impulses": are_impulses,
    "impact_tensors": are_impact_tensors,
    "check_state": is_state_check,
    "mobility": is_mobility,
    "consistent_velocity": is_consistent_velocity,
    "consistent_acceleration": is_consistent_acceleration,
    "closed_state": is_closed_state,
    "mass_matrix": is_mass_matrix,
    "mass_matrix_inverse": is_inverse_of_mass_matrix,
    "coriolis_matrix": is_coriolis_matrix,
    "bias_forces": are_bias_forces,
    "gravity_forces": are_gravity_forces,
    "passive_forces": are_passive_forces,
    "elastic_forces": are_elastic_forces,
    "gear_friction": is_gear_friction,
    "regressor": are_regressors,
    "dynamic_regressor": are_regressors,
    "joint_wrenches": are_joint_wrenches,
    "hybrid_joint_wrenches": are_wrenches_of_a_driven_joint,
    "joint_wrench_parts": are_joint_wrenches,
    "measure": are_measurements,
    "loop_residual": is_loop_residual,
    "loop_gaps": are_loop_gaps,
    "loop_geometry": is_loop_geometry,
    "loop_jacobian": is_loop_jacobian,
    "loop_velocity_offset": is_velocity_offset,
    "loop_bias": is_loop_bias,
    "loop_corrections": are_loop_corrections,
    "loop_conditioning": is_loop_conditioning,
    "loop_violation": is_loop_violation,
    "constrained_terms": are_constrained_terms,
    "cut_joint_poses": are_cut_joint_poses,
    "cut_joint_speeds": are_cut_joint_speeds,
    "cut_joint_pushes": are_cut_joint_pushes,
    "joint_positions": are_joint_positions,
    "joint_velocities": are_joint_velocities,
    "dependent_places": follow_nothing,
    "dependent_speeds": follow_nothing,
    "dependent_speed_map": follow_nothing,
    "dependent_accelerations": follow_nothing,
    "inverse_kinematics_step": closes_loops,
}


# -- all quantities --------------------------------------------------------------------------------


def has_a_law(name, row):
    """Rows of functions of the state alone need none, nor do those that refuse closed linkages."""
    return name in LAWS or row.closed in (STATE, REFUSED)


def refuse_without_law(name, row):
    assert has_a_law(name, row), f"{name}: write down here what it is for closed linkages"


@pytest.mark.parametrize(("linkage_name", "base"), LINKAGES)
@pytest.mark.parametrize("name", QUANTITIES)
def test_a_quantity_is_what_its_row_says(name, linkage_name, base):
    case, row = linkage(linkage_name, base), QUANTITIES[name]
    refuse_without_law(name, row)
    if row.closed is REFUSED:
        with pytest.raises(rd.SettingsError, match=name):
            case.robot.function(name, **case.options(name))
        return
    if name in LAWS:
        LAWS[name](case, case.robot.function(name, **case.options(name)))
    if row.closed is TREE_FORCES or name not in LAWS:
        is_that_of_the_tree(case, name)


def is_that_of_the_tree(case, name):
    """What constraints exert does not enter."""
    here, there = (case.value(name, robot) for robot in (case.robot, case.tree))
    for x, y in zip(*(z if isinstance(z, tuple) else (z,) for z in (here, there)), strict=True):
        close(x, y)


@pytest.mark.parametrize("name", [x for x, row in QUANTITIES.items() if row.closed is STATE])
def test_a_function_of_the_state_is_not_one_of_forces(name):
    """What follows from accelerations by way of masses is a force, and constraints exert some."""
    is_no_force(linkage("four_bar", "fixed"), name)


def is_no_force(case, name):
    if "a" in QUANTITIES[name].input_names and name not in LAWS:
        load = rd.Inertia(2.0, ixx=0.1, iyy=0.1, izz=0.1)
        heavier = case.robot.with_(payload=dict.fromkeys(case.robot.link_names, load))
        close(case.value(name, heavier), case.value(name, case.robot))


def joint_powers(t):
    """What motors of a tree would give."""
    tau = newton_euler.inverse_dynamics(t.state, t.a, {})
    return {"P": [x * y for x, y in zip(tau, t.v, strict=True)]}


@pytest.fixture(params=OnLoops, ids=lambda x: x.value)
def power(request, monkeypatch):
    """A quantity that is wrong on closed linkages, whatever its row says but that it is refused."""
    row = Quantity(
        inputs=(Q, V, A),
        outputs=(Output("P", ("nv",), "W"),),
        trace=joint_powers,
        closed=request.param,
        base=True,
    )
    monkeypatch.setitem(QUANTITIES, "power", row)
    return row


def test_a_new_quantity_is_judged(power):
    case = Linkage("four_bar", "fixed")
    if power.closed is REFUSED:
        with pytest.raises(rd.SettingsError, match=r"power .* closed linkages.*'four_bar'"):
            case.robot.function("power")
        assert case.tree.function("power")(case.q, case.v, case.a).shape == (3,)
    elif power.closed is STATE:
        with pytest.raises(AssertionError, match="Not equal"):
            is_no_force(case, "power")
    else:
        with pytest.raises(AssertionError, match="write down here"):
            refuse_without_law("power", power)


def test_a_row_says_what_closed_linkages_get():
    with pytest.raises(TypeError, match="closed"):
        Quantity(inputs=(Q,), outputs=(), trace=joint_powers)


def test_laws_are_of_quantities():
    named = {x for x, row in QUANTITIES.items() if row.closed in (TREE_FORCES, MULTIPLIERS)}
    assert named | CONSTRAINED <= LAWS.keys() <= QUANTITIES.keys()
