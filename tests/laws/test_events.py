"""Events that act: against closed forms, and conservation of what they have to conserve."""

import dataclasses
import math

import numpy as np
import pytest
from support.slides import Z, slides

import robodyn as rd
from robodyn import events

G = 9.81


def sliders(n, masses=None):
    """Bodies that slide along x, each on its own joint from the ground, without gravity."""
    names = {"joint": "x{}", "link": "b{}", "limits": (-100.0, 100.0)}
    return slides(*(masses or [1.0] * n), **names, gravity=(0, 0, 0))


@pytest.fixture(scope="module")
def ball():
    return slides(2.0, joint="fall", link="ball", axis=Z, limits=(-100.0, 100.0))


@pytest.fixture(scope="module")
def double():
    return rd.load("double_pendulum", passive=False)


def floor(restitution):
    hit = events.impact("ball", (0, 0, 0), (0, 0, 1), restitution=restitution)
    return rd.Event(lambda t, q, v: q[0], hit, direction=-1, name="floor")


# -- bouncing ball --------------------------------------------------------------------------------


def bounces(h, e, n):
    """Instants of the first bounces of a ball that falls from rest at height h."""
    first = math.sqrt(2 * h / G)
    return first * (1 + 2 * np.r_[0, np.cumsum(e ** np.arange(1, n))])


@pytest.mark.parametrize("step", [1e-3, 0.07])
def test_a_ball_bounces_as_in_the_book(ball, step):
    e, h = 0.8, 1.0
    run = rd.simulate(ball, q0=[h], duration=2.5, step=step, events=[floor(e)])
    times = [event.time for event in run.events]
    np.testing.assert_allclose(times, bounces(h, e, len(times)), rtol=1e-11)
    assert len(times) == 4
    for k, event in enumerate(run.events):
        assert event.name == "floor"
        speed = e**k * math.sqrt(2 * G * h)
        assert event.dissipated == pytest.approx(0.5 * 2 * speed**2 * (1 - e**2), rel=1e-9)
        assert event.energy_loss == pytest.approx(event.dissipated, rel=1e-9)
    lost = run.energy[0] - run.energy[-1]
    assert sum(event.energy_loss for event in run.events) == pytest.approx(lost, rel=1e-9)
    assert run.q.min() > -5e-12 * step


def test_the_step_makes_no_difference_between_events(ball):
    """Constant acceleration is exact for any step: so are the bounces."""
    fine, coarse = (
        rd.simulate(ball, q0=[1.0], duration=1.0, step=step, events=[floor(0.7)])
        for step in (1e-3, 0.5)
    )
    np.testing.assert_allclose(fine.q[-1], coarse.q[-1], atol=1e-10)


def test_bounces_without_end_are_named(ball):
    e, h = 0.5, 1.0
    with pytest.raises(rd.SimulationError, match="'floor' has happened") as caught:
        rd.simulate(ball, q0=[h], duration=5.0, step=1e-3, events=[floor(e)])
    first = math.sqrt(2 * h / G)
    end = first * (1 + 2 * e / (1 - e))
    assert f"without end until t = {end:.5f}" in str(caught.value)
    assert caught.value.time == pytest.approx(end, abs=1e-5)
    assert caught.value.trajectory.t[-1] == caught.value.time
    assert len(caught.value.trajectory.events) > 10


def test_bodies_that_do_not_part_are_named(ball):
    with pytest.raises(rd.SimulationError, match="'floor': the bodies do not part") as caught:
        rd.simulate(ball, q0=[1.0], duration=5.0, step=1e-3, events=[floor(0.0)])
    assert caught.value.time == pytest.approx(math.sqrt(2 / G), rel=1e-9)


def test_a_ball_that_starts_on_the_floor_is_named(ball):
    with pytest.raises(rd.SimulationError, match="'floor'"):
        rd.simulate(ball, duration=1.0, events=[floor(0.5)])


def test_events_that_move_the_robot_across_each_other(double):
    def flip(state):
        return events.Change(q=-state.q)

    ping = rd.Event(lambda t, q, v: q[0] - 0.1, flip, name="ping")
    pong = rd.Event(lambda t, q, v: q[0] + 0.1, flip, name="pong")
    run = rd.simulate(double, q0=[0.2, 0], duration=1.0, events=[ping, pong])
    assert [event.name for event in run.events] == ["ping", "pong"]
    for event, side in zip(run.events, (0.1, -0.1), strict=True):
        before, after = np.flatnonzero(run.t == event.time)[-2:]
        assert run.q[before, 0] == pytest.approx(side, abs=1e-12)
        np.testing.assert_array_equal(run.q[after], -run.q[before])
        np.testing.assert_array_equal(run.v[after], run.v[before])


# -- when -----------------------------------------------------------------------------------------


