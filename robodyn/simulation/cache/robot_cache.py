"""Caches of values that are computed for a robot, which never changes, and live as long as it."""

from __future__ import annotations

import functools
from collections.abc import Callable, Hashable
from typing import Generic, TypeVar

import numpy as np

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
