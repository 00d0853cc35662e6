"""The order in which loops are solved, and the joints that stay independent.

A loop can be solved in closed form when all its joints are known but some that can follow together.
Solved, its joints are known to the loops that share them; so linkages of many loops come apart one
by one, where they do. They are taken apart from the end: the loop that is solved last has joints to
follow that no other loop has, which are taken away with it, and so on. To take one away never
hinders another, so whatever comes apart at all is found.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass

#: Joints that can depend on the others of their loop together.
Candidates = Sequence[tuple[int, ...]]


@dataclass(frozen=True)
class Order:
    """The order of solution of loops.

    steps: Loops in the order of their solution, with their dependent joints.
    left: Loops that cannot be solved in any order.
    """

    steps: tuple[tuple[str, tuple[int, ...]], ...]
    left: tuple[str, ...]


def solution_order(
    loops: Mapping[str, tuple[Collection[int], Candidates]],
    wanted: Sequence[int],
    held: Collection[int],
) -> Order:
    """Order of solution.

    loops: Joints of each loop, and those sets of them that can follow the others.
    wanted: Joints that should be independent, most wanted first.
    held: Joints that must be.
    """
    left = dict(loops)
    steps: list[tuple[str, tuple[int, ...]]] = []
    while left:
        options = [
            (_cost(follow, wanted), name, follow)
            for name, (_, candidates) in left.items()
            for follow in candidates
            if not set(follow) & (set(held) | _others(left, name))
        ]
        if not options:
            break
        _, name, follow = min(options)
        steps.append((name, follow))
        del left[name]
    return Order(tuple(reversed(steps)), tuple(left))


def _others(left: Mapping[str, tuple[Collection[int], Candidates]], name: str) -> set[int]:
    """Joints of the other loops."""
    return {joint for other in left if other != name for joint in left[other][0]}


def _cost(follow: Sequence[int], wanted: Sequence[int]) -> tuple[object, ...]:
    """Cost of dependent joints: few, little wanted ones, and those at the end of the tree first."""
    lost = sorted(wanted.index(joint) for joint in follow if joint in wanted)
    return len(lost), [-place for place in lost], sorted(-joint for joint in follow)
