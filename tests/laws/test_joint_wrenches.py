"""Laws of wrenches in joints: the balance of momentum, and the power of each part."""

import dataclasses

import numpy as np
import pytest
from hypothesis import given, strategies as st
from support.comparison import close_within
from support.examples import examples
from support.interpreted import interpreted
from support.random_mechanisms import random_mechanism

import robodyn as rd
from robodyn.description import JOINT_KINDS, Mimic
from robodyn.symbolic.evaluate import evaluate

close = close_within(1e-10)

KINDS = [kind for kind in JOINT_KINDS if kind != "fixed"]
BASES = ("fixed", "floating", "moving")
GRAVITY = np.array([1.0, 2.0, -9.81])
ROTOR = rd.Actuator(8.0, 0.01, axis=(1.0, 2.0, -2.0), mounted_on="link0", viscous=0.02)

trees = st.lists(st.sampled_from([*KINDS, "fixed"]), max_size=4)
seeds = st.integers(0, 9999)
bases = st.sampled_from(BASES)


class Case:
    """A random tree whose first joint is a revolute one with a rotor on the base."""

    def __init__(self, kinds, base, seed):
        rng = np.random.default_rng(seed)
        mechanism = random_mechanism(rng, ["revolute", *kinds], damping=0.4, friction=0.3)
        if base == "fixed":
            mechanism = without_ground(mechanism)
        motors = {"joint0": ROTOR}
        self.robot = rd.load(mechanism, base=base, actuators=motors, gravity=GRAVITY, rigid=True)
        self.q = self.robot.random(rng)
        self.v, self.a = rng.normal(size=(2, self.robot.nv))
        last = self.robot.link_names[-1]
        self.wrenches = {"link1": rng.normal(size=6), last: rng.normal(size=6)}
        self.base = ()
        if base == "moving":
            moved = rd.BaseMotion.from_world(rng.normal(size=3), rng.normal(size=4))
            self.base = (moved.pose, *rng.normal(size=(2, 6)))
        described = [joint.name for joint in mechanism.joints]
        self.moving = tuple(name for name in self.robot.joint_names if name in described)

    def get(self, name, *arrays, base=None, **options):
        """Values of one program."""
        f = self.robot.function(name, **options)
        motion = self.base if base is None else base
        takes_base = any(port.name == "base_pose" for port in f.inputs)
        loads = [self.wrenches[link] for link in options.get("wrenches", ())]
        found = evaluate(f.program, *arrays, *(motion if takes_base else ()), *loads)
        return found if len(found) > 1 else found[0]

    def joint_wrenches(self, joints):
        rows = self.get(
            "joint_wrenches", self.q, self.v, self.a, joints=joints, wrenches=tuple(self.wrenches)
        )
        return dict(zip((*joints, "base"), rows, strict=True))

    def relative_twists(self):
        """Of each joint's child against its parent, in the child's frame."""
        twists = {}
        for name in self.moving:
            joint = self.robot.joints[name]
            frames = {"frame": joint.child, "relative_to": joint.parent}
            twists[name] = self.get("frame_twist", self.q, self.v, **frames)
        return twists

    def at(self, t):
        """State and base motion a short time later, to first order; momentum with them."""
        q, v, base = self.robot.integrate(self.q, t * self.v), self.v + t * self.a, self.base
        if base:
            X, V, A = base
            base = (X @ moved_by(t * V), V + t * A, A)
        return self.get("momentum", q, v, base=base)


def without_ground(mechanism):
    """Without the masses of what stands still on a fixed base: they are not part of the robot."""
    ground = {"link0"}
    for joint in mechanism.joints:
        if joint.kind == "fixed" and joint.parent in ground:
            ground.add(joint.child)
    links = [
        dataclasses.replace(link, inertia=None) if link.name in ground else link
        for link in mechanism.links
    ]
    return dataclasses.replace(mechanism, links=tuple(links))


def moved_by(twist):
    """Pose after a constant body twist for a second."""
    body = rd.load(random_mechanism(np.random.default_rng(0), []), base="floating")
    q = body.integrate(body.neutral(), twist)
    return rd.BaseMotion.from_world(q[:3], q[3:]).pose


def in_world(X_WB, wrench, about):
    force = X_WB[:3, :3] @ wrench[:3]
    return np.array([*force, *(X_WB[:3, :3] @ wrench[3:] + np.cross(X_WB[:3, 3] - about, force))])


@examples(20)
@given(kinds=trees, base=bases, seed=seeds)
def test_all_wrenches_from_outside_are_the_rate_of_momentum(kinds, base, seed):
    c = Case(kinds, base, seed)
    com = c.get("center_of_mass", c.q)
    root = c.robot.mechanism.links[0].name
    total = in_world(c.get("frame_pose", c.q, frame=root), c.joint_wrenches(())["base"], com)
    total[:3] += c.robot.total_mass * GRAVITY
    for link, wrench in c.wrenches.items():
        total += in_world(c.get("frame_pose", c.q, frame=link), wrench, com)
    if not c.base:
        close(c.get("centroidal_matrix", c.q) @ c.v, c.at(0.0))
    h = 1e-3
    rate = (8.0 * (c.at(h) - c.at(-h)) - (c.at(2 * h) - c.at(-2 * h))) / (12.0 * h)
    close(total, rate, 1e-6)


