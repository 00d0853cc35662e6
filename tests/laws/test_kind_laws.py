"""Laws of every kind of joint, found through the registry: a new kind is tested without a new test.

What a kind says of itself, in its own axes and in numbers, is compared with what comes of it in a
robot. That the kinds of the library are what their names say is the subject of the oracles
(`oracles.joint_motion`).
"""

import dataclasses
import itertools

import numpy as np
import pytest
from oracles.joint_motion import shortest_turn_of_z
from scipy.spatial.transform import Rotation as Turn
from support.closed_cases import close
from support.interpreted import interpreted
from support.loop_graphs import random_pose, unit
from support.random_mechanisms import random_constants, random_inertia

import robodyn as rd
from robodyn import urdf
from robodyn.description import Joint, Limits, Link, Loop, Mechanism, Pose
from robodyn.description.joint import with_constants
from robodyn.joints import KINDS
from robodyn.joints.common.described import described_pose, described_subspace, matrix_of
from robodyn.joints.common.evaluate import evaluate, parts_of
from robodyn.joints.common.kind import JointGeometry
from robodyn.ros.states.messages import StateNames
from robodyn.symbolic.plane import Planar
from robodyn.symbolic.spatial import Placement
from robodyn.symbolic.vector import EZ, Rotation
from robodyn.urdf.write import as_written

FILES = [kind for kind in KINDS.values() if kind.in_files]
TREE = [kind for kind in FILES if kind.in_tree]
MOVING = [kind for kind in TREE if kind.nv]
LOOPS = [kind for kind in FILES if kind.closes_loops]
CUT = [kind for kind in LOOPS if kind.in_tree]
CHAINS = [kind for kind in KINDS.values() if kind.turning]

GRAVITY = (1.0, 2.0, -9.81)
#: Differences of fourth order with step 1e-3 of functions of order one.
STEP, BY_DIFFERENCES = 1e-3, 1e-7


def each(kinds):
    return pytest.mark.parametrize("kind", kinds, ids=str)


def slope(function, h=STEP):
    """Derivative at zero of a function of one number."""
    near, far = function(h) - function(-h), function(2 * h) - function(-2 * h)
    return (8.0 * near - far) / (12.0 * h)


def seed(kind):
    return [ord(letter) for letter in kind.name]


def joint_of(kind, rng, name="x", parent="link1", child="link2", **given):
    """A joint somewhere, along some axes, with some numbers of its kind."""
    joint = Joint(name, kind.name, parent, child, random_pose(rng), unit(rng), unit(rng), **given)
    return with_constants(joint, random_constants(rng, kind))


def chain(kind, rng, **given):
    """A revolute joint, one of the kind, and a revolute one."""
    joints = (
        joint_of(KINDS["revolute"], rng, "before", "link0", "link1"),
        joint_of(kind, rng, **given),
        joint_of(KINDS["revolute"], rng, "after", "link2", "link3"),
    )
    links = tuple(Link(f"link{k}", random_inertia(rng)) for k in range(4))
    return Mechanism("chain", links, joints)


class Chain:
    """Such a mechanism at a state."""

    def __init__(self, kind, passive=False, **given):
        rng = self.rng = np.random.default_rng(seed(kind))
        self.mechanism = chain(kind, rng, **given)
        self.joint = self.mechanism.joints[1]
        self.options = {"gravity": GRAVITY, "passive": passive, "rigid": True}
        self.robot = interpreted(self.mechanism, **self.options)
        self.q = self.robot.random(rng)
        self.v, self.a = rng.normal(size=(2, self.robot.nv))
        info = self.robot.joints["x"]
        self.own_q, self.own_v = info.q, info.v
        self.rest = [k for k in range(self.robot.nv) if not info.v.start <= k < info.v.stop]

    def own(self, name, *arrays):
        """A quantity of link2 seen from link1."""
        return getattr(self.robot, name)(*arrays, "link2", relative_to="link1")

    def moved(self, t):
        return self.robot.integrate(self.q, t * self.v)


