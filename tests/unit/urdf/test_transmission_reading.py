"""Differentials, four-bar linkages and matrices of ``<transmission>``: read, written, refused."""

import numpy as np
import pytest

import robodyn as rd
from robodyn import urdf
from robodyn.cli import main
from robodyn.errors import UrdfWarning

LINK = """<link name="{}"><inertial><mass value="1"/><origin xyz="0 0.02 -0.1"/>
<inertia ixx="0.1" iyy="0.1" izz="0.1" ixy="0" ixz="0" iyz="0"/></inertial></link>"""


def arm(transmission):
    """Two hinges, and elements from line 9 on."""
    joints = ""
    for name, parent, child, axis in (("p", "b", "c", "0 1 0"), ("r", "c", "d", "1 0 0")):
        joints += f'\n<joint name="{name}" type="continuous"><parent link="{parent}"/>'
        joints += f'<child link="{child}"/><axis xyz="{axis}"/></joint>'
    links = LINK.format("c") + "\n" + LINK.format("d")
    return f'<robot name="arm"><link name="b"/>{links}{joints}\n\n\n{transmission}</robot>'


def ros1(kind="Differential", roles=("joint1", "joint2"), turns=(2, 3), reductions=(50, 60),
         names="pr", motor_roles=("actuator1", "actuator2")):  # fmt: skip
    """A transmission as ros_control writes it."""
    text = f'<transmission name="t"><type>transmission_interface/{kind}Transmission</type>'
    for name, role, n in zip(names, roles, turns, strict=False):
        text += f'\n<joint name="{name}"><role>{role}</role><offset>0.1</offset>'
        text += f"<mechanicalReduction>{n}</mechanicalReduction></joint>"
    for name, role, n in zip("mn", motor_roles, reductions, strict=False):
        text += f'\n<actuator name="{name}"><role>{role}</role>'
        text += f"<mechanicalReduction>{n}</mechanicalReduction></actuator>"
    return text + "</transmission>"


ROS2 = """<ros2_control name="x" type="system">
<joint name="p"><command_interface name="effort"/></joint>
<joint name="r"><command_interface name="effort"/></joint>
<transmission name="t"><plugin>transmission_interface/DifferentialTransmission</plugin>
<joint name="p" role="joint1"><mechanical_reduction>2</mechanical_reduction></joint>
<joint name="r" role="joint2"><mechanical_reduction>3</mechanical_reduction></joint>
<actuator name="m" role="actuator1"><mechanical_reduction>50</mechanical_reduction></actuator>
<actuator name="n" role="actuator2"><mechanical_reduction>60</mechanical_reduction>
<drake:rotor_inertia value="1e-4"/></actuator></transmission></ros2_control>"""
MATRIX = """<transmission name="t"><type>robodyn/Transmission</type><joint name="p"/>
<joint name="r"/><matrix>{}</matrix></transmission>"""


def positions_of_differential(x, n, turns):
    """Joints of actuators, ros_control's differential_transmission.h."""
    a, b = x[0] / n[0], x[1] / n[1]
    return [(a + b) / (2.0 * turns[0]), (a - b) / (2.0 * turns[1])]


def positions_of_four_bar(x, n, turns):
    """Joints of actuators, ros_control's four_bar_linkage_transmission.h."""
    first = x[0] / (turns[0] * n[0])
    return [first, (x[1] / n[1] - first) / turns[1]]


@pytest.mark.parametrize(
    ("text", "positions"),
    [
        (ros1(), positions_of_differential),
        (ROS2, positions_of_differential),
        (ros1("FourBarLinkage"), positions_of_four_bar),
    ],
)
def test_motors_move_joints_as_ros_control_says(text, positions):
    robot = rd.load(arm(text))
    motors = np.array([0.7, -1.9])
    joints = positions(motors, (50.0, 60.0), (2.0, 3.0))
    np.testing.assert_allclose(robot.transmission_matrix @ joints, motors, rtol=1e-14)
    assert [robot.actuators[name].name for name in "pr"] == ["m", "n"]


