"""From a program to LLVM IR: straight-line code for one state, or for a vector of states.

The order of instructions is the order of the program's nodes, in which few values are alive at a
time; LLVM's IR passes are not run, so it survives. Results are stored as soon as they are known,
large ones of batches at the end. Columns of one state that share their products come last, in
vectors of their own (`superwords.py`).
"""

from __future__ import annotations

from robodyn.codegen.llvm.kernels.kernel_body import Body, scalars_of
from robodyn.codegen.llvm.kernels.prefetch import DECLARATION, Prefetch
from robodyn.codegen.llvm.kernels.scalar_body import ScalarBody
from robodyn.codegen.llvm.kernels.transpose import declarations, load_tile, store_tile, tiles
from robodyn.codegen.llvm.target.target import Target
from robodyn.symbolic.graph import Program

__all__ = ["batch_ir", "scalar_ir"]

#: Numbers of an output from which on a batch stores it at the end, in order: rows of many states do
#: not fit into the fastest cache, so a line that is filled bit by bit would leave it in between.
LARGE = 256


def scalar_ir(program: Program, target: Target, dtype: str) -> str:
    """IR of ``kernel(in0, ..., out0, ...)`` and ``rows(begin, end, pointers, strides)``."""
    body = ScalarBody(program, target, dtype)
    body.emit()
    pointers = [f"in{k}" for k in range(len(program.inputs))]
    pointers += [f"out{k}" for k in range(len(program.outputs))]
    arguments = ", ".join(f"ptr noalias %{name}" for name in pointers)
    text = [
        f"define void @kernel({arguments}) {target.attributes} {{",
        "entry:",
        *body.scratch(),
        *body.words.room(),
        *body.lines,
        "  br label %exit",
        "exit:",
        "  ret void",
        "}",
        *_packed(pointers, target),
        *_rows(pointers, dtype, target),
        *body.declarations(),
    ]
    return "\n".join(text)


def _packed(pointers: list[str], target: Target) -> list[str]:
    """The kernel with its pointers in an array, for the generic call entry."""
    lines = [f"define void @packed(ptr %array) {target.attributes} {{"]
    lines += _unpacked(pointers, "array", "")
    arguments = ", ".join(f"ptr %{name}" for name in pointers)
    return [*lines, f"  tail call void @kernel({arguments})", "  ret void", "}"]


def _unpacked(pointers: list[str], array: str, suffix: str) -> list[str]:
    lines = []
    for k, name in enumerate(pointers):
        lines.append(f"  %at_{name}{suffix} = getelementptr ptr, ptr %{array}, i64 {k}")
        lines.append(f"  %{name}{suffix} = load ptr, ptr %at_{name}{suffix}")
    return lines


def _row_pointers(pointers: list[str], dtype: str, row: str, tag: str) -> list[str]:
    lines = []
    for name in pointers:
        lines.append(f"  %{name}_skip{tag} = mul i64 %{name}_stride, {row}")
        lines.append(
            f"  %{name}_row{tag} = getelementptr {dtype}, ptr %{name}_0, i64 %{name}_skip{tag}"
        )
    return lines


def _strides(pointers: list[str]) -> list[str]:
    lines = []
    for k, name in enumerate(pointers):
        lines.append(f"  %at_{name}_stride = getelementptr i64, ptr %strides, i64 {k}")
        lines.append(f"  %{name}_stride = load i64, ptr %at_{name}_stride")
    return lines


def _rows(pointers: list[str], dtype: str, target: Target) -> list[str]:
    """A loop over states, one at a time."""
    arguments = ", ".join(f"ptr %{name}_row" for name in pointers)
    return [
        f"define void @rows(i64 %begin, i64 %end, ptr %array, ptr %strides) {target.attributes} {{",
        "entry:",
        *_unpacked(pointers, "array", "_0"),
        *_strides(pointers),
        "  br label %head",
        "head:",
        "  %i = phi i64 [ %begin, %entry ], [ %next, %loop ]",
        "  %more = icmp slt i64 %i, %end",
        "  br i1 %more, label %loop, label %exit",
        "loop:",
        *_row_pointers(pointers, dtype, "%i", ""),
        f"  call void @kernel({arguments})",
        "  %next = add i64 %i, 1",
        "  br label %head",
        "exit:",
        "  ret void",
        "}",
    ]


