"""Functions of robots as operations of PyTorch, on the CPU (extra ``torch``)."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from robodyn.arguments import checked_arguments
from robodyn.codegen import Function, Memo
from robodyn.errors import MissingExtraError, ShapeError
from robodyn.interop.derived import checked_batch, pullback, pushforward

try:
    import torch
except ImportError as error:
    raise MissingExtraError("torch", "torch", "computing within PyTorch") from error


@checked_arguments
def operation(function: Function) -> Callable[..., Any]:
    """A function of a robot as an operation of PyTorch.

    It is called with one tensor an input, whose leading axes broadcast together, and computes with
    the memory of the tensors where it is contiguous. ``backward``, `torch.func.grad`,
    `torch.func.jvp`, `torch.func.vmap` and the like work, derivatives of derivatives too, by the
    exact derivatives of the function. All-float32 tensors are computed in float32, everything else
    in float64.

    Parameters
    ----------
    function : Function
        Of `Robot.function`, one of its derivatives, or another, as of `robodyn.step_function`.
        Numbers of each input are differentiated one by one, those of quaternions too.

    Returns
    -------
    call : callable
        From tensors to one, or a tuple of them if there are several outputs. Tensors that are not
        on the CPU raise `ShapeError`.

    Raises
    ------
    MissingExtraError
        Without torch, when this module is imported.
    """
    known = _Derived(function)

    def call(*tensors: Any) -> Any:
        results = _Call.apply(known, *_as_inputs(function, tensors))
        return results[0] if len(results) == 1 else results

    call.__name__ = call.__qualname__ = function.name
    call.__doc__ = repr(function)
    return call


def _as_inputs(function: Function, tensors: Sequence[Any]) -> list[Any]:
    """Tensors on the CPU, of one type, that have the same leading axes."""
    ports, given = function.inputs, [torch.as_tensor(x) for x in tensors]
    batch = checked_batch(ports, given, lambda x: not x.is_complex())
    for port, x in zip(ports, given, strict=True):
        if x.device.type != "cpu":
            raise ShapeError(
                f"{port.name} is on the device {x.device}, expected a tensor on the CPU: "
                f"give {port.name}.cpu()",
                name=port.name,
                given=str(x.device),
                expected="cpu",
            )
    single = all(x.dtype == torch.float32 for x in given)
    dtype = torch.float32 if single else torch.float64
    shapes = [(*batch, *port.shape) for port in ports]
    return [x.to(dtype).expand(shape) for x, shape in zip(given, shapes, strict=True)]


class _Derived:
    """A function, and those that are derived of it, each made when it is first needed."""

    def __init__(self, function: Function) -> None:
        self.function = function
        self._made: Memo[_Derived] = Memo()

    def derived(self, how: Callable[..., Function], indices: Sequence[int]) -> _Derived:
        """Its `pullback` or `pushforward` by some of its inputs."""
        names = tuple(self.function.inputs[k].name for k in indices)
        return self._made.get((how, names), lambda: _Derived(how(self.function, names)))


class _Call(torch.autograd.Function):
    """The call of a function, as PyTorch differentiates it and runs it over batches."""

    @staticmethod
    def forward(known: _Derived, *tensors: Any) -> tuple[Any, ...]:
        results = known.function(*(x.numpy(force=True) for x in tensors))
        several = results if isinstance(results, tuple) else (results,)
        return tuple(torch.from_numpy(np.asarray(x)) for x in several)

    @staticmethod
    def setup_context(ctx: Any, inputs: tuple[Any, ...], output: Any) -> None:
        ctx.known, *tensors = inputs
        ctx.save_for_backward(*tensors)
        ctx.save_for_forward(*tensors)

    @staticmethod
    def backward(ctx: Any, *weights: Any) -> tuple[Any, ...]:
        wanted = [k for k, needed in enumerate(ctx.needs_input_grad[1:]) if needed]
        back = ctx.known.derived(pullback, wanted)
        slopes: list[Any] = [None] * len(ctx.needs_input_grad)
        for k, slope in zip(wanted, _Call.apply(back, *ctx.saved_tensors, *weights), strict=True):
            slopes[1 + k] = slope
        return tuple(slopes)

    @staticmethod
    def jvp(ctx: Any, _: None, *changes: Any) -> tuple[Any, ...]:
        moved = [k for k, x in enumerate(changes) if x is not None]
        along = ctx.known.derived(pushforward, moved)
        given = (*ctx.saved_tensors, *(changes[k] for k in moved))
        return tuple(_Call.apply(along, *given))

    @staticmethod
    def vmap(info: Any, axes: tuple[Any, ...], known: _Derived, *tensors: Any) -> Any:
        first = [
            x.expand(info.batch_size, *x.shape) if axis is None else x.movedim(axis, 0)
            for x, axis in zip(tensors, axes[1:], strict=True)
        ]
        results = _Call.apply(known, *first)
        return results, (0,) * len(results)
