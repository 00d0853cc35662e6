"""Which cases `make test` leaves to `make test-all`, and which files are begun first.

A law that holds for one linkage of a kind and not for the next is rare, and machine code for all of
them takes most of the time. So `make test` tries two cases of each law, and none of the tests that
are marked as slow; `make test-all`, as `.ci/run` does, all of them.
"""

from __future__ import annotations

import collections
import re
import zlib

__all__ = ["longest_first", "other_twins", "slow_cases"]

#: Robots whose equations take seconds to compile, or that are one more of a sort.
GIANTS = (
    "bricard", "cart_arms", "delta", "dual_arm", "excavator", "palletizer", "steering",
    "stephenson", "stewart", "two_feet", "watt",
    "biped", "centauro", "hexapod", "human", "icub", "talos", "tiago",
)  # fmt: skip
GIANT = re.compile(rf"(^|[^a-z])({'|'.join(GIANTS)})")

#: Giants of one kind. In `.ci/run` a law has one of them, and the other one with the next commit.
TWINS = ("delta", "stewart"), ("stephenson", "watt"), ("cart_arms", "dual_arm")

#: Files that take longer than their few tests tell: they start processes, copy the package, open a
#: browser. One that is begun last keeps one worker busy while the others have nothing left to do.
LONG = (
    "ros/test_ros_elsewhere", "view/test_in_the_browser", "test_recipes", "test_documentation",
    "test_examples", "test_packaging", "test_adding_a_kind", "ros/test_ros_package",
    "ros/test_ros_simulation", "ros/test_ros_listener", "laws/test_sweeps",
)  # fmt: skip

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


def other_twins(items, turn):
    """Cases of laws in which one of two giants of a kind stands back in this turn, a number."""
    cases = {item.nodeid for item in items}
    for item in items:
        law, _, case = item.nodeid.partition("[")
        for k, pair in enumerate(TWINS):
            mine = [name for name in pair if re.search(rf"(^|[^a-z]){name}($|[^a-z])", case)]
            if len(mine) == 1 and "/laws/" in item.path.as_posix():
                other = pair[1 - pair.index(mine[0])]
                beside = f"{law}[{case.replace(mine[0], other)}" in cases
                if beside and pair.index(mine[0]) == (zlib.crc32(law.encode()) + k + turn) % 2:
                    yield item


def longest_first(items):
    """The items with those of `LONG` files before all others, else in their order."""
    rank = {f"{name}.py": k for k, name in enumerate(LONG)}

    def place(item):
        *_, folder, name = item.path.parts
        return rank.get(f"{folder}/{name}", rank.get(name, len(rank)))

    return sorted(items, key=place)


def cases_of(item):
    """What the parameters of a test are called."""
    return item.name.partition("[")[2]
