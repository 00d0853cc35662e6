"""Ways to assemble a linkage: told apart, kept along motions, and their ends."""

import dataclasses

import numpy as np
import pytest
from support.rigid_robots import load

import robodyn as rd


def both_ways(angle):
    """The four-bar at a crank angle, in each of its two assemblies."""
    ways = []
    for branch in (1, -1):
        minimal = rd.load("four_bar", coordinates="minimal", branches={"rocker_pin": branch})
        ways.append(minimal.expand([angle]))
    return ways


def test_the_two_ways_to_assemble_a_four_bar_have_opposite_signs():
    robot = load("four_bar")
    for angle in np.linspace(-3.0, 3.0, 7):
        one, other = both_ways(angle)
        assert np.abs(robot.loop_residual(np.array([one, other]))).max() < 1e-12
        assert sorted(robot.branch_sign(np.array([one, other]))) == [-1, 1]


def test_a_guess_may_be_nearer_to_the_other_way_and_near_says_which_is_meant():
    robot = load("four_bar")
    meant, other = both_ways(0.5)
    free = robot.assemble(other + 1e-3, hold=["crank_drive"])
    assert robot.branch_sign(free) == robot.branch_sign(other)
    kept = robot.assemble(other + 1e-3, hold=["crank_drive"], near=meant)
    assert robot.branch_sign(kept) == robot.branch_sign(meant)
    assert kept[robot.joints["crank_drive"].q] == other[robot.joints["crank_drive"].q] + 1e-3
    assert np.abs(robot.loop_residual(kept)).max() < 1e-10


def test_branches_of_many_loops():
    robot = load("delta")
    rng = np.random.default_rng(3)
    start = robot.neutral()
    held = [
        k for name in robot.independent_joints for k in range(*robot.joints[name].q.indices(99))
    ]
    for _ in range(3):
        goal = start.copy()
        goal[held] += rng.uniform(-0.3, 0.3, len(held))
        q = robot.assemble(goal, near=start)
        assert np.abs(robot.loop_residual(q)).max() < 1e-10
        np.testing.assert_allclose(q[held], goal[held], atol=1e-12)
        assert robot.branch_sign(q) == robot.branch_sign(start)


def test_a_slider_ends_at_its_dead_centre():
    """Crank and rod in one line: the slider is as far out as both are long."""
    robot = load("crank_slider")
    outmost = 0.05 + np.hypot(0.15, 0.04) - 0.18
    goal = robot.neutral()
    goal[robot.joints["cylinder"].q] = outmost + 1e-3
    with pytest.raises(
        rd.AssemblyError, match=r"'cylinder' .* two ways to assemble it meet"
    ) as caught:
        robot.assemble(goal, hold=["cylinder"], near=robot.neutral())
    end = caught.value.q
    assert np.abs(robot.loop_residual(end)).max() < 1e-9
    assert float(end[robot.joints["cylinder"].q].item()) == pytest.approx(outmost, abs=1e-4)


def test_where_a_joint_is_at_its_limit_the_error_names_it():
    robot = load("two_feet")
    start = robot.neutral()
    knee = robot.joints["front_knee"].q.start
    ends = set()
    for seed in range(6):
        goal = robot.random(seed)
        try:
            robot.assemble(goal, near=start)
        except rd.AssemblyError as error:
            assert (error.q <= robot.upper_limits + 1e-9).all()
            assert (error.q >= robot.lower_limits - 1e-9).all()
            if "'front_knee' is at its limit" in str(error):
                room = (
                    error.q[knee] - robot.lower_limits[knee],
                    robot.upper_limits[knee] - error.q[knee],
                )
                ends.add(min(room) < 1e-2)
    assert ends == {True}


@pytest.mark.parametrize("name", ["four_bar", "bricard", "palletizer"])
def test_a_start_that_is_open_or_no_posture_is_refused(name):
    robot = load(name)
    q = robot.neutral()
    with pytest.raises(rd.AssemblyError, match="near is not a closed posture"):
        robot.assemble(q, near=q + 0.1)
    with pytest.raises(rd.ShapeError):
        robot.assemble(q, near=q * np.nan)
    with pytest.raises(rd.ShapeError):
        robot.assemble(q, near=q[1:])
    with pytest.raises(rd.UnknownNameError):
        robot.assemble(q, hold=["nobody"], near=q)


@pytest.mark.slow
def test_a_motion_says_when_it_passed_where_ways_meet():
    robot = load("four_bar")
    v0 = robot.consistent_velocity(robot.neutral(), [3.0, 0.0, 0.0], hold=["crank_drive"])
    run = rd.simulate(robot, v0=v0, duration=0.5, step=1e-2)
    assert run.branch_changes.size == 0
    one, other = (np.array(q) for q in zip(*map(both_ways, run.t), strict=True))
    flipped = dataclasses.replace(run, q=np.where(run.t[:, None] < 0.3, one, other))
    np.testing.assert_allclose(flipped.branch_changes, [0.3])


def test_a_tree_has_one_branch(arm):
    assert arm.branch_sign(np.zeros((3, 7))).tolist() == [1, 1, 1]
    np.testing.assert_array_equal(arm.assemble(np.ones(7), near=np.zeros(7)), np.ones(7))


def test_a_jump_to_another_branch_is_not_followed(monkeypatch):
    """Where loops close again elsewhere, within all limits, the branch ends for the search."""
    robot = rd.load("four_bar")
    q = robot.assemble([0.5, 0.0, 0.0], hold=["crank_drive"])
    goal = robot.assemble([0.6, 0.0, 0.0], hold=["crank_drive"])
    across = robot.assemble([0.6, 2.0, 0.0], hold=["crank_drive"])
    assert np.abs(across - goal).max() > 0.5
    following = robot._parts.postures._continuation
    assert following.follow(q, goal, [0]).end == ""
    monkeypatch.setattr(
        following._projection, "state",
        lambda x, v, free: (robot.assemble([x[0], *across[1:]], hold=["crank_drive"]), v),
    )  # fmt: skip
    ended = following.follow(q, goal, [0])
    assert ended.end == "branch"
    np.testing.assert_array_equal(ended.q, q)
