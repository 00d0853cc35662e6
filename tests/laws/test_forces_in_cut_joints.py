"""Damping, dry friction and motors of joints that close loops, for every kind of joint.

The oracle knows the loop as a joint with speeds of its own, at which forces act. Where it has a
motor, the link beyond it is cut in two here.
"""

import dataclasses

import numpy as np
import pytest
from oracles.maximal import MaximalOracle
from oracles.relations import step, subspace
from support.closed_cases import GRAVITY, close
from support.interpreted import interpreted
from support.loop_graphs import LOOP_KINDS, closing_loop, tree_and_posture
from support.recut import coordinates_of, speeds_of

import robodyn as rd

#: With freedoms enough to move every joint that closes a loop.
TREE = ("revolute", "floating", "spherical", "floating")
DAMPING, FRICTION, SPEED = 0.7, 1.3, 0.4
SETTINGS = {"gravity": GRAVITY, "rigid": True, "friction_speed": SPEED}
MOVING = [kind for kind in LOOP_KINDS if kind not in ("fixed", "distance")]


class Rubbing:
    """A tree with one loop that has friction, in motion: here and in the oracle."""

    def __init__(self, kind, ends):
        self.rng = rng = np.random.default_rng(MOVING.index(kind))
        tree, poses, self.q = tree_and_posture(rng, TREE)
        loop = closing_loop(rng, "loop", kind, ends, poses)
        loop = dataclasses.replace(loop, damping=DAMPING, friction=FRICTION)
        self.mechanism = dataclasses.replace(tree, loops=(loop,))
        self.robot = interpreted(self.mechanism, **SETTINGS)
        self.oracle = MaximalOracle(self.mechanism, GRAVITY)
        self.v = self.robot.consistent_velocity(self.q, rng.normal(size=self.robot.nv))
        self.tau = rng.normal(size=self.robot.nv)
        numbers, _ = self.oracle.motions(self.q, self.v)
        (self.joint,) = self.oracle.cuts
        self.own_q, speeds = numbers[-1]
        assert np.abs(speeds).min() > 1e-3, "the joint must move"
        self.resistance = -DAMPING * speeds - FRICTION * speeds / np.sqrt(speeds**2 + SPEED**2)

    def there(self, **forces):
        return self.oracle.solve(self.q, self.v, tau=self.tau, **forces)

    def axes(self):
        """Motion of the joint for unit speeds, in axes of the frame on the successor."""
        still = np.zeros(len(self.resistance))
        R = step(self.joint, self.own_q, still).X[:3, :3]
        return np.kron(np.eye(2), R.T) @ subspace(self.joint, self.own_q)


ENDS = [("link4", "link1"), ("link0", "link4"), ("link4", "link0")]


@pytest.mark.slow
@pytest.mark.parametrize("ends", ENDS)
@pytest.mark.parametrize("kind", MOVING)
def test_friction_of_a_loop_is_a_torque_at_the_speeds_of_its_joint(kind, ends):
    c = Rubbing(kind, ends)
    there = c.there(tau_cut={"loop": c.resistance})
    assert np.abs(there.a - c.there().a).max() > 1e-2, "friction must be seen"
    close(c.robot.constrained_dynamics(c.q, c.v, c.tau).a, there.a, 1e-8)
    wrench = c.robot.joint_wrenches(c.q, c.v, tau=c.tau, joints=["loop"])["loop"]
    close(wrench, there.joint_wrenches["loop"], 1e-8)


@pytest.mark.parametrize("kind", MOVING)
def test_friction_acts_along_the_axes_of_the_joint_and_leaves_the_rest_to_the_bearing(kind):
    c = Rubbing(kind, ENDS[0])
    loads = c.robot.joint_wrenches(c.q, c.v, tau=c.tau, joints=["loop"])
    S, passive = c.axes(), loads.passive["loop"]
    close(S.T @ passive, c.resistance)
    close(S @ np.linalg.lstsq(S, passive)[0], passive)
    close(S.T @ loads.bearing["loop"], 0.0)


@pytest.mark.parametrize(
    ("kind", "ends"),
    [(kind, ENDS[k % len(ENDS)]) for k, kind in enumerate(MOVING)]
    + [("revolute", ends) for ends in ENDS[1:]],
)
def test_a_motor_of_a_loop_acts_at_the_speeds_of_its_joint(kind, ends):
    c = Rubbing(kind, ends)
    own = c.rng.normal(size=len(c.resistance))
    there = c.there(tau_cut={"loop": own + c.resistance})
    driven = dataclasses.replace(c.mechanism, actuators=(("loop", rd.Actuator()),))
    robot = interpreted(driven, **SETTINGS)
    q = coordinates_of(robot, c.robot.joint_positions(c.q))
    v = speeds_of(robot, c.robot.joint_velocities(c.q, c.v))
    assert robot.nv == c.robot.nv + len(own)
    assert np.abs(robot.loop_residual(q)).max() < 1e-9
    forces = {name: c.tau[c.robot.joints[name].v] for name in c.robot.joint_names} | {"loop": own}
    a = robot.constrained_dynamics(q, v, speeds_of(robot, forces)).a
    for name in c.robot.joint_names:
        close(a[robot.joints[name].v], there.a[c.robot.joints[name].v], 1e-8)
    loads = robot.joint_wrenches(q, v, tau=forces, joints=["loop"])
    close(np.squeeze(loads["loop"]), there.joint_wrenches["loop"], 1e-8)
