"""Functions of users that become programs: of forces and of sensors."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from robodyn.errors import ShapeError
from robodyn.symbolic.evaluate import inline
from robodyn.symbolic.graph import Graph, Port, Program
from robodyn.symbolic.scalar import UNDERSTOOD, Number, Scalar, edge_of, inputs


def numbers_of(
    what: str, function: Any, arguments: tuple[Any, ...], given: str, graph: Graph, name: str
) -> list[Number]:
    """The results of a function of symbols, as a list of numbers of their graph.

    what: The function, in messages.
    given: Names of the arguments.
    graph: That of the symbols.
    name: Of the argument that the function was.
    """
    try:
        result = np.asarray(function(*arguments), object)
        found = [x if isinstance(x, Scalar) else float(x) for x in result.ravel()]
    except Exception as error:
        raise ShapeError(
            f"{what} failed with {type(error).__name__}: {error}. It is called with ({given}), "
            f"arrays of symbols, of which {UNDERSTOOD}",
            name=name,
            given=function,
        ) from error
    if any(isinstance(x, Scalar) and x.graph is not graph for x in found):
        raise ShapeError(
            f"{what} returns symbols of another function: it may read nothing but its own "
            "arguments",
            name=name,
        )
    if not all(isinstance(x, Scalar) or np.isfinite(x) for x in found):
        raise ShapeError(f"{what} returns {found}: not finite", name=name)
    return found


def program_of(
    name: str, graph: Graph, ports: tuple[Port, ...], results: Sequence[Number], unit: str = ""
) -> Program:
    """Results of a graph as a program, without the nodes that they do not need."""
    edges = tuple(edge_of(graph, x) for x in results)
    traced = Program(name, ports, (Port(name, (len(edges),), unit),), graph, edges)
    own = Graph()
    kept = inline(traced, inputs(own, 0, sum(port.size for port in ports)))
    edges = tuple(edge_of(own, x) for x in kept)
    return Program(name, ports, traced.outputs, own, edges)
