"""Linear laws of least cost: what they cost, where they bring a robot, and what they refuse."""

import numpy as np
import pytest
from scipy.linalg import solve_continuous_lyapunov, solve_discrete_are, solve_discrete_lyapunov
from support.cart_poles import cart_pole
from support.random_mechanisms import random_mechanism
from support.standing_walker import standing_walker

import robodyn as rd
from robodyn.controllers import LQR, Sampled, TimeVaryingLQR

UP, TIPPED = np.array([0.0, np.pi]), np.array([0.05, 0.1])


def test_the_cost_of_a_motion_is_the_cost_to_go():
    robot = cart_pole()
    Q, R = np.diag([3.0, 5.0, 0.5, 0.2]), 0.4
    law = LQR(robot, UP, state=Q, effort=R)
    x0 = 1e-4 * np.array([1.0, -2.0, 0.5, 1.5])
    run = rd.simulate(robot, law, q0=UP + x0[:2], v0=x0[2:], duration=12.0, step=5e-4)
    x = np.hstack([run.q - UP, run.v])
    rate = np.einsum("ki,ij,kj->k", x, Q, x) + R * run.tau[:, 0] ** 2
    cost = np.sum(0.5 * (rate[1:] + rate[:-1]) * np.diff(run.t))
    assert abs(cost / (x0 @ law.cost_to_go @ x0) - 1.0) < 0.004
    for other in (0.9, 1.1):  # of the linear model no other law costs less
        K = other * law.gains
        A = law.model.A - law.model.B @ K
        dearer = solve_continuous_lyapunov(A.T, -(Q + R * K.T @ K))
        assert np.linalg.eigvalsh(dearer - law.cost_to_go).min() > -1e-9
        assert x0 @ dearer @ x0 > (1.0 + 1e-4) * (x0 @ law.cost_to_go @ x0)


def test_the_cost_of_a_sampled_motion_is_the_cost_to_go():
    robot, dt = cart_pole(), 0.05
    Q, R = np.diag([3.0, 5.0, 0.5, 0.2]), 0.4
    law = LQR(robot, UP, state=Q, effort=R, dt=dt)
    x0 = 1e-4 * np.array([1.0, -2.0, 0.5, 1.5])
    run = rd.simulate(robot, Sampled(law, dt), q0=UP + x0[:2], v0=x0[2:], duration=12.0, step=5e-3)
    x, u = np.hstack([run.q - UP, run.v])[:-1:10], run.tau[:-1:10, 0]
    cost = dt * np.sum(np.einsum("ki,ij,kj->k", x, Q, x) + R * u**2)
    assert abs(cost / (x0 @ law.cost_to_go @ x0) - 1.0) < 1e-4
    for other in (0.95, 1.05):  # of the sampled model no other law costs less
        K = other * law.gains
        dearer = solve_discrete_lyapunov((law.model.A - law.model.B @ K).T, dt * (Q + R * K.T @ K))
        assert x0 @ dearer @ x0 > (1.0 + 1e-4) * (x0 @ law.cost_to_go @ x0)


@pytest.mark.slow
def test_a_robot_on_its_feet_is_held_by_its_motors_alone():
    """Two legs with feet as pins, which cannot fall sideways; nothing pushes the trunk."""
    robot, q = standing_walker()
    still = np.zeros(robot.nv)
    law = LQR(robot, q, effort=0.1)
    tau = law(0.0, q, still)
    assert not tau[:6].any()
    loads = robot.joint_wrenches(q, still, tau=tau).in_frame("world")
    front, rear = (loads[f"foot_{place}"][:3] for place in (0.3, -0.2))
    np.testing.assert_allclose(front + rear, [0.0, 0.0, 9.81 * robot.total_mass], atol=1e-8)
    start = robot.assemble(
        robot.integrate(q, [0.01, 0, -0.01, *np.zeros(7)]), hold=["floating_base"]
    )
    run = rd.simulate(robot, law, q0=start, duration=5.0, step=5e-3)
    assert np.abs(robot.difference(run.q[-1], q)).max() < 1e-4


