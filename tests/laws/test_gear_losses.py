"""Gears that lose power: friction in proportion to the torque they carry."""

import dataclasses
import warnings

import numpy as np
import pytest
from support.bundled import bundled
from support.comparison import close_within

import robodyn as rd
from robodyn.errors import EnergyWarning

alike = close_within(1e-9)

GEAR = rd.Actuator(
    gear_ratio=50, rotor_inertia=2e-4, viscous=1e-4, coulomb=2e-3, efficiency=0.7,
    backward_efficiency=0.3,
)  # fmt: skip


def lossy(name, efficiency=0.6, backward=0.2, **options):
    """A bundled robot whose motors have friction, and gears that lose power."""
    robot = rd.load(name, **options)
    motors = {
        joint: dataclasses.replace(
            robot.actuators.get(joint, GEAR), coulomb=1e-3, efficiency=efficiency,
            backward_efficiency=backward,
        )
        for joint in robot.actuated_joints
    }  # fmt: skip
    return rd.load(name, actuators=motors, **options)


def differential():
    wrist = rd.Transmission.differential("wrist", ["pan", "tilt"], (1.0, 2.0))
    other = dataclasses.replace(GEAR, gear_ratio=-20.0)
    return rd.load("pan_tilt", actuators={"pan": GEAR, "tilt": other}, transmissions=[wrist])


ROBOTS = {
    "tree": lambda: rd.load("double_pendulum", actuators={"shoulder": GEAR, "elbow": GEAR}),
    "armature": lambda: lossy("double_pendulum", rotor_model="armature"),
    "floating": lambda: lossy("double_pendulum", base="floating"),
    "differential": differential,
    "linkage": lambda: lossy("four_bar"),
    "minimal": lambda: lossy("palletizer", coordinates="minimal"),
    "motors at followers": lambda: lossy("stewart", coordinates="minimal"),
}
CASES = [
    pytest.param(name, marks=[pytest.mark.slow] if name == "motors at followers" else [])
    for name in ROBOTS
]


def state_of(robot, seed=0):
    """A state with closed loops, and forces of the motors."""
    rng = np.random.default_rng(seed)
    q, v = robot.neutral(), rng.normal(size=robot.nv)
    if robot.nc:
        v = robot.consistent_velocity(q, v)
    else:
        q = robot.integrate(q, 0.1 * rng.normal(size=robot.nv))
    driven = [name in robot.actuated_joints for name in robot.joint_names]
    mask = np.array(driven, float) if len(driven) == robot.nv else np.ones(robot.nv)
    tau = robot.inverse_dynamics(q, v, 0.0 * v) if not robot.nc else 0.0
    return q, v, tau + 20.0 * rng.normal(size=robot.nv) * mask


@pytest.mark.parametrize("name", CASES)
def test_inverse_dynamics_has_the_forces_of_forward_dynamics(name):
    robot = ROBOTS[name]()
    for seed in range(4):
        q, v, tau = state_of(robot, seed)
        a = robot.forward_dynamics(q, v, tau)
        alike(robot.inverse_dynamics(q, v, a), tau)
        lost = robot.gear_friction(q, v, tau)
        assert lost.any() and lost @ v > 0.0


def test_by_the_efficiency_both_ways():
    """Power in and out of the gear are those of its efficiency, without rotor and friction."""
    robot = rd.load("double_pendulum", actuators={"shoulder": GEAR})
    plain = dataclasses.replace(GEAR, efficiency=1.0, backward_efficiency=1.0)
    free = rd.load("double_pendulum", actuators={"shoulder": plain})
    rotor_only = rd.load("double_pendulum", actuators={})
    rng = np.random.default_rng(1)
    seen = set()
    for _ in range(20):
        q, v, a = rng.normal(size=(3, 2))
        v += np.copysign(0.01, v)  # below it gears lose less
        motor = free.inverse_dynamics(q, v, a)[0]
        load = rotor_only.inverse_dynamics(q, v, a)[0]  # what the gear hands on
        forward = load * v[0] > 0.0
        seen.add(forward)
        rotor = motor - load
        expected = rotor + (load / 0.7 if forward else load * 0.3)
        assert robot.inverse_dynamics(q, v, a)[0] == pytest.approx(expected, rel=1e-9, abs=1e-9)
        torque = robot.motor_torques(q, v, a)[0]
        assert torque == pytest.approx(expected / 50, rel=1e-9, abs=1e-9)
        power = robot.motor_power(q, v, a)[0]
        assert power == pytest.approx(expected * v[0], rel=1e-9, abs=1e-9)
    assert seen == {True, False}


def test_the_default_backwards_is_that_of_the_same_friction():
    assert rd.Actuator(efficiency=0.8).driven_efficiency == pytest.approx(0.75)
    assert rd.Actuator(efficiency=0.4).driven_efficiency == 0.0
    assert rd.Actuator(efficiency=0.4, backward_efficiency=0.1).driven_efficiency == 0.1
    assert rd.Actuator().lossless and not rd.Actuator(backward_efficiency=0.9).lossless


