"""The machine code of a program, compiled when it is first needed."""

from __future__ import annotations

import ctypes
from typing import Any, Protocol

from robodyn.codegen.llvm.cache.object_code import compiled, program_key
from robodyn.codegen.llvm.kernels.kernel_ir import batch_ir, in_pieces, scalar_ir
from robodyn.codegen.llvm.target.once import Memo, making
from robodyn.codegen.llvm.target.target import chosen_target, load_object, object_code
from robodyn.codegen.vectorcall.table import Table
from robodyn.progress import progress
from robodyn.symbolic.graph import Program

__all__ = ["Code", "CompiledCode", "Kernels"]

#: ``f(begin, end, pointers, strides)`` of rows, called without the interpreter's lock.
_BATCH = ctypes.CFUNCTYPE(None, ctypes.c_int64, ctypes.c_int64, ctypes.c_void_p, ctypes.c_void_p)
#: ``f(pointers)``, too short to give the lock away.
_PACKED = ctypes.PYFUNCTYPE(None, ctypes.c_void_p)


class Code(Protocol):
    """Machine code, as far as its symbols have been asked for."""

    def address(self, kind: str, name: str) -> int:
        """Address of a symbol of the ``"scalar"`` or ``"batch"`` code."""


class CompiledCode:
    """Machine code of a program for one dtype.

    Parameters
    ----------
    program : Program
    dtype : {"double", "float"}
    """

    def __init__(self, program: Program, dtype: str) -> None:
        self._program, self._dtype = program, dtype
        self._engines: dict[str, Any] = {}

    def address(self, kind: str, name: str) -> int:
        """Address of a symbol of the ``"scalar"`` or ``"batch"`` code."""
        with making():
            if kind not in self._engines:
                self._engines[kind] = self._load(kind)
            return int(self._engines[kind].get_function_address(name))

    def _load(self, kind: str) -> Any:
        target, program, dtype = chosen_target(), self._program, self._dtype
        make = scalar_ir if kind == "scalar" else batch_ir
        key = program_key("robodyn.codegen.llvm.kernels.kernel_ir", program, target, kind, dtype)
        quick = in_pieces(program)

        def code() -> bytes:
            with progress(f"compiling {program.name}"):
                return object_code(make(program, target, dtype), quick)

        return load_object(compiled(key, code))


class Kernels:
    """Machine code of a function for one dtype, as it is called.

    Parameters
    ----------
    code : Code
    dtype : {"double", "float"}
    table : Table or None
        Of the call entry, which gets the address of each kernel.
    """

    def __init__(self, code: Code, dtype: str, table: Table | None) -> None:
        self._code, self._dtype, self._table = code, dtype, table
        self._addresses: dict[tuple[str, str], int] = {}
        self._called: Memo[Any] = Memo()
        if table is not None:
            table.keep(code)

    def address(self, kind: str, name: str) -> int:
        """Address of a symbol of the ``"scalar"`` or ``"batch"`` code, for the entry too."""
        known = self._addresses.get((kind, name))
        if known is not None:  # to ask LLVM again would wait for what it compiles
            return known
        with making():
            address = self._code.address(kind, name)
            if self._table is not None and name != "kernel":
                suffix = "" if self._dtype == "double" else "32"
                self._table[name + suffix] = address
                if self.lanes > 1:
                    self._table["lanes" + suffix] = self.lanes
            self._addresses[kind, name] = address
        return address

    @property
    def packed(self) -> Any:
        """One state."""
        return self._called.get("packed", lambda: _PACKED(self.address("scalar", "packed")))

    @property
    def rows(self) -> Any:
        """States one by one."""
        return self._called.get("rows", lambda: _BATCH(self.address("scalar", "rows")))

    @property
    def batch(self) -> int:
        """Address of the code for states a vector at a time; at least one vector of them."""
        return self.address("batch", "batch")

    @property
    def lanes(self) -> int:
        """States in a vector."""
        return chosen_target().lanes(self._dtype)
