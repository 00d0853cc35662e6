"""``robodyn bench``: which numbers there are."""

import json
import sys

import pytest

import robodyn as rd
from robodyn.cli import main

QUICK = ["--seconds", "1e-3", "--batch", "8"]


def bench(capsys, *arguments):
    assert main(["bench", *arguments, *QUICK, "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    return found, {x["name"]: x for x in found["functions"]}


@pytest.mark.slow
def test_a_tree_beside_pinocchio(capsys):
    pytest.importorskip("pinocchio")
    found, functions = bench(capsys, "double_pendulum")
    assert found["not_compared"] is None
    for row in functions.values():
        assert row["one_state_ns"] > 0 and row["batch_ns"] > 0 and row["batch_threads_ns"] > 0
    aba = functions["forward_dynamics"]
    assert aba["ratio"] == aba["pinocchio_ns"] / aba["one_state_ns"]
    assert "ratio" not in functions["joint_wrenches"]


@pytest.mark.slow
def test_a_linkage(capsys):
    pytest.importorskip("pinocchio")
    threads = rd.get_num_threads()
    found, functions = bench(capsys, "four_bar")
    assert "the robot has loops" in found["not_compared"]
    assert all(row["one_state_ns"] > 0 for row in functions.values())
    assert rd.get_num_threads() == threads


def test_times_are_those_of_a_state(monkeypatch, capsys):
    threads = []

    def one_second(call, seconds):
        threads.append(rd.get_num_threads())
        return 1.0

    monkeypatch.setattr("robodyn.cli.bench._shortest_time", one_second)
    rd.set_num_threads(3)
    _, functions = bench(capsys, "double_pendulum")
    row = functions["mass_matrix"]
    assert row["one_state_ns"] == 1e9 and row["batch_ns"] == row["batch_threads_ns"] == 1e9 / 8
    assert set(threads) == {1, 3} and rd.get_num_threads() == 3


def test_without_pinocchio(monkeypatch, capsys):
    monkeypatch.setitem(sys.modules, "pinocchio", None)
    assert main(["bench", "double_pendulum", *QUICK]) == 0
    out = capsys.readouterr().out
    assert "Pinocchio: not compared, it is not installed (pip install pin)" in out
    assert "mass_matrix" in out
