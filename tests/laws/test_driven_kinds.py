"""Joints whose coordinates are not the integrals of their speeds, driven along paths or locked."""

import functools

import numpy as np
import pytest
from scipy.integrate import simpson
from scipy.spatial.transform import Rotation as Turn
from support.closed_cases import close
from support.random_mechanisms import random_mechanism

import robodyn as rd

STEP, DURATION = 1e-3, 0.6
TIMES = np.linspace(0.0, DURATION, 6)


def swing(t):
    return 0.3 * np.sin(5 * t), 1.5 * np.cos(5 * t), -7.5 * np.sin(5 * t)


def tumbling(seed):
    """Orientations some way apart, about axes that change."""
    turns = Turn.from_rotvec(0.2 * np.random.default_rng(seed).normal(size=(6, 3)))
    return np.array([np.prod(turns[:k]).as_quat() for k in range(1, 7)])


def places(seed):
    return 0.05 * np.random.default_rng(seed).normal(size=(6, 3)).cumsum(axis=0)


@pytest.fixture(scope="module")
def robot():
    """On a floating base: a ball, a slab in a plane, a body that floats, and a hinge."""
    kinds = ["spherical", "planar", "floating", "revolute"]
    mechanism = random_mechanism(np.random.default_rng(21), kinds, damping=0.2)
    return rd.load(mechanism, base="floating", friction_speed=0.5)


FREE = rd.JointPath.from_poses(TIMES, places(1), tumbling(1))
PATHS = {
    "ball": {"joint0": rd.JointPath.from_orientations(TIMES, tumbling(2))},
    "plane": {"joint1": rd.JointPath.from_planar(TIMES, places(3))},
    "floating": {"joint2": FREE},
    "base": {"floating_base": FREE},
    "one axis": {"joint0[1]": swing, "joint1[2]": swing, "floating_base[0]": swing},
}
PATHS["all"] = {**PATHS["ball"], **PATHS["plane"], **PATHS["floating"], **PATHS["base"]}
each = pytest.mark.parametrize("driven", PATHS)


@pytest.fixture(scope="module")
def moved(robot):
    """The motion along each of the paths; the start of what is free is the same."""
    rng = np.random.default_rng(22)
    start = {"q0": robot.random(rng), "v0": 0.5 * rng.normal(size=robot.nv)}
    run = {"duration": DURATION, "step": STEP, **start}
    return functools.cache(lambda name: rd.simulate(robot, controlled=PATHS[name], **run))


@pytest.mark.slow
@each
def test_driven_joints_are_where_their_paths_are(robot, moved, driven):
    run = moved(driven)
    for name, path in PATHS[driven].items():
        joint = robot.joints[name.split("[")[0]]
        parts = [np.array(part) for part in zip(*map(path, run.t), strict=True)]
        if "[" in name:
            k = int(name[-2])
            close(run.v[:, joint.v][:, k], parts[1], 1e-15)
            close(run.a[:, joint.v][:, k], parts[2], 1e-15)
            continue
        close(run.q[:, joint.q], parts[0], 1e-15)
        close(run.v[:, joint.v], parts[1], 1e-15)
        close(run.a[:, joint.v], parts[2], 1e-15)
    rates = [robot.difference(run.q[k], run.q[k + 2]) / (2 * STEP) for k in range(len(run) - 2)]
    close(np.array(rates), run.v[1:-1], 1e-3)


@pytest.mark.slow
@each
def test_recorded_forces_make_the_motion(robot, moved, driven):
    run = moved(driven)
    close(robot.forward_dynamics(run.q, run.v, run.tau), run.a, 1e-10)
    close(robot.inverse_dynamics(run.q, run.v, run.a), run.tau, 1e-10)
    is_driven = np.zeros(robot.nv, bool)
    for name in PATHS[driven]:
        own = np.arange(robot.nv)[robot.joints[name.split("[")[0]].v]
        is_driven[own[int(name[-2])] if "[" in name else own] = True
    assert not run.tau[:, ~is_driven].any()
    assert np.abs(run.tau[:, is_driven]).max(axis=0).min() > 0.1


