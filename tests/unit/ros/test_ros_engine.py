"""The engine behind the ROS node, without ROS."""

import time

import numpy as np
import pytest
from support.engines import engine

import robodyn as rd
from robodyn import urdf
from robodyn.ros import Engine, Settings, TrajectoryContent, TrajectoryPoint
from robodyn.ros.engine.pacing import Pace, burst, read_together
from robodyn.ros.states.throttled_logger import ThrottledLogger


@pytest.mark.parametrize("name", ["puma560", "palletizer", "prosthesis"])
def test_it_moves_as_the_simulation_does(name):
    made, _ = engine(name, integrator="rk4")
    made.advance(100)
    run = rd.simulate(made.robot, duration=0.1, step=1e-3)
    np.testing.assert_allclose(made.q, run.q[-1], atol=1e-7)
    np.testing.assert_allclose(made.v, run.v[-1], atol=1e-6)
    assert made.t == pytest.approx(0.1)


@pytest.mark.parametrize("controller", ["gravity", "pd", "computed_torque"])
@pytest.mark.parametrize("name", ["puma560", "palletizer", "delta"])
def test_controllers_hold(name, controller):
    made, said = engine(name, controller=controller)
    start = made.q.copy()
    made.advance(300)
    assert np.abs(made.robot.difference(start, made.q)).max() < 1e-6
    assert not said


def test_commands_act_and_go_stale():
    made, said = engine("puma560", command_timeout=0.1)
    made.command([0, 0, 0, 0, 0, 3.0])
    made.advance(50)
    assert made.observe()[3].tolist() == [0, 0, 0, 0, 0, 3.0]
    made.advance(100)
    assert not made.observe()[3].any()
    assert said == ["no command for 0.1 s: none takes over"]


def test_efforts_are_cut_to_the_limits():
    made, said = engine("puma560")
    made.command(np.full(6, 1e9))
    np.testing.assert_allclose(made.observe()[3], made.robot.effort_limits)
    assert len(said) == 1


def test_torques_of_coupled_motors_are_cut_to_their_limits():
    motors = {name: rd.Actuator(10.0, torque_limit=2.0) for name in ("shoulder", "elbow")}
    both = rd.Transmission.differential("both", tuple(motors))
    made, said = engine(rd.load("double_pendulum", actuators=motors, transmissions=[both]))
    made.command([30.0, 30.0])  # 3 N m and nothing
    np.testing.assert_allclose(made.observe()[3], [20.0, 20.0])
    np.testing.assert_allclose(made.motor_torques(made.observe()[3]), [2.0, 0.0], atol=1e-15)
    assert said == ["efforts beyond the limits of the joints are cut to them"]


def test_torques_of_motors_that_are_not_determined_are_not_a_number():
    both = rd.Transmission.differential("both", ("shoulder", "elbow"))
    robot = rd.load("double_pendulum", transmissions=[both]).with_(locked={"elbow": 0.1})
    made, said = engine(robot)
    assert np.isnan(made.motor_torques(np.ones(1))).all()
    assert "elbow cannot move by itself" in said[0]


@pytest.mark.parametrize("values", [[1.0], [np.nan] * 6, [], np.zeros((2, 3))])
def test_bad_commands_leave_the_last_one(values):
    made, _ = engine("puma560")
    made.command(np.ones(6))
    with pytest.raises(rd.ShapeError):
        made.command(values)
    np.testing.assert_allclose(made.observe()[3], 1.0)


@pytest.mark.parametrize("name", ["puma560", "palletizer", "stewart"])
def test_positions_and_speeds_are_followed(name):
    made, _ = engine(name, interfaces="position")
    goal = made.q[made.commanded.coordinates] + 0.02
    made.command(goal)
    made.advance(500)
    np.testing.assert_allclose(made.q[made.commanded.coordinates], goal, atol=1e-6)
    made.configure(Settings(interfaces=("velocity",)))
    made.command(np.full(len(goal), -0.02))
    made.advance(200)
    np.testing.assert_allclose(made.v[made.commanded.speeds], -0.02, atol=1e-6)
    made.advance(800)  # stale: stops
    np.testing.assert_allclose(made.v[made.commanded.speeds], 0.0, atol=1e-6)


