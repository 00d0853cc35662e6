"""References: they are where they should be, within their limits, and rates are derivatives."""

import sys

import numpy as np
import pytest

import robodyn as rd
from robodyn import controllers as rc

WAYPOINTS = [[0.0, 0.2], [1.0, -0.5], [1.0, -0.5], [-0.3, -0.5], [-0.31, -0.49]]
VELOCITY, ACCELERATION, JERK = [0.5, 0.8], [1.0, 0.6], [6.0, 4.0]
PROFILES = {
    "trapezoidal": rc.Trapezoidal(WAYPOINTS, VELOCITY, ACCELERATION),
    "s-curve": rc.SCurve(WAYPOINTS, VELOCITY, ACCELERATION, JERK),
}


def sampled(reference, start, end, n=6001):
    t = np.linspace(start, end, n)
    return t, *(np.array(x) for x in zip(*map(reference, t.tolist()), strict=True))


@pytest.mark.parametrize("reference", PROFILES.values(), ids=PROFILES)
def test_rates_are_derivatives_and_within_limits(reference):
    t, q, v, a = sampled(reference, -0.5, reference.duration + 0.5)
    h = t[1] - t[0]
    np.testing.assert_allclose(np.gradient(q, h, axis=0), v, atol=2 * h)
    steps = np.abs(v[1:] - v[:-1] - 0.5 * h * (a[1:] + a[:-1]))
    assert steps.max() < 1.1 * h * max(ACCELERATION)  # trapezoidal: where it jumps
    assert np.sort(steps.max(axis=1))[-40:-30].max() < 1e-6  # and nowhere else
    assert (np.abs(v).max(axis=0) <= np.array(VELOCITY) + 1e-9).all()
    assert (np.abs(a).max(axis=0) <= np.array(ACCELERATION) + 1e-9).all()


def test_the_jerk_is_within_its_limit():
    t, _, _, a = sampled(PROFILES["s-curve"], -0.5, PROFILES["s-curve"].duration + 0.5)
    jerk = np.abs(np.diff(a, axis=0) / (t[1] - t[0])).max(axis=0)
    assert (jerk <= np.array(JERK) * (1 + 1e-6)).all()


@pytest.mark.parametrize("reference", PROFILES.values(), ids=PROFILES)
def test_it_rests_at_the_ends_and_before_and_after(reference):
    for t, place in ((-3.0, WAYPOINTS[0]), (0.0, WAYPOINTS[0])):
        q, v, _ = reference(t)
        np.testing.assert_array_equal(q, place)
        np.testing.assert_array_equal(v, 0.0)
    for t in (reference.duration, reference.duration + 100.0):
        q, v, a = reference(t)
        np.testing.assert_allclose(q, WAYPOINTS[-1], atol=1e-12)
        np.testing.assert_allclose(v, 0.0, atol=1e-12)
        np.testing.assert_allclose(a, 0.0, atol=1e-12)


@pytest.mark.parametrize("reference", PROFILES.values(), ids=PROFILES)
def test_it_passes_all_waypoints_at_rest(reference):
    _, q, v, _ = sampled(reference, 0.0, reference.duration, 8001)
    for place in WAYPOINTS:
        near = np.abs(q - place).max(axis=1).argmin()
        assert np.abs(q[near] - place).max() < 1e-6
        assert np.abs(v[near]).max() < 1e-3


@pytest.mark.parametrize(
    ("way", "v", "a", "expected"),
    [(1.0, 0.5, 1.0, 2.5), (0.25, 1.0, 1.0, 1.0), (-4.0, 2.0, 4.0, 2.5)],
)
def test_the_least_time_of_a_trapezoid(way, v, a, expected):
    """way / v + v / a with a cruise, 2 sqrt(way / a) without."""
    assert rc.Trapezoidal([[0.0], [way]], v, a).duration == pytest.approx(expected)


@pytest.mark.parametrize(
    ("way", "v", "a", "j", "expected"),
    [
        (1.0, 0.5, 1.0, 4.0, 1.0 / 0.5 + 0.5 / 1.0 + 1.0 / 4.0),  # all limits reached
        (1.0, 0.1, 10.0, 1.0, 1.0 / 0.1 + 2.0 * np.sqrt(0.1)),  # not the acceleration
        (2.0, 9.0, 9.0, 1.0, 4.0),  # the jerk alone: 4 cbrt(way / 2 / j)
        (1.0, 9.0, 1.0, 4.0, 0.25 + np.sqrt(0.0625 + 4.0)),  # not the velocity
    ],
)
def test_the_least_time_of_an_s_curve(way, v, a, j, expected):
    assert rc.SCurve([[0.0], [way]], v, a, j).duration == pytest.approx(expected)


