"""The call entry's results: arrays that are given or made, and what is returned."""

from __future__ import annotations

from robodyn.codegen.llvm.builder.values import Number
from robodyn.codegen.vectorcall.entry_builder import (
    AXES,
    BASE,
    DATA,
    DESCR,
    FLAGS,
    SHAPE,
    SIZE,
    WEAK,
    EntryBuilder,
)
from robodyn.codegen.vectorcall.inputs import is_apart, remember, same_numbers
from robodyn.codegen.vectorcall.table import MAX_AXES, PORT, SPARES, TABLE

#: Flags of an array that can be written, and of one that owns its memory too.
WRITEABLE, OWNED = 0x501, 0x505


def check_given(w: EntryBuilder) -> None:
    """Arrays to write into: an array, or a tuple of them."""
    code, out = w.code, w.get("out")
    with code.either(w.n_out.equals(1)) as (one, many):
        with one:
            _check_output(w, code.integer(0), out)
        with many:
            w.unless(w.is_a(out, "tuple"))
            w.unless(w.field(out, SIZE, "i64").equals(w.n_out))
            items = w.after(out, w.items_at)
            for k in code.each(w.n_out):
                _check_output(w, k, w.item(items, k))


def _check_output(w: EntryBuilder, k: Number, x: Number) -> None:
    """An array of the right shape and dtype that shares no memory with any other."""
    w.unless(w.is_a(x, "ndarray"))
    w.unless(w.field(x, DESCR).equals(w.descr))
    w.unless((w.field(x, FLAGS, "i32") & WRITEABLE).equals(WRITEABLE))
    axes, shape = w.field(x, AXES, "i32").extended(), w.field(x, SHAPE)
    index, extra = w.n_in + k, w.get("extra")
    p_axes, p_size, p_shape = w.port(index)
    w.unless(axes.equals(p_axes + extra))
    same_numbers(w, extra, shape, w.get("lead"))
    same_numbers(w, p_axes, w.at(shape, extra, "i64"), p_shape)
    w.put(w.strides, index, p_size, "i64")
    start = w.field(x, DATA)
    remember(w, index, start, start, w.after(start, w.get("rows") * p_size * w.size))
    for j in w.code.each(index):
        is_apart(w, index, j)


def make_outputs(w: EntryBuilder) -> None:
    """New arrays; a scalar of one state gets its object only when it is computed."""
    code, extra = w.code, w.get("extra")
    for k in code.each(w.n_out):
        index = w.n_in + k
        p_axes, p_size, p_shape = w.port(index)
        w.put(w.strides, index, p_size, "i64")
        w.put(w.data, index, w.at(w.scalars, k, "i64"))
        w.set("new", None)
        with code.when((extra + p_axes).differs(0)):
            with code.when(extra.equals(0)):
                for j in code.each(SPARES):
                    _try_spare(w, index, j)
            with code.when(w.get("new").equals(None)):
                for j in code.each(extra):
                    w.put(w.shape, j, w.item(w.get("lead"), j, "i64"), "i64")
                for j in code.each(p_axes):
                    w.put(w.shape, extra + j, w.item(p_shape, j, "i64"), "i64")
                _new_array(w, extra + p_axes)
            w.put(w.data, index, w.field(w.get("new"), DATA))
        w.put(w.made, k, w.get("new"))
        w.raise_by_one("made")


def _new_array(w: EntryBuilder, axes: Number) -> None:
    """Make a new array, in the variable ``new``."""
    code, zero = w.code, w.flag(0)
    w.call("incref", "void", w.descr)
    count = code.put(f"trunc i64 {axes} to i32", "i32")
    shape = Number(code, w.shape, "ptr")
    array, null = w.common("ndarray"), w.null
    new = w.call("new_array", "ptr", array, w.descr, count, shape, null, null, zero, null)
    w.likely(new.differs(None), w.discard)
    w.set("new", new)


def _try_spare(w: EntryBuilder, index: Number, j: Number) -> None:
    """Take a spare array that has no other reference and is unchanged, if ``new`` has none yet."""
    code = w.code
    at = index * PORT + (len(TABLE) + 2 + MAX_AXES)
    first = code.choose(w.size.equals(8), code.integer(0), SPARES)
    spare = w.item(w.table, at + first + j)
    p_axes, _, p_shape = w.port(index)
    # the low half of a reference count holds in all versions of Python
    with code.when(w.field(spare, 0, "i32").equals(1) & w.get("new").equals(None)):
        good = (w.field(spare, FLAGS, "i32") & OWNED).equals(OWNED)
        good = good & w.field(spare, DESCR).equals(w.descr)
        good = good & w.field(spare, BASE).equals(None)
        good = good & w.field(spare, WEAK).equals(None)
        good = good & w.field(spare, AXES, "i32").extended().equals(p_axes)
        with code.when(good):
            w.call("incref", "void", spare)
            w.set("new", spare)
            for axis in code.each(p_axes):
                _put_back_unless_same(w, axis, spare, p_shape)


def _put_back_unless_same(w: EntryBuilder, axis: Number, spare: Number, shape: Number) -> None:
    given = w.item(w.field(spare, SHAPE), axis, "i64")
    changed = given.differs(w.item(shape, axis, "i64"))
    with w.code.when(changed & w.get("new").differs(None)):
        w.set("new", None)
        w.call("decref", "void", spare)


def make_result(w: EntryBuilder) -> None:
    """Store the outputs as ``result``: an array, a number, or a tuple."""
    code = w.code
    for k in code.each(w.n_out):
        with code.when(w.item(w.made, k).equals(None)):
            made = w.call("new_scalar", "ptr", w.at(w.scalars, k, "i64"), w.descr, w.null)
            w.likely(made.differs(None), w.discard)
            w.put(w.made, k, made)
    with code.either(w.n_out.equals(1)) as (one, many):
        with one:
            w.set("result", w.item(w.made, 0))
        with many:
            result = w.call("new_tuple", "ptr", w.n_out)
            w.likely(result.differs(None), w.discard)
            for k in code.each(w.n_out):
                w.call("set_item", "i32", result, k, w.item(w.made, k))
            w.set("result", result)
    with code.when(w.get("make").differs(None)):
        _make_of_result(w)


def _make_of_result(w: EntryBuilder) -> None:
    """Call a callable with the result and the first inputs; those by joint are None."""
    code, found, count = w.code, w.get("result"), w.get("made_of")
    w.put(w.arguments, 0, found)
    for k in code.each(count):
        given = w.item(w.get("given"), k)
        w.put(w.arguments, k + 1, code.choose(given.equals(None), w.common("none"), given))
    arguments = Number(code, w.arguments, "ptr")
    made = w.call("vectorcall", "ptr", w.get("make"), arguments, count + 1, w.null)
    w.call("decref", "void", found)
    w.check(made)
    w.set("result", made)
