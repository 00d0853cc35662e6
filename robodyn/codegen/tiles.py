"""Row-major batches and vectors of states: loads and stores with transposes in registers.

A tile is ``lanes`` rows (states) by ``lanes`` columns (numbers of one array). Where an array has
fewer columns than lanes, rows are read and written under a mask.
"""

from __future__ import annotations

from collections.abc import Callable

__all__ = ["columns", "load_tile", "store_tile"]

Put = Callable[[str], str]


def columns(size: int, lanes: int) -> list[int]:
    """First columns of the tiles that cover an array of ``size`` numbers a state.

    The last tile overlaps the one before it instead of reaching beyond the row.
    """
    if size <= lanes:
        return [0]
    starts = list(range(0, size - lanes + 1, lanes))
    if starts[-1] + lanes < size:
        starts.append(size - lanes)
    return starts


def _transpose(rows: list[str], kind: str, lanes: int, put: Put) -> list[str]:
    """Columns of a square of registers: log2(lanes) stages of pairwise shuffles."""
    step = 1
    while step < lanes:
        swapped = list(rows)
        for i in range(lanes):
            if i & step:
                continue
            a, b = rows[i], rows[i | step]
            low = [k if not k & step else lanes + (k ^ step) for k in range(lanes)]
            high = [(k | step) if not k & step else lanes + k for k in range(lanes)]
            for target, picked in ((i, low), (i | step, high)):
                mask = ", ".join(f"i32 {p}" for p in picked)
                swapped[target] = put(
                    f"shufflevector {kind} {a}, {kind} {b}, <{lanes} x i32> <{mask}>"
                )
        rows = swapped
        step *= 2
    return rows


def _mask(size: int, lanes: int) -> str:
    return "<" + ", ".join(f"i1 {int(k < size)}" for k in range(lanes)) + ">"


def _vector(dtype: str, lanes: int) -> tuple[str, str, int]:
    suffix = f"v{lanes}" + ("f64" if dtype == "double" else "f32")
    return f"<{lanes} x {dtype}>", suffix, 8 if dtype == "double" else 4


def load_tile(
    rows: list[str], first: int, size: int, dtype: str, lanes: int, put: Put
) -> list[str]:
    """Read columns ``first ...`` of the rows at the given pointers; one vector a column."""
    kind, suffix, align = _vector(dtype, lanes)
    loaded = []
    for row in rows:
        at = put(f"getelementptr {dtype}, ptr {row}, i64 {first}") if first else row
        if size < lanes:
            loaded.append(
                put(
                    f"call {kind} @llvm.masked.load.{suffix}.p0(ptr align {align} {at}, "
                    f"<{lanes} x i1> {_mask(size, lanes)}, {kind} zeroinitializer)"
                )
            )
        else:
            loaded.append(put(f"load {kind}, ptr {at}, align {align}"))
    return _transpose(loaded, kind, lanes, put)[: min(size, lanes)]


def store_tile(
    values: list[str],
    rows: list[str],
    first: int,
    size: int,
    dtype: str,
    lanes: int,
    put: Put,
    do: Callable[[str], None],
) -> None:
    """Write one vector a column to columns ``first ...`` of the rows at the given pointers."""
    kind, suffix, align = _vector(dtype, lanes)
    padded = values + ["zeroinitializer"] * (lanes - len(values))
    for row, vector in zip(rows, _transpose(padded, kind, lanes, put), strict=True):
        at = put(f"getelementptr {dtype}, ptr {row}, i64 {first}") if first else row
        if size < lanes:
            do(
                f"call void @llvm.masked.store.{suffix}.p0({kind} {vector}, "
                f"ptr align {align} {at}, <{lanes} x i1> {_mask(size, lanes)})"
            )
        else:
            do(f"store {kind} {vector}, ptr {at}, align {align}")
