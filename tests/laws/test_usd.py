"""USD: what is written is read again as the same robot; files of others are read, or refused."""

import dataclasses
import math
import re
import warnings

import numpy as np
import pytest
from laws.test_written_sdf import check_read_back, close, loaded
from support.random_mechanisms import random_mechanism

import robodyn as rd
from robodyn.cli import main
from robodyn.description import Limits, Pose
from robodyn.urdf.usd.schema import ALL_FREEDOMS

pxr = pytest.importorskip("pxr")
from pxr import Gf, Sdf, Usd, UsdGeom, UsdPhysics  # noqa: E402

QUICK = ("four_bar", "caster_table", "scara", "delta")
#: Its ball and universal joints have damping, which USD does not hold.
DAMPED = ("prosthesis",)


def written(robot, folder, name="robot.usda"):
    conversion = rd.convert(robot, folder / name)
    return conversion.path, conversion.lost


@pytest.mark.parametrize(
    "name",
    [
        pytest.param(x, marks=() if x in QUICK else pytest.mark.slow)
        for x in rd.robots()
        if x not in DAMPED
    ],
)
def test_bundled_robots(name, tmp_path):
    robot = loaded(name, rotor_model="armature")
    path, lost = written(robot, tmp_path)
    check_read_back(robot, path)
    again = loaded(path)
    assert again.name == robot.name
    assert {*again.joint_names} == {*robot.joint_names}
    bare = [x.name for x in robot.mechanism.links if x.inertia is None]
    assert bool(bare) == any("1e-09 kg" in line for line in lost)


@pytest.mark.slow
@pytest.mark.parametrize("name", ["two_feet", "arm7"])
def test_robots_on_a_floating_base(name, tmp_path):
    robot = loaded(name, rotor_model="armature", base="floating")
    check_read_back(robot, written(robot, tmp_path)[0])


@pytest.mark.parametrize("seed", range(3))
def test_random_trees(seed, tmp_path):
    rng = np.random.default_rng(seed)
    kinds = ["planar", "cylindrical", "spherical", "prismatic", "revolute", "continuous"]
    rng.shuffle(kinds)
    mechanism = random_mechanism(rng, kinds)
    turned = [
        dataclasses.replace(
            x,
            inertia=dataclasses.replace(x.inertia, origin=Pose(x.inertia.origin.xyz, (0.3, k, 2))),
        )
        for k, x in enumerate(mechanism.links)
    ]
    values = {
        "stiffness": 5.0, "rest": 0.2, "damping": 0.3, "friction": 0.4, "armature": 0.1,
        "limits": Limits(-1.0, 1.5, 2.0, 30.0),
    }  # fmt: skip
    single = [x.name for x in mechanism.joints if x.nv == 1]
    joints = [
        dataclasses.replace(x, **values) if x.name in single[1:] else x for x in mechanism.joints
    ]
    robot = rd.load(dataclasses.replace(mechanism, links=tuple(turned), joints=tuple(joints)))
    path, _ = written(robot, tmp_path, "robot.usd")
    check_read_back(robot, path)
    there = {x.name: x for x in loaded(path).mechanism.joints}
    for name in single[1:]:
        found = [getattr(there[name], x) for x in values if x != "limits"]
        close(found, [x for x in values.values() if not isinstance(x, Limits)])
        close(*(dataclasses.astuple(x) for x in (there[name].limits, values["limits"])))


def test_moments_of_points_are_above_zero(tmp_path):
    """Simulators take zero for what is not given, and rounding may leave less than zero."""
    links = rd.Link("post"), rd.Link("bob", rd.Inertia(2.0, Pose((0.5, 0.0, 0.0)), ixz=1e-35))
    hinge = rd.Joint("hinge", "revolute", "post", "bob", axis=(0, 1, 0))
    path, _ = written(rd.load(rd.Mechanism("pendulum", links, (hinge,))), tmp_path)
    made = Usd.Stage.Open(str(path))
    bob = made.GetPrimAtPath("/pendulum/bob")
    assert min(UsdPhysics.MassAPI(bob).GetDiagonalInertiaAttr().Get()) > 0.0
    assert rd.load(path).mechanism.links[-1].inertia.ixz == 1e-35


