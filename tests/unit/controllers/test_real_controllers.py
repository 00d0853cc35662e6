"""Digital controllers, sensor noise and limits of motors."""

import numpy as np
import pytest
from support.slides import slides

import robodyn as rd
from robodyn.controllers import JointPD, Noisy, PointToPoint, Sampled, Saturated


@pytest.fixture(scope="module")
def double():
    return rd.load("double_pendulum", passive=False)


def clock(t, q, v):
    return np.stack([np.full(q.shape[:-1], t), q[..., 0]], axis=-1)


def test_a_sampled_controller_looks_at_its_period_and_acts_late(double):
    slow = Sampled(clock, period=0.01, delay=0.004)
    run = rd.simulate(double, slow, q0=[0.5, 0.0], duration=0.05, step=1e-3)
    looked = 0.01 * np.floor((run.t - 0.004) / 0.01 + 1e-9)
    wanted = np.where(run.t < 0.004 - 1e-12, 0.0, looked)
    np.testing.assert_allclose(run.tau[:, 0], wanted, atol=1e-12)
    acting = np.round(wanted / 1e-3).astype(int)
    np.testing.assert_array_equal(run.tau[4:, 1], run.q[acting[4:], 0])


def test_without_a_delay_it_is_a_step_as_long_as_the_period(double):
    fine = rd.simulate(double, Sampled(clock, 0.01), q0=[0.5, 0.0], duration=0.2, step=1e-3)
    coarse = rd.simulate(double, clock, q0=[0.5, 0.0], duration=0.2, step=1e-2)
    np.testing.assert_allclose(fine.q[::10], coarse.q, atol=1e-7)


def test_an_encoder_counts_in_steps(double):
    seen = []

    def look(t, q, v):
        seen.append((q.copy(), v.copy()))
        return [0.0, 0.0]

    rd.simulate(
        double, Sampled(look, 0.0, quantum=0.01, velocity_quantum=0.1), q0=[0.5, 0.2], duration=0.1
    )
    q, v = (np.array(x) for x in zip(*seen, strict=True))
    for x, quantum in ((q, 0.01), (v, 0.1)):
        np.testing.assert_allclose(x / quantum, np.round(x / quantum), atol=1e-9)
    assert len(np.unique(q)) > 3


def test_motions_do_not_share_a_memory(double):
    slow = Sampled(clock, period=0.01, delay=0.015)
    runs = [rd.simulate(double, slow, q0=[0.5, 0.0], duration=0.1) for _ in range(2)]
    np.testing.assert_array_equal(runs[0].tau, runs[1].tau)
    many = rd.rollout(double, slow, [[0.5, 0.0], [0.1, 0.2]], np.zeros((2, 2)), duration=0.1)
    np.testing.assert_allclose(many.q[:, 0], runs[0].q, atol=1e-12)


def test_noise_depends_on_seed_and_time_alone(double):
    noisy = Noisy(clock, position=0.01, velocity=0.1, seed=5)
    q, v = np.array([0.1, 0.2]), np.array([1.0, 2.0])
    first = noisy.measured(0.3, q, v)
    noisy.measured(0.7, q, v)
    again = Noisy(clock, position=0.01, velocity=0.1, seed=5).measured(0.3, q, v)
    np.testing.assert_array_equal(first, again)
    assert not np.array_equal(first, noisy.measured(0.301, q, v))
    other = Noisy(clock, position=0.01, velocity=0.1, seed=6)
    assert not np.array_equal(first, other.measured(0.3, q, v))
    many = noisy.measured(0.3, np.tile(q, (3, 1)), np.tile(v, (3, 1)))
    np.testing.assert_array_equal(many[0][0], first[0])
    assert not np.array_equal(many[0][0], many[0][1])


