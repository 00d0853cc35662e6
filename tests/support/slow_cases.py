"""Which cases `make test` leaves to `make test-all`, and which files are begun first.

A law that holds for one linkage of a kind and not for the next is rare, and machine code for all of
them takes most of the time. So `make test` tries two cases of each law, one where a case takes half
a second, and none of the tests that are marked as slow; `make test-all` all of them. `.ci/run`
tries every tenth of the slow cases of a test, one at least, every second of the slow tests without
cases, and others with the next commit.
"""

import collections
import re
import zlib

#: Robots whose equations take seconds to compile, or that are one more of a sort.
GIANTS = (
    "bricard", "cart_arms", "delta", "dual_arm", "excavator", "palletizer", "steering",
    "stephenson", "stewart", "two_feet", "watt",
    "biped", "centauro", "hexapod", "human", "icub", "talos", "tiago",
)  # fmt: skip
GIANT = re.compile(rf"(^|[^a-z])({'|'.join(GIANTS)})")

#: Files that take longer than their few tests tell: they start processes, copy the package, open a
#: browser. One that is begun last keeps one worker busy while the others have nothing left to do.
LONG = (
    "ros/test_ros_elsewhere", "view/test_in_the_browser", "test_recipes", "test_documentation",
    "test_examples", "test_packaging", "test_adding_a_kind", "ros/test_ros_package",
    "ros/test_ros_simulation", "ros/test_ros_listener", "laws/test_sweeps",
)  # fmt: skip

#: So many cases of a law are tried by `make test`, evenly from all, the first one among them.
CASES = 2

#: Files of laws of which `make test` tries one case: each takes half a second or more.
COSTLY = {
    "test_forces_in_cut_joints.py", "test_legs.py", "test_loop_constraints.py",
    "test_loop_kinds.py", "test_minimal_spatial.py", "test_overconstrained.py",
    "test_recutting.py", "test_robots_over_symbols.py", "test_rotors.py",
    "test_rounded_linkages.py", "test_sdf_trees.py", "test_time.py",
}  # fmt: skip


def slow_cases(items):
    """Those of pytest's items that name a giant, or are beyond the first few cases of a law."""
    slow = {item for item in items if GIANT.search(cases_of(item))}
    laws = collections.defaultdict(list)
    for item in items:
        if item not in slow and "/laws/" in item.path.as_posix():
            laws[item.path, item.name.partition("[")[0]].append(item)
    for (path, _), cases in laws.items():
        every = -(-len(cases) // (1 if path.name in COSTLY else CASES))
        slow.update(item for k, item in enumerate(cases) if k % every)
    return slow


#: With so many commits `.ci/run` tries all slow cases of a test, and all slow tests without cases.
TURNS, TURNS_OF_ONE = 10, 2


def left_to_other_turns(slow, turn):
    """The slow cases and tests that are left to other turns than this one, a number."""
    tests = collections.defaultdict(list)
    for item in slow:
        tests[item.nodeid.partition("[")[0]].append(item)
    for test, cases in tests.items():
        turns = min(TURNS, max(TURNS_OF_ONE, len(cases)))
        shift = zlib.crc32(test.encode()) + turn
        yield from (case for k, case in enumerate(cases) if (k + shift) % turns)


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
