"""The quickest motion along a path: known optima, limits that hold and are reached, bad paths."""

from importlib import resources

import numpy as np
import pytest
from support.slides import Z, slides

import robodyn as rd
from robodyn import controllers as rc
from robodyn.controllers.references.path_torques import of_linkage, path_torques
from robodyn.simulation.limits.bounds import effort_bounds

ARM = rd.load("puma560")
WAY = [np.zeros(6), [0.5, -0.4, 0.3, 0.2, 0.1, 0.4], [0.3, -0.8, 0.8, 0.5, -0.3, 0.2], [-0.4] * 6]
PATH = rd.JointPath.from_samples([0.0, 1.0, 2.0, 3.0], WAY, ends="rest")


@pytest.fixture(autouse=True)
def toppra():
    return pytest.importorskip("toppra")


def sampled(reference, count=4001):
    t = np.linspace(0.0, reference.duration, count)
    return t, *(np.array(x) for x in zip(*map(reference, t.tolist()), strict=True))


def test_a_straight_way_is_a_trapezoid():
    """Whatever the timing of what is followed."""
    goal = np.array([1.0, 0.5])
    best = rc.Trapezoidal([np.zeros(2), goal], 0.5, 1.0)
    for path in (rc.PointToPoint(np.zeros(2), goal, 1.0), best):
        found = rc.TimeOptimal(path, path.duration, velocity=0.5, acceleration=1.0)
        assert found.duration == pytest.approx(2.5, rel=1e-4)
        for t in (0.3, 1.2, 2.4):
            np.testing.assert_allclose(found(t)[0], best(t)[0], atol=1e-3)


def test_a_weight_is_lifted_at_full_torque_and_let_fall():
    """A mass on a vertical slide: up by (F - m g)/m, down by (F + m g)/m."""
    slide = slides(2.0, axis=Z, limits=(-9.0, 9.0, 99.0, 30.0))
    up, down = 30.0 / 2.0 - 9.81, 30.0 / 2.0 + 9.81
    found = rc.TimeOptimal(rc.PointToPoint([0.0], [2.0], 1.0), 1.0, robot=slide)
    assert found.duration == pytest.approx(np.sqrt(2 * 2.0 * (1 / up + 1 / down)), rel=1e-3)


@pytest.fixture(scope="module")
def quick():
    pytest.importorskip("toppra")
    return rc.TimeOptimal(PATH, 3.0, velocity=ARM.velocity_limits, robot=ARM)


def test_limits_hold_and_one_is_always_reached(quick):
    """Friction counts too: the robot is with its dampers."""
    _, q, v, a = sampled(quick)
    torque = np.abs(ARM.inverse_dynamics(q, v, a)) / effort_bounds(ARM)
    speed = np.abs(v) / ARM.velocity_limits
    most = np.maximum(torque, speed).max(axis=1)
    assert most.max() < 1.002
    assert np.mean(most > 0.98) > 0.9
    assert np.abs(ARM.passive_forces(q, v)).max() > 0.05  # it would be wrong without
    assert (
        quick.duration
        < 0.8 * 3.0 * rc.Stretched.within(PATH, 3.0, velocity=ARM.velocity_limits, robot=ARM).factor
    )


def test_rates_are_derivatives_and_the_way_is_kept(quick):
    t, q, v, a = sampled(quick)
    h = t[1]
    np.testing.assert_allclose(np.diff(q, axis=0) / h, 0.5 * (v[1:] + v[:-1]), atol=0.02)
    wrong = np.abs(np.diff(v, axis=0) / h - 0.5 * (a[1:] + a[:-1])).max(axis=1)
    assert np.median(wrong) < 0.02  # but where the acceleration jumps
    way = np.array([PATH(x)[0] for x in np.linspace(0.0, 3.0, 3001)])
    near = [np.linalg.norm(way - x, axis=1).min() for x in q[::100]]
    assert max(near) < 2e-3
    for at, place in ((-1.0, WAY[0]), (0.0, WAY[0]), (quick.duration + 1.0, WAY[-1])):
        np.testing.assert_allclose(quick(at), [place, np.zeros(6), np.zeros(6)], atol=1e-9)
    with pytest.raises(rd.ShapeError, match="t is nan"):
        quick(np.nan)


def test_along_a_line_of_a_frame():
    q0 = np.array([0.3, -0.6, 0.4, 0.2, 0.7, -0.4])
    start = ARM.frame_pose(q0, "flange")
    end = start.copy()
    end[:3, 3] += [0.0, -0.1, 0.1]
    line = rc.TaskPath.line(ARM, "flange", start, end, 2.0, q0)
    found = rc.TimeOptimal(line, 2.0, velocity=1.0, acceleration=5.0)
    _, q, _, _ = sampled(found, 201)
    off = ARM.frame_pose(q, "flange")[:, :3, 3] - start[:3, 3]
    along = off @ (end - start)[:3, 3] / 0.02
    assert np.abs(off - along[:, None] * (end - start)[:3, 3]).max() < 1e-5
    assert found.duration < 0.8 * 2.0


