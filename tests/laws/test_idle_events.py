"""An event that never happens changes nothing: the motion is the same to the last bit."""

import math

import numpy as np
import pytest
from support.motions import same

import robodyn as rd
from robodyn import controllers as rc, events
from robodyn.simulation.events import detector
from robodyn.simulation.motion import recorded_steps, speculative_steps
from robodyn.simulation.step.stepper import Stepper

#: Limits and energies are not what is looked at here.
pytestmark = [
    pytest.mark.filterwarnings(f"ignore::robodyn.errors.{kind}Warning")
    for kind in ("Limit", "Energy")
]


#: Enough steps for several blocks of machine code.
OPTIONS = {"duration": 0.05, "step": 5e-4, "limits": "ignore"}


def noted(when):
    """Something that would change nothing either."""
    return rd.Event(when, lambda state: events.Change())


def never_zero():
    """Functions that stay away from zero: of many samples at once, of one, and with a memory."""
    seen = []

    def counted(t, q, v):
        seen.append(t)
        return q[0] - 1e9

    return [
        noted(lambda t, q, v: q[0] + v[-1] - 1e9),
        noted(lambda t, q, v: np.hypot(q[0], 1.0) + t),
        noted(lambda t, q, v: 2.0 + math.sin(30.0 * t)),
        noted(lambda t, q, v: 1.0 if q[0] > 1e9 else -1.0),
        noted(lambda state: state.v[0] - 1e9 if state.robot.nv else 1.0),
        noted(counted),
    ]


def pulled(t, q, v):
    """Forces that Python asks for at every step."""
    return -0.1 * v


def symbolic(robot):
    """Springs and dampers at motors, where positions have differences; else forces of gravity."""
    if robot.nq != robot.nv:
        return rc.GravityCompensation(robot)
    return rc.JointPD(robot, rc.PointToPoint(robot.neutral(), robot.neutral(), 1.0), 4.0, 0.4)


CONTROLLERS = {
    "none": lambda robot: None,
    "symbolic": symbolic,
    "Python": lambda robot: pulled,
    "with a state": lambda robot: rc.Filtered(rc.GravityCompensation(robot), 30.0),
}


@pytest.mark.parametrize("kind", CONTROLLERS)
@pytest.mark.parametrize("name", rd.robots())
def test_the_motion_is_the_same(name, kind):
    robot = rd.load(name)
    controller = CONTROLLERS[kind](robot)
    plain = rd.simulate(robot, controller, **OPTIONS)
    run = rd.simulate(robot, controller, events=never_zero(), **OPTIONS)
    assert not run.events
    same(plain, run)


@pytest.mark.parametrize("kind", CONTROLLERS)
@pytest.mark.parametrize("name", ["arm7", "four_bar"])
@pytest.mark.parametrize("most", [1, 3, 10])
def test_blocks_of_any_length_give_the_same_motion(name, kind, most, monkeypatch):
    """Wherever machine code stops and goes on, the state of a controller counted."""
    robot = rd.load(name)
    controller = CONTROLLERS[kind](robot)
    events = never_zero()[:3]
    plain = rd.simulate(robot, controller, every=3, **OPTIONS)
    monkeypatch.setattr(recorded_steps, "STEPS_OF_ONE", most)
    monkeypatch.setattr(speculative_steps, "LONGEST_BLOCK", most)
    monkeypatch.setattr(speculative_steps, "SHORTEST_BLOCK", most)
    same(plain, rd.simulate(robot, controller, every=3, **OPTIONS))
    same(plain, rd.simulate(robot, controller, every=3, events=events, **OPTIONS))


@pytest.mark.parametrize("at", [0.01, 0.0123])
@pytest.mark.parametrize("observing", [False, True])
def test_steps_after_a_doubt_go_on_with_the_state_of_the_controller(arm, at, observing):
    """A function that comes near zero keeps machine code from some steps of a block.

    An observer of disturbances looks at the forces that acted in the step before, too.
    """
    controller = CONTROLLERS["with a state"](arm)
    if observing:
        goal = rc.PointToPoint(arm.neutral(), arm.neutral() + 1.0, 0.1)
        controller = rc.DisturbanceObserver(rc.ComputedTorque(arm, goal, 400.0), 30.0)
    plain = rd.simulate(arm, controller, **OPTIONS)
    touching = noted(lambda t, q, v: (t - at) ** 2 + 1e-18)
    run = rd.simulate(arm, controller, events=[touching], **OPTIONS)
    assert not run.events
    np.testing.assert_allclose(run.q, plain.q, atol=1e-12)
    for name, x in plain.controller_state.items():
        np.testing.assert_allclose(run.controller_state[name], x, atol=1e-9)