@pytest.mark.parametrize("kind", [rc.Trapezoidal, rc.SCurve])
def test_wrong_limits_and_waypoints(kind):
    more = (1.0,) if kind is rc.SCurve else ()
    with pytest.raises(rd.ShapeError, match="velocity"):
        kind(WAYPOINTS, -1.0, 1.0, *more)
    with pytest.raises(rd.ShapeError, match="acceleration"):
        kind(WAYPOINTS, 1.0, [1.0, 1.0, 1.0], *more)
    with pytest.raises(rd.ShapeError, match="waypoints"):
        kind([0.0, 1.0], 1.0, 1.0, *more)
    with pytest.raises(rd.ShapeError, match="waypoints"):
        kind([[0.0], [np.nan]], 1.0, 1.0, *more)


@pytest.mark.parametrize("kind", [rc.Trapezoidal, rc.SCurve])
def test_slow_ways_with_quick_starts_end_where_they_should(kind):
    """Short ramps beside a long cruise: powers of the time since the start would cancel."""
    robot, more = rd.load("double_pendulum", passive=False), (1e6,) if kind is rc.SCurve else ()
    reference = kind([[0.0, 0.0], [1.0, -0.5]], 1e-3, 100.0, *more)
    _, q, v, _ = sampled(reference, 0.0, reference.duration, 2001)
    assert reference.duration == pytest.approx(1000.0, rel=1e-3)
    np.testing.assert_allclose(q[-1], [1.0, -0.5], atol=1e-12)
    assert np.abs(v[:, 0]).max() == pytest.approx(1e-3, rel=1e-12)
    np.testing.assert_allclose(v[-1], 0.0, atol=1000.0 * 100.0 * 2.3e-16)  # time itself is rounded
    controller = rc.ComputedTorque(robot, reference, stiffness=1.0)
    compiled = rd.closed_loop(robot, controller)
    for t in (500.0, reference.duration, 2000.0):
        at = reference(t)[0], np.zeros(2)
        python = robot.forward_dynamics(*at, controller(t, *at))
        np.testing.assert_allclose(compiled(t, *at), python, atol=1e-9)


@pytest.mark.parametrize("kind", ["trapezoidal", "s-curve", "stretched"])
def test_controllers_follow_them_in_machine_code_as_in_python(kind):
    robot = rd.load("double_pendulum", passive=False)
    reference = PROFILES.get(kind) or rc.Stretched(PROFILES["s-curve"], 1.3)
    controller = rc.ComputedTorque(robot, reference, stiffness=100.0)
    q0 = np.array(WAYPOINTS[0])
    run = {"q0": q0, "v0": np.zeros(2), "duration": 2.0, "step": 1e-3}
    compiled = rd.simulate(robot, controller, **run)
    python = rd.simulate(robot, lambda t, q, v: controller(t, q, v), **run)
    np.testing.assert_allclose(compiled.q, python.q, atol=1e-9)
    wanted = reference(2.0)[0]
    np.testing.assert_allclose(compiled.q[-1], wanted, atol=1e-3)


def test_a_reference_that_begins_later_says_so():
    late = rd.JointPath.from_samples([1.0, 2.0, 3.0, 4.0], np.eye(4)[:, :2])
    for make in (rc.Stretched.within, rc.TimeOptimal):
        with pytest.raises(rd.PathError, match="samples from t = 1 s"):
            make(late, 4.0, acceleration=1.0)


# -- stretched --------------------------------------------------------------------------------

MOVE = rc.PointToPoint(np.zeros(2), np.array([1.0, -2.0]), 1.0)


def test_stretched_to_torques():
    robot = rd.load("double_pendulum", passive=False, gravity=(0, 0, 0))
    stretched = rc.Stretched.within(MOVE, 1.0, robot=robot, torque=[3.0, 2.0])
    _, q, v, a = sampled(stretched, 0.0, stretched.factor, 1001)
    part = np.abs(robot.inverse_dynamics(q, v, a)) / [3.0, 2.0]
    assert 1.0 - 1e-5 < part.max() <= 1.0 + 1e-12
    heavy = rd.load("double_pendulum", passive=False)
    with pytest.raises(rd.PathError, match="no slower motion helps"):
        rc.Stretched.within(MOVE, 1.0, robot=heavy, torque=1e-3)


