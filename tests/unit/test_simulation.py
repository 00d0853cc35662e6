"""Simulation against closed solutions and conservation laws."""

from __future__ import annotations

import csv
import math

import numpy as np
import pytest
from robodyn.controllers import (
    ComputedTorque,
    GravityCompensation,
    JointPD,
    PointToPoint,
    SineReference,
)

import robodyn as rd
from robodyn.errors import ShapeError, SimulationError, UnknownNameError
from robodyn.simulation import INTEGRATORS

PENDULUM = """<robot name="pendulum"><link name="base"/><link name="bob"><inertial>
<origin xyz="0 0 -0.5"/><mass value="2"/>
<inertia ixx="0.1" ixy="0" ixz="0" iyy="0.1" iyz="0" izz="0.1"/></inertial></link>
<joint name="pin" type="continuous"><parent link="base"/><child link="bob"/>
<axis xyz="0 1 0"/></joint></robot>"""


@pytest.fixture(scope="module")
def double():
    return rd.load("double_pendulum", passive=False)


def test_energy_is_conserved(double):
    run = rd.simulate(double, q0=[1.0, -0.5], duration=2.0, step=1e-3)
    scale = np.ptp(double.potential_energy(np.array([[0.0, 0], [math.pi, 0]])))
    assert np.ptp(run.energy) < 1e-8 * scale


@pytest.mark.parametrize("name", sorted(INTEGRATORS))
def test_order_of_convergence(double, name):
    def end(step):
        run = rd.simulate(
            double, q0=[0.6, 0.2], v0=[0.0, 1.0], duration=0.4, step=step, integrator=name
        )
        return run.q[-1]

    exact = rd.simulate(double, q0=[0.6, 0.2], v0=[0.0, 1.0], duration=0.4, step=2e-4).q[-1]
    order = INTEGRATORS[name].order
    h = 0.005 if order > 1 else 0.002
    ratio = np.linalg.norm(end(2 * h) - exact) / np.linalg.norm(end(h) - exact)
    assert math.log2(ratio) > order - 0.3


def test_small_oscillation_has_the_period_of_the_book():
    robot = rd.load(PENDULUM)
    # I = 0.1 + 2 * 0.5^2 about the pin, m g d = 2 * 9.81 * 0.5
    w = math.sqrt(9.81 / 0.6)
    run = rd.simulate(robot, q0=[1e-4], duration=1.0, step=1e-3)
    np.testing.assert_allclose(run.q[:, 0], 1e-4 * np.cos(w * run.t), atol=1e-11)


def test_a_free_body_turns_and_falls_as_it_must():
    robot = rd.load(PENDULUM.replace("continuous", "fixed"), base="floating", gravity=(0, 0, -2.0))
    v0 = np.array([0.1, 0.2, 0.3, 1.0, -2.0, 0.5])
    run = rd.simulate(robot, v0=v0, duration=1.0, step=2e-3)
    momentum = robot.momentum(run.q, run.v)
    np.testing.assert_allclose(momentum[:, 3:] - momentum[0, 3:], 0.0, atol=1e-10)
    np.testing.assert_allclose(momentum[-1, :3] - momentum[0, :3], [0, 0, -4.0], atol=1e-10)
    np.testing.assert_allclose(np.ptp(run.energy), 0.0, atol=1e-9)
    np.testing.assert_allclose(np.linalg.norm(run.q[:, 3:], axis=1), 1.0, atol=1e-14)


def test_work_of_a_wrench_and_of_a_moving_base():
    robot = rd.load("double_pendulum", base="moving", passive=False)
    push = {robot.link_names[-1]: np.array([0.0, 0.0, 1.0, 0.0, 0.2, 0.0])}
    fall = rd.BaseMotion.from_world(linear_acceleration=(0, 0, -9.81))
    run = rd.simulate(robot, base=lambda t: fall, wrenches=push, duration=0.2)
    again = rd.simulate(robot, base=lambda t: fall, wrenches=lambda t, q, v: push, duration=0.2)
    np.testing.assert_array_equal(run.q, again.q)
    still = rd.simulate(robot, base=lambda t: fall, q0=[0.3, 0.4], duration=0.2)
    np.testing.assert_allclose(still.q, np.tile([0.3, 0.4], (len(still), 1)), atol=1e-12)


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


def test_rollout_is_many_simulations(double):
    rng = np.random.default_rng(0)
    q0, v0 = rng.normal(size=(2, 9, 2))
    controller = GravityCompensation(double)
    many = rd.rollout(double, controller, q0, v0, duration=0.05)
    assert many.q.shape == (51, 9, 2)
    for k in range(9):
        one = rd.simulate(double, controller, q0=q0[k], v0=v0[k], duration=0.05)
        np.testing.assert_allclose(many.q[:, k], one.q, atol=1e-11)


def test_an_event_ends_the_motion(double):
    run = rd.simulate(double, q0=[1.0, 0.0], duration=5.0, events=[lambda t, q, v: q[0]])
    assert run.t[-1] < 5.0
    assert run.q[-1, 0] <= 0.0 < run.q[-2, 0]


def test_a_broken_simulation_keeps_what_came_before(double):
    with pytest.raises(SimulationError, match="no longer finite") as caught:
        rd.simulate(double, lambda t, q, v: [1e300 if t > 0.01 else 0.0, 0.0], duration=1.0)
    assert 5 < len(caught.value.trajectory) < 30
    assert np.isfinite(caught.value.trajectory.q).all()
    assert caught.value.time == pytest.approx(0.012, abs=5e-3)


@pytest.mark.parametrize(
    "wrong",
    [
        {"q0": [0.0]},
        {"v0": [[0.0, 0.0]]},
        {"q0": [0.0, math.nan]},
        {"step": 0.0},
        {"step": math.nan},
        {"duration": -1.0},
    ],
)
def test_wrong_arguments(double, wrong):
    with pytest.raises(ShapeError):
        rd.simulate(double, **wrong)


def test_wrong_names_and_controllers(double):
    with pytest.raises(UnknownNameError, match="rk4"):
        rd.simulate(double, integrator="rk5")
    with pytest.raises(ShapeError, match="controller returned"):
        rd.simulate(double, lambda t, q, v: 0.0)


def test_save(double, tmp_path):
    run = rd.simulate(double, q0=[0.3, 0.1], duration=0.02)
    assert len(run[5:]) == len(run) - 5
    run.save(tmp_path / "run.npz")
    with np.load(tmp_path / "run.npz") as data:
        np.testing.assert_array_equal(data["q"], run.q)
    run.save(tmp_path / "run.csv")
    with open(tmp_path / "run.csv", newline="") as file:
        head, *rows = csv.reader(file)
    assert head[:3] == ["t", "q0", "q1"]
    np.testing.assert_array_equal(np.array(rows, float)[:, 1:3], run.q)
    run.plot(tmp_path / "run.png")
    assert (tmp_path / "run.png").stat().st_size > 10_000
    with pytest.raises(ShapeError, match=r"\.npz or \.csv"):
        run.save(tmp_path / "run.txt")
    with pytest.raises(rd.MissingExtraError, match="bag"):
        run.save(tmp_path / "run.mcap")
    assert sorted(p.name for p in tmp_path.iterdir()) == ["run.csv", "run.npz", "run.png"]
