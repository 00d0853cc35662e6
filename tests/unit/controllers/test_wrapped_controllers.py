"""Wrappers around controllers: closed forms, composition, memory in trajectories, bad input."""

import itertools

import numpy as np
import pytest
from scipy.signal import butter, lsim

import robodyn as rd
from robodyn import controllers as rc
from robodyn.simulation import ControllerSample
from robodyn.simulation.control import running_controller
from robodyn.simulation.control.compile_controller import compile_controller
from robodyn.simulation.trajectory.panels import panel

pytestmark = pytest.mark.filterwarnings(
    "ignore::robodyn.errors.EnergyWarning", "ignore::robodyn.errors.LimitWarning"
)


ONE_MOTOR = """<robot name="crane"><link name="rail"/>
<link name="car"><inertial><mass value="2"/>
<inertia ixx="1" ixy="0" ixz="0" iyy="1" iyz="0" izz="1"/></inertial></link>
<link name="load"><inertial><origin xyz="0 0 -1"/><mass value="1"/>
<inertia ixx="1" ixy="0" ixz="0" iyy="1" iyz="0" izz="1"/></inertial></link>
<joint name="drive" type="prismatic"><parent link="rail"/><child link="car"/><axis xyz="1 0 0"/>
<limit lower="-9" upper="9" effort="10" velocity="4"/><dynamics damping="7"/></joint>
<joint name="swing" type="continuous"><parent link="car"/><child link="load"/><axis xyz="0 1 0"/>
<dynamics damping="5"/></joint>
<transmission name="motor"><joint name="drive"/><actuator name="motor"/></transmission></robot>"""


def ramp(t, q, v):
    return np.full(v.shape, 3.0 * t)


def jump(t, q, v):
    return np.full(v.shape, 10.0 if t > 0.0005 else 2.0)


def asked(controller, times, nv=2):
    """What a controller asks for at some instants, its state carried from one to the next."""
    rest, found, last, state = np.zeros(nv), [], float(times[0]), None
    for t in map(float, times):
        impulse = (t - last) * (found[-1] if found else rest)
        sample, last = ControllerSample(t, rest, rest, t - last, impulse), t
        state = controller.initial_state(sample) if state is None else state
        tau, state = controller.update(sample, state)
        found.append(np.array(tau, float))
    return np.array(found)


def reaching(robot):
    q0 = robot.neutral()
    return rc.JointPD(robot, rc.PointToPoint(q0, q0 + 0.3, 0.1), 900.0, 60.0)


# -- filters --------------------------------------------------------------------------------------

#: Instants that are not evenly spaced.
UNEVEN = np.concatenate([[0.0], np.cumsum(np.random.default_rng(0).uniform(1e-4, 0.05, 80))])


@pytest.mark.parametrize("order", [1, 2, 3, 5, 8])
def test_filters_are_those_of_scipy(order):
    """A state-space simulation of the same filter, its input linear between instants."""
    t = np.linspace(0.0, 1.5, 301)
    u = np.sin(17.0 * t) + np.sign(t - 0.4) + 1.0
    y = asked(rc.Filtered(lambda t, q, v: [np.interp(t, times, u)], 20.0, order), times := t, 1)
    _, expected, _ = lsim(butter(order, 20.0, analog=True), u, t)
    np.testing.assert_allclose(y[:, 0], expected, rtol=0, atol=1e-9)


def test_a_filter_starts_at_rest_at_its_input_and_stays_there():
    for order in (1, 2, 6):
        y = asked(rc.Filtered(lambda t, q, v: [5.0, -2.0], [3.0, 80.0], order), UNEVEN)
        np.testing.assert_allclose(y, [[5.0, -2.0]] * len(y), rtol=1e-12)


def test_a_sample_at_the_same_instant_again_changes_nothing():
    tau = asked(rc.Filtered(ramp, 20.0, 2), [0.0, 0.1, 0.2, 0.2])
    np.testing.assert_array_equal(tau[2], tau[3])


