"""From a program to LLVM IR: straight-line code for one state, or for a vector of states.

The order of instructions is the order of the program's nodes, in which few values are alive at a
time; LLVM's IR passes are not run, so it survives. Results are stored as soon as they are known,
large ones of batches at the end. Columns of one state that share their products come last, in
vectors of their own (`superwords.py`); otherwise operations of limbs that are alike share vectors
(`packs.py`). Large programs without these are functions of bounded size (`pieces.py`,
`superword_pieces.py`).
"""

from __future__ import annotations

from robodyn.codegen.llvm.builder.code import Code, module_ir
from robodyn.codegen.llvm.builder.values import Number
from robodyn.codegen.llvm.kernels.kernel_body import EXIT, Body
from robodyn.codegen.llvm.kernels.packed_body import PackedBody
from robodyn.codegen.llvm.kernels.packs import may_have_packs, packs_for
from robodyn.codegen.llvm.kernels.piece_code import PieceCode
from robodyn.codegen.llvm.kernels.prefetch import Prefetch
from robodyn.codegen.llvm.kernels.scalar_body import ScalarBody
from robodyn.codegen.llvm.kernels.superword_pieces import SuperwordPieces
from robodyn.codegen.llvm.kernels.superwords import Superwords, superwords_for
from robodyn.codegen.llvm.kernels.transpose import load_tile, store_tile, tiles
from robodyn.codegen.llvm.kernels.vectors import Vectors
from robodyn.codegen.llvm.target.target import Target
from robodyn.symbolic.graph import Program, scalar_places

#: Numbers of an output from which on a batch stores it at the end, in order: rows of many states do
#: not fit into the fastest cache, so a line that is filled bit by bit would leave it in between.
LARGE = 256

#: Nodes of a program from which on it is made in pieces, for one state and for vectors of states.
#: From about there on that makes code no slower: of one state it takes half of the time to compile,
#: and mostly runs somewhat faster. Code of chains and trees, which repeats itself, runs faster.
PIECES_FROM = {"scalar": 2_000, "batch": 20_000}

#: Parameters of functions of many rows.
_ROWS = "i64 %begin, i64 %end, ptr %array, ptr %strides"


def scalar_ir(program: Program, target: Target, dtype: str, *, packed: bool = True) -> str:
    """IR of ``kernel(in0, ..., out0, ...)`` and ``rows(begin, end, pointers, strides)``.

    packed: Operations that are alike may be in packs; else the code without them gives the same
        bits.
    """
    found = superwords_for(program, target, dtype)
    packs = packs_for(program, found, target, dtype) if packed else None
    names, width = _names(program), target.lanes(dtype)
    arguments = ", ".join(f"ptr noalias %{name}" for name in names)
    kernel = Code(f"@kernel({arguments})", attributes=target.attributes)
    w, addresses = Vectors(kernel, dtype, 1, target.fma), [f"%{name}" for name in names]
    if packs is not None:
        PackedBody(w, program, found, width, packs).emit()
    elif in_pieces(program, "scalar") and found.operations(program) >= PIECES_FROM["scalar"]:
        if found.order:
            SuperwordPieces(program, found, target, dtype).call(kernel, addresses)
        else:
            alike = may_have_packs(program, found, target, dtype)
            pieces = PieceCode(program, found.fused, target, dtype, 1, like_packs=alike)
            pieces.call(kernel, addresses)
    else:
        ScalarBody(w, program, found, width).emit()
    kernel.begin(EXIT)
    return module_ir(kernel, _packed(names, target), _rows(names, dtype, target))


def in_pieces(program: Program, kind: str) -> bool:
    """Whether the ``"scalar"`` or ``"batch"`` code of a program is made in pieces.

    That of one state is if superwords leave as many operations.
    """
    return len(program.live()) >= PIECES_FROM[kind]


def _names(program: Program) -> list[str]:
    """Names of the addresses of inputs and outputs."""
    inputs, outputs = range(len(program.inputs)), range(len(program.outputs))
    return [*(f"in{k}" for k in inputs), *(f"out{k}" for k in outputs)]


def _packed(names: list[str], target: Target) -> Code:
    """The kernel with its pointers in an array, for the call entry."""
    code = Code("@packed(ptr %array)", attributes=target.attributes)
    arguments = ", ".join(f"ptr {x}" for x in _pointers(code, names))
    code.do(f"tail call void @kernel({arguments})")
    return code


def _pointers(code: Code, names: list[str]) -> list[str]:
    """Addresses of inputs and outputs, from an array."""
    return [code.load("%array", k, "ptr").name for k in range(len(names))]


def _strides(code: Code, names: list[str]) -> list[str]:
    """Strides from row to row of each input and output."""
    return [code.load("%strides", k, "i64").name for k in range(len(names))]


