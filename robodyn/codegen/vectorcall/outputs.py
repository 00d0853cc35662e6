"""The call entry's results: arrays that are given or made, and what is returned."""

from __future__ import annotations

from typing import Any

from robodyn.codegen.vectorcall.conversion import remember
from robodyn.codegen.vectorcall.entry_builder import (
    AXES,
    BASE,
    DATA,
    DESCR,
    FLAGS,
    I32,
    I64,
    NULL,
    PTR,
    SHAPE,
    SIZE,
    TYPE,
    VOID,
    WEAK,
    EntryBuilder,
    flag,
    word,
)  # fmt: skip
from robodyn.codegen.vectorcall.inputs import is_apart, same_numbers
from robodyn.codegen.vectorcall.table import MAX_AXES, PORT, SPARES, TABLE

__all__ = ["check_given", "drop_made", "make_outputs", "make_result"]

#: Flags of an array that can be written, and of one that owns its memory too.
WRITEABLE, OWNED = 0x501, 0x505


def check_given(w: EntryBuilder) -> None:
    """Arrays to write into: an array, or a tuple of them."""
    b = w.b
    out = w.get("out")
    with b.if_else(w.same(w.n_out, word(1))) as (one, many):
        with one:
            _check_output(w, word(0), out)
        with many:
            w.unless(w.same(w.field(out, TYPE), w.common("tuple")))
            w.unless(w.same(w.field(out, SIZE, I64), w.n_out))
            items = w.after(out, w.items_at)
            w.loop(w.n_out, lambda k: _check_output(w, k, w.item(items, k)))


def _check_output(w: EntryBuilder, k: Any, x: Any) -> None:
    """An array of the right shape and dtype that shares no memory with any other."""
    b = w.b
    w.unless(w.same(w.field(x, TYPE), w.common("ndarray")))
    w.unless(w.same(w.field(x, DESCR), w.descr))
    has = b.and_(w.field(x, FLAGS, I32), flag(WRITEABLE))
    w.unless(w.same(has, flag(WRITEABLE)))
    axes, shape = b.zext(w.field(x, AXES, I32), I64), w.field(x, SHAPE)
    index = b.add(w.n_in, k)
    p_axes, p_size, p_shape = w.port(index)
    extra = w.get("extra")
    w.unless(w.same(axes, b.add(p_axes, extra)))
    same_numbers(w, extra, shape, w.get("lead"))
    same_numbers(w, p_axes, w.at(shape, extra, I64), p_shape)
    w.put(w.strides, index, p_size, I64)
    start = w.field(x, DATA)
    end = w.after(start, b.mul(b.mul(w.get("rows"), p_size), w.size))
    remember(w, index, start, start, end)
    w.loop(index, lambda j: is_apart(w, index, j))


def make_outputs(w: EntryBuilder) -> None:
    """New arrays; a scalar of one state gets its object only when it is computed."""
    b = w.b

    def make(k: Any) -> None:
        index = b.add(w.n_in, k)
        p_axes, p_size, p_shape = w.port(index)
        extra = w.get("extra")
        w.put(w.strides, index, p_size, I64)
        w.loop(extra, lambda j: _axis(w, j, w.item(w.get("lead"), j, I64)))
        w.loop(p_axes, lambda j: _axis(w, b.add(extra, j), w.item(p_shape, j, I64)))
        axes = b.add(extra, p_axes)
        with b.if_else(w.same(axes, word(0))) as (scalar, array):
            with scalar:
                w.put(w.data, index, w.at(w.scalars, k, I64))
                w.put(w.made, k, NULL)
            with array:
                w.set("new", NULL)
                with b.if_then(w.same(extra, word(0))):
                    w.loop(word(SPARES), lambda j: _try_spare(w, index, j))
                with b.if_then(w.same(w.get("new"), NULL)):
                    _new_array(w, k, axes)
                w.put(w.made, k, w.get("new"))
                w.put(w.data, index, w.field(w.get("new"), DATA))

    w.loop(w.n_out, make)


def _new_array(w: EntryBuilder, k: Any, axes: Any) -> None:
    """Into ``new``."""
    b = w.b
    w.call("incref", VOID, w.descr)
    new = w.call(
        "new_array", PTR, w.common("ndarray"), w.descr,
        b.trunc(axes, I32), w.shape, NULL, NULL, flag(0), NULL,
    )  # fmt: skip
    with b.if_then(w.same(new, NULL)):
        w.loop(k, lambda k: drop_made(w, k))
        b.branch(w.failed)
    w.set("new", new)


