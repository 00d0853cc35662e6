"""Closed loops in every notation that is in use."""

import math
import re

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

from robodyn import urdf
from robodyn.description import Coupling, Limits, Loop, Pose
from robodyn.errors import UrdfError, UrdfWarning

LINKS = "".join(f'<link name="{name}"/>' for name in ("base", "crank", "coupler", "rocker"))


def revolute(name, parent, child, xyz="0 0 0", rpy="0 0 0"):
    return (
        f'<joint name="{name}" type="revolute"><parent link="{parent}"/><child link="{child}"/>'
        f'<origin xyz="{xyz}" rpy="{rpy}"/><axis xyz="0 0 1"/></joint>'
    )


TREE = (
    revolute("a", "base", "crank")
    + revolute("b", "crank", "coupler", "0 1 0", "0 0 0.5")
    + revolute("c", "base", "rocker", "2 0 0")
)


def read(closure):
    """Mechanism of an open four-bar and one more element."""
    text = f'<robot name="r" xmlns:drake="http://drake.mit.edu">{LINKS}{TREE}{closure}</robot>'
    mechanism, problems, _ = urdf.parse(text)
    if problems:
        raise problems[0]
    return mechanism


ENDS = '<predecessor link="coupler"/><successor link="rocker"/>'
X_COUPLER = Pose((0, 1, 0), (0, 0, 0.5)).matrix  # by hand, in the base
X_ROCKER = Pose((2, 0, 0)).matrix


def gazebo(kind, inside, child="rocker"):
    return (
        f'<gazebo><joint name="x" type="{kind}"><parent>coupler</parent><child>{child}</child>'
        f"{inside}</joint></gazebo>"
    )


def constraint(kind, inside):
    return (
        f'<constraint name="x" type="{kind}"><parent link="coupler"/><child link="rocker"/>'
        f"{inside}</constraint>"
    )


def test_a_joint_whose_child_has_a_parent_stays_a_joint():
    mechanism = read(revolute("d", "coupler", "rocker", "2 0 0"))
    assert [joint.name for joint in mechanism.joints] == ["a", "b", "c", "d"]
    assert mechanism.loops == ()


def test_loop_of_urdf_plus():
    (loop,) = read(
        """<loop name="pin" type="revolute">
             <predecessor link="coupler"><origin xyz="2 0 0" rpy="0 0.1 0"/></predecessor>
             <successor link="rocker"><origin xyz="0 1 0"/></successor>
             <axis xyz="0 0 2"/>
           </loop>"""
    ).loops
    turned, moved = Pose((2, 0, 0), (0, 0.1, 0)), Pose((0, 1, 0))
    assert loop == Loop("pin", "revolute", "coupler", "rocker", turned, moved, (0, 0, 1))


@pytest.mark.parametrize(
    "kind",
    ["revolute", "continuous", "prismatic", "planar", "fixed", "spherical", "cylindrical"],
)
def test_loops_of_every_kind(kind):
    (loop,) = read(f'<loop name="x" type="{kind}">{ENDS}</loop>').loops
    assert loop.kind == kind


def test_loops_with_more_to_say():
    mechanism = read(
        f'<loop name="u" type="universal">{ENDS}<axis2 xyz="0 0 2"/></loop>'
        f'<loop name="h" type="screw">{ENDS}<pitch value="0.1"/></loop>'
        f'<loop name="d" type="distance">{ENDS}<distance value="3"/></loop>'
    )
    assert mechanism.loops[0].axis2 == (0, 0, 1)
    assert (mechanism.loops[1].kind, mechanism.loops[1].pitch) == ("helical", 0.1)
    assert mechanism.loops[2].distance == 3.0


def test_coupling_of_urdf_plus():
    mechanism = read(
        '<coupling name="gear" type="rolling"><predecessor link="crank"/>'
        '<successor link="rocker"/><ratio value="6.0"/></coupling>'
        '<coupling name="belt"><predecessor link="crank"/><successor link="coupler"/>'
        '<offset value="0.1"/></coupling>'
    )
    assert mechanism.couplings == (
        Coupling("gear", "crank", "rocker", 6.0),
        Coupling("belt", "crank", "coupler", 1.0, 0.1),
    )


