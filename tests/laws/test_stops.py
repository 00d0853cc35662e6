"""Rigid stops at the limits of joints: closed forms, energy, complementarity."""

import math

import numpy as np
import pytest
from support.motions import limited
from support.slides import Z, slides

import robodyn as rd
from robodyn.impacts.complementarity import complementary

G = 9.81


def falling(lower=0.0, upper=100.0, n=1, gravity=(0, 0, -G)):
    """Bodies of 2 kg that slide up and down, each on its own joint from the ground."""
    names = {"joint": "z{}", "link": "b{}", "axis": Z, "limits": (lower, upper)}
    return slides(*[2.0] * n, **names, gravity=gravity)


@pytest.mark.parametrize("step", [1e-3, 0.013])
def test_a_ball_bounces_and_comes_to_rest(step):
    e, h = 0.5, 1.0
    run = rd.simulate(falling(), q0=[h], duration=3.0, step=step, stops=rd.RigidStops(e))
    first = math.sqrt(2 * h / G)
    times = [event.time for event in run.events]
    wanted = first * (1 + 2 * np.r_[0, np.cumsum(e ** np.arange(1, len(times)))])
    flights = np.diff(wanted)
    assert flights[-1] >= step > flights[-1] * e * 0.9 or len(times) > 5
    np.testing.assert_allclose(times, wanted, rtol=1e-9)
    at_rest = run.t > times[-1]
    np.testing.assert_allclose(run.q[at_rest], 0.0, atol=1e-12)
    np.testing.assert_array_equal(run.v[at_rest], 0.0)
    np.testing.assert_array_equal(run.tau, 0.0)  # what the stop gives is no torque
    assert run.q.min() > -1e-12
    lost = sum(event.energy_loss for event in run.events)
    assert lost == pytest.approx(2 * G * h, rel=1e-9)


def test_a_stop_in_a_body_that_floats_gives_it_no_momentum():
    limits = {"pan": (-0.4, 0.1)}
    robot = limited("pan_tilt", limits, base="floating", gravity=(0, 0, 0), passive=False)
    q, v = robot.neutral(), np.zeros(robot.nv)
    at = robot.joints["pan"].v.start
    v[at] = 1.0
    run = rd.simulate(robot, q0=q, v0=v, duration=0.2, step=2e-3, stops=rd.RigidStops(0.5))
    (event,) = run.events
    before, after = run.v[run.t == event.time, at]
    assert before > 0.5 and after == pytest.approx(-0.5 * before, rel=1e-9)
    np.testing.assert_allclose(
        robot.momentum(run.q[-1], run.v[-1]), robot.momentum(q, v), atol=1e-9
    )


def test_it_leaves_when_the_stop_would_have_to_pull():
    """A force that grows lifts the body when it equals the weight."""
    weight, rate = 2 * G, 10.0

    def lift(t, q, v):
        return [rate * t]

    for step in (1e-3, 1e-2):
        run = rd.simulate(falling(), lift, duration=4.0, step=step, stops=rd.RigidStops())
        left = [event for event in run.events if "leaves" in event.name]
        assert len(left) == 1
        assert weight / rate - 1e-9 <= left[0].time <= weight / rate + step
        before, after = run.tau[run.t == left[0].time, 0]
        assert before == pytest.approx(rate * (left[0].time - step))
        assert after == pytest.approx(rate * left[0].time)
        before, after = np.flatnonzero(run.t == left[0].time)
        np.testing.assert_allclose(run.tau[after], rate * run.t[after])
        np.testing.assert_allclose(run.tau[before], run.tau[before - 1])  # held in the last step
        s = run.t[-1] - weight / rate
        assert run.q[-1, 0] == pytest.approx(rate * s**3 / (6 * 2), rel=5 * step)


