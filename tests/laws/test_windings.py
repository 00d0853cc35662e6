"""Motors that are commanded by voltage: the current is a speed, and makes the torque."""

import dataclasses

import numpy as np
import pytest
from scipy.linalg import expm, solve_continuous_are, solve_discrete_are
from support.comparison import close_within

import robodyn as rd
from robodyn.controllers import (
    LQR,
    ComputedTorque,
    ExtendedKalmanFilter,
    GravityCompensation,
    JointPD,
    KalmanFilter,
    OutputFeedback,
    PassivityBased,
    PointToPoint,
    Sampled,
)
from robodyn.errors import ActuationError

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
    assert model.states == ("q:axle", "v:axle", "v:axle_winding") == model.outputs
    big = np.zeros((3, 3))
    big[0, 1], big[1:, 1:] = 1.0, A
    alike(model.A, big)
    alike(model.B[:, 0], [0.0, *b])
    alike(np.sort_complex(model.poles), np.sort_complex(np.linalg.eigvals(big)))
    again = robot.linearize([0.3, 0.2], [0, 0], [0, 0])  # by code
    assert again.states == model.states
    alike(again.A, big)
    many = robot.linearize(np.zeros((3, 2)), np.zeros((3, 2)), np.zeros((3, 2)))
    alike(many.A, np.tile(big, (3, 1, 1)))


def test_the_charge_is_a_state_where_it_is_shown():
    counter = rd.Sensor(lambda q, v, a: q, joint=["axle_winding"], name="charge")
    robot = rd.load(wheel().mechanism, sensors=[counter], gravity=(0, 0, 0))
    rest = np.zeros(2)
    for shown in ("axle_winding", "charge"):
        model = robot.linearize(rest, rest, rest, outputs=[shown])
        assert model.states == ("q:axle", "q:axle_winding", "v:axle", "v:axle_winding")
        alike(model.C, [[0, 1, 0, 0]])
    assert len(robot.linearize(rest, rest, rest, outputs=["axle"]).states) == 3
    law = JointPD(robot, PointToPoint(rest, rest, 1.0), [0, 4.0], [0, 0.5], gravity=False)
    A, b = equations()
    hand = np.zeros((4, 4))  # angle, charge, speed, current
    hand[:2, 2:], hand[2:, 2:] = np.eye(2), A
    hand[3] -= b[1] * np.array([0.0, 4.0, 0.0, 0.5])
    loop = rd.closed_loop_model(robot, law, rest)
    assert loop.states == ("q:axle", "q:axle_winding", "v:axle", "v:axle_winding")
    alike(np.sort_complex(loop.poles), np.sort_complex(np.linalg.eigvals(hand)))
    angle = rd.Sensor(lambda q, v, a: q, joint=["axle"], name="angle")
    robot = robot.with_(sensors=[counter, angle])
    found = ExtendedKalmanFilter(robot, ["charge", "angle"], 1e-6, 1e-6, dt=1e-3)
    assert found.states == loop.states
    found = ExtendedKalmanFilter(robot, ["angle"], 1e-6, 1e-6, dt=1e-3)
    assert found.states == ("q:axle", "v:axle", "v:axle_winding")


