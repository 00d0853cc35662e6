"""Trampolines: functions that call a kernel with one input more, whose address is in memory.

A kernel that takes the numbers of a robot as its last input serves all robots of one shape. To
everybody else such a kernel with the numbers of one robot is a kernel like any other: the address
of a trampoline, which puts the address of the numbers behind those of the other inputs.
"""

from __future__ import annotations

from collections.abc import Sequence

from robodyn.codegen.llvm.builder.code import Code, module_ir
from robodyn.codegen.llvm.builder.values import Number

#: Kernels that a program has, in the order of their addresses in a slot.
KERNELS = ("packed", "rows", "batch", "kernel")

#: Words of a slot: the address of the numbers, then those of the kernels.
WORDS = 1 + len(KERNELS)

_ROWS = "i64 %begin, i64 %end, ptr %array, ptr %strides"


def trampolines_ir(inputs: int, outputs: int, slots: int) -> str:
    """IR of ``packed0``, ``rows0``, ``batch0``, ``kernel0``, ``packed1``, ... and ``words()``.

    inputs, outputs: Arrays of the functions that are to be called, without the numbers.
    slots: How many of them; ``words()`` is the address of the words of all slots.
    """
    words = Code("@words()", "ptr")
    words.declare(f"@slots = internal global [{slots * WORDS} x i64] zeroinitializer")
    words.give(Number(words, "@slots", "ptr"))
    codes = [words, _packed(inputs, outputs), _rows(inputs, outputs)]
    for slot in range(slots):
        at = f"getelementptr (i64, ptr @slots, i64 {slot * WORDS})"
        packed = Code(f"@packed{slot}(ptr %array)")
        packed.do(f"tail call void @packed(ptr %array, ptr {at})")
        codes.append(packed)
        for name in ("rows", "batch"):
            rows = Code(f"@{name}{slot}({_ROWS})")
            rows.do(f"tail call void @rows({_ROWS}, ptr {at}, i64 {_word(name)})")
            codes.append(rows)
        codes.append(_kernel(slot, at, inputs, outputs))
    return module_ir(*codes)


def _word(kernel: str) -> int:
    """Index of the address of a kernel in a slot."""
    return 1 + KERNELS.index(kernel)


def _kernel(slot: int, at: str, inputs: int, outputs: int) -> Code:
    """One state, each array an argument."""
    arrays = [f"ptr %x{k}" for k in range(inputs + outputs)]
    code = Code(f"@kernel{slot}({', '.join(arrays)})")
    numbers, kernel = (code.load(at, k, "ptr") for k in (0, _word("kernel")))
    passed = ", ".join((*arrays[:inputs], f"ptr {numbers}", *arrays[inputs:]))
    code.do(f"tail call void {kernel}({passed})")
    return code


def _packed(inputs: int, outputs: int) -> Code:
    """One state, addresses in an array."""
    code = Code("@packed(ptr %array, ptr %slot)", "internal void", "nounwind noinline")
    numbers, kernel = (code.load("%slot", k, "ptr") for k in (0, _word("packed")))
    arrays = _with_one_more(code, "%array", "ptr", inputs, outputs, numbers)
    code.do(f"call void {kernel}(ptr {arrays})")
    return code


def _rows(inputs: int, outputs: int) -> Code:
    """Many states, which all have the same numbers; the last argument says by which kernel."""
    code = Code(f"@rows({_ROWS}, ptr %slot, i64 %word)", "internal void", "nounwind noinline")
    numbers = code.load("%slot", 0, "ptr")
    kernel = code.load("%slot", code.argument("word", "i64"), "ptr")
    arrays = _with_one_more(code, "%array", "ptr", inputs, outputs, numbers)
    strides = _with_one_more(code, "%strides", "i64", inputs, outputs, 0)
    code.do(f"call void {kernel}(i64 %begin, i64 %end, ptr {arrays}, ptr {strides})")
    return code


def _with_one_more(
    code: Code, source: str, kind: str, inputs: int, outputs: int, more: object
) -> str:
    """A copy of words of all arrays, with one more after those of the inputs."""
    found: Sequence[object] = [code.load(source, k, kind) for k in range(inputs + outputs)]
    copied = code.slot(f"[{inputs + 1 + outputs} x {kind}]")
    for k, word in enumerate((*found[:inputs], more, *found[inputs:])):
        code.store(word, copied, k, kind)
    return copied