def test_what_jumps_is_not_stretched(double):
    """However slow, it would jump."""

    def jumping(t):
        q, v, a = MOVE(t)
        return q + np.r_[0.0, 0.2 * (t > 0.4005)], v, a

    with pytest.raises(rd.PathError, match="position of joint '1'") as error:
        rc.Stretched.within(jumping, 1.0, velocity=1.0)
    assert (error.value.time, error.value.joint) == (pytest.approx(0.4), "1")
    with pytest.raises(rd.PathError, match="position of joint 'elbow'"):
        rc.Stretched.within(jumping, 1.0, robot=double, torque=50.0)
    with pytest.raises(rd.PathError, match="nearly everywhere"):
        rc.Stretched.within(lambda t: (MOVE(t)[0], 0 * MOVE.q1, 0 * MOVE.q1), 1.0, velocity=1.0)


@pytest.mark.parametrize("k", [0, 1, 2])
def test_a_reference_that_is_no_number_for_a_while_is_refused_with_time_and_joint(k):
    def broken(t):
        found = [np.array(x) for x in MOVE(t)]
        if 0.4 < t < 0.5:
            found[k][1] = np.nan
        return tuple(found)

    with pytest.raises(rd.PathError, match=r"joint '1' .*no finite number") as error:
        rc.Stretched.within(broken, 1.0, velocity=1.0)
    assert (error.value.time, error.value.joint) == (pytest.approx(0.4, abs=2e-3), "1")


def test_what_is_not_of_joints_whose_coordinates_add():
    ball = np.array([0.0, 0.0, 0.0, 1.0]), np.zeros(3), np.zeros(3)
    with pytest.raises(rd.ShapeError, match=r"positions \(4,\), velocities \(3,\)"):
        rc.Stretched.within(lambda t: ball, 1.0, velocity=1.0)
    plate = rd.load(
        rd.Mechanism(
            "plate",
            tuple(
                rd.Link(name, rd.Inertia.from_matrix(1.0, [0, 0, 0], np.eye(3)))
                for name in ("floor", "plate")
            ),
            (rd.Joint("slide", "planar", "floor", "plate", axis=(0, 0, 1)),),
        )
    )
    move = rc.PointToPoint(
        np.zeros(3), np.ones(3), 1.0
    )  # as many coordinates as speeds, in two frames
    with pytest.raises(rd.SettingsError, match="do not add"):
        rc.Stretched.within(move, 1.0, robot=plate, torque=10.0)
    with pytest.raises(rd.SettingsError, match="do not add"):
        rc.TaskPath.line(plate, "plate", np.eye(4), np.eye(4), 1.0)


def test_robots_whose_torques_follow_from_more_than_their_joints():
    for base in ("floating", "moving"):
        with pytest.raises(rd.SettingsError, match="what torques a path takes"):
            rc.Stretched.within(MOVE, 1.0, robot=rd.load("double_pendulum", base=base))
    with pytest.raises(rd.ShapeError, match="2 positions, and 'four_bar' has 3 coordinates"):
        rc.Stretched.within(MOVE, 1.0, robot=rd.load("four_bar"))
    with pytest.raises(rd.SettingsError, match="gives no limits of torques"):
        rc.Stretched.within(MOVE, 1.0, robot=rd.load("double_pendulum"))


def test_the_least_time_without_toppra(monkeypatch):
    monkeypatch.setitem(sys.modules, "toppra", None)
    with pytest.raises(rd.MissingExtraError, match=r"pip install .*\[toppra\]'"):
        rc.TimeOptimal(MOVE, 1.0, acceleration=1.0)


def test_nothing_to_stretch_to():
    with pytest.raises(rd.SettingsError, match="bounds"):
        rc.Stretched.within(MOVE, 1.0)
    with pytest.raises(rd.SettingsError, match="factor"):
        rc.Stretched(MOVE, 0.0)


# -- paths of frames --------------------------------------------------------------------------

ROBOT = rd.load("puma560")
Q0 = np.array([0.3, -0.6, 0.4, 0.2, 0.7, -0.4])
START = ROBOT.frame_pose(Q0, "flange")


def turned(X, angle, by):
    c, s = np.cos(angle), np.sin(angle)
    Y = X @ np.array([[c, -s, 0, 0], [s, c, 0, 0], [0, 0, 1, 0], [0, 0, 0, 1.0]])
    Y[:3, 3] += by
    return Y


