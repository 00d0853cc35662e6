"""The machine code that XLA calls, which calls the machine code of a function over rows.

XLA hands over a call frame, a structure of C, as its header ``xla/ffi/api/c_api.h`` lays it out:
addresses of arrays with their lengths, and attributes. The one attribute here is a table of words,
which says what to call; so the same code serves all functions.
"""

from __future__ import annotations

from robodyn.codegen.llvm.builder.code import Code
from robodyn.codegen.llvm.builder.load_program import load_program
from robodyn.codegen.llvm.builder.matrices import Words
from robodyn.codegen.llvm.builder.values import Number
from robodyn.codegen.llvm.target.once import once

#: What the handler is told of a function; the sizes of one row of all inputs and outputs follow.
WORDS = ("rows", "batch", "lanes", "work", "parallel_for", "pool", "inputs", "outputs")

#: Words of the call frame.
EXTENSION, API, ARGUMENTS, RESULTS, ATTRIBUTES = 1, 2, 9, 14, 20
#: Of a buffer.
DATA, DIMENSIONS = 3, 5
#: Of an attribute that is an array.
ELEMENTS = 2
#: Of the extension that asks for metadata, where they stand; of these, and of the interface, the
#: version of the interface; of these, what the code promises.
METADATA, VERSION, INTERFACE_VERSION, TRAITS = 3, 3, 4, 8
#: Minor version of an XLA that asks without an interface.
UNTOLD = 1


@once
def _handler() -> tuple[int, object]:
    return load_program(_handler_ir(), "call_rows")


def handler_address() -> int:
    """Address of the code that XLA is told to call."""
    return _handler()[0]


def _handler_ir() -> str:
    """IR of the handler: it returns null, which means that all went well."""
    code = Code("@call_rows(ptr %frame)", "ptr")
    nothing = Number(code, "null", "ptr")
    extension = code.load("%frame", EXTENSION, "ptr")
    with code.when(extension.differs(None)):
        _tell_metadata(code, extension)
        code.give(nothing)
    attribute = code.load(code.load("%frame", ATTRIBUTES, "ptr"), 0, "ptr")
    table = code.load(attribute, ELEMENTS, "ptr")
    words = Words(code, table, WORDS)
    inputs, outputs = words.number("inputs"), words.number("outputs")
    pointers, strides = (
        code.name(f"alloca {kind}, i64 {inputs + outputs}") for kind in ("ptr", "i64")
    )
    results = code.load("%frame", RESULTS, "ptr")
    count = _rows(code, code.load(results, 0, "ptr"))
    for first, number, buffers in (
        (code.integer(0), inputs, code.load("%frame", ARGUMENTS, "ptr")),
        (inputs, outputs, results),
    ):
        for k in code.each(number):
            buffer, place = code.load(buffers, k, "ptr"), first + k
            size = code.load(table, place + len(WORDS), "i64")
            code.store(code.load(buffer, DATA, "ptr"), pointers, place, "ptr")
            stride = code.choose(_rows(code, buffer).equals(count), size, 0)
            code.store(stride, strides, place, "i64")
    with code.when(count > 0):
        _compute(code, words, count, pointers, strides)
    code.give(nothing)
    return code.ir()


def _rows(code: Code, buffer: Number) -> Number:
    return code.load(code.load(buffer, DIMENSIONS, "ptr"), 0, "i64")


def _tell_metadata(code: Code, extension: Number) -> None:
    """Before the first call XLA asks which version of its interface the code is made for.

    What is read here is the same in all minor versions of the first major one, so it is the one of
    XLA itself; those that do not tell theirs are of the minor version `UNTOLD`.
    """
    metadata, api = code.load(extension, METADATA, "ptr"), code.load("%frame", API, "ptr")
    version = code.variable(UNTOLD << 32)
    with code.when(api.differs(None)):
        told = code.load(api, INTERFACE_VERSION, "i64")
        version.value = code.put(f"and i64 {told}, -4294967296", "i64")
    code.store(version.value, metadata, VERSION, "i64")
    code.store(Number(code, "0", "i32"), metadata, TRAITS, "i32")


def _compute(code: Code, words: Words, count: Number, pointers: str, strides: str) -> None:
    """As a call of the function itself does: row by row, or vectors of rows, by threads."""
    lanes, work = words.number("lanes"), words.number("work") * count
    row_by_row = lanes.equals(1) | (count * 3 < lanes)
    data = (Number(code, pointers, "ptr"), Number(code, strides, "ptr"))
    with code.either(row_by_row) as (rows, vectors):
        with rows:
            code.call(words.word("rows", "ptr"), "void", code.integer(0), count, *data)
        with vectors:
            pool, batch = (words.word(name, "ptr") for name in ("pool", "batch"))
            run = words.word("parallel_for", "ptr")
            code.call(run, "void", pool, batch, count, work, lanes, *data)