def test_noise_has_the_deviation_that_was_asked_for(double):
    noisy = Noisy(clock, position=[0.01, 0.02], velocity=0.1)
    zero = np.zeros((40_000, 2))
    q, v = noisy.measured(0.0, zero, zero)
    np.testing.assert_allclose(q.std(axis=0), [0.01, 0.02], rtol=0.02)
    np.testing.assert_allclose(v.std(axis=0), 0.1, rtol=0.02)
    np.testing.assert_allclose(q.mean(axis=0), 0.0, atol=3e-4)


def test_noise_of_a_robot_with_quaternions():
    robot = rd.load("pan_tilt", base="floating")
    noisy = Noisy(lambda t, q, v: np.zeros(robot.nv), position=0.1, robot=robot)
    q, _ = noisy.measured(0.0, robot.neutral(), np.zeros(robot.nv))
    assert np.linalg.norm(q[3:7]) == pytest.approx(1.0, abs=1e-12)
    blind = Noisy(lambda t, q, v: np.zeros(robot.nv), position=0.1)
    with pytest.raises(rd.ShapeError, match="give Noisy robot="):
        blind.measured(0.0, robot.neutral(), np.zeros(robot.nv))


@pytest.mark.parametrize(
    "wrong",
    [
        lambda: Sampled(clock, -1.0),
        lambda: Sampled(clock, 0.1, delay=np.inf),
        lambda: Sampled(clock, 0.1, quantum="fine"),
        lambda: Sampled(clock, 0.1, wrap=-1.0),
        lambda: Sampled(clock, 0.1, dropped=1.0),
        lambda: Sampled(clock, 0.0, dropped=0.1),
        lambda: Sampled(clock, 0.1, dropped=0.1, seed=-1),
        lambda: Noisy(clock, position=-0.1),
        lambda: Noisy(clock, velocity=[0.1, np.nan]),
        lambda: Noisy(clock, seed=-1),
        lambda: rd.MotorLimits(2.0),
    ],
)
def test_settings_that_make_no_sense(wrong):
    with pytest.raises((rd.SettingsError, rd.ShapeError), match="expected"):
        wrong()


def test_encoders_begin_again_after_their_range(double):
    seen = []
    turn = 2.0 * np.pi
    law = Sampled(lambda t, q, v: seen.append(q) or 0.0 * v, 0.0, quantum=turn / 64, wrap=[turn, 0])
    for angle in (-7.0, -np.pi, -0.1, np.pi, 3.2, 12.0):
        law(0.0, np.array([angle, angle]), np.zeros(2))
        counts = np.round(angle / turn * 64.0)
        np.testing.assert_allclose(seen[-1][1], counts * turn / 64, atol=1e-12)
        wrapped = (counts + 32) % 64 - 32
        np.testing.assert_allclose(seen[-1][0], wrapped * turn / 64, atol=1e-12)


def test_encoders_that_differ_from_joint_to_joint(double):
    seen = []

    def look(t, q, v):
        seen.append((q, v))
        return np.zeros(v.shape)

    q, v = np.array([[0.5123, 0.2345], [-0.5123, 0.1]]), np.array([[1.234, 0.0456], [0.0, -0.26]])
    steps = np.array([1e-2, 0.0]), [0.0, 0.05]
    for k in range(2):
        Sampled(look, 0.0, quantum=steps[0], velocity_quantum=steps[1])(0.0, q[k], v[k])
        np.testing.assert_allclose(seen[-1][0], [np.round(q[k, 0], 2), q[k, 1]])
        np.testing.assert_allclose(seen[-1][1], [v[k, 0], 0.05 * np.round(v[k, 1] / 0.05)])
    with pytest.raises(rd.ShapeError, match=r"quantum has shape \(3,\), expected one number, or 2"):
        Sampled(look, 0.0, quantum=[1e-3] * 3)(0.0, q[0], v[0])
    floating = rd.load("satellite", base="floating")
    quantum = 1e-3 * np.arange(floating.nv)
    q = floating.random(3)
    law = Sampled(look, 0.0, quantum=quantum, robot=floating)
    law(0.0, q, np.zeros(floating.nv))
    expected = q.copy()
    for joint in floating.joints.values():
        if joint.v.start:
            k = quantum[joint.v.start]
            expected[joint.q] = k * np.round(q[joint.q] / k)
    expected[1], expected[2] = 1e-3 * np.round(q[1] / 1e-3), 2e-3 * np.round(q[2] / 2e-3)
    np.testing.assert_allclose(seen[-1][0], expected, atol=1e-15)


