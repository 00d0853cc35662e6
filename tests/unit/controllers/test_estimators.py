"""Estimators at their borders: what they refuse, and what they say then."""

import pickle
from dataclasses import replace

import numpy as np
import pytest
from support.furuta import UP, encoders, furuta

import robodyn as rd
from robodyn import controllers as rc

REST, DT = np.zeros(2), 2e-3


def model_of(robot, outputs=("encoders",), **options):
    return robot.linearize(UP, REST, REST, outputs=outputs, **options)


@pytest.fixture(scope="module")
def robot():
    return furuta()


def test_states_that_no_sensor_shows_are_named(robot):
    with pytest.raises(rd.SettingsError, match=r"\(q:hinge\) do not show .*'q:arm'.*finds q:arm;"):
        rc.KalmanFilter(model_of(robot, ["hinge"]), 1e-6, 1e-6, dt=DT)
    rc.KalmanFilter(model_of(robot, ["arm"]), 1e-6, 1e-6, dt=DT)  # which the hinge moves


def test_states_that_nothing_moves_are_named(robot):
    with pytest.raises(rd.SettingsError, match=r"process does not move.*variance to"):
        rc.KalmanFilter(model_of(robot), 0.0, 1e-6, dt=DT)
    rc.KalmanFilter(model_of(robot), [0.0, 0.0, 1e-6, 1e-6], 1e-6, dt=DT)


@pytest.mark.parametrize(
    ("process", "measurement", "says"),
    [
        ([1.0, 1.0, 1.0], 1.0, r"process has shape \(3,\).*x is q:arm, q:hinge, v:arm, v:hinge"),
        (-1.0, 1.0, "process has the smallest variance -1, expected all not negative"),
        (np.eye(4) - 2.0 * np.eye(4)[::-1], 1.0, "process has the smallest eigenvalue -1"),
        (np.triu(np.ones((4, 4))), 1.0, "process .* finite and symmetric variances"),
        (1.0, 0.0, "measurement has the smallest variance 0, expected all positive"),
        (1.0, [1.0], r"measurement has shape \(1,\).*y is encoders.0, encoders.1"),
        (1.0, np.nan, "measurement is nan: not finite"),
    ],
)
def test_what_is_no_covariance(robot, process, measurement, says):
    with pytest.raises(rd.ShapeError, match=says):
        rc.KalmanFilter(model_of(robot), process, measurement, dt=DT)


def test_a_model_of_another_period(robot):
    sampled = model_of(robot, dt=DT)
    found = rc.KalmanFilter(sampled, 1e-6, 1e-6, dt=DT)
    same = rc.KalmanFilter(model_of(robot), 1e-6, 1e-6, dt=DT)
    np.testing.assert_array_equal(found.gains, same.gains)
    with pytest.raises(rd.SettingsError, match=r"every 0.002 s, and dt is 0.001 s"):
        rc.KalmanFilter(sampled, 1e-6, 1e-6, dt=1e-3)
    with pytest.raises(rd.ShapeError, match="dt"):
        rc.KalmanFilter(model_of(robot), 1e-6, 1e-6, dt=0.0)
    with pytest.raises(rd.ShapeError, match="initial is for the models along a motion"):
        rc.KalmanFilter(model_of(robot), 1e-6, 1e-6, dt=DT, initial=1.0)


def test_other_states_are_estimated_beside_those_of_the_robot(robot):
    """A constant torque on the motor: a state after those of the robot, which the filter finds."""
    plain = model_of(robot)
    A = np.block([[plain.A, plain.B], [np.zeros((1, 5))]])
    augmented = replace(
        plain, A=A, B=np.vstack([plain.B, [[0.0]]]), C=np.hstack([plain.C, np.zeros((2, 1))]),
        states=(*plain.states, "force:arm"),
    )  # fmt: skip
    noise = [1e-9, 1e-9, 1e-6, 1e-6, 1e-7]
    found = rc.KalmanFilter(augmented, noise, 1e-7, dt=DT)
    law = rc.LQR(robot, UP, effort=20.0, dt=DT)
    whole = rc.OutputFeedback(law, found)
    pushed = robot.with_(forces=[rd.Force(lambda q, v, t: [0.01], joint="arm")])
    run = rd.simulate(pushed, whole, q0=UP, duration=6.0, step=DT)
    assert np.abs(run.v[-1]).max() < 1e-3
    np.testing.assert_allclose(run.controller_state["velocity"][-1], run.v[-1], atol=1e-3)
    assert np.abs(run.controller_state["innovation"][-1]).max() < 1e-5
    assert abs(run.controller_state["force:arm"][-1, 0] - 0.01) < 1e-4
    assert abs(run.q[-1, 0]) > 1e-2  # the law leaves it where forces balance
    cancelling = rc.OutputFeedback(law, found, compensate=True)
    run = rd.simulate(pushed, cancelling, q0=UP, duration=6.0, step=DT)
    assert np.abs(run.q[-1] - UP).max() < 1e-3
    with pytest.raises(rd.SettingsError, match="needs an estimator of unknown forces"):
        rc.OutputFeedback(law, rc.KalmanFilter(plain, 1e-6, 1e-6, dt=DT), compensate=True)
    other = rc.ExtendedKalmanFilter(
        robot, ["encoders"], 1e-6, 1e-6, dt=DT, posture=UP, disturbances=["hinge"]
    )
    with pytest.raises(rd.ActuationError, match=r"cannot cancel 'force:hinge' .* at arm"):
        rc.OutputFeedback(law, other, compensate=True)


