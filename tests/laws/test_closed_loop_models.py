"""Linear models of robots under their controllers: matrices by hand, and small motions."""

import numpy as np
import pytest
from scipy.linalg import expm, solve_discrete_are
from scipy.signal import cont2discrete
from support.furuta import UP as UPRIGHT, furuta, upright

import robodyn as rd
from robodyn.controllers import (
    LQR,
    ComputedTorque,
    DisturbanceObserver,
    Filtered,
    FrictionCompensation,
    JointPD,
    KalmanFilter,
    Noisy,
    OutputFeedback,
    PassivityBased,
    PointToPoint,
    RateLimited,
    Sampled,
    Saturated,
)

UP = np.array([np.pi, 0.0])


@pytest.fixture(scope="module")
def law(acrobot):
    return LQR(acrobot, UP)


@pytest.fixture(scope="module")
def puma():
    return rd.load("puma560", gravity=(0.0, 0.0, 0.0))


def same(found, expected, atol=1e-9):
    scale = max(1.0, np.abs(expected).max(initial=0.0))
    np.testing.assert_allclose(found, expected, rtol=0, atol=atol * scale)


# -- matrices by hand -----------------------------------------------------------------------------


def test_a_law_without_memory(acrobot, law):
    model = rd.closed_loop_model(acrobot, law, UP)
    A, B, K = law.model.A, law.model.B, law.gains
    same(model.A, A - B @ K)
    same(model.B, B)
    same(model.C, np.vstack([np.eye(4), -K]))
    same(model.D, np.zeros((5, 1)))
    assert model.dt is None and model.stability == "stable"
    assert model.states == law.model.states and model.inputs == ("tau:elbow",)
    assert model.outputs == (*law.model.states, "tau:elbow")


@pytest.mark.parametrize("wrap", [lambda x: x, lambda x: Saturated(x, 1e6), lambda x: Noisy(x)])
def test_samples_with_forces_that_are_held(acrobot, law, wrap):
    A, B, C, D = law.model.A, law.model.B, law.model.C, law.model.D
    Phi, Gamma, *_ = cont2discrete((A, B, C, D), 0.02)
    for model in (
        rd.closed_loop_model(acrobot, wrap(Sampled(law, 0.02, quantum=1e-3)), UP),
        rd.closed_loop_model(acrobot, Sampled(wrap(law), 0.02, dropped=0.1), UP),
        rd.closed_loop_model(acrobot, wrap(law), UP, dt=0.02),
    ):
        same(model.A, Phi - Gamma @ law.gains)
        same(model.B, Gamma)
        assert model.dt == 0.02


@pytest.mark.parametrize("delay", [0.02, 0.04, 0.007, 0.031])
def test_forces_that_are_late(acrobot, law, delay):
    """[Astrom & Wittenmark 1997, 2.3]: delays as states, a part of a period with two forces."""
    A, B, K, T = law.model.A, law.model.B, law.gains, 0.02
    whole, part = divmod(round(delay * 1e3), 20)
    rest = part * 1e-3

    def over(time):
        block = expm(time * np.block([[A, B], [np.zeros((1, 5))]]))
        return block[:4, :4], block[:4, 4:]

    (P0, G0), (P1, G1) = over(T - rest), over(rest)
    count = whole + (part > 0)
    by_hand = np.zeros((4 + count, 4 + count))
    by_hand[:4, :4] = P0 @ P1
    for late, gamma in ((whole, G0), (whole + 1, P0 @ G1)):
        if late > count:
            continue
        if late:
            by_hand[:4, 3 + late : 4 + late] += gamma
        else:
            by_hand[:4, :4] -= gamma @ K
    by_hand[4:5, :4] = -K
    by_hand[5:, 4:-1] = np.eye(count - 1)
    for model in (
        rd.closed_loop_model(acrobot, Sampled(law, T, delay=delay), UP),
        rd.closed_loop_model(acrobot, law, UP, dt=T, delay=delay),
        rd.closed_loop_model(acrobot, Sampled(law, T), UP, delay=delay),
    ):
        same(model.A, by_hand)


