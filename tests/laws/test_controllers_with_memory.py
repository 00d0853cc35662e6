"""Controllers that learn and observe, against the equations that they promise."""

import dataclasses

import numpy as np
import pytest

import robodyn as rd
from robodyn import controllers as rc
from robodyn.controllers.support.motor_torques import motor_space
from robodyn.controllers.support.plant import motor_speeds
from robodyn.simulation import ControllerSample

pytestmark = pytest.mark.filterwarnings(
    "ignore::robodyn.errors.EnergyWarning", "ignore::robodyn.errors.LimitWarning"
)

POINT = np.zeros((3, 3))
NEVER = rd.Event(lambda t, q, v: t + 1.0, name="never")


def swing(robot, speed=1.0):
    """A reference with other amplitudes and frequencies at each joint."""
    k = np.arange(robot.nv)
    return rc.SineReference(robot.neutral(), 0.5 - 0.08 * k, speed * (1.0 + 0.7 * k))


def carrying(robot, link, mass, at=(0.0, 0.0, -0.8)):
    return robot.with_(payload={link: rd.Inertia.from_matrix(mass, at, POINT)})


def lyapunov(run, controller, law, true):
    """The energy of the error, with the true inertia, and that of the parameters; and the power."""
    energy = np.array([law.energy(*state) for state in zip(run.t, run.q, run.v, strict=True)])
    s = np.array([law.sliding(*state)[0] for state in zip(run.t, run.q, run.v, strict=True)])
    wrong = run.controller_state["parameters"] - true
    V = energy + 0.5 * (wrong**2 / controller.adaptation).sum(axis=1)
    return V, (law.gain * s**2).sum(axis=1)


# -- adaptive control -----------------------------------------------------------------------------


def payload_run(double, step, gain, duration):
    one = carrying(double, "lower", 1.0).inertial_parameters - double.inertial_parameters
    heavy, reference = carrying(double, "lower", 2.5), swing(double)
    controller = rc.Adaptive(
        rc.PassivityBased(double, reference, gain), {"load": one}, adaptation=2.0
    )
    run = rd.simulate(heavy, controller, duration=duration, step=step)
    return run, *lyapunov(run, controller, rc.PassivityBased(heavy, reference, gain), 2.5)


def test_a_payload_is_learnt_and_the_reference_followed(double):
    run, _, _ = payload_run(double, 2e-3, 50.0, 5.0)
    assert run.controller_state["parameters"].shape == (len(run), 1)
    assert run.controller_state["parameters"][0] == 0.0
    assert abs(run.controller_state["parameters"][-1, 0] - 2.5) < 0.1
    e = np.array([swing(double)(t)[0] for t in run.t]) - run.q
    late = run.t > 4.0
    assert np.abs(e[late]).max() < 0.1 * np.abs(e).max() < 0.005


def test_what_is_learnt_is_the_integral_by_trapezoids(double):
    """Of the rate that the torques at 1 kg more and the sliding speed make at the samples."""
    run, _, _ = payload_run(double, 2e-3, 10.0, 0.2)
    model, loaded = (
        rc.PassivityBased(robot, swing(double), 10.0)
        for robot in (double, carrying(double, "lower", 1.0))
    )
    rate = []
    for t, q, v in zip(run.t, run.q, run.v, strict=True):
        s, _ = model.sliding(t, q, v)
        rate.append(-2.0 * (loaded(t, q, v) - model(t, q, v)) @ s)
    rate = np.array(rate)
    learnt = np.r_[0.0, np.cumsum(0.5 * np.diff(run.t) * (rate[1:] + rate[:-1]))]
    np.testing.assert_allclose(
        run.controller_state["parameters"][:, 0], learnt, rtol=1e-9, atol=1e-12
    )


def test_the_lyapunov_function_falls_by_what_the_gain_takes(double):
    """But for what forces that are held within a step make wrong, which is of first order in it."""
    rises, unexplained = [], []
    for step in (2e-3, 1e-3):
        _, V, power = payload_run(double, step, 10.0, 2.0)
        rises.append(np.maximum(np.diff(V), 0.0).sum() / V[0])
        unexplained.append(V[0] - V[-1] - 0.5 * step * (power[1:] + power[:-1]).sum())
    assert V[-1] < 0.15 * V[0]
    assert rises[0] < 2e-3
    assert rises[1] < 1e-6
    assert abs(unexplained[1]) < 0.15 * V[0]
    assert 0.4 < unexplained[1] / unexplained[0] < 0.55