@pytest.mark.parametrize("limits, elbow", [((0.0, 3.0), -1.0), ((-3.0, 0.0), 1.0)])
def test_the_force_is_found_within_a_step(limits, elbow):
    """A swinging body on a stopped joint: it leaves where centrifugal force beats the weight."""
    robot = limited("double_pendulum", {"shoulder": limits}, passive=False)
    run = rd.simulate(robot, q0=[0.0, elbow], duration=0.6, step=5e-3, stops=rd.RigidStops())
    left = [event for event in run.events if "leaves" in event.name]
    assert left
    fine = rd.simulate(robot, q0=[0.0, elbow], duration=0.6, step=5e-4, stops=rd.RigidStops())
    again = [event for event in fine.events if "leaves" in event.name]
    assert [event.name for event in run.events] == [event.name for event in fine.events]
    np.testing.assert_allclose([x.time for x in left], [x.time for x in again], atol=1e-7)
    # at that instant the free acceleration of the shoulder is zero
    at = int(np.flatnonzero(fine.t == again[0].time)[0])
    a = robot.forward_dynamics(fine.q[at], fine.v[at], np.zeros(2))
    assert abs(a[0]) < 1e-5


@pytest.mark.parametrize("e", [0.0, 0.6, 1.0])
def test_energy_is_what_the_stops_leave(e):
    robot = limited(
        "double_pendulum", {"shoulder": (-0.5, 0.8), "elbow": (-0.3, 1.0)}, passive=False
    )
    run = rd.simulate(
        robot, q0=[0.5, 0.5], v0=[1.0, -3.0], duration=2.0, step=1e-3, stops=rd.RigidStops(e)
    )
    assert len(run.events) > 3
    lost = sum(event.energy_loss for event in run.events)
    assert lost == pytest.approx(run.energy[0] - run.energy[-1], abs=2e-6)
    assert all(event.energy_loss >= -1e-9 for event in run.events)
    lower, upper = robot.lower_limits, robot.upper_limits
    assert (run.q >= lower - 1e-8).all()
    assert (run.q <= upper + 1e-8).all()
    if e == 1.0:
        assert lost == pytest.approx(0.0, abs=1e-6)
    if e == 0.0:
        assert lost > 0.1


def test_restitution_of_one_joint():
    robot = limited("double_pendulum", {"elbow": (-2.0, 0.7)}, passive=False)
    e = 0.4
    run = rd.simulate(
        robot, q0=[0.3, 0.5], v0=[0.0, 3.0], duration=0.1, step=1e-3, stops=rd.RigidStops(e)
    )
    before, after = np.flatnonzero(run.t == run.events[0].time)
    q, v, u = run.q[before], run.v[before], run.v[after]
    assert u[1] == pytest.approx(-e * v[1], rel=1e-12)
    impulse = robot.mass_matrix(q) @ (u - v)
    assert impulse[0] == pytest.approx(0.0, abs=1e-12)
    caught = robot.latch(q, v, ["elbow"])
    assert run.events[0].dissipated == pytest.approx((1 - e**2) * float(caught.energy_loss))


def test_two_joints_hit_at_once():
    """Each as if it were alone, if nothing couples them."""
    run = rd.simulate(
        falling(n=2, gravity=(0, 0, 0)), q0=[1.0, 2.0], v0=[-1.0, -2.0], duration=2.0, step=0.3,
        stops=rd.RigidStops(0.5),
    )  # fmt: skip
    assert [event.name for event in run.events] == ["z0 at its lower stop", "z1 at its lower stop"]
    np.testing.assert_allclose([event.time for event in run.events], 1.0, atol=1e-12)
    np.testing.assert_allclose(run.v[-1], [0.5, 1.0], rtol=1e-12)
    np.testing.assert_allclose(run.q[-1], [0.5, 1.0], rtol=1e-9)


def chain():
    """A slide of 2 kg that carries another one of 1 kg, both along z, without weight."""
    names = {"joint": "z{}", "link": "b{}", "axis": Z, "limits": (0.0, 9.0)}
    return slides(2.0, 1.0, **names, stacked=True, gravity=(0, 0, 0))


@pytest.mark.parametrize("parting", [0.05, 0.6])
@pytest.mark.parametrize("e", [0.0, 0.9, 1.0])
def test_what_parts_is_pushed_back_without_a_gain_of_energy(e, parting):
    """The lower slide is hit, which drives the upper one, that parts from it, back into its own.

    Elastic stops lose nothing, others never give: Newton's law for those that approach alone, with
    nothing of those that part, would give 0.42 J for 1 m/s and 0.6 m/s.
    """
    robot, q, v = chain(), np.zeros(2), np.array([-1.0, parting])
    run = rd.simulate(robot, q0=q, v0=v, duration=0.01, stops=rd.RigidStops(e))
    before, after = (robot.kinetic_energy(q, x) for x in (v, run.v[-1]))
    assert (run.q > -1e-9).all() and (run.v[-1] > -1e-9).all()
    assert after <= before * (1.0 + 1e-12)
    hits = [
        rd.Hit("b0", (0, 0, 0), (0, 0, 1)),
        rd.Hit("b1", (0, 0, 0), (0, 0, 1), ("b0", (0, 0, 0))),
    ]
    found = robot.simultaneous_impacts(q, v, hits, restitution=e)
    np.testing.assert_allclose(found.v, run.v[-1], atol=1e-9)
    if e == 1.0:
        assert after == pytest.approx(before, rel=1e-12)