def test_a_continuous_delay_is_that_of_quick_samples(acrobot, law):
    """Poles up to the rate of the delay; the hold of samples is as late as half a period."""
    model = rd.closed_loop_model(acrobot, law, UP, delay=0.03)
    dt = 1e-4
    quick = rd.closed_loop_model(acrobot, law, UP, dt=dt, delay=0.03 - 0.5 * dt)
    rates = np.log(quick.poles) / dt
    for pole in model.poles[:5]:
        assert np.abs(rates - pole).min() < 2e-6 * np.abs(pole)
    assert len(model.poles) == 9


def test_filters_in_continuous_time(puma):
    """A Butterworth filter behind a law: ``y' = cutoff (u - y)`` beside the robot."""
    q, n = np.array([0.3, -0.5, 0.4, 0.2, 0.6, 0.1]), 6
    pd = JointPD(puma, at(q), stiffness=100.0, damping=20.0, gravity=False)
    A = puma.linearize(q, 0 * q, 0 * q).A
    B = puma.linearize(q, 0 * q, 0 * q).B
    K = np.hstack([100.0 * np.eye(n), 20.0 * np.eye(n)])
    by_hand = np.block([[A, B], [-50.0 * K, -50.0 * np.eye(n)]])
    found = rd.closed_loop_model(puma, Filtered(pd, 50.0), q).poles
    expected = rd.StateSpace(by_hand, np.zeros((18, 0)), np.zeros((0, 18)), np.zeros((0, 0))).poles
    same(np.sort_complex(found), np.sort_complex(expected), 1e-8)


def test_a_memory_of_a_user_in_continuous_time(acrobot, law):
    """An integral of the error, in Python: ``s' = x``, ``u = -K x - k s``."""

    class Integral:
        robot = acrobot

        def initial_state(self, sample):
            return {"sum": np.zeros(2), "times": 0}

        def update(self, sample, state):
            s = state["sum"] + sample.h * (sample.q - UP)
            tau = law(sample.t, sample.q, sample.v) - [0.0, 3.0 * s[0] + 2.0 * s[1]]
            return tau, {"sum": s, "times": state["times"] + 1}

    A, B, K = law.model.A, law.model.B, law.gains
    by_hand = np.zeros((6, 6))
    by_hand[:4, :4], by_hand[:4, 4:] = A - B @ K, -B @ [[3.0, 2.0]]
    by_hand[4:, :2] = np.eye(2)
    model = rd.closed_loop_model(acrobot, Integral(), UP)
    same(model.A, by_hand, 1e-7)
    assert model.states[4:] == ("controller.sum[0]", "controller.sum[1]")
    sampled = rd.closed_loop_model(acrobot, Sampled(Integral(), 0.01), UP)
    Phi, Gamma, *_ = cont2discrete((A, B, np.eye(4), np.zeros((4, 1))), 0.01)
    k = np.array([[3.0, 2.0]])
    D = 0.01 * np.eye(2, 4)
    expected = np.block([[Phi - Gamma @ (K + k @ D), -Gamma @ k], [D, np.eye(2)]])
    same(sampled.A, expected, 1e-7)


# -- small motions --------------------------------------------------------------------------------


def at(q, k=0, size=0.0, period=0.0):
    """A reference at rest, but for a step of the k-th joint from the first sample to the third."""

    def reference(t):
        wanted = np.array(q)
        wanted[k] += size * (period - 1e-9 <= t < 3.0 * period - 1e-9)
        return wanted, np.zeros(len(q)), np.zeros(len(q))

    return reference


MAKE = {
    "feedback linearisation": lambda r, ref: ComputedTorque(r, ref, stiffness=400.0),
    "filter": lambda r, ref: Filtered(ComputedTorque(r, ref, stiffness=400.0), 300.0, order=3),
    "filter of speeds": lambda r, ref: Filtered(
        JointPD(r, ref, stiffness=400.0, damping=30.0), 300.0, order=2, signal="speed"
    ),
    "observer": lambda r, ref: Saturated(
        DisturbanceObserver(ComputedTorque(r, ref, stiffness=400.0), 20.0), 1e5
    ),
    "passive": lambda r, ref: RateLimited(PassivityBased(r, ref, 20.0), 1e6),
    "friction": lambda r, ref: FrictionCompensation(
        JointPD(r, ref, stiffness=400.0, damping=40.0), share=0.5
    ),
    "python": lambda r, ref: JointPD(r, lambda t: ref(t), stiffness=400.0, damping=40.0).__call__,
}