@pytest.mark.parametrize(
    "text",
    [
        constraint(
            "revolute",
            '<parent_origin xyz="2 0 0"/><child_origin xyz="0 1 0"/><parent_axis xyz="0 1 0"/>',
        ),
        '<loop_joint name="x" type="revolute"><parent link="coupler"/><child link="rocker"/>'
        '<parent_origin xyz="2 0 0"/><child_origin xyz="0 1 0"/>'
        '<axis xyz="0 1 0" frame="parent"/></loop_joint>',
    ],
)
def test_constraint_for_ros_and_loop_joint(text):
    assert read(text).loops == (
        Loop("x", "revolute", "coupler", "rocker", Pose((2, 0, 0)), Pose((0, 1, 0)), (0, 1, 0)),
    )


@pytest.mark.parametrize("kind", ["spherical", "ball", "spherical_joint"])
def test_loop_joint_of_isaac_has_a_frame_on_each_link(kind):
    (loop,) = read(
        f'<loop_joint name="x" type="{kind}"><link1 link="coupler" xyz="2 0 0" rpy="0 0.1 0"/>'
        '<link2 link="rocker" xyz="0 1 0" rpy="0 0 0.2"/></loop_joint>'
    ).loops
    frames = Pose((2, 0, 0), (0, 0.1, 0)), Pose((0, 1, 0), (0, 0, 0.2))
    assert loop == Loop("x", "spherical", "coupler", "rocker", *frames)


def test_loop_joint_of_drake_has_its_axis_in_both_frames():
    """Drake: the frames have one origin, and turn about the axis relative to each other."""
    (loop,) = read(
        '<loop_joint name="x" type="continuous"><axis xyz="0 0 2"/>'
        '<link1 link="coupler" rpy="0 0 0" xyz=".5 0 0"/><link2 link="rocker" xyz=".1 0 0"/>'
        "</loop_joint>"
    ).loops
    assert (loop.kind, loop.axis) == ("continuous", (0, 0, 1))
    assert (loop.X_predecessor, loop.X_successor) == (Pose((0.5, 0, 0)), Pose((0.1, 0, 0)))


@pytest.mark.parametrize(
    "inside, told",
    [
        ('<link1 link="coupler"/>', "has no <link2"),
        ('<link1 link="coupler"/><link1 link="rocker"/>', "a second <link1>"),
        ('<link1 link="coupler"/><link2 xyz="0 0 0"/>', "has no link"),
        ('<link1 link="coupler"/><link2 link="rocker" xzy="0 0 1"/>', "did you mean 'xyz'"),
    ],
)
def test_loop_joint_of_isaac_that_says_too_little_is_refused(inside, told):
    with pytest.raises(UrdfError, match=re.escape(told)):
        read(f'<loop_joint name="x" type="spherical">{inside}</loop_joint>')


def test_axis_of_a_loop_joint_may_be_in_the_frame_of_the_child():
    (loop,) = read(
        '<loop_joint name="x" type="revolute"><parent link="coupler"/><child link="rocker"/>'
        '<axis xyz="0 1 0" frame="child"/></loop_joint>'
    ).loops
    np.testing.assert_allclose(loop.X_successor.matrix[:3, :3] @ loop.axis, (0, 1, 0), atol=1e-15)


@pytest.mark.parametrize("attribute", ["frame", "expressed_in"])
def test_axis_of_a_loop_in_another_frame_is_refused(attribute):
    with pytest.raises(UrdfError, match=f"<axis> {attribute}='crank' has no place here"):
        read(f'<loop name="x" type="revolute"><axis xyz="0 1 0" {attribute}="crank"/>{ENDS}</loop>')


