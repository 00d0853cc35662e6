"""The machine code between Python and the kernels, as IR.

``vectorcall(self, args, nargsf, kwnames)`` finds the function that is asked for, reads the headers
of the arrays, runs the kernel and returns. What it does not take goes to a slow path written in
Python, with the same arguments. One entry serves all callables; what it knows of one stands in its
signature, and what it knows of a function in the function's table.
"""

from __future__ import annotations

from collections.abc import Callable

from robodyn.codegen.llvm.batches.thread_pool import SHARED
from robodyn.codegen.llvm.builder.code import Code, module_ir
from robodyn.codegen.llvm.builder.values import Number
from robodyn.codegen.vectorcall.binding import bind
from robodyn.codegen.vectorcall.blocks import (
    HIDDEN,
    blocks_function,
    look_function,
    stream_function,
)
from robodyn.codegen.vectorcall.entry_builder import EntryBuilder
from robodyn.codegen.vectorcall.inputs import choose_dtype, read_inputs
from robodyn.codegen.vectorcall.outputs import check_given, make_outputs, make_result
from robodyn.codegen.vectorcall.signature import FiniteCheck

#: Numbers of results of one state from which on a batch waits for memory: those of less are asked
#: for while it still computes (`kernels.prefetch`).
LONG_ROW = 256


def _write(w: EntryBuilder) -> None:
    """The steps of a call, in order."""
    code = w.code
    bind(w)
    choose_dtype(w)
    read_inputs(w)
    rows = w.get("rows")
    w.unless(rows > 0)
    total = rows * w.work
    # above the limit, workers have yet to be started; one state needs none
    limit = w.item(w.common("limit"), 0, "i64")
    w.unless((rows < 2) | (total < SHARED) | (total <= limit))
    kernel, choice, lanes = _pick_kernel(w, rows)
    given = w.get("out").differs(None)
    with code.either(given) as (then, otherwise):
        with then:
            check_given(w)
        with otherwise:
            make_outputs(w)
    with code.either(choice.equals(0)) as (one, many):
        with one:
            _run_one(w, kernel)
        with many:
            _run_many(w, kernel, lanes, rows, total)
    with code.when(w.get("bad").differs(0), expected=False):
        w.drop_made()
        code.go(w.slow)
    with code.either(given) as (then, otherwise):
        with then:
            out = w.get("out")
            w.call("incref", "void", out)
            w.set("result", out)
        with otherwise:
            make_result(w)
    _end(w)


def _end(w: EntryBuilder) -> None:
    """The exits of a call: with a result, with an error, and in the slow path."""
    code = w.code
    code.begin(w.done)
    w.give_back_held()
    code.give(w.get("result"))
    code.begin(w.discard)
    w.drop_made()
    code.begin(w.failed)
    w.set("result", None)
    code.go(w.done)
    code.begin(w.slow)
    w.give_back_held()
    method = w.call("bind", "ptr", w.common("slow"), w.this)
    with code.when(method.equals(None)):
        code.give(w.null)
    result = w.call("vectorcall", "ptr", method, w.args, w.nargsf, w.kwnames)
    w.call("decref", "void", method)
    code.give(result)


def _pick_kernel(w: EntryBuilder, rows: Number) -> tuple[Number, Number, Number]:
    """The kernel for one state, for some, or for vectors; if missing, the slow path makes it."""
    lanes = w.item(w.table, w.kernels + 3, "i64")
    several = (rows > 1).extended()
    # a vector costs as much as three states one by one; it may be filled in part
    wide = (rows * 3 >= lanes).extended()
    choice = several + (several & wide)
    kernel = w.item(w.table, w.kernels + choice)
    w.unless(kernel.differs(None))
    return kernel, choice, lanes


def _run_one(w: EntryBuilder, kernel: Number) -> None:
    """Compute one state, and check its results or its inputs."""
    code, guarded = w.code, w.get("guarded")
    _look_at_partly_used(w, lambda port, size: _look(w, w.item(w.data, port), size))
    code.call(kernel, "void", Number(code, w.data, "ptr"))
    with code.when(guarded.differs(FiniteCheck.NOWHERE)):
        of_results = guarded.equals(FiniteCheck.RESULTS)
        first, last = w.n_in, w.n_in + w.n_out
        first, last = code.choose(of_results, first, 0), code.choose(of_results, last, w.n_in)
        for k in code.each(last, start=first):
            _look(w, w.item(w.data, k), w.port(k)[1])


