"""Impacts against closed forms [W 6], and laws that hold for any mechanism.

O30 to O39 are the names of the oracles in the list of closed solutions that the tests go through;
O32 is in ``test_chain_strikes_itself.py``.
"""

import numpy as np
import pytest
from support.bundled import bundled
from support.closed_cases import CLOSED
from support.random_mechanisms import random_mechanism
from support.rod_chains import END, MIDDLE, ROD, START, angles_to_q, chain, rates

import robodyn as rd
from robodyn.description import Inertia, Joint, Link, Loop, Mechanism, Pose

EX, EY = np.eye(3)[:2]
#: Per rod: jump of its rate, then of the velocity of its middle; link 4 is struck at its middle.
STRUCK_CHAIN = """
-0.007039  0.113234  0.083719
-0.371550 -0.039130  0.195762
 0.918501  0.247348  0.163042
-0.013374  0.677434  0.021126
-0.945963  0.220915 -0.125033
 0.338435 -0.092017 -0.171729
-0.026898  0.036978 -0.083146
 0.056050  0.037733 -0.067373
 0.023945  0.046393 -0.028747
 0.024893  0.042547 -0.004937
 0.025748  0.031133  0.017315
"""
APPARENT = (1.1728, 1.7612, 1.8917, 1.9523, 1.9788, 1.9870)
#: On the rod with the lower number, between neighbours.
HINGES = """
 0.11323 0.08372
 0.07410 0.27948
 0.32145 0.44252
-0.32368 0.46365
-0.10277 0.33862
-0.19478 0.16689
-0.15781 0.08374
-0.12007 0.01637
-0.07368 -0.01238
-0.03113 -0.01732
"""


def table(text):
    return np.array([[float(x) for x in line.split()] for line in text.split("\n") if line])


def semicircle():
    """Eleven free rods, neighbours turned by a tenth of pi, at rest; rod 4 is across x."""
    robot = chain(11, "planar")
    angles = -np.pi / 2 + (np.arange(1, 12) - 4) * np.pi / 10
    return robot, angles_to_q(robot, angles), np.zeros(robot.nv)


# -- closed forms ---------------------------------------------------------------------------------


def test_a_ball_strikes_a_chain_as_in_the_book():
    """O31 [W example 6.2]: all entries of the table, and the elastic impulse."""
    robot, q, v = semicircle()
    ball = rd.PointMass(1.0, EX)
    hit = robot.impact(q, v, "rod4", MIDDLE, EX, restitution=1.0, against=ball)
    assert hit.impulse == pytest.approx([1.322566072516, 0.0, 0.0], abs=1e-11)
    assert hit.against_v == pytest.approx([1.0 - 1.322566072516, 0.0, 0.0], abs=1e-11)
    assert hit.energy_loss == pytest.approx(0.0, abs=1e-14)
    expected = table(STRUCK_CHAIN)
    assert rates(robot, hit.v) == pytest.approx(expected[:, 0], abs=6e-7)
    for k, row in enumerate(expected, 1):
        middle = Impulse(robot, q, hit.v, f"rod{k}").velocity
        assert middle[:2] == pytest.approx(row[1:], abs=6e-7)


class Impulse:
    """Velocity of the middle of a rod."""

    def __init__(self, robot, q, v, link):
        V = robot.frame_twist(q, v, link, axes="world")
        r = robot.frame_pose(q, link)[:3, :3] @ MIDDLE
        self.velocity = V[:3] + np.cross(V[3:], r)


def test_what_a_hit_feels_of_a_chain():
    """O31: apparent masses of the links of the semicircle, struck at their middles."""
    robot, q, _ = semicircle()
    for k, expected in enumerate(APPARENT, 1):
        for link in (k, 12 - k):
            turn = robot.frame_pose(q, f"rod{link}")[:3, :3]
            mass = robot.apparent_mass(q, f"rod{link}", MIDDLE, turn @ EY)
            assert mass == pytest.approx(expected, abs=6e-5)


def test_impulses_in_the_hinges_of_the_struck_chain():
    """O31 [W 6.37]."""
    robot, q, v = semicircle()
    ball = rd.PointMass(1.0, EX)
    hit = robot.impact(q, v, "rod4", MIDDLE, EX, restitution=1.0, against=ball)
    world = hit.joint_impulses.in_frame("world")
    found = np.array([-world[f"joint{k}"][:2] for k in range(2, 12)])
    assert found == pytest.approx(table(HINGES), abs=6e-6)


@pytest.mark.parametrize(
    ("count", "compliance"), [(1, 4.0), (2, 7 / 2), (3, 52 / 15), (4, 97 / 28), (5, 724 / 209)]
)
def test_a_straight_chain_struck_at_its_end(count, compliance):
    """O35."""
    robot = chain(count, "planar")
    q = robot.neutral()
    assert robot.apparent_mass(q, f"rod{count}", END, EY) == pytest.approx(1.0 / compliance)


