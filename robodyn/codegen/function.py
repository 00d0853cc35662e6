"""A program as a callable object over arrays."""

from __future__ import annotations

import ctypes
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from robodyn.arrays import as_inputs, as_output, rows
from robodyn.codegen.c import c_source
from robodyn.codegen.cache import compiled, program_key
from robodyn.codegen.llvm import batch_ir, scalar_ir
from robodyn.codegen.target import host, load_object, object_code
from robodyn.codegen.threads import in_chunks
from robodyn.symbolic.derivative import jacobian
from robodyn.symbolic.graph import Port, Program

__all__ = ["Function"]

Array = NDArray[Any]

_BATCH = ctypes.CFUNCTYPE(None, ctypes.c_int64, ctypes.c_int64, ctypes.c_void_p, ctypes.c_void_p)
_PACKED = ctypes.PYFUNCTYPE(None, ctypes.c_void_p)


class _Code:
    """Machine code of a program for one dtype."""

    def __init__(self, program: Program, dtype: str) -> None:
        self._program, self._dtype = program, dtype

    def _engine(self, kind: str) -> Any:
        target = host()
        make = scalar_ir if kind == "scalar" else batch_ir
        key = program_key(self._program, target, kind, self._dtype)
        code = compiled(key, lambda: object_code(make(self._program, target, self._dtype)))
        return load_object(code)

    @cached_property
    def scalar(self) -> Any:
        """Engine with ``kernel``, ``packed`` and ``rows``."""
        return self._engine("scalar")

    @cached_property
    def batch_engine(self) -> Any:
        """Engine with ``batch``."""
        return self._engine("batch")

    @cached_property
    def packed(self) -> Any:
        """One state; called with an array of pointers."""
        return _PACKED(self.scalar.get_function_address("packed"))

    @cached_property
    def rows(self) -> Any:
        """States one by one."""
        return _BATCH(self.scalar.get_function_address("rows"))

    @cached_property
    def batch(self) -> Any:
        """States a vector at a time."""
        return _BATCH(self.batch_engine.get_function_address("batch"))

    @property
    def lanes(self) -> int:
        """States in a vector."""
        return host().lanes(self._dtype)


class Function:
    """A compiled program.

    Call it with one array an input, in the order of ``inputs``; leading axes are batches and
    broadcast together. It returns the output (a tuple if there are several), or writes it into
    ``out``. All-float32 inputs are computed in float32, everything else in float64.

    Attributes
    ----------
    name : str
    inputs, outputs : tuple of Port
        Names, shapes of one state and units.

    Raises
    ------
    ShapeError
        When called with arrays that do not fit.
    """

    def __init__(self, program: Program) -> None:
        self.program = program
        self.name = program.name
        self.inputs: tuple[Port, ...] = program.inputs
        self.outputs: tuple[Port, ...] = program.outputs
        self._codes = {"double": _Code(program, "double"), "float": _Code(program, "float")}

    def __repr__(self) -> str:
        takes = ", ".join(f"{port.name}{list(port.shape)}" for port in self.inputs)
        gives = ", ".join(f"{port.name}{list(port.shape)}" for port in self.outputs)
        return f"<Function {self.name}({takes}) -> {gives}>"

    def __reduce__(self) -> Any:
        return Function, (self.program,)

    @cached_property
    def operations(self) -> dict[str, int]:
        """Number of operations for one state: ``mul``, ``add``, ``div``, ``sqrt``, ``sincos``."""
        return self.program.operations()

    def jacobian(self, name: str) -> Function:
        """Exact derivative of all outputs with respect to an input, as a Function.

        Parameters
        ----------
        name : str
            Name of an input.

        Raises
        ------
        KeyError
            If there is no such input.
        """
        return Function(jacobian(self.program, name))

    def c_source(self, name: str | None = None, dtype: str = "double") -> str:
        """C99 source for one state: no dependency but math.h, no allocation.

        Parameters
        ----------
        name : str, optional
            Of the C function. Default: the function's own.
        dtype : {"double", "float"}
        """
        return c_source(self.program, name, dtype)

    @property
    def address(self) -> int:
        """Address of ``void kernel(double *in0, ..., double *out0, ...)`` for one state."""
        return int(self._codes["double"].scalar.get_function_address("kernel"))

    def __call__(self, *arrays: ArrayLike, out: Any = None) -> Any:
        """Compute, for one state or a batch of them."""
        if len(arrays) == len(self.inputs) + 1 and out is None:
            arrays, out = arrays[:-1], arrays[-1]
        inputs, batch, dtype = as_inputs(self.inputs, arrays)
        given = (out,) if len(self.outputs) == 1 or out is None else tuple(out)
        given = given * len(self.outputs) if out is None else given
        results = [
            as_output(port, target, batch, dtype)
            for port, target in zip(self.outputs, given, strict=True)
        ]
        # Machine code is promised that what it writes is not what it reads.
        written = [
            np.empty_like(result)
            if any(np.may_share_memory(result, x) for x in (*inputs, *others))
            else result
            for result, others in ((r, [o for o in results if o is not r]) for r in results)
        ]
        self._compute(
            self._codes["float" if dtype == np.float32 else "double"], inputs, written, batch
        )
        for result, computed in zip(results, written, strict=True):
            if result is not computed:
                result[...] = computed
        shown = [r[()] if not r.shape and out is None else r for r in results]
        return shown[0] if len(shown) == 1 else tuple(shown)

    def _compute(
        self, code: _Code, inputs: list[Array], outputs: list[Array], batch: tuple[int, ...]
    ) -> None:
        count = int(np.prod(batch, dtype=np.int64))
        if count == 0:
            return
        flat = [rows(x, port, batch) for x, port in zip(inputs, self.inputs, strict=True)]
        arrays = [x for x, _ in flat] + outputs
        pointers = (ctypes.c_void_p * len(arrays))(*(x.ctypes.data for x in arrays))
        if count == 1:
            code.packed(pointers)
            return
        steps = [step for _, step in flat] + [port.size for port in self.outputs]
        strides = (ctypes.c_int64 * len(steps))(*steps)
        if code.lanes == 1 or count < code.lanes:
            code.rows(0, count, pointers, strides)
            return
        work = sum(self.operations.values())
        in_chunks(
            lambda begin, end: code.batch(begin, end, pointers, strides), count, work, code.lanes
        )