@pytest.mark.parametrize("delay", [0.0, 0.1])
def test_samples_are_taken_and_act_at_instants_that_are_rounded(delay):
    """0.3 / 0.1 is less than three, and 0.1 + 0.2 more than 0.3."""
    t = [round(0.1 * k, 1) for k in range(11)]
    digital = rc.Sampled(lambda t, q, v: np.full(2, t), period=0.1, delay=delay)
    expected = np.maximum(np.array(t) - delay, 0.0)
    np.testing.assert_allclose(asked(digital, t), np.stack([expected] * 2, 1), atol=1e-12)


def test_speeds_are_filtered_before_the_controller_sees_them(double):
    seen = []

    def controller(t, q, v):
        seen.append(v)
        return -5.0 * v

    run = rd.simulate(double, rc.Filtered(controller, 40.0, signal="speed"), v0=[1.0, 2.0])
    np.testing.assert_array_equal(run.controller_state["filtered"], seen)
    _, expected, _ = lsim(([40.0], [1.0, 40.0]), run.v[:, 0] - run.v[0, 0], run.t)
    np.testing.assert_allclose(np.array(seen)[:, 0] - run.v[0, 0], expected, atol=1e-9)
    np.testing.assert_array_equal(run.tau, -5.0 * run.controller_state["filtered"])


# -- limits ---------------------------------------------------------------------------------------


def test_a_jump_becomes_a_ramp_of_the_rate():
    t = np.arange(0.0, 0.02, 1e-3)
    y = asked(rc.RateLimited(jump, [500.0, 2000.0]), t)
    np.testing.assert_allclose(y, np.minimum(10.0, 2.0 + np.outer(t, [500.0, 2000.0])), atol=1e-12)
    y = asked(rc.RateLimited(jump, 1000.0, start=[0.0, 20.0]), t)
    np.testing.assert_allclose(y[0], [0.0, 20.0])
    np.testing.assert_allclose(y[:, 0], np.minimum(10.0, 1000.0 * t), atol=1e-12)
    np.testing.assert_allclose(y[:, 1], np.maximum(10.0, 20.0 - 1000.0 * t), atol=1e-12)


@pytest.mark.parametrize("size", [0.3, 1.0, 1.0000001, 40.0, 1e9])
def test_forces_are_cut_at_their_limits_and_stay_as_they_are_within(size):
    top = np.array([3.0, 1e-3, 1e12, np.inf, 0.0])
    given = size * np.array([3.0, -1e-3, -1e12, 7.0, 2.0]) * [1, 1, 1, 1, 1.0]
    tau = rc.Saturated(lambda t, q, v: given, top)(0.0, np.zeros(5), np.zeros(5))
    expected = np.clip(given, -top, top)
    if size <= 1.0:
        np.testing.assert_array_equal(tau, expected)
    np.testing.assert_allclose(tau, expected, rtol=1e-15)


# -- friction -------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["puma560", "arm7"])
def test_with_its_friction_given_back_a_robot_moves_as_without(name):
    robot = rd.load(name)
    options = {"v0": 0.5 * np.ones(robot.nv), "duration": 0.2}
    weightless = rc.FrictionCompensation(rc.GravityCompensation(robot))
    run = rd.simulate(robot, weightless, **options)
    free = rd.simulate(robot, rc.GravityCompensation(robot), **options)
    kinetic = 0.5 * np.einsum("ni,nij,nj->n", run.v, robot.mass_matrix(run.q), run.v)
    assert abs(kinetic[-1] / kinetic[0] - 1.0) < 0.02
    assert free.kinetic_energy[-1] < 0.6 * free.kinetic_energy[0]


