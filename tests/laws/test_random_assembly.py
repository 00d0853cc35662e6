"""Random linkages close as poses from random guesses; ``make fuzz`` tries more of them."""

import fuzz_assembly
import pytest


@pytest.mark.parametrize("kind", fuzz_assembly.CLOSING)
def test_loops_close_as_poses(kind):
    fates, faults = fuzz_assembly.fuzz(50, seed=1, kinds=[kind])
    assert not faults
    assert not fates["close", "none found"] and not fates["near", "none found"]
    assert not fates["anywhere", "none found"]