def test_what_does_not_fit_together(robot):
    law, known = rc.LQR(robot, UP), rc.KalmanFilter(model_of(robot), 1e-6, 1e-6, dt=DT)
    with pytest.raises(rd.UnknownNameError, match=r"no sensor 'encoder'.*encoders"):
        rc.OutputFeedback(law, known, ["encoder"])
    with pytest.raises(rd.ShapeError, match="names 'encoders' twice"):
        rc.OutputFeedback(law, known, ["encoders", "encoders"])
    with pytest.raises(rd.SettingsError, match=r"has no sensors.*with_"):
        rc.OutputFeedback(rc.LQR(robot.with_(sensors=[]), UP), known)
    two = furuta([encoders(("arm", "hinge")), rd.Sensor("imu", at="rod", name="imu")])
    with pytest.raises(rd.ShapeError, match=r"2 outputs .*, and the sensors show 8 numbers"):
        rc.OutputFeedback(rc.LQR(two, UP), known)
    rc.OutputFeedback(rc.LQR(two, UP), known, ["encoders"])
    position = rc.JointPD(robot, rc.PointToPoint(UP, UP, 1.0), 1.0, 1.0)
    with pytest.raises(rd.SettingsError, match=r"law is JointPD.*ExtendedKalmanFilter"):
        rc.OutputFeedback(position, known)
    other = rc.KalmanFilter(model_of(robot, inputs=["hinge"]), 1e-6, 1e-6, dt=DT)
    with pytest.raises(rd.ShapeError, match=r"inputs tau:hinge, and 'furuta' has .* and tau:arm"):
        rc.OutputFeedback(law, other)
    with pytest.raises(rd.SettingsError, match="Noisy is within OutputFeedback"):
        rc.OutputFeedback(rc.Noisy(law), known)
    with pytest.raises(rd.ShapeError, match="expected a KalmanFilter"):
        rc.OutputFeedback(law, law)


def test_samples_come_at_its_period(robot):
    whole = rc.OutputFeedback(
        rc.LQR(robot, UP), rc.KalmanFilter(model_of(robot), 1e-6, 1e-6, dt=DT)
    )
    for step, wrapped in ((1e-3, whole), (4e-3, whole), (1e-3, rc.Sampled(whole, 4e-3))):
        with pytest.raises(
            rd.SettingsError, match=r"sample every 0.002 s: simulate with step=0.002"
        ):
            rd.simulate(robot, wrapped, q0=UP, duration=0.05, step=step)
    rd.simulate(robot, rc.Sampled(whole, DT), q0=UP, duration=0.05, step=1e-3)
    rd.simulate(robot, whole, q0=UP, duration=0.05, step=DT)
    with pytest.raises(rd.SettingsError, match=r"sample every 0.002 s"):
        rd.control_law(robot, whole, step=1e-3)


def test_it_is_pickled():
    turn = rd.Sensor("turn", at="beam", name="angle")
    robot = furuta([turn, rd.Sensor("imu", at="rod", name="imu")])
    model = model_of(robot, ["imu", "angle"])
    names = ["imu", "angle"]
    whole = rc.OutputFeedback(rc.LQR(robot, UP), rc.KalmanFilter(model, 1e-6, 1e-4, dt=DT), names)
    same = pickle.loads(pickle.dumps(whole))
    kw = {"q0": UP + 0.01, "duration": 0.1, "step": DT}
    first, second = (rd.simulate(robot, x, **kw) for x in (whole, same))
    np.testing.assert_array_equal(first.q, second.q)


def test_what_is_rounded_counts_as_exact_in_linear_models(robot):
    law, known = rc.LQR(robot, UP, dt=DT), rc.KalmanFilter(model_of(robot), 1e-6, 1e-6, dt=DT)
    plain = rc.Sampled(rc.Saturated(rc.OutputFeedback(law, known), 1.0), DT)
    inner = rc.OutputFeedback(law, known, quantum=[1e-3, 2e-3])
    coarse = rc.Sampled(rc.Saturated(inner, 1.0, quantum=0.01), DT)
    one, other = (rd.closed_loop_model(robot, x, UP) for x in (plain, coarse))
    np.testing.assert_allclose(other.A, one.A, rtol=0, atol=1e-9)
    assert one.stability == "stable"
    with pytest.raises(rd.ShapeError, match=r"quantum has shape \(3,\), expected one number or 2"):
        rc.OutputFeedback(law, known, quantum=[1.0, 1.0, 1.0])
    with pytest.raises(rd.ShapeError, match=r"quantum is -1.0"):
        rc.OutputFeedback(law, known, quantum=-1.0)


def test_forces_of_a_converter(robot):
    law = rc.Saturated(rc.LQR(robot, UP), 0.5, quantum=[0.125, 0.0])
    for k in range(20):
        tau = law(0.0, UP + 0.001 * k, REST)
        whole = np.clip(rc.LQR(robot, UP)(0.0, UP + 0.001 * k, REST), -0.5, 0.5)
        assert tau[0] == 0.125 * np.floor(whole[0] / 0.125 + 0.5)
        assert tau[1] == 0.0
    for wrong in (-1.0, np.inf, [1.0] * 3):
        with pytest.raises(rd.ShapeError, match="quantum"):
            rc.Saturated(rc.LQR(robot, UP), 0.5, quantum=wrong)(0.0, UP, REST)
