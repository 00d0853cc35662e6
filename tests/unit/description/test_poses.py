"""Poses as URDF writes them, against scipy: roll, pitch and yaw of any rotation and back."""

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

from robodyn.description import Pose

QUARTER = np.pi / 2


def pose(R):
    X = np.eye(4)
    X[:3, :3] = R
    return X


def test_roll_pitch_and_yaw_turn_about_fixed_axes_in_this_order():
    rng = np.random.default_rng(0)
    for rpy in rng.uniform(-4.0, 4.0, size=(50, 3)):
        expected = Rotation.from_euler("xyz", rpy).as_matrix()  # lower case: fixed axes
        given = Pose((1.0, 2.0, 3.0), tuple(map(float, rpy))).matrix
        np.testing.assert_allclose(given[:3, :3], expected, atol=1e-15)
        np.testing.assert_array_equal(given[:, 3], [1.0, 2.0, 3.0, 1.0])


def test_angles_of_a_rotation_are_those_of_scipy():
    for seed in range(50):
        turn = Rotation.random(random_state=seed)
        found = Pose.from_matrix(pose(turn.as_matrix())).rpy
        np.testing.assert_allclose(found, turn.as_euler("xyz"), atol=1e-13)


@pytest.mark.parametrize("pitch", [QUARTER, -QUARTER])
@pytest.mark.parametrize("roll", [0.0, 0.7, -2.5])
@pytest.mark.parametrize("yaw", [0.0, -0.4, 3.0])
def test_at_gimbal_lock_the_rotation_comes_back_without_roll(pitch, roll, yaw):
    R = Rotation.from_euler("xyz", [roll, pitch, yaw]).as_matrix()
    found = Pose.from_matrix(pose(R))
    np.testing.assert_allclose(found.matrix[:3, :3], R, atol=1e-15)
    assert found.rpy[0] == 0.0
    assert found.rpy[1] == pytest.approx(pitch)


@pytest.mark.parametrize("sign", [1.0, -1.0])
@pytest.mark.parametrize("distance", [1e-5, 1e-7, 1e-9, 1e-11, 1e-13, 1e-15])
def test_near_gimbal_lock_no_digit_of_the_rotation_is_lost(distance, sign):
    rng = np.random.default_rng(1)
    for roll, yaw in rng.uniform(-3.0, 3.0, size=(20, 2)):
        R = Rotation.from_euler("xyz", [roll, sign * (QUARTER - distance), yaw]).as_matrix()
        np.testing.assert_allclose(Pose.from_matrix(pose(R)).matrix[:3, :3], R, atol=1e-14)
