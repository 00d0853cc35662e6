"""Bags of ROS 2: written whole, read back by other readers, and read as others record them."""

import sys
import xml.etree.ElementTree as ET

import numpy as np
import pytest
from support.bags import moved, record
from support.processes import python

import robodyn as rd
from robodyn.cli import main
from robodyn.ros.bag import read_bag, write_bag

pytest.importorskip("rosbags")

FIELDS = ("q", "v", "a", "tau", "energy", "loop_residual")


@pytest.mark.parametrize(
    ("name", "options"),
    [
        ("puma560", {}),
        ("palletizer", {}),
        ("stewart", {}),
        ("satellite", {"base": "floating"}),
        ("caster_table", {}),
    ],
)
@pytest.mark.parametrize("file", ["run.mcap", "run.db3", "folder"])
def test_a_trajectory_comes_back(tmp_path, name, options, file):
    robot, run = moved(name, 0.02, **options)
    write_bag(run, tmp_path / file)
    back = read_bag(tmp_path / file, robot)
    for field in FIELDS:
        np.testing.assert_array_equal(getattr(back, field), getattr(run, field), field)
    np.testing.assert_allclose(back.t, run.t, rtol=0, atol=1e-9)
    assert back.joint_names == run.joint_names
    assert [p.name for p in tmp_path.iterdir()] == [file]


def test_an_independent_reader_reads_the_same(tmp_path):
    mcap = pytest.importorskip("mcap_ros2.reader")
    robot, run = moved("palletizer")
    run.save(tmp_path / "run.mcap")
    messages = list(mcap.read_ros2_messages(tmp_path / "run.mcap"))
    states = [m for m in messages if m.channel.topic == "/joint_states"]
    assert len(states) == len(run)
    for k, message in enumerate(states):
        state = message.ros_msg
        assert tuple(state.name) == robot.joint_names
        np.testing.assert_array_equal(state.position, run.q[k])
        np.testing.assert_array_equal(state.velocity, run.v[k])
        np.testing.assert_array_equal(state.effort, run.tau[k])
        stamp = state.header.stamp.sec * 10**9 + state.header.stamp.nanosec
        assert stamp == round(run.t[k] * 1e9) == message.log_time_ns
    (latched,) = (m for m in messages if m.channel.topic == "/robot_description")
    assert "durability: transient_local" in latched.channel.metadata["offered_qos_profiles"]
    text = latched.ros_msg.data
    children = [joint.find("child").get("link") for joint in ET.fromstring(text).iter("joint")]
    assert len(children) == len({*children}), "a tree, for readers that know nothing else"
    again = rd.load(text)
    assert again.nc == robot.nc
    np.testing.assert_array_equal(again.loop_residual(run.q[-1]), robot.loop_residual(run.q[-1]))


def test_a_trajectory_without_its_robot(tmp_path):
    robot, run = moved("puma560")
    bare = rd.Trajectory(*(getattr(run, f) for f in ("t", *FIELDS)), run.joint_names)
    bare.save(tmp_path / "run.mcap")
    np.testing.assert_array_equal(read_bag(tmp_path / "run.mcap", robot).q, run.q)
    twice = [0, 1, 1, 2]  # as at an impact
    both = (getattr(run, f)[twice] for f in ("t", *FIELDS))
    rd.Trajectory(*both, run.joint_names).save(tmp_path / "hit.mcap")
    np.testing.assert_array_equal(read_bag(tmp_path / "hit.mcap", robot).q, run.q[twice])
    _, free = moved("satellite", base="floating")
    bare = rd.Trajectory(*(getattr(free, f) for f in ("t", *FIELDS)), free.joint_names)
    with pytest.raises(rd.ShapeError, match=r"trajectory\.robot"):
        bare.save(tmp_path / "free.mcap")
    assert not (tmp_path / "free.mcap").exists()


