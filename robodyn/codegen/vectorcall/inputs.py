"""The call entry's inputs: which arrays the kernel reads in place, and which are copied.

A kernel reads rows of contiguous numbers that may be any distance apart. Arrays of which the rows
are not contiguous or that have another dtype are copied: one state into scratch memory of the call,
batches by numpy. Lists of numbers are copied, too, and single numbers for inputs without axes.
Anything else takes the slow path, which converts it or raises an error that says what is wrong with
it.
"""

from __future__ import annotations

from robodyn.codegen.llvm.builder.values import Number
from robodyn.codegen.vectorcall.entry_builder import (
    AXES,
    DATA,
    DESCR,
    FLAGS,
    ITEMS,
    SCRATCH,
    SHAPE,
    SIZE,
    STRIDES,
    EntryBuilder,
)
from robodyn.codegen.vectorcall.table import MAX_AXES, TABLE

#: Flags for conversions by numpy: C-contiguous, aligned, in the machine's byte order,
#: with whatever loss of precision that takes.
_PLAIN = 0x1 | 0x100 | 0x200 | 0x10

#: Offset of the number in a float object [bytes].
_NUMBER = 16


def remember(w: EntryBuilder, k: Number, start: Number, first: Number, end: Number) -> None:
    """Store where the numbers of an array begin, and its range of bytes, ``first`` to ``end``."""
    w.put(w.data, k, start)
    w.put(w.starts, k, first)
    w.put(w.ends, k, end)


def has_scratch(w: EntryBuilder, k: Number) -> Number:
    """Whether scratch memory has room for one state of an input with one axis."""
    p_axes, p_size, _ = w.port(k)
    return (w.get("filled") + p_size <= SCRATCH) & p_axes.equals(1)


def convert(w: EntryBuilder, x: Number) -> Number:
    """A plain array of the dtype of the call, with the numbers of another array."""
    w.call("incref", "void", w.descr)
    return _converted(w, x, w.descr, _PLAIN)


def _take_scratch(w: EntryBuilder, k: Number) -> Number:
    """Room for the numbers of an input of one state; they share no memory with anything."""
    begin, p_size = w.get("filled"), w.port(k)[1]
    room = w.at(w.scratch, begin, "i64")
    w.set("filled", begin + p_size)
    w.put(w.strides, k, 0, "i64")
    remember(w, k, room, room, room)
    return room


def take_zeros(w: EntryBuilder, k: Number) -> Number:
    """Zeros for an input with one axis, and their address."""
    w.unless(has_scratch(w, k))
    count, room = w.port(k)[1], _take_scratch(w, k)
    for j in w.code.each(count):
        w.put(room, j, 0, "i64")
    return room


def gather(w: EntryBuilder, k: Number, x: Number) -> None:
    """One axis of numbers that are some distance apart."""
    start, stride = w.field(x, DATA), w.item(w.field(x, STRIDES), 0, "i64")
    room, count = _take_scratch(w, k), w.port(k)[1]
    with w.code.either(w.size.equals(8)) as parts:
        for part, kind in zip(parts, ("i64", "i32"), strict=True):
            with part:
                for j in w.code.each(count):
                    w.put(room, j, w.field(start, j * stride, kind), kind)


def _converted(w: EntryBuilder, x: Number, descr: Number, flags: int) -> Number:
    """The array that numpy makes of something; it takes over a reference to the dtype."""
    zero = w.flag(0)
    made = w.call("convert", "ptr", x, descr, zero, zero, w.flag(flags), w.null)
    with w.code.when(made.equals(None)):
        # the slow path raises an error with a better message
        w.call("forget", "void")
    w.unless(made.differs(None))
    w.hold(made)
    return made


def read_other(w: EntryBuilder, k: Number, x: Number) -> None:
    """Read an input that is no array: a list or tuple, or one number."""
    is_list = w.is_a(x, "list")
    with w.code.either(is_list | w.is_a(x, "tuple")) as (several, one):
        with several:
            _read_sequence(w, k, x, is_list)
        with one:
            _read_single(w, k, x)


def _read_single(w: EntryBuilder, k: Number, x: Number) -> None:
    """A number, for an input that is one."""
    w.unless((w.get("filled") < SCRATCH) & w.port(k)[0].equals(0))
    w.set("good", 1)
    read_number(w, x, _take_scratch(w, k))
    w.unless(w.get("good").differs(0))
    w.set("array", None)


