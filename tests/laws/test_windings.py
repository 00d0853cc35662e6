"""Motors that are commanded by voltage: the current is a speed, and makes the torque."""

import numpy as np
import pytest
from scipy.linalg import expm
from support.comparison import close_within

import robodyn as rd
from robodyn.controllers import ExtendedKalmanFilter, JointPD, OutputFeedback, PointToPoint
from robodyn.errors import ActuationError, SettingsError, TopologyError, UrdfError

CONSTANT, RESISTANCE, INDUCTANCE, RATIO, ROTOR, WHEEL = 0.05, 0.3, 2e-3, -20.0, 3e-4, 1.5
MOTOR = rd.Motor(CONSTANT, RESISTANCE, inductance=INDUCTANCE, voltage=24.0)

alike = close_within(1e-9)


def wheel(base="fixed", motor=MOTOR, **more):
    inertia = rd.Inertia(1.0, ixx=1.0, iyy=WHEEL, izz=1.0)
    links = rd.Link("base", rd.Inertia(2.0, ixx=2.0, iyy=3.0, izz=2.5)), rd.Link("wheel", inertia)
    joint = rd.Joint("axle", "continuous", parent="base", child="wheel", axis=(0, 1, 0))
    drive = rd.Actuator(RATIO, ROTOR, motor=motor, command="voltage", **more)
    mechanism = rd.Mechanism("wheel", links, (joint,), actuators=(("axle", drive),))
    return rd.load(mechanism, base=base, gravity=(0, 0, 0))


def equations():
    """Of the speed of the wheel and the current, and their slope by the voltage."""
    mass, k = WHEEL + RATIO**2 * ROTOR, RATIO * CONSTANT
    A = np.array([[0.0, k / mass], [-k / INDUCTANCE, -RESISTANCE / INDUCTANCE]])
    return A, np.array([0.0, 1.0 / INDUCTANCE])


def test_poles_are_those_of_the_equations_of_a_dc_motor():
    robot = wheel()
    assert robot.joint_names == ("axle", "axle_winding")
    assert robot.actuated_joints == ("axle_winding",)
    model = robot.linearize([0, 0], [0, 0], [0, 0])
    A, b = equations()
    alike(model.A[2:, 2:], A)
    alike(model.B[2:, 0], b)
    found = np.sort(model.poles.real)
    alike(found[:2], np.sort(np.linalg.eigvals(A).real))  # angle and charge are integrals
    assert abs(found[2:]).max() < 1e-9


def test_a_step_of_voltage_is_the_exponential_of_the_equations():
    robot, volts = wheel(), 12.0
    run = rd.simulate(robot, lambda t, q, v: [0.0, volts], duration=1.0, step=2e-4, every=5)
    A, b = equations()
    still = -np.linalg.solve(A, b * volts)
    expected = np.array([still - expm(A * t) @ still for t in run.t])
    close_within(1e-6)(run.v, expected)
    assert abs(run.audit.unexplained).max() < 1e-4 * run.audit.exchanged.max()
    row = run.sizing()["axle_winding"]
    electric = row.electric
    assert row.gear_ratio == RATIO and row.torque_unit == "N m"
    assert electric.peak_current == pytest.approx(abs(run.v[:, 1]).max())
    assert electric.peak_voltage == pytest.approx(volts)
    assert row.peak_torque == pytest.approx(CONSTANT * abs(run.v[:, 1]).max())
    assert row.peak_speed == pytest.approx(abs(RATIO * run.v[:, 0]).max())
    assert electric.voltage_limit == 24.0


def test_torques_and_powers_of_the_shaft():
    robot, q, v = wheel(), [0.1, 0.0], [2.0, 3.0]
    a = robot.forward_dynamics(q, v, [0.0, 12.0])
    alike(robot.inverse_dynamics(q, v, a), [0.0, 12.0])
    alike(robot.motor_torques(q, v, a)[1], CONSTANT * 3.0)
    alike(robot.motor_power(q, v, a)[1], CONSTANT * 3.0 * RATIO * 2.0)
    assert np.isnan(robot.motor_currents(q, [0.0, 12.0])).all()  # it is v[1]
    alike(robot.kinetic_energy([0, 0], [0.0, 3.0]), 0.5 * INDUCTANCE * 9.0)


def test_gears_lose_of_the_torque_that_the_current_makes():
    robot = wheel(efficiency=0.8)
    current, speed = 10.0, -2.0  # the ratio is negative: the motor drives
    a = robot.forward_dynamics([0, 0], [speed, current], [0.0, 0.0])
    torque = RATIO * CONSTANT * current
    alike(torque - RATIO**2 * ROTOR * a[0] - WHEEL * a[0] / 0.8, 0.0)


def test_on_a_floating_base_currents_have_no_momentum():
    robot = wheel(base="floating")
    push = np.zeros(robot.nv)
    push[robot.joints["axle_winding"].v] = 12.0
    run = rd.simulate(robot, lambda t, q, v: push, duration=0.2, limits="ignore")
    assert abs(robot.momentum(run.q, run.v)).max() < 1e-9
    assert abs(run.v[-1, 3:6]).max() > 0.1


