"""Any link may be the base: what a robot is does not depend on it."""

import dataclasses

import numpy as np
import pytest
from support.bundled import bundled
from support.random_mechanisms import awkward_mechanism, random_mechanism

import robodyn as rd
from robodyn import Inertia, Joint, Link, Mechanism


def inverse(X):
    R, p = X[:3, :3], X[:3, 3]
    return np.block([[R.T, -(R.T @ p)[:, None]], [np.zeros((1, 3)), np.ones((1, 1))]])


def quaternion(R):
    from scipy.spatial.transform import Rotation

    return Rotation.from_matrix(R).as_quat()


MECHANISMS = {
    "arm": lambda rng: bundled("puma560").mechanism,
    "tree": lambda rng: random_mechanism(
        rng, ["revolute", "prismatic", "helical", "revolute", "cylindrical"], damping=0.2
    ),
    "awkward": awkward_mechanism,
    "actuated": lambda rng: bundled("scara").mechanism,
}


@pytest.mark.slow
@pytest.mark.parametrize("what", MECHANISMS)
def test_inverse_dynamics_of_a_robot_held_by_another_link(what):
    """The floating robot, held by a wrench on that link so that its free base needs no force."""
    rng = np.random.default_rng(11)
    mechanism = MECHANISMS[what](rng)
    free = rd.load(mechanism, base="floating")
    names = [x.name for x in mechanism.links]
    root = names[len(names) // 2]
    held = rd.load(mechanism, root=root)
    assert set(held.joint_names) == set(free.joint_names) - {"floating_base"}

    q, v, a = held.random(rng), rng.normal(size=held.nv), rng.normal(size=held.nv)
    whole = {"q": np.zeros(free.nq), "v": np.zeros(free.nv), "a": np.zeros(free.nv)}
    whole["q"][6] = 1.0
    for name in held.joint_names:
        own, there = held.joints[name], free.joints[name]
        whole["q"][there.q] = q[own.q]
        whole["v"][there.v], whole["a"][there.v] = v[own.v], a[own.v]
    # the base is where, and moves as, the root is at rest in the world
    base = names[0] if mechanism.root is None else mechanism.root
    X = inverse(free.frame_pose(whole["q"], root, relative_to=base))
    whole["q"][:3], whole["q"][3:7] = X[:3, 3], quaternion(X[:3, :3])
    J = free.frame_jacobian(whole["q"], root)
    whole["v"][:6] = -np.linalg.solve(J[:, :6], J[:, 6:] @ whole["v"][6:])
    drift = free.frame_acceleration(whole["q"], whole["v"], whole["a"], root)
    whole["a"][:6] = -np.linalg.solve(J[:, :6], drift)
    q_, v_, a_ = whole["q"], whole["v"], whole["a"]
    for link in names:
        assert np.allclose(held.frame_pose(q, link), free.frame_pose(q_, link), atol=1e-12)
        assert np.allclose(held.frame_twist(q, v, link), free.frame_twist(q_, v_, link), atol=1e-11)
    assert np.isclose(held.kinetic_energy(q, v), free.kinetic_energy(q_, v_))

    tau = free.inverse_dynamics(q_, v_, a_)
    wrench = np.linalg.solve(J[:, :6].T, tau[:6])
    tau = free.inverse_dynamics(q_, v_, a_, wrenches={root: wrench})
    assert np.abs(tau[:6]).max() < 1e-9 * (1.0 + np.abs(wrench).max())
    own = held.inverse_dynamics(q, v, a)
    for name in held.joint_names:
        found, expected = own[held.joints[name].v], tau[free.joints[name].v]
        assert np.allclose(found, expected, rtol=1e-9, atol=1e-9 * (1.0 + np.abs(wrench).max()))
    assert np.allclose(held.forward_dynamics(q, v, own), a, rtol=1e-6, atol=1e-6)


def test_arcs_towards_the_base_and_two_links_without_a_parent():
    body = Inertia.from_matrix(1.0, (0.0, 0.0, 0.1), 0.01 * np.eye(3))
    links = (Link("ground"), Link("a", body), Link("b", body))
    joints = (
        Joint("one", "continuous", "a", "ground", axis=(0, 0, 1.0)),
        Joint("two", "continuous", "a", "b", axis=(0, 1.0, 0)),
    )
    robot = rd.load(Mechanism("m", links, joints), root="ground")
    assert robot.graph.vertices == ("ground", "a", "b")
    assert (robot.graph.i_plus, robot.graph.i_minus) == ((1, 1), (0, 2))
    turned = dataclasses.replace(joints[0], parent="ground", child="a")
    plain = rd.load(Mechanism("m", links, (turned, joints[1])))
    q, v, a = np.random.default_rng(0).normal(size=(3, 2))
    back = np.array([-1.0, 1.0])  # the first joint counts the other way
    expected = plain.inverse_dynamics(q * back, v * back, a * back) * back
    assert np.allclose(robot.inverse_dynamics(q, v, a), expected)


def test_a_linkage_held_by_its_coupler():
    """Poses of links in one another, and energies while another link stands still."""
    linkage, turned = bundled("four_bar"), rd.load("four_bar", root="coupler")
    assert turned.frame_pose(turned.neutral(), "coupler") == pytest.approx(np.eye(4))
    assert turned.dof == linkage.dof == 1
    assert sorted(turned.graph.arcs) == sorted(linkage.graph.arcs)
    q = turned.random(3)
    angles = turned.joint_positions(q)
    q_ = linkage.assemble(
        [float(np.asarray(angles[name]).ravel()[0]) for name in linkage.joint_names]
    )
    for link in linkage.link_names:
        X, Y = (
            r.frame_pose(x, link, relative_to="ground") for r, x in ((turned, q), (linkage, q_))
        )
        assert np.allclose(X, Y, atol=1e-7)


def test_a_floating_base_may_be_any_link():
    one, other = (rd.load("puma560", base="floating", root=r) for r in (None, "link3"))
    assert other.total_mass == pytest.approx(one.total_mass)
    q = other.random(0)
    assert np.allclose(other.frame_pose(q, "link3")[:3, 3], q[:3])


def test_wrong_roots():
    with pytest.raises(rd.UnknownNameError, match="link3"):
        rd.load("puma560", root="link_3")
    robot = rd.load("puma560", root="link3")
    with pytest.raises(rd.UrdfError, match="root="):
        rd.urdf.write(robot.mechanism)
    assert rd.load(robot.mechanism).mechanism.root == "link3"


def test_a_base_whose_motion_is_measured_in_its_own_axes():
    rng = np.random.default_rng(4)
    p, quat, v, w, a, dw = (rng.normal(size=n) for n in (3, 4, 3, 3, 3, 3))
    found = rd.BaseMotion.from_body(p, quat, v, w, a, dw)
    assert np.allclose(found.twist, [*v, *w])
    assert np.allclose(found.acceleration, [*(a - np.cross(w, v)), *dw])
    assert np.allclose(found.pose, rd.BaseMotion.from_world(p, quat).pose)
