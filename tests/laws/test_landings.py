"""Points of links land on a rigid plane, stand while it pushes, and leave it."""

import runpy
import warnings
from pathlib import Path

import numpy as np
import pytest

import robodyn as rd
from robodyn.description import Inertia, Joint, Link, Mechanism, Pose

X, Y, Z = np.eye(3)
GRAVITY = 9.81
POINT = {"point": ("body", (0.0, 0.0, 0.0))}


def body(axes):
    """2 kg that slide along some axes of the world."""
    links, joints, parent = [Link("root")], [], "root"
    for k, axis in enumerate(axes):
        child = "body" if k == len(axes) - 1 else f"slide{k}"
        links.append(Link(child, Inertia(2.0) if child == "body" else None))
        joints.append(Joint(f"along{k}", "prismatic", parent, child, axis=tuple(axis)))
        parent = child
    return rd.load(Mechanism("body", tuple(links), tuple(joints)))


def times(run, what):
    return np.array([event.time for event in run.events if event.name == what])


@pytest.mark.parametrize("e", [0.5, 0.8])
def test_a_ball_bounces_and_comes_to_rest(e):
    """Each flight lasts ``e`` times the one before, and each landing takes ``1 - e^2`` of it."""
    robot = body([X, Z])
    events = rd.events.landings(
        robot, rd.Ground(POINT), restitution=e, rest_speed=0.3, sticks=False
    )
    run = rd.simulate(
        robot, q0=[0.0, 0.5], v0=[1.0, 0.0], duration=4.0, step=2e-3, events=events, every=10
    )
    landed = times(run, "point lands")
    speed = np.sqrt(2 * GRAVITY * 0.5)
    rebounds = int(np.ceil(np.log(0.3 / speed) / np.log(e)))
    flights = 2 * speed / GRAVITY * e ** np.arange(1, rebounds + 1)
    np.testing.assert_allclose(landed[0], speed / GRAVITY, atol=1e-9)
    np.testing.assert_allclose(np.diff(landed), flights, atol=2e-9)
    lost = [event.energy_loss for event in run.events]
    expected = speed**2 * e ** (2 * np.arange(rebounds)) * (1 - e**2)
    np.testing.assert_allclose(lost[:-1], expected, rtol=1e-7)
    np.testing.assert_allclose(run.q[-1], [4.0, 0.0], atol=1e-12)
    np.testing.assert_allclose(run.v[-1], [1.0, 0.0], atol=1e-12)
    assert np.abs(run.audit.unexplained).max() < 1e-9


@pytest.mark.parametrize("angle", [0.0, 0.4])
def test_what_sticks_stands_and_what_does_not_slides(angle):
    """On a slope without friction it goes on as on rails: ``g sin a``."""
    normal = np.array([np.sin(angle), 0.0, np.cos(angle)])
    down = np.array([np.cos(angle), 0.0, -np.sin(angle)])
    robot, ground = body([X, Y, Z]), rd.Ground(POINT, normal=tuple(3 * normal), height=0.2)
    start = 0.2 * normal + 0.1 * Z
    for sticks in (True, False):
        events = rd.events.landings(robot, ground, sticks=sticks)
        run = rd.simulate(robot, q0=start, duration=1.0, step=5e-3, events=events)
        (t,) = times(run, "point lands")
        fall = np.sqrt(2 * 0.1 * np.cos(angle) / (GRAVITY * np.cos(angle)))
        assert t == pytest.approx(fall, abs=1e-8)
        assert run.q[-1] @ normal == pytest.approx(0.2, abs=1e-11)
        along = GRAVITY * np.sin(angle) * (1.0 - (0.0 if not sticks else 1.0 - t))
        np.testing.assert_allclose(run.v[-1], 0.0 if sticks else along * down, atol=1e-7)


