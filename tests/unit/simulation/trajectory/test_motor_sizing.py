"""The motor table of a motion, and its picture."""

import dataclasses
import math

import numpy as np
import pytest
from support.bundled import bundled

import robodyn as rd
from robodyn.controllers import GravityCompensation

RATIO, TOP = -50.0, 0.9
T = np.linspace(0.0, 2.0 * np.pi, 2001)


@pytest.fixture(scope="module")
def robot():
    motor = rd.Actuator(gear_ratio=RATIO, torque_limit=TOP)
    return rd.load("double_pendulum", actuators={"elbow": motor})


def motion(robot, torque, speed):
    """Of the elbow, whatever forces it takes."""
    nothing = np.zeros_like(torque)
    tau, v = (np.stack([nothing, x], axis=-1) for x in (torque, speed))
    return rd.Trajectory(T, v, v, v, tau, joint_names=robot.joint_names, robot=robot)


def test_numbers_of_a_motor_that_swings(robot):
    """Of 40 sin t at 3 cos t: P = 60 sin 2t; the mean of |cos t| is 2 / pi."""
    run = motion(robot, 40.0 * np.sin(T), 3.0 * np.cos(T))
    (row,) = run.sizing().rows
    assert (row.motor, row.torque_unit, row.speed_unit) == ("elbow", "N m", "rad/s")
    assert row.gear_ratio == RATIO
    assert row.peak_torque == pytest.approx(0.8, rel=1e-6)
    assert row.rms_torque == pytest.approx(0.8 / math.sqrt(2.0), rel=1e-6)
    assert row.peak_speed == pytest.approx(150.0)
    assert row.mean_speed == pytest.approx(150.0 * 2.0 / math.pi, rel=1e-5)
    assert row.peak_power == pytest.approx(60.0, rel=1e-5)
    assert row.braking_power == pytest.approx(60.0, rel=1e-5)
    assert row.torque_limit == TOP and row.torque_utilisation == pytest.approx(0.8 / TOP, rel=1e-6)
    assert row.speed_limit == math.inf and row.speed_utilisation == 0.0


@pytest.mark.parametrize(
    ("ratio", "units", "label"),
    [
        (628.0, ("N m", "rad/s"), "motor torque [N m]"),
        (-628.0, ("N m", "rad/s"), "motor torque [N m]"),
        (1.0, ("N", "m/s"), "motor force [N]"),
    ],
)
def test_a_motor_behind_a_spindle_turns(ratio, units, label):
    """Its ratio is in rad/m; that of a linear motor is 1."""
    motor = rd.Actuator(gear_ratio=ratio, rotor_inertia=0.0)
    lift = rd.load("scara", actuators={"lift": motor})
    run = rd.simulate(lift, GravityCompensation(lift), duration=0.01)
    row = run.sizing()["lift"]
    assert (row.torque_unit, row.speed_unit) == units
    axes = run.plot(panels=["motor torques"]).axes
    assert label in [axis.get_ylabel() for axis in axes]


def test_motors_behind_joints_of_several_speeds_have_their_names(delta):
    """The drives of a delta stand at other places among its speeds than among its joints."""
    table = rd.simulate(delta, duration=0.002, limits="ignore").sizing()
    assert tuple(table) == delta.actuated_joints
    ratios = {name: delta.gear_ratios[delta.joints[name].v].item() for name in table}
    assert {name: row.gear_ratio for name, row in table.items()} == ratios


def test_samples_count_by_their_time(robot):
    """Torque 1 in the first tenth of the time, in which most of the samples are."""
    t = np.concatenate([np.linspace(0.0, 0.1, 1001), np.linspace(0.1 + 1e-9, 1.0, 11)])
    tau = np.stack([0.0 * t, np.where(t <= 0.1, 50.0, 0.0)], axis=-1)
    run = dataclasses.replace(
        motion(robot, T, T), t=t, q=0.0 * tau, v=0.0 * tau, a=0.0 * tau, tau=tau
    )
    assert run.sizing()["elbow"].rms_torque == pytest.approx(math.sqrt(0.1), rel=1e-6)


