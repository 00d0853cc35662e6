"""The machine code between Python and the kernels, as IR.

``vectorcall(self, args, nargsf, kwnames)`` reads the headers of the arrays, runs the kernel and
returns. What it does not like in the least goes to a slow path written in Python, with the same
arguments. One entry serves all functions; what it knows of a function stands in a table.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from llvmlite import ir

from robodyn.codegen.entry_table import COMMON, MAX_AXES, MAX_PORTS, PORT, SPARES, TABLE
from robodyn.codegen.spread import WORTHWHILE

__all__ = ["entry_ir"]

# numpy's array header and its flags, in bytes; `robodyn.codegen.entry` checks them before use
DATA, AXES, SHAPE, BASE, DESCR, FLAGS, WEAK = 16, 24, 32, 48, 56, 64, 72
READABLE, WRITEABLE, OWNED = 0x101, 0x501, 0x505

I1, I8, I32, I64, PTR, VOID = (
    ir.IntType(1), ir.IntType(8), ir.IntType(32), ir.IntType(64), ir.PointerType(), ir.VoidType()
)  # fmt: skip


def word(value: int) -> ir.Constant:
    """An i64 literal."""
    return ir.Constant(I64, value)


NULL = ir.Constant(PTR, None)


class _Entry:
    """Emits the entry; each method is a step of it."""

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
            for name in ("out", "lead", "extra", "rows")
        }

    # -- small words ----------------------------------------------------------------------------

    def _room(self, kind: Any, count: int) -> Any:
        return self.b.alloca(kind, count)

    def _variable(self, kind: Any) -> Any:
        # in the first block: room taken inside a loop would be taken anew each time around
        with self.b.goto_entry_block():
            at = self.b.alloca(kind)
            self.b.store(ir.Constant(kind, None if kind is PTR else 0), at)
        return at

    def get(self, name: str) -> Any:
        return self.b.load(self.variables[name], typ=PTR if name in ("out", "lead") else I64)

    def set(self, name: str, value: Any) -> None:
        self.b.store(value, self.variables[name])

    def field(self, base: Any, offset: Any, kind: Any = PTR) -> Any:
        """What stands ``offset`` bytes after ``base``."""
        offset = word(offset) if isinstance(offset, int) else offset
        return self.b.load(self.b.gep(base, [offset], source_etype=I8), typ=kind)

    def at(self, base: Any, index: Any, kind: Any) -> Any:
        index = word(index) if isinstance(index, int) else index
        return self.b.gep(base, [index], source_etype=kind)

    def item(self, base: Any, index: Any, kind: Any = PTR) -> Any:
        return self.b.load(self.at(base, index, kind), typ=kind)

    def put(self, base: Any, index: Any, value: Any, kind: Any = PTR) -> None:
        self.b.store(value, self.at(base, index, kind))

    def common(self, name: str, kind: Any = PTR) -> Any:
        return self.item(self.shared, COMMON.index(name), kind)

    def call(self, name: str, result: Any, *arguments: Any) -> Any:
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

    # -- steps ----------------------------------------------------------------------------------

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

    def port(self, k: Any) -> tuple[Any, Any, Any]:
        """Axes, scalars and shape of a port (outputs come after the inputs)."""
        at = self.b.add(word(len(TABLE)), self.b.mul(k, word(PORT)))
        here = self.at(self.table, at, I64)
        return self.item(here, 0, I64), self.item(here, 1, I64), self.at(here, 2, I64)

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

    def make_outputs(self) -> None:
        """New arrays; a scalar of one state gets its object only when it is computed."""
        b = self.b

        def make(k: Any) -> None:
            index = b.add(self.n_in, k)
            p_axes, p_size, p_shape = self.port(index)
            extra = self.get("extra")
            self.put(self.strides, index, p_size, I64)
            self.loop(extra, lambda j: self._axis(j, self.item(self.get("lead"), j, I64)))
            self.loop(p_axes, lambda j: self._axis(b.add(extra, j), self.item(p_shape, j, I64)))
            axes = b.add(extra, p_axes)
            with b.if_else(self.same(axes, word(0))) as (scalar, array):
                with scalar:
                    self.put(self.data, index, self.at(self.scalars, k, I64))
                    self.put(self.made, k, NULL)
                with array:
                    self.set("out", NULL)
                    with b.if_then(self.same(extra, word(0))):
                        self.loop(word(SPARES), lambda j: self._try_spare(index, j))
                    with b.if_then(self.same(self.get("out"), NULL)):
                        self._new_array(k, axes)
                    self.put(self.made, k, self.get("out"))
                    self.put(self.data, index, self.field(self.get("out"), DATA))

        self.loop(self.n_out, make)

    def _new_array(self, k: Any, axes: Any) -> None:
        """Into ``out``."""
        b = self.b
        self.call("incref", VOID, self.descr)
        new = self.call(
            "new_array", PTR, self.common("ndarray"), self.descr,
            b.trunc(axes, I32), self.shape, NULL, NULL, ir.Constant(I32, 0), NULL,
        )  # fmt: skip
        with b.if_then(self.same(new, NULL)):
            self.loop(k, self._drop)
            b.ret(NULL)
        self.set("out", new)

    def _try_spare(self, index: Any, j: Any) -> None:
        """Take a spare array that is in nobody's hands and as it was, if ``out`` has none yet."""
        b = self.b
        at = b.add(word(len(TABLE)), b.mul(index, word(PORT)))
        first = b.select(self.same(self.size, word(8)), word(0), word(SPARES))
        spare = self.item(self.table, b.add(b.add(at, word(2 + MAX_AXES)), b.add(first, j)))
        p_axes, _, p_shape = self.port(index)
        # the low half of a reference count holds in all versions of Python
        free = self.same(self.field(spare, 0, I32), ir.Constant(I32, 1))
        free = b.and_(free, self.same(self.get("out"), NULL))
        with b.if_then(free):
            flags = b.and_(self.field(spare, FLAGS, I32), ir.Constant(I32, OWNED))
            good = self.same(flags, ir.Constant(I32, OWNED))
            good = b.and_(good, self.same(self.field(spare, DESCR), self.descr))
            good = b.and_(good, self.same(self.field(spare, BASE), NULL))
            good = b.and_(good, self.same(self.field(spare, WEAK), NULL))
            good = b.and_(good, self.same(self.field(spare, AXES, I32), b.trunc(p_axes, I32)))
            with b.if_then(good):
                self.call("incref", VOID, spare)
                self.set("out", spare)
                self.loop(p_axes, lambda i: self._put_back_unless_same(i, spare, p_shape))

    def _put_back_unless_same(self, axis: Any, spare: Any, shape: Any) -> None:
        given = self.item(self.field(spare, SHAPE), axis, I64)
        changed = self.b.icmp_unsigned("!=", given, self.item(shape, axis, I64))
        still = self.b.icmp_unsigned("!=", self.get("out"), NULL)
        with self.b.if_then(self.b.and_(changed, still)):
            self.set("out", NULL)
            self.call("decref", VOID, spare)

    def _axis(self, index: Any, length: Any) -> None:
        self.put(self.shape, index, length, I64)

    def _drop(self, k: Any) -> None:
        made = self.item(self.made, k)
        with self.b.if_then(self.b.icmp_unsigned("!=", made, NULL)):
            self.call("decref", VOID, made)

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

    def give_back(self) -> None:
        """What was made: an array, a number, or a tuple."""
        b = self.b

        def scalar(k: Any) -> None:
            with b.if_then(self.same(self.item(self.made, k), NULL)):
                value = self.at(self.scalars, k, I64)
                made = self.call("new_scalar", PTR, value, self.descr, NULL)
                with b.if_then(self.same(made, NULL)):
                    self.loop(self.n_out, self._drop)
                    b.ret(NULL)
                self.put(self.made, k, made)

        self.loop(self.n_out, scalar)
        with b.if_then(self.same(self.n_out, word(1))):
            b.ret(self.item(self.made, 0))
        result = self.call("new_tuple", PTR, self.n_out)
        with b.if_then(self.same(result, NULL)):
            self.loop(self.n_out, self._drop)
            b.ret(NULL)
        self.loop(self.n_out, lambda k: self._fill(result, k))
        b.ret(result)

    def _fill(self, result: Any, k: Any) -> None:
        self.call("set_item", I32, result, k, self.item(self.made, k))

    def take_slow_path(self) -> None:
        b = self.b
        self.shared = self.item(self.field(self.this, self.table_at), 0)
        method = self.call("bind", PTR, self.common("slow"), self.this)
        with b.if_then(self.same(method, NULL)):
            b.ret(NULL)
        result = self.call("vectorcall", PTR, method, self.args, self.nargsf, self.kwnames)
        self.call("decref", VOID, method)
        b.ret(result)


class _Callee:
    """An address with a function type, as the builder wants it."""

    def __init__(self, pointer: Any, kind: Any) -> None:
        self.pointer, self.function_type = pointer, kind
        self.type = pointer.type

    def get_reference(self) -> str:
        return str(self.pointer.get_reference())


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
