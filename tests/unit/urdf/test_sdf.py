"""What SDF files say, and what is wrong with them."""

import dataclasses
import math
import re
import warnings

import numpy as np
import pytest

import robodyn as rd
from robodyn.description import Limits, Pose
from robodyn.errors import UrdfWarning

INERTIAL = (
    "<inertial><mass>1</mass><inertia><ixx>1</ixx><iyy>1</iyy><izz>1</izz></inertia></inertial>"
)


def link(name, pose="", inside=INERTIAL):
    return f'<link name="{name}">{pose}{inside}</link>\n'


AXIS = "<axis><xyz>0 0 1</xyz></axis>"


def joint(inside=AXIS, kind="revolute", ends=("a", "b"), name="j"):
    parent, child = ends
    return (
        f'<joint name="{name}" type="{kind}"><parent>{parent}</parent><child>{child}</child>'
        f"{inside}</joint>\n"
    )


def model(*parts, version="1.9", name="m", attributes=""):
    inside = "".join(parts)
    return f'<sdf version="{version}">\n<model name="{name}" {attributes}>\n{inside}</model></sdf>'


def world_axis(text, name="j"):
    """Direction of a joint's axis at zero, in the world, from the pose that the joint moves."""
    robot = rd.load(text)
    q = robot.neutral()
    twist = robot.frame_jacobian(q, "b", axes="world")[:, robot.joints[name].v][:, 0]
    return twist[3:]


TURNED = f"<pose>1 0 0 0 0 {math.pi / 2}</pose>"  # b: x along y of the model


@pytest.mark.parametrize(
    "version, axis, expected",
    [
        ("1.4", "<xyz>1 0 0</xyz>", (1, 0, 0)),  # the model's axes
        ("1.5", "<xyz>1 0 0</xyz>", (0, 1, 0)),  # the joint's
        (
            "1.6",
            "<xyz>1 0 0</xyz><use_parent_model_frame>true</use_parent_model_frame>",
            (1, 0, 0),
        ),
        ("1.7", "<xyz>1 0 0</xyz>", (0, 1, 0)),
        ("1.7", '<xyz expressed_in="__model__">1 0 0</xyz>', (1, 0, 0)),
        ("1.7", '<xyz expressed_in="a">1 0 0</xyz>', (1, 0, 0)),
        ("1.12", '<xyz expressed_in="b">1 0 0</xyz>', (0, 1, 0)),
    ],
)
def test_axes_by_version(version, axis, expected):
    text = model(link("a"), link("b", TURNED), joint(f"<axis>{axis}</axis>"), version=version)
    np.testing.assert_allclose(world_axis(text), expected, atol=1e-15)


def test_a_model_within_stands_where_its_placement_frame_is_put():
    inner = (
        '<model name="inner" placement_frame="tip"><pose relative_to="a">0 0 5 0 0 0</pose>'
        + link("b")
        + '<frame name="tip" attached_to="b"><pose>0 2 0 0 0 0</pose></frame></model>'
    )
    text = model(link("a", "<pose>1 0 0 0 0 0</pose>"), inner, joint(ends=("a", "inner::b")))
    robot = rd.load(text)
    q = robot.neutral()
    assert robot.link_names == ("world", "a", "inner::b", "inner::tip")
    np.testing.assert_allclose(robot.frame_pose(q, "inner::tip")[:3, 3], (1, 0, 5), atol=1e-15)
    np.testing.assert_allclose(robot.frame_pose(q, "inner::b")[:3, 3], (1, -2, 5), atol=1e-15)


