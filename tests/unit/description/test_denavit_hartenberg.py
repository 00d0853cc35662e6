"""Tables of Denavit and Hartenberg against products of the four elementary transforms."""

import math

import numpy as np
import pytest

import robodyn as rd

CONVENTIONS = ("standard", "modified")
QUARTER = math.pi / 2


def _turn(axis, angle):
    X, (c, s) = np.eye(4), (math.cos(angle), math.sin(angle))
    i, j = {"z": (0, 1), "x": (1, 2)}[axis]
    X[i, i], X[i, j], X[j, i], X[j, j] = c, -s, s, c
    return X


def _shift(x, y, z):
    X = np.eye(4)
    X[:3, 3] = x, y, z
    return X


def _product(rows, q, convention):
    """``X_0n``, as the books write it."""
    X = np.eye(4)
    for (theta, d, a, alpha, kind), x in zip(rows, q, strict=True):
        theta, d = (theta + x, d) if kind == "revolute" else (theta, d + x)
        of_z, of_x = _turn("z", theta) @ _shift(0, 0, d), _turn("x", alpha) @ _shift(a, 0, 0)
        X = X @ (of_z @ of_x if convention == "standard" else of_x @ of_z)
    return X


def _random_rows(rng, n):
    """Rows in which axes are often parallel, opposite, perpendicular or meet."""
    angles = (0.0, QUARTER, -QUARTER, math.pi, rng.normal())
    return [
        (
            *(float(rng.choice(x)) for x in (angles, (0.0, rng.normal()), (0.0, rng.normal()))),
            float(rng.choice(angles)),
            str(rng.choice(["revolute", "prismatic"])),
        )
        for _ in range(n)
    ]


@pytest.mark.parametrize("convention", CONVENTIONS)
@pytest.mark.parametrize("n", [1, 2, 4, 7])
def test_frames_are_products_of_rows(convention, n):
    rng = np.random.default_rng(n)
    for _ in range(4):
        rows, q = _random_rows(rng, n), rng.normal(size=n)
        arm = rd.from_dh(rows, convention)
        for k in range(1, n + 1):
            expected = _product(rows[:k], q[:k], convention)
            np.testing.assert_allclose(arm.frame_pose(q, f"link{k}"), expected, atol=1e-13)


@pytest.mark.parametrize("convention", CONVENTIONS)
@pytest.mark.parametrize("n", [1, 2, 4, 7])
def test_tables_give_the_poses_of_the_arm(convention, n):
    rng = np.random.default_rng(10 + n)
    for written in CONVENTIONS * 4:
        arm, q = rd.from_dh(_random_rows(rng, n), written), rng.normal(size=n)
        rows, X_W0, X_nT = arm.dh_table(convention)
        X = X_W0 @ _product(rows, q, convention) @ X_nT
        np.testing.assert_allclose(X, arm.frame_pose(q, f"link{n}"), atol=1e-12)


@pytest.mark.parametrize("convention", CONVENTIONS)
@pytest.mark.parametrize("name", ["arm7", "puma560", "scara", "double_pendulum"])
def test_tables_of_robots_with_any_axes(name, convention):
    robot = rd.load(name)
    rows, X_W0, X_nT = robot.dh_table(convention)
    q = np.random.default_rng(5).normal(size=robot.nq)
    carried = {joint.parent for joint in robot.mechanism.joints}
    (tip,) = (link.name for link in robot.mechanism.links if link.name not in carried)
    X = X_W0 @ _product(rows, q, convention) @ X_nT
    np.testing.assert_allclose(X, robot.frame_pose(q, tip), atol=1e-12)


def test_a_branch_has_the_table_of_its_own_chain(dual_arm):
    rows, X_W0, X_nT = dual_arm.dh_table(tip="left_grasp")
    q = np.random.default_rng(6).normal(size=dual_arm.nq)
    chain, link = [], "left_grasp"
    by_child = {joint.child: joint for joint in dual_arm.mechanism.joints}
    while link in by_child:
        chain, link = [by_child[link], *chain], by_child[link].parent
    own = [float(q[dual_arm.joints[x.name].q][0]) for x in chain if x.kind != "fixed"]
    X = X_W0 @ _product(rows, own, "standard") @ X_nT
    np.testing.assert_allclose(X, dual_arm.frame_pose(q, "left_grasp"), atol=1e-12)


def test_bodies_are_given_in_the_frames_of_their_rows():
    m1, m2, l1, l2, c1, c2, J1, J2 = 2.0, 1.0, 0.6, 0.5, -0.3, -0.2, 0.07, 0.03
    bodies = [
        rd.Inertia(m, rd.Pose((c, 0, 0)), ixx=1e-3, iyy=J, izz=J)
        for m, c, J in ((m1, c1, J1), (m2, c2, J2))
    ]
    arm = rd.from_dh([(0, 0, l1, 0), (0.3, 0, l2, 0)], inertias=bodies)
    r1, r2, cosine = l1 + c1, l2 + c2, math.cos(0.8 + 0.3)
    coupled = J2 + m2 * (r2**2 + l1 * r2 * cosine)
    first = J1 + m1 * r1**2 + J2 + m2 * (l1**2 + r2**2 + 2 * l1 * r2 * cosine)
    expected = [[first, coupled], [coupled, J2 + m2 * r2**2]]
    np.testing.assert_allclose(arm.mass_matrix([0.4, 0.8]), expected, rtol=1e-13)


def test_names_of_numbers_are_kept():
    l1, d2 = rd.symbol("l1", 0.6), rd.symbol("d2", 0.2)
    body = rd.Inertia(1.0, ixx=0.1, iyy=0.1, izz=0.1)
    arm = rd.from_dh([(0, 0, l1, QUARTER), (0, d2, 0, 0)], "modified", inertias=[body, body])
    assert {"l1", "d2"} <= set(arm.symbols)
    f = arm.function("frame_pose", frame="link2", symbols=True)
    numbers = {"l1": 0.7, "d2": 0.3}
    X = f([0.1, 0.2], *(numbers[port.name] for port in f.inputs[1:]))
    rows = [(0, 0, 0.7, QUARTER, "revolute"), (0, 0.3, 0, 0, "revolute")]
    np.testing.assert_allclose(X, _product(rows, [0.1, 0.2], "modified"), atol=1e-14)


@pytest.mark.parametrize(
    ("rows", "given"),
    [
        ([(0, 0, 0.5)], "expected \\(theta, d, a, alpha\\)"),
        ([(0, 0, 0.5, 0, "spherical")], "'revolute' or 'prismatic'"),
        ([(0, math.nan, 0.5, 0)], "d of rows\\[0\\] is nan"),
        ([], "one row at least"),
    ],
)
def test_what_is_no_row_is_refused(rows, given):
    with pytest.raises(rd.ShapeError, match=given):
        rd.from_dh(rows)


def test_bodies_and_rows_are_as_many():
    with pytest.raises(rd.ShapeError, match="2 rows and inertias 1"):
        rd.from_dh([(0, 0, 0.5, 0)] * 2, inertias=[None])


@pytest.mark.parametrize(
    ("name", "tip", "said"),
    [
        ("four_bar", None, "in a loop"),
        ("bricard", None, "has the loop"),
        ("dual_arm", None, "give tip="),
        ("prosthesis", None, "of kind 'spherical'"),
        ("dual_arm", "base", "no joint moves"),
    ],
)
def test_what_has_no_table_is_refused(name, tip, said):
    with pytest.raises((rd.TopologyError, rd.UnknownNameError), match=said):
        rd.load(name).dh_table(tip=tip)