def test_some_joints_get_positions_and_others_efforts():
    made, _ = engine("double_pendulum", interfaces=["position", "effort"])
    start = made.q.copy()
    made.command([float(start[0]), 0.0])
    made.advance(200)
    assert made.q[0] == pytest.approx(start[0], abs=1e-6)
    tau = made.observe()[3]
    a = made.robot.forward_dynamics(made.q, made.v, tau)
    assert abs(a[0]) < 1e-3
    assert tau[1] == 0.0


@pytest.mark.parametrize("controller", ["none", "computed_torque"])
@pytest.mark.parametrize("name", ["puma560", "palletizer"])
def test_trajectories_are_followed_and_loops_stay_closed(name, controller):
    made, said = engine(name, controller=controller, stiffness=400.0, damping=40.0)
    goal = made.q[made.commanded.coordinates] + 0.1
    made.follow(TrajectoryContent(made.joints, (TrajectoryPoint(0.5, tuple(goal)),)))
    for _ in range(60):
        made.advance(10)
        if made.robot.nc:
            assert np.abs(made.robot.loop_residual(made.q)).max() < 1e-9
    np.testing.assert_allclose(
        made.q[made.commanded.coordinates], goal, atol=1e-5 if controller == "none" else 5e-3
    )
    q, v, a, tau = made.observe()
    np.testing.assert_allclose(made.robot.forward_dynamics(q, v, tau), a, atol=1e-5)
    assert said == []


def test_an_empty_trajectory_stops_and_a_command_waits_for_the_end():
    made, said = engine("puma560")
    made.follow(TrajectoryContent(("joint1",), (TrajectoryPoint(1.0, (0.5,)),)))
    made.advance(100)
    made.command(np.ones(6))
    assert said == ["a trajectory is running: the command is ignored"]
    made.follow(TrajectoryContent((), ()))
    made.command(np.ones(6))
    np.testing.assert_allclose(made.observe()[3], 1.0)


def test_a_motion_that_breaks_down_is_stopped_and_told():
    made, said = engine("double_pendulum")
    made.v[:] = 1e200
    made.advance(100)
    assert np.isfinite(made.q).all()
    assert said and "broke down" in said[0]
    made.advance(100)
    assert made.t == pytest.approx(0.2)


def test_reset():
    made, _ = engine("double_pendulum")
    start = made.q.copy()
    made.command([1.0, 1.0])
    made.advance(100)
    made.reset()
    np.testing.assert_array_equal(made.q, start)
    assert not made.v.any() and not made.observe()[3].any()


@pytest.mark.parametrize(
    "values",
    [
        {"rate": 0.0}, {"rate": float("nan")}, {"rate": True}, {"rate": "fast"},
        {"real_time_factor": -1.0}, {"step": 1.0}, {"integrator": "magic"},
        {"controller": "magic"}, {"stiffness": []}, {"damping": [-1.0]},
        {"command_timeout": 0.0}, {"interfaces": ["jerk"]}, {"bandwidth": 1e3},
    ],
)  # fmt: skip
def test_settings_that_make_no_sense(values):
    with pytest.raises(rd.ShapeError, match=next(iter(values))):
        Settings().replaced(values)
    with pytest.raises(rd.UnknownNameError):
        Settings().replaced({"colour": 1.0})


@pytest.mark.parametrize("controller", ["none", "pd"])
def test_settings_that_do_not_fit_the_robot_change_nothing(controller):
    made, _ = engine("puma560", controller=controller)
    with pytest.raises(rd.ShapeError, match="stiffness"):
        made.configure(made.settings.replaced({"stiffness": [1.0, 2.0]}))
    assert made.settings.stiffness == (100.0,)


