"""Comparisons of controllers: measures against those of single motions, failures, bad input."""

import itertools
import warnings

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

import robodyn as rd
from robodyn import controllers as rc
from robodyn.errors import SampleWarning, SweepWarning
from robodyn.studies.compare import run as compare_run

ARM = rd.load("puma560")
GOAL = np.array([0.4, -0.3, 0.3, 0.2, -0.2, 0.3])
REFERENCE = rc.PointToPoint(np.zeros(6), GOAL, 0.4)
PD = rc.JointPD(ARM, REFERENCE, 300.0, 30.0)
LAWS = {
    "pd": PD,
    "plain": lambda t, q, v: PD(t, q, v),
    "model": rc.ComputedTorque(ARM, REFERENCE),
    "mad": lambda t, q, v: 1e6 * v,
}
WORLD = {"flange": lambda t: ARM.frame_pose(REFERENCE(t)[0], "flange")}
CASE = {"reference": REFERENCE, "task": WORLD, "duration": 0.4, "step": 2e-3}


@pytest.fixture(scope="module")
def compared():
    with warnings.catch_warnings(action="ignore", category=SweepWarning):
        return rd.compare(ARM, LAWS, **CASE, starts=3, spread=0.02, seed=5)


def test_measures_are_those_of_a_motion(compared):
    """By loops over samples of a motion that `simulate` makes alone."""
    k = 2
    run = rd.simulate(
        ARM, PD, q0=compared.q0[k], v0=compared.v0[k], duration=0.4, step=2e-3, limits="ignore"
    )
    errors = np.array([REFERENCE(t)[0] - q for t, q in zip(run.t, run.q, strict=True)])
    squares = [0.5 * (a**2 + b**2) for a, b in itertools.pairwise(errors)]
    wrenches = ARM.joint_wrenches(run.q, run.v, run.a)
    powers = run.tau * run.v
    poses = ARM.frame_pose(run.q, "flange"), np.array([WORLD["flange"](t) for t in run.t])
    turns = [
        Rotation.from_matrix(X[:3, :3].T @ Y[:3, :3]).magnitude()
        for X, Y in zip(*poses, strict=True)
    ]
    expected = {
        "error": np.sqrt((errors**2).sum(axis=1)),
        "error_rms": np.sqrt(np.mean(squares, axis=0)),
        "error_max": np.abs(errors).max(axis=0),
        "total_error_rms": np.sqrt(np.mean([s.sum() for s in squares])),
        "total_error_max": np.sqrt((errors**2).sum(axis=1)).max(),
        "place_max": [np.linalg.norm((poses[0] - poses[1])[:, :3, 3], axis=1).max()],
        "turn_max": [max(turns)],
        "effort": np.sqrt((run.tau[:-1] ** 2).mean(axis=0)),
        "peak_motor_torque": np.abs(run.tau / ARM.gear_ratios).max(axis=0),
        "peak_power": np.abs(powers).max(axis=0),
        "total_peak_power": max(abs(sum(row)) for row in powers),
        "peak_force": [np.linalg.norm(wrenches[n][:, :3], axis=1).max() for n in compared.loads],
        "peak_moment": [np.linalg.norm(wrenches[n][:, 3:], axis=1).max() for n in compared.loads],
        "velocity_margin": 1.0 - np.abs(run.v).max(axis=0) / ARM.velocity_limits,
        "position_margin": np.minimum(
            (run.q - ARM.lower_limits).min(axis=0), (ARM.upper_limits - run.q).min(axis=0)
        ),
    }
    for name, value in expected.items():
        np.testing.assert_allclose(compared[name][0, k], value, rtol=1e-9, atol=1e-12, err_msg=name)
    motor = 1.0 - compared["peak_motor_torque"][0, k] / ARM.motor_torque_limits
    known = (ARM.motor_torque_limits > 0) & (ARM.effort_limits == 0)
    np.testing.assert_allclose(compared["torque_margin"][0, k][known], motor[known], rtol=1e-9)