def test_recorded_by_others(puma, tmp_path):
    """Other order, joints of a gripper, parts of the robot from two nodes, positions only."""
    names = puma.joint_names
    t = np.linspace(0, 1, 201)
    q = np.sin(np.add.outer(3 * t, np.arange(6)))
    v = 3 * np.cos(np.add.outer(3 * t, np.arange(6)))
    states = []
    for k, now in enumerate((1e9 * t).astype(int) + 5 * 10**18 // 10):
        first = (*reversed(names[:4]), "finger")
        states.append((int(now), int(now), first, [*q[k, 3::-1], 0.02], [], []))
        states.append((int(now), int(now) + 10, names[4:], q[k, 4:], [], []))
    early = states[0][0] - 10**9  # too little to begin with
    states.insert(0, (early, early, names[4:], [0.0, 0.0], [], []))
    record(tmp_path / "bag", states)
    with pytest.raises(rd.UnknownNameError, match="finger"):
        read_bag(tmp_path / "bag", puma)
    run = read_bag(tmp_path / "bag", puma, ignore_unknown=True)
    np.testing.assert_array_equal(run.q, q)
    np.testing.assert_allclose(run.t, t, atol=2e-9)
    np.testing.assert_allclose(run.v[1:-1], v[1:-1], atol=2e-4)
    np.testing.assert_allclose(run.a[2:-2], -9 * q[2:-2], atol=2e-3)
    assert np.isnan(run.tau).all()
    run.save(tmp_path / "again.mcap")  # unknown efforts are left empty
    assert np.isnan(read_bag(tmp_path / "again.mcap", puma).tau).all()


def test_loops_are_assembled_from_what_was_measured(tmp_path):
    robot, run = moved("palletizer")
    told = [robot.joint_names.index(name) for name in robot.independent_joints]
    names = robot.independent_joints
    states = [
        (round(1e9 * t), round(1e9 * t), names, q[told], v[told], [])
        for t, q, v in zip(run.t, run.q, run.v, strict=True)
    ]
    record(tmp_path / "bag", states)
    back = read_bag(tmp_path / "bag", robot)
    np.testing.assert_allclose(back.q, run.q, atol=1e-9)
    np.testing.assert_allclose(back.v, run.v, atol=1e-3)
    assert back.loop_residual.max() < 1e-9


def test_the_bag_of_another_robot_is_no_motion_of_a_linkage(tmp_path):
    _, run = moved("puma560", 0.01)
    write_bag(run, tmp_path / "run.mcap")
    with pytest.raises(rd.BagError, match="never holds the position"):
        read_bag(tmp_path / "run.mcap", rd.load("palletizer"), ignore_unknown=True)


def test_joints_that_nothing_tells_of_are_named(palletizer, tmp_path):
    record(tmp_path / "few", [(k, k, ["waist", "shoulder"], [0.1, 0.0], [], []) for k in (1, 2)])
    with pytest.warns(UserWarning, match=r"crank_drive.* 2 motions of their own"):
        back = read_bag(tmp_path / "few", palletizer)
    np.testing.assert_allclose(back.q[:, palletizer.joints["waist"].q], 0.1)
    assert back.loop_residual.max() < 1e-9


def test_bad_messages_are_left_out(double, tmp_path):
    names, s = double.joint_names, 10**9
    states = [
        (1 * s, 0, names, [0.1, 0.2], [0, 0], [0, 0]),
        (2 * s, 0, names, [np.nan, 0.2], [0, 0], [0, 0]),
        (3 * s, 0, names, [0.1], [0, 0], [0, 0]),
        (4 * s, 0, names, [0.3, 0.4], [0, 0], [0, 0]),
        (3 * s, 0, names, [9.0, 9.0], [0, 0], [0, 0]),
        (5 * s, 0, names, [0.5, 0.6], [0], [0, 0]),
    ]
    record(tmp_path / "bag", states, kind="sqlite3")
    with pytest.warns(UserWarning, match="3 messages"):
        run = read_bag(tmp_path / "bag", double)
    np.testing.assert_array_equal(run.q, [[0.1, 0.2], [0.3, 0.4], [0.5, 0.6]])
    np.testing.assert_array_equal(run.t, [0, 3, 4])
    assert np.isfinite(run.v).all()


def test_what_is_wrong_is_said(tmp_path):
    robot, run = moved("puma560", 0.01)
    with pytest.raises(FileNotFoundError, match=r"nowhere\.mcap"):
        read_bag(tmp_path / "nowhere.mcap", robot)
    for name in ("text.mcap", "text.db3", "text.txt"):
        (tmp_path / name).write_text("no bag at all" * 100)
        with pytest.raises(rd.BagError, match="cannot read the bag"):
            read_bag(tmp_path / name, robot)
    (tmp_path / "empty").mkdir()
    with pytest.raises(rd.BagError, match=r"no metadata\.yaml"):
        read_bag(tmp_path / "empty", robot)
    write_bag(run, tmp_path / "run.mcap", topic="/arm/joint_states")
    with pytest.raises(rd.BagError, match="arm/joint_states"):
        read_bag(tmp_path / "run.mcap", robot)
    whole = (tmp_path / "run.mcap").read_bytes()
    for part in (0.1, 0.5, 0.9):
        (tmp_path / "cut.mcap").write_bytes(whole[: int(part * len(whole))])
        with pytest.raises(rd.BagError):
            read_bag(tmp_path / "cut.mcap", robot)
    record(tmp_path / "wrong", [], text=True)
    with pytest.raises(rd.BagError, match=r"holds std_msgs/msg/String, expected sensor_msgs"):
        read_bag(tmp_path / "wrong", robot)
    record(tmp_path / "few", [(1, 1, robot.joint_names[:4], [0] * 4, [], [])])
    with pytest.raises(rd.BagError, match=robot.joint_names[5]):
        read_bag(tmp_path / "few", robot)
    record(tmp_path / "none", [])
    with pytest.raises(rd.BagError, match="no joint states"):
        read_bag(tmp_path / "none", robot)


def test_what_cannot_be_written(tmp_path):
    _, run = moved("double_pendulum", 0.01)
    write_bag(run, tmp_path / "folder")
    with pytest.raises(rd.BagError, match="there already"):
        write_bag(run, tmp_path / "folder")
    with pytest.raises(rd.UnknownNameError, match="in storage=; there are: mcap, sqlite3"):
        write_bag(run, tmp_path / "other", storage="hdf5")
    with pytest.raises(rd.ShapeError, match="times"):
        write_bag(run, tmp_path / "other", start=-1.0)
    with pytest.raises(rd.ShapeError, match="one motion"):
        write_bag(run[3], tmp_path / "other")
    with pytest.raises(FileNotFoundError, match="no such folder"):
        write_bag(run, tmp_path / "no" / "such" / "folder.mcap")
    assert [p.name for p in tmp_path.iterdir()] == ["folder"]


def test_nothing_is_left_of_a_bag_that_failed(tmp_path, monkeypatch):
    _, run = moved("double_pendulum", 0.01)
    (tmp_path / "run.mcap").write_bytes(b"what was there")

    def fail(*args):
        raise KeyboardInterrupt

    monkeypatch.setattr("robodyn.bags.writing._finite_or_empty", fail)
    with pytest.raises(KeyboardInterrupt):
        run.save(tmp_path / "run.mcap")
    assert [p.read_bytes() for p in tmp_path.iterdir()] == [b"what was there"]


def test_without_the_extra(tmp_path, monkeypatch):
    robot, run = moved("double_pendulum", 0.01)
    monkeypatch.setitem(sys.modules, "rosbags", None)
    with pytest.raises(rd.MissingExtraError, match=r"\[bag\]"):
        run.save(tmp_path / "run.mcap")
    with pytest.raises(rd.MissingExtraError, match=r"\[bag\]"):
        read_bag(tmp_path / "run.mcap", robot)
    assert not list(tmp_path.iterdir())


def test_sim_writes_a_bag(tmp_path, capsys):
    bag = tmp_path / "out.mcap"
    arguments = ["--duration", "0.1", "--no-plot", "--out", str(tmp_path), "--bag", str(bag)]
    assert main(["sim", "puma560", *arguments]) == 0
    assert str(bag) in capsys.readouterr().out
    assert len(read_bag(bag, rd.load("puma560"))) == 101


FULL = """
import resource, signal, sys
import robodyn as rd

run = rd.simulate(rd.load("double_pendulum"), duration=2.0, limits="ignore")
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
resource.setrlimit(resource.RLIMIT_FSIZE, (100000, resource.RLIM_INFINITY))
from robodyn.ros.bag import write_bag

for name in ("run.mcap", "run.db3"):
    try:
        write_bag(run, sys.argv[1] + "/" + name)
    except rd.errors.FileError as error:
        print(error)
"""


@pytest.mark.slow
def test_a_disk_that_is_full(tmp_path):
    """The bag is not there, and the error says which could not be written."""
    done = python("-c", FULL, str(tmp_path))
    for name, said in zip(("run.mcap", "run.db3"), done.stdout.splitlines(), strict=True):
        assert said.startswith(f"cannot write '{tmp_path / name}': ")
    assert not list(tmp_path.iterdir())
