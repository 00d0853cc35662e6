"""What is written as MJCF moves in MuJoCo, and in what reads it, as the robot does."""

import dataclasses
import warnings

import numpy as np
import pytest
from support.bundled import bundled
from support.comparison import close_within
from support.random_mechanisms import awkward_linkage, awkward_mechanism, random_mechanism

import robodyn as rd
from robodyn.cli import main
from robodyn.description import Mimic
from robodyn.description.traced_explicit_loop import Linear, Polynomial, TracedExplicitLoop

mujoco = pytest.importorskip("mujoco")
from support.mujoco_twin import Twin  # noqa: E402

#: Rounding of other algorithms on the same numbers, relative to the largest entry of a result.
close = close_within(1e-10, least=1e-3)
#: Bundled robots that are quickly compiled; all others are slow.
QUICK = ("four_bar", "crank_slider", "scara", "prosthesis")
LINKAGES = [name for name in rd.robots() if bundled(name).nc]


def written(robot, folder, name="robot.xml"):
    """The text, and what is lost."""
    conversion = rd.convert(robot, folder / name)
    return conversion.path.read_text(), conversion.lost


def loaded(source, **options):
    with warnings.catch_warnings(action="ignore", category=rd.errors.UrdfWarning):
        return rd.load(source, **options)


def exact_accelerations(text, forces):
    """Of MuJoCo's joints at rest in the posture drawn, by equalities without softness."""
    twin = Twin(text)
    mujoco.mj_forward(twin.model, twin.data)
    J, force = twin.equality_rows, -twin.bias
    single = {}
    for name, _, _, dof in twin._joints():
        force[dof] += forces.get(name, 0.0)
        single[name] = dof
    if len(J):
        assert np.abs(twin.gaps).max() < 1e-9
    rows = len(J)
    system = np.block([[twin.mass_matrix, -J.T], [J, np.zeros((rows, rows))]])
    found = np.linalg.lstsq(system, np.r_[force, np.zeros(rows)], rcond=1e-11)[0]
    return {name: found[dof] for name, dof in single.items()}


def by_joint(robot, vector):
    """Entries of joints with one freedom."""
    movers = {x.name: x for x in robot.mechanism.movers}
    found, at = {}, 0
    for name in robot.joint_names:
        count = movers[name].nv if name in movers else 6
        if count == 1:
            found[name] = vector[at]
        at += count
    assert at == robot.nv
    return found


def check_in_mujoco(robot, text):
    """MuJoCo's accelerations at rest are those of the robot, forces on all joints included."""
    q, v = robot.neutral(), np.zeros(robot.nv)
    tau = np.random.default_rng(0).normal(size=robot.nv)
    forces = by_joint(robot, tau)
    at, tau = 0, tau.copy()
    movers = {x.name: x for x in robot.mechanism.movers}
    for name in robot.joint_names:
        count = movers[name].nv if name in movers else 6
        if count > 1:
            tau[at : at + count] = 0.0
        at += count
    there = exact_accelerations(text, forces)
    ours = by_joint(robot, robot.forward_dynamics(q, v, tau))
    names = sorted(ours.keys() & there.keys())
    assert names
    close([there[x] for x in names], [ours[x] for x in names])


def check_read_back(robot, text):
    """What is read has the same dynamics in motion, where coordinates are the same."""
    again = loaded(text, gravity=tuple(robot.gravity))
    assert again.dof == robot.dof
    rng = np.random.default_rng(1)
    if not (robot.nq == robot.nv == again.nv == len(robot.joint_names) == len(again.joint_names)):
        return  # joints of several freedoms are written as several
    order = [again.joint_names.index(name) for name in robot.joint_names]
    q, (v, tau) = robot.neutral(), rng.normal(size=(2, robot.nv))
    q = q if robot.nc else robot.random(rng)
    there = np.zeros((3, again.nv))
    there[:, order] = q, robot.consistent_velocity(q, v), tau
    expected = robot.forward_dynamics(*there[:, order])
    close(again.forward_dynamics(*there)[order], expected)