def test_a_motor_lifts_it_when_it_pulls_more_than_the_weight():
    """At the sample at which the torque that is held first exceeds it, and not before."""
    robot = body([Z])
    events = rd.events.landings(robot, rd.Ground(POINT))
    run = rd.simulate(
        robot,
        lambda t, q, v: [40.0 * t],
        q0=[1e-4],
        duration=0.6,
        step=1e-2,
        events=events,
    )
    weight = 2.0 * GRAVITY
    (left,) = times(run, "point leaves")
    assert left == pytest.approx(np.ceil(weight / 40.0 / 1e-2) * 1e-2, abs=1e-9)
    on = (run.t > times(run, "point lands")[0] + 1e-6) & (run.t < left)
    np.testing.assert_allclose(run.q[on], 0.0, atol=1e-11)
    assert run.q[-1, 0] > 0.0
    # what rests at height zero has no energy, but for rounding
    with warnings.catch_warnings(action="error"):
        again = rd.simulate(
            robot, lambda t, q, v: [40.0 * t], q0=[1e-4], duration=0.6, step=1e-2, events=events
        )
    np.testing.assert_array_equal(again.q, run.q)


def plank(inertia):
    """A plank of 2 kg in the plane, with feet half a metre off its middle."""
    links = (
        Link("root"),
        Link("across"),
        Link("up"),
        Link("plank", Inertia(2.0, Pose(), inertia, 0, 0, inertia, 0, inertia)),
    )
    joints = (
        Joint("x", "prismatic", "root", "across", axis=(1, 0, 0)),
        Joint("z", "prismatic", "across", "up", axis=(0, 0, 1)),
        Joint("turn", "continuous", "up", "plank", axis=(0, 1, 0)),
    )
    return rd.load(Mechanism("plank", links, joints))


FEET = {"left": ("plank", (-0.5, 0.0, 0.0)), "right": ("plank", (0.5, 0.0, 0.0))}


@pytest.mark.parametrize(("inertia", "stays"), [(0.2, True), (2.0, False)])
def test_the_landing_of_one_foot_may_lift_the_other(inertia, stays):
    """A plank that tips about one foot: with more inertia than ``m l^2`` it rocks on."""
    robot = plank(inertia)
    tilt = 0.2
    q0 = [0.0, 0.5 * np.sin(tilt), tilt]  # the right foot is down
    events = rd.events.landings(robot, rd.Ground(FEET))
    run = rd.simulate(robot, q0=q0, duration=0.6, step=1e-3, events=events)
    first, second = run.events[:2]
    assert (first.name, second.name) == ("right lands", "left lands")
    at = np.flatnonzero(run.t == second.time)
    before, after = run.v[at[0]], run.v[at[-1]]
    assert before[2] < 0.0 and after[2] <= 1e-12
    if stays:
        np.testing.assert_allclose(run.v[-1], 0.0, atol=1e-10)
        np.testing.assert_allclose(run.q[-1, 1:], 0.0, atol=1e-9)
        return
    # momentum about the foot that lands stays; the other one is lifted
    whole = inertia + 2.0 * 0.25
    assert after[2] == pytest.approx(before[2] * (inertia - 2.0 * 0.25) / whole, rel=1e-6)
    foot = robot.frame_pose(run.q, "plank")
    rise = (foot @ [0.5, 0.0, 0.0, 1.0])[:, 2]
    assert rise[at[0]] == pytest.approx(0.0, abs=1e-8) and rise[at[-1] + 20] > 1e-3


def bars():
    """The hopping leg of the examples, and a push of its motors while it stands."""
    path = Path(__file__).parents[2] / "examples" / "07_hopping_leg.py"
    leg = runpy.run_path(str(path))["leg"]()
    hips = [leg.joints[name].v.start for name in ("left_hip", "right_hip")]

    def push(t, q, v):
        tau = np.zeros(leg.nv)
        foot = leg.frame_pose(q, "left_shank") @ [0.0, 0.0, -0.25, 1.0]
        if foot[2] < 1e-6 and v[hips].sum() < 0.0:
            tau[hips] = -4.0
        return tau

    return leg, push