@pytest.mark.parametrize("delay", [0.0, 1.5e-3, 6.5e-3])
@pytest.mark.parametrize("kind", MAKE)
def test_small_motions_are_those_of_the_model(puma, kind, delay):
    """Half the difference of two simulated motions, whose references step up and down."""
    q, period, step, count, k = np.array([0.3, -0.5, 0.4, 0.2, 0.6, 0.1]), 4e-3, 5e-4, 20, 1
    runs = [
        rd.simulate(
            puma,
            Sampled(MAKE[kind](puma, at(q, k, size, period)), period, delay=delay),
            q0=q, duration=count * period, step=step, limits="ignore",
        )
        for size in (1e-5, -1e-5)
    ]  # fmt: skip
    moved = (runs[0].q - runs[1].q)[:: round(period / step)] / 2e-5
    joint = puma.joint_names[k]
    inputs = () if kind == "python" else (f"q_ref:{joint}",)
    digital = Sampled(MAKE[kind](puma, at(q)), period, delay=delay)
    model = rd.closed_loop_model(puma, digital, q, inputs=inputs, outputs=puma.joint_names)
    if kind == "python":  # its reference is no signal: the law is linear in it
        exact = Sampled(MAKE["friction"](puma, at(q)).controller, period, delay=delay)
        exact = rd.closed_loop_model(puma, exact, q, outputs=puma.joint_names)
        same(model.A, exact.A, 1e-6)
        return
    x, found = np.zeros(len(model.A)), []
    for n in range(count + 1):
        found.append(model.C @ x)
        x = model.A @ x + model.B[:, 0] * (n in (1, 2))
    same(moved, np.array(found), 2e-7)


def test_forces_from_outside(puma):
    """A wrench on the flange, along axes of the world, and a force at a joint without a motor."""
    q = np.array([0.3, -0.5, 0.4, 0.2, 0.6, 0.1])
    law = ComputedTorque(puma, at(q), stiffness=400.0)
    model = rd.closed_loop_model(puma, law, q, inputs=["flange"], outputs=["flange"])
    J = puma.frame_jacobian(q, "flange", axes="world")
    same(model.B[6:], np.linalg.solve(puma.mass_matrix(q), J.T))
    same(model.C[:, :6], J)
    assert model.inputs == tuple(f"{x}:flange" for x in ("x", "y", "z", "rx", "ry", "rz"))
    stiffness = np.linalg.inv(-model.C @ np.linalg.solve(model.A, model.B))
    same(stiffness, stiffness.T)


def test_disturbances_and_speeds_of_references(acrobot):
    passive = JointPD(acrobot, at(UP), stiffness=[0.0, 50.0], damping=[0.0, 5.0], gravity=False)
    model = rd.closed_loop_model(
        acrobot, passive, UP, inputs=["shoulder", "elbow", "v_ref", "a_ref:elbow"],
        outputs=["tau:elbow", "v:elbow", "elbow"],
    )  # fmt: skip
    assert model.inputs == (
        "tau:shoulder", "tau:elbow", "v_ref:shoulder", "v_ref:elbow", "a_ref:elbow",
    )  # fmt: skip
    assert model.outputs == ("tau:elbow", "v:elbow", "q:elbow")
    M = acrobot.mass_matrix(UP)
    same(model.B[2:, :2], np.linalg.inv(M))
    same(model.D[0], [0.0, 0.0, 0.0, 5.0, 0.0])
    same(model.C, [[0, -50, 0, -5], [0, 0, 0, 1], [0, 1, 0, 0]])


# -- robots of all sorts --------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["four_bar", "steering"])
def test_linkages_have_the_same_poles_in_tree_and_minimal_coordinates(name):
    poles = []
    for options in ({}, {"coordinates": "minimal"}):
        robot = rd.load(name, **options)
        q = robot.neutral()
        law = DisturbanceObserver(ComputedTorque(robot, at_posture(robot, q), stiffness=90.0), 9.0)
        model = rd.closed_loop_model(robot, Sampled(law, 2e-3, delay=1e-3), q)
        poles.append(np.sort_complex(model.poles[np.abs(model.poles) > 1e-3]))
    same(poles[0], poles[1])


