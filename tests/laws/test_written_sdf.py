"""What is written as SDF moves, where it is read again and in Drake, as the robot does."""

import dataclasses
import warnings

import numpy as np
import pytest
from support.comparison import close_within
from support.random_mechanisms import awkward_linkage, random_mechanism

import robodyn as rd
from robodyn.cli import main
from robodyn.description import Actuator, Limits, Mimic
from robodyn.joints import joint_kind
from robodyn.urdf.common.drawn import DrawnRobot
from robodyn.urdf.sdf.write import sdf_text

#: Rounding of poses that are multiplied up to the posture that is drawn.
close = close_within(1e-10, least=1e-3)
QUICK = ("four_bar", "crank_slider", "scara", "satellite")


def loaded(source, **options):
    with warnings.catch_warnings(action="ignore", category=rd.errors.UrdfWarning):
        return rd.load(source, **options)


def written(robot, folder):
    conversion = rd.convert(robot, folder / "robot.sdf")
    return conversion.path, conversion.lost


def places(robot, name):
    """Where the speeds of a joint stand."""
    movers = {x.name: joint_kind(x.kind).nv for x in robot.mechanism.movers} | {"floating_base": 6}
    at = 0
    for joint in robot.joint_names:
        if joint == name:
            return slice(at, at + movers[joint])
        at += movers[joint]
    raise KeyError(name)


def check_read_back(robot, path):
    """Accelerations in motion, in the posture that is drawn; forces on all joints."""
    again = loaded(path, base=robot.base, gravity=tuple(robot.gravity), rotor_model="armature")
    assert again.dof == robot.dof
    q, (v, tau) = robot.neutral(), np.random.default_rng(0).normal(size=(2, robot.nv))
    v, order = robot.consistent_velocity(q, v), []
    for name in robot.joint_names:
        other = name if name in again.joint_names else f"{name}_joint"
        if other not in again.joint_names:  # each axis is a hinge of its own
            order += [places(again, f"{name}_{axis}") for axis in ("axis", "axis2")]
        else:
            order.append(places(again, other))
    index = np.concatenate([np.arange(again.nv)[x] for x in order])
    assert len(index) == robot.nv == again.nv
    there = np.zeros((2, again.nv))
    there[:, index] = v, tau
    found = again.forward_dynamics(again.neutral(), *there)[index]
    close(found, robot.forward_dynamics(q, v, tau))


@pytest.mark.parametrize(
    "name",
    [
        pytest.param(x, marks=() if x in QUICK else pytest.mark.slow)
        for x in rd.robots()
        if x
        not in (
            "caster_table",
            "prosthesis",
        )  # other speeds in a plane; a ball joint with damping, which is lost
    ],
)
def test_bundled_robots(name, tmp_path):
    robot = loaded(name, rotor_model="armature")
    check_read_back(robot, written(robot, tmp_path)[0])


@pytest.mark.slow
@pytest.mark.parametrize("name", ["two_feet", "arm7", "satellite"])
def test_robots_on_a_floating_base(name, tmp_path):
    robot = loaded(name, rotor_model="armature", base="floating")
    check_read_back(robot, written(robot, tmp_path)[0])


@pytest.mark.parametrize("seed", range(3))
def test_random_trees(seed, tmp_path):
    rng = np.random.default_rng(seed)
    kinds = ["universal", "helical", "spherical", "prismatic", "revolute", "continuous"]
    rng.shuffle(kinds)
    robot = rd.load(random_mechanism(rng, kinds))
    check_read_back(robot, written(robot, tmp_path)[0])


def test_a_link_without_mass_is_a_frame_of_the_link_that_is_fixed_to_it(tmp_path):
    tree = random_mechanism(np.random.default_rng(2), ["revolute", "fixed", "revolute"])
    joints = (dataclasses.replace(x, parent=f"link{k}") for k, x in enumerate(tree.joints))
    links = (dataclasses.replace(x, inertia=None) if x.name == "link1" else x for x in tree.links)
    robot = rd.load(dataclasses.replace(tree, joints=tuple(joints), links=tuple(links)))
    path, _ = written(robot, tmp_path)
    assert '<frame name="link1" attached_to="link2">' in path.read_text()
    check_read_back(robot, path)


