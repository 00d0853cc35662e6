"""Row-major batches and vectors of states: loads and stores with transposes in registers.

A tile is ``lanes`` rows (states) by ``width`` columns (numbers of one array), in ``width``
registers: register ``i`` holds the pieces of the rows ``i, width + i, 2 width + i, ...`` one after
the other, so that ``log2(width)`` stages of shuffles make its columns. Narrow tiles take fewer
shuffles and more loads and stores; they pay for arrays narrower than a register.
"""

from __future__ import annotations

from robodyn.codegen.llvm.kernels.vectors import Vectors, shuffle, vector_type

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


def _transpose(w: Vectors, rows: list[str]) -> list[str]:
    """Transpose each square of ``len(rows)`` lanes: stages of pairwise shuffles."""
    step, width, lanes = 1, len(rows), w.lanes
    while step < width:
        swapped = list(rows)
        for i in (i for i in range(width) if not i & step):
            low = [k if not k & step else lanes + (k ^ step) for k in range(lanes)]
            high = [(k | step) if not k & step else lanes + k for k in range(lanes)]
            for target, picked in ((i, low), (i | step, high)):
                swapped[target] = w.name(shuffle(w.type, rows[i], rows[i | step], picked))
        rows = swapped
        step *= 2
    return rows


def _masked(w: Vectors, width: int, size: int) -> tuple[str, str, str]:
    """Suffix of the masked functions, type of their masks, and the mask of the first lanes.

    The functions are called as LLVM before 22 has them: later ones read both forms.
    """
    bits = ", ".join(f"i1 {int(k < size)}" for k in range(width))
    return f"v{width}f{8 * w.size}.p0", f"<{width} x i1>", f"<{bits}>"


def load_tile(w: Vectors, rows: list[str], first: int, width: int, size: int) -> list[str]:
    """Read columns ``first ...`` of the rows at the given pointers; one vector a column."""
    code, kind = w.code, vector_type(w.dtype, width)
    pieces = []
    for row in rows:
        at = code.at(row, first, w.dtype) if first else row
        if size < width:
            suffix, flags, mask = _masked(w, width, size)
            load = f"{kind} @llvm.masked.load.{suffix}"
            code.declare(f"declare {load}(ptr, i32, {flags}, {kind})")
            given = f"ptr {at}, i32 {w.size}, {flags} {mask}, {kind} zeroinitializer"
            pieces.append(code.name(f"call {load}({given})"))
        else:
            pieces.append(code.name(f"load {kind}, ptr {at}, align {w.size}"))
    if width == 1:
        return [w.joined(pieces)]
    registers = [_joined(w, pieces[i::width], width) for i in range(width)]
    return _transpose(w, registers)[: min(size, width)]


def _joined(w: Vectors, pieces: list[str], width: int) -> str:
    """Vectors one after the other."""
    while len(pieces) > 1:
        kind, pairs = vector_type(w.dtype, width), zip(pieces[::2], pieces[1::2], strict=True)
        pieces = [w.name(shuffle(kind, a, b, range(2 * width))) for a, b in pairs]
        width *= 2
    return pieces[0]


def store_tile(w: Vectors, values: list[str], rows: list[str], first: int, width: int) -> None:
    """Write one vector a column to columns ``first ...`` of the rows at the given pointers."""
    code, size, kind = w.code, len(values), vector_type(w.dtype, width)
    registers = _transpose(w, values + ["zeroinitializer"] * (width - size))
    for k, row in enumerate(rows):
        vector, begin = registers[k % width], k // width * width
        if width == 1:
            vector = w.lane(vector, begin)
        elif width < w.lanes:
            vector = w.name(shuffle(w.type, vector, "poison", range(begin, begin + width)))
        at = code.at(row, first, w.dtype) if first else row
        if size < width:
            suffix, flags, mask = _masked(w, width, size)
            store = f"void @llvm.masked.store.{suffix}"
            code.declare(f"declare {store}({kind}, ptr, i32, {flags})")
            code.do(f"call {store}({kind} {vector}, ptr {at}, i32 {w.size}, {flags} {mask})")
        else:
            code.do(f"store {kind} {vector}, ptr {at}, align {w.size}")
