"""Loops of a robot and its controller, from sample to sample or in continuous time."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from robodyn.array_types import Array, FloatArray
from robodyn.simulation.linear_loop.delays import held, pade, whole_periods
from robodyn.simulation.linear_loop.fast_samples import ContinuousController
from robodyn.simulation.linear_loop.plant import Plant
from robodyn.simulation.linear_loop.signal_flow import Sum

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
