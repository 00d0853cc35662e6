"""``robodyn new ros2_control``: a package whose files are what ROS expects, for any robot."""

import json
import re
from xml.dom import minidom

import numpy as np
import pytest
import xacro
import yaml
from lxml import etree
from support.topic_hardware import TopicHardware

import robodyn as rd
from robodyn.cli import main
from robodyn.cli.command_line import _parser
from robodyn.ros import Engine

ROBOTS = ("palletizer", "puma560", "five_bar", "delta", "steering")


def write(folder, robot, *options):
    assert main(["new", "ros2_control", str(folder), "--robot", str(robot), *options]) == 0
    return folder


def only(folder, pattern):
    (path,) = folder.glob(pattern)
    return path


def expanded(folder, **arguments):
    path = only(folder, "urdf/*.urdf.xacro")
    return xacro.process_file(str(path), mappings=arguments).toxml()


@pytest.fixture(scope="module", params=[x for x in ROBOTS if x in rd.robots()])
def package(request, tmp_path_factory):
    """A robot and the folder of its package."""
    folder = tmp_path_factory.mktemp("ws") / f"{request.param}_control"
    return rd.load(request.param), write(folder, request.param)


def test_it_loads_as_the_robot_that_it_was_made_from(package):
    robot, folder = package
    loaded = rd.load(only(folder, "urdf/*.urdf.xacro"))
    assert loaded.actuated_joints == robot.actuated_joints
    assert loaded.joint_names == robot.joint_names
    q = robot.neutral()
    np.testing.assert_allclose(loaded.neutral(), q, atol=1e-12)
    np.testing.assert_allclose(loaded.mass_matrix(q), robot.mass_matrix(q), rtol=1e-12, atol=1e-12)
    np.testing.assert_allclose(loaded.effort_limits, robot.effort_limits)


def test_hardware_has_the_motors_with_all_states_of_a_simulation(package):
    """What the node publishes has a place, and what it starts with is its first state."""
    robot, folder = package
    engine = Engine(rd.load(only(folder, "urdf/*.urdf.xacro")))
    for interface in ("position", "effort"):
        hardware = TopicHardware(expanded(folder, interface=interface))
        assert tuple(hardware.names) == engine.joints == Engine(robot).joints
        assert {kind for _, kind in hardware.commands} == {interface}
        first = dict(hardware.states)
        q, v, _, tau = engine.observe()
        hardware.read(engine.names.content(q, v, tau))
        for name in hardware.names:
            assert hardware.states[name, "position"] == pytest.approx(first[name, "position"])
    assert hardware.commands_topic == "/robodyn/joint_commands"
    assert hardware.states_topic == "/joint_states"
    hardware.commands = {at: hardware.states[at] for at in hardware.commands}
    assert hardware.write() is not None  # also what is reached is held by a command


def test_controllers_command_the_motors(package):
    robot, folder = package
    said = yaml.safe_load((folder / "config/controllers.yaml").read_text())
    motors = list(Engine(robot).joints)
    manager = said["controller_manager"]["ros__parameters"]
    controllers = {name: x for name, x in manager.items() if isinstance(x, dict)}
    assert manager["update_rate"] == 500 and all("type" in x for x in controllers.values())
    for name in ("joint_trajectory_controller", "effort_controller"):
        assert said[name]["ros__parameters"]["joints"] == motors
    assert said["joint_trajectory_controller"]["ros__parameters"]["command_interfaces"] == [
        "position"
    ]
    assert said["joint_state_broadcaster"]["ros__parameters"]["use_local_topics"] is True


def test_programs_and_the_package_are_well_formed(package):
    _, folder = package
    for path in (only(folder, "launch/*.launch.py"), folder / "scripts/gravity_compensation.py"):
        compile(path.read_text(), str(path), "exec")
    manifest = etree.parse(folder / "package.xml").getroot()
    assert manifest.findtext("name") == folder.name
    needed = {x.text for x in manifest.findall("exec_depend")}
    launch = only(folder, "launch/*.launch.py").read_text()
    assert {*re.findall(r'package="(\w+)"', launch)} - {folder.name} <= needed
    assert "joint_state_topic_hardware_interface" in needed
    assert f"project({folder.name} " in (folder / "CMakeLists.txt").read_text()
    for path in folder.rglob("*"):
        assert path.is_dir() or not re.search("@[A-Z]+@", path.read_text()), path


