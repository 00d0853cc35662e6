"""Paths and locks of a simulation that do not fit the robot or contradict themselves."""

import numpy as np
import pytest
from scipy.spatial.transform import Rotation as Turn
from support.random_mechanisms import random_mechanism

import robodyn as rd


def still(t):
    return 0.0, 0.0, 0.0


def pair(t):
    return np.zeros((3, 2))


@pytest.fixture(scope="module")
def robot():
    kinds = ["revolute", "universal", "spherical", "fixed", "prismatic"]
    return rd.load(random_mechanism(np.random.default_rng(1), kinds))


def run(robot, **options):
    return rd.simulate(robot, duration=0.02, step=0.01, **options)


def test_paths_by_any_name(robot):
    both = run(robot, controlled={"joint1": pair})
    axes = run(robot, controlled={"joint1[0]": still, "joint1[1]": rd.JointPath(still)})
    np.testing.assert_allclose(both.q, axes.q, atol=1e-14)


@pytest.mark.parametrize(
    ("options", "suggestion"),
    [
        ({"controlled": {"jiont0": still}}, "joint0"),
        ({"locked": ["jiont0"]}, "joint0"),
        ({"controlled": {"joint1[2]": still}}, "joint1[1]"),
    ],
)
def test_unknown_names(robot, options, suggestion):
    with pytest.raises(rd.UnknownNameError) as error:
        run(robot, **options)
    assert suggestion in error.value.suggestions


@pytest.mark.parametrize(
    "options",
    [
        {"controlled": {"joint3": still}},
        {"locked": ["joint3"]},
        {"controlled": {"joint2[3]": still}},
    ],
)
def test_joints_that_cannot_follow_a_path(robot, options):
    with pytest.raises(rd.UnknownNameError):
        run(robot, **options)


@pytest.mark.parametrize(
    "options",
    [
        {"controlled": {"joint0": still}, "locked": ["joint0"]},
        {"controlled": {"joint1": pair, "joint1[0]": still}},
        {"locked": ["joint0", "joint0"]},
    ],
)
def test_driven_twice(robot, options):
    with pytest.raises(rd.ActuationError, match="twice"):
        run(robot, **options)


@pytest.mark.parametrize(
    "options",
    [
        {"controlled": {"joint0": pair}},
        {"controlled": {"joint1": still}},
        {"controlled": {"joint0": 0.3}},
        {"controlled": {"joint2": lambda t: np.zeros((3, 3))}},
        {"controlled": {"joint2": lambda t: (np.eye(4)[3], np.zeros(4), np.zeros(4))}},
        {"controlled": {"joint2[1]": lambda t: (np.eye(4)[3], np.zeros(3), np.zeros(3))}},
    ],
)
def test_paths_of_the_wrong_shape(robot, options):
    with pytest.raises(rd.ShapeError, match="joint"):
        run(robot, **options)


def test_a_path_that_contradicts_itself(robot):
    def wrong(t):
        return np.sin(t), np.cos(t), np.sin(t)

    with pytest.raises(rd.PathError, match="acceleration of joint 'joint0'") as error:
        rd.simulate(robot, controlled={"joint0": wrong}, duration=0.5, step=0.1)
    assert error.value.time == pytest.approx(0.1)


def spin(t, rate=3.0, norm=1.0):
    """A ball that turns about an axis."""
    axis, angle = np.array([0.6, 0.0, 0.8]), 0.5 * rate * t
    quat = norm * np.array([*(np.sin(angle) * axis), np.cos(angle)])
    return quat, rate * axis, np.zeros(3)


def test_orientations_that_contradict_themselves(robot):
    """Angular velocities of another axis, too fast, or in other axes; a quaternion that is none."""
    run(robot, controlled={"joint2": spin})
    before = rd.JointPath.from_orientations([0.0, 1.0], [[0, 0, 0, 1], [0.6, 0, 0, 0.8]])
    wrong = {
        "rate": lambda t: (spin(t)[0], 1.01 * spin(t)[1], np.zeros(3)),
        "axis": lambda t: (spin(t)[0], spin(t)[1] @ np.diag([-1, 1, 1]), np.zeros(3)),
        "acceleration": lambda t: (*spin(t)[:2], np.array([0.0, 0.1, 0.0])),
        "at rest": lambda t: (spin(t)[0], np.zeros(3), np.zeros(3)),
    }
    for path in wrong.values():
        with pytest.raises(rd.PathError, match="of joint 'joint2'"):
            rd.simulate(robot, controlled={"joint2": path}, duration=0.5, step=0.1)
    with pytest.raises(rd.PathError, match=r"norm 1\.5, expected a unit quaternion") as error:
        run(robot, controlled={"joint2": lambda t: spin(t, norm=1.5)})
    assert error.value.time == 0.0
    run(robot, controlled={"joint2": before})


def test_rates_of_quaternions_are_no_angular_velocities():
    """A velocity in axes of the world is caught once the ball has turned."""
    robot = rd.load(random_mechanism(np.random.default_rng(2), ["spherical"]))
    t = np.linspace(0.0, 1.0, 6)
    path = rd.JointPath.from_orientations(t, Turn.random(6, random_state=1).as_quat())
    run(robot, controlled={"joint0": path})

    def in_world(t):
        quat, w, dw = path(t)
        return quat, Turn.from_quat(quat).apply(w), Turn.from_quat(quat).apply(dw)

    with pytest.raises(rd.PathError, match="velocity of joint 'joint0'"):
        run(robot, controlled={"joint0": in_world})


def test_velocities_of_a_planar_joint_are_in_axes_of_the_child():
    robot = rd.load(random_mechanism(np.random.default_rng(3), ["planar"]))
    t = np.linspace(0.0, 1.0, 6)
    positions = np.random.default_rng(4).normal(size=(6, 3))
    run(robot, controlled={"joint0": rd.JointPath.from_planar(t, positions)})
    with pytest.raises(rd.PathError, match="velocity of joint 'joint0'"):
        run(robot, controlled={"joint0": rd.JointPath.from_samples(t, positions)})


def test_a_path_that_breaks_off(robot):
    def broken(t):
        return (0.0, 0.0, 0.0) if t < 0.15 else (0.0, np.nan, 0.0)

    with pytest.raises(rd.PathError, match="not finite") as error:
        rd.simulate(robot, controlled={"joint0": broken}, duration=0.5, step=0.1)
    assert error.value.time == pytest.approx(0.2)


def test_a_path_of_the_base_that_contradicts_itself(robot):
    path = rd.BasePath(lambda t: rd.BaseMotion.from_world([t, 0.0, 0.0]))
    with pytest.raises(rd.PathError, match="velocity of the base"):
        run(robot.with_(base="moving"), base=path)


def test_a_linkage_driven_beyond_its_reach(four_bar):
    """The rocker of a crank and rocker turns to and fro only; it went on with open loops."""
    path = rd.JointPath(lambda t: (2.0 * t * t, 4.0 * t, 4.0))
    with pytest.raises(rd.SimulationError, match="driven where they cannot go") as caught:
        rd.simulate(four_bar, controlled={"rocker_pivot": path}, duration=1.5, step=1e-2)
    before = caught.value.trajectory
    assert before.t[-1] < caught.value.time < 1.5
    assert np.abs(before.loop_residual).max() < 1e-9