def test_friction_at_the_speeds_that_are_wanted(puma):
    reference = rc.SineReference(np.zeros(6), np.ones(6), np.ones(6))
    weight = rc.GravityCompensation(puma)
    controller = rc.FrictionCompensation(weight, reference=reference, share=0.5)
    q, v, wanted = np.ones(6), -np.ones(6), reference(0.3)[1]
    more = controller(0.3, q, v) - weight(0.3, q, v)
    np.testing.assert_allclose(more, -0.5 * puma.passive_forces(q, wanted), atol=1e-12)


def test_friction_of_joints_without_motors_is_not_given_back():
    robot = rd.load(ONE_MOTOR)
    controller = rc.FrictionCompensation(rc.GravityCompensation(robot))
    more = controller(0.0, np.zeros(2), np.ones(2)) - rc.GravityCompensation(robot)(
        0.0, *np.zeros((2, 2))
    )
    np.testing.assert_allclose(more, [7.0, 0.0])
    assert robot.passive_forces(np.zeros(2), np.ones(2))[1] == -5.0


# -- composition ----------------------------------------------------------------------------------

WITHOUT_STATE = {
    "friction": lambda inner: rc.FrictionCompensation(inner),
    "saturated": lambda inner: rc.Saturated(inner, 60.0),
}
WITH_STATE = {
    "rate": lambda inner: rc.RateLimited(inner, 2e4),
    "filtered": lambda inner: rc.Filtered(inner, 300.0, 2),
    "seen": lambda inner: rc.Filtered(inner, 900.0, signal="speed"),
    "observed": lambda inner: rc.DisturbanceObserver(inner, 30.0),
    "sampled": lambda inner: rc.Sampled(inner, 2e-3, delay=1e-3),
    "noisy": lambda inner: rc.Noisy(inner, velocity=1e-4, seed=3),
}


@pytest.mark.parametrize("order", [*itertools.permutations(WITHOUT_STATE)], ids="-".join)
@pytest.mark.parametrize("inner", ["pd", "sampled reference"])
def test_wrappers_without_memory_are_part_of_the_compiled_step(puma, order, inner, monkeypatch):
    controller = reaching(puma)
    reference = rc.SineReference(*np.ones((3, 6)))
    if inner == "sampled reference":
        controller = rc.JointPD(puma, lambda t: reference(t), 900.0, 60.0)
    for name in order:
        controller = WITHOUT_STATE[name](controller)
    assert compile_controller(puma, controller).is_function
    fast = rd.simulate(puma, controller, duration=0.05)
    assert not fast.controller_state
    monkeypatch.setattr(
        running_controller, "compile_controller", lambda *given: None
    )  # as it is written, in numbers
    plain = rd.simulate(puma, controller, duration=0.05)
    np.testing.assert_allclose(fast.q, plain.q, atol=1e-12)
    monkeypatch.undo()
    f = rd.closed_loop(puma, controller)
    signals = [] if inner == "pd" else [np.concatenate(reference(0.0))]
    a = f(0.0, fast.q[0], fast.v[0], *signals)
    np.testing.assert_allclose(a, fast.a[0], rtol=1e-9)


@pytest.mark.slow
@pytest.mark.parametrize("outer", [*WITHOUT_STATE, *WITH_STATE])
@pytest.mark.parametrize("middle", WITH_STATE)
def test_wrappers_in_any_order_move_a_robot_the_same_way_again(puma, outer, middle):
    both = {**WITHOUT_STATE, **WITH_STATE}
    controller = both[outer](both[middle](rc.Saturated(reaching(puma), 90.0)))
    assert controller.robot is puma
    compiled = compile_controller(puma, controller, np.linspace(0.0, 0.02, 21))
    assert compiled is None or not compiled.is_function
    first, again = (rd.simulate(puma, controller, duration=0.02) for _ in range(2))
    np.testing.assert_array_equal(first.q, again.q)
    assert np.isfinite(first.tau).all()
    expected = {"rate": "torque", "filtered": "filtered", "seen": "filtered",
                "observed": "disturbance"}  # fmt: skip
    names = [expected[x] for x in (outer, middle) if x in expected]
    twice = {f"{x} 2" for x in names if names.count(x) == 2}
    assert set(first.controller_state) == {*names, *twice}
    for name, x in first.controller_state.items():
        np.testing.assert_array_equal(x, again.controller_state[name])
        assert x.shape == (len(first), 6)


