"""Motions in which an event has given a robot with other motors, limits, sensors or ground."""

import dataclasses

import numpy as np
import pytest

import robodyn as rd
from robodyn import events
from robodyn.errors import LimitWarning

TIP = {"tip": ("lower", (0.0, 0.0, -1.0))}
NAMES = ("one", "two")


def linkage(**motors):
    """A four-bar with motors by joint: gear and limit."""
    described = rd.load("four_bar").mechanism
    actuators = tuple((n, rd.Actuator(g, torque_limit=top)) for n, (g, top) in motors.items())
    return rd.load(dataclasses.replace(described, actuators=actuators), coordinates="minimal")


PIN = linkage(crank_pin=(7.0, 0.01))
DRIVE = linkage(crank_drive=(3.0, 5.0))
BOTH = linkage(crank_pin=(7.0, 0.01), crank_drive=(3.0, 5.0))


def moved(first, then, limits="ignore"):
    change = rd.Event(0.05, events.become(then))
    return rd.simulate(
        first, lambda t, q, v: [0.3], duration=0.1, step=1e-3, limits=limits, events=[change]
    )


def pendulum(**options):
    return rd.load("double_pendulum", **options)


def swung(first, then):
    change = rd.Event(0.2, events.become(then))
    start = {"q0": [1.0, 0.2], "duration": 0.6, "step": 2e-3}
    return rd.simulate(first, events=[change], **start)


@pytest.mark.parametrize(("first", "then"), [(PIN, DRIVE), (DRIVE, PIN), (PIN, BOTH), (BOTH, PIN)])
def test_torques_stand_under_the_motor_that_gives_them(first, then):
    run = moved(first, then)
    after = run.phases[1]
    for k, motor in enumerate(first.actuated_joints):
        found = run.motor_torques[len(run.phases[0]) :, k]
        if motor in then.actuated_joints:
            own = after.motor_torques[:, then.actuated_joints.index(motor)]
            np.testing.assert_array_equal(found, own)
        else:
            assert np.isnan(found).all()
    with pytest.raises(rd.SettingsError, match=r"have changed the motors.*phases"):
        run.sizing()
    assert [*after.sizing()] == [*then.actuated_joints]


def test_limits_are_those_of_each_phase():
    """The motor of the second robot is the weak one: 0.07 N m at its joint."""
    with pytest.warns(LimitWarning, match="effort of 'crank_pin' is 0.3 N m at 0.05 s"):
        run = moved(DRIVE, PIN, "report")
    (left,) = run.limit_violations
    assert (left.joint, left.bound, left.start) == ("crank_pin", pytest.approx(0.07), 0.05)
    assert not moved(DRIVE, PIN, "enforce").limit_violations


def test_a_limit_that_is_left_in_several_phases_is_told_once(puma):
    heavy = puma.with_(payload={"link6": rd.Inertia(1.0)})
    start = {"v0": [10.0, 0, 0, 0, 0, 0], "duration": 0.02, "limits": "ignore"}
    change = rd.Event(0.01, events.become(heavy))
    run, plain = (rd.simulate(puma, events=x, **start) for x in ([change], []))
    told, expected = (
        [(x.joint, x.limit, x.bound, x.start) for x in motion.limit_violations if x.bound > 0.0]
        for motion in (run, plain)
    )
    assert ("joint1", "velocity") in [x[:2] for x in told]
    assert len({x[:3] for x in told}) == len(told) >= len(expected)


def test_sensors_have_their_names_in_each_phase():
    wrenches = [
        rd.Sensor("wrench", joint=joint, name=name)
        for joint, name in zip(("shoulder", "elbow"), NAMES, strict=True)
    ]
    one, other, none = (pendulum(sensors=x) for x in (wrenches, wrenches[::-1], []))
    run = swung(one, other)
    loads = run.joint_wrenches()
    np.testing.assert_allclose(run.measurements["one"], loads["shoulder"], atol=1e-9)
    np.testing.assert_allclose(run.measurements["two"], loads["elbow"], atol=1e-9)
    run = swung(one, none)
    before = len(run.phases[0])
    assert np.isfinite(run.measurements["one"][:before]).all()
    assert np.isnan(run.measurements["one"][before:]).all()


@pytest.mark.parametrize("first", ["with", "without"])
def test_contacts_are_those_of_the_ground_of_each_phase(first):
    ground = rd.Ground(TIP, height=-1.6, stiffness=1e4)
    robots = {"without": pendulum(), "with": pendulum(ground=ground)}
    second = next(x for x in robots if x != first)
    run = swung(robots[first], robots[second])
    force = run.ground_contacts["tip"].force
    assert force.shape == (*run.v.shape[:-1], 3)
    at = 0
    for phase in run.phases:
        of = robots["with"].ground_contacts(phase.q, phase.v)["tip"].force
        touches = "tip" in phase.ground_contacts
        np.testing.assert_allclose(force[at : at + len(phase)], of * touches, atol=1e-9)
        at += len(phase)
    assert [*map(bool, (x.ground_contacts for x in run.phases))] == [
        first == "with",
        first != "with",
    ]
    assert np.abs(force).max() > 1.0 or first == "with"
