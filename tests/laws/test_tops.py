"""Heavy tops and rotors in gimbals, on closed solutions [Wittenburg 1977, sections 4.4 and 4.5].

A top hangs on a ball joint, or in gimbals without mass: three pins, whose angles are Euler's.
O19 to O24 are the names of the oracles in the list that the tests go through.
"""

import numpy as np
import pytest
from oracles.elliptic_motions import heavy_top
from scipy.integrate import quad

import robodyn as rd
from robodyn.description import Inertia, Joint, Link, Mechanism, Pose

X, Z = (1.0, 0.0, 0.0), (0.0, 0.0, 1.0)
J1, J3, MASS, ARM, GRAVITY = 0.35, 0.1, 1.2, 0.3, 9.81
WEIGHT = MASS * GRAVITY * ARM
ON = ("ball", "gimbals")

#: The body on its support: J1 and J3 are about the support.
ROTOR = Inertia(MASS, Pose((0, 0, ARM)), J1 - MASS * ARM**2, 0, 0, J1 - MASS * ARM**2, 0, J3)


def gimbals(outer=None, inner=None):
    """Pins about the vertical, the line of nodes and the axis of symmetry."""
    links = (Link("ground"), Link("outer", outer), Link("inner", inner), Link("top", ROTOR))
    joints = (
        Joint("precession", "continuous", "ground", "outer", axis=Z),
        Joint("nutation", "continuous", "outer", "inner", axis=X),
        Joint("spin", "continuous", "inner", "top", axis=Z),
    )
    return rd.load(Mechanism("gimbals", links, joints), gravity=(0, 0, -GRAVITY))


def ball():
    links, joint = (Link("ground"), Link("top", ROTOR)), Joint("ball", "spherical", "ground", "top")
    return rd.load(Mechanism("top", links, (joint,)), gravity=(0, 0, -GRAVITY))


def start(on, theta, precession, spin):
    """A top whose axis does not rise or fall yet: the robot, q, v."""
    own = spin - precession * np.cos(theta)
    if on == "gimbals":
        return gimbals(), np.array([0.0, theta, 0.0]), np.array([precession, 0.0, own])
    w = [0.0, precession * np.sin(theta), spin]
    return ball(), np.array([np.sin(theta / 2), 0.0, 0.0, np.cos(theta / 2)]), np.array(w)


def angles(robot, q):
    """Euler's angles of the top, those that turn on without jumps: theta, psi, phi."""
    if robot.nq == 3:
        return q[:, 1], q[:, 0], q[:, 2]
    R = robot.frame_pose(q, "top")[:, :3, :3]
    psi = np.unwrap(np.arctan2(R[:, 0, 2], -R[:, 1, 2]))
    phi = np.unwrap(np.arctan2(R[:, 2, 0], R[:, 2, 1]))
    return np.arccos(R[:, 2, 2]), psi, phi


@pytest.mark.parametrize("on", ON)
@pytest.mark.parametrize("rate", [0.9199238719451, 21.9372189851977])
def test_o20_regular_precession(on, rate):
    """At sixty degrees, slow and fast [W 4.38]: the axis neither rises nor falls in two seconds."""
    theta, spin = np.pi / 3, 40.0
    root = np.sqrt(1 - 4 * J1 * WEIGHT * np.cos(theta) / (J3 * spin) ** 2)
    both = J3 * spin / (2 * J1 * np.cos(theta)) * (1 + np.array([-1.0, 1.0]) * root)
    assert np.abs(both - rate).min() < 1e-12
    robot, q, v = start(on, theta, rate, spin)
    run = rd.simulate(robot, q0=q, v0=v, duration=2.0, step=5e-4)
    nutation, psi, _ = angles(robot, run.q)
    np.testing.assert_allclose(nutation, theta, atol=1e-8)
    np.testing.assert_allclose(psi, rate * run.t, atol=2e-7)


@pytest.mark.parametrize("on", ON)
def test_o20_a_horizontal_axis_precesses_with_weight_over_spin(on):
    rate, spin = WEIGHT / (J3 * 40.0), 40.0
    robot, q, v = start(on, np.pi / 2, rate, spin)
    a = robot.forward_dynamics(q, v, np.zeros(3))
    # the axes of the ball joint turn with the top, and so does the precession in them
    nutation = a[1] if on == "gimbals" else a[0] - rate * spin
    assert nutation == pytest.approx(0.0, abs=1e-10)


def turned(robot, angle, spin):
    """How the axis of a top of ``spin`` [rad/s] that is tilted by ``angle`` moves, at rest else."""
    q = np.array([np.sin(angle / 2), 0.0, 0.0, np.cos(angle / 2)])
    run = rd.simulate(robot, q0=q, v0=[0.0, 0.0, spin], duration=8.0, step=2e-3)
    return angles(robot, run.q)[0].max()


