"""Extended Kalman filters against a textbook, in two coordinates, afloat, and as they say."""

from __future__ import annotations

import pickle

import numpy as np
import pytest
from support.bundled import bundled
from support.furuta import encoders, furuta
from support.slides import slides
from test_output_feedback import Plain

import robodyn as rd
from robodyn import controllers as rc
from robodyn.simulation.control.compile_controller import compile_controller

DT = 2e-3


def slope(f, x, h=1e-5):
    """Derivative of a function of a vector, by differences."""
    return np.stack([(f(x + h * e) - f(x - h * e)) / (2.0 * h) for e in np.eye(len(x))], axis=-1)


@pytest.mark.slow
def test_it_is_that_of_a_textbook():
    """Dense matrices, differences of a step, noise of sensors that depends on each other."""
    imu = rd.Sensor("imu", at=("rod", [0.0, 0.02, -0.2]), name="imu")
    robot = furuta([rd.Sensor("turn", at="beam", name="turn"), imu])
    rng = np.random.default_rng(5)
    V = rng.normal(size=(7, 7))
    W, V, P = np.diag([1e-8, 1e-8, 1e-5, 1e-5]), 1e-4 * (V @ V.T + 3.0 * np.eye(7)), 0.02
    q0, dt = np.array([0.3, 0.8]), 5e-4
    found = rc.ExtendedKalmanFilter(
        robot, ["turn", "imu"], W, V, dt=dt, posture=q0, speed=[0.5, 0.0], initial=P
    )
    push = lambda t, q, v: np.array([0.05 * np.cos(9.0 * t), 0.0])  # noqa: E731
    run = rd.simulate(
        robot, rc.OutputFeedback(Known(push, robot), found), q0=[0.1, 1.1], duration=0.1, step=dt
    )
    step = rd.step_function(robot, step=dt, tau=True)
    x, P = np.array([*q0, 0.5, 0.0]), P * np.eye(4)

    def shown(x, tau):
        return np.concatenate([*robot.measure(x[:2], x[2:], tau=tau).values()])

    for k, t in enumerate(run.t[:-1]):
        tau = run.tau[k - 1] if k else np.zeros(2)
        if k:
            go = lambda x, tau=tau: np.concatenate(step(0.0, x[:2], x[2:], tau))  # noqa: E731
            F = slope(go, x)
            x, P = go(x), F @ P @ F.T + W
        C = slope(lambda x, tau=tau: shown(x, tau), x)
        S = C @ P @ C.T + V
        L = P @ C.T @ np.linalg.inv(S)
        y = np.concatenate([*robot.measure(run.q[k], run.v[k], tau=tau).values()])
        x, P = x + L @ (y - shown(x, tau)), (np.eye(4) - L @ C) @ P
        est = np.concatenate([run.controller_state[n][k] for n in ("position", "velocity")])
        np.testing.assert_allclose(est, x, rtol=0, atol=1e-6, err_msg=f"at {t} s")
        np.testing.assert_allclose(
            run.controller_state["variance"][k], np.diag(P), rtol=1e-4, atol=1e-9
        )
    assert np.abs(x - [*run.q[-2], *run.v[-2]]).max() < 0.05


class Known:
    """A function of time as a law with a robot."""

    symbolic = False

    def __init__(self, function, robot):
        self.function, self.robot = function, robot

    def __call__(self, t, q, v):
        return self.function(t, q, v)


def test_of_a_linear_robot_it_is_the_steady_filter():
    """Two slides without friction: the covariance that the Riccati equation gives."""
    driven = {"actuators": {"slide": rd.Actuator()}, "sensors": [encoders(["slide"])]}
    robot = slides(2.0, joint="slide", limits=(-9.0, 9.0, 9.0, 9.0), **driven)
    law, noise = rc.LQR(robot, [0.0], dt=DT), ([1e-7, 1e-5], 1e-4)
    model = robot.linearize([0.0], [0.0], [0.0], outputs=["encoders"])
    steady = rc.KalmanFilter(model, *noise, dt=DT)
    found = rc.ExtendedKalmanFilter(robot, ["encoders"], *noise, dt=DT, initial=1e-3)
    run = rd.simulate(robot, rc.OutputFeedback(law, found), q0=[0.1], duration=6.0, step=DT)
    variance = run.controller_state["variance"][-1]
    np.testing.assert_allclose(variance, np.diag(steady.covariance), rtol=1e-9)