MS = 1_000_000


def every(pace, *times):
    """All that is due at some times [ms]."""
    return [[*iter(lambda t=t: pace.next(t * MS), None)] for t in times]


def test_pace():
    pace = Pace(200.0, 1.0, 1e-3)
    assert every(pace, 7, 12, 16, 23) == [[(0, 0)], [(5, 0)], [(5, 0)], [(5, MS)]]
    assert pace.overruns == 0
    assert every(pace, 37) == [[(5, 10 * MS), (5, 5 * MS), (5, 0)]]
    assert pace.overruns == 2
    assert not pace.behind(37 * MS) and pace.behind(42 * MS)
    (caught_up,) = every(pace, 3037)
    assert len(caught_up) == 400 and caught_up[-1] == (5, 0)
    assert pace.dropped == 200
    assert every(pace, 0) == [[(0, 0)]]
    assert pace.jumps == 1
    half = Pace(100.0, 0.5, 1e-3)
    assert sum(steps for due in every(half, *range(0, 101, 10)) for steps, _ in due) == 50
    rare = Pace(0.25, 1.0, 1.0)
    assert every(rare, 0, 4000, 8000) == [[(0, 0)], [(4, 0)], [(4, 0)]] and not rare.dropped
    slow = Pace(1000.0, 0.1, 1e-3)
    assert [due[0][0] for due in every(slow, *range(11))] == [0] * 10 + [1]


def test_what_is_overdue_comes_in_bursts_that_readers_can_take():
    pace = Pace(200.0, 1.0, 1e-3)
    assert len([*burst(pace, lambda: 0)]) == 1
    sizes = [len([*burst(pace, lambda: 400 * MS)]) for _ in range(20)]
    assert sizes == [5] * 16 + [0] * 4
    assert pace.dropped == 0
    slow = burst(pace, lambda: 800 * MS)
    next(slow)
    time.sleep(0.03)  # a publication that took long ends the burst
    assert next(slow, None) is None


def test_pace_reports_each_mishap_once():
    said = []
    pace = Pace(200.0, 1.0, 1e-3)
    every(pace, 0, 3000)
    pace.report(ThrottledLogger(said.append))
    assert len(said) == 2
    assert said[0].endswith("late so far: 399") and "left out so far" in said[1]
    pace.report(ThrottledLogger(said.append))
    other = pace.changed(100.0, 1.0, 1e-3)
    other.report(ThrottledLogger(said.append))
    assert len(said) == 2 and other.dropped == pace.dropped


def test_a_publication_does_not_stand_for_more_steps_than_can_be_waited_for():
    with pytest.raises(rd.ShapeError, match="steps between two publications"):
        Settings(rate=0.1, real_time_factor=1e3, step=1e-6)
    Settings(rate=0.1)


def move(made, name, goal, duration=1.5):
    made.follow(TrajectoryContent((name,), (TrajectoryPoint(duration, (goal,)),)))
    made.advance(round(1e3 * duration) + 300)


@pytest.mark.parametrize("controller", ["none", "computed_torque"])
def test_joints_stay_where_one_trajectory_left_them_while_the_next_moves_others(controller):
    made, said = engine(
        "puma560", interfaces="position", controller=controller, stiffness=400.0, damping=40.0
    )
    move(made, "joint1", 0.5)
    assert made.q[0] == pytest.approx(0.5, abs=5e-3)
    move(made, "joint2", -0.2)
    np.testing.assert_allclose(made.q[:2], [0.5, -0.2], atol=5e-3)
    made.command_some(["joint3"], [0.1])
    made.advance(400)
    np.testing.assert_allclose(made.q[:3], [0.5, -0.2, 0.1], atol=5e-3)
    assert all("effort" in text for text in said)  # a leap of a driven joint takes more than it has


