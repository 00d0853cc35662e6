"""Elastic gears: a motor that is a joint of its own, behind a spring, a damper and play."""

import dataclasses

import numpy as np
import pytest
from support.comparison import close_within

import robodyn as rd
from robodyn.controllers import LQR
from robodyn.description import Mimic

RATIO, ROTOR, STIFFNESS, DAMPING, WHEEL = 40.0, 3e-4, 800.0, 0.6, 1.5

alike = close_within(1e-9)


def wheel(kind="continuous", *, damping=DAMPING, base="fixed", **more):
    """A wheel (or a carriage) of inertia ``WHEEL`` alone behind an elastic gear."""
    inertia = rd.Inertia(WHEEL, ixx=1.0, iyy=WHEEL, izz=1.0)
    links = rd.Link("base", rd.Inertia(2.0, ixx=2.0, iyy=3.0, izz=2.5)), rd.Link("wheel", inertia)
    joint = rd.Joint("axle", kind, parent="base", child="wheel", axis=(0, 1, 0))
    motor = rd.Actuator(RATIO, ROTOR, elastic=rd.Elastic(STIFFNESS, damping), **more)
    mechanism = rd.Mechanism("wheel", links, (joint,), actuators=(("axle", motor),))
    return rd.load(mechanism, base=base, gravity=(0, 0, 0))


def arm(**more):
    motor = rd.Actuator(50, 2e-4, elastic=rd.Elastic(2e3, 1.0), **more)
    return rd.load("double_pendulum", actuators={"shoulder": motor})


@pytest.mark.parametrize("kind", ["continuous", "prismatic"])
def test_the_resonance_is_that_of_two_masses(kind):
    """Of motor and load: w^2 = k (1/J + 1/N^2 I), with the damping d of the same factor."""
    robot = wheel(kind)
    share = 1.0 / WHEEL + 1.0 / (RATIO**2 * ROTOR)
    model = robot.linearize(robot.neutral(), [0, 0], [0, 0])
    poles = np.sort_complex(np.roots([1.0, DAMPING * share, STIFFNESS * share]))
    found = np.sort_complex(model.poles)
    close_within(1e-6)(np.sort_complex(found[abs(found) > 1.0]), poles)
    assert (abs(found) < 1e-5).sum() == 2  # both together turn freely
    assert robot.actuated_joints == ("axle_motor",)


def test_the_motor_turns_the_load_through_the_spring():
    """Two masses under a torque: their sum accelerates, and the spring carries its share."""
    robot, q, v = wheel(), [0.1, 0.25], [0.5, -0.2]
    wound, rate = 0.15, -0.7
    spring = STIFFNESS * wound + DAMPING * rate
    a = robot.forward_dynamics(q, v, [0.0, 12.0])
    alike(a, [spring / WHEEL, (12.0 - spring) / (RATIO**2 * ROTOR)])
    alike(robot.motor_torques(q, v, a), [0.0, 12.0 / RATIO])
    alike(robot.potential_energy(q), 0.5 * STIFFNESS * wound**2)


def test_a_stiff_gear_moves_as_a_rigid_one():
    rigid = rd.load("double_pendulum", actuators={"shoulder": rd.Actuator(50, 2e-4)})
    held = rd.Actuator(50, 2e-4, elastic=rd.Elastic(1e6, 300.0))
    stiff = rd.load("double_pendulum", actuators={"shoulder": held})
    start = [0.4, 0.2]
    one = rd.simulate(rigid, q0=start, duration=0.5, step=1e-3)
    two = rd.simulate(stiff, q0=[*start, start[0]], duration=0.5, step=1e-4, every=10)
    close_within(2e-4)(two.q[-1, :2], one.q[-1])