def alone(kind, joint, q):
    """Pose of the child in the joint frame, by what the kind says of itself in its own axes."""
    R = shortest_turn_of_z(np.array(joint.axis)) if kind.axes else np.eye(3)
    second = Rotation.from_matrix(shortest_turn_of_z(R.T @ np.array(joint.axis2)))
    geometry = JointGeometry(kind, constants=joint.constants, R_J2=second)
    if kind.state_at is None:
        state = kind.state(geometry, [*q], [0.0] * kind.nv)
    else:
        places = [
            Planar(np.cos(x), np.sin(x)) if turns else Planar(x)
            for x, turns in zip(q, kind.turning, strict=True)
        ]
        state = kind.state_at(geometry, places, [0.0] * kind.nv)
    X_JZ = np.eye(4)
    X_JZ[:3, :3] = R
    return X_JZ @ matrix_of(state.X) @ X_JZ.T


# -- where the child is, and how it moves ---------------------------------------------------------


@each(TREE)
def test_the_pose_follows_origin_axes_and_numbers(kind):
    c = Chain(kind)
    for q in (c.q, c.robot.random(c.rng), c.robot.random(c.rng)):
        there = c.joint.origin.matrix @ alone(kind, c.joint, q[c.own_q])
        close(c.own("frame_pose", q), there, 1e-13)
        close(described_pose(kind, c.joint, q[c.own_q]), alone(kind, c.joint, q[c.own_q]), 1e-13)


@each(TREE)
def test_every_axis_and_number_counts(kind):
    """None is read, written and then forgotten."""
    c = Chain(kind)
    own, changes = c.q[c.own_q], {name: unit(c.rng) for name in kind.axes}
    changed = [dataclasses.replace(c.joint, **{name: x}) for name, x in changes.items()]
    for name, value in c.joint.constants.items():
        changed.append(with_constants(c.joint, {**c.joint.constants, name: value + 0.1}))
    for joint in changed:
        difference = described_pose(kind, joint, own) - described_pose(kind, c.joint, own)
        assert np.abs(difference).max() > 1e-3


@each(MOVING)
def test_the_motion_subspace_is_the_derivative_of_the_pose(kind):
    c = Chain(kind)
    X, V = c.own("frame_pose", c.q), c.own("frame_twist", c.q, c.v)
    W = np.linalg.inv(X) @ slope(lambda t: c.own("frame_pose", c.moved(t)))
    close(V, [*W[:3, 3], W[2, 1], W[0, 2], W[1, 0]], BY_DIFFERENCES)
    close(V, described_subspace(kind, c.joint, c.q[c.own_q]) @ c.v[c.own_v], 1e-13)
    rate = slope(lambda t: c.own("frame_twist", c.moved(t), c.v))
    close(c.own("frame_acceleration", c.q, c.v, 0.0 * c.a), rate, BY_DIFFERENCES)


@each(MOVING)
def test_units(kind):
    """A speed in rad/s turns something, one in m/s moves the origin, whatever else it does."""
    c = Chain(kind)
    for k, column in enumerate(described_subspace(kind, c.joint, c.q[c.own_q]).T):
        assert np.abs({"m": column[:3], "rad": column[3:]}[kind.unit(k)]).max() > 0.1


@each(TREE)
def test_what_it_leaves_unmoved(kind):
    """Exactly the directions and the origin that it says, in its own axes."""
    c = Chain(kind)
    joint = dataclasses.replace(c.joint, axis=(0.0, 0.0, 1.0))
    poses = [alone(kind, joint, c.robot.random(c.rng)[c.own_q]) for _ in range(4)]
    moved = np.max([np.abs(X - np.eye(4)).max(axis=0) for X in poses], axis=0)
    assert kind.unmoved == tuple(np.flatnonzero(moved < 1e-14))