@pytest.mark.parametrize(
    "names, values",
    [([], []), (["joint1"], [1.0, 2.0]), (["joint1"] * 2, [1.0, 2.0]), (["knee"], [1.0]),
     (["joint1"], [np.nan])],
)  # fmt: skip
def test_bad_commands_for_some_joints_leave_the_last_one(names, values):
    made, _ = engine("puma560")
    made.command(np.ones(6))
    with pytest.raises((rd.ShapeError, rd.UnknownNameError)):
        made.command_some(names, values)
    made.command_some(["joint2"], [2.0])
    np.testing.assert_allclose(made.observe()[3], [1, 2, 1, 1, 1, 1])


def test_stale_efforts_do_not_come_back_with_a_command_for_another_joint():
    made, _ = engine("puma560", command_timeout=0.1)
    made.command(np.ones(6))
    made.advance(200)
    made.command_some(["joint2"], [2.0])
    np.testing.assert_allclose(made.observe()[3], [0, 2, 0, 0, 0, 0])


@pytest.mark.parametrize("orders", [2, 3])
def test_polynomials_of_trajectories_are_those_of_hermite(orders):
    from scipy.interpolate import BPoly

    from robodyn.ros.commands.trajectories import _polynomial

    times = np.array([0.0, 0.3, 1.0, 1.1])
    given = np.random.default_rng(0).normal(size=(3, 4, 2))
    given[orders:] = 0.0
    made = _polynomial(times, given[0], given[1], given[2] if orders == 3 else None)
    expected = BPoly.from_derivatives(times, np.stack(given[:orders], axis=1))
    at = np.linspace(0.0, 1.1, 57)
    for k in range(3):  # derivatives over a piece of 0.1 s: rounding times 1e4
        np.testing.assert_allclose(made(at, k), expected(at, k), atol=1e-10)


def test_time_stamps_of_trajectories():
    from robodyn.ros.commands.trajectories import out_of_time

    assert out_of_time(0, 5 * 10**9) == "" == out_of_time(5 * 10**9, 5 * 10**9 + 10**8)
    assert "stamped 3 s ahead" in out_of_time(8 * 10**9, 5 * 10**9)
    assert "stamped 3 s ago" in out_of_time(5 * 10**9, 8 * 10**9)


def test_a_description_has_the_text_of_the_file_whatever_its_encoding(tmp_path):
    from robodyn.ros.states.frames import description

    text = '<?xml version="1.0" encoding="ISO-8859-1"?>\n' + urdf.write(
        rd.load("pan_tilt").mechanism
    ).partition("?>")[2].strip().replace("pan_tilt", "Käfer")
    file = tmp_path / "k fer.urdf"
    file.write_bytes(text.encode("latin-1"))
    told = description(rd.load(str(file)))
    assert told.startswith("<robot") and rd.load(told).name == "Käfer"


def torque_at(made, q, v):
    """What the controller of an engine exerts in a state."""
    made.q[:], made.v[:] = q, v
    return made.observe()[3]


@pytest.mark.parametrize("name", ["puma560", "double_pendulum", "scara"])
def test_stiffness_and_damping_pull_back(name):
    """The law by hand: gravity, k (x0 - x) and - d v, with other gains at every joint."""
    robot = rd.load(name)
    n = robot.nv
    k, d = np.linspace(1.0, 3.0, n), np.linspace(0.5, 0.9, n)
    made, said = engine(name, controller="pd", stiffness=[*k], damping=[*d])
    start, rng = made.q.copy(), np.random.default_rng(0)
    for _ in range(3):
        dq, v = 0.1 * rng.normal(size=(2, n))
        weight = robot.inverse_dynamics(start + dq, 0 * v, 0 * v)
        found = torque_at(made, start + dq, v)
        np.testing.assert_allclose(found, weight - k * dq - d * v, atol=1e-9)
    assert not said


