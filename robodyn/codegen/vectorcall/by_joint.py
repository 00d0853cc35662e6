"""Numbers by joint of a call: from mappings to inputs."""

from __future__ import annotations

from collections.abc import Callable

from robodyn.codegen.llvm.builder.values import Number
from robodyn.codegen.vectorcall.conversion import read_number, take_zeros
from robodyn.codegen.vectorcall.entry_builder import AXES, DATA, DESCR, FLAGS, SHAPE, EntryBuilder
from robodyn.codegen.vectorcall.signature import MAX_LINKS

__all__ = ["add_by_joint", "add_items", "fill_by_joint"]

#: Flags of an array that is contiguous and aligned.
PLAIN = 0x101


def add_by_joint(w: EntryBuilder, given: Number) -> None:
    """Add what a parameter gives by joint to the names, and ``None`` after it."""
    with w.code.when(given.differs(None)):
        add_items(w, given)
    _add_link(w, w.common("none"))


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

    Of several states mappings hold arrays with one axis.
    """
    w.table = w.get("table")
    w.set("column", 0)
    for k in w.code.each(w.get("by_names")):
        size = w.port(first + k)[1]
        _fill_input(w, first + k, size)
        w.set("column", w.get("column") + size)


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
        w.unless(w.field(x, DESCR).equals(w.common("float64")))
        w.unless((w.field(x, FLAGS, "i32") & PLAIN).equals(PLAIN))
        w.unless(w.field(x, AXES, "i32").extended().equals(1))
        count = w.item(w.field(x, SHAPE), 0, "i64")
        w.unless(count.differs(0))
        w.unless(w.get("states").equals(0) | w.get("states").equals(count))
        w.set("states", count)


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
    code = w.code
    with code.either(w.is_a(w.item(w.numbers, k), "ndarray")) as (several, one):
        with several:
            start = w.field(w.item(w.numbers, k), DATA)
            for r in code.each(w.get("states")):
                w.put(to, r * size, w.item(start, r, "i64"), "i64")
        with one:
            _read_object(w, k)
            number = Number(code, w.place, "ptr")
            for r in code.each(w.get("states")):
                w.put(to, r * size, w.item(number, 0, "i64"), "i64")


def _read_object(w: EntryBuilder, k: Number) -> None:
    """Store the number of an object in the place for one."""
    w.set("good", 1)
    read_number(w, w.item(w.numbers, k), Number(w.code, w.place, "ptr"))
    w.unless(w.get("good").differs(0))
