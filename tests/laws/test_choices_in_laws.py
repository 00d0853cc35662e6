"""Functions of users that decide: forces, couplings, sensors, costs and controllers."""

import warnings

import numpy as np
import pytest

import robodyn as rd
from robodyn.controllers import SymbolicCost
from robodyn.simulation.control import running_controller

ROBOT = rd.load("double_pendulum")


def friction(q, v, t):
    """Stribeck's: less when it slides faster."""
    return [-np.tanh(v[0] / 0.1) * (0.5 + 0.3 * np.exp(-np.abs(v[0]) / 0.2))]


def dead_band(q, v, t):
    """A spring beyond 0.2 rad, damped on the way in only."""
    depth = np.maximum(np.abs(q[0]) - 0.2, 0.0)
    into = np.sign(q[0]) * v[0] > 0.0
    return [-np.sign(q[0]) * 40.0 * depth * np.where(into, 1.0 + 0.2 * np.abs(v[0]), 1.0)]


@pytest.mark.parametrize("law", [friction, dead_band])
def test_forces_are_those_of_numpy_in_every_state(law):
    robot = ROBOT.with_(forces=[rd.Force(law, joint="elbow")])
    q, v, tau = np.random.default_rng(0).uniform(-1.0, 1.0, (3, 40, 2))
    force = np.zeros((40, 2))
    force[:, 1] = [law(x[1:], y[1:], 0.0)[0] for x, y in zip(q, v, strict=True)]
    np.testing.assert_allclose(
        robot.passive_forces(q, v) - ROBOT.passive_forces(q, v), force, rtol=1e-11, atol=1e-13
    )
    expected = ROBOT.forward_dynamics(q, v, tau + force)
    np.testing.assert_allclose(robot.forward_dynamics(q, v, tau), expected, rtol=1e-11, atol=1e-11)
    one = [robot.forward_dynamics(*state) for state in zip(q, v, tau, strict=True)]
    np.testing.assert_array_equal(one, robot.forward_dynamics(q, v, tau))
    f, h = robot.function("passive_forces"), 1e-6
    for name, moved in (("q", (h, 0.0)), ("v", (0.0, h))):
        d = np.stack([
            (robot.passive_forces(q + moved[0] * e, v + moved[1] * e)
             - robot.passive_forces(q - moved[0] * e, v - moved[1] * e)) / (2.0 * h)
            for e in np.eye(2)
        ], axis=-1)  # fmt: skip
        np.testing.assert_allclose(f.jacobian(name)(q, v), d, rtol=1e-5, atol=1e-5)


def test_a_force_on_a_frame_decides_by_a_direction():
    def fan(X, twist, t):
        angle = np.arctan2(X[1, 3], X[0, 3])
        push = rd.where(angle > 0.0, rd.sinh(angle), 0.0)
        return [0.0, push, rd.minimum(X[2, 3], 0.1), 0.0, 0.0, 0.0]

    robot = ROBOT.with_(forces=[rd.Force(fan, on="lower")])
    for q in np.random.default_rng(1).uniform(-2.0, 2.0, (20, 2)):
        X = robot.frame_pose(q, "lower")
        wrench = np.array(fan(X, np.zeros(6), 0.0), float)
        expected = robot.frame_jacobian(q, "lower").T @ wrench
        np.testing.assert_allclose(robot.passive_forces(q, 0.0 * q), expected, atol=1e-12)


def test_a_controller_that_decides_is_machine_code(monkeypatch):
    class Bang:
        symbolic = True

        def __call__(self, t, q, v):
            error = np.array([0.4, -0.2]) - q
            far = np.abs(error) > 0.1
            pushed = np.where(far & (t < 0.5), 5.0 * np.sign(error), 40.0 * error - 4.0 * v)
            return np.clip(pushed, -6.0, [6.0, 3.0]) + np.arctan2(v, 1.0) * np.minimum(t, 0.3)

    made = []
    compiled = running_controller.compile_controller
    monkeypatch.setattr(
        running_controller,
        "compile_controller",
        lambda *given: made.append(compiled(*given)) or made[-1],
    )
    with warnings.catch_warnings(action="ignore"):
        run = rd.simulate(ROBOT, Bang(), q0=[1.0, 0.5], duration=1.0)
    assert made and made[0] is not None
    expected = [Bang()(*state) for state in zip(run.t, run.q, run.v, strict=True)]
    np.testing.assert_allclose(run.tau, expected, rtol=1e-13, atol=1e-13)
    f = rd.closed_loop(ROBOT, Bang())
    a = ROBOT.forward_dynamics(run.q, run.v, np.array(expected))
    np.testing.assert_allclose(f(run.t, run.q, run.v), a, rtol=1e-11, atol=1e-11)
    assert " ? " in f.c_source()