@pytest.mark.parametrize(
    "name",
    [pytest.param(x, marks=() if x in QUICK else pytest.mark.slow) for x in rd.robots()],
)
def test_bundled_robots(name, tmp_path):
    robot = loaded(name, rotor_model="armature")
    text, _ = written(robot, tmp_path)
    check_in_mujoco(robot, text)
    check_read_back(robot, text)


@pytest.mark.slow
@pytest.mark.parametrize("name", ["four_bar", "two_feet", "arm7", "stewart"])
def test_robots_on_a_floating_base(name, tmp_path):
    robot = loaded(name, rotor_model="armature", base="floating")
    text, _ = written(robot, tmp_path)
    check_in_mujoco(robot, text)


@pytest.mark.parametrize("seed", range(3))
def test_random_trees(seed, tmp_path):
    rng = np.random.default_rng(seed)
    kinds = ["planar", "universal", "helical", "cylindrical", "spherical", "prismatic", "revolute"]
    rng.shuffle(kinds)
    robot = rd.load(random_mechanism(rng, kinds, damping=0.3))
    check_in_mujoco(robot, written(robot, tmp_path)[0])


def test_what_is_easily_forgotten(tmp_path):
    """Motors with gears backwards, joints followed backwards, limits on one side, armatures."""
    robot = rd.load(awkward_mechanism(np.random.default_rng(5)), rotor_model="armature")
    check_in_mujoco(robot, written(robot, tmp_path)[0])


def test_a_closed_chain_with_motors_and_a_mimic(tmp_path):
    mechanism, q = awkward_linkage(np.random.default_rng(7))
    robot = rd.load(mechanism, rotor_model="armature", near=q)
    check_in_mujoco(robot, written(robot, tmp_path)[0])


@pytest.mark.parametrize(
    "kind", ["prismatic", "cylindrical", "universal", "planar", "helical", "distance", "fixed"]
)
def test_loops_closed_by_joints_of_any_kind(kind, tmp_path):
    """A chain of four joints whose end is joined to the base again."""
    rng = np.random.default_rng(3)
    kinds = ["spherical", "universal", "revolute", "spherical", "revolute"]
    tree = random_mechanism(rng, kinds)
    joints = tuple(
        dataclasses.replace(x, parent=f"link{k}", child=f"link{k + 1}")
        for k, x in enumerate(tree.joints)
    )
    chain = dataclasses.replace(tree, joints=joints)
    free = rd.load(chain)
    X = free.frame_pose(free.neutral(), f"link{len(kinds)}")
    there = rd.Pose.from_matrix(X)
    more = {"helical": {"pitch": 0.2}, "distance": {"distance": 0.7}}.get(kind, {})
    if kind == "distance":
        there = rd.Pose((X[0, 3] + 0.7, X[1, 3], X[2, 3]))
    ends, poses = ("link0", f"link{len(kinds)}"), (there, rd.Pose())
    if kind in ("prismatic", "universal", "planar"):  # seen from the chain
        ends, poses = ends[::-1], poses[::-1]
    loop = rd.Loop("loop", kind, *ends, *poses, **more)
    away = free.integrate(free.neutral(), 0.3 * rng.normal(size=free.nv))
    robot = rd.load(dataclasses.replace(chain, loops=(loop,)), near=away)
    text, lost = written(robot, tmp_path)
    check_in_mujoco(robot, text)
    split = kind not in ("fixed", "distance")
    assert any("one half of link" in line for line in lost) == split


def test_springs_weights_and_coupled_motors(tmp_path):
    parallelogram = rd.Transmission.belts("belts", ("shoulder", "elbow"))
    motors = {x: rd.Actuator(3.0, 0.01, viscous=0.2) for x in ("shoulder", "elbow")}
    robot = loaded(
        "double_pendulum",
        springs=[
            rd.PointSpring(
                "world", (0.3, 0, 0), "lower", (0, 0, -1), stiffness=40, rest_length=0.5, damping=2
            ),
            rd.WeightCompensation("upper", robot_center("upper"), mass=0.4),
        ],
        actuators=motors,
        transmissions=[parallelogram],
        rotor_model="armature",
    )
    text, _ = written(robot, tmp_path)
    check_in_mujoco(robot, text)
    again = loaded(text)
    q, v, tau = np.random.default_rng(0).normal(size=(3, 2))
    there = again.forward_dynamics(
        again.assemble(_padded(again, q)), _padded(again, 0 * v), _padded(again, tau)
    )
    close(there[:2], robot.forward_dynamics(q, 0 * v, tau))