@pytest.mark.parametrize("name", ["puma560", "double_pendulum"])
def test_computed_torque_gives_every_error_the_acceleration_of_its_gains(name):
    robot = rd.load(name)
    n = robot.nv
    k, d = np.linspace(1.0, 3.0, n), np.linspace(0.5, 0.9, n)
    made, _ = engine(name, controller="computed_torque", stiffness=[*k], damping=[*d])
    start, rng = made.q.copy(), np.random.default_rng(0)
    dq, v = 0.1 * rng.normal(size=(2, n))
    found = torque_at(made, start + dq, v)
    a = robot.forward_dynamics(start + dq, v, found)
    np.testing.assert_allclose(a, -k * dq - d * v, atol=1e-9)


def test_what_takes_over_holds_the_robot_where_it_is_then():
    """However many steps are asked for at once: it held where the robot was some time before."""
    ends = []
    for steps in (1, 40, 400):
        made, _ = engine("puma560", controller="pd", command_timeout=0.1)
        made.command([5.0, 0.0, 3.0, 0.0, 0.0, 0.0])
        for _ in range(400 // steps):
            made.advance(steps)
        ends.append(made.q)
    np.testing.assert_allclose(ends[1:], [ends[0]] * 2, atol=1e-12)
    made, _ = engine("puma560", controller="computed_torque", command_timeout=0.1)
    start = made.q.copy()
    made.command([5.0, 0.0, 3.0, 0.0, 0.0, 0.0])
    made.advance(100)
    then = made.q.copy()
    made.advance(1000)
    assert np.abs(made.q - then).max() < 1e-3 < 0.1 * np.abs(then - start).max()


@pytest.mark.parametrize("interface", ["position", "velocity"])
def test_joints_that_loops_tie_together_cannot_all_be_driven(four_bar, interface):
    settings = Settings(interfaces=(interface,))
    with pytest.raises(rd.ActuationError, match="tie"):
        Engine(four_bar, settings, joints=four_bar.joint_names)
    made = Engine(four_bar, joints=four_bar.joint_names)
    with pytest.raises(rd.ActuationError, match="tie"):
        made.configure(settings)
    assert made.settings.interfaces == ("effort",)
    made.advance(5)


def test_a_changed_bandwidth_is_followed_from_where_the_joint_is():
    made, said = engine("double_pendulum", interfaces="position", bandwidth=5.0)
    goal = made.q + 0.4
    made.command(goal)
    made.advance(100)
    q, v = made.q.copy(), made.v.copy()
    made.configure(made.settings.replaced({"bandwidth": 40.0}))
    np.testing.assert_array_equal((made.q, made.v), (q, v))
    made.advance(1)
    np.testing.assert_allclose(made.q, q + 1e-3 * v, atol=1e-3)
    made.advance(400)
    np.testing.assert_allclose(made.q, goal, atol=1e-4)
    assert not said


@pytest.mark.parametrize("controller", ["gravity", "pd", "computed_torque"])
def test_controllers_do_not_move_joints_without_motors(four_bar, controller):
    made = Engine(four_bar, Settings(controller=controller), joints=four_bar.joint_names)
    rng = np.random.default_rng(1)
    made.v[:] = four_bar.consistent_velocity(made.q, rng.normal(size=four_bar.nv))
    tau = made.observe()[3]
    moved = four_bar.joints[four_bar.actuated_joints[0]].v.start
    assert tau[moved] != 0.0
    assert not np.delete(tau, moved).any()


def test_two_clocks_are_read_again_where_something_came_between():
    """Stamps are as even as the clock, however busy the computer is."""
    time_, interruptions = [0], iter([0, 3_000_000, 0, 0, 0, 0])

    def one():
        time_[0] += 1000 + next(interruptions, 0)
        return time_[0]

    def other():
        time_[0] += 1000
        return 5_000_000_000 + time_[0]

    read, stamp = read_together(one, other)
    assert abs(stamp - 5_000_000_000 - read) < 50_000
