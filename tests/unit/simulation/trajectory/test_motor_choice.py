"""Motors and gears of a catalogue for a motion, and what the others lack."""

import dataclasses

import numpy as np
import pytest

import robodyn as rd
from robodyn.controllers import ComputedTorque, PointToPoint
from robodyn.errors import MissingFileError

ROWS = [
    {"name": "A", "gear_ratio": 60, "rotor_inertia": 1e-4, "efficiency": 0.8, "coulomb": 2e-3,
     "viscous": 1e-5, "torque_limit": 0.9, "rated_torque": 0.5, "speed_limit": 300,
     "gear_torque": 60, "torque_constant": 0.06, "resistance": 0.35, "current": 25,
     "voltage": 48, "winding_resistance": 0.8, "housing_resistance": 2.2,
     "winding_time_constant": 25, "housing_time_constant": 900, "temperature_limit": 120},
    {"name": "B", "gear_ratio": -30, "rotor_inertia": 5e-5, "torque_limit": 0.6},
]  # fmt: skip


@pytest.fixture(scope="module")
def run():
    """A swing of an arm whose motors are of no account."""
    motors = {"shoulder": rd.Actuator(100.0, 1e-3), "elbow": rd.Actuator(50.0, 1e-4)}
    robot = rd.load("double_pendulum", actuators=motors, friction_speed=1e-9)
    law = ComputedTorque(robot, PointToPoint([0.2, 0.3], [1.5, -0.5], 1.0))
    return rd.simulate(robot, law, q0=[0.2, 0.3], duration=1.2, limits="ignore")


@pytest.mark.parametrize("row", ROWS, ids=["electric", "backwards"])
def test_a_row_is_sized_as_the_motor_of_a_robot(run, row):
    """As where the robot has this motor and the motion takes what its torques then are."""
    electric = {x: row[x] for x in ("voltage", "current") if x in row}
    heat = rd.Winding((0.8, 2.2), (25.0, 900.0), 120.0)
    motor = rd.Motor(0.06, 0.35, **electric, thermal=heat) if electric else None
    fields = {x: row[x] for x in row if x in {y.name for y in dataclasses.fields(rd.Actuator)}}
    actuator = rd.Actuator(**{**fields, "name": ""}, motor=motor)
    motors = {"shoulder": actuator, "elbow": rd.Actuator(50.0, 1e-4)}
    robot = rd.load("double_pendulum", actuators=motors, friction_speed=1e-9)
    tau = robot.inverse_dynamics(run.q, run.v, run.a)
    there = rd.Trajectory(
        run.t, run.q, run.v, run.a, tau, joint_names=robot.joint_names, robot=robot
    )
    expected = there.sizing()["shoulder"]
    (found,) = run.motor_choice([row], joints=["shoulder"])
    assert found.peak_torque == pytest.approx(expected.peak_torque, rel=1e-6)
    assert found.rms_torque == pytest.approx(expected.rms_torque, rel=1e-3)
    assert found.peak_speed == pytest.approx(expected.peak_speed)
    limit = row["torque_limit"]
    assert found.margins["torque"] == pytest.approx(1.0 - expected.peak_torque / limit, rel=1e-5)
    if motor:
        warm = expected.electric.winding_temperature
        assert found.electric.winding_temperature == pytest.approx(warm, rel=1e-3)
        assert found.margins["temperature"] == pytest.approx(1.0 - (warm - 25.0) / 95.0, rel=1e-2)
        assert found.margins["current"] == pytest.approx(
            1.0 - expected.electric.peak_current / 25.0, rel=1e-5
        )
        load = np.abs(run.tau[:, 0] - 100.0**2 * 1e-3 * run.a[:, 0]).max()
        assert found.margins["gear torque"] == pytest.approx(1.0 - load / 60.0, rel=1e-6)


def test_what_fits_and_what_is_lacking(run):
    choice = run.motor_choice(ROWS)
    assert [(x.joint, x.name) for x in choice] == [
        ("shoulder", "A"), ("shoulder", "B"), ("elbow", "A"), ("elbow", "B"),
    ]  # fmt: skip
    assert choice.fitting["shoulder"] == ("A",)
    weak = choice[1]
    assert not weak.fits and weak.lacks["torque"] == pytest.approx(weak.peak_torque / 0.6 - 1.0)
    assert "shoulder: B lacks torque" in str(weak) and "fits" in str(choice[0])
    assert "least margin" in str(choice) and "<table" in choice._repr_html_()
    assert repr(choice) == "<MotorChoice of 4 candidates, 3 fit>"


