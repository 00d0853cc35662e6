"""The numbers that a joint has because of its kind, such as the pitch of a screw."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, TypeVar

from robodyn.errors import UnknownNameError
from robodyn.joints import joint_kind

if TYPE_CHECKING:
    from robodyn.description.joint import Joint
    from robodyn.description.loop import Loop

    Item = TypeVar("Item", Joint, Loop)

__all__ = ["constants_of", "missing_constants", "with_constants"]

#: Numbers that have a field of their own in `Joint` or `Loop`.
FIELDS = ("pitch", "distance")


def constants_of(item: Joint | Loop) -> dict[str, float]:
    """Numbers of a `Joint` or `Loop` by name, as its kind wants them.

    Raises
    ------
    UnknownNameError
        If one is not given.
    """
    given = dict(item.parameters)
    for name in missing_constants(item):
        what = f"{type(item).__name__.lower()} {item.name!r}, which is {item.kind}"
        raise UnknownNameError("parameter", name, given, what)
    names = [parameter.name for parameter in joint_kind(item.kind).parameters]
    return {name: given[name] if name in given else getattr(item, name) for name in names}


def missing_constants(item: Joint | Loop) -> list[str]:
    """Numbers of its kind that a joint does not have."""
    given = dict(item.parameters)
    names = [parameter.name for parameter in joint_kind(item.kind).parameters]
    return [name for name in names if name not in given and not _is_field(item, name)]


def with_constants(item: Item, constants: Mapping[str, float]) -> Item:
    """The same `Joint` or `Loop` with numbers of its kind: as fields where it has such."""
    fields: dict[str, Any] = {name: x for name, x in constants.items() if _is_field(item, name)}
    rest = tuple((name, x) for name, x in constants.items() if name not in fields)
    return dataclasses.replace(item, **fields, parameters=rest)


def _is_field(item: Joint | Loop, name: str) -> bool:
    return name in FIELDS and hasattr(item, name)
