"""Many postures closed at once are those that are found one by one, and so are the errors."""

from dataclasses import replace

import numpy as np
import pytest

import robodyn as rd
from robodyn.description import Loop, Pose

COUNT = 40


def quaternions():
    """Two free bodies, one hinged to the other by a loop."""
    body = rd.Inertia.from_matrix(1.0, (0.1, 0.2, 0.3), np.diag([0.2, 0.3, 0.25]))
    joints = [
        rd.Joint(name, "floating", "base", link) for name, link in (("one", "a"), ("two", "b"))
    ]
    ends = Pose((0.1, 0.2, -0.1), (0.4, 0.1, 0.3)), Pose((-0.2, 0.1, 0.3), (0.1, -0.5, 0.2))
    links = (rd.Link("base"), rd.Link("a", body), rd.Link("b", body))
    loop = Loop("loop", "revolute", "a", "b", *ends)
    return rd.load(rd.Mechanism("two", links, tuple(joints), (loop,)))


def one_by_one(robot, guesses, **options):
    return np.array([robot.assemble(q, **options) for q in guesses])


@pytest.mark.parametrize("name", ["four_bar", "five_bar", "crank_slider", "two_feet"])
def test_random_postures_are_those_drawn_one_by_one(name):
    robot, rng = rd.load(name), np.random.default_rng(3)
    alone = np.array([robot.random(rng) for _ in range(COUNT)])
    generator = np.random.default_rng(3)
    np.testing.assert_allclose(robot.random(generator, size=(4, COUNT // 4)).reshape(alone.shape),
                               alone, rtol=0, atol=1e-10)  # fmt: skip
    assert generator.random() == rng.random()
    assert robot.random(3, size=0).shape == (0, robot.nq)


@pytest.mark.parametrize(
    "name, same",
    [
        ("four_bar", 1e-10),
        ("crank_slider", 1e-10),
        ("quaternions", 1e-10),
        ("bricard", 1e-6),  # a row becomes redundant on the way: the step along it is rounding
    ],
)
def test_postures_are_those_assembled_one_by_one(name, same):
    robot, rng = quaternions() if name == "quaternions" else rd.load(name), np.random.default_rng(1)
    neutral = robot.neutral()
    steps = rng.uniform(-0.3, 0.3, (COUNT, robot.nv))
    guesses = robot.integrate(neutral, steps)
    guesses[0] = neutral
    found = robot.assemble(guesses)
    np.testing.assert_allclose(found, one_by_one(robot, guesses), rtol=0, atol=same)
    np.testing.assert_allclose(robot.loop_residual(found), 0.0, atol=1e-10)
    np.testing.assert_array_equal(found[0], neutral)


def test_held_joints_and_limits_are_kept_as_one_by_one():
    robot, rng = rd.load("four_bar"), np.random.default_rng(2)
    drive = robot.joint_names[0]
    guesses = rng.uniform(-1.0, 1.0, (COUNT, robot.nq))
    for options in ({"hold": [drive]}, {"beyond_limits": True}, {"hold": [], "near": None}):
        found = robot.assemble(guesses, **options)
        np.testing.assert_allclose(found, one_by_one(robot, guesses, **options), rtol=0, atol=1e-10)
    np.testing.assert_array_equal(robot.assemble(guesses, hold=[drive])[:, 0], guesses[:, 0])


def test_limits_that_guesses_are_beyond_hold_only_where_they_are_to():
    robot, rng = rd.load("four_bar"), np.random.default_rng(4)
    narrow = tuple(
        replace(x, kind="revolute", limits=rd.Limits(-0.1, 0.1)) if x.name == "crank_drive" else x
        for x in robot.mechanism.joints
    )
    guesses = robot.neutral() + rng.uniform(-0.2, 0.2, (COUNT, 1)) * [1.0, 0.0, 0.0]
    guesses = robot.assemble(guesses, hold=["crank_drive"]) + 1e-3 * rng.normal(size=(COUNT, 3))
    robot = rd.load(replace(robot.mechanism, joints=narrow))
    found = robot.assemble(guesses, beyond_limits=True)
    alone = one_by_one(robot, guesses, beyond_limits=True)
    np.testing.assert_allclose(found, alone, rtol=0, atol=1e-10)
    assert np.abs(found[:, 0]).max() > 0.15


def test_errors_are_those_of_the_first_row_that_is_impossible(crank_slider):
    drive = crank_slider.joint_names[-1]
    good = crank_slider.random(0, size=6)
    guesses = good.copy()
    place = crank_slider.joints[drive].q
    guesses[3:, place] += 50.0
    with pytest.raises(rd.AssemblyError) as alone:
        crank_slider.assemble(guesses[3], hold=[drive])
    with pytest.raises(rd.AssemblyError) as together:
        crank_slider.assemble(guesses, hold=[drive])
    assert str(together.value) == f"posture [3] of (6,): {alone.value}"
    np.testing.assert_array_equal(together.value.q, alone.value.q)
    guesses = good.copy()
    guesses[2, 0] = np.nan
    with pytest.raises(rd.ShapeError, match="q"):
        crank_slider.assemble(guesses)