@pytest.mark.slow
def test_a_linkage_is_estimated_alike_in_tree_and_in_minimal_coordinates():
    found = []
    for coordinates in ("tree", "minimal"):
        sensors = [rd.Sensor("imu", at=("coupler", [0.1, 0.05, 0.0]), name="imu")]
        robot = rd.load("four_bar", coordinates=coordinates, sensors=sensors)
        crank, n = robot.joints["crank_drive"], robot.nq
        near = robot.neutral() + np.array([0.4, 0.0, 0.0])[:n]
        q = robot.assemble(near, hold=["crank_drive"])
        start = robot.assemble(q + np.array([0.2, 0.0, 0.0])[:n], hold=["crank_drive"])
        estimator = rc.ExtendedKalmanFilter(
            robot, ["imu"], [1e-8, 1e-6, 1e-5], 1e-3, dt=1e-3, posture=q,
            initial=[0.1, 1.0, 1.0], disturbances=["crank_drive"],
        )  # fmt: skip
        assert estimator.states == ("q:crank_drive", "v:crank_drive", "force:crank_drive")
        seen = rc.OutputFeedback(rc.GravityCompensation(robot), estimator)
        run = rd.simulate(robot, seen, q0=start, duration=1.0, step=1e-3)
        kept = run.controller_state
        if coordinates == "tree":
            assert np.abs(robot.loop_residual(kept["position"])).max() < 1e-10
        assert np.abs(kept["position"][-1] - run.q[-1]).max() < 1e-5
        at = kept["position"][:, crank.q], kept["velocity"][:, crank.v], kept["variance"]
        found.append(np.hstack([*at, kept["force:crank_drive"], run.q[:, crank.q]]))
    np.testing.assert_allclose(*found, rtol=0, atol=1e-10)


@pytest.mark.slow
@pytest.mark.parametrize("coordinates", ["tree", "minimal"])
def test_many_motions_are_estimated_as_one_is(coordinates):
    """By code and in Python, after pickling too, with a mass that nobody knows."""
    robot = rd.load("four_bar", coordinates=coordinates, passive=False)
    robot = robot.with_(sensors=[rd.Sensor("imu", at="coupler", name="imu")])
    estimator = rc.ExtendedKalmanFilter(
        robot, ["imu"], 1e-6, 1e-2, dt=DT, initial=1e-2, payload="coupler"
    )
    law = rc.OutputFeedback(rc.GravityCompensation(robot), estimator)
    guess = robot.neutral() + np.array([[0.1], [0.2]]) * np.eye(robot.nq)[0]
    q0 = np.array([robot.assemble(x, hold=["crank_drive"]) for x in guess])
    kw = {"q0": q0, "v0": np.zeros((2, robot.nv)), "duration": 0.02, "step": DT}
    same = pickle.loads(pickle.dumps(law))
    runs = [rd.rollout(robot, x, **kw) for x in (law, Plain(law), same)]
    for name in ("position", "velocity", "innovation", "mass:coupler"):
        expected = rd.simulate(robot, law, q0=q0[1], duration=0.02, step=DT).controller_state[name]
        for run in runs:
            np.testing.assert_allclose(run.controller_state[name][:, 1], expected, atol=1e-10)


