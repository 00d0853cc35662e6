"""Joints and constraints that are functions of time, which is no coordinate.

What they do is compared with the same function of one coordinate more, which is driven along the
clock; with bases that move; with joints that are driven; and with differences over time.
"""

import pickle
from dataclasses import replace

import numpy as np
import pytest
from scipy.integrate import simpson
from support.bundled import bundled
from support.closed_cases import close
from support.compiled_c import c_library, pointers
from support.random_mechanisms import random_constants, random_mechanism

import robodyn as rd
from robodyn import controllers
from robodyn.description import Joint, Loop, Pose
from robodyn.description.joint import with_constants
from robodyn.joints import KINDS
from robodyn.ros.engine.engine import Engine

T = 0.37
STEP, BY_DIFFERENCES = 1e-3, 1e-7


def turn(angle, p=(0.0, 0.0, 0.0)):
    c, s = rd.cos(angle), rd.sin(angle)
    return [[c, -s, 0, p[0]], [s, c, 0, p[1]], [0, 0, 1, p[2]], [0, 0, 0, 1]]


def cam(q, t):
    """Along an ellipse that grows, on a table that turns ever faster."""
    p = 0.4 * rd.cos(q[0] + t), 0.2 * rd.sin(q[0]) * (1.0 + t), 0.1 * q[0] * t * t
    return turn(0.7 * q[0] + 0.3 * t * t, p)


def two(q, t):
    """A slide that is carried, across a turn that time moves too."""
    c, s = np.cos(q[1] - t), np.sin(q[1] - t)
    return [[1, 0, 0, q[0]], [0, c, -s, c * q[0] + 0.3 * rd.sin(2.0 * t)], [0, s, c, s + q[0] * t]]


def carried(q, t):
    """A platform that goes to and fro, and turns about a tilted axis."""
    c, s = rd.cos(0.4 * rd.sin(3.0 * t)), rd.sin(0.4 * rd.sin(3.0 * t))
    return [
        [c, -0.6 * s, 0.8 * s, 0.3 * rd.cos(2.0 * t)],
        [0.6 * s, 0.36 * c + 0.64, 0.48 * (1.0 - c), 0.2 * rd.sin(2.0 * t)],
        [-0.8 * s, 0.48 * (1.0 - c), 0.64 * c + 0.36, 0.1 * t * t],
    ]


def slope(function, h=STEP):
    near, far = function(h) - function(-h), function(2 * h) - function(-2 * h)
    return (8.0 * near - far) / (12.0 * h)


# -- one coordinate more, driven along the clock --------------------------------------------------


class Pair:
    """A robot with a map of time, and one with time as a coordinate, at the same state."""

    def __init__(self, n, function, place, **options):
        mechanism = random_mechanism(np.random.default_rng(place), ["revolute"] * 3, damping=0.2)
        name = f"joint{place}"
        maps = rd.JointMap(n, function), rd.JointMap(n + 1, lambda q: function(q[:n], q[n]))
        self.robot, self.other = (
            rd.load(mechanism, joint_maps={name: x}, friction_speed=0.5, **options) for x in maps
        )
        rng = np.random.default_rng(17)
        self.q, (self.v, self.a) = self.robot.random(rng), rng.normal(size=(2, self.robot.nv))
        self.clock = self.other.joints[name].v.stop - 1
        self.name, self.axis = name, f"{name}[{n}]"

    def longer(self, x, value):
        return np.insert(x, self.clock, value, axis=-1)

    def shorter(self, x):
        return np.delete(x, self.clock, axis=-1)

    def states(self, *names):
        """Arrays of the other robot."""
        values = {"q": T, "v": 1.0, "a": 0.0, "tau": 0.0}
        own = {"q": self.q, "v": self.v, "a": self.a, "tau": self.a}
        return [self.longer(own[name], values[name]) for name in names]


CASES = [(1, cam), (2, two), (0, carried)]