AWAY = """
<sdf version="1.11"><model name="turnstile">
<link name="post"/>
<link name="arm"><pose>0.3 0 1 0 0 0.5</pose></link>
<link name="box"><pose>0.3 1 1 0 0.2 0</pose></link>
<joint name="hinge" type="revolute"><pose>-0.3 0.1 0 0.4 0 0</pose><parent>post</parent>
  <child>arm</child><axis><xyz>0 0 1</xyz></axis></joint>
<joint name="ball" type="ball"><pose>0 -0.2 0 0 0 0.3</pose><parent>hinge</parent>
  <child>box</child></joint>
</model></sdf>
"""


def test_joints_away_from_the_frames_of_their_links_keep_their_names(tmp_path):
    """The frame of a joint is a link of the same name here, and in SDF it has that name anyhow."""
    robot = loaded(AWAY)
    conversion = rd.convert(robot, tmp_path / "robot.sdf")
    assert not any("is called" in line for line in conversion.lost)
    again = loaded(conversion.path)
    assert again.joint_names == robot.joint_names == ("hinge", "ball")
    assert {*again.link_names} == {*robot.link_names, "world"}
    check_read_back(robot, conversion.path)


def test_a_posture_that_is_not_zero(tmp_path):
    """Positions of joints count from the posture that is drawn, limits and springs with them."""
    robot = rd.load("five_bar", near={"left_drive": 0.5, "right_drive": -0.2})
    q = robot.neutral()
    assert abs(q[0]) > 0.1
    path, lost = written(robot, tmp_path)
    again = loaded(path)
    assert any("is at zero where it stands" in line for line in lost)
    at = again.joint_names.index("left_drive")
    close(again.lower_limits[at], robot.lower_limits[0] - q[0])
    v = robot.consistent_velocity(q, [1.0, 0.0, 0.0, 0.0])
    q2 = robot.assemble(robot.integrate(q, 0.1 * v))
    moved = again.neutral()
    for name, k in zip(robot.joint_names, range(4), strict=True):
        moved[again.joint_names.index(name)] = q2[k] - q[k]
    for link in ("left_upper", "right_upper"):
        if link in robot.link_names:
            close(again.frame_pose(moved, link), robot.frame_pose(q2, link))


def test_any_posture_may_be_drawn():
    """Springs, limits, mimics and both axes of a universal joint count from there."""
    rng = np.random.default_rng(3)
    kinds = ["revolute", "prismatic", "universal", "continuous", "helical", "revolute"]
    changes = {
        "joint0": {"stiffness": 5.0, "rest": 0.2, "limits": Limits(-1.0, 1.5)},
        "joint1": {"stiffness": 3.0, "rest": -0.4, "limits": Limits(upper=1.8)},
        "joint5": {"mimic": Mimic("joint0", -0.5, 0.2)},
    }
    plain = random_mechanism(rng, kinds)
    joints = [dataclasses.replace(x, **changes.get(x.name, {})) for x in plain.joints]
    motor = Actuator(-7.0, 0.004, viscous=1e-3, coulomb=1e-2)
    mechanism = dataclasses.replace(
        plain, joints=tuple(joints), actuators=(("joint0", motor), ("joint3", motor))
    )
    robot = rd.load(mechanism, rotor_model="armature")
    q, dq, v, tau = rng.uniform(0.2, 0.9, (4, robot.nq))
    drawn = DrawnRobot(
        mechanism,
        floating=False,
        motors=robot.actuated_joints,
        gravity=robot.gravity,
        positions=robot.joint_positions(q),
        poses={name: robot.frame_pose(q, name) for name in robot.link_names},
    )
    text, _ = sdf_text(drawn)
    again = loaded(text, rotor_model="armature")
    assert again.joint_names == robot.joint_names
    close(again.forward_dynamics(dq, v, tau), robot.forward_dynamics(q + dq, v, tau))
    limits = {x.name: x.limits for x in again.mechanism.joints}
    close([limits["joint0"].lower, limits["joint0"].upper], np.array([-1.0, 1.5]) - q[0])
    close(limits["joint1"].upper, 1.8 - q[1])


