"""Spanning trees: what is fused, cut, reversed, numbered; masses and frames survive it all."""

import dataclasses

import numpy as np
import pytest
from hypothesis import given, strategies as st
from support.examples import examples

from robodyn.description import Actuator, Inertia, Joint, Link, Loop, Mechanism, Mimic, Pose
from robodyn.errors import TopologyError, UnknownNameError
from robodyn.topology.body_inertia import BodyInertia, inertia_about_origin, shift_inertia
from robodyn.topology.spanning_tree import FLOATING_BASE, spanning_tree

POSE = Pose((0.1, 0.2, 0.3), (0.4, 0.5, 0.6))
INERTIA = Inertia(2.0, Pose((0.1, -0.2, 0.3), (0.3, 0.2, 0.1)), 0.3, 0.01, 0.02, 0.4, 0.03, 0.5)


def mechanism(links, *joints, **rest):
    """Mechanism of links named by letters and joints ``(name, kind, parent, child)``."""
    return Mechanism(
        "m",
        tuple(Link(name, INERTIA) for name in links),
        tuple(j if isinstance(j, Joint) else Joint(*j, POSE) for j in joints),
        **rest,
    )


def names(tree):
    return [joint.joint.name for joint in tree.joints]


def zero_poses(tree):
    """Pose of each link in the root, at zero position."""
    bodies = [np.eye(4)]
    for joint in tree.joints:
        bodies.append(bodies[joint.parent + 1] @ joint.X_PJ)
    return {name: bodies[body + 1] @ X for name, (body, X) in tree.links.items()}


# a - b, then b - c - d and b - e; the file lists joints in another order.
BRANCHED = mechanism(
    "abcde",
    ("be", "prismatic", "b", "e"),
    ("cd", "revolute", "c", "d"),
    ("ab", "revolute", "a", "b"),
    ("bc", "spherical", "b", "c"),
)


def test_joints_are_depth_first_with_children_in_the_order_of_the_file():
    tree = spanning_tree(BRANCHED)
    assert tree.root == "a"
    assert names(tree) == ["ab", "be", "bc", "cd"]
    assert [joint.parent for joint in tree.joints] == [-1, 0, 0, 2]
    assert {name: body for name, (body, _) in tree.links.items()} == {
        "a": -1, "b": 0, "e": 1, "c": 2, "d": 3,
    }  # fmt: skip


def test_a_floating_base_comes_first():
    tree = spanning_tree(BRANCHED, floating=True)
    assert names(tree) == [FLOATING_BASE, "ab", "be", "bc", "cd"]
    first = tree.joints[0]
    assert (first.joint.kind, first.joint.child, first.parent) == ("floating", "a", -1)
    np.testing.assert_array_equal(first.X_PJ, np.eye(4))
    assert tree.links["a"][0] == 0
    assert tree.base_inertia.mass == 0.0
    assert tree.inertias[0].mass == INERTIA.mass


def test_fixed_joints_are_fused_and_their_links_stay_known():
    tree = spanning_tree(
        mechanism(
            "abcd",
            ("ab", "fixed", "a", "b"),
            ("bc", "revolute", "b", "c"),
            ("cd", "fixed", "c", "d"),
        )
    )
    assert names(tree) == ["bc"]
    X = POSE.matrix
    assert (tree.links["b"][0], tree.links["d"][0]) == (-1, 0)
    np.testing.assert_allclose(tree.links["b"][1], X, atol=1e-15)
    np.testing.assert_allclose(tree.links["d"][1], X, atol=1e-15)
    np.testing.assert_allclose(tree.joints[0].X_PJ, X @ X, atol=1e-15)
    assert tree.base_inertia.mass == tree.inertias[0].mass == 2 * INERTIA.mass


def point_masses(inertia):
    """Four or more points with the mass, centre and inertia given: an independent description."""
    body = inertia_about_origin(inertia)
    center = body.h / body.mass
    values, axes = np.linalg.eigh(body.about_center())
    squares = (0.5 * values.sum() - values) / body.mass  # mean squares along principal axes
    offsets = (axes * np.sqrt(3.0 * squares)).T
    points = [center + sign * offset for offset in offsets for sign in (-1, 1)]
    return [(body.mass / 6.0, point) for point in points]


def inertia_of_points(points):
    mass = sum(m for m, _ in points)
    h = sum(m * p for m, p in points)
    moment = sum(m * (p @ p * np.eye(3) - np.outer(p, p)) for m, p in points)
    return BodyInertia(mass, h, moment)


