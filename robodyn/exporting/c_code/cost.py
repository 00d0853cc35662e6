"""What a function in C costs: operations, and numbers that wait on the stack."""

from __future__ import annotations

from robodyn.symbolic import ops
from robodyn.symbolic.graph import Program

#: Bytes of a number.
SIZES = {"double": 8, "float": 4}


def cost(program: Program, dtype: str) -> str:
    """A line about a function: its operations, and how much of the stack its numbers take."""
    counted = [f"{n} {kind}" for kind, n in program.operations().items() if n]
    alive = SIZES[dtype] * most_alive(program)
    return f"{', '.join(counted) or 'no operations'}; about {alive} bytes of stack"


def most_alive(program: Program) -> int:
    """The most numbers that are needed later, between two operations in the order of the code."""
    graph, last = program.graph, dict[int, int]()
    unnamed = ops.CONST, ops.LESS, ops.LESS_EQUAL, ops.SIDES
    nodes = [x for x in program.live() if graph.op[x] not in unnamed]
    for k, node in enumerate(nodes):
        for edge in graph.operands(node):
            last[edge >> 1] = k
    for edge in program.results:
        last[edge >> 1] = len(nodes)
    ends = [0] * (len(nodes) + 1)
    alive = most = 0
    for k, node in enumerate(nodes):
        alive += 1 - ends[k]
        ends[last[node]] += 1
        most = max(most, alive)
    return most
