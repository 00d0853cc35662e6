"""Fixed-point iterations in machine code: a function is applied to its first input repeatedly."""

from __future__ import annotations

import ctypes
import threading
from typing import Any

import numpy as np

from robodyn.array_types import Array, FloatArray
from robodyn.codegen.function import Function
from robodyn.codegen.llvm.batches import threads
from robodyn.codegen.llvm.builder.code import Code
from robodyn.codegen.llvm.builder.load_program import c_function
from robodyn.codegen.llvm.builder.matrices import Words
from robodyn.codegen.llvm.builder.rows import call_rows
from robodyn.codegen.llvm.target.once import Memo

#: Number of rows that are iterated together, so that their data fit into the CPU's caches.
BLOCK = 64

_RUN = ctypes.CFUNCTYPE(None, ctypes.c_int64, ctypes.c_int64, ctypes.c_void_p, ctypes.c_void_p)

#: Where x, the other inputs and the measure of one row are; words, their address, and the next x.
_Room = tuple[FloatArray, list[FloatArray], FloatArray, Array, int, FloatArray]

#: Words of an iteration; the address of each other input, and its numbers from row to row, follow.
_WORDS = ("steps", "size", "function", "x", "new", "measure")

_programs: Memo[Any] = Memo()


class Iteration:
    """Iteration of a function of double precision.

    function: ``x, others -> better x, (error of x, length of the step)``.
    error: A row is done when its error is this small,
    length: or when its steps are this short.
    """

    def __init__(self, function: Function, error: float, length: float) -> None:
        self._function, self._size = function, function.inputs[0].size
        others = len(function.inputs) - 1
        self._run = _loaded(others, error, length)
        self._address = ctypes.cast(self._run, ctypes.c_void_p).value or 0
        self._own = threading.local()

    def run(self, x: FloatArray, others: list[tuple[FloatArray, int]], steps: int) -> FloatArray:
        """Iterate the rows of an array, in place.

        x (n, size), contiguous
        others: The other inputs: a contiguous array, and how many numbers from row to row.
        steps: At most.
        Returns measure (n, 2): Error of each row of x, and length of the step that would follow.
        """
        n = len(x)
        if n == 1:
            return self._run_one(x, others, steps)
        new, measure = np.empty(x.shape), np.empty((n, 2))
        table = [steps, self._size, self._function.rows_address(True)]
        table += [x.ctypes.data, new.ctypes.data, measure.ctypes.data]
        for array, width in others:
            table += [array.ctypes.data, width]
        words = (ctypes.c_int64 * len(table))(*table)
        threads.start()
        work = n * 10 * self._function.work
        lanes = min(n, BLOCK)
        threads.parallel_for()(threads.pool(), self._address, n, work, lanes, words, None)
        return measure

    def _run_one(
        self, x: FloatArray, others: list[tuple[FloatArray, int]], steps: int
    ) -> FloatArray:
        """Iterate one row, with less overhead."""
        try:
            place, given, measure, words, address, _ = self._own.room
        except AttributeError:
            place, given, measure, words, address, _ = self._own.room = self._room()
        words[0], words[2] = steps, self._function.rows_address(False)
        place[...] = x
        for part, (array, _) in zip(given, others, strict=True):
            part[...] = array
        self._run(0, 1, address, None)
        x[...] = place
        return np.array(measure)

    def _room(self) -> _Room:
        """Memory of this thread for one row."""
        x, new, measure = np.empty(self._size), np.empty(self._size), np.empty((1, 2))
        given = [np.empty(port.shape or (1,)) for port in self._function.inputs[1:]]
        table = [0, self._size, 0, *(array.ctypes.data for array in (x, new, measure))]
        for array in given:
            table += [array.ctypes.data, 0]
        words = np.array(table, np.int64)
        return x, given, measure, words, words.ctypes.data, new


def _loaded(others: int, error: float, length: float) -> Any:
    """The machine code for so many other inputs, made once."""

    def make() -> Any:
        return c_function(_program(others, error, length), "run", _RUN, long=True)

    return _programs.get((others, error, length), make)


def _program(others: int, error: float, length: float) -> str:
    """Text of ``run(begin, end, words, unused)``."""
    code = Code("@run(i64 %begin, i64 %end, ptr %words, ptr %unused)")

    given = [(f"other{k}", f"width{k}") for k in range(others)]
    words = Words(code, "%words", [*_WORDS, *(name for pair in given for name in pair)])
    steps, size = words.number("steps"), words.number("size")
    function = words.pointer("function")
    arrays = [words.array(name) for name in ("x", "new", "measure")]
    inputs = [(words.array(name), words.number(width)) for name, width in given]
    begin, end = code.argument("begin", "i64"), code.argument("end", "i64")
    for b in code.each((end - begin + (BLOCK - 1)) / BLOCK):
        first = begin + b * BLOCK
        count = code.choose(end - first < BLOCK, end - first, code.integer(BLOCK))
        x, new, measure = (
            array.part(first * width) for array, width in zip(arrays, (size, size, 2), strict=True)
        )
        taken = [(x, size), *((array.part(first * w), w) for array, w in inputs)]
        taken += [(new, size), (measure, code.integer(2))]
        going = code.variable(1)
        for k in code.each(steps):
            with code.when(going.value.equals(1)):
                pairs = [(array.pointer, width) for array, width in taken]
                call_rows(code, function, count, pairs)
                going.value = 0
                for r in code.each(count):
                    open_, long_ = measure.get(r * 2) > error, measure.get(r * 2 + 1) > length
                    with code.when(open_ & long_ & (k < steps - 1)):
                        going.value = 1
                        for j in code.each(size):
                            x.put(r * size + j, new.get(r * size + j))
    return code.ir()
