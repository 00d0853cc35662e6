"""The numbers that a joint has because of its kind, such as the pitch of a screw."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from typing import Any, Protocol, TypeVar

from robodyn.errors import UnknownNameError
from robodyn.joints import joint_kind


class JointOrLoop(Protocol):
    """A `Joint` or a `Loop`: what has a kind, and numbers that go with it."""

    @property
    def name(self) -> str:
        """Its name."""

    @property
    def kind(self) -> str:
        """The name of its kind."""

    @property
    def parameters(self) -> tuple[tuple[str, float], ...]:
        """Numbers by name that have no field of their own."""


Item = TypeVar("Item", bound=JointOrLoop)


#: Numbers that have a field of their own in `Joint` or `Loop`.
FIELDS = ("pitch", "distance")


def constants_of(item: JointOrLoop) -> dict[str, float]:
    """Numbers of a `Joint` or `Loop` by name, as its kind wants them.

    Raises UnknownNameError: If one is not given.
    """
    given = dict(item.parameters)
    for name in missing_constants(item):
        what = f"{type(item).__name__.lower()} {item.name!r}, which is {item.kind}"
        raise UnknownNameError("parameter", name, given, what)
    names = [parameter.name for parameter in joint_kind(item.kind).parameters]
    return {name: given[name] if name in given else getattr(item, name) for name in names}


def missing_constants(item: JointOrLoop) -> list[str]:
    """Numbers of its kind that a joint does not have."""
    given = dict(item.parameters)
    names = [parameter.name for parameter in joint_kind(item.kind).parameters]
    return [name for name in names if name not in given and not _is_field(item, name)]


def with_constants(item: Item, constants: Mapping[str, float]) -> Item:
    """The same `Joint` or `Loop` with numbers of its kind: as fields where it has such."""
    fields: dict[str, Any] = {name: x for name, x in constants.items() if _is_field(item, name)}
    rest = tuple((name, x) for name, x in constants.items() if name not in fields)
    changed: Item = dataclasses.replace(item, **fields, parameters=rest)  # type: ignore[type-var]
    return changed


def _is_field(item: JointOrLoop, name: str) -> bool:
    return name in FIELDS and hasattr(item, name)