@pytest.mark.parametrize("x", [0.2, 0.5, 2 / 3, 1.0])
def test_the_centre_of_percussion_of_a_pinned_rod(x):
    """O36 [W example 6.1] with the second point held."""
    robot = chain(1, "revolute")
    hit = robot.impact([0.0], [0.0], "rod1", [x, 0, 0], EY, against=rd.PointMass(2.0, 3.0 * EY))
    F = hit.impulse[1]
    assert hit.v == pytest.approx([3.0 * F * x])
    assert hit.joint_impulses["joint1"][1] == pytest.approx(F * (1.5 * x - 1.0), abs=1e-14)


def test_a_body_whose_one_point_is_guided():
    """O30 [W example 6.1]: what the guide takes, and how the body moves afterwards."""
    rng = np.random.default_rng(30)
    A, mass = rng.uniform(-0.5, 0.5, (3, 3)), 2.3
    J, rho1, rho2 = A @ A.T + np.eye(3), *rng.normal(size=(2, 3))
    body = Inertia.from_matrix(mass, -rho2, J)
    links = Link("ground"), Link("slider"), Link("body", body)
    joints = (
        Joint("guide", "prismatic", "ground", "slider", axis=(1, 0, 0)),
        Joint("ball", "spherical", "slider", "body"),
    )
    robot = rd.load(Mechanism("guided", links, joints), gravity=(0, 0, 0))
    q = robot.random(rng)
    R = robot.frame_pose(q, "body")[:3, :3]
    J, rho = np.linalg.inv(R @ J @ R.T), {1: R @ rho1, 2: R @ rho2}
    skew = {k: np.cross(np.eye(3), r) for k, r in rho.items()}
    U = {(a, b): np.eye(3) / mass - skew[a] @ J @ skew[b] for a in (1, 2) for b in (1, 2)}
    ball = rd.PointMass(0.7, rng.normal(size=3))
    hit = robot.impact(q, np.zeros(robot.nv), "body", rho1 - rho2, None, against=ball)
    F1, N = hit.impulse, np.eye(3)[:, 1:]
    F2 = -N @ np.linalg.solve(N.T @ U[2, 2] @ N, N.T @ U[2, 1] @ F1)
    guide = hit.joint_impulses.in_frame("world")["guide"][:3]
    np.testing.assert_allclose(guide, F2, atol=1e-13)
    moved = robot.frame_twist(q, hit.v, "body", axes="world")
    np.testing.assert_allclose(moved[:3], U[2, 1] @ F1 + U[2, 2] @ F2, atol=1e-13)
    np.testing.assert_allclose(moved[3:], J @ (skew[1] @ F1 + skew[2] @ F2), atol=1e-13)
    felt = moved[:3] + np.cross(moved[3:], rho[1] - rho[2])
    np.testing.assert_allclose(felt, U[1, 1] @ F1 + U[1, 2] @ F2, atol=1e-13)


def test_two_pinned_rods_in_line():
    """O36."""
    robot = chain(2, "revolute")
    q = v = np.zeros(2)
    for link, turned in (("rod2", (-6 / 7, 30 / 7)), ("rod1", (12 / 7, -18 / 7))):
        hit = robot.impact(q, v, link, END, EY, against=rd.PointMass(1.0, EY))
        assert rates(robot, hit.v) == pytest.approx(hit.impulse[1] * np.array(turned))
    assert robot.apparent_mass(q, "rod2", END, EY) == pytest.approx(7 / 24)


def rhombus(half):
    """Four equal hinged rods, free in the plane; the struck corner is where rods 1 and 4 meet."""
    robot = chain(4, "planar")
    loop = Loop("corner", "revolute", "rod4", "rod1", Pose(END), Pose(START), axis=(0, 0, 1))
    closed = rd.load(robot.mechanism, loops=[loop], gravity=(0, 0, 0))
    angles = np.array([half, -half, half + np.pi, np.pi - half])
    q = angles_to_q(closed, angles)
    assert np.abs(closed.loop_residual(q)).max() < 1e-14
    return closed, q


@pytest.mark.parametrize("half", [0.3, np.pi / 4, 1.1])
def test_a_rhombus_struck_along_its_diagonal(half):
    """O37: a closed linkage."""
    robot, q = rhombus(half)
    v = np.zeros(robot.nv)
    hit = robot.impact(q, v, "rod1", START, EX, against=rd.PointMass(1.0, EX))
    F, s = hit.impulse[0], np.sin(half)
    assert robot.frame_twist(q, hit.v, "rod1", axes="world")[0] == pytest.approx(
        F * (1 + 3 * s**2) / 4
    )
    assert robot.frame_twist(q, hit.v, "rod3", axes="world")[0] == pytest.approx(
        F * (1 - 3 * s**2) / 4
    )
    assert np.abs(rates(robot, hit.v)) == pytest.approx(3 * F * s / 4)