def test_joints_of_a_model_within_know_its_names():
    inner = (
        '<model name="inner"><pose>0 3 0 0 0 0</pose>'
        + link("a", "<pose>0 0 1 0 0 0</pose>")
        + link("b", TURNED)
        + joint('<pose relative_to="a"/><axis><xyz expressed_in="__model__">1 0 0</xyz></axis>')
        + "</model>"
    )
    outer = '<joint name="base" type="fixed"><parent>a</parent><child>inner::a</child></joint>'
    robot = rd.load(model(link("a"), inner, outer))
    J = robot.frame_jacobian(robot.neutral(), "inner::b", axes="world")
    # It turns about x through (0, 3, 1), and b is at (1, 3, 0).
    np.testing.assert_allclose(J[:, 0], (0, 1, 0, 1, 0, 0), atol=1e-15)
    assert robot.joint_names == ("inner::j",)


def test_a_fixed_base_stands_where_the_file_says_and_a_floating_one_where_q_says():
    pose = "<pose>0 0 1 0 0 0</pose>"
    text = model(pose, link("a"), link("b"), joint())
    assert rd.load(text).frame_pose([0.0], "a")[2, 3] == 1.0
    floating = rd.load(text, base="floating")
    assert floating.link_names == ("a", "b")
    assert floating.frame_pose(floating.neutral(), "a")[2, 3] == 0.0


def test_gravity_acts_along_z_of_the_world_on_a_model_that_lies():
    lies = f"<pose>0 0 0 {math.pi / 2!r} 0 0</pose>"  # y up
    arm = INERTIAL.replace("<mass>", "<pose>1 0 0 0 0 0</pose><mass>")
    robot = rd.load(model(lies, link("a"), link("b", inside=arm), joint()))
    assert robot.gravity_forces([0.0]) == pytest.approx([9.81], rel=1e-12)


def test_limits_springs_and_damping():
    axis = (
        "<axis><xyz>0 0 1</xyz><limit><lower>-1</lower><effort>-1</effort></limit><dynamics>"
        "<damping>0.1</damping><friction>0.2</friction><spring_stiffness>3</spring_stiffness>"
        "<spring_reference>0.4</spring_reference></dynamics></axis>"
    )
    (found,) = rd.load(model(link("a"), link("b"), joint(axis))).mechanism.joints
    assert found.limits == Limits(lower=-1.0)
    assert (found.damping, found.friction, found.stiffness, found.rest) == (0.1, 0.2, 3.0, 0.4)


@pytest.mark.parametrize("unlimited", ["1e16", "1.79769e+308", "inf"])
def test_limits_as_simulators_write_none(unlimited):
    limit = f"<limit><lower>-{unlimited}</lower><upper>{unlimited}</upper></limit>"
    axis = f"<axis><xyz>0 0 1</xyz>{limit}</axis>"
    assert rd.load(model(link("a"), link("b"), joint(axis))).mechanism.joints[0].limits is None


def test_two_axes_with_values_of_their_own_are_two_hinges():
    axes = (
        "<axis><xyz>1 0 0</xyz><limit><lower>-1</lower><upper>2</upper></limit></axis>"
        "<axis2><xyz>0 1 0</xyz><dynamics><damping>0.3</damping></dynamics></axis2>"
    )
    two = rd.load(model(link("a"), link("b"), joint(axes, "revolute2")))
    one = rd.load(
        model(
            link("a"),
            link("b"),
            joint(re.sub("<limit.*?/limit>|<dyn.*?/dynamics>", "", axes), "universal"),
        )
    )
    assert two.joint_names == ("j_axis", "j_axis2")
    assert (one.joint_names, one.nv) == (("j",), 2)
    assert (two.lower_limits[0], two.upper_limits[0]) == (-1.0, 2.0)
    q, v = np.array([0.3, -0.5]), np.array([1.0, 2.0])
    np.testing.assert_allclose(two.frame_pose(q, "b"), one.frame_pose(q, "b"), atol=1e-15)
    np.testing.assert_allclose(two.mass_matrix(q), one.mass_matrix(q), atol=1e-14)
    np.testing.assert_allclose(two.passive_forces(q, v), (0.0, -0.6), atol=1e-15)