def test_followers_and_gears(tmp_path):
    mimicking = rd.load("scara").mechanism
    joint = next(x for x in mimicking.joints if x.name == "elbow")
    follower = dataclasses.replace(joint, mimic=Mimic("shoulder", -0.5, 0.2))
    joints = tuple(follower if x is joint else x for x in mimicking.joints)
    robot = rd.load(dataclasses.replace(mimicking, joints=joints), rotor_model="armature")
    check_read_back(robot, written(robot, tmp_path)[0])


def test_joints_called_as_links_or_as_the_joint_to_the_world(tmp_path):
    """SDF has one list of names: the follower names its leader as it is called there."""
    scara = rd.load("scara").mechanism
    first, second, *others = scara.joints
    first = dataclasses.replace(first, name=first.child)
    second = dataclasses.replace(second, name="world_fixed", mimic=Mimic(first.name, -0.5, 0.2))
    renamed = dict(zip(("shoulder", "elbow"), (first.name, second.name), strict=True))
    motors = tuple((renamed.get(name, name), motor) for name, motor in scara.actuators)
    joints = (first, second, *others)
    robot = rd.load(dataclasses.replace(scara, joints=joints, actuators=motors))
    path, lost = written(robot, tmp_path)
    assert any(f"is called {first.name + '_joint'!r}" in line for line in lost)
    again = loaded(path)
    assert again.dof == robot.dof
    close(again.mass_matrix(again.neutral()), robot.mass_matrix(robot.neutral()))


def test_a_frame_of_the_world(tmp_path):
    """SDF fixes frames to links of the model alone."""
    pendulum = rd.load("double_pendulum").mechanism
    weld = rd.Joint("weld", "fixed", "world", "base", rd.Pose((0.1, 0.2, 0.3), (0.4, 0.0, 0.0)))
    links = rd.Link("world"), *pendulum.links
    robot = rd.load(dataclasses.replace(pendulum, links=links, joints=(weld, *pendulum.joints)))
    path, _ = written(robot, tmp_path)
    again, q = loaded(path), [0.3, 0.4]
    close(again.frame_pose(q, "tip"), robot.frame_pose(q, "tip"))
    close(again.bias_forces(q, [1.0, 2.0]), robot.bias_forces(q, [1.0, 2.0]))


@pytest.mark.parametrize("name", ["a::b", "__model__", " a"])
@pytest.mark.parametrize("what", ["link", "joint"])
def test_names_that_sdf_does_not_have_are_refused(what, name, tmp_path):
    body = rd.Inertia(1.0, ixx=0.1, iyy=0.1, izz=0.1)
    child, hinge = (name, "hinge") if what == "link" else ("arm", name)
    joint = rd.Joint(hinge, "continuous", "base", child)
    robot = rd.load(rd.Mechanism("odd", (rd.Link("base"), rd.Link(child, body)), (joint,)))
    with pytest.raises(rd.UrdfError, match=f"{what} '{name}'.*cannot be written as SDF"):
        rd.convert(robot, tmp_path / "robot.sdf")
    assert not [*tmp_path.iterdir()]


def test_a_joint_called_as_the_world(tmp_path):
    scara = rd.load("scara").mechanism
    first, *others = scara.joints
    first = dataclasses.replace(first, name="world")
    plain = dataclasses.replace(scara, joints=(first, *others), actuators=(), extras=())
    path, lost = written(rd.load(plain), tmp_path)
    assert any("joint 'world' is called 'world_joint'" in line for line in lost)
    assert "world_joint" in loaded(path).joint_names


