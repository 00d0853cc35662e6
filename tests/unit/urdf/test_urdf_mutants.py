"""No single mistake in a URDF changes the model without a word; ``make fuzz`` tries more."""

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