def test_behind_an_elastic_gear_in_a_loop():
    """The pole of the winding beside those of motor and load."""
    drive = rd.Actuator(20, 2e-5, motor=MOTOR, command="voltage", elastic=rd.Elastic(500.0, 0.2))
    robot = rd.load("four_bar", coordinates="minimal", actuators={"crank_drive": drive})
    assert robot.actuated_joints == ("crank_drive_winding",)
    torque = rd.Actuator(20, 2e-5, motor=MOTOR, elastic=rd.Elastic(500.0, 0.2))
    other = rd.load("four_bar", coordinates="minimal", actuators={"crank_drive": torque})
    zeros = np.zeros(3)
    poles = robot.linearize(robot.neutral(), zeros, zeros).poles
    A = other.linearize(other.neutral(), zeros[:2], zeros[:2])
    k = 20 * CONSTANT
    big = np.zeros((5, 5))
    big[:4, :4], big[:4, 4] = A.A, A.B[:, 0] * k
    big[4, 3], big[4, 4] = -k / INDUCTANCE, -RESISTANCE / INDUCTANCE
    expected = np.append(np.linalg.eigvals(big), 0.0)  # the charge
    for pole in expected:
        assert abs(poles - pole).min() < 1e-6 * max(1.0, abs(pole))


def test_parameters_of_a_copy():
    robot = wheel()
    other = robot.with_(parameters={"axle_winding.armature": 5e-3, "axle_winding.damping": 0.8})
    alike(other.forward_dynamics([0, 0], [0, 0], [0, 1.0])[1], 1.0 / 5e-3)
    alike(other.passive_forces([0, 0], [0, 1.0])[1], -0.8)
    (motor,) = dict(other.mechanism.actuators).values()
    assert (motor.motor.inductance, motor.motor.resistance) == (5e-3, 0.8)
    with pytest.raises(SettingsError, match="no dry friction"):
        robot.with_(parameters={"axle_winding.friction": 0.1})


def test_limits_and_units_are_those_of_voltages():
    robot = wheel()
    run = rd.simulate(robot, lambda t, q, v: [0.0, 50.0], duration=0.05, limits="enforce")
    assert run.tau[0].tolist() == [0.0, 24.0]
    run = rd.simulate(robot, lambda t, q, v: [0.0, 50.0], duration=0.05, limits="ignore")
    assert run.limit_violations[0].unit == "V"


def test_without_passive_forces_there_is_no_winding():
    robot = rd.load(wheel(elastic=rd.Elastic(100.0)).mechanism, passive=False)
    assert robot.joint_names == robot.actuated_joints == ("axle",)


@pytest.mark.parametrize(
    ("drive", "words"),
    [
        (rd.Actuator(command="voltage"), "no motor="),
        (rd.Actuator(motor=rd.Motor(0.1, 1.0), command="voltage"), "inductance=0"),
        (rd.Actuator(0.0, motor=MOTOR, command="voltage"), "gear_ratio=0"),
    ],
)
def test_motors_that_cannot_be(drive, words):
    with pytest.raises(ActuationError, match=words):
        rd.load("double_pendulum", actuators={"elbow": drive})


def test_places_where_none_can_be(tmp_path):
    drive = rd.Actuator(20.0, motor=MOTOR, command="voltage")
    wrist = rd.Transmission.differential("wrist", ["pan", "tilt"])
    with pytest.raises(ActuationError, match="'wrist'"):
        rd.load("pan_tilt", actuators={"pan": drive}, transmissions=[wrist])
    links = rd.Link("base"), rd.Link("axle_winding", rd.Inertia(1.0, ixx=1.0, iyy=1.0, izz=1.0))
    joint = rd.Joint("axle", "continuous", parent="base", child="axle_winding")
    mechanism = rd.Mechanism("wheel", links, (joint,), actuators=(("axle", drive),))
    with pytest.raises(TopologyError, match="'axle_winding' is taken"):
        rd.load(mechanism)
    robot = rd.load("double_pendulum", actuators={"elbow": drive})
    rd.convert(robot, tmp_path / "arm.urdf")
    again = rd.load(tmp_path / "arm.urdf")
    assert again.mechanism.actuators == robot.mechanism.actuators
    text = (tmp_path / "arm.urdf").read_text()
    (tmp_path / "arm.urdf").write_text(text.replace('command="voltage"', 'command="volts"'))
    with pytest.raises(UrdfError, match="volts"):
        rd.load(tmp_path / "arm.urdf")


def test_encoders_show_the_current_of_a_motor_commanded_by_voltage():
    motor = rd.Motor(0.06, 0.35, inductance=4e-3)
    encoders = rd.Sensor(lambda q, v, a: q, joint=["shoulder", "elbow"], name="encoders")
    drive = rd.Actuator(-50.0, 1e-3, motor=motor, command="voltage")
    robot = rd.load("double_pendulum", sensors=[encoders], actuators={"shoulder": drive})
    noise = [1e-12, 1e-12, 0.0, 1e-8, 1e-8, 1e-4]
    found = ExtendedKalmanFilter(robot, ["encoders"], noise, 1e-8, dt=1e-3)
    law = JointPD(
        robot, PointToPoint(np.zeros(3), np.zeros(3), 1.0), 0.0, [0, 0, 0.3], gravity=False
    )
    run = rd.simulate(robot, OutputFeedback(law, found), q0=[0.02, 0.05, 0.0], duration=0.5)
    assert abs(run.v[-1, 2]) > 0.05
    np.testing.assert_allclose(run.controller_state["velocity"][-1], run.v[-1], atol=1e-9)