@pytest.mark.parametrize(
    ("n", "function", "place"),
    [(*case, place % 3) for k, case in enumerate(CASES) for place in (k, k + 1)],
)
def test_time_is_a_coordinate_along_the_clock(n, function, place):
    c = Pair(n, function, place)
    r, o, at = c.robot, c.other, c.shorter
    q, v, a = c.q, c.v, c.a
    x, dx, ddx = c.states("q", "v", "a")
    assert (r.nv, r.dof, o.nv) == (2 + n, 2 + n, 3 + n)
    close(r.at(T).inverse_dynamics(q, v, a), at(o.inverse_dynamics(x, dx, ddx)), 1e-12)
    close(r.at(T).bias_forces(q, v), at(o.bias_forces(x, dx)), 1e-12)
    close(r.at(T).passive_forces(q, v), at(o.passive_forces(x, dx)), 1e-12)
    close(r.at(T).mass_matrix(q), at(at(o.mass_matrix(x)).T).T, 1e-12)
    close(r.at(T).mass_matrix_inverse(q) @ r.at(T).mass_matrix(q), np.eye(r.nv), 1e-10)
    close(r.at(T).coriolis_matrix(q, v), at(at(o.coriolis_matrix(x, dx)).T).T, 1e-12)
    close(r.at(T).kinetic_energy(q, v), o.kinetic_energy(x, dx), 1e-12)
    close(r.at(T).potential_energy(q), o.potential_energy(x), 1e-12)
    close(r.at(T).momentum(q, v), o.momentum(x, dx), 1e-12)
    close(r.at(T).center_of_mass(q), o.center_of_mass(x), 1e-12)
    close(r.at(T).centroidal_matrix(q), at(o.centroidal_matrix(x)), 1e-12)
    for link in r.link_names:
        close(r.at(T).frame_pose(q, link), o.frame_pose(x, link), 1e-12)
        close(r.at(T).frame_twist(q, v, link), o.frame_twist(x, dx, link), 1e-12)
        there = o.frame_acceleration(x, dx, ddx, link)
        close(r.at(T).frame_acceleration(q, v, a, link), there, 1e-12)
        close(r.at(T).frame_jacobian(q, link), at(o.frame_jacobian(x, link)), 1e-12)
        close(r.at(T).frame_jacobian_dot(q, v, link), at(o.frame_jacobian_dot(x, dx, link)), 1e-12)
    close(r.at(T).frame_twists(q, v), o.frame_twists(x, dx), 1e-12)
    loads, others = r.at(T).joint_wrenches(q, v, a), o.joint_wrenches(x, dx, ddx)
    for name, wrench in loads.items():
        close(wrench, others[name], 1e-11)
    rest = {"tau": dict(zip((f"joint{k}" for k in range(3) if k != place), a, strict=False))}
    clock = o.hybrid_dynamics(x, dx, controlled={c.axis: 0.0}, **rest)
    force = at(clock.tau)
    close(r.at(T).forward_dynamics(q, v, force), at(clock.a), 1e-9)
    close(r.at(T).regressor(q, v, a) @ r.inertial_parameters + -r.at(T).passive_forces(q, v),
          r.at(T).inverse_dynamics(q, v, a), 1e-11)  # fmt: skip


@pytest.mark.parametrize(("n", "function"), CASES[:2])
def test_a_joint_that_is_passed_backwards(n, function):
    """From its child to its parent, as where a loop is cut behind it."""
    given = random_mechanism(np.random.default_rng(4), ["revolute", "revolute"])
    hinge, joint = given.joints
    joint = replace(joint, parent="link2", child="link1")
    free = Joint("free", "floating", "link0", "link2")
    back = replace(given, joints=(replace(hinge, parent="link0", child="link1"), joint, free))
    maps = rd.JointMap(n, function), rd.JointMap(n + 1, lambda q: function(q[:n], q[n]))
    r, o = (rd.load(back, joint_maps={"joint1": x}) for x in maps)
    assert [cut.name for cut in r.loops] == ["free"]
    clock = o.joints["joint1"].v.stop - 1
    q, v, a = np.random.default_rng(5).normal(size=(3, r.nv))
    x, dx, ddx = (np.insert(y, clock, z) for y, z in ((q, T), (v, 1.0), (a, 0.0)))
    there = np.delete(o.inverse_dynamics(x, dx, ddx), clock)
    close(r.at(T).inverse_dynamics(q, v, a), there, 1e-12)
    close(r.at(T).frame_twist(q, v, "link2"), o.frame_twist(x, dx, "link2"), 1e-12)
    rate = slope(lambda s: r.at(T + s).frame_twist(q + s * v, v, "link2"))
    close(r.at(T).frame_acceleration(q, v, 0.0 * v, "link2"), rate, BY_DIFFERENCES)


@pytest.mark.parametrize(("n", "function"), CASES)
def test_motion_is_the_change_of_poses(n, function):
    c = Pair(n, function, 1)
    r, v = c.robot, c.v

    def at(s):
        return r.integrate(c.q, s * v)

    for link in r.link_names:
        X = r.at(T).frame_pose(c.q, link)
        W = np.linalg.inv(X) @ slope(lambda s, x=link: r.at(T + s).frame_pose(at(s), x))
        twist = [*W[:3, 3], W[2, 1], W[0, 2], W[1, 0]]
        close(r.at(T).frame_twist(c.q, v, link), twist, BY_DIFFERENCES)
        rate = slope(lambda s, x=link: r.at(T + s).frame_twist(at(s), v, x))
        close(r.at(T).frame_acceleration(c.q, v, 0.0 * v, link), rate, BY_DIFFERENCES)
    N = slope(lambda s: r.at(T + s).mass_matrix(at(s))) - 2.0 * r.at(T).coriolis_matrix(c.q, v)
    close(N + N.T, 0.0 * N, BY_DIFFERENCES)