def test_of_short_periods_the_law_is_the_continuous_one():
    robot = cart_pole()
    continuous = LQR(robot, UP, state=3.0, effort=0.4)
    off = [
        np.abs(LQR(robot, UP, state=3.0, effort=0.4, dt=dt).gains / continuous.gains - 1.0).max()
        for dt in (2e-3, 1e-3)
    ]
    assert 1.8 < off[0] / off[1] < 2.2 and off[1] < 0.01


@pytest.mark.slow
def test_it_balances_on_a_cart_that_stands_on_a_moving_deck():
    """The deck rolls and sways for four seconds, the pole stays up, and then comes to rest."""
    robot = cart_pole(base="moving")
    law = LQR(robot, UP, state=[20.0, 20.0, 1.0, 1.0], effort=0.1)

    def deck(t):
        s = np.clip(t / 4.0, 0.0, 1.0)
        w = np.pi / 4.0 if 0.0 < t < 4.0 else 0.0
        angle, rate, second = (
            0.05 * np.sin(np.pi * s) ** 2 * np.array([1.0, 0.0, 0.0])
            + 0.05 * w * np.sin(2 * np.pi * s) * np.array([0.0, 1.0, 0.0])
            + 0.1 * w * w * np.cos(2 * np.pi * s) * np.array([0.0, 0.0, 1.0])
        )
        return rd.BaseMotion.from_world(
            [2.0 * angle, 0.0, angle],
            [0.0, np.sin(angle / 2), 0.0, np.cos(angle / 2)],
            [2.0 * rate, 0.0, rate],
            [0.0, rate, 0.0],
            [2.0 * second, 0.0, second],
            [0.0, second, 0.0],
        )

    run = rd.simulate(
        robot, law, q0=UP + TIPPED, duration=8.0, step=1e-2,
        base=rd.BasePath.from_function(deck),
    )  # fmt: skip
    swayed = run.t < 4.5
    assert np.abs(run.q[swayed] - UP).max() > 0.05
    assert np.abs(run.q[:, 1] - np.pi).max() < 0.3
    assert np.abs(run.q[-1] - UP).max() < 1e-3


def test_a_linkage_by_its_independent_joints():
    robot = rd.load("four_bar", passive=False)
    q = robot.assemble([0.7, 0.0, 0.0], hold=["crank_drive"])
    law = LQR(robot, q, state=[100.0, 1.0], effort=0.1)
    assert law.model.states == ("q:crank_drive", "v:crank_drive")
    start = robot.assemble(q + np.array([0.2, 0.0, 0.0]), hold=["crank_drive"])
    run = rd.simulate(robot, law, q0=start, duration=6.0, step=2e-3, limits="ignore")
    assert np.abs(run.q[0] - q).max() > 0.1
    assert np.abs(run.q[-1] - q).max() < 1e-4


def test_joints_that_turn_by_quaternions():
    rng = np.random.default_rng(3)
    mechanism = random_mechanism(rng, ("spherical", "revolute"))
    robot = rd.load(mechanism)
    q = robot.random(rng)
    law = LQR(robot, q, state=10.0, effort=0.01)
    start = robot.integrate(q, 0.3 * rng.normal(size=robot.nv))
    run = rd.simulate(robot, law, q0=start, duration=8.0, step=4e-3, limits="ignore")
    assert np.abs(robot.difference(q, run.q[-1])).max() < 1e-3


def test_along_rest_it_is_the_law_of_the_sampled_model():
    robot, h = cart_pole(), 0.01
    run = rd.simulate(robot, q0=UP, duration=10.0, step=h)
    law = TimeVaryingLQR(robot, run, state=2.0, effort=0.5)
    model = robot.linearize(UP, np.zeros(2), np.zeros(2), dt=h)
    S = solve_discrete_are(model.A, model.B, 2.0 * h * np.eye(4), np.array([[0.5 * h]]))
    gains = np.linalg.solve(0.5 * h + model.B.T @ S @ model.B, model.B.T @ S @ model.A)
    np.testing.assert_allclose(law.gains[0], -gains, rtol=1e-5)
    np.testing.assert_allclose(law.cost_to_go, S, rtol=1e-5)


