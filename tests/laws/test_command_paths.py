"""Paths to commanded positions and speeds against the law that they solve."""

import numpy as np
import pytest
from scipy.integrate import solve_ivp

import robodyn as rd
from robodyn.ros.commands.command_path import CommandPath

W = 8.0  # [1/s]


def law(x, v, goal, speed, top):
    """A critically damped spring below the top speed, and a damper toward a speed."""
    wanted = np.where(np.isnan(goal), speed, 0.5 * W * (np.nan_to_num(goal) - x))
    return 2.0 * W * (np.clip(wanted, -top, top) - v)


def commands(seed, n=6):
    """Joints near and far, slow and much too fast, without a top speed, and with a speed.

    The last one comes beyond its goal hardly so far that its top speed counts again.
    """
    rng = np.random.default_rng(seed)
    x, v = rng.normal(size=n), rng.normal(size=n) * rng.choice([0.1, 1.0, 30.0], n)
    goal = np.where(rng.random(n) < 0.2, np.nan, x + rng.normal(size=n) * rng.choice([0.01, 1, 5]))
    found = x, v, goal, rng.normal(size=n), rng.choice([0.2, 1.0, 5.0, np.inf], n)
    return tuple(map(np.append, found, (0.2, -8.75, 0.0, 0.0, 1.0)))


@pytest.mark.parametrize("seed", range(12))
def test_paths_solve_the_law(seed):
    x, v, goal, speed, top = commands(seed)
    n, times = len(x), np.linspace(0.0, 8.0, 81)
    path = CommandPath(2.0, x, v, goal, speed, top, W)

    def rate(t, state):
        return np.concatenate([state[n:], law(state[:n], state[n:], goal, speed, top)])

    expected = solve_ivp(
        rate, (0.0, 8.0), [*x, *v], t_eval=times, rtol=1e-9, atol=1e-9, max_step=0.01
    ).y
    found = np.array([path(2.0 + t) for t in times])
    np.testing.assert_allclose(found[:, 0], expected[:n].T, atol=1e-5)
    np.testing.assert_allclose(found[:, 1], expected[n:].T, atol=1e-4)


@pytest.mark.parametrize("seed", range(12))
def test_paths_are_smooth_and_start_where_the_joints_are(seed):
    x, v, goal, speed, top = commands(seed)
    path = CommandPath(2.0, x, v, goal, speed, top, W)
    np.testing.assert_allclose(path(2.0)[:2], [x, v], atol=1e-12)
    rd.JointPath(path).check(np.linspace(2.0, 8.0, 600))
    positions = np.array([path(t)[0] for t in np.linspace(2.0, 9.0, 3000)])
    speeds = np.array([path(t)[1] for t in np.linspace(2.0, 9.0, 3000)])
    assert np.abs(np.diff(positions, axis=0)).max() < 1.01 * np.abs(speeds).max() * 7.0 / 2999


def test_no_faster_than_the_top_speed():
    goal, top = np.array([4.0, -3.0]), np.array([1.0, 0.5])
    path = CommandPath(0.0, np.zeros(2), np.zeros(2), goal, np.zeros(2), top, W)
    speeds = np.array([path(t)[1] for t in np.linspace(0.0, 12.0, 1000)])
    assert np.all(np.abs(speeds).max(axis=0) <= top)
    np.testing.assert_allclose(np.abs(speeds).max(axis=0), top, rtol=1e-3)
    np.testing.assert_allclose(path(12.0)[0], goal, atol=1e-9)
