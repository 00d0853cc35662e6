"""The bundled closed mechanisms: what closes their loops, and that they are closed at zero."""

import numpy as np
import pytest
from oracles.maximal import MaximalOracle

from robodyn import urdf
from robodyn.topology.spanning_tree import spanning_tree

#: Joints cut, with their kinds, and joints driven.
CLOSED = {
    "bricard": ({"hinge6": "revolute"}, ("hinge2",)),
    "crank_slider": ({"piston_pin": "continuous"}, ("crank_drive",)),
    "delta": (
        dict.fromkeys(
            ("right_ball1", "left_ball2", "right_ball2", "left_ball3", "right_ball3"), "spherical"
        ),
        ("drive1", "drive2", "drive3"),
    ),
    "excavator": (
        {
            "boom_piston_pin": "continuous",
            "arm_piston_pin": "continuous",
            "bucket_piston_pin": "continuous",
            "bucket_link_pin": "revolute",
        },
        ("swing", "boom_cylinder", "arm_cylinder", "bucket_cylinder"),
    ),
    "five_bar": ({"tool_pin": "revolute"}, ("left_drive", "right_drive")),
    "four_bar": ({"rocker_pin": "continuous"}, ("crank_drive",)),
    "palletizer": (
        dict.fromkeys(("drive_rod_pin", "lower_tie_pin", "wrist_tie_pin"), "revolute"),
        ("waist", "shoulder", "crank_drive", "flange_drive"),
    ),
    "steering": ({"left_ball": "spherical", "right_ball": "spherical"}, ("rack",)),
    "stephenson": (
        dict.fromkeys(("rocker_pin", "coupler_tip_pin"), "continuous"),
        ("crank_drive",),
    ),
    "stewart": (
        {f"ball{k}": "spherical" for k in range(2, 7)},
        tuple(f"leg{k}" for k in range(1, 7)),
    ),
    "two_feet": (
        {"front_foot": "revolute"},
        tuple(
            "rear_knee rear_hip front_hip front_knee neck "
            "rear_shoulder rear_elbow front_shoulder front_elbow".split()
        ),
    ),
    "watt": (dict.fromkeys(("coupler_pin", "second_coupler_pin"), "revolute"), ("crank_drive",)),
}


def zero_poses(mechanism, cut):
    """Pose of every link at zero position, along the joints that are not cut."""
    joints = [joint for joint in mechanism.joints if joint.name not in cut]
    poses = {spanning_tree(mechanism).root: np.eye(4)}
    while len(poses) < len(mechanism.links):
        for joint in joints:
            X = joint.origin.matrix
            if joint.parent in poses:
                poses.setdefault(joint.child, poses[joint.parent] @ X)
            elif joint.child in poses:
                poses[joint.parent] = poses[joint.child] @ np.linalg.inv(X)
    return poses


def test_all_closed_mechanisms_are_here():
    closed = [n for n in urdf.bundled_robots() if spanning_tree(urdf.load_mechanism(n)).cuts]
    assert closed == sorted(CLOSED)


@pytest.mark.parametrize("name", CLOSED)
def test_the_freest_joint_of_each_loop_is_cut_and_no_motor(name):
    mechanism = urdf.load_mechanism(name)
    cut, driven = CLOSED[name]
    assert {joint.name: joint.kind for joint in spanning_tree(mechanism).cuts} == cut
    assert tuple(joint for joint, _ in mechanism.actuators) == driven


@pytest.mark.parametrize("name", CLOSED)
def test_frames_are_parallel_at_zero_position(name):
    """All but those of the arms of the delta robot, which are turned about z."""
    mechanism = urdf.load_mechanism(name)
    for link, X in zero_poses(mechanism, CLOSED[name][0]).items():
        if name != "delta" or link in ("base", "platform"):
            np.testing.assert_allclose(X[:3, :3], np.eye(3), rtol=0.0, atol=1e-12)


def test_bodies_of_the_invertible_cube_are_alike():
    """Bodies 0, 2, 4 are turns of one tetrahedron; 1, 3, 5 are its mirror images."""
    moments = []
    for link in urdf.load_mechanism("bricard").links:
        assert link.inertia.mass == pytest.approx(1 / 24, rel=1e-15)
        moments.append(np.linalg.eigvalsh(link.inertia.matrix))
    np.testing.assert_allclose(moments, [moments[0]] * 6, rtol=1e-12)
    expected = np.array([[19, 4, -1], [4, 6, 4], [-1, 4, 19]]) / 7680
    inertia = urdf.load_mechanism("bricard").links[0].inertia
    np.testing.assert_allclose(inertia.matrix, expected, rtol=1e-15)


def test_masses_of_the_person_add_up():
    person = urdf.load_mechanism("two_feet").links[1:]
    assert len(person) == 10
    assert sum(link.inertia.mass for link in person) == pytest.approx(75)


def test_wheels_of_the_table_touch_the_ground_as_in_the_book():
    """Velocity of the contact points, Wittenburg 1977, example 5.4: -g1 across and g2 along."""
    R, a, r = 0.4, 0.05, 0.08
    oracle = MaximalOracle(urdf.load_mechanism("caster_table"))
    rng = np.random.default_rng(0)
    for _ in range(5):
        q, v = rng.normal(size=(2, 9))
        heading = q[2]
        c, s = np.cos(heading), np.sin(heading)
        dx, dy = np.array([[c, -s], [s, c]]) @ v[:2]  # the speeds are in axes of the table
        motions = dict(zip(oracle.names, oracle.motions(q, v)[1], strict=True))
        for k in range(3):
            wheel = motions[f"wheel{k + 1}"]
            contact = wheel.X[:3, 3] - [0.0, 0.0, r]
            assert abs(contact[2]) < 1e-15
            arm = np.cross(wheel.angular_velocity, [0.0, 0.0, -r])
            velocity = wheel.dX[:3, 3] + arm
            turn, roll = 3 + 2 * k, 4 + 2 * k
            psi = heading + q[turn] + 2 * np.pi * k / 3
            c, s = np.cos(psi), np.sin(psi)
            g1 = dx * s - dy * c - v[2] * (R * np.cos(q[turn]) + a) - v[turn] * a
            g2 = dx * c + dy * s + v[2] * R * np.sin(q[turn]) + v[roll] * r
            np.testing.assert_allclose(velocity @ [-s, c, 0.0], -g1, atol=1e-14)
            np.testing.assert_allclose(velocity @ [c, s, 0.0], g2, atol=1e-14)