@pytest.mark.parametrize(("n", "function"), CASES)
def test_power_of_the_clock(n, function):
    """What goes in through the motors, and through the joint that time moves, is the energy."""
    c = Pair(n, function, 1)
    r, v = c.robot, c.v
    a = r.at(T).forward_dynamics(c.q, v, c.a)

    def energy(s):
        q, speed = r.integrate(c.q, s * v + 0.5 * s * s * a), v + s * a
        return r.at(T + s).kinetic_energy(q, speed) + r.at(T + s).potential_energy(q)

    joint, load = r.joints[c.name], r.at(T).joint_wrenches(c.q, v, a)[c.name]
    drift = r.at(T).frame_twist(c.q, 0.0 * v, joint.child, relative_to=joint.parent)
    power = c.a @ v + r.at(T).passive_forces(c.q, v) @ v + load @ drift
    assert np.abs(load @ drift) > 1e-2
    assert slope(energy) == pytest.approx(power, abs=1e-6 * max(1.0, abs(power)))


# -- moving bases ---------------------------------------------------------------------------------


def base_motion(t):
    """The same platform as a prescribed motion of the base, by differences of its pose."""

    def pose(s):
        X = np.eye(4)
        X[:3] = np.array(carried([], s), float)
        return X

    def twist(s):
        W = np.linalg.inv(pose(s)) @ slope(lambda x: pose(s + x), 1e-3)
        return np.array([*W[:3, 3], W[2, 1], W[0, 2], W[1, 0]])

    return rd.BaseMotion(pose(t), twist(t), slope(lambda x: twist(t + x), 1e-3))


def on_platform():
    """A robot on a platform that time moves, and the same on a moving base."""
    text = rd.urdf.write(bundled("double_pendulum").mechanism)
    carrier = '<link name="ground"/><joint name="platform" type="fixed"><parent link="ground"/>' \
        '<child link="base"/></joint></robot>'  # fmt: skip
    maps = {"platform": rd.JointMap(0, carried)}
    whole = rd.load(text.replace("</robot>", carrier), joint_maps=maps)
    return whole, rd.load("double_pendulum", base="moving")


def test_a_platform_is_a_moving_base():
    whole, moved = on_platform()
    assert (whole.nq, whole.nv, whole.joint_names) == (2, 2, moved.joint_names)
    q, v, a = np.random.default_rng(1).normal(size=(3, 2))
    base = base_motion(T)
    close(whole.at(T).inverse_dynamics(q, v, a), moved.inverse_dynamics(q, v, a, base=base), 1e-8)
    close(whole.at(T).forward_dynamics(q, v, a), moved.forward_dynamics(q, v, a, base=base), 1e-8)
    close(whole.at(T).gravity_forces(q), moved.gravity_forces(q, base=base), 1e-8)
    loads, others = whole.at(T).joint_wrenches(q, v, a), moved.joint_wrenches(q, v, a, base=base)
    close(loads["platform"], others["base"], 1e-8)
    for name in moved.joint_names:
        close(loads[name], others[name], 1e-8)
    close(whole.at(T).frame_twist(q, v, "lower"), moved.frame_twist(q, v, "lower", base=base), 1e-8)


def test_a_simulation_on_a_platform_is_one_on_a_moving_base():
    whole, moved = on_platform()
    start = {"q0": [0.3, -0.5], "v0": [0.2, 0.4], "duration": 0.2, "step": 0.01}
    there = rd.simulate(moved, base=base_motion, **start)
    here = rd.simulate(whole, **start)
    close(here.q, there.q, 1e-8)
    close(here.a, there.a, 1e-7)
    motors = controllers.ComputedTorque(whole, lambda t: (np.zeros(2),) * 3, stiffness=50.0)
    held = rd.simulate(whole, motors, q0=[0.0, 0.0], duration=0.2, step=1e-3)
    assert np.abs(held.q).max() < 2e-3 < np.abs(here.q - [0.3, -0.5]).max()


# -- motions that are known -----------------------------------------------------------------------

SPIN = 3.0
BEAD = """<robot name="bead"><link name="base"/><link name="bead"><inertial><mass value="2"/>
<inertia ixx="0" ixy="0" ixz="0" iyy="0" iyz="0" izz="0"/></inertial></link>
<joint name="rod" type="prismatic"><parent link="base"/><child link="bead"/></joint></robot>"""


def rod(q, t):
    return turn(SPIN * t, (q[0] * rd.cos(SPIN * t), q[0] * rd.sin(SPIN * t), 0.0))