def robot_center(link):
    return next(
        x.inertia.origin.xyz for x in rd.load("double_pendulum").mechanism.links if x.name == link
    )


def _padded(robot, x):
    return np.concatenate([x, np.zeros(robot.nv - len(x))])


def test_a_link_without_mass_is_a_site_or_passed_over_or_said(tmp_path):
    text, lost = written(rd.load("scara"), tmp_path)
    model = mujoco.MjModel.from_xml_string(text)
    assert model.nsite
    floating = rd.load("puma560", base="floating")
    base = floating.mechanism.links[0]
    assert base.inertia is None
    _, lost = written(floating, tmp_path)
    assert any("1e-09 kg" in line and base.name in line for line in lost)


def test_joints_that_follow_others(tmp_path):
    """By a polynomial, and as a sum; the reader finds the same laws."""
    three = rd.load("scara").mechanism
    curve, total = Polynomial((0.1, 0.3, -0.2, 0.05)), Linear((0.5, -1.0), 0.02)
    laws = TracedExplicitLoop.of_curve("elbow", ("shoulder",), curve)
    sums = TracedExplicitLoop.of_curve("spindle", ("shoulder", "lift"), total)
    robot = rd.load(dataclasses.replace(three, followers=(laws, sums)), rotor_model="armature")
    text, _ = written(robot, tmp_path)
    again = loaded(text)
    q, v = np.array([0.3, 0.02]), np.array([0.7, -0.2])
    assert again.joint_names[:2] == robot.joint_names
    for name, position in robot.joint_positions(q).items():
        close(again.joint_positions(q)[name], position)
    close(again.mass_matrix(q), robot.mass_matrix(q))
    close(again.bias_forces(q, v), robot.bias_forces(q, v))


def test_motors_of_joints_that_follow_others_stay_there(tmp_path):
    three = rd.load("scara").mechanism
    joints = [
        dataclasses.replace(x, mimic=Mimic("shoulder", -2.0, 0.1)) if x.name == "elbow" else x
        for x in three.joints
    ]
    law = TracedExplicitLoop.of_curve("spindle", ("shoulder",), Polynomial((0.1, 0.3, -0.2)))
    motors = tuple((x, rd.Actuator(-3.0, torque_limit=1.5, name=x)) for x in ("elbow", "spindle"))
    made = dataclasses.replace(three, joints=tuple(joints), followers=(law,), actuators=motors)
    robot = rd.load(made)
    twin = Twin(written(robot, tmp_path)[0])
    assert twin.robot.actuated_joints == robot.actuated_joints == ("elbow", "spindle")
    assert twin.robot.mechanism.actuators == robot.mechanism.actuators
    q = np.array([0.3, 0.02])
    T = twin.speeds_of(q, np.eye(2))
    twin.at(q, np.zeros(2))
    twin.data.ctrl[:] = 1.0, -0.4
    twin.model.opt.disableflags &= ~int(mujoco.mjtDisableBit.mjDSBL_ACTUATION)
    mujoco.mj_fwdActuation(twin.model, twin.data)
    felt = robot.actuation_matrix(q) @ (-3.0 * twin.data.ctrl)
    close(T.T @ twin.data.qfrc_actuator, felt)
    close(twin.robot.actuation_matrix(q), robot.actuation_matrix(q))


