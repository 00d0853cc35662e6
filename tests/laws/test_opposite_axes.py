"""Joints that close loops, with axes of opposite signs on their two links."""

import dataclasses
import warnings

import numpy as np
import pytest
from support import planar_linkages as pl
from support.comparison import close_within

import robodyn as rd
from robodyn import Pose, urdf
from robodyn.description import Inertia, Joint, Limits, Link, Mechanism
from robodyn.errors import LoopWarning

close = close_within(1e-9)


def half_turn(axis, across):
    """Half a turn about the part of a vector that is normal to an axis, (4, 4)."""
    axis = np.array(axis) / np.linalg.norm(axis)
    across = across - axis * (axis @ across)
    across /= np.linalg.norm(across)
    T = np.eye(4)
    T[:3, :3] = 2.0 * np.outer(across, across) - np.eye(3)
    return T


def opposite(mechanism, *names, across=(0.3, 0.5, 0.4)):
    """With the axes of some loops, or of all, turned round on the successor."""
    loops = tuple(
        dataclasses.replace(
            x, X_successor=Pose.from_matrix(x.X_successor.matrix @ half_turn(x.axis, across))
        )
        if x.name in (names or x.name)
        else x
        for x in mechanism.loops
    )
    return dataclasses.replace(mechanism, loops=loops)


def loaded(mechanism, **options):
    """A robot, and the `LoopWarning` of its axes."""
    with warnings.catch_warnings(record=True, action="always") as found:
        robot = rd.load(mechanism, **options)
        q = robot.neutral()
    messages = [str(x.message) for x in found if x.category is LoopWarning]
    return robot, q, [x for x in messages if "opposite ways" in x]


def same_motion(robot, other, q):
    """Both have the same accelerations and the same wrenches in their joints."""
    v = robot.consistent_velocity(q, np.linspace(1.0, -0.5, robot.nv))
    tau = np.linspace(-0.3, 0.6, robot.nv)
    close(other.loop_residual(q), 0.0)
    close(other.forward_dynamics(q, v, tau), robot.forward_dynamics(q, v, tau))
    names = [x for x in robot.joints if robot.joints[x].q.stop > robot.joints[x].q.start]
    wrenches = (x.joint_wrenches(q, v, tau=tau, joints=names) for x in (robot, other))
    one, two = (np.concatenate([np.ravel(w[name]) for name in names]) for w in wrenches)
    close(two, one)


@pytest.mark.parametrize("name", ["five_bar", "watt", "palletizer", "bricard"])
def test_bundled_linkages_move_as_with_equal_axes(name):
    mechanism = urdf.load_mechanism(name)
    robot = rd.load(mechanism)
    other, _, messages = loaded(opposite(mechanism))
    assert len(messages) == 1
    assert other.dof == robot.dof
    same_motion(robot, other, robot.neutral())
    again, _, silent = loaded(other.mechanism)
    assert not silent
    assert again.dof == robot.dof


@pytest.mark.parametrize("seed", range(3))
def test_frames_turned_anyhow(seed):
    rng = np.random.default_rng(seed)
    plain, _ = pl.reframed(pl.four_bar(), rng)
    across = rng.normal(size=3)
    robot = rd.load(plain)
    for options in ({}, {"coordinates": "minimal"}):
        other, q, messages = loaded(opposite(plain, across=across), **options)
        assert len(messages) == 1
        close(np.exp(1j * other.expand(q)), np.exp(1j * robot.neutral()))


def slider(kind):
    """A closing joint along x that slides."""
    joints = (
        ("crank", "revolute", "ground", "crank_link", Pose(), pl.Y),
        ("rod_pin", "revolute", "crank_link", "rod", pl.at(0.1, 0.3), pl.Y),
        ("turn", "revolute", "rod", "block", pl.at(0.8, 0.0), pl.Y),
    )
    made = pl.linkage("slider", joints, ("ground", "block", pl.at(0.9, 0.3), Pose()))
    loop = dataclasses.replace(made.loops[0], kind=kind, axis=pl.X)
    return dataclasses.replace(made, loops=(loop,))


@pytest.mark.parametrize("across", [(0.0, 1.0, 0.0), (0.0, 0.0, 1.0), (0.0, 0.6, 0.8)])
@pytest.mark.parametrize("kind", ["prismatic", "cylindrical"])
def test_slides_count_along_the_axis_on_the_predecessor(kind, across):
    plain = slider(kind)
    robot = rd.load(plain)
    other, _, messages = loaded(opposite(plain, across=np.array(across)))
    assert "'pin' count about its axis on 'ground'" in messages[0]
    q = robot.assemble([0.2, 0.0, 0.0], hold=["crank"])
    same_motion(robot, other, q)
    ways = [np.ravel(x.joint_positions(q)["pin"])[0] for x in (robot, other)]
    assert abs(ways[0]) > 0.01
    close(ways[1], ways[0])


def test_what_is_drawn_open_and_closes_as_it_is_written_is_not_turned():
    """The block can turn over."""
    plain = opposite(slider("cylindrical"))
    crank, *others = plain.joints
    x, y, z = crank.origin.xyz
    moved = dataclasses.replace(crank, origin=Pose((x, y, z + 0.1), crank.origin.rpy))
    robot, q, messages = loaded(dataclasses.replace(plain, joints=(moved, *others)))
    assert not messages
    assert np.cos(q.sum()) == pytest.approx(-1.0)
    close(robot.loop_residual(q), 0.0)