@pytest.mark.parametrize("suffix", ["sdf", "usda"])
def test_links_without_weight(suffix, tmp_path):
    mechanism = random_mechanism(np.random.default_rng(4), ["revolute", "prismatic"])
    inertia = next(x.inertia for x in mechanism.links if x.name == "link1")
    held = rd.WeightCompensation("link1", inertia.origin.xyz, inertia.mass)
    robot = rd.load(mechanism, springs=[held])
    path, lost = written(robot, tmp_path, f"robot.{suffix}")
    assert not any("forces between links" in line for line in lost)
    check_read_back(robot, path)
    half = dataclasses.replace(held, mass=0.5 * inertia.mass)  # no format has half a weight
    _, lost = written(rd.load(mechanism, springs=[half]), tmp_path, f"robot.{suffix}")
    assert any("forces between links" in line for line in lost)


def stage(folder, units=0.01, up="Y"):
    """A pendulum as another program may write it: in centimetres, the joint on both bodies."""
    made = Usd.Stage.CreateNew(str(folder / "made.usda"))
    UsdGeom.SetStageMetersPerUnit(made, units)
    UsdGeom.SetStageUpAxis(made, up)
    body = UsdGeom.Xform.Define(made, "/World/bob")
    body.AddTranslateOp().Set(Gf.Vec3d(0, 0, -100))
    UsdPhysics.RigidBodyAPI.Apply(body.GetPrim())
    mass = UsdPhysics.MassAPI.Apply(body.GetPrim())
    mass.CreateMassAttr(2.0)
    mass.CreateDiagonalInertiaAttr(Gf.Vec3f(300, 300, 100))
    joint = UsdPhysics.RevoluteJoint.Define(made, "/World/hinge")
    joint.CreateBody1Rel().SetTargets(["/World/bob"])
    joint.CreateAxisAttr("Y")
    joint.CreateLocalPos1Attr(Gf.Vec3f(0, 0, 100))
    joint.CreateLowerLimitAttr(-90)
    joint.CreateUpperLimitAttr(45)
    return made


def test_a_file_of_another_program(tmp_path):
    """Centimetres, degrees, and a joint that stands away from its body."""
    made = stage(tmp_path)
    made.GetRootLayer().Save()
    with pytest.warns(rd.errors.UrdfWarning, match="Y axis points up"):
        robot = rd.load(tmp_path / "made.usda", gravity=(0.0, 0.0, -9.81))
    # 2 kg a metre below the hinge, and 0.03 kg m^2 of its own
    assert robot.mass_matrix([0.0])[0, 0] == pytest.approx(2.03, rel=1e-7)
    assert robot.gravity_forces([0.5])[0] == pytest.approx(2.0 * 9.81 * np.sin(0.5), rel=1e-7)
    assert np.allclose([robot.lower_limits[0], robot.upper_limits[0]], [-np.pi / 2, np.pi / 4])


def test_drives_and_masses_in_units_of_another_program(tmp_path):
    """A unit of mass of half a kilogram, one of length of a centimetre, and angles in degrees."""
    made = stage(tmp_path, up="Z")
    UsdPhysics.SetStageKilogramsPerUnit(made, 0.5)
    hinge = made.GetPrimAtPath("/World/hinge")
    hinge.SetCustomDataByKey("spring", True)
    hinge.CreateAttribute("newton:damping", Sdf.ValueTypeNames.Float).Set(3.0)
    drive = UsdPhysics.DriveAPI.Apply(hinge, "angular")
    drive.CreateStiffnessAttr(40.0)
    drive.CreateMaxForceAttr(800.0)
    drive.CreateTargetPositionAttr(20.0)
    made.GetRootLayer().Save()
    robot = rd.load(tmp_path / "made.usda")
    torque, degree = 0.5 * 0.01**2, np.pi / 180.0
    (joint,) = (x for x in robot.mechanism.joints if x.name == "hinge")
    assert joint.stiffness == pytest.approx(40.0 * torque / degree, rel=1e-6)
    assert joint.damping == pytest.approx(3.0 * torque / degree, rel=1e-6)
    assert joint.rest == pytest.approx(20.0 * degree, rel=1e-6)
    assert joint.limits.effort == pytest.approx(800.0 * torque, rel=1e-6)
    assert robot.mass_matrix([0.0])[0, 0] == pytest.approx(1.0 + 300.0 * torque, rel=1e-6)


