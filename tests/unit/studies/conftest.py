"""Folders for traces of rows, and clusters of Dask."""

import contextlib

import pytest


@pytest.fixture
def folder(tmp_path):
    """For traces of rows that were computed; files of sweeps lie beside it."""
    (tmp_path / "traces").mkdir()
    return tmp_path / "traces"


@contextlib.contextmanager
def local_cluster(n_workers=2):
    """A scheduler, and worker processes with nannies that replace them, however long that takes."""
    import dask
    import distributed

    patient = {"distributed.deploy.lost-worker-timeout": "10 minutes"}  # by default it is 15 s
    with (
        dask.config.set(patient),
        distributed.LocalCluster(
            n_workers=n_workers, threads_per_worker=1, dashboard_address=":0"
        ) as cluster,
    ):
        yield cluster


@pytest.fixture(scope="module")
def cluster():
    """One for all tests of a file that leave its workers alive."""
    with local_cluster() as cluster:
        yield cluster


@pytest.fixture
def mortal_cluster():
    """One for a single test, which may kill workers: a nanny that is busy may not replace them."""
    with local_cluster() as cluster:
        yield cluster


@pytest.fixture
def lone_worker():
    """A cluster of one worker, which a test may close."""
    with local_cluster(1) as cluster:
        yield cluster
