"""Executors of other packages and shares of job arrays compute sweeps, to the last bit alike."""

import concurrent.futures
import contextlib
import importlib.util
import os
import subprocess
import sys
import threading
import types
from pathlib import Path

import numpy as np
import pytest
from support import sweep_studies
from support.sweep_studies import counted, dies, failing, noise, noises, square, times, values

import robodyn as rd
from robodyn.errors import FileError, MissingFileError, SweepWarning


def assert_same(one, other):
    assert one.names == other.names
    for name in one.names:
        assert one[name].dtype == other[name].dtype
        assert one[name].tobytes() == other[name].tobytes(), name


class Shuffled(concurrent.futures.Executor):
    """One that computes what it holds in another order, when it has enough of it."""

    def __init__(self, hold=7):
        self.held, self.hold, self.submitted = [], hold, 0

    def submit(self, function, /, *args, **kwargs):
        future = concurrent.futures.Future()
        self.held.append((future, function, args, kwargs))
        self.submitted += 1
        if len(self.held) == self.hold or self.submitted == 20:
            for k in np.random.default_rng(self.submitted).permutation(len(self.held)):
                future_k, f, a, kw = self.held[k]
                future_k.set_result(f(*a, **kw))
            self.held = []
        return future


class Forgetful(concurrent.futures.Executor):
    """One that cancels, at times or always, what it was asked for."""

    def __init__(self, until):
        self.until, self.count = until, 0

    def submit(self, function, /, *args, **kwargs):
        future = concurrent.futures.Future()
        self.count += 1
        if self.count <= self.until:
            future.cancel()
        else:
            future.set_result(function(*args, **kwargs))
        return future


def test_results_out_of_order():
    executor = Shuffled()
    seen = []
    table = rd.sweep(square, {"x": range(20)}, executor=executor, progress=seen.append)
    assert table["value"].tolist() == [k * k for k in range(20)]
    assert seen == sorted(seen) and seen[-1] == 1.0


def test_what_an_executor_cancels_is_asked_for_again():
    assert rd.sweep(square, {"x": [2, 3]}, executor=Forgetful(5))["value"].tolist() == [4, 9]
    with pytest.raises(rd.SweepError, match="cancels what it was asked for; with path="):
        rd.sweep(square, {"x": [2, 3]}, executor=Forgetful(10**9))


def test_threads_take_what_cannot_be_sent():
    lock = threading.Lock()

    def study(x):
        with lock:
            assert np.geterr()["under"] == "raise"  # as where the sweep is called
            return x * x

    with concurrent.futures.ThreadPoolExecutor(2) as pool:
        with np.errstate(under="raise"):
            table = rd.sweep(study, {"x": range(30)}, executor=pool)
        assert table["value"].tolist() == [k * k for k in range(30)]
        assert pool.submit(int, "3").result() == 3  # it is left open
    with pytest.raises(rd.SweepError, match=r"cannot be sent to the workers .*ThreadPoolExecutor"):
        rd.sweep(study, {"x": [1]}, executor=Shuffled())
    with pytest.raises(rd.SweepError, match="a value cannot be sent"):
        rd.sweep(sweep_studies.weight, {"robot": {"a": lock}}, executor=Shuffled())


def test_without_cloudpickle_functions_go_by_name(monkeypatch):
    monkeypatch.setitem(sys.modules, "cloudpickle", None)
    assert rd.sweep(square, {"x": [3]}, executor=Shuffled(1))["value"].tolist() == [9]
    with pytest.raises(rd.SweepError, match="at the top level of a module, or install cloudpickle"):
        rd.sweep(lambda x: x, {"x": [3]}, executor=Shuffled(1))


def test_an_executor_that_was_shut_down():
    pool = concurrent.futures.ThreadPoolExecutor(1)
    pool.shutdown()
    with pytest.raises(rd.SweepError, match=r"takes no rows .*after shutdown"):
        rd.sweep(square, {"x": [1]}, executor=pool)


@pytest.mark.parametrize("executor", [4, "tcp://127.0.0.1:9", concurrent.futures.Executor])
def test_what_is_no_executor(executor):
    with pytest.raises(rd.ShapeError, match=r"expected an object of concurrent\.futures\.Executor"):
        rd.sweep(square, {"x": [1]}, executor=executor)