def test_mimic_counts_from_its_reference():
    """follower = multiplier (leader - reference) + offset."""
    mimic = (
        '<axis><xyz>0 0 1</xyz><mimic joint="j" axis="axis"><multiplier>2</multiplier>'
        "<offset>0.5</offset><reference>0.1</reference></mimic></axis>"
    )
    text = model(
        link("a"), link("b"), link("c"), joint(), joint(mimic, ends=("a", "c"), name="k"),
        version="1.11",
    )  # fmt: skip
    robot = rd.load(text)
    assert robot.nv == 1
    assert robot.joint_positions([0.4])["k"] == pytest.approx(2 * (0.4 - 0.1) + 0.5)


@pytest.mark.parametrize(("way", "expected"), [(1, -0.6), (-1, 0.6)])
def test_gearbox_couples_two_hinges(way, expected):
    gear = joint(
        "<gearbox_ratio>3</gearbox_ratio><gearbox_reference_body>a</gearbox_reference_body>"
        f"<axis><xyz>0 0 {way}</xyz></axis><axis2><xyz>0 0 1</xyz></axis2>",
        "gearbox", ("b", "c"), "gear",
    )  # fmt: skip
    text = model(link("a"), link("b"), link("c"), joint(), joint(ends=("a", "c"), name="k"), gear)
    robot = rd.load(text)
    assert (robot.nv, robot.nc) == (1, 0)
    assert robot.joint_positions([0.2])["k"] == pytest.approx(expected)


def test_motors_as_drake_says_them():
    motor = (
        "<drake:gear_ratio>100</drake:gear_ratio><drake:rotor_inertia>1e-4</drake:rotor_inertia>"
    )
    text = model(link("a"), link("b"), joint("<axis><xyz>0 0 1</xyz></axis>" + motor))
    robot = rd.load(text, rotor_model="armature")
    assert robot.mass_matrix([0.0])[0, 0] == pytest.approx(1.0 + 100.0**2 * 1e-4)


@pytest.mark.parametrize("space", ["", 'xmlns:drake="drake.mit.edu"'])
def test_ball_constraint_of_drake_in_a_model_within(space):
    ball = "drake:ball_constraint"
    constraint = (
        f"<{ball}><{ball}_body_A>b</{ball}_body_A><{ball}_body_B>c</{ball}_body_B>"
        f"<{ball}_p_AP>1 0 0</{ball}_p_AP><{ball}_p_BQ>0 2 0</{ball}_p_BQ></{ball}>"
    )
    inner = f"<model name='in'>{link('b')}{link('c')}{joint(ends=('b', 'c'))}{constraint}</model>"
    text = model(link("a"), inner, joint(kind="ball", inside="", ends=("a", "in::b"), name="k"))
    mechanism = rd.urdf.load_mechanism(text.replace("<sdf ", f"<sdf {space} "))
    (loop,) = mechanism.loops
    assert (loop.predecessor, loop.successor) == ("in::b", "in::c")
    assert (loop.X_predecessor, loop.X_successor) == (Pose((1, 0, 0)), Pose((0, 2, 0)))
    assert (loop.name, loop.kind) == ("in::ball_constraint_1", "spherical")


def test_the_joint_with_more_freedom_is_cut_and_a_base_in_the_world_is_the_root():
    parts = [link(name) for name in "abc"]
    parts += [
        joint(kind="fixed", inside="", ends=("world", "a"), name="base"),
        joint(ends=("a", "b"), name="j"),
        joint(ends=("b", "c"), kind="ball", inside="", name="ball"),
        joint(ends=("a", "c"), name="k"),
    ]
    robot = rd.load(model(*parts))
    assert [loop.name for loop in robot.mechanism.loops] == ["ball"]
    assert robot.link_names[0] == "world"


def test_inertia_is_given_in_its_own_frame_in_the_link():
    inertial = (
        '<inertial><pose degrees="true">0 1 0 0 0 90</pose><mass>2</mass>'
        "<inertia><ixx>3</ixx><iyy>4</iyy><izz>5</izz></inertia></inertial>"
    )
    text = model(link("a"), link("b", inside=inertial), joint("<axis><xyz>1 0 0</xyz></axis>"))
    # About x of the link, which is -y of the inertia's frame, 1 m off.
    assert rd.load(text).mass_matrix([0.0])[0, 0] == pytest.approx(4.0 + 2.0)


