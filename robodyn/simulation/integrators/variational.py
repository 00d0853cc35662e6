"""The variational midpoint rule, which keeps momenta and, over any time, energy within bounds.

Hamilton's principle is made discrete: the action of a step is ``h L(q_m, x)``, with the speed ``x``
that leads from its start to its end, ``q1 = integrate(q0, h x)``, and the posture half way. Its
stationary points obey [Marsden, West 2001; for groups Bou-Rabee, Marsden 2009]::

    p0 = D(-h x)^T M(q_m) x - h/2 B^T f        p1 = D(h x)^T M(q_m) x + h/2 C^T f

with ``p = M v``, ``f`` the generalised force of ``L`` and of all that is no part of it, ``D`` the
rate of twists (1 for coordinates that add), and ``B``, ``C`` what motions of either end move the
middle by. The first is solved for ``x``, with multipliers if loops have to be closed at the end of
the step; the second gives the speeds there, which closing the loops then makes possible ones: this
is RATTLE [Hairer, Lubich, Wanner 2006, VII.1.4].
"""

from __future__ import annotations

import numpy as np

from robodyn.array_types import FloatArray
from robodyn.errors import SingularError
from robodyn.simulation.integrators.adaptive import largest
from robodyn.simulation.integrators.method import Motion, Solver, Start
from robodyn.simulation.loads.loads import Loads
from robodyn.tolerances import VARIATIONAL_CONVERGED, VARIATIONAL_STALLED

#: Iterations at most.
ITERATIONS = 100

#: Part of the last change that the next may be at most, without slopes being taken anew.
SLOW = 0.3

#: Bernoulli's numbers over factorials, of even powers: of the inverse of the exponential's rate.
EVEN = (1.0, 1.0 / 12.0, -1.0 / 720.0, 1.0 / 30240.0, -1.0 / 1209600.0)


def refusal(loads: Loads) -> str:
    """Why the robot under these loads has no discrete variational principle."""
    robot = loads.robot
    if loads.driven:
        return "moves no joints along paths: they add and take energy"
    if loads.external.base is not None or robot.depends_on_time:
        return "moves nothing whose energy depends on time"
    if loads.friction is not None:
        return "knows no joints that stick: it takes friction='smooth'"
    if robot.model.setup.gear_losses:
        return "knows no gears that lose power in proportion to what they carry"
    if loads.gains is not None:
        return "closes loops by impulses at the ends of its steps, not by stabilization="
    if any(given.nonholonomic for given in robot.mechanism.constraints):
        return "knows no constraints of speeds (nonholonomic ones): they have no action"
    return ""


def advance(motion: Motion, start: Start, h: float) -> tuple[FloatArray, FloatArray]:
    """The state after a step of ``h`` [s].

    Raises SingularError: If the step cannot be solved for.
    """
    t, q, v, a = start
    step = _Step(motion, t, q, v, h)
    x = step.solved(v + 0.5 * h * a)
    end, p = motion.coordinates.move(q, h * x), step.momenta(x)[1]
    return motion.close(t + h, end, _inverse(motion.loads.robot.mass_matrix(end)) @ p)


class _Step:
    """One step from a state, as equations for its speed ``x``."""

    def __init__(self, motion: Motion, t: float, q: FloatArray, v: FloatArray, h: float) -> None:
        self._motion, self._q, self._h, self._middle = motion, q, h, t + 0.5 * h
        robot = motion.loads.robot
        self._M = robot.mass_matrix(q)
        self._p = self._M @ v
        self._one = np.eye(len(v))
        self._K = robot.loop_jacobian(q) if robot.nc else np.zeros((0, len(v)))

    def solved(self, guess: FloatArray) -> FloatArray:
        """The speed that leads from the start to the end of the step."""
        x, inverse, size, slow = guess, _inverse(self._M), np.inf, 0
        for _ in range(ITERATIONS):
            change = self._change(x, inverse)
            last, size = size, largest(change)
            near = max(1.0, largest(x))
            if not np.isfinite(size):
                break
            slow = slow + 1 if size > SLOW * last else slow
            if slow and size > VARIATIONAL_STALLED * near:  # the mass alone is no good slope
                x, slow = (guess if size > last else x), 0
                inverse, size = _inverse(self._slope(x)), np.inf
                continue
            x = x + change
            if size <= VARIATIONAL_CONVERGED * near or (
                size <= VARIATIONAL_STALLED * near and size > 0.5 * last
            ):
                return x
        raise SingularError(
            f"no speed solves the variational step at t = {self._middle:.6g} s: take shorter steps"
        )

    def _change(self, x: FloatArray, inverse: FloatArray) -> FloatArray:
        """The next Newton step of ``x``; with loops, one that also closes them at the end."""
        change = -inverse @ (self.momenta(x)[0] - self._p)
        if not len(self._K):
            return change
        end = self._motion.coordinates.move(self._q, self._h * x)
        missing = self._motion.loads.robot.loop_residual(end) / self._h + self._K @ change
        push = inverse @ self._K.T
        return np.asarray(change - push @ (np.linalg.pinv(self._K @ push, rcond=1e-9) @ missing))

    def _slope(self, x: FloatArray) -> FloatArray:
        """The derivative of the momentum at the start by ``x``, by differences."""
        step = 1e-7 * max(1.0, largest(x))
        here = self.momenta(x)[0]
        columns = [self.momenta(x + step * e)[0] - here for e in self._one]
        return np.array(columns).T / step

    def momenta(self, x: FloatArray) -> tuple[FloatArray, FloatArray]:
        """``p0`` and ``p1`` for a speed."""
        robot, tau = self._motion.loads.robot, self._motion.tau
        q = self._motion.coordinates.move(self._q, 0.5 * self._h * x)
        C, p = robot.coriolis_matrix(q, x), robot.mass_matrix(q) @ x
        loads = self._motion.loads.wrenches(self._middle, q, x)
        bias = robot.bias_forces(q, x, wrenches=loads) if loads else robot.bias_forces(q, x)
        force = 0.5 * self._h * (C @ x + C.T @ x + tau - bias)
        if self._motion.coordinates.flat:
            return p - force, p + force
        turn = self._bracket(x)
        force = force - 0.5 * self._h * (turn.T @ p)
        whole = self._h * turn
        start, end = _rate(-whole), _rate(whole)
        to_middle = (
            np.linalg.solve(_rate(-0.5 * whole), start),
            np.linalg.solve(_rate(0.5 * whole), end),
        )
        return start.T @ p - to_middle[0].T @ force, end.T @ p + to_middle[1].T @ force

    def _bracket(self, x: FloatArray) -> FloatArray:
        """The matrix of ``[x, .]``."""
        rate, many = self._motion.coordinates.rate, np.tile(x, (len(x), 1))
        return np.asarray(rate(many, self._one) - rate(-many, self._one)).T


def _inverse(M: FloatArray) -> FloatArray:
    """The inverse of a mass matrix.

    Raises SingularError: If speeds move no mass there.
    """
    try:
        return np.asarray(np.linalg.inv(M), float)
    except np.linalg.LinAlgError:
        raise SingularError(
            "the mass matrix is singular: speeds that move no mass have no momentum, which the "
            "variational integrator needs"
        ) from None


def _rate(turn: FloatArray) -> FloatArray:
    """The matrix of the rate of a twist, by its bracket."""
    square = turn @ turn
    total, power = 0.5 * turn, np.eye(len(turn))
    for weight in EVEN:
        total = total + weight * power
        power = power @ square
    return total


METHOD = Solver(2, lambda tolerance: advance, None, has_tolerance=False, refusal=refusal)
