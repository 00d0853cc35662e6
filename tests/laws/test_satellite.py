"""The satellite of Sayers 1991: bus, clock, camera and a boom that bends.

Its kinematical equations (24) and (29), the lumping of its clock (table 2), and the momentum that
torques in its hinges cannot change.
"""

import numpy as np
import pytest
from scipy.spatial.transform import Rotation
from support.sayers_satellite import BUS_AND_CLOCK, satellite

import robodyn as rd

#: Figures of the file, named as in the paper.
M_B, M_C, L_2 = 600.0, 30.0, 1.1
P_1 = L_2 * M_C / (M_B + M_C)


# -- kinematics -----------------------------------------------------------------------------------


def rates_of_the_paper(q, u):
    """Rates of the coordinates q1 .. q10 from the speeds u1 .. u10, equations (24) and (29)."""
    (S_4, S_5, S_6), (C_4, C_5, C_6) = np.sin(q[3:6]), np.cos(q[3:6])
    u_1, u_2, u_3, u_4, u_5, u_6 = u[:6]
    Z_1, Z_2 = P_1 * u_5 + u_1, P_1 * u_4 - u_2
    dq_4 = (u_4 * C_6 - u_5 * S_6) / C_5
    return np.array(
        [
            C_5 * (Z_1 * C_6 + Z_2 * S_6) + u_3 * S_5,
            -(
                Z_2 * (C_6 * C_4 - S_6 * S_4 * S_5)
                - Z_1 * (C_6 * S_5 * S_4 + C_4 * S_6)
                + u_3 * C_5 * S_4
            ),
            u_3 * C_5 * C_4
            + Z_1 * (-C_6 * C_4 * S_5 + S_6 * S_4)
            - Z_2 * (C_4 * S_5 * S_6 + C_6 * S_4),
            dq_4,
            u_5 * C_6 + u_4 * S_6,
            u_6 - dq_4 * S_5,
            *u[6:],
        ]
    )


def coordinates_of_the_paper(q):
    """Position of the bus, its three angles (sequence 1-2-3), and the hinge angles."""
    return np.concatenate([q[:3], Rotation.from_quat(q[3:7]).as_euler("XYZ"), q[7:]])


def speeds_of_the_paper(q, v):
    """Velocity of the mass centre of bus and clock and angular velocity, in axes of the bus."""
    composite = satellite(*BUS_AND_CLOCK)
    momentum = composite.momentum(q[:8], v[:7])[:3]
    velocity = Rotation.from_quat(q[3:7]).inv().apply(momentum) / composite.total_mass
    return np.concatenate([velocity, v[3:]])


@pytest.mark.parametrize("seed", range(6))
def test_coordinates_change_as_the_kinematical_equations_say(seed):
    rng = np.random.default_rng(seed)
    robot = satellite()
    angles = rng.uniform((-3.0, -1.3, -3.0), (3.0, 1.3, 3.0))
    quat = Rotation.from_euler("XYZ", angles).as_quat()
    q = np.concatenate([rng.normal(size=3), quat, rng.uniform(-0.3, 0.3, 4)])
    v = rng.normal(size=robot.nv)
    expected = rates_of_the_paper(coordinates_of_the_paper(q), speeds_of_the_paper(q, v))
    h = 1e-5
    after, before = (coordinates_of_the_paper(robot.integrate(q, dt * v)) for dt in (h, -h))
    np.testing.assert_allclose((after - before) / (2 * h), expected, atol=1e-8)


# -- composite bodies -----------------------------------------------------------------------------


def test_the_clock_is_lumped_with_the_bus_as_in_table_2():
    bus, clock = (body.lumped for body in satellite(*BUS_AND_CLOCK).model.bodies)
    assert clock.m == 0.0
    assert (clock.h.x, clock.h.y, clock.h.z) == (0.0, 0.0, 0.0)
    assert bus.m == M_B + M_C
    np.testing.assert_allclose((bus.h.x, bus.h.y, bus.h.z), (0.0, 0.0, -P_1 * bus.m), atol=1e-12)
    # about the common mass centre, with the clock as if it did not turn: the rotor category
    own = 1.6
    points = M_B * P_1**2 + M_C * (L_2 - P_1) ** 2
    central = bus.about_origin.xx - bus.m * P_1**2, bus.about_origin.yy - bus.m * P_1**2
    np.testing.assert_allclose(central, (310 + points + own, 280 + points + own), rtol=1e-12)
    (rotor,) = satellite(*BUS_AND_CLOCK).model.bodies.lumped_rotors
    np.testing.assert_allclose(rotor.inertia, 0.9, rtol=1e-12)
    assert clock.about_origin.zz == 0.0


def test_the_clock_of_a_bus_without_camera_is_a_rotor():
    """Turning it changes no inertia: the mass matrix is a table of constants."""
    assert sum(satellite(*BUS_AND_CLOCK).function("mass_matrix").operations.values()) == 0


# -- momentum -------------------------------------------------------------------------------------


def test_torques_in_the_hinges_change_no_momentum():
    robot = satellite()
    rng = np.random.default_rng(3)
    q0, v0 = robot.random(rng), 0.1 * rng.normal(size=robot.nv)

    def hinges(t, q, v):
        waves = np.array([2.0 * np.sin(t), np.cos(3.0 * t), 20.0 * np.sin(2.0 * t), 10.0])
        springs = np.array([0.0, 0.0, 80.0, 80.0]) * q[7:]
        return np.concatenate([np.zeros(6), waves - springs])

    run = rd.simulate(robot, hinges, q0=q0, v0=v0, duration=6.0, step=0.01)
    assert np.ptp(run.v[:, :6], axis=0).min() > 1e-3  # the bus is shaken
    momentum = robot.momentum(run.q, run.v)
    np.testing.assert_allclose(momentum, np.tile(momentum[0], (len(momentum), 1)), atol=1e-7)
    line = robot.center_of_mass(run.q[0]) + np.outer(run.t, momentum[0, :3] / robot.total_mass)
    np.testing.assert_allclose(robot.center_of_mass(run.q), line, atol=1e-9)


def test_a_clock_driven_round_turns_the_bus_the_other_way():
    robot = satellite()
    turn = rd.JointPath.from_function(lambda t: (0.2 * t**2, 0.4 * t, 0.4))
    run = rd.simulate(robot, duration=3.0, step=0.01, controlled={"clock": turn})
    assert run.v[-1, robot.joints["clock"].v] == pytest.approx(1.2)
    assert run.v[-1, 5] < -1e-3
    np.testing.assert_allclose(robot.momentum(run.q, run.v), 0.0, atol=1e-8)
