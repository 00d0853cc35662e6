"""Controllers against the error equations they promise."""

from __future__ import annotations

import numpy as np
import pytest

import robodyn as rd
from robodyn.controllers import (
    ComputedTorque,
    GravityCompensation,
    JointPD,
    PointToPoint,
    SineReference,
)


@pytest.fixture(scope="module")
def double():
    return rd.load("double_pendulum", passive=False)


def test_computed_torque_follows_the_error_equation(double):
    """From rest with error e0 the error is e0 (1 + w t) exp(-w t), w = sqrt(stiffness)."""
    goal = np.array([0.5, -0.3])
    reference = PointToPoint(goal, goal, 1.0)
    controller = ComputedTorque(double, reference, stiffness=100.0)
    offset = np.array([0.1, -0.2])
    run = rd.simulate(double, controller, q0=goal - offset, duration=1.0, step=2e-4)
    decay = (1 + 10 * run.t) * np.exp(-10 * run.t)
    np.testing.assert_allclose(goal - run.q, decay[:, None] * offset, atol=2e-4)


def test_gravity_compensation_holds_still(double):
    q0 = np.array([0.7, -1.1])
    run = rd.simulate(double, GravityCompensation(double), q0=q0, duration=0.2)
    np.testing.assert_allclose(run.q, np.tile(q0, (len(run), 1)), atol=1e-12)


def test_joint_pd_settles_at_the_reference(double):
    goal = np.array([0.4, 0.4])
    controller = JointPD(double, PointToPoint(goal, goal, 1.0), 100.0, 20.0)
    run = rd.simulate(double, controller, duration=6.0)
    np.testing.assert_allclose(run.q[-1], goal, atol=1e-3)


@pytest.mark.parametrize(
    "reference",
    [
        PointToPoint(np.array([0.1]), np.array([1.0]), 2.0),
        SineReference(np.array([0.1]), np.array([1.0]), np.array([0.7])),
    ],
)
def test_references_have_consistent_derivatives(reference):
    h = 1e-5
    for t in (0.3, 0.9, 1.7):
        _, v, a = reference(t)
        ahead, behind = reference(t + h), reference(t - h)
        np.testing.assert_allclose((ahead[0] - behind[0]) / (2 * h), v, atol=1e-7)
        np.testing.assert_allclose((ahead[1] - behind[1]) / (2 * h), a, atol=1e-7)


def test_a_batch_of_states_is_its_rows(double):
    goal = np.array([0.4, -0.3])
    reference = PointToPoint(goal, 2 * goal, 1.0)
    rng = np.random.default_rng(2)
    q, v = rng.normal(size=(2, 5, 2))
    for controller in (
        ComputedTorque(double, reference, [10.0, 20.0]),
        JointPD(double, reference, [10.0, 20.0], 3.0),
        GravityCompensation(double),
    ):
        rows = [controller(0.3, q[k], v[k]) for k in range(5)]
        np.testing.assert_allclose(controller(0.3, q, v), rows, atol=1e-12)


@pytest.mark.parametrize("wrong", [-1.0, np.nan, np.inf, [1.0, 2.0, 3.0], "stiff"])
def test_wrong_gains(double, wrong):
    reference = PointToPoint(np.zeros(2), np.zeros(2), 1.0)
    for make in (
        lambda: ComputedTorque(double, reference, wrong),
        lambda: ComputedTorque(double, reference, 1.0, wrong),
        lambda: JointPD(double, reference, wrong, 1.0),
    ):
        with pytest.raises(rd.ShapeError, match=r"stiffness|damping"):
            make()
    with pytest.raises(rd.ShapeError, match="duration"):
        PointToPoint(np.zeros(2), np.zeros(2), 0.0)


def test_references_of_another_number_of_speeds():
    """A reference over coordinates does not fit a robot with quaternions."""
    robot = rd.load("double_pendulum", base="floating")
    q = robot.neutral()
    reference = PointToPoint(q, q, 1.0)
    for controller in (JointPD(robot, reference, 1.0, 1.0), ComputedTorque(robot, reference)):
        with pytest.raises(
            rd.ShapeError, match=r"reference gives velocities of shape \(9,\).*\(8,\)"
        ):
            controller(0.0, q, np.zeros(robot.nv))