def test_a_follower_changes_its_law_on_the_way():
    """A Geneva-like drive: it follows beyond an angle, from rest and to rest."""

    def law(q):
        s = np.clip(q / 1.5, 0.0, 1.0)
        return s * s * s * (10.0 - 15.0 * s + 6.0 * s * s)

    robot = rd.load("double_pendulum", couplings=[rd.Follower("elbow", law, of="shoulder")])
    for x in (-0.5, 0.3, 1.2, 1.8):
        elbow = robot.joint_positions([x])["elbow"]
        assert elbow == pytest.approx(float(law(np.float64(x))), abs=1e-12)


def test_a_constraint_may_decide():
    """A cord: it holds the second joint only beyond half a radian of the first."""

    def cord(q, v):
        return v[1] - rd.where(q[0] > 0.5, 2.0, 0.5) * v[0]

    robot = ROBOT.with_(
        constraints=[rd.Constraint("cord", cord, ["shoulder", "elbow"], kind="nonholonomic")]
    )
    for x, ratio in ((0.2, 0.5), (0.9, 2.0)):
        assert robot.loop_jacobian([x, 0.0])[0].tolist() == [-ratio, 1.0]
        a = robot.forward_dynamics([x, 0.0], [1.0, ratio], [1.0, 0.0])
        assert a[1] == pytest.approx(ratio * a[0])


def test_a_sensor_has_a_dead_zone():
    def dead(q, v, a):
        return [np.where(np.abs(v[0]) > 0.1, v[0], 0.0)]

    robot = ROBOT.with_(sensors=[rd.Sensor(dead, joint="shoulder", name="gyro")])
    for rate, read in ((0.05, 0.0), (0.2, 0.2), (-0.3, -0.3)):
        assert robot.measure([0.1, 0.2], [rate, 0.0])["gyro"].tolist() == [read]


def test_costs_with_barriers():
    """Slopes are those of the side that a state is on."""

    def running(t, q, v, tau):
        return 50.0 * np.maximum(q[0] - 0.3, 0.0) ** 2 + np.sum(np.log(np.cosh(tau)))

    cost = SymbolicCost(ROBOT, running, lambda q, v: np.where(q[1] > 0.0, q[1], -2.0 * q[1]))
    rng, n = np.random.default_rng(2), 20
    t, (q, v, tau) = np.zeros(n), rng.normal(size=(3, n, 2))
    found = cost.running_cost(t, q, v, tau)
    expected = [running(*state) for state in zip(t, q, v, tau, strict=True)]
    np.testing.assert_allclose(found.value, expected, rtol=1e-13)
    slope = np.where(q[:, 0] > 0.3, 100.0 * (q[:, 0] - 0.3), 0.0)
    np.testing.assert_allclose(found.slope[:, 0], slope, rtol=1e-12)
    np.testing.assert_allclose(found.slope[:, 4:], np.tanh(tau), rtol=1e-12)
    np.testing.assert_allclose(
        cost.final_cost(q, v).slope[:, 1], np.where(q[:, 1] > 0.0, 1.0, -2.0)
    )


@pytest.mark.parametrize(
    "law", [lambda q, v, t: [0.0 if v[0] > 0 else 1.0], lambda q, v, t: [max(q[0], 0.0)]]
)
def test_laws_that_need_numbers_are_told_what_to_take(law):
    with pytest.raises(
        rd.ShapeError, match=r"np\.where and np\.maximum for decisions; if, max and"
    ):
        ROBOT.with_(forces=[rd.Force(law, joint="elbow")])