def test_a_study_that_raises_stops_what_was_not_begun(folder):
    with concurrent.futures.ThreadPoolExecutor(1) as pool:
        with pytest.raises(rd.SweepError, match=r"row 1 .*ValueError: 1 is not liked"):
            rd.sweep(failing, values(folder, 500), executor=pool, errors="raise")
    assert len(times(folder)) < 250


# executors of packages


@contextlib.contextmanager
def _pool():
    with concurrent.futures.ProcessPoolExecutor(2) as pool:
        yield pool


@contextlib.contextmanager
def _loky():
    import loky

    executor = loky.get_reusable_executor(2)
    try:
        yield executor
    finally:
        executor.shutdown(wait=True, kill_workers=True)


@contextlib.contextmanager
def _dask():
    import distributed

    cluster = distributed.LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=":0")
    with cluster, distributed.Client(cluster, set_as_default=False) as client:
        with pytest.raises(rd.ShapeError, match=r"client\.get_executor\(\)"):
            rd.sweep(square, {"x": [1]}, executor=client)
        yield client.get_executor()


@pytest.mark.slow
@pytest.mark.parametrize("made", [_pool, _loky, _dask])
def test_executors_give_what_this_process_gives(four_bar, made, folder, tmp_path):
    scale = 3.0
    q0 = np.random.default_rng(5).uniform(-1.0, 1.0, (9, 2))
    motions = {"stiffness": np.linspace(1.0, 50.0, 9), "q0": q0}
    pulled = four_bar.with_(forces=[rd.Force(lambda q, v, t: -scale * q, joint="crank_drive")])
    robots = {"earth": four_bar, "moon": four_bar.with_(gravity=(0, 0, -1.62)), "pulled": pulled}
    with made() as executor:
        path = tmp_path / "rows.sweep"
        table = rd.sweep(counted, values(folder, 40), executor=executor, path=path)
        assert_same(table, rd.sweep(counted, values(folder, 40), path=path))
        assert times(folder) == dict.fromkeys(range(40), 1)
        with pytest.warns(SweepWarning, match="3 of 9 rows failed"):
            table = rd.sweep(failing, values(folder, 9), executor=executor)
        assert [*table.failures] == [1, 4, 7]
        table = rd.sweep(noises, {"k": range(10)}, seed=4, batch=3, executor=executor)
        assert_same(table, rd.sweep(noise, {"k": range(10)}, seed=4))
        table = rd.sweep(sweep_studies.motions, motions, product=False, batch=4, executor=executor)
        assert_same(table, rd.sweep(sweep_studies.each, motions, product=False))
        table = rd.sweep(sweep_studies.weight, {"robot": robots}, executor=executor)
        assert_same(table, rd.sweep(sweep_studies.weight, {"robot": robots}))
        table = rd.sweep(lambda x: scale * x, {"x": [1, 2]}, executor=executor)
        assert table["value"].tolist() == [3.0, 6.0]


@pytest.mark.slow
@pytest.mark.parametrize("made", [_pool, _loky])
def test_an_executor_that_dies_leaves_what_was_done(made, folder, tmp_path):
    """Row 3 takes a worker with it, and so the pool; the same call goes on with another one."""
    path = tmp_path / "study.sweep"
    with made() as executor:
        with pytest.raises(rd.SweepError, match=r"the executor has died .*with path=") as caught:
            rd.sweep(dies, values(folder, 400), executor=executor, path=path)
        table = caught.value.table
        assert_same(table, rd.SweepTable.load(path))
        assert not table.done[0, 3] and not table.failures
    (folder / "cured").touch()
    before = times(folder)
    with made() as executor:
        done = rd.sweep(dies, values(folder, 400), executor=executor, path=path)
    np.testing.assert_array_equal(done["value"][0], np.arange(400) / 3.0)
    for k in np.flatnonzero(table.done[0]):
        assert times(folder)[k] == before[k] == 1