def test_energy_and_momentum_of_a_floating_robot():
    robot = wheel(damping=0.0, base="floating")
    q = robot.neutral()
    q[-1] += 0.3
    run = rd.simulate(robot, q0=q, duration=0.2, step=2e-4)
    energy = run.kinetic_energy + run.potential_energy
    assert abs(energy - energy[0]).max() < 1e-6 * energy[0]
    momenta = robot.momentum(run.q, run.v)
    assert abs(momenta).max() < 1e-9
    assert abs(run.v[:, 3:6]).max() > 0.1  # the base turns against motor and wheel


@pytest.mark.parametrize("coordinates", ["tree", "minimal"])
def test_in_a_loop(coordinates):
    """The crank of a four-bar: at rest against a load the spring is wound by it."""
    motor = rd.Actuator(20, 2e-5, elastic=rd.Elastic(500.0, 2.0), viscous=1e-3)
    robot = rd.load(
        "four_bar", coordinates=coordinates, actuators={"crank_drive": motor},
        near={"crank_drive": 0.5},
    )  # fmt: skip
    q = robot.neutral()
    crank, motor_at = (robot.joints[x].q.start for x in ("crank_drive", "crank_drive_motor"))
    assert q[motor_at] == q[crank] == pytest.approx(0.5)
    run = rd.simulate(
        robot, q0=q, duration=3.0, step=1e-3, locked=["crank_drive_motor"], limits="ignore"
    )
    rigid = rd.load("four_bar", near={"crank_drive": run.q[-1, crank]})
    held = rigid.inverse_dynamics(rigid.neutral(), [0, 0, 0], [0, 0, 0])[0]
    assert 500.0 * (run.q[-1, motor_at] - run.q[-1, crank]) == pytest.approx(held, rel=1e-4)


def test_play_lets_the_motor_turn_alone():
    robot = wheel(backlash=0.1)

    def exerted(wound, rate=0.0):
        return robot.passive_forces([0.0, wound], [0.0, rate])

    assert not exerted(0.049, 3.0).any()
    alike(exerted(0.07), [STIFFNESS * 0.02, -STIFFNESS * 0.02])
    alike(exerted(-0.07)[0], -STIFFNESS * 0.02)
    assert not exerted(0.051, -5.0).any()  # teeth do not pull
    alike(robot.potential_energy([0.0, 0.07]), 0.5 * STIFFNESS * 0.02**2)
    run = rd.simulate(robot, v0=[0.0, 1.0], duration=0.045)
    assert run.v[-1].tolist() == [0.0, 1.0]
    run = rd.simulate(robot, v0=[0.0, 1.0], duration=0.2, step=1e-4)
    assert run.v[-1, 0] > 0.1
    assert abs(run.audit.unexplained).max() < 1e-4


def test_losses_are_those_of_the_torque_in_the_spring():
    """Behind a motor that is held at a speed, the gear hands on what the spring carries."""
    robot = wheel(efficiency=0.8)
    q, v = [0.0, 0.1], [1.0, 1.0]
    tau = robot.inverse_dynamics(q, v, [STIFFNESS * 0.1 / WHEEL, 0.0])
    alike(tau, [0.0, STIFFNESS * 0.1 / 0.8])


def test_hybrid_dynamics_have_the_torque_of_the_motor():
    robot = arm()
    q, v = [0.1, 0.2, 0.12], [1.0, 0.5, 0.9]
    found = robot.hybrid_dynamics(q, v, controlled={"shoulder_motor": 3.0})
    alike(robot.forward_dynamics(q, v, found.tau), found.a)


def test_parameters_and_other_gears_of_a_copy():
    robot = arm(viscous=1e-4)
    heavy = robot.with_(parameters={"shoulder_motor.rotor_inertia": 4e-4})
    assert heavy.mass_matrix(robot.neutral())[2, 2] == pytest.approx(2500 * 4e-4)
    damped = robot.with_(parameters={"shoulder_motor.damping": 0.5})
    assert damped.passive_forces([0, 0, 0], [0, 0, 1.0])[2] == pytest.approx(-0.5 - 1.0)
    soft = rd.Actuator(50, 2e-4, elastic=rd.Elastic(1e3))
    other = robot.with_(actuators={"shoulder": soft})
    assert other.elastic_energy([0.1, 0.0, 0.0]) == pytest.approx(5.0)
    stiff = robot.with_(actuators={"shoulder": rd.Actuator(50, 2e-4)})
    assert stiff.nv == 2


