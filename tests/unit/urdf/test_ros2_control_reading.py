"""``<ros2_control>`` of a URDF: motors, limits of commands, initial values."""

import math
import warnings

import pytest

import robodyn as rd
from robodyn.urdf.ros2_control import controlled_joints

LINK = """<link name="{0}"><inertial><mass value="1"/>
<inertia ixx="1" ixy="0" ixz="0" iyy="1" iyz="0" izz="1"/></inertial></link>"""
JOINT = """<joint name="{0}" type="revolute"><parent link="{1}"/><child link="{2}"/>
<axis xyz="0 0 1"/><limit lower="-1" upper="1" effort="9" velocity="9"/>{3}</joint>"""
MIMIC = '<mimic joint="a" multiplier="-1"/>'
INF = math.inf


def robot(*controls, mimic=""):
    """Joints a and b in a row, and b perhaps follows a."""
    links = "".join(LINK.format(name) for name in "xyz")
    joints = JOINT.format("a", "x", "y", "") + JOINT.format("b", "y", "z", mimic)
    return f'<robot name="r">{links}{joints}{"".join(controls)}</robot>'


def control(joints, name="c", kind="system"):
    return (
        f'<ros2_control name="{name}" type="{kind}"><hardware><plugin>p/P</plugin></hardware>'
        f"{joints}</ros2_control>"
    )


def joint(name, commands="", states="", attributes=""):
    return f'<joint name="{name}"{attributes}>{commands}{states}</joint>'


def command(name="position", inside=""):
    return f'<command_interface name="{name}">{inside}</command_interface>'


def state(name="position", value=None):
    inside = "" if value is None else f'<param name="initial_value">{value}</param>'
    return f'<state_interface name="{name}">{inside}</state_interface>'


def limits(low=None, high=None):
    pairs = ("min", low), ("max", high)
    return "".join(f'<param name="{n}">{x}</param>' for n, x in pairs if x is not None)


def test_joints_with_commands_have_motors_in_all_elements():
    """Sensors, gpio and joints with states alone have none, and are no mistake."""
    arm = control(joint("b", command("effort")) + '<gpio name="io"><command_interface name="v"/>'
                  '<state_interface name="v"/></gpio><sensor name="ft"><state_interface name="f"/>'
                  "</sensor>")  # fmt: skip
    eye = control('<sensor name="eye"><state_interface name="x"/></sensor>', "eye", "sensor")
    hand = control(joint("a", states=state()), "hand", "actuator")
    with warnings.catch_warnings(action="error"):
        made = rd.load(robot(arm, eye, hand))
    assert made.actuated_joints == ("b",)
    both = rd.load(robot(arm, control(joint("a", command()), "hand")))
    assert both.actuated_joints == ("a", "b")


@pytest.mark.parametrize("word", ["", ' mimic="true"'])
def test_followers_by_mimic_have_no_motor_by_a_command_interface(word):
    """ros2_control refuses such a file; others write it to drive fingers in simulators."""
    tag = control(joint("a", command()) + joint("b", command(), attributes=word))
    with pytest.warns(rd.errors.UrdfWarning, match="follows another by <mimic>"):
        made = rd.load(robot(tag, mimic=MIMIC))
    assert made.actuated_joints == ("a",)


def test_a_follower_that_says_so_has_a_motor_of_its_own():
    tag = control(joint("a", command()) + joint("b", command(), attributes=' mimic="false"'))
    assert rd.load(robot(tag, mimic=MIMIC)).actuated_joints == ("a", "b")


@pytest.mark.parametrize(
    ("inside", "expected"),
    [
        ("", (-INF, INF)),
        (limits(-0.5, 0.25), (-0.5, 0.25)),
        (limits(high=" 0.25 "), (-INF, 0.25)),
        (limits(-0.5) + '<limits enable="false"/>', (-INF, INF)),
        (limits(-0.5) + '<limits enable="true"/>', (-0.5, INF)),
    ],
)
def test_limits_of_commands(inside, expected):
    made = rd.load(robot(control(joint("a", command("position", inside)))))
    assert controlled_joints(made.mechanism)["a"].range("position") == expected
    assert made.upper_limits[0] == 1.0  # of the joint, as before


