"""An eleven-link chain that a ball has struck, until it strikes itself: O32 [W example 6.2].

Impact, free motion to the instant of contact, and an impact between two links of one robot.
"""

import numpy as np
import pytest
from support.rod_chains import MIDDLE, START, angles_to_q, chain, rates

import robodyn as rd

#: Jumps of the rates of the rods at the second impact.
JUMPS = (
    *(0.57304747, -0.19005612, 0.00307891, 0.01340505, -0.08881945, 0.34393936),
    *(-0.29611849, -0.01599658, -0.01530008, 0.00298022, -0.00220399),
)


@pytest.fixture(scope="module")
def story():
    """The robot, its motion from the first impact to the second, and that impact."""
    robot = chain(11, "planar")
    angles = -np.pi / 2 + (np.arange(1, 12) - 4) * np.pi / 10
    q = angles_to_q(robot, angles)
    ball = rd.PointMass(1.0, (1.0, 0.0, 0.0))
    first = robot.impact(
        q, np.zeros(robot.nv), "rod4", MIDDLE, (1, 0, 0), restitution=1.0, against=ball
    )

    def distance(t, q, v):
        """Of the free end of rod 1 from rod 7: across where it is beside it, else from its end."""
        x, y = robot.frame_pose(q, "rod1", relative_to="rod7")[:2, 3]
        return -y if 0.0 <= x <= 1.0 else np.hypot(x - np.clip(x, 0.0, 1.0), y)

    run = rd.simulate(robot, q0=q, v0=first.v, duration=12.0, step=2e-3, events=[distance])
    q, v = run.q[-1], run.v[-1]
    at = robot.frame_pose(q, "rod1", relative_to="rod7")[:3, 3]
    normal = -robot.frame_pose(q, "rod7")[:3, 1]  # it comes from the side of negative y
    second = robot.impact(
        q, v, "rod1", START, normal, restitution=1.0, against=("rod7", (at[0], 0.0, 0.0))
    )
    return robot, run, at, normal, second


def velocity(robot, q, v, link, point):
    twist = robot.frame_twist(q, v, link, axes="world")
    return twist[:3] + np.cross(twist[3:], robot.frame_pose(q, link)[:3, :3] @ point)


def test_o32_instant_and_place_of_the_contact(story):
    _, run, at, _, _ = story
    assert run.t[-1] == pytest.approx(11.2540187025, abs=2e-9)
    assert at[0] == pytest.approx(0.1369404733, abs=2e-9)
    assert at[1] == pytest.approx(0.0, abs=1e-11)


def test_o32_between_the_impacts_energy_and_momentum_stay(story):
    robot, run, _, _, _ = story
    np.testing.assert_allclose(run.energy, run.energy[0], atol=1e-9)
    momentum = robot.momentum(run.q, run.v)[:, :3]
    np.testing.assert_allclose(momentum, np.tile(momentum[0], (len(run), 1)), atol=1e-10)
    assert momentum[0, 0] == pytest.approx(1.322566072516, abs=1e-11)


def test_o32_the_second_impact(story):
    robot, run, at, normal, second = story
    q, v = run.q[-1], run.v[-1]
    ends = (("rod1", np.array(START)), ("rod7", np.array([at[0], 0.0, 0.0])))
    before, after = (
        normal @ np.subtract(*(velocity(robot, q, x, *end) for end in ends)) for x in (v, second.v)
    )
    assert before == pytest.approx(-0.3207421976, abs=2e-9)
    assert after == pytest.approx(-before, abs=1e-11)
    size = np.linalg.norm(second.impulse)
    assert size == pytest.approx(0.2215752264, abs=2e-9)
    assert size / (2 * abs(before)) == pytest.approx(0.3454101582, abs=2e-9)
    np.testing.assert_allclose(rates(robot, second.v) - rates(robot, v), JUMPS, atol=2e-8)


def test_o32_an_elastic_impact_keeps_energy_and_momentum(story):
    robot, run, _, _, second = story
    q, v = run.q[-1], run.v[-1]
    assert second.energy_loss == pytest.approx(0.0, abs=1e-13)
    energy = robot.kinetic_energy(q, second.v)
    assert energy == pytest.approx(robot.kinetic_energy(q, v), abs=1e-13)
    momentum = robot.momentum(q, second.v)
    np.testing.assert_allclose(momentum, robot.momentum(q, v), atol=1e-12)
    of_the_whole = 0.5 * momentum[:3] @ momentum[:3] / robot.total_mass
    # of motion relative to the mass centre
    assert energy - of_the_whole == pytest.approx(0.3684673364, abs=2e-9)
