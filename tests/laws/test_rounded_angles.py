"""Angles of a linkage that were rounded when they were written: it moves as if they were not."""

import dataclasses
import math
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from support.loop_notations import NOTATIONS, digits, exact, four_bar, place, tree

import robodyn as rd
from robodyn.description import Joint, Link, Mechanism, Pose, with_exact_turns
from robodyn.description.exact_turns import exact_angle
from robodyn.errors import LoopWarning

SHORT = digits(5)


def acceleration(robot: rd.Robot) -> float:
    """Of the drive, with some angle, speed and torque."""
    at = robot.joints["drive"].v.start
    q, v, tau = robot.neutral(), np.zeros(robot.nv), np.zeros(robot.nv)
    q[at], v[at], tau[at] = 0.4, 2.0, 1.0
    q = robot.assemble(q, hold=["drive"], near=robot.neutral())
    v = robot.consistent_velocity(q, v, hold=["drive"])
    return float(robot.forward_dynamics(q, v, tau)[at])


@pytest.mark.parametrize("name", NOTATIONS)
def test_it_moves_as_if_angles_were_written_in_full(name: str) -> None:
    wanted = acceleration(rd.load(NOTATIONS[name](exact)))
    for count in (3, 4, 5, 6):
        robot = rd.load(NOTATIONS[name](digits(count)))
        assert robot.dof == 1, count
        assert acceleration(robot) == pytest.approx(wanted, rel=1e-9), count


def test_extended_urdf_and_loops_of_programs(tmp_path: Path) -> None:
    wanted = acceleration(rd.load(NOTATIONS["loop"](exact)))
    poses = [place("C", link) for link in ("coupler", "rocker")]
    ends = [Pose(xyz, tuple(float(SHORT(x)) for x in rpy)) for xyz, rpy in poses]
    pin = rd.Loop("c", "revolute", "coupler", "rocker", *ends, axis=(0.0, 0.0, 1.0))
    robots = [rd.load(four_bar("", SHORT), loops=[pin])]
    frames = "".join(
        f'<link name="{link}_pin"/><joint name="{link}_pin_fixed" type="fixed">'
        f'<parent link="{link}"/><child link="{link}_pin"/>'
        f'<origin xyz="{" ".join(map(str, X.xyz))}" rpy="{" ".join(map(str, X.rpy))}"/></joint>'
        for link, X in zip(("coupler", "rocker"), ends, strict=True)
    )
    (tmp_path / "linkage.urdf").write_text(f'<robot name="r">{tree(SHORT)}{frames}</robot>')
    for kind in ("3d", "6d"):
        closing = f"closed_loop: [[coupler_pin, rocker_pin]]\ntype: [{kind}]\nname_mot: [drive]\n"
        (tmp_path / f"{kind}.yaml").write_text(closing)
    robots.append(rd.load(tmp_path / "3d.yaml", urdf=tmp_path / "linkage.urdf"))
    for robot in robots:
        assert acceleration(robot) == pytest.approx(wanted, rel=1e-9)


def test_minimal_coordinates_know_the_same_linkage() -> None:
    wanted = acceleration(rd.load(NOTATIONS["loop"](exact)))
    robot = rd.load(NOTATIONS["loop"](SHORT), coordinates="minimal")
    assert (robot.nv, robot.nc) == (1, 0)
    assert robot.forward_dynamics([0.4], [2.0], [1.0]) == pytest.approx([wanted], rel=1e-9)


def test_what_is_in_no_loop_keeps_its_digits() -> None:
    arm = (
        '<link name="arm"/><joint name="shoulder" type="fixed"><parent link="rocker"/>'
        '<child link="arm"/><origin rpy="1.5708 0 0"/></joint>'
    )
    text = NOTATIONS["loop"](SHORT).replace("<motor", f"{arm}<motor")
    angles = {joint.name: joint.origin.rpy for joint in rd.load(text).mechanism.joints}
    assert angles["drive"] == (-math.pi / 2, 0.0, 0.0)
    assert angles["shoulder"] == (1.5708, 0.0, 0.0)
    assert rd.load(four_bar("", SHORT)).mechanism.joints[0].origin.rpy == (-1.5708, 0.0, 0.0)


def test_to_the_letter_every_digit_is_kept() -> None:
    text = NOTATIONS["loop of a ball"](SHORT)
    robot = rd.load(text, rigid=True)
    assert robot.mechanism.joints[0].origin.rpy == (-1.5708, 0.0, 0.0)
    assert robot.dof == 0


def test_snap_does_nothing_but_say_so() -> None:
    text = NOTATIONS["loop of a ball"](SHORT)
    with pytest.warns(DeprecationWarning, match="rigid=True"):
        robot = rd.load(text, snap=1e-4)
    assert robot.mechanism == rd.load(text).mechanism