def test_a_line_is_straight_and_turns_about_one_axis():
    end = turned(START, 0.5, [0.05, -0.1, 0.08])
    path = rc.TaskPath.line(ROBOT, "flange", START, end, 2.0, Q0)
    t, q, v, a = sampled(path, 0.0, 2.0, 401)
    X = ROBOT.frame_pose(q, "flange")
    way = end[:3, 3] - START[:3, 3]
    off = X[:, :3, 3] - START[:3, 3]
    along = off @ way / (way @ way)
    assert np.abs(off - along[:, None] * way).max() < 1e-6
    axis = X[:, :3, 2] - START[:3, 2]
    assert np.abs(axis).max() < 1e-6  # the axis that it turns about stands still
    np.testing.assert_allclose(X[0], START, atol=1e-8)
    np.testing.assert_allclose(X[-1], end, atol=1e-8)
    np.testing.assert_allclose([v[0], v[-1], a[0], a[-1]], 0.0, atol=1e-9)
    np.testing.assert_allclose(np.gradient(q, t, axis=0)[1:-1], v[1:-1], atol=1e-3)


def test_an_arc_keeps_its_radius_and_passes_the_point():
    radius, axis = 0.1, START[:3, 0]
    center = START[:3, 3] - radius * axis
    other = START[:3, 1]
    end = START.copy()
    end[:3, 3] = center + radius * other
    through = center + radius * (axis + other) / np.sqrt(2)
    path = rc.TaskPath.arc(ROBOT, "flange", START, through, end, 1.5, Q0)
    _, q, _, _ = sampled(path, 0.0, 1.5, 401)
    place = ROBOT.frame_pose(q, "flange")[:, :3, 3]
    np.testing.assert_allclose(np.linalg.norm(place - center, axis=1), radius, atol=1e-6)
    assert np.abs(place - through).max(axis=1).min() < 1e-3
    np.testing.assert_allclose(place[-1], end[:3, 3], atol=1e-8)


def test_the_long_way_round():
    """Through a point on the other side the arc is three quarters of the circle."""
    radius, axis, other = 0.03, START[:3, 0], START[:3, 1]
    center = START[:3, 3] - radius * axis
    end = START.copy()
    end[:3, 3] = center + radius * other
    path = rc.TaskPath.arc(ROBOT, "flange", START, center - radius * axis, end, 1.5, Q0)
    _, q, _, _ = sampled(path, 0.0, 1.5, 801)
    place = ROBOT.frame_pose(q, "flange")[:, :3, 3]
    length = np.linalg.norm(np.diff(place, axis=0), axis=1).sum()
    assert length == pytest.approx(1.5 * np.pi * radius, rel=1e-3)


@pytest.mark.parametrize("wrong", [np.zeros((4, 4)), 2.0 * START, START @ np.diag([1, 1, -1, 1])])
def test_a_pose_of_no_rigid_body_is_refused_by_its_own_name(wrong):
    through = START[:3, 3] + [0.1, 0.1, 0.0]
    for make, name in (
        (lambda: rc.TaskPath.line(ROBOT, "flange", wrong, START, 1.0, Q0), "start"),
        (lambda: rc.TaskPath.line(ROBOT, "flange", START, wrong, 1.0, Q0), "end"),
        (lambda: rc.TaskPath.arc(ROBOT, "flange", START, through, wrong, 1.0, Q0), "end"),
        (lambda: rc.TaskPath(ROBOT, "flange", [0.0, 1.0], [START, wrong], Q0), "poses"),
    ):
        with pytest.raises(rd.ShapeError, match=f"^{name} is that of no rigid body"):
            make()


def test_many_poses_are_no_end_of_a_line():
    with pytest.raises(rd.ShapeError, match=r"^end has shape \(2, 4, 4\), expected \(4, 4\)"):
        rc.TaskPath.line(ROBOT, "flange", START, [START, START], 1.0, Q0)
    with pytest.raises(rd.ShapeError, match=r"^through has shape \(2, 3\), expected \(3,\)"):
        rc.TaskPath.arc(ROBOT, "flange", START, np.zeros((2, 3)), START, 1.0, Q0)


def test_what_is_no_path_of_a_frame():
    far = turned(START, 0.0, [3.0, 0.0, 0.0])
    with pytest.raises(rd.PathError, match="does not reach") as error:
        rc.TaskPath.line(ROBOT, "flange", START, far, 2.0, Q0)
    assert 0.0 < error.value.time < 2.0
    with pytest.raises(rd.ShapeError, match="line"):
        middle = START[:3, 3] + [0.1, 0, 0]
        end = turned(START, 0.0, [0.2, 0.0, 0.0])
        rc.TaskPath.arc(ROBOT, "flange", START, middle, end, 1.0, Q0)
    with pytest.raises(rd.PathError, match="jump"):
        poses = np.stack([START, ROBOT.frame_pose(Q0 + 0.9, "flange")] * 2)
        rc.TaskPath(ROBOT, "flange", [0.0, 1.0, 2.0, 3.0], poses, Q0)
    with pytest.raises(rd.SettingsError, match="do not add"):
        floating = rd.load("puma560", base="floating")
        rc.TaskPath.line(floating, "flange", START, START, 1.0)
    with pytest.raises(rd.SettingsError, match="moving base"):
        rc.TaskPath.line(rd.load("puma560", base="moving"), "flange", START, START, 1.0, Q0)


