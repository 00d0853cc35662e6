"""Spatial linkages in minimal coordinates against the same linkages with constraints."""

from __future__ import annotations

import pytest
from minimal_pairs import Pair


@pytest.mark.parametrize("base", ["fixed", "floating", "moving"])
def test_a_hexapod_agrees_with_its_constrained_form(base):
    pair = Pair("stewart", base)
    assert [n for n in pair.robot.joint_names if n != "floating_base"] == [
        "foot1", "leg1", "ball1"
    ]  # fmt: skip
    pair.check()