class Heavier:
    """A robot in a random state, which does not know what one of its bodies carries."""

    def __init__(self, name, base):
        self.robot = robot = rd.load(name, base=base)
        self.body = robot.body_names[-1]
        self.heavy = carrying(robot, self.body, 2.0, (0.1, 0.05, 0.2))
        rng = np.random.default_rng(0)
        q, v = robot.random(rng), rng.normal(size=robot.nv)
        self.q, self.v = q, robot.consistent_velocity(q, v) if robot.nc else v
        self.base = ship if base == "moving" else None
        a = rng.normal(size=robot.nv)

        def reference(t):
            d = t - 0.3
            return q + 0.1 + 0.2 * d + 0.5 * a * d * d, 0.2 + a * d, a

        self.options = {"gain": 3.0, "rate": 5.0, "base": self.base}
        self.reference = reference
        self.law = rc.PassivityBased(robot, reference, **self.options)
        self.true = rc.PassivityBased(self.heavy, reference, **self.options)
        self.controller = rc.Adaptive(self.law, robot.body_names, 0.1)


def ship(t):
    s, c = np.sin(2.0 * t), np.cos(2.0 * t)
    return rd.BaseMotion.from_world(
        [0.2 * s, 0.0, t * t], [0.0, 0.0, np.sin(s / 2), np.cos(s / 2)],
        [0.4 * c, 0.0, 2.0 * t], [0.0, 0.0, 2.0 * c],
        [-0.8 * s, 0.0, 2.0], [0.0, 0.0, -4.0 * s],
    )  # fmt: skip


@pytest.fixture(
    scope="module", ids="-".join,
    params=[("scara", "fixed"), ("puma560", "fixed"), ("palletizer", "fixed"),
            ("five_bar", "moving"), ("pan_tilt", "moving")],
)  # fmt: skip
def heavier(request):
    return Heavier(*request.param)


def test_with_true_parameters_it_is_the_passive_law_of_the_true_model(heavier):
    """The regressor is that of Christoffel's Coriolis matrix, through loops and on a deck."""
    controller = dataclasses.replace(heavier.controller, start=heavier.heavy.inertial_parameters)
    tau = controller(0.3, heavier.q, heavier.v)
    expected = heavier.true(0.3, heavier.q, heavier.v)
    np.testing.assert_allclose(tau, expected, rtol=0, atol=1e-9 * np.abs(expected).max())
    unknowing = heavier.law(0.3, heavier.q, heavier.v)
    assert np.abs(unknowing - expected).max() > 1e-3 * np.abs(expected).max()


def test_the_sum_of_energies_falls_at_any_state(heavier):
    """``d(s^T M s / 2)/dt + d^T p' / adaptation = - s^T gain s``, at a state like any other."""
    robot, t, h = heavier.heavy, 0.3, 1e-5
    base = {"base": heavier.base(t)} if heavier.base else {}
    sample = ControllerSample(t, heavier.q, heavier.v, 0.0, np.zeros(robot.nv))
    tau, memory = heavier.controller.update(sample, heavier.controller.initial_state(sample))
    a = robot.forward_dynamics(heavier.q, heavier.v, tau, **base)

    def energy(by):
        way = by * heavier.v + 0.5 * by * by * a
        q = robot.integrate(heavier.q, way)
        return heavier.true.energy(t + by, q, heavier.v + by * a)

    wrong = memory["parameters"] - robot.inertial_parameters
    s = heavier.law.sliding(t, heavier.q, heavier.v)[0]
    falls = (energy(h) - energy(-h)) / (2 * h) + wrong @ memory["rate"] / 0.1
    assert falls == pytest.approx(-3.0 * s @ s, rel=1e-4)


# -- disturbance observer -------------------------------------------------------------------------


def at_rest(robot, **options):
    q0 = robot.neutral()
    return rc.ComputedTorque(robot, rc.PointToPoint(q0, q0, 1.0), **options)