def test_roles_say_which_joint_and_motor_comes_first():
    roles = {"roles": ("joint2", "joint1"), "motor_roles": ("actuator2", "actuator1")}
    (found,) = rd.load(arm(ros1(**roles))).transmissions
    assert found == rd.Transmission("t", ("r", "p"), ((3.0, 2.0), (3.0, -2.0)))
    robot = rd.load(arm(ros1(**roles)))
    assert robot.actuators["r"].gear_ratio == 60.0 and robot.actuators["p"].gear_ratio == 50.0


def test_a_rotor_of_a_coupled_motor_is_read():
    robot = rd.load(arm(ROS2))
    assert robot.actuators["r"] == rd.Actuator(60.0, 1e-4, name="n")
    change = robot.mass_matrix([0.0, 0.0]) - rd.load(arm("")).mass_matrix([0.0, 0.0])
    gears = np.array([[60.0 * 2.0, -60.0 * 3.0]])
    # the rotor is along x of the link that it is on, and the first joint along y
    np.testing.assert_allclose(change, 1e-4 * gears.T @ gears, rtol=1e-12, atol=1e-15)


MOTOR = '<motor joint="p" gear_ratio="70" rotor_inertia="1e-05" viscous="0.1" torque_limit="2"/>'


@pytest.mark.parametrize(
    "text",
    [ros1(), ros1("FourBarLinkage"), ROS2, ros1() + MOTOR, MATRIX.format("1 0.1  -1 2")],
)
def test_what_is_written_reads_back_equal(text):
    read = rd.load(arm(text)).mechanism
    written = urdf.write(read)
    again = rd.load(written).mechanism
    assert again == read and urdf.write(again) == written
    assert len(read.transmissions) == 1


def test_transmissions_made_by_program_are_written():
    motors = {"r": rd.Actuator(30.0, 1e-4, coulomb=0.1)}
    belts = rd.Transmission.belts("b", ("p", "r"), [(0.1, 0.03)])
    robot = rd.load(arm(""), actuators=motors, transmissions=[belts])
    again = rd.load(urdf.write(robot.mechanism))
    assert again.mechanism == robot.mechanism and again.transmissions == (belts,)


def test_the_same_transmission_twice_counts_once():
    assert len(rd.load(arm(ros1() + ros1())).transmissions) == 1


SIMPLE = ros1("Simple", names="p", reductions=(3,))

WRONG = {
    "a role twice": (ros1(roles=("joint1", "joint1")), 10, "joint 'p'", "expected 'joint1' for"),
    "a role that is not there": (ros1(roles=("joint1", "x")), 11, "joint 'r'", "the role 'x'"),
    "no role": (ros1(motor_roles=("", "")), 12, "transmission 't'", "'m' of .* has no role"),
    "one joint": (ros1(names="p"), 9, "transmission 't'", "has 1 <joint>, expected 2"),
    "one motor": (ros1(reductions=(3,)), 9, "transmission 't'", "has 1 <actuator>, expected 2"),
    "a joint without gear": (ros1(turns=(0, 1)), 10, "joint 'p'", "'0' would be no gear"),
    "a motor without gear": (ros1(reductions=(1, 0)), 13, "transmission 't'", "would be no gear"),
    "a second one": (ros1() + ros1(turns=(1, 1)), 13, "transmission 't'", "'t' drives too"),
    "a simple one before": (SIMPLE + ros1(), 11, "transmission 't'", "drives 'p', which"),
    "a simple one after": (ros1() + SIMPLE, 13, "transmission 't'", "drives 'p', which"),
    "a singular matrix": (MATRIX.format("1 2 2 4"), 9, "transmission 't'", "no singular matrix"),
    "a matrix too small": (MATRIX.format("1 2 2"), 9, "transmission 't'", "3 numbers in <matrix>"),
    "a matrix of words": (MATRIX.format("1 a 2 3"), 9, "transmission 't'", "'a' is not a number"),
    "a motor that does not move": (
        ros1() + '<motor joint="p" gear_ratio="0"/>', 9, "transmission 't'", "gear ratio is zero"
    ),
}  # fmt: skip


@pytest.mark.parametrize("case", WRONG)
def test_what_cannot_be_is_an_error_with_its_place(case):
    text, line, element, problem = WRONG[case]
    with pytest.raises(rd.UrdfError, match=problem) as raised:
        rd.load(arm(text))
    assert raised.value.line == line, str(raised.value)
    assert element in str(raised.value)


