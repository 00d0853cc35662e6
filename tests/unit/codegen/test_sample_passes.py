"""Passes over samples find what plain loops over them find."""

import numpy as np
import pytest

from robodyn.codegen.llvm.programs.sample_passes import reversals

MANY, SPAN, LEAST = 3, 5, 0.2


def often_reversed(h, v, a):
    """Whether one speed would be reversed at some samples that are near to each other."""
    change = h * np.abs(a)
    at = np.flatnonzero((change >= np.abs(v)) & (change > LEAST))
    return any(at[k + MANY - 1] - at[k] < SPAN for k in range(len(at) - MANY + 1))


@pytest.mark.parametrize("dtype", [float, np.float32])
@pytest.mark.parametrize("samples", [2, 4, 40])
def test_speeds_that_steps_would_reverse_often(samples, dtype):
    rng = np.random.default_rng(samples)
    h = rng.uniform(0.5, 1.0, samples)
    v, a = rng.normal(size=(2, samples, 6, 5)).astype(dtype)
    v *= 3.0
    a[0, 1, 2] = np.nan
    motions = [5, 1, 3]
    found = reversals(h, v, a, motions, LEAST, MANY, SPAN)
    known = [[often_reversed(h, v[:, n, k], a[:, n, k]) for k in range(5)] for n in motions]
    assert found.tolist() == known
    assert samples < 40 or 0 < np.sum(known) < 15
