"""Simulation against closed solutions and conservation laws."""

import csv
import math

import numpy as np
import pytest
from support.bundled import bundled

import robodyn as rd
from robodyn import progress
from robodyn.controllers import GravityCompensation

PENDULUM = """<robot name="pendulum"><link name="base"/><link name="bob"><inertial>
<origin xyz="0 0 -0.5"/><mass value="2"/>
<inertia ixx="0.1" ixy="0" ixz="0" iyy="0.1" iyz="0" izz="0.1"/></inertial></link>
<joint name="pin" type="continuous"><parent link="base"/><child link="bob"/>
<axis xyz="0 1 0"/></joint></robot>"""


@pytest.fixture(scope="module")
def double():
    return rd.load("double_pendulum", passive=False)


def test_an_event_ends_the_motion_where_it_happens():
    robot = rd.load(PENDULUM)
    # small swing from rest: A cos(w t) passes zero after a quarter of a period
    w = math.sqrt(9.81 / 0.6)
    run = rd.simulate(robot, q0=[1e-4], duration=5.0, events=[lambda t, q, v: q[0]])
    assert run.t[-1] == pytest.approx(0.5 * math.pi / w, rel=1e-8)
    assert run.q[-1, 0] <= 0.0 < run.q[-2, 0]
    assert abs(run.q[-1, 0]) < 1e-15
    assert run.v[-1, 0] == pytest.approx(-1e-4 * w, rel=1e-8)


def test_an_event_may_start_at_zero():
    """A pendulum thrown from the bottom is at the bottom again after half a period."""
    robot = rd.load(PENDULUM)
    w = math.sqrt(9.81 / 0.6)
    run = rd.simulate(robot, v0=[1e-4], duration=5.0, events=[lambda t, q, v: q[0]])
    assert run.t[-1] == pytest.approx(math.pi / w, rel=1e-8)


def test_progress_is_told(double, capsys):
    parts: list[float] = []
    rd.simulate(double, duration=0.2, progress=parts.append)
    assert parts[0] == 0.0
    assert parts[-1] == 1.0
    assert parts == sorted(parts)
    rd.simulate(double, duration=0.1, progress=True)
    assert capsys.readouterr().err == ""  # no terminal
    progress.bar(0.5)
    assert capsys.readouterr().err == "\r  [" + "#" * 20 + "." * 20 + "]  50 %"


def test_a_broken_simulation_of_a_linkage():
    """Found before its loops are looked at, which numbers that are not finite would stop."""
    robot = rd.load("five_bar", passive=False)
    v0 = robot.consistent_velocity(robot.neutral(), np.ones(4))
    push = [1e300, 0.0, 0.0, 0.0]
    with pytest.raises(rd.SimulationError, match="no longer finite") as caught:
        rd.simulate(robot, lambda t, q, v: np.where(t > 0.01, push, 0.0), v0=v0, duration=1.0)
    assert np.isfinite(caught.value.trajectory.q).all()


@pytest.mark.parametrize(
    "wrong",
    [
        {"q0": [0.0]},
        {"v0": [[0.0, 0.0]]},
        {"q0": [0.0, math.nan]},
        {"step": 0.0},
        {"step": math.nan},
        {"duration": -1.0},
        {"duration": 1e6, "step": 1e-12},
        {"step": 1e-320},
        {"base": "base"},
        {"base": rd.BaseMotion.at_rest()},
        {"wrenches": {"lower": "strong"}},
        {"locked": {"elbow": 0.3}},
        {"progress": 3},
    ],
)
def test_wrong_arguments(double, wrong):
    with pytest.raises(rd.ShapeError):
        rd.simulate(double, **wrong)


def test_torques_of_a_linkage_that_are_not_finite():
    robot = bundled("five_bar")
    with pytest.raises(rd.SimulationError, match="no longer finite") as caught:
        rd.simulate(robot, lambda t, q, v: np.full(4, np.nan if t > 0.005 else 0.0), duration=0.02)
    assert len(caught.value.trajectory.t) > 4
    with pytest.raises(rd.SimulationError, match="no longer finite"):
        rd.simulate(robot, lambda t, q, v: np.full(4, np.nan), duration=0.02)


LATE = 0.0047


def late(wrong, right):
    """A function (t, q, v) that returns something wrong after a while."""
    return lambda t, q, v: wrong if t > LATE else right


@pytest.mark.parametrize(
    "wrong",
    [0.0, [0.0], [0.0] * 3, [[0.0, 0.0]], None, "up", ["1.0", "2.0"], [None, 0.0], [[0.0], 1.0],
     [1j, 0.0], {"shoulder": 1.0}, np.ma.masked_array([0.0, 1.0], [False, True])],
)  # fmt: skip
def test_what_is_no_torque_is_refused_with_the_time(double, wrong):
    with pytest.raises(rd.ShapeError, match=r"controller returned .* at t = 0.005 s") as caught:
        rd.simulate(double, late(wrong, [0.0, 0.0]), duration=0.01)
    assert caught.value.name == "controller"
    assert "(2,)" in str(caught.value)


