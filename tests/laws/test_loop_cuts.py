"""It does not matter which joint of a loop is cut, nor in which direction joints point."""

import dataclasses

import numpy as np
import pytest
from oracles.joint_motion import Motion, origin
from oracles.maximal import MaximalOracle
from support.closed_cases import GRAVITY, Case, case, close
from support.interpreted import interpreted
from support.loop_graphs import closing_loop, numbers_of, tree_and_posture, with_loops_as_joints

from robodyn.description import Joint
from robodyn.topology.spanning_tree import spanning_tree

STILL = np.zeros((4, 4))


def cut_at(graph, name):
    """The same graph with all other joints marked, so that this one is cut among its equals."""
    joints = tuple(dataclasses.replace(j, independent=j.name != name) for j in graph.joints)
    return dataclasses.replace(graph, joints=joints)


def motions_of(c):
    """Of all links by name, and of the frames that stand for loops."""
    motions = dict(zip(c.oracle.names, c.oracle.motions(c.q, c.v, c.there_base)[1], strict=True))
    for loop in c.robot.mechanism.loops:
        frame = Motion(origin(loop.X_successor), STILL, STILL)
        motions[f"{loop.name}_frame"] = motions[loop.successor] @ frame
    return motions


def cut_elsewhere(c, graph):
    """A robot of a graph in the state of a case."""
    robot = interpreted(graph, gravity=GRAVITY, passive=False, rigid=True)
    oracle = MaximalOracle(graph, GRAVITY)
    q, v = numbers_of(oracle, motions_of(c))
    return robot, q, v


def placed(c, robot, values):
    """Values by speed in the order of another robot; zero where that has a joint of its own."""
    moved = np.zeros(robot.nv)
    for name in set(robot.joint_names) & set(c.robot.joint_names):
        moved[robot.joints[name].v] = values[c.robot.joints[name].v]
    return moved


CUTS = {
    "bricard": ("hinge1", "hinge4"),
    "crank_slider": ("crank_pin", "cylinder"),
    "excavator": ("arm_pivot", "boom_barrel_pin"),
    "five_bar": ("left_elbow", "right_elbow"),
    "four_bar": ("crank_pin", "rocker_pivot"),
    "palletizer": ("elbow", "crank_pin"),
    "stephenson": ("crank_pin", "dyad_pivot"),
    "watt": ("second_pin", "rocker_pivot"),
}


@pytest.mark.parametrize(("name", "cut"), [(n, cut) for n, cuts in CUTS.items() for cut in cuts])
def test_cut_at_another_joint(name, cut):
    c = case(name)
    graph = cut_at(with_loops_as_joints(c.robot.mechanism), cut)
    robot, q, v = cut_elsewhere(c, graph)
    assert cut in [x.name for x in robot.loops]
    assert np.abs(robot.loop_residual(q)).max() < 1e-9
    motors = c.robot.actuated_joints
    tau = np.zeros(c.robot.nv)
    tau[[c.robot.joints[n].v.start for n in motors if n != cut]] = 0.7
    there = c.there(tau=tau)
    a = robot.forward_dynamics(q, v, placed(c, robot, tau), wrenches=c.wrenches)
    for link, x in there.links.items():
        found = robot.frame_acceleration(q, v, a, link, axes="world", classical=True)
        close(found, [*x.dv_WB, *x.dw_WB], 1e-7)
    joints = [j.name for j in c.robot.mechanism.joints if j.kind != "fixed"]
    joints += [j.name for j in c.robot.mechanism.loops]
    wrenches = robot.joint_wrenches(
        q, v, tau=placed(c, robot, tau), joints=joints, wrenches=c.wrenches
    )
    close(wrenches["base"], there.base_wrench, 1e-7)
    for joint in joints:
        settled = there.unique[joint]
        close(wrenches[joint][settled], there.joint_wrenches[joint][settled], 1e-7)
    if cut not in motors:
        found = robot.inverse_dynamics(q, v, a, wrenches=c.wrenches, actuated=motors)
        close(found, placed(c, robot, tau), 1e-7)


@pytest.mark.parametrize("kind", ["revolute", "prismatic", "fixed", "helical", "cylindrical"])
def test_the_loop_as_a_joint_of_the_tree(kind):
    """A freer joint of the ring is cut instead: those beyond it are followed backwards."""
    rng = np.random.default_rng(7)
    kinds = ("revolute", "universal", "spherical", "prismatic", "cylindrical", "revolute")
    tree, poses, q = tree_and_posture(rng, kinds)
    loop = closing_loop(rng, "loop", kind, ("link6", "link0"), poses)
    c = Case(dataclasses.replace(tree, loops=(loop,)), seed=7, q=q)
    robot, q, v = cut_elsewhere(c, with_loops_as_joints(c.robot.mechanism))
    (cut,) = robot.loops
    assert isinstance(cut, Joint) and cut.name != "loop"
    assert any(joint.reversed for joint in spanning_tree(robot.mechanism).joints)
    tau = c.tau.copy()
    if cut.name in c.robot.joint_names:
        tau[c.robot.joints[cut.name].v] = 0.0
    there = c.there(tau=tau)
    here = robot.constrained_dynamics(q, v, placed(c, robot, tau), wrenches=c.wrenches)
    for link, x in there.links.items():
        found = robot.frame_acceleration(q, v, here.a, link, axes="world", classical=True)
        close(found, [*x.dv_WB, *x.dw_WB], 1e-7)
    joints = ["loop", *(f"joint{k}" for k in range(6))]
    wrenches = robot.joint_wrenches(
        q, v, tau=placed(c, robot, tau), joints=joints, wrenches=c.wrenches
    )
    for joint in joints:
        settled = there.unique[joint]
        close(wrenches[joint][settled], there.joint_wrenches[joint][settled], 1e-7)
