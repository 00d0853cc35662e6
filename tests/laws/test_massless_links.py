"""Massless intermediate links [W S26]: a chain of simple joints is the joint it makes up."""

import dataclasses

import numpy as np
import pytest
from support.random_mechanisms import random_mechanism

import robodyn as rd
from robodyn import urdf
from robodyn.description import Joint, Link, Pose
from robodyn.urdf.checks.check import massless_motions

X, Y, Z = (1.0, 0.0, 0.0), (0.0, 1.0, 0.0), (0.0, 0.0, 1.0)


def split(mechanism, name, parts):
    """A joint replaced by a chain of joints (kind, axis) over massless links."""
    joints, links = [], list(mechanism.links)
    for joint in mechanism.joints:
        if joint.name != name:
            joints.append(joint)
            continue
        parent, origin = joint.parent, joint.origin
        for k, (kind, axis) in enumerate(parts):
            last = k == len(parts) - 1
            child = joint.child if last else f"{name}_{k}"
            if not last:
                links.append(Link(child))
            joints.append(Joint(f"{name}.{k}", kind, parent, child, origin, axis))
            parent, origin = child, Pose()
    return dataclasses.replace(mechanism, links=tuple(links), joints=tuple(joints))


@pytest.mark.parametrize(
    ("kind", "axis", "axis2", "parts"),
    [
        ("universal", X, Y, [("revolute", X), ("revolute", Y)]),
        ("universal", X, (0.6, 0.0, 0.8), [("revolute", X), ("revolute", (0.6, 0.0, 0.8))]),
        ("cylindrical", Z, Y, [("prismatic", Z), ("revolute", Z)]),
    ],
)
@pytest.mark.parametrize("base", ["fixed", "floating"])
def test_a_chain_over_massless_links_is_one_joint(kind, axis, axis2, parts, base):
    rng = np.random.default_rng(4)
    mechanism = random_mechanism(rng, ["revolute", kind, "revolute"])
    joints = tuple(
        dataclasses.replace(j, axis=axis, axis2=axis2) if j.name == "joint1" else j
        for j in mechanism.joints
    )
    mechanism = dataclasses.replace(mechanism, joints=joints)
    one = rd.load(mechanism, base=base)
    chain = rd.load(split(mechanism, "joint1", parts), base=base)
    assert chain.nv == one.nv
    q = one.random(rng)
    v, a, tau = rng.normal(size=(3, one.nv))
    M = chain.mass_matrix(q)
    assert np.linalg.eigvalsh(M).min() > 0.0
    for name, arrays in (
        ("inverse_dynamics", (q, v, a)),
        ("forward_dynamics", (q, v, tau)),
        ("momentum", (q, v)),
        ("mass_matrix", (q,)),
    ):
        expected = getattr(one, name)(*arrays)
        scale = np.abs(expected).max()
        np.testing.assert_allclose(getattr(chain, name)(*arrays), expected, atol=1e-10 * scale)


def test_a_massless_branch_that_a_loop_holds():
    """Two joints in a row without mass, closed by a third, let a crank swing as it would alone."""
    rod = Link("crank", rd.Inertia.from_matrix(2.0, (0.5, 0.0, 0.0), 0.1 * np.eye(3)))
    links = (Link("ground"), rod, Link("rocker"), Link("coupler"))
    joints = (
        Joint("drive", "revolute", "ground", "crank", axis=Z),
        Joint("pivot", "revolute", "ground", "rocker", Pose((2.0, 0.0, 0.0)), Z),
        Joint("elbow", "revolute", "rocker", "coupler", Pose((-0.5, 1.2, 0.0)), Z),
    )
    pin = rd.Loop(
        "pin", "revolute", "crank", "coupler", Pose((1.0, 0.0, 0.0)), Pose((-0.5, -1.2, 0.0)),
        axis=Z,
    )  # fmt: skip
    options = {"gravity": (0.0, -9.81, 0.0)}
    alone = rd.load(rd.Mechanism("crank", links[:2], joints[:1]), **options)
    text = urdf.write(rd.Mechanism("four_bar", links, joints, (pin,)))
    assert massless_motions(urdf.load_mechanism(text)) == []
    robot = rd.load(text, **options)
    q = robot.neutral()
    v = robot.consistent_velocity(q, [2.0, 0.0, 0.0], hold=["drive"])
    a = robot.forward_dynamics(q, v, [3.0, 0.0, 0.0])
    expected = alone.forward_dynamics(q[:1], v[:1], [3.0])
    np.testing.assert_allclose(a[robot.joints["drive"].v], expected, rtol=1e-9)