def test_to_the_letter_and_by_a_tolerance_contradict_each_other() -> None:
    text = NOTATIONS["loop of a ball"](SHORT)
    with pytest.raises(
        rd.SettingsError, match=r"leave rigid=True out .* leave closure_tolerance= at"
    ):
        rd.load(text, rigid=True, closure_tolerance=1e-3)
    with pytest.raises(rd.SettingsError, match="leave snap= out"):
        rd.load(text, rigid=True, snap=1e-4)
    letter = rd.load(text, rigid=True, closure_tolerance=1e-7)
    with pytest.raises(rd.SettingsError, match=r"closure_tolerance=0\.001 lets frames be moved"):
        letter.with_(closure_tolerance=1e-3)
    with pytest.raises(rd.SettingsError, match="load it with rigid=False"):
        letter.with_(rigid=False)
    assert letter.with_(gravity=(0.0, 0.0, 0.0), rigid=True).dof == 0


def test_angles_that_are_parts_of_a_turn_to_their_digits() -> None:
    degrees = {90: (1.57, 1.571, 1.5708, 1.5707, 1.57079, 1.570796, 1.57075, 1.570795)}
    degrees |= {180: (3.14, 3.142, 3.1416, 3.1415, 3.14159265), -180: (-3.1416,)}
    degrees |= {270: (4.71, 4.7124), 45: (0.7854, 0.78539), 120: (2.0944,), 30: (0.5236,)}
    for angle, written in degrees.items():
        for x in written:
            assert exact_angle(x) == pytest.approx(math.radians(angle), abs=1e-15), x
    others = (0.0, 1.6, 1.5, 1.58, 1.56, 3.1, 3.15, 3.1417, 1.5709, 1.5706, 0.785, 0.3491, 1e-5)
    for x in others:
        assert exact_angle(x) == x
    assert exact_angle(math.pi / 3) == math.pi / 3


def test_axes_that_are_at_thirty_degrees_to_their_digits() -> None:
    size = math.hypot(0.866, 0.5)
    axis = (0.866 / size, 0.0, 0.5 / size)
    links = (Link("a"), Link("b"))
    joints = tuple(Joint(name, "revolute", "a", "b", axis=axis) for name in "jk")
    mechanism = Mechanism("m", links, joints)
    exact, changed = with_exact_turns(mechanism)
    assert len(changed) == 2
    assert exact.joints[0].axis == pytest.approx((math.sqrt(0.75), 0.0, 0.5), abs=1e-15)
    open_tree = dataclasses.replace(mechanism, joints=joints[:1])
    assert with_exact_turns(open_tree) == (open_tree, ())


def tilted(form: Callable[[float], str], cut: str) -> str:
    """A four-bar in a plane at 70 degrees, of which the axes at A and D point opposite ways."""
    body = (
        '<inertial><origin xyz="0.1 0 0"/><mass value="1"/><inertia ixx="0.001" ixy="0" ixz="0" '
        'iyy="0.002" iyz="0" izz="0.002"/></inertial>'
    )
    links = "".join(f'<link name="{name}">{body}</link>' for name in ("crank", "coupler", "rocker"))
    up, down = form(math.radians(70.0)), form(math.radians(-110.0))

    def joint(name: str, parent: str, child: str, origin: str) -> str:
        return (
            f'<joint name="{name}" type="continuous"><parent link="{parent}"/>'
            f'<child link="{child}"/><origin {origin}/><axis xyz="0 0 1"/></joint>'
        )

    def loop(ends: tuple[str, str], predecessor: str, successor: str) -> str:
        return (
            f'<loop name="cut" type="revolute"><axis xyz="0 0 1"/><predecessor link="{ends[0]}">'
            f'<origin {predecessor}/></predecessor><successor link="{ends[1]}">'
            f"<origin {successor}/></successor></loop>"
        )

    pins = joint("drive", "ground", "crank", f'rpy="{up} 0 0"')
    pins += joint("b", "crank", "coupler", 'xyz="0.1 0 0"')
    if cut == "c":
        pins += joint("d", "ground", "rocker", f'xyz="0.3 0 0" rpy="{down} 0 0"')
        pins += loop(
            ("coupler", "rocker"), 'xyz="0.25 0 0"', 'xyz="0.2 0 0" rpy="3.1415926536 0 0"'
        )
    else:
        pins += joint("c", "coupler", "rocker", 'xyz="0.25 0 0"')
        pins += loop(
            ("ground", "rocker"),
            f'xyz="0.3 0 0" rpy="{down} 0 0"',
            'xyz="0.2 0 0" rpy="3.1415926536 0 0"',
        )
    return f'<robot name="tilted"><link name="ground"/>{links}{pins}<motor joint="drive"/></robot>'


@pytest.mark.parametrize("cut", "cd")
@pytest.mark.parametrize("count", [4, 5, 7, 9])
def test_axes_of_joints_on_one_link_are_made_parallel(cut: str, count: int) -> None:
    """Within what the digits of the file can have done, with one warning."""
    wanted = acceleration(rd.load(tilted(exact, cut)))
    with pytest.warns(LoopWarning, match="close and leave 1") as given:
        robot = rd.load(tilted(digits(count), cut))
    assert len(given) == 1
    assert robot.dof == 1
    # gravity depends on the angle of the plane, which is rounded too
    assert acceleration(robot) == pytest.approx(wanted, rel=100.0 * 10.0**-count)