def test_a_latch_between_two_free_bodies():
    """O38 [W problem 6.2] in the plane."""
    c1, c2 = (
        np.array([0.5, 0.1]),
        np.array([[np.cos(0.6), -np.sin(0.6)], [np.sin(0.6), np.cos(0.6)]]),
    )
    c2 = c2 @ [0.35, -0.05]
    J1, J2, m1, m2, rate = 0.4, 0.15, 3.0, 1.2, 1.7
    links = (
        Link("ground"),
        Link("one", Inertia(m1, Pose(), 1.0, 0.0, 0.0, 1.0, 0.0, J1)),
        Link("two", Inertia(m2, Pose((*c2, 0.0)), 1.0, 0.0, 0.0, 1.0, 0.0, J2)),
    )
    joints = (
        Joint("free", "planar", "ground", "one", axis=(0, 0, 1)),
        Joint("pin", "revolute", "one", "two", Pose((*c1, 0.0)), (0, 0, 1)),
    )
    robot = rd.load(Mechanism("two", links, joints), gravity=(0, 0, 0))
    q, v = robot.neutral(), np.array([0.0, 0.0, 0.0, rate])
    hit = robot.latch(q, v, ["pin"])
    assert hit.v[2] == pytest.approx(0.5862496888934, abs=1e-12)
    assert hit.v[3] == 0.0
    before, after = robot.momentum(q, v), robot.momentum(q, hit.v)
    assert after == pytest.approx(before, abs=1e-13)
    lost = robot.kinetic_energy(q, v) - robot.kinetic_energy(q, hit.v)
    assert hit.energy_loss == pytest.approx(lost)
    Minv = robot.mass_matrix_inverse(q)
    couple = hit.joint_impulses["pin"][5]
    assert couple == pytest.approx(-rate / Minv[3, 3])


# -- laws -----------------------------------------------------------------------------------------


def cases():
    yield (
        "random tree",
        rd.load(
            random_mechanism(
                np.random.default_rng(1),
                ["revolute", "spherical", "prismatic", "universal", "helical"],
            )
        ),
    )
    yield "puma560", bundled("puma560")
    yield "floating arm", rd.load("arm7", base="floating")
    for name in CLOSED:
        yield name, rd.load(name)


CASES = dict(cases())


def state(robot, seed=0):
    rng = np.random.default_rng(seed)
    q = robot.random(rng)
    v = rng.normal(size=robot.nv)
    return q, robot.consistent_velocity(q, v) if robot.nc else v, rng


def links_that_move(robot, q):
    return [
        link
        for link in robot.link_names
        if np.linalg.norm(robot.frame_jacobian(q, link)[:3]) > 1e-3
    ]


def reference(robot, q, v, J, n, e):
    """[W 6.12-6.14] by dense matrices; ``n`` None: the point sticks."""
    M, K = robot.mass_matrix(q), robot.loop_jacobian(q) if robot.nc else np.zeros((0, robot.nv))
    Z = np.linalg.svd(K)[2][np.linalg.matrix_rank(K, tol=1e-9) :].T if len(K) else np.eye(robot.nv)
    P = Z @ np.linalg.solve(Z.T @ M @ Z, Z.T)
    D = np.eye(3) if n is None else n[None]
    U = D @ J @ P @ J.T @ D.T
    p = -(1 + e) * np.linalg.pinv(U, rcond=1e-10, hermitian=True) @ (D @ J @ v)
    return v + P @ J.T @ D.T @ p, D.T @ p


def point_jacobian(robot, q, link, point):
    J, R = robot.frame_jacobian(q, link, axes="world"), robot.frame_pose(q, link)[:3, :3]
    return J[:3] + np.cross(J[3:], (R @ point)[:, None], axis=0)


@pytest.mark.parametrize("name", CASES)
@pytest.mark.parametrize("e", [0.0, 0.4, 1.0, None])
def test_against_dense_matrices(name, e):
    """O34: law of restitution and of energy, on any mechanism."""
    robot = CASES[name]
    q, v, rng = state(robot, 3)
    link, point = links_that_move(robot, q)[-1], rng.normal(size=3)
    J = point_jacobian(robot, q, link, point)
    n = None
    if e is not None:
        n = rng.normal(size=3)
        n *= -np.sign(n @ J @ v) / np.linalg.norm(n)
    expected, impulse = reference(robot, q, v, J, n, e or 0.0)
    hit = robot.impact(q, v, link, point, n, restitution=e or 0.0)
    scale = np.abs(v).max()
    assert hit.v == pytest.approx(expected, abs=1e-9 * scale)
    assert hit.impulse == pytest.approx(impulse, abs=1e-9 * np.abs(impulse).max())
    lost = robot.kinetic_energy(q, v) - robot.kinetic_energy(q, hit.v)
    assert hit.energy_loss == pytest.approx(lost, abs=1e-9 * robot.kinetic_energy(q, v))
    u, w = J @ v, J @ hit.v
    if n is None:
        assert np.abs(w).max() < 1e-9 * np.abs(J * v).sum()
    else:
        assert n @ w == pytest.approx(-e * (n @ u), abs=1e-9 * np.abs(J * v).sum())
    if robot.nc:
        assert np.abs(robot.loop_jacobian(q) @ hit.v).max() < 1e-9 * scale


