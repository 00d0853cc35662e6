"""Controlled variables [Wittenburg 1977, section 5.2.6.4]: driven joints and the torques they take.

The independent route: beyond a driven joint on a known base everything is a robot of its own, on a
base that moves as prescribed; the wrench of that base holds the torque.
"""

import dataclasses

import numpy as np
from hypothesis import given, strategies as st
from support.comparison import close_within
from support.examples import examples
from support.random_mechanisms import random_mechanism

import robodyn as rd
from robodyn.description import JOINT_KINDS
from robodyn.symbolic.evaluate import evaluate

close = close_within(1e-9)

KINDS = [kind for kind in JOINT_KINDS if kind != "fixed"]
DRIVEN = ["revolute", "prismatic", "helical", "cylindrical", "universal", "spherical", "planar"]
BASES = ("fixed", "floating", "moving")

trees = st.tuples(
    st.sampled_from(KINDS), st.lists(st.sampled_from([*KINDS, "fixed"]), max_size=3)
).map(lambda drawn: [drawn[0], *drawn[1]])
seeds = st.integers(0, 9999)


def get(robot, name, *arrays, **options):
    """Outputs of a program; base motions are arrays like the others."""
    return evaluate(robot.function(name, **options).program, *arrays)


def motion(rng):
    moved = rd.BaseMotion.from_world(rng.normal(size=3), rng.normal(size=4))
    return moved.pose, *rng.normal(size=(2, 6))


class Tree:
    """A random tree with dampers at a random state."""

    def __init__(self, kinds, base, seed):
        self.rng = np.random.default_rng(seed)
        mechanism = random_mechanism(self.rng, kinds, damping=0.3, friction=0.2)
        motors = {
            joint.name: rd.Actuator(-30.0, 1e-3, viscous=1e-4)
            for joint in mechanism.joints
            if joint.kind in ("revolute", "prismatic")
        }
        self.robot = rd.load(mechanism, base=base, actuators=motors, rigid=True)
        self.q = self.robot.random(self.rng)
        self.v, self.a, self.tau = self.rng.normal(size=(3, self.robot.nv))
        self.base = motion(self.rng) if base == "moving" else ()

    def get(self, name, *arrays, **options):
        return get(self.robot, name, self.q, self.v, *arrays, *self.base, **options)

    def hybrid(self, mask):
        """Accelerations and forces with the speeds in ``mask`` driven."""
        free = [k for k in range(self.robot.nv) if k not in mask]
        given = (self.a[list(mask)], self.tau[free])
        return self.get("hybrid_dynamics", *given, controlled=tuple(mask))


# -- R-CV1, R-CV2 --------------------------------------------------------------------------------


@examples(20)
@given(kinds=trees, base=st.sampled_from(BASES), seed=seeds)
def test_the_torques_found_make_the_motion(kinds, base, seed):
    t = Tree(kinds, base, seed)
    mask = np.flatnonzero(t.rng.random(t.robot.nv) < 0.5)
    a, tau = t.hybrid(mask)
    np.testing.assert_array_equal(a[mask], t.a[mask])
    free = np.setdiff1d(np.arange(t.robot.nv), mask)
    close(tau[free], t.tau[free], 1e-14)
    close(t.get("inverse_dynamics", a)[0], tau)
    close(t.get("forward_dynamics", tau)[0], a, 1e-8)


# -- R-CV3: the rheonomic joint ------------------------------------------------------------------


def split(mechanism):
    """A chain of two: what hangs on ``link1`` also as a mechanism of its own."""
    joints = [
        dataclasses.replace(joint, parent="link1" if joint.parent == "link0" else joint.parent)
        for joint in mechanism.joints[1:]
    ]
    whole = dataclasses.replace(mechanism, joints=(mechanism.joints[0], *joints))
    beyond = dataclasses.replace(mechanism, links=mechanism.links[1:], joints=tuple(joints))
    return whole, beyond


@examples(20)
@given(first=st.sampled_from(DRIVEN), kinds=trees, moving=st.booleans(), seed=seeds)
def test_a_driven_joint_is_a_moving_base_for_what_it_carries(first, kinds, moving, seed):
    rng = np.random.default_rng(seed)
    whole, beyond = split(random_mechanism(rng, [first, *kinds], damping=0.3))
    robot = rd.load(whole, base="moving" if moving else "fixed", rigid=True)
    rest = rd.load(beyond, base="moving", rigid=True)
    base = motion(rng) if moving else ()
    q, joint = robot.random(rng), robot.joints["joint0"]
    v, a, tau = rng.normal(size=(3, robot.nv))
    mask = tuple(range(joint.v.stop))
    n = len(mask)
    a, forces = get(robot, "hybrid_dynamics", q, v, a[:n], tau[n:], *base, controlled=mask)
    pose = get(robot, "frame_pose", q, *base, frame="link1")[0]
    twist = get(robot, "frame_twist", q, v, *base, frame="link1")[0]
    rate = get(robot, "frame_acceleration", q, v, a, *base, frame="link1")[0]
    of_rest = (q[joint.q.stop :], v[n:])
    close(get(rest, "forward_dynamics", *of_rest, tau[n:], pose, twist, rate)[0], a[n:], 1e-8)
    # the wrench that the joint exerts is that of the moving base, and holds the torque
    wrench = get(rest, "joint_wrenches", *of_rest, a[n:], pose, twist, rate, joints=())[0][-1]
    relative = {"frame": "link1", "relative_to": "link0"}
    S = get(robot, "frame_jacobian", q, *base, **relative)[0][:, :n]
    close(S.T @ wrench, forces[:n] - 0.3 * v[:n])