@pytest.mark.parametrize("kind", ["universal", "revolute", "prismatic"])
def test_a_joint_from_the_outer_body_to_the_inner_one(kind, tmp_path):
    """It moves the outer body the other way, and the second axis comes first."""
    mechanism = random_mechanism(np.random.default_rng(2), [kind])
    (joint,) = mechanism.joints
    joint = dataclasses.replace(joint, axis=(0.6, 0.0, 0.8), axis2=(0.8, 0.0, -0.6))
    robot = rd.load(dataclasses.replace(mechanism, joints=(joint,)))
    path, _ = written(robot, tmp_path)
    made = Usd.Stage.Open(str(path))
    (prim,) = (x for x in made.Traverse() if x.GetCustomDataByKey("name") == "joint0")
    ends = UsdPhysics.Joint(prim).GetBody0Rel(), UsdPhysics.Joint(prim).GetBody1Rel()
    for relation, targets in zip(ends, [x.GetTargets() for x in ends[::-1]], strict=True):
        relation.SetTargets(targets)
    made.GetRootLayer().Save()
    q, places = np.array([0.4, -0.7])[: robot.nq], {"relative_to": "link0"}
    there = loaded(path).frame_pose(q[::-1], "link1", **places)
    close(there @ robot.frame_pose(q, "link1", **places), np.eye(4))


def test_shapes_without_masses_are_refused_in_words(tmp_path):
    made = Usd.Stage.CreateNew(str(tmp_path / "made.usda"))
    UsdPhysics.RigidBodyAPI.Apply(UsdGeom.Xform.Define(made, "/World/bob").GetPrim())
    made.GetRootLayer().Save()
    with pytest.raises(rd.UrdfError, match="has no masses, only shapes"):
        rd.load(tmp_path / "made.usda")
    (tmp_path / "empty.usda").write_text("#usda 1.0\n")
    with pytest.raises(rd.UrdfError, match="has no rigid bodies"):
        rd.load(tmp_path / "empty.usda")
    (tmp_path / "cut.usd").write_bytes(b"PXR-USDC\x00\x08\x00" + bytes(range(200)))
    with pytest.raises(rd.UrdfError, match="cannot be read"):
        rd.load(tmp_path / "cut.usd")
    (tmp_path / "broken.usda").write_text("#usda 1.0\ndef {")
    with pytest.raises(rd.UrdfError, match="cannot be read"):
        rd.load(tmp_path / "broken.usda")


def test_drives_of_others_are_motors_and_no_springs(tmp_path):
    """Their stiffness and damping are those of a controller, which would hold the robot still."""
    made = stage(tmp_path, units=1.0, up="Z")
    plain = made.GetRootLayer().Save() and loaded(tmp_path / "made.usda")
    drive = UsdPhysics.DriveAPI.Apply(made.GetPrimAtPath("/World/hinge"), "angular")
    drive.CreateStiffnessAttr(1e4)
    drive.CreateDampingAttr(1e2)
    made.GetRootLayer().Save()
    with pytest.warns(rd.errors.UrdfWarning, match=r"drives \(hinge\) are those of a controller"):
        robot = rd.load(tmp_path / "made.usda")
    state = [0.3], [0.5], [0.0]
    assert robot.forward_dynamics(*state) == plain.forward_dynamics(*state)


@pytest.mark.parametrize("suffix", [".xml", ".sdf", ".usda"])
@pytest.mark.parametrize("name", ["four_bar", "double_pendulum", "pan_tilt", "stewart"])
def test_motors_are_where_they_were(name, suffix, tmp_path):
    robot = loaded(name)
    again = loaded(written(robot, tmp_path, f"robot{suffix}")[0])
    assert {*again.actuated_joints} == {*robot.actuated_joints}


def test_a_spring_without_a_motor_stays_one(tmp_path):
    robot = rd.load("four_bar", springs={"rocker_pivot": (30.0, 0.2)}, rotor_model="armature")
    path, _ = written(robot, tmp_path)
    check_read_back(robot, path)
    again = loaded(path)
    spring = next(x for x in again.mechanism.joints if x.name == "rocker_pivot")
    assert (spring.stiffness, spring.rest) == pytest.approx((30.0, 0.2))
    assert again.actuated_joints == robot.actuated_joints


def test_the_name_has_to_say_that_it_is_usd(tmp_path):
    path, _ = written(rd.load("scara"), tmp_path)
    other = path.rename(tmp_path / "robot.xml")
    with pytest.raises(rd.UrdfError, match=r"call it \.usda"):
        rd.load(other)


