"""Dataclasses of which hundreds are made before a first result."""

from __future__ import annotations

import reprlib
from collections.abc import Callable
from dataclasses import dataclass as made, fields
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from dataclasses import dataclass as dataclass
else:

    def dataclass(
        cls: type | None = None, *, frozen: bool = False, eq: bool = True, **options: Any
    ) -> type | Callable[[type], type]:
        """As `dataclasses.dataclass`, in a third of the time, for classes of the library's own.

        That fields of a ``frozen`` one are never changed is for type checkers to see: Python would
        compile two methods for each class that say so. All classes share one ``__repr__``.
        """
        if cls is None:
            return lambda cls: dataclass(cls, frozen=frozen, eq=eq, **options)
        shown = "__repr__" in vars(cls)
        cls = made(cls, repr=False, eq=eq, unsafe_hash=frozen and eq, **options)
        if not shown:
            cls.__repr__ = _repr
        return cls


@reprlib.recursive_repr()
def _repr(self: Any) -> str:
    values = ", ".join(f"{x.name}={getattr(self, x.name)!r}" for x in fields(self) if x.repr)
    return f"{type(self).__qualname__}({values})"
