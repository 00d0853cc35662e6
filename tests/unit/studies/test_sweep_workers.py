"""Worker processes and the workers of a real Dask cluster compute sweeps, and some of them die."""

import functools
import os
import signal
import sys
import threading
import time

import numpy as np
import pytest
from support import sweep_studies
from support.processes import python
from support.sweep_studies import (
    dies,
    dies_once,
    slow,
    square,
    started,
    times,
    values,
)

import robodyn as rd
from robodyn.errors import SweepWarning
from robodyn.studies.sweep import workers as by_threads

pytestmark = pytest.mark.slow


@pytest.fixture(params=["processes", "address", "client"])
def way(request):
    """How to have a sweep computed elsewhere; test_sweep_executors.py has all executors."""
    if request.param == "processes":
        yield {"processes": 2}
        return
    cluster = request.getfixturevalue("cluster")
    if request.param == "address":
        yield {"scheduler": cluster.scheduler_address}
        return
    import distributed

    with distributed.Client(cluster, set_as_default=False) as client:
        yield {"scheduler": client}


def test_a_sweep_begun_here_goes_on_there(folder, tmp_path, way):
    path = tmp_path / "study.sweep"

    def stop(part):
        if part >= 0.5:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        rd.sweep(slow, values(folder, 12), path=path, progress=stop, **way)
    stored = rd.SweepTable.load(path).done[0]
    before = times(folder)
    table = rd.sweep(slow, values(folder, 12), path=path)
    np.testing.assert_array_equal(table["value"][0], np.arange(12) / 3.0)
    assert {k for k, n in times(folder).items() if n > before.get(k, 0)} == {*np.where(~stored)[0]}


# processes


@pytest.fixture
def four_threads():
    before = rd.get_num_threads()
    rd.set_num_threads(4)
    yield
    rd.set_num_threads(before)


@pytest.mark.parametrize("gain", [0.0, np.inf], ids=["threads help", "they do not"])
def test_rows_by_threads_and_one_after_another(gain, four_threads, monkeypatch, caplog):
    own = {"GAIN": gain, "TRIAL": 0.0, "ALONE": 0.01, "LONG": 0.0}
    for name, value in own.items():
        monkeypatch.setattr(by_threads, name, value)
    alone = {}

    def study(k):
        alone[k] = threading.current_thread() is threading.main_thread()
        time.sleep(1e-3)
        assert np.geterr()["under"] == "raise"  # as where the sweep is called
        return k * k

    with np.errstate(under="raise"):
        table = rd.sweep(study, {"k": range(60)})
    assert table["value"].tolist() == [k * k for k in range(60)]
    assert not alone[0] and any(alone.values()) == (gain > 0.0)
    assert ("processes= computes them side by side" in caplog.text) == (gain > 0.0)


@pytest.mark.parametrize(("processes", "each"), [(1, 4), (3, 1)])
def test_worker_processes_share_the_threads(four_threads, processes, each):
    table = rd.sweep(sweep_studies.threads, {"k": range(4)}, processes=processes)
    assert table["value"].tolist() == [each] * 4


def with_lock(x, lock):
    return x


@pytest.mark.parametrize(
    "study",
    [lambda x: x, functools.partial(with_lock, lock=threading.Lock())],
    ids=["lambda", "lock"],
)
def test_functions_that_processes_cannot_import(study):
    with pytest.raises(rd.SweepError, match=r"cannot be sent to worker processes \(.*threads take"):
        rd.sweep(study, {"x": [1]}, processes=2)


def run_script(tmp_path, text):
    script = tmp_path / "script.py"
    script.write_text(text)
    return python(script, check=False, timeout=120)


def test_a_script_without_a_guard_says_what_to_do(tmp_path):
    done = run_script(
        tmp_path,
        "import robodyn as rd\ndef study(x): return x\n"
        "rd.sweep(study, {'x': [1, 2]}, processes=2)\n",
    )
    assert done.returncode == 1
    assert "SweepError: a worker process did not start (with exit status 1)" in done.stderr
    assert "under `if __name__ == '__main__':`" in done.stderr


def test_a_script_with_a_guard(tmp_path):
    done = run_script(
        tmp_path,
        "import robodyn as rd\ndef study(x): return 2 * x\nif __name__ == '__main__':\n"
        "    print(rd.sweep(study, {'x': [1, 2]}, processes=2)['value'])\n",
    )
    assert (done.stdout, done.stderr) == ("[2 4]\n", "")


def test_a_study_that_was_typed_in(tmp_path):
    code = "import robodyn as rd\ndef f(x): return x\nrd.sweep(f, {'x': [1]}, processes=1)"
    done = python("-c", code, check=False, timeout=120)
    assert "cannot load the study (AttributeError" in done.stderr


# Dask


def test_a_dead_dask_worker_is_replaced(folder, mortal_cluster):
    table = rd.sweep(dies_once, values(folder, 8), scheduler=mortal_cluster.scheduler_address)
    np.testing.assert_array_equal(table["value"][0], np.arange(8) / 3.0)
    assert (folder / "died").exists()
    assert times(folder)[3] == 2