@each(CHAINS)
@pytest.mark.parametrize("backwards", [False, True])
def test_its_turns_and_slides_one_after_the_other(kind, backwards):
    rng = np.random.default_rng(seed(kind))
    turns = [Rotation.from_matrix(shortest_turn_of_z(np.array(unit(rng)))) for _ in range(3)]
    X_PJ = Placement(turns[0])
    geometry = JointGeometry(kind, X_PJ, 0.0, {}, turns[1], turns[2], backwards and not kind.axial)
    q, v = rng.normal(size=(2, kind.nv))
    parts, after = parts_of(geometry)
    X = Placement()
    for part in parts:
        x = part.sign * q[part.freedom]
        own = Placement(Rotation.about(2, x)) if part.turning else Placement(p=EZ * float(x))
        X = X @ part.before @ own
    close(matrix_of(X @ after), matrix_of(evaluate(geometry, q, v).X), 1e-14)


# -- coordinates ----------------------------------------------------------------------------------


@each(TREE)
def test_neutral_coordinates_are_the_origin(kind):
    c = Chain(kind)
    close(c.own("frame_pose", c.robot.neutral()), c.joint.origin.matrix, 1e-14)


@each(MOVING)
def test_steps_and_differences(kind):
    c = Chain(kind)
    r, q, d = c.robot, c.q, 0.4 * c.v
    close(r.difference(q, r.integrate(q, d)), d, 1e-13)
    close(r.integrate(r.integrate(q, 0.3 * d), 0.7 * d), r.integrate(q, d), 1e-13)
    own = q[c.own_q], c.v[c.own_v]
    rates = kind.coordinates.rates(*([*part] for part in own))
    close(slope(lambda t: c.moved(t)[c.own_q]), rates, BY_DIFFERENCES)


@each(MOVING)
def test_the_rate_of_a_step(kind):
    """``integrate(q, u)`` moves with v where u has the rate that belongs to v, for small u."""
    c = Chain(kind)
    u = 0.02 * c.a
    du = c.robot.function("tangent_rate")(u, c.v)
    ahead, behind = (c.robot.integrate(c.q, u + s * STEP * du) for s in (1.0, -1.0))
    at = c.robot.integrate(c.q, u)
    found = (c.robot.difference(at, ahead) - c.robot.difference(at, behind)) / (2.0 * STEP)
    close(found, c.v, 1e-6)


@each(TREE)
def test_limits(kind):
    limits = Limits(-0.3, 0.2, 2.0, 5.0)
    c = Chain(kind, limits=limits)
    r, own_q, own_v = c.robot, c.own_q, c.own_v
    bounded = kind.limited and kind.nq == 1
    assert set(r.lower_limits[own_q]) <= {-0.3 if bounded else -np.inf}
    assert set(r.upper_limits[own_q]) <= {0.2 if bounded else np.inf}
    assert set(r.velocity_limits[own_v]) <= {2.0}
    assert set(r.effort_limits[own_v]) <= {5.0}
    for q in (r.random(c.rng) for _ in range(20)):
        assert not bounded or -0.3 <= q[own_q] <= 0.2
        X = c.own("frame_pose", q)
        close(X[:3, :3] @ X[:3, :3].T, np.eye(3), 1e-14)


# -- what may be done with it ---------------------------------------------------------------------


@each(MOVING)
def test_locked_is_welded(kind):
    c = Chain(kind)
    own = c.q[c.own_q]
    welded = rd.load(c.mechanism, **c.options).with_(locked={"x": own if kind.nq > 1 else own[0]})
    rest, left = c.rest, np.delete(np.arange(c.robot.nq), c.own_q)
    close(welded.frame_pose(c.q[left], "link3"), c.robot.frame_pose(c.q, "link3"), 1e-13)
    v, a = (np.where(np.isin(range(c.robot.nv), rest), x, 0.0) for x in (c.v, c.a))
    tau = c.robot.inverse_dynamics(c.q, v, a)[rest]
    close(welded.inverse_dynamics(c.q[left], v[rest], a[rest]), tau, 1e-12)
    held = {"q0": c.q, "v0": v, "duration": 0.05, "step": 0.01}
    still = rd.simulate(rd.load(c.mechanism, **c.options), locked=["x"], **held)
    held |= {"q0": c.q[left], "v0": v[rest]}
    close(still.q[:, left], rd.simulate(welded, **held).q, 1e-9)


