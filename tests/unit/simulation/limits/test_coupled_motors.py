"""Torques of motors that a transmission couples: cut, told, and refused where a joint is meant."""

import numpy as np
import pytest

import robodyn as rd
from robodyn import controllers as rc
from robodyn.errors import EnergyWarning, LimitWarning
from robodyn.exporting.unit.contents import unit_of
from robodyn.simulation.control.running_controller import RunningController
from robodyn.simulation.limits.bounds import (
    effort_bounds,
    effort_shares,
    own_effort_bounds,
    within_motors,
)
from robodyn.simulation.loads.driven_joints import Driven
from robodyn.simulation.loads.loads import loads_on
from robodyn.simulation.motion.continued_motion import ContinuedMotion
from robodyn.simulation.step.stepper import Stepper
from robodyn.simulation.trajectory.panels import panel
from robodyn.studies.compare import compare

#: Motors turn ten times as fast as the sum and the difference of two joints.
GEAR, LIMITS = 10.0, (3.0, 2.0)
G = GEAR * np.array([[1.0, 1.0], [1.0, -1.0]])


def robot(limits=LIMITS, **options):
    motors = {
        name: rd.Actuator(GEAR, 1e-4, torque_limit=limit)
        for name, limit in zip(("shoulder", "elbow"), limits, strict=True)
    }
    both = rd.Transmission.differential("both", ("shoulder", "elbow"))
    return rd.load("double_pendulum", actuators=motors, transmissions=[both], **options)


def cut(tau):
    """Efforts whose motor torques are within their limits, written by hand."""
    torques = np.clip(np.linalg.solve(G.T, tau), -np.array(LIMITS), LIMITS)
    return G.T @ torques


TAU = np.array([[20.0, 5.0], [100.0, 0.0], [-100.0, 100.0], [5.0, 55.0]])


def test_torques_are_cut_at_motors():
    found = within_motors(robot(), TAU, np.zeros(2))
    np.testing.assert_allclose(found, [cut(tau) for tau in TAU], rtol=1e-13, atol=1e-13)
    np.testing.assert_array_equal(found[0], TAU[0])  # within the limits: as they are
    assert np.abs(found[1:] - TAU[1:]).max(axis=1).min() > 1.0


@pytest.mark.parametrize("controlled", [False, True])
def test_a_simulation_cuts_torques_at_motors(controlled):
    """Whether a controller is asked by Python, or is machine code."""
    made, far = robot(), np.array([2.0, -1.0])
    law = rc.JointPD(made, rc.PointToPoint(0.0 * far, far, 1.0), stiffness=5000.0, damping=50.0)
    controller = law if controlled else lambda t, q, v: law(t, q, v)
    options = {"duration": 0.1, "step": 1e-3, "q0": [0.5, -0.4]}
    run = rd.simulate(made, controller, limits="enforce", **options)
    wanted = np.array([law(*x) for x in zip(run.t, run.q, run.v, strict=True)])
    np.testing.assert_allclose(run.tau, [cut(tau) for tau in wanted], rtol=1e-9, atol=1e-9)
    assert (np.abs(run.motor_torques).max(axis=0) <= np.array(LIMITS) * (1 + 1e-12)).all()
    assert np.abs(wanted - run.tau).max() > 1.0
    saturated = rd.simulate(made, rc.Saturated(law), limits="ignore", **options)
    np.testing.assert_allclose(saturated.q, run.q, rtol=0, atol=1e-9)


def test_a_motion_without_end_cuts_torques_at_motors():
    """As the engine behind ROS continues it, with a controller that is machine code elsewhere."""
    made, start = robot(), np.array([0.5, -0.4])
    law = rc.JointPD(
        made, rc.PointToPoint(0.0 * start, 0.0 * start, 1.0), stiffness=5000.0, damping=50.0
    )
    run = rd.simulate(made, law, duration=0.02, step=1e-3, q0=start, limits="enforce")
    stepper = Stepper(loads_on(made, Driven(2, {})), "rk4")
    state = 0.0, 1e-3, start, 0.0 * start
    motion = ContinuedMotion(stepper, RunningController(made, law), np.full(2, np.inf), *state)
    done, at_limit = 0, []
    while done < 20:
        done += motion.advance(20 - done)
        motion.take_steps()
        at_limit.append(motion.at_limit)
    np.testing.assert_allclose(motion.q, run.q[-1], rtol=0, atol=1e-9)
    assert any(at_limit)


def test_comparisons_and_pictures_tell_of_motors():
    """A torque of 50 N m at the elbow takes its motor 25 % beyond the limit."""
    options = {"duration": 0.002, "step": 1e-3, "limits": "ignore"}
    push = lambda t, q, v: [0.0, 50.0]  # noqa: E731
    found = compare(robot(), {"push": push}, reference=SLOW, duration=0.002, step=1e-3)
    margins = found["torque_margin"]
    assert np.min(margins) == pytest.approx(1.0 - 2.5 / 2.0)
    run = rd.simulate(robot(), push, **options)
    part = panel(run, "torque utilisation")
    assert np.max(part.values) == pytest.approx(125.0)