@pytest.mark.parametrize("name", CASES)
def test_no_moment_acts_along_a_free_axis(name):
    """O39 [W 6.37]: no motor has time to act. Rotors behind gears do act on links; none here."""
    robot = CASES[name].with_(passive=False)
    q, v, _ = state(robot, 5)
    link = links_that_move(robot, q)[-1]
    hit = robot.impact(q, v, link, (0.1, 0.2, 0.3), None)
    motors = hit.joint_impulses.motor
    largest = max(np.abs(hit.joint_impulses[joint]).max() for joint in motors)
    assert all(np.abs(motors[joint]).max() < 1e-9 * largest for joint in motors)


@pytest.mark.parametrize("name", CASES)
def test_joint_impulses_make_the_momentum_jump(name):
    robot = CASES[name]
    q, v, _ = state(robot, 6)
    link = links_that_move(robot, q)[-1]
    hit = robot.impact(q, v, link, (0.1, 0.2, 0.3), None)
    jump = (robot.momentum(q, hit.v) - robot.momentum(q, v))[:3]
    base = hit.joint_impulses.in_frame("world")["base"][:3]
    assert jump == pytest.approx(base + hit.impulse, abs=1e-9 * np.abs(hit.impulse).max())


@pytest.mark.parametrize("name", CASES)
def test_reciprocity(name):
    """O33, Maxwell and Betti [W 6.29]: what a hit here does there, a hit there does here.

    And whatever is hit gives way along the impulse, and loops stay closed.
    """
    robot = CASES[name]
    q, _, rng = state(robot, 7)
    links = links_that_move(robot, q)
    places = [(links[k % len(links)], *rng.normal(size=(2, 3))) for k in (0, 1, -1)]
    felt = np.zeros((3, 3))
    for i, (link, point, n) in enumerate(places):
        # a particle that sticks gives an impulse, whatever its direction
        ball = rd.PointMass(1.0, n)
        hit = robot.impact(q, np.zeros(robot.nv), link, point, n, against=ball)
        jump = hit.v / (np.linalg.norm(hit.impulse) / np.linalg.norm(n))
        if robot.nc:
            assert np.abs(robot.loop_jacobian(q) @ jump).max() < 1e-8 * np.abs(jump).max()
        for j, (other, at, m) in enumerate(places):
            felt[j, i] = m @ point_jacobian(robot, q, other, at) @ jump
    np.testing.assert_allclose(felt, felt.T, rtol=1e-8, atol=1e-9 * np.abs(felt).max())
    assert np.linalg.eigvalsh(felt + felt.T).min() > -1e-9 * np.abs(felt).max()


def test_two_links_of_a_free_robot_keep_its_momentum():
    """O34 [W 6.13, 6.14]."""
    robot = chain(4, "planar")
    q = angles_to_q(robot, np.array([0.0, 2.0, 4.0, 5.8]))
    v = np.random.default_rng(0).normal(size=robot.nv)
    p4, p1 = (robot.frame_pose(q, link) for link in ("rod4", "rod1"))
    at = np.linalg.solve(p1, p4 @ [0.7, 0.0, 0.0, 1.0])[:3]
    for n in (None, EX, -EX):
        try:
            hit = robot.impact(q, v, "rod4", (0.7, 0, 0), n, against=("rod1", at))
        except rd.ImpactError:
            continue
        before, after = robot.momentum(q, v), robot.momentum(q, hit.v)
        assert after == pytest.approx(before, abs=1e-12)
        jump = robot.frame_twist(q, hit.v - v, "rod4", axes="world")
        middle = jump[:3] + np.cross(jump[3:], p4[:3, :3] @ [0.5, 0.0, 0.0])
        hinge = hit.joint_impulses.in_frame("world")["joint4"][:3]
        assert hinge + hit.impulse == pytest.approx(ROD.mass * middle, abs=1e-12)
        lost = robot.kinetic_energy(q, v) - robot.kinetic_energy(q, hit.v)
        assert hit.energy_loss == pytest.approx(lost, abs=1e-12)


def test_two_robots_meet():
    """As one robot of both does whose links meet."""
    one, two = chain(2, "revolute"), chain(1, "revolute")
    q1, v1, q2, v2 = [0.3, -0.5], [1.0, 2.0], [2.0], [-3.0]
    other = rd.RobotPoint(two, q2, v2, "rod1", (0.8, 0.0, 0.0))
    hit = one.impact(q1, v1, "rod2", END, None, against=other)
    J1 = point_jacobian(one, q1, "rod2", END)
    J2 = point_jacobian(two, q2, "rod1", (0.8, 0.0, 0.0))
    assert J1 @ hit.v == pytest.approx(J2 @ hit.against_v)
    M1, M2 = one.mass_matrix(q1), two.mass_matrix(q2)
    assert M1 @ (hit.v - v1) == pytest.approx(J1.T @ hit.impulse)
    assert M2 @ (hit.against_v - v2) == pytest.approx(-J2.T @ hit.impulse)


