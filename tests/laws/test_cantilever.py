"""A cantilever of rigid elements on pins with springs [Wittenburg 1977, example 5.1]: G3, S15."""

import numpy as np
import pytest
from scipy.integrate import solve_ivp
from scipy.linalg import eigh

import robodyn as rd
from robodyn.description import Inertia, Joint, Link, Mechanism, Pose

#: Lowest circular frequency of n elements, of length, mass and bending stiffness 1 together.
FREQUENCY = {1: 1.732051, 2: 2.335342, 3: 2.632346, 5: 2.927981, 10: 3.195778, 20: 3.348422}
#: Of the beam itself.
EXACT = 3.516015
#: Stiffness of the springs that makes the lowest frequency that of the beam.
STIFFNESS = {1: 4.120788, 2: 4.533465, 3: 5.352257, 5: 7.209998, 10: 12.104542, 20: 22.052163}


def beam(n, stiffness):
    """Along x, bending about z, of mass and length 1."""
    m = length = 1.0 / n
    central = m * length**2 / 12
    rod = Inertia(m, Pose((length / 2, 0, 0)), 0, 0, 0, central, 0, central)
    links = [Link("wall"), *(Link(f"rod{k}", rod) for k in range(n))]
    joints = [
        Joint(
            f"pin{k}",
            "revolute",
            f"rod{k - 1}" if k else "wall",
            f"rod{k}",
            Pose((length if k else 0.0, 0.0, 0.0)),
            (0.0, 0.0, 1.0),
            stiffness=stiffness,
        )
        for k in range(n)
    ]
    return rd.load(Mechanism("beam", tuple(links), tuple(joints)), gravity=(0, 0, 0))


def modes(robot):
    """Squares of the circular frequencies of small oscillations about the straight beam, and modes.

    The springs are linear: their forces for unit angles are the stiffness matrix.
    """
    n, M = robot.nv, robot.mass_matrix(np.zeros(robot.nv))
    K = -np.array([robot.passive_forces(e, np.zeros(n)) for e in np.eye(n)])
    return eigh(K, M)


@pytest.mark.parametrize("n", FREQUENCY)
def test_g3_lowest_frequency(n):
    squares, _ = modes(beam(n, float(n)))
    assert np.sqrt(squares[0]) == pytest.approx(FREQUENCY[n], abs=6e-7)


@pytest.mark.parametrize("n", STIFFNESS)
def test_g3_springs_that_give_the_frequency_of_the_beam(n):
    squares, _ = modes(beam(n, STIFFNESS[n]))
    assert np.sqrt(squares[0]) == pytest.approx(EXACT, abs=1e-6)


def of_rates(n):
    """From absolute rates of the rods to rates of the pins."""
    return np.eye(n) - np.eye(n, k=-1)


@pytest.mark.parametrize("n", [2, 4, 7])
def test_s15_mass_and_stiffness_in_absolute_angles(n):
    """``a_ij cos(phi_i - phi_j)``, and the tridiagonal stiffness, at any posture."""
    robot, length = beam(n, 3.0), 1.0 / n
    D = of_rates(n)
    i, j = np.indices((n, n)) + 1
    a = np.where(i == j, n - i + 1 / 3, n - np.maximum(i, j) + 1 / 2) * length**3
    rng = np.random.default_rng(n)
    phi, rate = rng.uniform(-1, 1, (2, n))
    q, v = D @ phi, D @ rate
    turn = phi[:, None] - phi
    from_absolute = np.linalg.inv(D)
    found = np.linalg.inv(from_absolute).T @ robot.mass_matrix(q) @ D
    np.testing.assert_allclose(found, a * np.cos(turn), atol=1e-15)
    if n == 4:
        printed = [
            [3.3333, 2.5, 1.5, 0.5],
            [2.5, 2.3333, 1.5, 0.5],
            [1.5, 1.5, 1.3333, 0.5],
            [0.5, 0.5, 0.5, 0.3333],
        ]
        straight = D.T @ robot.mass_matrix(np.zeros(n)) @ D
        np.testing.assert_allclose(64 * straight, printed, atol=5e-5)
    stiffness = 3.0 * (2 * np.eye(n) - np.eye(n, k=1) - np.eye(n, k=-1))
    stiffness[-1, -1] = 3.0
    np.testing.assert_allclose(D.T @ robot.passive_forces(q, v), -stiffness @ phi, atol=1e-14)
    swing = (a * np.sin(turn)) @ rate**2
    expected = np.linalg.solve(a * np.cos(turn), -swing - stiffness @ phi)
    found = from_absolute @ robot.forward_dynamics(q, v, np.zeros(n))
    np.testing.assert_allclose(found, expected, atol=1e-10 * np.abs(expected).max())


def test_s15_a_beam_swings_at_its_lowest_frequency():
    """Released in its first mode, it is straight after a quarter of the period."""
    robot = beam(5, 5.0)
    squares, shapes = modes(robot)
    run = rd.simulate(
        robot,
        q0=1e-4 * shapes[:, 0] / np.abs(shapes[:, 0]).max(),
        duration=1.0,
        step=1e-3,
        events=[lambda t, q, v: q[0]],
    )
    assert run.t[-1] == pytest.approx(np.pi / 2 / FREQUENCY[5], abs=1e-6)
    assert run.t[-1] == pytest.approx(np.pi / 2 / np.sqrt(squares[0]), abs=1e-7)


def test_s15_a_beam_bent_far_swings_by_the_equations_of_the_book():
    """Bent into an arc of more than a right angle: the angles follow, and the energy stays."""
    n, k = 4, 4.0
    robot, length = beam(n, k), 1.0 / n
    start = np.full(n, 0.45)
    run = rd.simulate(robot, q0=start, duration=2.0, step=2.5e-4)
    i, j = np.indices((n, n)) + 1
    a = np.where(i == j, n - i + 1 / 3, n - np.maximum(i, j) + 1 / 2) * length**3
    stiffness = k * (2 * np.eye(n) - np.eye(n, k=1) - np.eye(n, k=-1))
    stiffness[-1, -1] = k

    def rates(t, x):
        phi, rate = x[:n], x[n:]
        turn = phi[:, None] - phi
        load = -(a * np.sin(turn)) @ rate**2 - stiffness @ phi
        return np.r_[rate, np.linalg.solve(a * np.cos(turn), load)]

    x0 = np.r_[np.cumsum(start), np.zeros(n)]
    book = solve_ivp(rates, (0.0, 2.0), x0, "DOP853", rtol=1e-11, atol=1e-11)
    np.testing.assert_allclose(np.cumsum(run.q[-1]), book.y[:n, -1], atol=1e-7)
    np.testing.assert_allclose(run.energy, run.energy[0], atol=1e-9)