@pytest.mark.parametrize("compensate", [True, False])
def test_a_constant_disturbance_is_found_as_by_a_filter(compensate):
    """r = d (1 - exp(-K t)) at each sample, exactly: the lift has a constant inertia."""
    scara = rd.load("scara", passive=False)
    observer = rc.DisturbanceObserver(at_rest(scara), [10.0, 20.0, 30.0, 40.0], compensate)
    push = {"quill": [0, 0, 7.0, 0, 0, 0]}
    run = rd.simulate(scara, observer, duration=0.3, wrenches=push)
    lift = scara.joints["lift"].v.start
    d = (scara.frame_jacobian(scara.neutral(), "quill").T @ push["quill"])[lift]
    assert abs(d) == pytest.approx(7.0)
    r = run.controller_state["disturbance"][:, lift]
    np.testing.assert_allclose(r, d * -np.expm1(-30.0 * run.t), rtol=0, atol=1e-9)
    moved = np.abs(run.q[-1, lift] - scara.neutral()[lift])
    assert moved > 5e-3 if not compensate else moved < 4e-3


def test_a_changing_disturbance_in_fast_motion_to_the_second_order_in_the_step(double):
    """The filter of the true disturbance, in fine steps, is what the observer finds."""
    gain, errors = 30.0, []

    def wrenches(t, q, v):
        return {"lower": [8.0 * np.sin(9.0 * t), 0, 4.0, 0, 3.0 * np.cos(5.0 * t), 0]}

    inner = rc.ComputedTorque(double, swing(double, 3.0))
    for step in (4e-3, 2e-3):
        observer = rc.DisturbanceObserver(inner, gain, compensate=False)
        run = rd.simulate(double, observer, duration=0.8, step=step, wrenches=wrenches)
        J = double.frame_jacobian(run.q, "lower")
        d = np.einsum("nij,ni->nj", J, [wrenches(t, 0, 0)["lower"] for t in run.t])
        r, kept = np.zeros_like(d), np.exp(-gain * step)
        for k in range(1, len(run)):
            r[k] = kept * r[k - 1] + (1.0 - kept) * 0.5 * (d[k - 1] + d[k])
        errors.append(np.abs(run.controller_state["disturbance"] - r).max() / np.abs(d).max())
    assert errors[0] < 2e-3
    assert errors[1] < 0.3 * errors[0]


def test_what_the_observer_finds_is_taken_off(double):
    """A payload that the model has not: the error goes away, and is there without."""
    goal = np.array([0.6, -0.4])
    heavy, pd = (
        carrying(double, "lower", 2.0),
        rc.JointPD(double, rc.PointToPoint(goal, goal, 1.0), 400.0, 80.0),
    )
    options = {"q0": goal, "duration": 4.0, "step": 2e-3}
    plain = rd.simulate(heavy, pd, **options)
    run = rd.simulate(heavy, rc.DisturbanceObserver(pd, 20.0), **options)
    assert np.abs(plain.q[-1] - goal).max() > 0.02
    assert np.abs(run.q[-1] - goal).max() < 1e-5
    missing = heavy.gravity_forces(goal) - double.gravity_forces(goal)
    np.testing.assert_allclose(run.controller_state["disturbance"][-1], -missing, atol=1e-3)


def limited(kind, observer, top):
    return {
        "saturated": lambda: (rc.Saturated(observer, top), {}),
        "enforced": lambda: (observer, {"limits": "enforce"}),
        "watched": lambda: (observer, {"limits": "enforce", "events": [NEVER]}),
        "sampled": lambda: (rc.Sampled(observer, 4e-3, delay=3e-3), {}),
    }[kind]()


@pytest.mark.parametrize("kind", ["saturated", "enforced", "watched", "sampled"])
def test_the_observer_is_told_which_forces_act(kind):
    """Whatever is made of what it asks for, nothing of that is taken for a disturbance."""
    robot = rd.load("puma560", passive=False)
    far = rc.ComputedTorque(robot, rc.PointToPoint(np.ones(6), np.ones(6), 1.0), stiffness=300.0)
    observer = rc.DisturbanceObserver(far, 25.0, compensate=False)
    controller, options = limited(kind, observer, robot.effort_limits)
    run = rd.simulate(robot, controller, duration=0.2, **options)
    assert (np.abs(run.tau) >= robot.effort_limits * (1 - 1e-12)).any()
    found = run.controller_state["disturbance"]
    assert np.abs(found).max() < 0.02 * np.abs(run.tau).max()