def test_a_dask_worker_killed_from_outside(folder, tmp_path, mortal_cluster):
    path = tmp_path / "study.sweep"

    def kill(part):
        if part == 0.2:
            process = next(iter(mortal_cluster.workers.values())).process.process
            os.kill(process.pid, signal.SIGKILL)

    options = {"path": path, "scheduler": mortal_cluster.scheduler_address}
    table = rd.sweep(slow, values(folder, 40), progress=kill, **options)
    np.testing.assert_array_equal(table["value"][0], np.arange(40) / 3.0)
    counts = times(folder)
    rd.sweep(slow, values(folder, 40), **options)
    assert times(folder) == counts


def test_a_row_that_kills_dask_workers_fails_and_is_tried_again(folder, tmp_path, mortal_cluster):
    path = tmp_path / "study.sweep"
    options = {"path": path, "scheduler": mortal_cluster.scheduler_address}
    with pytest.warns(SweepWarning, match="the workers died of it"):
        table = rd.sweep(dies, values(folder, 6), **options)
    assert table.done[0].tolist() == [True, True, True, False, True, True]
    (folder / "cured").touch()
    table = rd.sweep(dies, values(folder, 6), **options)
    np.testing.assert_array_equal(table["value"][0], np.arange(6) / 3.0)


@pytest.fixture
def unforgiving():
    """Clusters that give up all that was on a worker as soon as it dies."""
    import dask

    settings = {
        "distributed.scheduler.allowed-failures": 0,
        "distributed.scheduler.worker-saturation": "inf",
    }
    with dask.config.set(settings):
        yield


def test_rows_beside_one_that_kills_its_worker_are_tried_again(folder, unforgiving, lone_worker):
    with pytest.warns(SweepWarning, match="1 of 8 rows failed; row 3"):
        table = rd.sweep(dies, values(folder, 8), scheduler=lone_worker.scheduler_address)
    assert table.done[0].tolist() == [True] * 3 + [False] + [True] * 4


def test_results_that_a_cluster_drops_are_computed_again(folder, mortal_cluster):
    import distributed

    with distributed.Client(mortal_cluster, set_as_default=False) as client:

        def restart(part):
            if part == 0.2:
                client.restart(wait_for_workers=False)

        table = rd.sweep(slow, values(folder, 20), scheduler=client, progress=restart)
    np.testing.assert_array_equal(table["value"][0], np.arange(20) / 3.0)


def test_a_main_process_killed_while_a_cluster_works(folder, tmp_path, cluster):
    path = tmp_path / "study.sweep"
    process = started(folder, path, "dask", cluster.scheduler_address)
    process.kill()
    process.communicate()
    stored = rd.SweepTable.load(path).done[0]
    time.sleep(0.5)  # tasks under way end, those that nobody wants any more are dropped
    before = times(folder)
    table = rd.sweep(slow, values(folder, 40), path=path, scheduler=cluster.scheduler_address)
    np.testing.assert_array_equal(table["value"][0], np.arange(40) / 3.0)
    assert 0 < stored.sum() < 40
    for k in np.flatnonzero(stored):
        assert times(folder)[k] == before[k] == 1


@pytest.fixture
def impatient():
    """How long a client waits for a scheduler that has gone."""
    import dask

    with dask.config.set({"distributed.comm.timeouts.connect": "1s"}):
        yield


def test_a_scheduler_that_goes_away(folder, tmp_path, impatient, lone_worker):
    path = tmp_path / "study.sweep"

    def close(part):
        if part == 0.1:
            lone_worker.close()

    with pytest.raises(
        rd.SweepError, match=r"the executor(.s scheduler has gone| takes no rows| cancels)"
    ):
        rd.sweep(
            slow,
            values(folder, 40),
            path=path,
            scheduler=lone_worker.scheduler_address,
            progress=close,
        )
    table = rd.sweep(slow, values(folder, 40), path=path)
    np.testing.assert_array_equal(table["value"][0], np.arange(40) / 3.0)


def test_a_scheduler_that_is_not_there(impatient):
    with pytest.raises(rd.SweepError, match=r"no Dask scheduler answers at 'tcp://127\.0\.0\.1:9'"):
        rd.sweep(square, {"x": [1]}, scheduler="tcp://127.0.0.1:9")
    with pytest.raises(rd.ShapeError, match="expected the address of a Dask scheduler"):
        rd.sweep(square, {"x": [1]}, scheduler=8786)


def test_without_dask(monkeypatch):
    monkeypatch.setitem(sys.modules, "distributed", None)
    with pytest.raises(rd.MissingExtraError, match=r"pip install .*\[dask\]'"):
        rd.sweep(square, {"x": [1]}, scheduler="tcp://127.0.0.1:9")


def test_workers_that_lack_the_module_of_the_study(cluster, tmp_path, monkeypatch):
    (tmp_path / "only_here.py").write_text("def study(x):\n    return x\n")
    monkeypatch.syspath_prepend(tmp_path)
    study = __import__("only_here").study
    with pytest.raises(rd.SweepError, match=r"ModuleNotFoundError.*workers need robodyn and the"):
        rd.sweep(study, {"x": [1]}, scheduler=cluster.scheduler_address)
