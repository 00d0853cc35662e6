"""What motors do to the joints they drive: inertia, cross terms, friction, torques at the shaft."""

import dataclasses

import numpy as np
import pytest
from support.random_mechanisms import random_mechanism

import robodyn as rd

PLANAR = """<robot name="planar">
<link name="base"/>
<link name="upper"><inertial><origin xyz="0.5 0 0"/><mass value="1"/>
<inertia ixx="0.01" ixy="0" ixz="0" iyy="0.08" iyz="0" izz="0.08"/></inertial></link>
<link name="lower"><inertial><origin xyz="0.3 0 0"/><mass value="0.8"/>
<inertia ixx="0.01" ixy="0" ixz="0" iyy="0.05" iyz="0" izz="0.05"/></inertial></link>
<joint name="shoulder" type="continuous"><parent link="base"/><child link="upper"/>
<axis xyz="0 0 1"/></joint>
<joint name="elbow" type="continuous"><parent link="upper"/><child link="lower"/>
<origin xyz="1 0 0"/><axis xyz="0 0 1"/></joint>
</robot>"""
N, JR = 100.0, 1e-4
GEARED = {"elbow": rd.Actuator(gear_ratio=N, rotor_inertia=JR)}


def planar(**options):
    return rd.load(PLANAR, **{"actuators": GEARED, **options})


def test_the_cross_term_that_an_armature_lacks():
    q = np.array([0.3, 0.7])
    bodies = planar(passive=False).mass_matrix(q)
    exact, armature = (
        planar(rotor_model=model).mass_matrix(q) - bodies for model in ("exact", "armature")
    )
    np.testing.assert_allclose(exact, [[0.0, N * JR], [N * JR, N**2 * JR]], atol=1e-15)
    np.testing.assert_allclose(armature, [[0.0, 0.0], [0.0, N**2 * JR]], atol=1e-15)


def test_a_rotor_on_the_driven_link_counts_its_own_turning_as_well():
    on_child = {"elbow": dataclasses.replace(GEARED["elbow"], mounted_on="lower")}
    q = np.array([0.3, 0.7])
    change = planar(actuators=on_child).mass_matrix(q) - planar(passive=False).mass_matrix(q)
    cross = N * JR
    np.testing.assert_allclose(
        change, [[0.0, cross], [cross, 2 * cross + N**2 * JR]], rtol=0, atol=1e-15
    )


def test_a_rotor_turns_with_its_carrier_in_energy_and_momentum():
    robot, bodies = planar(), planar(passive=False)
    q, v = np.array([0.3, 0.7]), np.array([1.5, -2.0])
    spin = N * v[1]
    energy = 0.5 * JR * ((v[0] + spin) ** 2 - v[0] ** 2)
    assert robot.kinetic_energy(q, v) - bodies.kinetic_energy(q, v) == pytest.approx(energy)
    change = robot.momentum(q, v) - bodies.momentum(q, v)
    np.testing.assert_allclose(change, [0, 0, 0, 0, 0, JR * spin], atol=1e-14)


@pytest.mark.parametrize("base", ["fixed", "floating", "moving"])
def test_an_armature_is_felt_by_its_joint_only(base):
    rng = np.random.default_rng(1)
    mechanism = random_mechanism(rng, ["revolute", "spherical", "prismatic", "helical"])
    motors = {
        "joint0": rd.Actuator(20.0, 2e-3),
        "joint2": rd.Actuator(-300.0, 1e-4, (1.0, 2.0, 2.0), "link0"),
        "joint3": rd.Actuator(0.5, 0.3, (0.0, 0.0, 2.0), "link1"),
    }
    robot = rd.load(mechanism, base=base, actuators=motors, rotor_model="armature")
    bodies = rd.load(mechanism, base=base, passive=False)
    q = robot.random(rng)
    v, a = rng.normal(size=(2, robot.nv))
    felt = np.zeros(robot.nv)
    for name, motor in motors.items():
        felt[robot.joints[name].v] = motor.gear_ratio**2 * motor.rotor_inertia
    tau = bodies.inverse_dynamics(q, v, a) + felt * a
    np.testing.assert_allclose(robot.inverse_dynamics(q, v, a), tau, rtol=1e-12, atol=1e-12)
    np.testing.assert_allclose(robot.forward_dynamics(q, v, tau), a, rtol=1e-9, atol=1e-9)
    M = bodies.mass_matrix(q) + np.diag(felt)
    np.testing.assert_allclose(robot.mass_matrix(q), M, rtol=1e-12, atol=1e-12)
    C = bodies.coriolis_matrix(q, v)
    np.testing.assert_allclose(robot.coriolis_matrix(q, v), C, rtol=1e-12, atol=1e-12)
    T = bodies.kinetic_energy(q, v) + 0.5 * felt @ v**2
    assert robot.kinetic_energy(q, v) == pytest.approx(T, rel=1e-12)