def test_an_unknown_force_is_found():
    robot = furuta()
    estimator = rc.ExtendedKalmanFilter(
        robot, ["encoders"], [1e-9, 1e-9, 1e-6, 1e-6, 1e-6], 1e-8, dt=DT,
        initial=[1e-4, 1e-4, 1e-2, 1e-2, 1e-2], disturbances=["arm"],
    )  # fmt: skip
    seen = rc.OutputFeedback(rc.GravityCompensation(robot), estimator)
    pushed = robot.with_(forces=[rd.Force(lambda q, v, t: [0.02], joint="arm")])
    run = rd.simulate(pushed, seen, q0=[0.0, 0.3], duration=2.0, step=DT)
    found = run.controller_state["force:arm"]
    assert found[0] == pytest.approx(0.0, abs=1e-3)
    np.testing.assert_allclose(found[300:], 0.02, atol=1e-3)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "coordinates", "link"),
    [("double_pendulum", "tree", "tip"), ("four_bar", "tree", "coupler"),
     ("four_bar", "minimal", "coupler")],
)  # fmt: skip
def test_an_unknown_mass_is_found(name, coordinates, link):
    """By the motion that it makes, and by the force in a joint that bears it, or an IMU."""
    plain = rd.load(name, coordinates=coordinates, passive=False)
    driven = plain.independent_joints
    load = rd.Sensor("wrench", joint=plain.joint_names[0], name="load")
    if coordinates == "minimal":  # where wrenches are no function of the state
        load = rd.Sensor("imu", at=link, name="load")
    sensors = [encoders(driven), load]
    robot = plain.with_(sensors=sensors)
    point, mass = (link, [0.05, 0.0, -0.1]), 0.3
    carried = robot.with_(
        payload={link: rd.Inertia(mass, rd.Pose((0.05, 0.0, -0.1)))}, sensors=sensors
    )
    n = len(driven)
    estimator = rc.ExtendedKalmanFilter(
        robot, ["encoders", "load"], [1e-9] * n + [1e-7] * n + [1e-7], [1e-6] * n + [1e-1] * 6,
        dt=DT, initial=[1e-6] * n + [1e-4] * n + [1.0], payload=point,
    )  # fmt: skip
    assert estimator.states[-1] == f"mass:{link}"
    law = rc.GravityCompensation(robot)
    start = robot.neutral()
    run = rd.simulate(
        carried, rc.OutputFeedback(law, estimator, robot=carried), q0=start, duration=1.0, step=DT
    )
    found = run.controller_state[f"mass:{link}"][:, 0]
    np.testing.assert_allclose(found[250:], mass, rtol=0, atol=0.01)
    assert np.abs(run.controller_state["position"] - run.q).max() < 1e-2


@pytest.mark.slow
def test_an_arm_finds_what_it_carries_as_code():
    """By encoders, an IMU at its hand and the force in its wrist, within a compiled step."""
    plain = rd.load("arm7", passive=False)
    hand, wrist, n = plain.link_names[-1], plain.joint_names[-1], plain.nv
    sensors = [encoders(plain.joint_names), rd.Sensor("imu", at=hand, name="imu")]
    robot = plain.with_(sensors=[*sensors, rd.Sensor("wrench", joint=wrist, name="force")])
    names = [x.name for x in robot.sensors]
    estimator = rc.ExtendedKalmanFilter(
        robot, names, [1e-9] * n + [1e-6] * n + [1e-6], [1e-7] * n + [1e-2] * 6 + [1e-1] * 6,
        dt=DT, initial=[1e-4] * n + [1e-3] * n + [1.0], payload=(hand, [0.0, 0.0, 0.1]),
    )  # fmt: skip
    carried = robot.with_(payload={hand: rd.Inertia(0.8, rd.Pose((0.0, 0.0, 0.1)))})
    q0 = 0.2 * np.ones(n)
    law = rc.ComputedTorque(robot, rc.PointToPoint(q0, q0 + 0.2, 1.0), 100.0, 20.0)
    seen = rc.OutputFeedback(law, estimator, robot=carried)
    assert compile_controller(robot, seen) is not None
    run = rd.simulate(carried, seen, q0=q0, duration=0.5, step=DT, limits="ignore")
    found = run.controller_state[f"mass:{hand}"][:, 0]
    assert abs(found[0]) < 0.8
    np.testing.assert_allclose(found[100:], 0.8, rtol=0, atol=0.02)
    assert np.abs(run.controller_state["velocity"][50:] - run.v[50:]).max() < 0.02


@pytest.fixture(scope="module")
def afloat():
    """A body that tumbles without weight, with an IMU, and two markers that are seen."""
    urdf = """<robot name="box"><link name="body"><inertial><origin xyz="0.01 0.02 0"/>
      <mass value="2"/><inertia ixx="0.02" ixy="0.001" ixz="0" iyy="0.03" iyz="0" izz="0.04"/>
      </inertial></link></robot>"""
    sensors = [
        rd.Sensor("imu", at=("body", [0.1, 0.0, 0.05]), name="imu"),
        rd.Sensor("position", at=("body", [0.0, 0.2, 0.0]), name="left"),
        rd.Sensor("position", at=("body", [0.2, 0.0, 0.1]), name="front"),
    ]
    return rd.load(urdf, base="floating", gravity=(0.0, 0.0, 0.0), sensors=sensors)