def test_a_link_that_says_nothing_has_the_mass_that_sdf_gives_it():
    text = model(link("a"), link("b", inside=""), joint())
    with pytest.warns(UrdfWarning, match="SDF gives it 1 kg, and 1 kg m\\^2"):
        robot = rd.load(text)
    assert robot.mass_matrix([0.0])[0, 0] == 1.0


# ---- files and worlds


def test_included_models(tmp_path, monkeypatch):
    """By model://, by path, with a name and a pose of their own, and their own version of SDF."""
    arm = tmp_path / "models" / "arm"
    arm.mkdir(parents=True)
    (arm / "model.config").write_text(
        '<model><sdf version="1.4">old.sdf</sdf><sdf version="1.9">new.sdf</sdf></model>'
    )
    (arm / "new.sdf").write_text(
        model("<pose>9 9 9 0 0 0</pose>", link("a"), link("b", TURNED), joint(), version="1.4")
        .replace("<xyz>0 0 1", "<xyz>1 0 0")
    )  # fmt: skip
    include = (
        "<include><uri>{}</uri><name>left</name><pose>0 0 1 0 0 0</pose></include>"
        '<joint name="base" type="fixed"><parent>world</parent><child>left::a</child></joint>'
    )
    for uri, options in [
        ("model://arm", {"package_dirs": {"arm": arm}}),
        ("models/arm", {}),
        ("models/arm/new.sdf", {}),
    ]:
        path = tmp_path / "robot.sdf"
        path.write_text(model(include.format(uri)))
        robot = rd.load(path, **options)
        q = robot.neutral()
        np.testing.assert_allclose(robot.frame_pose(q, "left::b")[:3, 3], (1, 0, 1), atol=1e-15)
        J = robot.frame_jacobian(q, "left::b", axes="world")
        np.testing.assert_allclose(J[3:, 0], (1, 0, 0), atol=1e-15)  # the model's axes: SDF 1.4
    (tmp_path / "models").rename(tmp_path / "all models")
    path.write_text(model(include.format((tmp_path / "all models" / "arm").as_uri())))  # %20
    assert rd.load(path).nv == 1
    monkeypatch.setenv("GZ_SIM_RESOURCE_PATH", str(tmp_path / "all models"))
    path.write_text(model(include.format("model://arm")))
    assert rd.load(path).nv == 1


def test_a_model_that_includes_itself_is_refused(tmp_path):
    path = tmp_path / "m.sdf"
    path.write_text(model(link("a"), "<include><uri>m.sdf</uri></include>"))
    with pytest.raises(rd.UrdfError, match="is included by itself"):
        rd.load(path)


def test_the_model_of_a_world_stands_in_it():
    text = (
        '<sdf version="1.9"><world name="w"><gravity>0 0 -9.8</gravity>'
        "<include><uri>model://ground_plane</uri></include>"
        '<frame name="table"><pose>0 0 2 0 0 0</pose></frame>'
        f'<model name="box">{link("only")}</model><model name="m"><pose relative_to="table">1 0 0 '
        f"0 0 0</pose>{link('a')}{link('b')}{joint()}</model></world></sdf>"
    )
    with pytest.warns(UrdfWarning, match="only model 'm' moves in itself: left out is 'box'"):
        robot = rd.load(text)
    np.testing.assert_allclose(robot.frame_pose([0.0], "a")[:3, 3], (1, 0, 2))


def test_of_models_that_are_left_out_nothing_else_is_told():
    plugin = '<plugin name="p" filename="p.so"/>'
    ground = f'<model name="ground"><static>true</static><link name="g"/>{plugin}</model>'
    text = (
        f'<sdf version="1.9"><world name="w">{ground}<model name="m">{link("a")}'
        f"{link('b', inside='')}{joint()}</model>{ground.replace('ground', 'wall')}</world></sdf>"
    )
    with pytest.warns(UrdfWarning) as told:
        rd.load(text)
    (warning,) = told
    assert [place.element for place in warning.message.places] == ["link 'b'", "<sdf>"]
    assert "left out is 'ground', 'wall'" in str(warning.message)


