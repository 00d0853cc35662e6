"""Where searches for postures begin."""

from __future__ import annotations

from functools import cached_property

import numpy as np

from robodyn.array_types import Array, FloatArray
from robodyn.closed_loops.dynamics.postures import Postures
from robodyn.errors import AssemblyError
from robodyn.parts.configuration_space import ConfigurationSpace

#: Starts after the first one, without loops and with loops, and what makes them, with their number.
RESTARTS, LOOP_RESTARTS, SEED = 100, 60, 7919

#: Postures within the limits whose loops may be open.
OPEN = 1000


class PostureStarts:
    """Starts of searches, the same whenever they are asked for.

    Limits of positions are ``lower`` and ``upper``, shape (nq,) [rad, m]. If there are loops
    (``closed``), ``space`` draws postures in which they may be open.
    """

    def __init__(
        self,
        postures: Postures,
        lower: Array,
        upper: Array,
        closed: bool,
        space: ConfigurationSpace,
    ) -> None:
        self._postures, self._lower, self._upper, self._closed = postures, lower, upper, closed
        self._space = space
        self._known: dict[tuple[int, bool], Array | None] = {}
        self._neutral: Array | None = None
        self._within: dict[bool, Array] = {}

    @property
    def neutral(self) -> Array:
        """The possible posture nearest to the zero position, shape (nq,)."""
        if self._neutral is None:
            self._neutral = self._postures.neutral()
        return self._neutral

    def neutral_within(self, limits: bool) -> Array:
        """The same moved within the limits."""
        if limits not in self._within:
            self._within[limits] = self.within(self.neutral, limits)
        return self._within[limits]

    @property
    def restarts(self) -> int:
        """How many random starts there are."""
        return LOOP_RESTARTS if self._closed else RESTARTS

    def restart(self, k: int, limits: bool) -> Array | None:
        """The k-th random start, which depends on nothing else, shape (nq,), if one is found."""
        if (k, limits) not in self._known:
            try:
                q = self.within(self._postures.random(np.random.default_rng([SEED, k])), limits)
            except AssemblyError:
                q = None
            self._known[k, limits] = q
        return self._known[k, limits]

    @cached_property
    def open(self) -> Array:
        """Postures all over the limits, of a linkage, whose loops are open, shape (n, nq)."""
        rng = np.random.default_rng(SEED)
        count = OPEN if self._closed else 0
        postures = [self._space.random(rng) for _ in range(count)]
        return np.array(postures).reshape(count, self._space.nq)

    def within(self, q: FloatArray, limits: bool) -> FloatArray:
        """Postures moved within the limits, a copy."""
        return np.minimum(np.maximum(q, self._lower), self._upper) if limits else np.array(q)

    def assembled(self, q: FloatArray) -> FloatArray:
        """The posture with loops closed that is near to one, shape (nq,)."""
        return self._postures.assemble(q, (), None)

    def closed(self, q: FloatArray) -> FloatArray:
        """Postures with loops closed, shape (n, nq); the neutral one where none is near."""
        if not self._closed:
            return q
        closed = q.copy()
        for k, row in enumerate(q):
            try:
                closed[k] = self.assembled(row)
            except AssemblyError:
                closed[k] = self.neutral
        return closed