@pytest.mark.parametrize(("integrator", "order"), [("rk4", 4), ("semi_implicit", 1)])
def test_a_bead_on_a_rotating_rod(integrator, order):
    """The textbook's: x = x0 cosh(spin t), to the accuracy of the integrator."""
    robot = rd.load(BEAD, joint_maps={"rod": rd.JointMap(1, rod)}, gravity=(0, 0, 0))
    assert (robot.nq, robot.nv, robot.dof) == (1, 1, 1)
    errors = []
    for step in (0.02, 0.01):
        run = rd.simulate(robot, q0=[0.1], duration=0.5, step=step, integrator=integrator)
        errors.append(np.abs(run.q[:, 0] - 0.1 * np.cosh(SPIN * run.t)).max())
    assert np.log2(errors[0] / errors[1]) == pytest.approx(order, abs=0.2)
    # the motor of the rod works against Coriolis' force: 2 m x dx spin, times the spin
    run = rd.simulate(robot, q0=[0.1], duration=0.5, step=1e-3)
    work = simpson(2 * 2.0 * run.q[:, 0] * run.v[:, 0] * SPIN**2, x=run.t)
    assert run.energy[-1] - run.energy[0] == pytest.approx(work, rel=1e-8)


def test_a_string_that_is_pulled_in():
    """Angular momentum stays [W 5.183 with time]."""
    pulled = rd.Constraint(
        "string", lambda q, t: rd.sqrt(q[0] ** 2 + q[1] ** 2) - (1.0 - 0.3 * t), ("x", "z")
    )
    options = {"allow_unphysical": True, "near": {"x": 1.0}}
    robot = rd.load(PLANE, gravity=(0, 0, 0), constraints=[pulled], **options)
    assert (robot.nv, robot.nc, robot.dof) == (2, 1, 1)
    run = rd.simulate(robot, q0=[1, 0], v0=[-0.3, 2.0], duration=1.0, step=1e-3)
    (x, z), (vx, vz) = run.q.T, run.v.T
    close(np.hypot(x, z), 1.0 - 0.3 * run.t, 1e-11)
    close(x * vz - z * vx, np.full(len(run), 2.0), 1e-8)


def test_a_blade_that_is_steered_by_the_clock():
    """A point that may move along a direction which turns: nonholonomic, and a function of time."""
    steered = rd.Constraint(
        "blade", lambda q, v, t: rd.cos(t) * v[1] - rd.sin(t) * v[0], ("x", "z"), "nonholonomic"
    )
    robot = rd.load(PLANE, gravity=(0, 0, 0), constraints=[steered], allow_unphysical=True)
    run = rd.simulate(robot, q0=[0, 0], v0=[1.0, 0.0], duration=1.0, step=1e-3)
    close(run.v, np.stack([np.cos(run.t), np.sin(run.t)], axis=-1), 1e-9)
    close(run.q, np.stack([np.sin(run.t), 1.0 - np.cos(run.t)], axis=-1), 1e-9)


PLANE = """<robot name="plane"><link name="base"/><link name="x"/><link name="z"><inertial>
<mass value="2"/><inertia ixx="0" iyy="0" izz="0" ixy="0" ixz="0" iyz="0"/></inertial></link>
<joint name="x" type="prismatic"><parent link="base"/><child link="x"/><axis xyz="1 0 0"/>
<limit lower="-9" upper="9" effort="9" velocity="9"/></joint>
<joint name="z" type="prismatic"><parent link="x"/><child link="z"/><axis xyz="0 0 1"/>
<limit lower="-9" upper="9" effort="9" velocity="9"/></joint></robot>"""


# -- linkages that are tied to the clock ----------------------------------------------------------


def crank(t):
    """Angle of a crank, its speed and acceleration."""
    return 0.1 + 0.4 * np.sin(1.5 * t), 0.6 * np.cos(1.5 * t), -0.9 * np.sin(1.5 * t)


def about_y(q, t):
    """The same as a joint."""
    c, s = rd.cos(0.1 + 0.4 * rd.sin(1.5 * t)), rd.sin(0.1 + 0.4 * rd.sin(1.5 * t))
    return [[c, 0, s, 0], [0, 1, 0, 0], [-s, 0, c, 0], [0, 0, 0, 1]]


def clockwork(way):
    """A four-bar whose crank follows the clock: by a constraint, or as a joint of time alone."""
    if way == "constraint":
        law = rd.Constraint("clock", lambda q, t: q[0] - 0.1 - 0.4 * rd.sin(1.5 * t), "crank_drive")
        return rd.load("four_bar", constraints=[law])
    angle = bundled("four_bar").mechanism.joints
    (axis,) = (joint.axis for joint in angle if joint.name == "crank_drive")
    assert axis == (0.0, 1.0, 0.0)

    return rd.load("four_bar", joint_maps={"crank_drive": rd.JointMap(0, about_y)})