def test_a_robot_without_masses_is_read_again(tmp_path):
    """What is known to have none is no file whose masses were left out."""
    links = tuple(rd.Link(name) for name in ("base", "arm"))
    joint = rd.Joint("hinge", "continuous", "base", "arm", rd.Pose((0.0, 0.0, 0.5)))
    bare = loaded(rd.Mechanism("bare", links, (joint,)), allow_unphysical=True)
    again = loaded(written(bare, tmp_path)[0], allow_unphysical=True)
    assert np.allclose(again.frame_pose([0.3], "arm")[:3, 3], (0.0, 0.0, 0.5))


def test_references_stay_in_the_folder(tmp_path):
    inner, outer = tmp_path / "inner", tmp_path / "outer"
    inner.mkdir(), outer.mkdir()
    path, _ = written(rd.load("scara"), inner, "arm.usda")
    (inner / "scene.usda").write_text(
        '#usda 1.0\n(\n    defaultPrim = "arm"\n    metersPerUnit = 1\n    upAxis = "Z"\n)\n'
        'def "arm" (\n    references = @arm.usda@\n)\n{\n}\n'
    )
    robot = loaded(inner / "scene.usda")
    assert np.allclose(robot.mass_matrix(np.zeros(4)), loaded(path).mass_matrix(np.zeros(4)))
    (outer / "scene.usda").write_text(
        '#usda 1.0\ndef "arm" (\n    references = @../inner/arm.usda@\n)\n{\n}\n'
    )
    with pytest.raises(rd.UrdfError, match="outside its folder"):
        rd.load(outer / "scene.usda")
    (outer / "lost.usda").write_text("#usda 1.0\n(\n    subLayers = [@nowhere.usda@]\n)\n")
    with pytest.raises(rd.UrdfError, match="not there"):
        rd.load(outer / "lost.usda")


def test_what_has_no_word_is_refused(tmp_path):
    rng = np.random.default_rng(0)
    with pytest.raises(rd.UrdfError, match="no joint of kind 'helical'"):
        rd.convert(rd.load(random_mechanism(rng, ["helical"])), tmp_path / "screw.usda")
    with pytest.raises(rd.UrdfError, match="at right angles"):
        rd.convert(rd.load(random_mechanism(rng, ["universal"])), tmp_path / "cross.usda")
    assert not [*tmp_path.iterdir()]


@pytest.mark.parametrize(
    ("kind", "free"),
    [
        ("universal", {"rotX", "rotY"}),
        ("cylindrical", {"transX", "rotX"}),
        ("planar", {"transY", "transZ", "rotX"}),
    ],
)
def test_axes_that_are_free_have_limits_without_bounds(kind, free, tmp_path):
    """USD frees axes without limits; Newton locks them."""
    cross = '<axis2 xyz="0 1 0"/>' if kind == "universal" else ""
    path = tmp_path / "arm.usda"
    rd.convert(
        rd.load(
            f"""<robot name="arm"><link name="base"/><link name="bob"><inertial><mass value="1"/>
            <inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/></inertial></link>
            <joint name="hinge" type="{kind}"><parent link="base"/><child link="bob"/>
            <axis xyz="1 0 0"/>{cross}</joint></robot>"""
        ),
        path,
    )
    opened = Usd.Stage.Open(str(path))
    prim = next(x for x in opened.Traverse() if x.GetName() == "hinge")
    limits = {x: UsdPhysics.LimitAPI.Get(prim, x) for x in ALL_FREEDOMS}
    bounds = {x: (at.GetLowAttr().Get(), at.GetHighAttr().Get()) for x, at in limits.items()}
    without = (-math.inf, math.inf)
    assert bounds == {x: without if x in free else (1.0, -1.0) for x in ALL_FREEDOMS}
    assert rd.load(path).nv == len(free)


def test_a_joint_without_counterpart_is_told(tmp_path):
    made = stage(tmp_path, units=1.0, up="Z")
    prim = made.DefinePrim("/World/odd", "PhysicsJoint")
    UsdPhysics.Joint(prim).CreateBody1Rel().SetTargets(["/World/bob"])
    limit = UsdPhysics.LimitAPI.Apply(prim, "transX")
    limit.CreateLowAttr(1.0)
    limit.CreateHighAttr(-1.0)
    made.GetRootLayer().Save()
    with pytest.raises(rd.UrdfError, match=r"/World/odd.*has no counterpart"):
        rd.load(tmp_path / "made.usda")
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        assert rd.load(tmp_path / "made.usda", strict=False).nv == 1
    assert any("no counterpart" in str(x.message) for x in caught)


