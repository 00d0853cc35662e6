"""What a URDF says, read: joint kinds, defaults, limits, motors, text that is kept."""

import math

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

from robodyn import urdf
from robodyn.description import Actuator, Inertia, Limits, Mimic, Pose
from robodyn.errors import UrdfWarning


def read(*elements, links=("a", "b"), attributes=""):
    """Mechanism of links and the elements given."""
    names = "".join(f'<link name="{name}"/>' for name in links)
    text = f'<robot name="r" {attributes}>{names}{"".join(elements)}</robot>'
    mechanism, problems, _ = urdf.parse(text)
    assert problems == []
    return mechanism


def joint(kind="revolute", inner="", name="j", parent="a", child="b", attributes=""):
    return (
        f'<joint name="{name}" type="{kind}" {attributes}><parent link="{parent}"/>'
        f'<child link="{child}"/>{inner}</joint>'
    )


def only_joint(kind="revolute", inner="", attributes="", version=None):
    of_robot = f'version="{version}"' if version else ""
    return read(joint(kind, inner, attributes=attributes), attributes=of_robot).joints[0]


def test_an_origin_may_be_turned_by_a_quaternion():
    rpy = only_joint(inner='<origin xyz="1 2 3" rpy="0.1 0.2 0.3"/>').origin
    x, y, z, w = Rotation.from_euler("xyz", rpy.rpy).as_quat()
    text = f'<origin xyz="1 2 3" quat_xyzw="{x} {y} {z} {w}"/>'
    for version in ("1.1", "1.2", "2.0"):
        origin = only_joint(inner=text, version=version).origin
        assert origin.xyz == rpy.xyz
        np.testing.assert_allclose(origin.rpy, rpy.rpy, atol=1e-14)


@pytest.mark.parametrize("version", [None, "1.0", "1", "0.9", "new"])
@pytest.mark.parametrize("rpy", ["", ' rpy="0.1 0 0"'])
def test_quaternions_of_older_versions_are_told_and_not_read(version, rpy):
    """As Pinocchio; a file that says nothing of its version is of 1.0."""
    inner = f'<origin xyz="1 0 0"{rpy} quat_xyzw="0 0 0.6 0.8"/>'
    with pytest.warns(UrdfWarning, match='version="1.1"') as told:
        origin = only_joint(inner=inner, version=version).origin
    assert (told[0].message.line, told[0].message.element) == (1, "joint 'j'")
    assert origin == Pose((1.0, 0.0, 0.0), (0.1 if rpy else 0.0, 0.0, 0.0))
    pinocchio = pytest.importorskip("pinocchio")
    attribute = f' version="{version}"' if version else ""
    text = (
        f'<robot name="r"{attribute}><link name="a"/><link name="b"/>{joint("continuous", inner)}'
    )
    if version not in ("1", "0.9", "new"):  # which it refuses
        placed = pinocchio.buildModelFromXML(f"{text}</robot>").jointPlacements[1]
        np.testing.assert_allclose(placed.homogeneous, origin.matrix, atol=1e-14)


@pytest.mark.parametrize(
    ("attributes", "said"),
    [
        ('quat_xyzw="0 0 0"', "'0 0 0' is not four numbers x y z w separated by blanks"),
        ('quat_xyzw="0 0 0 0"', "the quaternion has the length 0, expected 1"),
        ('quat_xyzw="0 0 up 1"', "'up' is not a number"),
        ('quat_xyzw="0 0 0 1" rpy="0 0 0"', "<origin> has rpy and quat_xyzw; keep one"),
    ],
)
def test_quaternions_that_turn_nothing(attributes, said):
    text = joint(inner=f"<origin {attributes}/>")
    _, problems, _ = urdf.parse(
        f'<robot name="r" version="1.1"><link name="a"/><link name="b"/>{text}</robot>'
    )
    assert [said in str(problem) for problem in problems] == [True]


def test_a_link_is_read_as_it_is_written():
    text = """<robot name="r">
      <link name="a">
        <inertial>
          <origin xyz="1 2 3" rpy="0.1 0.2 0.3"/>
          <mass value="4.5"/>
          <inertia ixx="1e-1" ixy="2E-2" ixz="+.03" iyy="4." iyz="-0.05" izz="6"/>
        </inertial>
      </link>
    </robot>"""
    mechanism, _, _ = urdf.parse(text)
    assert mechanism.links[0].inertia == Inertia(
        4.5, Pose((1, 2, 3), (0.1, 0.2, 0.3)), 0.1, 0.02, 0.03, 4.0, -0.05, 6.0
    )
    assert mechanism.links[0].line == 2


@pytest.mark.parametrize(
    ("written", "kind"),
    [
        ("revolute", "revolute"),
        ("continuous", "continuous"),
        ("prismatic", "prismatic"),
        ("fixed", "fixed"),
        ("floating", "floating"),
        ("planar", "planar"),
        ("spherical", "spherical"),
        ("ball", "spherical"),
        ("universal", "universal"),
        ("cylindrical", "cylindrical"),
    ],
)
def test_all_joint_kinds_are_read(written, kind):
    assert only_joint(written).kind == kind


