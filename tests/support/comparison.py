"""How near two arrays must be."""

import numpy as np


def close_within(tolerance, least=1.0):
    """Assertion that two arrays are equal, relative to the largest entry of the second.

    ``least`` stands in for an entry that is smaller, or where there is none. A call of the
    assertion may give another ``tolerance`` and ``least``.
    """

    def close(found, expected, tolerance=tolerance, least=least):
        scale = max(least, float(np.max(np.abs(expected), initial=0.0)))
        np.testing.assert_allclose(found, expected, rtol=0.0, atol=tolerance * scale)

    return close