# ---- what is wrong

CIRCLE = (
    '<frame name="f"><pose relative_to="g"/></frame>\n'
    '<frame name="g"><pose relative_to="f"/></frame>'
)


@pytest.mark.parametrize(
    "parts, line, element, told",
    [
        ([link("a"), CIRCLE], 4, "frame 'f'", "in a circle: f -> g -> f"),
        (
            [link("a"), '<frame name="f" attached_to="g"/>\n<frame name="g" attached_to="f"/>'],
            4, "frame 'f'", "relative to one another in a circle",
        ),
        ([link("a"), link("b"), joint(ends=("a", "c"))], 5, "joint 'j'", "no frame 'c'"),
        ([link("a"), link("b"), joint(ends=("a", "a"))], 5, "joint 'j'", "'a' to itself"),
        ([link("a"), link("b")], 2, "model 'm'", "no joint leads from 'a' to 'b'"),
        ([link("a"), link("a")], 4, "link 'a'", "taken by the element in line 3"),
        ([link("world")], 3, "link 'world'", "'world' is reserved"),
        ([link("x::y")], 3, "link 'x::y'", "'x::y' is reserved"),
        ([], 2, "model 'm'", "no link"),
        ([link("a", inside="<inertail/>")], 3, "link 'a'", "did you mean <inertial>"),
        (
            [link("a", inside=INERTIAL.replace("<mass>1", "<mass>one"))],
            3, "link 'a'", "'one' is not a number",
        ),
        ([link("a"), link("b"), joint("")], 5, "joint 'j'", "needs <axis>"),
        ([link("a"), link("b"), joint(kind="hinge")], 5, "joint 'j'", "no type of a joint 'hinge'"),
        (
            [link("a", inside='<inertial auto="true"/>')],
            3, "link 'a'", "write <mass> and <inertia> out",
        ),
        (
            [link("a"), "<include><uri>model://no_such_arm</uri></include>"],
            4, "<include>", "package_dirs={'no_such_arm': FOLDER}",
        ),
        (
            [link("a"), "<include><uri>https://fuel.gazebosim.org/x</uri></include>"],
            4, "<include>", "nothing is fetched",
        ),
        ([link("a"), "<include><uri>b.sdf</uri></include>"], 4, "<include>", "'b.sdf'"),
    ],
)  # fmt: skip
def test_what_is_wrong_is_told_with_its_place(parts, line, element, told, tmp_path):
    path = tmp_path / "robot.sdf"
    path.write_text(model(*parts))
    with pytest.raises(rd.RobodynError, match=re.escape(told)) as caught:
        rd.load(path)
    assert (caught.value.line, caught.value.element) == (line, element)
    assert caught.value.file == str(path)


def test_several_models_are_listed():
    two = "".join(f'<model name="{name}">{link("a")}</model>' for name in ("one", "two"))
    text = f'<sdf version="1.9">{two}</sdf>'
    with pytest.raises(rd.UrdfError, match="has the models 'one', 'two': a robot is one model"):
        rd.load(text)
    assert rd.load(text, model="two").mechanism.name == "two"
    with pytest.raises(rd.UnknownNameError, match="one"):
        rd.load(text, model="three")
    with pytest.raises(rd.UrdfError, match="2 models of the name 'one'"):
        rd.load(text.replace('"two"', '"one"'), model="one")
    with pytest.raises(rd.SettingsError, match="no SDF, but URDF"):
        rd.load('<robot name="r"><link name="a"/></robot>', model="r")