@pytest.mark.slow
@pytest.mark.parametrize("driven", ["floating", "plane"])
def test_the_wrench_in_a_floating_joint(robot, moved, driven):
    """What drives it, in axes of the child; none where it is free."""
    run = moved(driven)
    loads = robot.joint_wrenches(run.q, run.v, run.a)
    own = robot.joints["joint2"].v
    wrench, passive = loads["joint2"], robot.passive_forces(run.q, run.v)[:, own]
    close(wrench, run.tau[:, own] + passive, 1e-11)
    close(loads.bearing["joint2"], np.zeros_like(wrench), 1e-11 * max(1.0, np.abs(wrench).max()))
    free = rd.simulate(robot, q0=run.q[0], v0=run.v[0], duration=0.02, step=0.01)
    loads = robot.joint_wrenches(free.q, free.v, free.a)
    passive = robot.passive_forces(free.q, free.v)[:, own]
    assert np.abs(loads["joint2"] - passive).max() < 1e-11


# -- locked --------------------------------------------------------------------------------------

LOCKED = ["joint0", "joint1", "joint2", "floating_base"]


@pytest.mark.parametrize("name", LOCKED)
def test_locked_is_driven_along_a_path_that_stands_still(robot, name):
    rng = np.random.default_rng(23)
    q, (v, a) = robot.random(rng), rng.normal(size=(2, robot.nv))
    joint = robot.joints[name]
    v[joint.v] = a[joint.v] = 0.0
    welded = robot.with_(locked={name: q[joint.q]})
    assert (welded.nq, welded.nv) == (robot.nq - len(q[joint.q]), robot.nv - len(v[joint.v]))
    rest_q, rest = np.delete(np.arange(robot.nq), joint.q), np.delete(np.arange(robot.nv), joint.v)
    tau = robot.inverse_dynamics(q, v, a)
    close(welded.inverse_dynamics(q[rest_q], v[rest], a[rest]), tau[rest], 1e-11)
    close(welded.mass_matrix(q[rest_q]), robot.mass_matrix(q)[np.ix_(rest, rest)], 1e-11)
    for link in robot.link_names:
        close(welded.frame_pose(q[rest_q], link), robot.frame_pose(q, link), 1e-12)
    forces = tau.copy()
    forces[joint.v] = 0.0
    held = robot.hybrid_dynamics(q, v, tau=forces, locked=[name])
    close(welded.forward_dynamics(q[rest_q], v[rest], tau[rest]), held.a[rest], 1e-9)
    position = q[joint.q]
    path = {name: lambda t: (position, np.zeros(len(tau[joint.v])), np.zeros(len(tau[joint.v])))}
    run = {"q0": q, "v0": v, "duration": 0.05, "step": 0.01}
    along, still = (
        rd.simulate(robot, controlled=path, **run),
        rd.simulate(robot, locked=name, **run),
    )
    close(along.q, still.q, 1e-13)
    run |= {"q0": q[rest_q], "v0": v[rest]}
    close(along.q[:, rest_q], rd.simulate(welded, **run).q, 1e-9)
    wrench = welded.joint_wrenches(q[rest_q], v[rest], a[rest], joints=())["base"]
    if name == "floating_base":
        X = welded.frame_pose(q[rest_q], robot.link_names[0])
        force = X[:3, :3] @ tau[:3]
        close(wrench[:3], force, 1e-11)
        close(wrench[3:], X[:3, :3] @ tau[3:6] + np.cross(X[:3, 3], force), 1e-11)


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("joint0", 0.3),
        ("joint0", [0.0, 0.0, 0.0]),
        ("joint0", [0.0, 0.0, 0.0, 1.1]),
        ("joint0", [0.0, 0.0, 0.0, 0.0]),
        ("joint0", [0.0, 0.0, 0.0, np.inf]),
        ("joint1", [0.0, 0.0]),
        ("joint2", [0.0, 0.0, 0.0, 1.0]),
        ("joint3", [0.1, 0.2]),
        ("joint3", np.inf),
        ("floating_base", [0.0, 0.0, 0.0]),
    ],
)
def test_where_joints_cannot_be_locked(robot, name, value):
    with pytest.raises(rd.SettingsError, match=rf"locked\['{name}'\] is .* expected"):
        robot.with_(locked={name: value})


