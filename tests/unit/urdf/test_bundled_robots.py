"""The bundled robots against the figures that they are made from."""

import os
import subprocess
import sys
import warnings
import zipfile
from pathlib import Path

import numpy as np
import pytest

import robodyn as rd
from robodyn import urdf
from robodyn.topology.spanning_tree import spanning_tree

ROOT = Path(rd.__file__).parents[1]

GRAVITY = 9.81
TREES = [
    name for name in urdf.bundled_robots() if not spanning_tree(urdf.load_mechanism(name)).cuts
]


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
    with warnings.catch_warnings(action="error"):
        assert urdf.problems(name) == []


#: Joints that move in the tree, their speeds on a fixed base, and mass of all links [kg].
SIZES = {
    "arm7": (7, 7, 5 + 4 + 4 + 3 + 2.6 + 1.8 + 1.5 + 0.5),
    "bricard": (5, 5, 6 / 24),
    "cart_arms": (14, 14, 80 + 40 + 2 * 15.9 + 150),
    "caster_table": (7, 9, 14 + 3 * (0.6 + 0.34 + 0.5)),
    "crank_slider": (3, 3, 12 + 2.55 + 0.55 + 0.48),
    "delta": (10, 18, 12 + 3 * 0.53 + 6 * 0.09 + 1),
    "double_pendulum": (2, 2, 2),
    "dual_arm": (15, 15, 20 + 22 + 4.5 + 2 * 6.85),
    "excavator": (12, 12, 7000 + 8400 + 1450 + 720 + 680 + 55 + 60 + 240 + 180 + 120),
    "five_bar": (4, 4, 15 + 0.8 + 0.5 + 0.3 + 1 + 0.45),
    "four_bar": (3, 3, 4 + 0.4 + 1.2 + 0.7),
    "palletizer": (10, 10, 400 + 75 + 62 + 14 + 9 + 5 + 6.5 + 5.5 + 16 + 9),
    "pan_tilt": (2, 2, 9 + 7 + 5.5),
    "prosthesis": (3, 6, 0.05 * 75 + 0.6),
    "puma560": (6, 6, 36.45),
    "satellite": (4, 4, 600 + 30 + 18 + 9),
    "scara": (4, 4, 14 + 6 + 7 + 0.9 + 0.4),
    "steering": (5, 7, 6 + 2.4 + 2 * 21.4),
    "stephenson": (5, 5, 5.5 + 0.35 + 2.55 + 0.7 + 0.75 + 0.7),
    "stewart": (13, 21, 60 + 6 * 6.7 + 55),
    "two_feet": (10, 10, 40 + 75),
    "watt": (5, 5, 6 + 0.35 + 0.8 + 1.55 + 0.65 + 0.6),
}


@pytest.mark.parametrize("name", urdf.bundled_robots())
def test_bundled_robots_have_their_joints_and_masses(name):
    mechanism = urdf.load_mechanism(name)
    joints, speeds, mass = SIZES[name]
    tree = spanning_tree(mechanism)
    assert len(tree.joints) == joints
    assert sum(joint.joint.nv for joint in tree.joints) == speeds
    if name in TREES:
        assert rd.load(name).nv == speeds
    assert sum(link.inertia.mass for link in mechanism.links if link.inertia) == pytest.approx(mass)


@pytest.mark.parametrize("name", urdf.bundled_robots())
def test_bundled_robots_have_limits_that_fit_together(name):
    mechanism = urdf.load_mechanism(name)
    limits = {joint.name: joint.limits for joint in mechanism.joints if joint.limits}
    for joint in limits.values():
        assert joint.lower <= 0.0 <= joint.upper or name == "puma560"
        assert joint.velocity > 0.0
        assert joint.effort > 0.0
    for joint, motor in mechanism.actuators:
        if np.isfinite(motor.torque_limit):
            effort = abs(motor.gear_ratio) * motor.torque_limit
            assert effort == pytest.approx(limits[joint].effort, rel=1e-3)


def test_scara_feels_the_rotors_of_its_motors():
    """The motor of the spindle turns with the forearm, so that it couples all three rotations."""
    stiff = rd.load("scara", passive=False).mass_matrix(np.zeros(4))
    difference = rd.load("scara").mass_matrix(np.zeros(4)) - stiff
    shoulder, elbow, _, spindle = 80 * 5e-5, 50 * 2.2e-5, 0.0, 20 * 8e-6
    expected = np.array(
        [
            [80 * shoulder, elbow, 0.0, spindle],
            [elbow, 50 * elbow, 0.0, spindle],
            [0.0, 0.0, 314.1592653589793**2 * 1.2e-5, 0.0],
            [spindle, spindle, 0.0, 20 * spindle],
        ]
    )
    # the rotor of the lift turns with the forearm about z, its joint's own direction
    lift = 314.1592653589793 * 1.2e-5
    expected[[0, 1], 2] = expected[2, [0, 1]] = lift
    np.testing.assert_allclose(difference, expected, atol=1e-12)


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


@pytest.mark.parametrize(("robot", "trunk"), [("dual_arm", 0), ("cart_arms", 1)])
def test_dual_arms_are_their_own_mirror_image(robot, trunk):
    mechanism = urdf.load_mechanism(robot)
    links = {link.name: link.inertia for link in mechanism.links}
    for name, inertia in links.items():
        if name.startswith("left_") and inertia is not None:
            other = links[name.replace("left_", "right_")]
            x, y, z = inertia.origin.xyz
            assert other.origin.xyz == (x, -y, z)
            assert other.mass == inertia.mass
            np.testing.assert_array_equal(np.diag(other.matrix), np.diag(inertia.matrix))
    tree = spanning_tree(mechanism)
    assert [joint.parent for joint in tree.joints].count(trunk) == 2  # both arms hang on it


@pytest.mark.slow
def test_robots_load_from_a_package_in_a_zip_file(tmp_path):
    archive = tmp_path / "robodyn.zip"
    with zipfile.ZipFile(archive, "w") as file:
        for pattern in ("*.py", "*.urdf"):
            for path in (ROOT / "robodyn").rglob(pattern):
                file.write(path, path.relative_to(ROOT))
    text = (
        "import robodyn as rd\n"
        "assert 'robodyn.zip' in rd.__file__\n"
        "print(*rd.robots(), rd.load('four_bar').nv)"
    )
    environment = {**os.environ, "PYTHONPATH": str(archive)}
    command = [sys.executable, "-c", text]
    found = subprocess.check_output(command, env=environment, cwd=tmp_path, text=True)
    assert found.split() == [*urdf.bundled_robots(), str(rd.load("four_bar").nv)]