@pytest.mark.parametrize("suffix", [".xml", ".sdf", ".usda"])
def test_what_all_formats_call_the_world_is_no_link_that_moves(suffix, tmp_path):
    body = rd.Inertia(1.0, ixx=1.0, iyy=1.0, izz=1.0)
    links = rd.Link("base", body), rd.Link("world", body)
    joint = rd.Joint("hinge", "continuous", "base", "world", axis=(0.0, 1.0, 0.0))
    robot = rd.load(rd.Mechanism("odd", links, (joint,)))
    with pytest.raises(rd.UrdfError, match="'world' is the name of the ground"):
        rd.convert(robot, tmp_path / f"odd{suffix}")
    assert not [*tmp_path.iterdir()]


@pytest.mark.parametrize("suffix", [".xml", ".sdf", ".usda"])
def test_shapes_and_moving_bases_are_told(suffix, tmp_path):
    text = """<robot name="r"><link name="a"><visual><geometry><sphere radius="1"/></geometry>
    </visual></link></robot>"""
    lost = rd.convert(rd.load(text, base="moving"), tmp_path / f"r{suffix}").lost
    assert "shapes are left out" in lost
    assert any("how it moves is prescribed" in line for line in lost)


def test_where_joints_stand_is_told_for_urdf(tmp_path):
    robot = rd.load("five_bar", near={"left_drive": 0.5, "right_drive": -0.2})
    lost = rd.convert(robot, tmp_path / "bar.urdf").lost
    assert any("near= of robodyn.load): left_drive 0.5" in line for line in lost)


@pytest.mark.parametrize("suffix", [".sdf", ".usda"])
def test_floating_joints_are_left_out_and_said(suffix, tmp_path):
    """A link that no joint holds is free; what resists it is lost, and said."""
    links = tuple(rd.Link(x, rd.Inertia(1.0, ixx=0.1, iyy=0.1, izz=0.1)) for x in ("base", "bob"))
    joint = rd.Joint("free", "floating", "base", "bob", damping=0.5)
    robot = rd.load(rd.Mechanism("loose", links, (joint,)))
    lost = "\n".join(rd.convert(robot, tmp_path / f"loose{suffix}").lost)
    assert "floating joints, as links are free without a joint, (free) are left out" in lost
    assert re.search(r"damping.*joints.*\(free\) are left out", lost)


def test_the_command(tmp_path, capsys):
    out = tmp_path / "arm.usda"
    assert main(["convert", "arm7", str(out)]) == 0
    assert "as with rotor_model='armature'" in capsys.readouterr().out
    assert main(["info", str(out)]) == 0


def changed(folder, name, value, *, prim="/World/hinge", kind="Float"):
    """A robot whose file has another attribute, and what is warned of."""
    made = stage(folder, units=1.0, up="Z")
    made.DefinePrim("/World/scene", "PhysicsScene")
    attribute = made.GetPrimAtPath(prim).CreateAttribute(name, getattr(Sdf.ValueTypeNames, kind))
    attribute.Set(value)
    made.GetRootLayer().Save()
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        robot = rd.load(folder / "made.usda")
    return robot, "\n".join(str(x.message) for x in caught)


@pytest.mark.parametrize(
    "name, value, kind, said",
    [
        ("physics:gravityMagnitude", 1.62, "Float", r"give gravity=\(0, 0, -1.62\)"),
        ("physics:gravityMagnitude", 0.0, "Float", r"give gravity=\(0, 0, 0\)"),
        ("physics:gravityDirection", (0, 1, 0), "Vector3f", r"give gravity=\(0, 9.81, 0\)"),
        ("physics:gravityDirection", (0, 0, -2), "Vector3f", None),
        ("physics:gravityMagnitude", 9.81, "Float", None),
    ],
)
def test_gravity_of_the_scene_is_told(name, value, kind, said, tmp_path):
    _, found = changed(tmp_path, name, value, kind=kind, prim="/World/scene")
    assert re.search(said, found) if said else not found


