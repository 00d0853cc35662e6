"""Random states of all bundled robots: each method agrees with an oracle, or raises.

The oracle takes all links as free bodies and all joints as constraints between them, and solves by
singular value decomposition (`oracles.possible_motions`). A method may be off by `EQUAL`, relative
to the largest number, and near singular postures by `LOST` roundings times the condition of the
constraints, which is what numbers of this length allow. Where the oracle cannot tell a small
singular value from zero, nothing is compared. An error of ours is no wrong number; how often there
is one is counted.

Half of the states are anywhere. Others stand around the neutral posture, known singular ones and
dead ends of the independent joints, at distances down to 1e-12.

``python tests/fuzz_dynamics.py --count 100000`` makes many, ``make fuzz`` likewise.
"""

from __future__ import annotations

import collections
import dataclasses
import sys
import warnings

import numpy as np
from oracles.maximal import MaximalOracle
from oracles.possible_motions import ZERO, possible_motion
from support.fuzzing import judge_many

import robodyn as rd
from robodyn import urdf

GRAVITY = (1.0, 2.0, -9.81)

#: Largest error of a method, relative to the largest number that is expected.
EQUAL = 1e-8
#: The same, in roundings times the condition of the equations; but numbers all of whose digits are
#: lost are no answer.
LOST, MOST = 1e3, 0.1
ROUNDING = 2.0**-52
#: Singular values between `oracles.possible_motions.ZERO` and this, relative to the largest one,
#: may be zero or not: postures that are assembled have gaps.
SMALL = 1e-9

#: Robot -> singular postures: coordinates by joint.
SINGULAR = {
    "bricard": [{"hinge2": np.pi / 2}, {"hinge1": -np.pi / 2}],
    "palletizer": [{"shoulder": -0.6435011087932844}],
}

#: Ways that are tried to find postures at which two ways to assemble a linkage meet.
DEAD_ENDS = 2

#: Without those that the oracle does not know: couplings, rotors and wheels.
FOREIGN = {"caster_table", "satellite", "prosthesis"}


def robots():
    """Names and bases of the bundled robots that the oracle knows."""
    names = [name for name in urdf.bundled_robots() if name not in FOREIGN]
    floating = [name for name in ("arm7", "five_bar", "two_feet") if name in names]
    return [(name, "fixed") for name in names] + [(name, "floating") for name in floating]


@dataclasses.dataclass(frozen=True, eq=False)
class State:
    """A possible state, forces and what the oracle says of them; ``kind`` of posture."""

    kind: str
    q: np.ndarray
    v: np.ndarray
    tau: np.ndarray


class Robot:
    """A bundled robot here and in the oracle."""

    def __init__(self, name, base):
        self.name, self.base = f"{name} ({base})", base
        mechanism = urdf.load_mechanism(name)
        mechanism = dataclasses.replace(mechanism, actuators=_plain(mechanism.actuators))
        self.robot = rd.load(mechanism, base=base, gravity=GRAVITY, passive=False)
        self.oracle = MaximalOracle(self.robot.mechanism, GRAVITY, base)
        self.neutral = self.robot.neutral()
        self.known = [("neutral", self.neutral)]
        self.known += [("singular", self._at(given)) for given in SINGULAR.get(name, ())]
        self.known += [("dead end", q) for q in self._dead_ends(np.random.default_rng(0))]

    def _at(self, given):
        q = self.robot.neutral()
        for name, value in given.items():
            q[self.robot.joints[name].q] = value
        return self.robot.assemble(q, hold=given, near=self.robot.neutral())

    def _dead_ends(self, rng):
        """Postures from which the independent joints cannot lead on, within some tries."""
        found = []
        if self.robot.nc and self.robot.dof:
            for _ in range(DEAD_ENDS):
                goal = self.robot.integrate(self.neutral, rng.uniform(-3, 3, self.robot.nv))
                try:
                    self.robot.assemble(goal, near=self.neutral)
                except rd.AssemblyError as error:
                    if "two ways to assemble it meet" in str(error):
                        found.append(error.q)
        return found

    def state(self, rng):
        """A random one."""
        where = rng.random()
        if where < 0.5:
            kind, q = "anywhere", self.robot.random(rng)
        else:
            kind, start = self.known[rng.integers(len(self.known))]
            step = 10.0 ** rng.uniform(-12.0, 0.0) * rng.uniform(-1.0, 1.0, self.robot.nv)
            q = self.robot.integrate(start, step)
            q = self.robot.assemble(q, beyond_limits=True) if self.robot.nc else q
        v = rng.normal(size=self.robot.nv)
        if self.robot.nc:
            v = self.robot.consistent_velocity(q, v)
        return State(kind, q, v, rng.normal(size=self.robot.nv))


def _plain(actuators):
    """Motors without rotors."""
    return tuple((name, rd.Actuator()) for name, _ in actuators)


def agrees(found, expected, condition):
    """Whether numbers are what they should be, and by how much they are off."""
    scale = max(1.0, float(np.abs(expected).max(initial=0.0)))
    off = float(np.abs(found - expected).max(initial=0.0)) / scale
    return off <= min(EQUAL + LOST * ROUNDING * condition, MOST), off


def decided(solution):
    """Whether the oracle can tell which of its singular values are zero."""
    return not np.any((solution.sizes > ZERO) & (solution.sizes < SMALL))


# ---- methods, each with the value that the oracle gives it


