"""Motions of many steps: every k-th sample, and samples that go to files while they come."""

import tracemalloc

import numpy as np
import pytest
from support.motions import same
from support.processes import python

import robodyn as rd
from robodyn.errors import FileError, MissingFileError
from robodyn.simulation.loads.prescribed_loads import PrescribedLoads
from robodyn.simulation.motion import record as recording_of
from robodyn.simulation.motion.record import Record

STATES = ("t", "q", "v", "a", "tau")


def move(robot, **options):
    return rd.simulate(robot, q0=[0.4, 0.3], step=1e-3, **{"duration": 0.1, **options})


def owners(x):
    """Arrays whose memory an array is a view of."""
    while isinstance(x, np.ndarray):
        yield x
        x = x.base


@pytest.mark.parametrize("every", [1, 2, 7, 50, 100, 1000])
def test_every_so_many_steps_and_the_last(double, every):
    whole, part = move(double), move(double, every=every)
    kept = sorted({*range(0, 101, every), 100})
    same(part, whole[kept])


def test_samples_that_are_kept_in_any_case(double):
    """As before and after an impact."""
    record = Record(double, PrescribedLoads(), 3, every=10)
    rows = np.arange(40.0).reshape(20, 2)
    for k in range(20):
        record.add(0.1 * k, *[rows[k]] * 4, keep=k in (3, 4))
    run = record.trajectory()
    # those that are kept in any case do not count as steps
    np.testing.assert_allclose(run.t, [0.0, 0.3, 0.4, 1.2, 1.9])


@pytest.mark.parametrize("every", [0, -1, 1.5, "2", True, None])
def test_how_often_is_a_count(double, every):
    with pytest.raises(rd.ShapeError, match=r"every is .*, expected (how many|a whole)"):
        move(double, every=every)


@pytest.fixture
def small_blocks(monkeypatch):
    """Many blocks of a short motion."""
    monkeypatch.setattr(recording_of, "NUMBERS_IN_MEMORY", 9 * 16)


def test_a_motion_that_goes_to_files(double, tmp_path, small_blocks):
    whole = move(double)
    run = move(double, to=tmp_path / "run")
    same(run, whole)
    np.testing.assert_array_equal(run.energy, whole.energy)
    assert [p.name for p in tmp_path.iterdir()] == ["run"]
    assert "memmap" in {type(x).__name__ for x in owners(run.q)}
    np.testing.assert_array_equal(np.load(tmp_path / "run" / "q.npy"), whole.q)
    again = rd.Trajectory.load(tmp_path / "run", double)
    same(again, whole)
    assert again.joint_names == whole.joint_names
    again.save(tmp_path / "run.npz")
    same(rd.Trajectory.load(tmp_path / "run.npz", double), whole)
    same(move(double, to=tmp_path / "part", every=7), move(double, every=7))


def test_many_motions_and_what_acts_on_them_go_to_files(tmp_path, small_blocks):
    robot = rd.load("double_pendulum", base="moving")
    q0, v0, push = np.random.default_rng(1).normal(size=(3, 3, 6))
    options = {
        "base": lambda t: rd.BaseMotion.from_world((0, 0, t * t), (0, 0, 0, 1), (0, 0, 2 * t),
                                                   (0, 0, 0), (0, 0, 2)),
        "wrenches": {"lower": push}, "duration": 0.05, "limits": "ignore",
        "controlled": {"elbow": lambda t: (0.1 * t, 0.1, 0.0)},
    }  # fmt: skip
    whole = rd.rollout(robot, None, q0[:, :2], v0[:, :2], **options)
    same(rd.rollout(robot, None, q0[:, :2], v0[:, :2], to=tmp_path / "run", **options), whole)
    again = rd.Trajectory.load(tmp_path / "run", robot)
    assert again.driven == whole.driven == (1,)
    np.testing.assert_array_equal(again.energy, whole.energy)
    np.testing.assert_allclose(
        again.joint_wrenches()["base"], whole.joint_wrenches()["base"], rtol=1e-13
    )


def test_memory_does_not_grow_with_the_steps(double, tmp_path, monkeypatch):
    monkeypatch.setattr(recording_of, "NUMBERS_IN_MEMORY", 9 * 256)
    move(double, to=tmp_path / "first")
    peaks = []
    for name, steps in (("short", 1000), ("long", 8000)):
        tracemalloc.start()
        run = move(double, duration=1e-3 * steps, to=tmp_path / name, limits="ignore")
        peaks.append(tracemalloc.get_traced_memory()[1])
        tracemalloc.stop()
        assert len(run) == steps + 1
    # of each step only its time is held: an array, and a list of floats
    assert peaks[1] - peaks[0] < 7000 * 72, peaks


