"""Trampolines: functions that call a kernel with one input more, whose address is in memory.

A kernel that takes the numbers of a robot as its last input serves all robots of one shape. To
everybody else such a kernel with the numbers of one robot is a kernel like any other: the address
of a trampoline, which puts the address of the numbers behind those of the other inputs. Addresses
are given out, and taken back.
"""

from __future__ import annotations

import ctypes
import weakref
from collections.abc import Sequence

import numpy as np

from robodyn.array_types import Array
from robodyn.codegen.llvm.builder.code import Code, module_ir
from robodyn.codegen.llvm.builder.load_program import load_program
from robodyn.codegen.llvm.builder.values import Number
from robodyn.codegen.llvm.target.once import making

#: Kernels that a program has, in the order of their addresses in a slot.
KERNELS = ("packed", "rows", "batch", "kernel")

#: Words of a slot: the address of the numbers, then those of the kernels.
WORDS = 1 + len(KERNELS)

_ROWS = "i64 %begin, i64 %end, ptr %array, ptr %strides"

#: Trampolines that are compiled together.
SLOTS = 256


class _Block:
    """Trampolines for functions of so many inputs and outputs."""

    def __init__(self, inputs: int, outputs: int) -> None:
        ir = trampolines_ir(inputs, outputs, SLOTS)
        address, self.code = load_program(ir, "words")
        start = ctypes.CFUNCTYPE(ctypes.c_void_p)(address)()
        self.words = (ctypes.c_int64 * (SLOTS * WORDS)).from_address(start or 0)


#: Slots that nobody has, by how many inputs and outputs there are.
_free: dict[tuple[int, int], list[tuple[_Block, int]]] = {}


class Trampoline:
    """The kernels of a function with numbers as their last input.

    inputs, outputs: Arrays of the function, without the numbers.
    numbers (n,): Of the dtype of the kernels; kept as it is.
    """

    def __init__(self, inputs: int, outputs: int, numbers: Array) -> None:
        with making():
            free = _free.setdefault((inputs, outputs), [])
            if not free:
                block = _Block(inputs, outputs)
                free += [(block, slot) for slot in reversed(range(SLOTS))]
            self._block, self._slot = place = free.pop()
            weakref.finalize(self, free.append, place)
        self._numbers = np.ascontiguousarray(numbers)
        self._first = self._slot * WORDS
        self._block.words[self._first] = self._numbers.ctypes.data

    def address(self, name: str, kernel: int) -> int:
        """Address that calls a kernel with the numbers.

        name: One of `KERNELS`.
        kernel: Its address.
        """
        self._block.words[self._first + 1 + KERNELS.index(name)] = kernel
        return self._block.code.address(f"{name}{self._slot}")


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