def test_of_several_models_the_one_that_is_named_is_read_with_its_own_faults():
    """Each stands in the world where it says, and what is wrong with the others is not told."""
    broken = f'<model name="broken">{link("a", inside="<inertail/>")}{link("a")}</model>'
    world = (
        f'<sdf version="1.9"><world name="w">{broken}'
        f'<model name="left"><pose>0 1 0 0 0 0</pose>{link("a")}{link("b")}{joint()}</model>'
        f'<model name="right">{link("a")}{link("b")}{joint(kind="prismatic")}</model>'
        "</world></sdf>"
    )
    with warnings.catch_warnings(action="error"):
        left, right = (rd.load(world, model=name) for name in ("left", "right"))
    np.testing.assert_allclose(left.frame_pose([0.0], "a")[:3, 3], (0, 1, 0))
    assert (left.joints["j"].type, right.joints["j"].type) == ("revolute", "prismatic")
    with pytest.raises(rd.UrdfError, match="did you mean <inertial>"):
        rd.load(world, model="broken")
    lost = world.replace(broken, "<include><uri>model://no_such_arm</uri></include>")
    with pytest.raises(rd.UrdfError, match="no_such_arm"):
        rd.load(lost, model="left")


def test_parts_that_no_joint_connects_move_freely():
    text = model(link("a"), link("b", TURNED), link("c"), joint(ends=("b", "c")))
    with pytest.raises(rd.RobodynError, match="no joint leads from 'a' to 'b'"):
        rd.load(text)
    with pytest.warns(UrdfWarning, match="read as bodies that move freely"):
        robot = rd.load(text, strict=False)
    assert robot.joint_names == ("b_free", "j")
    X = robot.frame_pose(robot.neutral(), "b")
    np.testing.assert_allclose(X[:3, 3], (1, 0, 0), atol=1e-15)
    np.testing.assert_allclose(X[:3, 0], (0, 1, 0), atol=1e-15)
    a = robot.forward_dynamics(robot.neutral(), np.zeros(7), np.zeros(7))
    np.testing.assert_allclose(a, [0, 0, -9.81, 0, 0, 0, 0], atol=1e-12)  # it falls
    with pytest.warns(UrdfWarning, match="move freely"):
        both = rd.load(text, strict=False, base="floating")
    assert both.nv == 13


INNER = (
    '<frame name="hook"><pose>0 0 1 0 0 0</pose></frame>'
    + link("x", "<pose>0.1 0 0 0 0 0</pose>")
    + link("y", '<pose relative_to="hook">0 0.2 0 0 0 0.5</pose>')
    + '<joint name="turn" type="revolute"><parent>x</parent><child>y</child>'
    '<axis><xyz expressed_in="__model__">1 0 0</xyz></axis></joint>'
)


@pytest.mark.parametrize("placement", ["", "hook"])
def test_a_merged_model_is_as_if_its_elements_were_written_in_the_other(placement, tmp_path):
    (tmp_path / "inner.sdf").write_text(model(INNER, name="inner"))
    include = (
        '<include {}><uri>inner.sdf</uri><name>n</name><pose relative_to="a">1 2 3 0.1 0.2 0.3'
        f"</pose>{f'<placement_frame>{placement}</placement_frame>' * bool(placement)}</include>"
    )
    base = link("a", "<pose>0 0 5 0 0 1</pose>")
    path = tmp_path / "outer.sdf"
    path.write_text(model(base, include.format(""), joint("", "fixed", ("a", "n::x"))))
    nested = rd.load(path)
    path.write_text(model(base, include.format('merge="true"'), joint("", "fixed", ("a", "x"))))
    merged = rd.load(path)
    assert merged.joint_names == ("turn",)
    for name in ("x", "y", "hook"):
        np.testing.assert_allclose(
            merged.frame_pose([0.4], name), nested.frame_pose([0.4], f"n::{name}"), atol=1e-15
        )
    J, K = (r.frame_jacobian([0.4], n) for r, n in ((merged, "y"), (nested, "n::y")))
    np.testing.assert_allclose(J, K, atol=1e-15)
    path.write_text(model(link("x"), include.format('merge="true"')))
    with pytest.raises(rd.UrdfError, match="taken by the element"):
        rd.load(path)


