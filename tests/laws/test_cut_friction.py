"""Damping and dry friction of joints that close loops, for every kind of joint.

The oracle knows the loop as a joint with speeds of its own, at which friction acts as a torque.
"""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest
from closed_cases import GRAVITY, close
from interpreted import interpreted
from loop_graphs import LOOP_KINDS, closing_loop, tree_and_posture
from oracles.maximal import MaximalOracle

#: With freedoms enough to move every joint that closes a loop.
TREE = ("revolute", "floating", "spherical", "floating")
DAMPING, FRICTION, SPEED = 0.7, 1.3, 0.4
MOVING = [kind for kind in LOOP_KINDS if kind not in ("fixed", "distance")]


def resistance(v):
    """What friction exerts along the speeds of a joint."""
    return -DAMPING * v - FRICTION * v / np.sqrt(v**2 + SPEED**2)


@pytest.mark.parametrize("ends", [("link4", "link1"), ("link0", "link4"), ("link4", "link0")])
@pytest.mark.parametrize("kind", MOVING)
def test_friction_of_a_loop_is_a_torque_at_the_speeds_of_its_joint(kind, ends):
    rng = np.random.default_rng(MOVING.index(kind))
    tree, poses, q = tree_and_posture(rng, TREE)
    loop = closing_loop(rng, "loop", kind, ends, poses)
    loop = dataclasses.replace(loop, damping=DAMPING, friction=FRICTION)
    mechanism = dataclasses.replace(tree, loops=(loop,))
    robot = interpreted(mechanism, gravity=GRAVITY, snap=0.0, friction_speed=SPEED)
    oracle = MaximalOracle(mechanism, GRAVITY)
    v, tau = robot.consistent_velocity(q, rng.normal(size=robot.nv)), rng.normal(size=robot.nv)
    numbers, _ = oracle.motions(q, v)
    (_, speeds) = numbers[-1]
    assert oracle.all[-1].joint.name == "loop" and np.abs(speeds).min() > 1e-3
    there = oracle.solve(q, v, tau=tau, tau_cut={"loop": resistance(speeds)})
    without = oracle.solve(q, v, tau=tau)
    assert np.abs(there.a - without.a).max() > 1e-2, "friction must be seen"
    close(robot.constrained_dynamics(q, v, tau).a, there.a, 1e-8)
