"""The call entry's inputs: which arrays the kernel can read where they stand, and which are copied.

A kernel reads rows of contiguous numbers that may be any distance apart. Arrays of which the rows
are not contiguous or that have another dtype are copied: one state into scratch memory of the call,
batches by numpy. So are lists of numbers, and numbers for inputs that are one. What is neither
takes the slow path, which converts it or says what is wrong with it.
"""

from __future__ import annotations

from typing import Any

from llvmlite import ir

from robodyn.codegen.vectorcall.conversion import (
    convert,
    gather,
    has_scratch,
    read_other,
    remember,
)
from robodyn.codegen.vectorcall.entry_builder import (
    AXES,
    DATA,
    DESCR,
    FLAGS,
    I8,
    I32,
    I64,
    NULL,
    SHAPE,
    STRIDES,
    TYPE,
    EntryBuilder,
    flag,
    word,
)  # fmt: skip
from robodyn.codegen.vectorcall.table import MAX_AXES, TABLE

__all__ = ["choose_dtype", "is_apart", "read_inputs", "same_numbers"]

#: Flags of numpy's arrays.
CONTIGUOUS, ALIGNED = 0x1, 0x100

#: Where a dtype keeps the letter of its kind [bytes].
KIND = 24

#: Kinds of dtypes that are real numbers: floating point, integer, unsigned, boolean.
REAL = "fiub"


def choose_dtype(w: EntryBuilder) -> None:
    """float32 if all inputs are that, else float64."""
    b = w.b
    w.unless(b.icmp_signed(">", w.n_in, word(0)))
    w.set("single", word(1))

    def note(k: Any) -> None:
        x = w.item(w.get("given"), k)
        with b.if_then(w.differ(x, NULL)):  # filled from a mapping already, in double precision
            w.set("single", word(0))
            with b.if_then(w.same(w.field(x, TYPE), w.common("ndarray"))):
                is_single = w.same(w.field(x, DESCR), w.common("float32"))
                w.set("single", b.zext(is_single, I64))

    w.loop(w.n_in, note, until=lambda: w.same(w.get("single"), word(0)))
    single = w.differ(w.get("single"), word(0))
    w.unless(b.not_(b.and_(single, w.differ(w.of_signature("by_joint"), word(0)))))
    w.descr = b.select(single, w.common("float32"), w.common("float64"))
    w.size = b.select(single, word(4), word(8))
    w.kernels = b.select(single, word(TABLE.index("packed32")), word(TABLE.index("packed")))


def read_inputs(w: EntryBuilder) -> None:
    """Where the numbers of each input stand, and how many rows there are."""
    w.set("rows", word(1))

    def read(k: Any) -> None:
        with w.b.if_then(w.differ(w.item(w.get("given"), k), NULL)):
            _read(w, k)

    w.loop(w.n_in, read)


def same_numbers(w: EntryBuilder, count: Any, a: Any, b: Any) -> None:
    """Go on if the same numbers stand at a and b."""
    w.loop(count, lambda k: w.unless(w.same(w.item(a, k, I64), w.item(b, k, I64))))


def is_apart(w: EntryBuilder, k: Any, j: Any) -> None:
    """Go on if two arrays share no memory."""
    b = w.b
    before = b.icmp_unsigned("<=", w.item(w.ends, k), w.item(w.starts, j))
    after = b.icmp_unsigned("<=", w.item(w.ends, j), w.item(w.starts, k))
    w.unless(b.or_(before, after))


def _read(w: EntryBuilder, k: Any) -> None:
    """An input: mostly a plain array, which is read as it is."""
    b = w.b
    x = w.item(w.get("given"), k)
    otherwise, after = (w.function.append_basic_block(name) for name in ("unusual", "read"))
    w.likely(w.same(w.field(x, TYPE), w.common("ndarray")), otherwise)
    w.likely(_is_plain(w, x), otherwise)
    _plain(w, k, x)
    b.branch(after)
    b.position_at_end(otherwise)
    _read_unusual(w, k, x)
    b.branch(after)
    b.position_at_end(after)


def _read_unusual(w: EntryBuilder, k: Any, given: Any) -> None:
    """An input that is no array, or not a plain one, or what numpy makes of it.

    ``array`` is what has still to be read; null when the kernel can read the numbers.
    """
    b = w.b
    w.set("array", given)
    with b.if_then(w.differ(w.field(given, TYPE), w.common("ndarray"))):
        read_other(w, k, given)
    with b.if_then(w.differ(w.get("array"), NULL)):
        with b.if_then(b.not_(_is_plain(w, w.get("array")))):
            _unusual(w, k, w.get("array"))
    with b.if_then(w.differ(w.get("array"), NULL)):
        _plain(w, k, w.get("array"))


def _is_plain(w: EntryBuilder, x: Any) -> Any:
    """Whether an array is aligned, C-contiguous and of the dtype of the call."""
    flags = w.b.and_(w.field(x, FLAGS, I32), flag(CONTIGUOUS | ALIGNED))
    return w.b.and_(w.same(w.field(x, DESCR), w.descr), w.same(flags, flag(CONTIGUOUS | ALIGNED)))


def _fitting(w: EntryBuilder, k: Any, x: Any) -> Any:
    """Leading axes of an array, if its others are those of the port."""
    b = w.b
    axes, shape = b.zext(w.field(x, AXES, I32), I64), w.field(x, SHAPE)
    p_axes, _, p_shape = w.port(k)
    extra = b.sub(axes, p_axes)
    w.unless(b.icmp_signed(">=", extra, word(0)))
    same_numbers(w, p_axes, w.at(shape, extra, I64), p_shape)
    return extra


