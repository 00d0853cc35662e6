"""Robots on a base that moves as prescribed [Wittenburg 1977, figures 5.5 and 5.7].

Double pendulums on a moving suspension, against equations written by hand; and two arms on one
carrier, which do not know of each other.
"""

import dataclasses

import numpy as np
import pytest
from oracles.double_pendulums import balls, by_lagrange, by_moments, pins
from scipy.spatial.transform import Rotation
from support.comparison import close_within
from support.random_mechanisms import random_mechanism

import robodyn as rd
from robodyn.symbolic.evaluate import evaluate

close = close_within(1e-11)

G = np.array([0.0, 0.0, -9.81])


def get(robot, name, *arrays, **options):
    return evaluate(robot.function(name, **options).program, *arrays)


def motion(rng, turning=True):
    """Pose, body twist and its derivative, as the programs take them."""
    moved = rd.BaseMotion.from_world(
        rng.normal(size=3),
        rng.normal(size=4) if turning else (0.0, 0.0, 0.0, 1.0),
        rng.normal(size=3),
        rng.normal(size=3) * turning,
        5.0 * rng.normal(size=3),
        rng.normal(size=3) * turning,
    )
    return moved.pose, moved.twist, moved.acceleration


# -- double pendulums: the moving suspension of figure 5.5a ---------------------------------------


@pytest.mark.parametrize("seed", range(4))
def test_double_pendulum_on_a_moving_suspension_equals_lagrange(seed):
    rng = np.random.default_rng(seed)
    robot = rd.load(pins(), base="moving", passive=False)
    q, v, a = rng.normal(size=(3, 2))
    pose, twist, acceleration = motion(rng, turning=False)
    tau = by_lagrange(q, v, a, acceleration[:3], G)
    base = (pose, twist, acceleration)
    close(get(robot, "inverse_dynamics", q, v, a, *base)[0], tau)
    close(get(robot, "forward_dynamics", q, v, tau, *base)[0], a)
    for k in (0, 1):
        rest = get(robot, "hybrid_dynamics", q, v, a[[k]], tau[[1 - k]], *base, controlled=(k,))
        close(rest[0], a)
        close(rest[1], tau)


@pytest.mark.parametrize("seed", range(4))
def test_two_balls_on_a_moving_suspension_equal_the_moments_by_hand(seed):
    rng = np.random.default_rng(seed)
    mechanism = balls(rng)
    robot = rd.load(mechanism, base="moving", passive=False, rigid=True)
    q = robot.random(rng)
    v, a = rng.normal(size=(2, 6))
    base = motion(rng, turning=False)
    first, second = (Rotation.from_quat(x).as_matrix() for x in (q[:4], q[4:]))
    tau = by_moments(
        mechanism, (first, first @ second), v.reshape(2, 3), a.reshape(2, 3), base[2][:3], G
    )
    close(get(robot, "inverse_dynamics", q, v, a, *base)[0], tau)
    close(get(robot, "forward_dynamics", q, v, tau, *base)[0], a, 1e-9)


@pytest.mark.parametrize("kind", ["pins", "balls", "mixed"])
def test_a_base_that_accelerates_against_gravity_replaces_it(kind):
    rng = np.random.default_rng(5)
    mixed = ["universal", "planar", "prismatic", "floating"]
    mechanism = {"pins": pins, "balls": lambda: balls(rng)}.get(
        kind, lambda: random_mechanism(rng, mixed)
    )()
    heavy = rd.load(mechanism, base="moving", gravity=G, passive=False)
    weightless = rd.load(mechanism, base="moving", gravity=(0.0, 0.0, 0.0), passive=False)
    q = heavy.random(rng)
    v, a = rng.normal(size=(2, heavy.nv))
    pose = motion(rng)[0]
    lift = rd.BaseMotion.from_world(linear_acceleration=-G).acceleration
    lift[:3] = pose[:3, :3].T @ lift[:3]
    tau = get(heavy, "inverse_dynamics", q, v, a, pose, np.zeros(6), np.zeros(6))[0]
    base = (pose, np.zeros(6), lift)
    close(get(weightless, "inverse_dynamics", q, v, a, *base)[0], tau)
    close(get(weightless, "forward_dynamics", q, v, tau, *base)[0], a, 1e-9)