@pytest.mark.parametrize("other", [(0, 1, 0), (1, 0, 0), (0, 0, -1), (0.36, 0.48, 0.8)])
def test_constraint_with_an_axis_on_each_side(other):
    """The loop frame on the child is turned so that both axes are the one of the loop."""
    axis = f'<child_axis xyz="{" ".join(map(str, other))}"/>'
    inside = f'<child_origin rpy="0.3 0.2 0.1"/><parent_axis xyz="0 0 1"/>{axis}'
    (loop,) = read(constraint("revolute", inside)).loops
    given = Pose(rpy=(0.3, 0.2, 0.1)).matrix[:3, :3]
    turned = loop.X_successor.matrix[:3, :3]
    np.testing.assert_allclose(turned @ loop.axis, given @ other, atol=1e-15)


def test_constraint_whose_axes_cannot_agree_is_refused():
    with pytest.raises(UrdfError, match="must agree"):
        read(constraint("prismatic", '<parent_axis xyz="0 0 1"/><child_axis xyz="0 1 0"/>'))


def test_universal_constraint_has_an_axis_on_each_side():
    inside = '<parent_axis xyz="0 0 1"/><child_axis xyz="1 0 0"/>'
    (loop,) = read(constraint("universal", inside)).loops
    assert (loop.axis, loop.axis2) == ((0, 0, 1), (1, 0, 0))


def test_joint_in_a_gazebo_element():
    """SDF gives the joint in the child; on the parent it is where the zero position puts it."""
    (loop,) = read(gazebo("ball", "<pose>0.5 0 0 0 0 0.3</pose>")).loops
    assert (loop.kind, loop.predecessor, loop.successor) == ("spherical", "coupler", "rocker")
    assert loop.X_successor == Pose((0.5, 0, 0), (0, 0, 0.3))
    np.testing.assert_allclose(
        X_COUPLER @ loop.X_predecessor.matrix, X_ROCKER @ loop.X_successor.matrix, atol=1e-15
    )


def test_screw_in_a_gazebo_element_has_metres_a_turn():
    inside = "<axis><xyz>0 0 1</xyz></axis><screw_thread_pitch>0.01</screw_thread_pitch>"
    (loop,) = read(gazebo("screw", inside)).loops
    assert loop.pitch == pytest.approx(0.01 / math.tau, rel=1e-15)


def test_thread_pitch_of_gazebo_counts_radians_a_metre_of_a_left_handed_thread():
    with pytest.warns(UrdfWarning, match="left-handed thread, is <screw_thread_pitch> -0.002 m"):
        (loop,) = read(
            gazebo("screw", "<axis><xyz>0 1 0</xyz></axis><thread_pitch>3141.59265</thread_pitch>")
        ).loops
    assert loop.pitch == pytest.approx(-0.002 / math.tau, rel=1e-8)


def test_joint_of_a_gazebo_element_between_links_of_the_simulator_is_left_to_it():
    text = gazebo("revolute", "", child="spring")
    with pytest.warns(UserWarning, match="'spring', which is no link"):
        mechanism = read(text)
    assert mechanism.loops == ()
    assert mechanism.extras == (text,)


def test_other_gazebo_elements_stay_text():
    text = '<gazebo reference="crank"><mu1>0.2</mu1></gazebo>'
    assert read(text).extras == (text,)


@pytest.mark.parametrize(
    "frame, X",
    [
        ("__model__", np.eye(4)),
        ("base", np.eye(4)),
        ("coupler", X_COUPLER),
        ("b", X_COUPLER),  # a joint stands where its child does
        ("rocker", X_ROCKER),
        ("", X_ROCKER),
    ],
)
@pytest.mark.parametrize("attribute", ["relative_to", "frame"])
def test_joint_in_a_gazebo_element_stands_in_the_frame_that_is_named(frame, X, attribute):
    pose = f'<pose {attribute}="{frame}">0.5 0.1 0 0 0 0.3</pose>'
    (loop,) = read(gazebo("ball", pose)).loops
    X_joint = X @ Pose((0.5, 0.1, 0), (0, 0, 0.3)).matrix
    np.testing.assert_allclose(X_ROCKER @ loop.X_successor.matrix, X_joint, atol=1e-15)
    np.testing.assert_allclose(X_COUPLER @ loop.X_predecessor.matrix, X_joint, atol=1e-15)