TIES = {
    "mimic": '<mimic joint="knob" multiplier="-2"/></joint>',
    "coupling": '</joint><coupling name="gear"><predecessor link="knob"/><successor link="arm"/>'
    '<ratio value="-2"/></coupling>',
    "follower": '</joint><follower joint="arm" of="knob" polynomial="0 -2 0.5"/>',
}


@pytest.mark.parametrize("tie", TIES)
def test_a_massless_joint_that_moves_with_another(tie):
    """Which has the mass of both, or neither has."""

    def text(mass):
        body = rd.Link("arm", rd.Inertia(mass, rd.Pose((0, 0, 0.2)))) if mass else rd.Link("arm")
        links = (rd.Link("base"), rd.Link("knob"), body)
        joints = [rd.Joint(x, "revolute", "base", x, axis=(0, 1, 0)) for x in ("knob", "arm")]
        head, end = urdf.write(rd.Mechanism("pair", links, tuple(joints))).rsplit("</joint>", 1)
        return head + TIES[tie] + end

    assert massless_motions(urdf.load_mechanism(text(1.0))) == []
    robot = rd.load(text(1.0))
    assert robot.nv == 1 and robot.forward_dynamics([0.1], [0.0], [0.0])[0] != 0.0
    error, *_ = massless_motions(urdf.load_mechanism(text(0.0)))
    assert "'knob'" in str(error)


def test_two_pins_that_do_not_meet():
    """The axes of W fig. 5.32: the massless link between them carries what the pins do not free."""
    rng = np.random.default_rng(5)
    mechanism = random_mechanism(rng, ["revolute", "revolute", "revolute"])
    links = tuple(Link(x.name) if x.name == "link2" else x for x in mechanism.links)
    joints = tuple(
        dataclasses.replace(j, parent=f"link{k}") for k, j in enumerate(mechanism.joints)
    )
    robot = rd.load(dataclasses.replace(mechanism, links=links, joints=joints))
    q, v = robot.random(rng), rng.normal(size=3)
    tau = rng.normal(size=3)
    a = robot.forward_dynamics(q, v, tau)
    np.testing.assert_allclose(robot.inverse_dynamics(q, v, a), tau, atol=1e-10)
    loads = robot.joint_wrenches(q, v, a)
    # no mass between the two joints: what goes in comes out
    inner = loads.in_frame("world")
    np.testing.assert_allclose(inner["joint1"], inner["joint2"], atol=1e-9)


def test_a_robot_of_which_nothing_moves_has_no_center_of_mass():
    block = Link("block", rd.Inertia(2.0, ixx=1.0, iyy=1.0, izz=1.0))
    mechanism = rd.Mechanism("block", (block,))
    stands = rd.load(mechanism)
    for name, given in (("center_of_mass", 1), ("momentum", 2), ("centroidal_matrix", 1)):
        for _ in range(2):
            with pytest.raises(rd.errors.SettingsError, match="nothing of the robot that moves"):
                getattr(stands, name)(*[[]] * given)
    free = rd.load(mechanism, base="floating")
    np.testing.assert_allclose(free.center_of_mass([1, 2, 3, 0, 0, 0, 1]), [1, 2, 3])
