"""Bundled closed mechanisms at random closed states, under loads: here and in the oracle."""

import functools

import numpy as np
from oracles.maximal import MaximalOracle
from support.comparison import close_within
from support.interpreted import interpreted

import robodyn as rd

close = close_within(1e-9)

GRAVITY = (1.0, 2.0, -9.81)

#: Bundled mechanism -> mobility, and redundant rows.
CLOSED = {
    "bricard": (1, 1),
    "crank_slider": (1, 3),
    "delta": (3, 0),
    "excavator": (4, 12),
    "five_bar": (2, 3),
    "four_bar": (1, 3),
    "palletizer": (4, 9),
    "steering": (1, 0),
    "stephenson": (1, 6),
    "stewart": (6, 0),
    "two_feet": (8, 3),
    "watt": (1, 6),
}

#: All on a fixed base, and some on a base that moves.
BASES = [(name, "fixed") for name in CLOSED] + [
    (name, base) for name in ("bricard", "five_bar") for base in ("floating", "moving")
]


class Case:
    """A mechanism here and there, at one closed state with random loads and base motion."""

    def __init__(self, source, base="fixed", seed=2, q=None, sensors=()):
        rng = np.random.default_rng(seed)
        options = {"base": base, "gravity": GRAVITY, "passive": False, "rigid": True}
        self.robot = interpreted(source, sensors=sensors, **options)
        self.oracle = MaximalOracle(self.robot.mechanism, GRAVITY, base)
        self.q = self.robot.random(rng) if q is None else q
        self.v = self.robot.consistent_velocity(self.q, rng.normal(size=self.robot.nv))
        self.tau = rng.normal(size=self.robot.nv)
        names = self.robot.link_names
        self.wrenches = {name: rng.normal(size=6) for name in (names[-1], names[len(names) // 2])}
        self.there_base = self.here_base = None
        if base == "moving":
            pose = rd.BaseMotion.from_world(rng.normal(size=3), rng.normal(size=4)).pose
            self.there_base = (pose, *rng.normal(size=(2, 6)))
            self.here_base = rd.BaseMotion(*self.there_base)
        self.rng = rng

    @property
    def loads(self):
        """Keyword arguments of the robot's methods."""
        return {"wrenches": self.wrenches, "base": self.here_base}

    def some_acceleration(self):
        """A random one that keeps the loops closed."""
        wanted = self.rng.normal(size=self.robot.nv)
        return self.robot.consistent_acceleration(self.q, self.v, wanted)

    def there(self, **given):
        """Solution of the oracle."""
        return self.oracle.solve(
            self.q, self.v, wrenches=self.wrenches, base_motion=self.there_base, **given
        )


@functools.cache
def case(name, base="fixed"):
    """One case a mechanism, shared by the tests."""
    return Case(name, base)


def fit(K, tolerance=1e-9):
    """Orthonormal basis of the motions that constraints leave, as columns."""
    sizes, Vh = np.linalg.svd(K)[1:]
    return Vh[int(np.sum(sizes > tolerance * sizes[0])) :].T