@pytest.mark.parametrize("step", [1e-3, 0.01, 0.3])
@pytest.mark.parametrize("at", [0.0, 0.25, 0.3, 0.123456, 1.0])
def test_an_instant_is_hit_exactly(double, at, step):
    kick = events.jump(v=lambda state: state.v + np.array([1.0, 0.0]))
    run = rd.simulate(double, duration=1.0, step=step, events=[rd.Event(at, kick)])
    (event,) = run.events
    assert event.time == pytest.approx(at, abs=1e-15)
    before, after = np.flatnonzero(run.t == event.time)
    np.testing.assert_allclose(run.v[after] - run.v[before], [1.0, 0.0], atol=1e-14)
    assert run.t[-1] == 1.0
    assert (np.diff(run.t) >= 0).all()


def test_an_instant_is_that_of_a_sample_from_which_rounding_parts_it():
    """Of steps of 0.1 s the third ends at 0.30000000000000004 s."""
    kick = rd.Event(0.3, events.jump(v=[2.0]))
    run = rd.simulate(sliders(1), v0=[1.0], duration=1.0, step=0.1, events=[kick])
    assert len(run.t) == 12 and run.events[0].time == run.t[3] == run.t[4] == 0.1 + 0.2


@pytest.mark.parametrize("rising", [1, -1])
@pytest.mark.parametrize("direction", [1, -1, 0])
def test_direction_of_a_function_that_jumps_between_steps(double, direction, rising):
    """It tells of a flag, which the controller sets."""
    flag = [-rising]

    def controller(t, q, v):
        flag[0] = rising if t >= 0.1 else -rising
        return 0.0 * v

    noted = rd.Event(lambda t, q, v: float(flag[0]), lambda state: events.Change(), direction)
    run = rd.simulate(
        double, controller, q0=[0.5, 0.2], duration=0.2, limits="ignore", events=[noted]
    )
    expected = [0.1] if direction in (rising, 0) else []
    assert [event.time for event in run.events] == pytest.approx(expected)


@pytest.mark.parametrize("direction", [1, -1, 0])
def test_direction(double, direction):
    """A small swing from rest passes the bottom downwards in its angle, then upwards."""
    event = rd.Event(lambda t, q, v: q[0], lambda state: events.Change(), direction=direction)
    run = rd.simulate(double, q0=[0.01, 0.014], duration=3.0, events=[event])
    sign = np.sign(run.q[:, 0])
    crossings = np.flatnonzero(sign[1:] != sign[:-1])
    rises = sign[1:][crossings] > 0
    wanted = rises if direction == 1 else ~rises if direction == -1 else np.ones_like(rises)
    assert len(run.events) == wanted.sum() > 0


# -- several at once ------------------------------------------------------------------------------


@pytest.mark.parametrize("order", [(0, 1, 2), (2, 0, 1), (1, 2, 0)])
def test_events_at_one_instant_happen_in_the_order_given(double, order):
    seen = []

    def note(name):
        def action(state):
            seen.append((name, state.earlier, state.v[0]))
            return events.Change(v=state.v + np.array([1.0, 0.0]))

        return action

    made = [
        rd.Event(lambda t, q, v: t - 0.12345, note("a"), name="a"),
        rd.Event(lambda t, q, v: 3 * (t - 0.12345), note("b"), name="b"),
        rd.Event(0.12345, note("c"), name="c"),
    ]
    given = [made[k] for k in order]
    run = rd.simulate(double, duration=0.2, step=1e-2, events=given)
    names = [event.name for event in given]
    assert [x[0] for x in seen] == names == [event.name for event in run.events]
    assert [x[1] for x in seen] == [(), tuple(names[:1]), tuple(names[:2])]
    start = seen[0][2]
    np.testing.assert_allclose([x[2] - start for x in seen], [0, 1, 2], atol=1e-14)


def test_a_jump_across_zero_happens_at_once(double):
    """What a jump carries another event's function across happens at the same instant."""
    kick = rd.Event(0.1, events.jump(v=[3.0, 0.0]), name="kick")
    fast = rd.Event(lambda t, q, v: v[0] - 2.0, events.stop, name="fast")
    run = rd.simulate(double, duration=1.0, events=[fast, kick])
    assert [event.name for event in run.events] == ["kick", "fast"]
    assert run.t[-1] == 0.1
    assert run.v[-1, 0] == 3.0