def test_a_batch_is_its_motions(compared):
    """A plain function, one motion after the other, and the same controller in a batch."""
    for name in compared.table.names:
        np.testing.assert_allclose(compared[name][0], compared[name][1], rtol=1e-12, atol=1e-12)


def test_the_first_start_is_the_references_own_and_all_are_the_same_each_time(compared):
    np.testing.assert_array_equal(compared.q0[0], REFERENCE(0.0)[0])
    again = rd.compare(ARM, {"pd": PD}, **CASE, starts=3, spread=0.02, seed=5)
    for name in again.table.names:
        np.testing.assert_array_equal(again[name][0], compared[name][0])
    np.testing.assert_array_equal(again.q0, compared.q0)
    other = rd.compare(ARM, {"pd": PD}, **CASE, starts=3, spread=0.02, seed=6, loads=())
    assert (other.q0[1:] != compared.q0[1:]).all()
    assert 0.005 < other.q0[1:].std() < 0.05
    assert "peak_force" not in other.table.names


def test_what_fails_is_named_with_time_and_joint(compared):
    assert {name for name, _ in compared.failures} == {"mad"} and len(compared.failures) == 3
    text = compared.failures["mad", 1]
    assert "no longer finite at t = 0." in text and "joint 'joint" in text and "fastest" in text
    assert np.isnan(compared["error_max"][3]).all()
    assert np.isfinite(compared["error_max"][:3]).all()
    with pytest.warns(SweepWarning, match="controller = mad"):
        rd.compare(ARM, {"mad": LAWS["mad"]}, reference=REFERENCE, duration=0.1)


def test_one_bad_start_of_many_is_found():
    """Of a batch that breaks down, motions that do not are measured all the same."""
    arm = rd.load("double_pendulum")
    law = rc.JointPD(arm, rc.SineReference(np.zeros(2), np.zeros(2), np.ones(2)), 0.0, 1.0)
    q0, v0 = np.zeros((3, 2)), np.zeros((3, 2))
    v0[1] = 1e200
    with pytest.warns(SweepWarning, match="1 of 3"):
        found = rd.compare(arm, {"pd": law}, reference=law.reference, q0=q0, v0=v0, duration=0.02)
    assert list(found.failures) == [("pd", 1)]
    np.testing.assert_array_equal(np.isnan(found["total_effort"][0]), [False, True, False])


def test_it_says_what_it_found(compared):
    text = str(compared)
    lines = text.splitlines()
    assert lines[0].split() == ["pd", "plain", "model", "mad"]
    assert "3 of 3" in text and "start 0: SimulationError" in text
    worst = compared["error_max"][0]
    k = np.unravel_index(worst.argmax(), worst.shape)[1]
    row = next(line for line in lines if line.startswith("largest error"))
    assert f"{worst.max():.3g} {compared.motors[k]}" in row
    assert repr(compared).startswith("<Comparison of 4 controllers of 'puma560' from 3 starts")


@pytest.mark.slow
def test_its_picture_and_its_table(compared, tmp_path):
    compared.plot(tmp_path / "found.png")
    assert (tmp_path / "found.png").stat().st_size > 10_000
    assert len(compared.to_pandas()) == 12


def test_linkages_start_closed_and_are_judged_by_their_motors(four_bar):
    crank = four_bar.joints["crank_drive"]
    q0 = four_bar.neutral()
    goal = q0.copy()
    goal[crank.q] += 0.3
    reference = rc.PointToPoint(q0, goal, 0.3)  # joints without motors: nonsense
    law = rc.ComputedTorque(four_bar, reference)
    found = rd.compare(
        four_bar, {"model": law}, reference=reference, duration=0.3, starts=4, spread=0.05
    )
    assert found.motors == ("crank_drive",)
    assert np.abs(four_bar.loop_residual(found.q0)).max() < 1e-8
    assert np.ptp(found.q0[:, crank.q]) > 0.01
    assert found["error_max"].shape == (1, 4, 1)
    assert found["error_max"][0, 0] < 2e-3 < found["error_max"][0, 1:].max()