@pytest.mark.slow
def test_a_robot_afloat_is_found_by_its_imu(afloat):
    """Orientations are corrected along turns, as code and in Python; quaternions keep length."""
    robot, n, rng = afloat, 6, np.random.default_rng(2)
    start = robot.integrate(robot.neutral(), 0.1 * rng.normal(size=n))
    v0 = np.array([0.5, -0.3, 0.2, 1.0, -2.0, 1.5])
    estimator = rc.ExtendedKalmanFilter(
        robot, ["imu", "left", "front"], [1e-9] * n + [1e-7] * n, [1e-3] * 6 + [1e-5] * 6, dt=DT,
        speed=v0 + 0.1 * rng.normal(size=n), initial=1e-2,
    )  # fmt: skip
    seen = rc.OutputFeedback(rc.GravityCompensation(robot), estimator)
    run = rd.simulate(robot, seen, q0=start, v0=v0, duration=3.0, step=DT)
    q, v = run.controller_state["position"], run.controller_state["velocity"]
    off = robot.difference(q, run.q)
    assert np.abs(robot.difference(robot.neutral(), run.q[-1])[:3]).max() > 0.5
    assert np.abs(off[500:]).max() < 2e-4
    assert np.abs(v[500:] - run.v[500:]).max() < 1e-3
    turn = robot.joints[robot.joint_names[0]].q
    np.testing.assert_allclose(
        np.linalg.norm(q[:, turn.stop - 4 : turn.stop], axis=-1), 1.0, rtol=0, atol=1e-12
    )
    other = rd.simulate(robot, Plain(seen), q0=start, v0=v0, duration=0.02, step=DT)
    np.testing.assert_allclose(other.controller_state["position"], q[:11], rtol=0, atol=1e-10)


def test_what_is_refused(afloat):
    robot = furuta()
    given = {"dt": DT, "initial": 1e-2}
    with pytest.raises(rd.SettingsError, match=r"do not show .*finds q:arm"):
        rc.ExtendedKalmanFilter(
            furuta([rd.Sensor("imu", at="beam", name="imu")]), ["imu"], 1e-6, 1e-3, **given
        )
    with pytest.raises(rd.SettingsError, match=r"finds q:hinge, force:arm;"):
        rc.ExtendedKalmanFilter(
            furuta([encoders(["arm"])]), ["encoders"], 1e-6, 1e-6, **given,
            posture=[0.0, 0.5 * np.pi], disturbances=["arm", "hinge"],
        )  # fmt: skip
    with pytest.raises(rd.ShapeError, match="disturbances names 'arm' twice"):
        rc.ExtendedKalmanFilter(
            robot, ["encoders"], 1e-6, 1e-6, **given, disturbances=["arm", "arm"]
        )
    with pytest.raises(rd.UnknownNameError, match="no link 'cup'"):
        rc.ExtendedKalmanFilter(robot, ["encoders"], 1e-6, 1e-6, **given, payload="cup")
    with pytest.raises(rd.SettingsError, match=r"do not show .*finds mass:beam;"):
        rc.ExtendedKalmanFilter(robot, ["encoders"], 1e-6, 1e-6, **given, payload="beam")
    with pytest.raises(rd.UnknownNameError, match="no sensor 'imu'"):
        rc.ExtendedKalmanFilter(robot, ["imu"], 1e-6, 1e-6, **given)
    with pytest.raises(rd.UnknownNameError, match="no joint 'elbow'"):
        rc.ExtendedKalmanFilter(robot, ["encoders"], 1e-6, 1e-6, **given, disturbances=["elbow"])
    with pytest.raises(rd.ShapeError, match=r"process has shape \(3,\).*x is q:arm.*v:hinge"):
        rc.ExtendedKalmanFilter(robot, ["encoders"], [1.0] * 3, 1e-6, **given)
    with pytest.raises(rd.ShapeError, match="initial has the smallest variance -1"):
        rc.ExtendedKalmanFilter(robot, ["encoders"], 1e-6, 1e-6, dt=DT, initial=-1.0)
    with pytest.raises(rd.ShapeError, match="dt is 0"):
        rc.ExtendedKalmanFilter(robot, ["encoders"], 1e-6, 1e-6, dt=0.0)
    found = rc.ExtendedKalmanFilter(robot, ["encoders"], 1e-6, 1e-6, **given)
    with pytest.raises(rd.ShapeError, match=r"one of 'furuta' with 2 speeds, and 'box'"):
        rc.OutputFeedback(rc.GravityCompensation(afloat), found, ["imu"])
    other = furuta([encoders(["arm"])])
    with pytest.raises(rd.ShapeError, match=r"reads encoders.0, encoders.1, and"):
        rc.OutputFeedback(rc.GravityCompensation(other), found)
    table = bundled("caster_table")
    with pytest.raises(rd.SettingsError, match="has no sensors"):
        rc.ExtendedKalmanFilter(table, [], 1e-6, 1e-6, **given)


