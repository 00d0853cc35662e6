"""Files of sweeps: rows are added as they are done, and a sweep that was ended goes on."""

import multiprocessing
import os
import shutil
import signal
import sqlite3
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest
from support import sweep_studies
from support.processes import python
from support.sweep_studies import (
    counted,
    dies,
    dies_once,
    failing,
    leave_trace,
    slow,
    started,
    times,
    values,
)

import robodyn as rd
from robodyn.errors import FileError, MissingFileError, SweepWarning

pytestmark = pytest.mark.slow

ROBOTS = Path(rd.__file__).parent / "urdf/robots"


def test_a_second_call_computes_nothing(folder, tmp_path):
    path = tmp_path / "study.sweep"
    first = rd.sweep(counted, values(folder, 6), path=path)
    again = rd.sweep(counted, values(folder, 6), path=path, processes=1)
    assert times(folder) == dict.fromkeys(range(6), 1)
    assert [x.name for x in tmp_path.iterdir() if x.is_file()] == ["study.sweep"]
    for table in (again, rd.SweepTable.load(path)):
        for name in first.names:
            assert table[name].dtype == first[name].dtype
            np.testing.assert_array_equal(table[name], first[name])


def test_rows_are_there_as_soon_as_they_are_done(folder, tmp_path):
    """Another connection reads them while the sweep writes."""
    path = tmp_path / "study.sweep"
    seen = []

    def look(part):
        seen.append((round(5 * part), int(rd.SweepTable.load(path).done.sum())))

    rd.sweep(counted, values(folder, 5), path=path, progress=look)
    assert seen == [(k, k) for k in range(6)]


def test_a_failed_row_is_stored_and_not_tried_again(folder, tmp_path):
    path = tmp_path / "study.sweep"
    for _ in range(2):
        with pytest.warns(SweepWarning, match="2 of 6 rows failed"):
            table = rd.sweep(failing, values(folder, 6), path=path)
        assert table["value"][0].tolist()[::3] == [0, 3]
        assert [*table.failures] == [1, 4]
    assert times(folder) == dict.fromkeys(range(6), 1)


@pytest.mark.parametrize("options", [{}, {"processes": 2}], ids=["threads", "processes"])
def test_the_first_failure_stops_the_sweep_if_asked(folder, tmp_path, options):
    path = tmp_path / "study.sweep"
    counts = []
    for _ in range(2):
        with pytest.raises(rd.SweepError, match=r"row 1 \(.*k = 1\) failed: ValueError: 1 is") as e:
            rd.sweep(failing, values(folder, 100), path=path, errors="raise", **options)
        assert (e.value.row, e.value.table["value"][0, 0]) == (1, 0)
        counts.append(times(folder))
    assert len(counts[0]) < 12
    assert {*counts[0].values()} == {1}
    assert counts[1] == counts[0]  # the file has the failure already


SCALE = 3.0


def scaled(k):
    return helper(k) * SCALE


def helper(k):
    return k + 1


def another_helper(k):
    return k + 2


def changes(monkeypatch):
    """What makes another sweep, and how the message names it."""
    robot = rd.load("double_pendulum")
    heavy = robot.with_(gravity=(0.0, 0.0, -9.82))
    base = {"study": scaled, "values": {"k": [1, 2]}}

    def reading(light):
        return lambda k: light.nv * k

    def by_default(factor):
        return lambda k, *, factor=factor: factor * k

    yield base, base | {"values": {"k": [1, 3]}}, r"values\['k'\]: 2 values \[1, 2\] #\w+ there"
    yield base, base | {"values": [{"k": 1}, {"k": 2}]}, "product: True there, False here"
    yield base, base | {"study": helper}, "the study: scaled there, helper here"
    yield base, base | {"study": lambda k: k}, "the study: scaled there, .*lambda"
    yield base, base | {"batch": 2}, "batch: None there, 2 here"
    seeded = base | {"study": lambda k, rng: k, "seed": 1}
    yield seeded, seeded | {"seed": 2}, "seed: 1 there, 2 here"
    robots = base | {"study": lambda r: 0, "values": {"r": {"a": robot}}}
    yield robots, robots | {"values": {"r": {"a": heavy}}}, r"values\['r'\]"
    inner = base | {"study": reading(robot)}
    yield inner, inner | {"study": reading(heavy)}, r"the code of the study and what it uses\. Give"
    default = base | {"study": by_default(1)}
    yield default, default | {"study": by_default(2)}, "the code of the study"
    yield base, base, None
    yield base, lambda: monkeypatch.setattr(sys.modules[__name__], "SCALE", 4.0), "the code of"
    monkeypatch.undo()
    change = (sys.modules[__name__], "helper", another_helper)
    yield base, lambda: monkeypatch.setattr(*change), "the code of"


