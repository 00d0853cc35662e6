"""Each integrator has its order on every kind of joint, and does what it is there for."""

import dataclasses
import logging
import math
import re

import numpy as np
import pytest
from scipy.integrate import RK45
from support.caster_table import caster_table
from support.legs import write
from test_kind_laws import MOVING, chain, each, seed

import robodyn as rd
from robodyn.errors import EnergyWarning
from robodyn.simulation.integrators import EXPLICIT, INTEGRATORS, adaptive
from robodyn.simulation.integrators.method import Coordinates, Start, coordinates_of
from robodyn.simulation.loads.loads import loads_on
from robodyn.simulation.step.stepper import Stepper
from robodyn.urdf import load_mechanism

#: Method -> a step at which its order shows on chains of three joints.
STEPS = {
    "euler": 0.002,
    "semi_implicit": 0.002,
    "midpoint": 0.01,
    "heun": 0.01,
    "rk4": 0.02,
    "adaptive": 0.04,
    "variational": 0.01,
    "implicit": 0.02,
}
#: The time that takes, of which all steps are parts [s].
LASTS = 0.32


def moved(robot, name, q, v, step):
    """The state after some time by steps of one length."""
    tau, stepper = (
        np.zeros(robot.nv),
        Stepper(loads_on(robot), "rk4" if name == "adaptive" else name),
    )
    space = coordinates_of(robot)
    for k in range(round(LASTS / step)):
        if name == "adaptive":  # without its choice of steps
            start = Start(0.0, q, v, robot.forward_dynamics(q, v, tau))
            q, v = adaptive.FIFTH.step(
                lambda t, q, v: robot.forward_dynamics(q, v, tau), space, start, step
            )
        else:
            q, v = stepper.step(k * step, q, v, tau, step)
    return q, v


@each(MOVING)
def test_orders(kind):
    rng = np.random.default_rng(seed(kind))
    robot = rd.load(chain(kind, rng), passive=False, gravity=(1.0, 2.0, -9.81))
    q, v = robot.random(np.random.default_rng(2)), np.random.default_rng(5).normal(size=robot.nv)
    exact = moved(robot, "adaptive", q, v, 1e-3)
    for name, step in STEPS.items():
        errors = []
        for h in (2.0 * step, step):
            end = moved(robot, name, q, v, h)
            off = np.concatenate([robot.difference(exact[0], end[0]), end[1] - exact[1]])
            errors.append(np.linalg.norm(off))
        assert math.log2(errors[0] / errors[1]) > INTEGRATORS[name].order - 0.15, name


class Sum:
    """A vector that can be added and multiplied by numbers, and nothing else."""

    def __init__(self, x):
        self.x = x

    def __add__(self, other):
        return Sum(self.x + other.x)

    def __mul__(self, number):
        return Sum(number * self.x)

    __rmul__ = __mul__
    __iadd__ = __array__ = __bool__ = __float__ = None


@pytest.mark.parametrize("name", sorted(EXPLICIT))
def test_an_explicit_step_is_sums_and_products(name):
    """So that it computes with symbols too."""
    q, v = np.array([0.3, -0.2]), np.array([1.0, 0.5])

    def slope(t, q, v):
        return -3.0 * q + v * -0.1

    def step(wrap, unwrap):
        found = EXPLICIT[name].step(
            lambda t, q, v: wrap(slope(t, unwrap(q), unwrap(v))),
            Coordinates(lambda q, u: q + u, lambda u, v: v, flat=True),
            Start(0.0, wrap(q), wrap(v), wrap(slope(0.0, q, v))),
            0.1,
        )
        return [unwrap(x) for x in found]

    np.testing.assert_array_equal(step(Sum, lambda s: s.x), step(lambda x: x, lambda x: x))


# -- steps that are chosen ----------------------------------------------------------------------


@pytest.fixture(scope="module")
def arm():
    return rd.load("arm7", passive=False)


START = {"q0": [0.3, 1.0, -0.5, 1.2, 0.4, -1.0, 0.7], "v0": [0.5] * 7, "limits": "ignore"}


