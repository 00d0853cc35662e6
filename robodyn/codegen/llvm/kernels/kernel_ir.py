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
from robodyn.codegen.llvm.kernels.packs import Packs, packs_for
from robodyn.codegen.llvm.kernels.piece_code import PieceCode
from robodyn.codegen.llvm.kernels.prefetch import Prefetch
from robodyn.codegen.llvm.kernels.scalar_body import ScalarBody
from robodyn.codegen.llvm.kernels.superword_pieces import SuperwordPieces
from robodyn.codegen.llvm.kernels.superwords import Superwords, superwords_for
from robodyn.codegen.llvm.kernels.transpose import load_tile, store_tile, tiles
from robodyn.codegen.llvm.target.target import Target
from robodyn.symbolic.graph import Program, scalar_places

#: Numbers of an output from which on a batch stores it at the end, in order: rows of many states do
#: not fit into the fastest cache, so a line that is filled bit by bit would leave it in between.
LARGE = 256

#: Nodes of a program from which on it is made in pieces, for one state and for vectors of states.
#: From about there on that makes code no slower: of one state it takes half of the time to compile,
#: and mostly runs somewhat faster. Code of chains and trees, which repeats itself, runs faster.
PIECES_FROM = {"scalar": 2_000, "batch": 20_000}

#: A comment in code with packs.
_PACKED = "; operations that are alike are in packs"

#: Parameters of functions of many rows.
_ROWS = "i64 %begin, i64 %end, ptr %array, ptr %strides"


def scalar_ir(program: Program, target: Target, dtype: str, *, packed: bool = True) -> str:
    """IR of ``kernel(in0, ..., out0, ...)`` and ``rows(begin, end, pointers, strides)``.

    packed: Operations that are alike may be in packs; else the code without them gives the same
        bits.
    """
    found, packs = superwords_for(program, target, dtype), None
    if not found.order:
        packs = packs_for(program, found.fused, target, dtype)
    if packed:
        return _scalar_ir(program, target, dtype, found, packs)
    return _scalar_ir(program, target, dtype, found, None, like_packs=packs is not None)


def _scalar_ir(
    program: Program,
    target: Target,
    dtype: str,
    found: Superwords,
    packs: Packs | None,
    like_packs: bool = False,
) -> str:
    """IR of code for one state with these superwords and packs.

    ``like_packs``: pieces have no negative zeros among their results, as packs have none.
    """
    names = _names(program)
    arguments = ", ".join(f"ptr noalias %{name}" for name in names)
    kernel = Code(f"@kernel({arguments})", attributes=target.attributes)
    addresses = [f"%{name}" for name in names]
    if packs is not None:
        kernel.do(_PACKED)
        body: ScalarBody = PackedBody(kernel, program, found, target, dtype, packs)
        body.emit()
        needed = [*body.sincos.slow.values()]
    elif in_pieces(program, "scalar") and found.operations(program) >= PIECES_FROM["scalar"]:
        pieces = _pieces(program, found, target, dtype, like_packs)
        pieces.call(kernel, addresses)
        needed = pieces.functions()
    else:
        body = ScalarBody(kernel, program, found, target, dtype)
        body.emit()
        needed = [*body.sincos.slow.values()]
    kernel.begin(EXIT)
    return module_ir(kernel, _packed(names, target), _rows(names, dtype, target), *needed)


def simple_ir(program: Program, target: Target, dtype: str, ir: str) -> str:
    """IR of the first tier, from that of the full code.

    The first tier of packs would have all values on the stack, and threads may have little of it.
    """
    if _PACKED not in ir or not in_pieces(program, "scalar"):
        return ir
    found = superwords_for(program, target, dtype)
    return _scalar_ir(program, target, dtype, found, None, like_packs=True)


def _pieces(
    program: Program, found: Superwords, target: Target, dtype: str, like_packs: bool
) -> PieceCode | SuperwordPieces:
    """The pieces of the code for one state."""
    if found.order:
        return SuperwordPieces(program, found, target, dtype)
    return PieceCode(program, found.fused, target, dtype, 1, like_packs=like_packs)


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
        given = []
        for pointer, stride in zip(pointers, strides, strict=True):
            skip = code.name(f"mul i64 {stride}, {i}")
            given.append(code.name(f"getelementptr {dtype}, ptr {pointer}, i64 {skip}"))
        code.do(f"call void @kernel({', '.join(f'ptr {x}' for x in given)})")
    return code


#: Of each array, from the row of the first lane to those of the others.
_Offsets = list[list[str]]


