"""Frames whose z is a joint's axis are as exact near -z as elsewhere."""

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

import robodyn as rd
from robodyn.joints.common.described import align_z

TILTS = [0.0, 1e-12, 3e-9, 0.99e-7, 1.01e-7, 1e-6, 1e-5, 1e-4, 1e-3, 0.1, 1.6]

PENDULUM = """<robot name="r"><link name="base"/><link name="arm"><inertial>
<origin xyz="0.3 0.1 0.2"/><mass value="1"/>
<inertia ixx="1" ixy="0" ixz="0" iyy="1" iyz="0" izz="1"/></inertial></link>
<joint name="j" type="continuous"><parent link="base"/><child link="arm"/>
<axis xyz="{} {} {}"/></joint></robot>"""


@pytest.mark.parametrize("tilt", TILTS)
def test_a_joint_turns_about_its_axis(tilt):
    across = np.array([0.6, -0.8, 0.0])
    axis = np.array([0.0, 0.0, -np.cos(tilt)]) + np.sin(tilt) * across
    R = align_z(axis)
    np.testing.assert_allclose(R.T @ R, np.eye(3), atol=1e-15)
    np.testing.assert_allclose(R[:, 2], axis, atol=1e-16)
    assert np.linalg.det(R) > 0.0
    robot = rd.load(PENDULUM.format(*map(repr, map(float, axis))), rigid=True)
    for angle in (0.0, 0.7):
        X = robot.frame_pose([angle], "arm")
        expected = Rotation.from_rotvec(angle * axis).as_matrix()
        np.testing.assert_allclose(X[:3, :3], expected, atol=1e-14)