def test_steps_too_long_for_the_friction_of_coupled_motors_are_told():
    motors = {name: rd.Actuator(GEAR, 1e-6, coulomb=0.5) for name in ("shoulder", "elbow")}
    both = rd.Transmission.differential("both", ("shoulder", "elbow"))
    made = rd.load("double_pendulum", actuators=motors, transmissions=[both])
    plain = rd.load("double_pendulum", actuators=robot().actuators, transmissions=[both])
    rows = plain.with_(parameters={"elbow.coulomb": [0.5, 0.5]})
    for stopping in (made, rows):
        q = np.zeros((2, 2))
        with pytest.warns(EnergyWarning, match="too long for the friction of joint"):
            rd.rollout(stopping, None, q0=q, v0=q + 0.5, duration=0.3, step=1e-2)


def test_a_motion_tells_of_the_torques_of_motors():
    with pytest.warns(LimitWarning, match="the motor torque of 'elbow' is"):
        run = rd.simulate(robot(), lambda t, q, v: [0.0, 50.0], duration=0.01, step=1e-3)
    found = {(x.joint, x.limit): x for x in run.limit_violations}
    assert set(found) == {("elbow", "motor torque")}
    violation = found["elbow", "motor torque"]
    assert violation.bound == -2.0 and violation.unit == "N m"
    assert violation.worst == pytest.approx(np.linalg.solve(G.T, [0.0, 50.0])[1])


def test_a_joint_alone_has_the_torques_of_all_its_motors():
    made = robot()
    np.testing.assert_allclose(effort_bounds(made), [50.0, 50.0], rtol=1e-15)
    for tau in (TAU[0], np.array([20.0, 20.0])):  # the second one needs one motor alone
        torques = np.linalg.solve(G.T, tau)
        shares = effort_shares(made, np.zeros(2), tau)
        expected = np.maximum(np.abs(tau) / 50.0, np.abs(torques) / LIMITS)
        np.testing.assert_allclose(shares, expected, rtol=1e-14)
    assert np.isinf(effort_bounds(robot((3.0, np.inf)))).all()


def test_limits_of_one_joint_are_asked_for_where_there_are_none():
    made = robot()
    cost = rc.QuadraticCost(made, np.zeros(2))
    with pytest.raises(rd.SettingsError, match=r"couples the motors of .*alone; give limits="):
        rc.iterative_lqr(made, cost, q0=np.zeros(2), duration=0.1, step=0.05)
    locked = made.with_(locked={"elbow": 0.3})
    for bounds in (effort_bounds, own_effort_bounds):
        np.testing.assert_allclose(bounds(locked), [50.0], rtol=1e-15)


FAR = np.array([0.4, -0.9])
SLOW = rc.PointToPoint(0.0 * FAR, FAR, 5.0)


@pytest.mark.parametrize("optimal", [False, True])
def test_a_timed_motion_takes_motors_to_their_limits(optimal):
    made = robot((0.5, 0.3))
    if optimal:
        pytest.importorskip("toppra")
        quick = rc.TimeOptimal(SLOW, 5.0, robot=made, points=60)
        length = quick.duration
    else:
        quick = rc.Stretched.within(SLOW, 5.0, robot=made)
        length = 5.0 * quick.factor
    t = np.linspace(0.0, length, 400)
    q, v, a = (np.array(x) for x in zip(*map(quick, t.tolist()), strict=True))
    shares = np.abs(made.motor_torques(q, v, a)) / [0.5, 0.3]
    assert 0.97 < shares.max() < 1.0 + 1e-6


def test_a_motor_that_is_too_weak_for_a_path_is_named():
    weak = robot((0.5, 1e-3))
    with pytest.raises(rd.PathError, match="the motor of joint 'elbow' takes") as raised:
        rc.Stretched.within(SLOW, 5.0, robot=weak)
    assert raised.value.joint == "elbow"
    own = rc.Stretched.within(SLOW, 5.0, robot=weak, torque=20.0)  # in place of what motors have
    assert own.factor < 1.0


def test_limits_that_fall_with_speed_are_refused():
    with pytest.raises(rd.SettingsError, match="how their limits fall with speed is not"):
        rd.simulate(robot(), limits=rd.MotorLimits(0.5), duration=0.1, step=0.01)


def test_a_locked_joint_among_three_leaves_limits_undetermined():
    joints = ("forearm_roll", "wrist_pitch", "flange_roll")
    motors = {name: rd.Actuator(10.0, torque_limit=1.0) for name in joints}
    shared = rd.Transmission.belts("wrist", joints)
    made = rd.load("arm7", actuators=motors, transmissions=[shared])
    with pytest.raises(rd.ActuationError, match="forearm_roll cannot move by itself"):
        within_motors(made.with_(locked={"forearm_roll": 0.1}), np.zeros(6), np.zeros(6))


def test_exported_torques_are_those_of_motors():
    made = robot()
    q, v, a = np.random.default_rng(0).normal(size=(3, 2))
    unit = unit_of(made, ["motor_torques"], None, 1e-3, "rk4", "double", None)
    found = [rd.Function(x.program)(q, v, a) for x in unit.routines if x.name == "motor_torques"]
    np.testing.assert_allclose(found, [made.motor_torques(q, v, a)], rtol=1e-12, atol=1e-13)