def test_other_robots_know_nothing_of_it(double):
    assert double.model.setup.gear_springs == () and double.model.setup.gear_losses == ()


@pytest.mark.parametrize(
    ("wrong", "words"),
    [
        ({"elastic": None, "backlash": 0.1}, "give elastic="),
        ({"backlash": -0.1}, "backlash=-0.1"),
        ({"rotor_inertia": 0.0}, "rotor_inertia=0"),
        ({"gear_ratio": 0.0}, "gear_ratio=0"),
    ],
)
def test_gears_that_cannot_be(wrong, words):
    motor = rd.Actuator(50, 2e-4, elastic=rd.Elastic(2e3))
    with pytest.raises(rd.ActuationError, match=words):
        rd.load("double_pendulum", actuators={"shoulder": dataclasses.replace(motor, **wrong)})


def test_places_where_none_can_be():
    motor = rd.Actuator(50, 2e-4, elastic=rd.Elastic(2e3))
    wrist = rd.Transmission.differential("wrist", ["pan", "tilt"])
    with pytest.raises(rd.ActuationError, match="'wrist'"):
        rd.load("pan_tilt", actuators={"pan": motor}, transmissions=[wrist])
    links = rd.Link("base"), rd.Link("axle_motor", rd.Inertia(1.0, ixx=1.0, iyy=1.0, izz=1.0))
    joint = rd.Joint("axle", "continuous", parent="base", child="axle_motor")
    mechanism = rd.Mechanism("wheel", links, (joint,), actuators=(("axle", motor),))
    with pytest.raises(rd.TopologyError, match="'axle_motor' is taken"):
        rd.load(mechanism)
    fixed = dataclasses.replace(joint, kind="fixed")
    with pytest.raises(rd.ActuationError, match="no joint that moves"):
        rd.load(dataclasses.replace(mechanism, joints=(fixed,)))


def test_inverse_kinematics_turn_motors_with_their_joints():
    gear = rd.Actuator(-50.0, 1e-3, elastic=rd.Elastic(2e3, 5.0))
    arm = rd.load("arm7", actuators={"shoulder_pitch": gear})
    motor = arm.joints["shoulder_pitch_motor"].q.start
    target = arm.frame_pose(arm.neutral() + 0.4, "tool")
    found = arm.inverse_kinematics({"tool": np.stack([target, target])})
    assert found.converged.all()
    np.testing.assert_array_equal(found.q[:, motor], found.q[:, 1])
    found = arm.inverse_kinematics(tasks=rd.Task(target, frame="tool"))
    assert found.converged
    assert arm.elastic_energy(found.q) == 0.0 != found.q[1]
    v = arm.velocity_for(rd.Task(target, frame="tool"), arm.neutral(), dt=0.1)
    assert v[motor] == v[1] != 0.0
    held = ["shoulder_pitch_motor"]
    v = arm.velocity_for(rd.Task(target, frame="tool"), arm.neutral(), dt=0.1, locked=held)
    assert v[motor] == 0.0 != v[1]


@pytest.mark.parametrize("command", ["torque", "voltage"])
def test_locking_a_joint_ends_its_motor(command):
    motor = rd.Motor(0.06, 0.35, inductance=4e-3)
    spring = rd.Elastic(2e3, 5.0) if command == "torque" else None
    gear = rd.Actuator(-50.0, 1e-3, elastic=spring, motor=motor, command=command)
    arm = rd.load("double_pendulum", actuators={"shoulder": gear}).with_(locked={"shoulder": 0.3})
    rigid = rd.load("double_pendulum").with_(locked={"shoulder": 0.3})
    assert arm.joint_names == rigid.joint_names
    alike(arm.inverse_dynamics([0.2], [0.1], [0.4]), rigid.inverse_dynamics([0.2], [0.1], [0.4]))