def test_the_weights_within_a_step_are_those_of_the_pair():
    np.testing.assert_allclose(adaptive.WITHIN, RK45.P, rtol=1e-15)
    np.testing.assert_allclose(adaptive.WITHIN.sum(axis=1), adaptive.FIFTH.b, atol=1e-15)


@pytest.mark.parametrize("name", ["adaptive", "implicit", "auto", "scipy:Radau", "scipy:DOP853"])
def test_a_tolerance_is_kept(arm, name):
    exact = rd.simulate(arm, duration=0.4, step=5e-4, **START)
    options = {"duration": 0.4, "step": 0.1, "integrator": name, **START}
    off = []
    for tolerance in (1e-4, 1e-6, 1e-8):
        run = rd.simulate(arm, tolerance=tolerance, **options)
        off.append(np.abs(arm.difference(exact.q[::200], run.q)).max())
        assert off[-1] < 200.0 * tolerance
    assert off[0] > 10.0 * off[2]


def test_samples_are_read_from_within_steps(arm):
    """Where nothing changes the forces, many samples of a step take no more accelerations."""
    calls = []

    def wrenches(t, q, v):
        calls.append(t)
        return {}

    def run(step):
        calls.clear()
        found = rd.simulate(
            arm, wrenches=wrenches, duration=0.4, step=step, integrator="adaptive", **START
        )
        return found, len(calls) - len(found)

    fine, many = run(5e-4)
    coarse, few = run(0.1)
    assert many < 1.5 * few < 1000
    exact = rd.simulate(arm, duration=0.4, step=5e-4, **START)
    np.testing.assert_allclose(fine.q, exact.q, atol=2e-7)
    np.testing.assert_allclose(fine.v, exact.v, atol=2e-5)
    np.testing.assert_allclose(coarse.q[-1], fine.q[-1], atol=2e-7)
    assert max(calls) <= 0.4 * (1.0 + 1e-12)  # paths may end there


def test_a_controller_begins_a_step(arm):
    """Forces that are held between samples are constant in steps, and jump between them."""

    def controller(t, q, v):
        return np.sign(math.sin(40.0 * t)) * np.array([5.0, 5.0, 3.0, 3.0, 0.1, 0.1, 0.01])

    options = {"duration": 0.3, "step": 0.01, **START}
    run = rd.simulate(arm, controller, integrator="adaptive", **options)
    again = rd.simulate(arm, controller, integrator="adaptive", **options)
    np.testing.assert_array_equal(run.q, again.q)
    stepper, tau = Stepper(loads_on(arm), "rk4"), [controller(t, None, None) for t in run.t]
    q, v = run.q[0], run.v[0]
    for k in range(30):
        for part in range(20):
            q, v = stepper.step(run.t[k] + part * 5e-4, q, v, tau[k], 5e-4)
    np.testing.assert_allclose(run.q[-1], q, atol=1e-6)


def test_steps_end_where_forces_will_change(arm):
    """What comes after the next call of the controller is not asked for."""
    asked = [0.0]

    def controller(t, q, v):
        asked.append(t)
        return np.full(7, 0.1 * t)

    def wrenches(t, q, v):
        assert t <= asked[-1] + 0.01 * (1.0 + 1e-9)
        return {}

    rd.simulate(
        arm, controller, wrenches=wrenches, duration=0.1, step=0.01, integrator="adaptive", **START
    )
    assert len(asked) == 12


def test_an_event_within_an_adaptive_step():
    robot = rd.load("double_pendulum", passive=False)
    options = {"q0": [1.0, 0.3], "duration": 2.0, "events": [lambda t, q, v: q[0]]}
    exact = rd.simulate(robot, step=1e-4, **options)
    run = rd.simulate(robot, step=0.05, integrator="adaptive", tolerance=1e-10, **options)
    assert run.t[-1] == pytest.approx(exact.t[-1], abs=1e-8)
    assert abs(run.q[-1, 0]) < 1e-12