def test_passive_joints_are_named_for_moveit(package):
    """Every joint of the tree that other programs see moves by a motor, follows, or is passive."""
    robot, folder = package
    srdf = etree.parse(only(folder, "config/*.srdf")).getroot()
    urdf = etree.fromstring(expanded(folder).encode())
    moving = {
        x.get("name")
        for x in urdf.findall("joint")
        if x.get("type") != "fixed" and x.find("mimic") is None
    }
    motors = [x.get("name") for x in srdf.find("group")]
    passive = [x.get("name") for x in srdf.findall("passive_joint")]
    assert sorted(motors + passive) == sorted(moving)
    assert motors == list(Engine(robot).joints)
    links = {x.get("name") for x in urdf.findall("link")}
    assert srdf.find("virtual_joint").get("child_link") == robot.link_names[0]
    for pair in srdf.findall("disable_collisions"):
        assert {pair.get("link1"), pair.get("link2")} <= links
    assert srdf.get("name") == urdf.get("name")
    start = {x.get("name"): float(x.get("value")) for x in srdf.find("group_state")}
    places = robot.joint_positions(robot.neutral())
    assert start == {n: pytest.approx(float(places[n])) for n in motors}


def test_commands_of_the_readme_are_those_of_robodyn(package):
    _, folder = package
    lines = re.findall("^    (robodyn .*)$", (folder / "README.md").read_text(), re.MULTILINE)
    assert [line.split()[1] for line in lines] == ["relay"]
    for line in lines:
        _, command, robot, *options = line.split()
        _parser((command,)).parse_args([command, str(folder / robot), *options])
        assert (folder / robot).exists()


def test_a_loop_of_other_programs_is_a_tree(package):
    _, folder = package
    urdf = minidom.parseString(only(folder, "urdf/*.urdf").read_text())
    children = [x.getElementsByTagName("child")[0].getAttribute("link")
                for x in urdf.documentElement.childNodes if x.nodeName == "joint"]  # fmt: skip
    assert len({*children}) == len(children)


GRIPPER = """<robot name="Two Fingers!"><link name="base"/>{}
<joint name="left" type="prismatic"><parent link="base"/><child link="l"/><axis xyz="0 1 0"/>
<limit lower="0" upper="0.1" effort="9" velocity="1"/></joint>
<joint name="right" type="prismatic"><parent link="base"/><child link="r"/><axis xyz="0 -1 0"/>
<limit lower="0" upper="0.1" effort="9" velocity="1"/><mimic joint="left"/></joint>
<ros2_control name="old" type="system"><hardware><plugin>gz/X</plugin></hardware>
<joint name="left"><command_interface name="position"/><state_interface name="position">
<param name="initial_value">0.05</param></state_interface></joint></ros2_control></robot>"""
FINGER = """<link name="{}"><visual><geometry><mesh filename="finger.stl"/></geometry></visual>
<inertial><mass value="1"/>
<inertia ixx="1" ixy="0" ixz="0" iyy="1" iyz="0" izz="1"/></inertial></link>"""


def test_the_control_of_a_file_is_replaced_and_its_start_kept(tmp_path, capsys):
    source = tmp_path / "gripper.urdf"
    source.write_text(GRIPPER.format(FINGER.format("l") + FINGER.format("r")))
    folder = write(tmp_path / "fingers", source)
    assert "not copied, and looked for beside urdf/two_fingers.urdf: finger.stl" in (
        capsys.readouterr().out
    )
    text = expanded(folder)
    assert text.count("<ros2_control") == 1 and "gz/X" not in text
    assert TopicHardware(text).names == ["left"]
    assert TopicHardware(text).states["left", "position"] == 0.05
    assert only(folder, "urdf/*.urdf").name == "two_fingers.urdf"
    assert not etree.parse(only(folder, "config/*.srdf")).findall("passive_joint")
    loaded = rd.load(only(folder, "urdf/*.urdf.xacro"))
    assert loaded.name == "Two Fingers!" and loaded.actuated_joints == ("left",)


