"""Pickles, locked joints and payloads of closed linkages."""

from dataclasses import replace

import numpy as np
import pytest
from support.rigid_robots import load, state

from robodyn.description import Inertia, Pose
from robodyn.errors import RobodynError


@pytest.mark.parametrize("locked", ["crank_drive", "crank_pin", "rocker_pivot"])
def test_a_locked_linkage_stands(locked):
    robot = load("four_bar").with_(locked={locked: 0.0})
    assert robot.nv == 2 and robot.dof == 0
    q = robot.neutral()
    np.testing.assert_allclose(robot.forward_dynamics(q, np.zeros(2), np.ones(2)), 0.0, atol=1e-9)
    assert robot.mobility(q) == 0


def test_a_locked_cut_joint_is_welded_where_it_says():
    robot = load("four_bar").with_(locked={"rocker_pin": 0.0})
    assert robot.dof == 0
    q = robot.neutral()
    assert np.abs(robot.loop_residual(q)).max() < 1e-11


def test_a_locked_cut_joint_has_no_spring_left():
    """What acted along it has nothing left to act along."""
    plain = load("five_bar").mechanism
    (pin,) = plain.loops
    sprung = replace(pin, stiffness=5.0, rest=0.4, damping=0.1, friction=0.2)
    robots = [
        load(replace(plain, loops=(loop,))).with_(locked={"tool_pin": 0.3})
        for loop in (pin, sprung)
    ]
    one, other = robots
    assert one.dof == other.dof == 1
    q = one.neutral()
    v, tau = one.consistent_velocity(q, np.ones(one.nv)), np.ones(one.nv)
    np.testing.assert_array_equal(
        other.forward_dynamics(q, v, tau), one.forward_dynamics(q, v, tau)
    )
    assert other.potential_energy(q) == one.potential_energy(q)
    (welded,) = other.mechanism.loops
    assert (welded.stiffness, welded.damping, welded.friction) == (0.0, 0.0, 0.0)


def test_a_locked_joint_of_two_is_a_four_bar():
    """Hybrid dynamics with one joint held is the linkage with it welded."""
    robot = load("five_bar")
    q, _, tau = state(robot)
    k = robot.joints["left_drive"].v.start
    welded = robot.with_(locked={"left_drive": float(q[k])})
    v = robot.consistent_velocity(q, np.where(np.arange(4) == k, 0.0, 1.0), hold=["left_drive"])
    forces = {n: tau[robot.joints[n].v.start] for n in welded.joint_names}
    held = robot.hybrid_dynamics(q, v, tau=forces, locked=["left_drive"])
    rest = [robot.joints[n].v.start for n in welded.joint_names]
    a = welded.forward_dynamics(q[rest], v[rest], [forces[n] for n in welded.joint_names])
    np.testing.assert_allclose(held.a[rest], a, atol=1e-8 * np.abs(a).max())
    assert welded.dof == 1


def test_a_payload_on_a_linkage():
    robot = load("four_bar")
    loaded = robot.with_(payload={"coupler": Inertia(2.0, Pose((0.28, 0.0, 0.12)))})
    assert loaded.total_mass == pytest.approx(robot.total_mass + 2.0)
    q, v, tau = state(robot)
    # at the pin it is a point mass on the rocker as well
    other = robot.with_(payload={"rocker_end": Inertia(2.0)})
    np.testing.assert_allclose(
        loaded.forward_dynamics(q, v, tau), other.forward_dynamics(q, v, tau), rtol=1e-8, atol=1e-9
    )


def tied(name, parent, child, inner=""):
    return (
        f'<link name="{child}"><inertial><origin xyz="0.1 0 0.02"/><mass value="1"/><inertia '
        'ixx="0.02" iyy="0.03" izz="0.025" ixy="0" ixz="0" iyz="0"/></inertial></link>'
        f'<joint name="{name}" type="continuous"><parent link="{parent}"/><child link="{child}"/>'
        f'<origin xyz="0.2 0 0.1"/><axis xyz="0 1 0"/>{inner}</joint>'
    )


#: A joint that mimics, and a coupling of one joint with a chain of two, both with offsets.
TIED = (
    '<robot name="tied"><link name="base"/>'
    + tied("motor", "base", "pulley")
    + tied("upper", "base", "arm")
    + tied("fore", "arm", "hand")
    + tied("finger", "hand", "tip", '<mimic joint="fore" multiplier="-0.5" offset="0.3"/>')
    + '<coupling name="belt"><predecessor link="pulley"/><successor link="hand"/>'
    '<ratio value="0.7"/><offset value="0.2"/></coupling></robot>'
)


def test_a_copy_with_more_coordinates_starts_where_the_robot_does():
    q = load("four_bar").random(np.random.default_rng(4))
    robot = load("four_bar", near=tuple(q))
    np.testing.assert_allclose(robot.neutral(), q, atol=1e-9)
    np.testing.assert_allclose(robot.with_(base="floating").neutral()[7:], q, atol=1e-9)


@pytest.mark.parametrize("joint", ["motor", "upper", "fore", "finger"])
def test_a_locked_joint_holds_what_it_is_tied_to(joint):
    """Poses, mobility and accelerations are those of the robot with the joint held."""
    robot = load(TIED)
    held = {"finger": "fore"}.get(joint, joint)  # the one with the coordinate
    q = robot.assemble([0.5, 0.4, 0.3], hold=[held])
    at = float(q[robot.joints[held].q.start])
    copy = robot.with_(locked={joint: 0.3 - 0.5 * at if joint == "finger" else at})
    kept = np.array([robot.joints[name].q.start for name in copy.joint_names])
    assert copy.mobility(q[kept]) == robot.dof - 1 == 1
    for link in ("pulley", "hand", "tip"):
        np.testing.assert_allclose(
            copy.frame_pose(q[kept], link), robot.frame_pose(q, link), atol=1e-12
        )
    rest = np.zeros(copy.nv)
    a = robot.hybrid_dynamics(q, np.zeros(3), locked=[held]).a
    np.testing.assert_allclose(copy.forward_dynamics(q[kept], rest, rest), a[kept], atol=1e-9)


@pytest.mark.parametrize("locked", [
    {"fore": 0.2, "finger": 0.5}, {"motor": 1.0, "upper": 0.0, "fore": 0.0},
])  # fmt: skip
def test_joints_locked_against_what_ties_them(locked):
    with pytest.raises(RobodynError, match="contradicts"):
        load(TIED).with_(locked=locked)