@pytest.mark.skipif(not hasattr(mujoco.mjtGain, "mjGAIN_DCMOTOR"), reason="an older mujoco")
@pytest.mark.parametrize("elastic", [None, rd.Elastic(50.0, 0.1)])
@pytest.mark.parametrize("voltage", [None, 24.0])
def test_motors_that_are_commanded_by_voltage(voltage, elastic, tmp_path):
    """They reach the same state and current in half a second; USD has a drive for each."""
    motor = rd.Motor(0.05, 0.8, inductance=4e-3, voltage=voltage)
    drive = rd.Actuator(-20.0, 1e-4, motor=motor, command="voltage", elastic=elastic)
    robot = loaded("double_pendulum", actuators={"elbow": drive}, rotor_model="armature")
    text, lost = written(robot, tmp_path)
    assert any("elastic gears" in line for line in lost) == (elastic is not None)
    assert not any("electric motors" in line for line in lost)
    assert "PhysicsDriveAPI" in written(robot, tmp_path, "robot.usda")[0]
    if elastic is not None:
        return
    model = mujoco.MjModel.from_xml_string(text)
    data = mujoco.MjData(model)
    model.opt.timestep, data.ctrl[:] = 1e-4, 6.0
    for _ in range(5000):
        mujoco.mj_step(model, data)
    run = rd.simulate(
        robot, lambda t, q, v: [0.0, 0.0, 6.0], duration=0.5, step=1e-4, limits="ignore"
    )
    np.testing.assert_allclose(run.q[-1, :2], data.qpos, atol=2e-3)
    np.testing.assert_allclose(run.v[-1, 2], data.act[0], rtol=5e-3)
    again = dict(loaded(text).mechanism.actuators)["elbow"]
    assert (again.gear_ratio, again.motor, again.command) == (-20.0, motor, "voltage")


def test_names_that_parts_of_others_would_take(tmp_path):
    """The parts of the universal joint `u` are `u_1` and `u_2`, and `u_1` is there."""
    rng = np.random.default_rng(2)
    mechanism = random_mechanism(rng, ["universal", "revolute"])
    joints = tuple(
        dataclasses.replace(joint, name=name)
        for joint, name in zip(mechanism.joints, ("u", "u_1"), strict=True)
    )
    robot = rd.load(dataclasses.replace(mechanism, joints=joints))
    check_in_mujoco(robot, written(robot, tmp_path)[0])


def test_weights_that_one_link_carries(tmp_path):
    """All of them, by both halves of a link that a damped loop cuts in two."""
    four_bar = rd.load("four_bar").mechanism
    damped = tuple(dataclasses.replace(x, damping=0.3) for x in four_bar.joints)
    masses = 0.4, 0.3
    weights = [
        rd.WeightCompensation(link.name, link.inertia.origin.xyz, mass=mass)
        for link in four_bar.links
        if link.inertia is not None
        for mass in masses
    ]
    robot = loaded(dataclasses.replace(four_bar, joints=damped), springs=weights)
    text, lost = written(robot, tmp_path)
    assert any("one half of link" in line for line in lost)
    check_in_mujoco(robot, text)


def test_a_loop_between_the_base_and_a_frame_without_mass(tmp_path):
    """The link that the frame is fixed to is cut in two."""
    four_bar = rd.load("four_bar").mechanism
    (loop,) = rd.load(four_bar).loops
    cut = next(x for x in four_bar.joints if x.name == loop.name)
    assert next(x for x in four_bar.links if x.name == cut.child).inertia is None
    damped = tuple(dataclasses.replace(x, damping=0.3) for x in four_bar.joints)
    robot = loaded(
        dataclasses.replace(four_bar, joints=damped), root=cut.parent, rotor_model="armature"
    )
    text, lost = written(robot, tmp_path)
    assert any("one half of link" in line for line in lost)
    check_in_mujoco(robot, text)


def test_limits_of_effort_of_zero_are_left_out(tmp_path):
    """Many files have them where nobody knew the effort; MuJoCo refuses a range without width."""
    scara = rd.load("scara").mechanism
    joints = tuple(
        dataclasses.replace(x, limits=x.limits and dataclasses.replace(x.limits, effort=0.0))
        for x in scara.joints
    )
    text, lost = written(loaded(dataclasses.replace(scara, joints=joints)), tmp_path)
    assert mujoco.MjModel.from_xml_string(text).nv == rd.load("scara").nv
    assert any("limits of effort of zero" in line for line in lost)


