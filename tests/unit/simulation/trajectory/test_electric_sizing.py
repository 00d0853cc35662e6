"""Currents, voltages, losses and temperatures of the motors in a motion."""

import math

import numpy as np
import pytest
from scipy.linalg import expm

import robodyn as rd

RATIO, CONSTANT, RESISTANCE, INDUCTANCE = 40.0, 0.08, 0.5, 2e-3
WINDING = rd.Winding((1.5, 4.0), (20.0, 700.0), 155.0)
MOTOR = rd.Motor(
    CONSTANT, RESISTANCE, inductance=INDUCTANCE, voltage=60.0, current=15.0, thermal=WINDING
)


def arm(**more):
    motor = rd.Actuator(gear_ratio=RATIO, motor=MOTOR, **more)
    return rd.load("double_pendulum", actuators={"shoulder": rd.Actuator(2.0), "elbow": motor})


def motion(t, torque, speed, robot=None):
    """Of the elbow: torque and speed at the joint, whatever forces it takes."""
    robot = robot or arm()
    tau, v = (np.stack([0.0 * t, x + 0.0 * t], axis=-1) for x in (torque, speed))
    return rd.Trajectory(t, 0.0 * v, v, 0.0 * v, tau, joint_names=robot.joint_names, robot=robot)


def test_of_a_constant_duty():
    """Current, voltage and loss of one torque at one speed, and the heat of both bodies."""
    t = np.linspace(0.0, 3000.0, 301)
    table = motion(t, 32.0, 2.0).sizing(ambient=30.0)
    row = table["elbow"].electric
    current = 32.0 / RATIO / CONSTANT
    voltage = RESISTANCE * current + CONSTANT * 2.0 * RATIO
    loss = RESISTANCE * current**2
    assert row.peak_current == row.rms_current == pytest.approx(current)
    assert row.peak_voltage == pytest.approx(voltage)
    assert row.copper_loss == pytest.approx(loss)
    assert row.peak_supply == table.supply_peak == pytest.approx(voltage * current)
    assert row.energy_drawn == pytest.approx(voltage * current * 3000.0)
    assert row.energy_fed_back == 0.0
    assert row.winding_temperature == pytest.approx(30.0 + loss * (1.5 + 4.0))
    assert (row.current_limit, row.voltage_limit, row.temperature_limit) == (15.0, 60.0, 155.0)
    assert not row.fits  # 305 degrees
    assert row.utilisation["current"] == pytest.approx(10.0 / 15.0)
    assert table.lacks == {"elbow": {"temperature": pytest.approx(275.0 / 125.0 - 1.0)}}
    assert motion(t, 16.0, 2.0).sizing()["elbow"].electric.fits
    # winding and housing by the exponential of their equations
    c1, c2 = 20.0 / 1.5, 700.0 / 4.0
    A = np.array([[-1 / 1.5 / c1, 1 / 1.5 / c1], [1 / 1.5 / c2, -(1 / 1.5 + 1 / 4.0) / c2]])
    still = -np.linalg.solve(A, [loss / c1, 0.0])
    expected = [30.0 + ((np.eye(2) - expm(A * x)) @ still)[0] for x in t]
    np.testing.assert_allclose(table.temperatures[:, 1], expected, rtol=1e-10)


def test_a_duty_that_is_repeated_is_warmest_at_the_end_of_its_load():
    """On and off for half of each period: the temperature repeats, and its mean is the mean's."""
    period = 8.0
    t = np.concatenate([np.linspace(0.0, 4.0, 81), np.linspace(4.0, period, 81)])
    on = np.arange(162) < 81
    row = motion(t, np.where(on, 32.0, 0.0), 0.0).sizing()["elbow"].electric
    loss, (r1, r2) = RESISTANCE * 100.0, WINDING.resistances
    c1, c2 = 20.0 / r1, 700.0 / r2
    A = np.array([[-1 / r1 / c1, 1 / r1 / c1], [1 / r1 / c2, -(1 / r1 + 1 / r2) / c2]])
    half = expm(A * 4.0)
    warmed = (np.eye(2) - half) @ -np.linalg.solve(A, [loss / c1, 0.0])
    start = np.linalg.solve(np.eye(2) - half @ half, half @ warmed)
    assert row.winding_temperature == pytest.approx(25.0 + (half @ start + warmed)[0], rel=1e-9)
    assert row.copper_loss == pytest.approx(loss / 2)