# -- two arms on one carrier: figure 5.7 ----------------------------------------------------------

LEFT = ["revolute", "spherical", "prismatic"]
RIGHT = ["universal", "cylindrical", "helical"]


def renamed(mechanism, prefix):
    """Arms with names of their own on the common carrier ``link0``."""

    def new(name):
        return name if name == "link0" else prefix + name

    joints = [
        dataclasses.replace(j, name=prefix + j.name, parent=new(j.parent), child=new(j.child))
        for j in mechanism.joints
    ]
    links = [dataclasses.replace(link, name=new(link.name)) for link in mechanism.links]
    return dataclasses.replace(mechanism, links=tuple(links), joints=tuple(joints))


class Forest:
    """Two arms on one carrier, together and each alone."""

    def __init__(self, base, seed):
        rng = np.random.default_rng(seed)
        left = renamed(random_mechanism(rng, LEFT), "left_")
        right = renamed(random_mechanism(rng, RIGHT), "right_")
        both = dataclasses.replace(
            left, links=left.links + right.links[1:], joints=left.joints + right.joints
        )
        settings = {"base": base, "passive": False, "rigid": True}
        self.both, self.left, self.right = (
            rd.load(mechanism, **settings) for mechanism in (both, left, right)
        )
        self.q = self.both.random(rng)
        self.v, self.a, self.tau = rng.normal(size=(3, self.both.nv))
        self.base = motion(rng) if base == "moving" else ()
        self.nq, self.nv = self.left.nq, self.left.nv

    def parts(self, x):
        """Of each arm: x is coordinates or speeds."""
        n = self.nq if len(x) == self.both.nq else self.nv
        return x[:n], x[n:]

    def joined(self, name, *arrays):
        """Both arms alone, their results one after the other."""
        parts = zip((self.left, self.right), *(self.parts(x) for x in arrays), strict=True)
        return np.concatenate([get(robot, name, *own, *self.base)[0] for robot, *own in parts])


@pytest.mark.parametrize("seed", range(3))
def test_two_arms_on_a_moving_carrier_are_the_union_of_both(seed):
    f = Forest("moving", seed)
    assert f.both.nq != f.both.nv
    for name, x in (("inverse_dynamics", f.a), ("forward_dynamics", f.tau)):
        together = get(f.both, name, f.q, f.v, x, *f.base)[0]
        close(together, f.joined(name, f.q, f.v, x), 1e-9)


def test_their_mass_matrix_is_block_diagonal():
    f = Forest("moving", 0)
    M = get(f.both, "mass_matrix", f.q)[0]
    assert not M[: f.nv, f.nv :].any()
    assert not M[f.nv :, : f.nv].any()
    left, right = f.parts(f.q)
    close(M[: f.nv, : f.nv], get(f.left, "mass_matrix", left)[0])
    close(M[f.nv :, f.nv :], get(f.right, "mass_matrix", right)[0])


def test_what_one_arm_does_is_nothing_to_the_other():
    f = Forest("moving", 1)
    tau = get(f.both, "inverse_dynamics", f.q, f.v, f.a, *f.base)[0]
    q, v, a = f.q.copy(), f.v.copy(), f.a.copy()
    q[f.nq], v[f.nv], a[f.nv] = 1.0, -2.0, 3.0
    other = get(f.both, "inverse_dynamics", q, v, a, *f.base)[0]
    np.testing.assert_array_equal(other[: f.nv], tau[: f.nv])
    assert np.abs(other[f.nv :] - tau[f.nv :]).max() > 0.1


def test_a_floating_carrier_couples_them():
    f = Forest("floating", 2)
    M_inverse = get(f.both, "mass_matrix_inverse", f.q)[0][6:, 6:]
    n = f.nv - 6
    assert np.abs(M_inverse[:n, n:]).max() > 1e-3