@pytest.mark.parametrize("limits", [rd.Limits(lower=-0.4), rd.Limits(upper=0.3)])
def test_a_limit_on_one_side_stays_one(limits, tmp_path):
    """MuJoCo has both, the other one far away; postures are not drawn from there."""
    scara = rd.load("scara").mechanism
    joints = tuple(dataclasses.replace(x, limits=limits) if x.nv else x for x in scara.joints)
    again = loaded(written(loaded(dataclasses.replace(scara, joints=joints)), tmp_path)[0])
    assert np.array_equal(again.lower_limits, np.full(4, limits.lower))
    assert np.array_equal(again.upper_limits, np.full(4, limits.upper))
    assert np.abs(again.random(0)).max() < 10.0


def test_ranges_without_width_are_left_out(tmp_path):
    """Of a joint whose limits are one position, and of a motor that has no torque."""
    scara = rd.load("scara", actuators={"elbow": rd.Actuator(torque_limit=0.0)}).mechanism
    held = rd.Limits(lower=0.2, upper=0.2)
    joints = tuple(dataclasses.replace(x, limits=held) if x.nv else x for x in scara.joints)
    text, lost = written(loaded(dataclasses.replace(scara, joints=joints)), tmp_path)
    assert mujoco.MjModel.from_xml_string(text).nv == rd.load("scara").nv
    for what in ("limits of effort of zero", "limits without a range between them"):
        assert any(what in line for line in lost)


@pytest.mark.parametrize("values", [{"damping": 0.5}, {"armature": 0.7}, {"friction": 0.3}])
def test_what_resists_a_free_body_is_kept(values, tmp_path):
    body = rd.Inertia(1.0, rd.Pose((0.1, -0.05, 0.02)), ixx=0.1, iyy=0.12, izz=0.15)
    free = rd.Joint("free", "floating", "world", "bob", **values)
    links = rd.Link("world"), rd.Link("bob", body)
    robot = rd.load(rd.Mechanism("flying", links, (free,)))
    text, lost = written(robot, tmp_path)
    model = mujoco.MjModel.from_xml_string(text)
    (name, value) = next(iter(values.items()))
    found = getattr(model, f"dof_{name}" + ("loss" if name == "friction" else ""))
    assert (found == value).all()
    assert any("do not turn with it" in line for line in lost) == ("friction" in values)
    check_read_back(robot, text)
    q, v = robot.neutral(), np.random.default_rng(0).normal(size=6)
    close(loaded(text).forward_dynamics(q, v, 0.0 * v), robot.forward_dynamics(q, v, 0.0 * v))


def test_dry_friction_along_axes_that_turn_is_told(tmp_path):
    """Speeds of a planar joint are along axes of the child, those of two slides are not."""
    table = rd.load("caster_table").mechanism
    rough = [dataclasses.replace(x, friction=0.3 * (x.kind == "planar")) for x in table.joints]
    _, lost = written(loaded(dataclasses.replace(table, joints=tuple(rough))), tmp_path)
    assert any("dry friction of joint 'table_motion' (planar)" in line for line in lost)


def test_links_without_mass_between_joints_are_told(tmp_path):
    """The spring keeps the joint in the tree, and the frame that it moves has no mass."""
    robot = rd.load("four_bar", springs={"rocker_pin": (30.0, 0.2)}, rotor_model="armature")
    text, lost = written(robot, tmp_path)
    left = {*robot.link_names} - {*loaded(text).frame_names}
    assert left == {"rocker_end"}
    assert any("between two joints (rocker_end) are left out" in line for line in lost)


