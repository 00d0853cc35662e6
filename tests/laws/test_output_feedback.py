"""Laws with estimators against matrices by hand, textbook recursions and another simulation."""

import numpy as np
import pytest
from support.furuta import COUNTS, UP, by_pinocchio, encoders, furuta, upright
from support.lqg_by_hand import ByHand, moved

import robodyn as rd
from robodyn import controllers as rc

DT = 2e-3
STATE, EFFORT = np.diag([4.0, 8.0, 0.1, 0.1]), 20.0
PROCESS, MEASUREMENT = np.diag([1e-9, 1e-9, 1e-4, 1e-4]), np.diag([2e-6, 1e-6])


def lqg(robot, dt=DT, unit=1.0):
    """A regulator of the pendulum that stands, with encoders that show radians times a unit."""
    rest = np.zeros(2)
    model = robot.linearize(UP, rest, rest, outputs=["encoders"])
    estimator = rc.KalmanFilter(model, PROCESS, MEASUREMENT * unit**2, dt=dt)
    return rc.OutputFeedback(rc.LQR(robot, UP, STATE, EFFORT, dt=dt), estimator)


def by_hand(**options):
    return ByHand(*upright(), STATE, EFFORT, PROCESS, MEASUREMENT, DT, UP, **options)


def test_poles_are_those_of_the_law_and_of_the_filter():
    """The separation principle, with matrices by hand."""
    robot, hand = furuta(), by_hand()
    whole = lqg(robot)
    model, law = (
        rd.closed_loop_model(robot, whole, UP, dt=DT),
        rd.control_law(robot, whole, step=DT),
    )
    slopes = {x: law.update.jacobian(x) for x in ("encoders", "applied", "state")}
    n = law.update.inputs[-1].size
    at = 0.0, UP, np.zeros(2), law.first(0.0, UP)[1]
    by = {x: f(*at) for x, f in slopes.items()}
    # the state of the whole: that of the plant, forces that act, that of the controller
    A, C = hand.A, np.vstack([hand.C])
    whole = np.zeros((4 + 2 + n, 4 + 2 + n))
    whole[:4, :4] = A
    for rows, part in ((slice(4, 6), 0), (slice(6, None), 1)):
        whole[rows, :4] = by["encoders"][part] @ C
        whole[rows, 4:6], whole[rows, 6:] = by["applied"][part], by["state"][part]
    whole[:4] += hand.B @ whole[4:5]
    expected = [
        *np.linalg.eigvals(hand.A - hand.B @ hand.K),
        *np.linalg.eigvals(hand.A - hand.L @ hand.C @ hand.A),
    ]
    for found in (np.linalg.eigvals(whole), model.poles):
        left = list(found)
        for pole in expected:
            k = int(np.argmin(np.abs(np.array(left) - pole)))
            assert abs(left.pop(k) - pole) < 1e-9
        assert np.abs(left).max() < 1e-4  # forces, and what is only recorded: zeros


@pytest.mark.slow
@pytest.mark.parametrize("limit", [np.inf, 0.06])
def test_a_motion_is_that_of_another_simulation_and_another_controller(limit):
    """Also where forces are cut: the filter is told what acted."""
    robot, rates, hand = furuta(), by_pinocchio(), by_hand(limit=limit)
    x = np.array([0.05, np.pi + 0.04, 0.0, 0.1])
    law = rc.Sampled(rc.Saturated(lqg(robot), limit), DT)
    run = rd.simulate(robot, law, q0=x[:2], v0=x[2:], duration=1.0, step=1e-3)
    states, torques = [x], []
    for _ in range(500):
        u = hand(states[-1][:2])
        for _ in range(2):
            torques.append(u[0])
            states.append(moved(rates, states[-1], u, 1e-3))
    found = np.hstack([run.q, run.v])
    assert np.abs(found[0] - found[-1]).max() > 0.05
    assert (np.abs(torques) == limit).sum() > (5 if limit < np.inf else -1)
    np.testing.assert_allclose(found, states, rtol=0, atol=1e-9)
    np.testing.assert_allclose(run.tau[:-1, 0], torques, rtol=0, atol=1e-9)


