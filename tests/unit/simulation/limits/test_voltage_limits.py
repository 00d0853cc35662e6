"""Motors at their largest voltage: what is left of it by the speed of the motor."""

import numpy as np
import pytest
from support.bundled import bundled

import robodyn as rd
from robodyn.errors import LimitWarning

CONSTANT, RESISTANCE, VOLTAGE, CURRENT, RATIO, WHEEL = 0.05, 0.3, 24.0, 30.0, 20.0, 1.5
MOTOR = rd.Motor(CONSTANT, RESISTANCE, voltage=VOLTAGE, current=CURRENT)


def wheel(ratio=RATIO, motor=MOTOR):
    links = rd.Link("base"), rd.Link("wheel", rd.Inertia(1.0, ixx=1.0, iyy=WHEEL, izz=1.0))
    joint = rd.Joint("axle", "continuous", parent="base", child="wheel", axis=(0, 1, 0))
    drive = rd.Actuator(ratio, motor=motor)
    mechanism = rd.Mechanism("wheel", links, (joint,), actuators=(("axle", drive),))
    return rd.load(mechanism, gravity=(0, 0, 0))


@pytest.mark.parametrize("ratio", [RATIO, -RATIO])
def test_a_motor_at_its_voltage_approaches_its_speed_at_no_load(ratio):
    """By steps of constant torque: v_n = v (1 - (1 - h/T)^n), T = J R / (N k)^2, once unlimited."""
    robot, h = wheel(ratio, rd.Motor(CONSTANT, RESISTANCE, voltage=VOLTAGE)), 1e-3
    run = rd.simulate(
        robot, lambda t, q, v: [1e4], duration=0.4, step=h, limits="enforce", integrator="rk4"
    )
    top, constant = VOLTAGE / CONSTANT / RATIO, WHEEL * RESISTANCE / (RATIO * CONSTANT) ** 2
    n = np.arange(len(run.t))
    np.testing.assert_allclose(run.v[:, 0], top * (1.0 - (1.0 - h / constant) ** n), rtol=1e-9)
    assert run.sizing()["axle"].electric.peak_voltage == pytest.approx(VOLTAGE)


def test_the_current_counts_first():
    robot = wheel()
    run = rd.simulate(robot, lambda t, q, v: [1e4], duration=2.0, limits="enforce")
    assert run.tau[0, 0] == pytest.approx(CURRENT * CONSTANT * RATIO)
    row = run.sizing()["axle"].electric
    assert row.peak_current == pytest.approx(CURRENT)
    assert row.peak_voltage == pytest.approx(VOLTAGE)


def test_a_motor_that_is_too_fast_brakes():
    """Its back-EMF is above the voltage: a current flows back, whatever is asked for."""
    run = rd.simulate(wheel(), lambda t, q, v: [0.0], v0=[30.0], duration=0.01, limits="enforce")
    excess = CONSTANT * 30.0 * RATIO - VOLTAGE
    assert run.tau[0, 0] == pytest.approx(-RATIO * CONSTANT * excess / RESISTANCE)


def test_what_is_not_enforced_is_reported():
    with pytest.warns(LimitWarning, match="motor voltage of 'axle' is"):
        run = rd.simulate(wheel(), lambda t, q, v: [25.0], duration=2.0)
    (found,) = run.limit_violations
    assert found.unit == "V" and found.bound == VOLTAGE
    voltage = RESISTANCE * 25.0 / RATIO / CONSTANT + CONSTANT * RATIO * run.v[:, 0]
    assert found.start == pytest.approx(run.t[np.argmax(voltage > VOLTAGE * (1.0 + 1e-9))])


def test_motors_of_a_transmission():
    """Each turns with both joints, and has its own voltage."""
    volts = 3.0
    drive = rd.Actuator(RATIO, motor=rd.Motor(CONSTANT, RESISTANCE, voltage=volts))
    wrist = rd.Transmission.differential("wrist", ["pan", "tilt"])
    robot = rd.load(
        "pan_tilt", actuators=dict.fromkeys(("pan", "tilt"), drive), transmissions=[wrist]
    )
    run = rd.simulate(
        robot, lambda t, q, v: [50.0, -20.0], v0=[0.6, 0.5], duration=0.02, limits="enforce"
    )
    G = robot.transmission_matrix
    wanted = np.linalg.solve(G.T, [50.0, -20.0])
    against = CONSTANT * (run.v @ G.T)
    gain = CONSTANT / RESISTANCE
    torques = np.clip(wanted, gain * (-volts - against), gain * (volts - against))
    np.testing.assert_allclose(run.tau, torques @ G, rtol=1e-9)
    assert abs(run.tau - [50.0, -20.0]).max() > 0.1


def test_motors_at_followers_are_refused():
    robot = rd.load(
        "stewart", coordinates="minimal",
        actuators={x: rd.Actuator(300.0, motor=MOTOR) for x in bundled("stewart").actuated_joints},
    )  # fmt: skip
    with pytest.raises(rd.SettingsError, match="follow others"):
        rd.simulate(robot, duration=0.01, limits="enforce")
