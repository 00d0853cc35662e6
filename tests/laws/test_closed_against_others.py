"""Closed mechanisms against Pinocchio's rigid constraints and MuJoCo's equalities.

Both know points and frames that are held together, and no joints that are cut; `pinocchio_closed`
and `mujoco_closed` say how a cut joint is made of them. So it goes for every bundled mechanism but
the caster table: wheels that roll tie speeds, not positions. Of other cut joints ``distance`` has
no counterpart in rigid constraints, and ``planar`` and ``cylindrical`` ones none in coordinates
like ours.
"""

from __future__ import annotations

import dataclasses
import functools

import numpy as np
import pytest
from oracles.rigid_tree import rigid_tree
from support.closed_cases import CLOSED, GRAVITY, Case, case, close
from support.loop_graphs import closing_loop, tree_and_posture

import robodyn as rd

#: Relative to the largest number. All solve the same equations directly; numbers of a linkage of 12
#: joints lose some five digits.
EQUAL = 1e-9
#: As differences over 1e-5 s leave of the change of rows: 1e-10, times the condition of the rows.
NEARLY = 1e-7
TREE = ("revolute", "spherical", "prismatic", "fixed", "universal", "revolute")


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


@pytest.mark.parametrize("kind", ["fixed", "prismatic", "helical", "universal"])
def test_pinocchio_with_other_cut_joints(kind):
    pytest.importorskip("pinocchio")
    from oracles.pinocchio_closed import PinocchioClosed

    rng = np.random.default_rng(11)
    tree, poses, q = tree_and_posture(rng, TREE)
    loop = closing_loop(rng, "loop", kind, ("link2", "link6"), poses)
    c = Case(dataclasses.replace(tree, loops=(loop,)), q=q)
    check(c, PinocchioClosed(rigid_tree(c.robot.mechanism), GRAVITY))


@pytest.mark.parametrize("name", CLOSED)
def test_mujoco_with_hard_equalities(name):
    c, there = case(name), in_mujoco(name)
    assert there.gap(c.q) < 1e-12
    a = there.forward_dynamics(c.q, c.v, c.tau)
    close(c.robot.constrained_dynamics(c.q, c.v, c.tau).a, a, NEARLY)


#: Mechanism -> joint and its speed at the start, duration [s] in which it does not whip.
MOVES = {
    "bricard": ("hinge2", 1.0, 0.5),
    "delta": ("drive1", 1.0, 0.2),
    "excavator": ("swing", 0.5, 0.5),
    "five_bar": ("left_drive", 1.0, 0.4),
    "four_bar": ("crank_drive", 3.0, 0.4),
    "palletizer": ("waist", 1.0, 0.5),
}
STEP, TIME_CONSTANT = 1e-3, 8e-3


@pytest.mark.parametrize("name", MOVES)
def test_mujoco_with_stiff_equalities(name):
    """As its joints get ten times as stiff, its motion comes ten times as near to ours."""
    there, (joint, speed, duration) = in_mujoco(name), MOVES[name]
    robot = rd.load(name, passive=False, gravity=GRAVITY)
    q0, wanted = robot.neutral(), np.zeros(robot.nv)
    wanted[robot.joints[joint].v] = speed
    v0 = robot.consistent_velocity(q0, wanted, hold=[joint])
    run = rd.simulate(robot, q0=q0, v0=v0, duration=duration, step=STEP)
    way = np.abs(robot.difference(np.broadcast_to(q0, run.q.shape), run.q)).max()
    errors = []
    # a joint gives way by what it does not take of an acceleration, times the square of the time
    for given_way in (1e-2, 1e-3):
        softness = {"time_constant": TIME_CONSTANT, "impedance": 1.0 - given_way}
        q = there.simulate(q0, v0, duration=duration, step=STEP, **softness)
        errors.append(np.abs(robot.difference(run.q, q)).max())
    assert 9.0 < errors[0] / errors[1] < 11.0
    # the joints' compliance, over the square of the motion's own time, some 0.1 s: 6e-6
    assert errors[1] < 1e-4 * way
