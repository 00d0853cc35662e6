"""A sweep gives the same numbers, bit for bit, whatever way it is computed."""

import itertools
import threading

import numpy as np
import pytest
from support.sweep_studies import each, motion, motions, noise, noises

import robodyn as rd

pytestmark = pytest.mark.slow

ARM = {
    "stiffness": [5.0, 20.0, 80.0],
    "payload": [0.1, 1.0],
    "q0": [[0.1, 0.2], [0.4, -0.3]],
}


@pytest.fixture(scope="module")
def address():
    import distributed

    with distributed.LocalCluster(
        n_workers=2, threads_per_worker=2, dashboard_address=":0"
    ) as cluster:
        yield cluster.scheduler_address


@pytest.fixture
def threads():
    """A function that sets the number of threads, until the test ends."""
    before = rd.get_num_threads()
    yield rd.set_num_threads
    rd.set_num_threads(before)


def assert_same(one, other):
    assert one.names == other.names
    for name in (*one.names, *one.coords):
        assert one[name].dtype == other[name].dtype
        assert one[name].tobytes() == other[name].tobytes(), name


def test_threads_processes_and_a_cluster_give_the_same(address, threads, tmp_path):
    threads(1)
    table = rd.sweep(motion, ARM)
    expected = [motion(k, m, np.array(q)).q[-1] for k, m, q in itertools.product(*ARM.values())]
    assert table["q"].reshape(-1, 2).tobytes() == np.array(expected).tobytes()
    for count in (2, 5):
        threads(count)
        assert_same(rd.sweep(motion, ARM), table)
    assert_same(rd.sweep(motion, ARM, processes=2), table)
    assert_same(rd.sweep(motion, ARM, scheduler=address, path=tmp_path / "arm.sweep"), table)
    assert_same(rd.SweepTable.load(tmp_path / "arm.sweep"), table)


def test_batches_of_rollouts_give_what_single_motions_give(address, threads):
    rng = np.random.default_rng(5)
    values = {"stiffness": rng.uniform(1.0, 50.0, 45), "q0": rng.uniform(-1.0, 1.0, (45, 2))}
    table = rd.sweep(each, values, product=False)
    ways = ({}, {"processes": 2}, {"scheduler": address})
    for batch, way in itertools.product((1, 7, 45, 100), ways):
        assert_same(rd.sweep(motions, values, product=False, batch=batch, **way), table)
    threads(1)
    assert_same(rd.sweep(motions, values, product=False, batch=16), table)


def test_random_numbers_belong_to_rows_not_to_batches():
    table = rd.sweep(noise, {"k": range(10)}, seed=4)
    assert_same(rd.sweep(noises, {"k": range(10)}, seed=4, batch=3), table)
    assert not np.array_equal(rd.sweep(noise, {"k": range(10)}, seed=5)["value"], table["value"])


def test_batches_that_were_interrupted_are_cut_as_before(tmp_path):
    """A row is computed together with the same others, though fewer are left to do."""
    seen = []

    def study(k):
        seen.append(k.tolist())
        if len(seen) == 2:
            raise KeyboardInterrupt
        return k

    with pytest.raises(KeyboardInterrupt):
        one_thread(study, tmp_path)
    table = one_thread(study, tmp_path)
    assert seen == [[0, 1, 2], [3, 4, 5], [3, 4, 5], [6, 7, 8], [9]]
    assert table["value"].tolist() == list(range(10))


def test_batches_that_were_done_out_of_order_are_cut_as_before(threads, tmp_path):
    """The first one is still under way when the second one is stored and the sweep ends."""
    seen, second_done = [], [threading.Event()]  # lists are no part of a study

    def study(k):
        seen.append(k.tolist())
        if k[0] == 0 and not second_done[0].is_set():
            assert second_done[0].wait(60.0)
        return k

    def stop(part):
        if part > 0.0:
            second_done[0].set()
            raise KeyboardInterrupt

    threads(2)
    options = {"batch": 4, "path": tmp_path / "batches.sweep"}
    with pytest.raises(KeyboardInterrupt):
        rd.sweep(study, {"k": range(10)}, progress=stop, **options)
    assert sorted(seen) == [[0, 1, 2, 3], [4, 5, 6, 7]]
    table = rd.sweep(study, {"k": range(10)}, **options)
    assert sorted(seen[2:]) == [[0, 1, 2, 3], [8, 9]]
    assert table["value"].tolist() == list(range(10))


def one_thread(study, folder):
    before = rd.get_num_threads()
    rd.set_num_threads(1)
    try:
        return rd.sweep(study, {"k": range(10)}, batch=3, path=folder / "batches.sweep")
    finally:
        rd.set_num_threads(before)


@pytest.mark.parametrize("way", [{}, {"processes": 2}], ids=["threads", "processes"])
def test_of_a_batch_that_fails_the_other_rows_are_kept(way):
    with pytest.warns(UserWarning, match=r"2 of 10 rows failed; row 4 .*ValueError: 4 is bad"):
        table = rd.sweep(choosy, {"k": range(10)}, batch=4, **way)
    assert [*table.failures] == [4, 5]
    np.testing.assert_array_equal(table["value"], [0, 1, 2, 3, np.nan, np.nan, 6, 7, 8, 9])


def choosy(k):
    bad = k[(k == 4) | (k == 5)]
    if len(bad):
        raise ValueError(f"{bad[0]} is bad")
    return k


@pytest.mark.parametrize("returned", [3.0, np.zeros(3), np.zeros((3, 2))])
def test_a_batch_returns_one_result_a_row(returned):
    with pytest.raises(rd.SweepError, match=r"expected \(\d, ...\): one for each row of the batch"):
        rd.sweep(lambda k: returned, {"k": range(4)}, batch=2, errors="raise")


def test_objects_come_to_a_batch_as_lists():
    robots = {"a": rd.load("double_pendulum"), "b": rd.load("puma560")}
    table = rd.sweep(lambda r: np.array([x.nv for x in r]), {"r": robots}, batch=2)
    assert table["value"].tolist() == [2, 6]
