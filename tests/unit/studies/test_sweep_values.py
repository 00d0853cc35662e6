"""Which rows a sweep has, and what the study is called with."""

import itertools

import numpy as np
import pytest

import robodyn as rd
from robodyn.studies.sweep.grid import grid_of
from robodyn.studies.sweep.rows import share_of, tasks_of


def called(values, **options):
    """What a study was called with, in the order of the table's rows."""
    calls = []

    def study(**given):
        calls.append(given)
        return len(calls) - 1

    rd.set_num_threads(1)
    try:
        table = rd.sweep(study, values, **options)
    finally:
        rd.set_num_threads(2)
    assert table["value"].ravel().tolist() == list(range(len(calls)))
    return calls, table


def test_every_combination_the_last_argument_fastest():
    values = {"a": [1, 2, 3], "b": ["x", "y"], "c": [True, False]}
    calls, table = called(values)
    expected = [dict(zip("abc", x, strict=True)) for x in itertools.product(*values.values())]
    assert calls == expected
    assert [{n: row[n] for n in "abc"} for row in table.rows] == expected
    assert (table.dims, table.shape, len(table)) == (("a", "b", "c"), (3, 2, 2), 12)


def test_rows_are_computed_with_the_same_others_whatever_is_done():
    grid, every_row = grid_of({"a": range(7)}, product=True), share_of(7, 2, None)
    tasks = [*tasks_of(grid, every_row, 2, {0, 3, 4, 5})]
    found = [(task.rows, task.arguments["a"].tolist()) for task in tasks]
    assert found == [(range(0, 2), [0, 1]), (range(2, 4), [2, 3]), (range(6, 7), [6])]


def test_values_are_python_numbers_and_arrays():
    calls, table = called({"a": np.array([1.5]), "n": np.arange(1), "q": [[1, 2.0]]})
    assert [type(calls[0][name]) for name in "anq"] == [float, int, np.ndarray]
    assert table.coords["q"].shape == (1, 2)


def test_a_study_may_write_into_what_it_gets():
    def study(q):
        q += 1.0
        return q

    table = rd.sweep(study, {"q": [[1.0, 2.0], [3.0, 4.0]]})
    assert table["value"].tolist() == [[2.0, 3.0], [4.0, 5.0]]
    assert table.coords["q"].tolist() == [[1.0, 2.0], [3.0, 4.0]]


def test_a_list_of_mappings_as_it_is():
    rows = [{"a": 1, "b": 5.0}, {"b": 6.0, "a": 2}, {"a": 2, "b": 5.0}]
    calls, table = called(rows)
    assert calls == rows
    assert (table.dims, table.shape) == (("row",), (3,))
    assert table.coords["b"].tolist() == [5.0, 6.0, 5.0]


def test_samples_side_by_side():
    calls, table = called({"a": [1, 2], "b": [5.0, 6.0]}, product=False)
    assert calls == [{"a": 1, "b": 5.0}, {"a": 2, "b": 6.0}]
    assert table.dims == ("row",)


def test_objects_have_names(double):
    robots = {"light": double, "heavy": double.with_(gravity=(0, 0, -20.0))}
    calls, table = called({"robot": robots, "k": [1, 2]})
    assert [call["robot"] for call in calls] == [robots[x] for x in ("light",) * 2 + ("heavy",) * 2]
    assert table.coords["robot"].tolist() == ["light", "heavy"]


def test_a_study_without_arguments_has_one_row():
    table = rd.sweep(lambda: 7, {})
    assert (table.shape, table["value"]) == ((), 7)


def test_side_by_side_needs_equal_numbers():
    with pytest.raises(rd.ShapeError, match=r"a 2, b 3; product=True combines"):
        rd.sweep(lambda a, b: 0, {"a": [1, 2], "b": [1, 2, 3]}, product=False)


def test_choices_that_there_are_not():
    with pytest.raises(rd.UnknownNameError, match=r"no choice 'ignore' in errors="):
        rd.sweep(lambda a: 0, {"a": [1]}, errors="ignore")
    with pytest.raises(
        rd.SettingsError, match="one way to compute rows, not processes and scheduler"
    ):
        rd.sweep(lambda a: 0, {"a": [1]}, processes=2, scheduler="tcp://127.0.0.1:9")


def test_random_numbers_of_a_row_are_its_own():
    table = rd.sweep(lambda k, rng: rng.random(2), {"k": range(5)}, seed=11)
    rngs = map(np.random.default_rng, np.random.SeedSequence(11).spawn(5))
    np.testing.assert_array_equal(table["value"], [rng.random(2) for rng in rngs])