def test_what_is_outermost_has_the_plain_name(double):
    def controller(t, q, v):
        return np.array([t, 1.0])

    run = rd.simulate(double, rc.Filtered(rc.Filtered(controller, 5.0), 9.0), duration=0.1)
    inner = asked(rc.Filtered(controller, 5.0), run.t)
    np.testing.assert_array_equal(run.controller_state["filtered 2"], inner)
    np.testing.assert_array_equal(run.controller_state["filtered"], run.tau)


# -- memory in trajectories -----------------------------------------------------------------------


class Counting:
    """Counts its samples; any class with ``initial_state`` and ``update`` will do."""

    recorded = ("looks",)

    def __init__(self, torque=0.0):
        self.torque = torque

    def initial_state(self, sample):
        return {"looks": np.zeros(1)}

    def update(self, sample, state):
        assert isinstance(sample, ControllerSample)
        return np.full(sample.v.shape, self.torque), {"looks": state["looks"] + 1.0}


def test_samples_of_a_motion_have_the_memory_of_their_instant(double, tmp_path):
    run = rd.simulate(double, Counting(), duration=0.1)
    looks = run.controller_state["looks"]
    np.testing.assert_array_equal(looks[:, 0], np.arange(1, 102))
    np.testing.assert_array_equal(run[10:50:3].controller_state["looks"], looks[10:50:3])
    assert run[7].controller_state["looks"] == [8.0]
    np.testing.assert_array_equal(
        run.resample([0.0, 0.0125]).controller_state["looks"], [[1.0], [13.0]]
    )
    run.save(tmp_path / "run.npz")
    kept = rd.Trajectory.load(tmp_path / "run.npz", double)
    np.testing.assert_array_equal(kept.controller_state["looks"], looks)


def test_pictures_of_what_was_remembered(double):
    run = rd.simulate(double, rc.RateLimited(rc.Filtered(ramp, 5.0), 9.0), duration=0.1)
    shown = panel(run, "state: torque")
    np.testing.assert_array_equal(shown.values, run.tau)
    assert shown.names == ("shoulder", "elbow")
    with pytest.raises(rd.UnknownNameError, match="did you mean 'state: filtered'"):
        panel(run, "state: filterd")


def test_memory_of_samples_that_are_kept_and_written_while_it_moves(double, tmp_path, monkeypatch):
    monkeypatch.setattr(
        "robodyn.simulation.motion.record.NUMBERS_IN_MEMORY", 60
    )  # written now and then
    run = rd.simulate(double, Counting(), duration=0.1, every=7, to=tmp_path / "run")
    expected = [*range(1, 102, 7), 101]
    np.testing.assert_array_equal(run.controller_state["looks"][:, 0], expected)
    kept = rd.Trajectory.load(tmp_path / "run", double)
    np.testing.assert_array_equal(kept.controller_state["looks"][:, 0], expected)
    fewer = rd.simulate(double, Counting(), duration=0.1, every=7)
    np.testing.assert_array_equal(fewer.controller_state["looks"][:, 0], expected)


def test_memory_of_many_motions_that_end_alone_is_written(double, tmp_path):
    q0 = np.array([[0.1, 0.0], [0.2, 0.3], [-0.4, 0.0]])
    options = {"duration": 0.03, "events": [lambda t, q, v: t - 0.0205], "to": tmp_path / "run"}
    run = rd.rollout(double, rc.RateLimited(ramp, 9e9), q0, 0.0 * q0, **options)
    kept = rd.Trajectory.load(tmp_path / "run", double)
    assert run.controller_state["torque"].shape == (31, 3, 2)
    there = run.t < 0.0205
    np.testing.assert_allclose(
        run.controller_state["torque"][there, 1, 0], 3.0 * run.t[there], rtol=1e-12
    )
    assert np.isnan(run.controller_state["torque"][~there]).all()
    np.testing.assert_array_equal(kept.controller_state["torque"], run.controller_state["torque"])