@pytest.mark.parametrize("word", ["helical", "screw"])
def test_a_helical_joint_has_a_pitch(word):
    found = only_joint(word, '<pitch value="0.002"/>')
    assert (found.kind, found.pitch) == ("helical", 0.002)


def test_a_universal_joint_has_a_second_axis():
    found = only_joint("universal", '<axis xyz="0 0 2"/><axis2 xyz="3 0 4"/>')
    assert found.axis == (0.0, 0.0, 1.0)
    assert found.axis2 == (0.6, 0.0, 0.8)


def test_joints_of_drake_are_read():
    space = 'xmlns:drake="http://drake.mit.edu"'
    found = read(
        '<drake:joint name="j" type="screw"><parent link="a"/><child link="b"/>'
        '<axis xyz="0 0 1"/><drake:screw_thread_pitch value="0.01"/></drake:joint>',
        attributes=space,
    ).joints[0]
    assert found.kind == "helical"
    assert found.pitch == pytest.approx(0.01 / math.tau, rel=1e-15)  # Drake's is in m a turn
    assert found.extras == ()


def test_defaults_are_those_of_urdf():
    found = only_joint()
    assert found.origin == Pose()
    assert found.axis == (1.0, 0.0, 0.0)
    assert (found.limits, found.mimic, found.independent) == (None, None, None)
    assert (found.damping, found.friction) == (0.0, 0.0)


def test_axes_are_made_unit_vectors():
    axis = only_joint(inner='<axis xyz="1 2 -2"/>').axis
    np.testing.assert_allclose(axis, np.array([1, 2, -2]) / 3, rtol=1e-15)


@pytest.mark.parametrize("kind", ["fixed", "spherical", "floating"])
def test_a_zero_axis_does_not_matter_where_there_is_none(kind):
    assert only_joint(kind, '<axis xyz="0 0 0"/>').axis == (1.0, 0.0, 0.0)


@pytest.mark.parametrize(
    ("kind", "written", "limits"),
    [
        ("revolute", 'lower="-1" upper="2" velocity="3" effort="4"', Limits(-1, 2, 3, 4)),
        ("revolute", 'velocity="3" effort="4"', Limits(velocity=3, effort=4)),
        ("prismatic", 'upper="2"', Limits(0.0, 2.0)),  # what is not written is zero
        ("prismatic", 'lower="-2"', Limits(-2.0, 0.0)),
        ("continuous", 'lower="0" upper="0" effort="4"', Limits(effort=4)),
        ("revolute", 'lower="-inf" upper="inf"', None),
        ("prismatic", 'lower="-1e16" upper="1e17" velocity="1e16" effort="4"', Limits(effort=4)),
    ],
)
def test_limits(kind, written, limits):
    assert only_joint(kind, f"<limit {written}/>").limits == limits


def test_limits_the_wrong_way_round_mean_none():
    with pytest.warns(UserWarning, match="joint 'j': lower limit 0 is above upper limit -1"):
        assert only_joint(inner='<limit lower="0" upper="-1"/>').limits is None


def test_dynamics_and_mimic():
    inner = '<dynamics damping="0.5" friction="0.25"/><mimic joint="j" multiplier="-2"/>'
    found = read(joint(), joint("prismatic", inner, "k", "b", "c"), links="abc").joints[1]
    assert (found.damping, found.friction) == (0.5, 0.25)
    assert found.mimic == Mimic("j", -2.0, 0.0)


def test_a_fixed_joint_that_mimics_is_only_fixed():
    found = only_joint("fixed", '<mimic joint="nobody"/>')
    assert found.mimic is None
    assert found.extras == ('<mimic joint="nobody"/>',)


@pytest.mark.parametrize(
    ("text", "value"), [("true", True), ("True", True), ("false", False), ("False", False)]
)
def test_independent_of_urdf_plus(text, value):
    assert only_joint(attributes=f'independent="{text}"').independent is value


def test_what_is_not_understood_is_kept_as_text():
    safety = '<safety_controller k_velocity="1"/>'
    visual = '<visual><!-- a box --><geometry><box size="1 1 1"/></geometry></visual>'
    material = '<material name="red"/>'
    mechanism = read(
        joint(inner=safety), material, f'<link name="c">{visual}</link>', joint("fixed", name="k")
    )
    assert mechanism.joints[0].extras == (safety,)
    assert mechanism.links[2].extras == (visual,)
    assert mechanism.extras == (material,)


def test_kept_text_has_the_name_spaces_that_it_uses_and_no_others():
    spaces = 'xmlns:used="u" xmlns:unused="v"'
    mechanism = read('<gazebo><used:tag a="1"/></gazebo>', attributes=spaces)
    (text,) = mechanism.extras
    assert 'xmlns:used="u"' in text
    assert "unused" not in text


def test_prefixes_never_declared_are_no_problem():
    mechanism = read("<controller:plugin x='1'/>", joint())
    assert mechanism.extras == ('<controller:plugin x="1"/>',)


