"""Lines of memory that a batch will write next, asked for while it still computes.

A line has to come from an outer cache before it can be written to. Arrays with many numbers a state
do not fit into the inner ones, and a vector of states would wait for all its lines at its end.
"""

from __future__ import annotations

from collections.abc import Sequence

from robodyn.codegen.llvm.kernels.vectors import Vectors

#: Bytes of a line of the caches.
LINE = 64

#: Numbers of an output between which lines are asked for: fewer come in time by themselves, and
#: the lines of more would drive what is in use out of the innermost cache.
MANY, TOO_MANY = 16, 256


class Prefetch:
    """Requests for the lines of the next vector of states, spread over the nodes of a program.

    sizes: Numbers a state of each output.
    steps: How often `step` will be called.
    """

    def __init__(self, w: Vectors, sizes: Sequence[int], steps: int) -> None:
        self.w, self.steps = w, steps
        self.ports = [port for port, size in enumerate(sizes) if MANY <= size < TOO_MANY]
        self.lines = [
            (port, row, first)
            for port in self.ports
            for row in range(w.lanes)
            for first in range(0, sizes[port], LINE // w.size)
        ]
        self.rows: dict[tuple[int, int], str] = {}
        self.done = self.taken = 0

    def begin(self, outputs: Sequence[str], strides: Sequence[str]) -> None:
        """Pointers to the rows of the next vector; given are those of the first row of this one."""
        w = self.w
        for port in self.ports:
            for row in range(w.lanes):
                skip = w.name(f"mul i64 {strides[port]}, {w.lanes + row}")
                self.rows[port, row] = w.code.at(outputs[port], skip, w.dtype)

    def step(self) -> None:
        """Ask for the next few lines."""
        if not self.lines:
            return
        code = self.w.code
        self.taken += 1
        due = len(self.lines) * self.taken // self.steps
        for port, row, first in self.lines[self.done : due]:
            at = code.at(self.rows[port, row], first, self.w.dtype)
            code.declare("declare void @llvm.prefetch.p0(ptr, i32, i32, i32)")
            code.do(f"call void @llvm.prefetch.p0(ptr {at}, i32 1, i32 3, i32 1)")
        self.done = due