class _BatchBody(Body):
    """A vector of states: a column of an input tile a number, output tiles stored when full."""

    def __init__(
        self,
        code: Code,
        program: Program,
        found: Superwords,
        target: Target,
        dtype: str,
        lanes: int,
    ) -> None:
        super().__init__(code, program, found, target, dtype, lanes)
        self.never_null = "%array"
        self.inputs = scalar_places(program.inputs)
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

    def begin(self, rows: list[list[str]], strides: list[str]) -> None:
        """Take the pointers to the rows of a vector of states, of all arrays."""
        self.rows = dict(zip(_names(self.program), rows, strict=True))
        outputs = len(self.program.inputs)
        self.prefetch.begin(self.code, [row for row, *_ in rows[outputs:]], strides[outputs:])

    def input(self, index: int) -> str:
        port, k = self.inputs[index]
        if (port, k) not in self.loaded and self.program.inputs[port].common:
            self.loaded[port, k] = self._common(self.rows[f"in{port}"][0], k)
        if (port, k) not in self.loaded:
            size = self.program.inputs[port].size
            start, width = next(
                (start, width) for start, width in tiles(size, self.lanes) if k < start + width
            )
            rows = self.rows[f"in{port}"]
            tile = load_tile(rows, start, width, size, self.dtype, self.code)
            for column, name in enumerate(tile):
                self.loaded.setdefault((port, start + column), name)
        return self.loaded[port, k]

    def _common(self, row: str, k: int) -> str:
        """Write an operation whose value is the same for all states."""
        code, n = self.code, self.lanes
        vector = f"<{n} x {self.dtype}>"
        x = code.load(row, k, self.dtype)
        one = code.name(f"insertelement {vector} poison, {self.dtype} {x}, i32 0")
        return code.name(
            f"shufflevector {vector} {one}, {vector} poison, <{n} x i32> zeroinitializer"
        )

    def after(self, node: int) -> None:
        self.prefetch.step(self.code)
        for port, start, width in self.due.get(node, ()):
            size, first = self.program.outputs[port].size, self.first[port]
            edges = self.program.results[first + start : first + min(start + width, size)]
            values = [self.signed(edge) for edge in edges]
            rows = self.rows[f"out{port}"]
            store_tile(values, rows, start, width, self.dtype, self.code)
            self.stores_in_block += self.lanes
            self.cut()


def _lane_offsets(code: Code, strides: list[str], lanes: int) -> _Offsets:
    """Distances of the rows of the other lanes from that of the first, for each array.

    Of fewer rows than lanes, the last lanes take the last row, and compute and write it again.
    """
    offsets: _Offsets = [[] for _ in strides]
    begin, end = code.argument("begin", "i64"), code.argument("end", "i64")
    most = end - 1 - begin
    for k in range(1, lanes):
        lane = code.choose(most > k, code.integer(k), most)
        for found, stride in zip(offsets, strides, strict=True):
            found.append(code.name(f"mul i64 {stride}, {lane}"))
    return offsets


def _vector_rows(
    code: Code,
    dtype: str,
    i: Number,
    pointers: list[str],
    strides: list[str],
    lanes: _Offsets,
) -> list[list[str]]:
    """Pointers to the rows of a vector of states, the first of which is row ``i``."""
    rows = []
    for pointer, stride in zip(pointers, strides, strict=True):
        skip = code.name(f"mul i64 {stride}, {i}")
        rows.append([code.name(f"getelementptr {dtype}, ptr {pointer}, i64 {skip}")])
    for own, offsets in zip(rows, lanes, strict=True):
        own += [code.name(f"getelementptr {dtype}, ptr {own[0]}, i64 {x}") for x in offsets]
    return rows


def batch_ir(program: Program, target: Target, dtype: str) -> str:
    """IR of ``batch(begin, end, pointers, strides)`` for one row or more.

    Rows are computed a vector at a time. The last vector overlaps the one before it.
    """
    lanes, names = target.lanes(dtype), _names(program)
    code = Code(f"@batch({_ROWS})", attributes=target.attributes)
    pointers, strides = _pointers(code, names), _strides(code, names)
    offsets = _lane_offsets(code, strides, lanes)
    last = code.argument("end", "i64") - lanes
    i, following, loop, step = code.argument("i", "i64"), "%next", "loop", "step"
    code.begin(loop)
    code.do(f"{i} = phi i64 [ %begin, %entry ], [ {following}, %{step} ]")
    rows = _vector_rows(code, dtype, i, pointers, strides, offsets)
    found = superwords_for(program, target, dtype)
    if in_pieces(program, "batch"):
        pieces = PieceCode(program, found.fused, target, dtype, lanes)
        pieces.call(code, [row for lanes_ in rows for row in lanes_])
        needed = pieces.functions()
    else:
        body = _BatchBody(code, program, found, target, dtype, lanes)
        body.begin(rows, strides)
        body.emit()
        needed = [*body.sincos.slow.values()]
    code.begin(step)
    after = i + lanes
    code.do(f"{following} = select i1 {after > last}, i64 {last}, i64 {after}")
    code.branch(i >= last, EXIT, loop)
    code.begin(EXIT)
    return module_ir(code, *needed)