def test_driven_joints_do_not_jump():
    robot = CASES["puma560"]
    q, v, _ = state(robot, 8)
    link = robot.link_names[-1]
    hit = robot.impact(q, v, link, (0, 0, 0.1), None, controlled=["joint1"])
    assert hit.v[0] == v[0]
    locked = robot.with_(locked={"joint1": q[0]})
    turned = robot.frame_twist(q, np.r_[v[0], np.zeros(5)], link, axes="world")
    r = robot.frame_pose(q, link)[:3, :3] @ [0, 0, 0.1]
    carried = turned[:3] + np.cross(turned[3:], r)
    J = point_jacobian(locked, q[1:], link, (0, 0, 0.1))
    P = J @ np.linalg.solve(locked.mass_matrix(q[1:]), J.T)
    assert hit.impulse == pytest.approx(-np.linalg.solve(P, J @ v[1:] + carried))
    assert np.abs(hit.joint_impulses.motor["joint1"]).max() > 1e-3


def test_a_moving_base_hits_as_a_heavy_floating_one():
    arm = rd.load("arm7", base="moving")
    q, v, rng = state(arm, 9)
    twist = rng.normal(size=6)
    pose = np.eye(4)
    pose[:3, 3] = 0.1, 0.2, 0.3
    base = rd.BaseMotion(pose, twist, np.zeros(6))
    link = arm.link_names[-1]
    hit = arm.impact(q, v, link, (0, 0, 0.1), None, base=base)
    heavy = rd.load("arm7", base="floating").with_(
        payload={arm.link_names[0]: Inertia(1e9, Pose(), 1e9, 0, 0, 1e9, 0, 1e9)}
    )
    x = np.r_[pose[:3, 3], 0, 0, 0, 1, q]
    free = heavy.impact(x, np.r_[twist, v], link, (0, 0, 0.1), None)
    assert free.v[6:] == pytest.approx(hit.v, abs=1e-6)
    assert free.impulse == pytest.approx(hit.impulse, rel=1e-6)


@pytest.mark.parametrize("name", ["stewart", "delta", "puma560"])
def test_latching_all_stops_all(name):
    robot = CASES[name]
    q, v, _ = state(robot, 10)
    hit = robot.latch(q, v, robot.joint_names)
    assert np.abs(hit.v).max() < 1e-12
    assert hit.energy_loss == pytest.approx(robot.kinetic_energy(q, v))


def test_a_latch_in_a_linkage_stops_one_joint_and_keeps_the_loops():
    """Of speeds that drifted a little off the loops, too."""
    robot = bundled("five_bar")
    q, rng = robot.neutral(), np.random.default_rng(7)
    v, K, joint = rng.normal(size=robot.nv), robot.loop_jacobian(q), robot.independent_joints[0]
    v = robot.consistent_velocity(q, v)
    at = robot.joints[joint].v
    for drift in (0.0, 1e-7):
        hit = robot.latch(q, v + drift * rng.normal(size=robot.nv), [joint])
        assert np.abs(hit.v[at]).max() < 1e-12
        assert np.abs(hit.v).max() > 0.1
        assert np.abs(K @ hit.v).max() < 1e-12
        lost = robot.kinetic_energy(q, v) - robot.kinetic_energy(q, hit.v)
        assert hit.energy_loss == pytest.approx(lost, rel=1e-5 if drift else 1e-12)


def test_a_point_rebounds_from_the_speed_that_fits_the_loops():
    """The speeds nearest to those given, in the norm of the kinetic energy."""
    robot = bundled("five_bar")
    q, rng = robot.neutral(), np.random.default_rng(8)
    link, point, M, K = robot.link_names[-1], np.array([0.1, 0.2, 0.0]), *matrices(robot, q)
    v = robot.consistent_velocity(q, rng.normal(size=robot.nv)) + 1e-7 * rng.normal(size=robot.nv)
    back = np.linalg.solve(M, K.T)
    fitted = v - back @ np.linalg.lstsq(K @ back, K @ v, rcond=1e-11)[0]
    J, X = robot.frame_jacobian(q, link, axes="world"), robot.frame_pose(q, link)
    n = J[:3] - np.cross(X[:3, :3] @ point, J[3:].T).T
    direction = -np.sign(n[0] @ fitted) * EX
    hit = robot.impact(q, v, link, point, direction, restitution=0.5)
    assert abs(n[0] @ (fitted - v)) > 1e-8
    assert n[0] @ hit.v == pytest.approx(-0.5 * n[0] @ fitted, abs=1e-12)


def matrices(robot, q):
    return robot.mass_matrix(q), robot.loop_jacobian(q)


