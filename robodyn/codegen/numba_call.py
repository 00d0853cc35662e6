"""Functions for numba's compiled loops: a check of shapes, then a call of the machine code."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from robodyn.errors import MissingExtraError, ShapeError
from robodyn.symbolic.graph import Port

#: Owners of machine code whose address numba has; numba never unloads compiled functions.
_kept: list[object] = []


def numba_function(
    inputs: tuple[Port, ...],
    outputs: tuple[Port, ...],
    address: Callable[[str], int],
    owner: object,
) -> Any:
    """A numba dispatcher ``call(in0, ..., out0, ...)`` for one state.

    address: From ``"double"`` or ``"float"`` to the address of ``kernel(in0, ..., out0, ...)``.
    owner: What the machine code lives with; kept alive from now on.
    Raises MissingExtraError: Without numba.
    """
    try:
        import numba
        from numba.extending import intrinsic
    except ImportError as error:
        raise MissingExtraError("numba", "", "calling a function from compiled loops") from error
    ports = (*inputs, *outputs)

    def typed(context: Any, arrays: Any) -> Any:
        dtype = _checked(ports, len(inputs), arrays)
        where = address(dtype)

        def emit(context: Any, builder: Any, signature: Any, args: Any) -> Any:
            pointers = _pointers(context, builder, ports, signature.args[0], args[0])
            _refuse_overlaps(context, builder, ports, len(inputs), pointers, dtype)
            _emit_call(context, builder, where, [pointer for pointer, _ in pointers])
            return context.get_dummy_value()

        return numba.types.void(arrays), emit

    kernel: Any = intrinsic(typed)

    def call(*arrays: Any) -> None:
        kernel(arrays)

    _kept.append(owner)
    return numba.njit(call)


def _checked(ports: tuple[Port, ...], inputs: int, arrays: Any) -> str:
    """The dtype of the call, from the types of its arrays."""
    from numba.core import errors, types

    if len(arrays) != len(ports):
        names = ", ".join(port.name for port in ports)
        raise errors.TypingError(
            f"{len(arrays)} arrays given, expected {len(ports)} (inputs, then outputs): {names}"
        )
    dtype = getattr(arrays[0], "dtype", None)
    dtype = dtype if dtype == types.float32 else types.float64
    for k, (port, given) in enumerate(zip(ports, arrays, strict=True)):
        axes = len(port.shape)
        fits = isinstance(given, types.Array) and (given.ndim, given.layout) == (axes, "C")
        if not fits or given.dtype != dtype or not given.aligned:
            raise errors.TypingError(
                f"{port.name} is {given}, expected a C-contiguous {dtype} array with {axes} axes"
            )
        if k >= inputs and not given.mutable:
            raise errors.TypingError(f"the array for {port.name} is read-only")
    return "float" if dtype == types.float32 else "double"


def _pointers(context: Any, builder: Any, ports: tuple[Port, ...], kinds: Any, value: Any) -> Any:
    """Data pointer and address of each array, where all have the shapes of the ports."""
    from llvmlite import ir
    from numba.core import cgutils
    from numba.np.arrayobj import make_array

    pointers = []
    for port, kind, packed in zip(
        ports, kinds, cgutils.unpack_tuple(builder, value, len(ports)), strict=True
    ):
        array = make_array(kind)(context, builder, packed)
        lengths = cgutils.unpack_tuple(builder, array.shape, len(port.shape))
        for length, expected in zip(lengths, port.shape, strict=True):
            wrong = builder.icmp_signed("!=", length, ir.Constant(length.type, expected))
            with builder.if_then(wrong, likely=False):
                message = f"{port.name} has a wrong shape, expected {port.shape}"
                context.call_conv.return_user_exc(builder, ShapeError, (message,))
        pointers.append((array.data, builder.ptrtoint(array.data, cgutils.intp_t)))
    return pointers


def _refuse_overlaps(
    context: Any, builder: Any, ports: tuple[Port, ...], inputs: int, pointers: Any, dtype: str
) -> None:
    """Check that outputs do not overlap inputs, as machine code assumes."""
    from llvmlite import ir

    item = 8 if dtype == "double" else 4
    for k in range(inputs, len(ports)):
        for other in range(k):
            (_, a), (_, b) = pointers[k], pointers[other]
            a_end = builder.add(a, ir.Constant(a.type, item * ports[k].size))
            b_end = builder.add(b, ir.Constant(b.type, item * ports[other].size))
            before = builder.icmp_unsigned("<", a, b_end)
            after = builder.icmp_unsigned("<", b, a_end)
            with builder.if_then(builder.and_(before, after), likely=False):
                message = f"the array for {ports[k].name} overlaps that for {ports[other].name}"
                context.call_conv.return_user_exc(builder, ShapeError, (message,))


def _emit_call(context: Any, builder: Any, address: int, pointers: list[Any]) -> None:
    """A call of an address that numba knows not to outlive the process (it caches no caller)."""
    from llvmlite import ir
    from numba.core import cgutils

    kind = ir.FunctionType(ir.VoidType(), [cgutils.voidptr_t] * len(pointers))
    function = context.add_dynamic_addr(builder, address, info="robodyn_kernel")
    function = builder.bitcast(function, kind.as_pointer())
    builder.call(function, [builder.bitcast(x, cgutils.voidptr_t) for x in pointers])
