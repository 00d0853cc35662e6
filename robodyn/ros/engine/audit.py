"""Looks at what a simulated robot does, as `robodyn.simulate` looks at a finished motion.

Every few hundred steps, and at once where kinetic energy grows or driven joints leave their limits,
limits are looked at, and whether energy and loops are those of a state that can be; every thousand
steps, all that `simulate` tells of energy and singular postures.
"""

from __future__ import annotations

from contextlib import suppress

import numpy as np

import robodyn as rd
from robodyn.array_types import FloatArray
from robodyn.ros.commands.path_limits import AtLimit, first_at_limit
from robodyn.ros.states.throttled_logger import ThrottledLogger
from robodyn.simulation.checks.energy_check import energies_of, imbalance
from robodyn.simulation.checks.singular_passage import passage
from robodyn.simulation.limits.bounds import bounds_of
from robodyn.simulation.limits.joint_limits import limit_violations, passed_edges
from robodyn.simulation.motion.continued_motion import ContinuedMotion, DoneSteps, joined
from robodyn.simulation.motion.sample_checks import first_wrong_sample
from robodyn.simulation.trajectory.states.samples import Samples
from robodyn.tolerances import ENERGY_FROM_NOWHERE, ENERGY_OF_FIRST_STEPS, ENERGY_ROUNDING, FARTHEST

#: Number of steps that are looked at together, and the growth of kinetic energy from which on they
#: are looked at before that, but for a little energy a mass [J/kg].
SOON, GROWTH, LITTLE = 256, 1.3, 1e-6
#: One of so many postures of loops is looked at, and the last one.
LOOPS_EVERY = 4
#: Number of steps whose energy and singular postures are examined together.
TOGETHER = 1024