def test_quaternions_and_a_moving_base():
    """Of a frame on a base that moves, the pose in the world is what counts."""
    robot = rd.load("double_pendulum", base="moving")
    base = rd.BaseMotion.at_rest()
    shifted = rd.BaseMotion.from_world([0.3, 0.0, 0.4], [0, 0, 0, 1], *([np.zeros(3)] * 4))
    frame = robot.frame_names[-1]
    still = robot.frame_pose(np.zeros(2), frame, base=base)
    found = rd.compare(
        robot,
        {"none": lambda t, q, v: 0.0 * v},
        task={frame: lambda t: still},
        duration=0.01,
        base=lambda t: shifted,
        loads=(),
    )
    np.testing.assert_allclose(found["place_max"][0, 0], [0.5])
    pendulum = rd.load("double_pendulum", base="floating")
    hull = rd.Inertia.from_matrix(5.0, (0, 0, 0), np.eye(3))
    floating = pendulum.with_(payload={pendulum.link_names[0]: hull})
    q = floating.neutral()
    ends = q + np.r_[np.zeros(7), 0.1, 0.1]
    law = rc.ComputedTorque(floating, lambda t: (ends, np.zeros(8), np.zeros(8)))
    moved = rd.compare(floating, {"model": law}, reference=law.reference, q0=q, duration=0.01)
    np.testing.assert_allclose(moved["error"][0, 0, 0], np.hypot(0.1, 0.1))


def test_plain_functions_see_one_motion_at_a_time():
    def first_joint(t, q, v):
        assert q.shape == v.shape == (6,)
        return np.r_[5.0 if q[0] < 0.01 else -5.0, np.zeros(5)]

    q0 = np.zeros((2, 6))
    q0[1, 0] = 0.02
    found = rd.compare(ARM, {"switch": first_joint}, reference=REFERENCE, q0=q0, duration=4e-3)
    for k in range(2):
        run = rd.simulate(ARM, first_joint, q0=q0[k], duration=4e-3)
        np.testing.assert_allclose(found["effort"][0, k], np.sqrt((run.tau[:-1] ** 2).mean(axis=0)))


def test_wrenches_of_long_motions_are_looked_at_in_pieces(compared, monkeypatch):
    monkeypatch.setattr(compare_run, "BLOCK", 30)
    again = rd.compare(ARM, {"pd": PD}, **CASE, starts=3, spread=0.02, seed=5)
    np.testing.assert_allclose(again["peak_force"][0], compared["peak_force"][0], rtol=1e-14)


def test_controllers_with_a_memory_begin_each_motion_without_one():
    """In a batch, and around a plain function one after the other."""
    laws = {
        "batch": rc.RateLimited(PD, 500.0),
        "plain": rc.RateLimited(lambda t, q, v: PD(t, q, v), 500.0),
        "learns": rc.Adaptive(
            rc.PassivityBased(ARM, REFERENCE, 20.0), ["link6.m"], adaptation=1e-3
        ),
    }
    case = {**CASE, "duration": 0.04, "task": None, "q0": np.tile(0.02 * np.ones(6), (2, 1))}
    found = rd.compare(ARM, laws, **case)
    assert not found.failures
    np.testing.assert_allclose(found["effort"][0], found["effort"][1], rtol=1e-9)
    np.testing.assert_array_equal(found["effort"][:, 0], found["effort"][:, 1])
    run = rd.simulate(ARM, laws["learns"], q0=case["q0"][0], duration=0.04, step=2e-3)
    effort = np.sqrt((run.tau[:-1] ** 2).mean(axis=0))
    np.testing.assert_allclose(found["effort"][2, 0], effort, rtol=1e-9)