def test_a_default_name_space_is_ignored():
    text = '<robot name="r" xmlns="http://www.ros.org"><link name="a"/><link name="b"/>'
    text += joint(inner='<origin xyz="1 0 0"/>') + "</robot>"
    mechanism, problems, _ = urdf.parse(text)
    assert problems == []
    assert mechanism.joints[0].origin == Pose((1.0, 0.0, 0.0))


@pytest.mark.parametrize("head", ['<?xml version="0.0"?>', '\ufeff<?xml version="1.0"?>', "\n\n"])
def test_odd_heads_of_files_are_read(head):
    mechanism, problems, _ = urdf.parse(head + '<robot name="r"><link name="a"/></robot>')
    assert problems == []
    assert mechanism.links[0].line == 1 + head.count("\n")


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "latin-1"])
def test_encodings(encoding):
    declared = ' encoding="latin-1"' if encoding == "latin-1" else ""
    text = f'<?xml version="1.0"{declared}?><robot name="r"><link name="Süd"/></robot>'
    assert urdf.load_mechanism(text.encode(encoding)).links[0].name == "Süd"


def transmission(reduction, tag="mechanicalReduction", where="actuator"):
    value = f"<{tag}>{reduction}</{tag}>"
    parts = {
        "joint": f'<joint name="j">{value}</joint><actuator name="m"/>',
        "actuator": f'<joint name="j"/><actuator name="m">{value}</actuator>',
        "transmission": f'<joint name="j"/><actuator name="m"/>{value}',
    }
    return f'<transmission name="t"><type>Simple</type>{parts[where]}</transmission>'


@pytest.mark.parametrize("where", ["joint", "actuator", "transmission"])
@pytest.mark.parametrize("tag", ["mechanicalReduction", "mechanical_reduction"])
@pytest.mark.parametrize("wrap", ["{}", '<ros2_control name="c" type="system">{}</ros2_control>'])
def test_gear_ratios_in_every_spelling(where, tag, wrap):
    text = wrap.format(transmission(50, tag, where))
    mechanism = read(joint(), text)
    assert mechanism.actuators == (("j", Actuator(50.0, name="m")),)
    assert mechanism.extras == (text,)


@pytest.mark.parametrize("ratios", [(50, 2), (-50, 0.5)])
def test_reductions_of_a_joint_and_of_its_motor_multiply(ratios):
    value = "<mechanicalReduction>{}</mechanicalReduction>"
    one, other = (value.format(ratio) for ratio in ratios)
    mechanism = read(
        joint(),
        f'<transmission name="t"><joint name="j">{one}</joint><actuator name="m">{other}'
        "</actuator></transmission>",
    )
    ((_, motor),) = mechanism.actuators
    assert motor.gear_ratio == ratios[0] * ratios[1]


def test_rotor_inertia_of_drake():
    mechanism = read(
        joint(),
        '<transmission name="t"><joint name="j"/><actuator name="m">'
        '<drake:gear_ratio value="80"/><drake:rotor_inertia value="1e-4"/></actuator>'
        "</transmission>",
    )
    assert mechanism.actuators == (("j", Actuator(80.0, 1e-4, name="m")),)


def test_a_gear_ratio_that_is_a_word_warns():
    with pytest.warns(UserWarning, match="transmission 't'.*'reduction' is not a number"):
        mechanism = read(joint(), transmission("reduction"))
    assert mechanism.actuators == (("j", Actuator(name="m")),)


def test_a_transmission_of_an_unknown_joint_warns():
    with pytest.warns(UserWarning, match="drives 'j', which is no joint"):
        mechanism = read(joint(name="k"), transmission(50))
    assert mechanism.actuators == ()


def test_a_differential_warns():
    text = transmission(50).replace('<joint name="j"/>', '<joint name="j"/><joint name="k"/>')
    with pytest.warns(UserWarning, match="couples the joints 'j', 'k'"):
        mechanism = read(joint(), joint(name="k", child="c"), text, links="abc")
    assert mechanism.actuators == ()
    assert mechanism.extras == (text,)


def test_commanded_joints_of_ros2_control_have_a_motor():
    text = (
        '<ros2_control name="c" type="system">'
        '<joint name="j"><command_interface name="effort"/></joint>'
        '<joint name="k"><state_interface name="position"/></joint></ros2_control>'
    )
    mechanism = read(joint(), joint(name="k", parent="b", child="c"), text, links="abc")
    assert mechanism.actuators == (("j", Actuator(name="j")),)


def test_a_motor_says_all_of_an_actuator():
    mechanism = read(
        joint(),
        transmission(50),
        '<motor joint="j" gear_ratio="60" rotor_inertia="2e-4" axis="0 3 4" mounted_on="a" '
        'viscous="0.1" coulomb="0.2" torque_limit="5" name="big"/>',
    )
    expected = Actuator(60.0, 2e-4, (0.0, 0.6, 0.8), "a", 0.1, 0.2, 5.0, "big")
    assert mechanism.actuators == (("j", expected),)
    assert len(mechanism.extras) == 1
