"""From a program to C99, one function without allocation, and to a CUDA kernel over a batch."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from robodyn.codegen.calls.arguments import apart, check_axes, check_count, common_batch
from robodyn.codegen.text.assignments import (
    C_WORDS,
    argument_names,
    legal_name,
    named_constants,
    port_comments,
    statements,
)
from robodyn.errors import ShapeError, optional
from robodyn.literals import Precision
from robodyn.symbolic.graph import Port, Program


def c_source(
    program: Program,
    name: str | None = None,
    dtype: Precision = "double",
    constants: Mapping[str, float] | None = None,
) -> str:
    """C99 source of a program.

    name, optional: Of the function. Default: the program's.
    constants: Numbers for inputs that are no arguments then, but constants with their names.
    Returns source: ``void name(const dtype *input, ..., dtype *output, ...)``; arrays are
        row-major.
    Raises UnknownNameError: For another dtype, or a constant that is no input.
    Raises SettingsError: For a constant that is an array.
    """
    values = named_constants(program, constants)
    names, inputs = argument_names(program), len(program.inputs)
    ports = [*zip(names, (*program.inputs, *program.outputs), strict=True)]
    given = [array for array, port in ports[:inputs] if port.name not in values]
    arguments = [f"const {dtype} *{array}" for array in given]
    arguments += [f"{dtype} *{array}" for array in names[inputs:]]
    suffix, first = "" if dtype == "double" else "f", 0
    known, body = {}, []
    for array, port in ports[:inputs]:
        if port.name in values:
            known[array] = values[port.name]
            if first in program.needed:
                body.append(f"static const {dtype} {array} = {known[array]!r}{suffix};")
        first += port.size

    def element(array: str, port: Port, k: int) -> str:
        return array if array in known else f"{array}[{k}]"

    body += statements(program, dtype, names, element)
    return "\n".join(
        [
            "#include <math.h>",
            "",
            f"/* {program.name}",
            *port_comments(program, names),
            " * No output may overlap an input. */",
            f"void {legal_name(name or program.name, C_WORDS)}({', '.join(arguments)})",
            "{",
            *(f"    {line}" for line in body),
            "}",
            "",
        ]
    )


#: Threads of a block, and most blocks of a launch: enough to fill any device, threads loop beyond.
THREADS, BLOCKS = 128, 65535


def cuda_source(program: Program, name: str | None = None, dtype: Precision = "double") -> str:
    """CUDA C source of a program.

    name, optional: Of the kernel. Default: the program's.
    Returns source: ``extern "C" __global__ void name(n, const dtype *input, ..., dtype *output,
        ...)`` for n states (``long long``, which has 64 bits everywhere); the arrays of a state are
        row-major and stand one after another.
    Raises UnknownNameError: For another dtype.
    """
    names, inputs = argument_names(program, taken=("n", "i", "step")), len(program.inputs)
    arguments = ["const long long n"]
    arguments += [f"const {dtype} *__restrict__ {array}" for array in names[:inputs]]
    arguments += [f"{dtype} *__restrict__ {array}" for array in names[inputs:]]
    body = statements(program, dtype, names, _element)
    return "\n".join(
        [
            f"/* {program.name}, for each of n states",
            *port_comments(program, names),
            " * No output may overlap an input. */",
            f'extern "C" __global__ void {legal_name(name or program.name, C_WORDS)}(',
            ",\n".join(f"    {argument}" for argument in arguments) + ")",
            "{",
            "    const long long step = (long long)gridDim.x * blockDim.x;",
            "    long long i = (long long)blockIdx.x * blockDim.x + threadIdx.x;",
            "    for (; i < n; i += step) {",
            *(f"        {line}" for line in body),
            "    }",
            "}",
            "",
        ]
    )


def _element(array: str, port: Port, k: int) -> str:
    return f"{array}[{port.size} * i + {k}]" if port.size > 1 else f"{array}[i]"


class CudaFunction:
    """A program that runs on a CUDA device, over arrays that are there.

    Call it with one array an input: cupy arrays, or any with ``__cuda_array_interface__``; leading
    axes are batches and broadcast together. It returns cupy arrays, or writes into ``out``, without
    waiting for the device. The kernel is compiled at the first call.

    dtype {"double", "float"}: Of the arithmetic; inputs of another type are converted.
    Raises MissingExtraError: Without cupy.
    Raises ShapeError: When called with arrays that do not fit.
    """

    inputs: tuple[Port, ...]
    outputs: tuple[Port, ...]
    dtype: np.dtype[Any]

    def __init__(self, program: Program, dtype: Precision = "double") -> None:
        source = cuda_source(program, dtype=dtype)
        cupy = optional("cupy", "cuda", "computing on a CUDA device")
        self.inputs, self.outputs = program.inputs, program.outputs
        self.dtype = np.dtype(np.float64 if dtype == "double" else np.float32)
        self._cupy = cupy
        self._kernel = cupy.RawKernel(source, legal_name(program.name, C_WORDS))

    def __call__(self, *arrays: Any, out: Any = None) -> Any:
        """Compute, for one state or a batch of them."""
        views = self._views(self.inputs, arrays, "arrays")
        batch = common_batch(self.inputs, views)
        with views[0].device:
            results = self._results(out, batch)
            inputs = [
                self._rows(port, x, batch) for port, x in zip(self.inputs, views, strict=True)
            ]
            # The kernel is promised that what it writes is not what it reads.
            written = apart(results, inputs, self._cupy)
            count = math.prod(batch)
            if count:
                blocks = min(-(-count // THREADS), BLOCKS)
                self._kernel((blocks,), (THREADS,), (np.int64(count), *inputs, *written))
            for result, computed in zip(results, written, strict=True):
                if result is not computed:
                    result[...] = computed
        if out is not None:
            return out
        return results[0] if len(results) == 1 else tuple(results)

    def _views(self, ports: Sequence[Port], arrays: Sequence[Any], what: str) -> list[Any]:
        """The arrays, as cupy sees them."""
        check_count(ports, len(arrays), what)
        views = []
        for port, array in zip(ports, arrays, strict=True):
            if not hasattr(array, "__cuda_array_interface__"):
                raise ShapeError(
                    f"{port.name} is {type(array).__name__}, expected an array on the device; "
                    "cupy.asarray copies one there",
                    name=port.name,
                    given=type(array).__name__,
                    expected=port.shape,
                )
            view = self._cupy.asarray(array)
            check_axes(port, view.shape)
            if view.dtype.kind not in "fiub":
                raise ShapeError(f"the elements of {port.name} are {view.dtype}", name=port.name)
            views.append(view)
        return views

    def _rows(self, port: Port, view: Any, batch: tuple[int, ...]) -> Any:
        full = self._cupy.broadcast_to(view, (*batch, *port.shape))
        return self._cupy.ascontiguousarray(full, self.dtype)

    def _results(self, out: Any, batch: tuple[int, ...]) -> list[Any]:
        shapes = [(*batch, *port.shape) for port in self.outputs]
        if out is None:
            return [self._cupy.empty(shape, self.dtype) for shape in shapes]
        given = out if isinstance(out, tuple | list) else (out,)
        views = self._views(self.outputs, given, "arrays for out")
        for port, shape, view in zip(self.outputs, shapes, views, strict=True):
            if view.shape != shape or view.dtype != self.dtype or not view.flags.c_contiguous:
                raise ShapeError(
                    f"out for {port.name} is {view.dtype} of shape {view.shape}, "
                    f"expected C-contiguous {self.dtype} of shape {shape}",
                    name="out",
                    given=(view.shape, view.dtype),
                    expected=(shape, self.dtype),
                )
        return views