def test_a_row_of_balls():
    """One of them hits a row of equal ones that touch: the last one flies off alone."""
    n = 5
    row = sliders(n)
    made = [
        rd.Event(
            lambda t, q, v, k=k: q[k + 1] - q[k],
            events.impact(
                f"b{k}", (0, 0, 0), (-1, 0, 0), restitution=1.0, against=(f"b{k + 1}", (0, 0, 0))
            ),
            direction=-1,
            name=f"{k}-{k + 1}",
        )
        for k in range(n - 1)
    ]
    q0, v0 = np.zeros(n), np.zeros(n)
    q0[0], v0[0] = -0.123, 1.0
    run = rd.simulate(row, q0=q0, v0=v0, duration=0.5, step=0.01, events=made)
    np.testing.assert_allclose(run.v[-1], [0, 0, 0, 0, 1.0], atol=1e-12)
    # balls that rounding lets go on at 1e-16 m/s may touch again
    first = {event.name: event.time for event in reversed(run.events)}
    assert [*reversed(first)] == ["0-1", "1-2", "2-3", "3-4"]
    np.testing.assert_allclose([*first.values()], 0.123, atol=1e-11)
    assert sum(event.energy_loss for event in run.events) == pytest.approx(0.0, abs=1e-12)


def test_unequal_balls_meet_again_at_one_instant():
    """A light ball between heavy ones goes to and fro; momentum and energy stay."""
    masses = [1.0, 0.1, 2.0]
    row = sliders(3, masses)
    made = [
        rd.Event(
            lambda t, q, v, k=k: q[k + 1] - q[k],
            events.impact(
                f"b{k}", (0, 0, 0), (-1, 0, 0), restitution=1.0, against=(f"b{k + 1}", (0, 0, 0))
            ),
            direction=-1,
        )
        for k in range(2)
    ]
    run = rd.simulate(row, q0=[-0.1, 0, 0], v0=[1.0, 0, 0], duration=0.5, step=0.01, events=made)
    v = run.v[-1]
    assert v[0] <= v[1] <= v[2]
    assert np.dot(masses, v) == pytest.approx(1.0, rel=1e-12)
    assert np.dot(masses, v**2) == pytest.approx(1.0, rel=1e-12)
    assert len(run.events) > 2


# -- what moves changes ---------------------------------------------------------------------------


def whole_momentum(robot, q, v, at=(0.0, 0.0, 0.0)):
    """Momentum, and moment of momentum about a point of the world."""
    h = robot.momentum(q, v)
    force, com = h[..., :3], robot.center_of_mass(q)
    return np.concatenate([force, h[..., 3:] + np.cross(com - at, force)], axis=-1)


def test_a_floating_arm_that_grasps_keeps_the_momentum_of_both():
    arm = rd.load("pan_tilt", base="floating", passive=False, gravity=(0, 0, 0))
    hand = arm.link_names[-1]
    body = rd.Inertia.from_matrix(0.7, (0.1, 0.2, -1.1), np.diag([0.02, 0.03, 0.04]))
    velocity, spin = np.array([0.3, -0.4, 0.9]), np.array([1.0, 2.0, -0.5])
    catch = events.grasp(hand, body, velocity=velocity, angular_velocity=spin)
    v0 = np.array([0.1, 0.2, 0.3, 0.5, -0.4, 0.2, 1.0, -0.7])
    q0 = arm.neutral()
    q0[-2:] = [0.4, 0.9]
    run = rd.simulate(arm, q0=q0, v0=v0, duration=0.4, events=[rd.Event(0.2, catch)])
    (event,) = run.events
    at = np.flatnonzero(run.t == 0.2)
    q, v = run.q[at], run.v[at]
    np.testing.assert_array_equal(q[0], q[1])
    X = arm.frame_pose(q[0], hand)
    com = X[:3, :3] @ [0.1, 0.2, -1.1] + X[:3, 3]
    J = X[:3, :3] @ body.matrix @ X[:3, :3].T
    own = np.concatenate([0.7 * velocity, J @ spin + np.cross(com, 0.7 * velocity)])
    both = run.phases[1].robot
    assert both.total_mass == pytest.approx(arm.total_mass + 0.7)
    after = whole_momentum(both, q[1], v[1])
    np.testing.assert_allclose(after, whole_momentum(arm, q[0], v[0]) + own, atol=1e-12)
    T = 0.5 * 0.7 * velocity @ velocity + 0.5 * spin @ J @ spin
    lost = arm.kinetic_energy(q[0], v[0]) + T - both.kinetic_energy(q[1], v[1])
    assert event.dissipated == pytest.approx(lost, rel=1e-10)
    assert event.energy_loss == pytest.approx(run.energy[at[0]] - run.energy[at[1]], rel=1e-10)
    np.testing.assert_allclose(whole_momentum(both, run.q[-1], run.v[-1]), after, atol=1e-9)