def test_joint_in_a_gazebo_element_may_stand_in_another_one():
    first = gazebo("ball", '<pose relative_to="y">0.5 0 0 0 0 0</pose>')
    second = gazebo("ball", '<pose relative_to="base">1 0 0 0 0 0</pose>').replace('"x"', '"y"')
    loop = read(first + second).loops[0]
    np.testing.assert_allclose((X_ROCKER @ loop.X_successor.matrix)[:3, 3], (1.5, 0, 0))


def test_joints_in_gazebo_elements_that_stand_in_each_other_are_refused():
    first = gazebo("ball", '<pose relative_to="y"/>')
    second = gazebo("ball", '<pose relative_to="x"/>').replace('"x" t', '"y" t')
    with pytest.raises(UrdfError, match="in a circle: x -> y -> x"):
        read(first + second)


@pytest.mark.parametrize(
    "pose",
    [
        '<pose degrees="true">0 0 0 90 0 -30</pose>',
        '<pose rotation_format="quat_xyzw">0 0 0 {} {} {} {}</pose>'.format(
            *Rotation.from_euler("xyz", [90, 0, -30], degrees=True).as_quat()
        ),
    ],
)
def test_pose_in_degrees_or_with_a_quaternion(pose):
    (loop,) = read(gazebo("ball", pose)).loops
    turn = Rotation.from_euler("xyz", [90, 0, -30], degrees=True).as_matrix()
    np.testing.assert_allclose(loop.X_successor.matrix[:3, :3], turn, atol=1e-15)


@pytest.mark.parametrize(
    "axis, in_base",
    [
        ("<xyz>0 1 0</xyz>", (-math.sin(0.3), math.cos(0.3), 0)),
        ('<xyz expressed_in="__model__">0 1 0</xyz>', (0, 1, 0)),
        ('<xyz expressed_in="rocker">0 1 0</xyz>', (0, 1, 0)),
        ('<xyz expressed_in="coupler">1 0 0</xyz>', (math.cos(0.5), math.sin(0.5), 0)),
        ("<xyz>0 1 0</xyz><use_parent_model_frame>1</use_parent_model_frame>", (0, 1, 0)),
        (
            "<xyz>0 1 0</xyz><use_parent_model_frame>false</use_parent_model_frame>",
            (-math.sin(0.3), math.cos(0.3), 0),
        ),
        ("", (0, 0, 1)),
    ],
)
def test_axis_in_a_gazebo_element_is_expressed_in_the_frame_that_is_named(axis, in_base):
    (loop,) = read(gazebo("prismatic", f"<pose>0.5 0 0 0 0 0.3</pose><axis>{axis}</axis>")).loops
    R = (X_ROCKER @ loop.X_successor.matrix)[:3, :3]
    np.testing.assert_allclose(R @ loop.axis, in_base, atol=1e-15)


def test_limits_and_dynamics_of_a_joint_in_a_gazebo_element():
    (loop,) = read(
        gazebo(
            "revolute",
            "<axis><xyz>0 0 1</xyz><limit><lower>-0.5</lower><upper>1e16</upper>"
            "<effort>-1</effort><velocity>3</velocity></limit><dynamics><damping>0.1</damping>"
            "<friction>0.2</friction><spring_stiffness>5</spring_stiffness>"
            "<spring_reference>0.4</spring_reference></dynamics></axis>",
        )
    ).loops
    assert loop.limits == Limits(-0.5, math.inf, 3.0, math.inf)
    assert (loop.damping, loop.friction, loop.stiffness, loop.rest) == (0.1, 0.2, 5.0, 0.4)


def test_revolute2_in_a_gazebo_element_has_two_axes():
    (loop,) = read(
        gazebo("revolute2", "<axis><xyz>1 0 0</xyz></axis><axis2><xyz>0 2 0</xyz></axis2>")
    ).loops
    assert (loop.kind, loop.axis, loop.axis2) == ("universal", (1, 0, 0), (0, 1, 0))


