"""Which cases `make test` leaves to `make test-all`, besides tests that are marked as slow.

A law that holds for one linkage of a kind and not for the next is rare, and machine code for all of
them takes most of the time. So `make test` tries two cases of each law, and
`make test-all`, as `.ci/run` does, all of them.
"""

from __future__ import annotations

import collections
import re

__all__ = ["slow_cases"]

#: Robots whose equations take seconds to compile, or that are one more of a sort.
GIANTS = (
    "bricard", "cart_arms", "delta", "dual_arm", "excavator", "palletizer", "steering",
    "stephenson", "stewart", "two_feet", "watt",
    "biped", "centauro", "hexapod", "human", "icub", "talos", "tiago",
)  # fmt: skip
GIANT = re.compile(rf"(^|[^a-z])({'|'.join(GIANTS)})")

#: So many cases of a law are tried by `make test`, evenly from all, the first one among them.
CASES = 2


def slow_cases(items):
    """Those of pytest's items that name a giant, or are beyond the first few cases of a law."""
    slow = {item for item in items if GIANT.search(cases_of(item))}
    laws = collections.defaultdict(list)
    for item in items:
        if item not in slow and "/laws/" in item.path.as_posix():
            laws[item.path, item.name.partition("[")[0]].append(item)
    for cases in laws.values():
        every = -(-len(cases) // CASES)
        slow.update(item for k, item in enumerate(cases) if k % every)
    return slow


def cases_of(item):
    """What the parameters of a test are called."""
    return item.name.partition("[")[2]
