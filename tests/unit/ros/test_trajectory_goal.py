"""Goals of FollowJointTrajectory, followed by the engine behind the nodes; without ROS."""

from types import SimpleNamespace

import numpy as np
import pytest

import robodyn as rd
from robodyn.ros import Engine, Settings, TrajectoryContent, TrajectoryPoint
from robodyn.ros.engine import trajectory_goal as codes
from robodyn.ros.engine.trajectory_goal import RefusedGoal, TrajectoryGoal


def engine(name="puma560", **settings):
    return Engine(rd.load(name), Settings(**{"controller": "gravity", **settings}))


def duration(seconds):
    return SimpleNamespace(sec=int(seconds // 1), nanosec=round(1e9 * (seconds % 1)))


def tolerance(name, position=0.0, velocity=0.0, acceleration=0.0):
    return SimpleNamespace(
        name=name, position=position, velocity=velocity, acceleration=acceleration
    )


def wanted(names, *points, stamp=0.0, path=(), final=(), time=0.0, multi=()):
    """A goal through points (time, positions)."""
    made = [
        SimpleNamespace(time_from_start=duration(t), positions=x, velocities=(), accelerations=())
        for t, x in points
    ]
    header = SimpleNamespace(stamp=duration(stamp))
    return SimpleNamespace(
        trajectory=SimpleNamespace(header=header, joint_names=list(names), points=made),
        multi_dof_trajectory=SimpleNamespace(joint_names=list(multi), points=[]),
        path_tolerance=list(path),
        component_path_tolerance=[],
        goal_tolerance=list(final),
        component_goal_tolerance=[],
        goal_time_tolerance=duration(time),
    )


def run(made, goal, seconds=5.0, do=lambda t: None):
    """Advance until the goal has ended: how, and all progress."""
    seen = []
    for k in range(round(seconds * 200)):
        do(k / 200)
        made.advance(5)
        seen.append(goal.progress())
        outcome = goal.outcome(seen[-1])
        if outcome is not None:
            return outcome, seen
    return None, seen


@pytest.mark.parametrize("name", ["puma560", "palletizer"])
def test_a_goal_is_reached_and_its_progress_told(name):
    made = engine(name)
    first, second = made.joints[:2]
    goal = TrajectoryGoal(
        made, wanted((second, first), (0.2, [0.01, 0.02]), (0.5, [0.03, 0.05])), 0
    )
    outcome, seen = run(made, goal)
    assert outcome == (codes.SUCCESSFUL, "")
    assert seen[-1].t == pytest.approx(0.5, abs=0.006)
    np.testing.assert_allclose(seen[-1].actual, [[0.03, 0.05], [0.0, 0.0]], atol=1e-6)
    for progress in seen:
        np.testing.assert_allclose(progress.actual, progress.desired, atol=1e-5)
        assert progress.index == (0 if progress.t < 0.5 - 1e-9 else 1)


@pytest.mark.parametrize(
    ("goal", "code", "told"),
    [
        (wanted(["knee"], (1.0, [0.1])), codes.INVALID_JOINTS, "knee"),
        (wanted(["joint1"], (1.0, [50.0])), codes.INVALID_GOAL, "beyond 2.793, its limit"),
        (wanted(["joint1"], (0.01, [1.0])), codes.INVALID_GOAL, "give it more time"),
        (wanted(["joint1"], (1.0, [0.1, 0.2])), codes.INVALID_GOAL, "2 positions, expected 1"),
        (wanted(["joint1", "joint1"], (1.0, [0.1, 0.2])), codes.INVALID_GOAL, "each joint once"),
        (wanted(["joint1"]), codes.INVALID_GOAL, "no points"),
        (wanted(["joint1"], (1.0, [np.nan])), codes.INVALID_GOAL, "not finite"),
        (wanted(["joint1"], (1.0, [0.1]), multi=["base"]), codes.INVALID_GOAL, "several coord"),
        (wanted(["joint1"], (1.0, [0.1]), path=[tolerance("joint2", 1.0)]), codes.INVALID_GOAL,
         "path_tolerance: 'joint2' is not in the trajectory"),
        (wanted(["joint1"], (1.0, [0.1]), final=[tolerance("joint1", -2.0)]), codes.INVALID_GOAL,
         "goal_tolerance of joint1"),
        (wanted(["joint1"], (1.0, [0.1]), path=[tolerance("joint1", acceleration=1.0)]),
         codes.INVALID_GOAL, "accelerations are not looked at"),
        (wanted(["joint1"], (1.0, [0.1]), stamp=3.0), codes.OLD_HEADER_TIMESTAMP, "5 s ago"),
    ],
)  # fmt: skip
def test_goals_that_cannot_be_followed_are_refused_and_the_motion_before_goes_on(goal, code, told):
    made = engine()
    made.follow(TrajectoryContent(("joint1",), (TrajectoryPoint(0.5, (0.05,)),)))
    with pytest.raises(RefusedGoal) as caught:
        TrajectoryGoal(made, goal, 9 * 10**9)
    assert caught.value.code == code and told in str(caught.value)
    made.advance(600)
    assert made.q[0] == pytest.approx(0.05, abs=1e-6)


def test_a_path_tolerance_that_is_not_kept_stops_the_joints():
    """A soft controller lags behind; the joint brakes and stays."""
    made = engine(controller="pd", stiffness=(30.0,), damping=(30.0,))
    goal = wanted(["joint1", "joint2"], (1.0, [0.8, 0.0]), path=[tolerance("joint1", 0.05)])
    goal = TrajectoryGoal(made, goal, 0)
    (code, text), seen = run(made, goal)
    assert code == codes.PATH_TOLERANCE_VIOLATED
    assert text.startswith("joint1 is 0.0") and "tolerated are 0.05 and inf" in text
    error = np.abs(seen[-1].desired - seen[-1].actual)[0]
    assert error[0] > 0.05 > np.abs(seen[-2].desired - seen[-2].actual)[0, 0]
    assert made.motion is not None and made.motion.names == ("joint1", "joint2")
    made.advance(3000)
    assert made.q[0] < 0.5 and abs(made.v[0]) < 0.05


@pytest.mark.parametrize("erased", [0.0, -1.0])
def test_tolerances_of_0_and_minus_1_are_none(erased):
    made = engine(controller="pd", stiffness=(30.0,), damping=(30.0,))
    goal = wanted(["joint1"], (0.5, [0.3]), path=[tolerance("joint1", erased)])
    outcome, _ = run(made, TrajectoryGoal(made, goal, 0))
    assert outcome == (codes.SUCCESSFUL, "")


@pytest.mark.parametrize(("time", "code"), [(0.1, codes.GOAL_TOLERANCE_VIOLATED), (0.0, None)])
def test_a_goal_that_is_not_reached_in_its_time_is_aborted(time, code):
    """Without a time it is waited for."""
    made = engine(controller="pd", stiffness=(30.0,), damping=(60.0,))
    goal = wanted(["joint1"], (0.3, [0.2]), final=[tolerance("joint1", 1e-3)], time=time)
    outcome, seen = run(made, TrajectoryGoal(made, goal, 0), seconds=0.6)
    assert (outcome and outcome[0]) == code
    if code:
        assert seen[-1].t == pytest.approx(0.4, abs=0.01)


def test_a_goal_that_arrives_late_within_its_time_succeeds():
    made = engine(controller="pd", stiffness=(400.0,), damping=(60.0,))
    goal = wanted(["joint1"], (0.3, [0.2]), final=[tolerance("joint1", 0.03, 0.05)], time=4.0)
    outcome, seen = run(made, TrajectoryGoal(made, goal, 0))
    assert outcome == (codes.SUCCESSFUL, "") and 0.3 < seen[-1].t < 4.0


@pytest.mark.parametrize("interrupt", ["another", "stop", "reset"])
def test_what_takes_its_place_ends_a_goal(interrupt):
    made = engine()
    goal = TrajectoryGoal(made, wanted(["joint1"], (1.0, [0.3])), 0)
    made.advance(300)
    if interrupt == "reset":
        made.reset()
    else:
        points = (TrajectoryPoint(1.0, (0.1,)),) if interrupt == "another" else ()
        made.follow(TrajectoryContent(("joint2",) if points else (), points))
    assert np.isfinite(goal.progress().t)
    code, text = goal.outcome(goal.progress())
    assert code == codes.INVALID_GOAL and "has ended the trajectory" in text
    goal.cancel()  # which stops nothing of what has come
    assert (interrupt == "another") == (made.motion is not None)


@pytest.mark.parametrize("name", ["puma560", "palletizer"])
def test_a_cancelled_goal_brakes_smoothly_and_stays(name):
    made = engine(name)
    joint = made.joints[0]
    goal = TrajectoryGoal(made, wanted([joint], (1.0, [0.4])), 0)
    made.advance(500)
    x, v = made.q[0], made.v[0]
    assert v > 0.1
    goal.cancel()
    made.advance(100)
    assert v > made.v[0] > 0.0  # on its way to rest, half of the time
    made.advance(150)
    assert made.q[0] == pytest.approx(x + 0.1 * v, abs=1e-4)
    assert abs(made.v[0]) < 1e-6
    made.advance(200)
    assert made.q[0] == pytest.approx(x + 0.1 * v, abs=1e-4)


def test_braking_stays_within_limits():
    """Just before the upper limit there is less way than usual."""
    made = engine()
    top = float(made.robot.upper_limits[0])
    made.q[0] = top - 0.3
    goal = TrajectoryGoal(made, wanted(["joint1"], (0.4, [top - 1e-3])), 0)
    while made.q[0] < top - 0.05:
        made.advance(5)
    goal.cancel()
    for _ in range(50):
        made.advance(10)
        assert made.q[0] <= top + 1e-9
    assert abs(made.v[0]) < 1e-6