def test_rounding_of_encoders_has_no_code(double):
    law = Sampled(
        JointPD(double, PointToPoint(np.zeros(2), np.ones(2), 1.0), stiffness=1.0, damping=1.0),
        0.002,
        quantum=[0.1, 0],
    )
    for refused in (law, Saturated(law, limits=1.0)):
        with pytest.raises(rd.SettingsError, match="of Sampled, the rounding of encoders") as error:
            rd.control_law(double, refused, step=0.002)
        assert "symbolic" not in str(error.value)


SLIDER = slides(2.0, joint="drive", limits=(-1000.0, 1000.0, 4.0, 10.0))


def test_a_motor_at_constant_voltage_approaches_its_speed_exponentially():
    """``m dv/dt = F (1 - v / v_0)``: the speed is v_0 (1 - exp(-F t / (m v_0)))."""
    run = rd.simulate(
        SLIDER, lambda t, q, v: [1e3], duration=2.0, step=1e-4, limits=rd.MotorLimits(0.0)
    )
    np.testing.assert_allclose(run.v[:, 0], 4 * (1 - np.exp(-10 * run.t / 8)), atol=2e-3)
    assert run.limit_violations == ()


def test_the_whole_effort_up_to_the_knee_and_when_braking():
    robot = SLIDER
    limits = rd.MotorLimits(0.5)
    run = rd.simulate(
        robot, lambda t, q, v: [100.0 if t < 2.0 else -100.0], duration=3.0, limits=limits
    )
    slow = (run.v[:, 0] < 2.0) & (run.t < 2.0)
    np.testing.assert_allclose(run.tau[slow, 0], 10.0)
    fast = (run.v[:, 0] >= 2.0) & (run.t < 2.0)
    np.testing.assert_allclose(run.tau[fast, 0], 10.0 * (4.0 - run.v[fast, 0]) / 2.0)
    np.testing.assert_allclose(run.tau[(run.t >= 2.0) & (run.v[:, 0] > 0), 0], -10.0)


def test_beyond_its_speed_nothing_drives_a_joint_on():
    run = rd.simulate(
        SLIDER, lambda t, q, v: [100.0], v0=[5.0], duration=0.1, limits=rd.MotorLimits()
    )
    np.testing.assert_array_equal(run.tau, 0.0)
    np.testing.assert_allclose(run.v, 5.0)


@pytest.mark.parametrize("around", [lambda x: x, lambda x: Sampled(x, 4e-3), lambda x: Noisy(x)])
def test_noise_of_many_motions_is_the_same_with_events_and_without(double, around):
    """Each motion has its own, be they moved together or, with events, one by one."""
    law = JointPD(double, PointToPoint(np.zeros(2), np.ones(2), 0.2), 40.0, 4.0)
    real = around(Noisy(law, position=1e-2, velocity=1e-2, seed=3))
    q0 = np.zeros((3, 2))
    options = {"duration": 0.03, "limits": "ignore"}
    together = rd.rollout(double, real, q0, q0, **options)
    alone = rd.rollout(double, real, q0, q0, **options, events=[lambda t, q, v: 1.0])
    np.testing.assert_array_equal(alone.q, together.q)
    np.testing.assert_array_equal(alone.tau, together.tau)
    assert len(np.unique(together.q[-1, :, 0])) == 3
    single = rd.simulate(double, real, q0=q0[0], **options)
    np.testing.assert_array_equal(single.q, together.q[:, 0])