def test_what_an_include_says_of_motions_is_told(tmp_path):
    (tmp_path / "inner.sdf").write_text(model(INNER, name="inner"))
    more = '<static>true</static><plugin name="servo" filename="s.so"/>'
    path = tmp_path / "outer.sdf"
    path.write_text(model(f"<include><uri>inner.sdf</uri>{more}</include>"))
    with pytest.warns(UrdfWarning) as warned:
        rd.load(path)
    told = " ".join(str(place) for place in warned[0].message.places)
    assert "<include>: is <static>" in told and "'servo'" in told


def test_a_model_is_merged_where_its_own_file_places_it(tmp_path):
    """Where the include says no pose; what is wrong about it is in the file that includes."""
    pose = "<pose>1 2 3 0.1 0.2 0.3</pose>"
    (tmp_path / "inner.sdf").write_text("\n\n\n" + model(pose, INNER, name="inner"))
    include = '<include merge="true"><uri>inner.sdf</uri></include>'
    path = tmp_path / "outer.sdf"
    path.write_text(model(link("a"), include, joint("", "fixed", ("a", "x"))))
    robot = rd.load(path)
    assert robot.joint_names == ("turn",) and {"a", "x", "y"} <= {*robot.link_names}
    nested = include.replace('merge="true"', "")
    path.write_text(model(link("a"), nested, joint("", "fixed", ("a", "inner::x"))))
    expected = rd.load(path).frame_pose([0.4], "inner::y")
    np.testing.assert_allclose(robot.frame_pose([0.4], "y"), expected, atol=1e-15)
    path.write_text(model(link("x"), include))
    with pytest.raises(rd.UrdfError, match=r"outer\.sdf:4: <include>: .* taken by the element"):
        rd.load(path)


@pytest.mark.slow
def test_files_that_include_one_another_end(tmp_path, monkeypatch):
    def write(name, *uris):
        inside = "".join(f"<include><name>n{k}</name><uri>{uri}</uri></include>"
                         for k, uri in enumerate(uris))  # fmt: skip
        (tmp_path / name).write_text(model(link("a"), inside))
        return tmp_path / name

    write("b.sdf", "c.sdf", "c.sdf")
    write("c.sdf", "a.sdf")
    path = write("a.sdf", "b.sdf", "b.sdf")
    with pytest.raises(rd.UrdfError, match=re.escape("a.sdf -> b.sdf -> c.sdf -> a.sdf")):
        rd.load(path)
    for k in range(12):  # 4 096 files, and no circle
        write(f"{k}.sdf", *[f"{k + 1}.sdf"] * 2)
    write("12.sdf")
    with pytest.raises(rd.RobodynError, match="more than 1000 files"):
        rd.load(tmp_path / "0.sdf")
    monkeypatch.setattr("robodyn.urdf.sdf.models.MOST_BYTES", 10)
    with pytest.raises(rd.RobodynError, match="MB in them"):
        rd.load(tmp_path / "11.sdf")


@pytest.mark.parametrize("first", ["joint", "link"])
def test_before_sdf_1_7_a_joint_may_be_called_as_a_link(first):
    parts = [link("a"), link("b"), joint(name="b")]
    text = model(*(parts if first == "link" else parts[::-1]), version="1.6")
    with pytest.raises(rd.UrdfError, match="taken by the element") as caught:
        rd.load(text)
    assert caught.value.element == "joint 'b'"
    with pytest.warns(UrdfWarning, match="called 'b_joint'"):
        assert rd.load(text, strict=False).joint_names == ("b_joint",)
    with pytest.raises(rd.UrdfError):
        rd.load(text.replace("1.6", "1.7"), strict=False)