def test_what_is_dropped_takes_its_share_along(double):
    body = rd.Inertia.from_matrix(0.5, (0, 0, -1), np.diag([0.01, 0.01, 0.01]))
    made = [
        rd.Event(0.1, events.grasp("lower", body), name="catch"),
        rd.Event(0.2, events.drop("lower"), name="drop"),
    ]
    run = rd.simulate(double, q0=[0.4, 0.6], duration=0.3, events=made)
    assert [phase.robot.total_mass for phase in run.phases] == pytest.approx(
        [double.total_mass, double.total_mass + 0.5, double.total_mass]
    )
    assert run.phases[2].robot is double
    before, after = np.flatnonzero(run.t == 0.2)
    np.testing.assert_array_equal(run.v[before], run.v[after])
    assert run.events[1].dissipated == 0.0
    for phase in run.phases:
        assert np.ptp(phase.energy) < 1e-9
    total = run.energy[0] - run.energy[-1]
    assert sum(event.energy_loss for event in run.events) == pytest.approx(total, abs=1e-8)
    assert len(run) == sum(len(phase) for phase in run.phases)
    # joints bear the weight and inertia of what moves then: forces are rates of momentum
    force = run.joint_wrenches()["base"][:, :3]
    weight = np.array([0.0, 0.0, G])
    rates = [
        np.gradient(x.robot.momentum(x.q, x.v)[:, :3], x.t, axis=0) + x.robot.total_mass * weight
        for x in run.phases
    ]
    inner = np.concatenate([np.arange(len(x)) % (len(x) - 1) > 0 for x in run.phases])
    np.testing.assert_allclose(force[inner], np.concatenate(rates)[inner], atol=0.01)
    middle = run[len(run) // 2]
    assert middle.phases[0].robot is run.phases[1].robot
    assert middle.energy == middle.kinetic_energy + middle.potential_energy
    assert middle.potential_energy == run.potential_energy[len(run) // 2]
    np.testing.assert_array_equal(middle.joint_wrenches()["base"][0, :3], force[len(run) // 2])
    # what comes after is what the robot alone does from there
    alone = rd.simulate(double, q0=run.q[after], v0=run.v[after], duration=0.1)
    np.testing.assert_allclose(run.q[-1], alone.q[-1], atol=1e-12)


def test_only_what_was_grasped_can_be_dropped(double):
    with pytest.raises(rd.SettingsError, match="has grasped nothing"):
        rd.simulate(double, duration=0.1, events=[rd.Event(0.05, events.drop("lower"))])


def test_latch_then_release(double):
    made = [
        rd.Event(lambda t, q, v: q[1] - 0.3, events.latch(["elbow"]), name="latch"),
        rd.Event(0.5, events.release(["elbow"]), name="release"),
    ]
    run = rd.simulate(double, q0=[1.0, 0.0], v0=[0.0, 2.0], duration=0.8, events=made)
    at = run.events[0].time
    before, after = np.flatnonzero(run.t == at)
    caught = double.latch(run.q[before], run.v[before], ["elbow"])
    np.testing.assert_allclose(run.v[after], caught.v, atol=1e-12)
    assert run.events[0].dissipated == pytest.approx(float(caught.energy_loss), rel=1e-9)
    held = (run.t > at) & (run.t < 0.5)
    np.testing.assert_allclose(run.q[held, 1], 0.3, atol=1e-11)
    np.testing.assert_array_equal(run.v[held, 1], 0.0)
    # as one body it swings like the robot with the elbow welded
    stiff = double.with_(locked={"elbow": run.q[after, 1]})
    weld = rd.simulate(stiff, q0=run.q[after, :1], v0=run.v[after, :1], duration=0.5 - at)
    (end,) = np.flatnonzero(run.t == 0.5)[:1]
    np.testing.assert_allclose(run.q[end, 0], weld.q[-1, 0], atol=1e-9)
    assert run.events[1].energy_loss == pytest.approx(0.0, abs=1e-12)
    assert abs(run.v[-1, 1]) > 0.1
    for phase in run.phases:
        assert np.ptp(phase.energy) < 1e-7


def test_a_driven_joint_takes_up_its_path_with_an_impulse(double):
    start = 0.2

    def path(t):
        return 0.3 + 2.0 * (t - start), 2.0, 0.0

    drive = events.drive({"elbow": path})
    run = rd.simulate(
        double, q0=[0.5, 0.3], duration=0.4, locked=["elbow"],
        events=[rd.Event(start, [events.release(["elbow"]), drive])],
    )  # fmt: skip
    before, after = np.flatnonzero(run.t == start)
    assert run.v[after, 1] == 2.0
    np.testing.assert_allclose(run.q[-1, 1], 0.7, atol=1e-12)
    # the impulse acts along the elbow alone: that of the shoulder stays
    M = double.mass_matrix(run.q[before])
    impulse = M @ (run.v[after] - run.v[before])
    assert impulse[0] == pytest.approx(0.0, abs=1e-12)
    assert impulse[1] > 0.1


def test_a_path_that_starts_elsewhere_is_refused(double):
    drive = events.drive({"elbow": lambda t: (1.0, 0.0, 0.0)})
    with pytest.raises(rd.SimulationError, match="away from where its path is") as caught:
        rd.simulate(double, duration=0.2, events=[rd.Event(0.1, drive)])
    assert caught.value.trajectory.t[-1] == 0.1


@pytest.mark.parametrize("symbolic", [True, False])
def test_a_controller_with_a_state_takes_over(double, symbolic):
    """Its state begins where it takes over: the torque is the time since then."""

    class Clock:
        def initial_state(self, sample):
            return {"since": 0.0}

        def update(self, sample, state):
            since = state["since"] + sample.h
            return [since, 0.0 * since], {"since": since}

    Clock.symbolic = symbolic
    made = [rd.Event(0.1, events.switch(Clock()))]
    run = rd.simulate(double, duration=0.2, step=0.01, events=made, limits="ignore")
    after = np.flatnonzero(run.t == 0.1)[-1]
    np.testing.assert_array_equal(run.tau[:after], 0.0)
    np.testing.assert_allclose(run.tau[after:, 0], run.t[after:] - 0.1, atol=1e-12)


def test_torques_are_held_through_an_event(double):
    """A digital controller knows nothing of events: it is asked at the steps."""
    asked = []

    def controller(t, q, v):
        asked.append(t)
        return [t, 0.0]

    kick = rd.Event(0.105, events.jump(v=[0.0, 1.0]))
    run = rd.simulate(double, controller, duration=0.2, step=0.01, events=[kick])
    np.testing.assert_allclose(asked, np.arange(21) * 0.01, atol=1e-15)
    assert run.tau[run.t == 0.105, 0].tolist() == pytest.approx([0.1, 0.1])


# -- loops ----------------------------------------------------------------------------------------


def without_joint(robot, name):
    """The robot with a joint broken off."""
    left = tuple(joint for joint in robot.mechanism.joints if joint.name != name)
    mechanism = dataclasses.replace(robot.mechanism, joints=left)
    return rd.Robot(mechanism, robot.model.settings)


def test_a_loop_is_cut_and_closed_again():
    """A four-bar loses its last pin: its bodies fly on as a tree from the same state."""
    closed = rd.load("four_bar", passive=False)
    q0 = closed.neutral()
    v0 = closed.consistent_velocity(q0, [3.0, 0.0, 0.0], hold=["crank_drive"])
    tree = without_joint(closed, "rocker_pin")
    assert tree.nc == 0
    cut = rd.Event(0.1, events.become(tree), name="cut")
    run = rd.simulate(closed, q0=q0, v0=v0, duration=0.2, events=[cut])
    before, after = np.flatnonzero(run.t == 0.1)
    np.testing.assert_allclose(run.q[before], run.q[after], atol=1e-15)
    np.testing.assert_allclose(run.v[before], run.v[after], atol=1e-15)
    assert run.events[0].energy_loss == pytest.approx(0.0, abs=1e-12)
    assert run.phases[1].robot is tree
    assert np.abs(closed.loop_residual(run.q[-1])).max() > 1e-3
    loads = run.joint_wrenches(["crank_pin", "rocker_pin"])
    for found in (loads, loads.bearing, loads.in_frame("world")):
        assert np.isfinite(found["crank_pin"]).all()
        assert (
            np.isfinite(found["rocker_pin"]).all(axis=1) == (np.arange(len(run)) <= before)
        ).all()
    with pytest.raises(rd.UnknownNameError):
        run.joint_wrenches(["crank_pin", "nosuch"])
    # closed again where it is still closed: the pin gives an impulse
    v = np.array([1.0, 2.0, -1.0])
    close = rd.Event(0.0, events.become(closed), name="close")
    again = rd.simulate(tree, q0=q0, v0=v, duration=0.1, events=[close])
    np.testing.assert_allclose(again.v[1], closed.consistent_velocity(q0, v), atol=1e-12)
    jump = closed.mass_matrix(q0) @ (again.v[1] - v)
    K = closed.loop_jacobian(q0)
    np.testing.assert_allclose(jump, K.T @ np.linalg.lstsq(K.T, jump, rcond=None)[0], atol=1e-10)
    assert again.events[0].dissipated > 0.0
    with pytest.raises(rd.SimulationError, match="open by"):
        late = rd.Event(0.05, events.become(closed), name="close")
        rd.simulate(tree, q0=q0, v0=v, duration=0.1, events=[late])


# -- what is told of it ---------------------------------------------------------------------------


def test_the_audit_of_a_motion_with_phases_adds_up(double):
    body = rd.Inertia.from_matrix(0.5, (0, 0, -1), np.diag([0.01, 0.01, 0.01]))
    made = [
        rd.Event(0.1, events.grasp("lower", body, velocity=(2.0, 0.0, 1.0)), name="catch"),
        rd.Event(0.2, events.latch(["elbow"]), name="latch"),
        rd.Event(0.3, events.release(["elbow"]), name="release"),
        rd.Event(0.4, events.drop("lower"), name="drop"),
    ]
    run = rd.simulate(double, lambda t, q, v: [3.0, -1.0], duration=0.5, events=made)
    assert len(run.phases) == 5
    audit = run.audit
    assert np.abs(audit.unexplained).max() < 1e-8 * audit.exchanged
    assert audit.impacts[-1] == pytest.approx(sum(event.energy_loss for event in run.events))
    np.testing.assert_allclose(audit.stored, run.energy, atol=1e-12)
    back, some = run[::-1], run[[120, 20, 350, 30, 40]]
    assert [phase.robot for phase in back.phases] == [phase.robot for phase in run.phases[::-1]]
    assert [len(phase) for phase in some.phases] == [1, 1, 1, 2]
    for other, index in ((back, slice(None, None, -1)), (some, [120, 20, 350, 30, 40])):
        np.testing.assert_array_equal(other.energy, run.energy[index])
        np.testing.assert_array_equal(np.concatenate([x.t for x in other.phases]), run.t[index])
        with pytest.raises(rd.SettingsError, match="samples run back in time, from"):
            _ = other.audit
    part = run[50:250]
    assert len(part.phases) == 3
    np.testing.assert_allclose(part.energy, run.energy[50:250], atol=1e-12)
    assert [event.name for event in part.events] == ["catch", "latch"]
    other = run.resample(0.0125)
    assert [phase.robot for phase in other.phases] == [phase.robot for phase in run.phases]
    assert [event.name for event in other.events] == ["catch", "latch", "release", "drop"]
    after = [run.t.searchsorted(t, side="right") - 1 for t in (0.1, 0.2, 0.3, 0.4)]
    at = [8, 16, 24, 32]  # what the last sample at each event has
    for name in ("q", "v", "a", "tau"):
        np.testing.assert_allclose(
            getattr(other, name)[at], getattr(run, name)[after], atol=1e-12, equal_nan=True
        )
    np.testing.assert_allclose(other.energy[at], run.energy[after], atol=1e-12)
    near = run.t.searchsorted(0.1125)
    np.testing.assert_allclose(other.q[9], 0.5 * (run.q[near - 1] + run.q[near]), atol=1e-5)
    assert len(run.resample([]).events) == 0


@pytest.mark.parametrize(("direction", "happens"), [(1, True), (0, True), (-1, False)])
def test_a_jump_carries_a_function_across_zero_in_its_direction(direction, happens):
    turn = rd.Event(0.05, events.jump(v=lambda state: -state.v), name="turn")
    event = rd.Event(lambda t, q, v: v[0], direction=direction, name="across")
    run = rd.simulate(sliders(1), v0=[-1.0], duration=0.1, events=[turn, event])
    names = [x.name for x in run.events]
    assert names == (["turn", "across"] if happens else ["turn"])
    assert {round(x.time, 9) for x in run.events} == {0.05}


# -- with everything else -------------------------------------------------------------------------


@pytest.mark.parametrize(
    "integrator", ["euler", "semi_implicit", "rk4", "adaptive", "implicit", "variational", "auto"]
)
def test_with_every_integrator(double, integrator):
    """A kick at an angle: the first part of the motion is exact to the order of the method."""
    kick = rd.Event(
        lambda t, q, v: q[0] - 0.4,
        events.jump(v=lambda state: state.v * [-1.0, 1.0]),
        direction=-1,
        name="kick",
    )
    options = {"q0": [0.5, 0.1], "duration": 0.4, "events": [kick]}
    run = rd.simulate(double, **options, step=1e-4, integrator=integrator)
    exact = rd.simulate(double, **options, step=1e-3)
    assert [event.name for event in run.events] == ["kick"]
    tolerance = 2e-3 if "euler" in integrator or integrator == "semi_implicit" else 1e-6
    assert run.events[0].time == pytest.approx(exact.events[0].time, abs=tolerance)
    np.testing.assert_allclose(run.q[-1], exact.q[-1], atol=3 * tolerance)
    before = np.flatnonzero(run.t == run.events[0].time)[0]
    assert abs(run.q[before, 0] - 0.4) < 1e-12


def test_a_linkage_hits_a_wall():
    """The crank pin of a four-bar against a wall, elastically: the motion goes back as it came."""
    closed = rd.load("four_bar", passive=False, gravity=(0, 0, 0))
    q0 = closed.neutral()
    v0 = closed.consistent_velocity(q0, [2.0, 0.0, 0.0], hold=["crank_drive"])
    wall = rd.Event(
        lambda t, q, v: 0.35 - q[0],
        events.impact(
            "coupler",
            (0, 0, 0),
            lambda state: -closed.frame_twist(state.q, state.v, "coupler", axes="world")[:3],
            restitution=1.0,
        ),
        direction=-1,
        name="wall",
    )
    run = rd.simulate(closed, q0=q0, v0=v0, duration=0.3, step=1e-3, events=[wall])
    (event,) = run.events
    before, after = np.flatnonzero(run.t == event.time)
    np.testing.assert_allclose(run.v[after], -run.v[before], rtol=1e-9)
    assert event.energy_loss == pytest.approx(0.0, abs=1e-10)
    assert run.loop_residual.max() < 1e-9
    back = rd.simulate(closed, q0=run.q[after], v0=run.v[after], duration=event.time, step=1e-3)
    np.testing.assert_allclose(back.q[-1], q0, atol=1e-6)


def test_a_base_that_moves_carries_the_robot_into_a_wall():
    robot = rd.load("double_pendulum", base="moving", passive=False)

    def drive(t):
        return rd.BaseMotion.from_world(position=(0.5 * t, 0, 0), linear_velocity=(0.5, 0, 0))

    def gap(t, q, v):
        return 0.1 - robot.frame_pose(q, "lower", base=drive(t))[0, 3]

    hit = events.impact("lower", (0, 0, 0), (-1, 0, 0), restitution=0.5)
    wall = rd.Event(gap, hit, direction=-1, name="wall")
    run = rd.simulate(robot, base=drive, duration=0.25, events=[wall])
    event = run.events[0]
    before, after = np.flatnonzero(run.t == event.time)
    base = drive(event.time)
    u = [
        robot.frame_twist(run.q[k], run.v[k], "lower", base=base, axes="world")[0]
        for k in (before, after)
    ]
    assert u[0] > 0.0
    assert u[1] == pytest.approx(-0.5 * u[0], rel=1e-9)
    pose = robot.frame_pose(run.q[after], "lower", base=base)
    assert pose[0, 3] == pytest.approx(0.1, abs=1e-12)
    assert event.dissipated > 0.0


def test_a_driven_joint_does_not_jump_in_an_impact(double):
    w = 2.0
    hit = events.impact("lower", (0, 0, -1), (-1, 0, 0), restitution=0.0)
    wall = rd.Event(0.1, [hit, events.stop])
    run = rd.simulate(
        double, q0=[0.0, 0.3], v0=[0.0, -9.0], duration=0.2, events=[wall],
        controlled={"shoulder": lambda t: (w * t, w, 0.0)},
    )  # fmt: skip
    assert run.v[-1, 0] == w == run.v[-2, 0]
    assert run.t[-1] == run.t[-2] == 0.1
    at = run.q[-2], run.v[-2], "lower", (0, 0, -1), (-1, 0, 0)
    held, free = (double.impact(*at, controlled=names).v for names in (["shoulder"], []))
    np.testing.assert_allclose(run.v[-1], held, rtol=1e-12)
    assert abs(held[1] - free[1]) > 0.1


def test_bodies_that_part_already_are_named(double):
    hit = events.impact("lower", (0, 0, -1), (1, 0, 0))
    wrong = rd.Event(0.1, hit, name="wrong way")
    v0 = double.frame_jacobian([0.1, 0.2], "lower", axes="world")[0] > 0
    with pytest.raises(rd.SimulationError, match=r"at t = 0.1 s .* is behind it") as caught:
        rd.simulate(double, q0=[0.1, 0.2], v0=np.where(v0, 3.0, -3.0), duration=0.2, events=[wrong])
    assert isinstance(caught.value.__cause__, rd.ImpactError)
    assert caught.value.trajectory.t[-1] == pytest.approx(0.1)


@pytest.mark.parametrize(
    "wrong",
    [
        lambda: rd.Event("soon"),
        lambda: rd.Event(-1.0),
        lambda: rd.Event(np.nan),
        lambda: rd.Event(0.1, then=3),
        lambda: rd.Event(0.1, then=[3]),
        lambda: rd.Event(0.1, direction=2),
    ],
)
def test_events_that_make_no_sense(wrong):
    with pytest.raises((rd.ShapeError, rd.SettingsError), match="expected"):
        wrong()


def test_what_an_action_returns_is_checked(double):
    with pytest.raises(rd.ShapeError, match=r"returned None at t = 0.1 s, expected a .*Change"):
        rd.simulate(double, duration=0.2, events=[rd.Event(0.1, lambda state: None)])
    with pytest.raises(rd.ShapeError, match="v of a change"):
        rd.simulate(double, duration=0.2, events=[rd.Event(0.1, events.jump(v=[1.0]))])
    with pytest.raises(rd.UnknownNameError, match="elbow"):
        rd.simulate(double, duration=0.2, events=[rd.Event(0.1, events.release(["elbow"]))])


def test_what_an_event_sees_is_a_copy(double):
    def meddle(state):
        state.q[:], state.v[:] = 9.0, 9.0
        return events.Change()

    run = rd.simulate(double, q0=[0.3, 0.2], duration=0.2, events=[rd.Event(0.105, meddle)])
    clean = rd.simulate(double, q0=[0.3, 0.2], duration=0.2)
    np.testing.assert_allclose(run.q[-1], clean.q[-1], atol=1e-12)


def test_an_instant_is_a_little_long(double):
    """Events 5e-10 of a step apart happen in the order given, 1e-6 of it apart as they come."""
    for apart, order in ((5e-12, ["late", "early"]), (1e-8, ["early", "late"])):
        made = [
            rd.Event(lambda t, q, v: t - 0.12345, events.jump(), name="late"),
            rd.Event(lambda t, q, v, d=apart: t - 0.12345 + d, events.jump(), name="early"),
        ]
        run = rd.simulate(double, duration=0.2, step=1e-2, events=made)
        assert [event.name for event in run.events] == order


@pytest.mark.parametrize("at", [0.02, 0.0205])
@pytest.mark.parametrize("first", ["none", "law", "function"])
@pytest.mark.parametrize("second", ["law", "function"])
def test_another_controller_takes_over_for_good(at, first, second):
    """Whatever does whole steps of the motion until then."""
    arm = rd.load("double_pendulum", passive=False)

    def law(gain):
        def controller(t, q, v):
            return gain - v

        controller.symbolic = True
        return controller

    def function(gain):
        return lambda t, q, v: gain - v

    before = {"none": None, "law": law(0.2), "function": function(0.2)}[first]
    after = {"law": law(1.0), "function": function(1.0)}[second]
    run = rd.simulate(
        arm, before, q0=[1.0, 0.0], duration=0.1, events=[rd.Event(at, events.switch(after))]
    )
    k = int(np.flatnonzero(run.t >= at)[0])
    till, since = run[: k + 1], run[k + 1 :]
    asked = 0.0 if first == "none" else 0.2 - till.v[:-1]
    np.testing.assert_allclose(till.tau[:-1] - asked, 0.0, atol=1e-12)
    np.testing.assert_allclose(since.tau, 1.0 - since.v, atol=1e-12)


def test_a_motion_with_events_is_written_while_it_goes_on(ball, tmp_path):
    options = {"q0": [1.0], "duration": 0.8, "step": 1e-3, "events": [floor(0.5)]}
    run = rd.simulate(ball, to=tmp_path / "motion", **options)
    again = rd.Trajectory.load(tmp_path / "motion", ball)
    np.testing.assert_array_equal(again.q, rd.simulate(ball, **options).q)
    assert again.events == run.events
    swap = rd.Event(0.1, events.become(ball.with_(gravity=(0, 0, -1))))
    with pytest.raises(rd.SettingsError, match="leave out to="):
        rd.simulate(ball, to=tmp_path / "other", q0=[1.0], events=[swap])


def test_every_so_many_steps_and_every_event_are_kept(ball):
    run = rd.simulate(ball, q0=[1.0], duration=0.8, step=1e-3, events=[floor(0.5)], every=100)
    time = run.events[0].time
    assert run.t.tolist() == pytest.approx([0, 0.1, 0.2, 0.3, 0.4, time, time, 0.5, 0.6, 0.7, 0.8])


def test_energies_of_many_motions_are_those_until_each_ends(double):
    rows = {"upper.m": [1.0, 2.0, 3.0]}
    low = rd.Event(lambda t, q, v: q[0] - 1.45, events.stop)
    q0, v0 = np.full((3, 2), 1.5), np.array([[-0.6, 0.0], [2.0, 0.0], [-1.0, 0.0]])
    choices = {"parameters": rows, "events": [low], "limits": "ignore"}
    ended = rd.rollout(double, None, q0, v0, step=0.01, duration=0.1, **choices)
    for k in range(3):
        motion = ended.motion(k)
        there = np.isfinite(motion.q).all(axis=1)
        assert there.all() == (k == 1)
        alone = motion[there]
        for name in ("energy", "kinetic_energy", "elastic_energy", "loop_residual"):
            of_all, own, of_one = (getattr(x, name) for x in (ended, motion, alone))
            np.testing.assert_allclose(of_all[there, k], of_one, rtol=1e-13)
            np.testing.assert_array_equal(np.isnan(of_all[:, k]), ~there)
            np.testing.assert_allclose(own, of_all[:, k], rtol=1e-13)