@pytest.mark.parametrize("name", ["five_bar", "delta"])
def test_adaptive_steps_of_a_linkage(name):
    robot = rd.load(name, passive=False)
    options = {"duration": 0.2, "limits": "ignore"}
    run = rd.simulate(robot, integrator="adaptive", **options)
    assert run.loop_residual.max() < 1e-10
    exact = rd.simulate(robot, step=2.5e-4, **options)
    np.testing.assert_allclose(robot.difference(exact.q[::4], run.q), 0.0, atol=1e-5)


# -- a discrete principle -------------------------------------------------------------------------


def variational(robot, q, v, step, count):
    """Energies and momenta along a motion."""
    stepper, tau = Stepper(loads_on(robot), "variational"), np.zeros(robot.nv)
    energies, momenta = [], []
    for k in range(count):
        energies.append(robot.kinetic_energy(q, v) + robot.potential_energy(q))
        center, momentum = robot.center_of_mass(q), robot.momentum(q, v)
        momentum[3:] += np.cross(center, momentum[:3])  # about the origin
        momenta.append(momentum)
        q, v = stepper.step(k * step, q, v, tau, step)
    return np.array(energies), np.array(momenta)


@pytest.mark.slow
@pytest.mark.parametrize("name", ["double_pendulum", "four_bar"])
def test_energy_stays_within_bounds(name):
    """It swings by the square of the step, however long it goes on; rk4 loses it all the time."""
    robot = rd.load(name, passive=False)
    q, v = robot.neutral(), robot.consistent_velocity(robot.neutral(), np.full(robot.nv, 3.0))
    energy, _ = variational(robot, q, v, 0.01, 4000)
    swing = np.ptp(energy[:1000])
    assert np.ptp(energy) < 3.0 * swing
    assert abs(energy[-1000:].mean() - energy[:1000].mean()) < 0.1 * swing
    half, _ = variational(robot, q, v, 0.005, 2000)
    assert np.ptp(half) < 0.4 * swing


def test_a_free_robot_keeps_its_momentum():
    """Turning, with a ball joint: coordinates that do not add."""
    robot = rd.load("prosthesis", passive=False, base="floating", gravity=(0.0, 0.0, 0.0))
    q, v = robot.random(0), np.random.default_rng(1).normal(size=robot.nv)
    energy, momentum = variational(robot, q, v, 0.004, 500)
    np.testing.assert_allclose(momentum - momentum[0], 0.0, atol=1e-11)
    assert np.ptp(energy) < 1e-4 * energy[0]


def test_damping_takes_what_it_should(double):
    options = {"q0": [1.0, 0.5], "duration": 1.0, "step": 2e-3}
    exact = rd.simulate(double, **options)
    run = rd.simulate(double, integrator="variational", **options)
    np.testing.assert_allclose(run.energy, exact.energy, atol=1e-4)
    np.testing.assert_allclose(run.q, exact.q, atol=1e-4)


@pytest.mark.parametrize(
    ("what", "options", "words"),
    [
        ({}, {"controlled": {"elbow": lambda t: (0.0, 0.0, 0.0)}}, "moves no joints along paths"),
        ({"base": "moving"}, {"base": lambda t: rd.BaseMotion.at_rest()}, "depends on time"),
        ({}, {"stabilization": (1.0, 1.0)}, "not by stabilization="),
    ],
)
def test_what_has_no_discrete_principle(what, options, words):
    robot = rd.load("double_pendulum", **what)
    with pytest.raises(rd.SettingsError, match=words):
        rd.simulate(robot, integrator="variational", **options)


def test_constraints_of_speeds_have_no_discrete_principle():
    with pytest.raises(rd.SettingsError, match=r"'variational' knows no constraints of speeds"):
        rd.simulate(caster_table(), integrator="variational")


# -- stiff motions --------------------------------------------------------------------------------


def damped(damping):
    """A double pendulum with an elbow that hardly bends."""
    mechanism = load_mechanism("double_pendulum")
    joints = (
        dataclasses.replace(j, damping=damping if j.name == "elbow" else 0.0, friction=0.0)
        for j in mechanism.joints
    )
    return rd.load(dataclasses.replace(mechanism, joints=tuple(joints)))


