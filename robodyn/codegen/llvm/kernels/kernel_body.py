"""The instructions of a kernel: for one state or for a vector of states."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from robodyn.codegen.llvm.kernels.sincos import sincos
from robodyn.codegen.llvm.kernels.sums import FMA, operations
from robodyn.codegen.llvm.kernels.vectors import Vectors
from robodyn.symbolic import ops
from robodyn.symbolic.graph import ByPrecision, Program

#: Operations that are one instruction, or a function of LLVM.
_VERBS = {ops.MUL: "fmul", ops.DIV: "fdiv"}
_INTRINSICS = {ops.SQRT: "sqrt", ops.ABS: "fabs", FMA: "fma"}
_COMPARISONS = {ops.LESS: "fcmp olt", ops.LESS_EQUAL: "fcmp ole"}


def write_operation(
    w: Vectors, op: int, operands: Sequence[int], value: Callable[[int], str]
) -> str:
    """Write an operation; the name of its result.

    op: An operation of a graph, or ``FMA``. ``LESS`` and ``LESS_EQUAL`` select: the third number
        where the first one is less than the second one, else the fourth one.
    operands: An odd one is the number before it with the other sign.
    value: Writes what gives an operand; its name.
    """
    if op == ops.ADD:
        a, b = operands
        return w.name(f"{'fsub' if b & 1 else 'fadd'} {w.type} {value(a)}, {value(b & -2)}")
    if op in _VERBS:
        a, b = operands
        return w.name(f"{_VERBS[op]} {w.type} {value(a)}, {value(b)}")
    given = map(value, operands)
    if op in _INTRINSICS:
        return w.code.intrinsic(_INTRINSICS[op], w.type, *given)
    if op in (ops.SIN, ops.COS):
        return sincos(w, *given)[op == ops.COS]
    if op in _COMPARISONS:
        x, y, first, second = given
        return w.select(w.binary(_COMPARISONS[op], x, y), first, second)
    return w.c_function(f"robodyn_{'atan2' if op == ops.ARCTAN2 else ops.FUNCTIONS[op]}", *given)


#: Label of the last block.
EXIT = "exit"

#: Approximate number of stores in a block.
STORES = 200


class Body:
    """Instructions of one kernel: values by node, inputs and outputs by subclasses.

    w: The function that they are written into, with a state a lane.
    fused: Sums that are one instruction with a product: edge of the product.
    """

    #: A pointer of the function that is never null.
    never_null = "%in0"

    def __init__(self, w: Vectors, program: Program, fused: Mapping[int, int]) -> None:
        self.w, self.code, self.program, self.graph = w, w.code, program, program.graph
        self.names: dict[int, str] = {}
        self.stores_in_block = 0
        self.nodes = program.live()
        self.operations = operations(program, fused)

    def input(self, index: int) -> str:
        """Value of a scalar input."""
        raise NotImplementedError  # pragma: no cover  (each kernel has its own)

    def after(self, node: int) -> None:
        """Store the results that are complete."""

    def value(self, node: int) -> str:
        """SSA name or literal of a node."""
        known = self.names.get(node)
        if known is None:
            known = self.names[node] = self.w.constant(self.graph.value[node])
        return known

    def signed(self, edge: int) -> str:
        """SSA name or literal of an edge."""
        if not edge & 1:
            return self.names.get(edge >> 1) or self.value(edge >> 1)
        constant = self.graph.value.get(edge >> 1)
        if constant is not None and not isinstance(constant, ByPrecision):
            return self.w.constant(-constant)
        return self.w.negative(self.value(edge >> 1))

    def emit(self) -> None:
        """All nodes, in order."""
        for node in self.nodes:
            self.compute(node)
            self.after(node)

    def compute(self, node: int) -> None:
        """Write the instruction of a node, unless its value is known or needs none."""
        if node in self.names:
            return
        operation = self.operations.get(node)
        if operation is not None:
            self.names[node] = write_operation(self.w, *operation, self.signed)
        elif self.graph.op[node] == ops.INPUT:
            self.names[node] = self.input(self.graph.a[node])

    def stored(self, count: int = 1) -> None:
        """Count a store; begin a new block after many, as LLVM compares each with all before it.

        The branch depends on a pointer that is never null, which LLVM does not know; it would join
        blocks that only follow one another.
        """
        self.stores_in_block += count
        if self.stores_in_block < STORES:
            return
        following = self.code.label("next")
        never = self.code.name(f"icmp eq ptr {self.never_null}, null")
        self.code.branch(never, EXIT, following, expected=False)
        self.code.begin(following)
        self.stores_in_block = 0
