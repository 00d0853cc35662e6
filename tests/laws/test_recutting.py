"""One answer wherever a loop is cut, whatever its joints have: springs, friction, motors."""

import dataclasses

import numpy as np
import pytest
from support.loop_graphs import with_loops_as_joints
from support.recut import changed_joint, coordinates_of, cut_at, speeds_of

import robodyn as rd
from robodyn import urdf
from robodyn.description import Pose

MOTOR = rd.Actuator(gear_ratio=7.0, rotor_inertia=3e-3, viscous=0.01, coulomb=0.02)

#: What a joint gets: fields of the description; one that names none gets a motor.
FEATURES = {
    "spring": {"stiffness": 40.0, "rest": 0.2},
    "resistance": {"damping": 0.4, "friction": 0.3},
    "motor": {},
    "motor on the child": {},
    "all": {"stiffness": 40.0, "rest": 0.2, "damping": 0.4, "friction": 0.3},
}
WITH_MOTOR = ("motor", "motor on the child", "all")
NAMES = ("four_bar", "five_bar", "crank_slider")

#: Along x and z, and about y: what wrenches of linkages in that plane are determined in.
IN_PLANE = [0, 2, 4]


def linkage(name):
    """A bundled one, every loop of it closed by a joint."""
    return with_loops_as_joints(urdf.load_mechanism(name))


def single_joints(name):
    return [
        joint.name
        for joint in linkage(name).joints
        if joint.kind in ("revolute", "continuous", "prismatic")
    ]


CASES = [("four_bar", joint, x) for joint in single_joints("four_bar") for x in FEATURES]
CASES += [(name, joint, "all") for name in NAMES[1:] for joint in single_joints(name)]


def described(name, joint, feature):
    mechanism = changed_joint(linkage(name), joint, **FEATURES[feature])
    (child,) = (j.child for j in mechanism.joints if j.name == joint)
    motor = dataclasses.replace(MOTOR, mounted_on=child) if "child" in feature else MOTOR
    motors = {joint: motor} if feature in WITH_MOTOR else {}
    return dataclasses.replace(mechanism, actuators=tuple(motors.items()))


def state(robot):
    """A closed posture in motion, and forces, by joint name."""
    rng = np.random.default_rng(5)
    q = robot.random(rng)
    v = robot.consistent_velocity(q, rng.normal(size=robot.nv))
    return robot.joint_positions(q), robot.joint_velocities(q, v)


def seen(robot, positions, speeds, forces):
    """What is the same however the linkage is cut."""
    q, v = coordinates_of(robot, positions), speeds_of(robot, speeds)
    tau = speeds_of(robot, forces)
    assert np.abs(robot.loop_residual(q)).max() < 1e-9
    a = robot.forward_dynamics(q, v, tau)
    np.testing.assert_allclose(robot.constrained_dynamics(q, v, tau).a, a, rtol=1e-8, atol=1e-8)
    links = [link.name for link in robot.mechanism.links]
    known = robot.joint_positions(q)
    loads = robot.joint_wrenches(q, v, tau=forces)
    joints = sorted({*positions} & {*loads})
    return {
        "wrenches": np.array([loads[name][IN_PLANE] for name in joints]),
        "passive": np.array([loads.passive[name] for name in joints]),
        "accelerations": np.array([robot.frame_acceleration(q, v, a, link) for link in links]),
        "kinetic energy": robot.kinetic_energy(q, v),
        "potential energy": robot.potential_energy(q),
        "center of mass": robot.center_of_mass(q),
        "momentum": robot.momentum(q, v),
        "positions": np.array([known[name] for name in sorted(positions)]),
    }


def agree(one, other):
    for what, value in one.items():
        size = np.abs(value).max() + 1.0
        np.testing.assert_allclose(other[what], value, atol=1e-10 * size, err_msg=what)


@pytest.mark.parametrize(("name", "joint", "feature"), CASES)
def test_a_joint_keeps_what_it_has_where_the_loop_is_cut_there(name, joint, feature):
    mechanism = described(name, joint, feature)
    drawn, recut = rd.load(mechanism), rd.load(cut_at(mechanism, joint))
    bare = rd.load(changed_joint(linkage(name), joint), passive=False)
    positions, speeds = state(drawn)
    forces = {joint: 2.0} if feature in WITH_MOTOR else {}
    there = seen(drawn, positions, speeds, forces)
    agree(there, seen(recut, positions, speeds, forces))
    plain = seen(bare, positions, speeds, {})
    moved = np.abs(there["accelerations"] - plain["accelerations"]).max()
    assert moved > 1e-4, "the feature must be felt"


@pytest.mark.slow
@pytest.mark.parametrize("name", NAMES)
def test_a_loop_in_which_every_joint_has_a_motor_works(name):
    joints = single_joints(name)
    mechanism = dataclasses.replace(
        linkage(name), actuators=tuple((joint, MOTOR) for joint in joints)
    )
    drawn = rd.load(mechanism)
    assert set(drawn.actuated_joints) == set(joints) == set(drawn.joint_names)
    positions, speeds = state(drawn)
    rng = np.random.default_rng(2)
    forces = {joint: float(rng.normal()) for joint in joints}
    wanted = seen(drawn, positions, speeds, forces)
    for joint in joints:
        agree(wanted, seen(rd.load(cut_at(mechanism, joint)), positions, speeds, forces))