def test_joints_that_cannot_be_locked(robot):
    with pytest.raises(rd.UnknownNameError, match="joint7"):
        robot.with_(locked={"joint7": 0.0})
    with pytest.raises(rd.UnknownNameError, match="floating_base"):
        rd.load("arm7").with_(locked={"floating_base": np.eye(7)[6]})


def test_a_locked_ball_of_a_constraint():
    """A constraint between a ball and a hinge still holds the hinge."""
    mechanism = random_mechanism(np.random.default_rng(8), ["spherical", "revolute"])
    tie = rd.Constraint("tie", lambda q: q[0] * q[3] - 0.5 * q[4], ["joint0", "joint1"])
    robot = rd.load(mechanism, constraints=[tie])
    quat = Turn.from_rotvec([0.3, 0.2, -0.5]).as_quat()
    welded = robot.with_(locked={"joint0": quat})
    assert welded.nv == 1 and welded.dof == 0
    close(welded.neutral(), [2.0 * quat[0] * quat[3]], 1e-12)


# -- in a closed linkage -------------------------------------------------------------------------


@pytest.mark.slow
def test_a_ball_of_a_loop_along_a_path():
    """A platform on a ball and two rods: the ball is driven, and the rods follow."""
    robot = rd.load(STAND)
    at = robot.joints["ball"]
    q0 = robot.neutral()
    quats = (Turn.from_quat(q0[at.q]) * Turn.from_rotvec(places(9))).as_quat()
    path = rd.JointPath.from_orientations(TIMES, quats)
    start = robot.assemble(np.concatenate([path(0.0)[0], np.delete(q0, at.q)]), hold=["ball"])
    run = rd.simulate(robot, q0=start, controlled={"ball": path}, duration=DURATION, step=STEP)
    assert np.abs(run.loop_residual).max() < 1e-9
    close(run.q[:, at.q], [path(t)[0] for t in run.t], 1e-9)
    close(run.v[:, at.v], [path(t)[1] for t in run.t], 1e-9)
    close(run.a[:, at.v], [path(t)[2] for t in run.t], 1e-9)
    power = np.sum(run.tau * run.v, axis=-1)
    gain = run.energy[-1] - run.energy[0]
    assert np.ptp(run.energy) > 0.01
    assert gain == pytest.approx(simpson(power, x=run.t), abs=1e-5 * np.ptp(run.energy))


def _leg(name, foot, hip):
    return (
        f'<link name="{name}"><inertial><origin xyz="0 0 0.15"/><mass value="0.5"/><inertia '
        'ixx="0.01" iyy="0.01" izz="0.001" ixy="0" ixz="0" iyz="0"/></inertial></link>'
        f'<joint name="{name}_foot" type="universal"><parent link="ground"/><child link="{name}"/>'
        f'<origin xyz="{foot}"/><axis xyz="1 0 0"/><axis2 xyz="0 1 0"/></joint>'
        f'<link name="{name}_rod"><inertial><mass value="0.3"/><inertia '
        'ixx="0.01" iyy="0.01" izz="0.001" ixy="0" ixz="0" iyz="0"/></inertial></link>'
        f'<joint name="{name}_slide" type="prismatic"><parent link="{name}"/>'
        f'<child link="{name}_rod"/><origin xyz="0 0 0.3"/><axis xyz="0 0 1"/>'
        '<limit lower="-1" upper="1" effort="1e4" velocity="10"/></joint>'
        f'<loop name="{name}_hip" type="spherical"><predecessor link="{name}_rod"/>'
        f'<successor link="platform"><origin xyz="{hip}"/></successor></loop>'
    )


#: A platform that turns about a point, on two legs that can change their length.
STAND = (
    '<robot name="stand"><link name="ground"/><link name="platform"><inertial><origin '
    'xyz="0.05 0.02 0.03"/><mass value="2"/><inertia ixx="0.03" iyy="0.04" izz="0.05" ixy="0" '
    'ixz="0" iyz="0"/></inertial></link><joint name="ball" type="spherical"><parent link="ground"/>'
    '<child link="platform"/><origin xyz="0 0 0.3"/></joint>'
    + _leg("left", "0.3 0 0", "0.3 0 0")
    + _leg("right", "0 0.3 0", "0 0.3 0")
    + "</robot>"
)