def test_o20_a_top_sleeps_above_a_bound():
    """Spin 22.2356 rad/s: upright, a little push stays one above it, and grows below it."""
    bound = 2 * np.sqrt(J1 * WEIGHT) / J3
    assert bound == pytest.approx(22.2356470561)
    assert turned(ball(), 1e-3, 1.05 * bound) < 5e-3
    assert turned(ball(), 1e-3, 0.95 * bound) > 0.1


#: theta, psi' and spin at the start; where the axis turns back; period of nutation; theta, psi and
#: phi after a second; precession in a period. Cusps, loops and waves, a slow and a hanging top.
MOTIONS = {
    "cusp": (
        (np.pi / 3, 0.0, 40.0),
        np.deg2rad(68.51769233133),
        0.5872507078632,
        (1.1440186080033, 0.9874853127923, 39.6077319739799),
        0.5340918940699,
    ),
    "loop": (
        (np.pi / 3, -1.0, 40.0),
        np.deg2rad(77.44203658325),
        0.5742682153771,
        (1.2103266176168, 1.0498206214129, 39.7604208695407),
        0.5097688181835,
    ),
    "wave": (
        (np.pi / 3, 0.5, 40.0),
        np.deg2rad(63.91965151693),
        0.5925283190364,
        (1.0946399808230, 0.9519211567241, 39.5615300228550),
        0.5430015292640,
    ),
    "slow": (
        (np.pi / 3, 0.0, 25.0),
        np.deg2rad(83.73222074264),
        0.9634175442448,
        (1.0530149170267, 1.3929851329316, 24.7005252176255),
        1.3924006093619,
    ),
    "hanging": (
        (2.0, 0.3, 10.0),
        np.deg2rad(149.62965721603),
        1.0145339267235,
        (2.0008829224318, 2.1698333426610, 11.6557215988189),
        2.1742081429781,
    ),
}


@pytest.mark.parametrize("on", ON)
@pytest.mark.parametrize("name", MOTIONS)
def test_o21_a_heavy_top_moves_as_the_elliptic_functions_say(on, name):
    """Nutation, precession and spin, and the numbers after a second."""
    begin, _, _, second, _ = MOTIONS[name]
    robot, q, v = start(on, *begin)
    run = rd.simulate(robot, q0=q, v0=v, duration=1.0, step=2.5e-4)
    found = np.array(angles(robot, run.q))
    np.testing.assert_allclose(found[:, -1], second, atol=2e-8)
    expected = heavy_top(J1, J3, WEIGHT, *begin, run.t)
    np.testing.assert_allclose(found, expected, atol=2e-7)
    np.testing.assert_allclose(found[:, 1:], np.array(expected)[:, 1:], atol=2e-8)


@pytest.mark.parametrize("name", MOTIONS)
def test_o21_turning_points_and_period_of_a_heavy_top(name):
    """Found as events: the axis stands still at the limit, and again where it started."""
    begin, limit, period, _, gain = MOTIONS[name]
    robot, q, v = start("gimbals", *begin)

    def still(t, q, v):
        return v[1]

    def until_it_turns(q, v):
        return rd.simulate(robot, q0=q, v0=v, duration=2.0, step=5e-4, events=[still])

    half = until_it_turns(q, v)
    assert half.t[-1] == pytest.approx(period / 2, abs=1e-8)
    assert half.q[-1, 1] == pytest.approx(limit, abs=1e-8)
    back = until_it_turns(half.q[-1], half.v[-1] * (1, 0, 1))
    assert half.t[-1] + back.t[-1] == pytest.approx(period, abs=1e-8)
    assert back.q[-1, 1] == pytest.approx(begin[0], abs=1e-8)
    assert back.q[-1, 0] == pytest.approx(gain, abs=1e-8)


# -- O24: a rotor in gimbals that have inertia -----------------------------------------------------

OUTER, INNER = 0.02, (0.012, 0.010, 0.015)


def heavy_gimbals():
    """Axis 3 of the inner gimbal is that of spin; its axis 2 in the book is here x, 1 is y."""
    ring = Inertia(1.0, Pose(), INNER[1], 0.0, 0.0, INNER[0], 0.0, INNER[2])
    return gimbals(Inertia(1.0, Pose(), OUTER, 0.0, 0.0, OUTER, 0.0, OUTER), ring)


P, Q, B = OUTER + INNER[0] + J1, OUTER + INNER[2], INNER[1] + J1


def test_o24_mass_matrix_of_a_rotor_in_gimbals():
    robot = heavy_gimbals()
    for theta in (0.3, 1.1, 2.4):
        c, s = np.cos(theta), np.sin(theta)
        expected = [[P * s**2 + (Q + J3) * c**2, 0, J3 * c], [0, B, 0], [J3 * c, 0, J3]]
        np.testing.assert_allclose(robot.mass_matrix([0.4, theta, 2.0]), expected, atol=1e-15)