@pytest.mark.parametrize(
    "about, sign", [("0 0 1", -1.0), ("0 0 -1", 1.0)], ids=["alike", "opposite"]
)
def test_gearbox_in_a_gazebo_element_couples_two_hinges(about, sign):
    """The angle of the child is -gearbox_ratio times that of the parent, each about its axis."""
    mechanism = read(
        '<gazebo><joint name="x" type="gearbox"><parent>crank</parent><child>rocker</child>'
        "<gearbox_ratio>3</gearbox_ratio><gearbox_reference_body>base</gearbox_reference_body>"
        f"<axis><xyz>{about}</xyz></axis><axis2><xyz>0 0 1</xyz></axis2></joint></gazebo>"
    )
    assert mechanism.couplings == (Coupling("x", "crank", "rocker", sign * 3.0),)


@pytest.mark.parametrize(
    "kind, inside, told",
    [
        ("gearbox", "", "<gearbox_reference_body>"),
        (
            "gearbox",
            "<gearbox_reference_body>base</gearbox_reference_body><axis><xyz>0 0 1</xyz></axis>"
            "<axis2><xyz>0 0 1</xyz></axis2>",
            "there is no such hinge alone",
        ),
        ("revolute2", "<axis><xyz>1 0 0</xyz></axis>", "needs <axis2>"),
        ("screw", "<axis><xyz>1 0 0</xyz></axis>", "needs <screw_thread_pitch>"),
        ("hinge", "", "no type of a joint 'hinge'"),
        ("ball", '<pose relative_to="rockr">0 0 0 0 0 0</pose>', "no frame 'rockr'"),
        ("ball", '<pose rotation_format="matrix">0 0 0 0 0 0</pose>', "rotation_format='matrix'"),
        ("ball", "<pose>0 0 0</pose>", "has 3 numbers, expected 6"),
        ("ball", '<pose rotation_format="quat_xyzw">0 0 0 0 0 0 2</pose>', "length 2, expected 1"),
        ("revolute", '<axis><xyz expressed_in="no">0 0 1</xyz></axis>', "no frame 'no'"),
        ("revolute", "<axis><xyz>0 0 1</xyz><limits/></axis>", "did you mean <limit>"),
        (
            "revolute",
            '<axis><mimic joint="a"><multiplier>2</multiplier></mimic></axis>',
            "cannot mimic another",
        ),
    ],
)
def test_joint_of_a_gazebo_element_that_is_not_understood_is_refused(kind, inside, told):
    with pytest.raises(UrdfError, match=re.escape(told)):
        read(gazebo(kind, inside))


def drake(kind, extra=""):
    tag = f"drake:{kind}_constraint"
    return (
        f'<{tag}><{tag}_body_A name="coupler"/><{tag}_body_B name="rocker"/>'
        f'<{tag}_p_AP value="2 0 0"/><{tag}_p_BQ value="0 1 0"/>{extra}</{tag}>'
    )


def test_ball_constraint_of_drake():
    frames = Pose((2, 0, 0)), Pose((0, 1, 0))
    expected = Loop("ball_constraint_1", "spherical", "coupler", "rocker", *frames)
    assert read(drake("ball")).loops == (expected,)


def test_distance_constraint_of_drake():
    length = '<drake:distance_constraint_distance value="1.5"/>'
    (loop,) = read(drake("distance", length)).loops
    assert (loop.kind, loop.distance) == ("distance", 1.5)


def test_a_spring_is_not_a_distance_constraint():
    length = '<drake:distance_constraint_distance value="1.5"/>'
    spring = '<drake:distance_constraint_stiffness value="1e5"/>'
    with pytest.raises(UrdfError, match="not understood"):
        read(drake("distance", length + spring))


@pytest.mark.parametrize(
    "tag", ["closed_loop", "equality", "weld", "drake:tendon_constraint", "kinematic_loop"]
)
def test_what_looks_like_a_closure_is_never_dropped(tag):
    with pytest.raises(UrdfError, match="looks like the closure of a loop"):
        read(f"<{tag}/>")


def test_a_loop_may_not_take_the_name_of_a_joint():
    with pytest.raises(UrdfError, match="'a' is taken"):
        read(f'<loop name="a" type="fixed">{ENDS}</loop>')