def _plain(w: EntryBuilder, k: Any, x: Any) -> None:
    """An aligned, C-contiguous array of the dtype of the call."""
    b = w.b
    extra = _fitting(w, k, x)
    _, p_size, _ = w.port(k)
    start = w.field(x, DATA)
    with b.if_else(w.same(extra, word(0))) as (one, many):
        with one:
            w.put(w.strides, k, word(0), I64)
            remember(w, k, start, start, w.after(start, b.mul(p_size, w.size)))
        with many:
            _count_rows(w, x, extra)
            w.put(w.strides, k, p_size, I64)
            count = b.mul(w.get("rows"), p_size)
            remember(w, k, start, start, w.after(start, b.mul(count, w.size)))


def _count_rows(w: EntryBuilder, x: Any, extra: Any) -> None:
    """The leading axes of the first array that has some; all others must have the same."""
    b = w.b
    shape = w.field(x, SHAPE)

    def times(j: Any) -> None:
        w.set("rows", b.mul(w.get("rows"), w.item(shape, j, I64)))

    with b.if_else(w.same(w.get("lead"), NULL)) as (first, later):
        with first:
            w.unless(b.icmp_signed("<=", extra, word(MAX_AXES)))
            w.set("lead", shape)
            w.set("extra", extra)
            w.loop(extra, times)
        with later:
            w.unless(w.same(extra, w.get("extra")))
            same_numbers(w, extra, shape, w.get("lead"))


def _unusual(w: EntryBuilder, k: Any, x: Any) -> None:
    """An array that is not contiguous, not aligned or of another dtype."""
    b = w.b
    kind = w.field(w.field(x, DESCR), KIND, I8)
    is_real = ir.Constant(ir.IntType(1), 0)
    for letter in REAL:
        is_real = b.or_(is_real, w.same(kind, ir.Constant(I8, ord(letter))))
    w.unless(is_real)
    extra = _fitting(w, k, x)
    aligned = w.differ(b.and_(w.field(x, FLAGS, I32), flag(ALIGNED)), flag(0))
    direct = b.and_(aligned, w.same(w.field(x, DESCR), w.descr))
    _find_row_stride(w, k, x, extra, direct)
    with b.if_else(w.differ(w.get("direct"), word(0))) as (strided, copied):
        with strided:
            _strided(w, k, x, extra)
            w.set("array", NULL)
        with copied:
            one_state = b.and_(w.same(extra, word(0)), has_scratch(w, k))
            with b.if_else(b.and_(direct, one_state)) as (one, many):
                with one:
                    gather(w, k, x)
                    w.set("array", NULL)
                with many:
                    w.set("array", convert(w, x))


def _find_row_stride(w: EntryBuilder, k: Any, x: Any, extra: Any, direct: Any) -> None:
    """``direct``: rows are contiguous, and the same distance apart; ``pitch`` [bytes]."""
    b = w.b
    p_axes, _, p_shape = w.port(k)
    strides, shape = w.field(x, STRIDES), w.field(x, SHAPE)
    w.set("direct", b.zext(direct, I64))
    w.set("pitch", w.size)

    def inner(j: Any) -> None:
        axis = b.sub(b.sub(p_axes, word(1)), j)
        length = w.item(p_shape, axis, I64)
        stride = w.item(strides, b.add(extra, axis), I64)
        fits = b.or_(w.same(stride, w.get("pitch")), w.same(length, word(1)))
        w.set("direct", b.and_(w.get("direct"), b.zext(fits, I64)))
        w.set("pitch", b.mul(w.get("pitch"), length))

    w.loop(p_axes, inner)

    def outer(j: Any) -> None:
        axis = b.sub(b.sub(extra, word(2)), j)
        following = b.add(axis, word(1))
        expected = b.mul(w.item(strides, following, I64), w.item(shape, following, I64))
        fits = w.same(w.item(strides, axis, I64), expected)
        w.set("direct", b.and_(w.get("direct"), b.zext(fits, I64)))

    w.loop(b.sub(extra, word(1)), outer)
    w.set("pitch", word(0))
    with b.if_then(b.icmp_signed(">", extra, word(0))):
        stride = w.item(strides, b.sub(extra, word(1)), I64)
        w.set("pitch", stride)
        whole = w.same(b.srem(stride, w.size), word(0))
        w.set("direct", b.and_(w.get("direct"), b.zext(whole, I64)))


def _strided(w: EntryBuilder, k: Any, x: Any, extra: Any) -> None:
    """Rows that are contiguous, with anything between them; they may go backwards."""
    b = w.b
    stride = w.get("pitch")
    with b.if_then(b.icmp_signed(">", extra, word(0))):
        _count_rows(w, x, extra)
    start, row = w.field(x, DATA), b.mul(w.port(k)[1], w.size)
    w.put(w.strides, k, b.sdiv(stride, w.size), I64)
    several = b.icmp_signed(">", extra, word(0))
    rows = b.select(several, w.get("rows"), word(1))
    way = b.mul(stride, b.sub(rows, word(1)))
    back = b.icmp_signed("<", way, word(0))
    first = w.after(start, b.select(back, way, word(0)))
    last = w.after(start, b.add(row, b.select(back, word(0), way)))
    remember(w, k, start, first, last)