@pytest.mark.parametrize("wrong", [None, "soon", [0.0, 1.0], np.nan])
def test_what_is_no_event_is_refused_with_the_time(double, wrong):
    with pytest.raises(rd.ShapeError, match=r"event returned .* at t = 0.005 s, expected a number"):
        rd.simulate(double, events=[late(wrong, 1.0)], duration=0.01)


def test_what_are_no_wrenches_is_refused_with_the_time(double):
    link = double.link_names[-1]
    wrenches = late([1.0] * 6, {link: np.zeros(6)})
    with pytest.raises(rd.ShapeError, match=r"wrenches returned list at t = 0.005 s"):
        rd.simulate(double, wrenches=wrenches, duration=0.01)


def test_a_controller_may_return_one_array_again_and_again(double):
    """What was recorded stays: every sample had the last torque."""
    mine = np.zeros(2)

    def controller(t, q, v):
        mine[:] = [t, -t]
        return mine

    run = rd.simulate(double, controller, duration=0.01)
    np.testing.assert_array_equal(run.tau, np.outer(run.t, [1.0, -1.0]))
    other = rd.simulate(double, lambda t, q, v: [t, -t], duration=0.01)
    np.testing.assert_array_equal(run.q, other.q)


def test_functions_may_write_into_what_they_get_and_keep_it(double):
    kept = []

    def scribble(value):
        def function(t, q, v):
            kept.append((t, q, v))
            before = q.copy(), v.copy()
            q[:], v[:] = 7.0, np.nan
            return value if value is not None else -10.0 * before[0] - before[1]

        return function

    def calm(t, q, v):
        return -10.0 * q - v

    push = {double.link_names[-1]: np.array([0.0, 0.0, 1.0, 0.0, 0.2, 0.0])}
    options = {"q0": [0.5, 0.2], "duration": 0.02}
    run = rd.simulate(
        double, scribble(None), wrenches=scribble(push), events=[scribble(1.0)], **options
    )
    clean = rd.simulate(double, calm, wrenches=push, **options)
    for name in ("t", "q", "v", "a", "tau"):
        np.testing.assert_array_equal(getattr(run, name), getattr(clean, name), name)
    assert all((q == 7.0).all() for _, q, _ in kept)


def test_what_is_given_is_copied(double):
    q0, v0 = np.array([0.5, 0.2]), np.array([0.1, 0.0])
    push = {double.link_names[-1]: np.ones(6)}

    def meddle(t, q, v):
        q0[:], v0[:] = 9.0, 9.0
        push[double.link_names[-1]][:] = 100.0
        return [0.0, 0.0]

    options = {"duration": 0.01, "q0": q0.copy(), "v0": v0.copy()}
    clean = rd.simulate(double, wrenches={double.link_names[-1]: np.ones(6)}, **options)
    run = rd.simulate(double, meddle, q0=q0, v0=v0, wrenches=push, duration=0.01)
    np.testing.assert_array_equal(run.q, clean.q)


def test_save(double, tmp_path):
    run = rd.simulate(double, q0=[0.3, 0.1], duration=0.02)
    assert len(run[5:]) == len(run) - 5
    run.save(tmp_path / "run.npz")
    with np.load(tmp_path / "run.npz") as data:
        np.testing.assert_array_equal(data["q"], run.q)
    run.save(tmp_path / "run.csv")
    with open(tmp_path / "run.csv", newline="") as file:
        head, *rows = csv.reader(file)
    assert head[:3] == ["t [s]", "q:shoulder [rad]", "q:elbow [rad]"]
    np.testing.assert_array_equal(np.array(rows, float)[:, 1:3], run.q)
    run.plot(tmp_path / "run.png")
    assert (tmp_path / "run.png").stat().st_size > 10_000
    with pytest.raises(rd.ShapeError, match=r"\.npz, \.csv or \.mcap"):
        run.save(tmp_path / "run.txt")
    assert sorted(p.name for p in tmp_path.iterdir()) == ["run.csv", "run.npz", "run.png"]


def test_a_trajectory_says_how_long_it_is():
    run = rd.simulate(bundled("double_pendulum"), duration=0.1, step=1e-2)
    assert repr(run) == "<Trajectory of 'double_pendulum': 11 samples, 0 to 0.1 s>"
    assert "0.05 s" in repr(run[5])
    assert "without samples" in repr(run[:0])


def test_an_open_start_comes_with_a_closed_one(four_bar):
    with pytest.raises(rd.AssemblyError, match="a closed posture near it is") as caught:
        rd.simulate(four_bar, q0=[0.5, 0.0, 0.0], duration=0.01)
    q = caught.value.q
    assert np.abs(four_bar.loop_residual(q)).max() < 1e-9
    assert len(rd.simulate(four_bar, q0=q, duration=0.01)) == 11


