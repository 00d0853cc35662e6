"""In which order planar loops are solved, and which of their joints stay independent.

A loop can be solved in closed form when two of its joints are unknown. Solved, its joints are known
to the loops that share them; so linkages of many loops come apart one by one, where they do.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass

__all__ = ["Order", "solution_order"]


@dataclass(frozen=True)
class Order:
    """How loops come apart.

    Attributes
    ----------
    steps : tuple of (loop, (joint, joint))
        Loops in the order of their solution, with the two joints that follow.
    left : dict of loop to tuple of joints
        Loops that do not come apart, with their unknown joints.
    """

    steps: tuple[tuple[str, tuple[int, int]], ...]
    left: dict[str, tuple[int, ...]]


def solution_order(
    loops: Mapping[str, Sequence[int]], wanted: Sequence[int], forced: Collection[int]
) -> Order:
    """Order of solution.

    Parameters
    ----------
    loops : mapping of str to sequence of int
        Joints of each loop.
    wanted : sequence of int
        Joints that should be independent, most wanted first.
    forced : collection of int
        Joints that must be.
    """
    joints = sorted({j for loop in loops.values() for j in loop})
    freedom = len(joints) - 2 * len(loops)
    independent = [j for j in dict.fromkeys((*sorted(forced), *wanted)) if j in joints]
    passed: set[int] = set()
    while True:
        order = _solved(loops, independent)
        over = [loop for loop in order.left if len(order.left[loop]) < 2]
        if not order.left:
            return order
        change = None
        if over and len(independent) > freedom:
            spare = [j for j in independent if j in loops[over[0]] and j not in forced]
            change = spare[-1] if spare else None
            independent = [j for j in independent if j != change]
        elif not over and len(independent) < freedom:
            fewest = min(order.left, key=lambda loop: len(order.left[loop]))
            change = min((j for j in order.left[fewest] if j not in passed), default=None)
            independent += [] if change is None else [change]
        if change is None:
            return order
        passed.add(change)


def _solved(loops: Mapping[str, Sequence[int]], independent: Sequence[int]) -> Order:
    """What can be solved with these joints known."""
    known = set(independent)
    left = dict(loops)
    steps: list[tuple[str, tuple[int, int]]] = []
    while True:
        unknown = {loop: tuple(j for j in left[loop] if j not in known) for loop in left}
        ready = next((loop for loop in left if len(unknown[loop]) == 2), None)
        if ready is None:
            return Order(tuple(steps), unknown)
        a, b = unknown[ready]
        steps.append((ready, (a, b)))
        known |= {a, b}
        del left[ready]