class Audit:
    """Looks at the steps of a robot, and says what is wrong with them.

    log: Where warnings go.
    order: Order of the integrator.
    good: Positions and time of the last state that was looked at, in order, and not nearly
        singular.
    """

    def __init__(self, robot: rd.Robot, log: ThrottledLogger, order: int) -> None:
        self._robot, self._log, self._order = robot, log, order
        self._energies = energies_of(robot)
        self._little = LITTLE * robot.total_mass
        self._left: frozenset[tuple[str, str, float]] = frozenset()
        self._driven: tuple[int, ...] = ()
        self.good: tuple[FloatArray, float] | None = None
        self.restart()

    def restart(self) -> None:
        """Forget the steps so far: the robot has been put elsewhere."""
        self._waiting: list[DoneSteps] = []
        self._count, self._kinetic = 0, 0.0
        self._begin()

    def _begin(self) -> None:
        """Begin another part of the motion for what looks at many steps."""
        self._seen: list[DoneSteps] = []
        self._seen_count = 0
        self._done = self._missing = 0.0
        self._ranges = np.array([[np.inf, -np.inf]] * 2)

    def take(self, motion: ContinuedMotion, done: int, driven: tuple[int, ...]) -> AtLimit | None:
        """Look at steps of a motion; at most of them a little later, together with others.

        done: Number of steps since the call before.
        driven: Speeds of driven joints.
        Returns at_limit: The first limit that the driven joints bring a joint to.
        Raises SimulationError: If the last state is none that the robot can come to.
        Raises AssemblyError, SingularError: If loops have come apart, or the robot is at a singular
            posture.
        """
        q, v = motion.q, motion.v
        if not (float(v @ v) <= FARTHEST**2 and float(q @ q) <= FARTHEST**2):
            raise rd.SimulationError(f"positions or speeds grow beyond {FARTHEST:g}")
        if driven != self._driven:
            self._look()
            self._look_closely()
            self._driven = driven
        self._count += done
        kinetic = float(self._energies(q, v)[0])
        if (
            self._count < SOON
            and kinetic <= GROWTH * self._kinetic + self._little
            and not (driven and self._may_be_at_limit(motion, done))
        ):
            return None
        self._kinetic = max(kinetic, 0.5 * self._kinetic)
        self.keep(motion)
        return self._look()

    def keep(self, motion: ContinuedMotion) -> None:
        """Keep steps of a motion that ends here, to look at them later."""
        self._waiting += motion.take_steps()

    def _may_be_at_limit(self, motion: ContinuedMotion, done: int) -> bool:
        """Whether driven joints may have brought a joint to a limit of position."""
        bounds = bounds_of(self._robot)
        own = bounds.ranges["position"]
        beyond = own is not None and passed_edges(motion.latest_positions(done), own.edges)
        return bool(beyond or bounds.positions)

    def _look(self) -> AtLimit | None:
        """Look at the steps that wait."""
        if not self._waiting:
            return None
        robot, steps = self._robot, joined(self._waiting)
        self._waiting, self._count = [], 0
        if robot.nc:
            t, q, v = (x[::-LOOPS_EVERY][::-1] for x in (steps.t, steps.q, steps.v))
            wrong = first_wrong_sample(robot, t, q[:, None], v[:, None])
            if wrong is not None:
                raise wrong[1]
        self._check_energy(steps)
        self._seen.append(steps)
        self._seen_count += len(steps)
        if self._seen_count >= TOGETHER:
            self._look_closely()
        left = limit_violations(robot, steps.t[1:], steps.q[1:], steps.v[1:], steps.tau)
        if left and self._driven:
            found = first_at_limit(robot, left, steps, self._driven)
            if found is not None:  # what comes after it does not happen
                return found
        for x in left:
            if (x.joint, x.limit, x.bound) not in self._left:
                self._log(f"{x.limit} of {x.joint}", f"a joint leaves a limit: {x}")
        self._left = frozenset((x.joint, x.limit, x.bound) for x in left)
        with suppress(rd.RobodynError):  # next to a singular posture it could not go on from there
            robot.check_state(steps.q[-1], np.zeros(robot.nv))
            self.good = steps.q[-1], float(steps.t[-1])
        return None

    def _check_energy(self, steps: DoneSteps) -> None:
        """Refuse states with energy that comes from nowhere."""
        kinetic, potential, power = self._energies(steps.q[:, None], steps.v[:, None])
        kinetic, potential, power = kinetic[:, 0], potential[:, 0], power[:, 0]
        h, v = np.diff(steps.t), steps.v
        work = 0.5 * h * (((v[1:] + v[:-1]) * steps.tau).sum(axis=1) + power[1:] + power[:-1])
        energy = kinetic + potential
        self._done += float(np.abs(work).sum())
        self._missing += float(energy[-1] - energy[0] - work.sum())
        for edges, x in zip(self._ranges, (kinetic, potential), strict=True):
            edges[:] = min(edges[0], x.min()), max(edges[1], x.max())
        exchanged = max(float(np.diff(self._ranges).max()), self._done)
        allowed = ENERGY_FROM_NOWHERE * exchanged + ENERGY_ROUNDING * float(np.abs(energy).max())
        allowed += ENERGY_OF_FIRST_STEPS * self._robot.total_mass * float(h[0]) ** 2
        if not self._missing <= allowed:
            raise rd.SimulationError(
                f"{self._missing:.3g} J come from nowhere, where {exchanged:.3g} J are exchanged: "
                "steps are too long for such speeds, lower the parameter step"
            )

    def _look_closely(self) -> None:
        """Warn of energy that does not add up and of singular postures; then begin anew."""
        if not self._seen:
            return
        robot, steps = self._robot, joined(self._seen)
        self._begin()
        n = len(steps)
        t, q, v, a, tau = steps.t[:n], steps.q[:n], steps.v[:n], steps.a, steps.tau
        names = robot.joint_names
        motion = rd.Trajectory(t, q, v, a, tau, joint_names=names, robot=robot, driven=self._driven)
        found = imbalance(motion, 1, self._order)
        if found is not None:
            text = f"the energy of the motion does not add up: {found}. Steps are too long"
            self._log("energy", f"{text} there: lower the parameter step")
        if robot.nc:
            singular = passage(Samples(robot, t, q, v, a, tau, self._driven))
            if singular:
                self._log("singular", f"{singular}; it has gone on in one of the ways")