class _BatchBody(Body):
    """A vector of states: a column of an input tile a number, output tiles stored when full."""

    def __init__(self, program: Program, target: Target, dtype: str, lanes: int) -> None:
        super().__init__(program, target, dtype, lanes)
        self.block = "loop"
        self.never_null = "%array"
        self.inputs = scalars_of(program.inputs)
        self.loaded: dict[tuple[int, int], str] = {}
        self.rows: dict[str, list[str]] = {}
        self.due: dict[int, list[tuple[int, int, int]]] = {}
        first = 0
        self.first: list[int] = []
        for p, port in enumerate(program.outputs):
            self.first.append(first)
            for start, width in tiles(port.size, lanes):
                edges = program.results[first + start : first + min(start + width, port.size)]
                last = max(edge >> 1 for edge in edges) if port.size < LARGE else self.nodes[-1]
                self.due.setdefault(last, []).append((p, start, width))
            first += port.size
        sizes = [port.size for port in program.outputs]
        self.prefetch = Prefetch(sizes, lanes, dtype, len(self.nodes))

    def row_pointers(self, name: str) -> list[str]:
        """Pointers to this block's rows of an array."""
        if name not in self.rows:
            rows = [f"%{name}_row"]
            for k in range(1, self.lanes):
                pointer = f"getelementptr {self.dtype}, ptr %{name}_row, i64 %{name}_lane{k}"
                rows.append(self.put(pointer))
            self.rows[name] = rows
        return self.rows[name]

    def input(self, index: int) -> str:
        port, k = self.inputs[index]
        if (port, k) not in self.loaded:
            size = self.program.inputs[port].size
            start, width = next(
                (start, width) for start, width in tiles(size, self.lanes) if k < start + width
            )
            rows = self.row_pointers(f"in{port}")
            tile = load_tile(rows, start, width, size, self.dtype, self.put)
            for column, name in enumerate(tile):
                self.loaded.setdefault((port, start + column), name)
        return self.loaded[port, k]

    def after(self, node: int) -> None:
        self.prefetch.step(self.put, self.do)
        for port, start, width in self.due.get(node, ()):
            size, first = self.program.outputs[port].size, self.first[port]
            edges = self.program.results[first + start : first + min(start + width, size)]
            values = [self.signed(edge) for edge in edges]
            rows = self.row_pointers(f"out{port}")
            store_tile(values, rows, start, width, self.dtype, self.put, self.do)
            self.stores_in_block += self.lanes
            self.cut()


def _lanes(pointers: list[str], lanes: int) -> list[str]:
    """How far the row of each lane is from that of the first.

    Of fewer rows than lanes, the last lanes take the last row, and compute and write it again.
    """
    lines = ["  %final = sub i64 %end, 1", "  %most = sub i64 %final, %begin"]
    for k in range(1, lanes):
        lines.append(f"  %there{k} = icmp sgt i64 %most, {k}")
        lines.append(f"  %lane{k} = select i1 %there{k}, i64 {k}, i64 %most")
        lines += [f"  %{name}_lane{k} = mul i64 %{name}_stride, %lane{k}" for name in pointers]
    return lines


def batch_ir(program: Program, target: Target, dtype: str) -> str:
    """IR of ``batch(begin, end, pointers, strides)`` for one row or more.

    Rows are computed a vector at a time. The last vector overlaps the one before it.
    """
    lanes = target.lanes(dtype)
    body = _BatchBody(program, target, dtype, lanes)
    # pointers to rows are made in the loop's first block, where all later blocks see them
    pointers = [f"in{k}" for k in range(len(program.inputs))]
    pointers += [f"out{k}" for k in range(len(program.outputs))]
    for name in pointers:
        body.row_pointers(name)
    body.prefetch.begin(body.put)
    body.emit()
    text = [
        f"define void @batch(i64 %begin, i64 %end, ptr %array, ptr %strides) "
        f"{target.attributes} {{",
        "entry:",
        *body.scratch(),
        *_unpacked(pointers, "array", "_0"),
        *_strides(pointers),
        *_lanes(pointers, lanes),
        f"  %last = sub i64 %end, {lanes}",
        "  br label %loop",
        "loop:",
        f"  %i = phi i64 [ %begin, %entry ], [ %next, %{body.block} ]",
        *_row_pointers(pointers, dtype, "%i", ""),
        *body.lines,
        f"  %after = add i64 %i, {lanes}",
        "  %beyond = icmp sgt i64 %after, %last",
        "  %next = select i1 %beyond, i64 %last, i64 %after",
        "  %finished = icmp sge i64 %i, %last",
        "  br i1 %finished, label %exit, label %loop",
        "exit:",
        "  ret void",
        "}",
        DECLARATION,
        *declarations(dtype, lanes),
        *body.declarations(),
    ]
    return "\n".join(text)
