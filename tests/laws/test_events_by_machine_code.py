"""Motions through events, stops and landings: with machine code as without, to the last bit.

Machine code does whole steps in which nothing happens; Python looks at their ends, and does the
steps in which something may happen. Whoever does a step, its numbers are the same.
"""

import math

import numpy as np
import pytest
from support.motions import limited, same
from support.slides import Z, hopper, slides

import robodyn as rd
from robodyn import events
from robodyn.controllers import ComputedTorque, JointPD, PointToPoint
from robodyn.simulation.step.stepper import Stepper

#: Limits and energies are not what is looked at here.
pytestmark = [
    pytest.mark.filterwarnings(f"ignore::robodyn.errors.{kind}Warning")
    for kind in ("Limit", "Energy")
]


# -- motions --------------------------------------------------------------------------------------


def push(t, q, v):
    """Forces that depend on everything."""
    return 3.0 * np.cos(3.0 * t + np.arange(v.shape[-1])) - 0.1 * v + 0.05 * q[..., :1]


def swing(t, size=0.5, rate=3.0):
    """Position, velocity, acceleration."""
    s, c = math.sin(rate * t), math.cos(rate * t)
    return size * s, size * rate * c, -size * rate**2 * s


def heave(t):
    """A base that goes up and down, at times faster than a body falls."""
    s, c, w = math.sin(20.0 * t), math.cos(20.0 * t), 20.0
    return rd.BaseMotion.from_world(
        position=(0, 0, 0.05 * s),
        linear_velocity=(0, 0, 0.05 * w * c),
        linear_acceleration=(0, 0, -0.05 * w * w * s),
    )


def slider(**options):
    """2 kg that slide up and down above a stop at zero."""
    return slides(2.0, joint="z", link="body", axis=Z, limits=(0.0, 9.0), **options)


def noted(function, direction=0):
    """Something that happens and changes nothing."""
    return rd.Event(function, lambda state: events.Change(), direction, "noted")


def pendulum(controller=None, **options):
    robot = rd.load("double_pendulum")
    given = {"q0": [1.0, 0.5], "duration": 1.2, "step": 2e-3}
    return rd.simulate(robot, controller, **given | options)


def position(k, value=0.0, direction=0):
    return noted(lambda t, q, v: q[k] - value, direction)


def kicked(**options):
    kick = rd.Event(0.0505, events.jump(v=lambda state: state.v + 1.0), name="kick")
    other = rd.Event(0.6, events.switch(lambda t, q, v: -0.3 * v), name="switch")
    return pendulum(push, events=[kick, other, position(0, 0.2)], **options)


def computed_torque():
    robot = rd.load("arm7")
    law = ComputedTorque(robot, PointToPoint(robot.neutral(), 0.4 + robot.neutral(), 0.5), 900.0)
    look = noted(lambda state: state.v[0] - 0.5 + 0.01 * state.accelerations()[0])
    return rd.simulate(
        robot, law, duration=0.6, step=2e-3, events=[position(1, 0.2), look, noted_speed()],
        limits="enforce",
    )  # fmt: skip


def noted_speed():
    return noted(lambda t, q, v: v[2] - 0.6 * math.cos(9.0 * t), 1)


def latched():
    lock = rd.Event(lambda t, q, v: q[1] - 0.3, events.latch(["elbow"]), name="lock")
    free = rd.Event(0.7, events.release(["elbow"]), name="free")
    drive = rd.Event(0.0, events.drive({"shoulder": lambda t: (1.0 - t, -1.0, 0.0)}))
    return pendulum(events=[lock, free], v0=[0, -1]), pendulum(events=[drive, lock], v0=[0, -1])


def grasped():
    robot = rd.load("arm7", friction_speed=0.1)
    hand, load = robot.link_names[-1], rd.Inertia(0.6)
    take = rd.Event(0.051, events.grasp(hand, load, velocity=(0, 0, -1.0)), name="take")
    let = rd.Event(lambda state: state.t - 0.2001, events.drop(hand), name="let go")
    return rd.simulate(robot, push, duration=0.4, step=2e-3, events=[take, let])