def stack(masses, sign=1, base="fixed"):
    """Bodies that slide up and down on one another; ``sign=-1``: their stops are upper limits."""
    names = {"joint": "z{}", "link": "b{}", "axis": (0.0, 0.0, float(sign))}
    limits = (0.0, 9.0) if sign > 0 else (-9.0, 0.0)
    return slides(*masses, **names, limits=limits, stacked=True, base=base)


@pytest.mark.parametrize("sign", [1, -1])
@pytest.mark.parametrize("e", [0.0, 0.1, 0.3, 0.5, 0.8, 1.0])
def test_a_body_bounces_on_one_that_rests_at_its_stop(e, sign):
    """The lower one does not move, so that the upper one bounces as on the ground."""
    h, step = 0.5, 2e-3
    run = rd.simulate(
        stack((1.0, 2.0), sign), q0=[0.0, sign * h], duration=3.2, step=step,
        stops=rd.RigidStops(e), limits="ignore",
    )  # fmt: skip
    fall = math.sqrt(2 * h / G)
    times = [event.time for event in run.events if event.name.startswith("z1 at its")]
    bounces = fall * (1 + 2 * np.r_[0, np.cumsum(e ** np.arange(1, len(times)))])
    np.testing.assert_allclose(times, bounces, rtol=1e-9)
    np.testing.assert_allclose(run.q[:, 0], 0.0, atol=1e-12)
    if e < 1.0:
        assert 2 * fall * e ** len(times) < step  # a rebound that would have been the next
        np.testing.assert_allclose(run.q[-1], 0.0, atol=1e-12)
        np.testing.assert_array_equal(run.v[-1], 0.0)
    else:
        assert len(times) == 5
        np.testing.assert_allclose(run.energy, run.energy[0], rtol=1e-9)


@pytest.mark.slow
def test_bounces_on_a_base_that_speeds_up():
    """Seen from a lift, weight is larger by its acceleration."""
    e, h, a = 0.5, 0.3, 4.0

    def lift(t):
        return rd.BaseMotion.from_world(
            position=(0, 0, 0.5 * a * t * t),
            linear_velocity=(0, 0, a * t),
            linear_acceleration=(0, 0, a),
        )

    run = rd.simulate(
        stack((1.0, 1.0), base="moving"), q0=[0.0, h], base=lift, duration=1.5, step=2e-3,
        stops=rd.RigidStops(e), limits="ignore",
    )  # fmt: skip
    times = [event.time for event in run.events if event.name.startswith("z1 at its")]
    fall = math.sqrt(2 * h / (G + a))
    bounces = fall * (1 + 2 * np.r_[0, np.cumsum(e ** np.arange(1, len(times)))])
    np.testing.assert_allclose(times, bounces, rtol=1e-8)
    np.testing.assert_allclose(run.q[-1], 0.0, atol=1e-12)


@pytest.mark.parametrize("masses, q", [
    ((2.0, 1.0, 2.0), (0.34, 0.0, 0.8)),
    ((2.0, 3.0, 1.0, 2.0), (0.64, 0.27, 0.04, 0.02)),
])  # fmt: skip
@pytest.mark.parametrize("e", [0.2, 0.5])
def test_a_stack_comes_to_rest(masses, q, e):
    """Also where bodies hit each other ever more often while all of them still fall."""
    run = rd.simulate(
        stack(masses), q0=q, duration=3.0, step=2e-3, stops=rd.RigidStops(e), limits="ignore"
    )
    np.testing.assert_allclose(run.q[-1], 0.0, atol=1e-9)
    np.testing.assert_array_equal(run.v[-1], 0.0)
    assert np.diff(run.energy).max() < 1e-9 * run.energy[0]


