"""Events that make each other happen, or themselves ever sooner, are ended."""

import pytest

from robodyn.errors import SimulationError
from robodyn.simulation.events.zeno import Zeno


def test_a_hundred_events_at_one_instant_are_the_most():
    zeno = Zeno()
    for _ in range(100):
        zeno.is_endless("bounce", 0.5, 1e-3)
    with pytest.raises(SimulationError, match=r"100 events .* 'bounce'"):
        zeno.is_endless("bounce", 0.5, 1e-3)


def test_several_short_intervals_in_a_row_are_without_end():
    zeno = Zeno()
    for t in (0.0, 8e-6, 12e-6):
        zeno.is_endless("bounce", t, 1e-3)
    with pytest.raises(SimulationError, match=r"'bounce' .* 4 times .* without end until"):
        zeno.is_endless("bounce", 14e-6, 1e-3)


def test_a_pause_between_short_intervals_is_an_end():
    zeno = Zeno()
    for t in (0.0, 1e-6, 2e-6, 0.5, 0.500001, 0.500002, 1.0):
        zeno.is_endless("bounce", t, 1e-3)


def test_a_joint_comes_to_rest_once_where_hits_come_without_end():
    zeno = Zeno()
    found = [zeno.is_endless("stop", t, 1e-3, may_rest=True) for t in (0.0, 8e-6, 12e-6, 14e-6)]
    assert found == [False, False, False, True]
    for t in (15e-6, 15.5e-6):
        assert not zeno.is_endless("stop", t, 1e-3, may_rest=True)
    with pytest.raises(SimulationError, match="'stop'"):
        zeno.is_endless("stop", 15.7e-6, 1e-3, may_rest=True)
