"""States of the bundled closed mechanisms: loops closed, in motion, under torques and a wrench."""

from __future__ import annotations

import functools

import numpy as np
from oracles.assembly import advanced, assembled, consistent_speeds
from oracles.maximal import MaximalOracle

from robodyn import urdf

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


def neutral(oracle):
    """Zero position."""
    q = np.zeros(oracle.nq)
    for edge in oracle.edges:
        if edge.joint.kind == "spherical":
            q[edge.q] = [0.0, 0.0, 0.0, 1.0]
    return q


class State:
    """A bundled mechanism somewhere near its zero position, in motion and under torques."""

    def __init__(self, name):
        rng = np.random.default_rng(0)
        self.mechanism = urdf.load_mechanism(name)
        self.oracle = oracle = MaximalOracle(self.mechanism, GRAVITY)
        driven = {joint for joint, _ in self.mechanism.actuators}
        at = {edge.joint.name: edge.v for edge in oracle.edges}
        self.driven = [k for name in driven for k in range(at[name].start, at[name].stop)]
        q = advanced(oracle, neutral(oracle), 0.05 * rng.normal(size=oracle.nv))
        self.q = assembled(oracle, q)
        self.v = consistent_speeds(oracle, self.q, rng.normal(size=oracle.nv))
        self.tau = rng.normal(size=oracle.nv)
        self.wrenches = {oracle.names[-1]: rng.normal(size=6)}

    def solve(self, **given):
        return self.oracle.solve(self.q, self.v, tau=self.tau, wrenches=self.wrenches, **given)


@functools.cache
def some_state(name):
    return State(name)
