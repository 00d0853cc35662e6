"""The machine code of a program, compiled when it is first needed."""

from __future__ import annotations

import ctypes
from collections.abc import Callable
from functools import partial
from typing import Any

from robodyn.codegen.llvm.cache.object_code import program_key
from robodyn.codegen.llvm.compilation.machine_code import MachineCode, machine_code
from robodyn.codegen.llvm.kernels.kernel_ir import batch_ir, in_pieces, scalar_ir
from robodyn.codegen.llvm.target.once import making, without_collections
from robodyn.codegen.llvm.target.target import Recipe, chosen_target
from robodyn.codegen.trampolines import Trampoline
from robodyn.codegen.vectorcall.table import Table
from robodyn.symbolic.graph import Program

#: Number of operations from which on a first tier is worthwhile; full code of fewer operations
#: takes a few hundredths of a second.
LONG = 400

#: Bytes of the stack that code of the first tier needs for each operation and state, and the
#: largest number of bytes, as threads may have small stacks.
STACK, MOST_STACK = 4, 80_000

#: ``f(begin, end, pointers, strides)`` of rows, called without the interpreter's lock.
_BATCH = ctypes.CFUNCTYPE(None, ctypes.c_int64, ctypes.c_int64, ctypes.c_void_p, ctypes.c_void_p)
#: ``f(pointers)``, too short to give the lock away.
_PACKED = ctypes.PYFUNCTYPE(None, ctypes.c_void_p)


class CompiledCode:
    """Machine code of a program for one dtype.

    dtype {"double", "float"}
    """

    def __init__(self, program: Program, dtype: str) -> None:
        self._program, self._dtype = program, dtype
        self._codes: dict[str, MachineCode] = {}

    def address(self, kind: str, name: str) -> int:
        """Address of a symbol of the ``"scalar"`` or ``"batch"`` code, compiled in full."""
        with making():
            code = self._code(kind)
            code.finish()
            return code.address(name)

    def current(self, kind: str, name: str, replaced: Callable[[int], None]) -> int:
        """Address in the code that can be had first; the one in the full code is told later.

        Both are valid as long as the code lives.
        """
        with making():
            code = self._code(kind)
            code.when_full(lambda: replaced(code.address(name)))
            return code.address(name)

    def _code(self, kind: str) -> MachineCode:
        if kind not in self._codes:
            with without_collections():
                self._codes[kind] = self._load(kind)
        return self._codes[kind]

    def _load(self, kind: str) -> MachineCode:
        target, program, dtype = chosen_target(), self._program, self._dtype
        make = partial(scalar_ir if kind == "scalar" else batch_ir, program, target, dtype)
        key = program_key("robodyn.codegen.llvm.kernels.kernel_ir", program, target, kind, dtype)
        size, pieces = len(program.live()), in_pieces(program, kind)
        stack = STACK * size * (target.lanes(dtype) if kind == "batch" else 1)
        return machine_code(
            key,
            make,
            Recipe(level=1 if pieces else 2),
            program.name,
            long=size >= LONG and (pieces or stack <= MOST_STACK),
            # packs have all values on the stack there, and take a while to be found
            first=partial(make, packed=False) if kind == "scalar" and pieces else None,
        )


class Kernels:
    """The machine code of a function for one dtype, as it is called.

    dtype {"double", "float"}
    table: Of the call entry, which gets the address of each kernel.
    trampoline, optional: Makes what calls kernels with the numbers of one robot as their last
        input.
    """

    def __init__(
        self,
        code: CompiledCode,
        dtype: str,
        table: Table | None,
        trampoline: Callable[[], Trampoline] | None = None,
    ) -> None:
        self._code, self._dtype, self._table = code, dtype, table
        self._make, self._made = trampoline, list[Trampoline]()
        self._addresses: dict[tuple[str, str], int] = {}
        self._called: dict[str, Any] = {}
        if table is not None:
            table.keep((code, self._made))

    def address(self, kind: str, name: str) -> int:
        """Address of a symbol of the ``"scalar"`` or ``"batch"`` code, compiled in full."""
        return self._with_numbers(name, self._code.address(kind, name))

    def _with_numbers(self, name: str, kernel: int) -> int:
        """Address of a kernel without the last input; full code replaces first code there."""
        if self._make is None:
            return kernel
        with making():
            if not self._made:
                self._made.append(self._make())
            return self._made[0].address(name, kernel)

    def current(self, kind: str, name: str) -> int:
        """Address in the best code that there is yet, for the entry too."""
        known = self._addresses.get((kind, name))
        if known is not None:  # to ask LLVM again would wait for what it compiles
            return known
        with making():
            place = partial(self._place, kind, name)
            place(self._code.current(kind, name, place))
            return self._addresses[kind, name]

    def _place(self, kind: str, name: str, kernel: int) -> None:
        self._addresses[kind, name] = address = self._with_numbers(name, kernel)
        self._called.pop(name, None)
        if self._table is not None:
            suffix = "" if self._dtype == "double" else "32"
            self._table[name + suffix] = address
            if self.lanes > 1:
                self._table["lanes" + suffix] = self.lanes

    @property
    def packed(self) -> Any:
        """One state."""
        return self._callable("packed", _PACKED)

    @property
    def rows(self) -> Any:
        """States one by one."""
        return self._callable("rows", _BATCH)

    def _callable(self, name: str, kind: Any) -> Any:
        known = self._called.get(name)
        if known is None:
            with making():
                known = self._called[name] = kind(self.current("scalar", name))
        return known

    @property
    def batch(self) -> int:
        """Address of the code for states a vector at a time; at least one vector of them."""
        return self.current("batch", "batch")

    @property
    def lanes(self) -> int:
        """States in a vector."""
        return chosen_target().lanes(self._dtype)