@pytest.mark.parametrize("kinds", [["revolute"] * 8, ["spherical", "revolute"], ["universal"] * 4])
def test_links_without_mass_where_one_body_cannot_have_all_joints(kinds, tmp_path):
    """MuJoCo's bodies have six degrees of freedom at most, and no rotation after a ball."""
    tree = random_mechanism(np.random.default_rng(5), kinds)
    joints = [dataclasses.replace(x, parent=f"link{k}") for k, x in enumerate(tree.joints)]
    last = f"link{len(kinds)}"
    links = [x if x.name == last else dataclasses.replace(x, inertia=None) for x in tree.links]
    mechanism = dataclasses.replace(tree, links=tuple(links), joints=tuple(joints))
    robot = rd.load(mechanism, allow_unphysical=True)
    text, lost = written(robot, tmp_path)
    model = mujoco.MjModel.from_xml_string(text)
    assert model.nv == robot.nv
    assert any("have 1e-09 kg" in line for line in lost)


def test_bodies_that_cannot_be_are_refused(tmp_path):
    link = rd.Link("bob", rd.Inertia(1.0, ixx=1.0, iyy=1.0, izz=2.5))
    hinge = rd.Joint("hinge", "continuous", "base", "bob")
    thin = rd.Mechanism("thin", (rd.Link("base"), link), (hinge,))
    robot = loaded(thin, allow_unphysical=True)
    with pytest.raises(rd.UrdfError, match=r"link 'bob'.*no distribution of mass"):
        rd.convert(robot, tmp_path / "thin.xml")


@pytest.mark.slow
@pytest.mark.parametrize("name", LINKAGES)
def test_loops_stay_closed_in_a_second_of_free_motion(name, tmp_path):
    text, _ = written(loaded(name), tmp_path)
    model = mujoco.MjModel.from_xml_string(text)
    data = mujoco.MjData(model)
    for step in range(1000):
        mujoco.mj_step(model, data)
        rows = data.efc_type == int(mujoco.mjtConstraint.mjCNSTR_EQUALITY)
        gap = np.abs(data.efc_pos[rows]).max(initial=0.0)
        assert gap < (1e-9 if not step else 1e-3)