def test_of_simultaneous_motions_the_largest_counts(robot):
    torque = np.stack([10.0 * np.sin(T), 40.0 * np.sin(T)], axis=1)
    speed = np.stack([3.0 * np.cos(T), 1.0 * np.cos(T)], axis=1)
    (row,) = motion(robot, torque, speed).sizing().rows
    assert row.rms_torque == pytest.approx(0.8 / math.sqrt(2.0), rel=1e-6)
    assert row.peak_speed == pytest.approx(150.0)
    assert row.peak_power == pytest.approx(20.0, rel=1e-5)


def test_the_limit_of_the_joint_counts_where_it_is_less():
    robot = bundled("palletizer")
    push = np.arange(robot.nv) * [name in robot.actuated_joints for name in robot.joint_names]
    run = rd.simulate(robot, lambda t, q, v: push, duration=0.02, limits="ignore")
    sizing = run.sizing()
    assert [*sizing] == list(robot.actuated_joints)
    for name, row in sizing.items():
        k = robot.joints[name].v.start
        ratio = abs(robot.gear_ratios[k])
        assert row.torque_limit <= robot.effort_limits[k] / ratio * (1 + 1e-12)
        assert row.speed_limit == pytest.approx(robot.velocity_limits[k] * ratio)
        assert row.peak_torque == pytest.approx(push[k] / ratio)


def test_motors_that_a_transmission_couples_take_the_power_of_the_joints():
    names = ("shoulder", "elbow")
    motors = {name: rd.Actuator(gear_ratio=20.0, torque_limit=3.0) for name in names}
    belt = rd.Transmission("belt", names, ((1.0, 0.0), (1.0, 1.0)))
    robot = rd.load("double_pendulum", actuators=motors, transmissions=[belt])
    rng = np.random.default_rng(3)
    tau, v = rng.normal(size=(2, 5, 2))
    run = rd.Trajectory(np.arange(5.0), v, v, v, tau, joint_names=names, robot=robot)
    sizing = run.sizing()
    np.testing.assert_allclose(
        (sizing.torques * sizing.speeds).sum(axis=-1), (tau * v).sum(axis=-1)
    )
    np.testing.assert_allclose(sizing.speeds, 20.0 * v @ [[1.0, 1.0], [0.0, 1.0]])
    assert [row.torque_limit for row in sizing.rows] == [3.0, 3.0]


@pytest.mark.parametrize("matrix", [((1.0, 1.0), (1.0, -1.0)), ((0.1, 0.0), (0.0, 3.0))])
def test_a_coupled_motor_may_turn_as_fast_as_its_joints_together(matrix):
    joints = ("wrist_pitch", "flange_roll")
    motor = rd.Actuator(gear_ratio=100.0, rotor_inertia=2e-5)
    coupled = [rd.Transmission("w", joints, matrix)]
    arm = rd.load("arm7", actuators=dict.fromkeys(joints, motor), transmissions=coupled)
    top, part = arm.velocity_limits[-2:], 0.6
    path = {
        name: rd.JointPath(lambda t, speed=part * top[k]: (speed * t, speed, 0.0))
        for k, name in enumerate(joints)
    }
    others = [name for name in arm.joint_names if name not in joints]
    run = rd.simulate(arm, duration=0.05, controlled=path, locked=others, limits="ignore")
    table = run.sizing()
    for row, name in zip(100.0 * np.array(matrix), joints, strict=True):
        assert table[name].speed_limit == pytest.approx(np.abs(row) @ top)
        assert table[name].peak_speed == pytest.approx(abs(row @ (part * top)))
        assert table[name].speed_utilisation <= part * (1.0 + 1e-12)


