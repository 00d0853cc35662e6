"""Every quantity of the catalogue on a robot with what is easily forgotten.

A new row of the catalogue meets these laws by itself: a base that stands is no base that moves, a
whole turn changes nothing, a gear that turns backwards is one whose rotor axis is turned round, and
limits are none of a quantity's business.
"""

from __future__ import annotations

import dataclasses
import functools

import numpy as np
import pytest
from support.comparison import close_within
from support.interpreted import interpreted
from support.random_mechanisms import awkward_mechanism

import robodyn as rd
from robodyn.equations.catalogue import QUANTITIES

GRAVITY = np.array([1.0, 2.0, -9.0])

close = close_within(1e-9)

#: Results of these units are forces and motions of joints, which do not tell where the world is.
JOINT_SPACE = ("tau", "a", "M", "M_inverse", "C", "Y")


@functools.cache
def awkward(base="fixed", gravity=tuple(GRAVITY)):
    mechanism = awkward_mechanism(np.random.default_rng(7))
    return interpreted(mechanism, base=base, gravity=gravity)


def options(name, robot):
    """Some choices that a quantity needs."""
    frames = robot.link_names
    some = {
        "frame": frames[-1],
        "relative_to": frames[2],
        "frames": (frames[-1], frames[3]),
        "joints": robot.joint_names,
        "controlled": (0, 4),
    }
    return {x: y for x, y in some.items() if x in QUANTITIES[name].options}


@functools.cache
def state():
    robot, rng = awkward(), np.random.default_rng(8)
    q, q0, q1 = (robot.random(rng) for _ in range(3))
    v, a, tau, u, dv = rng.normal(size=(5, robot.nv))
    poses = robot.frame_poses(q1, frames=options("frame_poses", robot)["frames"]).ravel()
    return {
        "q": q, "q0": q0, "q1": q1, "v": v, "a": a, "tau": tau, "u": u, "dv": dv,
        "a_controlled": a[:2], "tau_free": tau[2:], "damping": np.array([1e-3, 1.0]),
        "goals": poses,
    }  # fmt: skip


def values(name, robot, base=None, **changed):
    """All results of a quantity, by name."""
    f = robot.function(name, **options(name, robot))
    given = {**state(), **changed}
    if base is not None:
        given |= {"base_pose": base.pose, "base_twist": base.twist}
        given |= {"base_acceleration": base.acceleration}
    found = f(*(given[port.name] for port in f.program.inputs))
    found = found if isinstance(found, tuple) else (found,)
    return dict(zip((port.name for port in f.program.outputs), found, strict=True))


def same(found, expected):
    assert found.keys() == expected.keys()
    for name, x in expected.items():
        close(found[name], x)


def rows():
    """Those that robots without loops have, and for which a state is enough."""
    return [name for name in QUANTITIES if name != "ground_contacts"]


@pytest.mark.parametrize("name", rows())
def test_a_base_that_stands_is_no_base_that_moves(name):
    base = rd.BaseMotion.at_rest()
    same(values(name, awkward("moving"), base=base), values(name, awkward()))


@pytest.mark.parametrize("name", [x for x in rows() if QUANTITIES[x].base])
def test_a_base_is_felt_as_a_field_of_gravity(name):
    """It stands turned, and speeds up along a line."""
    rng = np.random.default_rng(9)
    pose = rd.BaseMotion.from_world(rng.normal(size=3), rng.normal(size=4)).pose
    rate = rng.normal(size=3)
    base = rd.BaseMotion(pose, np.zeros(6), np.r_[rate, np.zeros(3)])
    felt = pose[:3, :3].T @ GRAVITY
    if "base_acceleration" in names_of_inputs(name):
        felt = felt - rate
    here = values(name, awkward("moving"), base=base)
    there = values(name, awkward("fixed", tuple(felt)))
    for x in here:
        if x in JOINT_SPACE or x.startswith("d "):
            close(here[x], there[x], 1e-8)


def names_of_inputs(name):
    robot = awkward("moving")
    return {port.name for port in robot.function(name, **options(name, robot)).program.inputs}


@pytest.mark.parametrize("name", rows())
def test_whole_turns_change_nothing(name):
    robot, turns = awkward(), np.zeros(awkward().nq)
    for joint, angles in {"joint0": [0], "joint1": [2], "joint3": [0, 1], "joint4": [0]}.items():
        turns[np.arange(robot.nq)[robot.joints[joint].q][angles]] = 2.0 * np.pi
    turned = {x: state()[x] - 3.0 * turns for x in ("q", "q0", "q1")}
    found, expected = values(name, robot, **turned), values(name, robot)
    if "q" in found:
        found["q"] = found["q"] + 3.0 * turns
    same(found, expected)


@pytest.mark.parametrize("name", rows())
def test_a_gear_that_turns_backwards_is_a_rotor_turned_round(name):
    plain = awkward()
    joints = {joint.name: joint for joint in plain.mechanism.joints}
    motors = {}
    for joint, motor in plain.actuators.items():
        axis = joints[joint].origin.matrix[:3, :3] @ joints[joint].axis
        motors[joint] = dataclasses.replace(motor, gear_ratio=-motor.gear_ratio, axis=tuple(-axis))
    other = interpreted(plain.mechanism, actuators=motors, gravity=tuple(GRAVITY))
    same(values(name, other), values(name, plain))


@pytest.mark.parametrize("name", rows())
def test_limits_do_not_enter(name):
    plain = awkward()
    joints = (dataclasses.replace(x, limits=rd.Limits()) for x in plain.mechanism.joints)
    free = dataclasses.replace(plain.mechanism, joints=tuple(joints))
    same(values(name, interpreted(free, gravity=tuple(GRAVITY))), values(name, plain))


def test_states_are_within_limits_on_one_side():
    robot, rng = awkward(), np.random.default_rng(3)
    q = np.array([robot.random(rng) for _ in range(50)])
    for joint, side in {"joint0": 1.0, "joint2": -1.0, "joint6": -1.0}.items():
        limit = robot.joints[joint].limits
        x = q[:, robot.joints[joint].q]
        assert (x >= limit.lower).all() and (x <= limit.upper).all()
        assert np.isfinite(limit.lower) == (side > 0.0) != np.isfinite(limit.upper)