@pytest.mark.parametrize("closed", [False, True], ids=["tree", "loop"])
@pytest.mark.parametrize(("kind", "parts"), [("cylindrical", "slide turn"), ("planar", "x y turn")])
def test_joints_that_are_written_as_several(kind, parts, closed, tmp_path):
    """Links between them weigh 1e-9 kg. At rest speeds of a plane have the same axes."""
    rng = np.random.default_rng(8)
    robot = rd.load(random_mechanism(rng, ["revolute", kind, "revolute"], damping=0.2))
    joint = robot.mechanism.joints[1]
    if closed:  # the same joint, as one that closes a loop, with its frame elsewhere
        moved = rd.Pose((0.2, 0.1, 0.0), (0.3, 0.0, 0.4))
        loop = rd.Loop(
            "cut", kind, joint.parent, joint.child, X_predecessor=joint.origin, axis=joint.axis,
            damping=joint.damping,
        )  # fmt: skip
        joints = tuple(x for x in robot.mechanism.joints if x is not joint)
        carrier = rd.Joint("free", "floating", robot.mechanism.links[0].name, joint.child, moved)
        mechanism = dataclasses.replace(
            robot.mechanism, joints=(joints[0], carrier, *joints[1:]), loops=(loop,)
        )
        robot = rd.load(mechanism)
    name = "cut" if closed else joint.name
    path, lost = written(robot, tmp_path)
    names = [f"{name}_{part}" for part in parts.split()]
    assert f"joint {name!r} ({kind}) is written as {', '.join(names)}" in lost
    again = loaded(path)
    assert again.dof == robot.dof
    rest = np.zeros(robot.nv)
    ours = robot.forward_dynamics(q := robot.neutral(), rest, rest)
    theirs = again.forward_dynamics(p := again.neutral(), np.zeros(again.nv), np.zeros(again.nv))
    for link in robot.link_names:
        np.testing.assert_allclose(
            again.frame_acceleration(p, np.zeros(again.nv), theirs, link),
            robot.frame_acceleration(q, rest, ours, link), atol=1e-6,
        )  # fmt: skip


def test_a_table_on_a_plane_can_be_written(tmp_path):
    """Whose parts have names of their own, where others have theirs."""
    table = rd.load("caster_table").mechanism
    planar, *others = sorted(table.joints, key=lambda x: x.kind != "planar")
    others[0] = dataclasses.replace(others[0], name=f"{planar.name}_x")
    renamed = dataclasses.replace(table, joints=(planar, *others), actuators=(), extras=())
    path, lost = written(rd.load(renamed), tmp_path)
    assert f"joint {planar.name!r} (planar) is written as {planar.name}_x_, " in " ".join(lost)
    assert loaded(path).dof == rd.load("caster_table").dof


def test_what_has_no_word_is_refused(tmp_path):
    def screw(q):
        c, s = rd.cos(q[0]), rd.sin(q[0])
        return [[c, -s, 0, 0], [s, c, 0, 0], [0, 0, 1, 0.01 * q[0]], [0, 0, 0, 1]]

    robot = rd.load("double_pendulum", joint_maps={"elbow": rd.JointMap(1, screw)})
    with pytest.raises(rd.UrdfError, match="of kind 'map'"):
        rd.convert(robot, tmp_path / "table.sdf")
    assert not [*tmp_path.iterdir()]


def test_damping_of_balls_and_a_base_without_mass_are_told(tmp_path):
    _, lost = written(rd.load("prosthesis"), tmp_path)
    assert any("damping and friction of ball" in line and "shoulder" in line for line in lost)
    floating = rd.load("puma560", base="floating")
    name = floating.mechanism.links[0].name
    assert any("1e-09 kg" in x and name in x for x in written(floating, tmp_path)[1])
    assert not any("1e-09 kg" in x for x in written(rd.load("puma560"), tmp_path)[1])


