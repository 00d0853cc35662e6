"""Random trees with random loops of every kind, closed at a random state, against the oracle."""

import dataclasses

import numpy as np
import pytest
from hypothesis import given, strategies as st
from support.closed_cases import Case, close
from support.examples import examples
from support.loop_graphs import LOOP_KINDS, closing_loop, tree_and_posture

import robodyn as rd
from robodyn.description import JOINT_KINDS, Inertia, Joint, Link, Loop, Mechanism, Pose
from robodyn.joints import joint_kind

BASES = ("fixed", "floating", "moving")
#: Their axes belong to one side.
SIDED = ("universal", "planar")
#: With freedoms enough for any loop, and a fixed joint on the way.
TREE = ("revolute", "spherical", "prismatic", "fixed", "universal", "cylindrical", "helical")


def looped(seed, kinds, loops, base="fixed"):
    """Case of a random tree with loops ``(kind, predecessor, successor)``."""
    rng = np.random.default_rng(seed)
    tree, poses, q = tree_and_posture(rng, kinds, base)
    closures = tuple(
        closing_loop(rng, f"loop{k}", kind, (f"link{i}", f"link{j}"), poses)
        for k, (kind, i, j) in enumerate(loops)
    )
    return Case(dataclasses.replace(tree, loops=closures), base, seed, q)


def check(c):
    """Closed; and accelerations and wrenches are those of the oracle."""
    assert np.abs(c.robot.loop_residual(c.q)).max() < 1e-12
    assert np.abs(c.oracle.loop_errors(c.q, c.v)[1]).max() < 1e-8
    there = c.there(tau=c.tau)
    # random mechanisms may come near singular postures, where accelerations are large
    assert there.residual < 1e-7 * max(1.0, np.abs(there.a).max())
    close(c.robot.constrained_dynamics(c.q, c.v, c.tau, **c.loads).a, there.a, 1e-8)
    joints = [j.name for j in (*c.robot.mechanism.joints, *c.robot.mechanism.loops)]
    here = c.robot.joint_wrenches(c.q, c.v, tau=c.tau, joints=joints, **c.loads)
    close(here["base"], there.base_wrench, 1e-8)
    for joint in joints:
        settled = there.unique[joint]
        close(here[joint][settled], there.joint_wrenches[joint][settled], 1e-8)
    if c.oracle.base != "moving":
        assert c.robot.mobility(c.q) == c.oracle.mobility(c.q)


@pytest.mark.parametrize("kind", LOOP_KINDS)
def test_each_kind_between_links(kind):
    k = LOOP_KINDS.index(kind)
    c = looped(k, TREE, [(kind, 7, 2)], BASES[k % 3])
    assert c.robot.nc == joint_kind(kind).count
    check(c)


@pytest.mark.parametrize("kind", LOOP_KINDS)
def test_forward_dynamics(kind):
    """Which looks for the closed posture nearest to zero first."""
    c = looped(80, ("floating", "universal"), [(kind, 1, 0)])
    close(c.robot.forward_dynamics(c.q, c.v, c.tau, **c.loads), c.there(tau=c.tau).a, 1e-8)
    assert c.robot.mobility(c.q) == c.robot.nv - c.robot.nc


@pytest.mark.parametrize("kind", LOOP_KINDS)
def test_each_kind_to_the_base(kind):
    seed = 20 + LOOP_KINDS.index(kind)
    check(looped(seed, TREE, [(kind, *((0, 7) if seed % 2 else (7, 0)))]))


@pytest.mark.parametrize("base", BASES)
def test_several_loops_share_bodies(base):
    kinds = ("spherical", "cylindrical", "planar", "floating", "universal", "spherical")
    loops = [("spherical", 6, 1), ("universal", 6, 3), ("distance", 0, 6), ("planar", 1, 6)]
    c = looped(3, kinds, loops, base)
    assert c.robot.nc == 3 + 4 + 1 + 3
    check(c)


@examples(6)
@given(
    kinds=st.lists(
        st.sampled_from([k for k in JOINT_KINDS if k != "fixed"]), min_size=3, max_size=5
    ),
    kind=st.sampled_from(LOOP_KINDS),
    base=st.sampled_from(BASES),
    seed=st.integers(0, 999),
)
def test_random_trees_with_a_loop(kinds, kind, base, seed):
    """Whatever is left to move: redundant rows and postures without freedom included."""
    c = looped(seed, kinds, [(kind, len(kinds), 0)], base)
    K = c.robot.loop_jacobian(c.q)
    sizes = np.linalg.svd(K)[1]
    if np.any((sizes > 1e-9 * sizes[0]) & (sizes < 1e-2 * sizes[0])):
        return  # too near to a singular posture to compare digits
    check(c)


@pytest.mark.parametrize("kind", LOOP_KINDS)
def test_the_jacobian_is_the_derivative(kind):
    c, rng = looped(40, TREE, [(kind, 6, 2)]), np.random.default_rng(1)
    r, v, h = c.robot, c.v + 0.3 * rng.normal(size=c.robot.nv), 1e-4

    def rate(f):
        return (8.0 * (f(h) - f(-h)) - (f(2 * h) - f(-2 * h))) / (12.0 * h)

    close(r.loop_jacobian(c.q) @ v, rate(lambda t: r.loop_residual(r.integrate(c.q, t * v))), 1e-7)
    # the bias is asked for where loops stay closed
    moved = rate(lambda t: r.loop_jacobian(r.integrate(c.q, t * c.v)) @ c.v)
    close(r.loop_bias(c.q, c.v), moved, 1e-7)


@pytest.mark.parametrize("kind", [k for k in LOOP_KINDS if k not in SIDED])
def test_ends_exchanged(kind):
    """A loop read from its other end."""
    c = looped(60, TREE, [(kind, 7, 2)])
    (loop,) = c.robot.mechanism.loops
    turned = dataclasses.replace(
        loop,
        predecessor=loop.successor,
        successor=loop.predecessor,
        X_predecessor=loop.X_successor,
        X_successor=loop.X_predecessor,
    )
    again = Case(dataclasses.replace(c.robot.mechanism, loops=(turned,)), q=c.q)
    a = c.robot.constrained_dynamics(c.q, c.v, c.tau).a
    close(again.robot.constrained_dynamics(c.q, c.v, c.tau).a, a, 1e-9)


def test_a_linkage_without_joints_that_move():
    """Nothing moves, and nothing is asked of a posture without numbers."""
    links = (Link("ground"), Link("block", Inertia(2.0, Pose((0.5, 0.0, 0.0)), 1, 0, 0, 1, 0, 1)))
    joints = (Joint("glue", "fixed", "ground", "block"),)
    welded = Mechanism("welded", links, joints, (Loop("weld", "fixed", "ground", "block"),))
    robot = rd.load(welded)
    assert (robot.nv, robot.nc, robot.dof) == (0, 6, 0)
    for count in ((), (3,)):
        none = np.zeros((*count, 0))
        for name in ("inverse_dynamics", "forward_dynamics"):
            assert getattr(robot, name)(none, none, none).shape == none.shape
        assert robot.hybrid_dynamics(none, none).a.shape == none.shape
        assert robot.joint_wrenches(none, none, none)["base"].shape == (*count, 6)
