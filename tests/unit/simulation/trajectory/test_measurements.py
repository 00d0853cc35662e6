"""What sensors show along a motion: at its samples, in tables and in pictures."""

import csv
import dataclasses

import numpy as np
import pytest

import robodyn as rd
from robodyn.simulation.trajectory.files import table
from robodyn.simulation.trajectory.panels import panel

SENSORS = (
    rd.Sensor("imu", at="coupler", name="imu"),
    rd.Sensor("wrench", joint="rocker_pin", name="pin"),
    rd.Sensor("distance", at="coupler", relative_to="world", name="range"),
)


@pytest.fixture(scope="module")
def run():
    robot = rd.load("four_bar", sensors=SENSORS)
    push = {"rocker": np.array([1.0, 2.0, 0.0, 0.0, 0.0, 0.3])}
    return rd.simulate(
        robot, lambda t, q, v: [0.5, 0.2, 0], duration=0.01, wrenches=push, limits="ignore"
    )


def test_measurements_are_those_of_the_robot_at_each_sample(run):
    shown = run.measurements
    assert {name: x.shape for name, x in shown.items()} == {
        "imu": (11, 6), "pin": (11, 6), "range": (11, 1)
    }  # fmt: skip
    for name in ("imu", "range"):
        one = run.robot.measure(run.q[4], run.v[4], run.a[4], sensors=[name])[name]
        np.testing.assert_allclose(shown[name][4], one, rtol=1e-12, atol=1e-12)
        np.testing.assert_allclose(run[4].measurements[name], one, rtol=1e-12, atol=1e-12)
        np.testing.assert_allclose(run[3:6].measurements[name][1], one, rtol=1e-12, atol=1e-12)
    wrench = run.joint_wrenches(["rocker_pin"])["rocker_pin"]
    np.testing.assert_allclose(shown["pin"], wrench, rtol=1e-10, atol=1e-10)


def test_wrenches_from_outside_count_on_a_tree_as_well():
    push = {"lower": np.array([1.0, 0.0, 2.0, 0.0, 0.3, 0.0])}
    robot = rd.load("double_pendulum", sensors=[rd.Sensor("wrench", joint="elbow", name="elbow")])
    run = rd.simulate(robot, q0=[0.3, 0.2], duration=0.003, step=1e-3, wrenches=push)
    expected = run.joint_wrenches(["elbow"])["elbow"]
    np.testing.assert_allclose(run.measurements["elbow"], expected, rtol=1e-12, atol=1e-12)


def test_columns_of_a_table(run, tmp_path, monkeypatch):
    monkeypatch.setattr(table, "BLOCK", 4)  # rows that are written at once
    run.save(tmp_path / "run.csv")
    with open(tmp_path / "run.csv", newline="") as file:
        head, *lines = csv.reader(file)
    assert head[-13] == "sensor:imu.fx [m/s^2]" and head[-1] == "sensor:range.distance [m]"
    numbers = np.array(lines, float)
    np.testing.assert_allclose(numbers[:, -13:-7], run.measurements["imu"], rtol=1e-15)
    again = rd.Trajectory.load(tmp_path / "run.csv", run.robot)
    assert again.q.shape == run.q.shape
    run.save(tmp_path / "run.npz")
    again = rd.Trajectory.load(tmp_path / "run.npz", run.robot)
    for name, x in again.measurements.items():
        np.testing.assert_allclose(x, run.measurements[name], rtol=1e-12, atol=1e-12)
    alone = dataclasses.replace(run, robot=None)
    alone.save(tmp_path / "alone.csv")
    with pytest.raises(rd.SettingsError, match="does not know what moved"):
        _ = alone.measurements


def test_several_motions_and_pieces_of_one(run):
    robot = run.robot
    q0 = np.stack([robot.neutral()] * 3)
    v0 = robot.consistent_velocity(q0, np.eye(3)[:1] * np.arange(3.0)[:, None])
    runs = rd.rollout(robot, None, q0, v0, duration=0.002, step=1e-3, limits="ignore")
    assert runs.measurements["pin"].shape == (3, 3, 6)
    one = runs.motion(2).measurements
    for name, x in runs.measurements.items():
        np.testing.assert_allclose(x[:, 2], one[name], rtol=1e-9, atol=1e-9)
    sensors = [rd.Sensor("imu", at="lower", name="imu")]
    pendulum = rd.load("double_pendulum", sensors=sensors)
    heavy = pendulum.with_(payload={"lower": rd.Inertia(1.0)})
    event = rd.Event(when=lambda t, q, v: t - 0.0055, then=rd.events.become(heavy))
    parts = rd.simulate(pendulum, q0=[0.3, 0.2], duration=0.01, events=[event])
    assert len(parts.phases) == 2
    assert parts.measurements["imu"].shape == (len(parts), 6)
    assert rd.simulate(rd.load("double_pendulum"), duration=0.002).measurements == {}


def test_a_panel_of_a_sensor(run):
    shown = panel(run, "sensor: imu")
    assert shown.names == ("fx", "fy", "fz", "wx", "wy", "wz")
    np.testing.assert_allclose(shown.values, run.measurements["imu"])
    with pytest.raises(rd.UnknownNameError, match="did you mean 'sensor: imu'"):
        panel(run, "sensor: imo")