def test_what_comes_after_a_motion_costs_what_it_says():
    """Along rest the law that takes over is the best one before, too: its cost to go stays."""
    robot = cart_pole()
    after = LQR(robot, UP, state=2.0, effort=0.5)
    run = rd.simulate(robot, q0=UP, duration=0.2, step=1e-3)
    law = TimeVaryingLQR(robot, run, state=2.0, effort=0.5, then=after)
    np.testing.assert_allclose(law.cost_to_go, after.cost_to_go, rtol=2e-3)
    plain = TimeVaryingLQR(robot, run, state=2.0, effort=0.5)
    assert np.abs(plain.cost_to_go / after.cost_to_go - 1.0).max() > 0.5


def test_a_short_last_step_counts_by_its_length():
    robot = cart_pole()
    run = rd.simulate(robot, q0=UP, duration=0.0525, step=0.01)
    lengths = np.diff(run.t)
    assert lengths[-1] == pytest.approx(0.0025)
    S = 2.0 * np.eye(4)
    for h in lengths[::-1]:
        model = robot.linearize(UP, np.zeros(2), np.zeros(2), dt=h)
        gains = np.linalg.solve(0.5 * h + model.B.T @ S @ model.B, model.B.T @ S @ model.A)
        S = 2.0 * h * np.eye(4) + model.A.T @ S @ (model.A - model.B @ gains)
    law = TimeVaryingLQR(robot, run, state=2.0, effort=0.5)
    np.testing.assert_allclose(law.cost_to_go, S, rtol=1e-6)


def test_what_motors_do_not_reach():
    motors = dict.fromkeys(rd.load("pan_tilt").joint_names, rd.Actuator())
    adrift = rd.load("pan_tilt", base="floating", gravity=(0, 0, 0), actuators=motors)
    with pytest.raises(rd.ActuationError, match="do not reach the mode 'v:floating_base") as error:
        LQR(adrift, adrift.neutral())
    assert "floating_base" in error.value.direction
    with pytest.raises(rd.ActuationError, match="'pivot' accelerates") as error:
        LQR(cart_pole(), [0.0, 1.0])
    assert error.value.direction == "pivot"


def test_what_decays_by_itself_needs_no_motor():
    rod = rd.Inertia.from_matrix(1.0, (0.0, 0.0, -0.5), 0.1 * np.eye(3))
    names = ("driven", "idle")
    links = rd.Link("wall"), *(rd.Link(name, rod) for name in names)
    pins = (rd.Joint(f"{n}_pin", "continuous", "wall", n, axis=(0, 1, 0)) for n in names)
    apart = rd.Mechanism("apart", links, tuple(pins))
    robot = rd.load(apart, actuators={"driven_pin": rd.Actuator()})
    with pytest.raises(rd.ActuationError, match="do not reach the mode 'q:idle_pin'"):
        LQR(robot, [np.pi, 0.0])
    law = LQR(robot.with_(parameters={"idle_pin.damping": 0.5}), [np.pi, 0.0])
    assert law.model.states[1::2] == ("q:idle_pin", "v:idle_pin")
    np.testing.assert_allclose(law.gains[:, 1::2], 0.0, atol=1e-12)
    assert law.gains[0, 0] > 0.0


def test_after_the_motion_the_forces_are_those_of_the_next_law():
    robot = cart_pole()
    after = LQR(robot, UP, state=2.0, effort=0.5)
    law = TimeVaryingLQR(robot, rd.simulate(robot, q0=UP, duration=0.1, step=0.01), then=after)
    q, v = UP + TIPPED, np.array([0.3, 0.1])
    for t in (0.1, 0.1004, 7.0):
        np.testing.assert_allclose(law(t, q, v), after(t, q, v), rtol=1e-12)