def test_lenient_reading_leaves_it_out_and_says_so():
    with pytest.warns(UrdfWarning, match="expected 2 -> left out: its joints have no motors by it"):
        robot = rd.load(arm(ros1(names="p")), strict=False)
    assert not robot.transmissions


def test_a_transmission_that_contradicts_leaves_motors_that_turn_with_one_joint_each():
    with pytest.warns(UrdfWarning, match="left out: motors turn with one joint each"):
        robot = rd.load(arm(ros1() + ros1(turns=(1, 1))), strict=False)
    assert [x.matrix for x in robot.transmissions] == [((2.0, 3.0), (2.0, -3.0))]


def test_what_is_not_read_of_a_matrix_is_kept():
    text = MATRIX.format("1 2 3 4").replace('"r"', '"x"')
    with pytest.warns(UrdfWarning, match="'x', which is no joint"):
        mechanism = rd.load(arm(text)).mechanism
    assert "<matrix>1 2 3 4</matrix>" in urdf.write(mechanism)


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        (ros1("Strange"), "of type 'StrangeTransmission' couples the joints 'p', 'r'"),
        (ros1("Simple"), "of type 'SimpleTransmission' couples the joints 'p', 'r'"),
        (ros1(names=""), "transmission 't': has no <joint>: not modelled"),
        (ros1(names="px"), "drives 'x', which is no joint of the robot"),
        (ros1().replace("<joint", "<mechanicalReduction>2</mechanicalReduction><joint", 1),
         "outside of its joints and actuators is left out"),
    ],
)  # fmt: skip
def test_what_is_not_modelled_is_a_warning(text, problem):
    with pytest.warns(UrdfWarning, match=problem):
        rd.load(arm(text))


@pytest.mark.parametrize(
    ("given", "problem"),
    [
        ((("p", "r"), [[1.0, 2.0], [2.0, 4.0]]), "no singular matrix"),
        ((("p", "r"), [[1.0, 2.0]]), r"shape \(1, 2\), expected \(2, 2\)"),
        ((("p", "p"), [[1.0, 1.0], [1.0, -1.0]]), "expected each joint once"),
        ((("p", 3), [[1.0, 1.0], [1.0, -1.0]]), "joints"),
        ((("p", "r"), [[1.0, np.inf], [1.0, -1.0]]), "finite numbers"),
    ],
)
def test_a_transmission_says_what_is_wrong_with_it(given, problem):
    with pytest.raises(rd.ShapeError, match=problem):
        rd.Transmission("t", *given)


def test_radii_of_belts_are_positive_pairs():
    for radii, problem in (([(1.0, 0.0)], "positive"), ([(1.0, 2.0, 3.0)], "two numbers"), (3, "")):
        with pytest.raises(rd.ShapeError, match=problem):
            rd.Transmission.belts("b", ("p", "r"), radii)


def test_joints_that_cannot_be_driven_are_refused():
    def loaded(*joints, kind="continuous", **more):
        shared = rd.Transmission.differential("t", joints)
        text = arm("").replace('name="p" type="continuous"', f'name="p" type="{kind}"')
        return rd.load(text, transmissions=[shared], **more)

    for options, problem in (
        ({"joints": ("p", "x")}, "'x', which is no joint"),
        ({"joints": ("p", "r"), "kind": "planar"}, "'p', which is planar: one freedom"),
        ({"joints": ("p", "r"), "actuators": {"r": rd.Actuator(0.0)}}, "gear ratio is zero"),
    ):
        with pytest.raises(rd.ActuationError, match=problem) as raised:
            loaded(*options.pop("joints"), **options)
        assert raised.value.direction == "t"
    with pytest.raises(rd.ActuationError, match="gear ratio is zero"):
        loaded("p", "r").with_(actuators={"r": rd.Actuator(0.0)})


def test_info_and_convert_tell_of_transmissions(tmp_path, capsys):
    file, new = tmp_path / "arm.urdf", tmp_path / "new.urdf"
    file.write_text(arm(ros1()))
    assert main(["info", str(file)]) == 0
    told = "t: motor of p turns with +100 p +150 r, motor of r turns with +120 p -180 r"
    assert told in capsys.readouterr().out
    assert main(["convert", str(file), str(new)]) == 0
    assert "2 motors, 1 transmission" in capsys.readouterr().out
    assert rd.load(new).transmissions == rd.load(file).transmissions
