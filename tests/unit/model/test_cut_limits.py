"""Limits of joints that are cut: assembly, random and neutral postures stay within them."""

import numpy as np
import pytest
from support.recut import changed_joint

import robodyn as rd
from robodyn import urdf
from robodyn.errors import UrdfWarning
from robodyn.model.joint_info import limit_excess


def limited(lower, upper, **options):
    """The four-bar, whose cut pin goes from -1.09 to 0.448 as its crank turns."""
    limits = rd.Limits(lower, upper)
    described = changed_joint(
        urdf.load_mechanism("four_bar"), "rocker_pin", kind="revolute", limits=limits
    )
    robot = rd.load(described, **options)
    assert robot.joints["rocker_pin"].cut
    return robot


def pin(robot, q):
    return robot.joint_positions(q)["rocker_pin"]


def test_a_held_joint_that_needs_a_cut_one_beyond_its_limit_is_refused():
    robot, free = limited(-0.2, 0.2), rd.load("four_bar")
    q = free.assemble([0.5, 0.0, 0.0], hold=["crank_drive"])
    assert pin(free, q) > 0.2
    told = r"'rocker_pin', which is cut, would be at 0\.280426, but its limits are -0\.2 to 0\.2"
    with pytest.raises(rd.AssemblyError, match=told):
        robot.assemble([0.5, 0.0, 0.0], hold=["crank_drive"])
    beyond = robot.assemble([0.5, 0.0, 0.0], hold=["crank_drive"], beyond_limits=True)
    np.testing.assert_allclose(beyond, q, atol=1e-9)


def test_assembly_moves_until_a_cut_joint_is_within_its_limits():
    robot = limited(-0.2, 0.2)
    q = robot.assemble([0.5, -0.66, 0.11])
    assert np.abs(robot.loop_residual(q)).max() < 1e-10
    assert -0.2 - 1e-6 <= pin(robot, q) <= 0.2 + 1e-6
    assert abs(q[0] - 0.5) < 0.4, "near the guess"


def test_a_limit_that_a_cut_joint_cannot_meet_is_told():
    with pytest.raises(rd.TopologyError, match=r"'rocker_pin', which is cut, .* 0\.5 to 0\.7"):
        limited(0.5, 0.7).neutral()


def test_random_postures_are_within_the_limits_of_cut_joints():
    robot, rng = limited(-0.4, 0.1), np.random.default_rng(0)
    q = np.array([robot.random(rng) for _ in range(20)])
    assert np.ptp(q[:, 0]) > 0.5
    excess = limit_excess(robot.joint_positions(q), robot.joints)["rocker_pin"]
    assert np.abs(excess).max() < 1e-6


def test_a_branch_ends_where_a_cut_joint_meets_its_limit():
    robot = limited(-0.4, 0.2)
    start = robot.neutral()
    q = robot.assemble([0.2, 0.0, 0.0], hold=["crank_drive"], near=start)
    assert q[0] == pytest.approx(0.2)
    with pytest.raises(rd.AssemblyError, match="'rocker_pin' is at its limit"):
        robot.assemble([0.6, 0.0, 0.0], hold=["crank_drive"], near=start)


def test_limits_of_a_loop_that_leave_it_no_motion_are_none():
    """Exporters of CAD programs write zeros where they do not know."""
    text = urdf.write(urdf.load_mechanism("four_bar"))
    text = text.replace(
        '<joint name="rocker_pin" type="continuous">',
        '<joint name="rocker_pin" type="revolute" cut="true"><limit lower="0" upper="0"/>',
    )
    with pytest.warns(UrdfWarning, match="both 0: no limits"):
        robot = rd.load(text)
    assert robot.joints["rocker_pin"].position_limits is None


def test_random_postures_in_minimal_coordinates_are_within_the_limits_of_cut_joints():
    robot, rng = limited(-0.4, 0.1, coordinates="minimal"), np.random.default_rng(0)
    q = np.array([robot.random(rng) for _ in range(20)])
    assert np.ptp(q) > 0.5
    excess = limit_excess(robot.joint_positions(q), robot.joints)["rocker_pin"]
    assert np.abs(excess).max() < 1e-6


def test_who_holds_a_cut_joint_is_told_how_it_gets_a_coordinate():
    with pytest.raises(rd.UnknownNameError, match="it is cut; it gets one by a motor"):
        rd.load("four_bar").assemble(np.zeros(3), hold=["rocker_pin"])


def test_who_drives_a_cut_joint_is_told_how_it_gets_a_coordinate(four_bar):
    still = {"q0": four_bar.neutral(), "v0": np.zeros(3), "duration": 0.1}
    with pytest.raises(rd.UnknownNameError, match="it is cut; it gets one by a motor"):
        rd.simulate(four_bar, controlled={"rocker_pin": lambda t: (0.0, 0.0, 0.0)}, **still)
    with pytest.raises(rd.UnknownNameError, match="it is cut; it gets one by a motor"):
        rd.simulate(four_bar, locked=["rocker_pin"], **still)


def test_a_start_of_a_cut_joint_is_within_its_limits():
    for turns in (0.0, 2.0 * np.pi):
        near = {"rocker_pin": 0.05 + turns}
        q = limited(-0.4, 0.1, near=near).neutral()
        found = limited(-0.4, 0.1).joint_positions(q)["rocker_pin"]
        assert float(found) == pytest.approx(0.05, abs=1e-9)
    with pytest.raises(rd.SettingsError, match=r"near\['rocker_pin'\] is 0.3, beyond its limits"):
        limited(-0.4, 0.1, near={"rocker_pin": 0.3})
