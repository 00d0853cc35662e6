"""Type checks of arguments and dataclass fields, derived from their annotations.

An annotation says what a value has to be: a bool, a number, an integer, a name, names, an array of
real numbers, a mapping by name, a function, an object of a class, one of some words
(`robodyn.literals`). A new argument is checked as soon as it is annotated. Functions check sizes,
signs, and whether a named joint exists, themselves.
"""

from __future__ import annotations

import dataclasses
import functools
import inspect
import math
import re
import sys
import types
import typing
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from typing import Any, Literal, TypeVar, Union

import numpy as np
from numpy.typing import ArrayLike

from robodyn.array_types import FloatArray
from robodyn.arrays import (
    all_finite,
    by_name,
    expect,
    mismatch,
    named,
    number,
    numbers,
    one_name,
    truth,
    whole,
)
from robodyn.errors import ShapeError, UnknownNameError

#: ``(name, value)``: raises `ShapeError` if the argument of this name cannot have this value.
Check = Callable[[str, Any], object]

#: ``(object, name, value)``: the same for an array that is given to a method of an object.
ArrayCheck = Callable[[Any, str, Any], None]

#: ``(error, method, args, kwargs)``: the result of a call that is refused, or it raises the error.
Refused = Callable[[ShapeError, Callable[..., Any], tuple[Any, ...], dict[str, Any]], Any]

#: A line of a docstring that gives the unit of parameters: their names, and the unit.
_UNIT = re.compile(r"^ *([\w, ]+) : [^\[\n]*\[([^\]]+)\]$", re.MULTILINE)

Decorated = TypeVar("Decorated", bound=Callable[..., Any])
DecoratedClass = TypeVar("DecoratedClass", bound=type)


def checked_arguments(function: Decorated) -> Decorated:
    """Decorate a function to check its arguments against its annotations.

    A wrong argument raises a `ShapeError` that names it.
    """
    return _checked(function, None)


def checked_methods(
    array: ArrayCheck, elsewhere: Mapping[str, str] | None = None, refused: Refused | None = None
) -> Callable[[DecoratedClass], DecoratedClass]:
    """Decorate a class so that its public methods check their arguments.

    array: Checks an argument that is annotated as an array: (object, name, value).
    elsewhere, optional: Names that no method has as an argument, and what to write instead: the
        `TypeError` of a call with such a name says so.
    refused, optional: Asked for the result of a call whose arguments are refused: it raises the
        error, or knows what to do with such arguments.
    """

    def decorated(cls: DecoratedClass) -> DecoratedClass:
        for name, method in list(vars(cls).items()):
            if inspect.isfunction(method) and not name.startswith("_"):
                setattr(cls, name, _checked(method, array, elsewhere, refused))
        return cls

    return decorated


def check_fields(value: Any) -> None:
    """Check the fields of a dataclass against their annotations.

    Call it first in ``__post_init__``.

    Raises ShapeError: Names the field.
    """
    cls: Any = type(value)
    for name, wanted in _fields(cls).items():
        wanted.refuse(name, getattr(value, name))


def check_values(kinds: Mapping[str, Any], given: Mapping[str, Any]) -> None:
    """Check values by name against types by name.

    kinds: Types as in annotations. Values of other names are not checked.
    Raises ShapeError: Names the value.
    """
    for name in kinds.keys() & given.keys():
        optional, kind = _evaluated(kinds[name], __name__)
        check = _check(kind)
        if check is not None and not (optional and given[name] is None):
            check(name, given[name])


@dataclasses.dataclass(frozen=True)
class _Wanted:
    """What values one parameter or field accepts."""

    default: Any
    optional: bool
    check: Check

    def refuse(
        self, name: str, given: Any, array: ArrayCheck | None = None, owner: Any = None
    ) -> None:
        """Raise `ShapeError` for other values; ``array`` checks arrays that methods are given."""
        if given is self.default or (given is None and self.optional):
            return
        if array is not None and self.check is _array:
            array(owner, name, given)
        else:
            self.check(name, given)