def bouncing(**options):
    robot = limited("double_pendulum", {"shoulder": (-0.9, 1.2), "elbow": (-0.4, 0.7)})
    given = {"q0": [1.0, 0.5], "duration": 1.5, "step": 2e-3, "stops": rd.RigidStops(0.4)}
    return rd.simulate(robot, **given | options)


def four_bar(**options):
    robot = limited("four_bar", {"crank_pin": (-0.6, 0.4)}, passive=False)
    q0 = robot.neutral()
    v0 = robot.consistent_velocity(q0, [6.0, 0.0, 0.0], hold=["crank_drive"])
    return rd.simulate(robot, q0=q0, v0=v0, duration=0.8, step=1e-3, **options)


def hopping(**options):
    slope = hopper()
    ground = rd.Ground({"point": ("body", (0.0, 0.0, 0.0))})
    landings = events.landings(slope, ground, restitution=0.5, rest_speed=0.5, sticks=False)

    def lift(t, q, v):
        return np.array([0.0, 40.0 if t > 1.0 and q[1] < 0.05 else 0.0])

    given = {"q0": [0, 0.3], "v0": [1, 0], "duration": 1.4, "step": 2e-3}
    return rd.simulate(slope, lift, events=landings, **given | options)


def tip_lands():
    arm = rd.load("arm7", base="floating", passive=False)
    tip = arm.link_names[-1]
    q0 = arm.random(3)
    q0[2] += 0.05 - arm.frame_pose(q0, tip)[2, 3]
    landings = events.landings(arm, rd.Ground({"tip": (tip, (0.0, 0.0, 0.0))}))
    return rd.simulate(arm, q0=q0, duration=0.2, step=1e-3, events=landings, limits="ignore")


def cut_and_closed():
    closed = rd.load("four_bar")
    cut = rd.Event(lambda t, q, v: q[0] - 0.2, events.jump(v=lambda s: 0.5 * s.v), name="slow")
    v0 = closed.consistent_velocity(closed.neutral(), [2.0, 0, 0], hold=["crank_drive"])
    return rd.simulate(closed, push, v0=v0, duration=0.5, events=[cut, noted_speed()], step=1e-3)


def many(controller=None, **options):
    robot = limited("double_pendulum", {"shoulder": (-0.9, 1.2), "elbow": (-0.4, 0.7)})
    q0 = np.array([[1.0, 0.5], [0.2, -0.1], [-0.5, 0.0]])
    given = {"duration": 1.2, "step": 2e-3, "stops": rd.RigidStops(0.4)} | options
    return rd.rollout(robot, controller, q0, np.zeros((3, 2)), **given)


def taken_over():
    """From none to one that is symbolic, and from that to one that Python calls."""
    law = JointPD(rd.load("double_pendulum"), PointToPoint([0, 0], [1.5, 0.9], 0.5), 60.0, 5.0)
    first = rd.Event(0.25, events.switch(law), name="first")
    second = rd.Event(lambda t, q, v: t - 0.7003, events.switch(push), name="second")
    kick = rd.Event(0.4, events.jump(v=lambda state: 0.5 * state.v), name="on a step")
    return (
        pendulum(events=[first, second]),
        pendulum(law, events=[second, position(0)]),
        pendulum(law, events=[kick]),
    )


def held_pd():
    robot = limited("double_pendulum", {"shoulder": (-0.9, 1.2), "elbow": (-0.4, 0.7)})
    return JointPD(robot, PointToPoint([0.0, 0.0], [1.5, 0.9], 0.5), 60.0, 5.0)


