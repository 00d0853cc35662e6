"""Energy that does not add up is told; energy that does is not."""

import math
import warnings
from dataclasses import replace

import numpy as np
import pytest

import robodyn as rd
from robodyn.controllers import GravityCompensation
from robodyn.errors import EnergyWarning
from robodyn.simulation.checks import energy_check


def told(run):
    """The warnings of energy that come with a run."""
    with warnings.catch_warnings(record=True, action="always") as found:
        run()
    return [str(x.message) for x in found if x.category is EnergyWarning]


def noisy(robot, q0, scale):
    """Springs, dampers and noise at all joints, held in a step."""
    rng = np.random.default_rng(1)

    def controller(t, q, v):
        noise = 0.3 * scale * rng.normal(size=v.shape)
        return scale * (robot.difference(q0, q) * -20.0 - 2.0 * v) + noise

    return controller


@pytest.mark.parametrize("name", rd.robots())
@pytest.mark.parametrize("integrator", ["rk4", "semi_implicit"])
def test_ordinary_motions_are_not_told_of(name, integrator):
    """Free; and with friction, motors and a controller that jumps at each step."""
    robot = rd.load(name, friction_speed=0.05)  # friction stops the spindle of scara within 0.8 ms
    rng = np.random.default_rng(0)
    q0 = robot.random(rng) if name != "caster_table" else robot.neutral()
    v0 = robot.consistent_velocity(q0, rng.normal(size=robot.nv))
    options = {"q0": q0, "v0": v0, "duration": 0.3, "integrator": integrator, "limits": "ignore"}
    assert not told(lambda: rd.simulate(robot, **options))
    if integrator == "rk4":  # the other is of first order only
        light = np.linalg.eigvalsh(robot.mass_matrix(q0))[0] * np.ones(robot.nv)
        assert not told(lambda: rd.simulate(robot, noisy(robot, q0, light), **options))


@pytest.mark.parametrize("name", ["arm7", "stewart"])
def test_what_stands_still_is_not_told_of(name, monkeypatch):
    """Nothing is exchanged; what is missing is less than rounding may be on any CPU."""
    robot = rd.load(name)
    hold, q0 = GravityCompensation(robot), robot.random(3)
    run = rd.simulate(robot, hold, q0=q0, duration=0.1, limits="ignore")
    step = robot.gravity_forces(q0)
    lifted = np.where(run.t[:, None] > 0.05, 1e-12 * step / np.linalg.norm(step), 0.0)
    lifted = replace(run, q=robot.integrate(run.q, lifted), v=0.0 * run.v)
    assert np.ptp(robot.potential_energy(lifted.q)) > 1e-12
    found = [energy_check.imbalance(motion) for motion in (run, lifted)]
    assert found == [None, None]
    monkeypatch.setattr(energy_check, "ENERGY_AT_REST", 0.0)
    monkeypatch.setattr(energy_check, "ENERGY_ROUNDING", 0.0)
    assert energy_check.imbalance(lifted) is not None


def test_what_is_very_high_up_is_not_told_of(monkeypatch):
    """A part of its energy is rounding, which has nothing to do with how little it moves."""
    robot = rd.load("scara", passive=False)
    hold, q0 = GravityCompensation(robot), [0.0, 0.0, 1e9, 0.0]

    def move():
        return rd.simulate(
            robot, hold, q0=q0, v0=[0.0, 0.0, 1e-7, 0.0], duration=0.3, limits="ignore"
        )

    assert not told(move)
    monkeypatch.setattr(energy_check, "ENERGY_ROUNDING", 0.0)
    assert told(move)


def sway(t):
    return rd.BaseMotion.from_world(
        position=(0.1 * math.sin(5.0 * t), 0.0, 0.0),
        linear_velocity=(0.5 * math.cos(5.0 * t), 0.0, 0.0),
        linear_acceleration=(-2.5 * math.sin(5.0 * t), 0.0, 0.0),
    )


def swing(t):
    return 0.3 * math.sin(3.0 * t), 0.9 * math.cos(3.0 * t), -2.7 * math.sin(3.0 * t)


@pytest.mark.slow
@pytest.mark.parametrize("name", ["double_pendulum", "prosthesis", "four_bar"])
def test_nor_are_moving_bases_driven_joints_and_wrenches(name):
    def check(motion):
        """Within much less than what is told of."""
        with pytest.MonkeyPatch.context() as patched:
            patched.setattr(energy_check, "PART", 1e-4)
            assert energy_check.imbalance(motion) is None

    robot = rd.load(name)
    joint = robot.actuated_joints[0] if robot.nc else robot.joint_names[-1]
    if robot.joints[joint].type == "universal":
        joint = f"{joint}[0]"
    link = robot.link_names[-1]
    options = {"duration": 0.3, "limits": "ignore"}
    moving = rd.load(name, base="moving")
    check(rd.simulate(moving, base=sway, **options))
    many = rd.rollout(
        moving, None, *(np.array([x, x]) for x in (moving.neutral(), np.zeros(moving.nv))),
        base=sway, **options,
    )  # fmt: skip
    check(many)
    push = {link: [3.0, 1.0, 0.0, 0.0, 0.2, 0.0]}
    check(rd.simulate(robot, wrenches=lambda t, q, v: push, **options))
    k = robot.joints[joint.split("[")[0]].v.start
    v0 = robot.consistent_velocity(
        robot.neutral(), 0.9 * np.eye(robot.nv)[k], hold=[joint.split("[")[0]]
    )
    q0 = robot.neutral()

    def path(t):
        x, dx, ddx = swing(t)
        return x + q0[robot.joints[joint.split("[")[0]].q.start], dx, ddx

    run = lambda: rd.simulate(robot, controlled={joint: path}, q0=q0, v0=v0, **options)  # noqa: E731
    assert not told(run)


