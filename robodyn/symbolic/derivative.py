"""Derivative of a program with respect to one of its inputs, as a program."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from robodyn.symbolic import ops
from robodyn.symbolic.evaluate import inline
from robodyn.symbolic.graph import Graph, Port, Program
from robodyn.symbolic.scalar import (
    OPERATIONS,
    Number,
    Scalar,
    arctan2,
    constant_in,
    cos,
    cosh,
    edge_of,
    inputs,
    sin,
    sinh,
    where,
)

Partials = dict[int, Number]


def jacobian(program: Program, name: str, raw: bool = False) -> Program:
    """Exact partial derivatives of all outputs with respect to the input ``name``.

    Parameters
    ----------
    name : str
        Name of an input.
    raw : bool
        Differentiate the numbers of the input one by one, though they are coordinates that do not
        add. Otherwise such an input is moved along its speeds, by ``program.rates``.

    Returns
    -------
    program : Program
        Same inputs; each output of shape ``s`` becomes one of shape ``(*s, *shape of the input)``,
        or ``(*s, speeds)`` where the input is moved along speeds; named ``d output / d input``.

    Raises
    ------
    KeyError
        If there is no such input.

    Notes
    -----
    Forward mode over the graph, with only the partials that are not zero, where the program does
    not know its derivatives.
    """
    first, wanted = 0, None
    for port in program.inputs:
        if port.name == name:
            wanted = port
            break
        first += port.size
    if wanted is None:
        raise KeyError(name)
    rates = None if raw else program.rates.get(name)
    known = None
    if program.derived is not None and (rates is not None or name not in program.rates):
        known = program.derived(name)
    if known is not None:
        return known
    graph = Graph()
    if rates is None:
        shape = wanted.shape
        seeds: dict[int, Partials] = {first + k: {k: 1.0} for k in range(wanted.size)}
    else:
        shape = rates.outputs[0].shape[1:]
        seeds = _moved(rates, inputs(graph, first, wanted.size), first)
    partial = _propagate(program, graph, seeds, math.prod(shape))
    results = []
    for edge in program.results:
        d = partial.get(edge >> 1, {})
        for k in range(math.prod(shape)):
            x = d.get(k, 0.0)
            results.append(edge_of(graph, -x if edge & 1 else x))
    outputs = tuple(
        Port(f"d {port.name} / d {name}", port.shape + shape, _unit(port.unit, wanted.unit))
        for port in program.outputs
    )
    name = f"{program.name}_d_{name}"
    return Program(name, program.inputs, outputs, graph, tuple(results), program.rates)


def _moved(rates: Program, at: Sequence[Number], first: int) -> dict[int, Partials]:
    """Partials of the scalars of an input with respect to the speeds that move it."""
    (count,) = rates.outputs[0].shape[1:]
    numbers = inline(rates, at)
    rows = (numbers[count * k : count * (k + 1)] for k in range(len(at)))
    return {
        first + k: {j: x for j, x in enumerate(row) if isinstance(x, Scalar) or x}
        for k, row in enumerate(rows)
    }


def _unit(above: str, below: str) -> str:
    return f"({above}) / ({below})" if above or below else ""


def _propagate(
    program: Program, graph: Graph, seeds: Mapping[int, Partials], columns: int
) -> dict[int, Partials]:
    """Partials of each live node, in a new graph."""
    old = program.graph
    value: dict[int, Any] = {}
    partial: dict[int, Partials] = {}

    def at(edge: int) -> tuple[Any, Partials]:
        x, d = value[edge >> 1], partial.get(edge >> 1, {})
        return (-x, {k: -y for k, y in d.items()}) if edge & 1 else (x, d)

    for node in program.live():
        op = old.op[node]
        d: Partials = {}
        if op == ops.CONST:
            x = value[node] = constant_in(graph, old.value[node])
            if x != x:  # NaN says that there is no number, by whichever input
                d = dict.fromkeys(range(columns), math.nan)
        elif op == ops.INPUT:
            k = old.a[node]
            value[node] = Scalar(graph, 2 * graph.node(ops.INPUT, k))
            d = seeds.get(k, {})
        elif op in (ops.LESS, ops.LESS_EQUAL, ops.SIDES):
            value[node] = OPERATIONS[op](at(old.a[node])[0], at(old.b[node])[0])
        elif op == ops.SELECT:
            sides = old.b[node] >> 1
            d, others = (at(side[sides])[1] for side in (old.a, old.b))
            condition = value[old.a[node] >> 1]
            value[node] = where(condition, *value[sides])
            d = {
                k: where(condition, d.get(k, 0.0), others.get(k, 0.0))
                for k in dict.fromkeys((*d, *others))
            }
        elif op in ops.OF_TWO:
            value[node], d = _binary(op, *at(old.a[node]), *at(old.b[node]))
        else:
            value[node], d = _unary(op, *at(old.a[node]))
        if d:
            partial[node] = d
    return partial


def _binary(op: int, x: Number, dx: Partials, y: Number, dy: Partials) -> tuple[Number, Partials]:
    d: Partials
    if op == ops.ADD:
        d = dict(dx)
        for k, b in dy.items():
            d[k] = d[k] + b if k in d else b
        return x + y, d
    if op == ops.MUL:
        d = {k: a * y for k, a in dx.items()}
        for k, b in dy.items():
            d[k] = d[k] + x * b if k in d else x * b
        return x * y, d
    if op == ops.ARCTAN2:  # of the direction (y, x)
        square = x * x + y * y
        d = {k: a * (y / square) for k, a in dx.items()}
        for k, b in dy.items():
            d[k] = d.get(k, 0.0) - x / square * b
        return arctan2(x, y), d
    if isinstance(y, float):
        return x / y, {k: a / y for k, a in dx.items()}
    z, inverse = x / y, 1.0 / y
    d = {k: a * inverse for k, a in dx.items()}
    for k, b in dy.items():
        d[k] = d.get(k, 0.0) - z * b * inverse
    return z, d


def _unary(op: int, x: Number, dx: Partials) -> tuple[Number, Partials]:
    y = OPERATIONS[op](x)
    if not dx or op == ops.FLOOR:
        return y, {}
    if op == ops.ABS:
        return y, {k: where(x < 0.0, -a, a) for k, a in dx.items()}
    slope = _SLOPES[op](x, y)
    return y, {k: a * slope for k, a in dx.items()}


#: Derivatives of functions at x, where they are y.
_SLOPES: dict[int, Callable[[Number, Number], Number]] = {
    ops.SQRT: lambda x, y: 0.5 / y,
    ops.SIN: lambda x, y: cos(x),
    ops.COS: lambda x, y: -sin(x),
    ops.EXP: lambda x, y: y,
    ops.LOG: lambda x, y: 1.0 / x,
    ops.TANH: lambda x, y: 1.0 - y * y,
    ops.SINH: lambda x, y: cosh(x),
    ops.COSH: lambda x, y: sinh(x),
}