#: What happens, and a function that makes the motion, or several.
MOTIONS = {
    "a position is passed": lambda: pendulum(events=[position(0, 0.2), position(1)]),
    "with a controller": lambda: pendulum(push, events=[position(0, 0.2), position(1, 0.1, -1)]),
    "it ends": lambda: pendulum(events=[lambda t, q, v: q[0] + 0.3]),
    "by time": lambda: pendulum(events=[noted(lambda t, q, v: math.sin(40 * t))], duration=0.3333),
    "instants on and between steps": kicked,
    "every seventh step": lambda: kicked(every=7),
    "by euler": lambda: kicked(integrator="euler"),
    "a symbolic controller": computed_torque,
    "joints are latched, freed and driven": latched,
    "a load is grasped and dropped": grasped,
    "of first order": lambda: bouncing(integrator="semi_implicit"),
    "stops": bouncing,
    "stops without rebound": lambda: bouncing(stops=rd.RigidStops()),
    "stops and a controller": lambda: bouncing(controller=push),
    "stops, a symbolic controller": lambda: bouncing(
        controller=held_pd(), q0=[0, 0], stops=rd.RigidStops()
    ),
    "another controller takes over": taken_over,
    "stops and events": lambda: bouncing(events=[position(0), rd.Event(0.8)], every=5),
    "stops and a driven joint": lambda: bouncing(
        controlled={"shoulder": swing}, q0=[0, 0.69], v0=[1.5, 4]
    ),
    "a stop of a linkage": lambda: four_bar(stops=rd.RigidStops(0.7)),
    "a linkage held by gains": lambda: four_bar(
        stops=rd.RigidStops(0.2), stabilization=(40.0, 30.0)
    ),
    "a base throws a body up": lambda: rd.simulate(
        slider(base="moving"), base=heave, duration=0.5, stops=rd.RigidStops(0.2), step=1e-3
    ),
    "landings": hopping,
    "every third step of landings": lambda: hopping(every=3),
    "a floating arm lands": tip_lands,
    "a linkage is slowed down": cut_and_closed,
    "many motions": many,
    "many motions under a controller": lambda: many(push, events=[position(1, 0.1)], every=4),
    "wrenches": lambda: pendulum(
        events=[position(0)], wrenches={rd.load("double_pendulum").link_names[-1]: np.arange(6.0)}
    ),
}  # fmt: skip


def runs(name):
    """Motions of a case, always several."""
    found = MOTIONS[name]()
    return found if isinstance(found, tuple) else (found,)


def same_events(found, expected):
    """All samples and events are equal, bit for bit."""
    assert found.events == expected.events
    same(found, expected)


# -- laws -----------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", MOTIONS)
def test_motions_are_those_of_steps_in_python(name, monkeypatch):
    """Most steps are machine code; with no machine code all numbers are the same."""
    by_python, step = [], Stepper.step
    monkeypatch.setattr(Stepper, "step", lambda *given: by_python.append(0) or step(*given))
    found = runs(name)
    few = len(by_python)
    monkeypatch.setattr(Stepper, "compiled", lambda *given: None)
    expected = runs(name)
    assert few < 0.75 * (len(by_python) - few)
    assert sum(len(run.events) for run in expected)
    for one, other in zip(found, expected, strict=True):
        same_events(one, other)


def swings(t):
    """A reference of two joints that only Python knows."""
    return tuple(np.array([x, -x]) for x in swing(float(t)))


def caught(t, q, v):
    """A function that goes on after an error, which one number of it does not raise."""
    try:
        angle = math.sin(q[0])
    except TypeError:
        angle = 0.0
    return 1.0 if angle > 0.2 else -1.0


def in_place(t, q, v):
    x = q[0]
    x += 0.5
    return np.sign(q[0] - 0.2)


