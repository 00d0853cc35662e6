"""The engine behind the ROS node, without ROS."""

from __future__ import annotations

import numpy as np
import pytest

import robodyn as rd
from robodyn.ros import Engine, Settings, TrajectoryContent, TrajectoryPoint
from robodyn.ros.notices import Notices
from robodyn.ros.pacing import Pace


def engine(name, **settings):
    said = []
    made = Engine(
        rd.load(name), Settings().replaced(settings), notices=Notices(said.append, clock=lambda: 0)
    )
    return made, said


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
    goal = made.q[made._coordinates] + 0.02
    made.command(goal)
    made.advance(500)
    np.testing.assert_allclose(made.q[made._coordinates], goal, atol=1e-6)
    made.configure(Settings(interfaces=("velocity",)))
    made.command(np.full(len(goal), -0.02))
    made.advance(200)
    np.testing.assert_allclose(made.v[made._speeds], -0.02, atol=1e-6)
    made.advance(800)  # stale: stops
    np.testing.assert_allclose(made.v[made._speeds], 0.0, atol=1e-6)


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
    goal = made.q[made._coordinates] + 0.1
    made.follow(TrajectoryContent(made.joints, (TrajectoryPoint(0.5, tuple(goal)),)))
    for _ in range(60):
        made.advance(10)
        if made.robot.nc:
            assert np.abs(made.robot.loop_residual(made.q)).max() < 1e-9
    np.testing.assert_allclose(
        made.q[made._coordinates], goal, atol=1e-5 if controller == "none" else 5e-3
    )
    q, v, a, tau = made.observe()
    np.testing.assert_allclose(made.robot.forward_dynamics(q, v, tau), a, atol=1e-5)
    assert said == []


def test_joints_that_loops_tie_together_cannot_have_two_paths():
    robot = rd.load("four_bar")
    made = Engine(robot, joints=robot.joint_names)
    with pytest.raises(rd.ActuationError, match="tie"):
        made.follow(
            TrajectoryContent(robot.joint_names[:2], (TrajectoryPoint(1.0, tuple(made.q[:2])),))
        )
    made.advance(5)


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


def test_settings_that_do_not_fit_the_robot_change_nothing():
    made, _ = engine("puma560", controller="pd")
    with pytest.raises(rd.ShapeError, match="stiffness"):
        made.configure(made.settings.replaced({"stiffness": [1.0, 2.0]}))
    assert made.settings.stiffness == (100.0,)


def test_notices_count_what_they_leave_out():
    said, now = [], [0.0]
    notices = Notices(said.append, 5.0, lambda: now[0])
    for _ in range(10):
        notices("kind", "text")
    now[0] = 6.0
    notices("kind", "text")
    assert said == ["text", "text (9 more like it)"]
    assert notices.counts == {"kind": 11}


def test_pace():
    pace = Pace(200.0, 1.0, 1e-3)
    ms = 1_000_000
    assert pace.due(7 * ms) == [(0, 0)]
    assert [pace.due(7 * ms + t) for t in (5 * ms, 9 * ms, 16 * ms)] == [
        [(5, 0)], [(5, 0)], [(5, ms)],
    ]  # fmt: skip
    assert pace.overruns == 0
    assert pace.due(37 * ms) == [(5, 10 * ms), (5, 5 * ms), (5, 0)]
    assert pace.overruns == 2
    assert len(pace.due(1037 * ms)) == 200  # a second is caught up with
    assert pace.dropped == 0
    assert len(pace.due(3037 * ms)) == 200  # and of two only one
    assert pace.dropped == 200
    assert pace.due(0) == [(0, 0)]
    assert pace.jumps == 1
    half = Pace(100.0, 0.5, 1e-3)
    half.due(0)
    assert sum(steps for k in range(1, 11) for steps, _ in half.due(10 * k * ms)) == 50
    slow = Pace(1000.0, 0.1, 1e-3)
    slow.due(0)
    assert [slow.due(k * ms)[0][0] for k in range(1, 11)] == [0] * 9 + [1]
