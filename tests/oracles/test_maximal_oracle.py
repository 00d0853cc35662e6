"""The oracle in maximal coordinates held against what is known without it."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from oracles.maximal import MaximalOracle
from support.comparison import close_within
from support.examples import examples
from support.random_mechanisms import random_mechanism

import robodyn as rd
from robodyn.description import JOINT_KINDS, Inertia, Joint, Link, Mechanism, Mimic, Pose

close = close_within(1e-10)

GRAVITY = np.array([1.0, 2.0, -9.81])
BASES = ("fixed", "floating", "moving")
STEP = 1e-5
BY_DIFFERENCES = 5e-8

trees = st.lists(st.sampled_from(list(JOINT_KINDS)), min_size=1, max_size=6)
seeds = st.integers(0, 9999)
bases = st.sampled_from(BASES)


def in_world(link, wrench):
    """Force and moment about the link's origin, in world axes."""
    return link.R_WB @ wrench[:3], link.R_WB @ wrench[3:]


def base_path(t):
    """A base that turns and accelerates: pose, body twist, its derivative at time ``t``."""
    twist, rate = np.array([0.3, -0.5, 0.2, 0.0, 0.0, 0.7]), np.array([1.0, 0.4, -2.0, 0, 0, 1.5])
    angle = 0.4 + 0.7 * t + 0.75 * t**2
    c, s = np.cos(angle), np.sin(angle)
    pose = np.eye(4)
    pose[:2, :2] = [[c, -s], [s, c]]
    # velocity and acceleration in the world at t = 0, where the axes are turned by 0.4
    v, w = twist[:3], twist[3:]
    R_0 = np.array([[np.cos(0.4), -np.sin(0.4), 0], [np.sin(0.4), np.cos(0.4), 0], [0, 0, 1]])
    pose[:3, 3] = R_0 @ (v * t + 0.5 * t**2 * (rate[:3] + np.cross(w, v)))
    return pose, twist, rate


class Solved:
    """A random tree with everything that can act on it, some or all speeds controlled."""

    def __init__(self, kinds, base, seed, share=0.5):
        rng = np.random.default_rng(seed)
        mechanism = random_mechanism(rng, kinds)
        self.robot = rd.load(mechanism, base=base, rigid=True)
        self.oracle = MaximalOracle(mechanism, GRAVITY, base)
        self.base = base_path(0.0) if base == "moving" else None
        self.q = self.robot.random(rng)
        self.v, self.a, self.tau = rng.normal(size=(3, self.robot.nv))
        self.wrenches = {f"link{i}": rng.normal(size=6) for i in {0, len(kinds)}}
        mask = np.flatnonzero(rng.random(self.robot.nv) < share)
        self.solution = self.oracle.solve(
            self.q, self.v, self.a, self.tau, mask, self.wrenches, self.base
        )
        self.a = self.solution.a

    def links(self, t):
        """All links a time ``t`` later."""
        q = self.robot.integrate(self.q, t * self.v + 0.5 * t**2 * self.a)
        base = base_path(t) if self.base else None
        if base:  # the twist at t
            base = (base[0], base[1] + t * base[2], base[2])
        every = range(self.robot.nv)
        v = self.v + t * self.a
        return self.oracle.solve(q, v, controlled=every, base_motion=base).links

    def external(self):
        """Force and moment about the world's origin of all that acts from outside."""
        force, moment = np.zeros(3), np.zeros(3)
        loads = list(self.wrenches.items())
        loads.append((next(iter(self.solution.links)), self.solution.base_wrench))
        for name, wrench in loads:
            link = self.solution.links[name]
            f, m = in_world(link, wrench)
            force, moment = force + f, moment + m + np.cross(link.p_WB, f)
        for link in self.solution.links.values():
            weight = link.mass * GRAVITY
            force, moment = force + weight, moment + np.cross(link.p_WC, weight)
        return np.concatenate([force, moment])


def momentum(links):
    """Linear, and angular about the world's origin."""
    p = sum(x.mass * x.v_WC for x in links.values())
    L = sum(x.J @ x.w_WB + np.cross(x.p_WC, x.mass * x.v_WC) for x in links.values())
    return np.concatenate([p, L])


