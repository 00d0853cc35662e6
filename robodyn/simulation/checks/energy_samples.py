"""Energy of the samples of a motion, and the work that follows from its accelerations."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any

import numpy as np

from robodyn.array_types import FloatArray
from robodyn.motion.base_motion import BaseMotion
from robodyn.simulation.trajectory.states.samples import BLOCK
from robodyn.simulation.trajectory.trajectory import Trajectory

#: Number of steps in a block. Samples at the ends of blocks are computed twice.
SHORTEST_BLOCK, LONGEST_BLOCK = 8, 4096


def blocks_of(motion: Trajectory) -> Iterator[EnergySamples]:
    """The samples of a motion in blocks; each begins with the last sample of the one before."""
    fits = BLOCK // max(1, math.prod(motion.q.shape[1:-1]))
    size = min(max(fits, SHORTEST_BLOCK), LONGEST_BLOCK)
    for first in range(0, len(motion) - 1, size):
        yield EnergySamples(motion, slice(first, min(first + size + 1, len(motion))))


class EnergySamples:
    """A block of samples of all motions, with arrays of shape (n, motions, ...).

    own: The samples of the block.
    """

    def __init__(self, motion: Trajectory, own: slice) -> None:
        assert motion.robot is not None
        robot, driven = motion.robot, motion.driven
        self._robot, self._loads = robot, motion.surroundings
        arrays = (motion.q, motion.v, motion.a, motion.tau)
        q, v, a, tau = (np.asarray(x[own], float) for x in arrays)
        n = len(q)
        q, v, a, tau = (x.reshape(n, -1, x.shape[-1]) for x in (q, v, a, tau))
        t = np.asarray(motion.t[own])
        self._t, self._q, self._v, self._a = t, q, v, a
        self._h = np.diff(t)[:, None]
        #: Forces that are held in each step, less those of the sample at its end.
        self._held = tau[:-1] - tau[1:]
        self._held[..., list(driven)] = 0.0
        self._free = not driven and not robot.nc

    def energies(self) -> tuple[FloatArray, FloatArray]:
        """Kinetic and potential energy, shape (n, motions) [J]."""
        robot, at = self._robot, self._at(self._t)
        kinetic = robot.kinetic_energy(self._q, self._v, base=at)
        return np.asarray(kinetic), np.asarray(robot.potential_energy(self._q, base=at))

    def work(self, middles: bool) -> FloatArray:
        """Work in each step, shape (n - 1, motions) [J].

        It is integrated from the power at the ends of steps; with ``middles``, also from that at
        interpolated states at their middles.
        """
        start = self._power(self._t, self._q, self._v, self._a)
        end = start[1:] + np.einsum("tnk,tnk->tn", self._v[1:], self._held)
        if not middles:
            return np.asarray(0.5 * self._h * (start[:-1] + end))
        return np.asarray(self._h / 6.0 * (start[:-1] + 4.0 * self._middle() + end))

    def _middle(self) -> FloatArray:
        """Power at the middles of steps."""
        (q, v, a), robot = (self._q, self._v, self._a), self._robot
        h = np.where(self._h > 0.0, self._h, 1.0)[..., None]
        last = a[1:]
        if self._free and self._held.any():
            last = last + np.linalg.solve(robot.mass_matrix(q[1:]), self._held[..., None])[..., 0]
        moved = robot.difference(q[:-1], q[1:])
        u = 0.5 * moved + h * (5.0 / 32.0) * (v[:-1] - v[1:]) + h * h / 64.0 * (a[:-1] + last)
        speed = 1.875 / h * moved - 0.4375 * (v[:-1] + v[1:]) + h / 32.0 * (last - a[:-1])
        rate = 1.5 / h * (v[1:] - v[:-1]) - 0.25 * (a[:-1] + last)
        t = self._t[:-1] + 0.5 * np.diff(self._t)
        return self._power(t, robot.integrate(q[:-1], u), speed, rate)

    def _power(self, t: FloatArray, q: FloatArray, v: FloatArray, a: FloatArray) -> FloatArray:
        """Rate of kinetic and potential energy, shape (n, motions) [W]."""
        robot, at = self._robot, self._at(t)
        moving: Any = () if at is None else (at.pose, at.twist, at.acceleration)
        tree: Any = {"tree": True} if robot.nc else {}
        force = robot.function("inverse_dynamics", **tree)(q, v, a, *moving)
        force = force[0] if isinstance(force, tuple) else force
        # damping and friction dissipate energy, springs store it
        force = force + robot.passive_forces(q, v, base=at)
        force = force - robot.elastic_forces(q, base=at)
        power = np.einsum("tnk,tnk->tn", force, v)
        if at is not None:
            supplied = self._supplied(q, v, a, at)
            twist = np.broadcast_to(at.twist, supplied.shape)
            power = power + np.einsum("tnk,tnk->tn", supplied, twist)
        return np.asarray(power)

    def _supplied(self, q: FloatArray, v: FloatArray, a: FloatArray, at: BaseMotion) -> FloatArray:
        """Wrench that moves the base, from the dynamics of the open tree."""
        robot, tree = self._robot, self._robot.tree_form
        states = robot.expand(q), robot.expand_velocity(q, v), robot.expand_acceleration(q, v, a)
        loops = (np.zeros(tree.nc),) if tree.nc else ()
        moving = (at.pose, at.twist, at.acceleration)
        return np.asarray(
            tree.function("joint_wrenches", joints=())(*states, *moving, *loops)[..., 0, :]
        )

    def _at(self, t: FloatArray) -> BaseMotion | None:
        """The motion of the base at some times, for all motions."""
        given = self._loads.base_at(t)
        if given is None:
            return BaseMotion.at_rest() if self._robot.base == "moving" else None
        return BaseMotion(*(x[:, None] for x in (given.pose, given.twist, given.acceleration)))
