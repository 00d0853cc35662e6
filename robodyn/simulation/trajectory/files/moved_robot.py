"""What a file says of the robot that moved, so that the motion is not taken for another's.

These are facts by name: all numbers of the description and settings that differ from their
defaults. What does not decide how a robot moves, such as limits, shapes and sensors, is left out.
"""

from __future__ import annotations

import functools
import hashlib
import math
from array import array
from collections.abc import Iterator, Mapping
from dataclasses import MISSING, Field, fields, is_dataclass
from typing import Any

import numpy as np

from robodyn.joints.joint_map import JointMap
from robodyn.robot import Robot
from robodyn.symbolic.graph import Program
from robodyn.tolerances import SAME_ROBOT

#: Fields of descriptions that do not decide how a robot moves.
ASIDE = ("extras", "sensors", "limits", "torque_limit", "line", "independent")

#: Settings that do.
SETTINGS = ("base", "gravity", "passive", "friction_speed", "rotor_model", "coordinates", "ground")

#: Largest number of differences that are told.
TOLD = 3


def facts(robot: Robot | None) -> dict[str, Any]:
    """Facts by name, as JSON has them; none of an unknown robot."""
    if robot is None:
        return {}
    found = {name: getattr(robot.model.settings, name) for name in SETTINGS}
    found |= {"branches": robot.branches, "parameters": dict(robot.parameter_rows)}
    parts = {f.name: getattr(robot.mechanism, f.name) for f in fields(robot.mechanism) if f.compare}
    del parts["name"]
    return dict(fact for name, x in (found | parts).items() for fact in _facts(name, x))


def differences(there: Mapping[str, Any], here: Mapping[str, Any]) -> str:
    """What differs between the robot of a file and another one, in words; empty if nothing does."""
    names = [name for name in {**there, **here} if not _same(there.get(name), here.get(name))]
    told = [
        f"{name} is {_shown(there.get(name))} in the file and {_shown(here.get(name))} in the robot"
        for name in names[:TOLD]
    ]
    return "; ".join(told) + (f"; and {len(names) - TOLD} more" if len(names) > TOLD else "")


def _facts(name: str, x: Any) -> Iterator[tuple[str, Any]]:
    """The facts of a part of a description."""
    if name.rpartition(".")[2] in ASIDE or x is None:
        return
    if isinstance(x, bool | str):
        yield name, x
    elif isinstance(x, Program):
        yield name, _digest(x)
    elif is_dataclass(x):
        for field in fields(x):
            value = getattr(x, field.name)
            if field.compare and not _is_default(field, value):
                yield from _facts(f"{name}.{field.name}", value)
    elif isinstance(x, Mapping):
        for key, value in x.items():
            yield from _facts(f"{name}[{key!r}]", value)
    elif isinstance(x, JointMap):
        yield from _facts(name, x.program)
    elif isinstance(x, functools.partial):
        yield from _facts(name, x.func)
    elif callable(x):
        yield name, getattr(x, "__qualname__", type(x).__qualname__)
    elif (numbers := _numbers(x)) is not None:
        yield name, numbers
    else:
        for k, item in enumerate(x):
            yield from _facts(f"{name}[{_label(item, k)!r}]", item)


def _is_default(field: Field[Any], value: Any) -> bool:
    if field.default_factory is not MISSING:
        return bool(np.all(value == field.default_factory()))
    return field.default is not MISSING and value is not None and _equal(value, field.default)


def _equal(one: Any, other: Any) -> bool:
    try:
        return bool(one == other)
    except ValueError:  # arrays
        return False


def _label(item: Any, k: int) -> Any:
    """Name of an element of a sequence, or its place."""
    named = getattr(item, "name", None) or (item[0] if isinstance(item, tuple) and item else None)
    return named if isinstance(named, str) else k


def _numbers(x: Any) -> Any:
    """A number, or nested lists of numbers; ``None`` of anything else."""
    try:
        return np.asarray(x, float).tolist() if len(np.ravel(x)) else None
    except (TypeError, ValueError):
        return None


def _digest(program: Program) -> str:
    """Hash of the equations of a function that a user gave."""
    graph = program.graph
    said = hashlib.sha256()
    for part in (graph.op, graph.a, graph.b, program.results, graph.value.keys()):
        said.update(array("q", part).tobytes())
    said.update(array("d", graph.value.values()).tobytes())
    return said.hexdigest()[:16]


def _same(there: Any, here: Any) -> bool:
    if type(there) is type(here) is list:
        pairs = zip(there, here, strict=True)
        return len(there) == len(here) and all(_same(x, y) for x, y in pairs)
    if isinstance(there, float | int) and isinstance(here, float | int):
        return math.isclose(there, here, rel_tol=SAME_ROBOT, abs_tol=SAME_ROBOT**1.5)
    return bool(there == here)


def _shown(x: Any) -> str:
    return "not given" if x is None else f"{x}"[:60]
