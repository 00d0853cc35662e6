"""The call entry's first steps: arguments to parameters, options to a function, and its inputs."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

from llvmlite import ir

from robodyn.codegen.vectorcall.conversion import read_number, scratch_place, take_zeros
from robodyn.codegen.vectorcall.entry_builder import (
    I32,
    I64,
    NULL,
    PTR,
    SIZE,
    TYPE,
    VOID,
    EntryBuilder,
    flag,
    word,
)  # fmt: skip
from robodyn.codegen.vectorcall.signature import (
    MAX_LINKS,
    MAX_OPTIONS,
    PARAMETER,
    SIGNATURE,
    VARIANT,
    Role,
)
from robodyn.codegen.vectorcall.table import MAX_PORTS, TABLE

__all__ = ["bind"]

_OPTION, _LINK = VARIANT.index("option"), VARIANT.index("link")


def bind(w: EntryBuilder) -> None:
    """Find the function that is called, its inputs and the arrays to write into."""
    b = w.b
    general, bound = (w.function.append_basic_block(name) for name in ("general", "bound"))
    _bind_plain(w, general)
    b.branch(bound)
    b.position_at_end(general)
    _bind_arguments(w)
    _find_function(w)
    b.branch(bound)
    b.position_at_end(bound)
    w.table = w.get("table")
    w.n_in, w.n_out, w.work = w.of_table("inputs"), w.of_table("outputs"), w.of_table("work")


def _bind_plain(w: EntryBuilder, otherwise: Any) -> None:
    """Calls with the arrays in order, and ``out`` after them or as the only keyword."""
    b = w.b
    nargs = b.and_(w.nargsf, word((1 << 63) - 1))
    arrays, plain = w.of_signature("arrays"), w.of_signature("plain", PTR)
    w.likely(w.differ(plain, NULL), otherwise)
    with b.if_else(w.same(w.kwnames, NULL)) as (by_place, named):
        with by_place:
            with b.if_else(w.same(nargs, w.of_signature("most"))) as (with_out, without):
                with with_out:
                    w.set("out", w.item(w.args, arrays))
                with without:
                    w.likely(w.same(nargs, arrays), otherwise)
        with named:
            w.likely(w.same(nargs, arrays), otherwise)
            w.likely(w.same(w.field(w.kwnames, SIZE, I64), word(1)), otherwise)
            name = w.field(w.kwnames, w.items_at)
            w.likely(w.same(name, w.common("out")), otherwise)
            w.set("out", w.item(w.args, arrays))
    with b.if_then(w.same(w.get("out"), w.common("none"))):
        w.set("out", NULL)
    w.set("given", w.args)
    w.set("table", plain)
    w.set("guarded", w.of_signature("plain_guarded"))
    w.set("make", w.of_signature("plain_make", PTR))
    w.set("made_of", w.of_signature("plain_made_of"))


def _bind_arguments(w: EntryBuilder) -> None:
    """Give each parameter its argument or its default, and sort them by what they are.

    Too many arguments, names that there are not, arguments given twice and missing ones take the
    slow path, where Python raises what it raises.
    """
    b = w.b
    nargs = b.and_(w.nargsf, word((1 << 63) - 1))
    count = w.of_signature("parameters")
    w.unless(b.icmp_unsigned("<=", nargs, w.of_signature("positional")))
    w.loop(nargs, lambda k: w.put(w.arguments, k, w.item(w.args, k)))
    left = b.sub(count, nargs)
    w.loop(left, lambda k: w.put(w.arguments, b.add(nargs, k), NULL))
    with b.if_then(w.differ(w.kwnames, NULL)):
        names = w.field(w.kwnames, SIZE, I64)
        w.loop(names, lambda k: _by_name(w, count, nargs, k))
    w.loop(word(MAX_OPTIONS), lambda k: w.put(w.options, k, NULL))
    w.loop(w.of_signature("by_joint"), lambda k: w.put(w.by_joint, k, NULL))
    w.loop(count, lambda k: _sort(w, k))


def _parameter(w: EntryBuilder, k: Any) -> Any:
    """Address of the words of a parameter."""
    first = w.b.add(word(len(SIGNATURE)), w.b.mul(k, word(len(PARAMETER))))
    return w.at(w.signature, first, I64)


def _by_name(w: EntryBuilder, count: Any, nargs: Any, k: Any) -> None:
    """Find the parameter of a keyword. Names are interned: the same text is the same object."""
    b = w.b
    name = w.item(w.after(w.kwnames, w.items_at), k)
    w.set("parameter", word(-1))

    def compare(p: Any) -> None:
        with b.if_then(w.same(w.item(_parameter(w, p), PARAMETER.index("name")), name)):
            w.set("parameter", p)

    w.loop(count, compare, until=lambda: b.icmp_signed(">=", w.get("parameter"), word(0)))
    found = w.get("parameter")
    w.unless(b.icmp_signed(">=", found, word(0)))
    w.unless(w.same(w.item(w.arguments, found), NULL))
    w.put(w.arguments, found, w.item(w.args, b.add(nargs, k)))


def _sort(w: EntryBuilder, k: Any) -> None:
    """Put an argument, or the default, where arguments of its kind stand."""
    b = w.b
    here = _parameter(w, k)
    given = w.item(w.arguments, k)
    value = b.select(w.same(given, NULL), w.item(here, PARAMETER.index("default")), given)
    w.unless(w.differ(value, NULL))
    role = w.item(here, PARAMETER.index("role"), I64)
    index = w.item(here, PARAMETER.index("index"), I64)
    missing = w.same(value, w.common("none"))
    rest, after = (w.function.append_basic_block(name) for name in ("decline", "sorted"))
    choice = b.switch(role, rest)

    def case(kind: Role) -> None:
        block = w.function.append_basic_block(kind.name.lower())
        choice.add_case(word(kind), block)
        b.position_at_end(block)

    case(Role.ARRAY)
    w.put(w.inputs, index, value)
    b.branch(after)
    case(Role.OPTION)
    w.put(w.options, index, value)
    b.branch(after)
    case(Role.BY_JOINT)
    w.put(w.by_joint, index, b.select(missing, NULL, value))
    b.branch(after)
    for kind, name in ((Role.OUT, "out"), (Role.BASE, "base"), (Role.WRENCHES, "wrenches")):
        case(kind)
        w.set(name, b.select(missing, NULL, value))
        b.branch(after)
    b.position_at_end(rest)
    b.branch(w.slow)
    b.position_at_end(after)


def _find_function(w: EntryBuilder) -> None:
    """The function behind the options and wrenches; its inputs after the arrays that were given."""
    b = w.b
    w.set("inputs", w.of_signature("arrays"))
    by_joint = w.of_signature("by_joint")
    w.loop(by_joint, lambda k: _add_by_joint(w, k))
    with b.if_then(w.differ(w.of_signature("moving"), word(0))):
        _add_base(w)
    with b.if_then(w.differ(w.get("wrenches"), NULL)):
        _for_each_item(w, w.get("wrenches"), lambda array: _add_input(w, array))
    for same in (_identical, _equal):
        with b.if_then(w.same(w.get("table"), NULL)):
            w.loop(
                w.of_signature("variants"),
                partial(_try, w, same),
                until=lambda: w.differ(w.get("table"), NULL),
            )
    w.unless(w.differ(w.get("table"), NULL))
    w.unless(w.same(w.get("inputs"), w.item(w.get("table"), TABLE.index("inputs"), I64)))
    w.set("given", w.inputs)
    with b.if_then(w.differ(by_joint, word(0))):
        _fill_by_joint(w, by_joint)


def _add_base(w: EntryBuilder) -> None:
    """Pose, twist and acceleration of the base motion that was given, or of a base at rest."""
    b = w.b
    with b.if_else(w.same(w.get("base"), NULL)) as (rest, motion):
        with rest:
            for name in ("pose", "twist", "acceleration"):
                _add_input(w, w.of_signature(name, PTR))
        with motion:
            base = w.get("base")
            w.unless(w.same(w.field(base, TYPE), w.common("motion")))
            for name in ("pose", "twist", "acceleration"):
                array = w.call("attribute", PTR, base, w.common(name))
                w.check(array)
                w.hold(array)
                _add_input(w, array)


def _add_by_joint(w: EntryBuilder, k: Any) -> None:
    """An input that is filled later, and the names and numbers of the mapping that fills it."""
    b = w.b
    _add_input(w, NULL)
    given = w.item(w.by_joint, k)

    def take(number: Any) -> None:
        w.put(w.numbers, b.sub(w.get("links"), word(1)), number)

    with b.if_then(w.differ(given, NULL)):
        _for_each_item(w, given, take)
    _add_link(w, w.common("none"))


def _fill_by_joint(w: EntryBuilder, count: Any) -> None:
    """Put the numbers of mappings by joint where they belong; all others are zero."""
    b = w.b
    w.table = w.get("table")
    first = w.of_signature("arrays")
    w.loop(count, lambda k: take_zeros(w, b.add(first, k)))

    def fill(k: Any) -> None:
        number = w.item(w.numbers, k)
        with b.if_then(w.differ(w.item(w.links, k), w.common("none"))):
            place = w.item(w.get("places"), k, I64)
            with b.if_then(b.icmp_signed(">=", place, word(0))):
                w.set("good", word(1))
                read_number(w, number, scratch_place(w, place))
                w.unless(w.differ(w.get("good"), word(0)))

    w.loop(w.get("links"), fill)


def _add_link(w: EntryBuilder, name: Any) -> None:
    count = w.get("links")
    w.unless(w.b.icmp_unsigned("<", count, word(MAX_LINKS)))
    w.put(w.links, count, name)
    w.set("links", w.b.add(count, word(1)))


def _for_each_item(w: EntryBuilder, given: Any, take_value: Callable[[Any], None]) -> None:
    """Add the keys of a dict to the names, in its order, and do something with each value."""
    b = w.b
    w.unless(w.same(w.field(given, TYPE), w.common("dict")))
    key, value = (w.at(w.cells, k, PTR) for k in (0, 1))
    w.put(w.place, 0, word(0), I64)
    w.set("good", word(1))

    def take(_: Any) -> None:
        found = w.call("next_item", I32, given, w.place, key, value)
        w.set("good", b.zext(w.differ(found, flag(0)), I64))
        with b.if_then(w.differ(found, flag(0))):
            _add_link(w, w.item(key, 0))
            thing = w.item(value, 0)
            # the dict may change while other threads run
            w.call("incref", VOID, thing)
            w.hold(thing)
            take_value(thing)

    w.loop(word(MAX_LINKS + 1), take, until=lambda: w.same(w.get("good"), word(0)))


def _add_input(w: EntryBuilder, array: Any) -> None:
    count = w.get("inputs")
    w.unless(w.b.icmp_unsigned("<", count, word(MAX_PORTS)))
    w.put(w.inputs, count, array)
    w.set("inputs", w.b.add(count, word(1)))


def _try(w: EntryBuilder, same: Callable[..., None], k: Any) -> None:
    """Take a variant's function, if the variant is what is asked for."""
    b = w.b
    block = w.of_signature("variants_at", PTR)
    here = w.at(block, b.mul(k, word(len(VARIANT))), I64)
    table = w.item(here, VARIANT.index("table"))
    count = w.get("links")
    links = w.item(here, VARIANT.index("links"), I64)
    w.set("good", b.zext(b.and_(w.differ(table, NULL), w.same(links, count)), I64))
    same(w, w.options, w.at(here, _OPTION, I64), word(MAX_OPTIONS))
    same(w, w.links, w.at(here, _LINK, I64), count)
    with b.if_then(w.differ(w.get("good"), word(0))):
        w.set("table", table)
        w.set("guarded", w.item(here, VARIANT.index("guarded"), I64))
        w.set("make", w.item(here, VARIANT.index("make")))
        w.set("made_of", w.item(here, VARIANT.index("made_of"), I64))
        w.set("places", w.at(here, VARIANT.index("place"), I64))


def _identical(w: EntryBuilder, these: Any, those: Any, count: Any) -> None:
    """``good`` stays if all are the same objects."""
    b = w.b

    def compare(k: Any) -> None:
        same = b.zext(w.same(w.item(these, k), w.item(those, k)), I64)
        w.set("good", b.and_(w.get("good"), same))

    w.loop(count, compare, until=lambda: w.same(w.get("good"), word(0)))


def _equal(w: EntryBuilder, these: Any, those: Any, count: Any) -> None:
    """``good`` stays if all are the same objects, or strings of the same text."""
    b = w.b

    def compare(k: Any) -> None:
        this, that = w.item(these, k), w.item(those, k)
        with b.if_then(w.differ(this, that)):
            w.set("good", word(0))
            # the options that a callable does not have are null
            with b.if_then(b.and_(w.differ(this, NULL), w.differ(that, NULL))):
                text = w.common("str")
                both = [w.same(w.field(x, TYPE), text) for x in (this, that)]
                with b.if_then(b.and_(*both)):
                    order = w.call("compare", I32, this, that)
                    w.set("good", b.zext(w.same(order, ir.Constant(I32, 0)), I64))

    w.loop(count, compare, until=lambda: w.same(w.get("good"), word(0)))