@examples(15)
@given(kinds=trees, base=bases, seed=seeds)
def test_velocities_and_accelerations_are_derivatives_of_poses(kinds, base, seed):
    c = Solved(kinds, base, seed, share=1.0)
    ahead, behind = c.links(STEP), c.links(-STEP)
    for name, now in c.solution.links.items():
        x, y = ahead[name], behind[name]
        close(now.v_WC, (x.p_WC - y.p_WC) / (2 * STEP), BY_DIFFERENCES)
        close(now.dv_WC, (x.v_WC - y.v_WC) / (2 * STEP), BY_DIFFERENCES)
        close(now.dw_WB, (x.w_WB - y.w_WB) / (2 * STEP), BY_DIFFERENCES)
        W = (x.R_WB - y.R_WB) / (2 * STEP) @ now.R_WB.T
        close(now.w_WB, [W[2, 1], W[0, 2], W[1, 0]], BY_DIFFERENCES)


@examples(15)
@given(kinds=trees, base=bases, seed=seeds)
def test_all_wrenches_together_change_the_momentum(kinds, base, seed):
    c = Solved(kinds, base, seed, share=1.0)
    rate = (momentum(c.links(STEP)) - momentum(c.links(-STEP))) / (2 * STEP)
    close(c.external(), rate, BY_DIFFERENCES)


@examples(15)
@given(kinds=trees, base=bases, seed=seeds)
def test_bearings_do_no_work(kinds, base, seed):
    """The power of a whole joint wrench is that of the joint's torques."""
    c = Solved(kinds, base, seed)
    links = c.solution.links
    for edge in c.oracle.edges:
        if edge.joint.name == "base":
            continue
        own = float(c.solution.tau[edge.v] @ c.v[edge.v])
        parent, child = links[edge.joint.parent], links[edge.joint.child]
        f, m = in_world(child, c.solution.joint_wrenches[edge.joint.name])
        d = child.p_WB - parent.p_WB
        slip = child.v_WB - parent.v_WB - np.cross(parent.w_WB, d)
        terms = (f @ slip, m @ (child.w_WB - parent.w_WB))
        close(sum(terms) - own, 0.0, 1e-10 * (1.0 + max(map(abs, terms))))


@examples(15)
@given(kinds=trees, base=bases, seed=seeds)
def test_power_is_the_rate_of_energy(kinds, base, seed):
    c = Solved(kinds, base, seed)
    terms = [float(c.solution.tau @ c.v)]
    loads = list(c.wrenches.items())
    if base != "floating":  # else the base's wrench is already in tau
        loads.append((next(iter(c.solution.links)), c.solution.base_wrench))
    for name, wrench in loads:
        link = c.solution.links[name]
        f, m = in_world(link, wrench)
        terms.append(f @ link.v_WB + m @ link.w_WB)
    for x in c.solution.links.values():  # w (w x J w) = 0
        terms.append(-x.mass * x.v_WC @ (x.dv_WC - GRAVITY) - x.w_WB @ x.J @ x.dw_WB)
    assert abs(sum(terms)) < 1e-10 * sum(map(abs, terms), start=1.0)


def two_links(**second):
    """Arms of 0.5 and 0.4 m along x, turning about y: 2 and 1 kg in their middles."""
    links = (
        Link("ground", Inertia(5.0, Pose((0.1, 0.0, 0.0)))),
        Link("upper", Inertia(2.0, Pose((0.25, 0.0, 0.0)), 0.1, 0.0, 0.0, 0.1, 0.0, 0.1)),
        Link("lower", Inertia(1.0, Pose((0.2, 0.0, 0.0)), 0.1, 0.0, 0.0, 0.1, 0.0, 0.1)),
        Link("tool", Inertia(0.5)),
    )
    y = (0.0, 1.0, 0.0)
    joints = (
        Joint("shoulder", "revolute", "ground", "upper", Pose((0.0, 0.0, 1.0)), y),
        Joint("elbow", "revolute", "upper", "lower", Pose((0.5, 0.0, 0.0)), y, **second),
        Joint("grip", "fixed", "lower", "tool", Pose((0.4, 0.0, 0.0))),
    )
    return Mechanism("arm", links, joints)