def test_forces_are_held_in_a_step():
    """They jump between steps by far: what they do is what they are at the start of each."""
    robot = rd.load("double_pendulum", passive=False)

    def controller(t, q, v):
        return [8.0 * (-1.0) ** round(t / 0.01), 0.0]

    motion = rd.simulate(robot, controller, duration=1.0, step=0.01, limits="ignore")
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(energy_check, "PART", 1e-4)
        assert energy_check.imbalance(motion) is None


@pytest.fixture(scope="module")
def pendulum():
    return rd.load("double_pendulum", passive=False)


FAST = {"q0": [3.0, 0.5], "v0": [6.0, -8.0], "limits": "ignore"}


@pytest.mark.parametrize(("integrator", "step"), [("euler", 0.01), ("rk4", 0.12), ("heun", 0.05)])
def test_steps_that_are_too_long_are_told_of(pendulum, integrator, step):
    def run():
        return rd.simulate(pendulum, step=step, duration=1.2, integrator=integrator, **FAST)

    (message,) = told(run)
    motion = run()
    energy = motion.energy - motion.energy[0]
    worst = energy[np.abs(energy).argmax()]
    way = "come from nowhere" if worst > 0.0 else "are lost"
    assert f"{abs(worst):.3g} J {way}" in message
    assert "take shorter ones, or integrator='adaptive'" in message


def test_what_is_told_names_the_worst_step_and_motion(pendulum):
    """All is right but for one number of one motion."""
    q0, v0 = np.array([[1.0, 0.5], [0.5, 0.2]]), np.zeros((2, 2))
    motion = rd.rollout(pendulum, None, q0, v0, duration=1.0)
    assert energy_check.imbalance(motion) is None
    motion.v[600:, 1, 1] += 1.0
    changed = rd.Trajectory(motion.t, motion.q, motion.v, motion.a, motion.tau, robot=pendulum)
    found = energy_check.imbalance(changed)
    assert (found.time, found.joint, found.motion) == (pytest.approx(0.6), "elbow", (1,))
    assert " of motion 1 " in str(found)


def test_samples_several_steps_apart(pendulum):
    """Nothing is said of work that is done between them; motions without work are looked at."""
    options = {"duration": 1.2, "every": 20, "limits": "ignore"}
    jerks = lambda t, q, v: [30.0 * math.sin(500.0 * t), 0.0]  # noqa: E731
    assert not told(lambda: rd.simulate(pendulum, jerks, step=1e-3, **options))
    options |= {"every": 3, "step": 0.01, "integrator": "euler", **FAST}
    assert told(lambda: rd.simulate(pendulum, **options))


def test_long_motions_are_looked_at_in_blocks_that_go_on(monkeypatch):
    """Speeds that are larger from one block on are energy from nowhere, though steady there."""
    robot = rd.load("double_pendulum", gravity=(0, 0, 0), passive=False)
    run = rd.simulate(robot, v0=[1.0, -0.5], duration=0.1)
    monkeypatch.setattr(energy_check, "TOGETHER", 60)  # 20 samples of two joints
    given = 1e-2, 1e-12, 0.0, 1
    assert energy_check.work_explains_energy(run, *given)
    faster = run.v * np.where(np.arange(len(run)) < 40, 1.0, 1.1)[:, None]
    assert not energy_check.work_explains_energy(replace(run, v=faster), *given)


def test_some_of_very_many_motions_are_looked_at(pendulum, monkeypatch):
    """The one that is told of stands at its own place among all."""
    monkeypatch.setattr(energy_check, "MOTIONS", 3)
    q0, v0 = np.zeros((9, pendulum.nq)), np.zeros((9, pendulum.nv))
    v0[4] = 8.0
    options = {"duration": 0.5, "step": 0.05, "integrator": "euler", "limits": "ignore"}
    with pytest.warns(EnergyWarning, match=" of motion 4 "):
        rd.rollout(pendulum, None, q0, v0, **options)
    v0[[3, 4]] = v0[[4, 3]]
    with warnings.catch_warnings(action="error", category=EnergyWarning):
        rd.rollout(pendulum, None, q0, v0, **options)
