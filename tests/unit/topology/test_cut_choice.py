"""Which joints of a graph are cut, against the same rule written down once more."""

import dataclasses

import numpy as np
import pytest
from hypothesis import assume, given, strategies as st
from oracles.cuts import cut_joints
from support.examples import examples
from support.random_mechanisms import random_mechanism

import robodyn as rd
from robodyn.description import JOINT_KINDS, Joint, Mimic
from robodyn.topology.spanning_tree import spanning_tree

KINDS = list(JOINT_KINDS)
ONE = ("revolute", "continuous", "prismatic", "helical")


def random_graph(seed, links, more):
    """A tree and some joints more, of any kind; some have motors, marks, or follow others."""
    rng = np.random.default_rng(seed)
    tree = random_mechanism(rng, rng.choice(KINDS, links))
    joints = list(tree.joints)
    for k in range(more):
        a, b = np.sort(rng.choice(np.arange(links + 1), 2, replace=False))  # away from the root
        joints.append(Joint(f"more{k}", str(rng.choice(KINDS)), f"link{a}", f"link{b}"))
    joints = [joints[k] for k in rng.permutation(len(joints))]
    for k, joint in enumerate(joints):
        chance = rng.random()
        if chance < 0.2:
            joints[k] = dataclasses.replace(joint, independent=True)
        elif chance < 0.4 and joint.kind in ONE:
            masters = [other.name for other in joints if other.kind in ONE and other != joint]
            if masters and not any(other.mimic for other in joints):
                joints[k] = dataclasses.replace(joint, mimic=Mimic(masters[0], 2.0, 0.0))
    motors = tuple(
        (joint.name, rd.Actuator()) for joint in joints if joint.kind in ONE and rng.random() < 0.3
    )
    return dataclasses.replace(tree, joints=tuple(joints), actuators=motors)


@examples(100)
@given(seed=st.integers(0, 10**6), links=st.integers(2, 6), more=st.integers(1, 4))
def test_joints_of_random_graphs(seed, links, more):
    graph = random_graph(seed, links, more)
    expected = set(cut_joints(graph))
    pairs = ({joint.name, joint.mimic.joint} for joint in graph.joints if joint.mimic)
    assume(not any(pair & expected for pair in pairs))  # such a robot is refused
    assert {joint.name for joint in spanning_tree(graph).cuts} == expected
    assert len(expected) == more


@pytest.mark.parametrize("name", rd.robots())
def test_joints_of_bundled_mechanisms(name):
    robot = rd.load(name, passive=False)
    loops = {loop.name for loop in robot.mechanism.loops}
    assert {cut.name for cut in robot.loops} - loops == set(cut_joints(robot.mechanism))