def test_units_of_sensors_do_not_matter():
    unit = COUNTS / (2.0 * np.pi)
    counting = furuta([encoders(("arm", "hinge"), unit)])
    kw = {"q0": UP + np.array([0.05, 0.04]), "duration": 0.5, "step": DT}
    plain = rd.simulate(furuta(), lqg(furuta()), **kw)
    run = rd.simulate(counting, lqg(counting, unit=unit), **kw)
    np.testing.assert_allclose(run.q, plain.q, rtol=0, atol=1e-10)
    shown = run.controller_state["innovation"]
    np.testing.assert_allclose(shown, plain.controller_state["innovation"] * unit, atol=1e-8)


class Plain:
    """A controller that is called with numbers."""

    def __init__(self, inner):
        self.controller = inner

    def initial_state(self, sample):
        return {"controller": self.controller.initial_state(sample)}

    def update(self, sample, state):
        tau, after = self.controller.update(sample, state["controller"])
        return tau, {"controller": after}


def test_code_does_what_numbers_do_for_one_and_for_many():
    robot = furuta()
    whole = rc.Saturated(lqg(robot), 0.05)  # the filter is told what acted
    kw = {"duration": 0.2, "step": DT}
    q0 = UP + 0.02 * np.arange(6.0).reshape(3, 2)
    runs = rd.rollout(robot, whole, q0=q0, v0=np.zeros((3, 2)), **kw)
    other = rd.rollout(robot, Plain(whole), q0=q0, v0=np.zeros((3, 2)), **kw)
    np.testing.assert_allclose(runs.q, other.q, rtol=0, atol=1e-12)
    for k in range(3):
        one = rd.simulate(robot, whole, q0=q0[k], **kw)
        np.testing.assert_allclose(runs.q[:, k], one.q, rtol=0, atol=1e-12)
        for name in ("position", "velocity", "innovation"):
            found = runs.controller_state[name][:, k]
            np.testing.assert_allclose(found, one.controller_state[name], rtol=0, atol=1e-10)


@pytest.mark.parametrize("coordinates", ["tree", "minimal"])
def test_a_linkage_is_held_by_what_an_imu_shows(coordinates):
    """The same motion in both coordinates, with accelerations that depend on the motor."""
    sensors = [
        rd.Sensor("imu", at=("coupler", [0.1, 0.05, 0.0]), name="imu"),
        rd.Sensor("turn", at="rocker", name="angle"),
    ]
    robot = rd.load("four_bar", sensors=sensors, coordinates=coordinates)
    q = robot.assemble([1.0, 0.0, 0.0][: robot.nq], hold=["crank_drive"])
    rest = np.zeros(robot.nv)
    tau = robot.inverse_dynamics(q, rest, rest)
    law = rc.LQR(robot, q, state=10.0, tau=tau)
    model = robot.linearize(q, rest, tau, outputs=["imu", "angle"])
    assert np.abs(model.D).max() > 1e-3
    filter_ = rc.KalmanFilter(model, [1e-8, 1e-6], 1e-4, dt=1e-3)
    lqg = rc.OutputFeedback(law, filter_)
    q0 = robot.assemble([1.02, 0.0, 0.0][: robot.nq], hold=["crank_drive"])
    run = rd.simulate(robot, lqg, q0=q0, duration=3.0, step=1e-3)
    crank = run.q[:, robot.joints["crank_drive"].q.start]
    assert abs(crank[0] - 1.02) < 1e-9
    assert abs(crank[-1] - 1.0) < 2e-3
    found = run.controller_state["velocity"][:, robot.joints["crank_drive"].v.start]
    assert np.abs(found[300:] - run.v[300:, robot.joints["crank_drive"].v.start]).max() < 1e-3
    known = KNOWN.setdefault("crank", crank)
    np.testing.assert_allclose(crank, known, rtol=0, atol=1e-8)


#: Of the first case, with which the second is compared.
KNOWN = {}


@pytest.mark.slow
def test_gains_along_a_motion_are_those_of_the_recursion():
    robot = furuta()
    swing = lambda t, q, v: np.array([0.03 * np.cos(4.0 * t), 0.0])  # noqa: E731
    run = rd.simulate(robot, swing, q0=[0.0, 0.4], duration=0.1, step=DT)
    models = robot.linearize(run.q, run.v, run.tau, outputs=["encoders"])
    found = rc.KalmanFilter(models, PROCESS, MEASUREMENT, dt=DT, initial=1e-4)
    P = 1e-4 * np.eye(4)
    for k in range(len(run.t)):
        sampled = models.at(k).sampled(DT)
        C = sampled.C
        S = C @ P @ C.T + MEASUREMENT
        L = P @ C.T @ np.linalg.inv(S)
        np.testing.assert_allclose(found.gains[k], L, rtol=1e-9, atol=1e-12)
        np.testing.assert_allclose(found.innovation_covariance[k], S, rtol=1e-9, atol=1e-15)
        P = (np.eye(4) - L @ C) @ P
        np.testing.assert_allclose(found.covariance[k], P, rtol=1e-7, atol=1e-14)
        P = sampled.A @ P @ sampled.A.T + PROCESS


