"""The call entry's first steps: arguments to parameters, options to a function, and its inputs."""

from __future__ import annotations

from collections.abc import Callable

from robodyn.codegen.llvm.builder.values import Number
from robodyn.codegen.vectorcall.by_joint import add_by_joint, add_items, fill_by_joint
from robodyn.codegen.vectorcall.entry_builder import SIZE, EntryBuilder
from robodyn.codegen.vectorcall.signature import MAX_OPTIONS, PARAMETER, SIGNATURE, VARIANT, Role
from robodyn.codegen.vectorcall.table import MAX_PORTS, TABLE

_OPTION, _LINK = VARIANT.index("option"), VARIANT.index("link")


def bind(w: EntryBuilder) -> None:
    """Find the function that is called, its inputs and the arrays to write into."""
    general, bound = w.code.label("general"), w.code.label("bound")
    _bind_plain(w, general)
    w.code.go(bound)
    w.code.begin(general)
    _bind_arguments(w)
    _find_function(w)
    w.code.begin(bound)
    w.table = w.get("table")
    w.n_in, w.n_out, w.work = w.of_table("inputs"), w.of_table("outputs"), w.of_table("work")


def _positional(w: EntryBuilder) -> Number:
    """How many arguments are given by position."""
    return w.nargsf & ((1 << 63) - 1)


def _bind_plain(w: EntryBuilder, otherwise: str) -> None:
    """Calls with the arrays in order, and ``out`` after them or as the only keyword."""
    nargs = _positional(w)
    arrays, plain = w.of_signature("arrays"), w.of_signature("plain", "ptr")
    w.likely(plain.differs(None), otherwise)
    with w.code.either(w.kwnames.equals(None)) as (by_place, named):
        with by_place:
            with w.code.either(nargs.equals(w.of_signature("most"))) as (with_out, without):
                with with_out:
                    w.set("out", w.item(w.args, arrays))
                with without:
                    w.likely(nargs.equals(arrays), otherwise)
        with named:
            w.likely(nargs.equals(arrays), otherwise)
            w.likely(w.field(w.kwnames, SIZE, "i64").equals(1), otherwise)
            name = w.field(w.kwnames, w.items_at)
            w.likely(name.equals(w.of_signature("out", "ptr")), otherwise)
            w.set("out", w.item(w.args, arrays))
    with w.code.when(w.get("out").equals(w.common("none"))):
        w.set("out", None)
    w.set("given", w.args)
    w.set("table", plain)
    w.set("guarded", w.of_signature("plain_guarded"))
    w.set("make", w.of_signature("plain_make", "ptr"))
    w.set("made_of", w.of_signature("plain_made_of"))


def _bind_arguments(w: EntryBuilder) -> None:
    """Assign arguments and defaults to parameters, and sort them by kind.

    Too many arguments, names that there are not, arguments given twice and missing ones take the
    slow path, where Python raises what it raises.
    """
    code, nargs, count = w.code, _positional(w), w.of_signature("parameters")
    w.unless(nargs <= w.of_signature("positional"))
    for k in code.each(nargs):
        w.put(w.arguments, k, w.item(w.args, k))
    for k in code.each(count, start=nargs):
        w.put(w.arguments, k, None)
    with code.when(w.kwnames.differs(None)):
        for k in code.each(w.field(w.kwnames, SIZE, "i64")):
            _by_name(w, count, nargs, k)
    for k in code.each(MAX_OPTIONS):
        w.put(w.options, k, None)
    for k in code.each(w.of_signature("by_joint")):
        w.put(w.by_joint, k, None)
    for k in code.each(count):
        _sort(w, k)


def _parameter(w: EntryBuilder, k: Number) -> Number:
    """Address of the words of a parameter."""
    return w.at(w.signature, k * len(PARAMETER) + len(SIGNATURE), "i64")


def _by_name(w: EntryBuilder, count: Number, nargs: Number, k: Number) -> None:
    """Find the parameter of a keyword. Names are interned: the same text is the same object."""
    name = w.item(w.after(w.kwnames, w.items_at), k)
    w.set("parameter", -1)
    for p in w.code.each(count, until=lambda: w.get("parameter") >= 0):
        with w.code.when(w.item(_parameter(w, p), PARAMETER.index("name")).equals(name)):
            w.set("parameter", p)
    found = w.get("parameter")
    w.unless(found >= 0)
    w.unless(w.item(w.arguments, found).equals(None))
    w.put(w.arguments, found, w.item(w.args, nargs + k))


def _sort(w: EntryBuilder, k: Number) -> None:
    """Store an argument, or the default, with the arguments of its kind."""
    code, here, given = w.code, _parameter(w, k), w.item(w.arguments, k)
    value = code.choose(given.equals(None), w.item(here, PARAMETER.index("default")), given)
    w.unless(value.differs(None))
    role = w.item(here, PARAMETER.index("role"), "i64")
    index = w.item(here, PARAMETER.index("index"), "i64")
    for kind, place in ((Role.ARRAY, w.inputs), (Role.OPTION, w.options)):
        with code.when(role.equals(kind)):
            w.put(place, index, value)
    missing = value.equals(w.common("none"))
    with code.when(role.equals(Role.NUMBER)):
        w.unless(w.is_a(value, "float") | missing)
        w.put(w.inputs, index, value)
    with code.when(role.equals(Role.BY_JOINT)):
        w.put(w.by_joint, index, code.choose(missing, w.null, value))
    for kind, name in ((Role.OUT, "out"), (Role.BASE, "base"), (Role.WRENCHES, "wrenches")):
        with code.when(role.equals(kind)):
            w.set(name, code.choose(missing, w.null, value))


