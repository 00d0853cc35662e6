"""Sliders, arrows and recordings of the viewer, without a browser."""

import sys

import numpy as np
import pytest

import robodyn as rd
from robodyn.cli import main
from robodyn.view.drawing.arrows import forces
from robodyn.view.drawing.scene import LinkPlaces
from robodyn.view.panels.posing import move, sliders, with_values
from robodyn.view.recording import read_motion

LINKAGES = ["palletizer", "excavator", "four_bar", "delta", "five_bar", "crank_slider"]


def gap(robot, q):
    return np.abs(robot.loop_residual(q)).max()


@pytest.mark.parametrize("name", LINKAGES)
def test_sliders_keep_linkages_closed(name):
    robot = rd.load(name)
    every = sliders(robot)
    assert {slider.joint for slider in every} == set(robot.independent_joints)
    rng, q = np.random.default_rng(0), robot.neutral()
    for _ in range(5):
        slider = every[rng.integers(len(every))]
        wanted = rng.uniform(slider.lower, slider.upper)
        others = [s for s in every if s != slider]
        moved = move(robot, q, {slider: wanted})
        assert gap(robot, moved.q) < 1e-9
        for other in others:
            assert other.value(robot, moved.q) == pytest.approx(other.value(robot, q), abs=1e-9)
        if moved.complete:
            assert slider.value(robot, moved.q) == pytest.approx(wanted, abs=1e-9)
        q = moved.q


def test_a_linkage_does_not_jump_to_its_other_branch(four_bar):
    """A four-bar whose crank turns fully comes back to where it was."""
    (crank,) = sliders(four_bar)
    start = four_bar.neutral()
    q = start
    for angle in np.linspace(0.0, 2 * np.pi, 9):
        moved = move(four_bar, q, {crank: crank.value(four_bar, start) + angle})
        assert moved.complete
        q = moved.q
    turned = np.angle(np.exp(1j * (q - start)))
    assert np.abs(turned).max() < 1e-6


def test_a_linkage_stops_where_its_branch_ends(five_bar):
    left, right = sliders(five_bar)
    stretched = move(five_bar, five_bar.neutral(), {left: left.lower, right: right.upper})
    again = move(five_bar, stretched.q, {left: left.upper, right: right.lower})
    for moved in (stretched, again):
        assert gap(five_bar, moved.q) < 1e-9


def test_limits_of_dependent_joints_stop_the_motion():
    robot = rd.load("excavator")
    slider = next(s for s in sliders(robot) if s.joint == "bucket_cylinder")
    moved = move(robot, robot.neutral(), {slider: slider.lower})
    assert not moved.complete
    assert (moved.q >= robot.lower_limits - 1e-6).all()
    assert (moved.q <= robot.upper_limits + 1e-6).all()


def test_orientations_as_rotation_vectors():
    robot = rd.load("prosthesis", base="floating")
    every = sliders(robot)
    assert len(every) == robot.nv
    values = {slider: 0.1 * k for k, slider in enumerate(every) if slider.joint != "elbow"}
    q = with_values(robot, robot.neutral(), values)
    for slider, value in values.items():
        assert slider.value(robot, q) == pytest.approx(value)


@pytest.mark.parametrize("name", ["palletizer", "puma560", "excavator"])
def test_arrows_are_wrenches_at_the_joints(name):
    robot = rd.load(name)
    q = robot.random(2)
    acting = {(x.kind, x.joint): x for x in forces(robot, LinkPlaces(robot).at(q), q)}
    zero = np.zeros(robot.nv)
    wrenches = robot.joint_wrenches(q, zero, zero)
    for joint in robot.joint_names:
        force, moment = acting["forces", joint], acting["moments", joint]
        X = robot.frame_pose(q, robot.joints[joint].child)
        assert np.allclose(force.point, X[:3, 3]) and np.allclose(moment.point, X[:3, 3])
        assert np.allclose(force.vector, X[:3, :3] @ wrenches[joint][:3], atol=1e-6)
        assert np.allclose(moment.vector, X[:3, :3] @ wrenches[joint][3:], atol=1e-6)
        torque = np.linalg.norm(acting["torques", joint].vector)
        at = robot.joints[joint].v
        assert torque == pytest.approx(np.abs(robot.inverse_dynamics(q, zero, zero)[at]).max())


