"""Numbers by joint of a call: from mappings, and from arrays over all speeds, to inputs.

A mapping gives a number for each of its names. An array over all speeds gives one for each speed:
in the choice of a function, ``True`` stands for a number of it and ``False`` for one that is NaN.
"""

from __future__ import annotations

from collections.abc import Callable

from robodyn.codegen.llvm.builder.values import Number
from robodyn.codegen.vectorcall.entry_builder import (
    AXES,
    DATA,
    DESCR,
    FLAGS,
    ITEMS,
    SHAPE,
    SIZE,
    EntryBuilder,
)
from robodyn.codegen.vectorcall.inputs import read_number, take_zeros
from robodyn.codegen.vectorcall.signature import MAX_LINKS

#: Flags of an array that is contiguous and aligned.
PLAIN = 0x101


def add_by_joint(w: EntryBuilder, given: Number) -> None:
    """Add what a parameter gives by joint to the names, and ``None`` after it."""
    code = w.code
    with code.when(given.differs(None)):
        with code.either(w.is_a(given, "dict")) as (mapping, several):
            with mapping:
                add_items(w, given)
            with several:
                with code.either(w.is_a(given, "ndarray")) as (array, sequence):
                    with array:
                        _add_array(w, given)
                    with sequence:
                        _add_sequence(w, given)
    _add_link(w, w.common("none"))


def _add_array(w: EntryBuilder, given: Number) -> None:
    """Add each column of an array: one row, or one for each state."""
    code, axes = w.code, w.field(given, AXES, "i32").extended()
    _refuse_unusual(w, given)
    w.unless((axes > 0) & (axes <= 2))
    shape, data = w.field(given, SHAPE), w.field(given, DATA)
    w.unless(axes.equals(1) | (w.item(shape, 0, "i64") > 0))
    for k in code.each(w.item(shape, axes - 1, "i64")):
        _add_number(w, w.item(data, k, "double"), given, k)


def _add_sequence(w: EntryBuilder, given: Number) -> None:
    """Add each number of a list or tuple."""
    code, is_list = w.code, w.is_a(given, "list")
    w.unless(is_list | w.is_a(given, "tuple"))
    w.set("new", w.after(given, w.items_at))
    with code.when(is_list):
        w.set("new", w.field(given, ITEMS))
    items, place = w.get("new"), Number(code, w.place, "ptr")
    w.set("good", 1)
    for k in code.each(w.field(given, SIZE, "i64")):
        number = w.item(items, k)
        read_number(w, number, place)
        w.unless(w.get("good").differs(0))
        w.call("incref", "void", number)  # the list may change while other threads run
        _add_number(w, w.item(place, 0, "double"), number, k)
        w.hold(number)


def _add_number(w: EntryBuilder, value: Number, thing: Number, column: Number) -> None:
    """Add a number of an array over all speeds, which is in a column of an array or an object."""
    there = w.code.put(f"fcmp ord double {value}, 0.0", "i1")
    _add_link(w, w.code.choose(there, w.common("true"), w.common("false")))
    w.put(w.numbers, w.get("links") - 1, thing)
    w.put(w.columns, w.get("links") - 1, column, "i64")


def _add_link(w: EntryBuilder, name: Number) -> None:
    w.unless(w.get("links") < MAX_LINKS)
    w.put(w.links, w.get("links"), name)
    w.raise_by_one("links")


def add_items(w: EntryBuilder, given: Number) -> None:
    """Add the keys of a dict to the names, in its order, and keep the value of each."""
    code = w.code
    w.unless(w.is_a(given, "dict"))
    key, value = (w.at(w.cells, k, "ptr") for k in (0, 1))
    w.put(w.place, 0, 0, "i64")
    w.set("good", 1)
    for _ in code.each(MAX_LINKS + 1, until=lambda: w.get("good").equals(0)):
        place = Number(code, w.place, "ptr")
        found = w.call("next_item", "i32", given, place, key, value).differs(0)
        w.set("good", found.extended())
        with code.when(found):
            w.unless(w.is_a(w.item(key, 0), "str"))
            _add_link(w, w.item(key, 0))
            thing = w.item(value, 0)
            # the dict may change while other threads run
            w.call("incref", "void", thing)
            w.hold(thing)
            w.put(w.numbers, w.get("links") - 1, thing)


def fill_by_joint(w: EntryBuilder, first: Number) -> None:
    """Store the numbers by joint at the indices of their speeds, others as zero.

    Of several states mappings hold arrays with one axis, and arrays have two.
    """
    w.table = w.get("table")
    _check_unused(w)
    w.set("column", 0)
    for k in w.code.each(w.get("by_names")):
        size = w.port(first + k)[1]
        _fill_input(w, first + k, size)
        w.set("column", w.get("column") + size)