@pytest.mark.slow
@pytest.mark.skipif(
    importlib.util.find_spec("mpi4py") is None, reason="mpi4py is not installed (Linux on x86-64)"
)
def test_processes_of_mpi(folder):
    """Started by mpiexec, as batch systems do; one process calls, the others are workers."""
    mpiexec = Path(sys.executable).parent / "mpiexec"
    script = Path(sweep_studies.__file__)
    command = [
        sys.executable,
        "-m",
        "mpi4py.futures",
        script,
        folder,
        folder.parent / "a",
        "mpi",
        "",
    ]
    environment = os.environ | {"PYTHONPATH": str(script.parent.parent)}
    done = subprocess.run(
        [mpiexec, "-n", "3", *command], env=environment, capture_output=True, text=True, timeout=200
    )
    assert done.returncode == 0, done.stderr
    assert_same(
        rd.SweepTable.load(folder.parent / "a"), rd.sweep(sweep_studies.slow, values(folder, 40))
    )


# shares


@pytest.mark.parametrize(("batch", "n"), [(None, 3), (None, 25), (4, 2), (4, 5), (4, 6)])
def test_shares_together_are_the_sweep(batch, n, tmp_path):
    def study(k, rng):
        return (noises if batch else noise)(k, rng)

    options = {"batch": batch, "seed": 7}
    whole = rd.sweep(study, {"k": range(20)}, **options)
    shares = []
    for k in range(n):
        seen = []
        share = rd.sweep(
            study,
            {"k": range(20)},
            rows=(k, n),
            path=tmp_path / f"{k}.sweep",
            progress=seen.append,
            **options,
        )
        assert seen[0] in (0.0, 1.0) and seen[-1] == 1.0
        if share.done.any():  # there may be more shares than calls
            np.testing.assert_array_equal(share["value"][share.done], whole["value"][share.done])
        shares.append(share.done)
    assert (np.sum(shares, axis=0) == 1).all()
    into = tmp_path / "whole"
    assert_same(rd.SweepTable.merge(sorted(tmp_path.glob("*.sweep")), into), whole)
    assert_same(rd.SweepTable.load(into), whole)
    assert_same(rd.sweep(study, {"k": range(20)}, path=into, **options), whole)
    assert sorted(x.name for x in tmp_path.iterdir() if "." not in x.name) == ["whole"]


@pytest.mark.parametrize("rows", [(2, 2), (-1, 2), (0, 0), (0, -1), (0,), (0, 1, 2), 3, (0.5, 2)])
def test_what_is_no_share(rows):
    with pytest.raises(rd.ShapeError, match=r"rows"):
        rd.sweep(square, {"x": [1]}, rows=rows)
    with pytest.raises(rd.ShapeError, match=r"counted from 0, so that the last is \(3, 4\)"):
        rd.sweep(square, {"x": [1]}, rows=(4, 4))


def share(study, count, rows, path, **options):
    return rd.sweep(study, {"k": range(count)}, rows=rows, path=path, **options)


def third(k):
    return k / 3.0


def test_a_share_that_is_missing_is_told_and_can_be_computed(tmp_path):
    paths = [tmp_path / f"{k}.sweep" for k in (0, 2)]
    for k, path in zip((0, 2), paths, strict=True):
        share(third, 10, (k, 3), path)
    with pytest.warns(SweepWarning, match=r"3 of 10 rows .*rows 1, 4, 7; .*with path='.*all'"):
        table = rd.SweepTable.merge(paths, os.fspath(tmp_path / "all"))
    assert table.done.tolist() == [k % 3 != 1 for k in range(10)]
    share(third, 10, (1, 3), tmp_path / "all")
    table = rd.SweepTable.merge(paths, tmp_path / "all")  # what was added to it stays
    assert table["value"].tolist() == [third(k) for k in range(10)]


def test_shares_that_overlap(tmp_path):
    one, other, wrong = (tmp_path / f"{k}.sweep" for k in range(3))
    share(third, 6, (0, 2), one)
    share(third, 6, (0, 1), other)
    assert rd.SweepTable.merge([one, other, one], tmp_path / "all").done.all()
    again = [7.0]  # lists are no part of a study
    for number, path in ((1.0, one), (2.0, wrong)):
        path.unlink(missing_ok=True)
        again[0] = number
        share(lambda k: again[0] * k, 6, (0, 2), path)
    with pytest.raises(rd.SweepError, match=r"row 2 is .*2\.\)} in '.*0\.sweep' and .*4\.") as e:
        rd.SweepTable.merge([one, wrong], tmp_path / "new")
    assert e.value.row == 2 and not (tmp_path / "new").exists()