@pytest.mark.parametrize("name", ["four_bar", "five_bar", "crank_slider", "palletizer"])
def test_minimal_coordinates_jump_as_tree_coordinates(name):
    robot = rd.load(name, coordinates="minimal")
    q = robot.neutral()
    v = np.ones(robot.nv)
    x, y = robot.expand(q), robot.speed_map(q) @ v
    link = links_that_move(robot, q)[-1]
    small, large = (
        r.impact(*s, link, (0.1, 0.2, 0.0), None)
        for r, s in ((robot, (q, v)), (robot.tree_form, (x, y)))
    )
    assert robot.speed_map(q) @ small.v == pytest.approx(large.v, abs=1e-10)
    for joint in large.joint_impulses:
        expected = large.joint_impulses[joint]
        scale = np.abs(large.impulse).max()
        assert small.joint_impulses[joint] == pytest.approx(expected, abs=1e-8 * scale)


# -- what cannot be -------------------------------------------------------------------------------


def test_bodies_that_part_are_refused():
    robot = chain(1, "revolute")
    q, v = np.zeros((4, 1)), np.array([[-1.0], [1.0], [-1.0], [1.0]])
    with pytest.raises(rd.ImpactError, match=r"behind it.*points from the other body") as caught:
        robot.impact(q, v, "rod1", END, EY)
    assert caught.value.rows == (1, 3)
    with pytest.raises(rd.ImpactError, match="1 m/s: what"):
        robot.impact(q[1], v[1], "rod1", END, EY)


def test_an_impulse_that_nothing_could_have():
    robot = chain(1, "revolute")
    with pytest.raises(rd.ImpactError, match="no finite impulse"):
        robot.impact([0.0], [-1.0], "rod1", END, None, controlled=["joint1"])
    assert robot.apparent_mass([0.0], "rod1", END, EX) == np.inf
    assert robot.apparent_mass([0.0], "rod1", START, EY) == np.inf
    hit = robot.impact([0.0], [-1.0], "rod1", END, None)
    assert hit.v == pytest.approx([0.0])
    assert hit.impulse == pytest.approx([0.0, 1 / 3, 0.0])


@pytest.mark.parametrize(
    ("changed", "error", "says"),
    [
        ({"link": "rob1"}, rd.UnknownNameError, "rod1"),
        ({"point": (0, 0)}, rd.ShapeError, "point has shape"),
        ({"direction": (0, 0, 0)}, rd.ShapeError, "direction is zero"),
        ({"point": (0, np.nan, 0)}, rd.ShapeError, "point holds numbers that are not finite"),
        ({"direction": (0, np.nan, 0)}, rd.ShapeError, "not finite"),
        ({"q": np.zeros((3, 1)), "direction": np.ones((4, 3))}, rd.ShapeError, "broadcast"),
        ({"q": np.zeros((3, 1)), "point": np.ones((4, 3))}, rd.ShapeError, "broadcast"),
        (
            {"q": np.zeros((3, 1)), "against": rd.PointMass(1.0, np.ones((4, 3)))},
            rd.ShapeError,
            "broadcast",
        ),
        ({"against": ("rod1", START)}, rd.ImpactError, "one rigid body"),
        ({"against": rd.RobotPoint("arm", [0.0], [0.0], "rod1", END)}, rd.ShapeError, "Robot"),
        ({"restitution": 1.5}, rd.SettingsError, "from 0 to 1"),
        ({"restitution": 0.5, "direction": None}, rd.SettingsError, "sticks"),
        ({"against": "rod1"}, rd.ShapeError, "against is 'rod1'"),
        ({"controlled": ["pin"]}, rd.UnknownNameError, "joint1"),
        ({"v": [np.nan]}, rd.ShapeError, "v holds numbers that are not finite"),
        ({"q": [0.0, 0.0]}, rd.ShapeError, "q has shape"),
    ],
)
def test_bad_input_is_refused(changed, error, says):
    robot = chain(1, "revolute")
    given = {"q": [0.0], "v": [-1.0], "link": "rod1", "point": END, "direction": EY} | changed
    with pytest.raises(error, match=says):
        robot.impact(**given)


@pytest.mark.parametrize("direction", [*np.eye(3), *-np.eye(3)])
def test_a_joint_that_a_constraint_ties_to_time_is_a_driven_one(puma, direction):
    """Its speed, which the clock gives, does not jump; speeds that do not follow it are refused."""
    clock = rd.Constraint("clock", lambda q, t: [q[0] - 0.3 * rd.sin(t)], ["joint1"])
    robot = rd.load("puma560", constraints=[clock])
    t = 0.4
    q = robot.at(t).assemble(np.full(6, 0.3))
    v = robot.at(t).consistent_velocity(q, np.ones(6))
    assert v[0] == pytest.approx(0.3 * np.cos(t))
    place = "flange", (0.0, 0.0, 0.1), direction
    with pytest.raises(rd.InconsistentStateError, match="clock"):
        robot.at(t).impact(q, np.zeros(6), *place)
    try:
        expected = puma.impact(q, v, *place, controlled=["joint1"])
    except rd.ImpactError:
        with pytest.raises(rd.ImpactError):
            robot.at(t).impact(q, v, *place)
        return
    hit = robot.at(t).impact(q, v, *place)
    assert hit.v == pytest.approx(expected.v, abs=1e-11)
    assert hit.energy_loss == pytest.approx(expected.energy_loss)
    for joint in ("joint2", "joint5"):
        found, wanted = hit.joint_impulses[joint], expected.joint_impulses[joint]
        assert found == pytest.approx(wanted, abs=1e-9 * np.abs(hit.impulse).max())
    caught = robot.at([t, t]).latch(np.stack([q, q]), v, ["joint3"])
    assert caught.v[:, [0, 2]] == pytest.approx(np.array([[v[0], 0.0]] * 2))