def test_o24_a_rotor_in_gimbals_turns_back():
    """At the limit and after the half period of the quadrature of [W 4.52, 4.53]."""
    theta, spin = np.pi / 3, 40.0
    robot = heavy_gimbals()
    q, v = [0.0, theta, 0.0], [0.0, 0.0, spin]
    run = rd.simulate(robot, q0=q, v0=v, duration=1.0, step=5e-4, events=[lambda t, q, v: v[1]])
    assert run.q[-1, 1] == pytest.approx(1.2130685300605, abs=1e-9)
    assert run.t[-1] == pytest.approx(0.3135021839317, abs=1e-9)
    L, E = J3 * spin * np.cos(theta), WEIGHT * np.cos(theta)

    def rate(x):
        """``theta'^2``."""
        inertia = P * np.sin(x) ** 2 + Q * np.cos(x) ** 2
        turn = (L - J3 * spin * np.cos(x)) / inertia
        return (2 * E - 2 * WEIGHT * np.cos(x) - inertia * turn**2) / B

    middle, half = (theta + run.q[-1, 1]) / 2, (run.q[-1, 1] - theta) / 2
    time = quad(
        lambda y: half * np.cos(y) / np.sqrt(rate(middle + half * np.sin(y))),
        -np.pi / 2 + 1e-6,
        np.pi / 2 - 1e-6,
        epsabs=1e-10,
    )[0]
    assert run.t[-1] == pytest.approx(time, abs=2e-6)


@pytest.mark.parametrize("rate", [0.9195790083434, 22.1351760348843])
def test_o24_regular_precession_in_gimbals(rate):
    theta, spin = np.pi / 3, 40.0
    residual = (P - Q) * np.cos(theta) * rate**2 - J3 * spin * rate + WEIGHT
    assert residual == pytest.approx(0.0, abs=1e-9)
    robot = heavy_gimbals()
    q, v = [0.0, theta, 0.0], [rate, 0.0, spin - rate * np.cos(theta)]
    np.testing.assert_allclose(robot.forward_dynamics(q, v, np.zeros(3)), 0.0, atol=1e-9)


# -- O19, O22, O23: integrals, fast tops and a top that does not spin ------------------------------


@pytest.mark.parametrize("on", ON)
def test_o19_integrals_of_a_heavy_top(on):
    """Energy, both axial momenta [W 4.31, 4.36, 4.37], along a motion with loops."""
    robot, q, v = start(on, *MOTIONS["loop"][0])
    run = rd.simulate(robot, q0=q, v0=v, duration=0.5, step=5e-4)
    R = robot.frame_pose(run.q, "top")[:, :3, :3]
    w = np.einsum("tji,tj->ti", R, robot.frame_twist(run.q, run.v, "top", axes="world")[:, 3:])
    u, spin = R[:, 2, 2], w[:, 2]
    np.testing.assert_allclose(spin, spin[0], rtol=1e-8)
    L = J1 * (R[:, 2, 0] * w[:, 0] + R[:, 2, 1] * w[:, 1]) + J3 * spin * u
    np.testing.assert_allclose(L, L[0], rtol=1e-8)
    energy = J1 * (w[:, 0] ** 2 + w[:, 1] ** 2) + J3 * spin**2 + 2.0 * WEIGHT * u
    np.testing.assert_allclose(energy, energy[0], rtol=1e-9)


@pytest.mark.parametrize(("spin", "errors"), [(400.0, (1.2e-3, 7.7e-4)), (800.0, (2.9e-4, 1.9e-4))])
def test_o22_a_fast_top_nods_as_its_approximations_say(spin, errors):
    """[W 4.48-4.50]: amplitude and period of nutation; relative errors fall as 1 / spin^2."""
    robot, q, v = start("gimbals", np.pi / 3, 0.0, spin)
    period = 2.0 * np.pi * J1 / (J3 * spin)
    half = rd.simulate(
        robot, q0=q, v0=v, duration=period, step=period / 400, events=[lambda t, q, v: v[1]]
    )
    amplitude = J1 * WEIGHT / (J3 * spin) ** 2 * np.sin(np.pi / 3)
    found = (half.q[-1, 1] - np.pi / 3) / 2.0
    assert abs(found / amplitude - 1.0) == pytest.approx(errors[0], rel=0.05)
    assert abs(2.0 * half.t[-1] / period - 1.0) == pytest.approx(errors[1], rel=0.05)
    assert half.q[-1, 0] / half.t[-1] == pytest.approx(WEIGHT / (J3 * spin), rel=1e-3)


def test_o23_a_top_without_spin_is_a_pendulum():
    """It comes to rest after half a period, which begins 1 rad beside the lowest position."""
    robot, q, v = start("ball", np.pi - 1.0, 0.0, 0.0)
    half = rd.simulate(robot, q0=q, v0=v, duration=2.0, step=1e-3, events=[lambda t, q, v: v[0]])
    assert 2.0 * half.t[-1] == pytest.approx(2.109218118656, abs=1e-8)
    assert angles(robot, half.q)[0][-1] == pytest.approx(np.pi - 1.0, abs=1e-8)