def test_the_central_inertia_is_that_of_the_file():
    R = INERTIA.origin.matrix[:3, :3]
    np.testing.assert_allclose(
        inertia_about_origin(INERTIA).about_center(), R @ INERTIA.matrix @ R.T, atol=1e-15
    )


# A loop of four links.
def four_bar(kinds="rrrr", **rest):
    words = {"r": "revolute", "s": "spherical", "f": "fixed", "c": "cylindrical", "p": "prismatic"}
    k = [words[letter] for letter in kinds]
    return mechanism(
        "abcd",
        ("ab", k[0], "a", "b"),
        ("bc", k[1], "b", "c"),
        ("ad", k[2], "a", "d"),
        ("dc", k[3], "d", "c"),
        **rest,
    )


@pytest.mark.parametrize(
    ("kinds", "cut"),
    [
        ("rrrr", "dc"),  # among equals the last of the file
        ("rsrr", "bc"),  # else the freest
        ("rscs", "dc"),
        ("crrr", "ab"),
        ("rrpr", "dc"),
        ("rrrf", "ad"),  # a fixed joint is cut only if all are fixed
        ("ffff", "dc"),
    ],
)
def test_each_loop_is_cut_at_its_freest_joint(kinds, cut):
    tree = spanning_tree(four_bar(kinds))
    assert [joint.name for joint in tree.cuts] == [cut]
    assert cut not in names(tree)
    assert set(tree.links) == set("abcd")


def test_joints_that_matter_are_not_cut():
    motor = (("dc", Actuator()),)
    assert spanning_tree(four_bar(actuators=motor)).cuts[0].name == "ad"
    base = four_bar()
    independent = dataclasses.replace(base.joints[3], independent=True)
    mechanism = dataclasses.replace(base, joints=(*base.joints[:3], independent))
    assert spanning_tree(mechanism).cuts[0].name == "ad"
    follower = dataclasses.replace(base.joints[3], mimic=Mimic("ad"))
    mechanism = dataclasses.replace(base, joints=(*base.joints[:3], follower))
    assert spanning_tree(mechanism).cuts[0].name == "bc"


def test_loops_of_the_file_are_cuts_too():
    loop = Loop("x", "spherical", "b", "d")
    assert spanning_tree(four_bar(loops=(loop,))).cuts == (four_bar().joints[3], loop)


def test_joints_after_a_cut_are_followed_backwards():
    """Cutting bc leaves c hanging on d; cutting ab leaves b on c, against the file."""
    tree = spanning_tree(four_bar("srrr"))
    assert names(tree) == ["ad", "dc", "bc"]
    backward = tree.joints[2]
    assert backward.reversed
    assert backward.parent == 1
    # The joint frame is the link frame of its child c; b is where c would put it.
    np.testing.assert_array_equal(backward.X_PJ, np.eye(4))
    np.testing.assert_allclose(tree.links["b"][1], np.linalg.inv(POSE.matrix), atol=1e-15)


def test_reversed_joints_point_from_child_to_parent():
    tree = spanning_tree(BRANCHED, root="d")
    assert {joint.joint.name: joint.reversed for joint in tree.joints} == {
        "cd": True, "bc": True, "ab": True, "be": False,
    }  # fmt: skip


@examples(60)
@given(st.integers(0, 2**32 - 1), st.booleans())
def test_total_mass_and_zero_position_survive_any_root(seed, floating):
    rng = np.random.default_rng(seed)
    n = int(rng.integers(2, 9))
    kinds = rng.choice(["fixed", "revolute", "prismatic", "spherical", "floating"], n - 1)
    links, joints = [], []
    for i in range(n):
        pose = Pose(tuple(rng.normal(size=3)), tuple(rng.normal(size=3)))
        links.append(Link(f"l{i}", Inertia(float(rng.uniform(1, 2)), pose, 1, 0, 0, 1, 0, 1)))
        if i:
            parent = f"l{rng.integers(i)}"
            joints.append(Joint(f"j{i}", str(kinds[i - 1]), parent, f"l{i}", pose))
    order = rng.permutation(n - 1)
    drawn = Mechanism("m", tuple(links), tuple(joints[i] for i in order))
    reference = zero_poses(spanning_tree(drawn))
    root = f"l{rng.integers(n)}"
    tree = spanning_tree(drawn, root=root, floating=floating)
    poses = zero_poses(tree)
    for name in reference:
        np.testing.assert_allclose(reference[root] @ poses[name], reference[name], atol=1e-12)
    # The lumped inertias, at zero position, are those of all links.
    bodies = [np.eye(4)]
    for joint in tree.joints:
        bodies.append(bodies[joint.parent + 1] @ joint.X_PJ)
    total = tree.base_inertia
    for X, inertia in zip(bodies[1:], tree.inertias, strict=True):
        total = total + shift_inertia(X, inertia)
    points = [
        (m, poses[link.name][:3, :3] @ p + poses[link.name][:3, 3])
        for link in links
        for m, p in point_masses(link.inertia)
    ]
    expected = inertia_of_points(points)
    assert total.mass == pytest.approx(expected.mass, rel=1e-13)
    np.testing.assert_allclose(total.h, expected.h, atol=1e-10)
    np.testing.assert_allclose(total.I, expected.I, atol=1e-9)
    assert all(joint.parent < i for i, joint in enumerate(tree.joints))