def _try_spare(w: EntryBuilder, index: Any, j: Any) -> None:
    """Take a spare array that has no other reference and is unchanged, if ``new`` has none yet."""
    b = w.b
    at = b.add(word(len(TABLE)), b.mul(index, word(PORT)))
    first = b.select(w.same(w.size, word(8)), word(0), word(SPARES))
    spare = w.item(w.table, b.add(b.add(at, word(2 + MAX_AXES)), b.add(first, j)))
    p_axes, _, p_shape = w.port(index)
    # the low half of a reference count holds in all versions of Python
    free = w.same(w.field(spare, 0, I32), flag(1))
    free = b.and_(free, w.same(w.get("new"), NULL))
    with b.if_then(free):
        flags = b.and_(w.field(spare, FLAGS, I32), flag(OWNED))
        good = w.same(flags, flag(OWNED))
        good = b.and_(good, w.same(w.field(spare, DESCR), w.descr))
        good = b.and_(good, w.same(w.field(spare, BASE), NULL))
        good = b.and_(good, w.same(w.field(spare, WEAK), NULL))
        good = b.and_(good, w.same(w.field(spare, AXES, I32), b.trunc(p_axes, I32)))
        with b.if_then(good):
            w.call("incref", VOID, spare)
            w.set("new", spare)
            w.loop(p_axes, lambda i: _put_back_unless_same(w, i, spare, p_shape))


def _put_back_unless_same(w: EntryBuilder, axis: Any, spare: Any, shape: Any) -> None:
    given = w.item(w.field(spare, SHAPE), axis, I64)
    changed = w.differ(given, w.item(shape, axis, I64))
    still = w.differ(w.get("new"), NULL)
    with w.b.if_then(w.b.and_(changed, still)):
        w.set("new", NULL)
        w.call("decref", VOID, spare)


def _axis(w: EntryBuilder, index: Any, length: Any) -> None:
    w.put(w.shape, index, length, I64)


def drop_made(w: EntryBuilder, k: Any) -> None:
    """Give a result back that was made and is not wanted."""
    made = w.item(w.made, k)
    with w.b.if_then(w.differ(made, NULL)):
        w.call("decref", VOID, made)


def make_result(w: EntryBuilder) -> None:
    """What was made, as ``result``: an array, a number, or a tuple."""
    b = w.b

    def scalar(k: Any) -> None:
        with b.if_then(w.same(w.item(w.made, k), NULL)):
            value = w.at(w.scalars, k, I64)
            made = w.call("new_scalar", PTR, value, w.descr, NULL)
            with b.if_then(w.same(made, NULL)):
                w.loop(w.n_out, lambda j: drop_made(w, j))
                b.branch(w.failed)
            w.put(w.made, k, made)

    w.loop(w.n_out, scalar)
    with b.if_else(w.same(w.n_out, word(1))) as (one, many):
        with one:
            w.set("result", w.item(w.made, 0))
        with many:
            result = w.call("new_tuple", PTR, w.n_out)
            with b.if_then(w.same(result, NULL)):
                w.loop(w.n_out, lambda j: drop_made(w, j))
                b.branch(w.failed)
            w.loop(w.n_out, lambda k: _fill(w, result, k))
            w.set("result", result)
    with b.if_then(w.differ(w.get("make"), NULL)):
        _make_of_result(w)


def _make_of_result(w: EntryBuilder) -> None:
    """What a callable makes of the result and of the first inputs."""
    b = w.b
    found, count = w.get("result"), w.get("made_of")
    w.put(w.arguments, 0, found)
    w.loop(count, lambda k: w.put(w.arguments, b.add(k, word(1)), w.item(w.get("given"), k)))
    made = w.call("vectorcall", PTR, w.get("make"), w.arguments, b.add(count, word(1)), NULL)
    w.call("decref", VOID, found)
    w.check(made)
    w.set("result", made)


def _fill(w: EntryBuilder, result: Any, k: Any) -> None:
    w.call("set_item", I32, result, k, w.item(w.made, k))
