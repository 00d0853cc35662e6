"""Samples that leave their ranges, found by blocks of rows and by comparing all."""

import numpy as np
import pytest

from robodyn.simulation.limits.joint_limits import passed_edges


def by_comparing(x, edges):
    """The first rows beyond edges, -1 where there is none, and extremes of columns, with rows."""
    beyond = np.concatenate([x < edges[0], x > edges[1]], axis=1)
    first = np.where(beyond.any(axis=0), beyond.argmax(axis=0) if len(x) else -1, -1)
    least, most = np.fmin.reduce(x, initial=np.inf), np.fmax.reduce(x, initial=-np.inf)
    at = np.concatenate([x == least, x == most], axis=1)
    worst = at.argmax(axis=0) if len(x) else first
    return first.tolist(), worst.tolist(), [*least, *most]


@pytest.mark.parametrize("rows", [0, 1, 63, 64, 65, 100, 192])
@pytest.mark.parametrize("columns", [1, 2, 7, 19])
def test_edges_are_those_that_comparing_finds_passed(rows, columns):
    random = np.random.default_rng(rows + columns)
    x = random.normal(size=(rows, columns))
    x[random.random(x.shape) < 0.05] = np.nan
    edges = np.array([[-1.5] * columns, [1.5] * columns])
    edges[0, 0], edges[1, -1] = -np.inf, np.inf
    found, expected = passed_edges(x, edges), by_comparing(x, edges)
    assert (found is None) == (max(expected[0]) < 0)
    if found is not None:
        assert tuple(x.tolist() for x in found) == expected


def test_infinite_samples_pass_what_nan_does_not():
    x = np.array([[np.nan, 0.0], [np.nan, np.inf], [np.nan, -np.inf]])
    rows, _, peaks = passed_edges(x, np.array([[-1.0, -1.0], [1.0, 1.0]]))
    assert rows.tolist() == [-1, 2, -1, 1]
    assert (peaks[1], peaks[3]) == (-np.inf, np.inf)
