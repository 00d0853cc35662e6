"""The words in which the call entry is written: memory, conditions, loops and calls, as IR."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from llvmlite import ir

from robodyn.codegen.vectorcall.table import COMMON, MAX_AXES, MAX_PORTS, PORT, TABLE

__all__ = [
    "AXES",
    "BASE",
    "DATA",
    "DESCR",
    "FLAGS",
    "I32",
    "I64",
    "NULL",
    "OWNED",
    "PTR",
    "READABLE",
    "SHAPE",
    "VOID",
    "WEAK",
    "WRITEABLE",
    "Words",
    "word",
]  # fmt: skip

# numpy's array header and its flags, in bytes; `vectorcall.fast_type` checks them before use
DATA, AXES, SHAPE, BASE, DESCR, FLAGS, WEAK = 16, 24, 32, 48, 56, 64, 72
READABLE, WRITEABLE, OWNED = 0x101, 0x501, 0x505

I1, I8, I32, I64, PTR, VOID = (
    ir.IntType(1), ir.IntType(8), ir.IntType(32), ir.IntType(64), ir.PointerType(), ir.VoidType()
)  # fmt: skip


def word(value: int) -> ir.Constant:
    """An i64 literal."""
    return ir.Constant(I64, value)


NULL = ir.Constant(PTR, None)


class Words:
    """A function under construction, and what stands in memory while it runs.

    The attributes that are only declared here are values that its first steps find out.
    """

    table: Any
    shared: Any
    n_in: Any
    n_out: Any
    descr: Any
    size: Any

    def __init__(self, table: int, items: int) -> None:
        self.table_at, self.items_at = table, items
        module = ir.Module("entry")
        kind = ir.FunctionType(PTR, [PTR, PTR, I64, PTR])
        self.function = ir.Function(module, kind, "vectorcall")
        self.this, self.args, self.nargsf, self.kwnames = self.function.args
        self.b = ir.IRBuilder(self.function.append_basic_block("entry"))
        self.slow = self.function.append_basic_block("slow")
        self.data = self._room(PTR, MAX_PORTS)
        self.ends = self._room(PTR, MAX_PORTS)
        self.strides = self._room(I64, MAX_PORTS)
        self.made = self._room(PTR, MAX_PORTS)
        self.scalars = self._room(I64, MAX_PORTS)
        self.shape = self._room(I64, 2 * MAX_AXES)
        self.variables = {
            name: self._variable(PTR if name in ("out", "lead") else I64)
            for name in ("out", "lead", "extra", "rows", "bad")
        }

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
        return self.b.load(self.variables[name], typ=PTR if name in ("out", "lead") else I64)

    def set(self, name: str, value: Any) -> None:
        """Assign to a variable."""
        self.b.store(value, self.variables[name])

    def field(self, base: Any, offset: Any, kind: Any = PTR) -> Any:
        """What stands ``offset`` bytes after ``base``."""
        offset = word(offset) if isinstance(offset, int) else offset
        return self.b.load(self.b.gep(base, [offset], source_etype=I8), typ=kind)

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

    def call(self, name: str, result: Any, *arguments: Any) -> Any:
        """Call a function of the shared table."""
        kind = ir.FunctionType(result, [a.type for a in arguments])
        return self._call(self.common(name), kind, arguments)

    def _call(self, pointer: Any, kind: Any, arguments: Any) -> Any:
        return self.b.call(_Callee(pointer, kind), arguments)

    def unless(self, condition: Any) -> None:
        """Go on if the condition holds, else take the slow path."""
        then = self.b.append_basic_block("on")
        self.b.cbranch(condition, then, self.slow)
        self.b.position_at_end(then)

    def same(self, a: Any, b: Any) -> Any:
        """Whether two values are equal."""
        return self.b.icmp_unsigned("==", a, b)

    def loop(self, count: Any, body: Callable[[Any], None]) -> None:
        """``for k in range(count): body(k)``."""
        at = self._variable(I64)
        self.b.store(word(0), at)
        head, inside, after = (
            self.function.append_basic_block(n) for n in ("head", "body", "after")
        )
        self.b.branch(head)
        self.b.position_at_end(head)
        k = self.b.load(at, typ=I64)
        self.b.cbranch(self.b.icmp_signed("<", k, count), inside, after)
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


class _Callee:
    """An address with a function type, as the builder wants it."""

    def __init__(self, pointer: Any, kind: Any) -> None:
        self.pointer, self.function_type = pointer, kind
        self.type = pointer.type

    def get_reference(self) -> str:
        return str(self.pointer.get_reference())
