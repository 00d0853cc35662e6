"""Whether calls give back the references that they take."""

import gc
import sys
from collections.abc import Callable, Sequence

import numpy as np


def references_kept(calls: Callable[[], None], objects: Sequence[object]) -> np.ndarray:
    """How many more references each object has after calls, at least, in four rounds of them.

    What calls fail to give back grows in every round. References to objects such as None also come
    and go with other threads and with what is kept once, which is why one round shows nothing.
    """

    def counts() -> np.ndarray:
        calls()
        gc.collect()
        return np.array([sys.getrefcount(x) for x in objects])

    rounds = np.diff([counts() for _ in range(5)], axis=0)
    return np.abs(rounds).min(axis=0)