@pytest.fixture(scope="module")
def run():
    robot = rd.load("double_pendulum")
    return robot, rd.simulate(robot, q0=[1.0, 0.5], duration=0.2, step=1e-2)


@pytest.mark.parametrize("ending", [".npz", ".csv"])
def test_motions_read_back(tmp_path, run, ending):
    robot, motion = run
    motion.save(tmp_path / f"run{ending}")
    read = read_motion(tmp_path / f"run{ending}", robot)
    for name in ("t", "q", "v", "a", "tau"):
        assert np.array_equal(getattr(read, name), getattr(motion, name))


@pytest.mark.parametrize("content", ["", "t,q0\n1,x\n", "a,b\n1,2\n", "t\n"])
def test_a_table_that_is_no_motion(tmp_path, run, content):
    (tmp_path / "run.csv").write_text(content)
    with pytest.raises(rd.errors.ShapeError):
        read_motion(tmp_path / "run.csv", run[0])


def test_a_bag_of_joint_states(tmp_path, run):
    rosbags = pytest.importorskip("rosbags.rosbag2")
    from rosbags.typesys import Stores, get_typestore

    robot, store = run[0], get_typestore(Stores.ROS2_JAZZY)
    types = store.types
    with rosbags.Writer(tmp_path / "bag", version=9) as writer:
        topic = writer.add_connection(
            "/joint_states", "sensor_msgs/msg/JointState", typestore=store
        )
        for k in range(3):
            header = types["std_msgs/msg/Header"](
                stamp=types["builtin_interfaces/msg/Time"](sec=k, nanosec=0), frame_id=""
            )
            message = types["sensor_msgs/msg/JointState"](
                header=header,
                name=["elbow", "unknown", "shoulder"],
                position=np.array([0.2 * k, 9.0, 0.1 * k]),
                velocity=np.array([0.2, 9.0, 0.1]),
                effort=np.array([]),
            )
            data = store.serialize_cdr(message, "sensor_msgs/msg/JointState")
            writer.write(topic, k * 10**9, data)
    motion = read_motion(tmp_path / "bag", robot)
    assert np.allclose(motion.t, [0, 1, 2])
    assert np.allclose(motion.q[:, robot.joints["elbow"].q.start], [0, 0.2, 0.4])
    assert np.allclose(motion.q[:, robot.joints["shoulder"].q.start], [0, 0.1, 0.2])


def test_without_viser(monkeypatch, capsys):
    monkeypatch.setitem(sys.modules, "viser", None)
    assert main(["view", "four_bar"]) == 2
    assert "[view]" in capsys.readouterr().err


# a table that is cut may end in a whole row by chance
@pytest.mark.parametrize(
    "ending, part", [(".npz", 0.0), (".npz", 0.001), (".npz", 0.5), (".csv", 0.0), (".csv", 0.001)]
)
def test_damaged_recordings_are_told(double, tmp_path, ending, part):
    rd.simulate(double, duration=0.05, step=1e-3).save(tmp_path / f"run{ending}")
    whole = (tmp_path / f"run{ending}").read_bytes()
    for damaged in (whole[: int(part * len(whole))], b"\xff" + whole[1:]):
        (tmp_path / f"run{ending}").write_bytes(damaged)
        with pytest.raises(rd.ShapeError, match="not a trajectory"):
            read_motion(tmp_path / f"run{ending}", double)


@pytest.mark.parametrize("ending", ["npz", "csv"])
def test_the_motion_with_a_payload_is_shown_of_the_robot_without(tmp_path, ending):
    robot = rd.load("double_pendulum")
    loaded = robot.with_(payload={"lower": rd.Inertia(3.0)})
    run = rd.simulate(loaded, q0=[0.3, 0.2], duration=0.05)
    run.save(tmp_path / f"run.{ending}")
    with pytest.warns(UserWarning, match="it is shown all the same"):
        motion = read_motion(tmp_path / f"run.{ending}", robot)
    np.testing.assert_array_equal(motion.q, run.q)
    assert motion.robot is robot
