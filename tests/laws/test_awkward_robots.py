"""Every quantity of the catalogue on robots with what is easily forgotten: a tree, a closed chain.

A new row of the catalogue meets these laws by itself: a base that stands is no base that moves, a
whole turn changes nothing, a gear that turns backwards is one whose rotor axis is turned round, and
limits are none of a quantity's business. Joints that are driven stand within the loop of the chain.
"""

import dataclasses
import functools

import numpy as np
import pytest
from support.comparison import close_within
from support.interpreted import interpreted
from support.random_mechanisms import awkward_linkage, awkward_mechanism

import robodyn as rd
from robodyn.equations.catalogue import QUANTITIES
from robodyn.equations.quantities.common.quantity import REFUSED

GRAVITY = np.array([1.0, 2.0, -9.0])

close = close_within(1e-9)

#: Results of these units are forces and motions of joints, which do not tell where the world is.
JOINT_SPACE = ("tau", "a", "M", "M_inverse", "C", "Y")


@functools.cache
def mechanism(shape):
    """With the posture in which its loop is closed."""
    rng = np.random.default_rng(7)
    return (awkward_mechanism(rng), None) if shape == "tree" else awkward_linkage(rng)


@functools.cache
def awkward(shape, base="fixed", gravity=tuple(GRAVITY)):
    described = mechanism(shape)[0]
    return interpreted(
        described, base=base, gravity=gravity, rigid=True, sensors=sensors(described, shape)
    )


def sensors(described, shape):
    """Of each that reads other numbers; wrenches in a linkage are those of its motors."""
    link, joint = described.links[3].name, described.joints[2].name
    law = rd.Sensor(lambda q, v, a: [rd.sin(q[0]) * v[0], a[0]], joint=joint, name="law")
    loads = [rd.Sensor("wrench", joint=joint)] if shape == "tree" else []
    of_bodies = map(rd.Sensor, ("kinetic_energy", "potential_energy", "momentum"))
    return [rd.Sensor("imu", at=link), law, *of_bodies, *loads]


def options(name, robot):
    """Some choices that a quantity needs."""
    frames = robot.link_names
    some = {
        "frame": frames[-1],
        "relative_to": frames[2],
        "frames": (frames[-1], frames[3]),
        "joints": robot.joint_names,
        "tasks": rd.Task(np.zeros(3), frame=(frames[-1], frames[2])),
        "controlled": (1, 4) if robot.nc else (0, 4),
    }
    return {x: y for x, y in some.items() if x in QUANTITIES[name].options}


@functools.cache
def state(shape):
    robot, rng = awkward(shape), np.random.default_rng(8)
    q, q0, q1 = (robot.random(rng) for _ in range(3))
    v, a, tau, u, dv = rng.normal(size=(5, robot.nv))
    if robot.nc:
        q = mechanism(shape)[1]
        v = robot.consistent_velocity(q, v)
        a = robot.consistent_acceleration(q, v, a)
    poses = robot.frame_poses(q1, frames=options("frame_poses", robot)["frames"]).ravel()
    return {
        "q": q, "q0": q0, "q1": q1, "v": v, "a": a, "tau": tau, "u": u, "dv": dv,
        "a_controlled": a[:2], "tau_free": tau[2:], "damping": np.array([1e-3, 1.0]),
        "goals": poses, "targets": np.array([0.1, 0.2, 0.3]),
        "weights": np.array([0.2, 1.0, 3.0]), "gains": np.array([1.0, 0.3, 0.7]),
        "step": np.array([0.01, 1e-3, 1.0]),
        "limits": np.repeat([-1e9, 1e9, 1.0], [*2 * (robot.nq,), robot.nv]),
        "multipliers": rng.normal(size=robot.nc), "gap": rng.normal(size=robot.nc),
    }  # fmt: skip