@pytest.mark.slow
def test_estimates_of_a_swinging_robot_are_as_far_off_as_they_say():
    """NEES and NIS of 200 noisy motions within chi-square bounds, and innovations are white.

    Covariances of innovations are those of a filter by hand, with matrices of `Robot.linearize`.
    """
    from scipy.stats import chi2

    imu = rd.Sensor("imu", at=("lower", [0.0, 0.0, -1.0]), name="imu")
    robot, seeds, steps, dt = bundled("double_pendulum").with_(sensors=[imu]), 200, 300, 5e-3
    W, V, P = np.array([1e-7, 1e-7, 1e-5, 1e-5]), 1e-1, np.array([1e-3, 1e-3, 2e-3, 2e-3])
    q0, v0 = np.array([0.8, -0.5]), np.array([0.4, -0.6])
    estimator = rc.ExtendedKalmanFilter(
        robot, ["imu"], W, V, dt=dt, posture=q0, speed=v0, initial=P
    )
    law = rd.control_law(
        robot, rc.OutputFeedback(rc.GravityCompensation(robot), estimator), step=dt
    )
    rng = np.random.default_rng(11)
    x = np.array([*q0, *v0]) + rng.normal(size=(seeds, 4)) * np.sqrt(P)
    ahead, covariance = np.tile([*q0, *v0], (seeds, 1)), np.tile(np.diag(P), (seeds, 1, 1))
    step, tau, state, nees = rd.step_function(robot, step=dt, tau=True), None, None, []
    variances, nis, white = [], [], []
    for k in range(steps):
        acting = np.zeros((seeds, 2)) if k == 0 else tau
        y = robot.measure(x[:, :2], x[:, 2:], tau=acting)["imu"]
        y = y + rng.normal(size=y.shape) * np.sqrt(V)
        given = (y,) if k == 0 else (y, tau, state)
        tau, state = (law.first if k == 0 else law.update)(k * dt, *given)
        est = np.hstack([state[:, law.recorded[name]] for name in ("position", "velocity")])
        error, variance = est - x, state[:, law.recorded["variance"]]
        nees.append(error**2 / variance)
        variances.append(variance)
        C = robot.linearize(ahead[:, :2], ahead[:, 2:], acting, outputs=["imu"]).C
        S = C @ covariance @ np.swapaxes(C, 1, 2) + V * np.eye(6)
        whitened = np.linalg.solve(
            np.linalg.cholesky(S), state[:, law.recorded["innovation"], None]
        )
        white.append(whitened[..., 0])
        nis.append((whitened**2).sum(axis=(1, 2)))
        covariance = covariance - covariance @ np.swapaxes(C, 1, 2) @ np.linalg.solve(
            S, C @ covariance
        )
        A = robot.linearize(est[:, :2], est[:, 2:], tau).A
        F = np.eye(4) + dt * A + 0.5 * dt * dt * (A @ A)
        covariance = F @ covariance @ np.swapaxes(F, 1, 2) + np.diag(W)
        ahead = np.hstack(step(0.0, est[:, :2], est[:, 2:], tau))
        x = np.hstack(step(0.0, x[:, :2], x[:, 2:], tau))
        x = x + rng.normal(size=x.shape) * np.sqrt(W)
    assert np.mean(variances[-1]) < 0.5 * np.mean(variances[0])
    for found, size in ((np.array(nees), 1), (np.array(nis)[..., None], 6)):
        low, high = chi2.ppf([1e-4, 1.0 - 1e-4], size * seeds) / seeds
        mean = found.mean(axis=1)  # of each state, over seeds
        assert np.mean((mean < low) | (mean > high)) < 0.02
    e = np.array(white)
    for lag in (1, 2, 5):
        count = seeds * (steps - lag)
        correlation = np.einsum("tki,tkj->ij", e[lag:], e[:-lag]) / count
        assert np.abs(correlation).max() < 5.0 / np.sqrt(count)
