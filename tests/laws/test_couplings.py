"""Couplings of joints: eliminated where two joints suffice, else a linear constraint."""

import dataclasses

import numpy as np
import pytest
from support.closed_cases import close
from support.interpreted import interpreted
from support.random_mechanisms import random_mechanism

from robodyn.description import Coupling, Mimic

GRAVITY = (1.0, 2.0, -9.81)
OPTIONS = {"gravity": GRAVITY, "rigid": True}


def two_arms(seed=0):
    """Two chains of three joints on one base, and an idle one."""
    rng = np.random.default_rng(seed)
    tree = random_mechanism(rng, ("revolute", "helical", "revolute") * 2 + ("prismatic",))
    parents = (0, 1, 2, 0, 4, 5, 6)
    joints = tuple(
        dataclasses.replace(joint, parent=f"link{i}")
        for joint, i in zip(tree.joints, parents, strict=True)
    )
    return dataclasses.replace(tree, joints=joints)


def coupled(*couplings, seed=0):
    return interpreted(dataclasses.replace(two_arms(seed), couplings=couplings), **OPTIONS)


#: Predecessor, successor, ratio, offset, and weights of joint0 ... joint6 by hand.
CHAINS = [
    ("link3", "link6", 2.0, 0.4, [-2, -2, -2, 1, 1, 1, 0]),
    ("link1", "link5", -0.5, 0.0, [0.5, 0, 0, 1, 1, 0, 0]),
    ("link5", "link1", 3.0, -0.7, [1, 0, 0, -3, -3, 0, 0]),
    ("link7", "link3", 1.5, 0.1, [1, 1, 1, -1.5, -1.5, -1.5, -1.5]),
]


@pytest.mark.parametrize("chain", CHAINS)
def test_a_coupling_of_chains_is_one_linear_row(chain):
    predecessor, successor, ratio, offset, weights = chain
    robot = coupled(Coupling("gear", predecessor, successor, ratio, offset))
    free, w = interpreted(two_arms(), **OPTIONS), np.array(weights, float)
    assert (robot.nv, robot.nc, robot.dof) == (7, 1, 6)
    rng = np.random.default_rng(1)
    q, v, tau = rng.normal(size=(3, 7))
    close(robot.loop_residual(q), [w @ q - offset])
    close(robot.loop_jacobian(q), [w])
    close(robot.loop_bias(q, v), [0.0])
    q = robot.assemble(q)
    assert abs(w @ q - offset) < 1e-12
    v = robot.consistent_velocity(q, v)
    # motions that are left, one column each
    N = np.linalg.svd(w[None, :])[2][1:].T
    M, h = free.mass_matrix(q), free.bias_forces(q, v)
    a = N @ np.linalg.solve(N.T @ M @ N, N.T @ (tau - h))
    close(robot.forward_dynamics(q, v, tau), a)
    close(robot.constrained_dynamics(q, v, tau).multipliers, [w @ (M @ a + h - tau) / (w @ w)])
    motors = [n for k, n in enumerate(robot.joint_names) if k != int(np.flatnonzero(w)[0])]
    torque = robot.inverse_dynamics(q, v, a, actuated=motors)
    close(N.T @ torque, N.T @ tau)
    close(robot.forward_dynamics(q, v, torque), a)


def test_a_coupling_of_two_joints_is_a_mimic():
    robot = coupled(Coupling("gear", "link1", "link4", -2.5, 0.3))
    tree = two_arms()
    joints = list(tree.joints)
    joints[3] = dataclasses.replace(joints[3], mimic=Mimic("joint0", -2.5, 0.3))
    same = interpreted(dataclasses.replace(tree, joints=tuple(joints)), **OPTIONS)
    assert (robot.nv, robot.nc, robot.dof) == (same.nv, 0, 6)
    q, v, tau = np.random.default_rng(2).normal(size=(3, 6))
    close(robot.forward_dynamics(q, v, tau), same.forward_dynamics(q, v, tau), 1e-12)


def test_couplings_one_behind_the_other():
    """Gear on gear: the second drives from a joint that follows."""
    first = Coupling("first", "link1", "link4", 2.0, 0.1)
    rest = Coupling("second", "link4", "link2", -1.0, 0.2)
    robot = coupled(first, rest)
    free, rng = interpreted(two_arms(), **OPTIONS), np.random.default_rng(3)
    # joint3 = 2 joint0 + 0.1; joint0 + joint1 = -joint3 + 0.2
    left = {name: robot.joints[name].q for name in robot.joint_names}
    assert robot.dof == 5
    q = robot.assemble(rng.normal(size=robot.nq))
    v = robot.consistent_velocity(q, rng.normal(size=robot.nv))
    q0, dq0 = q[left["joint0"]][0], v[left["joint0"]][0]
    whole = {name: q[at][0] for name, at in left.items()} | {"joint3": 2.0 * q0 + 0.1}
    speeds = {name: v[at][0] for name, at in left.items()} | {"joint3": 2.0 * dq0}
    assert abs(whole["joint0"] + whole["joint1"] + whole["joint3"] - 0.2) < 1e-12
    x, w = (np.array([s[n] for n in free.joint_names]) for s in (whole, speeds))
    K = np.array([[-2.0, 0, 0, 1, 0, 0, 0], [1, 1, 0, 1, 0, 0, 0]])
    N = np.linalg.svd(K)[2][2:].T
    M, h = free.mass_matrix(x), free.bias_forces(x, w)
    a = N @ np.linalg.solve(N.T @ M @ N, -N.T @ h)
    found = robot.forward_dynamics(q, v, np.zeros(robot.nv))
    close(found, [a[free.joints[n].v.start] for n in robot.joint_names])