@pytest.mark.parametrize("way", ["constraint", "joint"])
def test_a_crank_that_follows_the_clock_is_a_driven_crank(way):
    robot, free = clockwork(way), bundled("four_bar")
    rest = slice(None) if way == "constraint" else slice(1, None)
    assert robot.dof == 0 and robot.nq == free.nq - (way == "joint")
    assert free.joint_names[0] == "crank_drive"
    q = robot.at(T).assemble()
    assert np.abs(robot.at(T).loop_residual(q)).max() < 1e-12
    v = robot.at(T).consistent_velocity(q, np.zeros(robot.nv))
    full_q, full_v = (q, v) if way == "constraint" else ([crank(T)[0], *q], [crank(T)[1], *v])
    close(full_q[0], crank(T)[0], 1e-12)
    close(full_v[0], crank(T)[1], 1e-12)
    tau = np.array([0.0, 0.2, -0.1])
    driven = free.hybrid_dynamics(
        full_q, full_v, controlled={"crank_drive": crank(T)[2]},
        tau={"crank_pin": 0.2, "rocker_pivot": -0.1},
    )  # fmt: skip
    close(robot.at(T).forward_dynamics(q, v, tau[rest]), driven.a[rest], 1e-10)
    found = robot.at(T).constrained_dynamics(q, v, tau[rest])
    close(found.a, driven.a[rest], 1e-10)
    if way == "constraint":
        close(found.multipliers[robot.constraint_names.index("clock[0]")], driven.tau[0], 1e-10)
    close(robot.at(T).consistent_acceleration(q, v, np.zeros(robot.nv)), driven.a[rest], 1e-10)
    start = robot.at(0.0).assemble()
    speed = robot.at(0.0).consistent_velocity(start, np.zeros(robot.nv))
    run = rd.simulate(robot, q0=start, v0=speed, duration=0.3, step=5e-3)
    q0 = free.assemble([crank(0.0)[0], 0.0, 0.0], hold=["crank_drive"])
    other = rd.simulate(
        free, q0=q0, v0=free.consistent_velocity(q0, [crank(0.0)[1], 0, 0], hold=["crank_drive"]),
        controlled={"crank_drive": crank}, duration=0.3, step=5e-3,
    )  # fmt: skip
    close(run.q, other.q[:, rest], 1e-10)
    close(run.a, other.a[:, rest], 1e-9)
    assert run.loop_residual.max() < 1e-11
    if way == "constraint":  # a joint without a coordinate turns no rotor
        close(run.energy, other.energy, 1e-10)


def test_motors_beside_the_clock(five_bar):
    """One drive of a five-bar follows the clock: the other has to do what it does when driven."""
    law = rd.Constraint("clock", lambda q, t: q[0] - 0.1 - 0.4 * rd.sin(1.5 * t), "left_drive")
    robot = rd.load("five_bar", constraints=[law])
    drives = [n for n in five_bar.actuated_joints if n != "left_drive"]
    assert len(drives) == 1 and robot.dof == 1
    q = robot.at(T).assemble()
    v = robot.at(T).consistent_velocity(q, np.ones(robot.nv))
    own = five_bar.joints[drives[0]].v.start
    tau = np.zeros(robot.nv)
    tau[own] = 0.3
    a = robot.at(T).forward_dynamics(q, v, tau)
    k = five_bar.joints["left_drive"].v.start
    assert (v[k], a[k]) == pytest.approx(crank(T)[1:])
    forces = robot.at(T).inverse_dynamics(q, v, a, actuated=drives)
    close(forces, tau, 1e-10)
    given = {"left_drive": a[k]}
    driven = five_bar.hybrid_dynamics(q, v, controlled=given, tau={drives[0]: 0.3})
    close(driven.a, a, 1e-9)
    both = robot.at(T).inverse_dynamics(q, v, a)  # the clock's drive may help: least norm
    close(robot.at(T).forward_dynamics(q, v, both), a, 1e-9)
    rows = robot.at([T, T]).inverse_dynamics([q, q], v, a, actuated=drives)
    close(rows, [tau, tau], 1e-10)
    assert five_bar.mechanism.joints[0].name == "left_drive" == five_bar.joint_names[0]
    less = rd.load("five_bar", joint_maps={"left_drive": rd.JointMap(0, about_y)})
    close(less.at(T).inverse_dynamics(q[1:], v[1:], a[1:]), tau[1:], 1e-10)
    f = less.function("inverse_dynamics")
    close(f(q[1:], v[1:], a[1:], T), tau[1:], 1e-10)