def kicked(machine_code, **options):
    """A motion through events and stops under a controller with a state."""
    robot = rd.load("double_pendulum")
    kick = rd.Event(0.0505, events.jump(v=lambda state: state.v + 1.0), name="kick")
    slow = rd.Event(lambda t, q, v: v[0] - 0.3, events.jump(v=lambda state: 0.8 * state.v), 1)
    controller = rc.Filtered(
        rc.JointPD(robot, rc.PointToPoint([0, 0], [0.5, 0.3], 0.3), 8.0, 0.5), 40.0
    )
    with pytest.MonkeyPatch.context() as patch:
        if not machine_code:
            patch.setattr(Stepper, "compiled", lambda *given: None)
        return rd.simulate(
            robot, controller, q0=[1.0, 0.5], duration=3.0, step=2e-3, limits="ignore",
            events=[kick, slow], **options,
        )  # fmt: skip


@pytest.mark.parametrize("options", [{}, {"every": 3}, {"stops": rd.RigidStops(0.4)}])
def test_the_state_of_a_controller_goes_through_events(options):
    """Blocks that end at events, and single steps, are one motion."""
    by_code, by_steps = kicked(True, **options), kicked(False, **options)
    assert len(by_code.events) >= 2
    assert [x.name for x in by_code.events] == [x.name for x in by_steps.events]
    same(by_code, by_steps)


# -- how functions are asked ----------------------------------------------------------------------


@pytest.fixture
def asked(monkeypatch):
    """How many steps the detector was asked about by themselves."""
    steps, alone = [], detector._step_without_event

    def counted(*given):
        steps.append(given)
        return alone(*given)

    monkeypatch.setattr(detector, "_step_without_event", counted)
    return steps


def test_functions_that_keep_what_they_get_are_asked_about_one_sample(asked):
    seen = []

    def kept(t, q, v):
        seen.append((t, q))
        return 1.0

    rd.simulate(rd.load("double_pendulum"), duration=0.5, events=[noted(kept)], limits="ignore")
    assert asked
    assert all(type(t) is float and q.shape == (2,) for t, q in seen)


@pytest.mark.parametrize(
    "when",
    [
        lambda t, q, v: np.sum(q[0] * v) + (q[0] - 0.2) - np.sum(q[0] * v),
        lambda t, q, v: (q[0] * np.ones(1))[0] - 0.2,
        lambda t, q, v: np.max(q[0]) - 0.2,
        lambda t, q, v: np.mean([q[0] - 0.2]),
    ],
)
@pytest.mark.parametrize("links", [1, 2])
def test_functions_that_take_arrays_for_something_else_find_the_same_event(when, links):
    """What such a function makes of many samples is wrong, and does not count."""
    robot = rd.load("double_pendulum")
    if links == 1:
        robot = robot.with_(locked={"elbow": 0.0})
    q0 = [1.0, 0.5][:links]
    plain, odd = (
        rd.simulate(robot, q0=q0, duration=1.5, events=[f], limits="ignore")
        for f in (lambda t, q, v: math.fsum([q[0], -0.2]), when)
    )
    assert plain.t[-1] < 1.5
    np.testing.assert_allclose(odd.t[-1], plain.t[-1], atol=1e-9)


def test_a_flag_that_an_action_sets_counts_from_then_on():
    armed = np.zeros(1)

    def arm(state):
        armed[0] = 1.0
        return events.Change()

    def reached(t, q, v):
        return q[0] - 0.3 if armed[0] else -1.0

    run = rd.simulate(
        rd.load("double_pendulum"), q0=[1.0, 0.5], duration=4.0, limits="ignore",
        events=[rd.Event(0.7, arm, name="arm"), rd.Event(reached, name="reached")],
    )  # fmt: skip
    assert [event.name for event in run.events] == ["arm", "reached"]
    assert run.q[-1, 0] == pytest.approx(0.3, abs=1e-9)
