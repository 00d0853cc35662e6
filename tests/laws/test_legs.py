"""Legs with closed loops, as they are found: right way up, and with the dynamics of others."""

import functools
import tempfile

import numpy as np
import pytest
from fuzz_assembly import CLOSED, gaps
from oracles.maximal import MaximalOracle
from oracles.rigid_tree import rigid_tree
from support.closed_cases import GRAVITY, close
from support.legs import LEGS, write

import robodyn as rd

#: Relative to the largest number.
EQUAL = 1e-10


@functools.cache
def loaded(name):
    """A leg on the ground, a biped that floats."""
    base = "floating" if name == "biped" else "fixed"
    with tempfile.TemporaryDirectory() as folder:
        robot = rd.load(write(folder, name), base=base, gravity=GRAVITY)
    return robot, MaximalOracle(robot.mechanism, GRAVITY, base)


def is_whole(name, q):
    """Whether all frames agree as poses, within limits."""
    robot, oracle = loaded(name)
    assert max(gaps(oracle, q).values()) < CLOSED
    assert ((robot.lower_limits <= q) & (q <= robot.upper_limits)).all()


@pytest.mark.parametrize("name", LEGS)
def test_sizes_and_freedoms(name):
    robot, _ = loaded(name)
    _, nv, dof = LEGS[name]
    floating = 6 if name == "biped" else 0
    assert (robot.nv, robot.dof) == (nv + floating, dof + floating)
    assert robot.nv >= 50 or name != "biped"


@pytest.mark.parametrize("name", LEGS)
def test_the_right_way_up(name):
    robot, oracle = loaded(name)
    rng = np.random.default_rng(4)
    assert max(gaps(oracle, robot.neutral()).values()) < CLOSED
    for _ in range(5):
        q = robot.random(rng)
        is_whole(name, q)
        step = rng.uniform(-0.3, 0.3, robot.nv)
        found = robot.assemble(robot.integrate(q, step))
        is_whole(name, found)
        assert np.abs(robot.difference(found, q)).max() < 1.0


@pytest.mark.parametrize("name", LEGS)
def test_motors_held_stay_where_they_are(name):
    robot, _ = loaded(name)
    rng = np.random.default_rng(5)
    motors = robot.actuated_joints
    at = [k for joint in motors for k in range(robot.nq)[robot.joints[joint].q]]
    for _ in range(3):
        q = robot.random(rng)
        guess = robot.integrate(q, rng.uniform(-0.3, 0.3, robot.nv))
        guess[at] = q[at]
        found = robot.assemble(guess, hold=motors)
        is_whole(name, found)
        np.testing.assert_array_equal(found[at], q[at])


def states(name):
    """Closed states under forces."""
    robot, _ = loaded(name)
    rng = np.random.default_rng(6)
    for _ in range(1 if name == "biped" else 3):
        q = robot.random(rng)
        v = robot.consistent_velocity(q, rng.normal(size=robot.nv))
        yield q, v, rng.normal(size=robot.nv)


@pytest.mark.parametrize("name", LEGS)
def test_dynamics_in_maximal_coordinates(name):
    robot, oracle = loaded(name)
    for q, v, tau in states(name):
        expected = oracle.solve(q, v, tau=tau).a
        close(robot.forward_dynamics(q, v, tau), expected, EQUAL)
        close(robot.constrained_dynamics(q, v, tau).a, expected, EQUAL)


@pytest.mark.parametrize("name", [name for name in LEGS if name != "biped"])
def test_motors_make_the_same_motion(name):
    robot, oracle = loaded(name)
    for q, v, tau in states(name):
        a = oracle.solve(q, v, tau=tau).a
        needed = robot.inverse_dynamics(q, v, a)
        close(oracle.solve(q, v, tau=needed).a, a, EQUAL)


@pytest.mark.parametrize("name", [name for name in LEGS if name != "biped"])
def test_pinocchio(name):
    pytest.importorskip("pinocchio")
    from oracles.pinocchio_closed import PinocchioClosed

    robot, oracle = loaded(name)
    there = PinocchioClosed(rigid_tree(robot.mechanism), GRAVITY)
    for q, v, tau in states(name):
        numbers, _ = oracle.motions(q, v)
        by_name = {edge.joint.name: own for edge, own in zip(oracle.all, numbers, strict=True)}
        a, _ = there.forward_dynamics(by_name, tau)
        close(robot.constrained_dynamics(q, v, tau).a, a, EQUAL)