def test_another_controller_takes_over_within_a_motion(double):
    take_over = rd.Event(
        lambda t, q, v: t - 0.0505, then=rd.events.switch(rc.RateLimited(ramp, 9e9))
    )
    run = rd.simulate(double, Counting(), duration=0.1, events=[take_over])
    before = run.t < 0.0505
    assert run.controller_state["looks"][-1] == 51.0
    assert np.isnan(run.controller_state["torque"][before]).all()
    after = run.t > 0.0506
    np.testing.assert_allclose(
        run.controller_state["torque"][after, 0], 3.0 * run.t[after], rtol=1e-12
    )


def test_memory_goes_on_where_a_stop_begins_another_phase():
    robot = rd.load("puma560", passive=False)
    run = rd.simulate(
        robot, Counting(), duration=0.4, q0=[0, 0, 0.7, 0, 0, 0], v0=[0, 0, 12.0, 0, 0, 0],
        stops=rd.RigidStops(0.0), every=5,
    )  # fmt: skip
    assert run.phases
    steps = np.searchsorted(np.arange(401) * 1e-3, run.t, side="right")
    np.testing.assert_array_equal(run.controller_state["looks"][:, 0], steps)


def test_what_has_a_state_is_no_function_of_that_of_the_robot(double):
    inner = reaching(double)
    with pytest.raises(rd.SettingsError, match="RateLimited has a state of its own"):
        rd.closed_loop(double, rc.RateLimited(inner, 1.0))
    with pytest.raises(rd.SettingsError, match="Saturated has a state of its own"):
        rd.closed_loop(double, rc.Saturated(rc.Sampled(inner, 0.01), 1.0))
    with pytest.raises(rd.SettingsError, match="RateLimited does not say that it is symbolic"):
        rd.closed_loop(double, rc.RateLimited(ramp, 1.0))
    with pytest.raises(rd.SettingsError, match="Noisy does not say that it is symbolic"):
        rd.closed_loop(double, rc.Noisy(ramp))


# -- bad input ------------------------------------------------------------------------------------


def wrong_numbers(robot):
    inner = reaching(robot)
    law = rc.PassivityBased(robot, inner.reference, 1.0)
    return {
        "rate": lambda x: rc.RateLimited(inner, x),
        "cutoff": lambda x: rc.Filtered(inner, x),
        "gain": lambda x: rc.DisturbanceObserver(inner, x),
        "adaptation": lambda x: rc.Adaptive(law, "lower.m", x),
        "limits": lambda x: rc.Saturated(inner, x),
    }


@pytest.mark.parametrize("wrong", [-1.0, [1.0, -1.0], np.nan, "fast", [[1.0]]])
@pytest.mark.parametrize("name", ["rate", "cutoff", "gain", "adaptation", "limits"])
def test_numbers_that_make_no_sense_are_named(double, name, wrong):
    with pytest.raises(rd.ShapeError, match=f"^{name} is") as caught:
        wrong_numbers(double)[name](wrong)
    assert caught.value.name == name


@pytest.mark.parametrize("name", ["rate", "cutoff", "gain", "adaptation", "limits"])
def test_numbers_for_another_robot_are_named(double, name):
    with pytest.raises(rd.ShapeError, match=name) as caught:
        wrong_numbers(double)[name]([1.0, 1.0, 1.0])(0.0, np.zeros(2), np.zeros(2))
    assert caught.value.name == name


def test_zero_is_no_rate_and_no_frequency(double):
    for name in ("rate", "cutoff"):
        with pytest.raises(rd.ShapeError, match=f"^{name} is 0"):
            wrong_numbers(double)[name](0.0)


