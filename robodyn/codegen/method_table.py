"""Methods of one object whose calls go directly to machine code.

A method of a robot stands for one function for each choice of its options. It is an ordinary method
written in Python, which asks for a quantity and returns the result. While it runs, its table knows
how it was called: what answers it with the result of one function says so by `answered`, and from
then on calls of that form run no Python.
"""

from __future__ import annotations

import functools
import inspect
import threading
from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import chain, repeat
from types import MethodType
from typing import Any

import numpy as np

from robodyn.codegen.function import Function
from robodyn.codegen.llvm.target.once import making, once
from robodyn.codegen.vectorcall.signature import REQUIRED, FiniteCheck, Parameter, Role, Signature
from robodyn.codegen.vectorcall.vectorcall_type import (
    VectorcallType,
    never_changed,
    vectorcall_type,
)


class _Calls(threading.local):
    """Calls of methods that run in this thread: the method, its arguments, those by name."""

    def __init__(self) -> None:
        self.under_way: list[tuple[_Method, tuple[Any, ...], dict[str, Any]]] = []


class _Method:
    """A bound method whose calls go to machine code if possible, else to Python.

    method: The bound method written in Python.
    signature: Kept as long as what points to it.
    calls: Of the table.
    """

    #: Machine code points into the signature: it stays although ``__dict__`` is emptied.
    __slots__ = ("__dict__", "__weakref__", "_signature")

    _method: Callable[..., Any]
    _calls: _Calls
    _signature: Signature

    def __init__(self, method: Callable[..., Any], signature: Signature, calls: _Calls) -> None:
        kept: dict[str, Any] = {x: getattr(method, x) for x in functools.WRAPPER_ASSIGNMENTS}
        self.__dict__.update(kept, __wrapped__=method, _method=method, _calls=calls)
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

    __setattr__ = __delattr__ = never_changed("a method of a robot")

    def __repr__(self) -> str:
        return repr(self._method)

    def __reduce__(self) -> Any:
        return getattr, (self.__self__, self._method.__name__)

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """Call the method."""
        fast = _vectorcall_type()
        if fast is not None:
            fast.called()
        under_way = self._calls.under_way
        under_way.append((self, args, kwargs))
        try:
            return self._method(*args, **kwargs)
        finally:
            under_way.pop()


def _by_joint(
    given: Iterable[Any],
    sizes: Sequence[int],
    place: Callable[[str | int], int | None] | None,
) -> tuple[list[str | bool | None], list[int]] | None:
    """Names of numbers by joint, and where these go; None if machine code does not take them.

    given: An argument for each parameter.
    sizes: Of the inputs that they fill.
    place, optional: As of `MethodTable.answered`.
    """
    names, places, first = list[str | bool | None](), list[int | None](), 0
    for numbers, size in zip(given, chain(sizes, repeat(0)), strict=False):
        if numbers is None:
            pass
        elif place is None or (isinstance(numbers, Mapping) and type(numbers) is not dict):
            return None
        elif type(numbers) is dict:
            names += numbers
            places += map(place, numbers)
        else:  # forces of controlled speeds go nowhere
            there = [x == x for x in np.ravel(numbers)[: np.shape(numbers)[-1]].tolist()]
            at = [place(k) if x else -1 for k, x in enumerate(there)]
            names += there
            places += [k if k is None or first <= k < first + size else -1 for k in at]
        names.append(None)
        places.append(-1)
        first += size
    known = [k for k in places if k is not None]
    return (names, known) if len(known) == len(places) else None