def test_limits_that_a_joint_turns_off():
    inside = command("position", limits(-0.5, 0.5)) + '<limits enable="false"/>'
    made = rd.load(robot(control(joint("a", inside))))
    assert controlled_joints(made.mechanism)["a"].range("position") == (-INF, INF)


@pytest.mark.parametrize(
    ("low", "high", "top"), [(-3, 2, 2), (-2, 3, 2), (None, 2, 2), (-2, None, 2), (0, 2, INF)]
)
def test_speeds_and_efforts_have_one_limit_both_ways(low, high, top):
    made = rd.load(robot(control(joint("a", command("velocity", limits(low, high))))))
    assert controlled_joints(made.mechanism)["a"].top("velocity") == top


@pytest.mark.parametrize(
    ("inside", "told"),
    [
        (command("position", limits("low")), "<param> min: 'low' is no number"),
        (command("position", limits("nan")), "<param> min: 'nan' is no number"),
        (command("position", limits(1, -1)), "min 1 above max -1"),
        (command() + state("position", ""), "<param> initial_value: '' is no number"),
        (command("effort", limits(0, 2)), "min 0 and max 2, which allow one way: no limit"),
        (command("velocity", limits(-3, -2)), "min -3 and max -2, which allow one way"),
    ],
)
def test_numbers_that_make_no_sense_are_told_with_their_line_and_left_out(inside, told):
    with pytest.warns(rd.errors.UrdfWarning) as caught:
        made = rd.load(robot("\n", control(joint("a", inside))))
    (warning,) = caught
    assert told in str(warning.message)
    said = controlled_joints(made.mechanism)["a"]
    assert said.range("position") == (-INF, INF) and said.initial == {}
    assert made.actuated_joints == ("a",)


@pytest.mark.parametrize(
    ("interface", "low", "high", "shown"),
    [
        ("position", -3, 1, "position -3 to 1, joint -1 to 1"),
        ("position", 2, 3, "position 2 to 3, joint -1 to 1"),  # nothing would be allowed
        ("position", None, 1.5, "position -inf to 1.5, joint -1 to 1"),
        ("velocity", -20, 20, "velocity -20 to 20, joint -9 to 9"),
        ("effort", -5, 10, "effort -5 to 10, joint -9 to 9"),
        ("position", -1.0004, 0.5, ""),
        ("velocity", -9, None, ""),
        ("voltage", -48, 48, ""),
    ],
)
def test_limits_of_commands_beyond_those_of_joints_are_told_once(interface, low, high, shown):
    """One warning for an element, with all of its joints."""
    inside = command(interface, limits(low, high))
    with warnings.catch_warnings(record=True, action="always") as caught:
        made = rd.load(robot(control(joint("a", inside) + joint("b", inside))))
    assert len(caught) == (1 if shown else 0)
    for warning in caught:
        text = str(warning.message)
        assert f"'a' ({shown})" in text and f"'b' ({shown})" in text
        assert "limits of commands beyond those of joints, which count" in text
    assert (made.lower_limits[0], made.upper_limits[0]) == (-1.0, 1.0)


def test_a_joint_of_states_alone_that_is_not_there_is_told():
    tag = control(joint("a", command()) + joint("bb", states=state("position", 0.3)))
    with pytest.warns(rd.errors.UrdfWarning, match="<joint> 'bb' is no joint of the robot"):
        rd.load(robot(tag))


def test_initial_values_and_the_first_of_two_elements():
    one = control(joint("a", command(), state("position", 0.5) + state("velocity")))
    other = control(joint("a", command("effort", limits(-1, 1)), state("position", 0.7)), "d")
    made = rd.load(robot(one, other))
    said = controlled_joints(made.mechanism)["a"]
    assert said.initial == {"position": 0.5}
    assert {*said.commands} == {"position", "effort"}
    again = rd.load(rd.urdf.write(made.mechanism))
    assert controlled_joints(again.mechanism) == controlled_joints(made.mechanism)
