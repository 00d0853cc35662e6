"""Names in the YAML of an Extended URDF: parts of names, numbered frames, unknown names."""

import itertools
import warnings

import numpy as np
import pytest

import robodyn as rd
from robodyn import urdf
from robodyn.errors import UrdfWarning

INERTIAL = (
    "<inertial><origin xyz='0.02 0.01 -0.1'/><mass value='{}'/><inertia ixx='0.02' ixy='0'"
    " ixz='0' iyy='0.03' iyz='0' izz='0.025'/></inertial>"
)
#: As exporters of drawings mark a point: a link that weighs nearly nothing, and its fixed joint.
MARK = (
    "<link name='{0}'><inertial><origin xyz='0 0 0'/><mass value='1e-9'/><inertia ixx='0' ixy='0'"
    " ixz='0' iyy='0' iyz='0' izz='0'/></inertial></link><joint name='{0}_frame' type='fixed'>"
    "<parent link='{1}'/><child link='{0}'/><origin xyz='{2}'/><axis xyz='0 0 0'/></joint>"
)


def link(name, mass=1.0):
    return f"<link name='{name}'>{INERTIAL.format(mass)}</link>"


def hinge(name, parent, child, xyz, axis="0 1 0"):
    return (
        f"<joint name='{name}' type='revolute'><parent link='{parent}'/><child link='{child}'/>"
        f"<origin xyz='{xyz}'/><axis xyz='{axis}'/><limit effort='1' velocity='20'/></joint>"
    )


def legs():
    """Two legs, each two thighs that carry a shin; its joints and marks have the leg's number."""
    text = "<robot name='legs'><link name='trunk'/>"
    for n, y in ((1, 0.1), (10, -0.1)):
        text += "".join(link(f"{name}{n}") for name in ("front", "back", "shin"))
        text += hinge(f"mot_front{n}", "trunk", f"front{n}", f"0.1 {y} 0")
        text += hinge(f"mot_back{n}", "trunk", f"back{n}", f"-0.1 {y} 0")
        text += hinge(f"free_knee{n}", f"front{n}", f"shin{n}", "0 0 -0.3")
        text += MARK.format(f"gap{n}_A", f"shin{n}", "-0.2 0 0")
        text += MARK.format(f"gap{n}_B", f"back{n}", "0 0 -0.3")
    return text + "</robot>"


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "legs.urdf").write_text(legs())

    def file(text):
        path = tmp_path / "robot.yaml"
        path.write_text(text)
        return path

    return file


PAIRS = "closed_loop: [[gap1_A, gap1_B], [gap10_A, gap10_B]]\n"


def described(path, **options):
    with warnings.catch_warnings(action="error"):
        return urdf.load_mechanism(path, **options)


def motors(path):
    return [name for name, _ in described(path).actuators]


def test_numbered_frames_close_loops_in_pairs(folder):
    wanted = [("gap1_A-gap1_B", "spherical"), ("gap10_A-gap10_B", "spherical")]
    pairs = described(folder(f"{PAIRS}type: [3D, 3d]"))
    assert [(loop.name, loop.kind) for loop in pairs.loops] == wanted
    for number in ("", "closed_loop_number: 2\n", "closed_loop_number: -1\n"):
        path = folder(f"name_closedloop: gap\n{number}type: 3D")
        assert described(path).loops == pairs.loops
    mixed = described(folder(f"{PAIRS}type: [6d, 3d]"))
    assert [loop.kind for loop in mixed.loops] == ["fixed", "spherical"]
    assert [loop.kind for loop in described(folder(PAIRS)).loops] == ["fixed", "fixed"]


def test_names_with_frame_in_them_are_no_numbered_frames(folder, tmp_path):
    more = MARK.format("gap1_reference_frame", "trunk", "0 0 1")
    (tmp_path / "legs.urdf").write_text(legs().replace("</robot>", more + "</robot>"))
    loops = described(folder("name_closedloop: gap")).loops
    assert [loop.name for loop in loops] == ["gap1_A-gap1_B", "gap10_A-gap10_B"]


