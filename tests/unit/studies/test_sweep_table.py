"""The table that a sweep returns."""

import sys

import numpy as np
import pytest
from support.sweep_studies import motion

import robodyn as rd
from robodyn.errors import FileError, MissingFileError, SweepWarning


def study(gain, load):
    if gain == 20.0 and load == 2:
        raise ValueError("too heavy")
    word = "high" if gain > 15.0 else "low"
    return {"sum": gain + load, "pair": [gain, load], "n": load, "word": word, "ok": True}


VALUES = {"gain": [10.0, 20.0], "load": [1, 2, 3]}


@pytest.fixture(scope="module")
def table():
    with pytest.warns(SweepWarning, match=r"1 of 6 rows failed; row 4 \(gain = 20.0, load = 2\)"):
        return rd.sweep(study, VALUES)


def test_results_have_the_shape_of_the_product(table):
    nan = np.nan
    np.testing.assert_array_equal(table["sum"], [[11, 12, 13], [21, nan, 23]])
    assert table["pair"].shape == (2, 3, 2)
    np.testing.assert_array_equal(table["n"], [[1, 2, 3], [1, nan, 3]])
    assert table["word"].tolist() == [["low"] * 3, ["high", "", "high"]]
    np.testing.assert_array_equal(table["ok"], [[1, 1, 1], [1, nan, 1]])
    assert table["gain"].tolist() == VALUES["gain"]
    assert table.done.tolist() == [[True] * 3, [True, False, True]]


def test_whole_numbers_and_truth_values_stay_what_they_are():
    table = rd.sweep(lambda a: {"n": 2**53 + a, "ok": a > 0, "c": 1j * a}, {"a": [0, 1]})
    assert table["n"].tolist() == [2**53, 2**53 + 1]
    assert (table["n"].dtype.kind, table["ok"].dtype.kind, table["c"].dtype.kind) == tuple("ibc")


def test_what_failed_is_told(table):
    assert [*table.failures] == [4]
    assert table.failures[4].startswith("ValueError: too heavy (test_sweep_table.py, line ")
    assert table.rows[4] == {"gain": 20.0, "load": 2, "error": table.failures[4]}


def test_a_part_by_labels(table):
    part = table.sel(gain=10.0)
    assert (part.dims, part["sum"].tolist()) == (("load",), [11, 12, 13])
    assert part.coords["gain"] == 10.0
    assert table.sel(load=[3, 1])["sum"].tolist() == [[13, 11], [23, 21]]
    assert table.sel(gain=20.0, load=3)["sum"] == 23
    assert table.isel(load=slice(1, None)).coords["load"].tolist() == [2, 3]
    assert table.isel(gain=-1)["word"].tolist() == ["high", "", "high"]
    assert part.rows[0] == {
        "gain": 10.0,
        "load": 1,
        "sum": 11.0,
        "n": 1,
        "word": "low",
        "ok": True,
    } | {"pair": part.rows[0]["pair"]}


def test_a_part_of_rows_given_one_by_one():
    table = rd.sweep(lambda a, b: a + b, [{"a": 1, "b": 2}, {"a": 3, "b": 2}, {"a": 1, "b": 5}])
    assert table.sel(a=1)["value"].tolist() == [3, 6]
    assert table.sel(a=1, b=5)["value"].tolist() == [6]
    for both in ([2, 5], [5, 2]):
        assert table.sel(b=both)["value"].tolist() == [3, 5, 6]


def test_a_part_by_an_array():
    table = rd.sweep(lambda q: sum(q), {"q": [[1.0, 2.0], [3.0, 4.0]]})
    assert table.sel(q=[3.0, 4.0])["value"] == 7.0
    assert table.sel(q=[[3.0, 4.0]])["value"].tolist() == [7.0]


def test_names_and_labels_that_are_not_there(table):
    with pytest.raises(rd.UnknownNameError, match=r"no result 'sun'.*did you mean 'sum'"):
        table["sun"]
    with pytest.raises(rd.UnknownNameError, match=r"no value of 'gain' 11.0"):
        table.sel(gain=11.0)
    with pytest.raises(rd.UnknownNameError, match="no argument 'lead'"):
        table.sel(lead=1)
    with pytest.raises(rd.UnknownNameError, match="no argument 'gain'"):
        table.sel(gain=10.0).sel(gain=10.0)
    with pytest.raises(rd.UnknownNameError, match="no dimension"):
        table.isel(row=1)
    for index in (None, True, [[0, 1]]):
        with pytest.raises(IndexError, match="'load' is one dimension"):
            table.isel(load=index)
    twice = rd.sweep(lambda a: a, {"a": [1, 1]})
    with pytest.raises(rd.ShapeError, match="several times"):
        twice.sel(a=1)


def test_results_of_several_shapes_are_taken_from_rows():
    table = rd.sweep(lambda n: np.ones(n), {"n": [1, 2]})
    with pytest.raises(rd.ShapeError, match=r"shape \(2,\) in row 1 and \(1,\) in row 0"):
        table["value"]
    assert [len(row["value"]) for row in table.rows] == [1, 2]


