"""Loops of a robot and its controller, in continuous time or from sample to sample, with delays."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from robodyn.array_types import Array, FloatArray
from robodyn.simulation.linear_loop.controller_slopes import ContinuousController
from robodyn.simulation.linear_loop.plant import Plant
from robodyn.state_space.exponential import exponential
from robodyn.tolerances import SAMPLE_TIME_ROUNDING

#: What a controller depends on beside signals.
OF_ALL = ("q", "v", "applied", "state")


@dataclass(frozen=True, eq=False)
class Loop:
    """A closed loop, whose state has named parts.

    rates: Rate of each part, or what it is after a period, and names of its numbers.
    asked, acting: Forces that the controller asks for, and that act on the robot, over all speeds.
    """

    rates: dict[str, tuple[Sum, tuple[str, ...]]]
    asked: Sum
    acting: Sum


def sampled_loop(
    plant: Plant,
    slopes: Mapping[str, FloatArray],
    names: Sequence[str],
    inputs: Mapping[str, Sum],
    dt: float,
    delay: float,
) -> Loop:
    """The loop from sample to sample, in which forces act late and are held for a period.

    slopes: Of the forces of the controller, and below them of its state after a sample.
    names: Of the numbers of its state.
    """
    nv = plant.robot.nv
    law, labels = _read(slopes, names, nv)
    size = nv + len(labels)
    whole, rest = whole_periods(delay, dt)
    part, later = rest / dt, int(rest > 0.0)
    moving = _moving({name: x[:nv] for name, x in law.items()}, inputs["motors"])
    rates = dict[str, tuple[Sum, tuple[str, ...]]]()

    def past(what: str, now: Sum, count: int) -> list[Sum]:
        """Forces now, and at so many samples before, which become parts of the state."""
        known = [now]
        for k in range(1, count + 1):
            own = tuple(f"{what}{k}:{plant.labels[at]}" for at in moving)
            rates[f"{what}{k}"] = known[-1].rows(moving), own
            known.append(Sum.of(f"{what}{k}", len(moving)).spread(moving, nv))
        return known

    result = _sample(plant, law, inputs, len(labels))
    if law["applied"].any():
        known = past("asked", Sum({}), whole + later + 1)
        result = result + known[whole + 1].times((1.0 - part) * law["applied"])
        result = result + known[whole + 1 + later].times(part * law["applied"])
    asked = result.rows(range(nv))
    if "asked1" in rates:
        rates["asked1"] = asked.rows(moving), rates["asked1"][1]
    sent = past("sent", asked + inputs["motors"], whole + later)
    Phi, early, late = held(plant.A, plant.model.B, dt, rest)
    x = Sum.of("robot", len(Phi)).times(Phi) + inputs["outside"].times(early + late)
    x = x + sent[whole + later].times(early) + sent[whole].times(late)
    memory = result.rows(range(nv, size))
    rates = {"robot": (x, plant.model.states), **rates, "controller": (memory, labels)}
    return Loop(rates, asked, sent[whole + later] + inputs["outside"])


def continuous_loop(
    plant: Plant, law: ContinuousController, inputs: Mapping[str, Sum], delay: float
) -> Loop:
    """The loop in continuous time, with a Padé approximation of the delay."""
    nv = plant.robot.nv
    both = {name: np.vstack([law.force[name], law.rate[name]]) for name in law.force}
    slopes, labels = _read(both, law.names, nv)
    size = nv + len(labels)
    result = _sample(plant, slopes, inputs, len(labels))
    direct = slopes["applied"][:nv]
    asked = result.rows(range(nv)).times(np.linalg.inv(np.eye(nv) - direct))
    memory = result.rows(range(nv, size)) + asked.times(slopes["applied"][nv:])
    sent, acting = asked + inputs["motors"], asked + inputs["motors"]
    moving = _moving({name: x[:nv] for name, x in slopes.items()}, inputs["motors"])
    A, B, C, D = pade(delay)
    late, one = len(A) * len(moving), np.eye(len(moving))
    names = tuple(f"late{k}:{plant.labels[at]}" for at in moving for k in range(len(A)))
    on_way = Sum.of("late", late)
    moved = on_way.times(np.kron(one, A)) + sent.rows(moving).times(np.kron(one, B[:, None]))
    if delay:
        acting = on_way.times(np.kron(one, C[None])) + sent.rows(moving).times(D * one)
        acting = acting.spread(moving, nv)
    acting = acting + inputs["outside"]
    x = Sum.of("robot", len(plant.A)).times(plant.A) + acting.times(plant.model.B)
    rates = {"robot": (x, plant.model.states), "late": (moved, names)}
    return Loop({**rates, "controller": (memory, labels)}, asked, acting)


def _sample(
    plant: Plant, slopes: Mapping[str, FloatArray], inputs: Mapping[str, Sum], size: int
) -> Sum:
    """Forces, and below them the state, by a sample, signals and the state before."""
    at_q, at_v = plant.displacement
    found = Sum.of("robot", len(plant.A)).times(slopes["q"] @ at_q + slopes["v"] @ at_v)
    found = found + Sum.of("controller", size).times(slopes["state"])
    for name in slopes:
        if name not in OF_ALL:
            found = found + inputs[name].times(slopes[name])
    return found


def _read(
    slopes: Mapping[str, FloatArray], names: Sequence[str], nv: int
) -> tuple[dict[str, FloatArray], tuple[str, ...]]:
    """The same for what samples change of the state, and forces depend on, and names of that."""
    used = slopes["state"] != 0.0
    by_samples = np.hstack([x[nv:] for name, x in slopes.items() if name != "state"])
    read = _spread(np.asarray(used[:nv].any(axis=0)), used[nv:])
    read &= _spread(np.asarray(by_samples.any(axis=1)), used[nv:].T)
    rows = [*range(nv), *(nv + np.flatnonzero(read))]
    found = {name: x[rows] for name, x in slopes.items()}
    found["state"] = found["state"][:, read]
    labels = tuple(f"controller.{x}" for x, kept in zip(names, read, strict=True) if kept)
    return found, labels


def _spread(marked: Array, used: Array) -> Array:
    """What is marked, and all that rows of what is marked use, and so on, shape (n,)."""
    while (more := marked | used[marked].any(axis=0)).sum() > marked.sum():
        marked = more
    return marked


def _moving(forces: Mapping[str, FloatArray], motors: Sum) -> list[int]:
    """Speeds at which a controller, or an input of motors, can exert a force."""
    of_all = np.hstack([*forces.values(), *motors.terms.values()])
    return np.flatnonzero(of_all.any(axis=1)).tolist()


#: Order of Padé approximations of delays.
ORDER = 5


def whole_periods(delay: float, dt: float) -> tuple[int, float]:
    """A delay as whole periods and the rest of one [s]; what differs by rounding is a whole one."""
    whole = math.floor(delay / dt + SAMPLE_TIME_ROUNDING)
    rest = delay - whole * dt
    return whole, rest if rest > SAMPLE_TIME_ROUNDING * dt else 0.0


def held(
    A: FloatArray, B: FloatArray, dt: float, rest: float
) -> tuple[FloatArray, FloatArray, FloatArray]:
    """A period in which one input acts for ``rest`` [s], and then another one to its end.

    Returns Phi (n, n): Of the state at its start.
    Returns early, late (n, m): Of the first input, and of the other one.
    """
    first, before = _over(A, B, rest)
    second, late = _over(A, B, dt - rest)
    return second @ first, second @ before, late


def _over(A: FloatArray, B: FloatArray, time: float) -> tuple[FloatArray, FloatArray]:
    """The state after a time, by that before and an input that is held."""
    n, m = B.shape
    if not time:
        return np.eye(n), np.zeros((n, m))
    whole = exponential(time * np.block([[A, B], [np.zeros((m, n + m))]]))
    return whole[:n, :n], whole[:n, n:]


def pade(delay: float) -> tuple[FloatArray, FloatArray, FloatArray, float]:
    """``exp(-s delay)`` approximated: ``dx/dt = A x + B u``, ``y = C x + D u``.

    Returns A (k, k)
    Returns B, C (k,): Empty without a delay.
    Returns D
    """
    if not delay:
        return np.zeros((0, 0)), np.zeros(0), np.zeros(0), 1.0
    n = ORDER
    a = np.array([math.comb(n, k) / math.perm(2 * n, k) for k in range(n + 1)])
    den, num = a / a[n], a * (-1.0) ** np.arange(n + 1) / a[n]
    A = np.eye(n, k=1)
    A[-1] = -den[:n]
    B, direct = np.zeros(n), float(num[n])
    B[-1] = 1.0
    return A / delay, B / delay, num[:n] - direct * den[:n], direct


class Sum:
    """A sum of terms, a matrix times a signal each; signals have names.

    terms: The matrix of each signal.
    """

    def __init__(self, terms: Mapping[str, FloatArray]) -> None:
        self.terms = dict(terms)

    @staticmethod
    def of(name: str, size: int) -> Sum:
        """The signal itself."""
        return Sum({name: np.eye(size)})

    def __add__(self, other: Sum) -> Sum:
        found = dict(self.terms)
        for name, matrix in other.terms.items():
            found[name] = found[name] + matrix if name in found else matrix
        return Sum(found)

    def times(self, matrix: Array) -> Sum:
        """A matrix times the sum."""
        return Sum({name: matrix @ x for name, x in self.terms.items()})

    def rows(self, chosen: Sequence[int]) -> Sum:
        """Some of its numbers."""
        return Sum({name: x[list(chosen)] for name, x in self.terms.items()})

    def spread(self, places: Sequence[int], size: int) -> Sum:
        """Its numbers at some places among so many, and zeros elsewhere."""
        return self.times(np.eye(size)[:, list(places)])

    def on(self, sizes: Mapping[str, int], rows: int) -> FloatArray:
        """The matrix on all of these signals, one beside the other, shape (rows, sum of sizes)."""
        none = {name: np.zeros((rows, size)) for name, size in sizes.items()}
        return np.hstack([np.zeros((rows, 0)), *(self.terms.get(x, none[x]) for x in sizes)])


def stacked(sums: Iterable[tuple[Sum, int]], sizes: Mapping[str, int]) -> FloatArray:
    """Matrices of several sums on the same signals, one above the other, with their rows."""
    width = sum(sizes.values())
    return np.vstack([np.zeros((0, width)), *(x.on(sizes, rows) for x, rows in sums)])