def at_posture(robot, q):
    return lambda t: (q, np.zeros(robot.nv), np.zeros(robot.nv))


def test_a_moving_linkage(four_bar):
    """Along a motion speeds of other joints depend on the posture, too."""
    q = four_bar.assemble([0.5, 0.0, 0.0], hold=["crank_drive"])
    v = four_bar.consistent_velocity(q, [2.0, 0.0, 0.0])
    names = [f"v:{x}" for x in four_bar.joint_names]
    model = four_bar.linearize(q, v, None, outputs=names)
    crank = four_bar.joints["crank_drive"].v.start
    h, by_place = 1e-5, []
    for sign in (1.0, -1.0):
        moved = q.copy()
        moved[crank] += sign * h
        near = four_bar.assemble(moved, hold=["crank_drive"])
        speed = np.zeros(four_bar.nv)
        speed[crank] = v[crank]
        by_place.append(four_bar.consistent_velocity(near, speed, hold=["crank_drive"]))
    same(model.C[:, 0], (by_place[0] - by_place[1]) / (2.0 * h), 1e-6)
    same(model.C[:, 1], v / v[crank])


def test_floating_and_moving_bases():
    satellite = rd.load("satellite", base="floating")
    law = Damping(satellite)
    q = satellite.random(3)
    model = rd.closed_loop_model(satellite, law, q)
    plant = satellite.linearize(q, np.zeros(satellite.nv), None, inputs=satellite.joint_names)
    n = satellite.nv
    same(model.A, plant.A - plant.B @ np.hstack([np.zeros((n, n)), 0.3 * np.eye(n)]), 1e-8)
    moving = rd.load("double_pendulum", base="moving")
    base = rd.BaseMotion(np.eye(4), np.zeros(6), [0.0, 0.0, 0.0, 0.0, 0.0, 3.0])
    law = JointPD(moving, at(np.zeros(2)), stiffness=0.0, damping=1.0, gravity=False)
    zeros = np.zeros(2)
    expected = moving.linearize(zeros, zeros, None, base=base)
    damped = expected.A - expected.B @ np.hstack([np.zeros((2, 2)), np.eye(2)])
    same(rd.closed_loop_model(moving, law, zeros, base=base).A, damped)


class Damping:
    """Damping along all speeds, of symbols as well."""

    symbolic = True

    def __init__(self, robot):
        self.robot = robot

    def __call__(self, t, q, v):
        return -0.3 * v


# -- what cannot be -------------------------------------------------------------------------------


class Counting:
    """Adds what it sees at every sample."""

    symbolic = True

    def initial_state(self, sample):
        return {"sum": 0.0 * sample.v}

    def update(self, sample, state):
        total = state["sum"] + 0.01 * sample.q
        return -total, {"sum": total}


@pytest.mark.parametrize(
    ("make", "options", "message"),
    [
        (lambda law: Sampled(law, 0.02), {"dt": 0.01}, "a period of 0.02 s: leave out dt="),
        (lambda law: Sampled(Filtered(Sampled(law, 0.01), 9.0), 0.02), {}, "has one period"),
        (lambda law: Counting(), {}, "has no continuous model; give dt="),
        (lambda law: law, {"dt": -1.0}, "dt is -1.0, expected a positive"),
        (lambda law: law, {"delay": -1.0}, "delay is -1.0, expected a number >= 0"),
        (lambda law: law, {"inputs": ["q_ref"]}, "one reference of positions, speeds"),
    ],
)
def test_models_that_there_are_not(acrobot, law, make, options, message):
    with pytest.raises(rd.SettingsError, match=message):
        rd.closed_loop_model(acrobot, make(law), UP, **options)


def test_names_that_there_are_not(acrobot, law):
    for options in (
        {"inputs": ["wrist"]}, {"outputs": ["wrist"]}, {"outputs": ["tau:wrist"]},
        {"outputs": ["v:wrist"]},
    ):  # fmt: skip
        with pytest.raises(rd.UnknownNameError):
            rd.closed_loop_model(acrobot, law, UP, **options)
    by_sample = rd.closed_loop_model(acrobot, Counting(), UP, dt=0.01)
    assert by_sample.states[4:] == ("controller.sum[0]", "controller.sum[1]")