class MethodTable:
    """Methods by name, each bound to a function for each form of call that was answered.

    Where a function gives what is not finite, the method itself is called.
    """

    def __init__(self) -> None:
        self._methods: dict[str, Any] = {}
        self._calls = _Calls()

    def add(
        self,
        name: str,
        method: Callable[..., Any],
        arrays: Sequence[str],
        at_rest: Sequence[Any] = (),
        by_joint: Sequence[str] = (),
        optional: Sequence[str] = (),
    ) -> Callable[..., Any]:
        """A method that can call machine code, or ``method`` if this Python does not allow it.

        method: A bound method. Its parameters ``out``, ``base`` and ``wrenches`` are what they are
            for all methods of a robot; those that are no arrays either are options, which choose a
            function.
        arrays: Names of the parameters that are the function's inputs, in order. One that is
            annotated as a float, or none, has to be one.
        at_rest, optional: Pose, twist and acceleration of a base at rest: of a robot whose base has
            a motion, which are inputs of the function after all others.
        by_joint: Names of the parameters that are mappings from joints to numbers, which stand in
            inputs of the function after ``arrays``.
        optional: Of the arrays that have a default, those of which the default leaves them out.
        """
        fast, function = _vectorcall_type(), getattr(method, "__func__", method)
        names = tuple(arrays), tuple(by_joint), tuple(optional)
        parameters = _parameters(function, bool(at_rest), *names) if fast else None
        if fast is None or parameters is None:
            return method
        signature = Signature(fast.common, parameters, at_rest)
        made: Callable[..., Any] = fast.type(method, signature, self._calls)
        fast.attach(made, signature)
        self._methods[name] = made
        return made

    def answered(
        self,
        name: str,
        function: Function,
        arrays: Sequence[Any],
        *,
        finite: bool = False,
        make: Callable[..., object] | None = None,
        made_of: int = 0,
        place: Callable[[str | int], int | None] | None = None,
    ) -> None:
        """The method that runs was answered by a function: let calls of its form go there.

        Does nothing if it is another method, if the function was not given the arrays of the
        call, or if machine code does not take calls of this form.

        name: Of the method.
        function: Where it gives numbers that are not finite, the method is asked.
        arrays: Its first inputs: the arrays of the call, then those that are filled by joint.
        finite: The results are finite wherever the arguments are: those may be looked at instead.
        make, optional: Makes what the method returns, of what the function gives and of its first
            inputs. For calls of one form it is always the same.
        made_of: How many of the inputs that is.
        place, optional: Where the number of a joint, by its name, or of a speed goes, counted over
            the inputs that are filled by joint, if there are any; None where the joint has several.
        """
        under_way = self._calls.under_way
        if not under_way:
            return
        method, args, kwargs = under_way[-1]
        if method is not self._methods.get(name):
            return
        signature = method._signature
        form = signature.layout
        given = dict(zip(form.names, args, strict=False))
        given.update(kwargs)
        own = [x for x in (given.get(*default) for default in form.arrays) if x is not None]
        filled = len(arrays) - len(own)
        if filled < 0 or (filled and place is None) or function.table is None:
            return
        if any(x is not y for x, y in zip(own, arrays, strict=False)):
            return
        wrenches = given.get("wrenches") or {}
        ports = function.inputs[len(own) :][:filled]
        by_joint = _by_joint([given.get(x) for x in form.by_joint], [x.size for x in ports], place)
        if by_joint is None or type(wrenches) is not dict:
            return
        names, places = by_joint
        options = {x: given[x] for x, _ in form.options if x in given}
        few = sum(port.size for port in function.inputs) < function.outputs[0].size
        look = FiniteCheck.ARGUMENTS if finite and few else FiniteCheck.RESULTS
        with making():
            signature.add(
                function.table,
                {x: tuple(y) if type(y) is list else y for x, y in options.items()},
                (*names, *wrenches),
                look=look,
                make=make,
                made_of=made_of,
                places=(*places, *[-1] * len(wrenches)),
                by_joint=filled,
                missing=[x for x, y in form.arrays if given.get(x, y) is None],
            )


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
        if role is Role.ARRAY and p.annotation in (float, "float", "float | None"):
            role = Role.NUMBER
        found.append(Parameter(p.name, role, default, p.kind is p.POSITIONAL_OR_KEYWORD))
    in_order = tuple(p.name for p in found if p.name in arrays) == arrays
    return tuple(found) if in_order and Signature.fits(found) else None


@once
def _vectorcall_type() -> VectorcallType | None:
    return vectorcall_type(_Method, _Method.__call__)