@pytest.mark.parametrize("name, seed, e", [
    ("arm7", 1, 0.1), ("puma560", 2, 0.1), ("palletizer", 1, 0.1), ("palletizer", 1, 0.7),
])  # fmt: skip
def test_arms_fall_into_their_stops(name, seed, e):
    """The landing of one joint throws another off its stop, whose landing throws the first."""
    robot = rd.load(name, passive=False)
    run = rd.simulate(
        robot, q0=robot.random(np.random.default_rng(seed)), duration=2.5, stops=rd.RigidStops(e),
        limits="ignore",
    )  # fmt: skip
    assert run.t[-1] == 2.5
    assert np.diff(run.energy).max() < 1e-6 * np.ptp(run.energy)
    assert (run.q > robot.lower_limits - 1e-8).all()
    assert (run.q < robot.upper_limits + 1e-8).all()


def test_a_linkage_with_a_stop():
    closed = limited("four_bar", {"crank_pin": (-0.6, 0.4)}, passive=False)
    assert np.isfinite(closed.upper_limits).sum() == 1
    q0 = closed.neutral()
    v0 = closed.consistent_velocity(q0, [6.0, 0.0, 0.0], hold=["crank_drive"])
    e = 0.7
    run = rd.simulate(closed, q0=q0, v0=v0, duration=1.5, step=5e-4, stops=rd.RigidStops(e))
    hits = [event for event in run.events if "at its" in event.name]
    assert len(hits) >= 2
    at = closed.joints["crank_pin"].q
    assert (run.q[:, at] > -0.6 - 1e-8).all()
    assert (run.q[:, at] < 0.4 + 1e-8).all()
    assert run.loop_residual.max() < 1e-9
    before, after = np.flatnonzero(run.t == hits[0].time)[:2]
    assert run.v[after, 1] == pytest.approx(-e * run.v[before, 1], rel=1e-9)
    # one degree of freedom: all speeds turn round
    np.testing.assert_allclose(run.v[after], -e * run.v[before], rtol=1e-7)
    lost = sum(event.energy_loss for event in run.events)
    assert lost == pytest.approx(run.energy[0] - run.energy[-1], abs=1e-5)


def test_driven_joints_are_not_stopped_and_others_are():
    robot = limited(
        "double_pendulum", {"shoulder": (-0.1, 0.1), "elbow": (-0.2, 0.2)}, passive=False
    )
    w = 3.0

    def path(t):
        return 0.5 * math.sin(w * t), 0.5 * w * math.cos(w * t), -0.5 * w * w * math.sin(w * t)

    run = rd.simulate(
        robot, duration=1.0, controlled={"shoulder": path}, stops=rd.RigidStops(0.3),
        limits="ignore",
    )  # fmt: skip
    np.testing.assert_allclose(run.q[:, 0], 0.5 * np.sin(w * run.t), atol=1e-12)
    assert (np.abs(run.q[:, 1]) < 0.2 + 1e-8).all()
    assert any("elbow" in event.name for event in run.events)
    assert not any("shoulder" in event.name for event in run.events)


def test_a_moving_base_pushes_a_joint_into_its_stop():
    """A base that is thrown up holds the body at its lower stop; at free fall it leaves."""
    robot = slides(2.0, joint="z", axis=Z, limits=(0.0, 100.0), base="moving")
    A, w = 0.5, 2 * math.pi

    def base(t):
        return rd.BaseMotion.from_world(
            position=(0, 0, A * math.sin(w * t)),
            linear_velocity=(0, 0, A * w * math.cos(w * t)),
            linear_acceleration=(0, 0, -A * w * w * math.sin(w * t)),
        )

    run = rd.simulate(robot, base=base, duration=0.3, step=1e-3, stops=rd.RigidStops())
    leaves = math.asin(G / (A * w * w)) / w
    names = [event.name for event in run.events]
    assert names == ["z at its lower stop", "z leaves its lower stop"]
    assert run.events[1].time == pytest.approx(leaves, abs=1e-9)


def test_a_start_beyond_a_stop_is_refused_unless_rounding_makes_it_so():
    with pytest.raises(rd.ShapeError, match=r"'z0' .* starts at -0.1, beyond its lower stop at 0"):
        rd.simulate(falling(), q0=[-0.1], stops=rd.RigidStops())
    run = rd.simulate(falling(), q0=[-1e-12], duration=0.01, stops=rd.RigidStops())
    assert np.abs(run.q).max() < 1e-9


