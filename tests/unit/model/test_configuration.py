"""The space of coordinates beside limits."""

import numpy as np

import robodyn as rd


def test_a_tree_is_neutral_at_zero_also_where_limits_exclude_it():
    limits = '<limit lower="0.4" upper="1.0" effort="9" velocity="9"/>'
    robot = rd.load(
        '<robot name="one"><link name="base"/><link name="arm"><inertial><mass value="1"/><inertia'
        ' ixx="1" ixy="0" ixz="0" iyy="1" iyz="0" izz="1"/></inertial></link><joint name="pin"'
        f' type="revolute"><parent link="base"/><child link="arm"/>{limits}</joint></robot>'
    )
    np.testing.assert_array_equal(robot.neutral(), [0.0])
    within = np.clip(robot.neutral(), robot.lower_limits, robot.upper_limits)
    np.testing.assert_array_equal(within, [0.4])