def mimic(ratio, offset):
    """Two wheels, of which the second follows the first."""
    body = rd.Inertia(1.0, ixx=0.1, iyy=0.1, izz=0.1)
    links = rd.Link("w"), rd.Link("a", body), rd.Link("b", body)
    joints = (
        rd.Joint("first", "continuous", "w", "a", axis=(0, 1, 0)),
        rd.Joint("second", "continuous", "a", "b", mimic=Mimic("first", ratio, offset)),
    )
    return rd.Mechanism("mimic", links, joints)


def test_springs_at_joints_that_follow_others_are_relaxed_as_well():
    gear = rd.Actuator(-20.0, 1e-3, elastic=rd.Elastic(500.0))
    robot = rd.load(mimic(-1.7, 0.2), actuators={"second": gear})
    np.testing.assert_allclose(robot.neutral(), [0.0, 0.2], atol=1e-15)
    found = robot.inverse_kinematics({"b": robot.frame_pose([0.3, 0.0], "b")})
    np.testing.assert_allclose(found.q, [0.3, 0.2 - 1.7 * 0.3], atol=1e-9)
    turned = rd.Task(robot.frame_pose([0.3, 0.0], "b"), frame="b")
    v = robot.velocity_for(turned, robot.neutral(), dt=0.1)
    assert v[0] > 0.1
    np.testing.assert_allclose(v[1], -1.7 * v[0], rtol=1e-12)


def test_a_motor_that_near_names_stays_there():
    gear = rd.Actuator(-20.0, 1e-3, elastic=rd.Elastic(500.0))
    given = {"crank_drive": 0.5, "crank_drive_motor": 0.6}
    robot = rd.load("four_bar", actuators={"crank_drive": gear}, near=given)
    own, motor = (robot.joints[name].q.start for name in given)
    q = robot.neutral()
    np.testing.assert_allclose([q[own], q[motor]], [0.5, 0.6], atol=1e-9)


def test_encoders_are_at_motors_and_at_joints():
    encoders = [
        rd.Sensor(lambda q, v, a: 60.0 * q, joint=["shoulder_motor"], name="at motor"),
        rd.Sensor(lambda q, v, a: q, joint=["shoulder"], name="at joint"),
    ]
    drive = rd.Actuator(60.0, 1e-4, elastic=rd.Elastic(2e3, 1.0))
    robot = rd.load("double_pendulum", actuators={"shoulder": drive}, sensors=encoders)
    q = np.zeros(3)
    q[robot.joints["shoulder"].q], q[robot.joints["shoulder_motor"].q] = 0.1, 0.3
    shown = robot.measure(q)
    assert shown["at motor"][0] == pytest.approx(18.0) and shown["at joint"][0] == pytest.approx(
        0.1
    )
    stiff = robot.with_(actuators={"shoulder": rd.Actuator(60.0, 1e-4)})
    with pytest.raises(rd.TopologyError, match="'shoulder_motor'"):
        stiff.measure(stiff.neutral())


def test_an_error_of_a_regulator_says_how_gears_are_wound_up():
    robot = arm()
    q = robot.neutral()
    for name in ("shoulder", "shoulder_motor"):
        q[robot.joints[name].q] = 0.5
    with pytest.raises(rd.ActuationError, match=r"equilibrium\(q, hold=\['shoulder_motor'\]\)"):
        LQR(robot, q)
    q = robot.equilibrium(q, hold=["shoulder_motor"])
    law = LQR(robot, q)
    twist = q[robot.joints["shoulder_motor"].q] - q[robot.joints["shoulder"].q]
    assert law.holding == pytest.approx(2e3 * twist) and abs(law.holding[0]) > 1.0
