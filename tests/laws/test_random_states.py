"""Random states of all bundled robots agree with an oracle; ``make fuzz`` tries more of them."""

import fuzz_dynamics
import numpy as np
import pytest
from oracles.possible_motions import possible_motion
from support.bundled import bundled

import robodyn as rd


@pytest.mark.slow
@pytest.mark.parametrize("name", sorted({name for name, _ in fuzz_dynamics.robots()}))
def test_methods_agree_or_raise(name):
    fates, faults = fuzz_dynamics.fuzz(6, seed=1, only=[name])
    assert not faults
    assert sum(n for (_, _, fate), n in fates.items() if fate == "right") > 15


@pytest.fixture(scope="module")
def five_bar():
    return fuzz_dynamics.Robot("five_bar", "fixed")


def test_both_oracles_are_one(five_bar):
    rng = np.random.default_rng(0)
    for _ in range(3):
        state = five_bar.state(rng)
        at, a = [0], rng.normal(size=5)[: five_bar.robot.nv]
        one = possible_motion(five_bar.oracle, state.q, state.v, state.tau, a, at)
        other = five_bar.oracle.solve(state.q, state.v, a=a, tau=state.tau, controlled=at)
        np.testing.assert_allclose(one.a, other.a, rtol=0, atol=1e-9 * np.abs(other.a).max())
        np.testing.assert_allclose(one.tau[0], other.tau[0], rtol=1e-9)
        assert one.settled and one.residual < 1e-9 * np.abs(one.a).max()


def test_seeds_are_those_of_numpy(arm):
    for seed in (3, np.int64(3), [3, 4], np.array([3, 4]), np.random.SeedSequence(3)):
        expected = arm.random(np.random.default_rng(seed))
        np.testing.assert_array_equal(arm.random(seed), expected)


def test_many_random_positions_are_those_of_one_generator():
    robot, rng = bundled("four_bar"), np.random.default_rng(3)
    one_by_one = [robot.random(rng) for _ in range(6)]
    # the same numbers are drawn; loops are closed together, to the last digits
    np.testing.assert_allclose(robot.random(3, size=6), one_by_one, atol=1e-10)
    assert robot.random(3, size=(2, 3)).shape == (2, 3, 3)
    assert robot.random(3, size=()).shape == (3,)
    assert robot.random(3, size=0).shape == (0, 3)
    for wrong in (-1, (2, -1), 2.0, "abc", True, [2, 3]):
        with pytest.raises(rd.ShapeError, match="size"):
            robot.random(3, size=wrong)
    for large in (10**9, (10**6, 10**6), 10**400):
        with pytest.raises(rd.ShapeError, match="draw fewer at a time"):
            robot.random(3, size=large)