def _look_at_partly_used(w: EntryBuilder, of_port: Callable[[Number, Number], None]) -> None:
    """Check inputs of which not all numbers are used, as methods refuse NaN in these too."""
    with w.code.when(w.get("guarded").differs(FiniteCheck.NOWHERE)):
        for k in w.code.each(w.of_table("partly_used")):
            port = w.item(w.of_table("partly_used_at", "ptr"), k, "i64")
            of_port(port, w.port(port)[1])


def _look(w: EntryBuilder, start: Number, count: Number) -> None:
    """Take the slow path if some numbers are not finite."""
    look = w.code.choose(w.size.equals(8), _function(w.code, "look_double"), "@look_float")
    with w.code.when(w.code.call(look, "i1", start, count), expected=False):
        w.set("bad", 1)


def _look_at_rows(w: EntryBuilder, port: Number, size: Number, rows: Number) -> None:
    """Check all rows of an input, together if they are contiguous."""
    code, start, step = w.code, w.item(w.data, port), w.item(w.strides, port, "i64")
    with code.either(step.equals(size)) as (together, apart):
        with together:
            _look(w, start, rows * size)
        with apart:
            for r in code.each(code.choose(step.equals(0), code.integer(1), rows)):
                _look(w, w.after(start, r * step * w.size), size)


def _run_many(w: EntryBuilder, kernel: Number, lanes: Number, rows: Number, total: Number) -> None:
    """Compute a batch: a short one at once, others block by block, by one thread or several."""
    code, data = w.code, Number(w.code, w.data, "ptr")
    strides = Number(code, w.strides, "ptr")
    stream, looked = _is_large(w, rows), w.get("guarded").differs(FiniteCheck.NOWHERE)
    _look_at_partly_used(w, lambda port, size: _look_at_rows(w, port, size, rows))
    with code.either((total > w.common("least_work", "i64")) | stream) as (long, short):
        with long:
            many = _blocks(w, kernel, looked, stream)
            state = w.call("release", "ptr")
            pool = w.common("pool")
            w.call("parallel_for", "void", pool, many, rows, total, lanes, data, strides)
            w.call("acquire", "void", state)
        with short:
            code.call(kernel, "void", code.integer(0), rows, data, strides)
            with code.when(looked):
                for k in code.each(w.n_in + w.n_out, start=w.n_in):
                    _look(w, w.item(w.data, k), rows * w.port(k)[1])


def _blocks(w: EntryBuilder, kernel: Number, looked: Number, stream: Number) -> Number:
    """The kernel that calls another one block by block, if it has to; it is told what to do."""
    code = w.code
    flaw = code.choose(looked, Number(code, w.variables["bad"].pointer, "ptr"), None)
    for name, address in (("kernel", kernel), ("flaw", flaw)):
        w.put(w.data, HIDDEN[name], address)
    for name, number in (("first", w.n_in), ("count", w.n_out), ("stream", stream.extended())):
        w.put(w.data, HIDDEN[name], number, "i64")
    blocks = code.choose(w.size.equals(8), _function(code, "blocks_double"), "@blocks_float")
    return code.choose(looked | stream, blocks, kernel)


def _is_large(w: EntryBuilder, rows: Number) -> Number:
    """Whether results of long rows go into given arrays and are too large for the caches.

    Memory that is new is in the caches, as the system has just filled it with zeros.
    """
    count = w.code.variable(0)
    for k in w.code.each(w.n_out):
        count.value = count.value + w.port(w.n_in + k)[1]
    long, size = count.value >= LONG_ROW, count.value * rows * w.size
    return long & (size > w.common("caches", "i64")) & w.get("out").differs(None)


def _function(code: Code, name: str) -> Number:
    return Number(code, f"@{name}", "ptr")


def _twice() -> Code:
    """A kernel to try the entry with: three numbers, doubled."""
    code = Code("@twice(ptr %array)")
    x, y = code.load("%array", 0, "ptr"), code.load("%array", 1, "ptr")
    for k in range(3):
        number = code.load(x, k, "double")
        code.store(number + number, y, k, "double")
    return code


def entry_ir(signature: int, items: int) -> str:
    """IR of ``vectorcall``, and of ``twice``, a kernel to try it with.

    signature: Offset [bytes] in an instance at which the address of its signature stands.
    items: Offset [bytes] in a tuple at which its items begin, and in a list at which their address
        is.
    """
    w = EntryBuilder(signature, items, len(HIDDEN))
    _write(w)
    kinds = ("double", "float")
    made = look_function, stream_function, blocks_function
    batches = [make(kind) for kind in kinds for make in made]
    return module_ir(*batches, w.code, _twice())
