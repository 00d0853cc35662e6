"""What is written is read by Pinocchio and yourdfpy, and moves there as it moves here."""

import dataclasses
import math
import warnings
import xml.etree.ElementTree as ET

import numpy as np
import pytest
import support.mjcf_models as mjcf_models
from support.comparison import close_within
from support.public_robots import FILES
from support.random_mechanisms import random_mechanism

import robodyn as rd
from robodyn import urdf
from robodyn.cli import main
from robodyn.description import Joint, Limits, Link, Mechanism, Mimic
from robodyn.urdf.extensions import left_out_by_others, refused_by_others
from robodyn.urdf.write import as_written

pin = pytest.importorskip("pinocchio")
yourdfpy = pytest.importorskip("yourdfpy")
from oracles.pinocchio_oracle import PinocchioOracle, read_by_pinocchio  # noqa: E402

#: Rounding of other algorithms on the same numbers, relative to the largest entry of a result.
close = close_within(1e-10, least=1e-3)


def loaded(source, **options):
    with warnings.catch_warnings(action="ignore", category=rd.errors.UrdfWarning):
        return rd.load(source, passive=False, allow_unphysical=True, rigid=True, **options)


def read_by_yourdfpy(path):
    return yourdfpy.URDF.load(str(path), load_meshes=False, load_collision_meshes=False)


def check_others(mechanism, path):
    """Others read what is written of the tree of a mechanism, and it has the same dynamics."""
    urdf.write(mechanism, path, strict_tree=True)
    if refused_by_others(mechanism, strict_tree=True):
        assert read_by_pinocchio(path) is None
        return
    written = as_written(mechanism, strict_tree=True)
    tree = dataclasses.replace(written, loops=(), couplings=(), followers=(), rotors=())
    robot = loaded(tree)
    q, v, a = robot.random(0), *np.random.default_rng(0).normal(size=(2, robot.nv))
    model = read_by_yourdfpy(path)
    assert {*model.link_map} == {link.name for link in mechanism.links}
    model_of_pinocchio = read_by_pinocchio(path)
    assert model_of_pinocchio is not None
    if any(joint.kind == "planar" for joint in mechanism.joints):
        return
    there = PinocchioOracle(path, robot, model_of_pinocchio)
    close(robot.inverse_dynamics(q, v, a), there.inverse_dynamics(q, v, a))
    close(robot.mass_matrix(q), there.mass_matrix(q))
    if all(joint.nq < 2 for joint in tree.joints):
        model.update_cfg(
            {name: float(q[robot.joints[name].q][0]) for name in model.actuated_joint_names}
        )
        for link in tree.links:
            close(model.get_transform(link.name), robot.frame_pose(q, link.name))


@pytest.mark.slow
@pytest.mark.parametrize("name", rd.robots())
def test_bundled_robots(name, tmp_path):
    check_others(urdf.load_mechanism(name), tmp_path / f"{name}.urdf")


@pytest.mark.slow
@pytest.mark.parametrize("name", ["ARM", "LEG", "GRIPPER", "WELDED"])
def test_models_of_mujoco(name, tmp_path):
    pytest.importorskip("mujoco")
    check_others(loaded(getattr(mjcf_models, name)).mechanism, tmp_path / "model.urdf")


def _is_without_limits(joint):
    limit = joint.find("limit")
    return joint.get("type") == "revolute" and float(limit.get("upper", "inf")) >= 1e16


@pytest.mark.slow
@pytest.mark.parametrize("name", ["four_bar", "stephenson", "excavator", "stewart"])
def test_loops_that_are_written_as_loops_close_as_before(name):
    before = loaded(name)
    after = loaded(urdf.write(before.mechanism, strict_tree=True))
    assert after.joint_names == before.joint_names
    q = before.neutral()
    v = before.consistent_velocity(q, np.random.default_rng(0).normal(size=before.nv))
    close(after.forward_dynamics(q, v, 0.0 * v), before.forward_dynamics(q, v, 0.0 * v))


@pytest.mark.slow
@pytest.mark.skipif(not FILES, reason="neither example-robot-data nor pybullet is installed")
def test_public_robots_are_to_pinocchio_as_before(tmp_path):
    compared = 0
    for k, (name, path) in enumerate(FILES.items()):
        before = read_by_pinocchio(path)
        with warnings.catch_warnings(action="ignore", category=rd.errors.UrdfWarning):
            mechanism, problems, _ = urdf.parse(path.read_text(errors="ignore"), str(path))
        if before is None or problems:
            continue
        written = tmp_path / f"{k}.urdf"
        urdf.write(mechanism, written)
        after = read_by_pinocchio(written)
        assert after is not None, name
        assert [*after.names] == [*before.names], name
        if before.nq != after.nq:  # turns without limits, from 0 to 0 or to 1e16 to Pinocchio
            assert any(_is_without_limits(joint) for joint in ET.parse(path).iter("joint")), name
            continue
        sound = before.lowerPositionLimit <= before.upperPositionLimit  # others mean none
        for limits in ("lowerPositionLimit", "upperPositionLimit"):
            close(getattr(after, limits)[sound], getattr(before, limits)[sound])
        for limits in ("velocityLimit", "effortLimit"):
            close(getattr(after, limits), getattr(before, limits))
        q = pin.neutral(before)
        v, a = np.random.default_rng(k).normal(size=(2, before.nv))
        q = pin.integrate(before, q, v)
        torques = [pin.rnea(model, model.createData(), q, v, a) for model in (before, after)]
        close(torques[1], torques[0])
        try:
            read_by_yourdfpy(path)
        except Exception:  # its shapes or words, which are written as they are
            continue
        assert read_by_yourdfpy(written).link_map.keys() == {link.name for link in mechanism.links}
        compared += 1
    assert compared > 0.8 * len(FILES)


