"""What a motion gains, it was given: the audit closes to the order of the integrator."""

import math

import numpy as np
import pytest

import robodyn as rd
from robodyn.simulation import EventRecord

#: Leading order of the method that is used, and of the audit.
ORDER = 4


def closes(move, *, order=ORDER, below, step=4e-3):
    """What is unexplained is small, and falls with the step as the method says."""
    coarse, fine = move(step).audit, move(0.5 * step).audit
    gap = [np.abs(audit.unexplained).max() for audit in (coarse, fine)]
    assert fine.exchanged.min() > 0.0
    assert gap[1] < below * fine.exchanged.min()
    assert gap[0] < 1e-11 * coarse.exchanged.min() or gap[0] > 2.0 ** (order - 0.5) * gap[1]
    return fine


def start(robot, scale=0.5):
    q = robot.neutral()
    v = np.random.default_rng(5).normal(size=robot.nv) * scale
    return {"q0": q, "v0": robot.consistent_velocity(q, v) if robot.nc else v, "limits": "ignore"}


@pytest.mark.parametrize(
    "name", ["double_pendulum", "arm7", "four_bar", "crank_slider", "five_bar", "palletizer"]
)
def test_held_torques_and_friction(name):
    # friction whose turn lasts longer than a step: else the motion itself is not smooth enough
    robot = rd.load(name, friction_speed=0.2)
    rng = np.random.default_rng(3)
    push = rng.normal(size=robot.nv)
    if robot.nc:
        push *= [joint in robot.actuated_joints for joint in robot.joint_names]

    def move(step):
        return rd.simulate(
            robot, lambda t, q, v: push, duration=0.12, step=step, **start(robot)
        )  # fmt: skip

    audit = closes(move, below=1e-6, step=2e-3)
    assert audit.forces[-1] != 0.0
    assert not audit.wrenches.any() and not audit.base.any() and not audit.impacts.any()


def test_torques_that_jump_at_each_step():
    """A sampled controller puts in its held torque times the way, not a mean of two torques."""
    robot = rd.load("double_pendulum", passive=False)

    def hit(t, q, v):
        return 3.0 * np.sign(np.sin(400.0 * t)) * np.array([1.0, -1.0])

    run = rd.simulate(robot, hit, duration=0.2, step=2e-3)
    audit = run.audit
    assert np.abs(audit.unexplained).max() < 1e-9 * audit.exchanged
    work = np.cumsum(np.sum(run.tau[:-1] * np.diff(run.q, axis=0), axis=1))
    np.testing.assert_allclose(audit.forces[1:], work, atol=1e-9 * audit.exchanged)


def test_the_audit_alone_is_of_fourth_order():
    """Samples of a much finer motion: what is left is the error of the audit."""
    robot = rd.load("arm7", friction_speed=0.2)

    def move(step):
        return rd.simulate(robot, duration=0.4, step=step / 16, every=16, **start(robot, 2.0))

    closes(move, below=1e-5, step=2e-2)


SPRINGS = {"shoulder": (30.0, 0.2)}


def sprung():
    """A spring in a joint, one with a damper between a link and the ground, and friction."""
    robot = rd.load("double_pendulum", springs=SPRINGS)
    tie = rd.PointSpring("world", (0.3, 0.0, 0.2), "lower", (0.0, 0.0, -0.4), 40.0, 0.1, 0.8, "tie")
    return rd.load(robot.mechanism, springs=[tie])


def test_springs_and_dampers():
    robot = sprung()

    def move(step):
        return rd.simulate(robot, q0=[0.8, -0.4], v0=[1.0, 2.0], duration=0.4, step=step)

    audit = closes(move, below=1e-7)
    assert np.ptp(audit.elastic) > 0.1 and audit.dissipated[-1] > 0.01
    assert (np.diff(audit.dissipated) >= 0.0).all()
    run = move(2e-3)
    joint = 0.5 * 30.0 * (run.q[:, 0] - 0.2) ** 2
    X = robot.frame_pose(run.q, "lower")
    end = (X @ [0.0, 0.0, -0.4, 1.0])[:, :3]
    tie = 0.5 * 40.0 * (np.linalg.norm(end - [0.3, 0.0, 0.2], axis=1) - 0.1) ** 2
    np.testing.assert_allclose(run.elastic_energy, joint + tie, rtol=1e-12)


def shaken(t):
    """A base that swings about and along several axes."""
    s, c = math.sin(3.0 * t), math.cos(3.0 * t)
    half = 0.2 * s
    w = np.array([0.0, 1.2 * c, 0.0])
    return rd.BaseMotion.from_world(
        (0.1 * s, 0.0, 0.2 * c), (0.0, math.sin(half), 0.0, math.cos(half)),
        (0.3 * c, 0.0, -0.6 * s), w, (-0.9 * s, 0.0, -1.8 * c), (0.0, -3.6 * s, 0.0),
    )  # fmt: skip