@pytest.mark.parametrize(
    "options",
    [
        {"events": [rd.Event(0.02, rd.events.jump(v=[0.0, 0.0]))]},
        {"stops": rd.RigidStops(0.5)},
        {"integrator": "implicit"},
        {},
    ],
    ids=["event", "stops", "implicit", "together"],
)
def test_wrenches_of_many_motions_that_each_go_alone(double, options):
    rng = np.random.default_rng(1)
    q, push = rng.normal(size=(3, 2)), rng.normal(size=(3, 6))
    many = rd.rollout(double, None, q, 0.0 * q, wrenches={"lower": push}, duration=0.05, **options)
    for k in range(3):
        one = rd.simulate(double, q0=q[k], wrenches={"lower": push[k]}, duration=0.05, **options)
        np.testing.assert_array_equal(many.q[-1, k], one.q[-1])
        alone = many.motion(k).joint_wrenches()
        np.testing.assert_allclose(alone["base"][-1], one.joint_wrenches()["base"][-1], rtol=1e-10)


def test_names_that_are_lists(double):
    event, names = rd.events, [["elbow"]]
    for options in (
        lambda: {"locked": names},
        lambda: {"integrator": ["rk4"]},
        lambda: {"integrator": {}},
        lambda: {"stops": rd.RigidStops(0.5, names)},
        lambda: {"events": [rd.Event(0.001, event.latch(names))]},
        lambda: {"events": [rd.Event(0.001, event.release(names))]},
    ):
        with pytest.raises(rd.ShapeError, match="expected a name"):
            rd.simulate(double, **options(), duration=0.01)
    with pytest.raises(rd.ShapeError, match=r"q of a change has shape \(1, 2\), expected \(2,\)"):
        rd.simulate(double, events=[rd.Event(0.001, event.jump(q=[[1.0, 2.0]]))], duration=0.01)


WELDED = """<robot name="welded"><link name="ground"/><link name="block"><inertial><mass value="2"/>
<inertia ixx="1" ixy="0" ixz="0" iyy="1" iyz="0" izz="1"/></inertial></link>
<joint name="weld" type="fixed"><parent link="ground"/><child link="block"/></joint></robot>"""


@pytest.mark.parametrize("base", ["fixed", "moving"])
def test_a_robot_that_cannot_move(base, tmp_path):
    robot = rd.load(WELDED, base=base)
    options = {"duration": 0.01, "base": None if base == "fixed" else lambda t: lifted}
    lifted = rd.BaseMotion.at_rest()
    for controller in (None, lambda t, q, v: v):
        run = rd.simulate(robot, controller, **options)
        assert run.q.shape == (11, 0) and run.energy.shape == (11,)
        many = rd.rollout(robot, controller, np.zeros((3, 0)), np.zeros((3, 0)), **options)
        assert many.q.shape == (11, 3, 0)
    assert rd.simulate(robot, integrator="adaptive", **options).limit_violations == ()
    run.plot(tmp_path / "run.png")
    assert len(run.resample(0.005)) == 3 and run.audit.exchanged == 0.0


@pytest.mark.parametrize("name", ["double_pendulum", "four_bar"])
@pytest.mark.parametrize("options", [{}, {"integrator": "implicit"}, {"stops": rd.RigidStops(0.5)}])
def test_no_motions_at_all(name, options):
    robot = rd.load(name)
    for controller in (None, lambda t, q, v: -v, GravityCompensation(robot)):
        none = np.zeros((0, robot.nq)), np.zeros((0, robot.nv))
        run = rd.rollout(robot, controller, *none, duration=0.01, **options)
        assert run.q.shape == (11, 0, robot.nq) and run.energy.shape == (11, 0)


def test_motions_share_nothing():
    """One after the other, within a controller of another, and after one that has failed."""
    robot = rd.load("double_pendulum", passive=False)

    def move(q0, controller=None):
        return rd.simulate(robot, controller, q0=q0, v0=[0.5, -0.2], duration=0.02, step=1e-3)

    def hold(t, q, v):
        inner.append(move([0.7, 0.1]))
        return [0.3, -0.1]

    def fail(t, q, v):
        raise ArithmeticError

    inner = []
    first, held = move([0.2, 0.4]), move([0.2, 0.4], lambda t, q, v: [0.3, -0.1])
    before = first.q.tobytes(), first.v.tobytes(), first.tau.tobytes()
    with pytest.raises(ArithmeticError):
        move([1.0, 1.0], fail)
    nested = move([0.2, 0.4], hold)
    again = move([0.2, 0.4])
    for x in (first, again):
        assert (x.q.tobytes(), x.v.tobytes(), x.tau.tobytes()) == before
    assert nested.q.tobytes() == held.q.tobytes()
    assert len({x.q.tobytes() for x in inner}) == 1
