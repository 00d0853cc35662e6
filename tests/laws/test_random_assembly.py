"""Random linkages close as poses from random guesses; ``make fuzz`` tries more of them."""

from __future__ import annotations

import fuzz_assembly
import numpy as np
import pytest
from oracles.maximal import MaximalOracle

import robodyn as rd


@pytest.mark.parametrize("kind", fuzz_assembly.CLOSING)
def test_loops_close_as_poses(kind):
    fates, faults = fuzz_assembly.fuzz(50, seed=1, kinds=[kind])
    assert not faults
    assert not fates["close", "none found"] and not fates["near", "none found"]
    assert not fates["anywhere", "none found"]


def test_a_half_turn_is_a_fault():
    """The judgement itself: a posture at which all products of axes vanish is not closed."""
    body = rd.Inertia.from_matrix(1.0, (0.3, 0.0, 0.0), np.eye(3))
    hinges = [rd.Joint(f"to_{n}", "continuous", "base", n, axis=(0.0, 0.0, 1.0)) for n in "ab"]
    links = (rd.Link("base"), *(rd.Link(name, body) for name in "ab"))
    weld = rd.Loop("weld", "fixed", "a", "b")
    plates = rd.Mechanism("plates", links, tuple(hinges), (weld,))
    case = fuzz_assembly.Case(rd.load(plates), MaximalOracle(plates), np.zeros(2), "plates")
    apart, turned, sound = np.array([[0.0, np.pi], [2.0 * np.pi, 0.0], [0.5, 0.5]])
    assert fuzz_assembly.faults_of(case, apart, apart, ())[0].startswith("open: {'weld': ")
    assert "to_a turned" in fuzz_assembly.faults_of(case, np.zeros(2), turned, ())[0]
    assert "to_a was held" in fuzz_assembly.faults_of(case, np.zeros(2), sound, ("to_a",))[0]
    assert not fuzz_assembly.faults_of(case, sound, sound, ("to_a",))