def test_a_file_that_a_sweep_is_writing_is_not_replaced(tmp_path):
    """Its other rows would go into a file without a name."""
    own, into = tmp_path / "own.sweep", tmp_path / "all.sweep"
    ways = [lambda: rd.SweepTable.merge([own], into), lambda: table.save(into)]
    said = []

    def study(x):
        if x == 1:
            for replace in ways:
                with pytest.raises(rd.SweepError, match="being written by another sweep: wait"):
                    replace()
                said.append(x)
        return 2.0 * x

    table = rd.sweep(study, {"x": [0, 1, 2, 3]}, rows=(0, 2), path=own)
    whole = rd.sweep(study, {"x": [0, 1, 2, 3]}, path=into)
    assert said == [1, 1] and not whole.failures
    assert rd.SweepTable.load(into)["value"].tolist() == [0.0, 2.0, 4.0, 6.0]
    assert sorted(tmp_path.iterdir()) == [into, own]
    into.write_text("no file of a sweep")
    table.save(into)
    assert rd.SweepTable.load(into).done.sum() == 2


def test_a_failed_row_is_merged_as_such_unless_another_file_has_it(tmp_path):
    able = [False]

    def study(k):
        if k == 1 and not able[0]:
            raise ValueError(f"{k} is not liked, {able}")
        return k

    paths = [tmp_path / f"{k}.sweep" for k in range(3)]
    for path in paths[:2]:
        with pytest.warns(SweepWarning, match="1 of 4 rows failed"):
            rd.sweep(study, {"k": range(4)}, path=path)
    able[0] = True
    rd.sweep(study, {"k": range(4)}, path=paths[2])
    assert [*rd.SweepTable.merge(paths[:2], tmp_path / "all").failures] == [1]
    with pytest.raises(rd.SweepError, match=r"row 1 is failed \(ValueError.* leave the wrong one"):
        rd.SweepTable.merge(paths, tmp_path / "new")


def test_shares_of_other_sweeps_are_refused(tmp_path):
    own, other, seeded, saved, text = (tmp_path / f"{k}.sweep" for k in range(5))
    share(third, 4, (0, 2), own)
    share(third, 5, (1, 2), other)
    share(noise, 4, (1, 2), seeded, seed=3)
    rd.SweepTable.load(own).save(saved)
    text.write_text("not a database, and long enough to be looked at" * 9)
    into = tmp_path / "all"
    for path, said in (
        (other, r"'.*1\.sweep' is not of the sweep of '.*0\.sweep'; what differs: values\['k'\]"),
        (seeded, "what differs: the study: third there, noise here; seed: None there, 3 here"),
        (saved, "is a table that was saved"),
    ):
        with pytest.raises(rd.SweepError, match=said):
            rd.SweepTable.merge([own, path], into)
    with pytest.raises(FileError, match="not a database"):
        rd.SweepTable.merge([own, text], into)
    with pytest.raises(MissingFileError, match="no such file"):
        rd.SweepTable.merge([own, tmp_path / "none"], into)
    for paths in ([], str(own), own):
        with pytest.raises(rd.ShapeError, match="expected a list of files"):
            rd.SweepTable.merge(paths, into)
    assert not into.exists()
    with pytest.raises(rd.SweepError, match="is not of the sweep of"):
        rd.SweepTable.merge([own], other)  # it would be lost


class Closed(concurrent.futures.Executor):
    """One like Dask's whose client has closed while it was asked: nothing ever ends."""

    def __init__(self):
        self._client = types.SimpleNamespace(status="closed")

    def submit(self, function, /, *args, **kwargs):
        return concurrent.futures.Future()


def test_nothing_is_waited_for_from_a_client_that_has_closed():
    with pytest.raises(rd.SweepError, match="the executor's scheduler has gone; with path="):
        rd.sweep(square, {"x": [1.0, 2.0]}, executor=Closed())
