"""Slides of linkages in minimal coordinates: forces along them, and loops that they close."""

import re

import numpy as np
import pytest

import robodyn as rd

INERTIA = '<mass value="2"/><inertia ixx="0.1" iyy="0.2" izz="0.2" ixy="0" ixz="0" iyz="0"/>'
LINKS = '<link name="frame"/>' + "".join(
    f'<link name="{name}"><inertial><origin xyz="0.1 0 0.02"/>{INERTIA}</inertial></link>'
    for name in ("crank", "block", "yoke")
)
PIN = ("pin", "revolute", "0 -1 0", "crank", "block", "0.15 0 0")
SLOT = ("slot", "prismatic", "0 0 1", "yoke", "block", "0 0 0")


def joint(name, kind, axis, parent, child, origin):
    limit = '<limit lower="-9" upper="9" effort="9" velocity="9"/>'
    return (
        f'<joint name="{name}" type="{kind}"><parent link="{parent}"/><child link="{child}"/>'
        f'<origin xyz="{origin}"/><axis xyz="{axis}"/>{limit}</joint>'
    )


def loop(name, kind, axis, parent, child, origin):
    return (
        f'<loop name="{name}" type="{kind}"><predecessor link="{parent}"><origin xyz="{origin}"/>'
        f'</predecessor><successor link="{child}"/><axis xyz="{axis}"/></loop>'
    )


def yoke(closing):
    """A Scotch yoke, whose slot or whose pin closes the loop."""
    crank = joint("crank", "continuous", "0 -1 0", "frame", "crank", "0 0 0")
    guide = joint("guide", "prismatic", "1 0 0", "frame", "yoke", "0 0 0")
    parts = (joint(*PIN), loop(*SLOT)) if closing == "slot" else (joint(*SLOT), loop(*PIN))
    return f'<robot name="yoke">{LINKS}{crank}{guide}{"".join(parts)}<motor joint="crank"/></robot>'


NEAR = {"crank": 0.7, "guide": 0.15 * np.cos(0.7)}


def test_a_loop_that_a_slide_closes_is_to_be_cut_at_a_pin():
    with pytest.raises(rd.TopologyError, match="cut it at a pin") as error:
        rd.load(yoke("slot"), coordinates="minimal", near=NEAR | {"pin": -0.7})
    named = re.findall(r"make '(\w+)' a <joint>, and '(\w+)' the <loop>", str(error.value))
    assert named == [("slot", "pin")]
    followed = rd.load(yoke("pin"), coordinates="minimal", near=NEAR | {"slot": 0.15 * np.sin(0.7)})
    assert followed.joint_names == ("crank",) and followed.nc == 0


@pytest.mark.parametrize("joint_name", ["guide", "slot"])
def test_a_force_along_a_slide_lets_it_follow(joint_name):
    """A law of its position and speed is the same in both kinds of coordinates."""

    def law(q, v, t):
        return [3.0 * rd.sin(4.0 * q[0]) - 7.0 * v[0] * v[0] + 5.0 * t]

    near = NEAR | {"slot": 0.15 * np.sin(0.7)}
    force = rd.Force(law, joint=joint_name)
    tree = rd.load(yoke("pin"), near=near, forces=[force])
    minimal = rd.load(yoke("pin"), coordinates="minimal", near=near, forces=[force])
    assert minimal.joint_names == ("crank",)
    for k, (angle, speed) in enumerate(((0.7, 2.0), (1.2, -3.0), (0.2, 0.5))):
        t = 0.3 * k
        q, v = np.array([angle]), np.array([speed])
        full, full_v = minimal.at(t).expand(q), minimal.at(t).expand_velocity(q, v)
        here, there = minimal.at(t), tree.at(t)
        a = here.forward_dynamics(q, v, [0.4])
        tau = np.zeros(tree.nv)
        tau[tree.joints["crank"].v] = 0.4
        whole = there.forward_dynamics(full, full_v, tau)
        np.testing.assert_allclose(here.expand_acceleration(q, v, a), whole, atol=1e-9)
        np.testing.assert_allclose(here.inverse_dynamics(q, v, a), [0.4], atol=1e-9)
        wrenches = here.joint_wrenches(q, v, a), there.joint_wrenches(full, full_v, whole)
        for name in ("crank", "guide", "slot"):
            np.testing.assert_allclose(wrenches[0][name], wrenches[1][name], atol=1e-8)


def test_forces_of_angles_that_hold_too_many_joints_are_named(four_bar):
    laws = [
        rd.Force(lambda q, v, t: [-q[0]], joint=name, name=f"on {name}")
        for name in four_bar.joint_names
    ]
    with pytest.raises(rd.TopologyError, match="forces of theirs are functions of their angles"):
        rd.load("four_bar", coordinates="minimal", forces=laws)
