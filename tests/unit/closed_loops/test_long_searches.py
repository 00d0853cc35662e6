"""A search that lasts long says so once, and finds what it would have found."""

import logging

import numpy as np
import pytest

import robodyn as rd
from robodyn.closed_loops.assembly import long_searches

DRIVES = ("left_drive", "right_drive")


def searches(robot):
    """Each way in which postures are looked for."""
    q = robot.neutral()
    goal = q + 0.3
    return [
        q,
        robot.random(1),
        robot.assemble(goal),
        robot.assemble(goal, hold=DRIVES, near=q),
        np.array(robot.dof),
    ]


def test_long_searches_are_told_once_each(monkeypatch, caplog):
    expected = searches(rd.load("five_bar", near={"left_drive": 0.4}))
    assert not caplog.records
    monkeypatch.setattr(long_searches, "LONG", 0.0)
    found = searches(rd.load("five_bar", near={"left_drive": 0.4}))
    for x, y in zip(found, expected, strict=True):
        np.testing.assert_array_equal(x, y)
    told = [record.getMessage() for record in caplog.records]
    purposes = [f"for {what} posture of" for what in ("the neutral", "a random", "a closed")]
    purposes.append("a way along one branch of")
    for purpose in purposes:
        (text,) = (t for t in told if purpose in t)
        assert "'five_bar'" in text and "for 0 s now: " in text
    assert {record.levelno for record in caplog.records} == {logging.WARNING}


def test_a_search_within_a_search_is_one(monkeypatch, caplog):
    monkeypatch.setattr(long_searches, "LONG", 0.0)
    with long_searches.search("for one"):
        with long_searches.search("for another"):
            long_searches.going_on("this")
        long_searches.going_on("that")
    long_searches.going_on("nothing")
    assert [r.getMessage().partition(" for 0")[0] for r in caplog.records] == [
        "robodyn searches for one"
    ]


def test_a_search_that_fails_is_over(monkeypatch, caplog):
    with pytest.raises(KeyError), long_searches.search("for one"):
        raise KeyError
    monkeypatch.setattr(long_searches, "LONG", 0.0)
    with long_searches.search("for another"):
        long_searches.going_on("this")
    assert "for another" in caplog.text
