"""A table on three casters that roll, one wheel driven [Wittenburg 1977, example 5.4]."""

import numpy as np
import pytest
from support.caster_table import GAMMA, RADIUS, ROLLS, TURNS, R, caster_table, straight

import robodyn as rd


@pytest.fixture(scope="module")
def table():
    return caster_table()


def test_rows_and_mobility(table):
    assert (table.nc, table.dof) == (6, 3)
    assert table.constraint_names[:2] == ("wheel1[0]", "wheel1[1]")
    q = table.random(0)
    np.testing.assert_array_equal(table.assemble(q), q)
    assert not table.loop_residual(q).any()


def test_bias_is_that_of_the_book(table):
    rng = np.random.default_rng(0)
    q, v = rng.normal(size=(2, 9))
    dx, dy = np.array([[np.cos(q[2]), -np.sin(q[2])], [np.sin(q[2]), np.cos(q[2])]]) @ v[:2]
    # the book's accelerations are of x and y; ours of the speeds along turning axes
    ddx, ddy = -v[2] * dy, v[2] * dx
    for k in range(3):
        turn, dturn = q[TURNS[k]], v[TURNS[k]]
        psi, w = q[2] + turn + GAMMA[k], v[2]
        c, s = np.cos(psi), np.sin(psi)
        phi1 = dx * (w + dturn) * c + dy * (w + dturn) * s + w * dturn * R * np.sin(turn)
        phi2 = -dx * (w + dturn) * s + dy * (w + dturn) * c + w * dturn * R * np.cos(turn)
        expected = [phi1 + ddx * s - ddy * c, phi2 + ddx * c + ddy * s]
        np.testing.assert_allclose(table.loop_bias(q, v)[2 * k : 2 * k + 2], expected, atol=1e-12)


def test_it_rolls_straight_without_torque(table):
    q, v = straight(table, 0.5)
    np.testing.assert_allclose(table.loop_jacobian(q) @ v, 0.0, atol=1e-12)
    driven = table.hybrid_dynamics(q, v, controlled={"wheel1_axle": 0.0})
    np.testing.assert_allclose(driven.tau, 0.0, atol=1e-12)
    # quarter turns of the wheels' inertias are rounded to 4e-6 in the file
    np.testing.assert_allclose(driven.a, 0.0, atol=1e-5)


def test_to_speed_up_takes_the_mass_of_the_table_and_the_wheels(table):
    q, v = straight(table, 0.5)
    driven = table.hybrid_dynamics(q, v, controlled={"wheel1_axle": 2.0})
    spin = sum(link.inertia.izz for link in table.mechanism.links if link.name.startswith("wheel"))
    mass = sum(link.inertia.mass for link in table.mechanism.links if link.inertia)
    expected = (mass * RADIUS**2 + spin) * 2.0
    np.testing.assert_allclose(driven.tau[ROLLS[0]], expected, rtol=1e-9)
    np.testing.assert_allclose(driven.a[0], 2.0 * RADIUS, rtol=1e-9)
    tau = table.inverse_dynamics(q, v, driven.a, actuated=["wheel1_axle", "caster1", "caster2"])
    np.testing.assert_allclose(tau, driven.tau, atol=1e-9)


def test_the_motor_supplies_the_energy_and_the_wheels_do_not_slip(table):
    """R-CV6: a wheel driven along Omega(t), the casters swing freely."""
    q = table.neutral()
    q[TURNS] = [2.5, 0.4, -0.8]
    path = rd.JointPath(lambda t: (np.sin(3 * t), 3 * np.cos(3 * t), -9 * np.sin(3 * t)))
    v = table.consistent_velocity(q, [0, 0, 0.3, 0, 3.0, 0, 0, 0, 0], hold=["wheel1_axle"])
    assert v[ROLLS[0]] == 3.0
    run = rd.simulate(table, q0=q, v0=v, duration=1.0, step=1e-3, controlled={"wheel1_axle": path})
    slip = np.einsum("...ij,...j->...i", table.loop_jacobian(run.q), run.v)
    np.testing.assert_allclose(slip, 0.0, atol=1e-12)
    power = run.tau[:, ROLLS[0]] * run.v[:, ROLLS[0]]
    h = np.diff(run.t)
    # Simpson over pairs of steps
    work = np.cumsum(h[::2] / 3 * (power[:-2:2] + 4 * power[1::2] + power[2::2]))
    np.testing.assert_allclose(run.energy[2::2] - run.energy[0], work, atol=1e-7)
    assert np.ptp(run.energy) > 0.1


def test_contact_points_stand_still(table):
    q, v = table.random(1), np.random.default_rng(1).normal(size=9)
    v = table.consistent_velocity(q, v)
    for k in range(3):
        wheel = f"wheel{k + 1}"
        twist = table.frame_twist(q, v, wheel, axes="world")
        contact = twist[:3] + np.cross(twist[3:], [0.0, 0.0, -RADIUS])
        np.testing.assert_allclose(contact, 0.0, atol=1e-12)
