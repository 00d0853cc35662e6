"""Addresses of kernels that have the numbers of one robot, given out and taken back."""

from __future__ import annotations

import ctypes
import weakref

import numpy as np

from robodyn.array_types import Array
from robodyn.codegen.llvm.builder.load_program import load_program
from robodyn.codegen.llvm.kernels.trampoline_ir import KERNELS, WORDS, trampolines_ir
from robodyn.codegen.llvm.target.once import making

#: Trampolines that are compiled together.
SLOTS = 256


class _Block:
    """Trampolines for functions of so many inputs and outputs."""

    def __init__(self, inputs: int, outputs: int) -> None:
        ir = trampolines_ir(inputs, outputs, SLOTS)
        address, self.code = load_program(ir, "words")
        start = ctypes.CFUNCTYPE(ctypes.c_void_p)(address)()
        self.words = (ctypes.c_int64 * (SLOTS * WORDS)).from_address(start or 0)
        self._addresses: dict[str, int] = {}

    def address(self, name: str, slot: int) -> int:
        """Address of a trampoline."""
        symbol = f"{name}{slot}"
        if symbol not in self._addresses:
            self._addresses[symbol] = self.code.address(symbol)
        return self._addresses[symbol]


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
        return self._block.address(name, self._slot)