@pytest.mark.parametrize("joint", ["crank_pin", "rocker_pin"])
def test_a_latch_of_a_joint_without_a_speed_says_what_to_do(joint):
    robot = rd.load("four_bar", coordinates="minimal")
    says = "tree_form" if joint == "crank_pin" else "it is cut"
    with pytest.raises(rd.UnknownNameError, match=f"joint with a speed of its own.*{says}"):
        robot.latch(robot.neutral(), [1.0], [joint])


def test_a_direction_in_which_only_rounding_gives_way():
    """A pin about y: a point above it moves along x, and along z by the last digit of a cosine."""
    inertia = Inertia(1.0, Pose((0.1, 0.0, 0.0)), 0.1, 0, 0, 0.1, 0, 0.1)
    joint = Joint("pin", "revolute", "ground", "arm", Pose((0.3, 0, 0)), (0, 1, 0))
    robot = rd.load(Mechanism("pin", (Link("ground"), Link("arm", inertia)), (joint,)))
    up = np.array([np.cos(0.3), 0.0, -np.sin(0.3)]), np.array([np.sin(0.3), 0.0, np.cos(0.3)])
    for q, point in ((0.3, (0.0, 0.0, 0.1)), (0.3, (0.0, 0.0, 1e-3))):
        assert robot.apparent_mass([q], "arm", point, up[1]) == np.inf
        assert robot.impact([q], [1.0], "arm", point, up[1]).impulse == pytest.approx(0.0)
        assert np.isfinite(robot.apparent_mass([q], "arm", point, up[0]))


@pytest.mark.parametrize("size", [1e-310, 1e-300, 1e-160, 1e160, 1e300])
def test_a_direction_may_have_any_length(size):
    robot = chain(1, "revolute")
    hit = robot.impact([0.0], [-1.0], "rod1", END, size * EY)
    assert hit.impulse == pytest.approx([0.0, 1 / 3, 0.0])
    assert robot.apparent_mass([0.0], "rod1", END, size * EY) == pytest.approx(1 / 3)


def test_a_driven_joint_of_several_axes_has_its_impulses():
    inertia = Inertia(1.0, Pose((0.3, 0, 0)), 0.1, 0, 0, 0.1, 0, 0.1)
    links = Link("ground"), Link("one", inertia), Link("two", inertia)
    joints = (
        Joint("ball", "spherical", "ground", "one"),
        Joint("pin", "revolute", "one", "two", Pose((0.6, 0, 0)), (0, 0, 1)),
    )
    robot = rd.load(Mechanism("arm", links, joints))
    q, v = robot.neutral(), np.array([0.1, 0.2, 0.3, 1.0])
    hit = robot.impact(q, v, "two", (0.5, 0, 0), -EY, controlled=["ball"])
    assert hit.v[:3] == pytest.approx(v[:3])
    assert np.abs(hit.joint_impulses["ball"]).max() > 0.0
    caught = robot.latch(q, v, ["ball[2]", "ball"])
    assert caught.joint_impulses["pin"].shape == (6,)


# -- robots whose links the clock moves -----------------------------------------------------------


@pytest.mark.parametrize("batch", [(), (3,)])
@pytest.mark.parametrize("how", [{"restitution": 0.5}, {"friction": 0.2}])
def test_a_body_without_speeds_is_a_wall(how, batch):
    body, none = Inertia.from_matrix(2.0, (0, 0, 0), np.eye(3)), np.zeros((*batch, 0))
    weld = Joint("weld", "fixed", "ground", "post")
    robot = rd.load(Mechanism("post", (Link("ground"), Link("post", body)), (weld,)))
    ball = rd.PointMass(0.7, (3.0, 0.0, 0.0))
    hit = robot.impact(none, none, "post", (0, 0, 0), EX, against=ball, **how)
    rebound = np.broadcast_to(-how.get("restitution", 0.0) * 3.0 * EX, (*batch, 3))
    np.testing.assert_allclose(hit.against_v, rebound, atol=1e-14)
    away = rd.PointMass(0.7, (-1.0, 0.0, 0.0))
    with pytest.raises(rd.errors.ImpactError, match="behind it"):
        robot.impact(none, none, "post", (0, 0, 0), EX, against=away, **how)


