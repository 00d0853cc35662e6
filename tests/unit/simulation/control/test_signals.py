"""References that are asked for many times at once."""

import numpy as np
import pytest
from support.bundled import bundled

import robodyn as rd
from robodyn.controllers import ComputedTorque
from robodyn.ros.commands.settings import Settings
from robodyn.ros.commands.trajectories import TrajectoryContent, TrajectoryPoint
from robodyn.ros.engine.engine import Engine

Q0 = np.array([0.4, -0.3])


class Wave:
    """A reference, and how often it is asked."""

    def __init__(self):
        self.asked = 0

    def __call__(self, t):
        self.asked += 1
        return Q0 + 0.1 * np.sin(t), np.full(2, 0.1 * np.cos(t)), 0.0

    def at_times(self, t):
        t = t[:, None]
        return Q0 + 0.1 * np.sin(t), np.tile(0.1 * np.cos(t), 2), np.zeros(len(t))


def moved(reference):
    robot = bundled("double_pendulum")
    return rd.simulate(robot, ComputedTorque(robot, reference), q0=Q0, duration=0.05)


def test_a_reference_is_asked_for_many_times_at_once():
    wave, other = Wave(), Wave()
    at_once, one_by_one = moved(wave), moved(lambda t: other(t))
    np.testing.assert_allclose(at_once.q, one_by_one.q, rtol=0, atol=1e-12)
    np.testing.assert_allclose(at_once.tau, one_by_one.tau, rtol=0, atol=1e-9)
    assert wave.asked < 3 < 50 <= other.asked


def test_other_shapes_at_many_times_are_refused():
    wave = Wave()
    wave.at_times = lambda t: (Q0, Q0, 0.0)
    with pytest.raises(rd.ShapeError, match="at_times of the reference") as error:
        moved(wave)
    assert error.value.name == "at_times"


def test_a_commanded_trajectory_is_the_same_at_many_times():
    engine = Engine(bundled("puma560"), Settings(controller="pd"))
    points = [TrajectoryPoint(0.4 * k, 0.1 * k * np.ones(3)) for k in range(1, 4)]
    engine.follow(TrajectoryContent(engine.joints[:3], points))
    engine.advance(300)
    times = np.array([0.0, 0.31, 0.8, 1.2, 1.5])
    reference = engine._commands
    for alone, together in zip(
        zip(*map(reference, times), strict=True), reference.at_times(times), strict=True
    ):
        np.testing.assert_allclose(together, alone, rtol=0, atol=1e-14)
    assert abs(reference(1.5)[0][engine.commanded.coordinates[:3]] - 0.3).max() < 1e-12