def test_files_of_other_sweeps_are_refused(tmp_path, monkeypatch):
    for number, (first, second, said) in enumerate(changes(monkeypatch)):
        path = tmp_path / f"{number}.sweep"
        rd.sweep(**first, path=path)
        before = path.read_bytes()
        if callable(second):
            second()
            second = first
        if said is None:
            rd.sweep(**second, path=path)
            continue
        with pytest.raises(rd.SweepError, match=f"holds another sweep; what differs: .*{said}"):
            rd.sweep(**second, path=path)
        assert path.read_bytes() == before


def test_a_robot_looks_the_same_to_every_process(tmp_path):
    code = (
        "import robodyn as rd; from robodyn.studies.sweep.identity import digest;"
        "robots = [rd.load(x) for x in ('stewart', 'palletizer')];"
        "print([digest(x) for x in (*robots, {'b', 'a', 'c'}, {'x': 1, 'a': 2})])"
    )
    told = {python("-c", code, env={"PYTHONHASHSEED": str(seed)}).stdout for seed in (1, 2)}
    assert len(told) == 1


@pytest.mark.parametrize(
    "options",
    [
        {"precision": 2}, {"suppress": True}, {"sign": "+"}, {"floatmode": "fixed"},
        {"linewidth": 20}, {"edgeitems": 1}, {"threshold": 3}, {"nanstr": "?", "infstr": "many"},
        {"formatter": {"float": "{:.2f}".format}}, {"legacy": "1.13"},
    ],
)  # fmt: skip
def test_how_numpy_prints_does_not_count(folder, tmp_path, options):
    path = tmp_path / "study.sweep"
    rd.sweep(counted, values(folder, 8), path=path, processes=1)
    with np.printoptions(**options):
        rd.sweep(counted, values(folder, 8), path=path, processes=1)
    assert times(folder) == dict.fromkeys(range(8), 1)


STUDY_OF_A_FOLDER = """
import pathlib, sys
import robodyn as rd
here = pathlib.Path(__file__).parent
arm = rd.load(here / "arm.urdf")
def study(x):
    (here / "called").open("a").write("x")
    return arm.gravity_forces([x, 0.1])
if __name__ == "__main__":
    rd.sweep(study, {"x": [0.1, 0.2]}, path=here / "a.sweep", processes=1)
"""


def test_the_place_of_the_folder_does_not_count(tmp_path):
    project = tmp_path / "project"
    project.mkdir()
    shutil.copy(ROBOTS / "double_pendulum.urdf", project / "arm.urdf")
    (project / "study.py").write_text(STUDY_OF_A_FOLDER)
    python("study.py", cwd=project)
    python("project/study.py", cwd=tmp_path)
    project = project.rename(tmp_path / "moved")
    python("study.py", cwd=project)
    text = (project / "arm.urdf").read_text()
    (project / "arm.urdf").write_text(
        f"{text[: text.index('<robot')]}\n{text[text.index('<robot') :]}"
    )
    python("study.py", cwd=project)  # other lines
    assert (project / "called").read_text() == "xx"
    (project / "arm.urdf").write_text(text.replace('mass value="1', 'mass value="2'))
    wrong = subprocess.run([sys.executable, "study.py"], cwd=project, capture_output=True)
    assert b"the code of the study and what it uses" in wrong.stderr


def test_what_is_no_file_of_a_sweep(tmp_path):
    with pytest.raises(MissingFileError, match="no such folder"):
        rd.sweep(sweep_studies.square, {"x": [1]}, path=tmp_path / "none" / "x")
    (tmp_path / "text").write_text("not a database, and long enough to be looked at" * 9)
    with pytest.raises(FileError, match="file is not a database"):
        rd.sweep(sweep_studies.square, {"x": [1]}, path=tmp_path / "text")
    with sqlite3.connect(tmp_path / "other") as other:
        other.execute("CREATE TABLE x (y)")
    with pytest.raises(FileError, match="but not of a sweep"):
        rd.sweep(sweep_studies.square, {"x": [1]}, path=tmp_path / "other")


@pytest.mark.parametrize("ending", ["-journal", "-wal", "-shm"])
def test_what_is_called_as_a_journal_is_not_touched(tmp_path, ending):
    mine = tmp_path / f"a.sweep{ending}"
    mine.write_text("mine")
    with pytest.raises(FileError, match=f"a.sweep{ending}, which would be lost"):
        rd.sweep(sweep_studies.square, {"x": [1.0, 2.0]}, path=tmp_path / "a.sweep")
    assert mine.read_text() == "mine" and [*tmp_path.iterdir()] == [mine]


def test_one_sweep_writes_at_a_time(folder, tmp_path):
    path = tmp_path / "study.sweep"

    def intrude(part):
        if part < 1.0:
            with pytest.raises(rd.SweepError, match="is being written by another sweep"):
                rd.sweep(counted, values(folder, 3), path=path)

    rd.sweep(counted, values(folder, 3), path=path, progress=intrude)
    assert times(folder) == dict.fromkeys(range(3), 1)