def clocked_wall():
    """A wall that is at x = t^2: it has no speeds of its own, and goes at 2 m/s at one second."""
    body = Inertia.from_matrix(1.0, (0.0, 0.0, 0.0), np.eye(3))
    path = rd.JointMap(0, lambda q, t: [[1, 0, 0, t * t], [0, 1, 0, 0], [0, 0, 1, 0], [0, 0, 0, 1]])
    slide = Joint("slide", "map", "ground", "wall", map=path)
    return rd.load(Mechanism("wall", (Link("ground"), Link("wall", body)), (slide,)))


@pytest.mark.parametrize("restitution", [0.0, 0.5, 1.0])
def test_a_wall_that_the_clock_moves_hits_a_ball(restitution):
    """No impulse changes the wall, so the ball leaves it at e times the approach [W 6.12]."""
    robot, ball = clocked_wall(), rd.PointMass(0.7, (-1.0, 3.0, 0.0))
    hit = robot.at(1.0).impact(
        [], [], "wall", (0, 0, 0), -EX, restitution=restitution, against=ball
    )
    np.testing.assert_allclose(hit.against_v, [2.0 + restitution * 3.0, 3.0, 0.0], atol=1e-14)
    np.testing.assert_allclose(hit.impulse, [-0.7 * 3.0 * (1.0 + restitution), 0, 0], atol=1e-14)
    sticks = robot.at(1.0).impact([], [], "wall", (0, 0, 0), None, against=ball)
    np.testing.assert_allclose(sticks.against_v, [2.0, 0.0, 0.0], atol=1e-14)
    hits = [rd.Hit("wall", (0, 0, 0), -EX, against=ball)]
    both = robot.at(1.0).simultaneous_impacts([], [], hits, restitution=restitution)
    np.testing.assert_allclose(both.against_v[0], hit.against_v, atol=1e-14)


def test_a_wall_that_the_clock_moves_cannot_be_stopped():
    with pytest.raises(rd.ImpactError, match="no finite impulse stops it"):
        clocked_wall().at(1.0).impact([], [], "wall", (0, 0, 0), -EX)


SPRINGS_OF_LINKAGES = [
    (name, joint)
    for name in ("four_bar", "five_bar")
    for joint in [mover.name for mover in rd.load(name).mechanism.movers if mover.kind != "fixed"]
]


@pytest.mark.parametrize("name, joint", SPRINGS_OF_LINKAGES)
def test_impulses_do_not_feel_springs(name, joint):
    """A spring keeps the coordinate of its joint, and exerts no impulse."""
    plain, sprung = rd.load(name), rd.load(name, springs={joint: (500.0, 0.9)})
    hit = plain.mechanism.links[-1].name, (0.1, 0.0, 0.2), (0.3, 0.0, 0.8)
    masses = [robot.apparent_mass(robot.neutral(), *hit) for robot in (plain, sprung)]
    assert masses[1] == pytest.approx(masses[0], rel=1e-9)
    jumps = []
    for robot in (plain, sprung):
        q = robot.neutral()
        driven = [robot.joints[motor] for motor in plain.actuators] or [*robot.joints.values()][:1]
        v = np.zeros(robot.nv)
        for one in driven:
            v[one.v] = 1.0
        v = robot.consistent_velocity(q, v, [one.name for one in driven])
        V = robot.frame_twist(q, v, hit[0], axes="world")
        arm = robot.frame_pose(q, hit[0])[:3, :3] @ hit[1]
        v = -v * np.sign((V[:3] + np.cross(V[3:], arm)) @ hit[2])  # toward what it hits
        jumps.append(robot.frame_twist(q, robot.impact(q, v, *hit).v, hit[0]))
    assert np.allclose(*jumps, rtol=1e-7, atol=1e-9)


def test_joint_impulses_are_those_of_the_state_that_was_given_though_its_arrays_change(double):
    q, v, point, along = np.array([0.3, 0.4]), np.array([1.0, 2.0]), np.zeros(3), [1.0, 0.0, 0.0]
    point[2] = -1.0
    for direction in (along, None):
        expected = dict(double.impact(q, v, "lower", point, direction).joint_impulses)
        for _ in range(2):  # the second call goes to machine code
            given = [q.copy(), v.copy(), point.copy()]
            hit = double.impact(given[0], given[1], "lower", given[2], direction)
            for x in (*given, hit.v, hit.impulse):
                x[:] = 9.0
            for joint, impulse in hit.joint_impulses.items():
                np.testing.assert_allclose(impulse, expected[joint], rtol=1e-12, atol=1e-13)


def test_no_friction_is_none_whatever_was_called_before(double):
    at = (np.array([0.4, 0.3]), np.array([1.0, -2.0]), double.link_names[-1])
    at = (*at, np.array([0.0, 0.1, -1.0]), np.array([0.0, 0.3, 1.0]))
    for method, part in ((double.impact, "v"), (double.impact_derivatives, "by_q")):
        for known in (0.0, 0.3, None, 0.3, 0.0, None):
            method(*at, friction=known)
            method(*at)
            none, zero = (getattr(method(*at, friction=x), part) for x in (None, 0.0))
            np.testing.assert_array_equal(none, zero)
