"""Events of gaps that rounding has made negative: only a further decrease counts."""

import numpy as np
import pytest

from robodyn.simulation.events.detector import EventDetector
from robodyn.simulation.events.witness import WitnessFunction

NO_STATE = np.zeros(0)


def first_event(gap, start=0.0, length=1.0):
    """The time of the first event of a gap in a step; None if there is none."""
    witness = WitnessFunction("stop", lambda t, q, v: gap(t), -1, one_sided=True)
    detector = EventDetector()
    detector.restart([witness])
    part, happened = detector.first(start, length, length, lambda part: (NO_STATE, NO_STATE))
    assert happened in ((), (witness,))
    return part if happened else None


@pytest.mark.parametrize("start", [0.0, -1e-15, -1e-9])
def test_what_returns_to_where_it_was_meets_its_stop_there(start):
    meeting = first_event(lambda t: start + 4.0 * t * (0.5 - t))
    assert meeting == pytest.approx(0.5, abs=1e-11)


@pytest.mark.parametrize("start", [0.0, -1e-15, -1e-9])
@pytest.mark.parametrize("rounding", [0.0, 1e-14, -1e-14])
def test_what_rests_at_its_stop_does_not_meet_it(start, rounding):
    assert first_event(lambda t: start + rounding * t) is None


@pytest.mark.parametrize("start", [0.0, -1e-15, -1e-9])
def test_what_goes_on_beyond_its_stop_meets_it_at_once(start):
    assert first_event(lambda t: start - t) == 0.0