@pytest.mark.parametrize("name", ["tree", "differential", "linkage", "minimal"])
def test_hybrid_dynamics_agree(name):
    robot = ROBOTS[name]()
    q, v, tau = state_of(robot)
    a = robot.forward_dynamics(q, v, tau)
    first = robot.actuated_joints[0]
    k = robot.joints[first].v.start
    free = {x: tau[robot.joints[x].v.start] for x in robot.joint_names if x != first}
    found = robot.hybrid_dynamics(q, v, controlled={first: a[k]}, tau=free)
    alike(found.a, a)
    alike(found.tau, tau)


@pytest.mark.parametrize("name", ["tree", "differential", "minimal"])
@pytest.mark.parametrize("kind", ["forward_dynamics", "inverse_dynamics"])
def test_derivatives_are_those_of_small_differences(name, kind):
    robot, h = ROBOTS[name](), 1e-6
    q, v, tau = state_of(robot)
    x = tau if kind == "forward_dynamics" else robot.forward_dynamics(q, v, tau)
    found, f = robot.derivatives(kind, q, v, x), getattr(robot, kind)
    units = h * np.eye(robot.nv)

    def slopes(at):
        return np.array([(at(u) - at(-u)) / (2 * h) for u in units]).T

    near = close_within(1e-5)
    alike(found[kind], f(q, v, x))
    near(found["q"], slopes(lambda u: f(robot.integrate(q, u), v, x)))
    near(found["v"], slopes(lambda u: f(q, v + u, x)))
    by = "tau" if kind == "forward_dynamics" else "a"
    near(found[by], slopes(lambda u: f(q, v, x + u)))


def test_at_rest_losses_damp():
    """Slopes at rest are those of friction, one way or the other, and never of its opposite."""
    robot = ROBOTS["tree"]()
    q, rest, h = [0.5, -0.5], np.zeros(2), 1e-6
    tau = robot.inverse_dynamics(q, rest, rest)
    found = robot.derivatives("forward_dynamics", q, rest, tau)["v"]
    for k, unit in enumerate(h * np.eye(2)):
        sides = [robot.forward_dynamics(q, sign * unit, tau) / (sign * h) for sign in (1.0, -1.0)]
        assert min(abs(found[:, k] - x).max() for x in sides) < 1e-4 * abs(sides[0]).max()
        assert found[k, k] < 0.0


def test_hybrid_derivatives_of_a_linkage():
    robot = ROBOTS["linkage"]()
    q, v, tau = state_of(robot)
    forward = robot.derivatives("forward_dynamics", q, v, tau)
    hybrid = robot.derivatives("hybrid_dynamics", q, v, tau, controlled={})
    for name in ("q", "v", "tau"):
        close_within(1e-7)(hybrid[name].a, forward[name])


def test_on_a_moving_base_under_a_wrench():
    """The rotor turns against its carrier, which the base carries along."""
    robot = rd.load("double_pendulum", base="moving", actuators={"elbow": GEAR})
    base = rd.BaseMotion.from_world(
        linear_acceleration=[1.0, 2.0, 3.0], angular_velocity=[0.1, 0.2, 0.3],
        angular_acceleration=[1.0, -2.0, 0.5],
    )  # fmt: skip
    loads = {"base": base, "wrenches": {"lower": [1.0, 2.0, 3.0, 0.1, 0.2, 0.3]}}
    q, v, a = np.random.default_rng(3).normal(size=(3, 2))
    tau = robot.inverse_dynamics(q, v, a, **loads)
    alike(robot.forward_dynamics(q, v, tau, **loads), a)
    assert robot.gear_friction(q, v, tau, **loads)[1] * v[1] > 0.0


def test_single_precision():
    robot = ROBOTS["tree"]()
    q, v, tau = np.random.default_rng(4).normal(size=(3, 20, 2)).astype(np.float32)
    found = robot.forward_dynamics(q, v, tau)
    assert found.dtype == np.float32
    close_within(1e-4)(found, robot.forward_dynamics(*(x.astype(float) for x in (q, v, tau))))


def test_motors_that_share_a_speed_are_refused():
    """How motors at a joint and at its mimic share the load is not determined."""
    robot = rd.load("double_pendulum", couplings=[rd.Follower("elbow", lambda q: q, ["shoulder"])])
    motors = {"shoulder": GEAR, "elbow": GEAR}
    both = rd.load(robot.mechanism, actuators=motors)
    with pytest.raises(rd.ActuationError, match="not determined"):
        both.forward_dynamics([0.1], [1.0], [2.0])


def test_many_states_at_once():
    robot = ROBOTS["tree"]()
    rng = np.random.default_rng(2)
    q, v, tau = rng.normal(size=(3, 50, 2)) * [[[1.0]], [[1.0]], [[20.0]]]
    a = robot.forward_dynamics(q, v, tau)
    rows = [robot.forward_dynamics(*x) for x in zip(q, v, tau, strict=True)]
    close_within(1e-12)(a, np.array(rows))
    alike(robot.inverse_dynamics(q, v, a), tau)


