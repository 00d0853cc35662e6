"""Builder of the call entry: its memory, its tables and its exits."""

from __future__ import annotations

from typing import Any

from robodyn.codegen.llvm.builder.code import Code
from robodyn.codegen.llvm.builder.matrices import Words
from robodyn.codegen.llvm.builder.values import Number
from robodyn.codegen.vectorcall.signature import MAX_LINKS, MAX_OPTIONS, MAX_PARAMETERS, SIGNATURE
from robodyn.codegen.vectorcall.table import COMMON, MAX_AXES, MAX_PORTS, PORT, TABLE

# Where an object has its type, a list or tuple its size, a list its items, and an array what numpy
# says of it [bytes]. This is checked before it is relied on, see `vectorcall.layout`.
TYPE, SIZE, ITEMS = 8, 16, 24
DATA, AXES, SHAPE, STRIDES, BASE, DESCR, FLAGS, WEAK = 16, 24, 32, 40, 48, 56, 64, 72

#: Scalars for inputs of one state that are copied before the kernel reads them.
SCRATCH = 256

#: Variables of the entry that hold addresses; the others hold numbers.
_ADDRESSES = (
    "out", "new", "lead", "table", "wrenches", "base", "result", "given", "array", "make", "places",
    "room",
)  # fmt: skip
_NUMBERS = (
    "extra", "rows", "bad", "single", "filled", "held", "links", "direct", "pitch", "inputs",
    "guarded", "made_of", "parameter", "good", "made", "count", "missing", "bit", "by_names",
    "column", "states",
)  # fmt: skip


