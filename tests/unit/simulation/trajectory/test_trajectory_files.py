"""What is saved is read back, and what is something else is told."""

import csv
import dataclasses
import io
import os
import pickle
import sys
import tracemalloc
import zipfile

import numpy as np
import pytest
from support.motions import heaving

import robodyn as rd
from robodyn import urdf
from robodyn.errors import FileError, MissingFileError
from robodyn.simulation import EventRecord
from robodyn.simulation.trajectory.files.validity import check_contents

STATES = ("t", "q", "v", "a", "tau")


@pytest.fixture(scope="module")
def robot():
    return rd.load("satellite", base="floating")


@pytest.fixture(scope="module")
def run(robot):
    v0 = np.random.default_rng(1).normal(size=robot.nv)
    return rd.simulate(robot, v0=v0, duration=0.05, limits="ignore")


@pytest.fixture(scope="module")
def carried():
    """A moving base, a driven joint, external wrenches that change, and an event."""
    robot = rd.load("double_pendulum", base="moving")
    run = rd.simulate(
        robot, lambda t, q, v: [0.1, 0.2], base=heaving, duration=0.05,
        wrenches=lambda t, q, v: {"lower": np.arange(6.0) * t},
        controlled={"shoulder": lambda t: (t**3, 3 * t**2, 6 * t)},
    )  # fmt: skip
    events = (EventRecord(0.1 / 3, "lands", 0.1 + 0.2), EventRecord(0.05, "ends"))
    return dataclasses.replace(run, events=events)


def same(one, other, names=(*STATES, "energy", "loop_residual")):
    for name in names:
        np.testing.assert_array_equal(getattr(one, name), getattr(other, name))


def test_npz_bit_for_bit(tmp_path, robot, run):
    run.save(tmp_path / "run.npz")
    again = rd.Trajectory.load(tmp_path / "run.npz", robot)
    same(again, run)
    assert again.joint_names == run.joint_names and again.robot is robot
    same(rd.Trajectory.load(str(tmp_path / "run.npz")), run)


def test_pickles_need_no_functions(carried):
    for part in (carried, carried[7], carried[10:20]):
        again = pickle.loads(pickle.dumps(part))
        same(again, part)
        np.testing.assert_array_equal(again.joint_wrenches()["base"], part.joint_wrenches()["base"])
    plain = rd.simulate(rd.load("double_pendulum"), duration=0.01, wrenches={"lower": [0.0] * 6})
    assert pickle.loads(pickle.dumps(plain)).surroundings.wrenches.keys() == {"lower"}


def test_csv_to_the_last_digit(tmp_path, robot, run):
    run.save(tmp_path / "run.csv")
    again = rd.Trajectory.load(tmp_path / "run.csv", robot)
    same(again, run)
    assert again.joint_names == run.joint_names
    with open(tmp_path / "run.csv", newline="") as file:
        head = next(csv.reader(file))
    assert head[:2] == ["t [s]", "q:floating_base[0] [m]"]
    assert head[7:9] == ["q:floating_base[6]", "q:clock [rad]"]
    for name in ("v:clock [rad/s]", "a:floating_base[0] [m/s^2]", "tau:boom_lift [N m]"):
        assert name in head
    assert head[-2:] == ["energy [J]", "loop_residual"]


def test_csv_of_joints_with_odd_names(tmp_path):
    odd = "el,bow: [rad] 'x'"
    text = urdf.write(rd.load("double_pendulum").mechanism).replace('"elbow"', f'"{odd}"')
    robot = rd.load(text)
    rd.simulate(robot, duration=0.01, step=1e-3, limits="ignore").save(tmp_path / "run.csv")
    assert rd.Trajectory.load(tmp_path / "run.csv", robot).joint_names == ("shoulder", odd)


def test_csv_of_an_unknown_robot(tmp_path, run):
    bare = dataclasses.replace(run, energy=run.energy, loop_residual=run.loop_residual, robot=None)
    bare.save(tmp_path / "run.csv")
    same(rd.Trajectory.load(tmp_path / "run.csv"), run)


def test_a_table_of_pandas(robot, run):
    pytest.importorskip("pandas")
    table = run.to_pandas()
    assert table.index.name == "t [s]" and len(table) == len(run)
    np.testing.assert_array_equal(table.index, run.t)
    np.testing.assert_array_equal(table["v:clock [rad/s]"], run["clock"].v)
    np.testing.assert_array_equal(table["energy [J]"], run.energy)


