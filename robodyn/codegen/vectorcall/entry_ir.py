"""The machine code between Python and the kernels, as IR.

``vectorcall(self, args, nargsf, kwnames)`` finds the function that is asked for, reads the headers
of the arrays, runs the kernel and returns. What it does not take goes to a slow path written in
Python, with the same arguments. One entry serves all callables; what it knows of one stands in its
signature, and what it knows of a function in the function's table.
"""

from __future__ import annotations

from typing import Any

from llvmlite import ir

from robodyn.codegen.llvm.batches.thread_pool import WORTHWHILE
from robodyn.codegen.vectorcall.binding import bind
from robodyn.codegen.vectorcall.entry_builder import I64, NULL, PTR, VOID, EntryBuilder, word
from robodyn.codegen.vectorcall.finite import HIDDEN, Finite
from robodyn.codegen.vectorcall.inputs import choose_dtype, read_inputs
from robodyn.codegen.vectorcall.outputs import (
    check_given,
    drop_made,
    make_outputs,
    make_result,
)
from robodyn.codegen.vectorcall.signature import FiniteCheck

__all__ = ["entry_ir"]


def _emit(w: EntryBuilder) -> None:
    """The steps of a call, in order."""
    b = w.b
    bind(w)
    choose_dtype(w)
    read_inputs(w)
    rows = w.get("rows")
    w.unless(b.icmp_signed(">", rows, word(0)))
    total = b.mul(rows, w.work)
    # above the limit, workers have yet to be started
    limit = b.load(w.common("limit"), typ=I64)
    paying = b.icmp_signed("<", total, word(WORTHWHILE))
    w.unless(b.or_(paying, b.icmp_signed("<=", total, limit)))
    kernel, choice, lanes = _pick_kernel(w, rows)
    given = w.differ(w.get("out"), NULL)
    with b.if_else(given) as (then, otherwise):
        with then:
            check_given(w)
        with otherwise:
            make_outputs(w)
    _run(w, kernel, choice, lanes, rows, total)
    _check_numbers(w, given)
    with b.if_else(given) as (then, otherwise):
        with then:
            out = w.get("out")
            w.call("incref", VOID, out)
            w.set("result", out)
        with otherwise:
            make_result(w)
    b.branch(w.done)
    b.position_at_end(w.done)
    w.give_back_held()
    b.ret(w.get("result"))
    b.position_at_end(w.failed)
    w.give_back_held()
    b.ret(NULL)
    b.position_at_end(w.slow)
    w.give_back_held()
    _take_slow_path(w)


def _pick_kernel(w: EntryBuilder, rows: Any) -> tuple[Any, Any, Any]:
    """For one state, for some, or for vectors of them; none yet: the slow path makes it."""
    b = w.b
    lanes = w.item(w.table, b.add(w.kernels, word(3)), I64)
    several = b.zext(b.icmp_signed(">", rows, word(1)), I64)
    # a vector costs as much as three states one by one; it may be filled in part
    wide = b.zext(b.icmp_signed(">=", b.mul(rows, word(3)), lanes), I64)
    choice = b.add(several, b.and_(several, wide))
    kernel = w.item(w.table, b.add(w.kernels, choice))
    w.unless(w.differ(kernel, NULL))
    return kernel, choice, lanes


def _run(w: EntryBuilder, kernel: Any, choice: Any, lanes: Any, rows: Any, total: Any) -> None:
    b = w.b
    guarded = w.differ(w.get("guarded"), word(0))
    is_double = w.same(w.size, word(8))
    with b.if_else(w.same(choice, word(0))) as (one, many):
        with one:
            w.call_at(kernel, ir.FunctionType(VOID, [PTR]), [w.data])
            with b.if_then(guarded):
                of_results = w.same(w.get("guarded"), word(FiniteCheck.RESULTS))
                first = b.select(of_results, w.n_in, word(0))
                count = b.select(of_results, w.n_out, w.n_in)
                w.loop(count, lambda k: _look(w, b.add(first, k)))
        with many:
            for name, address in (("kernel", kernel), ("flaw", w.variables["bad"])):
                w.put(w.data, HIDDEN[name], address)
            for name, number in (("first", w.n_in), ("count", w.n_out)):
                w.put(w.data, HIDDEN[name], number, I64)
            checked = b.select(is_double, w.double.checked, w.single.checked)
            kernel = b.select(guarded, checked, kernel)
            long = b.icmp_signed(">", total, w.common("least_work", I64))
            arguments = [word(0), rows, w.data, w.strides]
            kind = ir.FunctionType(VOID, [I64, I64, PTR, PTR])
            with b.if_else(long) as (unlocked, short):
                with unlocked:
                    state = w.call("release", PTR)
                    w.call(
                        "parallel_for", VOID, w.common("pool"), kernel, rows, total, lanes,
                        w.data, w.strides,
                    )  # fmt: skip
                    w.call("acquire", VOID, state)
                with short:
                    w.call_at(kernel, kind, arguments)


def _look(w: EntryBuilder, k: Any) -> None:
    """Make ``bad`` true if one of the numbers of an input or output is not finite."""
    b = w.b
    start, count = w.item(w.data, k), w.port(k)[1]
    with b.if_else(w.same(w.size, word(8))) as (double, single):
        for block, kind in ((double, w.double), (single, w.single)):
            with block:
                with b.if_then(b.call(kind.look, [start, count]), likely=False):
                    w.set("bad", word(1))


def _check_numbers(w: EntryBuilder, given: Any) -> None:
    """If numbers that were looked at are not finite, take the slow path after all."""
    b = w.b
    good = w.same(w.get("bad"), word(0))
    with b.if_then(b.not_(b.or_(good, given)), likely=False):
        w.loop(w.n_out, lambda k: drop_made(w, k))
    w.unless(good)


def _take_slow_path(w: EntryBuilder) -> None:
    b = w.b
    method = w.call("bind", PTR, w.common("slow"), w.this)
    with b.if_then(w.same(method, NULL)):
        b.ret(NULL)
    result = w.call("vectorcall", PTR, method, w.args, w.nargsf, w.kwnames)
    w.call("decref", VOID, method)
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


def entry_ir(signature: int, items: int) -> str:
    """IR of ``vectorcall``, and of ``twice``, a kernel to try it with.

    Parameters
    ----------
    signature : int
        Offset [bytes] in an instance at which the address of its signature stands.
    items : int
        Offset [bytes] in a tuple at which its items begin, and in a list at which their address is.
    """
    w = EntryBuilder(signature, items, len(HIDDEN))
    w.double, w.single = (Finite(w.module, kind) for kind in (ir.DoubleType(), ir.FloatType()))
    _emit(w)
    return str(w.module) + TWICE
