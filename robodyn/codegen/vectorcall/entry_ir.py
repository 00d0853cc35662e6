"""The machine code between Python and the kernels, as IR.

``vectorcall(self, args, nargsf, kwnames)`` reads the headers of the arrays, runs the kernel and
returns. What it does not like in the least goes to a slow path written in Python, with the same
arguments. One entry serves all functions; what it knows of a function stands in a table.
"""

from __future__ import annotations

from typing import Any

from llvmlite import ir

from robodyn.codegen.llvm.thread_pool import WORTHWHILE
from robodyn.codegen.vectorcall.ir_words import (
    AXES,
    DATA,
    DESCR,
    FLAGS,
    I8,
    I32,
    I64,
    NULL,
    PTR,
    READABLE,
    SHAPE,
    VOID,
    WRITEABLE,
    word,
)  # fmt: skip
from robodyn.codegen.vectorcall.outputs import Outputs
from robodyn.codegen.vectorcall.table import MAX_AXES, TABLE

__all__ = ["entry_ir"]


class _Entry(Outputs):
    """Emits the entry; each method is a step of it."""

    def emit(self) -> str:
        b = self.b
        self.table = self.field(self.this, self.table_at)
        self.shared = self.item(self.table, 0)
        self.n_in, self.n_out, self.work = (self.item(self.table, k, I64) for k in (1, 2, 3))
        self.find_out()
        self.choose_kernels()
        self.set("rows", word(1))
        self.loop(self.n_in, self.check_input)
        rows = self.get("rows")
        self.unless(b.icmp_signed(">", rows, word(0)))
        self.total = b.mul(rows, self.work)
        # above the limit, workers have yet to be started
        limit = b.load(self.common("limit"), typ=I64)
        paying = b.icmp_signed("<", self.total, word(WORTHWHILE))
        self.unless(b.or_(paying, b.icmp_signed("<=", self.total, limit)))
        self.pick_kernel(rows)
        given = b.icmp_unsigned("!=", self.get("out"), NULL)
        with b.if_else(given) as (then, otherwise):
            with then:
                self.check_given()
            with otherwise:
                self.make_outputs()
        self.run(rows)
        self.check_numbers(rows, given)
        with b.if_then(given):
            out = self.get("out")
            self.call("incref", VOID, out)
            b.ret(out)
        self.give_back()
        b.position_at_end(self.slow)
        self.take_slow_path()
        return str(self.function.module)

    def find_out(self) -> None:
        """``out`` is the one keyword, or the last argument, or not there; None is not there."""
        b = self.b
        nargs = b.and_(self.nargsf, word((1 << 63) - 1))
        with b.if_else(self.same(self.kwnames, NULL)) as (plain, named):
            with plain:
                last = self.same(nargs, self.item(self.table, TABLE.index("most"), I64))
                with b.if_else(last) as (then, otherwise):
                    with then:
                        self.set("out", self.item(self.args, self.n_in))
                    with otherwise:
                        self.unless(self.same(nargs, self.n_in))
            with named:
                self.unless(self.same(nargs, self.n_in))
                self.unless(self.same(self.field(self.kwnames, 16, I64), word(1)))
                name = self.field(self.kwnames, self.items_at)
                self.unless(self.same(name, self.common("out")))
                self.set("out", self.item(self.args, self.n_in))
        with b.if_then(self.same(self.get("out"), self.common("none"))):
            self.set("out", NULL)

    def choose_kernels(self) -> None:
        """By the dtype of the first input; the others must have it too."""
        b = self.b
        self.unless(b.icmp_signed(">", self.n_in, word(0)))
        first = self.item(self.args, 0)
        self.unless(self.same(self.field(first, 8), self.common("ndarray")))
        self.descr = self.field(first, DESCR)
        double = self.same(self.descr, self.common("float64"))
        single = self.same(self.descr, self.common("float32"))
        self.unless(b.or_(double, single))
        self.size = b.select(double, word(8), word(4))
        self.kernels = b.select(double, word(4), word(8))

    def header(self, x: Any, flags: int) -> tuple[Any, Any]:
        """Axes and shape of an array that is an ndarray of the dtype with these flags."""
        self.unless(self.same(self.field(x, 8), self.common("ndarray")))
        self.unless(self.same(self.field(x, DESCR), self.descr))
        has = self.b.and_(self.field(x, FLAGS, I32), ir.Constant(I32, flags))
        self.unless(self.same(has, ir.Constant(I32, flags)))
        return self.b.zext(self.field(x, AXES, I32), I64), self.field(x, SHAPE)

    def equal(self, count: Any, a: Any, b: Any) -> None:
        """The same numbers at a and b."""
        self.loop(
            count, lambda k: self.unless(self.same(self.item(a, k, I64), self.item(b, k, I64)))
        )

    def remember(self, k: Any, x: Any, bytes_: Any) -> None:
        """Where the numbers of an array begin and end."""
        start = self.field(x, DATA)
        self.put(self.data, k, start)
        self.put(self.ends, k, self.b.gep(start, [bytes_], source_etype=I8))

    def check_input(self, k: Any) -> None:
        b = self.b
        x = self.item(self.args, k)
        axes, shape = self.header(x, READABLE)
        p_axes, p_size, p_shape = self.port(k)
        extra = b.sub(axes, p_axes)
        self.unless(b.icmp_signed(">=", extra, word(0)))
        self.equal(p_axes, self.at(shape, extra, I64), p_shape)
        with b.if_else(self.same(extra, word(0))) as (one, many):
            with one:
                self.put(self.strides, k, word(0), I64)
                self.remember(k, x, b.mul(p_size, self.size))
            with many:
                self.put(self.strides, k, p_size, I64)
                with b.if_else(self.same(self.get("lead"), NULL)) as (first, later):
                    with first:
                        self.unless(b.icmp_signed("<=", extra, word(MAX_AXES)))
                        self.set("lead", shape)
                        self.set("extra", extra)
                        self.loop(extra, lambda j: self._times(self.item(shape, j, I64)))
                    with later:
                        self.unless(self.same(extra, self.get("extra")))
                        self.equal(extra, shape, self.get("lead"))
                count = b.mul(self.get("rows"), p_size)
                self.remember(k, x, b.mul(count, self.size))

    def _times(self, n: Any) -> None:
        self.set("rows", self.b.mul(self.get("rows"), n))

    def pick_kernel(self, rows: Any) -> None:
        """For one state, for some, or for vectors of them; none yet: the slow path makes it."""
        b = self.b
        self.lanes = lanes = self.item(self.table, b.add(self.kernels, word(3)), I64)
        several = b.zext(b.icmp_signed(">", rows, word(1)), I64)
        wide = b.zext(b.icmp_signed(">=", rows, lanes), I64)
        self.choice = b.add(several, b.and_(several, wide))
        self.kernel = self.item(self.table, b.add(self.kernels, self.choice))
        self.unless(b.icmp_unsigned("!=", self.kernel, NULL))

    def check_given(self) -> None:
        """Arrays to write into: an array, or a tuple of them."""
        b = self.b
        out = self.get("out")
        with b.if_else(self.same(self.n_out, word(1))) as (one, many):
            with one:
                self.check_output(word(0), out)
            with many:
                self.unless(self.same(self.field(out, 8), self.common("tuple")))
                self.unless(self.same(self.field(out, 16, I64), self.n_out))
                items = b.gep(out, [word(self.items_at)], source_etype=I8)
                self.loop(self.n_out, lambda k: self.check_output(k, self.item(items, k)))

    def check_output(self, k: Any, x: Any) -> None:
        b = self.b
        axes, shape = self.header(x, WRITEABLE)
        index = b.add(self.n_in, k)
        p_axes, p_size, p_shape = self.port(index)
        extra = self.get("extra")
        self.unless(self.same(axes, b.add(p_axes, extra)))
        self.equal(extra, shape, self.get("lead"))
        self.equal(p_axes, self.at(shape, extra, I64), p_shape)
        self.put(self.strides, index, p_size, I64)
        self.remember(index, x, b.mul(b.mul(self.get("rows"), p_size), self.size))
        start, end = self.item(self.data, index), self.item(self.ends, index)

        def apart(j: Any) -> None:
            before = b.icmp_unsigned("<=", end, self.item(self.data, j))
            after = b.icmp_unsigned("<=", self.item(self.ends, j), start)
            self.unless(b.or_(before, after))

        self.loop(index, apart)

    def run(self, rows: Any) -> None:
        b = self.b
        with b.if_else(self.same(self.choice, word(0))) as (one, many):
            with one:
                self._call(self.kernel, ir.FunctionType(VOID, [PTR]), [self.data])
            with many:
                long = b.icmp_signed(">", self.total, self.common("least_work", I64))
                arguments = [word(0), rows, self.data, self.strides]
                kind = ir.FunctionType(VOID, [I64, I64, PTR, PTR])
                with b.if_else(long) as (unlocked, short):
                    with unlocked:
                        state = self.call("release", PTR)
                        self.call(
                            "spread", VOID, self.common("pool"), self.kernel, rows, self.total,
                            self.lanes, self.data, self.strides,
                        )  # fmt: skip
                        self.call("acquire", VOID, state)
                    with short:
                        self._call(self.kernel, kind, arguments)

    def check_numbers(self, rows: Any, given: Any) -> None:
        """If the first result of a guarded function holds a NaN, take the slow path after all."""
        b = self.b
        guarded = self.item(self.table, TABLE.index("guarded"), I64)
        with b.if_then(b.icmp_unsigned("!=", guarded, word(0))):
            count = b.mul(rows, self.port(self.n_in)[1])
            start = self.item(self.data, self.n_in)
            with b.if_else(self.same(self.size, word(8))) as (double, single):
                with double:
                    self.loop(count, lambda k: self._note(self.item(start, k, ir.DoubleType())))
                with single:
                    self.loop(count, lambda k: self._note(self.item(start, k, ir.FloatType())))
            good = self.same(self.get("bad"), word(0))
            with b.if_then(b.not_(b.or_(good, given))):
                self.loop(self.n_out, self._drop)
            self.unless(good)

    def _note(self, x: Any) -> None:
        nan = self.b.zext(self.b.fcmp_unordered("uno", x, x), I64)
        self.set("bad", self.b.or_(self.get("bad"), nan))

    def take_slow_path(self) -> None:
        b = self.b
        self.shared = self.item(self.field(self.this, self.table_at), 0)
        method = self.call("bind", PTR, self.common("slow"), self.this)
        with b.if_then(self.same(method, NULL)):
            b.ret(NULL)
        result = self.call("vectorcall", PTR, method, self.args, self.nargsf, self.kwnames)
        self.call("decref", VOID, method)
        b.ret(result)


#: A kernel to try the entry with: three numbers, doubled.
TWICE = """
define void @twice(ptr %array) {
  %x = load ptr, ptr %array
  %second = getelementptr ptr, ptr %array, i64 1
  %y = load ptr, ptr %second
  %v = load <3 x double>, ptr %x, align 8
  %w = fadd <3 x double> %v, %v
  store <3 x double> %w, ptr %y, align 8
  ret void
}
"""


def entry_ir(table: int, items: int) -> str:
    """IR of ``vectorcall``, and of ``twice``, a kernel to try it with.

    Parameters
    ----------
    table : int
        Offset [bytes] in an instance at which the address of its table stands.
    items : int
        Offset [bytes] in a tuple at which its items begin.
    """
    return _Entry(table, items).emit() + TWICE
