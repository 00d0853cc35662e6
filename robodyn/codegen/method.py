"""Methods whose calls go directly to machine code.

A method of a robot stands for one function for each choice of its options. It is an ordinary method
written in Python, which finds the function and calls it. `bind_compiled` makes a bound method of it
that remembers, by `add_function`, which function belongs to which options; a call with options that
it knows never runs Python.
"""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Collection, Mapping, Sequence
from types import MethodType
from typing import Any

from robodyn.codegen.function import Function
from robodyn.codegen.llvm.target.once import making, once
from robodyn.codegen.vectorcall.signature import REQUIRED, FiniteCheck, Parameter, Role, Signature
from robodyn.codegen.vectorcall.vectorcall_type import VectorcallType, vectorcall_type

__all__ = ["add_function", "bind_compiled"]


class _Method:
    """A bound method whose calls go to machine code if possible, else to Python.

    Parameters
    ----------
    method : callable
        The bound method written in Python.
    signature : Signature
        Kept as long as what points to it.
    """

    #: Machine code points into the signature: it stays although ``__dict__`` is emptied.
    __slots__ = ("__dict__", "__weakref__", "_signature")

    _method: Callable[..., Any]
    _signature: Signature

    def __init__(self, method: Callable[..., Any], signature: Signature) -> None:
        kept: dict[str, Any] = {x: getattr(method, x) for x in functools.WRAPPER_ASSIGNMENTS}
        self.__dict__.update(kept, __wrapped__=method, _method=method)
        object.__setattr__(self, "_signature", signature)

    @property  # type: ignore[misc]
    def __class__(self) -> type[MethodType]:  # type: ignore[override]
        """A bound method: `help`, `inspect` and editors treat it as what it stands for."""
        return MethodType

    @property
    def __func__(self) -> Any:
        """The function that the method is made of."""
        return self._method.__func__  # type: ignore[attr-defined]

    @property
    def __self__(self) -> Any:
        """What the method is bound to."""
        return self._method.__self__  # type: ignore[attr-defined]

    def __setattr__(self, name: str, value: Any) -> None:
        # machine code points into the signature, which has to stay
        raise AttributeError(f"a method of a robot is never changed ({name!r})")

    def __delattr__(self, name: str) -> None:
        raise AttributeError(f"a method of a robot is never changed ({name!r})")

    def __repr__(self) -> str:
        return repr(self._method)

    def __reduce__(self) -> Any:
        return getattr, (self.__self__, self._method.__name__)

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """Call the method."""
        return self._method(*args, **kwargs)


def bind_compiled(
    method: Callable[..., Any],
    arrays: Sequence[str],
    at_rest: Sequence[Any] = (),
    by_joint: Sequence[str] = (),
    optional: Sequence[str] = (),
) -> Callable[..., Any]:
    """A bound method that can call machine code, or ``method`` if this Python does not allow it.

    Parameters
    ----------
    method : callable
        A bound method. Its parameters ``out``, ``base`` and ``wrenches`` are what they are for all
        methods of a robot; those that are no arrays either are options, which choose a function.
    arrays : sequence of str
        Names of the parameters that are the function's inputs, in order. One that is annotated as
        a float has to be one.
    at_rest : sequence of 3 ndarray, optional
        Pose, twist and acceleration of a base at rest: of a robot whose base has a motion, which
        are inputs of the function after all others.
    by_joint : sequence of str
        Names of the parameters that are mappings from joints to numbers, which stand in inputs of
        the function after ``arrays``.
    optional : sequence of str
        Of the arrays that have a default, those of which the default leaves them out.
    """
    fast = _vectorcall_type()
    if fast is None:
        return method
    function = getattr(method, "__func__", method)
    names = tuple(arrays), tuple(by_joint), tuple(optional)
    parameters = _parameters(function, bool(at_rest), *names)
    if parameters is None:
        return method
    signature = Signature(fast.common, parameters, at_rest)
    made: Callable[..., Any] = fast.type(method, signature)
    fast.attach(made, signature)
    return made


def add_function(
    method: object,
    function: Function,
    options: Mapping[str, object] | None = None,
    names: Sequence[str | bool | None] = (),
    *,
    finite: bool = False,
    make: Callable[..., object] | None = None,
    made_of: int = 0,
    places: Sequence[int] = (),
    by_joint: int = 0,
    missing: Collection[str] = (),
) -> None:
    """Let calls of a `bind_compiled` method with some options go straight to a function.

    Where numbers are not finite, the method is asked. Does nothing where the method is an ordinary
    one, or where they already do.

    Parameters
    ----------
    method : object
    function : Function
        It takes the method's arrays, what is given by joint, the motion of the base if there is
        one, and the wrenches.
    options : mapping of parameter name to value
        Those that are not named have their default.
    names : sequence of str, bool or None
        Joints and links in the mappings of the call, in order: after those of each parameter that
        is given by joint stands ``None``, and last are the links on which wrenches act.
    finite : bool
        The results are finite wherever the arguments are: those may be looked at instead.
    make : callable, optional
        Makes what the method returns, of what the function gives and of the first arrays.
    made_of : int
        How many of the arrays that is.
    places : sequence of int
        Where the number of each of the ``names`` goes, counted over the inputs that are given by
        joint one after the other; -1 where it is none.
    by_joint : int
        How many inputs that is.
    missing : names of arrays
        Those that are None, or left out.
    """
    table = function.table
    if table is None or not isinstance(method, _Method):
        return
    few = sum(port.size for port in function.inputs) < function.outputs[0].size
    look = FiniteCheck.ARGUMENTS if finite and few else FiniteCheck.RESULTS
    with making():
        method._signature.add(
            table, options, names, look=look, make=make, made_of=made_of, places=places,
            by_joint=by_joint, missing=missing,
        )  # fmt: skip


@functools.cache
def _parameters(
    function: Callable[..., Any],
    moving: bool,
    arrays: tuple[str, ...],
    by_joint: tuple[str, ...],
    optional: tuple[str, ...],
) -> tuple[Parameter, ...] | None:
    """Parameters of a method without ``self``; ``None`` if the entry cannot call it."""
    roles = dict.fromkeys(arrays, Role.ARRAY)
    roles |= {"out": Role.OUT, "wrenches": Role.WRENCHES}
    roles |= dict.fromkeys(by_joint, Role.BY_JOINT)
    if moving:
        roles["base"] = Role.BASE
    found = []
    for p in list(inspect.signature(function).parameters.values())[1:]:
        if p.kind not in (p.POSITIONAL_OR_KEYWORD, p.KEYWORD_ONLY):
            return None
        default = REQUIRED if p.default is p.empty else p.default
        default = None if p.name in optional else default
        role = roles.get(p.name, Role.OPTION)
        if role is Role.ARRAY and p.annotation in (float, "float"):
            role = Role.NUMBER
        found.append(Parameter(p.name, role, default, p.kind is p.POSITIONAL_OR_KEYWORD))
    in_order = tuple(p.name for p in found if p.name in arrays) == arrays
    return tuple(found) if in_order and Signature.fits(found) else None


@once
def _vectorcall_type() -> VectorcallType | None:
    return vectorcall_type(_Method, _Method.__call__)
