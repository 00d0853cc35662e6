"""Copies of inputs that the kernel cannot read in place, made within the call.

One state, or one number, goes into scratch memory of the call; batches are converted by numpy, and
so are lists of anything but Python's numbers.
"""

from __future__ import annotations

from robodyn.codegen.llvm.builder.values import Number
from robodyn.codegen.vectorcall.entry_builder import (
    DATA,
    DESCR,
    ITEMS,
    SCRATCH,
    SIZE,
    STRIDES,
    EntryBuilder,
)

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
