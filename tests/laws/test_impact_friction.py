"""Impacts with Coulomb friction: closed forms of free bodies, and laws on trees and linkages."""

import math

import numpy as np
import pytest
from support.slides import hopper

import robodyn as rd
from robodyn import ImpactError, Inertia, Link, Mechanism, SettingsError
from robodyn.impacts.friction import with_friction

#: A rod in a plane, 2 m long, 3 kg, of which the lower end hits the ground.
HALF, MASS, TURNING = 1.0, 3.0, 0.7


def free_rod(angle, velocity, spin):
    """A rod as a floating body, tilted about y by an angle; velocity in world axes."""
    inertia = Inertia.from_matrix(MASS, (0, 0, 0), np.diag([TURNING, TURNING, 0.01]))
    robot = rd.load(Mechanism("rod", (Link("rod", inertia),), ()), base="floating")
    q = np.array([0, 0, 0, 0, math.sin(angle / 2), 0, math.cos(angle / 2)])
    R = robot.frame_pose(q, "rod")[:3, :3]
    return robot, q, np.concatenate([R.T @ velocity, R.T @ [0.0, spin, 0.0]])


def hit(angle, velocity, spin, friction, e=0.0):
    """Normal and tangential impulse, and velocity of the tip before and after."""
    robot, q, v = free_rod(angle, np.array([velocity[0], 0.0, velocity[1]]), spin)
    found = robot.impact(q, v, "rod", (0, 0, -HALF), (0, 0, 1), restitution=e, friction=friction)

    def tip(v):
        R = robot.frame_pose(q, "rod")[:3, :3]
        return R @ (v[:3] + np.cross(v[3:], [0, 0, -HALF]))

    return found, tip(v), tip(found.v)


def by_hand(angle, u, friction, e):
    """Impulses (tangential x, normal z) of a plane rod, slip case by case."""
    r = HALF * np.array([-math.sin(angle), -math.cos(angle)])
    W = (
        np.eye(2) / MASS
        + np.array([[r[1] * r[1], -r[0] * r[1]], [-r[0] * r[1], r[0] * r[0]]]) / TURNING
    )
    stick = np.linalg.solve(W, [-u[0], -(1 + e) * u[1]])
    if abs(stick[0]) <= friction * stick[1]:
        return stick, W
    for side in (1.0, -1.0):
        p_n = -(1 + e) * u[1] / (W[1, 1] - side * friction * W[1, 0])
        p = np.array([-side * friction * p_n, p_n])
        after = u + W @ p
        if p_n > 0 and side * after[0] >= -1e-12:
            return p, W
    raise AssertionError("no case")


def test_a_rod_that_would_gain_energy():
    """Struck askew its tip would turn back; friction that holds it pushes it forwards."""
    p, W = by_hand(0.6, np.array([0.8, -1.0]), 1.0, 1.0)
    assert p @ (np.array([0.8, -1.0]) + 0.5 * W @ p) > 0.0
    with pytest.raises(ImpactError, match="more energy than there was"):
        hit(0.6, (0.8, -1.0), 0.0, 1.0, 1.0)


@pytest.mark.parametrize("angle", [0.4, -0.9])
@pytest.mark.parametrize("part", [0.96, 0.999, 1.001, 1.04])
def test_between_sliding_and_sticking(angle, part):
    """Just below the friction that holds the tip, and just above."""
    u = np.array([0.7, -1.0])
    stick, _ = by_hand(angle, u, 99.0, 0.0)
    friction = part * abs(stick[0]) / stick[1]
    found, _, after = hit(angle, u, 0.0, friction)
    np.testing.assert_allclose(found.impulse[[0, 2]], by_hand(angle, u, friction, 0.0)[0])
    assert (abs(after[0]) < 1e-12) == (part > 1.0)


def test_what_code_leaves_to_numbers_sticks_within_the_cone_and_slides_beyond():
    rng = np.random.default_rng(4)
    for _ in range(20):
        A, n, u = rng.normal(size=(3, 3)), rng.normal(size=3), rng.normal(size=3)
        W, n = 4.0 * np.eye(3) + 0.3 * A @ A.T, n / np.linalg.norm(n)
        u -= (u @ n + 1.0) * n  # it approaches with 1 m/s
        stick = -np.linalg.solve(W, u)
        bound = np.linalg.norm(np.cross(n, stick)) / (stick @ n)
        assert with_friction(u, W, n, 0.0, 1.01 * bound).sticks
        slides = with_friction(u, W, n, 0.0, 0.99 * bound)
        assert not slides.sticks
        across = np.linalg.norm(np.cross(n, slides.impulse))
        assert across <= 0.99 * bound * (slides.impulse @ n) * (1.0 + 1e-12)
        np.testing.assert_allclose((u + W @ slides.impulse) @ n, 0.0, atol=1e-12)