def test_gravity_of_the_scene_is_in_units_of_the_stage(tmp_path):
    made = stage(tmp_path, up="Z")  # in centimetres
    UsdPhysics.Scene.Define(made, "/World/scene").CreateGravityMagnitudeAttr(981.0)
    made.GetRootLayer().Save()
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        rd.load(tmp_path / "made.usda")
    assert not any("gravity" in str(x.message) for x in caught)


def test_words_of_physx_are_read_or_told(tmp_path):
    plain, _ = changed(tmp_path, "physxJoint:maxJointVelocity", 3.0)
    at = [0.3], [0.5], [0.0]
    heavy, found = changed(tmp_path, "physxJoint:armature", 0.5)
    assert not found
    close(heavy.mass_matrix(at[0]), plain.mass_matrix(at[0]) + 0.5)
    light, _ = changed(
        tmp_path, "physxRigidBody:disableGravity", True, prim="/World/bob", kind="Bool"
    )
    close(light.bias_forces(at[0], [0.0]), [0.0], least=1.0)
    for name in ("physxJoint:jointFriction", "mjc:frictionloss", "physxMimicJoint:rotX:gearing"):
        assert f"words of simulators ({name}) are not read" in changed(tmp_path, name, 0.5)[1]
        assert not changed(tmp_path, name, 0.0)[1]
    _, found = changed(tmp_path, "physics:kinematicEnabled", True, prim="/World/bob", kind="Bool")
    assert "holds or moves by hand (bob)" in found


def test_masses_that_shapes_give_elsewhere_are_told(tmp_path):
    made = stage(tmp_path, units=1.0, up="Z")
    UsdPhysics.RigidBodyAPI.Apply(UsdGeom.Cube.Define(made, "/World/box").GetPrim())
    UsdPhysics.CollisionAPI.Apply(UsdGeom.Cube.Define(made, "/World/bob/ball").GetPrim())
    weld = UsdPhysics.FixedJoint.Define(made, "/World/weld")
    weld.CreateBody0Rel().SetTargets(["/World/bob"])
    weld.CreateBody1Rel().SetTargets(["/World/box"])
    made.GetRootLayer().Save()
    with pytest.warns(rd.errors.UrdfWarning, match=r"centres of mass \(bob, box\) are not in"):
        rd.load(tmp_path / "made.usda")


@pytest.mark.parametrize("units", [1.0, 0.01])
def test_a_rope_is_no_rod(units, tmp_path):
    """A distance that has no lower bound, which no loop holds; whatever tree it may stand in."""
    made = stage(tmp_path, units=units, up="Z")
    rope = UsdPhysics.DistanceJoint.Define(made, "/World/a_rope")
    rope.CreateBody1Rel().SetTargets(["/World/bob"])
    rope.CreateMaxDistanceAttr(0.8 / units)
    made.GetRootLayer().Save()
    with pytest.raises(rd.UrdfError, match=rf"a_rope.*from -1 to {0.8 / units:g} .*one length"):
        rd.load(tmp_path / "made.usda")
    assert loaded(tmp_path / "made.usda", strict=False).nc == 0
    rope.CreateMinDistanceAttr(0.8 / units)
    made.GetRootLayer().Save()
    (rod,) = rd.load(tmp_path / "made.usda", allow_unphysical=True).loops
    assert rod.constants["distance"] == pytest.approx(0.8)


def test_a_joint_called_as_the_weld_of_the_base(tmp_path):
    scara = rd.load("scara").mechanism
    first, *others = scara.joints
    first = dataclasses.replace(first, name="world_fixed")
    robot = rd.load(dataclasses.replace(scara, joints=(first, *others), actuators=()))
    assert loaded(written(robot, tmp_path)[0]).joint_names == robot.joint_names


def test_small_numbers_that_were_edited_count(tmp_path):
    """The number in full stands for the one beside it while that is its rounding alone."""
    robot = rd.load("double_pendulum")
    joints = tuple(dataclasses.replace(x, damping=1e-7 / 3) for x in robot.mechanism.joints)
    path, _ = written(rd.load(dataclasses.replace(robot.mechanism, joints=joints)), tmp_path)
    made = Usd.Stage.Open(str(path))
    for prim in made.Traverse():
        if prim.GetAttribute("newton:damping"):
            prim.GetAttribute("newton:damping").Set(5e-9)
    made.GetRootLayer().Save()
    damping = {x.damping for x in loaded(path).mechanism.joints if x.nv}
    assert [*damping] == pytest.approx([np.degrees(5e-9)], rel=1e-6)


