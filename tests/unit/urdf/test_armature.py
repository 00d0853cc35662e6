"""`<dynamics armature>`: an inertia on the diagonal of the mass matrix, and nothing else."""

import dataclasses
import re

import numpy as np
import pytest

import robodyn as rd
from robodyn.urdf import parse, write

#: All speeds but those of the ball.
FREE = np.array([True, False, False, False, True])
FELT = {"turn": 0.3, "ball": 0.07, "slide": 1.2}

ARM = """<robot name="arm"><link name="base"/>
<link name="a"><inertial><origin xyz="0.1 0.2 0.3"/><mass value="2"/>
 <inertia ixx=".3" ixy=".01" ixz="0" iyy=".4" iyz="0" izz=".35"/></inertial></link>
<link name="b"><inertial><origin xyz="0 0.1 -0.2"/><mass value="1"/>
 <inertia ixx=".1" ixy="0" ixz=".01" iyy=".12" iyz="0" izz=".11"/></inertial></link>
<link name="c"><inertial><origin xyz="0.3 0 0"/><mass value="0.5"/>
 <inertia ixx=".02" ixy="0" ixz="0" iyy=".02" iyz="0" izz=".03"/></inertial></link>
<joint name="turn" type="continuous"><parent link="base"/><child link="a"/>
 <axis xyz="0 1 0"/><dynamics damping="0.1" armature="0.3"/></joint>
<joint name="ball" type="spherical"><parent link="a"/><child link="b"/>
 <origin xyz="0 0 0.5"/><dynamics armature="0.07"/></joint>
<joint name="slide" type="prismatic"><parent link="b"/><child link="c"/>
 <origin xyz="0 0.2 0"/><axis xyz="0 0 1"/><dynamics armature="1.2"/></joint>
</robot>"""


def _felt(robot):
    felt = np.zeros(robot.nv)
    for name, x in FELT.items():
        felt[robot.joints[name].v] = x
    return np.diag(felt)


def _state(robot, seed=0):
    rng = np.random.default_rng(seed)
    return robot.random(rng), *rng.normal(size=(3, robot.nv))


def test_it_adds_to_the_diagonal_and_to_nothing_else():
    robot = rd.load(ARM)
    bodies = rd.load(ARM, passive=False)  # rigid bodies only
    damped = rd.load(re.sub(' armature="[^"]*"', "", ARM))
    D, (q, v, a, tau) = _felt(robot), _state(robot)
    near = {"rtol": 0, "atol": 1e-12}
    np.testing.assert_allclose(robot.mass_matrix(q), bodies.mass_matrix(q) + D, **near)
    np.testing.assert_allclose(robot.bias_forces(q, v), damped.bias_forces(q, v), **near)
    np.testing.assert_allclose(robot.coriolis_matrix(q, v), damped.coriolis_matrix(q, v), **near)
    expected = damped.inverse_dynamics(q, v, a) + D @ a
    np.testing.assert_allclose(robot.inverse_dynamics(q, v, a), expected, **near)
    solved = np.linalg.solve(bodies.mass_matrix(q) + D, tau - damped.bias_forces(q, v))
    np.testing.assert_allclose(robot.forward_dynamics(q, v, tau), solved, rtol=1e-11, atol=1e-11)
    driven = robot.hybrid_dynamics(q, v, controlled={"ball": a[1:4]}, tau=np.where(FREE, tau, 0)).a
    np.testing.assert_allclose(
        robot.inverse_dynamics(q, v, driven)[FREE], tau[FREE], rtol=1e-11, atol=1e-11
    )
    energy = bodies.kinetic_energy(q, v) + 0.5 * v @ D @ v
    np.testing.assert_allclose(robot.kinetic_energy(q, v), energy, rtol=1e-13)
    Y = robot.dynamic_regressor(q, v, a)
    np.testing.assert_allclose(Y @ robot.dynamic_parameters, expected, **near)
    half = robot.with_(parameters={"ball.armature": 0.035})
    np.testing.assert_allclose(np.diag(robot.mass_matrix(q) - half.mass_matrix(q))[1:4], 0.035)
    named = robot.function("inverse_dynamics", parameters=True)
    np.testing.assert_allclose(named(q, v, a, robot.inertial_parameters), expected, **near)


def test_a_joint_that_closes_a_loop_keeps_it(four_bar):
    """An armature is an inertia of the angle between two bars, whichever joint is cut."""
    cut = four_bar.loops[0].name

    def slowed(items):
        return tuple(dataclasses.replace(x, armature=0.2) if x.name == cut else x for x in items)

    mechanism = four_bar.mechanism
    slow = rd.load(
        dataclasses.replace(
            mechanism, joints=slowed(mechanism.joints), loops=slowed(mechanism.loops)
        )
    )
    assert parse(write(slow.mechanism))[0] == slow.mechanism
    q = four_bar.neutral()
    v = four_bar.consistent_velocity(q, np.ones(four_bar.nv))
    angles, speeds = four_bar.joint_positions(q), four_bar.joint_velocities(q, v)
    moving = [
        name for name in slow.joint_names if slow.joints[name].q.stop > slow.joints[name].q.start
    ]
    assert cut in moving
    q2, v2 = (np.array([x[name] for name in moving]) for x in (angles, speeds))
    gained = slow.kinetic_energy(q2, v2) - four_bar.kinetic_energy(q, v)
    np.testing.assert_allclose(gained, 0.1 * speeds[cut] ** 2, rtol=1e-12)


def test_joints_in_a_plane_have_none():
    text = ARM.replace('type="spherical"', 'type="planar"')
    with pytest.raises(rd.UrdfError, match="a planar joint has no armature"):
        rd.load(text)
    with pytest.raises(rd.UrdfError, match="armature=-1 is negative"):
        rd.load(ARM.replace('armature="1.2"', 'armature="-1"'))