@pytest.mark.slow
@pytest.mark.parametrize(
    ("path", "length", "options", "error", "text"),
    [
        (rc.Trapezoidal([[0, 0], [1, 0.5], [0, 1.0]], 0.5, 1.0), 6.0, {"acceleration": 1.0},
         rd.PathError, "corner between t = 2"),
        (lambda t: rc.PointToPoint([0.0], [1.0], 1.0)(2 * t if t < 0.5 else 2 - 2 * t), 1.0,
         {"acceleration": 1.0}, rd.PathError, "corner between t = 0.[45]"),
        (lambda t: (PATH(t)[0] + 0.3 * (t > 1.5), 0, 0), 3.0, {"acceleration": 1.0}, rd.PathError,
         "jumps between t = 1.[45]"),
        (lambda t: (np.array([t, np.nan]), 0, 0), 1.0, {"acceleration": 1.0}, rd.ShapeError,
         "path holds"),
        (lambda t: (t, 1.0, 0.0), 1.0, {"acceleration": 1.0}, rd.ShapeError, "path has shape"),
        (PATH, 3.0, {"robot": ARM, "torque": 5.0}, rd.PathError, "joint 'joint2' takes"),
        (PATH, 3.0, {"velocity": 1.0}, rd.SettingsError, "nothing bounds accelerations"),
        (PATH, 3.0, {"acceleration": -1.0}, rd.ShapeError, "acceleration is -1"),
        (PATH, 3.0, {"acceleration": 1.0, "points": 3}, rd.SettingsError, "at least 10 points"),
        (PATH, 0.0, {"acceleration": 1.0}, rd.SettingsError, "length is 0"),
        (rc.SineReference([0.0], [0.0], [1.0]), 1.0, {"acceleration": 1.0}, rd.SettingsError,
         "still"),
        (PATH, 3.0, {"robot": rd.load("four_bar")}, rd.ShapeError, "6 positions.*'four_bar' has 3"),
        (PATH, 3.0, {"robot": rd.load("puma560", base="moving")}, rd.SettingsError, "moving base"),
        (PATH, 3.0, {"robot": rd.load("puma560", base="floating")}, rd.SettingsError, "floating"),
    ],
)  # fmt: skip
def test_what_has_no_quickest_motion(path, length, options, error, text):
    with pytest.raises(error, match=text):
        rc.TimeOptimal(path, length, **options)


def test_velocities_that_are_not_along_the_way():
    """Those of planar joints are in axes that turn, where limits of x and y are none of theirs."""
    t = np.linspace(0.0, 1.0, 6)
    turning = rd.JointPath.from_planar(t, np.stack([t, 0.5 * t * t, 2.0 * t], axis=-1))
    with pytest.raises(rd.PathError, match="velocities of planar joints"):
        rc.TimeOptimal(turning, 1.0, velocity=1.0, acceleration=1.0)
    straight = rd.JointPath.from_planar(t, np.stack([t, 0.5 * t * t, 0.0 * t], axis=-1))
    again = rd.JointPath.from_samples(t, np.stack([t, 0.5 * t * t, 0.0 * t], axis=-1))
    limits = {"velocity": 1.0, "acceleration": 1.0}
    found = [rc.TimeOptimal(path, 1.0, **limits).duration for path in (straight, again)]
    assert found[0] == pytest.approx(found[1], rel=1e-9)


LINKAGES = {"four_bar": 8.0, "five_bar": 12.0, "palletizer": None}


def led(robot, by):
    """A path of all joints of a linkage while each of its motors moves by so much."""
    motors, rows = robot.actuated_joints, [robot.neutral()]
    for _ in range(40):
        q = rows[-1].copy()
        for name in motors:
            q[robot.joints[name].q] += by / 40
        rows.append(robot.assemble(q, hold=motors))
    return rd.JointPath.from_samples(np.linspace(0.0, 2.0, 41), rows, ends="rest")