def with_mimics(*mimics):
    joints = [
        Joint(f"j{i}", "revolute", f"l{i}", f"l{i + 1}", mimic=mimic)
        for i, mimic in enumerate(mimics)
    ]
    return Mechanism("m", tuple(Link(f"l{i}") for i in range(len(mimics) + 1)), tuple(joints))


def test_chains_of_mimics_are_resolved():
    """q2 = 2 q1 + 3 and q1 = 5 q0 + 7, hence q2 = 10 q0 + 17."""
    tree = spanning_tree(with_mimics(None, Mimic("j0", 5.0, 7.0), Mimic("j1", 2.0, 3.0)))
    assert [joint.mimic for joint in tree.joints] == [None, (0, 5.0, 7.0), (0, 10.0, 17.0)]


def test_a_mimic_may_come_before_its_master():
    tree = spanning_tree(with_mimics(Mimic("j1", 2.0), None))
    assert tree.joints[0].mimic == (1, 2.0, 0.0)


@pytest.mark.parametrize(
    "mimics", [(Mimic("j1"), Mimic("j0")), (Mimic("j0"),), (None, Mimic("nobody"))]
)
def test_mimics_without_an_end_are_refused(mimics):
    with pytest.raises(TopologyError, match="mimics"):
        spanning_tree(with_mimics(*mimics))


@pytest.mark.parametrize(
    ("links", "joints", "words"),
    [
        ("ab", [], "2 root links"),
        ("abc", [("ab", "fixed", "a", "b")], "2 root links"),
        ("ab", [("ab", "fixed", "a", "b"), ("ba", "fixed", "b", "a")], "directed cycle a -> b"),
        ("ab", [("ac", "fixed", "a", "c")], "no link 'c'"),
        ("ab", [("ab", "fixed", "a", "b"), ("bb", "fixed", "b", "b")], "to itself"),
        ("", [], "no links"),
    ],
)
def test_graphs_that_are_no_mechanism_are_refused(links, joints, words):
    with pytest.raises(TopologyError, match=words):
        spanning_tree(mechanism(links, *joints))


def test_islands_are_found_with_a_root_given_too():
    with pytest.raises(TopologyError, match="no chain of joints leads from the root 'a'") as caught:
        spanning_tree(mechanism("abc", ("ab", "fixed", "a", "b")), root="a")
    assert caught.value.element == "link 'c'"


def test_two_roots_joined_by_a_common_child_need_a_root():
    joined = mechanism("abc", ("ac", "revolute", "a", "c"), ("bc", "revolute", "b", "c"))
    with pytest.raises(TopologyError, match="2 root links"):
        spanning_tree(joined)
    tree = spanning_tree(joined, root="a")
    assert [joint.reversed for joint in tree.joints] == [False, True]


def test_a_ring_drawn_in_one_direction_needs_a_root():
    ring = mechanism(
        "abc",
        ("ab", "revolute", "a", "b"),
        ("bc", "revolute", "b", "c"),
        ("ca", "revolute", "c", "a"),
    )
    with pytest.raises(TopologyError, match="directed cycle a -> b -> c -> a"):
        spanning_tree(ring)
    tree = spanning_tree(ring, root="b")
    assert [joint.name for joint in tree.cuts] == ["ca"]


def test_an_unknown_root_is_named():
    with pytest.raises(UnknownNameError, match="'f'"):
        spanning_tree(BRANCHED, root="f")


def test_chains_of_thousands_of_links_are_no_problem():
    n = 3000
    links = tuple(Link(f"l{i}", INERTIA) for i in range(n + 1))
    joints = tuple(Joint(f"j{i}", "revolute", f"l{i}", f"l{i + 1}", POSE) for i in range(n))
    tree = spanning_tree(Mechanism("m", links, joints))
    assert len(tree.joints) == n
    assert tree.joints[-1].parent == n - 2