def _find_function(w: EntryBuilder) -> None:
    """The function behind the options and names, and all of its inputs."""
    code = w.code
    for k in code.each(w.of_signature("by_joint")):
        add_by_joint(w, w.item(w.by_joint, k))
    first_wrench = w.get("links")
    with code.when(w.get("wrenches").differs(None)):
        add_items(w, w.get("wrenches"))
    _close_ranks(w)
    for same in (_identical, _equal):
        with code.when(w.get("table").equals(None)):
            for k in code.each(
                w.of_signature("variants"), until=lambda: w.get("table").differs(None)
            ):
                _try(w, same, k)
    table, given = w.get("table"), w.get("inputs")
    w.unless(table.differs(None))
    for _ in code.each(w.get("by_names")):
        _add_input(w, w.null)
    with code.when(w.of_signature("moving").differs(0)):
        _add_base(w)
    for k in code.each(w.get("links"), start=first_wrench):
        _add_input(w, w.item(w.numbers, k))
    w.unless(w.get("inputs").equals(w.item(table, TABLE.index("inputs"), "i64")))
    w.set("given", Number(code, w.inputs, "ptr"))
    with code.when(w.get("by_names").differs(0)):
        fill_by_joint(w, given)


def _close_ranks(w: EntryBuilder) -> None:
    """Store arrays without gaps, and a bit mask of those that are left out."""
    w.set("inputs", 0)
    w.set("bit", 1)
    for k in w.code.each(w.of_signature("arrays")):
        array = w.item(w.inputs, k)
        with w.code.either(array.equals(w.common("none"))) as (missing, there):
            with missing:
                w.set("missing", w.get("missing") + w.get("bit"))
            with there:
                _add_input(w, array)
        w.set("bit", w.get("bit") + w.get("bit"))


def _add_base(w: EntryBuilder) -> None:
    """Pose, twist and acceleration of the base motion that was given, or of a base at rest."""
    base = w.get("base")
    with w.code.either(base.equals(None)) as (rest, motion):
        with rest:
            for name in ("pose", "twist", "acceleration"):
                _add_input(w, w.of_signature(name, "ptr"))
        with motion:
            w.unless(w.is_a(base, "motion"))
            for name in ("pose", "twist", "acceleration"):
                array = w.call("attribute", "ptr", base, w.common(name))
                w.check(array)
                w.hold(array)
                _add_input(w, array)


def _add_input(w: EntryBuilder, array: Number) -> None:
    w.unless(w.get("inputs") < MAX_PORTS)
    w.put(w.inputs, w.get("inputs"), array)
    w.raise_by_one("inputs")


def _try(w: EntryBuilder, same: Callable[..., None], k: Number) -> None:
    """Take a variant's function, if the variant has the options of the call."""
    here = w.at(w.of_signature("variants_at", "ptr"), k * len(VARIANT), "i64")
    table, count = w.item(here, VARIANT.index("table")), w.get("links")
    links = w.item(here, VARIANT.index("links"), "i64")
    missing = w.item(here, VARIANT.index("missing"), "i64")
    fits = links.equals(count) & missing.equals(w.get("missing"))
    w.set("good", (table.differs(None) & fits).extended())
    same(w, w.options, w.at(here, _OPTION, "i64"), MAX_OPTIONS)
    same(w, w.links, w.at(here, _LINK, "i64"), count)
    with w.code.when(w.get("good").differs(0)):
        w.set("table", table)
        w.set("guarded", w.item(here, VARIANT.index("guarded"), "i64"))
        w.set("make", w.item(here, VARIANT.index("make")))
        w.set("made_of", w.item(here, VARIANT.index("made_of"), "i64"))
        w.set("by_names", w.item(here, VARIANT.index("by_joint"), "i64"))
        w.set("places", w.at(here, VARIANT.index("place"), "i64"))


def _identical(w: EntryBuilder, these: str, those: Number, count: Number | int) -> None:
    """``good`` stays if all are the same objects."""
    for k in w.code.each(count, until=lambda: w.get("good").equals(0)):
        w.set("good", w.item(these, k).equals(w.item(those, k)).extended())


def _equal(w: EntryBuilder, these: str, those: Number, count: Number | int) -> None:
    """``good`` stays if all are the same objects, strings of the same text, or the same names."""
    code = w.code
    for k in code.each(count, until=lambda: w.get("good").equals(0)):
        this, that = w.item(these, k), w.item(those, k)
        with code.when(this.differs(that)):
            w.set("good", 0)
            # the options that a callable does not have are null
            with code.when(this.differs(None) & that.differs(None)):
                _compare_texts(w, this, that)
                with code.when(w.is_a(that, "tuple")):
                    _compare_names(w, this, that)


def _compare_texts(w: EntryBuilder, this: Number, that: Number) -> None:
    """``good`` where both are strings of the same text."""
    with w.code.when(w.is_a(this, "str") & w.is_a(that, "str")):
        order = w.call("compare", "i32", this, that)
        w.set("good", order.equals(0).extended())


def _compare_names(w: EntryBuilder, this: Number, that: Number) -> None:
    """``good`` where a tuple or list has the names of a tuple."""
    code = w.code
    own = w.after(this, w.items_at)
    is_list = w.is_a(this, "list")
    with code.when(is_list | w.is_a(this, "tuple")):
        length = w.field(this, SIZE, "i64")
        w.set("good", length.equals(w.field(that, SIZE, "i64")).extended())
        start = Number(code, w.cells, "ptr")
        w.put(start, 0, own)
        with code.when(is_list):
            w.put(start, 0, w.item(own, 0))
        for k in code.each(length, until=lambda: w.get("good").equals(0)):
            name, known = w.item(w.item(start, 0), k), w.item(w.after(that, w.items_at), k)
            with code.when(name.differs(known)):
                w.set("good", 0)
                _compare_texts(w, name, known)