def values(name, robot, base=None, **changed):
    """All results of a quantity, by name."""
    f = robot.function(name, **options(name, robot))
    given = {**state("chain" if robot.nc else "tree"), **changed}
    if base is not None:
        given |= {"base_pose": base.pose, "base_twist": base.twist}
        given |= {"base_acceleration": base.acceleration}
    found = f(*(given[port.name] for port in f.program.inputs))
    found = found if isinstance(found, tuple) else (found,)
    return dict(zip((port.name for port in f.program.outputs), found, strict=True))


@functools.cache
def usual(shape, name):
    """Those of the robot itself."""
    return values(name, awkward(shape))


def same(found, expected):
    assert found.keys() == expected.keys()
    for name, x in expected.items():
        close(found[name], x)


def cases(which=lambda row: True):
    """Shape and quantity: those for which a state is enough, and which the shape has."""
    return [
        (shape, name)
        for shape in ("tree", "chain")
        for name, row in QUANTITIES.items()
        if name != "ground_contacts" and not row.guarded and which(row)
        if shape == "tree" or row.closed is not REFUSED
    ]


@pytest.mark.parametrize(("shape", "name"), cases())
def test_a_base_that_stands_is_no_base_that_moves(shape, name):
    base = rd.BaseMotion.at_rest()
    same(values(name, awkward(shape, "moving"), base=base), usual(shape, name))


@pytest.mark.parametrize(("shape", "name"), cases(lambda row: row.base))
def test_a_base_is_felt_as_a_field_of_gravity(shape, name):
    """It stands turned, and speeds up along a line."""
    rng = np.random.default_rng(9)
    pose = rd.BaseMotion.from_world(rng.normal(size=3), rng.normal(size=4)).pose
    rate = rng.normal(size=3)
    base = rd.BaseMotion(pose, np.zeros(6), np.r_[rate, np.zeros(3)])
    felt = pose[:3, :3].T @ GRAVITY
    moving = awkward(shape, "moving")
    inputs = moving.function(name, **options(name, moving)).program.inputs
    if "base_acceleration" in {port.name for port in inputs}:
        felt = felt - rate
    here = values(name, moving, base=base)
    there = values(name, awkward(shape, "fixed", tuple(felt)))
    for x in here:
        if x in JOINT_SPACE or x.startswith("d "):
            close(here[x], there[x], 1e-8)


#: Coordinates that are angles of their own, by shape and joint.
ANGLES = {
    "tree": {"joint0": [0], "joint1": [2], "joint3": [0, 1], "joint4": [0]},
    "chain": {"joint0": [0], "joint2": [0, 1], "joint3": [0]},
}


@pytest.mark.parametrize(
    ("shape", "name"), [case for case in cases() if case[1] != "joint_positions"]
)  # which are the turned ones
def test_whole_turns_change_nothing(shape, name):
    robot = awkward(shape)
    turns = np.zeros(robot.nq)
    for joint, angles in ANGLES[shape].items():
        turns[np.arange(robot.nq)[robot.joints[joint].q][angles]] = 2.0 * np.pi
    turned = {x: state(shape)[x] - 3.0 * turns for x in ("q", "q0", "q1")}
    found = values(name, robot, **turned)
    if "q" in found:
        found["q"] = found["q"] + 3.0 * turns
    same(found, usual(shape, name))


@pytest.mark.parametrize(("shape", "name"), cases())
def test_a_gear_that_turns_backwards_is_a_rotor_turned_round(shape, name):
    same(values(name, rotors_turned_round(shape)), usual(shape, name))


@functools.cache
def rotors_turned_round(shape):
    plain = awkward(shape)
    joints = {joint.name: joint for joint in plain.mechanism.joints}
    motors = {}
    for joint, motor in plain.actuators.items():
        axis = joints[joint].origin.matrix[:3, :3] @ joints[joint].axis
        motors[joint] = dataclasses.replace(motor, gear_ratio=-motor.gear_ratio, axis=tuple(-axis))
    return interpreted(plain.mechanism, actuators=motors, gravity=tuple(GRAVITY), rigid=True)