@pytest.mark.parametrize("name", NAMES)
def test_motors_of_all_joints_give_the_motion_that_is_asked_for(name):
    """Of all that could, those of least norm; each at its own shaft."""
    joints = single_joints(name)
    motors = {joint: MOTOR for joint in joints}
    found = {}
    for cut in joints:
        mechanism = dataclasses.replace(linkage(name), actuators=tuple(motors.items()))
        robot = rd.load(cut_at(mechanism, cut))
        if not found:
            positions, speeds = state(robot)
            lead = robot.independent_joints[0]
        q, v = coordinates_of(robot, positions), speeds_of(robot, speeds)
        if not found:
            wanted = robot.forward_dynamics(q, v, speeds_of(robot, {lead: 1.0}))
            by_name = {j: float(wanted[robot.joints[j].v][0]) for j in joints}
        a = speeds_of(robot, by_name)
        tau = robot.inverse_dynamics(q, v, a)
        np.testing.assert_allclose(robot.forward_dynamics(q, v, tau), a, atol=1e-8)
        torques = robot.motor_torques(q, v, a)
        found[cut] = {j: float(torques[robot.joints[j].v][0]) for j in joints}
    first = next(iter(found.values()))
    for other in found.values():
        assert other == pytest.approx(first, abs=1e-9)


def test_energy_of_a_spring_in_a_cut_joint_is_kept():
    mechanism = dataclasses.replace(
        changed_joint(linkage("four_bar"), "rocker_pin", stiffness=30.0, rest=0.4),
        actuators=(),
    )
    still = [dataclasses.replace(joint, damping=0.0) for joint in mechanism.joints]
    robot = rd.load(cut_at(dataclasses.replace(mechanism, joints=tuple(still)), "rocker_pin"))
    assert robot.joints["rocker_pin"].closure == "rocker_pin_weld"
    found = rd.simulate(robot, q0=robot.neutral(), v0=np.zeros(robot.nv), duration=0.5, step=1e-3)
    start = robot.potential_energy(robot.neutral())
    energy = robot.kinetic_energy(found.q, found.v) + robot.potential_energy(found.q)
    assert robot.kinetic_energy(found.q, found.v).max() > 0.1
    np.testing.assert_allclose(energy, start, atol=1e-6)


def test_a_loop_in_which_every_joint_has_a_spring():
    """Energy and motor torque by the positions of all joints, also of the one that was cut."""
    rest = {"crank_drive": 0.1, "crank_pin": -0.2, "rocker_pivot": 0.3, "rocker_pin": 0.4}
    springs = {name: (10.0 + k, x) for k, (name, x) in enumerate(rest.items())}
    robot = rd.load("four_bar", springs=springs, gravity=(0.0, 0.0, 0.0))
    rng, still = np.random.default_rng(3), np.zeros(robot.nv)
    for _ in range(5):
        q = robot.random(rng)
        v = robot.consistent_velocity(q, rng.normal(size=robot.nv))
        x, dx = robot.joint_positions(q), robot.joint_velocities(q, v)
        energy = sum(0.5 * k * (x[name] - at) ** 2 for name, (k, at) in springs.items())
        power = sum(k * (x[name] - at) * dx[name] for name, (k, at) in springs.items())
        assert robot.potential_energy(q) == pytest.approx(energy, rel=1e-12)
        assert robot.inverse_dynamics(q, still, still) @ v == pytest.approx(power, rel=1e-9)


def about_y(q, t):
    c, s = rd.cos(3.0 * t), rd.sin(3.0 * t)
    return [[c, 0, s, 0], [0, 1, 0, 0], [-s, 0, c, 0]]


@pytest.mark.parametrize("carrier", ["crank", "coupler", "rocker"])
def test_a_wheel_that_time_turns_is_not_welded_to_the_link_that_is_cut_in_two(carrier):
    """The same motion as where no link is cut in two: the springs of all joints make the cut."""
    mechanism, spin = urdf.load_mechanism("four_bar"), {"spin": rd.JointMap(0, about_y)}
    wheel = rd.Link("wheel", rd.Inertia(5.0, Pose((0.15, 0, 0.02)), ixx=0.1, iyy=0.1, izz=0.1))
    axle = rd.Joint("spin", "fixed", carrier, "wheel", Pose((0.1, 0.0, 0.0)))
    mechanism = dataclasses.replace(
        mechanism, links=(*mechanism.links, wheel), joints=(*mechanism.joints, axle)
    )
    whole = rd.load(mechanism, joint_maps=spin)
    springs = dict.fromkeys(("crank_drive", "crank_pin", "rocker_pivot", "rocker_pin"), (1.0, 0.0))
    split = rd.load(mechanism, joint_maps=spin, springs=springs)
    assert split.nv == whole.nv + 1
    for t in (0.0, 0.4):
        q = whole.at(t).neutral()
        v = whole.at(t).consistent_velocity(q, np.ones(whole.nv))
        x, dx = whole.at(t).joint_positions(q), whole.at(t).joint_velocities(q, v)
        state = [[values[name] for name in split.joint_names] for values in (x, dx)]
        kinetic = whole.at(t).kinetic_energy(q, v)
        assert split.at(t).kinetic_energy(*state) == pytest.approx(kinetic, rel=1e-12)
        centre = split.at(t).center_of_mass(state[0])
        np.testing.assert_allclose(centre, whole.at(t).center_of_mass(q), rtol=0, atol=1e-12)