@examples(20)
@given(kinds=trees, base=bases, seed=seeds)
def test_power_of_the_parts(kinds, base, seed):
    c = Case(kinds, base, seed)
    total = c.joint_wrenches(c.moving)
    motor, passive = c.get(
        "joint_wrench_parts", c.q, c.v, c.a, joints=c.moving, wrenches=tuple(c.wrenches)
    )
    tau = c.get("inverse_dynamics", c.q, c.v, c.a, wrenches=tuple(c.wrenches))
    own = c.get("passive_forces", c.q, c.v)
    turning = c.get("frame_acceleration", c.q, c.v, c.a, frame="link0")[3:]
    at = c.robot.joints["joint0"].v.start
    # the motor also turns its rotor, and turns it with the link that carries it
    u = np.array(ROTOR.axis) / 3.0
    g = ROTOR.gear_ratio * ROTOR.rotor_inertia
    tau[at] -= g * (ROTOR.gear_ratio * c.a[at] + u @ turning)
    twists = c.relative_twists()
    for k, name in enumerate(c.moving):
        v = c.robot.joints[name].v
        close(motor[k] @ twists[name], tau[v] @ c.v[v])
        close(passive[k] @ twists[name], own[v] @ c.v[v])
        bearing = total[name] - motor[k] - passive[k]
        close(bearing @ twists[name], 0.0, 1e-10 * max(1.0, np.abs(total[name]).max()))


def test_what_holds_a_joint_that_mimics_is_no_part_of_its_motor():
    solid = rd.Inertia.from_matrix(1.0, (0.3, 0.1, 0.2), 0.1 * np.eye(3))
    names = ("one", "other", "lead", "mimic")
    links = tuple(rd.Link(name, solid) for name in ("ground", *names))
    mimics = {"mimic": Mimic("lead", -2.0, 0.1)}
    joints = tuple(
        rd.Joint(name, "revolute", x.name, name, rd.Pose((0.5, 0.0, 0.1)), axis=(0.0, 0.0, 1.0),
                 damping=0.2, mimic=mimics.get(name))
        for name, x in zip(names, links, strict=False)
    )  # fmt: skip
    ties = [
        rd.Constraint("tie", lambda q: q[0] - 0.5 * q[1], ("one", "other")),
        rd.Constraint("held", lambda q: q[0] - 0.7, ("mimic",)),
    ]
    arm = rd.Mechanism("arm", links, joints)
    near = {"lead": -0.3, "one": 0.1, "other": 0.2}
    robot = interpreted(arm, constraints=ties, gravity=(3.0, -2.0, 1.0), near=near)
    q, tau = robot.neutral(), np.array([0.6, -0.4, 0.3])
    v = robot.consistent_velocity(q, [0.0, 1.0, 1.0])
    motor = robot.joint_wrenches(q, v, tau=tau, joints=names[2:]).motor
    close(motor["lead"][5] - 2.0 * motor["mimic"][5], tau[2])
    assert abs(robot.hybrid_dynamics(q, v, tau=tau).multipliers[1]) > 0.1


@pytest.mark.parametrize("ends", [("link2", "link3"), ("link3", "link2")])
def test_a_ball_that_closes_a_loop_may_be_described_along_any_axes(ends):
    """Its forces are those of the points that it joins, at either end of a rod."""
    tree = random_mechanism(np.random.default_rng(4), ["revolute", "universal", "prismatic"])
    parents = ("link0", "link1", "link0")
    joints = (dataclasses.replace(x, parent=y) for x, y in zip(tree.joints, parents, strict=True))
    tree = dataclasses.replace(tree, joints=tuple(joints))
    free, point = rd.load(tree), (0.3, -0.2, 0.4)
    first, other = (free.frame_pose(np.zeros(free.nq), link) for link in ends)
    there = np.linalg.solve(other, first @ [*point, 1.0])[:3]
    found = []
    for turn in ((0.0, 0.0, 0.0), (0.5, -0.8, 1.1)):
        poses = rd.Pose(point, turn), rd.Pose(tuple(there), turn[::-1])
        robot = interpreted(
            dataclasses.replace(tree, loops=(rd.Loop("ball", "spherical", *ends, *poses),))
        )
        q, tau = np.zeros(robot.nq), np.array([0.7, -0.3, 0.2, 1.5])
        v = robot.consistent_velocity(q, np.ones(robot.nv))
        found.append(robot.joint_wrenches(q, v, tau=tau).in_frame("world"))
    for name, wrench in found[0].items():
        close(found[1][name], wrench)
    assert np.abs(found[0]["ball"][:3]).min() > 1e-2


@pytest.mark.parametrize("name", ["double_pendulum", "four_bar"])
def test_what_the_base_supplies_may_be_asked_for_alone(name):
    robot = rd.load(name)
    q, a = robot.neutral(), np.zeros(robot.nv)
    first = robot.joint_names[0]
    whole = robot.joint_wrenches(q, a, a)
    alone = robot.joint_wrenches(q, a, a, joints=["base"])
    both = robot.joint_wrenches(q, a, a, joints=("base", first))
    assert [*alone] == ["base"] and [*both] == [first, "base"]
    close(alone["base"], whole["base"])
    close(both[first], whole[first])
    if name == "double_pendulum":  # the function of a linkage needs multipliers
        close(robot.function("joint_wrenches", joints=["base"])(q, a, a), whole["base"][None])
