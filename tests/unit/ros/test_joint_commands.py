"""Commands that come as JointState, to the engine behind the nodes; without ROS."""

from types import SimpleNamespace

import numpy as np
import pytest
from support.engines import engine
from support.topic_hardware import TopicHardware

import robodyn as rd
from robodyn.ros import TrajectoryContent, TrajectoryPoint

NAN = float("nan")


def obey(made, name, position=(), velocity=(), effort=(), stamp=0, now=0):
    time = SimpleNamespace(sec=stamp // 10**9, nanosec=stamp % 10**9)
    header = SimpleNamespace(stamp=time)
    message = SimpleNamespace(
        header=header, name=list(name), position=position, velocity=velocity, effort=effort
    )
    made.obey("~/joint_commands", message, now)


def test_the_field_with_a_number_says_what_is_commanded():
    """Of robots whose numbers mean efforts by the settings: position, speed, effort of a joint."""
    made, said = engine("puma560", controller="gravity")
    names = ["joint1", "joint2", "joint3"]
    obey(made, names, position=[0.002, NAN, NAN], velocity=[NAN, 0.05, NAN], effort=[NAN, NAN, 2.0])
    made.advance(400)
    assert made.q[0] == pytest.approx(0.002, abs=1e-6)
    assert made.v[1] == pytest.approx(0.05, abs=1e-9)
    assert made.observe()[3][2] == 2.0
    obey(made, ["joint1"], effort=[3.0])  # another kind from now on; the others keep theirs
    made.advance(100)
    np.testing.assert_allclose(made.observe()[3][[0, 2]], [3.0, 2.0])
    assert made.v[1] == pytest.approx(0.05, abs=1e-9)
    assert said == []


def test_commands_by_number_mean_what_the_settings_say_again():
    made, _ = engine("puma560")
    obey(made, ["joint1"], position=[0.1])
    made.advance(300)
    made.command(np.full(6, 0.5))
    np.testing.assert_allclose(made.observe()[3], 0.5)


@pytest.mark.parametrize("empty", [(), [NAN] * 6])
def test_what_is_not_commanded_changes_nothing(empty):
    """Before a controller is active, ros2_control sends nothing but NaN."""
    made, said = engine("puma560", controller="gravity")
    start, names = made.q.copy(), list(made.joints)
    for _ in range(20):
        obey(made, names, position=empty)
        made.advance(10)
    np.testing.assert_allclose(made.q, start, atol=1e-6)
    assert said == []


@pytest.mark.parametrize("name", ["puma560", "palletizer"])
def test_joints_without_a_command_stay_with_the_controller(name):
    """One joint of many is commanded; gravity moves none of the others."""
    made, said = engine(name, controller="gravity")
    start, first = made.q.copy(), made.joints[0]
    for k in range(100):
        obey(made, made.joints, position=[1e-4 * k, *[NAN] * (len(made.joints) - 1)])
        made.advance(2)
    at = made.commanded.coordinates
    np.testing.assert_allclose(made.q[at[0]], start[at[0]] + 0.01, atol=0.004)
    np.testing.assert_allclose(made.q[at[1:]], start[at[1:]], atol=1e-3)
    obey(made, [first], effort=[0.5])
    made.advance(10)
    gravity = made.robot.gravity_forces(made.q)
    if not made.robot.nc:
        np.testing.assert_allclose(made.observe()[3][1:], gravity[1:], atol=0.05)
    assert made.observe()[3][0] == 0.5
    assert said == []


def test_efforts_go_stale_joint_by_joint():
    """The sender of one joint has died, that of another goes on."""
    made, said = engine("puma560", command_timeout=0.1, controller="gravity")
    obey(made, ["joint5"], effort=[0.2])
    for _ in range(30):
        obey(made, ["joint6"], effort=[0.1])
        made.advance(10)
    tau = made.observe()[3]
    assert tau[5] == 0.1 and tau[4] != 0.2
    assert said == ["no command of joint5 for 0.1 s: gravity takes over"]
    made.advance(200)
    assert said[1:] == ["no command for 0.1 s: gravity takes over"]


def test_a_number_for_its_own_interface_goes_before_others():
    made, said = engine("puma560", interfaces="velocity")
    obey(made, ["joint1"], position=[0.5], velocity=[0.1])
    made.advance(300)
    assert made.v[0] == pytest.approx(0.1, abs=1e-6)
    assert said == ["commands of several kinds for a joint: velocity of joint1 counts alone"]


@pytest.mark.parametrize(
    ("message", "told"),
    [
        (dict(name=["joint1", "joint1"], effort=[1.0, 2.0]), "joint1 named twice"),
        (dict(name=[], effort=[1.0]), "names no joint"),
        (dict(name=["joint1", "joint2"], effort=[1.0]), "1 numbers in effort for 2 names"),
        (dict(name=["joint1"], position=[1.0, 2.0]), "2 numbers in position for 1 names"),
        (dict(name=["joint1"], velocity=[np.inf]), "infinite velocity of joint1"),
        (dict(name=["joint1"], position=[1e30]), "beyond"),
        (dict(name=["knee"], effort=[1.0]), "knee"),
    ],
)
def test_bad_messages_are_refused_with_names_and_the_last_command_stays(message, told):
    made, _ = engine("puma560")
    made.command(np.ones(6))
    with pytest.raises((rd.ShapeError, rd.UnknownNameError), match=told):
        obey(made, **message)
    np.testing.assert_allclose(made.observe()[3], 1.0)


def test_unknown_and_passive_joints_are_named_and_the_others_move():
    made, said = engine("palletizer", controller="gravity")
    obey(made, ["knee", "elbow", "waist", "wrist"], effort=[1.0, 2.0, 3.0, NAN])
    assert made.observe()[3][0] == 3.0
    commanded = "waist, shoulder, flange_drive, crank_drive"
    assert said == [
        f"commands for knee are not used: no joint of the robot (commanded: {commanded})",
        f"commands for elbow are not used: not commanded by the node (commanded: {commanded})",
    ]


def test_joints_that_loops_tie_together_are_not_driven_and_nothing_changes(four_bar):
    made, _ = engine(four_bar, joints=four_bar.joint_names[:2])
    made.command([0.1, 0.0])
    with pytest.raises(rd.ActuationError, match="tie"):
        obey(made, four_bar.joint_names[:2], position=[0.1, 0.1])
    assert made.observe()[3][0] == 0.1
    made.advance(10)


@pytest.mark.parametrize(
    ("kind", "value", "told"),
    [("position", 100.0, "positions"), ("velocity", 100.0, "speeds"), ("effort", 1e5, "efforts")],
)
def test_limits_are_kept_and_told_once_with_names(kind, value, told):
    made, said = engine("puma560", controller="gravity")
    for _ in range(50):
        obey(made, ["joint2", "joint3"], **{kind: [value, 0.0]})
        made.advance(2)
    assert said[0] == f"{told} beyond the limits of joint2 are cut to them"
    assert len([text for text in said if told in text]) == 1
    robot = made.robot
    assert made.q[1] <= robot.upper_limits[1] + 1e-9
    assert abs(made.v[1]) <= robot.velocity_limits[1] + 1e-9 or kind == "effort"
    assert abs(made.observe()[3][1]) <= robot.effort_limits[1] or kind != "effort"


def test_messages_that_come_late_are_told_and_used():
    made, said = engine("puma560")
    obey(made, ["joint1"], effort=[2.0], stamp=10**9, now=5 * 10**9)
    assert said == ["a command is stamped 4 s ago; it starts when it comes"]
    assert made.observe()[3][0] == 2.0


def test_driven_joints_stay_driven_when_they_stop_at_a_limit():
    """And do not fall, as by the settings their numbers are efforts."""
    made, said = engine("puma560")
    obey(made, list(made.joints), position=made.q.copy())
    top = float(made.robot.upper_limits[1])
    for _ in range(60):
        obey(made, ["joint2"], velocity=[2.0])
        made.advance(20)
    assert any("would leave its limit" in text for text in said)
    others = [0, 2, 3, 4, 5]
    np.testing.assert_allclose(made.q[others], made._start[others], atol=1e-6)
    assert made.q[1] == pytest.approx(top, abs=0.01)


TAGS = """<robot name="r"><link name="base"/>{links}
<ros2_control name="arm" type="system"><hardware><plugin>{plugin}</plugin></hardware>
<joint name="a"><command_interface name="position"><param name="min">-0.5</param>
<param name="max">0.5</param></command_interface>
<state_interface name="position"><param name="initial_value">0.25</param></state_interface>
<state_interface name="velocity"/><state_interface name="effort"/></joint>
<joint name="p"><state_interface name="position"/></joint>
<joint name="b"><command_interface name="velocity"><param name="min">-0.2</param>
<param name="max">0.2</param></command_interface><state_interface name="velocity"/>
<state_interface name="position"/><state_interface name="effort"/></joint>
<gpio name="io"><command_interface name="x"/></gpio><sensor name="s"/></ros2_control>
<ros2_control name="hand" type="actuator"><hardware><plugin>x</plugin></hardware>
<joint name="c"><command_interface name="effort"><param name="min">-3</param>
<param name="max">4</param></command_interface><state_interface name="effort"/></joint>
</ros2_control></robot>"""
LINK = """<link name="{0}"><inertial><mass value="1"/><origin xyz="0 0 0.1"/>
<inertia ixx="0.1" ixy="0" ixz="0" iyy="0.1" iyz="0" izz="0.1"/></inertial></link>
<joint name="{1}" type="revolute"><parent link="{2}"/><child link="{0}"/><axis xyz="0 0 1"/>
<limit lower="-1" upper="1" effort="100" velocity="10"/></joint>"""
CHAIN = "".join(LINK.format(f"l{n}", n, p) for n, p in
                [("a", "base"), ("p", "la"), ("b", "lp"), ("c", "lb")])  # fmt: skip
FILE = TAGS.format(links=CHAIN, plugin="joint_state_topic_hardware_interface/JointStateTopicSystem")


def test_numbers_of_joints_with_other_interfaces_are_those_that_ros2_control_packs():
    """Three names, a position of the first and a speed of the last: the middle one has no motor."""
    made, said = engine(rd.load(FILE), controller="gravity")
    assert made.joints == ("a", "b", "c")
    hardware = TopicHardware(FILE)
    hardware.commands |= {("a", "position"): 0.1, ("b", "velocity"): 0.05}
    message = hardware.write()
    assert (len(message.name), len(message.position), len(message.velocity)) == (3, 1, 1)
    obey(made, message.name, message.position, message.velocity, message.effort)
    made.advance(400)
    q, v = made.q, made.v
    assert q[0] == pytest.approx(0.1, abs=1e-6) and v[2] == pytest.approx(0.05, abs=1e-6)
    assert said == []


def test_limits_and_initial_values_of_ros2_control_are_kept():
    made, said = engine(rd.load(FILE), controller="gravity")
    np.testing.assert_allclose(made.q, [0.25, 0, 0, 0])
    obey(made, ["a", "b", "c"], [0.9, NAN, NAN], [NAN, 1.0, NAN], [NAN, NAN, 50.0])
    assert made.observe()[3][3] == 3.0
    made.advance(400)
    assert made.q[0] == pytest.approx(0.5, abs=1e-6)
    assert made.v[2] == pytest.approx(0.2, abs=1e-6)
    assert [text.split()[0] for text in said[:3]] == ["positions", "speeds", "efforts"]
    with pytest.raises(rd.PathError, match=r"beyond 0\.5"):
        made.follow(TrajectoryContent(("a",), (TrajectoryPoint(2.0, (0.9,)),)))
    made.reset()
    np.testing.assert_allclose(made.q, [0.25, 0, 0, 0])
    assert made.robot.upper_limits[0] == 1.0  # those of the joint, not of its commands


def with_initial_values(robot, start, **options):
    """The robot from a file where ``<ros2_control>`` says where joints start."""
    joints = "".join(
        f'<joint name="{n}"><command_interface name="position"/><state_interface name="position">'
        f'<param name="initial_value">{x}</param></state_interface></joint>'
        for n, x in start.items()
    )
    tag = f'<ros2_control name="c" type="system">{joints}</ros2_control></robot>'
    return rd.load(rd.urdf.write(robot.mechanism).replace("</robot>", tag), **options)


def test_initial_values_of_motors_close_the_loops():
    start = {"waist": 0.3, "shoulder": 0.1, "flange_drive": 0.05, "crank_drive": -0.05}
    robot = with_initial_values(rd.load("palletizer"), start)
    made, said = engine(robot)
    places = made.robot.joint_positions(made.q)
    assert {n: pytest.approx(float(places[n]), abs=1e-9) for n in start} == start
    assert np.abs(robot.loop_residual(made.q)).max() < 1e-9
    assert said == []


def test_initial_values_beyond_limits_are_told():
    made, said = engine(with_initial_values(rd.load("palletizer"), {"waist": 100.0}))
    np.testing.assert_allclose(made.q, made.robot.neutral())
    assert said == ["initial values of waist lie beyond limits: not taken"]


def test_a_neutral_posture_beyond_limits_is_told():
    """As of arms whose elbow cannot be straight; the way out works."""
    text = rd.urdf.write(rd.load("double_pendulum").mechanism)
    limited = (
        '<joint name="elbow" type="revolute"><limit lower="0.5" upper="2" effort="9" velocity="9"/>'
    )
    robot = rd.load(text.replace('<joint name="elbow" type="continuous">', limited))
    made, said = engine(robot)
    np.testing.assert_allclose(made.q, 0.0)
    assert len(said) == 1 and said[0].startswith("elbow start beyond limits: the initial_value")
    made, said = engine(with_initial_values(robot, {"elbow": 0.5}))
    assert made.q[1] == 0.5 and said == []


def followed(mimic="", start="", interface="position"):
    """Joints a and b, which may follow it; where b starts by its state interface."""
    bodies = "".join(BODY.format(name) for name in ("base", "one", "two"))
    hinges = HINGE.format("a", "base", "one", 0) + HINGE.format("b", "one", "two", 1)
    hinges = hinges.removesuffix("</joint>") + f"{mimic}</joint>"
    tag = "".join(
        f'<joint name="{n}"><state_interface name="{interface}"><param name="initial_value">{x}'
        "</param></state_interface></joint>"
        for n, x in start.items()
    )
    tag = f'<ros2_control name="c" type="system">{tag}</ros2_control>'
    return rd.load(f'<robot name="r">{bodies}{hinges}{tag}<motor joint="a"/></robot>')


@pytest.mark.parametrize(
    ("start", "q", "told"),
    [
        ({"b": -0.5}, 0.3, []),  # it follows, and so says where what it follows is
        ({"b": -0.5, "a": 0.3}, 0.3, []),
        ({"b": -0.5004, "a": 0.3}, 0.3, []),  # rounded
        ({"b": 0.7, "a": 0.3}, 0.3, ["b start beside their initial values"]),
    ],
)
def test_initial_values_of_joints_that_follow(start, q, told):
    """b = -2 a + 0.1."""
    robot = followed('<mimic joint="a" multiplier="-2" offset="0.1"/>', start)
    made, said = engine(robot)
    np.testing.assert_allclose(made.q, [q])
    assert len(said) == len(told) and all(x in y for x, y in zip(told, said, strict=True))


def test_initial_values_of_joints_that_loops_in_closed_form_move():
    plain = rd.load("four_bar", coordinates="minimal")
    (name, *_) = plain.dependent_joints
    at = float(plain.joint_positions(plain.neutral())[name])
    for value, told in ((at, 0), (at + 0.2, 1)):
        robot = with_initial_values(rd.load("four_bar"), {name: value}, coordinates="minimal")
        made, said = engine(robot)
        np.testing.assert_allclose(made.q, plain.neutral())
        assert len(said) == told and all(f"{name} start beside" in x for x in said)


def test_initial_speeds_are_told():
    made, said = engine(followed(start={"a": 0.5}, interface="velocity"))
    assert said == ["starts at rest: initial speeds or efforts of a are not taken"]
    np.testing.assert_allclose(made.v, 0.0)


BODY = """<link name="{0}"><inertial><mass value="1"/>
<inertia ixx="1" ixy="0" ixz="0" iyy="1" iyz="0" izz="1"/></inertial></link>"""
HINGE = """<joint name="{}" type="continuous"><parent link="{}"/><child link="{}"/>
<origin xyz="{} 0 0"/><axis xyz="0 1 0"/></joint>"""


@pytest.mark.parametrize(
    ("near", "told"),
    [
        ({"elbow": 1.0}, "initial values of <ros2_control> are not taken"),
        (None, "slide start beside their initial values: loops"),  # stretched: singular
    ],
)
def test_initial_values_that_leave_loops_open_are_told(near, told):
    """A slider on a crank and a rod of 1 m each is not 3 m away."""
    bodies = "".join(BODY.format(name) for name in ("base", "crank", "rod", "slider"))
    hinges = HINGE.format("pivot", "base", "crank", 0) + HINGE.format("elbow", "crank", "rod", 1)
    slide = (
        '<joint name="slide" type="prismatic"><parent link="base"/><child link="slider"/>'
        '<axis xyz="1 0 0"/><limit lower="-9" upper="9" effort="9" velocity="9"/></joint>'
        '<joint name="pin" type="continuous" cut="true"><parent link="rod"/><child link="slider"/>'
        '<origin xyz="1 0 0"/><axis xyz="0 1 0"/></joint>'
    )
    plain = rd.load(f'<robot name="slider_crank">{bodies}{hinges}{slide}</robot>')
    made, said = engine(with_initial_values(plain, {"slide": 3.0}, near=near))
    assert np.abs(made.robot.loop_residual(made.q)).max() < 1e-9
    assert len(said) == 1 and told in said[0]


def test_a_stream_of_positions_moves_a_closed_linkage_along_it():
    """500 messages a second, as a trajectory controller sends them; loops stay closed."""
    made, said = engine("palletizer", controller="gravity")
    start = made.q[made.commanded.coordinates]
    for k in range(120):
        s = min(k / 60, 1.0)
        obey(made, made.joints, position=start + 0.02 * s**3 * (10 - 15 * s + 6 * s * s))
        made.advance(2)
        assert np.abs(made.robot.loop_residual(made.q)).max() < 1e-9
    np.testing.assert_allclose(made.q[made.commanded.coordinates], start + 0.02, atol=1e-4)
    assert said == []


def test_windings_take_voltages_alone():
    motor = rd.Motor(0.06, 0.35, inductance=4e-4, voltage=48.0)
    gear = rd.Actuator(60.0, 1e-4, motor=motor, command="voltage")
    made, _ = engine(rd.load("double_pendulum", actuators={"shoulder": gear}))
    (winding,) = made.joints
    for field in ("position", "velocity"):
        with pytest.raises(rd.ActuationError, match="windings of motors and take voltages alone"):
            obey(made, [winding], **{field: [0.1]})
    with pytest.raises(rd.ActuationError, match="take voltages alone"):
        made.follow(TrajectoryContent((winding,), (TrajectoryPoint(1.0, (0.1,)),)))
    obey(made, [winding], effort=[24.0])
    made.advance(20)
    assert made.v[made.robot.joints[winding].v] > 10.0  # the current [A]
