"""Functions by which joints follow others: traced, and checked at some positions."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from robodyn.array_types import Array, FloatArray
from robodyn.codegen.calls.trace_graph import TraceGraph
from robodyn.description.functions.user_law import program_of
from robodyn.description.traced_explicit_loop import TracedExplicitLoop
from robodyn.errors import ShapeError
from robodyn.joints.common.user_function import called, takes_time
from robodyn.symbolic.evaluate import evaluate
from robodyn.symbolic.graph import Port, Program
from robodyn.symbolic.scalar import Scalar, inputs
from robodyn.tolerances import EXPLICIT_SOLUTION

#: Lower and upper end of positions at which functions are tried.
Range = tuple[float, float]

#: Number of positions at which functions are checked.
TRIALS = 16


def refuse_time(what: str, function: Any, count: int) -> None:
    """Refuse a function of the time: a parameter ``t`` beyond those of the positions."""
    if not takes_time(function):
        return
    positional = [
        x
        for x in inspect.signature(function).parameters.values()
        if x.default is x.empty and x.kind in (x.POSITIONAL_ONLY, x.POSITIONAL_OR_KEYWORD)
    ]
    if len(positional) > count:
        raise ShapeError(
            f"the function of {what} takes the time t, and joints follow others by positions "
            "alone: a joint that the clock moves is a robodyn.JointMap, or controlled= in "
            "simulations",
            name="law",
        )


def traced(what: str, function: Callable[..., Any], size: int, count: int) -> Program:
    """A function of so many positions as a program, which returns ``count`` numbers."""
    graph = TraceGraph()
    q = inputs(graph, 0, size)
    result = called(what, function, *q)
    try:
        listed = np.asarray(result, object).ravel()
        numbers = [x if isinstance(x, Scalar) else float(x) for x in listed]
    except (TypeError, ValueError) as error:
        raise ShapeError(
            f"the function of {what} returns {result!r}, expected {count} numbers: {error}",
            name="law",
        ) from None
    if len(numbers) != count:
        raise ShapeError(
            f"the function of {what} returns {len(numbers)} numbers, expected {count}: one a joint "
            "that follows",
            name="law",
            given=len(numbers),
            expected=(count,),
        )
    if any(isinstance(x, Scalar) and x.graph is not graph for x in numbers):
        raise ShapeError(
            f"the function of {what} returns symbols of another function: it may read nothing but "
            "the positions that it gets",
            name="law",
        )
    port = Port("q", (size,), "rad, m")
    return program_of("law", graph, (port,), numbers, "rad, m")


def check_smooth(what: str, loop: TracedExplicitLoop, ranges: Sequence[Range]) -> None:
    """Refuse functions without values or derivatives at rest, and solutions that are none.

    At rest joints that are followed are at zero, or as near to it as their limits let them be.
    """
    lower, upper = np.transpose(ranges)
    tried = np.random.default_rng(0).uniform(lower, upper, (TRIALS, len(ranges)))
    u = np.concatenate([np.clip(0.0, lower, upper)[None], tried])
    q = np.concatenate([u, loop.positions(u)], axis=1)
    good = np.isfinite(q).all(axis=1)
    if not good.any():
        raise ShapeError(f"{what} is not a finite number anywhere", name="law")
    h, K, dK = (_values(x, q) for x in (loop.gap, loop.slopes, loop.bends))
    for name, x in (("value", h), ("slope", K), ("curvature", dK)):
        good &= np.isfinite(x).all(axis=1)
        if not good[0]:
            raise ShapeError(
                f"{what} is not smooth at rest: its {name} is no number where the joints that are "
                f"followed are at {u[0].round(6).tolist()}. Of a size take sqrt(x * x + s**2) with "
                "a small s",
                name="law",
            )
    terms = 1.0 + np.einsum("nij,nj->ni", np.abs(K.reshape(len(q), h.shape[1], -1)), np.abs(q))
    error = np.where(good[:, None], np.abs(h) / terms, 0.0)
    k = int(np.argmax(error.max(axis=1)))
    if not error[k].max() <= EXPLICIT_SOLUTION:
        raise ShapeError(
            f"the solution of {what} does not solve h: at u = {u[k].round(6).tolist()} it gives v "
            f"= {q[k, u.shape[1] :].round(6).tolist()}, and h is {h[k].round(9).tolist()}. With "
            "iterations= it need only be near",
            name="solution",
        )


def _values(program: Program, q: FloatArray) -> Array:
    with np.errstate(all="ignore"):
        return np.asarray(evaluate(program, q)[0], float).reshape(len(q), -1)