def test_a_motion_counts_until_its_end(robot):
    """Motions of which an event ends some: each as long as it lasts."""
    stop = rd.Event(lambda t, q, v: q[0] - 0.3)
    v0 = np.zeros((2, robot.nv))
    v0[:, 0] = 4.0, 0.1
    run = rd.rollout(
        robot, lambda t, q, v: 0.0 * v, 0.0 * v0, v0, duration=0.2, events=[stop], limits="ignore"
    )
    assert np.isnan(run.q[-1, 0]).all()
    assert not np.isnan(run.q[-1, 1]).any()
    alone = [run.motion(k).sizing() for k in range(2)]
    for row in run.sizing().rows:
        for field in dataclasses.fields(row):
            given = getattr(row, field.name)
            each = [getattr(table[row.motor], field.name) for table in alone]
            whole = pytest.approx(max(each), rel=1e-14) if isinstance(given, float) else each[0]
            assert given == whole, field.name


def test_the_table_is_printed_and_read_by_names(robot):
    sizing = motion(robot, 40.0 * np.sin(T), 3.0 * np.cos(T)).sizing()
    assert len(sizing) == 1 and str(sizing).splitlines()[1].split()[:4] == [
        "elbow", "-50", "0.8", "N",
    ]  # fmt: skip
    assert "89 %" in str(sizing) and "60 W" in str(sizing)
    assert "6 kW" in str(motion(robot, 4000.0 * np.sin(T), 3.0 * np.cos(T)).sizing())
    with pytest.raises(rd.UnknownNameError, match="elbw"):
        sizing["elbw"]
    pytest.importorskip("pandas")
    assert sizing.to_pandas().loc["elbow", "peak_speed"] == pytest.approx(150.0)


def test_without_a_robot_nothing_is_known(robot):
    with pytest.raises(rd.SettingsError, match="give it a robot"):
        dataclasses.replace(motion(robot, T, T), robot=None).sizing()


def test_the_torque_speed_plane(robot, tmp_path):
    pytest.importorskip("matplotlib")
    sizing = motion(robot, 40.0 * np.sin(T), 3.0 * np.cos(T)).sizing()
    (axis,) = sizing.plot(tmp_path / "motor.png").axes
    assert (axis.get_xlabel(), axis.get_ylabel()) == ("speed [rad/s]", "torque [N m]")
    assert axis.get_title(loc="left") == "elbow\nuses 89 % of torque"
    drives, brakes, cross, limit = axis.get_lines()
    row = sizing["elbow"]
    assert (cross.get_xdata()[0], cross.get_ydata()[0]) == (row.mean_speed, row.rms_torque)
    assert limit.get_ydata()[0] == TOP < axis.get_ylim()[1]
    assert 150.0 < axis.get_xlim()[1] < 200.0 and axis.get_xlim()[0] == 0.0
    power = np.sin(T) * np.cos(T)
    assert np.isfinite(drives.get_xdata())[power > 1e-9].all()
    assert np.isfinite(brakes.get_xdata())[power < -1e-9].all()
    # 0.8 sin a, 150 cos a: an ellipse, of which quarters drive and brake
    for line in (drives, brakes):
        x, y = (np.array(part) for part in line.get_data())
        seen = np.isfinite(x)
        assert 0.4 < seen.mean() < 0.6
        np.testing.assert_allclose((x[seen] / 150.0) ** 2 + (y[seen] / 0.8) ** 2, 1.0, rtol=1e-9)
        assert (x[seen] >= 0.0).all() and (y[seen] >= 0.0).all()


def test_limits_that_are_far_do_not_stretch_the_plane(robot, tmp_path):
    pytest.importorskip("matplotlib")
    sizing = motion(robot, 1.0 * np.sin(T), 3.0 * np.cos(T)).sizing()
    figure = sizing.plot(tmp_path / "motor.png")
    assert figure.axes[0].get_ylim()[1] < 0.03
    assert "limit" not in {text.get_text() for text in figure.legends[0].get_texts()}


def test_motors_side_by_side(robot, tmp_path):
    from matplotlib.figure import Figure

    robot = bundled("double_pendulum")
    run = rd.simulate(robot, lambda t, q, v: [1.0, 2.0], duration=0.05)
    figure = run.sizing().plot(tmp_path / "motors.png")
    assert [axis.get_title(loc="left").split("\n")[0] for axis in figure.axes] == [
        "shoulder",
        "elbow",
    ]
    with pytest.raises(rd.ShapeError, match="axes: 1 given, expected 2"):
        run.sizing().plot(axes=Figure().subplots())