def test_a_body_that_is_driven_along_the_floor_does_not_stick():
    """Nothing can end its slip, so that friction is that of sliding, however great."""
    robot = hopper()
    hits = {"link": "body", "point": (0, 0, 0), "direction": (0, 0, 1), "friction": 0.5}
    driven = robot.impact([0, 0], [3.0, -1.0], **hits, controlled=["x"])
    np.testing.assert_allclose(driven.impulse, [-1.0, 0.0, 2.0], atol=1e-12)
    np.testing.assert_allclose(driven.v, [3.0, 0.0], atol=1e-12)
    free = robot.impact([0, 0], [0.3, -1.0], **hits)
    np.testing.assert_allclose(free.impulse, [-0.6, 0.0, 2.0], atol=1e-12)


@pytest.mark.parametrize("e", [0.0, 0.4])
@pytest.mark.parametrize("friction", [0.05, 0.3, 2.0])
@pytest.mark.parametrize("angle", [-0.7, 0.0, 0.4, 1.0])
@pytest.mark.parametrize("vx", [-2.0, 0.3, 1.5])
def test_a_rod_that_falls_on_its_tip(angle, vx, friction, e):
    u = np.array([vx, -1.0])
    p, W = by_hand(angle, u, friction, e)
    if -p @ (u + 0.5 * W @ p) < 0.0:  # restitution would bring energy
        with pytest.raises(ImpactError, match="more energy than there was"):
            hit(angle, (vx, -1.0), 0.0, friction, e)
        return
    found, before, after = hit(angle, (vx, -1.0), 0.0, friction, e)
    np.testing.assert_allclose(found.impulse[[0, 2]], p, atol=1e-12)
    assert found.impulse[1] == pytest.approx(0.0, abs=1e-12)
    assert after[2] == pytest.approx(-e * before[2], abs=1e-12)
    assert found.energy_loss >= -1e-12


def test_a_ball_that_slides_and_rolls():
    """Sliding takes friction times the normal impulse; beyond 2/7 of the slip it sticks."""
    inertia = Inertia.from_matrix(2.0, (0, 0, 0), 0.4 * 2.0 * 0.1**2 * np.eye(3))
    robot = rd.load(Mechanism("ball", (Link("ball", inertia),), ()), base="floating")
    q = np.array([0, 0, 0.1, 0, 0, 0, 1.0])
    v = np.array([3.0, 4.0, -1.0, 0, 0, 0])
    where = {"link": "ball", "point": (0, 0, -0.1), "direction": (0, 0, 1)}
    slides = robot.impact(q, v, **where, friction=0.2)
    np.testing.assert_allclose(
        slides.impulse, [-0.2 * 2.0 * 0.6, -0.2 * 2.0 * 0.8, 2.0], atol=1e-12
    )
    rolls = robot.impact(q, v, **where, friction=5.0)
    np.testing.assert_allclose(rolls.impulse, [-2 / 7 * 6.0, -2 / 7 * 8.0, 2.0], atol=1e-12)
    sticks = robot.impact(q, v, "ball", (0, 0, -0.1), None)
    np.testing.assert_allclose(rolls.v, sticks.v, atol=1e-12)


@pytest.mark.parametrize("name", ["arm7", "four_bar", "puma560", "palletizer"])
def test_laws_on_robots(name):
    robot = rd.load(name)
    rng, seen, ended = np.random.default_rng(2), set(), set()
    link = robot.link_names[-1]
    for _ in range(40):
        q, v = robot.random(rng), rng.normal(size=robot.nv)
        v = robot.consistent_velocity(q, v) if robot.nc else v
        n = rng.normal(size=3)
        n = n / np.linalg.norm(n)
        point = rng.normal(size=3) * 0.1
        try:
            none = robot.impact(q, v, link, point, n)
        except ImpactError:
            continue
        mu, e = rng.choice([0.1, 0.5, 3.0]), rng.choice([0.0, 0.3])
        try:
            found = robot.impact(q, v, link, point, n, friction=mu, restitution=e)
        except ImpactError as error:
            assert "wedges" in str(error) or (e and "more energy" in str(error))
            continue
        p_n = found.impulse @ n
        p_t = found.impulse - p_n * n
        seen.add(bool(np.linalg.norm(p_t) < mu * p_n * (1 - 1e-9)))
        assert np.linalg.norm(p_t) <= mu * p_n * (1 + 1e-9)
        assert found.energy_loss >= -1e-12
        np.testing.assert_allclose(
            robot.kinetic_energy(q, v) - robot.kinetic_energy(q, found.v),
            found.energy_loss, atol=1e-9 * robot.kinetic_energy(q, v),
        )  # fmt: skip
        # Newton's restitution along the normal; along the slip friction opposes what is left of it
        before, after = (
            V[:3] + np.cross(V[3:], robot.frame_pose(q, link)[:3, :3] @ point)
            for V in (robot.frame_twist(q, x, link, axes="world") for x in (v, found.v))
        )
        speed = np.linalg.norm(before)
        assert after @ n == pytest.approx(-e * (before @ n), abs=1e-9 * speed)
        slip = before - (before @ n) * n
        if np.linalg.norm(slip) > 1e-6 * speed:
            s = slip / np.linalg.norm(slip)
            left, push = after @ s, p_t @ s
            ended.add(bool(abs(left) < 1e-9 * speed))
            if abs(left) > 1e-9 * speed:
                assert push == pytest.approx(-np.sign(left) * mu * p_n, rel=1e-9)
        # no friction at all is what it was
        zero = robot.impact(q, v, link, point, n, friction=0.0)
        np.testing.assert_array_equal(zero.v, none.v)
        little = robot.impact(q, v, link, point, n, friction=1e-9)
        np.testing.assert_allclose(little.v, none.v, atol=1e-6 * (1 + np.abs(none.v).max()))
    assert seen == ended == {True, False} or robot.nv <= 3


