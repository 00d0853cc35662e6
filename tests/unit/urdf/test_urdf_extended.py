"""The YAML of an Extended URDF: loops as pairs of frames, motors, other joint types."""

import sys
from importlib import resources

import numpy as np
import pytest

import robodyn as rd
from robodyn import urdf

FOUR_BAR = (resources.files("robodyn.urdf") / "robots" / "four_bar.urdf").read_text()
#: The pin of the rocker as a joint of the tree, with a tip that is to be the rocker's end.
OPEN = FOUR_BAR.replace(
    '<parent link="coupler"/>\n    <child link="rocker_end"/>',
    '<parent link="coupler"/>\n    <child link="tip"/>',
).replace("</robot>", '<link name="tip"/></robot>')
LOOP = "closed_loop: [[tip, rocker_end_fixed]]\n"


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "robot.urdf").write_text(OPEN)

    def file(text, name="robot.yaml"):
        path = tmp_path / name
        path.write_text(text)
        return path

    return file


def same_motion(robot, reference, joints):
    """Accelerations and motor torques of both, at postures that fit together."""
    rng = np.random.default_rng(0)
    at = [robot.joints[name].v.start for name in joints]
    there = [reference.joints[name].v.start for name in joints]
    for _ in range(3):
        q, v = reference.random(rng), rng.normal(size=reference.nv)
        v = reference.consistent_velocity(q, v)
        x, w = robot.neutral(), np.zeros(robot.nv)
        x[[robot.joints[name].q.start for name in joints]] = q[there]
        x = robot.assemble(x, hold=joints)
        w[at] = v[there]
        w = robot.consistent_velocity(x, w, hold=joints)
        tau = np.zeros(robot.nv)
        tau[at[0]] = 0.7
        tau_there = np.zeros(reference.nv)
        tau_there[there[0]] = 0.7
        a, expected = robot.forward_dynamics(x, w, tau), reference.forward_dynamics(q, v, tau_there)
        np.testing.assert_allclose(a[at], expected[there], rtol=1e-8, atol=1e-8)
        needed = robot.inverse_dynamics(x, w, a)
        np.testing.assert_allclose(needed[at[0]], 0.7, rtol=1e-8)


@pytest.mark.parametrize(
    ("more", "redundant", "dof"),
    [
        ("type: ['6d']", 3, 1),
        ("type: [6D]\njoint_name: [rocker_pin]\njoint_type: [SPHERICAL]", 1, 1),
        ("type: ['3d']", 1, 2),  # the tip turns freely
        ("joint_name: [rocker_pin]\njoint_type: [UJOINT_YZ]", 2, 1),
    ],
)
def test_a_planar_linkage_with_redundant_closures(folder, more, redundant, dof):
    robot = rd.load(folder(f"{LOOP}{more}\nname_mot: [crank_drive]\n"))
    assert (robot.dof, len(robot.redundant_constraints)) == (dof, redundant)
    assert robot.actuated_joints == ("crank_drive",)
    assert [loop.name for loop in robot.loops] == ["tip-rocker_end_fixed"]
    if dof == 1:
        same_motion(robot, rd.load("four_bar"), ("crank_drive", "crank_pin", "rocker_pivot"))


def test_motors_are_those_that_are_named(folder):
    path = folder(f"{LOOP}name_mot: [rocker_pivot, crank_drive]")
    mechanism = urdf.load_mechanism(str(path))
    assert [name for name, _ in mechanism.actuators] == ["rocker_pivot", "crank_drive"]
    assert dict(mechanism.actuators)["crank_drive"].gear_ratio == 20  # as the URDF says
    assert rd.load(folder(LOOP)).actuated_joints == ("crank_drive",)


def test_motors_of_a_transmission_stay(folder, tmp_path):
    transmission = """<transmission name="t"><type>robodyn/Transmission</type>
<joint name="crank_drive"/><joint name="rocker_pivot"/><matrix>1 1 1 -1</matrix></transmission>
<motor joint="rocker_pivot" gear_ratio="30"/></robot>"""
    (tmp_path / "robot.urdf").write_text(OPEN.replace("</robot>", transmission))
    mechanism = urdf.load_mechanism(str(folder(f"{LOOP}name_mot: [crank_drive]")))
    assert {name: motor.gear_ratio for name, motor in mechanism.actuators} == {
        "crank_drive": 20.0,
        "rocker_pivot": 30.0,
    }


