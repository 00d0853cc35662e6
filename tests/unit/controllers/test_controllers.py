"""Controllers against the error equations they promise."""

import numpy as np
import pytest

import robodyn as rd
from robodyn import controllers as rc


@pytest.fixture(scope="module")
def double():
    return rd.load("double_pendulum", passive=False)


@pytest.mark.parametrize("wrong", [-1.0, np.nan, np.inf, [1.0, 2.0, 3.0], "stiff"])
def test_wrong_gains(double, wrong):
    reference = rc.PointToPoint(np.zeros(2), np.zeros(2), 1.0)
    for make in (
        lambda: rc.ComputedTorque(double, reference, wrong),
        lambda: rc.ComputedTorque(double, reference, 1.0, wrong),
        lambda: rc.JointPD(double, reference, wrong, 1.0),
    ):
        with pytest.raises(rd.ShapeError, match=r"stiffness|damping"):
            make()
    with pytest.raises(rd.ShapeError, match="duration"):
        rc.PointToPoint(np.zeros(2), np.zeros(2), 0.0)


def test_references_of_another_number_of_speeds():
    """A reference over coordinates does not fit a robot with quaternions."""
    robot = rd.load("double_pendulum", base="floating")
    q = robot.neutral()
    reference = rc.PointToPoint(q, q, 1.0)
    for controller in (rc.JointPD(robot, reference, 1.0, 1.0), rc.ComputedTorque(robot, reference)):
        with pytest.raises(
            rd.ShapeError, match=r"velocities of shape \(9,\).*\(8,\).*Recorded\(robot, times, pos"
        ):
            controller(0.0, q, np.zeros(robot.nv))


@pytest.mark.parametrize(
    "wrong", [np.nan, np.inf, 0.0, -1.0, 1e-300, "1", [1.0, 2.0], [[1], [2, 3]], np.ones(2), None]
)
def test_how_long_a_way_takes(wrong):
    with pytest.raises(rd.ShapeError, match="duration is"):
        rc.PointToPoint(np.zeros(2), np.zeros(2), wrong)


@pytest.mark.parametrize("wrong", [np.nan, np.inf, [0.0, np.nan]])
def test_references_are_finite(wrong):
    for given in ((wrong, 1.0, 1.0), (0.0, wrong, 1.0), (0.0, 1.0, wrong)):
        with pytest.raises(rd.ShapeError, match="not finite"):
            rc.SineReference(*given)
    for given in ((wrong, wrong), (np.zeros(np.shape(wrong)), wrong)):
        with pytest.raises(rd.ShapeError, match="not finite"):
            rc.PointToPoint(*given, 1.0)


@pytest.mark.parametrize(
    "given",
    [None, 1.0, "abc", [np.zeros(2)] * 2, [np.zeros(3), np.zeros(2), np.zeros(2)], [0.0] * 3,
     {}, [np.zeros(2), ["a", "b"], np.zeros(2)]],
)  # fmt: skip
def test_what_references_may_not_return(double, given):
    def late(t):
        return given if t > 0.0045 else [np.zeros(2)] * 3

    for controller in (rc.ComputedTorque(double, late), rc.JointPD(double, late, 1.0, 1.0)):
        for use in (controller, rc.Sampled(controller, 0.0)):
            with pytest.raises(rd.RobodynError, match=r"the reference (returned|gives)"):
                rd.simulate(double, use, duration=0.01)


def test_controllers_behind_others(double):
    """What they return is looked at as if nothing stood between."""
    for given in (None, ["1", "2"], [1.0], "x", np.ma.masked_array([1.0, 2.0], [True, False])):
        with pytest.raises(rd.ShapeError, match="the controller returned"):
            rd.simulate(double, rc.Sampled(lambda t, q, v, given=given: given, 2e-3), duration=0.01)
    with pytest.raises(rd.ShapeError, match=r"position has shape \(3,\)"):
        rd.simulate(double, rc.Noisy(lambda t, q, v: -v, position=np.ones(3)), duration=0.01)


@pytest.mark.parametrize("wrong", [{"name": ["x"]}, {"name": 3}, {"direction": np.ones(3)}])
def test_what_events_are_not_called(wrong):
    with pytest.raises(rd.RobodynError, match=r"(name|direction) is"):
        rd.Event(0.1, **wrong)


def test_controllers_of_other_robots(four_bar, double):
    reference = rc.PointToPoint(np.zeros(2), np.zeros(2), 1.0)
    for controller in (
        rc.ComputedTorque(double, reference),
        rc.JointPD(double, reference, 1.0, 1.0),
        rc.GravityCompensation(double),
    ):
        for use in (controller, rc.Sampled(controller, 0.0)):
            with pytest.raises(rd.RobodynError, match=r"'double_pendulum'.* has 2 .*3"):
                rd.simulate(four_bar, use, duration=0.01)


def test_noise_of_one_of_many_motions_counts_from_that_of_all():
    """The second of the motions from the third on has the noise of the fourth."""
    zero = np.zeros(2)
    noisy = rc.Noisy(lambda t, q, v: v, position=0.1, velocity=0.2, seed=5)
    all_of_them = noisy.measured(0.3, np.zeros((5, 2)), np.zeros((5, 2)))
    later = rc.Noisy(noisy.controller, position=0.1, velocity=0.2, seed=5, motion=3).for_motion(1)
    for seen, of_all in zip(later.measured(0.3, zero, zero), all_of_them, strict=True):
        np.testing.assert_array_equal(seen, of_all[4])
