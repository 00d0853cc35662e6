"""How many operations the dynamics of linkages take that stand on several limbs."""

import numpy as np
import pytest

import robodyn as rd


@pytest.mark.parametrize(("name", "most"), [("stewart", 8000), ("delta", 8700)])
def test_loops_of_limbs_are_blocks(name, most):
    """A quarter less than where the rows of all loops wait for one another."""
    robot, rng = rd.load(name, passive=False), np.random.default_rng(0)
    function = robot.function("forward_dynamics")
    assert len(function.program.live()) < most
    for _ in range(3):
        q = robot.random(rng)
        v, tau = rng.normal(size=(2, robot.nv))
        v = robot.consistent_velocity(q, v)
        expected = robot.constrained_dynamics(q, v, tau).a
        found = function(q, v, tau)
        np.testing.assert_allclose(found, expected, rtol=0, atol=1e-9 * np.abs(expected).max())