def _checked(
    function: Decorated,
    array: ArrayCheck | None,
    elsewhere: Mapping[str, str] | None = None,
    refused: Refused | None = None,
) -> Decorated:
    known: dict[str, _Wanted] | None = None
    in_order: list[tuple[str, _Wanted | None]] = []
    instead = dict(elsewhere or {})

    def look() -> dict[str, _Wanted]:
        """What is known of the parameters; annotations may name what is defined later."""
        nonlocal in_order
        parameters = [
            p
            for p in inspect.signature(function).parameters.values()
            if p.kind not in (p.VAR_POSITIONAL, p.VAR_KEYWORD)
        ]
        for p in parameters:
            instead.pop(p.name, None)
        found = _wanted(function, parameters)
        positional = [p.name for p in parameters if p.kind is not p.KEYWORD_ONLY]
        in_order = [(name, found.get(name)) for name in positional]
        return found

    @functools.wraps(function)
    def checked(*args: Any, **kwargs: Any) -> Any:
        nonlocal known
        if known is None:
            known = look()
        try:
            for (name, wanted), given in zip(in_order, args, strict=False):
                if wanted is not None and given is not wanted.default:
                    wanted.refuse(name, given, array, args[0])
            for name, given in kwargs.items():
                wanted = known.get(name)
                if wanted is not None:
                    if given is not wanted.default:
                        wanted.refuse(name, given, array, args[0] if args else None)
                elif name in instead:
                    raise TypeError(f"{function.__qualname__}() takes no {name!r}: {instead[name]}")
        except ShapeError as error:
            if refused is None:
                raise
            return refused(error, function, args, kwargs)
        return function(*args, **kwargs)

    return checked  # type: ignore[return-value]


def _wanted(documented: Any, parameters: Iterable[inspect.Parameter]) -> dict[str, _Wanted]:
    """What values parameters accept, by name; units are those of the docstring."""
    found = {}
    units = _units(inspect.getdoc(documented) or "")
    for p in parameters:
        optional, kind = _evaluated(p.annotation, documented.__module__)
        check = None if p.annotation is p.empty else _check(kind)
        if check is _number:
            check = functools.partial(_number, unit=units.get(p.name, ""))
        if check is not None:
            found[p.name] = _Wanted(p.default, optional, check)
    return found


def _units(docstring: str) -> dict[str, str]:
    """Units of parameters by name, from lines such as ``duration, step : float [s]``."""
    return {
        name: unit
        for names, unit in _UNIT.findall(docstring)
        for name in names.replace(",", " ").split()
    }


@functools.cache
def _fields(cls: type) -> dict[str, _Wanted]:
    """What values the constructor of a dataclass accepts for each field."""
    given = {field.name for field in dataclasses.fields(cls) if field.init}
    parameters = inspect.signature(cls).parameters.values()
    return _wanted(cls, [p for p in parameters if p.name in given])


class _Names(dict[str, Any]):
    """Names of a module, and public ones of robodyn, which it may import under TYPE_CHECKING."""

    def __missing__(self, name: str) -> Any:
        package = sys.modules["robodyn"]
        if name not in package.__all__:
            raise KeyError(name)
        return getattr(package, name)


def _evaluated(annotation: Any, module: str) -> tuple[bool, Any]:
    """Whether an annotation allows ``None``, and the type without ``None``."""
    if isinstance(annotation, str):
        try:
            annotation = eval(annotation, {}, _Names(vars(sys.modules[module])))
        except NameError:
            return True, Any
    if typing.get_origin(annotation) not in (Union, types.UnionType):
        return annotation is None, annotation
    kinds = typing.get_args(annotation)
    left = tuple(kind for kind in kinds if kind is not type(None))
    return len(left) < len(kinds), Union[left]  # noqa: UP007 - of a tuple


def _check(kind: Any) -> Check | None:
    """The check for a type; ``None`` where any value has to be accepted."""
    origin, arguments = typing.get_origin(kind), typing.get_args(kind)
    if kind in _SIMPLE:
        return _SIMPLE[kind]
    if origin is Callable:
        return _function
    if origin is Literal:
        return functools.partial(_word, arguments)
    if origin is Mapping:
        return functools.partial(_by_name, _check(arguments[1]))
    if origin is tuple and set(arguments) == {float}:
        return functools.partial(_numbers, len(arguments))
    if origin in (Iterable, Sequence, Collection) or (origin is tuple and Ellipsis in arguments):
        return functools.partial(_several, _check(arguments[0]))
    if origin in (Union, types.UnionType):
        # ArrayLike is a union: its members are merged into this one, or, from Python 3.12 on, it
        # stays a single member
        parts = {ArrayLike, *typing.get_args(ArrayLike)}
        array = ArrayLike in arguments or (parts - {ArrayLike} <= {*arguments} and len(parts) > 1)
        others = [x for x in arguments if not (array and x in parts)]
        checks = [_check(each) or _check_of_methods(each) for each in others]
        if array:  # where a mapping may be given instead, NaN in an array means "not given"
            named_too = any(typing.get_origin(each) is Mapping for each in others)
            checks.append(numbers if named_too else _array)
        known = [check for check in checks if check is not None]
        return functools.partial(_one_of, known) if len(known) == len(checks) else None
    if isinstance(kind, type) and kind not in (Any, object):
        if _methods(kind) is None:
            return lambda name, given: expect(name, given, kind)
    return None  # of a protocol alone, whoever uses it says what is missing