def test_samples_that_do_not_fit_into_memory(double, monkeypatch):
    def full(shape, dtype=float):
        raise MemoryError

    monkeypatch.setattr(recording_of.np, "empty", full)
    with pytest.raises(rd.ShapeError, match=r"101 samples do not fit into memory: keep fewer"):
        rd.simulate(double, duration=0.1)


def test_folders_that_cannot_be_taken(double, tmp_path):
    (tmp_path / "run").mkdir()
    with pytest.raises(FileError, match="run' is there already; remove it first"):
        move(double, to=tmp_path / "run")
    (tmp_path / "other.partial").mkdir()
    with pytest.raises(FileError, match="a motion that broke off"):
        move(double, to=tmp_path / "other")
    with pytest.raises(MissingFileError, match="no such folder"):
        move(double, to=tmp_path / "absent" / "run")
    for name in (".", "", "..", "/"):
        with pytest.raises(FileError, match="is there already; give the name of a new folder"):
            move(double, to=name)
    with pytest.raises(rd.ShapeError, match=r"run\.npz.*expected the name of a folder"):
        move(double, to=tmp_path / "run.npz")
    with pytest.raises(rd.ShapeError, match="to is int"):
        move(double, to=3)
    assert sorted(p.name for p in tmp_path.iterdir()) == ["other.partial", "run"]


FULL = """
import resource, sys
import numpy as np
import robodyn as rd
from robodyn.simulation.motion import record

record.NUMBERS_IN_MEMORY = 9 * 64
robot = rd.load("double_pendulum")
options = dict(q0=[0.4, 0.3], duration=1.0, limits="ignore")
whole = rd.simulate(robot, **options)
resource.setrlimit(resource.RLIMIT_FSIZE, (8000, resource.RLIM_INFINITY))
try:
    rd.simulate(robot, to=sys.argv[1], **options)
except rd.SimulationError as error:
    kept = error.trajectory
    assert isinstance(error.__cause__, rd.errors.FileError)
    assert 0 < len(kept) < len(whole) and len(kept) % 64 == 0, len(kept)
    assert error.time == kept.t[-1]
    for name in ("t", "q", "v", "a", "tau"):
        assert np.array_equal(getattr(kept, name), getattr(whole, name)[: len(kept)])
    again = rd.Trajectory.load(sys.argv[1] + ".partial", robot)
    assert np.array_equal(again.v, kept.v)
    print(error)
"""


@pytest.mark.slow
def test_a_disk_that_is_full(tmp_path):
    done = python("-c", FULL, str(tmp_path / "run"))
    assert "File too large" in done.stdout and "run.partial" in done.stdout
    assert [p.name for p in tmp_path.iterdir()] == ["run.partial"]


KILLED = """
import os, sys
import robodyn as rd
from robodyn.simulation.motion import record

record.NUMBERS_IN_MEMORY = 9 * 64
robot = rd.load("double_pendulum")

def die(t, q, v):
    if t > 0.5:
        os._exit(9)
    return [0.0, 0.0]

rd.simulate(robot, die, duration=1.0, to=sys.argv[1], limits="ignore")
"""


@pytest.mark.slow
def test_a_process_that_was_killed(double, tmp_path):
    done = python("-c", KILLED, str(tmp_path / "run"), check=False)
    assert done.returncode == 9
    left = rd.Trajectory.load(tmp_path / "run.partial", double)
    assert len(left) == 448
    whole = rd.simulate(double, duration=1.0, limits="ignore")
    same(left, whole[:448])
    column = tmp_path / "run.partial" / "v.npy"
    column.write_bytes(column.read_bytes()[:-24])  # killed between two files
    same(rd.Trajectory.load(tmp_path / "run.partial", double), whole[:446])


def test_damaged_folders(double, tmp_path, small_blocks):
    def load():
        return rd.Trajectory.load(tmp_path / "run", double)

    run = move(double, to=tmp_path / "run")
    with pytest.raises(rd.ShapeError, match="'pan_tilt' has"):
        rd.Trajectory.load(tmp_path / "run", rd.load("pan_tilt"))
    del run
    column = tmp_path / "run" / "v.npy"
    whole = column.read_bytes()
    for damaged in (whole[:-16], whole[:20], b"", b"\0" + whole[1:]):
        column.write_bytes(damaged)
        with pytest.raises(rd.ShapeError, match="not a trajectory, or is damaged"):
            load()
    column.unlink()
    with pytest.raises(rd.ShapeError, match="not a trajectory, or is damaged"):
        load()


def test_a_disk_that_is_full_in_the_end(double, tmp_path, monkeypatch, small_blocks):
    """All samples are there; what they are called in the end cannot be written."""

    def full(*_):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("robodyn.simulation.trajectory.files.recording.os.rename", full)
    with pytest.raises(rd.SimulationError, match="No space left on device") as caught:
        move(double, to=tmp_path / "run")
    same(caught.value.trajectory, move(double))
    same(rd.Trajectory.load(tmp_path / "run.partial", double), move(double))