def _read_sequence(w: EntryBuilder, k: Number, x: Number, is_list: Number) -> None:
    """A list or tuple: of Python's numbers, one state; else what numpy makes of it."""
    code, p_size = w.code, w.port(k)[1]
    fits = has_scratch(w, k) & w.field(x, SIZE, "i64").equals(p_size)
    w.set("good", fits.extended())
    with code.when(fits):
        room = _take_scratch(w, k)
        w.set("new", w.after(x, w.items_at))
        with code.when(is_list):
            w.set("new", w.field(x, ITEMS))
        items = w.get("new")
        for j in code.each(p_size, until=lambda: w.get("good").equals(0)):
            read_number(w, w.item(items, j), w.at(room, j, "i64"))
    w.set("array", None)
    with code.when(w.get("good").equals(0)):
        made = _converted(w, x, w.null, 0)
        # were all inputs like this one, the call would be in single precision
        w.unless(w.field(made, DESCR).differs(w.common("float32")))
        w.set("array", made)


def read_number(w: EntryBuilder, x: Number, to: Number) -> None:
    """Store a float, numpy's or Python's, or an integer that a word holds; else it is not good."""
    code = w.code
    with code.either(w.is_a(x, "float") | w.is_a(x, "number")) as (then, otherwise):
        with then:
            w.put(to, 0, w.field(x, _NUMBER, "double"), "double")
        with otherwise:
            is_whole = w.is_a(x, "int") | w.is_a(x, "bool")
            w.set("good", is_whole.extended())
            with code.when(is_whole):
                value = w.call("integer", "i64", x)
                number = code.put(f"sitofp i64 {value} to double", "double")
                w.put(to, 0, number, "double")
                with code.when(value.equals(-1)):
                    with code.when(w.call("raised", "ptr").differs(None)):
                        w.call("forget", "void")
                        w.set("good", 0)


#: Flags of numpy's arrays.
CONTIGUOUS, ALIGNED = 0x1, 0x100

#: Offset of the letter of its kind in a dtype [bytes].
KIND = 24

#: Kinds of dtypes that are real numbers: floating point, integer, unsigned, boolean.
REAL = "fiub"


def choose_dtype(w: EntryBuilder) -> None:
    """Choose float32 if all inputs have it, else float64."""
    code, given = w.code, w.get("given")
    w.unless(w.n_in > 0)
    w.set("single", 1)
    for k in code.each(w.n_in, until=lambda: w.get("single").equals(0)):
        x = w.item(given, k)
        with code.when(x.differs(None)):  # filled from a mapping already, in double precision
            w.set("single", 0)
            with code.when(w.is_a(x, "ndarray")):
                w.set("single", w.field(x, DESCR).equals(w.common("float32")).extended())
    single = w.get("single").differs(0)
    w.unless(~(single & w.get("by_names").differs(0)))
    w.descr = code.choose(single, w.common("float32"), w.common("float64"))
    w.size = code.choose(single, code.integer(4), 8)
    packed = code.integer(TABLE.index("packed32"))
    w.kernels = code.choose(single, packed, TABLE.index("packed"))


def read_inputs(w: EntryBuilder) -> None:
    """Find the numbers of each input, and the number of rows."""
    w.set("rows", 1)
    for k in w.code.each(w.n_in):
        x = w.item(w.get("given"), k)
        with w.code.when(x.differs(None)):
            _read(w, k, x)


def same_numbers(w: EntryBuilder, count: Number, a: Number, b: Number) -> None:
    """Continue if the numbers at a and b are the same."""
    for k in w.code.each(count):
        w.unless(w.item(a, k, "i64").equals(w.item(b, k, "i64")))


def is_apart(w: EntryBuilder, k: Number, j: Number) -> None:
    """Continue if two arrays share no memory."""
    before = w.item(w.ends, k, "i64") <= w.item(w.starts, j, "i64")
    after = w.item(w.ends, j, "i64") <= w.item(w.starts, k, "i64")
    w.unless(before | after)


def _read(w: EntryBuilder, k: Number, x: Number) -> None:
    """Read an input: usually a plain array, which is read in place."""
    code = w.code
    plain, otherwise, after = (code.label(name) for name in ("plain", "unusual", "read"))
    w.set("array", x)
    w.likely(w.is_a(x, "ndarray"), otherwise)
    w.likely(_is_plain(w, x), otherwise)
    code.begin(plain)
    _read_plain(w, k, w.get("array"))
    code.go(after)
    code.begin(otherwise)
    _make_plain(w, k, x)
    code.branch(w.get("array").equals(None), after, plain)
    code.begin(after)


def _make_plain(w: EntryBuilder, k: Number, given: Number) -> None:
    """Make ``array`` a plain one with the numbers of an input that is none.

    It is null where the kernel can read the numbers already.
    """
    code = w.code
    with code.when(~w.is_a(given, "ndarray")):
        read_other(w, k, given)
    with code.when(w.get("array").differs(None)):
        with code.when(~_is_plain(w, w.get("array"))):
            _read_unusual(w, k, w.get("array"))


def _is_plain(w: EntryBuilder, x: Number) -> Number:
    """Whether an array is aligned, C-contiguous and of the dtype of the call."""
    has = w.field(x, FLAGS, "i32") & (CONTIGUOUS | ALIGNED)
    return w.field(x, DESCR).equals(w.descr) & has.equals(CONTIGUOUS | ALIGNED)


