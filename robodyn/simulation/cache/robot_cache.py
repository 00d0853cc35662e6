"""Caches of values that are computed for a robot, which never changes, and live as long as it.

A key has all that the behaviour of an object depends on. It is not known for objects of classes
outside this library, which may read a global variable or a file. Robots and functions of users are
compared by identity, as a key is only compared within this process.
"""

from __future__ import annotations

import functools
import types
from collections.abc import Callable, Hashable
from dataclasses import fields, is_dataclass
from typing import Any, Generic, Protocol, TypeVar

import numpy as np

from robodyn.codegen import Function
from robodyn.codegen.llvm.target.once import making
from robodyn.robot import Robot

Value = TypeVar("Value")


class RobotCache(Generic[Value]):
    """A cache of values by robot and key.

    name: Name of the cache, different from those of others.
    most: Largest number of values for each robot; the oldest ones are removed.
    """

    def __init__(self, name: str, most: int = 8) -> None:
        self._name, self._most = f"kept {name}", most

    def get(self, robot: Robot, key: Hashable, make: Callable[[], Value]) -> Value:
        """The value of a robot and a key, made if there is none yet.

        key: All that the value depends on besides the robot. ``None``: the value is not cached.
        make: Called without arguments.
        """
        found = self.find(robot, key)
        return self.keep(robot, key, make()) if found is None else found

    def find(self, robot: Robot, key: Hashable) -> Value | None:
        """The value of a robot and a key, if there is one."""
        values: dict[Hashable, Value] = vars(robot).get(self._name, {})
        return values.get(key)

    def keep(self, robot: Robot, key: Hashable, value: Value) -> Value:
        """Store a value, unless the key is ``None``, and return it."""
        if key is not None:
            with making():
                values: dict[Hashable, Value] = vars(robot).setdefault(self._name, {})
                values.pop(key, None)
                values[key] = value
                while len(values) > self._most:
                    del values[next(iter(values))]
        return value


def once_per_robot(function: Callable[[Robot], Value]) -> Callable[[Robot], Value]:
    """Decorator of a function of a robot: it is called once for each robot."""
    key = f"kept {function.__module__}.{function.__qualname__}"

    @functools.wraps(function)
    def known(robot: Robot) -> Value:
        values = vars(robot)
        if key not in values:
            values[key] = made = function(robot)
            if isinstance(made, np.ndarray):  # whoever gets it must not change it for others
                made.flags.writeable = False
        found: Value = values[key]
        return found

    return known


#: Largest number of elements of all arrays of an object; to compare more takes too long.
MOST = 20_000

#: Types whose values are compared as they are, and by ``repr``, which tells 0.0 from -0.0.
PLAIN = {type(None), bool, int, str, bytes, type(...)}
FLOATING = {float, complex}

#: Types of objects that never change.
CONSTANT = (Robot, Function, type, types.CodeType, types.BuiltinFunctionType, np.ufunc)

_CACHED = type(functools.cache(lambda: None))


class _Unknown(Exception):
    """It is not known what the behaviour of an object depends on."""


def contents(value: Any, *, same: bool = False) -> Hashable | None:
    """Key of all that the behaviour of an object depends on; ``None`` where that is not known.

    Functions of users are compared by identity. What is cached must not hold their values, but has
    to call them again. Those with ``symbolic = True`` have no key.

    same: Compare objects that can change by identity, too.
    """
    found = _Contents(same)
    try:
        found.add(value)
    except (_Unknown, RecursionError, ValueError):  # ValueError: a cell of a closure is empty
        return None
    return tuple(found.parts)


class _Contents:
    """Collects the parts of a key."""

    def __init__(self, same: bool) -> None:
        self.parts: list[Any] = []
        self._same = same
        self._left = MOST
        self._seen: dict[int, tuple[int, Any]] = {}

    def add(self, x: Any) -> None:
        """Add a value, with its type and its length, so that no two values look alike."""
        kind = type(x)
        if kind in PLAIN:
            self.parts += (kind, x)
        elif kind in FLOATING:
            self.parts += (kind, repr(x))
        elif isinstance(x, CONSTANT):
            self.parts.append(_Same(x))
        elif id(x) in self._seen:
            self.parts += ("again", self._seen[id(x)][0])
        else:
            self._seen[id(x)] = len(self._seen), x
            if self._same and kind is not tuple:
                self.parts.append(_Same(x))
            self._add_parts(kind, x)

    def _add_parts(self, kind: Any, x: Any) -> None:
        if kind is np.ndarray or issubclass(kind, np.generic):
            self._add_array(x)
        elif kind in (tuple, list):
            self._add_all(kind, x)
        elif kind in (dict, types.MappingProxyType):
            self._add_all(kind, [part for item in x.items() for part in item])
        elif kind is functools.partial:
            self._add_all(kind, (x.func, x.args, x.keywords))
        elif kind is _CACHED:
            self._add_all(kind, (x.__wrapped__,))
        elif kind is types.MethodType and of_library(x.__func__):
            self._add_all(kind, (x.__func__, x.__self__))
        elif kind is types.FunctionType and of_library(x):
            cells = [cell.cell_contents for cell in x.__closure__ or ()]
            self._add_all(kind, (x.__code__, x.__defaults__, x.__kwdefaults__, *cells))
        elif of_library(kind) and _has_attributes_alone(kind):
            own = vars(x)
            names = [name for name in _field_names(kind) or own if name in own]
            self._add_all(kind, [part for name in names for part in (name, own[name])])
        elif callable(x) and not (of_library(kind) or getattr(x, "symbolic", False)):
            self.parts.append(_Same(x))
        else:
            raise _Unknown

    def _add_all(self, kind: type, parts: Any) -> None:
        self.parts += (kind, len(parts))
        for part in parts:
            self.add(part)

    def _add_array(self, x: Any) -> None:
        array = np.asarray(x)
        self._left -= array.size
        if array.dtype.hasobject or self._left < 0:
            raise _Unknown
        self.parts += (type(x), array.dtype.str, array.shape, array.tobytes())


class _Same:
    """Compares an object by identity."""

    def __init__(self, x: Any) -> None:
        self._x = x

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Same) and self._x is other._x

    def __hash__(self) -> int:
        return id(self._x)


@functools.cache
def _field_names(kind: Any) -> tuple[str, ...]:
    """Names of the fields of a dataclass, without attributes that are computed from them."""
    return tuple(field.name for field in fields(kind)) if is_dataclass(kind) else ()


@functools.cache
def _has_attributes_alone(kind: Any) -> bool:
    """Whether objects of a class hold nothing besides the attributes in ``__dict__``."""
    own = [x for x in kind.__mro__ if x not in (object, Generic, Protocol)]
    return all(of_library(x) and "__slots__" not in vars(x) for x in own)


def of_library(x: Any) -> bool:
    """Whether a function or a class is of this library."""
    return str(getattr(x, "__module__", "")).startswith("robodyn.")