def test_static_wrenches_of_a_stretched_arm():
    """By hand: what a joint carries is the weight beyond it, at its lever arm."""
    g, zero = 10.0, np.zeros(2)
    oracle = MaximalOracle(two_links(), (0.0, 0.0, -g))
    push = {"tool": [0.0, 3.0, 0.0, 0.0, 0.0, 0.0]}
    s = oracle.solve(zero, zero, zero, controlled=(0, 1), wrenches=push)
    # weights 2, 1 and 0.5 kg at 0.25, 0.7 and 0.9 m; +y turns x down, so holding up is -y
    close(s.tau, [-g * (0.5 + 0.7 + 0.45), -g * (0.2 + 0.2)])
    close(s.joint_wrenches["grip"], [0.0, -3.0, 5.0, 0.0, 0.0, 0.0])
    close(s.joint_wrenches["elbow"], [0.0, -3.0, 15.0, 0.0, -4.0, -1.2])
    close(s.joint_wrenches["shoulder"], [0.0, -3.0, 35.0, 0.0, -16.5, -2.7])
    # the ground adds its own 5 kg at 0.1 m; the shoulder is 1 m above
    close(s.base_wrench, [0.0, -3.0, 85.0, 3.0, -21.5, -2.7])


def test_the_wrench_turns_with_the_child():
    g = 10.0
    oracle = MaximalOracle(two_links(), (0.0, 0.0, -g))
    s = oracle.solve([np.pi / 2, 0.0], np.zeros(2), np.zeros(2), controlled=(0, 1))
    close(s.tau, np.zeros(2))  # hanging straight down
    close(s.joint_wrenches["elbow"], [-15.0, 0.0, 0.0, 0.0, 0.0, 0.0])


def test_a_mimic_joint_adds_its_torque_to_the_masters():
    mechanism = two_links(mimic=Mimic("shoulder", 2.0, 0.0))
    free, tied = MaximalOracle(two_links()), MaximalOracle(mechanism)
    q, v, a = 0.3, -0.7, 1.1
    both = free.solve([q, 2 * q], [v, 2 * v], [a, 2 * a], controlled=(0, 1))
    one = tied.solve([q], [v], [a], controlled=(0,))
    close(one.tau, [both.tau[0] + 2.0 * both.tau[1]])
    close(one.joint_wrenches["elbow"], both.joint_wrenches["elbow"])
    close(tied.solve([q], [v], tau=one.tau).a, [a])


def test_a_massless_link_passes_wrenches_on():
    arm = two_links()
    bare = Mechanism("arm", (*arm.links[:3], Link("tool")), arm.joints)
    s = MaximalOracle(bare).solve(np.zeros(2), np.ones(2), wrenches={"tool": np.arange(6.0)})
    close(s.joint_wrenches["grip"], -np.arange(6.0))


@pytest.mark.parametrize("base", BASES)
def test_a_held_base_is_a_floating_base_with_that_wrench(base):
    """What the base exerts is the force along the six speeds of a floating base."""
    mechanism = random_mechanism(np.random.default_rng(1), ["revolute", "universal"])
    rng = np.random.default_rng(2)
    v, a, V, A = rng.normal(size=3), rng.normal(size=3), *rng.normal(size=(2, 6))
    if base == "fixed":
        V = A = np.zeros(6)
    q = np.array([0.3, -0.2, 0.5])
    still = np.array([0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 1.0])
    floating = MaximalOracle(mechanism, GRAVITY, "floating").solve(
        [*still, *q], [*V, *v], [*A, *a], controlled=range(9)
    )
    close(floating.base_wrench, floating.tau[:6])
    if base != "floating":
        held = MaximalOracle(mechanism, GRAVITY, base).solve(
            q, v, a, controlled=range(3), base_motion=(np.eye(4), V, A)
        )
        close(held.base_wrench, floating.base_wrench)
        close(held.tau, floating.tau[6:])