def test_closed_loop_goes_before_numbered_frames(folder):
    path = folder("name_closedloop: gap\nclosed_loop: [[gap1_A, gap1_B]]")
    assert [loop.name for loop in described(path).loops] == ["gap1_A-gap1_B"]


@pytest.mark.parametrize(
    ("text", "match"),
    [
        ("name_closedloop: gap\nclosed_loop_number: 3", "is 3, but 2 pairs"),
        ("name_closedloop: front", r"front1 is not in the names of two frames: front1"),
        ("name_closedloop: crack", "is part of no name"),
        ("name_closedloop: mot", "'mot' is in the names of frames .*without a number behind it"),
    ],
)
def test_numbered_frames_that_make_no_pairs(folder, text, match):
    path = folder(text)
    with pytest.raises(rd.UrdfError, match=match) as caught:
        described(path)
    assert caught.value.line


def test_the_legs_move(folder):
    """The joint that the two thighs and the shin leave: each leg is a five-bar without its base."""
    robot = rd.load(folder(f"{PAIRS}type: [3d, 3d]\nname_mot: mot"))
    reference = rd.load(
        legs(),
        loops=[rd.Loop(f"loop{n}", "spherical", f"gap{n}_A", f"gap{n}_B") for n in (1, 10)],
    )
    assert robot.nc == reference.nc == 6
    q = robot.random(np.random.default_rng(0))
    v = robot.consistent_velocity(q, np.ones(robot.nv))
    tau = np.arange(robot.nv)
    a = robot.forward_dynamics(q, v, tau)
    np.testing.assert_allclose(a, reference.forward_dynamics(q, v, tau), rtol=1e-9, atol=1e-9)


def test_motors_by_a_part_of_their_names(folder):
    all_of_them = ["mot_front1", "mot_back1", "mot_front10", "mot_back10"]
    assert motors(folder(f"{PAIRS}name_mot: mot")) == all_of_them
    assert motors(folder(f"{PAIRS}name_mot: mot\nLidmot: [0, 1]\nLidvmot: [0, 1]")) == all_of_them
    assert motors(folder(f"{PAIRS}name_mot: [back, mot_front10]")) == [
        "mot_back1",
        "mot_back10",
        "mot_front10",
    ]
    assert motors(folder(f"{PAIRS}name_mot: [mot_front, front1]")) == ["mot_front1", "mot_front10"]
    # fixed joints are none, although gap1_A_frame has the word in its name
    assert motors(folder(f"{PAIRS}name_mot: [a]")) == [
        "mot_back1",
        "mot_back10",
    ]


def test_a_joint_that_is_part_of_another_name_is_meant_alone_and_said(folder):
    path = folder(f"{PAIRS}name_mot: [mot_front1, mot_back1, mot_back10]")
    with pytest.warns(UrdfWarning, match="'mot_front1' is a joint, and part.*'mot_front10'") as w:
        mechanism = urdf.load_mechanism(path)
    assert len(w) == 1 and w[0].message.line == 2
    assert [name for name, _ in mechanism.actuators] == ["mot_front1", "mot_back1", "mot_back10"]


def test_balls_by_a_part_of_their_names(folder):
    kinds = {j.name: j.kind for j in described(folder(f"{PAIRS}rotule_name: free")).joints}
    assert [n for n, kind in kinds.items() if kind == "spherical"] == ["free_knee1", "free_knee10"]
    assert kinds["mot_front1"] == "revolute" and kinds["gap1_A_frame"] == "fixed"
    path = folder(f"{PAIRS}rotule_name: free\njoint_name: [free_knee1]\njoint_type: [UJOINT_XZ]")
    kinds = {j.name: j.kind for j in described(path).joints}
    assert (kinds["free_knee1"], kinds["free_knee10"]) == ("universal", "spherical")


def turn(axis, angle):
    K = np.cross(np.eye(3), np.eye(3)["XYZ".index(axis)])
    return np.eye(3) + np.sin(angle) * K + (1.0 - np.cos(angle)) * K @ K


