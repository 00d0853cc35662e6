"""What the call entry is written with: memory, conditions, loops and calls, as IR."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from llvmlite import ir

from robodyn.codegen.vectorcall.signature import MAX_LINKS, MAX_OPTIONS, MAX_PARAMETERS, SIGNATURE
from robodyn.codegen.vectorcall.table import COMMON, MAX_AXES, MAX_PORTS, PORT, TABLE

__all__ = [
    "AXES",
    "BASE",
    "DATA",
    "DESCR",
    "FLAGS",
    "I8",
    "I32",
    "I64",
    "ITEMS",
    "NULL",
    "PTR",
    "SHAPE",
    "SIZE",
    "STRIDES",
    "TYPE",
    "VOID",
    "WEAK",
    "EntryBuilder",
    "flag",
    "word",
]  # fmt: skip

# Where an object has its type, a list or tuple its size, a list its items, and an array what numpy
# says of it [bytes]. This is checked before it is relied on, see `vectorcall.layout`.
TYPE, SIZE, ITEMS = 8, 16, 24
DATA, AXES, SHAPE, STRIDES, BASE, DESCR, FLAGS, WEAK = 16, 24, 32, 40, 48, 56, 64, 72

#: Scalars for inputs of one state that are copied before the kernel reads them.
SCRATCH = 256

I1, I8, I32, I64, PTR, VOID = (
    ir.IntType(1), ir.IntType(8), ir.IntType(32), ir.IntType(64), ir.PointerType(), ir.VoidType()
)  # fmt: skip

#: Variables of the entry that hold addresses; the others hold numbers.
_POINTERS = {
    "out", "new", "lead", "table", "wrenches", "base", "result", "given", "array", "make", "places",
}  # fmt: skip
_NUMBERS = {
    "extra", "rows", "bad", "single", "filled", "held", "links", "direct", "pitch", "inputs",
    "guarded", "made_of", "parameter", "good",
}  # fmt: skip


def word(value: int) -> ir.Constant:
    """An i64 literal."""
    return ir.Constant(I64, value)


def flag(value: int) -> ir.Constant:
    """An i32 literal."""
    return ir.Constant(I32, value)


NULL = ir.Constant(PTR, None)


class EntryBuilder:
    """Builds the IR of the call entry, over llvmlite's builder; knows its memory.

    Parameters
    ----------
    signature : int
        Offset [bytes] in an instance at which the address of its signature stands.
    items : int
        Offset [bytes] in a tuple at which its items begin.
    hidden : int
        Words behind the addresses of the arrays that kernels are called with.

    Attributes
    ----------
    b : llvmlite.ir.IRBuilder
    double, single : Finite
        What looks at numbers of either type.
    slow, failed, done : block
        Where the entry goes on with what it does not take; when an error is set; with ``result``.
    this, args, nargsf, kwnames : value
        What Python calls the entry with.
    signature, shared : value
        Addresses of the words of this callable, and of those that all share.
    table, n_in, n_out, work, descr, size, kernels : value
        The function that is called, known once arguments are bound: address of its table, number
        of inputs and outputs, operations a state, dtype of the call and its size [bytes], and at
        which word of the table the kernels of that dtype stand.
    """

    double: Any
    single: Any
    table: Any
    n_in: Any
    n_out: Any
    work: Any
    descr: Any
    size: Any
    kernels: Any

    def __init__(self, signature: int, items: int, hidden: int) -> None:
        self.items_at = items
        self.module = ir.Module("entry")
        kind = ir.FunctionType(PTR, [PTR, PTR, I64, PTR])
        self.function = ir.Function(self.module, kind, "vectorcall")
        self.this, self.args, self.nargsf, self.kwnames = self.function.args
        self.b = ir.IRBuilder(self.function.append_basic_block("entry"))
        self.slow, self.failed, self.done = (
            self.function.append_basic_block(name) for name in ("slow", "failed", "done")
        )
        self.data = self._room(PTR, MAX_PORTS + hidden)
        self.starts = self._room(PTR, MAX_PORTS)
        self.ends = self._room(PTR, MAX_PORTS)
        self.strides = self._room(I64, MAX_PORTS)
        self.made = self._room(PTR, MAX_PORTS)
        self.scalars = self._room(I64, MAX_PORTS)
        self.shape = self._room(I64, 2 * MAX_AXES)
        self.arguments = self._room(PTR, MAX_PARAMETERS)
        self.inputs = self._room(PTR, MAX_PORTS)
        self.options = self._room(PTR, MAX_OPTIONS)
        self.links = self._room(PTR, MAX_LINKS)
        self.by_joint = self._room(PTR, MAX_PARAMETERS)
        self.numbers = self._room(PTR, MAX_LINKS)
        self.held = self._room(PTR, 2 * MAX_PORTS + MAX_LINKS)
        self.scratch = self._room(I64, SCRATCH)
        self.place = self._room(I64, 1)
        self.cells = self._room(PTR, 2)
        self.variables = {name: self._variable(PTR) for name in _POINTERS}
        self.variables |= {name: self._variable(I64) for name in _NUMBERS}
        self.signature = self.field(self.this, signature)
        self.shared = self.item(self.signature, SIGNATURE.index("common"))

    def _room(self, kind: Any, count: int) -> Any:
        return self.b.alloca(kind, count)

    def _variable(self, kind: Any) -> Any:
        # in the first block: room taken inside a loop would be taken anew each time around
        with self.b.goto_entry_block():
            at = self.b.alloca(kind)
            self.b.store(ir.Constant(kind, None if kind is PTR else 0), at)
        return at

    def get(self, name: str) -> Any:
        """Value of a variable."""
        return self.b.load(self.variables[name], typ=PTR if name in _POINTERS else I64)

    def set(self, name: str, value: Any) -> None:
        """Assign to a variable."""
        self.b.store(value, self.variables[name])

    def field(self, base: Any, offset: Any, kind: Any = PTR) -> Any:
        """What stands ``offset`` bytes after ``base``."""
        return self.b.load(self.after(base, offset), typ=kind)

    def after(self, base: Any, offset: Any) -> Any:
        """The address ``offset`` bytes after ``base``."""
        offset = word(offset) if isinstance(offset, int) else offset
        return self.b.gep(base, [offset], source_etype=I8)

    def at(self, base: Any, index: Any, kind: Any) -> Any:
        """Address of an element."""
        index = word(index) if isinstance(index, int) else index
        return self.b.gep(base, [index], source_etype=kind)

    def item(self, base: Any, index: Any, kind: Any = PTR) -> Any:
        """An element."""
        return self.b.load(self.at(base, index, kind), typ=kind)

    def put(self, base: Any, index: Any, value: Any, kind: Any = PTR) -> None:
        """Store an element."""
        self.b.store(value, self.at(base, index, kind))

    def common(self, name: str, kind: Any = PTR) -> Any:
        """A word of the shared table."""
        return self.item(self.shared, COMMON.index(name), kind)

    def of_signature(self, name: str, kind: Any = I64) -> Any:
        """A word of the signature."""
        return self.item(self.signature, SIGNATURE.index(name), kind)

    def of_table(self, name: str, kind: Any = I64) -> Any:
        """A word of the function's table."""
        return self.item(self.table, TABLE.index(name), kind)

    def call(self, name: str, result: Any, *arguments: Any) -> Any:
        """Call a function of the shared table."""
        kind = ir.FunctionType(result, [a.type for a in arguments])
        return self.call_at(self.common(name), kind, arguments)

    def call_at(self, pointer: Any, kind: Any, arguments: Any) -> Any:
        """Call a function by its address."""
        return self.b.call(_Callee(pointer, kind), arguments)

    def unless(self, condition: Any) -> None:
        """Go on if the condition holds, else take the slow path."""
        self.likely(condition, self.slow)

    def check(self, made: Any) -> None:
        """Go on if an object was made, else end the call with the error that is set."""
        self.likely(self.differ(made, NULL), self.failed)

    def likely(self, condition: Any, otherwise: Any) -> None:
        """Go on if the condition holds, as it mostly does, else at another block."""
        then = self.b.append_basic_block("on")
        self.b.cbranch(condition, then, otherwise).set_weights([1000, 1])
        self.b.position_at_end(then)

    def same(self, a: Any, b: Any) -> Any:
        """Whether two values are equal."""
        return self.b.icmp_unsigned("==", a, b)

    def differ(self, a: Any, b: Any) -> Any:
        """Whether two values are not equal."""
        return self.b.icmp_unsigned("!=", a, b)

    def loop(
        self, count: Any, body: Callable[[Any], None], until: Callable[[], Any] | None = None
    ) -> None:
        """``for k in range(count): body(k)``; ``until`` it is true."""
        at = self._variable(I64)
        self.b.store(word(0), at)
        head, inside, after = (
            self.function.append_basic_block(n) for n in ("head", "body", "after")
        )
        self.b.branch(head)
        self.b.position_at_end(head)
        k = self.b.load(at, typ=I64)
        more = self.b.icmp_signed("<", k, count)
        if until is not None:
            more = self.b.and_(more, self.b.not_(until()))
        self.b.cbranch(more, inside, after)
        self.b.position_at_end(inside)
        body(k)
        self.b.store(self.b.add(k, word(1)), at)
        self.b.branch(head)
        self.b.position_at_end(after)

    def port(self, k: Any) -> tuple[Any, Any, Any]:
        """Axes, scalars and shape of a port (outputs come after the inputs)."""
        at = self.b.add(word(len(TABLE)), self.b.mul(k, word(PORT)))
        here = self.at(self.table, at, I64)
        return self.item(here, 0, I64), self.item(here, 1, I64), self.at(here, 2, I64)

    def hold(self, thing: Any) -> None:
        """Take over a reference, to be given back when the call ends."""
        count = self.get("held")
        self.put(self.held, count, thing)
        self.set("held", self.b.add(count, word(1)))

    def give_back_held(self) -> None:
        """Give back all references that were taken."""
        self.loop(self.get("held"), lambda k: self.call("decref", VOID, self.item(self.held, k)))


class _Callee:
    """An address with a function type, as the builder wants it."""

    def __init__(self, pointer: Any, kind: Any) -> None:
        self.pointer, self.function_type = pointer, kind
        self.type = pointer.type

    def get_reference(self) -> str:
        return str(self.pointer.get_reference())