def test_a_plane_whose_normals_are_opposite():
    joints = (
        ("lift", "prismatic", "ground", "frame", Pose(), pl.Z),
        ("slide", "prismatic", "frame", "block", Pose(), pl.X),
    )
    made = pl.linkage("table", joints, ("ground", "block", Pose(), Pose()))
    loop = dataclasses.replace(made.loops[0], kind="planar", axis=pl.Z)
    plain = dataclasses.replace(made, loops=(loop,))
    other, _, messages = loaded(opposite(plain))
    assert len(messages) == 1
    assert other.dof == rd.load(plain).dof == 1


@pytest.mark.parametrize("across", [(1.0, 0.0, 0.0), (0.0, 0.0, 1.0)])
def test_limits_hold_about_the_axis_on_the_predecessor(across):
    """Drawn closed, the angle is zero; it grows as with equal axes."""
    plain = pl.four_bar()
    (pin,) = plain.loops
    plain = dataclasses.replace(
        plain, loops=(dataclasses.replace(pin, limits=Limits(lower=-0.2, upper=0.9)),)
    )
    robot = rd.load(plain)
    other, q, _ = loaded(opposite(plain, across=np.array(across)))
    close(q, robot.neutral())
    for angle in (-0.1, 0.1):
        there = robot.assemble([angle, 0.0, 0.0], hold=["crank"])
        close(other.joint_positions(there)["pin"], robot.joint_positions(there)["pin"])


def test_a_joint_with_a_spring_has_a_coordinate_of_its_own():
    plain = pl.four_bar()
    (pin,) = plain.loops
    plain = dataclasses.replace(
        plain, loops=(dataclasses.replace(pin, stiffness=3.0, rest=0.1, damping=0.2),)
    )
    robot = rd.load(plain)
    other, q, messages = loaded(opposite(plain, across=np.array((1.0, 0.0, 0.0))))
    assert len(messages) == 1
    close(other.forward_dynamics(q, np.zeros(4), np.zeros(4)),
          robot.forward_dynamics(q, np.zeros(4), np.zeros(4)))  # fmt: skip


def mirrored_four_bar(half_turn):
    """A four-bar whose rocker is mounted upside down; so stands the frame that meets the coupler.

    Parameters
    ----------
    half_turn : float [rad]
        Of that frame about its x axis, across the hinge.
    """
    body = Inertia.from_matrix(1.0, (0.3, 0.0, 0.0), np.eye(3))
    turning = dict(kind="continuous", axis=(0.0, 0.0, 1.0))
    mounted, ahead = Pose((0.9, 0, 0), (np.pi, 0, 0)), Pose((0.6, 0, 0), (half_turn, 0, 0))
    joints = (
        Joint("drive", parent="base", child="crank", **turning),
        Joint("knee", parent="crank", child="coupler", origin=Pose((0.3, 0, 0)), **turning),
        Joint("mount", parent="base", child="rocker", origin=mounted, **turning),
        Joint("pin", parent="rocker", child="coupler", origin=ahead, **turning),
    )
    links = (Link("base"), *(Link(name, body) for name in ("crank", "coupler", "rocker")))
    return Mechanism("mirrored", links, joints)


def test_a_joint_of_the_tree_that_is_cut_has_its_origin_turned():
    meant = rd.load(mirrored_four_bar(np.pi))
    robot, q, messages = loaded(mirrored_four_bar(0.0))
    assert "'pin' count about its axis on 'coupler' (turn its origin)" in messages[0]
    assert robot.dof == meant.dof == 1
    close(meant.loop_residual(q), 0.0)


LOOP = """
  <loop name="pin" type="revolute"><axis xyz="0 0 1"/>
    <predecessor link="rocker"><origin xyz="0.6 0 0"/></predecessor>
    <successor link="coupler"><origin rpy="{}"/></successor></loop>
"""


def test_the_remedy_of_the_warning_silences_it():
    drawn = mirrored_four_bar(0.0)
    text = urdf.write(dataclasses.replace(drawn, joints=drawn.joints[:3]))
    _, _, messages = loaded(text.replace("</robot>", LOOP.format("0 0 0") + "</robot>"))
    assert "count about its axis on 'rocker' (turn its frame on 'coupler')" in messages[0]
    turned = LOOP.format("3.14159265358979 0 0")
    _, _, messages = loaded(text.replace("</robot>", turned + "</robot>"))
    assert not messages


def test_rounded_frames_are_closed_as_well():
    (pin,) = opposite(pl.four_bar()).loops
    rough = Pose(tuple(round(x, 5) for x in pin.X_successor.xyz),
                 tuple(round(x, 7) for x in pin.X_successor.rpy))  # fmt: skip
    (x, y, z), rpy = pin.X_predecessor.xyz, pin.X_predecessor.rpy
    moved = dataclasses.replace(pin, X_successor=rough, X_predecessor=Pose((x, y + 1e-7, z), rpy))
    robot, _, messages = loaded(dataclasses.replace(pl.four_bar(), loops=(moved,)))
    assert len(messages) == 1
    assert robot.dof == 1


@pytest.mark.parametrize("aside", [0.01, 0.2])
def test_what_does_not_close_either_way_is_refused_as_it_was_written(aside):
    plain = opposite(pl.four_bar())
    (pin,) = plain.loops
    x, y, z = pin.X_predecessor.xyz
    apart = dataclasses.replace(pin, X_predecessor=Pose((x, y + aside, z), pin.X_predecessor.rpy))
    with warnings.catch_warnings(action="error"):
        robot = rd.load(dataclasses.replace(plain, loops=(apart,)))
        with pytest.raises(rd.TopologyError, match="their axes by 180 degrees"):
            robot.neutral()
    assert robot.mechanism.loops[0] == apart