def test_it_says_what_it_is(table):
    assert repr(table) == (
        "<SweepTable: 6 rows over gain 2, load 3\n  gain: 10.0, 20.0\n  load: 1, 2, 3\n"
        "  results: sum, pair, n, word, ok\n  1 failed, see failures>"
    )
    many = rd.sweep(lambda a, q: 0, {"a": range(100), "q": np.zeros((2, 3))})
    assert "a: 0, 1, 2, ..., 99" in repr(many)
    assert "q: 2 arrays of shape (3,)" in repr(many)


def test_it_is_never_changed(table):
    with pytest.raises(AttributeError):
        table.dims = ()
    with pytest.raises(TypeError):
        table.coords["gain"] = 1
    with pytest.raises(ValueError, match="read-only"):
        table.coords["gain"][0] = 1.0


def test_a_data_frame(table):
    frame = table.to_pandas()
    assert list(frame.columns) == [
        "gain", "load", "sum", "pair[0]", "pair[1]", "n", "word", "ok", "error",
    ]  # fmt: skip
    assert frame["sum"].tolist()[:4] == [11, 12, 13, 21]
    assert np.isnan(frame["sum"][4]) and frame["error"][4].startswith("ValueError")


@pytest.mark.slow
def test_a_data_set(table):
    data = table.to_xarray()
    assert dict(data.sizes) == {"gain": 2, "load": 3, "pair_0": 2}
    np.testing.assert_array_equal(data["sum"], table["sum"])
    assert float(data["sum"].sel(gain=20.0, load=3)) == 23.0
    rows = rd.sweep(lambda a: a, [{"a": 1}, {"a": 2}]).to_xarray()
    assert (rows["value"].dims, rows["a"].dims) == (("row",), ("row",))
    assert float(table.sel(gain=10.0).to_xarray()["gain"]) == 10.0


@pytest.mark.parametrize("package", ["pandas", "xarray"])
def test_packages_that_are_not_there(table, package, monkeypatch):
    monkeypatch.setitem(sys.modules, package, None)
    with pytest.raises(rd.MissingExtraError, match=rf"pip install .*\[{package}\]'"):
        getattr(table, f"to_{package}")()


def same(one, other):
    assert (one.dims, one.shape, one.names) == (other.dims, other.shape, other.names)
    assert dict(one.failures) == dict(other.failures)
    for name in (*one.names, *one.coords):
        assert one[name].dtype == other[name].dtype
        np.testing.assert_array_equal(one[name], other[name])


def test_saved_and_loaded(table, tmp_path):
    path = tmp_path / "table.sweep"
    for part in (table, table.sel(gain=20.0), table.sel(gain=20.0, load=1)):
        part.save(path)
        same(rd.SweepTable.load(path), part)
        assert [x.name for x in tmp_path.iterdir()] == ["table.sweep"]
    with pytest.raises(rd.SweepError, match="the study: a table that was saved there, "):
        rd.sweep(study, VALUES, path=path)


def test_files_that_cannot_be_read(tmp_path):
    with pytest.raises(MissingFileError, match="no such file"):
        rd.SweepTable.load(tmp_path / "none")
    (tmp_path / "text").write_text("no database at all, and long enough to be looked at" * 9)
    with pytest.raises(FileError, match="file is not a database"):
        rd.SweepTable.load(tmp_path / "text")


def test_a_trajectory_becomes_a_summary():
    values = {"stiffness": [10.0, 50.0], "payload": [0.5], "q0": [[0.1, 0.2]]}
    table = rd.sweep(motion, values)
    run = motion(50.0, 0.5, np.array([0.1, 0.2]))
    last = table.isel(stiffness=1, payload=0, q0=0)
    assert table.names == ("t", "q", "v", "peak_tau", "energy", "loop_residual")
    np.testing.assert_array_equal(last["q"], run.q[-1])
    np.testing.assert_array_equal(last["peak_tau"], np.abs(run.tau).max(axis=0))
    assert (last["t"], last["energy"]) == (run.t[-1], run.energy[-1])


def test_a_summary_has_the_largest_gap_of_the_loops():
    def drifting(speed):
        robot = rd.load("four_bar")
        v0 = robot.consistent_velocity(robot.neutral(), [speed, 0, 0])
        return rd.simulate(robot, v0=v0, duration=0.3, step=0.02)

    table = rd.sweep(drifting, {"speed": [3.0]})
    gap = drifting(3.0).loop_residual
    assert gap.max() > gap[-1]
    assert table["loop_residual"] == [gap.max()]


BAD = {
    "nothing": (None, "NoneType for 'value'"),
    "an object": ({"x": object()}, "object for 'x'"),
    "ragged": ([[1], [1, 2]], "list for 'value'"),
    "a number as name": ({1: 2}, "result of the name 1"),
    "the name of a value": ({"a": 2}, "result of the name 'a'"),
}


@pytest.mark.parametrize(("returned", "said"), BAD.values(), ids=BAD)
def test_what_a_study_may_not_return(returned, said):
    with pytest.raises(rd.SweepError, match=said):
        rd.sweep(lambda a: returned, {"a": [1]}, errors="raise")