def refusals(double):
    inner = reaching(double)
    moving = rd.load("double_pendulum", base="moving")
    law = rc.PassivityBased(double, inner.reference, 1.0)
    floating = rd.load("double_pendulum", base="floating")
    minimal = rd.load("palletizer", coordinates="minimal")

    def adapt(robot):
        return rc.Adaptive(rc.PassivityBased(robot, inner.reference, 1.0), robot.body_names[0], 1.0)

    return {
        "order is 0": lambda: rc.Filtered(inner, 1.0, 0),
        "order is 9": lambda: rc.Filtered(inner, 1.0, 9),
        "no choice 'voltage' in signal=": lambda: rc.Filtered(inner, 1.0, signal="voltage"),
        "start is 'now'": lambda: rc.RateLimited(inner, 1.0, start="now"),
        "start is nan": lambda: rc.RateLimited(inner, 1.0, start=np.nan),
        "controller is 3": lambda: rc.RateLimited(3, 1.0),
        "controller is None": lambda: rc.Saturated(None, 1.0),
        "give limits=": lambda: rc.Saturated(inner),
        "Saturated does not know whose": lambda: rc.Saturated(ramp),
        "FrictionCompensation does not know": lambda: rc.FrictionCompensation(ramp),
        "neither damping nor friction": lambda: rc.FrictionCompensation(inner),
        "share is 1.5": lambda: rc.FrictionCompensation(reaching(rd.load("arm7")), share=1.5),
        "reference is 1": lambda: rc.FrictionCompensation(reaching(rd.load("arm7")), reference=1),
        "has a moving base: give the controller base=": lambda: rc.DisturbanceObserver(
            ramp, 1.0, robot=moving
        ),
        "has a floating base: the adaptive law": lambda: adapt(floating),
        "has minimal coordinates: the adaptive law": lambda: adapt(minimal),
        "controller is JointPD, expected a robodyn.controllers.Passi": lambda: rc.Adaptive(
            inner, "lower", 1.0
        ),
        "no parameter or body 'lowr' in 'double": lambda: rc.Adaptive(law, ["lowr"], 1.0),
        "name each parameter, or its body, once": lambda: rc.Adaptive(
            law, ["lower", "lower.m"], 1.0
        ),
        "learnt is empty": lambda: rc.Adaptive(law, {}, 1.0),
        r"learnt\['load'\] is 3": lambda: rc.Adaptive(law, {"load": 3}, 1.0),
        "start is 1": lambda: rc.Adaptive(law, ["lower"], 1.0, start=1.0),
    }


@pytest.mark.parametrize("message", list(refusals(rd.load("double_pendulum"))))
def test_what_is_refused(double, message):
    errors = (rd.SettingsError, rd.ShapeError, rd.UnknownNameError)
    with pytest.raises(errors, match=message):
        refusals(double)[message]()


def test_faults_within_a_wrapper_are_told_as_those_without(delta):
    """Also where the controller is never called with numbers."""
    along = rc.SineReference(delta.neutral(), np.zeros(delta.nq), np.ones(delta.nq))
    inner = rc.JointPD(delta, along, stiffness=1.0, damping=1.0)
    told = r"velocities of shape \(19,\), expected \(18,\)"
    for controller in (inner, rc.Saturated(inner, limits=1.0)):
        for make in (rd.control_law, rd.closed_loop):
            with pytest.raises(rd.ShapeError, match=told):
                make(delta, controller)


def test_why_a_controller_is_no_function_is_told():
    robot = rd.load("two_feet")
    along = rc.SineReference(robot.neutral(), np.zeros(robot.nq), np.ones(robot.nq))
    with pytest.raises(rd.SettingsError, match=r"'two_feet': .*more motors than motions"):
        rd.control_law(robot, rc.ComputedTorque(robot, along))
