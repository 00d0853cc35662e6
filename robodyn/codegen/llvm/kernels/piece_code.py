"""The machine code of a program in pieces: its functions, and their calls in order."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Iterable, Mapping

from robodyn.codegen.llvm.builder.code import Code
from robodyn.codegen.llvm.kernels.piece_function import PieceFunction, angles_function
from robodyn.codegen.llvm.kernels.pieces import Pieces
from robodyn.codegen.llvm.kernels.vectors import constant
from robodyn.codegen.llvm.target.target import Target
from robodyn.symbolic.graph import Program

#: Operations of a piece at most, of one state and of vectors of them: values that go from one piece
#: to the next cost a vector of states more than one, and its code is compiled less often.
MOST, MOST_OF_VECTORS = 500, 1000

#: Bytes of memory between pieces that are on the stack at most. Long chains need megabytes of it,
#: and the stack of a thread may have a quarter of one.
ON_STACK = 16 << 10

#: Bytes of a line of the cache, at which this memory begins.
_LINE = 64


class PieceCode:
    """All functions of a program in pieces.

    products: Sums that are one operation with a product: edge of the product.
    lanes: States in a vector.
    elsewhere: Results, by index, that others store.
    like_packs: Of one state: no result is a negative zero, as `PackedBody` has it.
    functions: All but the one that calls them.
    """

    def __init__(
        self,
        program: Program,
        products: Mapping[int, int],
        target: Target,
        dtype: str,
        lanes: int,
        elsewhere: Collection[int] = (),
        like_packs: bool = False,
    ) -> None:
        self._like_packs = like_packs
        self._program, self._how = program, (target, dtype, lanes)
        self._dtype, self._lanes = dtype, lanes
        self._bytes = 8 if dtype == "double" else 4
        most = MOST if lanes == 1 else MOST_OF_VECTORS
        self._pieces = Pieces(program, products, target.lanes(dtype), most, elsewhere)
        self.functions: list[Code] = []
        self._words: list[int] = []
        self._numbers: list[float] = []
        #: Functions in the order in which they are called, and what they are given.
        self._calls = [*self._call_angles(), *self._call_pieces()]

    def call(self, code: Code, rows: list[str]) -> None:
        """Compute a state, or a vector of them; all results are NaN if memory is exhausted.

        rows: Address of the row of each array, inputs first; those of all states of a vector.
        """
        with_memory(
            code,
            self._pieces.size * self._lanes * self._bytes,
            lambda work: self._compute(code, rows, work),
            lambda: self.refuse(code, rows),
        )

    def refuse(self, code: Code, rows: list[str]) -> None:
        """Make NaN of all results that there are rows for; arguments as for `call`."""
        self._fill(code, rows, range(len(rows) // self._lanes - len(self._program.inputs)), -1)

    def _compute(self, code: Code, rows: list[str], work: str) -> None:
        """Call all functions in order, with memory between them."""
        listed = code.slot(f"[{len(rows)} x ptr]", _LINE)
        for k, row in enumerate(rows):
            code.store(row, listed, k, "ptr")
        first = len(self._program.inputs)
        self._fill(code, rows, [port - first for port in self._pieces.cleared], 0)
        for function in self.functions:
            code.need(function)
        for name, lists in self._calls:
            code.do(f"call void @{name}(ptr {listed}, ptr {work}, ptr {work}, {lists})")
        dtype, words = self._dtype, ", ".join(f"i32 {x}" for x in self._words)
        code.declare(f"@words = private constant [{len(self._words)} x i32] [{words}]")
        numbers = ", ".join(f"{dtype} {constant(x, dtype, 1)}" for x in self._numbers)
        code.declare(f"@numbers = private constant [{len(self._numbers)} x {dtype}] [{numbers}]")

    def _fill(self, code: Code, rows: list[str], outputs: Iterable[int], byte: int) -> None:
        """Fill outputs with a byte: numbers are zero with 0, and NaN with -1."""
        first = len(self._program.inputs)
        code.declare("declare void @llvm.memset.p0.i64(ptr, i8, i64, i1)")
        for k in outputs:
            count = self._bytes * self._program.outputs[k].size
            for row in rows[(first + k) * self._lanes : (first + k + 1) * self._lanes]:
                given = f"ptr {row}, i8 {byte}, i64 {count}, i1 false"
                code.do(f"call void @llvm.memset.p0.i64({given})")

    def _call_angles(self) -> list[tuple[str, str]]:
        """Sines and cosines of all angles that are known from the start."""
        angles = self._pieces.angles
        if not angles:
            return []
        count = self._pieces.cosines
        angles = [*angles, *[angles[-1]] * (count - len(angles))]
        self.functions.append(angles_function("angles", *self._how, count))
        lists = self._listed(
            [x for angle in angles for x in (angle.port, angle.number)],
            [angle.factor for angle in angles] + [angle.offset for angle in angles],
        )
        return [("angles", lists)]

    def _call_pieces(self) -> list[tuple[str, str]]:
        order = self._pieces.order
        counts = Counter(id(piece.shape) for piece in order)
        names: dict[int, str] = {}
        calls = []
        for piece in order:
            key, shared = id(piece.shape), counts[id(piece.shape)] > 1
            if key not in names:
                names[key] = name = f"piece{len(names)}"
                made = PieceFunction(name, *self._how, piece, shared, self._like_packs)
                self.functions.append(made.code)
            given = (piece.words, piece.constants) if shared else ([], [])
            calls.append((names[key], self._listed(*given)))
        return calls

    def _listed(self, words: list[int], numbers: list[float]) -> str:
        """Append words and numbers to the lists; their indices."""
        at = []
        for name, kind, listed, own in (
            ("@words", "i32", self._words, words),
            ("@numbers", self._dtype, self._numbers, numbers),
        ):
            place = f"getelementptr ({kind}, ptr {name}, i64 {len(listed)})"
            at.append(f"ptr {place if own else 'null'}")
            listed += own
        return ", ".join(at)


def with_memory(
    code: Code, size: int, use: Callable[[str], None], without: Callable[[], None]
) -> None:
    """Run ``use`` with memory of some bytes, or ``without`` if there is none left."""
    if size <= ON_STACK:
        use(code.slot(f"[{size} x i8]", _LINE))
        return
    code.declare("declare ptr @robodyn_malloc(i64)")
    code.declare("declare void @robodyn_free(ptr)")
    memory = code.call("@robodyn_malloc", "ptr", code.integer(size + _LINE))
    with code.either(memory.differs(None)) as (found, missing):
        with found:
            address = code.put(f"ptrtoint ptr {memory} to i64", "i64")
            use(code.at(memory, -address & (_LINE - 1), "i8"))  # where a line begins
            code.call("@robodyn_free", "void", memory)
        with missing:
            without()