def _methods(kind: type) -> tuple[str, ...] | None:
    """Names of the methods of a protocol, but for special ones; ``None`` of another class."""
    if not getattr(kind, "_is_protocol", False):
        return None
    return tuple(name for name, x in vars(kind).items() if callable(x) and name[0] != "_")


def _array(name: str, given: Any) -> None:
    x = numbers(name, given)
    if all_finite(x):  # as usual, which is known sooner
        return
    missing = np.isnan(x)
    if missing.any():
        index = np.argwhere(missing)[0].tolist()
        problem = f"{name} holds numbers that are not finite: {name}{index} is nan"
        if not index:
            problem = f"{name} is nan: not finite"
        raise ShapeError(f"{problem}, expected numbers", name=name, given=given)


def _number(name: str, given: Any, unit: str = "") -> None:
    if math.isnan(number(name, given, unit)):
        expected = "a number" + (f" [{unit}]" if unit else "")
        raise ShapeError(f"{name} is nan, expected {expected}", name=name, given=given)


def _word(words: Collection[str], name: str, given: Any) -> None:
    one_name(name, given)
    if given not in words:
        raise UnknownNameError("choice", given, words, f"{name}=")


def _function(name: str, given: Any) -> None:
    if not callable(given):
        raise mismatch(name, given, "a function")


def _check_of_methods(kind: Any) -> Check | None:
    """The check of a protocol that is one of several things."""
    methods = _methods(kind) if isinstance(kind, type) else None
    return functools.partial(_has_methods, methods) if methods else None


def _has_methods(methods: Sequence[str], name: str, given: Any) -> None:
    if not all(callable(getattr(given, method, None)) for method in methods):
        raise mismatch(name, given, f"an object with {' and '.join(methods)}")


def _one_of(checks: Sequence[Check], name: str, given: Any) -> None:
    expected, problem = [], ""
    if type(given) is np.ndarray and given.dtype.kind == "f" and checks[-1] is numbers:
        return  # sooner than by an error of what else is expected
    if type(given) in (list, tuple):  # likewise
        checks = sorted(checks, key=_takes_no_several)
    for check in checks:
        try:
            check(name, given)
        except ShapeError as error:
            told = str(error)
            if isinstance(given, Mapping) and (f"{name}[" in told or told.startswith("a name in")):
                raise  # the user meant a mapping, and one of its names or values is wrong
            _, found, words = told.rpartition(", expected ")
            expected.append(words if found else str(error.expected))
            if not (found or isinstance(given, str)):
                problem = told  # it says which elements of the array are wrong
        else:
            return
    wanted = " or ".join(dict.fromkeys(expected))
    if problem:
        raise ShapeError(f"{problem}, expected {wanted}", name=name, given=given)
    raise mismatch(name, given, wanted)


def _takes_no_several(check: Check) -> bool:
    return getattr(check, "func", None) is not _several


def _by_name(check: Check | None, name: str, given: Any) -> None:
    if given is None:
        raise ShapeError(f"{name} is None, expected a mapping by name", name=name)
    for key, value in by_name(name, given).items():
        one_name(f"a name in {name}", key)
        if check is not None:
            check(f"{name}[{key!r}]", value)


def _several(check: Check | None, name: str, given: Any) -> None:
    if isinstance(given, Iterator):  # reading it here would exhaust it
        return
    several = named(name, given, "names" if check is one_name else "several values")
    if check is None:
        return
    for k, value in enumerate(several):
        try:
            check(name, value)
        except ShapeError:
            check(f"{name}[{k}]", value)


def _numbers(count: int, name: str, given: Any) -> None:
    expected = f"{count} numbers"
    if isinstance(given, str | Mapping) or len(values := named(name, given, expected)) != count:
        raise mismatch(name, given, expected)
    for k, value in enumerate(values):
        _number(f"{name}[{k}]", value)


#: Checks by annotation, for single values.
_SIMPLE: dict[Any, Check] = {
    bool: truth,
    float: _number,
    int: whole,
    str: one_name,
    ArrayLike: _array,
    FloatArray: _array,
}
