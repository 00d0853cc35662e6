"""Impacts with Coulomb friction: closed forms of free bodies, and laws on trees and linkages."""

from __future__ import annotations

import math

import numpy as np
import pytest

import robodyn as rd
from robodyn import ImpactError, Inertia, Link, Mechanism, SettingsError

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
        return stick
    for side in (1.0, -1.0):
        p_n = -(1 + e) * u[1] / (W[1, 1] - side * friction * W[1, 0])
        p = np.array([-side * friction * p_n, p_n])
        after = u + W @ p
        if p_n > 0 and side * after[0] >= -1e-12:
            return p
    raise AssertionError("no case")


@pytest.mark.parametrize("e", [0.0, 0.4])
@pytest.mark.parametrize("friction", [0.05, 0.3, 2.0])
@pytest.mark.parametrize("angle", [-0.7, 0.0, 0.4, 1.0])
@pytest.mark.parametrize("vx", [-2.0, 0.3, 1.5])
def test_a_rod_that_falls_on_its_tip(angle, vx, friction, e):
    try:
        found, before, after = hit(angle, (vx, -1.0), 0.0, friction, e)
    except ImpactError as error:
        assert e > 0.0 and "energy" in str(error)
        return
    u = np.array([before[0], before[2]])
    np.testing.assert_allclose(found.impulse[[0, 2]], by_hand(angle, u, friction, e), atol=1e-12)
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
    rng, seen = np.random.default_rng(2), set()
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
        mu = rng.choice([0.1, 0.5, 3.0])
        try:
            found = robot.impact(q, v, link, point, n, friction=mu)
        except ImpactError as error:
            assert "wedges" in str(error)
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
        # no friction at all is what it was
        zero = robot.impact(q, v, link, point, n, friction=0.0)
        np.testing.assert_array_equal(zero.v, none.v)
        little = robot.impact(q, v, link, point, n, friction=1e-9)
        np.testing.assert_allclose(little.v, none.v, atol=1e-6 * (1 + np.abs(none.v).max()))
    assert seen == {True, False} or robot.nv <= 3


def test_batches_are_loops_over_rows():
    robot = rd.load("arm7")
    rng = np.random.default_rng(4)
    q, v = rng.normal(size=(2, 6, 7))
    n = np.zeros((6, 3))
    for k in range(6):
        J = robot.frame_jacobian(q[k], robot.link_names[-1], axes="world")[:3]
        n[k] = -(J @ v[k]) + np.array([0.3, 0.1, 0.2]) * np.linalg.norm(J @ v[k])
    rows = [
        robot.impact(q[k], v[k], robot.link_names[-1], (0, 0, 0), n[k], friction=0.4)
        for k in range(6)
    ]
    many = robot.impact(q, v, robot.link_names[-1], (0, 0, 0), n, friction=0.4)
    np.testing.assert_allclose(many.v, [x.v for x in rows], atol=1e-11)
    np.testing.assert_allclose(many.energy_loss, [x.energy_loss for x in rows], atol=1e-11)


@pytest.mark.parametrize("wrong", [-0.1, math.nan, math.inf, "much", None, True])
def test_what_is_no_coefficient(wrong):
    robot = rd.load("double_pendulum")
    with pytest.raises(SettingsError, match="friction is"):
        robot.impact([0.3, 0.4], [1.0, 2.0], "lower", [0, 0, -1], [1, 0, 0], friction=wrong)


def test_a_point_that_sticks_has_no_coefficient():
    robot = rd.load("double_pendulum")
    with pytest.raises(SettingsError, match="sticks"):
        robot.impact([0.3, 0.4], [1.0, 2.0], "lower", [0, 0, -1], None, friction=0.5)
