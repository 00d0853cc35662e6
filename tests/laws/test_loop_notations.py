"""One four-bar, written in every notation of closed loops, is one robot."""

import numpy as np
import pytest
from support.loop_notations import NOTATIONS, SPHERICAL, exact

import robodyn as rd


def moving(robot):
    """A closed state that moves, and forces, the same for each notation."""
    at = robot.joints["drive"].v
    q, v, tau = robot.neutral(), np.zeros(robot.nv), np.zeros(robot.nv)
    q[at], v[at], tau[at] = 0.4, 2.0, 1.0
    q = robot.assemble(q, hold=["drive"], near=robot.neutral())
    return q, robot.consistent_velocity(q, v, hold=["drive"]), tau


def by_name(robot, x):
    return {name: float(x[robot.joints[name].v][0]) for name in ("drive", "pin_b", "pin_d")}


@pytest.fixture(scope="module")
def expected():
    """Angles, accelerations and the force in the pin C of the plainest notation."""
    return values(rd.load(NOTATIONS["loop"](exact)))


def values(robot):
    q, v, tau = moving(robot)
    a = robot.forward_dynamics(q, v, tau)
    force = robot.joint_wrenches(q, v, tau=tau)["pin_c"][:3]
    return by_name(robot, q), by_name(robot, a), float(np.linalg.norm(force))


@pytest.mark.parametrize("notation", NOTATIONS)
def test_all_notations_are_one_robot(notation, expected):
    robot = rd.load(NOTATIONS[notation](exact))
    assert robot.dof == 1
    assert robot.nc == (3 if notation in SPHERICAL else 5)
    for one, other in zip(values(robot), expected, strict=True):
        assert one == pytest.approx(other, abs=1e-10)