def test_frames_are_wanted_where_the_reference_brings_them(compared):
    found = rd.compare(
        ARM, {"pd": PD}, **{**CASE, "task": "flange"}, q0=compared.q0, v0=compared.v0
    )
    for name in ("place_rms", "place_max", "turn_rms", "turn_max"):
        np.testing.assert_allclose(found[name][0], compared[name][0], rtol=1e-9)
    with pytest.raises(rd.UnknownNameError, match="claw"):
        rd.compare(ARM, {"pd": PD}, **{**CASE, "task": ["claw"]})
    with pytest.raises(rd.ShapeError, match="reference is not given"):
        rd.compare(ARM, {"pd": PD}, **{**CASE, "task": ["flange"], "reference": None})


def test_noise_is_each_motions_own():
    """Whether all move at once, or one after the other as behind a plain function."""
    noise = {"position": 1e-3, "velocity": 1e-2, "seed": 3, "robot": ARM}
    laws = {"noisy": rc.Noisy(PD, **noise), "plain": rc.Noisy(lambda t, q, v: PD(t, q, v), **noise)}
    found = rd.compare(ARM, laws, **{**CASE, "duration": 0.02}, q0=np.zeros((2, 6)))
    assert found["total_effort"][0, 0] != found["total_effort"][0, 1]
    np.testing.assert_allclose(found["effort"][0], found["effort"][1], rtol=1e-9)


# -- bad input ---------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("change", "error", "text"),
    [
        ({"reference": None, "task": None}, rd.ShapeError, "reference is not given"),
        ({"reference": 3.0}, rd.ShapeError, "reference is 3.0, expected a function"),
        ({"reference": lambda t: (np.zeros(5),) * 3}, rd.ShapeError, r"\(5,\).*expected position"),
        ({"reference": lambda t: "far"}, rd.ShapeError, "no three arrays"),
        ({"task": {"claw": WORLD["flange"]}}, rd.UnknownNameError, "no frame 'claw'"),
        ({"task": {"flange": np.eye(4)}}, rd.ShapeError, "task.'flange'"),
        ({"task": {"flange": lambda t: np.eye(3)}}, rd.ShapeError, "task.'flange'.*shape"),
        ({"task": {"flange": lambda t: 2.0 * np.eye(4)}}, rd.ShapeError, "task.'flange'.*rigid"),
        ({"q0": np.zeros((0, 6))}, rd.ShapeError, "q0 has shape .0, 6."),
        ({"loads": ["knee"]}, rd.UnknownNameError, "no .*'knee'"),
        ({"integrator": "rk5"}, rd.UnknownNameError, "no choice .rk5. in integrator="),
        ({"limits": "obey"}, rd.UnknownNameError, "no choice .obey. in limits="),
        ({"starts": 0}, rd.ShapeError, "starts is 0"),
        ({"seed": -1}, rd.ShapeError, "seed is -1"),
        ({"spread": [0.1, 0.2]}, rd.ShapeError, "spread is"),
        ({"spread": -0.1}, rd.ShapeError, "spread is"),
        ({"q0": np.zeros((3, 6)), "starts": 4}, rd.ShapeError, "these are the starts"),
        ({"q0": np.zeros(5)}, rd.ShapeError, "q0 has shape"),
        ({"q0": "here"}, rd.ShapeError, "q0 is 'here', expected an array of real numbers"),
    ],
)
def test_what_makes_no_comparison(change, error, text):
    with pytest.raises(error, match=text):
        rd.compare(ARM, {"pd": PD}, **{**CASE, **change})


