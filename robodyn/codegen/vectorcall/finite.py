"""Whether results are finite numbers, asked where they have just been written, as IR.

Bound methods have their results looked at. Those of a batch are looked at block by block, by the
threads that computed them, while they are still in their caches: ``checked`` stands between whoever
spreads the rows and the kernel.
"""

from __future__ import annotations

from typing import Any

from llvmlite import ir

from robodyn.codegen.vectorcall.entry_builder import I64, PTR, VOID, word
from robodyn.codegen.vectorcall.table import MAX_PORTS

__all__ = ["HIDDEN", "Finite"]

#: What ``checked`` finds behind the addresses of the arrays: the kernel, where to note that some
#: number is not finite, the index of the first result, and how many there are.
HIDDEN = {name: MAX_PORTS + k for k, name in enumerate(("kernel", "flaw", "first", "count"))}

#: Numbers looked at together, and rows computed before they are looked at.
LANES, BLOCK = 8, 128

#: Vectors looked at before it is asked whether to go on.
TOGETHER = 4

_KERNEL = ir.FunctionType(VOID, [I64, I64, PTR, PTR])


class Finite:
    """The functions of a module that look at numbers of one type.

    Parameters
    ----------
    module : llvmlite.ir.Module
    kind : llvmlite.ir.Type
        ``double`` or ``float``.

    Attributes
    ----------
    look : function
        ``i1 look(start, count)``: some number is not finite.
    checked : function
        A kernel of many rows that calls another one and looks at what it wrote.
    """

    def __init__(self, module: Any, kind: Any) -> None:
        self.kind = kind
        is_double = kind == ir.DoubleType()
        self.bits = ir.IntType(64 if is_double else 32)
        self.infinity = 0x7FF << 52 if is_double else 0xFF << 23
        self.look = ir.Function(module, ir.FunctionType(ir.IntType(1), [PTR, I64]), f"look_{kind}")
        self.look.linkage = "internal"
        self._emit_look()
        self.checked = ir.Function(module, _KERNEL, f"checked_{kind}")
        self.checked.linkage = "internal"
        self._emit_checked()

    def _emit_look(self) -> None:
        """As integers: it has to be known soon after the last number was written.

        A number without its sign is finite below the bits of infinity.
        """
        start, count = self.look.args
        b = ir.IRBuilder(self.look.append_basic_block())
        flawed = b.append_basic_block("flawed")
        lanes = ir.VectorType(self.bits, LANES)

        def unless_finite(index: Any, kind: Any) -> Any:
            at = b.gep(start, [index], source_etype=self.bits)
            x = b.load(at, typ=kind, align=4)
            limit = ir.Constant(
                kind, [2 * self.infinity] * LANES if kind is lanes else 2 * self.infinity
            )
            return b.icmp_unsigned(">=", b.add(x, x), limit)

        def go_on_unless(some: Any) -> None:
            after = b.append_basic_block("on")
            b.cbranch(some, flawed, after).set_weights([1, 1000])
            b.position_at_end(after)

        def vectors(first: Any, n: int) -> None:
            some = unless_finite(first, lanes)
            for k in range(1, n):
                some = b.or_(some, unless_finite(b.add(first, word(LANES * k)), lanes))
            signs = b.bitcast(some, ir.IntType(LANES))
            go_on_unless(b.icmp_unsigned("!=", signs, ir.Constant(ir.IntType(LANES), 0)))

        many = LANES * TOGETHER
        _loop(b, b.sdiv(count, word(many)), lambda k: vectors(b.mul(k, word(many)), TOGETHER))
        for n in (2, 1):
            with b.if_then(b.icmp_unsigned("!=", b.and_(count, word(LANES * n)), word(0))):
                vectors(b.and_(count, word(-2 * LANES * n)), n)
        for left in (4, 2, 1):
            with b.if_then(b.icmp_unsigned("!=", b.and_(count, word(left)), word(0))):
                first = b.and_(count, word(-2 * left))
                for k in range(left):
                    go_on_unless(unless_finite(b.add(first, word(k)), self.bits))
        b.ret(ir.Constant(ir.IntType(1), 0))
        b.position_at_end(flawed)
        b.ret(ir.Constant(ir.IntType(1), 1))

    def _emit_checked(self) -> None:
        begin, end, data, strides = self.checked.args
        b = ir.IRBuilder(self.checked.append_basic_block())

        def hidden(name: str, kind: Any) -> Any:
            return b.load(b.gep(data, [word(HIDDEN[name])], source_etype=PTR), typ=kind)

        kernel, flaw = hidden("kernel", PTR), hidden("flaw", PTR)
        of_results, count = hidden("first", I64), hidden("count", I64)

        def block(k: Any) -> None:
            first = b.add(begin, b.mul(k, word(BLOCK)))
            # the last block has what is left, so that none is shorter than a vector
            is_last = b.icmp_signed("==", k, b.sub(blocks, word(1)))
            after = b.select(is_last, end, b.add(first, word(BLOCK)))
            b.call(_Address(kernel), [first, after, data, strides])

            def result(j: Any) -> None:
                index = b.add(of_results, j)
                start = b.load(b.gep(data, [index], source_etype=PTR), typ=PTR)
                size = b.load(b.gep(strides, [index], source_etype=I64), typ=I64)
                at = b.gep(start, [b.mul(first, size)], source_etype=self.kind)
                flawed = b.call(self.look, [at, b.mul(b.sub(after, first), size)])
                with b.if_then(flawed, likely=False):
                    b.store(word(1), flaw)

            _loop(b, count, result)

        blocks = b.sdiv(b.sub(end, begin), word(BLOCK))
        blocks = b.select(b.icmp_signed(">", blocks, word(1)), blocks, word(1))
        _loop(b, blocks, block)
        b.ret_void()


def _loop(b: Any, count: Any, body: Any) -> None:
    """``for k in range(count): body(k)``."""
    before = b.block
    head, inside, after = (b.append_basic_block(name) for name in ("head", "body", "after"))
    b.branch(head)
    b.position_at_end(head)
    k = b.phi(I64)
    k.add_incoming(word(0), before)
    b.cbranch(b.icmp_signed("<", k, count), inside, after)
    b.position_at_end(inside)
    body(k)
    k.add_incoming(b.add(k, word(1)), b.block)
    b.branch(head)
    b.position_at_end(after)


class _Address:
    """An address of a kernel, as the builder wants a function."""

    def __init__(self, pointer: Any) -> None:
        self.pointer, self.function_type, self.type = pointer, _KERNEL, pointer.type

    def get_reference(self) -> str:
        return str(self.pointer.get_reference())