def _leading_axes(w: EntryBuilder, k: Number, x: Number) -> Number:
    """Number of leading axes of an array; its last axes must be those of the port."""
    shape = w.field(x, SHAPE)
    p_axes, _, p_shape = w.port(k)
    extra = w.field(x, AXES, "i32").extended() - p_axes
    w.unless(extra >= 0)
    same_numbers(w, p_axes, w.at(shape, extra, "i64"), p_shape)
    return extra


def _read_plain(w: EntryBuilder, k: Number, x: Number) -> None:
    """An aligned, C-contiguous array of the dtype of the call."""
    extra, p_size, start = _leading_axes(w, k, x), w.port(k)[1], w.field(x, DATA)
    w.set("pitch", 0)
    w.set("count", p_size)
    with w.code.when(extra > 0):
        _count_rows(w, x, extra)
        w.set("pitch", p_size)
        w.set("count", w.get("rows") * p_size)
    w.put(w.strides, k, w.get("pitch"), "i64")
    remember(w, k, start, start, w.after(start, w.get("count") * w.size))


def _count_rows(w: EntryBuilder, x: Number, extra: Number) -> None:
    """The leading axes of the first array that has some; all others must have the same."""
    code, shape = w.code, w.field(x, SHAPE)
    with code.either(w.get("lead").equals(None)) as (first, later):
        with first:
            w.unless(extra <= MAX_AXES)
            w.set("lead", shape)
            w.set("extra", extra)
            for j in code.each(extra):
                w.set("rows", w.get("rows") * w.item(shape, j, "i64"))
        with later:
            w.unless(extra.equals(w.get("extra")))
            same_numbers(w, extra, shape, w.get("lead"))


def _read_unusual(w: EntryBuilder, k: Number, x: Number) -> None:
    """An array that is not contiguous, not aligned or of another dtype."""
    code, kind = w.code, w.field(w.field(x, DESCR), KIND, "i8")
    real = [kind.equals(ord(letter)) for letter in REAL]
    w.unless(real[0] | real[1] | real[2] | real[3])
    extra = _leading_axes(w, k, x)
    aligned = (w.field(x, FLAGS, "i32") & ALIGNED).differs(0)
    direct = aligned & w.field(x, DESCR).equals(w.descr)
    _find_row_stride(w, k, x, extra, direct)
    with code.either(w.get("direct").differs(0)) as (strided, copied):
        with strided:
            _read_strided(w, k, x, extra)
            w.set("array", None)
        with copied:
            one_state = extra.equals(0) & has_scratch(w, k)
            with code.either(direct & one_state) as (one, many):
                with one:
                    gather(w, k, x)
                    w.set("array", None)
                with many:
                    w.set("array", convert(w, x))


def _find_row_stride(w: EntryBuilder, k: Number, x: Number, extra: Number, direct: Number) -> None:
    """``direct``: rows are contiguous, and the same distance apart; ``pitch`` [bytes]."""
    code = w.code
    p_axes, _, p_shape = w.port(k)
    strides, shape = w.field(x, STRIDES), w.field(x, SHAPE)
    w.set("direct", direct.extended())
    w.set("pitch", w.size)
    for j in code.each(p_axes):
        axis = p_axes - 1 - j
        length, stride = w.item(p_shape, axis, "i64"), w.item(strides, extra + axis, "i64")
        fits = stride.equals(w.get("pitch")) | length.equals(1)
        w.set("direct", w.get("direct") & fits.extended())
        w.set("pitch", w.get("pitch") * length)
    for j in code.each(extra - 1):
        axis = extra - 2 - j
        following = axis + 1
        expected = w.item(strides, following, "i64") * w.item(shape, following, "i64")
        fits = w.item(strides, axis, "i64").equals(expected)
        w.set("direct", w.get("direct") & fits.extended())
    w.set("pitch", 0)
    with code.when(extra > 0):
        stride = w.item(strides, extra - 1, "i64")
        w.set("pitch", stride)
        w.set("direct", w.get("direct") & (stride % w.size).equals(0).extended())


def _read_strided(w: EntryBuilder, k: Number, x: Number, extra: Number) -> None:
    """Rows that are contiguous, with anything between them; they may go backwards."""
    code, stride = w.code, w.get("pitch")
    w.set("count", 1)
    with code.when(extra > 0):
        _count_rows(w, x, extra)
        w.set("count", w.get("rows"))
    start, row = w.field(x, DATA), w.port(k)[1] * w.size
    w.put(w.strides, k, stride / w.size, "i64")
    way = stride * (w.get("count") - 1)
    back = way < 0
    first = w.after(start, code.choose(back, way, 0))
    last = w.after(start, row + code.choose(back, code.integer(0), way))
    remember(w, k, start, first, last)