def test_efforts_of_joints_without_motors_are_told(tmp_path):
    robot = rd.load("scara", actuators={"elbow": rd.Actuator()})
    strong = [x.name for x in robot.mechanism.joints if x.limits and x.limits.effort < np.inf]
    _, lost = written(rd.load(dataclasses.replace(
        robot.mechanism, actuators=(("elbow", rd.Actuator()),), extras=()
    )), tmp_path)  # fmt: skip
    (line,) = (x for x in lost if "limits of effort of joints without motors" in x)
    assert {*re.findall(r"\w+", line.partition("(")[2].partition(")")[0])} == {*strong} - {"elbow"}


def mirrored(made, bob, hinge):
    UsdGeom.Xformable(bob).AddScaleOp().Set(Gf.Vec3f(-1, 1, 1))


def skewed(made, bob, hinge):
    UsdGeom.Xform.Define(made, "/World").AddScaleOp().Set(Gf.Vec3f(1, 3, 1))
    UsdGeom.Xformable(bob).AddRotateXOp().Set(30)


def clipped(made, bob, hinge):
    clips = Usd.ClipsAPI(bob)
    clips.SetClipAssetPaths([Sdf.AssetPath("../outside.usda")])
    clips.SetClipPrimPath("/World/bob")


@pytest.mark.parametrize(
    "change, said",
    [
        (mirrored, "/World/bob: is mirrored"),
        (skewed, "/World/bob: is mirrored, skewed"),
        (clipped, "/World/bob: refers to value clips"),
        (lambda made, bob, hinge: UsdPhysics.SetStageKilogramsPerUnit(made, 0.0), "is 0: a unit"),
        (lambda made, bob, hinge: UsdPhysics.MassAPI(bob).GetMassAttr().Set(float("nan")), "'nan'"),
        (lambda made, bob, hinge: hinge.GetAttribute("physics:axis").Set("W"), "axis is 'W'"),
        (
            lambda made, bob, hinge: UsdPhysics.Joint(hinge).CreateLocalRot1Attr(Gf.Quatf(0)),
            "/World/hinge: physics:localRot1 is a quaternion of length 0",
        ),
        (
            lambda made, bob, hinge: hinge.CreateAttribute(
                "newton:damping", Sdf.ValueTypeNames.String
            ).Set("much"),
            "newton:damping is 'much', expected numbers",
        ),
    ],
)
def test_what_is_no_rigid_body_or_no_number_is_refused(change, said, tmp_path):
    made = stage(tmp_path, units=1.0, up="Z")
    change(made, *(made.GetPrimAtPath(f"/World/{x}") for x in ("bob", "hinge")))
    made.GetRootLayer().Save()
    with pytest.raises(rd.UrdfError) as caught:
        rd.load(tmp_path / "made.usda")
    assert said in str(caught.value)


def test_limits_of_balls_are_told(tmp_path):
    made = stage(tmp_path, units=1.0, up="Z")
    made.RemovePrim("/World/hinge")
    ball = UsdPhysics.SphericalJoint.Define(made, "/World/ball")
    ball.CreateBody1Rel().SetTargets(["/World/bob"])
    made.GetRootLayer().Save()
    assert rd.load(tmp_path / "made.usda").nv == 3
    ball.CreateConeAngle0LimitAttr(30.0)
    made.GetRootLayer().Save()
    with pytest.warns(rd.errors.UrdfWarning, match=r"several freedoms \(ball\) are not read"):
        rd.load(tmp_path / "made.usda")


def test_what_closes_a_loop_cannot_follow(tmp_path):
    path, _ = written(loaded("four_bar"), tmp_path)
    made = Usd.Stage.Open(str(path))
    joints = {x.GetCustomDataByKey("name"): x for x in made.Traverse()}
    relation = joints["rocker_pin"].CreateRelationship("newton:mimicJoint", custom=False)
    relation.SetTargets([joints["crank_drive"].GetPath()])
    made.GetRootLayer().Save()
    with pytest.raises(rd.UrdfError, match=r"rocker_pin.*closes a loop, and cannot follow"):
        rd.load(path)