def test_fixed_joints(folder):
    path = folder(
        "closed_loop: []\njoint_name: [rocker_pin, crank_pin]\njoint_type: [FIXED, FIXED]"
    )
    robot = rd.load(path)
    assert robot.joint_names == ("crank_drive", "rocker_pivot") and robot.nc == 0


def test_the_urdf_is_found(folder, tmp_path):
    assert rd.load(folder(f"{LOOP}urdf: robot.urdf", "other.yaml")).nc == 6
    (tmp_path / "leg.urdf").write_text(OPEN.replace("four_bar", "leg"))
    assert rd.load(folder(LOOP, "leg.yml")).name == "leg"
    (tmp_path / "robot.urdf").unlink()
    assert rd.load(folder(LOOP)).name == "leg"  # the only one beside it
    (tmp_path / "arm.urdf").write_text(OPEN.replace("four_bar", "arm"))
    with pytest.raises(rd.UrdfError, match=r"arm\.urdf, leg\.urdf"):
        rd.load(folder(LOOP))
    assert rd.load(folder(LOOP), urdf=tmp_path / "arm.urdf").name == "arm"
    with pytest.raises(rd.SettingsError, match="urdf="):
        rd.load(tmp_path / "arm.urdf", urdf=tmp_path / "leg.urdf")


def test_a_named_urdf_that_is_not_there_is_not_replaced_by_another(folder):
    with pytest.raises(rd.UrdfError, match=r"leg\.urdf") as caught:
        rd.load(folder(f"{LOOP}urdf: leg.urdf", "other.yaml"))
    assert caught.value.line == 2
    assert caught.value.suggestion in (None, "robot.urdf")


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("closed_loop: [[tip, nowhere]]", 1),
        ("closed_loop: [[tip]]", 1),
        ("closed_loop: tip", 1),
        ("closed_loop:\n- [tip, rocker_end]\n- [tip, [crank]]", 3),
        ("closed_loops: [[tip, rocker_end]]", 1),
        (f"{LOOP}type: [5d]", 2),
        (f"{LOOP}type: planar", 2),
        (f"{LOOP}type: [6d, 6d]", 2),
        (f"{LOOP}type: []", 2),
        (f"{LOOP}joint_name: [rocker_pin]", None),
        (f"{LOOP}joint_name: [rocker_pin]\njoint_type: [BALL]", 3),
        (f"{LOOP}joint_name: [rocker_pin]\njoint_type:\n- UJOINT_XX", 4),
        (f"{LOOP}joint_name: [pin]\njoint_type: [FIXED]", 2),
        (f"{LOOP}name_mot: [a, a]", 2),
        (f"{LOOP}name_mot: [motor]", 2),
        (f"{LOOP}name_mot: motor", 2),
        (f"{LOOP}name_mot: [rocker_end_fixed]", 2),
        (f"{LOOP}name_mot: ''", 2),
        (f"{LOOP}name_mot: {{a: b}}", 2),
        (f"{LOOP}Lidmot: [0]", 2),
        (f"{LOOP}rotule_name: ball", 2),
        (f"{LOOP}rotule_name: [crank]", 2),
        ("name_closedloop: gap", 1),
        ("name_closedloop: gap\nclosed_loop_number: one", 2),
        (f"{LOOP}{LOOP}", 2),
        ("? [a]\n: 1", 1),
        ("closed_loop: [", 1),
        ("- 1", None),
        ("", None),
        ("[" * 5000, None),
        ("urdf: [3]", 1),
        ("urdf: gone.urdf", 1),
        ("!!python/object/apply:os.getcwd []", None),
        ("urdf: !!python/object/apply:os.getcwd []", 1),
    ],
)
def test_bad_files_say_what_is_wrong_and_where(folder, text, line):
    path = folder(text)
    with pytest.raises(rd.UrdfError) as caught:
        rd.load(path)
    assert (caught.value.file, caught.value.line) == (str(path), line)
    assert str(caught.value) == str(urdf.problems(path)[0])


def test_without_yaml_the_extra_is_named(folder, monkeypatch):
    monkeypatch.setitem(sys.modules, "yaml", None)
    with pytest.raises(rd.MissingExtraError, match=r"\[yaml\]"):
        rd.load(folder(LOOP))