def test_a_rod_closes_a_loop(tmp_path):
    """As Drake's distance constraint, between points away from the origins of both links."""
    tree = rd.load("double_pendulum").mechanism
    rod = rd.Loop("rod", "distance", tree.links[0].name, "lower", rd.Pose((0.3, 0.0, -0.2)),
                  rd.Pose((0.0, 0.0, -0.9)), distance=1.9)  # fmt: skip
    robot = rd.load(dataclasses.replace(tree, loops=(rod,)), rotor_model="armature")
    path, _ = written(robot, tmp_path)
    again = loaded(path)
    (there,) = again.mechanism.loops
    assert (there.kind, there.distance) == ("distance", 1.9)
    close(there.X_predecessor.xyz, (0.3, 0.0, -0.2))
    close(there.X_successor.xyz, (0.0, 0.0, -0.9))
    check_read_back(robot, path)


@pytest.mark.parametrize("start", [0.0, 0.4])
def test_couplings_are_gearboxes(start, tmp_path):
    """Two hinges of one link; in a posture that is not zero, they count from there."""
    body = rd.Inertia(1.0, rd.Pose((0.1, 0.0, -0.2)), ixx=0.02, iyy=0.03, izz=0.04)
    links = rd.Link("base"), rd.Link("one", body), rd.Link("two", body)
    joints = tuple(
        rd.Joint(f"to_{x}", "continuous", "base", x, rd.Pose((k, 0, 0)), axis)
        for k, (x, axis) in enumerate({"one": (0, 1, 0), "two": (0, -1, 0)}.items())
    )
    gear = rd.Coupling("gear", "one", "two", ratio=-2.5, offset=start)
    robot = rd.load(rd.Mechanism("geared", links, joints, couplings=(gear,)))
    path, _ = written(robot, tmp_path)
    again = loaded(path)
    assert (again.dof, robot.dof) == (1, 1)
    q = 0.3
    there = again.joint_positions([q])
    at = robot.joint_positions(robot.neutral())
    for name, x in robot.joint_positions([q]).items():
        close(there[name], x - at[name])
    close(again.mass_matrix([q])[0, 0], robot.mass_matrix([q])[0, 0])
    close(again.bias_forces([q], [0.7]), robot.bias_forces([q], [0.7]))


def test_joints_that_follow_within_loops(tmp_path):
    """The tree keeps them: what closes a loop has no coordinate, and cannot follow."""
    mechanism, q = awkward_linkage(np.random.default_rng(3))
    robot = rd.load(mechanism, rotor_model="armature", near=q)
    path, _ = written(robot, tmp_path)
    again = loaded(path)
    assert again.dof == robot.dof
    assert {"joint0", "joint6"} <= {joint.name for joint in again.mechanism.joints}


def test_the_command(tmp_path, capsys):
    out = tmp_path / "bar.sdf"
    assert main(["convert", "pan_tilt", str(out)]) == 0
    assert "axes and mounts of rotors (tilt) are left out" in capsys.readouterr().out
    assert main(["check", str(out)]) == 0


def test_drake_has_the_same_mass_matrix_and_gravity(tmp_path):
    pytest.importorskip("pydrake")
    from pydrake.multibody import parsing, plant as plant_module

    for name in ("arm7", "scara", "satellite"):
        robot = loaded(name)
        path, _ = written(robot, tmp_path)
        plant = plant_module.MultibodyPlant(0.0)
        parsing.Parser(plant).AddModels(str(path))
        plant.Finalize()
        context = plant.CreateDefaultContext()
        q = robot.random(0)
        plant.SetPositions(context, q)
        bare = loaded(path, rotor_model="armature").with_(actuators={})
        close(plant.CalcMassMatrix(context), bare.mass_matrix(q))
        close(-plant.CalcGravityGeneralizedForces(context), bare.gravity_forces(q))