@pytest.mark.parametrize(
    "word", ["CARDAN", *(f"UJOINT_{a}{b}" for a, b in itertools.permutations("XYZ", 2))]
)
def test_universal_joints_turn_about_the_first_axis_and_then_the_second(folder, word):
    path = folder(f"{PAIRS}joint_name: [free_knee1]\njoint_type: [{word}]\ntype: 3d")
    robot = rd.load(path)
    q = np.zeros(robot.nq)
    q[robot.joints["free_knee1"].q] = 0.4, -0.7
    first, second = "XY" if word == "CARDAN" else word[-2:]
    X = robot.frame_pose(q, "shin1", relative_to="front1")
    np.testing.assert_allclose(X[:3, :3], turn(first, 0.4) @ turn(second, -0.7), atol=1e-15)
    np.testing.assert_allclose(X[:3, 3], (0.0, 0.0, -0.3), atol=1e-15)


UNKNOWN = """\
closed_loop:
- [gap1_A, gap1_B]
- [gap10_A, gap11_B]
- [gap10_A, gap10_B]
type: [3d, 3d, 3d]
name_mot: [mot_front1, mot_front2, mot_front10]
joint_name: [free_knee, free_knee1]
joint_type: [FIXED, SPHERICAL]
maximal_torque: 3
"""


def test_unknown_names_are_refused_with_their_lines(folder):
    path = folder(UNKNOWN)
    found = urdf.problems(path)
    assert [error.line for error in found] == [3, 6, 7, 9]
    assert [error.suggestion for error in found] == ["gap1_B", "mot_front1", "free_knee1", None]
    assert all(error.file == str(path) for error in found)
    with pytest.raises(rd.UrdfError, match="gap11_B"):
        rd.load(path)


def test_unknown_names_are_left_out_with_one_warning(folder):
    with pytest.warns(UrdfWarning) as told:
        robot = rd.load(folder(UNKNOWN), strict=False)
    (warning,) = told
    words = ("gap11_B", "mot_front2", "'free_knee'", "maximal_torque")
    for place, word, line in zip(warning.message.places, words, (3, 6, 7, 9), strict=True):
        assert word in place.problem and place.line == line and place.leniently == "left out"
    assert [loop.name for loop in robot.loops] == ["gap1_A-gap1_B", "gap10_A-gap10_B"]
    assert robot.actuated_joints == ("mot_front1", "mot_front10")
    assert robot.joints["free_knee1"].type == "spherical"


def test_a_name_of_a_link_and_of_another_joint_is_no_frame(folder, tmp_path):
    text = legs().replace("'free_knee1'", "'back1'")
    (tmp_path / "legs.urdf").write_text(text)
    with pytest.raises(rd.UrdfError, match="'back1' is a link, and a joint that moves another"):
        described(folder("closed_loop: [[gap1_A, back1]]"))
    # a joint that has the name of the link it moves is one frame
    (tmp_path / "legs.urdf").write_text(legs().replace("'mot_back1'", "'back1'"))
    assert described(folder("closed_loop: [[gap1_A, back1]]")).loops[0].successor == "back1"


def test_unknown_joints_of_an_srdf_are_left_out_with_one_warning(tmp_path):
    path = tmp_path / "legs.srdf"
    joints = "".join(
        f'<joint name="{name}" mass="1e-4" gear_ratio="9"/>\n'
        for name in ("mot_front1", "mot_middle", "mot_side")
    )
    path.write_text(f'<robot name="legs"><rotor_params>\n{joints}</rotor_params></robot>')
    with pytest.raises(rd.UrdfError, match="mot_middle"):
        rd.load(legs(), srdf=path)
    with pytest.warns(UrdfWarning) as told:
        robot = rd.load(legs(), srdf=path, strict=False)
    (warning,) = told
    assert [place.line for place in warning.message.places] == [3, 4]
    assert robot.actuated_joints == ("mot_front1",)


def test_what_is_no_yaml_is_told_in_one_line_with_its_place(folder):
    with pytest.raises(rd.UrdfError, match="is no YAML: found character") as caught:
        described(folder("name_closedloop: gap\nname_mot:\n\t- mot_front1"))
    assert caught.value.line == 3
    assert "\n" not in str(caught.value)