@pytest.mark.parametrize("gear", [50.0, -50.0, 1.0])
def test_friction_of_a_motor_as_the_joint_feels_it(gear):
    b, c, speed = 3e-4, 0.02, 0.05
    motor = rd.Actuator(gear_ratio=gear, viscous=b, coulomb=c)
    robot = planar(actuators={"elbow": motor}, friction_speed=speed)
    free = planar(actuators={})
    q = np.array([0.3, 0.7])
    for rate in (-3.0, -0.01, 0.0, 0.02, 2.0):
        v, a = np.array([0.5, rate]), np.array([1.0, 2.0])
        held = gear**2 * b * rate + abs(gear) * c * rate / np.hypot(rate, speed)
        np.testing.assert_allclose(robot.passive_forces(q, v), [0.0, -held], atol=1e-14)
        tau = free.inverse_dynamics(q, v, a) + np.array([0.0, held])
        np.testing.assert_allclose(robot.inverse_dynamics(q, v, a), tau, atol=1e-13)
        np.testing.assert_allclose(robot.forward_dynamics(q, v, tau), a, atol=1e-11)


def test_friction_of_the_joint_and_of_its_motor_add():
    text = PLANAR.replace(
        '<origin xyz="1 0 0"/>', '<origin xyz="1 0 0"/><dynamics damping="0.3" friction="0.2"/>'
    )
    motor = rd.Actuator(gear_ratio=10.0, viscous=1e-3, coulomb=0.01)
    robot = rd.load(text, actuators={"elbow": motor}, friction_speed=0.1)
    v = np.array([0.0, 0.4])
    held = (0.3 + 0.1) * 0.4 + (0.2 + 0.1) * 0.4 / np.hypot(0.4, 0.1)
    np.testing.assert_allclose(robot.passive_forces(np.zeros(2), v), [0.0, -held], atol=1e-15)


def test_torques_and_power_at_the_shaft():
    motor = rd.Actuator(gear_ratio=-80.0, rotor_inertia=JR, viscous=1e-4, torque_limit=0.7)
    robot = planar(actuators={"elbow": motor})
    rng = np.random.default_rng(2)
    q, v, a = rng.normal(size=(3, 4, 2))
    tau = robot.inverse_dynamics(q, v, a)
    shaft = robot.motor_torques(q, v, a)
    np.testing.assert_allclose(shaft * [1.0, -80.0], tau, rtol=1e-14)
    np.testing.assert_allclose(robot.motor_power(q, v, a), shaft * (v * [1.0, -80.0]), rtol=1e-13)
    np.testing.assert_array_equal(robot.gear_ratios, [1.0, -80.0])
    np.testing.assert_array_equal(robot.motor_torque_limits, [np.inf, 0.7])
    assert robot.actuators == {"elbow": motor}
    assert robot.motor_torques(*np.float32([q, v, a])).dtype == np.float32


def test_only_bodies_count_without_passive():
    motors = {"elbow": rd.Actuator(100.0, 1e-3, viscous=1e-3, coulomb=0.1)}
    rng = np.random.default_rng(3)
    q, v, a = rng.normal(size=(3, 2))
    tau = planar(actuators=motors, passive=False).inverse_dynamics(q, v, a)
    np.testing.assert_array_equal(tau, planar(actuators={}).inverse_dynamics(q, v, a))


def test_motors_that_cannot_be():
    with pytest.raises(rd.UnknownNameError) as unknown:
        planar(actuators={"elbwo": rd.Actuator()})
    assert unknown.value.suggestions == ("elbow",)
    with pytest.raises(rd.UnknownNameError, match="link 'uper'"):
        planar(actuators={"elbow": rd.Actuator(2.0, 1e-3, mounted_on="uper")})
    with pytest.raises(rd.ActuationError, match="axis"):
        planar(actuators={"elbow": rd.Actuator(2.0, 1e-3, mounted_on="base")})
    for axis in ((0.0, 0.0, 0.0), (np.nan, 0.0, 1.0)):
        with pytest.raises((rd.ActuationError, rd.ShapeError), match="axis"):
            planar(actuators={"elbow": rd.Actuator(2.0, 1e-3, axis=axis)})
    with pytest.raises(rd.UnknownNameError, match="in rotor_model="):
        planar(rotor_model="exakt")
    ball = random_mechanism(np.random.default_rng(0), ["spherical"])
    for motor in (rd.Actuator(2.0, 1e-3), rd.Actuator(2.0, viscous=0.1)):
        with pytest.raises(rd.ActuationError, match="one degree of freedom"):
            rd.load(ball, actuators={"joint0": motor})
