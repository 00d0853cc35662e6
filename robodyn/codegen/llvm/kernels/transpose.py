"""Row-major batches and vectors of states: loads and stores with transposes in registers.

A tile is ``lanes`` rows (states) by ``width`` columns (numbers of one array), in ``width``
registers: register ``i`` holds the pieces of the rows ``i, width + i, 2 width + i, ...`` one after
the other, so that ``log2(width)`` stages of shuffles make its columns. Narrow tiles take fewer
shuffles and more loads and stores; they pay for arrays narrower than a register.
"""

from __future__ import annotations

from robodyn.codegen.llvm.builder.code import Code
from robodyn.codegen.llvm.kernels.sincos import vector_type

#: Columns of a tile where an array is no wider than a register.
NARROW = 4


def tiles(size: int, lanes: int) -> list[tuple[int, int]]:
    """First column and width of the tiles that cover an array of ``size`` numbers a state.

    The last tile overlaps the one before it instead of reaching beyond the row.
    """
    if size == 0:
        return []
    width = lanes if size > lanes else min(NARROW, lanes, 1 << (size - 1).bit_length())
    covered = [(start, width) for start in range(0, size - width + 1, width)]
    rest = size % width
    if size < width:
        covered.append((0, width))
    elif rest:
        last = max(min(2, width), 1 << (rest - 1).bit_length())
        covered.append((size - last, last))
    return covered


def _transpose(rows: list[str], kind: str, lanes: int, code: Code) -> list[str]:
    """Transpose each square of ``len(rows)`` lanes: stages of pairwise shuffles."""
    step, width = 1, len(rows)
    while step < width:
        swapped = list(rows)
        for i in range(width):
            if i & step:
                continue
            low = [k if not k & step else lanes + (k ^ step) for k in range(lanes)]
            high = [(k | step) if not k & step else lanes + k for k in range(lanes)]
            for target, picked in ((i, low), (i | step, high)):
                swapped[target] = code.name(_shuffle(kind, rows[i], rows[i | step], picked))
        rows = swapped
        step *= 2
    return rows


def _shuffle(kind: str, a: str, b: str, picked: list[int]) -> str:
    mask = ", ".join(f"i32 {k}" for k in picked)
    return f"shufflevector {kind} {a}, {kind} {b}, <{len(picked)} x i32> <{mask}>"


def _masked(dtype: str, width: int, size: int) -> tuple[str, str, str]:
    """Suffix of the masked functions, type of their masks, and the mask of the first lanes.

    The functions are called as LLVM before 22 has them: later ones read both forms.
    """
    suffix = f"v{width}" + ("f64" if dtype == "double" else "f32")
    bits = ", ".join(f"i1 {int(k < size)}" for k in range(width))
    return suffix, f"<{width} x i1>", f"<{bits}>"


def load_tile(
    rows: list[str], first: int, width: int, size: int, dtype: str, code: Code
) -> list[str]:
    """Read columns ``first ...`` of the rows at the given pointers; one vector a column."""
    lanes, kind, align = len(rows), vector_type(dtype, width), 8 if dtype == "double" else 4
    pieces = []
    for row in rows:
        at = code.at(row, first, dtype) if first else row
        if size < width:
            suffix, flags, mask = _masked(dtype, width, size)
            load = f"{kind} @llvm.masked.load.{suffix}.p0"
            code.declare(f"declare {load}(ptr, i32, {flags}, {kind})")
            given = f"ptr {at}, i32 {align}, {flags} {mask}, {kind} zeroinitializer"
            pieces.append(code.name(f"call {load}({given})"))
        else:
            pieces.append(code.name(f"load {kind}, ptr {at}, align {align}"))
    if width == 1:
        vector, kind = "poison", vector_type(dtype, lanes)
        for k, piece in enumerate(pieces):
            vector = code.name(f"insertelement {kind} {vector}, {dtype} {piece}, i32 {k}")
        return [vector]
    registers = [_joined(pieces[i::width], dtype, width, code) for i in range(width)]
    return _transpose(registers, vector_type(dtype, lanes), lanes, code)[: min(size, width)]


def _joined(pieces: list[str], dtype: str, width: int, code: Code) -> str:
    """Vectors one after the other."""
    while len(pieces) > 1:
        kind, picked = vector_type(dtype, width), list(range(2 * width))
        pairs = zip(pieces[::2], pieces[1::2], strict=True)
        pieces = [code.name(_shuffle(kind, a, b, picked)) for a, b in pairs]
        width *= 2
    return pieces[0]


def store_tile(
    values: list[str],
    rows: list[str],
    first: int,
    width: int,
    dtype: str,
    code: Code,
) -> None:
    """Write one vector a column to columns ``first ...`` of the rows at the given pointers."""
    lanes, size, align = len(rows), len(values), 8 if dtype == "double" else 4
    whole, kind = vector_type(dtype, lanes), vector_type(dtype, width)
    padded = values + ["zeroinitializer"] * (width - size)
    registers = _transpose(padded, whole, lanes, code)
    for k, row in enumerate(rows):
        vector, begin = registers[k % width], k // width * width
        if width == 1:
            vector = code.name(f"extractelement {whole} {vector}, i32 {begin}")
        elif width < lanes:
            picked = list(range(begin, begin + width))
            vector = code.name(_shuffle(whole, vector, "poison", picked))
        at = code.at(row, first, dtype) if first else row
        if size < width:
            suffix, flags, mask = _masked(dtype, width, size)
            store = f"void @llvm.masked.store.{suffix}.p0"
            code.declare(f"declare {store}({kind}, ptr, i32, {flags})")
            code.do(f"call {store}({kind} {vector}, ptr {at}, i32 {align}, {flags} {mask})")
        else:
            code.do(f"store {kind} {vector}, ptr {at}, align {align}")
