"""Words of simulators in a URDF: springs of Gazebo are read, what is not read is told."""

import warnings

import pytest

import robodyn as rd
from robodyn import urdf
from robodyn.cli import main
from robodyn.errors import UrdfWarning
from robodyn.urdf.write import as_written

STIFFNESS, REST = "<springStiffness>40</springStiffness>", "<springReference>0.2</springReference>"


def robot(extra="", *, link="", joint="", kind="continuous"):
    """A flap on a post; lines 3, 4 and 5 have what is given."""
    inertia = '<inertia ixx=".01" ixy="0" ixz="0" iyy=".02" iyz="0" izz=".015"/>'
    inertial = f'<inertial><origin xyz=".3 0 0"/><mass value="2"/>{inertia}</inertial>'
    return "\n".join(
        (
            '<robot name="flap"><link name="post"/>',
            f'<link name="flap">{inertial}',
            f"{link}</link>",
            f'<joint name="hinge" type="{kind}"><parent link="post"/><child link="flap"/>'
            f'<axis xyz="0 1 0"/>{joint}</joint>',
            f"{extra}</robot>",
        )
    )


def warned(text):
    """The warnings of a text, one by one."""
    with warnings.catch_warnings(record=True, action="always", category=UrdfWarning) as caught:
        rd.load(text)
    messages = [warning.message for warning in caught]
    assert len(messages) <= 1
    return [x for message in messages for x in (message.places or (message,))]


@pytest.mark.parametrize(
    "words",
    [
        f'<gazebo reference="hinge">{STIFFNESS}{REST}</gazebo>',
        f'<gazebo reference="hinge">{STIFFNESS}</gazebo><gazebo reference="hinge">{REST}</gazebo>',
        '<gazebo reference="hinge"><springStiffness value="40"/><springReference value="0.2"/>'
        "<implicitSpringDamper>1</implicitSpringDamper></gazebo>",
    ],
)
def test_springs_of_gazebo_are_read(words):
    text = robot(words)
    assert warned(text) == []
    mechanism = urdf.load_mechanism(text)
    assert (mechanism.joints[0].stiffness, mechanism.joints[0].rest) == (40.0, 0.2)
    assert rd.load(text).elastic_forces([0.5])[0] == pytest.approx(-40.0 * 0.3)
    again = urdf.write(mechanism)
    assert warned(again) == []
    assert urdf.parse(again)[0] == as_written(mechanism)


def test_springs_of_joints_that_close_loops_are_read():
    pin = (
        '<joint name="pin" type="continuous" cut="true"><parent link="post"/><child link="flap"/>'
        f'<axis xyz="0 1 0"/></joint><gazebo reference="pin">{STIFFNESS}</gazebo>'
    )
    (loop,) = urdf.load_mechanism(robot(pin)).loops
    assert (loop.stiffness, loop.rest) == (40.0, 0.0)


@pytest.mark.parametrize(
    ("kind", "joint", "extra", "said"),
    [
        ("revolute", '<dynamics spring_stiffness="3"/>', STIFFNESS, "gives the joint another"),
        ("spherical", "", STIFFNESS, "a spherical joint has no spring"),
        ("continuous", "", "<springStiffness>-4</springStiffness>", "-4 is negative"),
        ("continuous", "", "<springStiffness>stiff</springStiffness>", "'stiff' is not a number"),
    ],
)
def test_springs_that_cannot_be_are_told(kind, joint, extra, said):
    text = robot(f'<gazebo reference="hinge">{extra}</gazebo>', kind=kind, joint=joint)
    errors, told = urdf.findings(text)
    (finding,) = [x for x in (*errors, *told) if said in str(x)]
    assert finding.line == 5


TOLD = {
    "static": ({"extra": "<gazebo><static>true</static></gazebo>"}, 5, "<static> is not read"),
    "turnGravityOff in a link": (
        {"link": "<turnGravityOff>true</turnGravityOff>"}, 3, "gravity acts on the link"
    ),
    "gravity in a link": ({"link": "<gravity>0</gravity>"}, 3, "gravity acts on the link"),
    "velocity_decay": (
        {"link": "<velocity_decay><linear>0.1</linear></velocity_decay>"}, 3, "may move the robot"
    ),
    "kinematic": ({"link": "<kinematic>true</kinematic>"}, 3, "may move the robot"),
    "joint_properties": (
        {"joint": '<joint_properties damping="0.7"/>'}, 4, 'write <dynamics damping="..."/>'
    ),
    "K": ({"joint": '<dynamics K="40"/>'}, 4, 'write <dynamics spring_stiffness="..."/>'),
    "D": ({"joint": '<dynamics D="0.7"/>'}, 4, 'write <dynamics damping="..."/>'),
    "mu_viscous": ({"joint": '<dynamics mu_viscous="7"/>'}, 4, 'write <dynamics damping="..."/>'),
    "mu_coulomb": ({"joint": '<dynamics mu_coulomb="7"/>'}, 4, 'write <dynamics friction="..."/>'),
    "damping": (
        {"extra": '<gazebo reference="hinge"><damping>0.7</damping></gazebo>'},
        5, "may move the robot",
    ),
    "axis": (
        {"extra": '<gazebo reference="hinge"><axis><xyz>0 0 1</xyz></axis></gazebo>'},
        5, "may move the robot",
    ),
    "no joint": (
        {"extra": f'<gazebo reference="wheel">{STIFFNESS}</gazebo>'}, 5, "'wheel' is no joint"
    ),
}  # fmt: skip


