"""One order of changes, whatever the order of arguments, in `robodyn.load` and `Robot.with_`."""

import dataclasses
import inspect
from itertools import combinations

import numpy as np
import pytest
from support.rigid_robots import load

import robodyn as rd
from robodyn.joints import floating
from robodyn.model.changes.changes import STEPS, Changes
from robodyn.model.settings import ChangedSettings, Settings

ORDER = [
    "parameters", "frames", "loops", "actuators", "rotors", "joint_maps", "transmissions",
    "springs", "symbols", "base", "payload", "couplings", "stops", "constraints", "contacts",
    "forces", "sensors", "merge_hinges", "locked",
]  # fmt: skip

ROBOT = rd.load("puma560")
ONE, TWO, THREE, FOUR, FIVE, SIX = ROBOT.joint_names
LAST = "link6"


def slide(q):
    return [[1, 0, 0, 0], [0, 1, 0, 0], [0, 0, 1, q[0]], [0, 0, 0, 1]]


#: Of each change that both functions, or one of them, can make: some that is not lost by others.
CHANGES = {
    "parameters": {f"{LAST}.m": 0.4},
    "frames": {"tool": (LAST, (0.0, 0.0, 0.1))},
    "actuators": {ONE: rd.Actuator(rotor_inertia=1e-4, gear_ratio=50.0)},
    "rotors": [rd.Rotor("wheel", LAST, (0.0, 0.0, 1.0), 1e-6)],
    "joint_maps": {TWO: rd.JointMap(1, slide)},
    "transmissions": [rd.Transmission("belt", (FOUR, FIVE), ((1.0, 0.0), (1.0, 1.0)))],
    "springs": {THREE: (5.0, 0.1)},
    "symbols": {f"joint {THREE} stiffness": "k"},
    "base": "floating",
    "payload": {LAST: rd.Inertia(1.0)},
    "couplings": [rd.Follower(SIX, lambda q: 0.5 * q, of=[FIVE])],
    "stops": rd.CompliantStops(50.0),
    "constraints": [rd.Constraint("held", lambda q: q[0] - 0.2, FOUR)],
    "contacts": {LAST: rd.Contact("point", on=("world", (0.0, 0.0, 0.5)))},
    "forces": [rd.Force(lambda q, v, t: -0.1 * v, joint=ONE, name="drag")],
    "sensors": [rd.Sensor("imu", at=LAST, name="imu")],
    "merge_hinges": True,
    "locked": {ONE: 0.3},
    "gravity": (0.0, 0.0, -1.62),
    "passive": True,
    "friction_speed": 0.02,
}


def arguments(function):
    return {*inspect.signature(function).parameters, *ChangedSettings.__annotations__}


def description(robot):
    """All that a robot is made from; of functions, which are traced anew, what they are called."""
    mechanism, settings = robot.mechanism, robot.model.settings
    fields = ("constraints", "forces", "followers", "sensors")
    traced = {x: [y.name for y in getattr(mechanism, x)] for x in fields}
    plain = {field: () for field in traced}
    return dataclasses.replace(mechanism, **plain, file=None), settings, traced


def pairs(function):
    able = [name for name in (*ORDER, *CHANGES) if name in CHANGES and name in arguments(function)]
    return [*combinations(dict.fromkeys(able), 2)]


def test_the_order():
    assert [*STEPS] == ORDER
    fields = [field.name for field in dataclasses.fields(Changes)]
    assert [x for x in ORDER if x != "base"] == fields[:-2] and fields[-2:] == ["settings", "given"]


def test_every_word_of_a_call_is_a_change():
    taken = {*ORDER, *(field.name for field in dataclasses.fields(Settings))}
    assert arguments(rd.Robot.with_) - {"self", "settings"} <= taken
    of_reading = {"source", "package_dirs", "xacro_args", "xacro", "snap", "srdf", "urdf",
                  "strict", "root", "model"}  # fmt: skip
    assert arguments(rd.load) - taken == of_reading


@pytest.mark.parametrize("first, second", pairs(rd.Robot.with_))
def test_copies_in_both_orders_of_the_call_are_the_same(first, second):
    """Also as one copy of the other, in the order of changes."""
    one, two = ({x: CHANGES[x]} for x in (first, second))
    expected = description(ROBOT.with_(**one).with_(**two))
    assert description(ROBOT.with_(**one, **two)) == expected
    assert description(ROBOT.with_(**two, **one)) == expected


@pytest.mark.parametrize("first, second", pairs(rd.load))
def test_robots_loaded_with_both_orders_of_the_call_are_the_same(first, second):
    """Also as copies, where `with_` can make the change."""
    one, two = ({x: CHANGES[x]} for x in (first, second))
    expected = description(rd.load("puma560", **one, **two))
    assert description(rd.load("puma560", **two, **one)) == expected
    if {first, second} <= arguments(rd.Robot.with_):
        assert description(ROBOT.with_(**one, **two)) == expected


def test_a_sensor_may_be_on_a_constraint_of_the_same_call():
    held = rd.Sensor("wrench", joint="held", name="force")
    frame = rd.FrameConstraint("held", "distance", between=(LAST, "world"), distance=0.8)
    robot = ROBOT.with_(constraints=[frame], sensors=[held])
    assert [x.name for x in robot.sensors] == ["force"]


def test_joints_that_follow_in_the_same_call_get_no_stops():
    robot = ROBOT.with_(stops=CHANGES["stops"], couplings=CHANGES["couplings"])
    stiff = {joint.name: joint.stop_stiffness for joint in robot.mechanism.joints}
    assert stiff[SIX] == 0.0 and stiff[FIVE] == 50.0


def test_a_copy_on_another_base_is_as_if_it_was_loaded_on_it():
    """In place of the free joint of a file, with its six coordinates and no more."""
    mechanism = ROBOT.mechanism
    free = rd.Joint("free", floating.KIND.name, "world", mechanism.joints[0].parent)
    world = dataclasses.replace(
        mechanism, links=(rd.Link("world"), *mechanism.links), joints=(free, *mechanism.joints)
    )
    loaded, copied = rd.load(world, base="floating"), rd.load(world).with_(base="floating")
    assert loaded.nv == 12
    assert description(copied) == description(loaded)


def test_a_floating_base_may_be_locked_in_the_call_that_makes_it():
    robot = load("pan_tilt").with_(base="floating", locked={"floating_base": [0, 0, 1, 0, 0, 0, 1]})
    assert (robot.base, robot.nv) == ("fixed", 2)
    raised = robot.center_of_mass([0.0, 0.0]) - load("pan_tilt").center_of_mass([0.0, 0.0])
    np.testing.assert_allclose(raised, [0.0, 0.0, 1.0], atol=1e-12)