BENT = {"q0": [1.0, 0.5], "duration": 0.5, "step": 0.01}


@pytest.mark.parametrize("name", ["implicit", "auto", "scipy:Radau"])
def test_a_stiff_damper(name):
    robot = damped(1e4)
    with pytest.raises(rd.SimulationError):
        rd.simulate(robot, **BENT)
    run = rd.simulate(robot, integrator=name, **BENT)
    # the elbow creeps; the rest is one rigid pendulum
    stiff = rd.simulate(robot, locked=["elbow"], **BENT)
    np.testing.assert_allclose(run.q, stiff.q, atol=2e-4)
    assert np.ptp(run.q[:, 1]) > 1e-5


@pytest.mark.parametrize("name", ["implicit", "variational"])
def test_a_stiff_spring(name):
    """It stays as good as unstretched, at steps of many of its periods."""
    robot = rd.load("double_pendulum", passive=True, springs={"elbow": (1e8, 0.0)})
    options = {"q0": [1.0, 0.0], "duration": 0.5, "step": 0.01}
    with pytest.raises(rd.SimulationError):
        rd.simulate(robot, **options)
    run = rd.simulate(robot, integrator=name, **options)
    rigid = rd.simulate(robot, locked=["elbow"], **options)
    np.testing.assert_allclose(run.q, rigid.q, atol=5e-4)


def test_slopes_that_are_compiled_or_differences(arm):
    """Both lead to the same states, as each stage is solved for."""
    options = {"duration": 0.05, "integrator": "implicit", **START}
    exact = rd.simulate(arm, **options)
    pushed = rd.simulate(arm, wrenches=lambda t, q, v: {}, **options)
    np.testing.assert_allclose(pushed.q, exact.q, rtol=0.0, atol=1e-12)
    stepper = Stepper(loads_on(arm), "implicit")
    q, v, tau = np.array(START["q0"]), np.array(START["v0"]), np.zeros(7)
    of_q, of_v = stepper._slopes(q, v, tau)
    e = 1e-6 * np.eye(7)
    for k in range(7):
        for found, ahead, behind in (
            (of_q[:, k], (q + e[k], v), (q - e[k], v)),
            (of_v[:, k], (q, v + e[k]), (q, v - e[k])),
        ):
            rate = arm.forward_dynamics(*ahead, tau) - arm.forward_dynamics(*behind, tau)
            np.testing.assert_allclose(found, rate / 2e-6, atol=1e-6 * np.abs(of_q).max())


@pytest.mark.slow
def test_too_many_explicit_steps():
    with pytest.raises(rd.SimulationError, match="the motion is stiff, take integrator='implicit'"):
        rd.simulate(damped(1e7), integrator="adaptive", **BENT)


def test_what_was_chosen_is_told(caplog, arm):
    caplog.set_level(logging.INFO, "robodyn.simulation")
    rd.simulate(arm, duration=0.02, integrator="auto", **START)
    assert [r.getMessage().split("goes on with ")[1] for r in caplog.records] == [
        "'adaptive' at 0 s: explicit steps do for its start"
    ]
    caplog.clear()
    run = rd.simulate(damped(1e4), integrator="auto", **BENT)
    (chosen,) = run.events
    assert chosen.name == "integrator 'implicit': it is stiff"
    assert 0.0 < chosen.time < 1.0
    robot = damped(1e4)
    starts = [np.tile(BENT["q0"], (2, 1)), np.zeros((2, robot.nv))]
    length = {k: x for k, x in BENT.items() if k not in ("q0", "v0")}
    both = rd.rollout(robot, None, *starts, integrator="auto", **length)
    assert [x.motion for x in both.events] == [(0,), (1,)]
    assert both.events[0].time == chosen.time
    told = [r.getMessage() for r in caplog.records][:2]
    assert "goes on with 'implicit'" in told[1]
    assert told[1].endswith("it is stiff")


# -- light rods near gimbals ----------------------------------------------------------------------