def test_a_dead_worker_is_replaced(folder):
    table = rd.sweep(dies_once, values(folder, 8), processes=2)
    np.testing.assert_array_equal(table["value"][0], np.arange(8) / 3.0)
    assert times(folder) == dict.fromkeys(range(8), 1) | {3: 2}


def test_ctrl_c_is_for_the_process_that_waits(folder):
    """A terminal sends it to workers as well; they go on until they are told to end."""

    workers = set()

    def interrupt(part):
        if 0.0 < part < 1.0:
            workers.update(x.pid for x in multiprocessing.active_children())
            os.kill(max(workers), signal.SIGINT)

    rd.sweep(slow, values(folder, 10), processes=1, progress=interrupt)
    assert times(folder) == dict.fromkeys(range(10), 1)
    assert len(workers) == 1


def test_a_row_that_kills_workers_fails_and_is_tried_again_by_the_next_call(folder, tmp_path):
    path = tmp_path / "study.sweep"
    with pytest.warns(SweepWarning, match=r"2 worker processes died of it \(by signal SIGKILL\)"):
        table = rd.sweep(dies, values(folder, 6), path=path, processes=2)
    assert table.done[0].tolist() == [True, True, True, False, True, True]
    assert times(folder) == dict.fromkeys(range(6), 1) | {3: 2}
    (folder / "cured").touch()
    table = rd.sweep(dies, values(folder, 6), path=path)
    np.testing.assert_array_equal(table["value"][0], np.arange(6) / 3.0)
    assert times(folder) == dict.fromkeys(range(6), 1) | {3: 3}


@pytest.mark.parametrize("how", ["threads", "processes"])
@pytest.mark.parametrize("signal_", [signal.SIGKILL, signal.SIGINT], ids=["killed", "interrupted"])
def test_a_main_process_that_ends_early(folder, tmp_path, how, signal_):
    """Rows that were stored are not computed again; those under way are, and nothing is lost."""
    path = tmp_path / "study.sweep"
    process = started(folder, path, how)
    if signal_ == signal.SIGINT:
        os.killpg(process.pid, signal_)  # as a terminal does, workers included
    else:
        process.kill()
    said = process.communicate()[1].decode()
    assert said.count("KeyboardInterrupt") == (signal_ == signal.SIGINT), said
    time.sleep(0.2)  # workers without a main process end with their row
    stored = rd.SweepTable.load(path).done[0]
    assert 0 < stored.sum() < 40
    before = times(folder)
    table = rd.sweep(slow, values(folder, 40), path=path)
    np.testing.assert_array_equal(table["value"][0], np.arange(40) / 3.0)
    for k, count in times(folder).items():
        assert count == before.get(k, 0) + (not stored[k]), f"row {k}"
        assert count <= 2


def test_a_journal_that_breaks_off_anywhere(folder, tmp_path):
    """What a crash of the system leaves: the last rows may be missing, none is wrong."""
    path = tmp_path / "study.sweep"
    copies = []

    def copy(part):
        if part == 1.0:
            copies.extend([path.read_bytes(), (tmp_path / "study.sweep-wal").read_bytes()])

    whole = rd.sweep(counted, values(folder, 8), path=path, progress=copy)
    base, journal = copies
    again = []
    for part in range(20, -1, -1):
        torn = tmp_path / f"{part}.sweep"
        torn.write_bytes(base)
        (tmp_path / f"{part}.sweep-wal").write_bytes(journal[: len(journal) * part // 20])
        before = sum(times(folder).values())
        table = rd.sweep(counted, values(folder, 8), path=torn)
        np.testing.assert_array_equal(table["third"], whole["third"])
        again.append(sum(times(folder).values()) - before)
    assert again == sorted(again)
    assert (again[0], again[-1]) == (0, 8)
    assert len({*again}) > 4


def test_a_study_that_does_not_come_from_a_file(tmp_path):
    """Its code is looked at, not its text."""
    path = tmp_path / "study.sweep"
    for number, text in enumerate(("lambda k: k + 1", "lambda k:  k + 1", "lambda k: k + 2")):
        study = eval(text)
        if number < 2:
            assert rd.sweep(study, {"k": [1]}, path=path)["value"].tolist() == [2]
        else:
            with pytest.raises(rd.SweepError, match="the code of the study"):
                rd.sweep(study, {"k": [1]}, path=path)


def test_a_memory_of_the_study_is_no_part_of_it(folder, tmp_path):
    memory = []

    def study(k):
        memory.append(k)
        leave_trace(folder, k)
        return k

    for _ in range(2):
        rd.sweep(study, {"k": range(3)}, path=tmp_path / "study.sweep")
    assert (len(memory), times(folder)) == (3, dict.fromkeys(range(3), 1))