def test_a_filter_and_a_law_keep_their_own_poles(acrobot):
    """Of linear-quadratic-Gaussian control: those of ``A - B K`` and of ``(I - L C) A``."""
    encoders = rd.Sensor(lambda q, v, a: q, joint=["shoulder", "elbow"], name="encoders")
    robot = acrobot.with_(sensors=[encoders])
    model = robot.linearize(UP, [0.0, 0.0], [0.0, 0.0], outputs=["encoders"])
    kalman = KalmanFilter(model, 1e-6, 1e-6, dt=0.01)
    law = LQR(robot, UP, dt=0.01)
    found = rd.closed_loop_model(robot, Sampled(OutputFeedback(law, kalman), 0.01), UP).poles
    A, B, C = (getattr(kalman.sampled, name) for name in "ABC")
    by_hand = [A - B @ law.gains, (np.eye(4) - kalman.gains @ C) @ A]
    expected = np.concatenate([np.linalg.eigvals(x) for x in by_hand])
    same(np.sort_complex(found[np.abs(found) > 1e-6]), np.sort_complex(expected))


def test_a_furuta_pendulum_by_hand():
    """Sampled, late by a part of a period, with a filter of two encoders: every matrix by hand."""
    A, B = upright()
    T, late = 5e-3, 2e-3
    C = np.eye(2, 4)
    robot = furuta()
    model = robot.linearize(UPRIGHT, [0.0, 0.0], [0.0, 0.0], outputs=["encoders"])
    law = LQR(robot, UPRIGHT, [1.0, 1.0, 0.1, 0.1], dt=T)
    kalman = KalmanFilter(model, 1e-6, 1e-5, dt=T)

    def over(time):
        block = expm(time * np.block([[A, B], [np.zeros((1, 5))]]))
        return block[:4, :4], block[:4, 4:]

    (P, G), (P0, G0), (P1, G1) = over(T), over(T - late), over(late)
    Q, R = np.diag([1.0, 1.0, 0.1, 0.1]), np.eye(1)
    S = solve_discrete_are(P, G, T * Q, T * R)
    K = np.linalg.solve(T * R + G.T @ S @ G, G.T @ S @ P)
    V = solve_discrete_are(P.T, C.T, 1e-6 * np.eye(4), 1e-5 * np.eye(2))
    L = V @ C.T @ np.linalg.inv(C @ V @ C.T + 1e-5 * np.eye(2))
    # of x, the estimate before, and the two forces before; the filter knows the mean of these
    x, seen, u1, u2 = (np.eye(10)[rows] for rows in (range(4), range(4, 8), [8], [9]))
    ahead = P @ seen + G @ ((1.0 - late / T) * u1 + late / T * u2)
    estimate = ahead + L @ (C @ x - C @ ahead)
    u = -K @ estimate
    by_hand = np.vstack([P0 @ P1 @ x + P0 @ G1 @ u1 + G0 @ u, estimate, u, u1])
    digital = Sampled(OutputFeedback(law, kalman), T, delay=late)
    found = rd.closed_loop_model(robot, digital, UPRIGHT).poles
    expected = np.linalg.eigvals(by_hand)
    same(
        np.sort_complex(found[np.abs(found) > 1e-4]),
        np.sort_complex(expected[np.abs(expected) > 1e-4]),
    )


def test_references_of_the_library_are_inputs_too(puma):
    q = np.array([0.3, -0.5, 0.4, 0.2, 0.6, 0.1])
    models = [
        rd.closed_loop_model(
            puma,
            Sampled(FrictionCompensation(ComputedTorque(puma, x, 90.0), reference=x), 4e-3),
            q,
            inputs=["q_ref", "v_ref:joint2"],
        )
        for x in (PointToPoint(q, q, 1.0), at(q))
    ]
    same(models[0].A, models[1].A)
    same(models[0].B, models[1].B)
    assert models[0].inputs[0] == "q_ref:joint1" and models[0].inputs[6] == "v_ref:joint2"
    assert np.abs(models[0].B[:, 6]).max() > 1e-3