@pytest.mark.parametrize("name", LINKAGES)
def test_motors_of_linkages_are_at_their_limits(name):
    """As forward dynamics have it, by motors alone."""
    robot, most = rd.load(name), LINKAGES[name]
    torque = effort_bounds(robot) if most is None else np.full(robot.nv, most)
    path = led(robot, 0.4)
    quick = rc.TimeOptimal(path, 2.0, robot=robot, torque=most)
    slow = rc.Stretched.within(path, 2.0, robot=robot, torque=most)
    t = np.linspace(0.0, quick.duration, 801)[1:-1]
    q, v, a = (np.array(x) for x in zip(*map(quick, t.tolist()), strict=True))
    tau = path_torques(robot)(q, v, a)
    motors = [robot.joints[x].v.start for x in robot.actuated_joints]
    assert not np.delete(tau, motors, axis=1).any()
    found = robot.forward_dynamics(*robot.closed_state(q, v), tau)[:, motors]
    np.testing.assert_allclose(found, a[:, motors], atol=1e-3 * np.abs(a[:, motors]).max())
    part = (np.abs(tau) / torque).max(axis=1)
    assert part.max() < 1.002 and np.mean(part > 0.97) > 0.9
    assert quick.duration < 0.8 * 2.0 * slow.factor
    ends = [abs(x(d)[0] - path(2.0)[0]).max() for x, d in ((quick, 99.0), (slow, 2 * slow.factor))]
    assert max(ends) < 1e-9
    # the same way, of motors alone
    own = [robot.joints[x].q.start for x in robot.actuated_joints]
    few = rc.PointToPoint(path(0.0)[0][own], path(2.0)[0][own], 2.0)
    same = rc.TimeOptimal(few, 2.0, robot=robot, torque=most)
    assert same.duration == pytest.approx(quick.duration, rel=1e-3)
    np.testing.assert_allclose(same(99.0)[0], quick(99.0)[0], atol=1e-9)
    slower = rc.Stretched.within(few, 2.0, robot=robot, torque=most)
    assert slower(1.0)[0].shape == (len(own),)
    t = np.linspace(0.0, 2.0 * slower.factor, 501)
    q, v, a = (np.array(x) for x in zip(*map(of_linkage(robot, slower), t.tolist()), strict=True))
    assert (np.abs(path_torques(robot)(q, v, a)) / torque).max() == pytest.approx(1.0, abs=1e-2)


def test_limits_of_joints_of_a_linkage_without_motors_bound_nothing():
    """A pin gives a limit of its effort, and the crank that is driven gives none."""
    text = (resources.files("robodyn.urdf") / "robots" / "four_bar.urdf").read_text()
    text = text.replace('effort="12"', 'effort="inf"').replace('torque_limit="0.6"', "")
    pin = '<joint name="rocker_pivot" type="continuous">'
    robot = rd.load(text.replace(pin, pin + '<limit velocity="20" effort="5"/>'))
    path = led(robot, 0.3)
    for use in (rc.TimeOptimal, rc.Stretched.within):
        with pytest.raises(rd.SettingsError, match="gives no limits of torques"):
            use(path, 2.0, robot=robot)


def test_linkages_whose_way_or_motors_do_not_fit(five_bar):
    path = led(five_bar, 0.3)
    tied = rd.load("four_bar", actuators={x: rd.Actuator() for x in ("crank_pin", "rocker_pivot")})
    for use in (rc.TimeOptimal, rc.Stretched.within):
        with pytest.raises(rd.ActuationError, match="1 motions and motors at 3 speeds"):
            use(path, 2.0, robot=tied, torque=5.0)
        apart = rc.PointToPoint(five_bar.neutral(), five_bar.neutral() + 0.2, 2.0)
        with pytest.raises(rd.PathError, match="leaves the loops of 'five_bar' open") as error:
            use(apart, 2.0, robot=five_bar, torque=50.0)
        assert 0.0 < error.value.time < 2.0
        far = rc.PointToPoint([0.0, 0.0], [0.0, 40.0], 2.0)
        with pytest.raises(rd.PathError, match=r"at t = .* s of the path") as error:
            use(far, 2.0, robot=five_bar, torque=50.0)
        assert 0.0 < error.value.time <= 2.0
    clock = rd.Constraint("clock", lambda q, t: q[0] - 0.1 * rd.sin(t), "left_drive")
    timed = rd.load("five_bar", constraints=[clock])
    with pytest.raises(rd.SettingsError, match="depend on time"):
        rc.TimeOptimal(path, 2.0, robot=timed, torque=5.0)


def moved(kind):
    """A record of a robot with one joint."""
    body = rd.Inertia.from_matrix(1.0, [0, 0, 0.1], np.eye(3))
    links = tuple(rd.Link(name, body) for name in ("floor", "body"))
    joint = rd.Joint("joint", kind, "floor", "body", axis=(0.0, 0.0, 1.0))
    robot = rd.load(rd.Mechanism(kind, links, (joint,)), gravity=(0, 0, 0))
    run = rd.simulate(robot, v0=np.ones(robot.nv), duration=0.2, step=0.02)
    return rc.Recorded(robot, run.t, run.q)


@pytest.mark.parametrize("kind", ["spherical", "planar"])
def test_records_of_joints_whose_coordinates_do_not_add(kind):
    record = moved(kind)
    for path in (record, rc.Stretched(record, 1.0)):
        with pytest.raises(rd.SettingsError, match=f"'{kind}' has joints .* do not add"):
            rc.TimeOptimal(path, 0.2, acceleration=1.0)

    if kind == "spherical":
        with pytest.raises(rd.ShapeError, match=r"velocities \(3,\)"):
            rc.TimeOptimal(lambda t: record(t), 0.2, acceleration=1.0)