@pytest.mark.slow
def test_a_push_on_a_floating_robot():
    robot = rd.load("dual_arm", base="floating", gravity=(0.0, 0.0, 0.0))
    observer = rc.DisturbanceObserver(lambda t, q, v: 0.0 * v, 50.0, compensate=False, robot=robot)
    link = robot.link_names[0]
    push = {link: [3.0, 1.0, -2.0, 0.5, 0.0, 1.0]}
    v0 = 0.3 * np.random.default_rng(1).normal(size=robot.nv)
    run = rd.simulate(robot, observer, v0=v0, duration=0.2, wrenches=push)
    d = robot.frame_jacobian(run.q[-1], link).T @ push[link]
    np.testing.assert_allclose(run.controller_state["disturbance"][-1], d, atol=1e-2)


def rolling(t):
    """A base that pitches and heaves."""
    turn = (0.0, np.sin(0.1 * np.sin(2.0 * t)), 0.0, np.cos(0.1 * np.sin(2.0 * t)))
    spin, gain = 0.4 * np.cos(2.0 * t), -0.8 * np.sin(2.0 * t)
    return rd.BaseMotion.from_world(
        (0.0, 0.0, 0.1 * np.sin(3.0 * t)), turn, (0.0, 0.0, 0.3 * np.cos(3.0 * t)),
        (0.0, spin, 0.0), (0.0, 0.0, -0.9 * np.sin(3.0 * t)), (0.0, gain, 0.0),
    )  # fmt: skip


OTHERS = {
    "four_bar": ("coupler", {}),
    "palletizer": (None, {}),
    "five_bar": (None, {}),
    "four_bar in minimal coordinates": ("coupler", {"coordinates": "minimal"}),
    "arm7": (None, {"base": "moving"}),
}


@pytest.mark.parametrize("case", OTHERS)
def test_a_push_on_linkages_and_on_a_moving_base(case):
    """Motors feel what pushes any link, by the motions of it that they make, and bear it."""
    link, options = OTHERS[case]
    robot = rd.load(case.partition(" ")[0], **options)
    link = link or robot.link_names[-1]
    base = rolling if robot.base == "moving" else None
    q0 = robot.neutral()
    still = rc.ComputedTorque(robot, rc.PointToPoint(q0, q0, 1.0), base=base)
    observer = rc.DisturbanceObserver(still, 40.0, base=base)
    push = {link: [3.0, -2.0, 4.0, 0.1, 0.2, 0.0]}
    given = {"duration": 0.4, "base": base, "limits": "ignore"}
    run = rd.simulate(robot, observer, wrenches=push, **given)
    plain = rd.simulate(robot, still, wrenches=push, **given)
    follow = motor_space(robot)(run.q[-1], run.v[-1], base and base(0.4), 0.4).follow
    felt = follow.T @ (robot.frame_jacobian(run.q[-1], link).T @ push[link])
    found = run.controller_state["disturbance"][-1, list(motor_speeds(robot))]
    np.testing.assert_allclose(found, felt, atol=3e-3 * np.abs(felt).max())
    assert np.abs(run.q[-1] - q0).max() < 0.2 * np.abs(plain.q[-1] - q0).max()


def unasked(robot, gain):
    """An observer of motors that are asked for nothing."""
    return rc.DisturbanceObserver(lambda t, q, v: 0.0 * v, gain, compensate=False, robot=robot)


@pytest.mark.parametrize("coordinates", ["tree", "minimal"])
def test_a_fast_linkage_has_no_disturbance_to_the_second_order_in_the_step(coordinates):
    robot = rd.load("four_bar", coordinates=coordinates)
    q0, hold = robot.neutral(), robot.actuated_joints
    v0 = 3.0 * np.eye(robot.nv)[motor_speeds(robot)[0]]
    v0 = robot.consistent_velocity(q0, v0, hold=hold) if robot.nc else v0
    found = []
    for step in (4e-3, 2e-3):
        run = rd.simulate(robot, unasked(robot, 50.0), q0=q0, v0=v0, duration=0.2, step=step)
        found.append(np.abs(run.controller_state["disturbance"]).max())
    assert found[0] < 2e-3 and found[0] / found[1] == pytest.approx(4.0, rel=0.02)