@pytest.mark.parametrize(
    "function",
    [
        lambda t, q, v: np.min([np.sign(q[0] - 0.1), np.sign(q[1] - 0.1)]),
        lambda t, q, v: np.sign(q[0] - 0.3) * np.max([np.sign(q[1]), -0.5]),
        lambda t, q, v: np.all([q[0] > 0.0, q[1] > 0.0]) - 0.5,
        lambda t, q, v: np.linalg.norm(np.array([q[0], q[1]])) - 0.3,
        lambda t, q, v: q[0] // 0.3 + 0.5,
        caught,
        in_place,
    ],
)
def test_functions_of_arrays_are_those_of_each_sample(function):
    """Asked for many samples at once, a function does not mix them up."""

    def of_numbers(t, q, v):
        calls.append(t)  # so that it is asked for one sample at a time
        return float(function(t, q, v))

    calls = []
    options = {"q0": [0.8, 0.9], "duration": 3.0, "step": 1e-3}
    found, expected = (pendulum(events=[noted(f)], **options) for f in (function, of_numbers))
    assert calls and expected.events
    assert [x.time for x in found.events] == [x.time for x in expected.events]
    np.testing.assert_array_equal(found.q, expected.q)


@pytest.mark.parametrize(
    ("function", "times"),
    [
        (lambda t, q, v: np.log(t) + 2.0, [math.exp(-2.0)]),  # from minus infinity
        (lambda t, q, v: -np.inf if t < 0.0305 else 1.0, [0.0305]),
        (lambda t, q, v: 0.2 if t < 0.0005 else np.inf, []),
    ],
)
def test_a_function_that_is_infinite_is_not_at_zero(function, times):
    with np.errstate(divide="ignore"):
        run = pendulum(events=[noted(function)], duration=0.2, step=1e-3)
    assert [x.time for x in run.events] == pytest.approx(times, abs=1e-9)


@pytest.mark.parametrize("locked", [(), ("elbow",)])
def test_a_motion_that_breaks_down_between_events(locked):
    """The time, and what came before, as of steps in Python; also of forces that do not act."""

    def force(t, q, v):
        return np.array([0.1, np.nan if t > 0.1 else 0.1])

    def broken():
        with pytest.raises(rd.SimulationError, match="step 51") as raised:
            pendulum(force, events=[position(0, -9.0)], locked=locked)
        return raised.value

    found = broken()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Stepper, "compiled", lambda *given: None)
        expected = broken()
    assert (str(found), found.time) == (str(expected), expected.time)
    same_events(found.trajectory, expected.trajectory)


class Late(Exception):
    """What a user's function raises."""


@pytest.mark.parametrize(
    ("kind", "end"), [("base", 0.1), ("controlled", 0.1), ("reference", 0.1), ("reference", 0.6)]
)
def test_functions_that_end_after_the_motion_does(kind, end):
    """Asked ahead of time they may raise anything, which tells nothing until it is their time."""

    def go(last, end=end, duration=2.0 * end):
        begun = []

        def ends(function):
            """There is none of it after ``last``; it cannot be told beforehand."""

            def until(t):
                if begun and t > last:
                    raise Late(f"asked at {t:.3f}")
                return function(t)

            return until

        def stop(t, q, v):
            begun.append(t)
            return end - t

        options = {"duration": duration, "events": [stop]}
        if kind == "base":
            options |= {"base": ends(heave), "stops": rd.RigidStops(0.2), "step": 2e-3}
            return rd.simulate(slider(base="moving"), **options)
        if kind == "controlled":
            start = {"q0": [0, 0.69], "v0": [1.5, 4], "controlled": {"shoulder": ends(swing)}}
            return pendulum(**options | start)
        return pendulum(JointPD(rd.load("double_pendulum"), ends(swings), 5.0, 0.1), **options)

    found, expected = go(end + 0.005), go(9.0)
    assert found.t[-1] == pytest.approx(end)
    same_events(found, expected)
    # at instants at which a path was looked at before the motion it is not asked again
    known = kind != "reference"
    with pytest.raises(Late, match=r"asked at 0\.1[01]" if known else r"asked at 0\.(099|100)"):
        go(0.098, end=0.3, duration=0.3)