def test_regulators_and_filters_know_the_current_and_not_the_charge():
    """Against the Riccati equations of the matrices by hand, and a motion."""
    encoder = rd.Sensor(lambda q, v, a: q, joint=["axle"], name="encoder")
    robot = rd.load(wheel().mechanism, sensors=[encoder], gravity=(0, 0, 0))
    A, b = equations()
    big, B = np.zeros((3, 3)), np.array([[0.0], [0.0], [b[1]]])
    big[0, 1], big[1:, 1:] = 1.0, A
    rest, C = np.zeros(2), np.array([[1.0, 0.0, 0.0]])
    law = LQR(robot, rest)
    expected = solve_continuous_are(big, B, np.eye(3), np.eye(1))
    alike(law.gains, B.T @ expected)
    loop = rd.closed_loop_model(robot, law, rest)
    assert loop.states == ("q:axle", "v:axle", "v:axle_winding")
    alike(np.sort_complex(loop.poles), np.sort_complex(np.linalg.eigvals(big - B @ law.gains)))
    dt, model = 1e-3, robot.linearize(rest, rest, rest, outputs=["encoder"])
    found = KalmanFilter(model, [1e-9, 1e-6, 1e-4], 1e-8, dt=dt)
    P = solve_discrete_are(expm(dt * big).T, C.T, np.diag([1e-9, 1e-6, 1e-4]), 1e-8 * np.eye(1))
    close_within(1e-7)(found.gains, P @ C.T / (C @ P @ C.T + 1e-8))
    seen = OutputFeedback(LQR(robot, rest, dt=dt), found)
    loop = rd.closed_loop_model(robot, seen, rest, dt=dt)
    own = [np.linalg.eigvals(found.sampled.A @ (np.eye(3) - found.gains @ C))]
    sampled = seen.law.model
    own.append(np.linalg.eigvals(sampled.A - sampled.B @ seen.law.gains))
    for pole in np.concatenate(own):
        assert abs(loop.poles - pole).min() < 1e-7
    late = rd.closed_loop_model(robot, Sampled(seen, dt, delay=0.3 * dt), rest)
    assert loop.stability == late.stability == "stable"
    assert "q:axle_winding" not in (*loop.states, *late.states, *late.outputs)
    run = rd.simulate(robot, seen, q0=[0.2, 0.0], duration=8.0, step=dt)
    assert (
        abs(run.q[-1, 0]) < 1e-3
        and abs(run.controller_state["velocity"][-1] - run.v[-1]).max() < 1e-3
    )


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
    alike(np.sort_complex(poles), np.sort_complex(np.linalg.eigvals(big)))
    tree = rd.load("four_bar", actuators={"crank_drive": drive})
    model = tree.linearize(tree.neutral(), np.zeros(tree.nv), None)
    assert "q:crank_drive_winding" not in model.states and len(model.states) == 5
    alike(np.sort_complex(model.poles), np.sort_complex(np.linalg.eigvals(big)))


@pytest.mark.parametrize("options", [{}, {"coordinates": "minimal"}])
def test_a_regulator_holds_a_linkage_by_the_currents_that_this_takes(options):
    drive = rd.Actuator(20.0, 2e-5, motor=MOTOR, command="voltage")
    robot = rd.load("four_bar", actuators={"crank_drive": drive}, **options)
    plain = rd.load("four_bar", actuators={"crank_drive": rd.Actuator(20.0, 2e-5)}, **options)
    p = plain.assemble(np.full(plain.nq, 0.4))
    q = np.zeros(robot.nq)
    for name in plain.joint_names:
        q[robot.joints[name].q] = p[plain.joints[name].q]
    torque = plain.inverse_dynamics(p, np.zeros(plain.nv), np.zeros(plain.nv))
    crank = torque[plain.joints["crank_drive"].v][0]
    law = LQR(robot, q)
    _, currents, volts = law.nominal(0.0)
    own = robot.joints["crank_drive_winding"].v
    assert abs(crank) > 0.05
    alike(currents[own], crank / (20.0 * CONSTANT))
    alike(volts[own], RESISTANCE * currents[own])
    alike(LQR(robot, q, tau=volts).nominal(0.0)[1], currents)
    assert rd.closed_loop_model(robot, law, q, currents).stability == "stable"
    run = rd.simulate(robot, law, q0=q, v0=currents, duration=0.2, step=1e-3)
    close_within(1e-7)(run.v, np.tile(currents, (len(run), 1)))