@each(MOVING)
def test_driven_in_a_simulation_is_a_base_that_moves(kind):
    """What hangs on a joint that follows a path does not know what moves it."""
    c = Chain(kind)
    links, (_, joint, after) = c.mechanism.links[1:], c.mechanism.joints
    start, rate = c.q[c.own_q], c.v[c.own_v]

    def path(t):
        s, ds, dds = np.sin(3.0 * t), 3.0 * np.cos(3.0 * t), -9.0 * np.sin(3.0 * t)
        there = driven.integrate([*start, 0.0], [*(0.2 * s * rate), 0.0])
        return there[:-1], 0.2 * ds * rate, 0.2 * dds * rate

    carried = rd.load(Mechanism("carried", links[1:], (after,)), base="moving", gravity=GRAVITY)
    driven = rd.load(Mechanism("driven", links, (joint, after)), gravity=GRAVITY)

    def base(t):
        q, v, a = (np.concatenate([x, [0.0]]) for x in path(t))
        V = driven.frame_twist(q, v, "link2")
        return rd.BaseMotion(
            driven.frame_pose(q, "link2"), V, driven.frame_acceleration(q, v, a, "link2")
        )

    run = {"duration": 0.1, "step": 0.01}
    q0, v0 = (np.concatenate([x, [0.3]]) for x in path(0.0)[:2])
    there = rd.simulate(driven, q0=q0, v0=v0, controlled={"x": path}, **run)
    here = rd.simulate(carried, q0=q0[-1:], v0=v0[-1:], base=base, **run)
    close(there.q[:, :-1], np.array([path(t)[0] for t in there.t]), 1e-14)
    close(there.q[:, -1:], here.q, 1e-9)
    close(driven.forward_dynamics(there.q, there.v, there.tau), there.a, 1e-9)


@each(MOVING)
def test_speeds_that_are_the_rate_of_one_coordinate(kind):
    """Those that the kind says, and no others."""
    c = Chain(kind)
    states = [(c.robot.random(c.rng)[c.own_q], c.rng.normal(size=kind.nv)) for _ in range(3)]
    found = {
        k: j
        for j in range(kind.nq)
        for k in range(kind.nv)
        if all(abs(kind.coordinates.rates([*q], [*v])[j] - v[k]) < 1e-12 for q, v in states)
    }
    own = {k: kind.coordinates.integral(k) for k in range(kind.nv)}
    assert found == {k: j for k, j in own.items() if j is not None}


@each(MOVING)
def test_one_speed_along_a_path(kind):
    """The others stay free, and the recorded force makes the motion."""
    c = Chain(kind)
    at = c.own_v.start

    def path(t):
        return 0.2 * np.sin(3 * t) + 0.1, 0.6 * np.cos(3 * t), -1.8 * np.sin(3 * t)

    robot, joint = rd.load(c.mechanism, **c.options), kind.coordinates
    for k in range(kind.nv):
        driven = {f"x[{k}]": path}
        run = rd.simulate(robot, q0=c.q, v0=c.v, controlled=driven, duration=0.05, step=0.01)
        x, dx, ddx = np.array([path(t) for t in run.t]).T
        close(run.v[:, at + k], dx, 1e-14)
        close(run.a[:, at + k], ddx, 1e-14)
        if joint.integral(k) is not None:
            close(run.q[:, c.own_q.start + joint.integral(k)], x, 1e-14)
        steps = [robot.difference(*pair) for pair in itertools.pairwise(run.q)]
        close(np.array(steps), 0.005 * (run.v[1:] + run.v[:-1]), 2e-3)
        close(robot.forward_dynamics(run.q, run.v, run.tau), run.a, 1e-9)
        assert not np.delete(run.tau, at + k, axis=1).any()


@each(TREE)
def test_written_and_read(kind):
    mechanism = Chain(kind, limits=Limits(-0.3, 0.2, 2.0, 5.0), damping=0.1).mechanism
    if not kind.limited:
        joint = dataclasses.replace(mechanism.joints[1], limits=None)
        joints = (mechanism.joints[0], joint, mechanism.joints[2])
        mechanism = dataclasses.replace(mechanism, joints=joints)
    text = urdf.write(mechanism)
    read, problems, _ = urdf.parse(text)
    assert not problems
    assert read == as_written(mechanism)
    for word in kind.words:
        renamed = text.replace(f'type="{kind.name}"', f'type="{word}"')
        assert urdf.parse(renamed)[0].joints[1] == read.joints[1]


