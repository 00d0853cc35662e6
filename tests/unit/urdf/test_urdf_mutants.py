"""No single mistake in a URDF changes the model without a word; ``make fuzz`` tries more."""

from __future__ import annotations

import fuzz_urdf
import pytest


@pytest.mark.slow
@pytest.mark.parametrize("names", [["urdf/robots/"], ["pybullet_data/"], ["example-robot-data/"]])
def test_single_mistakes_are_noticed(names):
    files = fuzz_urdf.seeds(names)
    if not files:
        pytest.skip("no URDF of this collection is installed")
    fates, faults = fuzz_urdf.fuzz(files, 600)
    assert not faults
    assert fates["refused"] > 300 and fates["same"] > 0


def test_a_mistake_that_is_passed_over_is_a_fault():
    """The judgement itself: another model that loads without a warning is reported."""
    text = (
        '<robot name="r"><link name="a"/><link name="b"/><joint name="j" type="revolute">'
        '<parent link="a"/><child link="b"/><origin xyz="0 0 1"/></joint></robot>'
    )
    seed = fuzz_urdf.Seed("r", text)
    assert fuzz_urdf.judged(seed, text) == "same"
    assert fuzz_urdf.judged(seed, text.replace("<origin", "<orgin")) == "refused"
    assert fuzz_urdf.judged(seed, text.replace("0 0 1", "0 0 2")).startswith("SILENT: joints: ")