@pytest.mark.parametrize("way", ["constraint", "joint"])
def test_batches_of_times(way):
    robot = clockwork(way)
    t = np.array([[0.1, 0.4, 0.9], [0.2, 0.3, 0.5]])
    q = np.array([[robot.at(x).assemble() for x in row] for row in t])
    v = robot.at(t).consistent_velocity(q, np.zeros(q.shape))
    tau = np.zeros(robot.nv)
    together = robot.at(t).forward_dynamics(q, v, tau)
    loads = robot.at(t).joint_wrenches(q, v, together)["base"]
    projected = robot.at(t).closed_state(q + 1e-6, v)
    for at in np.ndindex(t.shape):
        one = robot.at(t[at])
        close(one.forward_dynamics(q[at], v[at], tau), together[at], 1e-11)
        close(one.loop_velocity_offset(q[at]), robot.at(t).loop_velocity_offset(q)[at])
        close(one.joint_wrenches(q[at], v[at], together[at])["base"], loads[at], 1e-9)
        close(one.closed_state(q[at] + 1e-6, v[at])[0], projected[0][at], 1e-11)
    one_state = robot.at(t).kinetic_energy(q[0, 0], v[0, 0])
    assert one_state.shape == t.shape


@pytest.mark.parametrize("way", ["constraint", "joint"])
def test_a_state_of_another_time_is_open(way):
    """The states that are, and by how much: each is looked at when it is."""
    robot = clockwork(way)
    q, t = robot.at(0.1).assemble(), np.array([0.1, 0.4, 0.1])
    v = robot.at(0.1).consistent_velocity(q, np.zeros(robot.nv))
    a = robot.at(0.1).forward_dynamics(q, v, 0.0 * v)
    with pytest.raises(rd.InconsistentStateError) as error:
        robot.at(t).forward_dynamics(q, v, 0.0 * v)
    assert error.value.rows == (1,)
    close(error.value.residual, robot.at(0.4).loop_residual(q), 1e-14)
    with pytest.raises(rd.InconsistentStateError):
        robot.at(0.4).joint_wrenches(q, v, a)
    together = robot.at(0.1).forward_dynamics(np.tile(q, (3, 1)), v, 0.0 * v)
    close(together, np.tile(a, (3, 1)), 1e-12)
    slow = robot.at(0.1).consistent_velocity(q, np.zeros(robot.nv)) * 0.9
    with pytest.raises(rd.InconsistentStateError, match="speeds"):
        robot.at(0.1).forward_dynamics(q, slow, 0.0 * v)


CLOSING = [kind for kind in KINDS.values() if kind.closes_loops and kind.in_files]


@pytest.mark.parametrize("kind", CLOSING, ids=str)
def test_rows_of_loops_with_joints_of_time(kind):
    """The residual has the rate ``K v + psi``, and that the rate ``K a + k``."""
    rng = np.random.default_rng(len(kind.name))
    mechanism = random_mechanism(rng, ["spherical", "revolute", "prismatic", "universal"])
    joints = [replace(j, parent=f"link{k}") for k, j in enumerate(mechanism.joints)]
    mechanism = replace(mechanism, joints=tuple(joints))
    axis = (0.0, 0.6, 0.8)
    place = Pose((0.1, 0.2, 0.3), (0.3, -0.2, 0.5))
    loop = Loop("cut", kind.name, "link4", "link0", place, Pose(), axis, (1.0, 0.0, 0.0))
    loop = with_constants(loop, random_constants(rng, kind))
    robot = rd.load(mechanism, loops=[loop], joint_maps={"joint1": rd.JointMap(1, cam)},
                    allow_unphysical=True, passive=False)  # fmt: skip
    # open or closed: the rows are what they are everywhere
    q, v = rd.load(mechanism).random(rng), 0.5 * rng.normal(size=robot.nv)
    assert robot.joints["joint1"].v.stop > robot.joints["joint1"].v.start

    def at(s):
        return robot.integrate(q, s * v)

    rate = robot.at(T).loop_jacobian(q) @ v + robot.at(T).loop_velocity_offset(q)
    close(slope(lambda s: robot.at(T + s).loop_residual(at(s))), rate, BY_DIFFERENCES)
    assert np.abs(robot.at(T).loop_velocity_offset(q)).max() > 1e-3

    def along(s):
        return robot.at(T + s).loop_jacobian(at(s)) @ v + robot.at(T + s).loop_velocity_offset(
            at(s)
        )

    close(slope(along), robot.at(T).loop_bias(q, v), BY_DIFFERENCES)


# -- impacts --------------------------------------------------------------------------------------