@pytest.fixture(scope="module")
def biped(tmp_path_factory):
    """A pair of legs and a start from which a rod turns over its gimbal after 0.28 s."""
    robot = rd.load(write(tmp_path_factory.mktemp("legs"), "biped"))
    q0 = robot.random(0)
    v0 = robot.consistent_velocity(q0, 3.0 * np.random.default_rng(0).normal(size=robot.nv))
    return robot, {"q0": q0, "v0": v0, "duration": 0.4, "limits": "ignore"}


@pytest.fixture(scope="module")
def gimbal():
    """A ball turns at 5 rad/s; its three hinges pass their gimbal by 0.02 rad at pi/10 s."""
    hinges = (("yaw", "base", "outer", "0 0 1"), ("pitch", "outer", "inner", "0 1 0"))
    links = "".join(f'<link name="{name}"/>' for name in ("base", "outer", "inner"))
    joints = "".join(
        f'<joint name="{name}" type="continuous"><parent link="{parent}"/><child link="{child}"/>'
        f'<axis xyz="{axis}"/></joint>'
        for name, parent, child, axis in (*hinges, ("roll", "inner", "ball", "1 0 0"))
    )
    ball = (
        '<link name="ball"><inertial><mass value="1"/>'
        '<inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/></inertial></link>'
    )
    robot = rd.load(f'<robot name="gimbal">{links}{ball}{joints}</robot>', gravity=(0, 0, 0))
    q0 = np.array([0.02, 0.0, 0.0])
    turning = robot.frame_pose(q0, "ball")[:3, :3].T @ [0.0, 5.0, 0.0]
    v0 = np.linalg.solve(robot.frame_jacobian(q0, "ball")[3:], turning)
    return robot, {"q0": q0, "v0": v0, "duration": 0.5, "limits": "ignore"}


def test_fixed_steps_over_a_gimbal_say_that_energy_is_wrong(gimbal):
    robot, options = gimbal
    with pytest.warns(EnergyWarning) as told:
        run = rd.simulate(robot, step=3e-3, **options)
    assert np.ptp(run.energy) > 0.1
    (message,) = [str(x.message) for x in told]
    assert float(re.search(r"most at t = (\S+) s", message)[1]) == pytest.approx(
        np.pi / 10, abs=8e-3
    )
    assert "in joint 'roll'" in message or "in joint 'yaw'" in message
    assert "integrator='adaptive' or 'auto'" in message


@pytest.mark.parametrize("name", ["adaptive", "auto"])
@pytest.mark.parametrize("over", ["gimbal", "biped"])
def test_chosen_steps_go_over_a_gimbal(over, name, recwarn, request):
    robot, options = request.getfixturevalue(over)
    run = rd.simulate(robot, step=3e-3, integrator=name, **options)
    falls = np.ptp(robot.potential_energy(run.q))
    assert np.ptp(run.energy) < 1e-4 * (falls if over == "biped" else run.energy[0])
    assert not [x for x in recwarn if x.category is EnergyWarning]


@pytest.mark.parametrize("name", ["adaptive", "variational", "implicit", "auto"])
@pytest.mark.parametrize("robot", ["double_pendulum", "five_bar"])
def test_many_motions_are_those_of_one(robot, name):
    """Whose steps do not depend on one another; also with wrenches of their own."""
    robot = rd.load(robot)
    q0 = np.array([robot.random(k) for k in range(3)])
    link, wrenches = robot.link_names[-1], np.random.default_rng(0).normal(size=(3, 6))

    def controller(t, q, v):
        return -0.3 * v

    options = {"duration": 0.05, "step": 5e-3, "integrator": name, "limits": "ignore"}
    many = rd.rollout(
        robot, controller, q0, np.zeros((3, robot.nv)), wrenches={link: wrenches}, **options
    )
    for k in range(3):
        one = rd.simulate(robot, controller, q0=q0[k], wrenches={link: wrenches[k]}, **options)
        np.testing.assert_array_equal(many.q[:, k], one.q)
        np.testing.assert_array_equal(many.v[:, k], one.v)


# -- what is refused ------------------------------------------------------------------------------