def test_parameters_of_a_copy():
    robot = wheel()
    other = robot.with_(parameters={"axle_winding.armature": 5e-3, "axle_winding.damping": 0.8})
    alike(other.forward_dynamics([0, 0], [0, 0], [0, 1.0])[1], 1.0 / 5e-3)
    alike(other.passive_forces([0, 0], [0, 1.0])[1], -0.8)
    (motor,) = dict(other.mechanism.actuators).values()
    assert (motor.motor.inductance, motor.motor.resistance) == (5e-3, 0.8)
    with pytest.raises(rd.SettingsError, match="no dry friction"):
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
    with pytest.raises(rd.ActuationError, match=words):
        rd.load("double_pendulum", actuators={"elbow": drive})


def test_places_where_none_can_be(tmp_path):
    drive = rd.Actuator(20.0, motor=MOTOR, command="voltage")
    wrist = rd.Transmission.differential("wrist", ["pan", "tilt"])
    with pytest.raises(rd.ActuationError, match="'wrist'"):
        rd.load("pan_tilt", actuators={"pan": drive}, transmissions=[wrist])
    links = rd.Link("base"), rd.Link("axle_winding", rd.Inertia(1.0, ixx=1.0, iyy=1.0, izz=1.0))
    joint = rd.Joint("axle", "continuous", parent="base", child="axle_winding")
    mechanism = rd.Mechanism("wheel", links, (joint,), actuators=(("axle", drive),))
    with pytest.raises(rd.TopologyError, match="'axle_winding' is taken"):
        rd.load(mechanism)
    robot = rd.load("double_pendulum", actuators={"elbow": drive})
    rd.convert(robot, tmp_path / "arm.urdf")
    again = rd.load(tmp_path / "arm.urdf")
    assert again.mechanism.actuators == robot.mechanism.actuators
    text = (tmp_path / "arm.urdf").read_text()
    (tmp_path / "arm.urdf").write_text(text.replace('command="voltage"', 'command="volts"'))
    with pytest.raises(rd.UrdfError, match="volts"):
        rd.load(tmp_path / "arm.urdf")


def test_encoders_show_the_current_of_a_motor_commanded_by_voltage():
    motor = rd.Motor(0.06, 0.35, inductance=4e-3)
    encoders = rd.Sensor(lambda q, v, a: q, joint=["shoulder", "elbow"], name="encoders")
    drive = rd.Actuator(-50.0, 1e-3, motor=motor, command="voltage")
    robot = rd.load("double_pendulum", sensors=[encoders], actuators={"shoulder": drive})
    noise = [1e-12, 1e-12, 1e-8, 1e-8, 1e-4]
    found = ExtendedKalmanFilter(robot, ["encoders"], noise, 1e-8, dt=1e-3)
    law = JointPD(
        robot, PointToPoint(np.zeros(3), np.zeros(3), 1.0), 0.0, [0, 0, 0.3], gravity=False
    )
    run = rd.simulate(robot, OutputFeedback(law, found), q0=[0.02, 0.05, 0.0], duration=0.5)
    assert abs(run.v[-1, 2]) > 0.05
    np.testing.assert_allclose(run.controller_state["velocity"][-1], run.v[-1], atol=1e-9)


def test_laws_of_torques_refuse_motors_commanded_by_voltage():
    robot, rest = wheel(), np.zeros(2)
    still = PointToPoint(rest, rest, 1.0)
    for made in (
        lambda: GravityCompensation(robot),
        lambda: JointPD(robot, still, 10.0, 1.0),
        lambda: ComputedTorque(robot, still),
        lambda: PassivityBased(robot, still, gain=1.0),
        lambda: robot.acceleration_for([rd.Task(np.eye(4), frame="wheel")], np.zeros(2), rest),
    ):
        with pytest.raises(ActuationError, match=r"\(axle_winding\).*command='torque'"):
            made()
    (drive,) = (x for _, x in robot.mechanism.actuators)
    torque = robot.with_(actuators={"axle": dataclasses.replace(drive, command="torque")})
    ComputedTorque(torque, PointToPoint([0.0], [1.0], 1.0))  # as it says
    LQR(robot, np.zeros(2))