@pytest.mark.slow
def test_a_closed_leg_hops_as_on_compliant_ground():
    """Nearly as high and as often; nothing pulls it down, and its energy adds up."""
    leg, push = bars()
    bare = leg.with_(ground=())
    foot = {name: (link, point) for name, link, point in leg.ground[0].contacts}
    events = rd.events.landings(bare, rd.Ground(foot))
    hard = rd.simulate(bare, push, duration=1.7, step=1e-3, events=events)
    soft = rd.simulate(leg, push, duration=1.7, step=1e-4)
    assert hard.q[:, 0].max() == pytest.approx(soft.q[:, 0].max(), abs=0.01)
    assert len(times(hard, "foot leaves")) >= 2
    assert np.abs(hard.audit.unexplained).max() < 1e-6 * hard.audit.exchanged
    assert hard.audit.impacts[-1] > 1.0
    heights = (bare.frame_pose(hard.q, "left_shank") @ [0.0, 0.0, -0.25, 1.0])[:, 2]
    assert heights.min() > -2e-9
    momentum = bare.momentum(hard.q, hard.v)[:, 2]
    h = np.diff(hard.t)
    steady = h > 1e-5  # no jump between
    force = np.diff(momentum)[steady] / h[steady] + GRAVITY * bare.total_mass
    assert force.min() > -1e-2 and force.max() > 100.0


@pytest.mark.slow
def test_a_free_arm_lands_on_its_tip():
    """Quaternions, several turning joints: the tip stays where it has stuck while it stands."""
    arm = rd.load("arm7", base="floating", passive=False)
    tip = arm.link_names[-1]
    q0 = arm.random(3)
    q0[2] += 0.2 - arm.frame_pose(q0, tip)[2, 3]
    events = rd.events.landings(arm, rd.Ground({"tip": (tip, (0.0, 0.0, 0.0))}))
    run = rd.simulate(arm, q0=q0, duration=0.43, step=1e-3, events=events, limits="ignore")
    # as its joints give way it is thrown up once, and comes down again
    assert [event.name for event in run.events] == ["tip lands", "tip leaves"] * 2
    for event in run.events[::2]:
        at = np.flatnonzero(run.t == event.time)
        before, after = run.v[at[0]], run.v[at[1]]
        hit = arm.impact(run.q[at[0]], before, tip, (0.0, 0.0, 0.0), None)
        np.testing.assert_allclose(after, hit.v, atol=1e-6 * np.abs(before).max())
        assert event.energy_loss == pytest.approx(hit.energy_loss, rel=1e-6)
    place = arm.frame_pose(run.q, tip)[:, :3, 3]
    stands = (run.t > run.events[2].time) & (run.t < run.events[3].time)
    assert stands.sum() > 100
    np.testing.assert_allclose(place[stands, 2], 0.0, atol=1e-10)
    np.testing.assert_allclose(np.ptp(place[stands], axis=0), 0.0, atol=1e-8)
    assert place[:, 2].min() > -2e-9
    audit = run.audit
    assert np.abs(audit.unexplained).max() < 1e-5 * audit.exchanged


@pytest.mark.parametrize(
    ("robot", "options", "error", "says"),
    [
        ({"base": "moving"}, {}, rd.SettingsError, "moving base"),
        ({}, {"restitution": 1.5}, rd.SettingsError, "0 to 1"),
        ({}, {"rest_speed": 0.0}, rd.SettingsError, "positive"),
        ({}, {"restitution": "much"}, rd.ShapeError, "restitution"),
        ({}, {"ground": "floor"}, rd.ShapeError, "Ground"),
        ({}, {"ground": rd.Ground({"p": ("hand", (0, 0, 0))})}, rd.UnknownNameError, "hand"),
    ],
)
def test_landings_that_cannot_be(robot, options, error, says):
    arm = rd.load("arm7", **robot)
    ground = rd.Ground({"tip": (arm.link_names[-1], (0, 0, 0))})
    with pytest.raises(error, match=says):
        rd.events.landings(arm, **{"ground": ground} | options)


def test_what_pulls_from_the_start_leaves_at_once():
    """A motor that lifts as soon as it lands: it does not hang on the ground."""
    robot = body([Z])
    events = rd.events.landings(robot, rd.Ground(POINT))

    def lift(t, q, v):
        return [30.0 if q[0] < 1e-3 else 0.0]

    run = rd.simulate(robot, lift, q0=[0.1], duration=0.5, step=1e-3, events=events)
    landed, left = times(run, "point lands"), times(run, "point leaves")
    assert len(left) >= 1 and left[0] - landed[0] <= 1e-3
    assert run.q.min() > -2e-9