def test_without_pandas(monkeypatch, run):
    monkeypatch.setitem(sys.modules, "pandas", None)
    with pytest.raises(rd.MissingExtraError, match=r"\[pandas\]"):
        run.to_pandas()


@pytest.mark.parametrize("ending", ["npz", "csv"])
def test_the_motion_of_another_robot(double, tmp_path, run, ending):
    run.save(tmp_path / f"run.{ending}")
    with pytest.raises(rd.ShapeError, match=r"run\..*'puma560' needs 6 columns"):
        rd.Trajectory.load(tmp_path / f"run.{ending}", rd.load("puma560"))
    text = "shoulder"
    rd.simulate(double, duration=0.01).save(tmp_path / f"arm.{ending}")
    with pytest.raises(rd.ShapeError, match=f"'{text}' where 'pan_tilt' has"):
        rd.Trajectory.load(tmp_path / f"arm.{ending}", rd.load("pan_tilt"))


@pytest.mark.parametrize("ending", ["npz", "csv"])
def test_damaged_files(tmp_path, run, ending):
    run.save(tmp_path / f"run.{ending}")
    whole = (tmp_path / f"run.{ending}").read_bytes()
    parts = [whole[: len(whole) // 2]] if ending == "npz" else []  # half a table is a table
    for damaged in (b"", whole[:5], *parts, b"\xff" + whole[1:]):
        (tmp_path / f"run.{ending}").write_bytes(damaged)
        with pytest.raises(rd.ShapeError, match="not a trajectory, or is damaged"):
            rd.Trajectory.load(tmp_path / f"run.{ending}")


def test_a_damaged_number_in_an_archive(tmp_path, run):
    run.save(tmp_path / "run.npz")
    whole = bytearray((tmp_path / "run.npz").read_bytes())
    whole[len(whole) // 3] ^= 0xFF
    (tmp_path / "run.npz").write_bytes(whole)
    with pytest.raises(rd.ShapeError, match="damaged"):
        rd.Trajectory.load(tmp_path / "run.npz")


@pytest.mark.parametrize("name", STATES)
def test_arrays_that_do_not_belong_together(tmp_path, run, name):
    run.save(tmp_path / "run.npz")
    with np.load(tmp_path / "run.npz") as held:
        arrays = {**held}
    for wrong in (arrays[name][:-1], arrays[name][..., None]):
        np.savez(tmp_path / "wrong.npz", **{**arrays, name: wrong})
        with pytest.raises(rd.ShapeError, match="not a trajectory, or is damaged"):
            rd.Trajectory.load(tmp_path / "wrong.npz")


def test_foreign_files(tmp_path, run):
    np.savez(tmp_path / "other.npz", x=np.ones(3))
    np.savez(tmp_path / "wide.npz", **dict.fromkeys((*STATES, "energy", "loop_residual"), 1.0))
    (tmp_path / "other.csv").write_text("a,b\n1,2\n")
    (tmp_path / "ragged.csv").write_text("t [s],q:a\n1,2\n3\n")
    (tmp_path / "folder").mkdir()
    for name in ("other.npz", "wide.npz", "other.csv", "ragged.csv", "folder"):
        with pytest.raises(rd.ShapeError, match="not a trajectory"):
            rd.Trajectory.load(tmp_path / name)
    (tmp_path / "run.txt").write_text("")
    with pytest.raises(rd.ShapeError, match=r"expected \.npz, \.csv, \.mcap"):
        rd.Trajectory.load(tmp_path / "run.txt")
    with pytest.raises(MissingFileError, match=r"absent\.npz"):
        rd.Trajectory.load(tmp_path / "absent.npz")
    (tmp_path / "folder.npz").mkdir()
    with pytest.raises((FileError, rd.ShapeError)):
        rd.Trajectory.load(tmp_path / "folder.npz")
    with pytest.raises(rd.ShapeError, match="path is int"):
        rd.Trajectory.load(3)
    with pytest.raises(rd.ShapeError, match="robot is str"):
        rd.Trajectory.load(tmp_path / "other.npz", "arm7")


def test_one_state_is_a_table_of_one_row(run):
    pandas = pytest.importorskip("pandas")
    pandas.testing.assert_frame_equal(run[7].to_pandas(), run[7:8].to_pandas())


def saved_with(path, run, **changes):
    """A saved motion in which arrays were changed."""
    run.save(path)
    with np.load(path) as held:
        arrays = {name: held[name] for name in held.files}
    for name, change in changes.items():
        arrays[name] = change(arrays[name])
    np.savez(path, **arrays)
    return path


def with_number(number, place):
    def change(x):
        x = x.astype(np.result_type(x, number))
        x[place] = number
        return x

    return change


@pytest.mark.parametrize("field, change, words", [
    ("q", with_number(np.nan, (2, 1)), "q is nan at sample 2, place \\(1,\\)"),
    ("v", with_number(np.inf, (3, 0)), "v is inf at sample 3"),
    ("a", with_number(-np.inf, (3, 0)), "a is -inf"),
    ("t", with_number(np.nan, 4), "t is nan at sample 4"),
    ("t", with_number(0.0, 4), "t runs back, from 0.003 s to 0 s at sample 4"),
    ("q", with_number(1j, (2, 1)), "q holds complex128, expected real numbers"),
    ("joint_names", lambda x: x[[0, 0, *range(2, len(x))]], "joint_names has 'floating_base"),
    ("joint_names", lambda x: x[:-1], "names for"),
    ("driven", lambda x: np.array([99]), "driven is \\(99,\\), expected columns of v"),
])  # fmt: skip
def test_what_no_motion_can_be_is_refused(tmp_path, run, field, change, words):
    path = saved_with(tmp_path / "run.npz", run, **{field: change})
    with pytest.raises(rd.ShapeError, match=rf"run.npz .*{words}"):
        rd.Trajectory.load(path)


def test_an_archive_that_is_larger_than_its_file_is_not_read(tmp_path, run):
    path = saved_with(tmp_path / "run.npz", run)
    with np.load(path) as held:
        arrays = {name: held[name] for name in held.files}
    bomb = tmp_path / "bomb.npz"
    np.savez_compressed(bomb, **{**arrays, "energy": np.zeros(10**7)})
    tracemalloc.start()
    with pytest.raises(rd.ShapeError, match=r"bomb.npz .* are not compressed"):
        rd.Trajectory.load(bomb)
    assert tracemalloc.get_traced_memory()[1] < 10**7
    tracemalloc.stop()


def test_a_header_that_says_more_than_there_is(tmp_path, run):
    path = saved_with(tmp_path / "run.npz", run)
    header = io.BytesIO()
    huge = {"descr": "<f8", "fortran_order": False, "shape": (1 << 41,)}
    np.lib.format.write_array_header_1_0(header, huge)
    lying = tmp_path / "lying.npz"
    with zipfile.ZipFile(path) as old, zipfile.ZipFile(lying, "w") as new:
        for name in old.namelist():
            new.writestr(name, header.getvalue() if name == "energy.npy" else old.read(name))
    with pytest.raises(rd.ShapeError, match=r"lying.npz .*energy.npy says that it has shape"):
        rd.Trajectory.load(lying)


@pytest.mark.parametrize("ending", ["npz", "csv"])
def test_files_may_be_read_by_whom_the_umask_lets(tmp_path, run, ending):
    path, before = tmp_path / f"run.{ending}", os.umask(0o027)
    try:
        run.save(path)
        assert path.stat().st_mode & 0o777 == 0o640
        path.chmod(0o600)
        run.save(path)
        assert path.stat().st_mode & 0o777 == 0o600
    finally:
        os.umask(before)
    assert [x.name for x in tmp_path.iterdir()] == [path.name]


def test_motions_of_a_rollout_may_end_before_the_others(double, tmp_path):
    """From there on their states are NaN; in between, a state that is none is refused."""
    q0 = np.zeros((3, 2))
    run = rd.rollout(double, None, q0, q0, duration=0.01, step=1e-3)
    fields = {name: getattr(run, name).copy() for name in ("q", "v", "a", "tau")}
    for x in fields.values():
        x[6:, 1] = np.nan
    check_contents("run", {"t": run.t, **fields})
    fields["q"][8, 1] = fields["v"][8, 1] = 0.0
    with pytest.raises(rd.ShapeError, match=r"q is nan at sample 6, place \(1, 0\)"):
        check_contents("run", {"t": run.t, **fields})


@pytest.mark.parametrize("ending", ["npz", "csv", "mcap"])
def test_samples_that_run_back_are_not_written(tmp_path, ending):
    """No file of them could be read."""
    run = rd.simulate(rd.load("double_pendulum"), duration=0.01)
    with pytest.raises(rd.ShapeError, match=rf"run\.{ending} holds no motion: t runs back"):
        run[::-1].save(tmp_path / f"run.{ending}")
    assert not [*tmp_path.iterdir()]
