"""Copies of inputs that the kernel cannot read where they stand, made within the call.

One state, or one number, goes into scratch memory of the call; batches are converted by numpy, and
so are lists of anything but Python's numbers.
"""

from __future__ import annotations

from typing import Any

from llvmlite import ir

from robodyn.codegen.vectorcall.entry_builder import (
    DATA,
    DESCR,
    I32,
    I64,
    ITEMS,
    NULL,
    PTR,
    SCRATCH,
    SIZE,
    STRIDES,
    TYPE,
    VOID,
    EntryBuilder,
    flag,
    word,
)  # fmt: skip

__all__ = [
    "convert",
    "gather",
    "has_scratch",
    "read_number",
    "read_other",
    "remember",
    "scratch_place",
    "take_zeros",
]

#: What numpy is asked for when it converts: C-contiguous, aligned, in the machine's byte order,
#: with whatever loss of precision that takes.
_PLAIN = 0x1 | 0x100 | 0x200 | 0x10

#: Where a float keeps its number [bytes].
_NUMBER = 16

_DOUBLE = ir.DoubleType()


def remember(w: EntryBuilder, k: Any, start: Any, first: Any, end: Any) -> None:
    """Where the numbers of an array begin; the bytes from ``first`` to ``end`` belong to it."""
    w.put(w.data, k, start)
    w.put(w.starts, k, first)
    w.put(w.ends, k, end)


def has_scratch(w: EntryBuilder, k: Any) -> Any:
    """Whether scratch memory has room for one state of an input with one axis."""
    p_axes, p_size, _ = w.port(k)
    room = w.b.icmp_unsigned("<=", w.b.add(w.get("filled"), p_size), word(SCRATCH))
    return w.b.and_(room, w.same(p_axes, word(1)))


def convert(w: EntryBuilder, x: Any) -> Any:
    """A plain array of the dtype of the call, with the numbers of another array."""
    w.call("incref", VOID, w.descr)
    return _converted(w, x, w.descr, _PLAIN)


def scratch_place(w: EntryBuilder, index: Any) -> Any:
    """Where a number of the scratch memory stands."""
    return w.b.inttoptr(w.b.ptrtoint(w.at(w.scratch, index, I64), I64), PTR)


def _take_scratch(w: EntryBuilder, k: Any) -> Any:
    """Room for the numbers of an input of one state; they share no memory with anything."""
    b = w.b
    begin, p_size = w.get("filled"), w.port(k)[1]
    room = scratch_place(w, begin)
    w.set("filled", b.add(begin, p_size))
    w.put(w.strides, k, word(0), I64)
    remember(w, k, room, room, room)
    return room


def take_zeros(w: EntryBuilder, k: Any) -> None:
    """Zeros for an input with one axis."""
    w.unless(has_scratch(w, k))
    count = w.port(k)[1]
    room = _take_scratch(w, k)
    w.loop(count, lambda j: w.put(room, j, word(0), I64))


def gather(w: EntryBuilder, k: Any, x: Any) -> None:
    """One axis of numbers that are some distance apart."""
    b = w.b
    start, stride = w.field(x, DATA), w.item(w.field(x, STRIDES), 0, I64)
    room, count = _take_scratch(w, k), w.port(k)[1]

    def copy(kind: Any) -> None:
        def one(j: Any) -> None:
            w.put(room, j, w.field(start, b.mul(j, stride), kind), kind)

        w.loop(count, one)

    with b.if_else(w.same(w.size, word(8))) as (double, single):
        with double:
            copy(I64)
        with single:
            copy(I32)


def _converted(w: EntryBuilder, x: Any, descr: Any, flags: int) -> Any:
    """The array that numpy makes of something; it takes over a reference to the dtype."""
    made = w.call("convert", PTR, x, descr, flag(0), flag(0), flag(flags), NULL)
    with w.b.if_then(w.same(made, NULL)):
        # the slow path raises an error in better words
        w.call("forget", VOID)
    w.unless(w.differ(made, NULL))
    w.hold(made)
    return made


def read_other(w: EntryBuilder, k: Any, x: Any) -> None:
    """What is no array: a list or tuple, or one number."""
    b = w.b
    is_list = w.same(w.field(x, TYPE), w.common("list"))
    is_tuple = w.same(w.field(x, TYPE), w.common("tuple"))
    with b.if_else(b.or_(is_list, is_tuple)) as (several, one):
        with several:
            _read_sequence(w, k, x, is_list)
        with one:
            _read_number(w, k, x)


def _read_number(w: EntryBuilder, k: Any, x: Any) -> None:
    """A number, for an input that is one."""
    b = w.b
    fits = b.icmp_unsigned("<", w.get("filled"), word(SCRATCH))
    w.unless(b.and_(fits, w.same(w.port(k)[0], word(0))))
    w.set("good", word(1))
    read_number(w, x, _take_scratch(w, k))
    w.unless(w.differ(w.get("good"), word(0)))
    w.set("array", NULL)


def _read_sequence(w: EntryBuilder, k: Any, x: Any, is_list: Any) -> None:
    """A list or tuple: of Python's numbers, one state; else what numpy makes of it."""
    b = w.b
    p_size = w.port(k)[1]
    fits = b.and_(has_scratch(w, k), w.same(w.field(x, SIZE, I64), p_size))
    w.set("good", b.zext(fits, I64))
    with b.if_then(fits):
        room = _take_scratch(w, k)
        w.set("new", w.after(x, w.items_at))
        with b.if_then(is_list):
            w.set("new", w.field(x, ITEMS))
        items = w.get("new")
        w.loop(
            p_size,
            lambda j: read_number(w, w.item(items, j), w.at(room, j, I64)),
            until=lambda: w.same(w.get("good"), word(0)),
        )
    w.set("array", NULL)
    with b.if_then(w.same(w.get("good"), word(0))):
        made = _converted(w, x, NULL, 0)
        # were all inputs like this one, the call would be in single precision
        w.unless(w.differ(w.field(made, DESCR), w.common("float32")))
        w.set("array", made)


def read_number(w: EntryBuilder, x: Any, to: Any) -> None:
    """Store a float, numpy's or Python's, or an integer that a word holds; else it is not good."""
    b = w.b
    kind = w.field(x, TYPE)
    is_float = b.or_(w.same(kind, w.common("float")), w.same(kind, w.common("number")))
    with b.if_else(is_float) as (then, otherwise):
        with then:
            b.store(w.field(x, _NUMBER, _DOUBLE), to)
        with otherwise:
            is_whole = b.or_(w.same(kind, w.common("int")), w.same(kind, w.common("bool")))
            w.set("good", b.zext(is_whole, I64))
            with b.if_then(is_whole):
                value = w.call("integer", I64, x)
                b.store(b.sitofp(value, _DOUBLE), to)
                with b.if_then(w.same(value, word(-1))):
                    with b.if_then(w.differ(w.call("raised", PTR), NULL)):
                        w.call("forget", VOID)
                        w.set("good", word(0))