@pytest.mark.parametrize("coordinates", ["tree", "minimal"])
def test_a_worm_holds_when_power_fails(coordinates):
    """It creeps at the speed below which friction is smooth, and no faster."""
    robot = rd.load("four_bar", coordinates=coordinates)
    worm = rd.Actuator(gear_ratio=40, rotor_inertia=1e-5, efficiency=0.4)
    speed, load = 1e-3, {"rocker": [0.0, 0.0, -60.0, 0.0, 0.0, 0.0]}
    held = rd.load(
        "four_bar", coordinates=coordinates, actuators={"crank_drive": worm}, friction_speed=speed
    )
    loose = rd.simulate(robot, duration=0.3, wrenches=load, limits="ignore")
    run = rd.simulate(held, duration=0.3, wrenches=load, integrator="auto", limits="ignore")
    assert abs(loose.q[-1] - loose.q[0]).max() > 0.1
    assert abs(run.q[-1, 0] - run.q[0, 0]) < 1.01 * speed * 0.3
    assert abs(run.v[-1, 0]) < 1.01 * speed


def test_the_audit_is_closed():
    robot = lossy("double_pendulum", friction_speed=0.05)
    with warnings.catch_warnings(action="error", category=EnergyWarning):
        law = lambda t, q, v: [30 * np.sin(9 * t), -12.0]  # noqa: E731
        run = rd.simulate(robot, law, duration=1.0, step=5e-4)
    assert run.audit.dissipated[-1] > 1.0
    assert abs(run.audit.unexplained).max() < 1e-3 * run.audit.exchanged.max()


def test_other_numbers_reach_the_gear():
    """A copy of a robot, which shares its code, has the losses of its own rotor and gear."""
    robot = ROBOTS["tree"]()
    heavy = robot.with_(parameters={"shoulder.rotor_inertia": 4e-4})
    again = rd.load(
        "double_pendulum",
        actuators={"shoulder": dataclasses.replace(GEAR, rotor_inertia=4e-4), "elbow": GEAR},
    )
    q, v, tau = state_of(robot)
    alike(heavy.forward_dynamics(q, v, tau), again.forward_dynamics(q, v, tau))


def test_without_passive_forces_nothing_is_lost():
    robot = rd.load("double_pendulum", actuators={"shoulder": GEAR}, passive=False)
    q, v, tau = [0.1, 0.2], [1.0, 2.0], [5.0, 3.0]
    assert not robot.gear_friction(q, v, tau).any()
    assert not bundled("double_pendulum").gear_friction(q, v, tau).any()


@pytest.mark.parametrize(
    ("wrong", "words"),
    [
        ({"efficiency": 0.0}, "efficiency=0.0, expected a share"),
        ({"efficiency": 1.2}, "'shoulder' has efficiency=1.2"),
        ({"efficiency": 0.8, "backward_efficiency": -0.1}, "backward_efficiency=-0.1"),
        ({"efficiency": 0.4}, "rotor_inertia=0"),
        ({"efficiency": 0.8, "gear_ratio": 0.0}, "gear_ratio=0"),
    ],
)
def test_gears_that_cannot_be(wrong, words):
    with pytest.raises(rd.ActuationError, match=words):
        rd.load("double_pendulum", actuators={"shoulder": rd.Actuator(**wrong)})


def test_what_does_not_know_of_losses_says_so():
    robot = ROBOTS["tree"]()
    with pytest.raises(rd.SettingsError, match="no linear function"):
        robot.dynamic_regressor([0.1, 0.2], [0, 0], [0, 0])
    with pytest.raises(rd.SettingsError, match="one row after the other"):
        robot.with_(parameters={"shoulder.rotor_inertia": [1e-4, 2e-4]})
    linkage = ROBOTS["linkage"]()
    with pytest.raises(rd.SettingsError, match="crank_drive"):
        linkage.constrained_dynamics(linkage.neutral(), [0, 0, 0], [1, 0, 0])
    with pytest.raises(rd.SettingsError, match="crank_drive"):
        linkage.reduced().forward_dynamics([0.0], [0.0], [1.0, 0.0, 0.0])
    with pytest.raises(rd.SettingsError, match="lose power in proportion"):
        rd.simulate(robot, duration=0.01, integrator="variational")
    with pytest.raises(rd.SettingsError, match="acceleration_for"):
        robot.acceleration_for(rd.Task([0, 0, -1.0], frame="lower"), [0.1, 0.2], [0.0, 0.0])


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda: rd.Motor(-0.1, 1.0), "torque_constant=-0.1"),
        (lambda: rd.Motor(0.1, -1.0), "resistance=-1.0"),
        (lambda: rd.Motor(0.1, 1.0, voltage=0.0), "voltage=0.0"),
        (lambda: rd.Winding((1.0, -1.0), (1.0, 2.0), 100.0), "resistances="),
        (lambda: rd.Winding((1.0, 1.0), (0.0, 2.0), 100.0), "time_constants="),
        (lambda: rd.Elastic(0.0), "stiffness=0.0"),
        (lambda: rd.Elastic(1.0, -1.0), "damping=-1.0"),
    ],
)
def test_drives_that_cannot_be(make, words):
    with pytest.raises(rd.ActuationError, match=words):
        make()
