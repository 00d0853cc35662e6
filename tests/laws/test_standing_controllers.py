"""Controllers of a floating robot that stands: its motors alone bear it."""

import numpy as np
import pytest
from support.standing_walker import standing_walker

import robodyn as rd
from robodyn.controllers import ComputedTorque, GravityCompensation


@pytest.fixture(scope="module")
def walker():
    return standing_walker()


def test_gravity_compensation_is_what_holds_it(walker):
    robot, q = walker
    still = np.zeros(robot.nv)
    tau = GravityCompensation(robot)(0.0, q, still)
    assert not tau[:6].any() and abs(tau[6:]).max() > 1.0
    assert np.abs(robot.forward_dynamics(q, still, tau)).max() < 1e-8
    expected = robot.inverse_dynamics(q, still, still, actuated=robot.actuated_joints)
    np.testing.assert_allclose(tau, expected, rtol=0, atol=1e-8)
    many = GravityCompensation(robot)(0.0, np.tile(q, (3, 1)), np.zeros((3, robot.nv)))
    np.testing.assert_allclose(many, np.tile(tau, (3, 1)), rtol=0, atol=1e-9)


def test_computed_torque_gives_the_accelerations_that_the_feet_allow(walker):
    robot, q = walker
    still = np.zeros(robot.nv)
    law = ComputedTorque(robot, lambda t: (q, still, still))
    assert np.abs(robot.forward_dynamics(q, still, law(0.0, q, still))).max() < 1e-8
    lower = robot.assemble(robot.integrate(q, [0, 0, -0.02, *np.zeros(7)]), hold=["floating_base"])
    run = rd.simulate(robot, law, q0=lower, duration=1.5, step=2e-3)
    assert np.abs(robot.difference(run.q[-1], q)).max() < 2e-3