LIMITS = {
    "none": None,
    "nothing limited": Limits(),
    "positions": Limits(-1.0, 1.5),
    "one side": Limits(lower=-1.0),
    "other side": Limits(upper=1.0),
    "speed": Limits(velocity=3.0),
    "effort": Limits(effort=5.0),
    "all": Limits(-1.0, 1.5, 3.0, 5.0),
    "large": Limits(-1e20, 1e20, 1e17, 1e16),
}


@pytest.mark.parametrize("kind", ["revolute", "continuous", "prismatic", "floating"])
@pytest.mark.parametrize("limits", LIMITS)
def test_limits(kind, limits, tmp_path):
    given = LIMITS[limits]
    mechanism = random_mechanism(np.random.default_rng(0), [kind, "revolute"])
    joint = dataclasses.replace(mechanism.joints[0], limits=given)
    path = tmp_path / "robot.urdf"
    urdf.write(dataclasses.replace(mechanism, joints=(joint, mechanism.joints[1])), path)
    model = read_by_pinocchio(path)
    assert model is not None
    read_by_yourdfpy(path)
    back = rd.load(path).mechanism.joints[0].limits or Limits()
    of_position = (model.lowerPositionLimit[0], model.upperPositionLimit[0])
    for name, there, own in (
        ("lower", of_position[0], kind in ("revolute", "prismatic")),
        ("upper", of_position[1], kind in ("revolute", "prismatic")),
        ("velocity", model.velocityLimit[0], kind != "floating"),
        ("effort", model.effortLimit[0], kind != "floating"),
    ):
        meant = getattr(given or Limits(), name)
        if not own:
            continue
        if abs(meant) < 1e16:
            assert (there, getattr(back, name)) == (meant, meant)
        else:
            assert math.isinf(getattr(back, name))
            assert abs(there) >= 1e16 or name in ("lower", "upper")  # (cos, sin) of a full turn


def test_joints_that_follow_a_joint_which_follows_another(tmp_path):
    """yourdfpy looks no further than one joint."""
    links = (Link("base"), *(Link(x, rd.Inertia(1.0, ixx=1.0, iyy=1.0, izz=1.0)) for x in "abc"))
    relations = (None, Mimic("one", 2.0, 0.1), Mimic("two", -0.5, 0.2))
    joints = tuple(
        Joint(name, "revolute", parent.name, child.name, axis=(0, 0.6, 0.8), mimic=mimic)
        for name, parent, child, mimic in zip(
            ("one", "two", "three"), links[:-1], links[1:], relations, strict=True
        )
    )
    robot = loaded(Mechanism("chain", links, joints))
    path = rd.convert(robot, tmp_path / "chain.urdf").path
    model, again = read_by_yourdfpy(path), loaded(path)
    model.update_cfg({"one": 0.3})
    for link in "abc":
        close(model.get_transform(link), robot.frame_pose([0.3], link))
        close(again.frame_pose([0.3], link), robot.frame_pose([0.3], link))


def test_what_a_joint_does_not_have_is_not_written(tmp_path):
    joint = Joint("j", "revolute", "a", "b", axis=(0, 0, 1), axis2=(1, 0, 0), rest=0.3, pitch=0.2)
    links = Link("a"), Link("b", rd.Inertia(1.0, ixx=1.0, iyy=1.0, izz=1.0))
    robot = rd.load(Mechanism("r", links, (joint,)))
    path = rd.convert(robot, tmp_path / "r.urdf").path
    assert not {"axis2", "pitch"} & {*path.read_text().replace("=", " ").split()}
    assert rd.load(path).mechanism.joints[0].axis == (0.0, 0.0, 1.0)


SAID = {
    '<joint name="j" axis="0 1 0" armature="0.7"/>': "armature of joints (j)",
    '<joint name="j" axis="0 1 0" stiffness="5"/>': "springs of joints (j)",
    '<joint name="j" type="ball"/>': "spherical joints (j)",
    '<joint name="j" axis="0 1 0"/>': "<motor>, with gears, rotors and friction (j)",
}


