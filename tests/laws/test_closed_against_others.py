"""Closed mechanisms against Pinocchio's rigid constraints and MuJoCo's equalities.

Both know points and frames that are held together, and no joints that are cut; `pinocchio_closed`
and `mujoco_closed` say how a cut joint is made of them. So it goes for every bundled mechanism but
the caster table: wheels that roll tie speeds, not positions. Of other cut joints ``distance`` has
no counterpart in rigid constraints, and ``planar`` and ``cylindrical`` ones none in coordinates
like ours.
"""

import functools

import pytest
from oracles.rigid_tree import rigid_tree
from support.closed_cases import CLOSED, GRAVITY, case, close

#: Relative to the largest number. All solve the same equations directly; numbers of a linkage of 12
#: joints lose some five digits.
EQUAL = 1e-9
#: As differences over 1e-5 s leave of the change of rows: 1e-10, times the condition of the rows.
NEARLY = 1e-7


@functools.cache
def in_pinocchio(name, points=False):
    pytest.importorskip("pinocchio")
    from oracles.pinocchio_closed import PinocchioClosed

    return PinocchioClosed(rigid_tree(case(name).robot.mechanism), GRAVITY, points=points)


@functools.cache
def in_mujoco(name):
    pytest.importorskip("mujoco")
    from oracles.mujoco_closed import MujocoClosed

    return MujocoClosed(rigid_tree(case(name).robot.mechanism), GRAVITY)


def check(c, there):
    """Accelerations, and all components of wrenches that are settled."""
    numbers, _ = c.oracle.motions(c.q, c.v)
    by_name = {edge.joint.name: own for edge, own in zip(c.oracle.all, numbers, strict=True)}
    a, wrenches = there.forward_dynamics(by_name, c.tau)
    close(c.robot.constrained_dynamics(c.q, c.v, c.tau).a, a, EQUAL)
    unique = c.oracle.solve(c.q, c.v, tau=c.tau).unique
    found = c.robot.joint_wrenches(c.q, c.v, tau=c.tau, joints=list(wrenches))
    assert wrenches.keys() > {cut.name for cut in c.robot.loops}
    for name, expected in wrenches.items():
        close(found[name][unique[name]], expected[unique[name]], EQUAL)


@pytest.mark.parametrize("name", CLOSED)
def test_pinocchio(name):
    check(case(name), in_pinocchio(name))


@pytest.mark.parametrize("name", ["delta", "stewart"])
def test_pinocchio_closes_ball_joints_by_points(name):
    check(case(name), in_pinocchio(name, points=True))


@pytest.mark.parametrize("name", CLOSED)
def test_mujoco_with_hard_equalities(name):
    c, there = case(name), in_mujoco(name)
    assert there.gap(c.q) < 1e-12
    a = there.forward_dynamics(c.q, c.v, c.tau)
    close(c.robot.constrained_dynamics(c.q, c.v, c.tau).a, a, NEARLY)