def test_the_energy_of_each_mode_adds_up():
    """The hit after which a stop holds its joint belongs to the mode that it begins."""
    arm = rd.load("arm7", passive=False)
    q = arm.random(np.random.default_rng(1))
    run = rd.simulate(arm, q0=q, duration=0.5, stops=rd.RigidStops(0.1), limits="ignore")
    assert len(run.phases) == 4
    for phase in run.phases:
        assert np.abs(phase.audit.unexplained).max() < 1e-6
        assert all(phase.t[0] <= event.time < phase.t[-1] for event in phase.events)


@pytest.mark.parametrize("speed", [0.0, 3.0])
def test_the_record_says_what_another_event_does_to_a_joint_at_its_stop(speed):
    """It leaves once if it does, and does not come again to where it stayed."""
    kick = rd.Event(0.5, rd.events.jump(v=[speed]), name="kick")
    run = rd.simulate(falling(), duration=1.0, step=1e-2, stops=rd.RigidStops(), events=[kick])
    left = ["z0 leaves its lower stop"] if speed else []
    assert [x.name for x in run.events] == ["z0 at its lower stop", "kick", *left]
    assert run.q[-1, 0] == pytest.approx(speed * 0.5 - 0.5 * G * 0.5**2 if speed else 0.0)


def test_a_joint_that_is_held_does_not_come_to_its_stop_again_with_another():
    robot = falling(n=2)
    run = rd.simulate(robot, q0=[0.0, 1.0], duration=1.0, step=1e-2, stops=rd.RigidStops())
    assert [x.name for x in run.events] == ["z0 at its lower stop", "z1 at its lower stop"]


@pytest.mark.parametrize("by", ["controller", "event"])
def test_one_joint_is_let_go_where_another_is_held(by):
    """As many are held as before, but not the same."""
    robot = falling(n=2, gravity=(0, 0, 0))
    first, then = np.array([-4.0, 0.0]), np.array([4.0, -4.0])

    def late(t, q, v):
        return then if t >= 0.5 else first

    swap = rd.Event(0.5, lambda state: rd.events.Change(controller=lambda t, q, v: then))
    controller, happening = (late, []) if by == "controller" else (lambda t, q, v: first, [swap])
    run = rd.simulate(
        robot, controller, duration=1.0, step=1e-2, stops=rd.RigidStops(), events=happening
    )
    changes = [x.name for x in run.events if x.time == 0.5 and "stop" in x.name]
    assert changes == ["z1 at its lower stop", "z0 leaves its lower stop"]
    np.testing.assert_allclose(run.q[-1], [0.25, 0.0], atol=1e-12)


def test_rebounds_without_end_come_to_rest_though_nothing_pushes_at_the_stop():
    """At the stop itself no force tells how long a rebound lasts."""

    def pull(t, q, v):
        return {"b0": [0.0, 0.0, -20.0 * max(q[0], 0.0) / (abs(q[0]) + 1e-7), 0.0, 0.0, 0.0]}

    run = rd.simulate(
        falling(gravity=(0, 0, 0)), q0=[1e-6], v0=[-2e-3], duration=1.0, step=0.1, wrenches=pull,
        stops=rd.RigidStops(0.9),
    )  # fmt: skip
    assert len(run.events) >= 4
    np.testing.assert_array_equal(run.v[-1], 0.0)


def test_a_method_that_cannot_hold_joints_is_refused_with_stops():
    with pytest.raises(
        rd.SettingsError, match=r"rigid stops hold .* 'variational' .*CompliantStops"
    ):
        rd.simulate(falling(), q0=[1.0], integrator="variational", stops=rd.RigidStops())


@pytest.mark.parametrize("seed", range(30))
def test_complementarity(seed):
    rng = np.random.default_rng(seed)
    n, rank = rng.integers(1, 7), rng.integers(1, 7)
    J = rng.normal(size=(n, rank))
    A, b = J @ J.T, J @ rng.normal(size=rank)
    p = complementary(A, b)
    rest = A @ p + b
    assert (p >= 0.0).all()
    assert (rest > -1e-9).all()
    np.testing.assert_allclose(p * rest, 0.0, atol=1e-8)