@pytest.mark.parametrize(("n", "function"), CASES)
def test_an_impact_takes_no_time(n, function):
    """The clock's coordinate does not jump: it is driven; what is hit moves with the clock, too."""
    c = Pair(n, function, 1)
    r, o = c.robot, c.other
    x, dx = c.states("q", "v")
    place = "link3", [0.1, 0.2, 0.3]
    d = np.array([0.6, 0.0, 0.8])
    u = r.at(T).frame_twist(c.q, c.v, "link3", axes="world")
    lever = r.at(T).frame_pose(c.q, "link3")[:3, :3] @ place[1]
    d = -d if d @ (u[:3] + np.cross(u[3:], lever)) > 0.0 else d
    hit = r.at(T).impact(c.q, c.v, *place, d, restitution=0.3)
    other = o.impact(x, dx, *place, d, restitution=0.3, controlled=[c.axis])
    close(hit.v, c.shorter(other.v), 1e-10)
    close(hit.impulse, other.impulse, 1e-10)
    close(hit.joint_impulses["base"], other.joint_impulses["base"], 1e-9)
    v = hit.v
    after = r.at(T).frame_twist(c.q, v, "link3", axes="world")
    before = d @ (u[:3] + np.cross(u[3:], lever))
    assert d @ (after[:3] + np.cross(after[3:], lever)) == pytest.approx(-0.3 * before)
    stopped = r.at(T).latch(c.q, c.v, ["joint0"])
    assert stopped.v[r.joints["joint0"].v] == pytest.approx(0.0, abs=1e-12)
    with pytest.raises(rd.ShapeError, match=r"ask robot\.at\(t\)"):
        r.apparent_mass(c.q, *place, d)
    one = rd.RobotPoint(r.at(T), c.q, c.v, *place)
    free = rd.load(random_mechanism(np.random.default_rng(2), ["revolute"]), base="floating")
    q0, v0 = free.neutral(), np.array([*(-20.0 * d), *np.zeros(4)])
    met = free.impact(q0, v0, "link0", np.zeros(3), d, against=one)
    assert met.against_v.shape == c.v.shape


# -- functions, copies and errors -----------------------------------------------------------------


@pytest.fixture(scope="module")
def bead():
    mechanism = random_mechanism(np.random.default_rng(3), ["revolute"] * 3)
    return rd.load(mechanism, joint_maps={"joint1": rd.JointMap(1, cam)})


def test_functions_take_the_time_last(bead):
    rng = np.random.default_rng(0)
    q, v, a = rng.normal(size=(3, 3))
    f = bead.function("inverse_dynamics", wrenches=("link2",))
    assert [port.name for port in f.inputs] == ["q", "v", "a", "wrench:link2", "t"]
    w = rng.normal(size=6)
    expected = bead.at(T).inverse_dynamics(q, v, a, wrenches={"link2": w})
    close(f(q, v, a, w, T), expected, 1e-14)
    f, many = bead.function("forward_dynamics"), np.linspace(0.0, 1.0, 50)
    rows = np.array([f(q, v, a, t) for t in many])
    close(f(q, v, a, many), rows, 1e-12)
    close(bead.at(many).forward_dynamics(np.tile(q, (50, 1)), v, a), rows, 1e-12)
    close(f.jacobian("t")(q, v, a, T), slope(lambda s: f(q, v, a, T + s)), 1e-6)
    moved = slope(lambda s: f(bead.integrate(q, s * v), v, a, T))
    close(f.jacobian("q")(q, v, a, T) @ v, moved, 1e-6)
    out = np.empty(3)
    assert bead.at(T).forward_dynamics(q, v, a, out=out) is out
    close(out, f(q, v, a, T), 1e-14)
    single = bead.at(T).mass_matrix(q.astype(np.float32))
    assert single.dtype == np.float32
    assert [port.name for port in bead.function("integrate").inputs] == ["q", "dv"]


def test_c_source_takes_the_time(bead, tmp_path):
    f = bead.function("forward_dynamics")
    arrays = [*np.random.default_rng(0).normal(size=(3, 3)), np.array(T)]
    out = np.empty(3)
    c_library(tmp_path, f.c_source("f")).f(*pointers(*arrays, out))
    close(out, f(*arrays), 1e-12)


def test_a_time_that_is_missing_or_none(bead):
    q = np.zeros(3)
    with pytest.raises(
        rd.ShapeError, match=r"depends on time \(joint 'joint1'\): ask robot\.at\(t\)"
    ):
        bead.inverse_dynamics(q, q, q)
    with pytest.raises(
        rd.ShapeError, match=r"depends on time \(constraint 'clock'\): ask robot\.at\(t\)"
    ):
        clockwork("constraint").neutral()
    for wrong in ("soon", np.nan, [0.1, np.inf], None):
        with pytest.raises(rd.ShapeError):
            bead.at(wrong).mass_matrix(q)
    with pytest.raises(rd.ShapeError, match="broadcast"):
        bead.at([0.1, 0.2, 0.3]).mass_matrix(np.zeros((2, 3)))
    with pytest.raises(rd.ShapeError, match="one time"):
        clockwork("constraint").at([0.1, 0.2]).assemble()