def _rows(names: list[str], dtype: str, target: Target) -> Code:
    """A loop over states, one at a time."""
    code = Code(f"@rows({_ROWS})", attributes=target.attributes)
    pointers, strides = _pointers(code, names), _strides(code, names)
    for i in code.each(code.argument("end", "i64"), start=code.argument("begin", "i64")):
        given = ", ".join(f"ptr {x}" for x in _rows_at(code, dtype, i, pointers, strides))
        code.do(f"call void @kernel({given})")
    return code


def _rows_at(
    code: Code, dtype: str, i: Number, pointers: list[str], strides: list[str]
) -> list[str]:
    """Pointers to the row of each array of a state."""
    pairs = zip(pointers, strides, strict=True)
    return [code.at(x, code.put(f"mul i64 {stride}, {i}", "i64"), dtype) for x, stride in pairs]


class _BatchBody(Body):
    """A vector of states: a column of an input tile a number, output tiles stored when full.

    rows: Pointers to the rows of a vector of states, of all arrays.
    strides: Of these.
    """

    never_null = "%array"

    def __init__(
        self, w: Vectors, program: Program, found: Superwords, rows: list[list[str]],
        strides: list[str],
    ) -> None:  # fmt: skip
        super().__init__(w, program, found.fused)
        count = len(program.inputs)
        self.inputs, self.outputs = rows[:count], rows[count:]
        self.places = scalar_places(program.inputs)
        self.loaded: dict[tuple[int, int], str] = {}
        self.due: dict[int, list[tuple[int, int, int, tuple[int, ...]]]] = {}
        first = 0
        for p, port in enumerate(program.outputs):
            for start, width in tiles(port.size, w.lanes):
                edges = program.results[first + start : first + min(start + width, port.size)]
                last = max(edge >> 1 for edge in edges) if port.size < LARGE else self.nodes[-1]
                self.due.setdefault(last, []).append((p, start, width, edges))
            first += port.size
        sizes = [port.size for port in program.outputs]
        self.prefetch = Prefetch(w, sizes, len(self.nodes))
        self.prefetch.begin([row for row, *_ in self.outputs], strides[count:])

    def input(self, index: int) -> str:
        port, k = self.places[index]
        given = self.program.inputs[port]
        if (port, k) not in self.loaded and given.common:
            self.loaded[port, k] = self.w.splat(
                self.code.load(self.inputs[port][0], k, self.w.dtype)
            )
        if (port, k) not in self.loaded:
            start, width = next(x for x in tiles(given.size, self.w.lanes) if k < sum(x))
            tile = load_tile(self.w, self.inputs[port], start, width, given.size)
            for column, name in enumerate(tile):
                self.loaded.setdefault((port, start + column), name)
        return self.loaded[port, k]

    def after(self, node: int) -> None:
        self.prefetch.step()
        for port, start, width, edges in self.due.get(node, ()):
            store_tile(self.w, [self.signed(x) for x in edges], self.outputs[port], start, width)
            self.stored(self.w.lanes)


def batch_ir(program: Program, target: Target, dtype: str) -> str:
    """IR of ``batch(begin, end, pointers, strides)`` for one row or more.

    Rows are computed a vector at a time. The last vector overlaps the one before it.
    """
    lanes, names = target.lanes(dtype), _names(program)
    code = Code(f"@batch({_ROWS})", attributes=target.attributes)
    pointers, strides = _pointers(code, names), _strides(code, names)
    begin, end = code.argument("begin", "i64"), code.argument("end", "i64")
    # of fewer rows than lanes, the last lanes take the last row, and compute and write it again
    most = end - 1 - begin
    offsets: list[list[str]] = []  # of each lane but the first, for each array
    for k in range(1, lanes):
        lane = code.choose(most > k, code.integer(k), most)
        offsets.append([code.name(f"mul i64 {stride}, {lane}") for stride in strides])
    last = end - lanes
    i, following, loop, step = code.argument("i", "i64"), "%next", "loop", "step"
    code.begin(loop)
    code.do(f"{i} = phi i64 [ %begin, %entry ], [ {following}, %{step} ]")
    rows = [
        [row, *(code.name(f"getelementptr {dtype}, ptr {row}, i64 {x[k]}") for x in offsets)]
        for k, row in enumerate(_rows_at(code, dtype, i, pointers, strides))
    ]
    found = superwords_for(program, target, dtype)
    if in_pieces(program, "batch"):
        pieces = PieceCode(program, found.fused, target, dtype, lanes)
        pieces.call(code, [row for lanes_ in rows for row in lanes_])
    else:
        w = Vectors(code, dtype, lanes, target.fma)
        _BatchBody(w, program, found, rows, strides).emit()
    code.begin(step)
    after = i + lanes
    code.do(f"{following} = select i1 {after > last}, i64 {last}, i64 {after}")
    code.branch(i >= last, EXIT, loop)
    code.begin(EXIT)
    return module_ir(code)