@each(LOOPS)
@pytest.mark.parametrize("strict_tree", [False, True])
@pytest.mark.parametrize("at_link", [False, True])
def test_loops_written_and_read(kind, strict_tree, at_link):
    c = Chain(KINDS["revolute"])
    mechanism = dataclasses.replace(c.mechanism, loops=(loop_of(kind, c.rng, at_link),))
    read, problems, _ = urdf.parse(urdf.write(mechanism, strict_tree=strict_tree))
    assert not problems
    assert read.loops == as_written(mechanism).loops


def loop_of(kind, rng, at_link):
    X = Pose() if at_link else random_pose(rng)
    loop = Loop("loop", kind.name, "link0", "link3", random_pose(rng), X, unit(rng), unit(rng))
    loop = dataclasses.replace(loop, damping=0.1, friction=0.2)
    return with_constants(loop, random_constants(rng, kind))


@each(MOVING)
def test_some_message_of_ros_carries_it(kind):
    c = Chain(kind)
    names = StateNames(c.robot)
    own = [name for name in names.names if name.partition("[")[0] == "x"]
    assert len(own) == (kind.nq if kind.coordinates.flat else 0)
    assert ("x" in names.multi) != bool(own)
    content = names.content(c.q, c.v, c.v)
    read = names.read(content.name, content.position, content.velocity)
    known = ~np.isnan(read.q)
    assert known[c.own_q].all() == bool(own)
    close(read.q[known], c.q[known], 1e-15)


# -- in loops -------------------------------------------------------------------------------------


class CutChain:
    """The chain with the joint cut: a floating joint in its place, and a loop of its kind."""

    def __init__(self, kind):
        c = self.c = Chain(kind, passive=True, damping=0.4, friction=0.3)
        before, joint, after = c.mechanism.joints
        free = Joint("free", "floating", "link1", "link2")
        loop = Loop("x", kind.name, "link1", "link2", joint.origin, Pose(), joint.axis, joint.axis2,
                    damping=0.4, friction=0.3)  # fmt: skip
        loop = with_constants(loop, joint.constants)
        mechanism = Mechanism("cut", c.mechanism.links, (before, free, after), (loop,))
        self.robot = interpreted(mechanism, **c.options)
        self.v = self.speeds(c.v, c.own("frame_twist", c.q, c.v))

    def speeds(self, values, own):
        """Speeds or accelerations here, from those of the chain."""
        return np.concatenate([values[self.c.rest[:1]], own, values[self.c.rest[1:]]])

    @property
    def q(self):
        return self.posture(self.c.q)

    def posture(self, q):
        """Coordinates here where the chain has some."""
        X, info = self.c.own("frame_pose", q), self.c.robot.joints
        quat = Turn.from_matrix(X[:3, :3]).as_quat()
        first, last = (q[info[name].q] for name in ("before", "after"))
        return np.concatenate([first, X[:3, 3], quat, last])


@each(CUT)
def test_cut_is_closed_wherever_the_joint_can_go(kind):
    cut = CutChain(kind)
    c, robot = cut.c, cut.robot
    assert robot.nc == 6 - kind.nv
    for q in (c.q, *(c.robot.random(c.rng) for _ in range(4))):
        close(robot.loop_residual(cut.posture(q)), np.zeros(robot.nc), 1e-12)
    K = robot.loop_jacobian(cut.q)
    assert np.linalg.matrix_rank(K, 1e-6) == robot.nc
    close(K @ cut.v, np.zeros(robot.nc), 1e-12)
    A = c.own("frame_acceleration", c.q, c.v, c.a)
    close(K @ cut.speeds(c.a, A), -robot.loop_bias(cut.q, cut.v), 1e-11)
    away = c.rng.normal(size=robot.nv)
    rate = slope(lambda t: robot.loop_residual(robot.integrate(cut.q, t * away)))
    close(K @ away, rate, BY_DIFFERENCES)