def test_a_robot_that_does_not_depend_on_time_is_the_same_at_all_times():
    robot = bundled("arm7")
    assert robot.at(3.0) is robot
    assert robot.at([0.0, 1.0]) is robot
    with pytest.raises(rd.ShapeError):
        robot.at("soon")


def test_a_robot_at_a_time_is_a_robot():
    """Its copies are at that time too, and another time can be asked for."""
    robot = clockwork("constraint")
    then = robot.at(T)
    q = then.assemble()
    assert repr(then).endswith(f"at {T:g} s>")
    assert not np.allclose(q, robot.at(0.0).assemble())
    np.testing.assert_array_equal(then.at(0.0).assemble(), robot.at(0.0).assemble())
    np.testing.assert_array_equal(pickle.loads(pickle.dumps(then)).assemble(), q)
    np.testing.assert_array_equal(then.with_(gravity=(0, 0, 0)).assemble(), q)
    assert then.function("mass_matrix") is robot.function("mass_matrix")
    assert then.dof == robot.dof


def test_what_cannot_depend_on_time():
    with pytest.raises(rd.SettingsError, match="depends on time"):
        clockwork("constraint").reduced()
    with pytest.raises(rd.SettingsError, match="depends on time"):
        Engine(clockwork("constraint"))


@pytest.mark.parametrize(
    ("n", "function"),
    [
        (0, lambda q: turn(0.0)),
        (1, lambda q, t: turn(q[1])),
        (0, lambda q, t: q[0]),
        (1, lambda q, t: turn(q[0], (t, t, 3.0))[:2]),
        (1, lambda q, t: [[1.0 + t, 0, 0, 0], [0, 1, 0, 0], [0, 0, 1, 0]]),
        (1, lambda q, time: turn(q[0] + time)),
    ],
)
def test_maps_of_time_that_are_refused(n, function):
    with pytest.raises(rd.ShapeError):
        rd.JointMap(n, function)


# -- joints that are cut --------------------------------------------------------------------------


def clocked_four_bar(**options):
    """A four-bar whose crank follows the clock, and the place of its rocker's pin."""
    clock = rd.Constraint("clock", lambda q, t: q[0] - 0.4 * rd.sin(2.0 * t), ["crank_drive"])
    return rd.load("four_bar", constraints=[clock], **options)


def test_limits_of_a_cut_joint_hold_where_the_clock_drives_a_linkage():
    free = clocked_four_bar()
    q = free.at(T).neutral()
    pin = free.loops[0]
    there = float(free.at(T).joint_positions(q)[pin.name])
    bounds = rd.Limits(lower=there + 0.1, upper=3.0)
    joints = tuple(
        replace(j, kind="revolute", limits=bounds) if j.name == pin.name else j
        for j in free.mechanism.joints
    )
    limited = rd.load(replace(free.mechanism, joints=joints))
    assert abs(there) > 0.1
    found = limited.at(T).neutral()  # the other way to assemble it
    close(found[0], q[0], 1e-9)
    assert limited.at(T).joint_positions(found)[pin.name] >= there + 0.1


def test_a_start_names_a_cut_joint_where_the_clock_drives_a_linkage():
    free = clocked_four_bar()
    pin = free.loops[0].name
    q = free.at(T).assemble([0.0, 2.0, 0.0])
    there = float(free.at(T).joint_positions(q)[pin])
    found = clocked_four_bar(near={pin: there}).at(T).neutral()
    close(free.at(T).joint_positions(found)[pin], there, 1e-9)
    assert np.abs(free.at(T).loop_residual(found)).max() < 1e-10


def test_what_the_clock_drives_in_a_linkage_can_be_hit():
    """As the linkage whose drive is driven at that speed: the constraint keeps its speed."""
    clock = rd.Constraint("clock", lambda q, t: q[0] - 0.4 * rd.sin(2.0 * t), ["left_drive"])
    r, other = rd.load("five_bar", constraints=[clock]), bundled("five_bar")
    q = r.at(T).neutral()
    v = r.at(T).consistent_velocity(q, [0.0, 0.5, 0.0, 0.0])
    assert abs(v[0]) > 0.1
    link, point, way = "right_rod", [0.0, 0.0, 0.1], np.array([1.0, 0.0, 0.0])
    speed = way @ r.at(T).frame_twist(q, v, link, axes="world")[:3]
    place = link, point, -np.sign(speed) * way
    hit = r.at(T).impact(q, v, *place)
    expected = other.impact(q, v, *place, controlled=["left_drive"])
    assert np.abs(hit.v - v).max() > 1e-3
    close(hit.v, expected.v, 1e-9)
    close(hit.impulse, expected.impulse, 1e-9)
    with pytest.raises(rd.InconsistentStateError, match="clock"):
        r.at(T).impact(q, 2.0 * v, *place)
    assert r.at(T).apparent_mass(q, *place) > 0.0