@pytest.mark.slow
@pytest.mark.parametrize("name", ["four_bar", "delta", "palletizer", "two_feet"])
def test_motions_in_mujoco_are_those_of_simulate(name, tmp_path):
    """Without dry friction, which both smooth in their own ways; loops are held softly there."""
    base = "floating" if name == "two_feet" else "fixed"
    mechanism = loaded(name).mechanism
    smooth = tuple(dataclasses.replace(x, friction=0.0) for x in mechanism.joints)
    geared = tuple((x, dataclasses.replace(m, coulomb=0.0)) for x, m in mechanism.actuators)
    mechanism = dataclasses.replace(mechanism, joints=smooth, actuators=geared)
    robot = loaded(mechanism, rotor_model="armature", base=base)
    twin = Twin(written(robot, tmp_path)[0])
    q, v = robot.neutral(), np.zeros(robot.nv)
    if base == "floating":  # it falls as one body where nothing moves
        v = robot.consistent_velocity(q, 0.3 * np.random.default_rng(2).normal(size=robot.nv))
    links = [x for x in robot.link_names if mujoco.mj_name2id(twin.model, 1, x) > 0]
    rows = [twin.robot.frame_jacobian(twin.robot.neutral(), x, axes="world") for x in links]
    twists = [robot.frame_twist(q, v, x, axes="world") for x in links]
    speeds = np.linalg.lstsq(np.vstack(rows), np.concatenate(twists), rcond=1e-9)[0]
    twin.at(twin.robot.neutral(), speeds)
    model, data = twin.model, twin.data
    model.opt.timestep = 2e-4
    run = rd.simulate(robot, q0=q, v0=v, duration=0.4, step=1e-3, limits="ignore")
    before = data.qvel.copy()
    for step in range(1, 2001):
        mujoco.mj_step(model, data)
        if step == 1:  # it does not jump: what 0.2 ms of the first acceleration give
            largest = np.abs(robot.forward_dynamics(q, v, np.zeros(robot.nv))).max()
            assert np.abs(data.qvel - before).max() < 2.0 * largest * model.opt.timestep
        if step % 500 == 0:
            mujoco.mj_kinematics(model, data)
            there = run.q[step // 5]
            for link in links:
                away = data.body(link).xpos - robot.frame_pose(there, link)[:3, 3]
                assert np.abs(away).max() < 3e-3, (link, step)
            assert np.abs(twin.gaps).max() < 1e-3


def all_sensors(rng, robot, links, joint):
    """Of every kind that MuJoCo has, between two links, at turned frames; and some of others."""

    def frame(link):
        X = np.eye(4)
        Q = np.linalg.qr(rng.normal(size=(3, 3)))[0]
        X[:3, :3], X[:3, 3] = Q * np.linalg.det(Q), rng.normal(size=3)
        return link, X

    a, b = map(frame, links)
    kinds = ("position", "orientation", "velocity", "angular_velocity")
    sensors = [rd.Sensor(kind, at=a, name=f"{kind}_0") for kind in (*kinds, "acceleration")]
    sensors += [rd.Sensor(kind, at=a, relative_to=b, name=f"{kind}_1") for kind in kinds]
    still = {"relative_to": frame("world")}
    sensors += [rd.Sensor(kind, at=a, **still, name=f"{kind}_2") for kind in kinds]
    own = {"at": b, "axes": "own"}
    sensors += [
        rd.Sensor(kind, **own, name=f"{kind}_3") for kind in ("velocity", "angular_velocity")
    ]
    kinds = "distance", "distance_rate"
    sensors += [rd.Sensor(kind, at=a, relative_to=b, name=kind) for kind in kinds]
    kinds = "imu", "angular_acceleration"
    sensors += [rd.Sensor(kind, at=a, name=kind) for kind in kinds]
    if joint:
        sensors += [rd.Sensor("wrench", joint=joint, name=f"wrench of {joint}")]
    kinds = "center_of_mass", "kinetic_energy", "potential_energy"
    return sensors + [rd.Sensor(kind, name=kind) for kind in kinds]


def check_sensors(robot, folder, rng):
    """What MuJoCo's sensors show in motion, and which are said to be left out."""
    text, lost = written(robot, folder)
    model = mujoco.MjModel.from_xml_string(text)
    data = mujoco.MjData(model)
    q = robot.assemble(robot.neutral()) if robot.nc else robot.random(rng)
    v, a = rng.normal(size=(2, robot.nv))
    v = robot.consistent_velocity(q, v) if robot.nc else v
    if robot.nc:
        a = robot.forward_dynamics(q, v, a)
    for name in robot.joint_names:
        joint, own = model.joint(name), robot.joints[name]
        data.qpos[joint.qposadr], data.qvel[joint.dofadr] = q[own.q], v[own.v]
        data.qacc[joint.dofadr] = a[own.v]
    mujoco.mj_inverse(model, data)
    there = {model.sensor(k).name: data.sensor(k).data.copy() for k in range(model.nsensor)}
    said = next((line for line in lost if line.startswith("sensors (")), "()")
    left_out = said[said.index("(") + 1 : said.index(")")].split(", ")
    for name, shown in robot.measure(q, v, a).items():
        if name in left_out:
            continue
        parts = {
            "orientation": [f"{name}_{x}" for x in "xyz"],
            "imu": [f"{name}_accelerometer", f"{name}_gyro"],
            "wrench": [f"{name}_force", f"{name}_torque"],
        }.get(next(x.kind for x in robot.sensors if x.name == name), [name])
        found = np.concatenate([there.pop(part) for part in parts])
        if len(found) == 9:
            found = found.reshape(3, 3).T.ravel()
        if name == "acceleration_0":
            found += robot.gravity
        np.testing.assert_allclose(
            found, shown, atol=1e-9 * max(1.0, np.abs(shown).max()), err_msg=name
        )
    assert not there
    return lost


def test_sensors_show_what_they_show_here(tmp_path):
    rng = np.random.default_rng(7)
    robot = rd.load(random_mechanism(rng, ["revolute", "prismatic", "revolute"]))
    links, joints = robot.link_names, robot.joint_names
    own = all_sensors(rng, robot, (links[-1], links[1]), joints[1])
    pairs = {"at": links[-1], "relative_to": links[1]}
    others = [
        rd.Sensor("turn", **pairs, name="turned"),
        rd.Sensor("acceleration", **pairs, name="seen"),
        rd.Sensor("position", at=links[-1], axes="own", name="own"),
        rd.Sensor("velocity", **pairs, axes="own", name="riding"),
        rd.Sensor("momentum", name="moved"),
        rd.Sensor("wrench", joint="base", name="ground"),
        rd.Sensor("kinetic_energy", bodies=links[-1:], name="one"),
        rd.Sensor(lambda q, v, a: [q[0]], joint=joints[0], name="law"),
    ]
    lost = check_sensors(robot.with_(sensors=own), tmp_path, rng)
    assert "sensors (center_of_mass, potential_energy) are left out" in lost  # the base has mass
    assert any("acceleration less gravity" in line for line in lost)
    _, lost = written(robot.with_(sensors=[own[0], *others]), tmp_path)
    assert "sensors (turned, seen, own, riding, moved, ground, one, law) are left out" in lost
    with pytest.warns(rd.errors.UrdfWarning, match=r"left out: 1 sensors"):
        rd.load(tmp_path / "robot.xml")
    _, lost = written(robot.with_(sensors=own[:2]), tmp_path, "robot.sdf")
    assert "sensors (position_0, orientation_0) are left out" in lost


@pytest.mark.slow
@pytest.mark.parametrize("name", ["puma560", "palletizer", "four_bar"])
def test_sensors_of_bundled_robots(name, tmp_path):
    rng = np.random.default_rng(3)
    robot = loaded(name, rotor_model="armature")
    links = robot.link_names[-1], robot.link_names[1]
    joint = None if robot.nc else robot.joint_names[-1]  # MuJoCo's loops are soft
    check_sensors(robot.with_(sensors=all_sensors(rng, robot, links, joint)), tmp_path, rng)


def test_a_wrench_is_given_in_a_frame_that_is_fixed_to_the_child(tmp_path):
    """Such as a flange without mass; not in one behind a joint."""
    rng = np.random.default_rng(4)
    robot = loaded("double_pendulum")
    X = np.array([[0.0, 1, 0, 0.1], [-1, 0, 0, 0.2], [0, 0, 1, 0.3], [0, 0, 0, 1]])
    robot = robot.with_(frames={"cell": ("upper", X)})
    sensors = [
        rd.Sensor("wrench", joint="shoulder", at="cell", name="held"),
        rd.Sensor("wrench", joint="shoulder", at="lower", name="moving"),
    ]
    lost = check_sensors(robot.with_(sensors=sensors), tmp_path, rng)
    assert "sensors (moving) are left out" in lost


def test_potential_energy_is_left_out_where_springs_have_some(tmp_path):
    robot = loaded("double_pendulum").with_(sensors=[rd.Sensor("potential_energy", name="U")])
    assert not any("sensors" in line for line in written(robot, tmp_path)[1])
    sprung = robot.with_(
        springs=[rd.PointSpring("world", (0, 0, -3), "lower", (0, 0, -1), stiffness=10.0)]
    )
    assert "sensors (U) are left out" in written(sprung, tmp_path)[1]


def test_functions_of_ones_own_are_refused_and_nothing_is_written(tmp_path):
    cam = rd.Follower("elbow", lambda x: rd.sin(x), of=["shoulder"])
    robot = rd.load("double_pendulum", couplings=[cam])
    with pytest.raises(rd.UrdfError, match="no functions of one's own"):
        rd.convert(robot, tmp_path / "robot.xml")
    with pytest.raises(rd.SettingsError, match=r"ends in .urdf, .xml, .sdf"):
        rd.convert(robot, tmp_path / "robot.stl")
    assert not [*tmp_path.iterdir()]


def test_the_command(tmp_path, capsys):
    out = tmp_path / "bar.xml"
    assert main(["convert", "five_bar", str(out)]) == 0
    assert "limits of speed (left_drive, right_drive)" in capsys.readouterr().out
    assert mujoco.MjModel.from_xml_path(str(out)).neq == 2