@each([kind for kind in CUT if kind.nv])
def test_cut_is_where_it_is_when_not_cut(kind):
    """Positions and speeds, but for whole turns of what turns and the sign of quaternions."""
    cut = CutChain(kind)
    c = cut.c
    for q in (c.q, *(c.robot.random(c.rng) for _ in range(4))):
        found = np.atleast_1d(cut.robot.joint_positions(cut.posture(q))["x"])
        X = [described_pose(kind, c.joint, x) for x in (found, q[c.own_q])]
        close(X[0], X[1], 1e-11)
        if kind.nq == 1 and not any(kind.turning):  # it counts its turns
            close(found, q[c.own_q], 1e-11)
    found = np.ravel(cut.robot.joint_velocities(cut.q, cut.v)["x"])
    close(found, c.v[c.own_v], 1e-11)


@each(CUT)
def test_cut_moves_as_not_cut(kind):
    """With damping and dry friction in the joint, and the wrench in it."""
    cut = CutChain(kind)
    c, robot = cut.c, cut.robot
    tau = np.zeros(c.robot.nv)
    tau[c.rest] = c.rng.normal(size=len(c.rest))
    a = c.robot.forward_dynamics(c.q, c.v, tau)
    forces = cut.speeds(tau, np.zeros(6))
    found = robot.constrained_dynamics(cut.q, cut.v, forces).a
    close(found, cut.speeds(a, c.own("frame_acceleration", c.q, c.v, a)), 1e-9)
    there = c.robot.joint_wrenches(c.q, c.v, joints=["x", "after"], tau=tau)
    here = robot.joint_wrenches(cut.q, cut.v, joints=["x", "after"], tau=forces)
    for name in ("x", "after"):
        close(here[name], there[name], 1e-9)
        close(here.passive[name], there.passive[name], 1e-10)


@each([kind for kind in MOVING if not kind.is_free])
def test_followed_backwards_is_the_same_joint(kind):
    """A link reached through the joint from its child, or from the world with the joint forward."""
    rng = np.random.default_rng(seed(kind))
    links = tuple(Link(f"link{k}", random_inertia(rng)) for k in range(3))
    hinge = joint_of(KINDS["revolute"], rng, "hinge", "link0", "link1")
    joint = joint_of(kind, rng, "x", "link2", "link1", damping=0.3)
    free = Joint("free", "floating", "link0", "link2")
    loop = Loop("hinge", hinge.kind, "link0", "link1", hinge.origin, Pose(), hinge.axis)
    options = {"gravity": GRAVITY, "passive": True, "rigid": True}
    back = interpreted(Mechanism("back", links, (hinge, joint, free)), **options)
    ahead = interpreted(Mechanism("ahead", links, (free, joint), (loop,)), **options)
    assert [cut.name for cut in back.loops] == ["free"]
    q = back.random(rng)
    v, tau = rng.normal(size=(2, back.nv))
    X = np.linalg.inv(joint.origin.matrix) @ back.frame_pose(q, "link1", relative_to="link2")
    close(X, alone(kind, joint, q[back.joints["x"].q]), 1e-13)
    X = back.frame_pose(q, "link2")
    q_ahead = np.concatenate([X[:3, 3], Turn.from_matrix(X[:3, :3]).as_quat(), q[1:]])
    a = back.forward_dynamics(q, v, [0.0, *tau[1:]])
    v_ahead = np.concatenate([back.frame_twist(q, v, "link2"), v[1:]])
    found = ahead.constrained_dynamics(q_ahead, v_ahead, [*np.zeros(6), *tau[1:]]).a
    close(found, [*back.frame_acceleration(q, v, a, "link2"), *a[1:]], 1e-8)
    rate = slope(lambda t: back.frame_jacobian(back.integrate(q, t * v), "link2"))
    close(back.frame_jacobian_dot(q, v, "link2"), rate, BY_DIFFERENCES)
