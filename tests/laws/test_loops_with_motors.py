"""Motors at joints that close loops, for every kind of joint.

The oracle knows the loop as a joint with speeds of its own, at which forces act. Here the link
beyond it is cut in two.
"""

import dataclasses

import numpy as np
import pytest
from oracles.maximal import MaximalOracle
from support.closed_cases import GRAVITY, close
from support.interpreted import interpreted
from support.loop_graphs import LOOP_KINDS, closing_loop, tree_and_posture
from support.recut import coordinates_of, speeds_of

import robodyn as rd

TREE = ("revolute", "floating", "spherical", "floating")
MOVING = [kind for kind in LOOP_KINDS if kind not in ("fixed", "distance")]
ENDS = [("link4", "link1"), ("link0", "link4"), ("link4", "link0")]


@pytest.mark.parametrize(
    ("kind", "ends"),
    [(kind, ENDS[k % len(ENDS)]) for k, kind in enumerate(MOVING)]
    + [("revolute", ends) for ends in ENDS[1:]],
)
def test_a_motor_of_a_loop_acts_at_the_speeds_of_its_joint(kind, ends):
    rng = np.random.default_rng(MOVING.index(kind))
    tree, poses, q = tree_and_posture(rng, TREE)
    loop = dataclasses.replace(closing_loop(rng, "loop", kind, ends, poses), damping=0.3)
    mechanism = dataclasses.replace(tree, loops=(loop,))
    bare = interpreted(mechanism, gravity=GRAVITY, rigid=True)
    v, tau = bare.consistent_velocity(q, rng.normal(size=bare.nv)), rng.normal(size=bare.nv)
    positions, speeds = bare.joint_positions(q), bare.joint_velocities(q, v)
    own = rng.normal(size=np.atleast_1d(speeds["loop"]).size)
    torque = own - 0.3 * np.atleast_1d(speeds["loop"])
    there = MaximalOracle(mechanism, GRAVITY).solve(q, v, tau=tau, tau_cut={"loop": torque})

    driven = dataclasses.replace(mechanism, actuators=(("loop", rd.Actuator()),))
    robot = interpreted(driven, gravity=GRAVITY, rigid=True)
    q2, v2 = coordinates_of(robot, positions), speeds_of(robot, speeds)
    assert robot.nv == bare.nv + len(own)
    assert np.abs(robot.loop_residual(q2)).max() < 1e-9
    forces = {name: tau[bare.joints[name].v] for name in bare.joint_names} | {"loop": own}
    a = robot.constrained_dynamics(q2, v2, speeds_of(robot, forces)).a
    for name in bare.joint_names:
        close(a[robot.joints[name].v], there.a[bare.joints[name].v], 1e-8)
    loads = robot.joint_wrenches(q2, v2, tau=forces, joints=["loop"])
    close(np.squeeze(loads["loop"]), there.joint_wrenches["loop"], 1e-8)