def test_an_unknown_version_is_refused_and_read_leniently():
    text = model(link("a"), link("b"), joint(), version="2.0")
    with pytest.raises(rd.UrdfError, match=re.escape("version='2.0' is not known")):
        rd.load(text)
    with pytest.warns(UrdfWarning, match="read as version 1.12"):
        assert rd.load(text, strict=False).nv == 1


def test_what_may_move_the_mechanism_is_told_once():
    inside = INERTIAL + "<kinematic>true</kinematic><sensor name='s' type='imu'/><visual name='v'/>"
    plugin = "<plugin name='wind' filename='w.so'/>\n"
    text = model(link("a", inside=inside), link("b"), joint(), plugin)
    with warnings.catch_warnings(record=True, action="always") as caught:
        rd.load(text)
    (warning,) = caught
    told = str(warning.message)
    assert "<kinematic> of link 'a' (line 3), <plugin> 'wind' (line 6)" in told
    assert "sensor" not in told and "visual" not in told


@pytest.mark.parametrize("word", ["false", "0"])
def test_links_on_which_gravity_does_not_act(word):
    """Its mass is moved, and weighs nothing; in a nested model, too."""
    placed = INERTIAL.replace("<inertial>", "<inertial><pose>0.3 0 0 0 0 0</pose>")
    free = placed + f"<gravity>{word}</gravity>"
    hinge = joint(inside="<axis><xyz>0 1 0</xyz></axis>")
    heavy, light = (
        rd.load(model(link("a"), link("b", inside=x), hinge))
        for x in (placed + "<gravity>true</gravity>", free)
    )
    q = [0.4]
    np.testing.assert_allclose(light.mass_matrix(q), heavy.mass_matrix(q), rtol=1e-12)
    assert abs(heavy.bias_forces(q, [0.0])[0]) > 1e-3
    assert abs(light.bias_forces(q, [0.0])[0]) < 1e-12
    nested = f"<model name='inner'>{link('b', inside=free)}</model>"
    held = rd.load(model(link("a"), nested, hinge.replace("<child>b", "<child>inner::b")))
    assert abs(held.bias_forces(q, [0.0])[0]) < 1e-12
    assert held.link_names[-1] == "inner::b"


def test_what_moves_nothing_is_passed_over():
    inside = (
        INERTIAL + "<sensor name='s' type='imu'/><visual name='v'/><self_collide>1</self_collide>"
    )
    with warnings.catch_warnings(action="error"):
        rd.load(model(link("a", inside=inside), link("b"), joint()))


def test_a_screw_goes_right_handed():
    text = model(
        link("a"), link("b"),
        joint(AXIS + "<screw_thread_pitch>0.01</screw_thread_pitch>", "screw"),
    )  # fmt: skip
    X = rd.load(text).frame_pose([math.pi], "b")
    np.testing.assert_allclose(X, Pose((0, 0, 0.005), (0, 0, math.pi)).matrix, atol=1e-15)


def test_dampers_of_links_and_joints_of_worlds_are_told():
    """By the old word, too; a joint of the world may hold a link of the model."""
    damped = link("b", inside=INERTIAL + "<damping><linear>3</linear></damping>")
    text = model(link("a"), damped, joint())
    with pytest.warns(rd.errors.UrdfWarning, match="<damping> of link 'b'"):
        rd.load(text)
    held = "<joint name='x' type='fixed'><parent>m::b</parent><child>world</child></joint>"
    inside = model(link("a"), link("b"), joint()).partition(">")[2].rpartition("</sdf>")[0]
    with pytest.warns(rd.errors.UrdfWarning, match="joint 'x' of the world"):
        rd.load(f'<sdf version="1.9"><world name="w">{inside}{held}</world></sdf>')


def test_a_robot_without_a_name_is_written_with_one(tmp_path):
    """SDF has no models without a name: what was written could not be read."""
    nameless = dataclasses.replace(rd.load("pan_tilt").mechanism, name="")
    rd.convert(rd.load(nameless), tmp_path / "robot.sdf")
    again = rd.load(tmp_path / "robot.sdf")
    assert again.name == "robot" and again.nv == 2