@pytest.mark.parametrize("joint", SAID)
def test_convert_tells_what_only_robodyn_reads(joint, tmp_path, capsys):
    pytest.importorskip("mujoco")
    inertial = '<inertial pos="0.1 0.2 0.3" mass="1" diaginertia="1 1.2 1.5"/>'
    motor = '<actuator><motor joint="j"/></actuator>' if "motor" in SAID[joint] else ""
    source = tmp_path / "m.xml"
    source.write_text(
        f'<mujoco><worldbody><body name="b">{joint}{inertial}</body></worldbody>{motor}</mujoco>'
    )
    assert main(["convert", str(source), str(tmp_path / "m.urdf")]) == 0
    assert SAID[joint] in capsys.readouterr().out
    if "spherical" not in SAID[joint]:
        assert read_by_pinocchio(tmp_path / "m.urdf") is not None


def test_all_that_only_robodyn_reads_is_told():
    """Every element of ours in the bundled robots is among the lines."""
    words = {"<loop": "<loop>", "<motor": "<motor>", "<coupling": "<coupling>", "<rotor": "<rotor>",
             "<spring": "<spring>", "<follower": "<follower>", "armature=": "armature",
             "spring_stiffness=": "springs of joints"}  # fmt: skip
    seen = set()
    for name in rd.robots():
        mechanism = urdf.load_mechanism(name)
        text = urdf.write(mechanism, strict_tree=True)
        lines = " ".join(left_out_by_others(mechanism, strict_tree=True))
        for word, said in words.items():
            assert (word in text) == (said in lines), (name, word)
            seen |= {word} if word in text else set()
    assert {"<loop", "<motor"} <= seen


OPTIONS = {
    "passive=False": {"passive": False},
    "friction_speed=0.1": {"friction_speed": 0.1},
    "ground": {"ground": rd.Ground({"tip": ("lower", (0, 0, -1))}, height=-1.9)},
    "gravity=(1.0, 2.0, -3.0)": {"gravity": (1.0, 2.0, -3.0)},
    "rotor_model='armature'": {"rotor_model": "armature"},
    "base='floating'": {"base": "floating"},
}


@pytest.mark.parametrize("suffix", [".urdf", ".xml", ".sdf", ".usda"])
@pytest.mark.parametrize("option", OPTIONS)
def test_options_that_stand_in_no_file_are_told(option, suffix, tmp_path):
    if suffix == ".usda":
        pytest.importorskip("pxr")
    held = {"rotor_model": (".xml", ".usda"), "gravity": (".xml", ".usda")}
    held["base"] = (".xml",)
    robot = loaded_with(OPTIONS[option])
    lost = rd.convert(robot, tmp_path / f"robot{suffix}").lost
    told = [line for line in lost if "an option of robodyn.load" in line]
    stands = suffix in held.get(next(iter(OPTIONS[option])), ())
    assert [line.rpartition(": ")[2] for line in told] == ([] if stands else [option])
    assert not any("option" in x for x in rd.convert(loaded_with({}), tmp_path / "b.urdf").lost)


@pytest.mark.parametrize("suffix", [".urdf", ".xml", ".sdf", ".usda"])
@pytest.mark.parametrize("base", ["free joint", "floating"])
def test_with_the_options_that_are_told_the_base_floats_again(base, suffix, tmp_path):
    if suffix == ".usda":
        pytest.importorskip("pxr")
    box, mass = "box", rd.Inertia(2.0, ixx=0.1, iyy=0.2, izz=0.25)
    if base == "floating":
        robot = rd.load(Mechanism("free", (Link(box, mass),), ()), base="floating")
    else:
        free = Joint("free", "floating", "world", box)
        robot = rd.load(Mechanism("free", (Link("world"), Link(box, mass)), (free,)))
    conversion = rd.convert(robot, tmp_path / f"robot{suffix}")
    told = any(line.endswith("give it again: base='floating'") for line in conversion.lost)
    again = rd.load(conversion.path, base="floating" if told else "fixed")
    assert (again.dof, robot.dof) == (6, 6)


def loaded_with(options):
    return rd.load("double_pendulum", actuators={"elbow": rd.Actuator(2.0, 0.1)}, **options)


@pytest.mark.parametrize("suffix", [".xml", ".usda"])
def test_that_there_is_no_motor_is_told(suffix, tmp_path):
    robot = rd.load("double_pendulum", actuators={"elbow": rd.Actuator()})
    for made, said in ((robot, False), (robot.with_(locked={"elbow": 0.3}), True)):
        lost = rd.convert(made, tmp_path / f"robot{suffix}").lost
        assert any("no joint has a motor" in line for line in lost) == said


def test_sensors_are_left_out_of_urdf_and_said(tmp_path):
    imu = rd.Sensor("imu", at=("lower", np.eye(4)), name="head")
    robot = rd.load("double_pendulum", sensors=[imu])
    conversion = rd.convert(robot, tmp_path / "robot.urdf")
    assert "sensors (head) are left out" in conversion.lost
    assert rd.load(conversion.path).mechanism.joints == robot.mechanism.joints
