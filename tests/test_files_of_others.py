"""Whatever writes or removes files leaves those of others as they are."""

import os

import numpy as np
import pytest
from support.processes import python

import robodyn as rd
from robodyn.cli.command_line import main

pytestmark = pytest.mark.slow

#: Names that some program might take for its own.
OTHERS = (
    "tmp_measurements.csv", "tmp", "tmpl.tex", "swept", "core", "notes.txt~", "main.o",
    f"{'0' * 64}.o", "robodyn-0123456789abcdef.unfinished", "robodyn.swept", ".run-0123.csv",
    ".run.csv", "run.csv.bak", "run.partial.txt", "trajectory.json", "t.npy", "metadata.yaml",
    "a.sweep-wal.txt", "a.sweep.old", "robot.urdf", "robot.png", "Makefile", ".hidden/tmpfile",
    "robodyn/main.o", "robodyn/tmp1", "robodyn/thesis.tex", "out/old.csv", "build/x.o",
    "__pycache__/x.pyc", "empty_folder/.keep",
)  # fmt: skip


@pytest.fixture
def others(tmp_path, monkeypatch):
    """A folder of somebody's files, two hours old; at the end they are as they were."""
    folder = tmp_path / "home"
    for name in OTHERS:
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(f"the only copy of {name}\n" * 200)
        os.utime(folder / name, (1e9, 1e9))
    folder.chmod(0o700)
    (folder / "robodyn").chmod(0o700)
    monkeypatch.chdir(folder)
    monkeypatch.setenv("ROBODYN_CACHE_DIR", str(folder))
    monkeypatch.setenv("ROBODYN_CACHE_MB", "0.001")
    yield folder
    for name in OTHERS:
        path = folder / name
        assert path.read_text() == f"the only copy of {name}\n" * 200, name
        assert path.stat().st_mtime == 1e9, name


@pytest.fixture(scope="module")
def run():
    robot = rd.load("double_pendulum")
    return rd.simulate(robot, q0=[0.3, 0.2], duration=0.05, limits="ignore")


def made(folder):
    """Names of what is new in a folder."""
    return {x.name for x in folder.iterdir()} - {name.partition("/")[0] for name in OTHERS}


def test_files_of_motions(others, run):
    names = {"run.npz", "run.csv", "run.png", "run.gif", "sizing.png"}
    for _ in range(2):  # the second time they replace those of the first
        run.save("run.npz")
        run.save("run.csv")
        run.plot("run.png")
        run.animate("run.gif", fps=10)
        run.sizing().plot("sizing.png")
    run.robot.plot([0.1, 0.2], "posture.png")
    assert made(others) == names | {"posture.png"}


def test_bags(others, run):
    pytest.importorskip("rosbags")
    from robodyn.ros.bag import write_bag

    for _ in range(2):
        run.save("run.mcap")
    write_bag(run, "bag")
    with pytest.raises(rd.BagError, match="there already"):
        write_bag(run, "out")
    assert made(others) == {"run.mcap", "bag"}


def test_motions_that_are_written_while_they_go_on(others, run):
    def breaks(t, q, v):
        if t > 0.03:
            raise KeyboardInterrupt
        return np.zeros(2)

    rd.simulate(run.robot, duration=0.05, to="motion")
    with pytest.raises(KeyboardInterrupt):
        rd.simulate(run.robot, breaks, duration=0.05, to="broken")
    for taken in ("out", "robot.urdf", "motion"):
        with pytest.raises(rd.errors.FileError, match="is there already"):
            rd.simulate(run.robot, duration=0.05, to=taken)
    assert made(others) == {"motion", "broken.partial"}


def test_sweeps(others):
    for _ in range(2):
        rd.sweep(lambda x: 2 * x, {"x": [1.0, 2.0]}, path="a.sweep").save("b.sweep")
    for taken in ("robot.urdf", "out"):
        with pytest.raises(rd.errors.FileError):
            rd.sweep(lambda x: 2 * x, {"x": [1.0, 2.0]}, path=taken)
    assert made(others) == {"a.sweep", "b.sweep"}


def test_descriptions_and_code(others, run):
    for _ in range(2):
        rd.urdf.write(run.robot.mechanism, "new.urdf")
    for target in ("c", "python"):
        rd.export(run.robot, ["mass_matrix"], target, target)
    for taken in ("out", "robot.urdf"):
        with pytest.raises(rd.SettingsError):
            rd.export(run.robot, ["mass_matrix"], "c", taken)
    assert made(others) == {"new.urdf", "c", "python"}


def test_commands(others):
    commands = {
        "sim double_pendulum --duration 0.05 --out out": set(),
        "sim double_pendulum --duration 0.05 --npz run.npz": {"run.npz"},
        "new arm": {"arm"},
        "export double_pendulum mass_matrix --out code": {"code"},
        "convert double_pendulum copy.urdf": {"copy.urdf"},
        "info double_pendulum --graph graph.svg": {"graph.svg"},
    }
    for command, expected in commands.items():
        before = made(others)
        assert main(command.split()) == 0, command
        assert made(others) - before == expected, command
    for taken in ("new arm out", "export double_pendulum mass_matrix --out out"):
        assert main(taken.split()) == 2, taken


def test_the_cache_of_code(others):
    """With the size that it may have, of which others take all."""
    code = "import robodyn as rd; print(rd.load('double_pendulum').mass_matrix([0.1, 0.2]))"
    for _ in range(2):
        (others / "robodyn" / "robodyn.swept").unlink(missing_ok=True)
        python("-c", code)
    assert main(["compile", "double_pendulum", "mass_matrix"]) == 0
    assert main(["doctor"]) == 0
    assert not made(others)