@pytest.mark.parametrize("what", TOLD)
def test_what_is_not_read_is_told_with_its_line(what, tmp_path, capsys):
    given, line, said = TOLD[what]
    (warning,) = warned(robot(**given))
    assert said in str(warning)
    assert warning.line == line
    path = tmp_path / "flap.urdf"
    path.write_text(robot(**given))
    assert main(["check", str(path)]) == 0
    assert f"{path}:{line}: " in capsys.readouterr().out


@pytest.mark.parametrize(
    "given",
    [
        {"joint": '<dynamics damping="1" K="0" D="0.0" mu_viscous="0" mu_coulomb="0e0"/>'},
        {"joint": '<joint_properties damping="0" friction="0.0"/>'},
        {"link": "<gravity>1</gravity><turnGravityOff>false</turnGravityOff>"},
        {"link": "<kinematic>0</kinematic>"},
        {"extra": "<gazebo><static>false</static></gazebo>"},
        {"extra": '<gazebo reference="flap"><turnGravityOff>false</turnGravityOff></gazebo>'},
        {"extra": '<gazebo reference="flap"><gravity>true</gravity><mu1>0.2</mu1></gazebo>'},
        {"extra": '<gazebo reference="hinge"><springStiffness>0</springStiffness></gazebo>'},
        {"extra": '<gazebo reference="flap"><sensor><pose>0 0 1 0 0 0</pose></sensor></gazebo>'},
        {"extra": "<gazebo><plugin><static>true</static></plugin></gazebo>"},
    ],
)
def test_what_changes_nothing_is_not_told(given):
    assert warned(robot(**given)) == []


@pytest.mark.parametrize(
    ("words", "off"),
    [
        ("<turnGravityOff>true</turnGravityOff>", True),
        ("<turnGravityOff> TRUE </turnGravityOff>", True),
        ('<turnGravityOff value="1"/>', True),
        ("<gravity>false</gravity>", True),
        ("<gravity>0</gravity>", True),
        ("<gravity>1</gravity>", False),
        ("<turnGravityOff>0</turnGravityOff>", False),
    ],
)
def test_links_on_which_gravity_does_not_act(words, off):
    text = robot(f'<gazebo reference="flap">{words}</gazebo>')
    told = warned(text)
    assert [warning.line for warning in told] == [5] * off
    flap = rd.load(text)
    weight = flap.bias_forces([0.3], [0.0])[0]
    full = rd.load(robot()).bias_forces([0.3], [0.0])[0]
    assert weight == pytest.approx(0.0 if off else full, abs=1e-12)
    again = urdf.write(flap.mechanism)
    assert rd.load(again).bias_forces([0.3], [0.0])[0] == pytest.approx(weight, abs=1e-12)
    assert urdf.parse(again)[0] == as_written(flap.mechanism)


def test_gravity_that_does_not_act_on_what_is_not_there_is_told():
    text = robot('<gazebo reference="wheel"><gravity>false</gravity></gazebo>')
    (warning,) = warned(text)
    assert "'wheel' is no link of the robot" in str(warning)


FOLLOWS = (
    '<gazebo><plugin name="m" filename="libroboticsgroup_gazebo_mimic_joint_plugin.so"><joint>'
    "{}</joint><mimicJoint>lever</mimicJoint><multiplier>2</multiplier></plugin></gazebo>"
)


@pytest.mark.parametrize(
    "words, said",
    [
        (FOLLOWS.format("hinge"), '<mimic joint="lever" multiplier="2" offset="0"/>'),
        ('<gazebo><plugin name="b" filename="gz-sim-buoyancy-system"/></gazebo>', "may move"),
        ('<mujoco><option gravity="0 0 -3"/></mujoco>', "gravity='0 0 -3' of MuJoCo is not read"),
        ('<gazebo><plugin name="c" filename="libgazebo_ros_control.so"/></gazebo>', None),
        ('<mujoco><compiler fusestatic="false"/></mujoco>', None),
    ],
)
def test_plugins_and_options_that_move_robots_are_told(words, said):
    found = [str(x) for x in warned(robot(words))]
    assert len(found) == (said is not None)
    assert all(said in x for x in found)


def test_a_mimic_that_a_plugin_repeats_is_read():
    """The plugin does what <mimic> says."""
    links = "".join(f'<link name="{x}"/>' for x in ("one", "two"))
    joints = "".join(
        f'<joint name="{name}" type="continuous"><parent link="{parent}"/><child link="{child}"/>'
        f"{more}</joint>"
        for name, parent, child, more in (
            ("lever", "post", "one", ""),
            ("pin", "one", "two", '<mimic joint="lever" multiplier="2"/>'),
        )
    )
    text = robot(links + joints + FOLLOWS.format("pin"))
    with warnings.catch_warnings(action="error", category=UrdfWarning):
        assert urdf.load_mechanism(text).joints[2].mimic.multiplier == 2.0