@pytest.mark.slow
def test_a_robot_is_kept_on_a_motion_by_its_encoders():
    robot = furuta()
    swing = lambda t, q, v: np.array([0.03 * np.cos(4.0 * t), 0.0])  # noqa: E731
    run = rd.simulate(robot, swing, q0=[0.0, 0.4], duration=2.0, step=DT)
    models = robot.linearize(run.q, run.v, run.tau, outputs=["encoders"])
    keep = rc.TimeVaryingLQR(robot, run, state=1.0, effort=10.0)
    along = rc.OutputFeedback(keep, rc.KalmanFilter(models, PROCESS, MEASUREMENT, dt=DT))
    same = rd.simulate(robot, along, q0=run.q[0], duration=2.0, step=DT)
    np.testing.assert_allclose(same.q, run.q, rtol=0, atol=1e-8)  # where it starts, it stays
    off, plain = (
        rd.simulate(robot, c, q0=run.q[0] + [0.05, 0.0], duration=2.0, step=DT)
        for c in (along, Plain(along))
    )
    assert np.abs(off.q[-1] - run.q[-1]).max() < 2e-3
    free = rd.simulate(robot, swing, q0=run.q[0] + [0.05, 0.0], duration=2.0, step=DT)
    assert np.abs(free.q[-1] - run.q[-1]).max() > 0.02
    np.testing.assert_allclose(off.q, plain.q, rtol=0, atol=1e-9)


@pytest.mark.slow
def test_estimates_are_as_far_off_as_they_say():
    """NEES and NIS of 200 noisy motions lie within chi-square bounds; innovations are white."""
    from scipy.stats import chi2

    robot, seeds, steps = furuta(), 200, 400
    estimator, law = lqg(robot).estimator, rd.control_law(robot, lqg(robot), step=DT)
    hand, rng = by_hand(), np.random.default_rng(7)
    shaken, shown = (np.linalg.cholesky(x) for x in (PROCESS, MEASUREMENT))
    before = estimator.sampled.A @ estimator.covariance @ estimator.sampled.A.T + PROCESS
    x = rng.normal(size=(seeds, 4)) @ np.linalg.cholesky(before).T
    nees, innovations, tau, state = [], [], None, None
    for k in range(steps):
        y = UP + x[:, :2] + rng.normal(size=(seeds, 2)) @ shown.T
        given = (y,) if k == 0 else (y, tau, state)
        tau, state = (law.first if k == 0 else law.update)(k * DT, *given)
        q, v = state[:, law.recorded["position"]], state[:, law.recorded["velocity"]]
        error = np.hstack([q - UP, v]) - x
        nees.append(np.einsum("ki,ij,kj->k", error, np.linalg.inv(estimator.covariance), error))
        innovations.append(state[:, law.recorded["innovation"]])
        x = x @ hand.A.T + tau[:, :1] @ hand.B.T + rng.normal(size=(seeds, 4)) @ shaken.T
    S = estimator.innovation_covariance
    e = np.array(innovations)
    nis = np.einsum("tki,ij,tkj->tk", e, np.linalg.inv(S), e)
    for found, size in ((np.array(nees), 4), (nis, 2)):
        low, high = chi2.ppf([1e-5, 1.0 - 1e-5], size * seeds) / seeds
        outside = np.mean((found.mean(axis=1) < low) | (found.mean(axis=1) > high))
        assert outside < 0.01
    white = e @ np.linalg.inv(np.linalg.cholesky(S)).T
    for lag in (1, 2, 5):
        correlation = np.einsum("tki,tkj->ij", white[lag:], white[:-lag]) / (seeds * (steps - lag))
        assert np.abs(correlation).max() < 5.0 / np.sqrt(seeds * (steps - lag))
