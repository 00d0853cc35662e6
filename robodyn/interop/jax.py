"""Functions of robots as operations of JAX, on the CPU (extra ``jax``)."""

from __future__ import annotations

import ctypes
import math
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import numpy as np

from robodyn.arguments import checked_arguments
from robodyn.array_types import IntArray
from robodyn.codegen import Function, Memo
from robodyn.codegen.llvm.batches import threads
from robodyn.codegen.llvm.programs.xla_handler import handler_address
from robodyn.codegen.llvm.target.once import once
from robodyn.errors import MissingExtraError
from robodyn.interop.derived import checked_batch, with_jacobians
from robodyn.literals import Precision

try:
    import jax
    import jax.numpy as jnp
    from jax.custom_batching import custom_vmap
    from jax.custom_derivatives import SymbolicZero
except ImportError as error:
    raise MissingExtraError("jax", "jax", "computing within JAX") from error


#: The name under which XLA knows the code that it calls.
TARGET = "robodyn_call_rows"

#: Operations that were made. Programs that JAX has compiled call the machine code of these
#: functions by its address, for as long as the process lasts.
_made: Memo[Callable[..., Any]] = Memo()


@checked_arguments
def operation(function: Function) -> Callable[..., Any]:
    """A function of a robot as an operation of JAX.

    It is called with one array an input, whose leading axes broadcast together; `jax.jit`,
    `jax.vmap`, `jax.grad`, `jax.jacfwd` and the like work, derivatives of derivatives too. A
    program of JAX calls the machine code of the function at its address, many states at once
    where there are many, and takes its exact derivatives. All-float32 arrays, which JAX makes
    unless ``jax_enable_x64`` is set, are computed in float32, everything else in float64.

    Parameters
    ----------
    function : Function
        Of `Robot.function`, one of its derivatives, or another, as of `robodyn.step_function`.
        Numbers of each input are differentiated one by one, those of quaternions too.

    Returns
    -------
    call : callable
        From arrays of JAX to one, or a tuple of them if there are several outputs.

    Raises
    ------
    MissingExtraError
        Without jax, when this module is imported.
    """
    return _made.get(function, lambda: _operation(function))


def _operation(function: Function) -> Callable[..., Any]:
    rows = _over_rows(function)

    def call(*arrays: Any) -> Any:
        given, batch = _as_rows(function, arrays)
        results = rows(*given)
        shaped = [
            result.reshape(*batch, *port.shape)
            for result, port in zip(results, function.outputs, strict=True)
        ]
        return shaped[0] if len(shaped) == 1 else tuple(shaped)

    call.__name__ = call.__qualname__ = function.name
    call.__doc__ = repr(function)
    return call


def _as_rows(function: Function, arrays: Sequence[Any]) -> tuple[list[Any], tuple[int, ...]]:
    """Arrays of shape (rows, *shape of the input), where one row stands for all; leading axes."""
    ports, given = function.inputs, [jnp.asarray(x) for x in arrays]
    batch = checked_batch(ports, given, lambda x: jnp.isrealobj(x) and x.dtype.kind != "V")
    single = all(x.dtype == np.float32 for x in given)
    dtype = jnp.float32 if single or not jax.config.jax_enable_x64 else jnp.float64
    rows = []
    for port, x in zip(ports, given, strict=True):
        leading = x.shape[: x.ndim - len(port.shape)]
        if math.prod(leading) != 1 and leading != batch:
            x = jnp.broadcast_to(x, (*batch, *port.shape))
            leading = batch
        rows.append(x.astype(dtype).reshape(math.prod(leading), *port.shape))
    return rows, batch


def _over_rows(function: Function) -> Any:
    """The function over arrays of shape (rows, *shape of the input), with its derivatives."""
    batched = custom_vmap(partial(_call, function))
    batched.def_vmap(partial(_vmap, function, batched))

    differentiable: Any = jax.custom_jvp(batched)

    def jvp(primals: Sequence[Any], tangents: Sequence[Any]) -> tuple[list[Any], list[Any]]:
        moved = [k for k, x in enumerate(tangents) if not isinstance(x, SymbolicZero)]
        names = tuple(function.inputs[k].name for k in moved)
        *values, slopes = derivatives(names)(*primals)
        count, ends = len(slopes), np.cumsum([port.size for port in function.outputs])
        flat = [tangents[k].reshape(len(tangents[k]), function.inputs[k].size) for k in moved]
        change = jnp.hstack([jnp.broadcast_to(x, (count, x.shape[1])) for x in flat])
        parts = jnp.split(jnp.einsum("nij,nj->ni", slopes, change), ends[:-1], axis=1)
        return values, [x.reshape(y.shape) for x, y in zip(parts, values, strict=True)]

    known: Memo[Callable[..., list[Any]]] = Memo()

    def derivatives(names: tuple[str, ...]) -> Callable[..., list[Any]]:
        return known.get(names, lambda: _over_rows(with_jacobians(function, names)))

    differentiable.defjvp(jvp, symbolic_zeros=True)
    return differentiable


def _call(function: Function, *arrays: Any) -> list[Any]:
    """Have XLA call the machine code."""
    _register()
    count = max((len(x) for x in arrays if len(x) != 1), default=1)
    dtype = arrays[0].dtype if arrays else np.dtype(np.float64)
    results = [jax.ShapeDtypeStruct((count, *port.shape), dtype) for port in function.outputs]
    words = _words(function, "float" if dtype == np.float32 else "double")
    return list(jax.ffi.ffi_call(TARGET, results)(*arrays, words=words))


def _words(function: Function, dtype: Precision) -> IntArray:
    """What XLA is told of a function: the table that `xla_handler.WORDS` describes.

    function: Has to stay as long as its code may be called.
    dtype {"double", "float"}
    """
    threads.start()
    ports = (*function.inputs, *function.outputs)
    run = threads.parallel_for_address()
    lanes = function.lanes(dtype)
    kernels = [function.rows_address(batch, dtype, full=True) for batch in (False, True)]
    head = [*kernels, lanes, function.work, run, threads.pool()]
    counts = [len(function.inputs), len(function.outputs)]
    return np.array([*head, *counts, *(port.size for port in ports)], np.int64)


def _vmap(
    function: Function, batched: Any, size: int, is_batched: Sequence[bool], *arrays: Any
) -> tuple[list[Any], list[bool]]:
    """Many calls are one with more rows."""
    lengths = [x.shape[1] if b else len(x) for x, b in zip(arrays, is_batched, strict=True)]
    count = max((n for n in lengths if n != 1), default=1)
    rows = []
    for x, b, port in zip(arrays, is_batched, function.inputs, strict=True):
        if b or len(x) != 1:
            full = jnp.broadcast_to(x if b else x[None], (size, count, *port.shape))
            x = full.reshape(size * count, *port.shape)
        rows.append(x)
    results = batched(*rows)
    return [x.reshape(size, count, *x.shape[1:]) for x in results], [True] * len(results)


@once
def _register() -> None:
    address = ctypes.c_void_p(handler_address())
    jax.ffi.register_ffi_target(TARGET, jax.ffi.pycapsule(address), platform="cpu")