def test_each_motor_of_a_linkage_has_its_own_gain():
    robot, motors = rd.load("five_bar"), [0, 2]
    gains = np.array([10.0, 20.0, 30.0, 40.0])
    given = {"duration": 0.02, "wrenches": {"left_rod": [3.0, 0.0, 2.0, 0.0, 0.1, 0.0]}}

    def residual(gain):
        return rd.simulate(robot, unasked(robot, gain), **given).controller_state["disturbance"]

    own = residual(gains)
    assert list(motor_speeds(robot)) == motors and np.abs(own[-1, motors]).min() > 1e-3
    for k in motors:
        np.testing.assert_allclose(own[:, k], residual(gains[k])[:, k], rtol=1e-12)


def test_what_time_does_to_a_robot_is_no_disturbance():
    """A slide on a table that turns ever faster, and a push along it."""

    def table(q, t):
        c, s = rd.cos(0.5 * t * t), rd.sin(0.5 * t * t)
        return [[c, -s, 0, c * q[0]], [s, c, 0, s * q[0]], [0, 0, 1, 0], [0, 0, 0, 1]]

    slide = rd.Joint("slide", "prismatic", "ground", "stone")
    stone = rd.Link("stone", rd.Inertia.from_matrix(2.0, (0.0, 0.0, 0.0), POINT))
    mechanism = rd.Mechanism("table", (rd.Link("ground"), stone), (slide,))
    robot = rd.load(mechanism, joint_maps={"slide": rd.JointMap(1, table)}, gravity=(0, 0, 0))
    observer = rc.DisturbanceObserver(lambda t, q, v: 0.0 * v, 20.0, compensate=False, robot=robot)
    run = rd.simulate(
        robot, observer, q0=[0.3], duration=1.0, wrenches={"stone": [3.0, 0, 0, 0, 0, 0]}
    )
    expected = 3.0 * -np.expm1(-20.0 * run.t)
    np.testing.assert_allclose(run.controller_state["disturbance"][:, 0], expected, atol=1e-5)


# -- the same motion, whatever computes it --------------------------------------------------------


def test_weight_is_held_whatever_is_learnt_from_it(scara):
    """An observer around what holds the weight finds nothing, and moves nothing."""
    run = rd.simulate(
        scara, rc.DisturbanceObserver(rc.GravityCompensation(scara), 50.0), duration=0.1
    )
    assert np.abs(run.controller_state["disturbance"]).max() < 1e-9
    assert np.abs(run.q - run.q[0]).max() < 1e-12


@pytest.mark.parametrize("wrap", [lambda x: x, lambda x: rc.Sampled(x, 2e-3, delay=4e-3)])
def test_parameters_do_not_wind_up_while_motors_are_at_their_limits(wrap):
    """A motion that is too fast for the motors ends where it should, and finds the load."""
    motors = {x: rd.Actuator(torque_limit=y) for x, y in (("shoulder", 30.0), ("elbow", 12.0))}
    robot = rd.load("double_pendulum", actuators=motors)
    one = carrying(robot, "lower", 1.0).inertial_parameters - robot.inertial_parameters
    there = np.array([0.9, 0.4])
    law = rc.PassivityBased(robot, rc.PointToPoint(np.zeros(2), there, 0.2), gain=20.0)
    heavy, options = carrying(robot, "lower", 0.5), {"duration": 6.0, "step": 2e-3}
    learning = rc.Adaptive(law, {"load": one}, adaptation=4.0)
    run = rd.simulate(heavy, wrap(learning), limits="enforce", **options)
    assert (np.abs(run.tau) == [30.0, 12.0]).any(axis=0).all()  # both were at their limits
    learnt = run.controller_state["parameters"][:, 0]
    assert abs(learnt[-1] - 0.5) < 1e-3 and learnt.max() < 5.0
    np.testing.assert_allclose(run.q[-1], there, atol=1e-4)
    slow = dataclasses.replace(law, reference=rc.PointToPoint(np.zeros(2), there, 3.0))
    free = robot.with_(actuators={x: rd.Actuator() for x in motors})
    both = [
        rd.simulate(heavy, wrap(rc.Adaptive(x, {"load": one}, adaptation=4.0)), **options)
        for x in (slow, dataclasses.replace(slow, robot=free))
    ]  # within limits these do not matter
    np.testing.assert_allclose(both[0].q, both[1].q, atol=1e-9)