def test_tables_in_files(run, tmp_path):
    """Motors and gears in tables of their own: each with each."""
    motors, gears = tmp_path / "motors.csv", tmp_path / "gears.csv"
    motors.write_text("name, rotor_inertia, torque_limit\nsmall, 5e-5, 0.4\nlarge, 2e-4, 1.5\n")
    gears.write_text("name, gear_ratio, efficiency\nworm, 60, 0.45\nbelt, 20,\n")
    choice = run.motor_choice(motors, gears=gears, joints=["shoulder"])
    names = ["small + worm", "small + belt", "large + worm", "large + belt"]
    assert [x.name for x in choice] == names
    direct = {"name": "x", "rotor_inertia": 2e-4, "gear_ratio": 20, "torque_limit": 1.5}
    (one,) = run.motor_choice([direct], joints=["shoulder"])
    assert choice[3].margins == one.margins


@pytest.mark.parametrize(
    ("row", "error", "words"),
    [
        ({"gear_ration": 3}, rd.UnknownNameError, "gear_ration"),
        ({"gear_ratio": "many"}, rd.ShapeError, "'many' in row 0"),
        ({"gear_ratio": 0}, rd.ActuationError, "row 0 of the catalogue: gear_ratio=0"),
        ({"efficiency": 1.5}, rd.ActuationError, "row 0"),
        ({"rotor_inertia": -1}, rd.ActuationError, "not negative"),
        ({"current": 5}, rd.ActuationError, "no torque_constant"),
        ({"torque_constant": 0.1}, rd.ActuationError, "no resistance"),
        ({"torque_constant": 0.1, "resistance": -1}, rd.ActuationError, "resistance=-1"),
        (
            {"torque_constant": 0.1, "resistance": 1, "winding_resistance": 1},
            rd.ActuationError,
            "housing_resistance",
        ),
    ],
)
def test_rows_that_cannot_be(run, row, error, words):
    with pytest.raises(error, match=words):
        run.motor_choice([row])


def test_what_cannot_be_looked_at(run, tmp_path):
    with pytest.raises(MissingFileError, match="nosuch"):
        run.motor_choice(tmp_path / "nosuch.csv")
    with pytest.raises(rd.ShapeError, match="no rows"):
        run.motor_choice([])
    with pytest.raises(rd.ShapeError, match="both tables"):
        run.motor_choice([{"gear_ratio": 1}], gears=[{"gear_ratio": 2}])
    with pytest.raises(rd.UnknownNameError, match="shoulders"):
        run.motor_choice(ROWS, joints=["shoulders"])
    motor = rd.Actuator(50, 2e-4, elastic=rd.Elastic(2e3))
    soft = rd.load("double_pendulum", actuators={"shoulder": motor})
    swing = rd.simulate(soft, duration=0.01)
    with pytest.raises(rd.ActuationError, match="elastic"):
        swing.motor_choice(ROWS)
    wrist = rd.Transmission.differential("wrist", ["pan", "tilt"])
    coupled = rd.simulate(rd.load("pan_tilt", transmissions=[wrist]), duration=0.01)
    with pytest.raises(rd.ActuationError, match="'wrist'"):
        coupled.motor_choice(ROWS)


@pytest.mark.slow
@pytest.mark.parametrize("coordinates", ["tree", "minimal"])
def test_motors_of_a_linkage(coordinates):
    """Of a hexapod, whose motors are at joints that follow others in minimal coordinates."""
    robot = rd.load("stewart", coordinates=coordinates)
    push = robot.actuation_matrix(robot.neutral()) @ np.full(6, 100.0)
    run = rd.simulate(robot, lambda t, q, v: push, duration=0.05, limits="ignore")
    row = {"name": "same", "gear_ratio": 628.318530718, "rotor_inertia": 6e-05}
    found = {x.joint: x for x in run.motor_choice([row])}
    table = rd.Trajectory(
        run.t, run.q, run.v, run.a, robot.inverse_dynamics(run.q, run.v, run.a),
        joint_names=robot.joint_names, robot=robot,
    ).sizing()  # fmt: skip
    for name, row in table.items():
        assert found[name].peak_torque == pytest.approx(row.peak_torque, rel=1e-2)
        assert found[name].peak_speed == pytest.approx(row.peak_speed, rel=1e-9)