def _hinged(name):
    """A robot with joints that have no motors, its posture, and coordinates of those that have."""
    if name == "floating":
        robot = rd.load("satellite", base="floating", passive=False)
    else:
        robot = rd.load(name, passive=False)
    places = np.concatenate([np.arange(robot.nq)[robot.joints[x].q] for x in robot.actuated_joints])
    return robot, robot.neutral(), places


def _whole(robot, short):
    """The same reference with zeros for joints without motors."""
    own = [robot.joints[name] for name in robot.actuated_joints]
    q_at = np.concatenate([np.arange(robot.nq)[x.q] for x in own])
    v_at = np.concatenate([np.arange(robot.nv)[x.v] for x in own])

    def whole(t):
        x, dx, ddx = short(t)
        q, v, a = robot.neutral(), np.zeros(robot.nv), np.zeros(robot.nv)
        q[q_at], v[v_at], a[v_at] = x, dx, ddx
        return q, v, a

    return whole


def _laws(robot, reference):
    yield rc.JointPD(robot, reference, 80.0, 5.0, gravity=False)
    yield rc.ComputedTorque(robot, reference)
    yield rc.PassivityBased(robot, reference, gain=5.0)


@pytest.mark.parametrize("name", ["floating", "four_bar", "five_bar"])
def test_a_reference_of_motors_alone_is_that_of_all_joints(name):
    robot, q, places = _hinged(name)
    assert len(places) < robot.nq
    start, end = q[places], q[places] + 0.1
    short = rc.PointToPoint(start, end, 0.2)
    whole = _whole(robot, short)
    asked = {"q0": q, "duration": 0.05, "step": 1e-3, "limits": "ignore"}
    mine = lambda t: short(t)  # noqa: E731  that is sampled, not traced
    for laws in zip(*(_laws(robot, x) for x in (short, whole, mine)), strict=True):
        state = 0.05, q, np.full(robot.nv, 0.0)
        np.testing.assert_allclose(laws[0](*state), laws[1](*state), rtol=1e-12, atol=1e-12)
        runs = [rd.simulate(robot, law, **asked).q for law in laws]
        np.testing.assert_allclose(runs[0], runs[1], atol=1e-12)
        np.testing.assert_allclose(runs[2], runs[1], atol=1e-12)


def test_a_reference_of_controlled_joints_alone():
    acrobot = rd.load("double_pendulum", actuators={"elbow": rd.Actuator()})
    full = rc.PointToPoint(np.zeros(2), np.array([0.3, 0.0]), 0.5)
    short = rc.PointToPoint([0.0], [0.3], 0.5)
    state = 0.2, np.array([0.1, 0.2]), np.array([0.3, 0.1])
    both = [rc.ComputedTorque(acrobot, x, controlled=("shoulder",))(*state) for x in (full, short)]
    np.testing.assert_array_equal(*both)


def test_comparisons_take_references_of_motors_alone():
    robot, q, places = _hinged("four_bar")
    short = rc.PointToPoint(q[places], q[places] + 0.3, 0.2)
    law = rc.ComputedTorque(robot, short)
    asked = {"duration": 0.02, "step": 1e-3}
    found = [
        rd.compare(robot, {"law": law}, reference=x, **asked) for x in (short, _whole(robot, short))
    ]
    np.testing.assert_array_equal(*(x["total_error_rms"] for x in found))
    np.testing.assert_array_equal(found[0].q0, found[1].q0)


def test_references_of_other_sizes_say_what_is_expected():
    robot, q, _ = _hinged("floating")
    with pytest.raises(rd.ShapeError, match=r"expected \(11,\), or \(4,\) of clock, camera, "):
        rc.JointPD(robot, rc.PointToPoint(np.zeros(3), np.ones(3), 1.0), 1.0, 1.0, gravity=False)(
            0.0, q, np.zeros(robot.nv)
        )
    with pytest.raises(rd.ShapeError, match="of clock, camera, boom_swing, boom_lift alone"):
        rc.JointPD(robot, rc.PointToPoint(q, q, 1.0), 1.0, 1.0, gravity=False)(
            0.0, q, np.zeros(robot.nv)
        )