def test_motors_that_loops_tie_together_get_efforts_alone(four_bar, tmp_path, capsys):
    """More motors than the linkage has degrees of freedom."""
    motors = "".join(f'<motor joint="{name}"/>' for name in four_bar.joint_names[:2])
    source = tmp_path / "tied.urdf"
    text = re.sub("<motor[^>]*/>", "", rd.urdf.write(four_bar.mechanism))
    source.write_text(text.replace("</robot>", f"{motors}</robot>"))
    folder = write(tmp_path / "tied", source)
    assert "efforts alone" in capsys.readouterr().out
    assert {kind for _, kind in TopicHardware(expanded(folder)).commands} == {"effort"}
    assert 'choices=["effort"]' in only(folder, "launch/*.launch.py").read_text()
    assert "efforts alone" in (folder / "README.md").read_text().lower()


def test_motors_of_joints_with_several_coordinates_stay_without_commands(tmp_path, capsys):
    folder, robot = write(tmp_path / "leg", "prosthesis"), rd.load("prosthesis")
    said = capsys.readouterr().out
    assert "not commanded: shoulder, wrist" in said
    assert "other readers refuse the file, for its spherical joints (shoulder)" in said
    loaded = rd.load(only(folder, "urdf/*.urdf.xacro"))
    assert loaded.actuated_joints == robot.actuated_joints
    assert TopicHardware(expanded(folder)).names == ["elbow"]


def test_names_that_are_none_of_a_package(tmp_path, capsys):
    for name in ("My-Robot", "2nd", "a__b"):
        assert main(["new", "ros2_control", str(tmp_path / name)]) == 2
        assert "no name of a package of ROS" in capsys.readouterr().err
    assert [*tmp_path.iterdir()] == []


def test_names_of_joints_and_robots_come_through_xacro_yaml_and_xml(tmp_path, capsys):
    """xacro makes numbers and truth values of text, and names may hold what XML escapes."""
    names = ["007", "1e3", "True", "inf", "nan", "it's", "'q'", 'a"b&<c>', "null", "- x: #y", "é"]
    arm = etree.Element("robot", name='a "b" & <c>')
    for k in range(len(names) + 1):
        body = etree.SubElement(etree.SubElement(arm, "link", name=f"l{k}"), "inertial")
        etree.SubElement(body, "mass", value="1")
        moments = zip(("ixx", "iyy", "izz", "ixy", "ixz", "iyz"), "111000", strict=True)
        etree.SubElement(body, "inertia", dict(moments))
    for k, name in enumerate(names):
        joint = etree.SubElement(arm, "joint", name=name, type="continuous")
        etree.SubElement(joint, "parent", link=f"l{k}")
        etree.SubElement(joint, "child", link=f"l{k + 1}")
    (tmp_path / "arm.urdf").write_bytes(etree.tostring(arm))
    folder = write(tmp_path / "arm", tmp_path / "arm.urdf")
    hardware = TopicHardware(expanded(folder))
    assert list(hardware.names) == names
    loaded = rd.load(only(folder, "urdf/*.urdf.xacro"))
    assert loaded.name == 'a "b" & <c>' and list(loaded.actuated_joints) == names
    said = yaml.safe_load((folder / "config/controllers.yaml").read_text())
    assert said["effort_controller"]["ros__parameters"]["joints"] == names
    group = etree.parse(only(folder, "config/*.srdf")).find("group")
    assert [joint.get("name") for joint in group] == names
    capsys.readouterr()


def test_a_robot_without_motors_that_can_be_commanded(tmp_path, capsys):
    source = tmp_path / "ball.urdf"
    source.write_text(
        f'<robot name="ball"><link name="base"/>{FINGER.format("bob")}<joint name="j" '
        'type="spherical"><parent link="base"/><child link="bob"/></joint></robot>'
    )
    assert main(["new", "ros2_control", str(tmp_path / "ball"), "--robot", str(source)]) == 2
    assert "no joint with a motor that ros2_control can command" in capsys.readouterr().err
    assert not (tmp_path / "ball").exists()


def test_the_default_and_options_of_other_projects(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    assert main(["new", "ros2_control", "--json"]) == 0
    said = json.loads(capsys.readouterr().out)
    assert said["robot"] == "palletizer" and len(said["files"]) == 10
    assert (tmp_path / "palletizer_ros2_control" / "README.md").exists()
    assert main(["new", "arm", "--robot", "puma560"]) == 2
    assert "has a robot of its own" in capsys.readouterr().err
    assert main(["new", "ros2_control"]) == 2
    assert "holds other files" in capsys.readouterr().err