def judged(here, state, rng):
    """Fate of each method at a state: ``(method, fate, what is wrong)``."""
    robot = here.robot
    there = possible_motion(here.oracle, state.q, state.v, state.tau)
    if not decided(there):
        return [("all", "undecided", "")]
    q, v, tau = state.q, state.v, state.tau
    many = [np.stack([x, x]) for x in (q, v, tau)]
    told = [
        fate_of("forward_dynamics", lambda: robot.forward_dynamics(q, v, tau), there),
        fate_of("batch", lambda: robot.forward_dynamics(*many)[1], there),
    ]
    if not is_possible(there):
        return told
    told.append(fate_of("constrained", lambda: robot.constrained_dynamics(q, v, tau).a, there))
    told.append(_motors_make(here, state, there))
    told.append(_driven(here, state, rng))
    return told


def is_possible(solution):
    """Whether any acceleration keeps loops closed: at singular postures, not of all speeds."""
    return solution.residual < 1e-6 * max(1.0, float(np.abs(solution.a).max(initial=0.0)))


def fate_of(method, call, solution):
    """Fate of one call that should give the accelerations of a solution."""
    try:
        found = call()
    except rd.RobodynError as error:
        return method, f"raised {type(error).__name__}", ""
    except np.linalg.LinAlgError as error:
        return method, "wrong", f"foreign {error!r}"
    if not is_possible(solution):
        return method, "wrong", "a number where no acceleration is possible"
    right, off = agrees(found, solution.a, solution.condition)
    if right:
        return method, "right", ""
    return method, "wrong", f"off by {off:.2g} where the condition is {solution.condition:.2g}"


def _motors_make(here, state, there):
    """Forces at the motors make the acceleration that they were asked for."""
    if here.base == "floating":
        return "inverse_dynamics", "not asked", ""
    robot, method = here.robot, "inverse_dynamics"
    try:
        tau = robot.inverse_dynamics(state.q, state.v, there.a)
    except rd.RobodynError as error:
        return method, f"raised {type(error).__name__}", ""
    again = possible_motion(here.oracle, state.q, state.v, tau)
    # forces that are large are rounded, and so is what they do
    size = max(1.0, np.abs(tau).max(initial=0.0) / max(1.0, np.abs(there.a).max()))
    right, off = agrees(again.a, there.a, again.condition * size)
    if right:
        return method, "right", ""
    return method, "wrong", f"off by {off:.2g} where the condition is {again.condition:.2g}"


def _driven(here, state, rng):
    """Some joints driven as another motion has them."""
    robot, method = here.robot, "hybrid_dynamics"
    names = [n for n, j in robot.joints.items() if j.v.stop > j.v.start and j.type != "floating"]
    if robot.nc:
        names = [n for n in robot.independent_joints if n in names]
    names = [str(n) for n in rng.permutation(names)[: rng.integers(0, len(names) + 1)]]
    at = [k for n in names for k in range(robot.nv)[robot.joints[n].v]]
    wanted = rng.normal(size=robot.nv)
    there = possible_motion(here.oracle, state.q, state.v, state.tau, wanted, at)
    if not decided(there) or not is_possible(there):
        return method, "undecided", ""
    controlled = {n: wanted[robot.joints[n].v] for n in names}
    controlled = {n: x[0] if len(x) == 1 else x for n, x in controlled.items()}
    tau = state.tau.copy()
    tau[at] = 0.0
    try:
        found = robot.hybrid_dynamics(state.q, state.v, controlled=controlled, tau=tau)
    except rd.RobodynError as error:
        return method, f"raised {type(error).__name__}", ""
    right, off = agrees(found.a, there.a, there.condition)
    if right and there.settled:
        right, off = agrees(found.tau, there.tau, there.condition**2)
    if right:
        return method, "right", ""
    return method, "wrong", f"off by {off:.2g} where the condition is {there.condition:.2g}"


def fuzz(count, seed=0, only=None, report=None):
    """Judge states of all robots in turn; return how many met which fate, and the faults.

    Parameters
    ----------
    count : int
        Of states of each robot.
    seed : int
    only : sequence of str, optional
        Names of robots.
    report : callable, optional
        Called with the fates, the faults and its name after each robot.
    """
    fates: collections.Counter[tuple[str, str, str]] = collections.Counter()
    faults = []
    for name, base in robots():
        if only and name not in only:
            continue
        with warnings.catch_warnings(action="ignore"):
            here = Robot(name, base)
        for number in range(count):
            rng = np.random.default_rng([seed, number])
            try:
                state = here.state(rng)
            except rd.AssemblyError:
                fates["all", "anywhere", "no posture"] += 1
                continue
            for method, fate, wrong in judged(here, state, rng):
                fates[method, state.kind, fate] += 1
                if wrong:
                    faults.append(f"{here.name}, state {number} ({state.kind}), {method}: {wrong}")
        if report is not None:
            report(fates, faults, here.name)
    return fates, faults


def main():
    """Judge many states from the command line."""
    told = {"count": 10_000, "only": "names of robots"}
    return 1 if judge_many(__doc__, fuzz, told=by_fate, **told)[1] else 0


def by_fate(fates):
    """How many met which fate, a line each."""
    return "\n".join(f"{' '.join(key)} {number}" for key, number in sorted(fates.items()))


if __name__ == "__main__":
    sys.exit(main())