@pytest.mark.slow
def test_driven_joints_and_wrenches_count():
    """The body is drawn along, and lifted by a wind that grows."""
    robot = body([X, Z])
    events = rd.events.landings(robot, rd.Ground(POINT), sticks=False)
    run = rd.simulate(
        robot,
        q0=[0.0, 0.01],
        duration=1.0,
        step=1e-3,
        events=events,
        controlled={"along0": lambda t: (0.1 * t**2, 0.2 * t, 0.2)},
        wrenches=lambda t, q, v: {"body": [0.0, 0.0, 30.0 * t, 0.0, 0.0, 0.0]},
    )
    np.testing.assert_allclose(run.q[:, 0], 0.1 * run.t**2, atol=1e-12)
    (left,) = times(run, "point leaves")
    assert left == pytest.approx(2.0 * GRAVITY / 30.0, abs=1e-9)
    # from then on, m a = 30 t - m g
    since = 1.0 - left
    assert run.v[-1, 1] == pytest.approx(30.0 / 2.0 * since**2 / 2, abs=1e-8)


def test_what_rebounds_does_not_turn_a_joint_that_is_driven():
    links = [Link("root")] + [
        Link(f"rod{k}", Inertia.from_matrix(1.0, (0.0, 0.0, -0.25), 0.02 * np.eye(3)))
        for k in range(3)
    ]
    joints = [
        Joint(
            f"turn{k}", "revolute", links[k].name, f"rod{k}", Pose((0, 0, -0.5 * (k > 0))), axis=Y
        )
        for k in range(3)
    ]
    robot = rd.load(Mechanism("chain", tuple(links), tuple(joints)))
    ground = rd.Ground({"tip": ("rod2", (0.0, 0.0, -0.5))}, height=-1.2)
    run = rd.simulate(
        robot,
        q0=[0.5, 0.6, 0.4],
        duration=0.6,
        step=5e-3,
        events=rd.events.landings(robot, ground, restitution=0.7),
        controlled={"turn0": lambda t: (0.5, 0.0, 0.0)},
    )
    k = int(np.flatnonzero(run.t == times(run, "tip lands")[0])[0])
    assert run.t[k + 1] == run.t[k]
    still = robot.with_(locked={"turn0": 0.5})
    hit = still.impact(run.q[k, 1:], run.v[k, 1:], "rod2", (0, 0, -0.5), Z, restitution=0.7)
    np.testing.assert_allclose(run.v[k + 1], [0.0, *hit.v], atol=1e-9)
    assert np.abs(run.v[k + 1] - run.v[k]).max() > 0.5


@pytest.mark.parametrize("sticks", [True, False])
@pytest.mark.parametrize("normal", [(0, 0, 1), (0.2, 0.1, 1.0)])
def test_the_ground_and_the_bearing_carry_what_moves(double, sticks, normal):
    """Newton, for the centre of mass of a pendulum whose tip stands: by differences of places."""
    ground = rd.Ground({"tip": ("lower", (0, 0, -1))}, normal=normal, height=-1.6)
    events = rd.events.landings(double, ground, sticks=sticks)
    run = rd.simulate(
        double, q0=[1.0, 0.0], duration=0.55, step=1e-3, events=events, limits="ignore"
    )
    (landed,) = times(run, "tip lands")
    names = ["shoulder", "tip stands on the ground"]
    names += ["tip sticks to the ground"] if sticks else []
    found = run.joint_wrenches(names).in_frame("world")
    for k in (100, len(run) - 3):
        before, at, after = (double.center_of_mass(run.q[i]) for i in (k - 1, k, k + 1))
        step = run.t[k + 1] - run.t[k]
        needed = double.total_mass * ((after - 2 * at + before) / step**2 + [0, 0, GRAVITY])
        given = sum(np.nan_to_num(found[name][k, :3]) for name in names)
        np.testing.assert_allclose(given[[0, 2]], needed[[0, 2]], atol=2e-3)
    pushes = found["tip stands on the ground"][-1]
    assert run.t[100] < landed and np.isnan(found["tip stands on the ground"][100]).all()
    if not sticks:  # out of the ground; what sticks may be held by its friction alone
        assert pushes[:3] @ np.array(normal) > 0.0
    tip = double.frame_pose(run.q[-1], "lower") @ [0, 0, -1, 1]
    np.testing.assert_allclose(pushes[3:], np.cross(tip[:3], pushes[:3]), atol=1e-9)
    np.testing.assert_allclose(np.cross(pushes[:3], normal), 0.0, atol=1e-9)
