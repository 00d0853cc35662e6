"""The bundled robots against the figures that they are made from."""

from __future__ import annotations

import warnings

import numpy as np
import pytest

from robodyn import urdf
from robodyn.topology import spanning_tree

GRAVITY = 9.81


def gravity_torques(name, q):
    """Generalised gravity of a robot of revolute joints: differences of its potential energy."""
    tree = spanning_tree(urdf.load_mechanism(name))

    def energy(q):
        poses, total = [np.eye(4)], 0.0
        for joint, inertia, angle in zip(tree.joints, tree.inertias, q, strict=True):
            X = poses[joint.parent + 1] @ joint.X_PJ @ rotation(joint.joint.axis, angle)
            poses.append(X)
            total += GRAVITY * (X @ [*inertia.h, inertia.mass])[2]
        return total

    steps = 1e-6 * np.eye(len(q))
    return np.array([(energy(q + h) - energy(q - h)) / 2e-6 for h in steps])


def rotation(axis, angle):
    x, y, z = axis
    K = np.array([[0, -z, y], [z, 0, -x], [-y, x, 0]])
    X = np.eye(4)
    X[:3, :3] += np.sin(angle) * K + (1 - np.cos(angle)) * K @ K
    return X


@pytest.mark.parametrize("name", urdf.bundled_robots())
def test_bundled_robots_have_no_problem(name):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert urdf.problems(name) == []


@pytest.mark.parametrize(
    ("name", "joints"), [("puma560", 6), ("double_pendulum", 2), ("arm7", 7), ("dual_arm", 15)]
)
def test_bundled_robots_have_their_joints(name, joints):
    assert len(spanning_tree(urdf.load_mechanism(name)).joints) == joints


def test_puma_has_the_gravity_constants_of_its_paper():
    """Armstrong, Khatib, Burdick 1986, gravity terms with g1 .. g5 in N m as printed."""
    g1, g2, g3, g4, g5 = -37.2, -8.44, 1.02, 0.249, -0.0282
    rng = np.random.default_rng(5)
    for q in rng.uniform(-3, 3, (20, 6)):
        _, q2, q3, q4, q5, _ = q
        c2, s2, c23, s23 = np.cos(q2), np.sin(q2), np.cos(q2 + q3), np.sin(q2 + q3)
        wrist = g5 * (s23 * np.cos(q5) + c23 * np.cos(q4) * np.sin(q5))
        elbow = g2 * s23 + g4 * c23 + wrist
        expected = [
            0.0,
            g1 * c2 + g3 * s2 + elbow,
            elbow,
            -g5 * s23 * np.sin(q4) * np.sin(q5),
            g5 * (c23 * np.sin(q5) + s23 * np.cos(q4) * np.cos(q5)),
            0.0,
        ]
        # Half a unit of the last digit printed of each constant.
        rounding = 0.05 + 0.005 + 0.005 + 0.0005 + 0.00005
        np.testing.assert_allclose(gravity_torques("puma560", q), expected, rtol=0, atol=rounding)


def test_puma_has_the_motor_inertias_of_its_paper():
    motors = [actuator for _, actuator in urdf.load_mechanism("puma560").actuators]
    reflected = [motor.rotor_inertia * motor.gear_ratio**2 for motor in motors]
    np.testing.assert_allclose(reflected, [1.14, 4.71, 0.83, 0.200, 0.179, 0.193], rtol=1e-3)


def test_double_pendulum_hangs_down_and_weighs_as_two_rods():
    q = np.array([0.3, -0.7])
    expected = GRAVITY * np.array([1.5 * np.sin(0.3) + 0.5 * np.sin(-0.4), 0.5 * np.sin(-0.4)])
    np.testing.assert_allclose(gravity_torques("double_pendulum", q), expected, atol=1e-8)


def test_dual_arm_is_its_own_mirror_image():
    mechanism = urdf.load_mechanism("dual_arm")
    links = {link.name: link.inertia for link in mechanism.links}
    for name, inertia in links.items():
        if name.startswith("left_") and inertia is not None:
            other = links[name.replace("left_", "right_")]
            x, y, z = inertia.origin.xyz
            assert other.origin.xyz == (x, -y, z)
            assert other.mass == inertia.mass
            np.testing.assert_array_equal(np.diag(other.matrix), np.diag(inertia.matrix))
    tree = spanning_tree(mechanism)
    assert [joint.parent for joint in tree.joints].count(0) == 2  # both arms hang on the torso
