"""Lines of memory that a batch will write next, asked for while it still computes.

A line has to come from an outer cache before it can be written to. Arrays with many numbers a state
do not fit into the inner ones, and a vector of states would wait for all its lines at its end.
"""

from __future__ import annotations

from collections.abc import Sequence

from robodyn.codegen.llvm.builder.code import Code

#: Bytes of a line of the caches.
LINE = 64

#: Numbers of an output between which lines are asked for: fewer come in time by themselves, and
#: the lines of more would drive what is in use out of the innermost cache.
MANY, TOO_MANY = 16, 256


class Prefetch:
    """Requests for the lines of the next vector of states, spread over the nodes of a program.

    sizes: Numbers a state of each output.
    lanes: States in a vector.
    steps: How often `step` will be called.
    """

    def __init__(self, sizes: Sequence[int], lanes: int, dtype: str, steps: int) -> None:
        self.lanes, self.dtype, self.steps = lanes, dtype, steps
        numbers = LINE // (8 if dtype == "double" else 4)
        self.ports = [port for port, size in enumerate(sizes) if MANY <= size < TOO_MANY]
        self.lines = [
            (port, row, first)
            for port in self.ports
            for row in range(lanes)
            for first in range(0, sizes[port], numbers)
        ]
        self.rows: dict[tuple[int, int], str] = {}
        self.done = self.taken = 0

    def begin(self, code: Code, outputs: Sequence[str], strides: Sequence[str]) -> None:
        """Pointers to the rows of the next vector; given are those of the first row of this one."""
        for port in self.ports:
            for row in range(self.lanes):
                skip = code.name(f"mul i64 {strides[port]}, {self.lanes + row}")
                pointer = f"getelementptr {self.dtype}, ptr {outputs[port]}, i64 {skip}"
                self.rows[port, row] = code.name(pointer)

    def step(self, code: Code) -> None:
        """Ask for the next few lines."""
        self.taken += 1
        due = len(self.lines) * self.taken // self.steps
        for port, row, first in self.lines[self.done : due]:
            at = code.at(self.rows[port, row], first, self.dtype)
            code.declare("declare void @llvm.prefetch.p0(ptr, i32, i32, i32)")
            code.do(f"call void @llvm.prefetch.p0(ptr {at}, i32 1, i32 3, i32 1)")
        self.done = due