class EntryBuilder:
    """The call entry while it is written.

    signature: Offset [bytes] in an instance at which the address of its signature stands.
    items: Offset [bytes] in a tuple at which its items begin.
    hidden: Words behind the addresses of the arrays that kernels are called with.
    null: The address of nothing.
    slow, failed, discard, done: Labels: what the entry does not take; an error is set; the same,
        after results were made; ``result`` is what the call returns.
    this, args, nargsf, kwnames: What Python calls the entry with.
    data, starts, ends, strides, made: Of each array: where its numbers begin, between which
        addresses they are, how far apart its rows are, and the objects of results.
    scalars, scratch: Numbers of results without axes, and of inputs that are copied.
    shape, arguments, inputs, options, links, by_joint, numbers, columns, held, place, cells: Memory
        of the steps of a call.
    table, n_in, n_out, work, descr, size, kernels: The function that is called, known once
        arguments are bound: address of its table, number of inputs and outputs, operations a state,
        dtype of the call and its size [bytes], and at which word of the table the kernels of that
        dtype stand.
    """

    table: Number
    n_in: Number
    n_out: Number
    work: Number
    descr: Number
    size: Number
    kernels: Number

    def __init__(self, signature: int, items: int, hidden: int) -> None:
        self.items_at = items
        code = Code("@vectorcall(ptr %this, ptr %args, i64 %nargsf, ptr %kwnames)", "ptr")
        self.code, self.null = code, Number(code, "null", "ptr")
        self.this, self.args = code.argument("this", "ptr"), code.argument("args", "ptr")
        self.nargsf = code.argument("nargsf", "i64")
        self.kwnames = code.argument("kwnames", "ptr")
        names = ("slow", "failed", "discard", "done")
        self.slow, self.failed, self.discard, self.done = (code.label(name) for name in names)
        self.data = self._room("ptr", MAX_PORTS + hidden)
        self.starts, self.ends = self._room("ptr", MAX_PORTS), self._room("ptr", MAX_PORTS)
        self.strides, self.made = self._room("i64", MAX_PORTS), self._room("ptr", MAX_PORTS)
        self.scalars, self.scratch = self._room("i64", MAX_PORTS), self._room("i64", SCRATCH)
        self.shape = self._room("i64", 2 * MAX_AXES)
        self.arguments = self._room("ptr", MAX_PARAMETERS)
        self.inputs = self._room("ptr", MAX_PORTS)
        self.held = self._room("ptr", 2 * MAX_PORTS + MAX_LINKS)
        self.by_joint = self._room("ptr", MAX_PARAMETERS)
        self.numbers, self.columns = self._room("ptr", MAX_LINKS), self._room("i64", MAX_LINKS)
        self.options, self.links = self._room("ptr", MAX_OPTIONS), self._room("ptr", MAX_LINKS)
        self.place, self.cells = self._room("i64", 1), self._room("ptr", 2)
        self.variables = {name: code.variable(None) for name in _ADDRESSES}
        self.variables |= {name: code.variable(0) for name in _NUMBERS}
        self.signature = self.field(self.this, signature)
        self._signature = Words(code, self.signature, SIGNATURE)
        self._common = Words(code, self._signature.word("common", "ptr"), COMMON)

    def _room(self, kind: str, count: int) -> str:
        return self.code.slot(f"[{count} x {kind}]")

    # -- memory -------------------------------------------------------------------------------

    def get(self, name: str) -> Number:
        """Value of a variable."""
        return self.variables[name].value

    def set(self, name: str, value: Number | int | None) -> None:
        """Assign to a variable; None is the null pointer."""
        self.variables[name].value = value

    def raise_by_one(self, name: str) -> None:
        """Increment a variable."""
        self.set(name, self.get(name) + 1)

    def field(self, base: object, offset: Number | int, kind: str = "ptr") -> Number:
        """The value ``offset`` bytes after ``base``."""
        return self.code.put(f"load {kind}, ptr {self.after(base, offset)}", kind)

    def after(self, base: object, offset: Number | int) -> Number:
        """The address ``offset`` bytes after ``base``."""
        return self.at(base, offset, "i8")

    def at(self, base: object, index: Number | int, kind: str) -> Number:
        """Address of an element."""
        return Number(self.code, self.code.at(base, index, kind), "ptr")

    def item(self, base: object, index: Number | int, kind: str = "ptr") -> Number:
        """An element."""
        return self.code.load(base, index, kind)

    def put(self, base: object, index: Number | int, value: Any, kind: str = "ptr") -> None:
        """Store an element."""
        self.code.store(value, base, index, kind)

    def flag(self, value: int) -> Number:
        """An argument that is an ``int`` of C."""
        return Number(self.code, str(value), "i32")

    # -- tables -------------------------------------------------------------------------------

    def common(self, name: str, kind: str = "ptr") -> Number:
        """A word of the shared table."""
        return self._common.word(name, kind)

    def of_signature(self, name: str, kind: str = "i64") -> Number:
        """A word of the signature."""
        return self._signature.word(name, kind)

    def of_table(self, name: str, kind: str = "i64") -> Number:
        """A word of the function's table."""
        return self.item(self.table, TABLE.index(name), kind)

    def port(self, k: Number) -> tuple[Number, Number, Number]:
        """Axes, scalars and shape of a port (outputs come after the inputs)."""
        here = self.at(self.table, k * PORT + len(TABLE), "i64")
        return self.item(here, 0, "i64"), self.item(here, 1, "i64"), self.at(here, 2, "i64")

    def is_a(self, thing: Number, name: str) -> Number:
        """Whether the type of an object is the one of that name in the shared table."""
        return self.field(thing, TYPE).equals(self.common(name))

    # -- the way through ----------------------------------------------------------------------

    def call(self, name: str, result: str, *arguments: Number) -> Number:
        """Call a function of the shared table."""
        return self.code.call(self.common(name), result, *arguments)

    def unless(self, condition: Number) -> None:
        """Continue if the condition holds, else take the slow path."""
        self.likely(condition, self.slow)

    def check(self, made: Number) -> None:
        """Continue if an object was made, else end the call with the error that is set."""
        self.likely(made.differs(None), self.failed)

    def likely(self, condition: Number, otherwise: str) -> None:
        """Continue if the condition holds, as it mostly does, else at another block."""
        then = self.code.label("on")
        self.code.branch(condition, then, otherwise, expected=True)
        self.code.begin(then)

    def hold(self, thing: Number) -> None:
        """Take over a reference, to be released when the call ends."""
        self.put(self.held, self.get("held"), thing)
        self.raise_by_one("held")

    def give_back_held(self) -> None:
        """Release all references that were taken."""
        for k in self.code.each(self.get("held")):
            self.call("decref", "void", self.item(self.held, k))

    def drop_made(self) -> None:
        """Release all results that were made and are not needed."""
        for k in self.code.each(self.get("made")):
            made = self.item(self.made, k)
            with self.code.when(made.differs(None)):
                self.call("decref", "void", made)
