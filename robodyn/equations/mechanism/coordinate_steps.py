"""Steps of coordinates: motions with constant joint twists for unit time."""

from __future__ import annotations

from collections.abc import Sequence

from robodyn.equations.mechanism.bodies import MechanismModel
from robodyn.symbolic.graph import Graph, Port, Program
from robodyn.symbolic.scalar import Number, edge_of, inputs

Numbers = Sequence[Number]


def integrate(model: MechanismModel, q: Numbers, dv: Numbers) -> list[Number]:
    """All coordinates after moving with the joint twists ``dv`` for unit time."""
    moved = list(q)
    for body in model:
        at, speeds = [k for k, *_ in body.q], [speed.index for speed in body.speeds]
        new = body.joint.kind.coordinates.step([q[k] for k in at], [dv[k] for k in speeds])
        for k, x in zip(at, new, strict=True):
            moved[k] = x
    return moved


def difference(model: MechanismModel, q0: Numbers, q1: Numbers) -> list[Number]:
    """The joint twists that lead from one position to another in unit time."""
    twist: list[Number] = [0.0] * model.nv
    for body in model:
        at, speeds = [k for k, *_ in body.q], [speed.index for speed in body.speeds]
        found = body.joint.kind.coordinates.difference([q0[k] for k in at], [q1[k] for k in at])
        for k, x in zip(speeds, found, strict=True):
            twist[k] = x
    return twist


def moving(model: MechanismModel) -> Program | None:
    """Rate of all coordinates per unit of each speed, (nq, nv): the slope of `integrate` at rest.

    None of a mechanism whose coordinates are the integrals of its speeds.
    """
    if all(body.joint.kind.coordinates.flat for body in model):
        return None
    graph = Graph()
    q = inputs(graph, 0, model.nq)
    rows: list[list[Number]] = [[0.0] * model.nv for _ in q]
    for body in model:
        at, speeds = [k for k, *_ in body.q], [speed.index for speed in body.speeds]
        for n, speed in enumerate(speeds):
            unit = [float(m == n) for m in range(len(speeds))]
            rates = body.joint.kind.coordinates.rates([q[k] for k in at], unit)
            for k, x in zip(at, rates, strict=True):
                rows[k][speed] = x
    ports = (Port("q", (model.nq,), "rad, m"),), (Port("rates", (model.nq, model.nv), ""),)
    return Program("rates", *ports, graph, tuple(edge_of(graph, x) for row in rows for x in row))


def rates(model: MechanismModel, q: Numbers, v: Numbers) -> list[Number]:
    """Rates of all coordinates at given speeds: the kinematical equations [Sayers 1991, 1]."""
    found: list[Number] = [0.0] * model.nq
    for body in model:
        at, own = [k for k, *_ in body.q], [v[speed.index] for speed in body.speeds]
        for k, x in zip(
            at, body.joint.kind.coordinates.rates([q[k] for k in at], own), strict=True
        ):
            found[k] = x
    return found


def tangent_rate(model: MechanismModel, u: Numbers, v: Numbers) -> list[Number]:
    """Rate of ``u`` in ``integrate(q, u)`` when the motion has the speed ``v``.

    ``v + [u, v]/2 + [u, [u, v]]/12``: the inverse of the exponential's derivative up to terms of
    fourth order in ``u`` [Hairer, Lubich, Wanner 2006, III.4.2].
    """
    rate = list(v)
    for body in model:
        space = body.joint.kind.coordinates
        if not space.flat:
            at = [speed.index for speed in body.speeds]
            x = [u[k] for k in at]
            once = space.bracket(x, [v[k] for k in at])
            twice = space.bracket(x, once)
            for k, a, b in zip(at, once, twice, strict=True):
                rate[k] = v[k] + a * 0.5 + b * (1.0 / 12.0)
    return rate
