"""Controllers that are sampled whenever a state comes in."""

import numpy as np

import robodyn as rd
from robodyn.controllers import Filtered, JointPD, PointToPoint
from robodyn.ros.rclpy.listener import ControlledStates

Q0 = np.array([0.4, -0.3])


class Integral:
    def initial_state(self, sample):
        return {"impulse": np.zeros(sample.v.shape)}

    def update(self, sample, state):
        total = state["impulse"] + sample.impulse
        return 1.0 + total, {"impulse": total}


def test_a_filter_filters_from_state_to_state(double):
    """As in a simulation with the same instants."""
    pd = JointPD(double, PointToPoint(Q0, Q0 + 0.2, 0.1), 90.0, 6.0)
    controller = Filtered(lambda t, q, v: pd(t, q, v), 50.0)
    run = rd.simulate(double, controller, q0=Q0, duration=0.02, limits="ignore")
    found = ControlledStates(double, controller)
    for t, q, v, tau in zip(run.t.tolist(), run.q, run.v, run.tau, strict=True):
        np.testing.assert_array_equal(found(t, q, v), tau)
        found.notify_applied(tau)


def test_forces_that_were_cut_are_told_and_time_that_goes_back_starts_anew(double):
    found, rest = ControlledStates(double, Integral()), np.zeros(2)
    np.testing.assert_array_equal(found(5.0, rest, rest), [1.0, 1.0])
    found.notify_applied(np.array([0.5, -2.0]))
    np.testing.assert_allclose(found(5.1, rest, rest), [1.05, 0.8])
    np.testing.assert_array_equal(found(0.0, rest, rest), [1.0, 1.0])