@pytest.mark.parametrize("friction", [0.05, 3.0])
def test_a_mechanism_of_one_freedom_stops_where_nothing_rebounds(four_bar, friction):
    """Its slip ends with the approach, whatever rounding says of what friction would have to do."""
    rng = np.random.default_rng(2)
    for _ in range(20):
        q = four_bar.random(rng)
        v = four_bar.consistent_velocity(q, rng.normal(size=four_bar.nv))
        link, point = "rocker_end", rng.normal(size=3)
        J = four_bar.frame_jacobian(q, link, axes="world")
        u = (J[:3] + np.cross(J[3:].T, four_bar.frame_pose(q, link)[:3, :3] @ point).T) @ v
        n = np.linalg.norm(u) * rng.normal(size=3) * [1.0, 0.0, 1.0] - 2.0 * u
        n = n if n @ u < 0.0 else -n
        for _ in range(2):
            hit = four_bar.impact(q, v, link, point, n, friction=friction)
            np.testing.assert_allclose(hit.v, 0.0, atol=1e-9 * np.abs(v).max())
            along = hit.impulse @ n / (n @ n) * n
            assert along @ n > 0.0
            # friction does not push along the slip
            assert (hit.impulse - along) @ u <= 1e-9 * np.linalg.norm(along) * np.linalg.norm(u)


def test_batches_are_loops_over_rows(arm):
    rng = np.random.default_rng(4)
    q, v = rng.normal(size=(2, 6, 7))
    n = np.zeros((6, 3))
    for k in range(6):
        J = arm.frame_jacobian(q[k], arm.link_names[-1], axes="world")[:3]
        n[k] = -(J @ v[k]) + np.array([0.3, 0.1, 0.2]) * np.linalg.norm(J @ v[k])
    rows = [
        arm.impact(q[k], v[k], arm.link_names[-1], (0, 0, 0), n[k], friction=0.4) for k in range(6)
    ]
    many = arm.impact(q, v, arm.link_names[-1], (0, 0, 0), n, friction=0.4)
    np.testing.assert_allclose(many.v, [x.v for x in rows], atol=1e-11)
    np.testing.assert_allclose(many.energy_loss, [x.energy_loss for x in rows], atol=1e-11)


def test_a_point_that_sticks_has_no_coefficient(double):
    with pytest.raises(SettingsError, match="sticks"):
        double.impact([0.3, 0.4], [1.0, 2.0], "lower", [0, 0, -1], None, friction=0.5)


@pytest.mark.parametrize("e", [0.0, 0.6])
def test_friction_never_drives_the_slip_that_is_left(e):
    """Also where the normal impulse would turn the slip round by itself."""
    rng, n, mu = np.random.default_rng(3), np.array([0.0, 0.0, 1.0]), 0.3
    A = rng.normal(size=(400, 3, 3))
    W = A @ np.swapaxes(A, -1, -2) + 0.3 * np.eye(3)
    W[:, 1, [0, 2]] = W[:, [0, 2], 1] = 0.0  # of a plane problem: the slip stays in x
    u = rng.normal(size=(400, 3)) * [1.0, 0.0, 1.0]
    u[:, 2] = -np.abs(u[:, 2])
    keep = W[:, 2, 2] > 1.5 * mu * np.abs(W[:, 0, 2])  # it cannot wedge
    W, u = W[keep], u[keep]
    p = with_friction(u, W, np.broadcast_to(n, u.shape), e, mu).impulse
    after = u + np.einsum("kij,kj->ki", W, p)
    np.testing.assert_allclose(after[:, 2], -e * u[:, 2], atol=1e-12)
    assert (np.abs(p[:, 0]) <= mu * p[:, 2] * (1.0 + 1e-9)).all()
    assert (p[:, 0] * after[:, 0] <= 1e-12).all()
    turned = u[:, 0] * (u[:, 0] + W[:, 0, 2] * (-(1.0 + e) * u[:, 2]) / W[:, 2, 2]) < 0.0
    assert turned.sum() > 20