def _check_unused(w: EntryBuilder) -> None:
    """Numbers that go nowhere, as forces of controlled speeds, are zero, or all are NaN."""
    code = w.code
    for k in code.each(w.get("links")):
        unused = w.item(w.get("places"), k, "i64") < 0
        with code.when(unused & _is_number(w, k)):
            there = w.item(w.links, k).equals(w.common("true"))
            _find_numbers(w, k)
            for r in code.each(w.get("count")):
                x = w.item(w.get("new"), r * w.get("pitch"), "double")
                zero, none = (
                    code.put(f"fcmp {how} double {x}, 0.0", "i1") for how in ("oeq", "uno")
                )
                w.unless((there & zero) | (~there & none))


def _is_number(w: EntryBuilder, k: Number) -> Number:
    """Whether what stands for a name is one of the numbers of an array over all speeds."""
    name = w.item(w.links, k)
    return name.equals(w.common("true")) | name.equals(w.common("false"))


def _column(w: EntryBuilder, k: Number) -> tuple[Number, Number, Number]:
    """Where numbers begin in an array, how far apart they are, and of how many states they are.

    Of any number of states if that is zero.
    """
    code, x, number = w.code, w.item(w.numbers, k), _is_number(w, k)
    axes, shape = w.field(x, AXES, "i32").extended(), w.field(x, SHAPE)
    leading = axes - number.extended()
    w.unless((axes > 0) & (leading <= 1))
    width = code.choose(number, w.item(shape, axes - 1, "i64"), 1)
    column = code.choose(number, w.item(w.columns, k, "i64"), 0)
    any_state = leading.equals(0)
    start = w.at(w.field(x, DATA), column, "i64")
    return (
        start,
        code.choose(any_state, code.integer(0), width),
        code.choose(any_state, code.integer(0), w.item(shape, 0, "i64")),
    )


def _fill_input(w: EntryBuilder, port: Number, size: Number) -> None:
    """One of the inputs: a row, or one for each state."""
    code, column = w.code, w.get("column")

    def of_names(do: Callable[[Number, Number], None]) -> None:
        for k in code.each(w.get("links")):
            place = w.item(w.get("places"), k, "i64") - column
            with code.when((place >= 0) & (place < size)):
                do(k, place)

    w.set("states", 0)
    of_names(lambda k, place: _count_states(w, k))
    with code.either(w.get("states").equals(0)) as (one, many):
        with one:
            w.set("states", 1)
            w.set("room", take_zeros(w, port))
        with many:
            _make_rows(w, port, size)
    of_names(lambda k, place: _fill_column(w, k, w.at(w.get("room"), place, "i64"), size))


def _count_states(w: EntryBuilder, k: Number) -> None:
    """Count the numbers for a joint, which has to be the same in all arrays."""
    x = w.item(w.numbers, k)
    with w.code.when(w.is_a(x, "ndarray")):
        _refuse_unusual(w, x)
        count = _column(w, k)[2]
        with w.code.when(count.differs(0)):
            w.unless(w.get("states").equals(0) | w.get("states").equals(count))
            w.set("states", count)


def _refuse_unusual(w: EntryBuilder, x: Number) -> None:
    """Continue if an array is contiguous, aligned and of float64."""
    w.unless(w.field(x, DESCR).equals(w.common("float64")))
    w.unless((w.field(x, FLAGS, "i32") & PLAIN).equals(PLAIN))


def _make_rows(w: EntryBuilder, port: Number, size: Number) -> None:
    """An array of zeros with a row for each state."""
    code, states = w.code, w.get("states")
    for axis, length in enumerate((states, size)):
        w.put(w.shape, axis, length, "i64")
    descr, null, none = w.common("float64"), w.null, w.flag(0)
    w.call("incref", "void", descr)
    shape, array = Number(code, w.shape, "ptr"), w.common("ndarray")
    new = w.call("new_array", "ptr", array, descr, w.flag(2), shape, null, null, none, null)
    w.check(new)
    w.hold(new)
    w.put(w.inputs, port, new)
    w.set("room", w.field(new, DATA))
    for k in code.each(states * size):
        w.put(w.get("room"), k, 0, "i64")


def _fill_column(w: EntryBuilder, k: Number, to: Number, size: Number) -> None:
    """Write the numbers of a joint, or the one of all states."""
    _find_numbers(w, k)
    for r in w.code.each(w.get("states")):
        w.put(to, r * size, w.item(w.get("new"), r * w.get("pitch"), "i64"), "i64")


def _find_numbers(w: EntryBuilder, k: Number) -> None:
    """Numbers for a name: ``new`` is where they begin, ``pitch`` how far apart they are.

    Of one number for all states that is zero; ``count`` is how many numbers there are.
    """
    w.set("new", Number(w.code, w.place, "ptr"))
    w.set("pitch", 0)
    w.set("count", 1)
    with w.code.either(w.is_a(w.item(w.numbers, k), "ndarray")) as (several, one):
        with several:
            start, step, states = _column(w, k)
            w.set("new", start)
            w.set("pitch", step)
            w.set("count", w.code.choose(states.equals(0), 1, states))
        with one:
            _read_object(w, k)


def _read_object(w: EntryBuilder, k: Number) -> None:
    """Store the number of an object in the place for one."""
    w.set("good", 1)
    read_number(w, w.item(w.numbers, k), Number(w.code, w.place, "ptr"))
    w.unless(w.get("good").differs(0))