def test_of_a_motor_that_swings():
    """Of 32 sin t at 3 cos t: it draws and feeds back, and the inductance takes voltage."""
    t = np.linspace(0.0, 2.0 * np.pi, 20001)
    table = motion(t, 32.0 * np.sin(t), 3.0 * np.cos(t)).sizing()
    row = table["elbow"].electric
    current = 32.0 / RATIO / CONSTANT
    cosine = CONSTANT * 3.0 * RATIO + INDUCTANCE * current
    assert row.rms_current == pytest.approx(current / math.sqrt(2.0))
    assert row.peak_voltage == pytest.approx(math.hypot(RESISTANCE * current, cosine), rel=1e-6)
    net = row.energy_drawn - row.energy_fed_back
    assert net == pytest.approx(RESISTANCE * current**2 * np.pi, rel=1e-6)
    assert row.energy_fed_back > 0.1
    power = (table.currents * table.voltages)[:, 1]
    np.testing.assert_allclose(table.supply, power)
    assert table.supply_peak == pytest.approx(power.max())


def test_what_gears_lose():
    """Of a drive forwards, and back: shares of its power by both efficiencies."""
    t = np.linspace(0.0, 1.0, 11)
    robot = arm(efficiency=0.8, backward_efficiency=0.6)
    found = motion(t, 10.0, 2.0, robot).sizing()["elbow"]
    assert found.gear_loss == pytest.approx(0.2 * 20.0)
    found = motion(t, -10.0, 2.0, robot).sizing()["elbow"]  # 10 is 0.6 of what the joint gives
    assert found.gear_loss == pytest.approx(0.4 / 0.6 * 20.0)


def test_tables_and_motors_that_are_none():
    t = np.linspace(0.0, 1.0, 11)
    table = motion(t, 10.0, 2.0).sizing()
    assert table["shoulder"].electric is None and np.isnan(table.currents[:, 0]).all()
    assert "peak current" in str(table) and "°C" in str(table)
    plain = rd.load("double_pendulum", actuators={"elbow": rd.Actuator(RATIO)})
    without = motion(t, 10.0, 2.0, plain).sizing()
    assert "current" not in str(without) and without.supply_peak == 0.0
    frame = table.to_pandas()
    assert frame.loc["elbow", "peak_current"] == table["elbow"].electric.peak_current
    assert "peak_current" not in without.to_pandas()


def test_of_simultaneous_motions_the_largest_counts():
    t = np.linspace(0.0, 1.0, 11)
    one, two = motion(t, 10.0, 2.0), motion(t, 20.0, 1.0)
    fields = {x: np.stack([getattr(one, x), getattr(two, x)], axis=1) for x in ("q", "v", "a")}
    tau = np.stack([one.tau, two.tau], axis=1)
    both = rd.Trajectory(t, **fields, tau=tau, joint_names=one.joint_names, robot=one.robot)
    row, last = both.sizing()["elbow"].electric, two.sizing()["elbow"].electric
    assert row.peak_current == last.peak_current
    assert row.winding_temperature == pytest.approx(last.winding_temperature)


def test_a_single_state_is_a_duty_that_lasts():
    table = motion(np.zeros(1), 32.0, 0.0).sizing()
    assert table["elbow"].electric.winding_temperature == pytest.approx(25.0 + 50.0 * 5.5)


def test_currents_are_a_limit_of_torques():
    assert arm().motor_torque_limits.tolist() == [math.inf, 15.0 * CONSTANT]
    assert arm(torque_limit=0.5).motor_torque_limits.tolist() == [math.inf, 0.5]


def test_surroundings_that_are_too_warm():
    table = motion(np.linspace(0.0, 1.0, 3), 1.0, 0.0).sizing(ambient=160.0)
    assert table.lacks == {"elbow": {"temperature": math.inf}}


def test_a_voltage_needs_a_resistance():
    with pytest.raises(rd.ActuationError, match="resistance=0"):
        rd.Motor(0.1, 0.0, voltage=24.0)
