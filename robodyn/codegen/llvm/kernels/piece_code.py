"""The machine code of a program in pieces: its functions, and their calls in order."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping

from robodyn.codegen.llvm.builder.code import Code
from robodyn.codegen.llvm.kernels.piece_function import (
    AnglesFunction,
    PieceFunction,
    column_functions,
)
from robodyn.codegen.llvm.kernels.pieces import Pieces
from robodyn.codegen.llvm.kernels.sincos import constant, vector_type
from robodyn.codegen.llvm.target.target import Target
from robodyn.symbolic.graph import Program

__all__ = ["MOST", "MOST_OF_VECTORS", "PieceCode"]

#: Operations of a piece at most, of one state and of vectors of them: values that go from one piece
#: to the next cost a vector of states more than one, and its code is compiled less often.
MOST, MOST_OF_VECTORS = 500, 1000


class PieceCode:
    """All functions of a program in pieces.

    Parameters
    ----------
    program : Program
    products : mapping of int to int
        Sums that are one operation with a product: edge of the product.
    target : Target
    dtype : {"double", "float"}
    lanes : int
        States in a vector.
    """

    def __init__(
        self,
        program: Program,
        products: Mapping[int, int],
        target: Target,
        dtype: str,
        lanes: int,
    ) -> None:
        self._program, self._how = program, (target, dtype, lanes)
        self._dtype, self._lanes = dtype, lanes
        most = MOST if lanes == 1 else MOST_OF_VECTORS
        self._pieces = Pieces(program, products, target.lanes(dtype), most)
        self._functions = column_functions(dtype, lanes) if lanes > 1 else []
        self._words: list[int] = []
        self._numbers: list[float] = []
        #: Functions in the order in which they are called, and what they are given.
        self._calls = [*self._call_angles(), *self._call_pieces()]

    def functions(self) -> list[Code]:
        """All but the one that calls them, each once."""
        return list({code.definition: code for code in self._functions}.values())

    def call(self, code: Code, rows: list[str]) -> None:
        """Compute a state, or a vector of them.

        Parameters
        ----------
        code : Code
        rows : list of str
            Address of the row of each array, inputs first; those of all states of a vector.
        """
        work = code.slot(f"[{self._pieces.size} x {vector_type(self._dtype, self._lanes)}]", 64)
        listed = code.slot(f"[{len(rows)} x ptr]", 64)
        for k, row in enumerate(rows):
            code.store(row, listed, k, "ptr")
        self._clear(code, rows)
        for name, lists in self._calls:
            code.do(f"call void @{name}(ptr {listed}, ptr {work}, ptr {work}, {lists})")
        dtype, words = self._dtype, ", ".join(f"i32 {x}" for x in self._words)
        code.declare(f"@words = private constant [{len(self._words)} x i32] [{words}]")
        numbers = ", ".join(f"{dtype} {constant(x, dtype, 1)}" for x in self._numbers)
        code.declare(f"@numbers = private constant [{len(self._numbers)} x {dtype}] [{numbers}]")

    def _clear(self, code: Code, rows: list[str]) -> None:
        """Fill outputs with zeros that have little else."""
        size = 8 if self._dtype == "double" else 4
        for p in self._pieces.cleared:
            count = size * self._program.outputs[p - len(self._program.inputs)].size
            code.declare("declare void @llvm.memset.p0.i64(ptr, i8, i64, i1)")
            for row in rows[p * self._lanes : (p + 1) * self._lanes]:
                code.do(f"call void @llvm.memset.p0.i64(ptr {row}, i8 0, i64 {count}, i1 false)")

    def _call_angles(self) -> list[tuple[str, str]]:
        """Sines and cosines of all angles that are known from the start."""
        angles = self._pieces.angles
        if not angles:
            return []
        count = self._pieces.cosines
        angles = [*angles, *[angles[-1]] * (count - len(angles))]
        self._functions += AnglesFunction("angles", *self._how, count).functions
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
                self._functions += PieceFunction(name, *self._how, piece, shared).functions
            given = (piece.words, piece.constants) if shared else ([], [])
            calls.append((names[key], self._listed(*given)))
        return calls

    def _listed(self, words: list[int], numbers: list[float]) -> str:
        """Put words and numbers into the lists; where they are."""
        at = []
        for name, kind, listed, own in (
            ("@words", "i32", self._words, words),
            ("@numbers", self._dtype, self._numbers, numbers),
        ):
            place = f"getelementptr ({kind}, ptr {name}, i64 {len(listed)})"
            at.append(f"ptr {place if own else 'null'}")
            listed += own
        return ", ".join(at)