def test_controllers_that_are_none(double):
    with pytest.raises(rd.ShapeError, match="controllers is empty"):
        rd.compare(ARM, {}, **CASE)
    with pytest.raises(rd.ShapeError, match="a name in controllers is 1"):
        rd.compare(ARM, {1: PD}, **CASE)
    with pytest.raises(rd.ShapeError, match=r"controllers\['pd'\] is 3"):
        rd.compare(ARM, {"pd": 3}, **CASE)
    law = rc.JointPD(double, rc.PointToPoint(np.zeros(2), np.ones(2), 1.0), 1.0, 1.0)
    for wrong in (law, rc.Sampled(law, 1e-3)):
        with pytest.raises(rd.ShapeError, match=r"controllers\['small'\].*'double_pendulum'") as e:
            rd.compare(ARM, {"pd": PD, "small": wrong}, **CASE)
        assert e.value.name == "small"
    moving = GravityOnADeck(rd.load("puma560", base="moving"))
    with pytest.raises(rd.ShapeError, match="moving base"):
        rd.compare(ARM, {"deck": moving}, **CASE)


class GravityOnADeck:
    def __init__(self, robot):
        self.robot = robot

    def __call__(self, t, q, v):
        return 0.0 * v


def jumping(t, what, by):
    q, v, a = (np.array(x) for x in REFERENCE(t))
    late = max(t - 0.1234, 0.0)
    if what == "position":
        q[3] += by * (late > 0.0)
    else:
        q[3], v[3] = q[3] + by * late, v[3] + by * (late > 0.0)
    return q, v, a


@pytest.mark.parametrize(
    ("what", "by"), [("position", 0.05), ("position", -1.0), ("velocity", 0.3)]
)
def test_a_reference_that_jumps(what, by):
    wrong = {**CASE, "reference": lambda t: jumping(t, what, by)}
    with pytest.raises(rd.PathError, match=f"the {what} of joint 'joint4'") as error:
        rd.compare(ARM, {"pd": PD}, **wrong)
    assert error.value.joint == "joint4"
    assert error.value.time == pytest.approx(0.1234, abs=2.1e-3)


def test_rates_of_something_else():
    def degrees(t):
        q, v, a = REFERENCE(t)
        return q, np.degrees(v), np.degrees(a)

    with pytest.raises(rd.PathError, match="nearly everywhere"):
        rd.compare(ARM, {"pd": PD}, **{**CASE, "reference": degrees})


def test_a_reference_whose_acceleration_jumps_is_none_that_jumps():
    from robodyn.controllers import Trapezoidal

    for smooth in (
        Trapezoidal([np.zeros(6), GOAL, np.zeros(6)], 3.0, 40.0),
        rc.SCurve([np.zeros(6), GOAL], 3.0, 30.0, 500.0),
        rd.JointPath.from_samples([0.0, 0.1, 0.4], [np.zeros(6), GOAL, -GOAL], ends="rest"),
    ):
        found = rd.compare(ARM, {"pd": PD}, **{**CASE, "reference": smooth, "task": None}, loads=())
        assert not found.failures


def test_loops_are_judged_where_the_reference_ends():
    arm = rd.load("double_pendulum")
    goal = np.array([0.4, 0.3])
    reference = rc.PointToPoint(np.zeros(2), goal, 0.1)
    pd = rc.JointPD(arm, reference, 50.0, 5.0)
    laws = {"pd": pd, "late": rc.Sampled(pd, 2e-3, delay=0.03)}
    with pytest.warns(SampleWarning, match="act 0.03 s late"):
        found = rd.compare(arm, laws, reference=reference, duration=0.1, limits="ignore")
    expected = {
        "pd": rd.closed_loop_model(arm, pd, goal, dt=1e-3, t=0.1),
        "late": rd.closed_loop_model(arm, laws["late"], goal, t=0.1),
    }
    lines = {x[:18].strip(): x[18:].split() for x in str(found).splitlines()}
    for k, (name, model) in enumerate(expected.items()):
        np.testing.assert_allclose(found.models[name].A, model.A, rtol=1e-12)
        assert lines["closed loop"][k] == model.stability
        motor, least = min(model.margins().items(), key=lambda x: x[1].phase)
        degrees = f"{np.degrees(least.phase):.3g}"
        assert lines["phase margin [deg]"][2 * k : 2 * k + 2] == [degrees, motor[4:]]
