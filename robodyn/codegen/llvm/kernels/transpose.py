"""Row-major batches and vectors of states: loads and stores with transposes in registers.

A tile is ``lanes`` rows (states) by ``width`` columns (numbers of one array), in ``width``
registers: register ``i`` holds the pieces of the rows ``i, width + i, 2 width + i, ...`` one after
the other, so that ``log2(width)`` stages of shuffles make its columns. Narrow tiles take fewer
shuffles and more loads and stores; they pay for arrays narrower than a register.
"""

from __future__ import annotations

from collections.abc import Callable

__all__ = ["declarations", "load_tile", "store_tile", "tiles"]

Put = Callable[[str], str]

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


def _transpose(rows: list[str], kind: str, lanes: int, put: Put) -> list[str]:
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
                swapped[target] = put(_shuffle(kind, rows[i], rows[i | step], picked))
        rows = swapped
        step *= 2
    return rows


def _shuffle(kind: str, a: str, b: str, picked: list[int]) -> str:
    mask = ", ".join(f"i32 {k}" for k in picked)
    return f"shufflevector {kind} {a}, {kind} {b}, <{len(picked)} x i32> <{mask}>"


def _vector(dtype: str, lanes: int) -> str:
    return f"<{lanes} x {dtype}>" if lanes > 1 else dtype


def _masked(dtype: str, width: int, size: int) -> tuple[str, str]:
    """Suffix of the masked intrinsics, and the mask of the first ``size`` lanes."""
    suffix = f"v{width}" + ("f64" if dtype == "double" else "f32")
    bits = ", ".join(f"i1 {int(k < size)}" for k in range(width))
    return suffix, f"<{width} x i1> <{bits}>"


def declarations(dtype: str, lanes: int) -> list[str]:
    """The intrinsics that tiles use, as LLVM before 22 has them: later ones read both forms."""
    text, width = [], 2
    while width <= lanes:
        (suffix, _), kind, mask = _masked(dtype, width, 0), _vector(dtype, width), f"<{width} x i1>"
        text.append(f"declare {kind} @llvm.masked.load.{suffix}.p0(ptr, i32, {mask}, {kind})")
        text.append(f"declare void @llvm.masked.store.{suffix}.p0({kind}, ptr, i32, {mask})")
        width *= 2
    return text


def load_tile(
    rows: list[str], first: int, width: int, size: int, dtype: str, put: Put
) -> list[str]:
    """Read columns ``first ...`` of the rows at the given pointers; one vector a column."""
    lanes, kind, align = len(rows), _vector(dtype, width), 8 if dtype == "double" else 4
    pieces = []
    for row in rows:
        at = put(f"getelementptr {dtype}, ptr {row}, i64 {first}") if first else row
        if size < width:
            suffix, mask = _masked(dtype, width, size)
            load = f"call {kind} @llvm.masked.load.{suffix}.p0(ptr {at}, i32 {align}, {mask}, "
            pieces.append(put(f"{load}{kind} zeroinitializer)"))
        else:
            pieces.append(put(f"load {kind}, ptr {at}, align {align}"))
    if width == 1:
        vector, kind = "poison", _vector(dtype, lanes)
        for k, piece in enumerate(pieces):
            vector = put(f"insertelement {kind} {vector}, {dtype} {piece}, i32 {k}")
        return [vector]
    registers = [_joined(pieces[i::width], dtype, width, put) for i in range(width)]
    return _transpose(registers, _vector(dtype, lanes), lanes, put)[: min(size, width)]


def _joined(pieces: list[str], dtype: str, width: int, put: Put) -> str:
    """Vectors one after the other."""
    while len(pieces) > 1:
        kind, picked = _vector(dtype, width), list(range(2 * width))
        pairs = zip(pieces[::2], pieces[1::2], strict=True)
        pieces = [put(_shuffle(kind, a, b, picked)) for a, b in pairs]
        width *= 2
    return pieces[0]


def store_tile(
    values: list[str],
    rows: list[str],
    first: int,
    width: int,
    dtype: str,
    put: Put,
    do: Callable[[str], None],
) -> None:
    """Write one vector a column to columns ``first ...`` of the rows at the given pointers."""
    lanes, size, align = len(rows), len(values), 8 if dtype == "double" else 4
    whole, kind = _vector(dtype, lanes), _vector(dtype, width)
    padded = values + ["zeroinitializer"] * (width - size)
    registers = _transpose(padded, whole, lanes, put)
    for k, row in enumerate(rows):
        vector, begin = registers[k % width], k // width * width
        if width == 1:
            vector = put(f"extractelement {whole} {vector}, i32 {begin}")
        elif width < lanes:
            picked = list(range(begin, begin + width))
            vector = put(_shuffle(whole, vector, "poison", picked))
        at = put(f"getelementptr {dtype}, ptr {row}, i64 {first}") if first else row
        if size < width:
            suffix, mask = _masked(dtype, width, size)
            store = f"call void @llvm.masked.store.{suffix}.p0({kind} {vector}, "
            do(f"{store}ptr {at}, i32 {align}, {mask})")
        else:
            do(f"store {kind} {vector}, ptr {at}, align {align}")