@pytest.mark.parametrize("name", ["double_pendulum", "four_bar"])
def test_a_base_that_moves(name):
    robot = rd.load(name, base="moving")
    link = robot.link_names[-1]

    def move(step):
        return rd.simulate(
            robot, base=shaken, wrenches={link: [1.0, 2.0, 3.0, 0.1, 0.2, 0.3]},
            duration=0.2, step=step, **start(robot),
        )  # fmt: skip

    audit = closes(move, below=1e-6)
    assert np.abs(audit.base).max() > 0.01 * audit.exchanged
    assert np.abs(audit.wrenches).max() > 0.01 * audit.exchanged


def test_a_base_that_moves_and_samples_far_apart():
    """Between samples loops are closed before forces are asked for."""
    robot = rd.load("four_bar", base="moving")
    audit = rd.simulate(robot, base=shaken, duration=0.5, every=100, **start(robot, 3.0)).audit
    assert np.abs(audit.unexplained).max() < 0.05 * audit.exchanged


@pytest.mark.parametrize("name", ["arm7", "four_bar"])
def test_driven_joints(name):
    robot = rd.load(name)
    joint = robot.independent_joints[0]
    q0 = float(robot.neutral()[robot.joints[joint].q][0])

    def path(t):
        return (
            q0 + 0.4 * t - 0.1 * math.sin(4 * t),
            0.4 - 0.4 * math.cos(4 * t),
            1.6 * math.sin(4 * t),
        )

    def move(step):
        return rd.simulate(
            robot, lambda t, q, v: np.full(robot.nv, 0.3 * (robot.nc == 0)),
            controlled={joint: path}, duration=0.3, step=step, limits="ignore",
        )  # fmt: skip

    audit = closes(move, below=1e-5, order=3)
    assert np.abs(audit.forces).max() > 0.1 * audit.exchanged


def test_a_method_that_loses_energy_is_told():
    """The gap is the error of the method, which its own order says."""
    robot = rd.load("double_pendulum", passive=False)

    def move(step):
        return rd.simulate(
            robot, q0=[1.0, 0.5], duration=0.4, step=step, integrator="euler", limits="ignore"
        )

    audit = closes(move, below=0.1, order=1)
    assert np.abs(audit.unexplained).max() > 1e-5 * audit.exchanged
    np.testing.assert_allclose(audit.unexplained, audit.stored - audit.stored[0], atol=1e-12)


def test_what_an_impact_takes():
    """Two samples at one time, before and after; the record says what was lost."""
    robot = rd.load("double_pendulum", passive=False)
    first = rd.simulate(robot, q0=[0.4, 0.6], duration=0.1)
    q, v = first.q[-1], first.v[-1]
    hit = robot.impact(q, v, "lower", (0, 0, -1), None)
    second = rd.simulate(robot, q0=q, v0=hit.v, duration=0.1)
    joined = [np.concatenate([getattr(run, x) for run in (first, second)]) for x in "qva"]
    t = np.concatenate([first.t, first.t[-1] + second.t])
    event = EventRecord(float(first.t[-1]), "lands", float(hit.energy_loss))
    run = rd.Trajectory(t, *joined, 0.0 * joined[1], robot=robot, events=(event,))
    audit = run.audit
    assert hit.energy_loss > 0.01
    np.testing.assert_array_equal(audit.impacts, hit.energy_loss * (np.arange(202) > 100))
    assert np.abs(audit.unexplained).max() < 1e-9 * audit.exchanged
    assert "lost in impacts" in str(audit)
    assert run[:101].events == () and run[50:150].events == (event,)
    after = run[101:]
    assert not after.audit.impacts.any()
    assert np.abs(after.audit.unexplained).max() < 1e-9 * audit.exchanged
    # the state at the time of the impact is the one after it
    np.testing.assert_array_equal(run.resample([0.05, 0.1, 0.15]).v[1], hit.v)


def test_what_is_not_known_is_refused():
    tie = rd.PointSpring("world", (0.3, 0, 0), "lower", (0, 0, 0), 4.0, 0.1, 0.8, "tie")
    robot = rd.load("double_pendulum", base="moving", springs=[tie])
    with pytest.raises(rd.SettingsError, match="tie"):
        _ = rd.simulate(robot, duration=0.01, base=lambda t: rd.BaseMotion.at_rest()).audit

    def pulled(X, V, t):  # by a unit of weight, and by what dampens its first speed
        return [-X[2, 0] - 0.1 * V[0], -X[2, 1], -X[2, 2], 0.0, 0.0, 0.0]

    weight = rd.Force(pulled, on="lower", potential=lambda X: X[2, 3], name="drag")
    robot = rd.load("double_pendulum", base="moving", forces=[weight])
    with pytest.raises(rd.SettingsError, match="drag"):
        _ = rd.simulate(robot, duration=0.01, base=lambda t: rd.BaseMotion.at_rest()).audit
    run = rd.simulate(rd.load("double_pendulum"), duration=0.01)
    unknown = rd.Trajectory(run.t, run.q, run.v, run.a, np.nan * run.tau, robot=run.robot)
    with pytest.raises(rd.SettingsError, match="tau is not known"):
        _ = unknown.audit
